"""The bundled ground station: it flies by the home at which it was armed, whatever the autopilot says of it later."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from tests.programs import ground_station

pytest.importorskip("pymavlink")


class Line:
    """Keeps what is sent."""

    def __init__(self):
        self.sent = []
        self.mav = self

    def __getattr__(self, name):
        return lambda *arguments: self.sent.append((name, arguments))


def test_px4_may_move_its_home_in_flight():
    drone = ground_station().PX4("drone", 0, (0.0, 0.0, 0.05))
    drone.line.close()
    drone.line = Line()
    drone.seen["HOME_POSITION"] = SimpleNamespace(latitude=473977420, longitude=85455940, altitude=488_000)
    drone.remember_home()
    drone.seen["HOME_POSITION"] = SimpleNamespace(latitude=473977420, longitude=85455940, altitude=486_700)
    drone.take_off(10.0)
    drone.fly_to((0.0, 20.0, 10.05))
    (_, take_off), (_, reposition) = drone.line.sent
    assert take_off[-1] == pytest.approx(498.0)
    assert reposition[-1] == pytest.approx(498.0)
    assert reposition[-3] == 473977420 + round(1e7 * 20 / 111_320)
