"""Commands by topic: `/<vehicle>/switch_mode` and `/<vehicle>/<mode>/command`, as in uav_gazebo, and for a tank
`/<vehicle>/flow_rate_update` in litres per minute.

A command by topic is kept for its mode and takes effect when that mode is in force; `switch_mode` chooses the mode.
What a vehicle cannot take is told on /events, and the vehicle flies on as before.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from airloom.bus import messages
from airloom.bus.bus import Topic
from airloom.commands import BY_MODE, Command, CommandError, Mode

if TYPE_CHECKING:
    from airloom.simulation import Simulation

MESSAGE_TYPES = {
    Mode.POSITION_YAW: messages.POSITION_YAW,
    Mode.VELOCITY_YAWRATE: messages.VELOCITY_YAW_RATE,
    Mode.THRUST_ATTITUDE: messages.THRUST_ATTITUDE,
    Mode.THRUST_VELOCITY: messages.THRUST_VELOCITY,
    Mode.THRUST_TORQUE: messages.THRUST_TORQUE,
}


def to_message(command: Command) -> Any:
    """The message that carries a command."""
    command.check_is_for_one("a topic")
    message = messages.build(MESSAGE_TYPES[command.mode])
    for field in fields(command):
        value, place = getattr(command, field.name), getattr(message, field.name)
        if hasattr(place, "x"):
            place.x, place.y, place.z = (float(x) for x in value)
        else:
            setattr(message, field.name, type(place)(value))
    return message


def from_message(mode: Mode, message: Any) -> Command:
    kind = BY_MODE[mode]
    values = {field.name: getattr(message, field.name) for field in fields(kind)}
    return kind(**{name: (v.x, v.y, v.z) if hasattr(v, "x") else v for name, v in values.items()})


class CommandTopics:
    """Listens for commands to all vehicles of a simulation."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        sim.bus.subscribe("/*/switch_mode", self._switch)
        for mode in BY_MODE:
            sim.bus.subscribe(f"/*/{mode.label}/command", self._command)
        sim.bus.subscribe("/*/flow_rate_update", self._pour)

    def _switch(self, topic: Topic, message: Any, _: int) -> None:
        self._try(topic, messages.CONTROL_MODE, lambda vehicle: vehicle.switch_mode(message.mode))

    def _command(self, topic: Topic, message: Any, _: int) -> None:
        mode = Mode.named(topic.name.split("/")[2])
        self._try(
            topic, MESSAGE_TYPES[mode], lambda vehicle: vehicle.command(from_message(mode, message), switch=False)
        )

    def _pour(self, topic: Topic, message: Any, _: int) -> None:
        def act(vehicle: Any) -> None:
            if vehicle.tank is None:
                raise CommandError(f"{vehicle.name} has no tank")
            vehicle.tank.command(message.data)

        self._try(topic, messages.FLOAT64, act)

    def _try(self, topic: Topic, msgtype: str, act: Any) -> None:
        name = topic.name.split("/")[1]
        try:
            if topic.msgtype != msgtype:
                raise CommandError(f"{topic.name} takes {msgtype}, not {topic.msgtype}")
            if name not in self._sim.vehicles:
                raise CommandError(f"no vehicle is called '{name}'")
            act(self._sim.vehicles[name])
        except CommandError as error:
            self._sim.event(topic.name, f"refused: {error}", level="error")
