"""The same flock on both media: ours and ns-3. `python -m validation.ns3_reference flock` flies it on ns-3's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from airloom.simulation import Simulation
from airloom.swarm.watch import SwarmWatch
from validation.case import Outcome, Row, case
from validation.radio import rows_of

SEEDS = range(4)
SECONDS = 60.0
WITHIN = {"order": 0.05, "speed": 0.2, "largest": 1.5, "alone": 0.5, "delivery": 0.05}
"""How far means over the seeds may differ; set after a longer flight with the first seed on each medium had been seen,
and before the others. One run's own scatter is of that size."""
TITLES = {
    "order": ("order within clusters", ""),
    "speed": ("speed", "m/s"),
    "largest": ("largest cluster of 30", ""),
    "alone": ("in no cluster", ""),
    "delivery": ("heard, of all packets and all others", ""),
}


def flown(seed: int, **medium: Any) -> dict[str, float]:
    """The bundled flock for a minute."""
    with Simulation.load("flock", seed=seed, overrides={f"radio.{key}": value for key, value in medium.items()}) as sim:
        watch = SwarmWatch(sim)
        sim.run(until=SECONDS)
        mean, total = watch.summary()["flock"]["mean"], sim.radio.summary()["bands"]["first"]["total"]
        delivery = total["heard"] / (total["given"] * (len(sim.vehicles) - 1))
    return {**{key: mean[key] for key in WITHIN if key in mean}, "delivery": delivery}


def reference_lines() -> Iterator[str]:
    """What ns-3 makes of it, as lines of a table."""
    yield ",".join(["seed", *WITHIN])
    for seed in SEEDS:
        found = flown(seed, ns3={})
        yield ",".join([str(seed), *(f"{found[key]:.4f}" for key in WITHIN)])


@case("Flock on two media", "ns-3.37 as the scenario's radio: `python -m validation.ns3_reference flock`")
def flock_on_two_media() -> Outcome:
    """The scenario `flock`, thirty quadrotors that know of each other by radio alone, for a minute with four seeds, on
    the built-in medium and on ns-3: 802.11g between equals, log-distance. Whom a bird hears decides where it flies, so
    no two runs are alike; what is compared are means over the seeds.
    """
    ours, theirs = [flown(seed) for seed in SEEDS], rows_of("ns3_flock.csv")
    return Outcome(
        [
            Row(
                TITLES[key][0],
                sum(run[key] for run in ours) / len(ours),
                sum(float(run[key]) for run in theirs) / len(theirs),
                within,
                TITLES[key][1],
            )
            for key, within in WITHIN.items()
        ]
    )
