"""A stick in somebody's hands: states of a game controller become modes and commands of one vehicle."""

from __future__ import annotations

from collections.abc import Coroutine
from math import cos, sin
from typing import TYPE_CHECKING

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.bus import messages
from airloom.commands import (
    Command,
    CommandError,
    Mode,
    PositionYaw,
    ThrustAttitude,
    ThrustTorque,
    ThrustVelocity,
    VelocityYawRate,
)
from airloom.joystick.mapping import Action, Mapping, Sticks
from airloom.joystick.state import StickState
from airloom.joystick.wings import wings_command
from airloom.missions.tasks import Task

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

LEAST_RESTART = 30.0  # m, of an aeroplane
LEASH = 1.0  # m that a target is ahead of its vehicle at most


class Stick:
    """Flies one vehicle by hand: `feed` it with states, some 50 times a second.

    Whoever stops feeding stops commanding: in modes that need a commander the vehicle then brakes after its timeout.
    """

    def __init__(
        self,
        sim: Simulation,
        vehicle: Vehicle,
        mapping: Mapping,
        route: list[tuple[float, float, float]] | None = None,
        route_speed: float = 2.0,
        first_mode: Mode | None = None,
    ) -> None:
        """`route` is what the action `restart` pursues. `first_mode` is flown from when a hand takes the stick, and
        after a takeoff, until a button chooses another; without it, the hand goes on in the mode in force.
        """
        self.sim, self.vehicle, self.mapping = sim, vehicle, mapping
        self.route, self.route_speed = route, route_speed
        self._first_mode = first_mode
        self._joy = sim.bus.advertise(f"/{vehicle.name}/joy", messages.JOY)
        self.forget()

    def forget(self) -> None:
        """Begin anew: a button that is down when the next state comes counts as held, not as pressed."""
        self._held: set[Action] | None = None
        self._manoeuvre: Task | None = None
        self._mode: Mode | None = None
        self._chosen: Mode | None = None
        """By a button; a hand that comes back goes on with it, unless the vehicle was braked or told otherwise."""
        self._wish: Mode | None = None
        """The mode to fly in as soon as a manoeuvre is over."""
        self._glides = False
        self._fed_at = self.sim.time

    @property
    def mode(self) -> Mode:
        """What its deflections mean now: the vehicle's mode, or the velocity of a target that it moves along."""
        return Mode.VELOCITY_YAWRATE if self._glides and self.vehicle.armed else self.vehicle.mode

    @property
    def _has_wings(self) -> bool:
        """And cannot do without them."""
        return self._flies == "wings"

    @property
    def _flies(self) -> str:
        controller = self.vehicle.controller
        return "hovering" if controller is None else controller.flies

    @property
    def doing(self) -> str:
        """The manoeuvre under way, or the mode."""
        if self._manoeuvre is not None and not self._manoeuvre.done:
            return self._manoeuvre.name.removeprefix(f"{self.vehicle.name}.")
        return self.mode.label

    def let_go(self) -> None:
        """Nobody holds the stick any more; a takeoff, landing or pursuit goes on."""
        self._held = self._mode = None

    def feed(self, state: StickState) -> None:
        """Do what a state asks for; StickError if it does not suit the mapping."""
        self.mapping.must_suit(state)
        self._record(state)
        if self._held is None and self.vehicle.armed and self.vehicle.mode is not self._chosen:
            self._wish = self._first_mode
        for action in self._pressed(state):
            self._try(action)
        self._steer(self.mapping.sticks(state))
        self._fed_at = self.sim.time

    def _record(self, state: StickState) -> None:
        if self._joy.wanted:
            sec, nanosec = divmod(self.sim.time_ns, NS_PER_SECOND)
            stamp = {"header.stamp.sec": sec, "header.stamp.nanosec": nanosec}
            joy = messages.build(messages.JOY, {**stamp, "axes": state.axes, "buttons": state.buttons})
            self._joy.publish(joy, self.sim.time_ns)

    def _pressed(self, state: StickState) -> list[Action]:
        down = self.mapping.actions(state)
        held, self._held = down if self._held is None else self._held, down
        pressed = down - held
        if "idle" in pressed:
            return ["idle"]
        return [action for action in dict.fromkeys(self.mapping.buttons.values()) if action in pressed]

    # -- buttons -----------------------------------------------------------------------------------------------------

    def _try(self, action: Action) -> None:
        self._end_manoeuvre()
        self._mode, self._chosen, self._wish, self._glides = None, None, None, False
        try:
            self._act(action)
        except CommandError as error:
            self.sim.event(self.vehicle.name, f"refused: {error}", level="warning")

    def _act(self, action: Action) -> None:
        pilot = self.sim.pilot(self.vehicle.name)
        if action in ("takeoff", "restart"):
            self._wish = self._first_mode
        if action == "takeoff" and self._flies == "in water":
            self.vehicle.recover()  # its thrusters are on then, and there is nothing to take off from
        elif why := pilot.refuses.get(action):
            raise CommandError(f"{self.vehicle.name}: {why}")
        elif action == "takeoff":
            height = () if self._has_wings else (self.mapping.takeoff_height,)
            self._begin(pilot.takeoff(*height), "takeoff")
        elif action == "land":
            self._begin(pilot.land(), "landing")
        elif action == "restart":
            self._restart()
        elif action == "reset_pose":
            self.vehicle.reset_pose()
        else:
            self._chosen = Mode.named(action)
            self._choose(self._chosen)

    def _choose(self, mode: Mode) -> None:
        if mode is Mode.IDLE:
            self.vehicle.kill()
            return
        if why := self.sim.pilot(self.vehicle.name).why_not_in(mode):
            raise CommandError(why)
        if mode is Mode.POSITION_YAW:
            self.vehicle.recover()
        else:
            self.vehicle.switch_mode(mode)

    def _restart(self) -> None:
        self.vehicle.reset_pose()
        x, y, z = self.mapping.restart_position
        if self._has_wings:
            speed = self.vehicle.controller.cruise_speed  # type: ignore[union-attr]
            self.vehicle.place((x, y, max(z, LEAST_RESTART)), velocity=(speed, 0.0, 0.0))
        elif self._flies != "in water":
            self.vehicle.place((x, y, z))
        self.vehicle.recover()
        if self.route:
            pilot = self.sim.pilot(self.vehicle.name)
            self._begin(pilot.follow(self.route, self.route_speed, method="pursuit"), "pursuit")

    def _begin(self, manoeuvre: Coroutine, name: str) -> None:
        self._manoeuvre = self.sim.start(manoeuvre, f"{self.vehicle.name}.{name}")

    def _end_manoeuvre(self) -> None:
        if self._manoeuvre is not None and not self._manoeuvre.done:
            self._manoeuvre.cancel()
        self._manoeuvre = None

    # -- sticks ------------------------------------------------------------------------------------------------------

    def _steer(self, sticks: Sticks) -> None:
        """Command the mode in force; a manoeuvre goes on until the sticks are moved."""
        if self._manoeuvre is not None and not self._manoeuvre.done and not any(sticks):
            return
        self._end_manoeuvre()
        if self._wish is not None and self.vehicle.armed:
            self._enter(self._wish)
        mode = self.vehicle.mode
        if mode is not self._mode:
            self._mode, self._home = mode, self._home_in(mode)
        if mode is not Mode.IDLE:
            self.vehicle.command(self._command(mode, sticks))

    def _enter(self, mode: Mode) -> None:
        """A vehicle that flies to positions only gets velocities as a target that moves along."""
        self._wish, self._mode = None, None
        try:
            self.vehicle.switch_mode(mode)
        except CommandError:
            self.vehicle.recover()
            self._glides = mode is Mode.VELOCITY_YAWRATE

    def _home_in(self, mode: Mode) -> PositionYaw:
        """Where released sticks leave the vehicle, from the moment it entered the mode."""
        return self.vehicle.setpoint if mode is Mode.POSITION_YAW else self.vehicle.holding_command()

    def _command(self, mode: Mode, sticks: Sticks) -> Command:
        x, y, z, turn = sticks
        scales, yaw = self.mapping.scales, float(self._home.yaw)
        if self._has_wings:
            return wings_command(self.vehicle, mode, sticks, self._home, scales)
        if mode is Mode.POSITION_YAW and self._glides:
            return self._gliding(sticks)
        if mode is Mode.POSITION_YAW:
            offset = scales.position * sticks.ahead
            return PositionYaw(tuple(self._home.position + offset), yaw + scales.attitude * turn)
        if mode is Mode.VELOCITY_YAWRATE:
            velocity = tuple(scales.velocity * s for s in (x, y, z))
            in_body = self.mapping.velocity_frame == "body"
            return VelocityYawRate(velocity, scales.yaw_rate * turn, body_frame=in_body)
        lean = np.array([-y, x, turn])  # about the body's axes: to the left is a negative roll
        if mode is Mode.THRUST_ATTITUDE:
            return ThrustAttitude(self._thrust(z), tuple(scales.attitude * lean + (0.0, 0.0, yaw)))
        if mode is Mode.THRUST_VELOCITY:
            return ThrustVelocity(self._thrust(z), tuple(scales.angular_velocity * lean))
        return ThrustTorque(self._thrust(z), tuple(scales.torque * torque_at_hover(self.vehicle) * lean))

    def _gliding(self, sticks: Sticks) -> PositionYaw:
        """Move the target as the sticks say, but never far from a vehicle that cannot follow."""
        x, y, z, turn = sticks
        scales, elapsed = self.mapping.scales, self.sim.time - self._fed_at
        yaw = self._home.yaw + scales.yaw_rate * turn * elapsed
        heading = yaw if self.mapping.velocity_frame == "body" else 0.0
        c, s = cos(heading), sin(heading)
        velocity = scales.velocity * np.array([c * x - s * y, s * x + c * y, z])
        ahead = self._home.position + velocity * elapsed - self.vehicle.position
        ahead *= min(1.0, LEASH / max(float(np.linalg.norm(ahead)), LEASH))
        self._home = PositionYaw(tuple(self.vehicle.position + ahead), yaw, tuple(velocity))
        return self._home

    def _thrust(self, z: float) -> float:
        wanted = _weight(self.vehicle) + self.mapping.scales.thrust * z
        return min(max(wanted, 0.0), float(self.vehicle.airframe.max_thrusts.sum()))


def torque_at_hover(vehicle: Vehicle) -> np.ndarray:
    """The torque about each body axis that a vehicle can give, one at a time, without losing the thrust to hover."""
    airframe = vehicle.airframe
    hover = airframe.mixer[:, 0] * _weight(vehicle)
    room = np.clip(np.minimum(hover, airframe.max_thrusts - hover), 0.0, None)
    directions = airframe.mixer[:, 1:]
    return np.min(room[:, None] / np.maximum(np.abs(directions), 1e-12), axis=0)


def _weight(vehicle: Vehicle) -> float:
    return vehicle.mass * vehicle.airframe.gravity
