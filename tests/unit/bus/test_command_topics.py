"""Commands by topic: what a message says is what the vehicle does, and what it cannot do is told."""

from __future__ import annotations

from typing import Any

import pytest

import airloom as al
from airloom.bus import messages
from airloom.bus.command_topics import MESSAGE_TYPES, from_message, to_message
from airloom.commands import BY_MODE
from airloom.simulation import Simulation

CALM = {"world.wind": [0, 0, 0], "world.obstacles": {}, "systems": {}, "engine": "batch"}
COMMANDS = [
    al.PositionYaw((1.0, 2.0, 3.0), 0.5, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), 0.7),
    al.VelocityYawRate((1.0, 2.0, 3.0), 0.5, (0.1, 0.2, 0.3), True),
    al.ThrustAttitude(20.0, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)),
    al.ThrustVelocity(20.0, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6), True),
    al.ThrustTorque(20.0, (0.1, 0.2, 0.3), True),
]


class Sender:
    """A drone in flight, somebody who publishes for it, and the events."""

    def __init__(self, controller: str = "modes") -> None:
        start = {"extends": "x500", "controller": controller, "pose": {"position": [0, 0, 20]}}
        self.sim = Simulation.load("waypoints", overrides={"vehicles.drone": start, **CALM})
        self.drone = self.sim.vehicles["drone"]
        self.refused: list[str] = []
        self.sim.bus.subscribe("/events", self._note)
        self.drone.command(al.PositionYaw((0, 0, 20)))
        self.sim.step(10)

    def _note(self, topic: Any, message: Any, time_ns: int) -> None:
        if message.level == "error":
            self.refused.append(f"{message.source}: {message.text}")

    def send(self, topic: str, message: Any) -> None:
        self.sim.bus.advertise(topic, message.__msgtype__).publish(message, self.sim.time_ns)

    def command(self, command: Any) -> None:
        self.send(f"/drone/{command.mode.label}/command", to_message(command))

    def switch(self, mode: int) -> None:
        self.send("/drone/switch_mode", messages.build(messages.CONTROL_MODE, {"mode": mode}))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.mode.label)
def test_a_message_carries_all_of_a_command(command: Any) -> None:
    again = messages.deserialize(messages.serialize(to_message(command)), MESSAGE_TYPES[command.mode])
    assert from_message(command.mode, again) == command


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.mode.label)
def test_commands_wait_until_their_mode_is_chosen(command: Any) -> None:
    by_topic, by_call = Sender(), Sender()
    by_topic.switch(al.Mode.VELOCITY_YAWRATE)
    by_topic.command(command)
    if command.mode is not al.Mode.VELOCITY_YAWRATE:
        assert by_topic.drone.mode is al.Mode.VELOCITY_YAWRATE
    by_topic.switch(command.mode)
    by_call.drone.command(command)
    assert by_topic.drone.mode is by_call.drone.mode
    by_topic.sim.step(500), by_call.sim.step(500)
    assert by_topic.drone.state == pytest.approx(by_call.drone.state, abs=1e-12)
    assert not by_topic.refused


def test_all_modes_have_a_topic() -> None:
    assert set(MESSAGE_TYPES) == set(BY_MODE)


def test_what_a_vehicle_cannot_take_is_told_and_changes_nothing() -> None:
    sender = Sender()
    sender.switch(9)
    sender.command(al.ThrustTorque(1000.0))
    bad = to_message(COMMANDS[1])
    bad.velocity.y = float("nan")
    sender.send("/drone/velocity_yawrate/command", bad)
    sender.send("/drone/position_yaw/command", bad)
    sender.send("/nobody/velocity_yawrate/command", to_message(COMMANDS[1]))
    assert [text.split(": ", 2)[2] for text in sender.refused] == [
        "no control mode is called '9'; known are 0 idle, 1 position_yaw, 2 velocity_yawrate, 3 thrust_attitude, "
        "4 thrust_velocity, 5 thrust_torque",
        "drone can give a thrust of 0 to 34.2 N, got 1e+03 N",
        "VelocityYawRate: velocity must be three finite numbers, got (1.0, nan, 3.0)",
        f"/drone/position_yaw/command takes {MESSAGE_TYPES[al.Mode.POSITION_YAW]}, "
        f"not {MESSAGE_TYPES[al.Mode.VELOCITY_YAWRATE]}",
        "no vehicle is called 'nobody'",
    ]
    assert sender.drone.mode is al.Mode.POSITION_YAW
    sender.sim.run(until=5.0)
    assert sender.drone.position == pytest.approx([0, 0, 20], abs=0.1)


def test_modes_beyond_the_controller_are_refused() -> None:
    sender = Sender("cascade")
    sender.switch(al.Mode.THRUST_TORQUE)
    assert "drone's controller flies position_yaw only, not thrust_torque" in sender.refused[0]
