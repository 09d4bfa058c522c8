"""What turbulence costs a fleet."""

from __future__ import annotations

from airloom.bench.bench import Effort, hovering_fleet, times_the_time

COUNT = 100
WIND = {"world.wind": [5, 0, 0]}
TURBULENCE = {"world.weather.layers": {"eddies": {"kind": "dryden", "intensity": "moderate"}}}


def slower_in_turbulence(engine: str, effort: Effort) -> float:
    """How much more processor time a hundred multirotors take in turbulence than in a steady wind."""
    steady, rough = (hovering_fleet(COUNT, engine, **changes) for changes in (WIND, WIND | TURBULENCE))
    return times_the_time(steady.step, rough.step, effort) - 1.0
