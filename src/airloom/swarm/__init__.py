"""Many as one: what members know of each other by radio, what they do together, and how well it goes."""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily

if TYPE_CHECKING:
    from airloom.swarm.auction import Auction
    from airloom.swarm.consensus import Agreement, Average
    from airloom.swarm.coverage.coverage import area_of, base_of, coverage_in
    from airloom.swarm.coverage.covering import Covering
    from airloom.swarm.coverage.findings import Base
    from airloom.swarm.coverage.parameters import CoverageParameters
    from airloom.swarm.fixes import flock_in
    from airloom.swarm.flocking import Flocking
    from airloom.swarm.formation import Following, FormationParameters
    from airloom.swarm.mesh import Mesh, Message
    from airloom.swarm.metrics import Metrics, measure
    from airloom.swarm.neighbours import Neighbours
    from airloom.swarm.parameters import FlockParameters
    from airloom.swarm.words import Words, spoken, understood

__all__ = [
    "Agreement", "Auction", "Average", "Base", "CoverageParameters", "Covering", "FlockParameters", "Flocking",
    "Following", "FormationParameters", "Mesh", "Message", "Metrics", "Neighbours", "Words", "area_of", "base_of",
    "coverage_in", "flock_in", "measure", "spoken", "understood",
]  # fmt: skip

_MODULES = {
    "Agreement": "consensus",
    "Auction": "auction",
    "Average": "consensus",
    "Base": "coverage.findings",
    "CoverageParameters": "coverage.parameters",
    "Covering": "coverage.covering",
    "FlockParameters": "parameters",
    "Flocking": "flocking",
    "Following": "formation",
    "FormationParameters": "formation",
    "Mesh": "mesh",
    "Message": "mesh",
    "Metrics": "metrics",
    "Neighbours": "neighbours",
    "Words": "words",
    "area_of": "coverage.coverage",
    "base_of": "coverage.coverage",
    "coverage_in": "coverage.coverage",
    "flock_in": "fixes",
    "measure": "metrics",
    "spoken": "words",
    "understood": "words",
}

__getattr__ = lazily(__name__, _MODULES)
