"""A group takes the commands that a vehicle takes: to the bit as if each were told in turn, or not at all."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import airloom as al
from airloom.commands import BY_MODE, Command, Mode
from airloom.control.command_rows import ROWS, WIDTHS
from airloom.engines.fleet import expand_copies
from airloom.missions.pursuit import Polyline, Pursuit
from airloom.simulation import Simulation

TIMEOUTS = (0.004, 0.01, None, 0.004, 0.03, 0.01, 0.004, 0.02, None, 0.004)
"""Ten vehicles, so that they lie in two blocks; s."""
CALM = {"world.wind": [0, 0, 0], "world.obstacles": {}, "systems": {}, "engine": "batch"}
VELOCITY, YAW = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.array([0.1, -0.2])


class Fleet:
    """Vehicles in flight, and what is told of them."""

    def __init__(self, timeouts: Any = TIMEOUTS, controller: str = "modes") -> None:
        vehicles = {
            f"drone_{k}": {
                "extends": "x500", "controller": controller, "command_timeout": timeout,
                "pose": {"position": [0, 5.0 * k, 20]},
            }
            for k, timeout in enumerate(timeouts)
        }  # fmt: skip
        self.sim = Simulation.load("waypoints", overrides={"vehicles": {"drone": None, **vehicles}, **CALM})
        self.events: list[tuple[str, str, str]] = []
        self.sim.bus.subscribe(
            "/events", lambda _, event, __: self.events.append((event.source, event.level, event.text))
        )
        self.sim.first_look()
        self.group = self.sim.group()

    @property
    def bits(self) -> np.ndarray:
        return self.sim.fleet.flight.blocks.view(np.uint64).copy()

    def told_one_by_one(self, command: Command, switch: bool) -> None:
        for k, vehicle in enumerate(self.group):
            vehicle.command(row_of(command, k), switch)


def row_of(command: Command, k: int) -> Command:
    """What vehicle k is told."""

    def part(value: Any, dimensions: int) -> Any:
        return value[k] if isinstance(value, np.ndarray) and value.ndim == dimensions else value

    return type(command)(
        **{
            field.name: part(getattr(command, field.name), 2 if field.type == "Vector" else 1)
            for field in fields(command)
        }
    )


@pytest.fixture(scope="module")
def both() -> tuple[Fleet, Fleet]:
    return Fleet(), Fleet()


def arrays(*shape: int, low: float, high: float) -> Any:
    seeds = some.integers(0, 2**32)
    return seeds.map(lambda seed: np.random.default_rng(seed).uniform(low, high, (len(TIMEOUTS), *shape)))


def field_values(name: str, kind: str) -> Any:
    """One for all, or a row a vehicle."""
    if kind == "Vector":
        low, high = (-1.0, 5.0) if name == "position" else (-2.0, 2.0)
        number = some.floats(low, high)
        return some.tuples(number, number, number) | arrays(3, low=low, high=high)
    if kind.startswith("bool"):
        return some.booleans() | arrays(low=0, high=1).map(lambda shares: shares < 0.5)
    low, high = (0.0, 30.0) if name == "thrust" else (-7.0, 7.0)
    return some.floats(low, high) | arrays(low=low, high=high)


def commands(kind: type[Command]) -> Any:
    return some.builds(kind, **{field.name: field_values(field.name, field.type) for field in fields(kind)})


@pytest.mark.parametrize("kind", BY_MODE.values(), ids=lambda kind: kind.__name__)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(data=some.data(), switch=some.booleans(), held=some.integers(0, 40), ticks=some.integers(0, 25))
def test_together_as_one_by_one(both, kind, data, switch, held, ticks):
    """Rows, modes, events, and who brakes when nobody speaks; also where somebody holds a vehicle's mode."""
    together, apart = both
    command = data.draw(commands(kind))
    for fleet in both:
        if held < len(TIMEOUTS):
            fleet.sim.guard.hold(fleet.group[held])
    together.group.command(command, switch)
    apart.told_one_by_one(command, switch)
    assert (together.bits == apart.bits).all()
    assert together.events == apart.events
    for fleet in both:
        fleet.sim.step(ticks)
        for vehicle in fleet.group:
            fleet.sim.guard.release(vehicle)
    assert (together.bits == apart.bits).all()
    assert together.events == apart.events
    assert together.sim.warnings == apart.sim.warnings
    assert together.sim.state_hash() == apart.sim.state_hash()


def test_all_that_was_compared_came_to_pass(both):
    texts = " ".join(text for _, _, text in both[0].events)
    for what in ("braking to a hover", "below the ground", *(f"→ {mode.label}" for mode in BY_MODE)):
        assert what in texts


@pytest.mark.parametrize("kind", BY_MODE.values(), ids=lambda kind: kind.__name__)
def test_numbers_are_the_fields_in_their_rows(kind):
    """The handwritten order of each class is that of its fields, and no two share a row."""
    values = iter(range(1, 20))
    parts = {
        f.name: tuple(next(values) for _ in range(3)) if f.type == "Vector" else next(values) for f in fields(kind)
    }
    command = kind(**parts)
    assert list(command.numbers()) == list(range(1, WIDTHS[kind.mode] + 1))
    assert kind.of(command.numbers()) == command
    assert len(set(ROWS[kind.mode, : WIDTHS[kind.mode]])) == WIDTHS[kind.mode]


