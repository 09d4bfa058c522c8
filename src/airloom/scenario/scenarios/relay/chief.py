"""The chief leads drone_0 along a figure eight, and tells the herald where it goes. It knows nothing of simulation time."""

from __future__ import annotations

import time
from math import pi, sin

from airloom import PositionYaw
from airloom.member import current

ROUND = 20.0  # s for the whole figure


def place_on_figure(seconds: float) -> tuple[float, float, float]:
    angle = 2 * pi * seconds / ROUND
    return 4 * sin(angle), 2 * sin(2 * angle), 2.0


me = current()
began = time.monotonic()
while True:
    place = place_on_figure(time.monotonic() - began)
    me.command("drone_0", PositionYaw(place))
    me.send("herald", "{:.6f} {:.6f} {:.6f}".format(*place).encode())
    time.sleep(0.1)
