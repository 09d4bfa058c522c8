"""Work like a farmer's: fields become jobs of parallel lines, with rates by prescription, and are judged afterwards."""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily

if TYPE_CHECKING:
    from airloom.farm.comparison import Comparison, Deposit, compare, draw_comparison
    from airloom.farm.field import Field, read_field
    from airloom.farm.folder import write_plan
    from airloom.farm.geojson import FarmError
    from airloom.farm.ground_station import plans_of
    from airloom.farm.job import Job, read_job
    from airloom.farm.picture import draw_plan
    from airloom.farm.planning import Plan, Wishes, plan_field

__all__ = [
    "Comparison",
    "Deposit",
    "FarmError",
    "Field",
    "Job",
    "Plan",
    "Wishes",
    "compare",
    "draw_comparison",
    "draw_plan",
    "plan_field",
    "plans_of",
    "read_field",
    "read_job",
    "write_plan",
]

_MODULES = {
    "Comparison": "comparison",
    "Deposit": "comparison",
    "FarmError": "geojson",
    "Field": "field",
    "Job": "job",
    "Plan": "planning",
    "Wishes": "planning",
    "compare": "comparison",
    "draw_comparison": "comparison",
    "draw_plan": "picture",
    "plan_field": "planning",
    "plans_of": "ground_station",
    "read_field": "field",
    "read_job": "job",
    "write_plan": "folder",
}

__getattr__ = lazily(__name__, _MODULES)
