"""Fly every bundled multirotor and write what came of it: `python docs/make_tracking.py`, docs/tracking.md.

A minute or two. The flights are those of validation/tracking.py; a test flies some of them and holds them to bounds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from validation.tracking import PAIRS, Flown, crazyflie_eight, fast_eight, fleet, fly, step

PAGE = Path(__file__).parent / "tracking.md"
HEAD = """# How closely multirotors follow

*Written by `python docs/make_tracking.py`, which flies all of this.*

Every bundled multirotor with every controller whose gains are tuned from the airframe; `crazyflie2_crazys` is left
out, whose rotor drag tips it over at walking pace, and `uav_gazebo` and `crazys`, which have the gains of others. The
rule of the gains is at the head of `airloom/control/multirotor.py`. Odometry is exact unless it is said otherwise,
setpoints come 100 times a second with their velocity and acceleration, and wind is steady. *Leans all it may*: for a
tenth of the time or more it leaned as far as its controller lets it; then more is asked of it than it may give, and it
falls behind. `iris` and `sprayer` have little torque for their inertia, so their loops are slower than others'.
"""
WINDS = (0.0, 4.0, 8.0)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---|---|" + "--:|" * (len(head) - 2)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def of_the_crazyflie() -> str:
    cases = [("exact", 0.0, "ideal"), ("exact", 3.0, "ideal"), ("complementary filter", 3.0, "complementary")]
    rows = []
    for controller in ("crazyflie", "modes", "cascade"):
        for told, wind, estimator in cases:
            flown = crazyflie_eight(controller, wind, estimator)
            rows.append([controller, told, f"{wind:g}", *in_cm(flown)])
    head = ["controller", "estimate", "wind, m/s", "rms, cm", "most, cm", "height, cm"]
    return f"## A Crazyflie on 2 × 1 m in 5 s\n\n{table(head, rows)}"


def in_cm(flown: Flown) -> list[str]:
    return [f"{100 * value:.1f}" for value in (flown.rms, flown.most, flown.height_error)]


def of_eights() -> str:
    rows = []
    for share in (0.5, 0.8):
        for wind in WINDS:
            for flown in fly(fleet(PAIRS), fast_eight(share), 20.0, (wind, 0.0, 0.0), skip=7.0):
                lean = "yes" if flown.leans_all_it_may else ""
                rows.append([flown.vehicle, flown.controller, f"{share:g}", f"{wind:g}", *in_cm(flown), lean])
    head = ["vehicle", "controller", "share", "wind, m/s", "rms, cm", "most, cm", "height, cm", "leans all it may"]
    text = (
        "A figure-eight that takes a share of the top speed of 5 m/s and of the acceleration at a lean of 0.6 rad, "
        "6.7 m/s²: with 0.5 it is 3.8 m long and flown in 6.8 s, with 0.8 6.1 m, also in 6.8 s."
    )
    return f"## Figure-eights\n\n{text}\n\n{table(head, sorted(rows))}"


def of_steps() -> str:
    rows = []
    for size in (0.5, 2.0, 10.0):
        for wind in WINDS:
            for flown in fly(fleet(PAIRS), step(size), 18.0, (wind, 0.0, 0.0)):
                late = flown.settled_after(size)
                told = "never" if isnan(late) else f"{late:.1f}"
                numbers = [f"{100 * flown.overshoot(size):.1f}", told, f"{100 * flown.height_error:.1f}"]
                rows.append([flown.vehicle, flown.controller, f"{size:g}", f"{wind:g}", *numbers])
    head = ["vehicle", "controller", "step, m", "wind, m/s", "overshoot, %", "settled, s", "height, cm"]
    text = "A setpoint that jumps aside: settled is when it is within 5 % of the jump, or 2 cm, for good."
    return f"## Steps\n\n{text}\n\n{table(head, sorted(rows, key=lambda row: (row[0], row[1], float(row[2]), row[3])))}"


if __name__ == "__main__":
    PAGE.write_text("\n".join([HEAD, of_the_crazyflie(), of_eights(), of_steps()]))
    print(f"written: {PAGE.name}")