def test_each_its_own_and_one_for_all():
    two = Fleet(TIMEOUTS[:2])
    two.group.command(al.PositionYaw(VELOCITY + 3, YAW, velocity=(1, 2, 3)))
    for k, vehicle in enumerate(two.group):
        expected = al.PositionYaw(tuple(VELOCITY[k] + 3), YAW[k], (1, 2, 3))
        assert vehicle.setpoint == expected
        assert vehicle.mode is Mode.POSITION_YAW


def test_a_guide_speaks_for_one_of_them():
    """It needs no other word, and the rest do."""
    two = Fleet((0.01, 0.01))
    two.group.command(al.VelocityYawRate((0, 0, 1)))
    two.sim.guides.begin(two.group[0], Pursuit(Polyline([(0, 0, 20), (0, 0, 60)]), speed=1.0))
    two.group.command(al.VelocityYawRate((0, 0, 1)))
    two.sim.step(20)
    assert [vehicle.mode for vehicle in two.group] == [Mode.VELOCITY_YAWRATE, Mode.POSITION_YAW]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (lambda: al.PositionYaw(np.array([[0, 0, 1], [0, 0, np.nan]])),
         "drone_1: PositionYaw: position must be three finite numbers, got (0.0, 0.0, nan)"),
        (lambda: al.VelocityYawRate((0, 0, 1), yaw_rate=np.array([np.inf, 0])),
         "drone_0: VelocityYawRate: yaw_rate must be a finite number, got inf"),
        (lambda: al.PositionYaw(np.zeros((3, 3))), "PositionYaw: position has 3 rows, and the group 2 vehicles"),
        (lambda: al.PositionYaw(np.zeros((1, 3))), "PositionYaw: position has 1 rows, and the group 2 vehicles"),
        (lambda: al.PositionYaw((0, 0, 1), yaw=np.zeros(3)), "PositionYaw: yaw has 3 rows, and the group 2 vehicles"),
        (lambda: al.PositionYaw([[0, 0, 1], [0, 0, 2]]), "for a group, give a NumPy array with a row a vehicle"),
        (lambda: al.PositionYaw(np.zeros((2, 2))), "PositionYaw: position must be three finite numbers, got array("),
        (lambda: al.PositionYaw((0, 0, 1), yaw=np.zeros((2, 1))), "PositionYaw: yaw must be a finite number, got"),
        (lambda: al.PositionYaw(np.array([["a", "b", "c"]])), "PositionYaw: position must be three finite numbers, "),
        (lambda: al.ThrustTorque(np.array([20.0, 35.0])), "drone_1 can give a thrust of 0 to 34.2 N, got 35 N"),
        (lambda: al.ThrustAttitude(-1.0), "drone_0 can give a thrust of 0 to 34.2 N, got -1 N"),
        (lambda: np.zeros((2, 3)), "a group takes a command such as al.PositionYaw(positions), got ndarray"),
    ],
)  # fmt: skip
def test_what_a_group_cannot_take(command, message):
    two = Fleet(TIMEOUTS[:2])
    before = two.bits
    with pytest.raises(al.CommandError) as error:
        two.group.command(command())
    assert message in str(error.value)
    assert (two.bits == before).all()
    assert not two.events


def test_modes_that_the_controller_of_one_does_not_fly():
    two = Fleet(TIMEOUTS[:2], controller="cascade")
    before = two.bits
    for _ in range(2):
        with pytest.raises(al.CommandError, match="drone_0's controller flies position_yaw only, not velocity_yawrate"):
            two.group.command(al.VelocityYawRate(VELOCITY))
    assert (two.bits == before).all()


def test_a_vehicle_takes_no_command_for_many():
    vehicle = Fleet(TIMEOUTS[:2]).group[0]
    with pytest.raises(
        al.CommandError, match="drone_0 takes a command for one vehicle; this VelocityYawRate has a row"
    ):
        vehicle.command(al.VelocityYawRate(VELOCITY))


def test_an_empty_group_has_nothing_to_do():
    Fleet(TIMEOUTS[:1]).sim.group("nobody*").command(al.PositionYaw((0, 0, 1)))


def test_those_who_have_left_are_left_alone():
    """Its row of the command is lost, whatever it could have taken, and nobody is told of it."""
    three = Fleet((1.0, 1.0, 1.0))
    gone, *others = three.group
    vehicles = expand_copies(three.sim.scenario.vehicles)
    del vehicles["drone_0"]
    three.sim.change(three.sim.scenario.model_copy(update={"vehicles": vehicles}))
    before = gone.setpoint
    three.group.command(al.PositionYaw(np.array([[9.0, 9.0, -9.0], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])))
    three.group.command(al.ThrustTorque(np.array([1000.0, 20.0, 21.0])))
    assert gone.setpoint == before
    assert gone.mode is Mode.IDLE
    assert [vehicle.setpoint.position for vehicle in others] == [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)]
    assert {source for source, _, _ in three.events} == {"drone_1", "drone_2"}
    assert not three.sim.warnings


def test_a_timeout_that_an_edit_takes_away_is_waited_for_no_more():
    one = Fleet((0.05,))
    one.group.command(al.VelocityYawRate((1, 0, 0)))
    vehicles = expand_copies(one.sim.scenario.vehicles)
    vehicles["drone_0"] = vehicles["drone_0"].model_copy(update={"command_timeout": None})
    one.sim.change(one.sim.scenario.model_copy(update={"vehicles": vehicles}))
    one.group.command(al.VelocityYawRate((1, 0, 0)))
    one.sim.step(100)
    assert one.group[0].mode is Mode.VELOCITY_YAWRATE
