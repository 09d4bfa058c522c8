"""What turbulence costs a fleet."""

from __future__ import annotations

from statistics import median

from airloom.bench.bench import Effort, hovering_fleet, processor_seconds, ticks_that_take

COUNT = 100
WIND = {"world.wind": [5, 0, 0]}
TURBULENCE = {"world.weather.layers": {"eddies": {"kind": "dryden", "intensity": "moderate"}}}


def slower_in_turbulence(engine: str, effort: Effort) -> float:
    """How much more processor time a hundred multirotors take in turbulence than in a steady wind."""
    steady, rough = (hovering_fleet(COUNT, engine, **changes) for changes in (WIND, WIND | TURBULENCE))
    ticks, ratios = ticks_that_take(effort.seconds, steady.step), []
    for _ in range(effort.repeats):
        before = processor_seconds(steady.step, ticks)
        ratios.append(processor_seconds(rough.step, ticks) / before - 1.0)
    return median(ratios)
