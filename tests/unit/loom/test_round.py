"""The compiled round does to the bit what the same round does in Python."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import airloom as al
from airloom.loom import protocol
from airloom.loom.protocol import Letter
from airloom.loom.round import ROOM, obey
from airloom.loom.visibility import FleetVisibility
from airloom.scenario import load

SCENARIO = """
name: obeying
engine: batch
vehicles:
  drone: {extends: multirotor, pose: {position: [0, 0, 2]}, copies: {count: 3, spacing: 3}}
"""
number = some.floats(-100, 100)
vector = some.tuples(number, number, number)
place = some.tuples(number, number, some.floats(0, 100))
positions = some.builds(al.PositionYaw, place, number, vector, vector, number)
velocities = some.builds(al.VelocityYawRate, vector, number, vector, some.booleans())


class Obeying:
    """Three vehicles in velocity mode, seen by two members: the first by one, the others by the second."""

    def __init__(self, folder, mode):
        (folder / "obeying.yaml").write_text(SCENARIO)
        self.sim = al.Simulation(load(folder / "obeying.yaml"))
        self.vehicles = list(self.sim.vehicles.values())
        self.visibility = FleetVisibility(self.sim)
        for vehicle in self.vehicles:
            self.visibility.number(vehicle)
            vehicle.switch_mode(mode)
        self.visibility.keep_up()

    def told(self, *answers, time_ns=0):
        room, sizes = np.zeros((2, ROOM), np.uint8), np.zeros(2, np.int64)
        for k, answer in enumerate(answers):
            room[k, : len(answer)], sizes[k] = np.frombuffer(answer, np.uint8), len(answer)
        heard = np.zeros(3, bool)
        counts = np.array([1, 2])
        memory, world, places = self.visibility.memory, self.sim.fleet.flight.world, self.visibility.places
        return obey(time_ns, memory, world, places, counts, room, sizes, heard), heard.tolist()

    @property
    def blocks(self):
        return self.sim.fleet.flight.blocks.copy()


@pytest.fixture(scope="module", params=[al.Mode.POSITION_YAW, al.Mode.VELOCITY_YAWRATE])
def both(request, tmp_path_factory):
    return [Obeying(tmp_path_factory.mktemp("obeying"), request.param) for _ in range(2)]


@settings(max_examples=60, deadline=None)
@given(data=some.data())
def test_orders_leave_the_same_bits(both, data):
    compiled, plain = both
    kind = positions if plain.vehicles[0].mode is al.Mode.POSITION_YAW else velocities
    first, second, third = (data.draw(kind) for _ in range(3))
    done, heard = compiled.told(
        protocol.end(0, [protocol.order(0, first)]),
        protocol.end(0, [protocol.order(1, second), protocol.order(0, third)]),
    )
    for vehicle, command in zip(plain.vehicles, (first, third, second), strict=True):
        vehicle.command(command)
    assert (compiled.blocks.view(np.uint64) == plain.blocks.view(np.uint64)).all()
    assert done == (0 if kind is positions else 3)
    assert heard == [kind is velocities] * 3


def order(vehicle, command):
    return protocol.end(0, [protocol.order(vehicle, command)])


POSITION = al.PositionYaw((1, 2, 3))
SHORT = struct.pack("<HBB5d", 0, al.Mode.POSITION_YAW, 5, 1, 2, 3, 0, 0)
UNUSUAL = {
    "letters": protocol.end(0, [], [Letter("somebody", b"hello")]),
    "another time": protocol.end(7),
    "another vehicle": order(2, POSITION),
    "another mode": order(0, al.VelocityYawRate((0, 0, 0))),
    "a place below the ground": order(0, al.PositionYaw((1, 2, -0.5))),
    "numbers that end in the middle of a field": protocol.end(0, [SHORT]),
    "the rotors": order(0, None),
    "half a message": order(0, POSITION)[:-3],
    "two messages": protocol.end(0) * 2,
    "a good-bye": protocol.told(protocol.Kind.BYE, "done"),
    "not a number": order(0, POSITION).replace(np.float64(3).tobytes(), np.float64("nan").tobytes()),
    "nothing": b"",
}


@pytest.mark.parametrize("what", UNUSUAL)
def test_the_unusual_is_left_to_python(tmp_path, what):
    it = Obeying(tmp_path, al.Mode.POSITION_YAW)
    before = it.blocks
    assert it.told(order(0, POSITION), UNUSUAL[what])[0] == -1
    assert (it.blocks == before).all()
    assert it.told(order(0, POSITION), order(1, POSITION))[0] == 0
    assert (it.blocks != before).any()
