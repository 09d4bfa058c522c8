"""QGroundControl's plans. Which of their items fly, and how, is in docs/howto/plans.md.

A plan is read in two passes. Each of its items becomes a *step*, checked and with its places in the world (`steps.py`);
then the steps are gone through as they will be flown, with their jumps, and become the items of a mission (`order.py`).
"""

from __future__ import annotations

from pathlib import Path

from airloom.missions.mission import Mission
from airloom.missions.plans.boundary import check_fence, read_fence
from airloom.missions.plans.file import Heights, PlanFile
from airloom.missions.plans.order import in_order, with_splines
from airloom.missions.plans.steps import read_steps
from airloom.scenario.models import Origin


def read_plan(file: Path, origin: Origin, ground: Heights) -> Mission:
    """Raises ScenarioError with the file and the number of the item that cannot be flown."""
    plan = PlanFile(file, origin, ground)
    steps = read_steps(plan)
    fence = read_fence(plan)
    flown = with_splines(in_order(plan, steps))
    check_fence(plan, flown, fence)
    return Mission([item for _, item in flown.items], plan.warnings, flown.again_from, fence)
