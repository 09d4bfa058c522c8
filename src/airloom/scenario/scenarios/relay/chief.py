"""The chief leads drone_0 along a figure eight, and tells the herald where it goes.

Nothing here knows of simulation time: the script sleeps as it would on a real machine.
"""

from __future__ import annotations

import time
from math import cos, pi, sin

from airloom import PositionYaw
from airloom.member import current

ROUND = 20.0  # s for the whole figure


def on_figure(seconds: float) -> PositionYaw:
    turning = 2 * pi / ROUND
    angle = turning * seconds
    velocity = 4 * turning * cos(angle), 4 * turning * cos(2 * angle), 0.0
    return PositionYaw((4 * sin(angle), 2 * sin(2 * angle), 2.0), velocity=velocity)


me = current()
began = time.monotonic()
while True:
    order = on_figure(time.monotonic() - began)
    me.command("drone_0", order)
    me.send("herald", "{:.6f} {:.6f} {:.6f}".format(*order.position).encode())
    time.sleep(0.1)
