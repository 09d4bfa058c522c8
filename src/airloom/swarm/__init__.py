"""Many as one: what members know of each other by radio, laws of flocking, and how well a swarm holds together."""

from typing import TYPE_CHECKING

from airloom.basics.lazy import lazily

if TYPE_CHECKING:
    from airloom.swarm.fixes import flock_in
    from airloom.swarm.flocking import Flocking
    from airloom.swarm.metrics import Metrics, measure
    from airloom.swarm.neighbours import Neighbours
    from airloom.swarm.parameters import FlockParameters
    from airloom.swarm.words import Words, spoken, understood

__all__ = [
    "FlockParameters", "Flocking", "Metrics", "Neighbours", "Words", "flock_in", "measure", "spoken", "understood",
]  # fmt: skip

_MODULES = {
    "FlockParameters": "parameters",
    "Flocking": "flocking",
    "Metrics": "metrics",
    "Neighbours": "neighbours",
    "Words": "words",
    "flock_in": "fixes",
    "measure": "metrics",
    "spoken": "words",
    "understood": "words",
}

__getattr__ = lazily(__name__, _MODULES)
