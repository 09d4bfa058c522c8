"""A vehicle as users and systems see it: its state, its commands, its gains."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from airloom.basics.clock import ticks_per_period
from airloom.basics.hints import did_you_mean
from airloom.basics.rotations import euler_from_quaternion, quaternion_from_euler
from airloom.commands import (
    EDGE,
    Command,
    CommandError,
    Mode,
    PositionYaw,
    ThrustAttitude,
    ThrustTorque,
    ThrustVelocity,
)
from airloom.compiled import rows as row
from airloom.compiled import tables
from airloom.compiled.rows import LANES
from airloom.control.command_rows import BURIED, OTHER_MODE, ROWS, WIDTHS, put_command, take_command
from airloom.control.flight_stack import Controller, Rated
from airloom.control.multirotor import lift_complaint
from airloom.engines.fleet import Craft
from airloom.eyes.eye import Eye
from airloom.sensors.faults import Fault, together
from airloom.sensors.reading import Reading
from airloom.sensors.sensor import Sensor
from airloom.spray.nozzles import Nozzles
from airloom.vehicles.battery import Battery
from airloom.vehicles.tank import Tank
from airloom.vehicles.wings import Servos
from airloom.world.atmosphere import STANDARD_DENSITY
from airloom.world.ground import ground

if TYPE_CHECKING:
    from airloom.scenario import models
    from airloom.simulation import Simulation

THRUSTING = (ThrustAttitude, ThrustVelocity, ThrustTorque)
_MODES = tuple(Mode)  # by number, without what a call of the enumeration costs


class Vehicle:
    """One vehicle of a running simulation. World ENU, body FLU, quaternions w, x, y, z body→world, SI units."""

    tank: Tank | None
    """What it sprays from: litres, flow, refilling; None if it has none."""
    nozzles: Nozzles
    """Which of them are open."""
    battery: Battery | None
    """Voltage, current and charge; None if it has none: then nothing runs out."""

    def __init__(self, sim: Simulation, craft: Craft) -> None:
        self._sim = sim
        self._pushes: dict[str, np.ndarray] = {}
        self._faults: dict[str, dict[str, Fault]] = {}
        self._shares: dict[str, dict[str, float]] = {}
        self._has_own_wind = False
        self.fault_listeners: list[Callable[[str], None]] = []
        """Told the name of a sensor or rotor whose faults have changed."""
        self.tank = None
        self.settle(craft)
        self.nozzles = Nozzles(self)

    def settle(self, craft: Craft) -> None:
        """Take a place in the simulation's fleet, which may be a new one."""
        fleet = self._sim.fleet
        self._fleet, self._craft = fleet, craft
        self._column = fleet.column(craft)
        self._memory, self._place = fleet.flight.blocks.reshape(-1), craft.block * row.WIDTH + craft.lane
        self._speeds, self._targets = fleet.rotor_column(craft, row.SPEED), fleet.rotor_column(craft, row.TARGET)
        fleet.flight.blown[self.place_in_blocks] = not self._has_own_wind
        self._settle_tank()
        self.battery = Battery(self._column) if craft.vehicle.battery is not None else None
        commands = self._column[row.SERVO // LANES :][: row.SERVOS]
        self.servos = Servos(self.name, list(craft.vehicle.servos), commands, fleet.wing_numbers_of(craft))
        for sensor in self._faults:
            self._apply_faults(sensor)
        for rotor in self._shares:
            self._apply_shares(rotor)

    def _settle_tank(self) -> None:
        description = self._craft.vehicle.tank
        if description is None:
            self.tank = None
        else:
            self.tank = self.tank or Tank(self._sim, self.name)
            self.tank.settle(description, self._fleet.tank_numbers_of(self._craft))

    def weigh(self) -> None:
        """With what is in its tank now."""
        self._fleet.weigh(self._craft, self._craft.lane, anew=True)

    def _get(self, first: int, count: int) -> np.ndarray:
        return self._column[first // LANES : first // LANES + count].copy()

    def _set(self, first: int, values: Any) -> None:
        self._column[first // LANES : first // LANES + len(values)] = values

    @property
    def name(self) -> str:
        return self._craft.name

    @property
    def airframe(self):
        return self._craft.airframe

    @property
    def description(self) -> models.Vehicle:
        """What the scenario says of it."""
        return self._craft.vehicle

    @property
    def sensors(self) -> list[Sensor]:
        return self._craft.sensors

    @property
    def eyes(self) -> list[Eye]:
        """Sensors that see, whether somebody wants it or not."""
        return self._craft.eyes

    @property
    def place_in_blocks(self) -> tuple[int, int]:
        """Block and lane where its rows lie."""
        return self._craft.block, self._craft.lane

    @property
    def position(self) -> np.ndarray:
        return self._get(row.PX, 3)

    @property
    def velocity(self) -> np.ndarray:
        return self._get(row.VX, 3)

    @property
    def attitude(self) -> np.ndarray:
        return self._get(row.QW, 4)

    @property
    def euler(self) -> np.ndarray:
        """Roll, pitch, yaw, rad."""
        return euler_from_quaternion(self.attitude)

    @property
    def rates(self) -> np.ndarray:
        return self._get(row.WX, 3)

    @property
    def state(self) -> np.ndarray:
        """Position, attitude, velocity, rates: 13 numbers."""
        return self._get(row.STATE, row.STATE_ROWS)

    @property
    def rotor_speeds(self) -> np.ndarray:
        return self._speeds.copy()

    @property
    def mass(self) -> float:
        """With what is in its tank, kg."""
        return float(self._column[row.MASS // LANES])

    @property
    def estimate(self) -> Estimate:
        """What the flight stack believes."""
        return Estimate(self._get(row.EPX, 13))

    @property
    def setpoint(self) -> PositionYaw:
        """The last position and yaw it was told; where it started before the first."""
        mode = Mode.POSITION_YAW
        return PositionYaw.of(tuple(self._memory[self._place + ROWS[mode, : WIDTHS[mode]]].tolist()))

    @property
    def mode(self) -> Mode:
        """The control mode in force."""
        return _MODES[int(self._column[row.MODE // LANES])]

    @property
    def armed(self) -> bool:
        """Whether it is in another mode than idle, in which the rotors stand still."""
        return bool(self._column[row.MODE // LANES])

    @property
    def command_timeout(self) -> float | None:
        """Seconds that a commander may be silent; None for ever."""
        return self._craft.vehicle.command_timeout

    @property
    def readings(self) -> dict[str, np.ndarray]:
        """The latest reading of each sensor; empty before the first."""
        fleet, found = self._sim.fleet, {}
        for sensor in self._craft.sensors:
            s = fleet.sensor_index[self.name, sensor.name]
            width = sensor.width if fleet.sensing.stamps[s] >= 0 else 0
            found[sensor.name] = fleet.reading(sensor)[:width].copy()
        return found

    def reading(self, sensor: str) -> Reading | None:
        """The latest of a sensor and when it was measured; None before the first."""
        fleet = self._sim.fleet
        for one in self._craft.sensors:
            if one.name == sensor:
                tick = int(fleet.sensing.stamps[fleet.sensor_index[self.name, sensor]])
                return Reading(tick * self._sim.step_ns, fleet.reading(one)[: one.width].copy()) if tick >= 0 else None
        raise KeyError(f"{self.name} has no sensor called '{sensor}'{did_you_mean(sensor, self.readings)}")

    def eye(self, name: str) -> Any:
        """A depth camera, lidar or camera, which looks at its rate from now on; `frame` is what it saw last."""
        for eye in self.eyes:
            if eye.name == name:
                self._sim.eyes.ask(eye)
                return eye
        eyes = ", ".join(eye.name for eye in self.eyes) or "none"
        raise KeyError(f"{self.name} has no eye called '{name}'; it has {eyes}")

    def command(self, command: Command, switch: bool = True) -> None:
        """Take a command and switch to its mode; without `switch`, keep it for when that mode is chosen."""
        self.check_command(command)
        numbers = _as_array(command)
        news = take_command(self._memory, self._place, int(command.mode), numbers, self._fleet.flight.world)
        self.take_note(news if switch else news & BURIED, command.mode, numbers)
        if switch or not news & OTHER_MODE:
            self._sim.guard.heard(self)

    def take_note(self, news: int, mode: Mode, numbers: np.ndarray) -> None:
        """Act on what is new about a command that its rows hold now: see `command_rows.py`."""
        if news & BURIED:
            self._warn_of_ground(*numbers[:3])
        if news & OTHER_MODE:
            self._enter(mode)

    def _warn_of_ground(self, x: float, y: float, z: float) -> None:
        depth = ground(self._fleet.flight.world, x, y)[0] - z
        text = f"is told to be at ({x:g}, {y:g}, {z:g}), {depth:.3g} m below the ground, which it cannot reach"
        self._sim.event(self.name, text, level="warning")

    def switch_mode(self, mode: Mode | str | int) -> None:
        """Fly in this mode with its last command. Without one, position and velocity modes hold the vehicle where it
        is, and the thrust modes keep it level at its weight, with the yaw that it has.
        """
        mode = Mode.named(mode)
        self.check_mode(mode)
        if mode is not Mode.IDLE and not self._column[row.GIVEN // LANES + mode]:
            put_command(self._memory, self._place, int(mode), _as_array(self._holding(mode)))
        self._enter(mode)
        self._sim.guard.heard(self)

    def kill(self) -> None:
        """Stop the rotors at once: the vehicle drops."""
        self._enter(Mode.IDLE)

    @property
    def alarm(self) -> str | None:
        """What its controller holds to be wrong now, if anything."""
        controller = self._craft.controller
        found = {} if controller is None else controller.alarms
        return next((text for at, text in found.items() if self._get(at, 1)[0] >= 1.0), None)

    def recover(self) -> None:
        """Catch the vehicle where it is: brake and hold."""
        self.command(self.holding_command())

    def reset_pose(self) -> None:
        """Back to where the scenario puts it, idle, as if nothing had happened; time goes on."""
        pose = self._craft.vehicle.pose
        self._enter(Mode.IDLE)
        self._speeds[:] = 0.0
        self._set(row.MEMORY, np.zeros(row.MEMORY_ROWS))
        self._set(row.GIVEN, np.zeros(len(Mode)))
        self.place(pose.position, pose.yaw, self._craft.vehicle.motion.velocity)

    def holding_command(self) -> PositionYaw:
        """What keeps it about where it is: where it would come to a stop, or the circle that it would fly."""
        holding = self._holding(Mode.POSITION_YAW)
        assert isinstance(holding, PositionYaw)
        return holding

    def _holding(self, mode: Mode) -> Command:
        controller = self._craft.controller or Controller(Rated(), self.airframe)
        return controller.holding(mode, self)

    def _enter(self, mode: Mode) -> None:
        before, self._column[row.MODE // LANES] = self.mode, mode
        if mode is Mode.IDLE:
            self._targets[:] = 0.0
        if before is not mode:
            self._sim.event(self.name, f"mode {before.label} → {mode.label}")

    def check_command(self, command: Command) -> None:
        """Raise a CommandError if the vehicle cannot take this command."""
        if not isinstance(command, Command):
            raise CommandError(f"{self.name} takes a command such as al.PositionYaw, got {type(command).__name__}")
        command.check_is_for_one(self.name)
        self.check_mode(command.mode)
        if isinstance(command, THRUSTING):
            self.check_thrust(float(command.thrust))

    def check_mode(self, mode: Mode) -> None:
        """Raise a CommandError if the vehicle's controller cannot fly this mode."""
        controller = self._craft.controller
        if self.autopilot is not None:
            raise CommandError(f"{self.name} is flown by its autopilot: command it by MAVLink")
        if mode is not Mode.IDLE and controller is not None and mode not in controller.modes:
            able = ", ".join(Mode(m).label for m in controller.modes)
            is_multirotor = controller.flies == "hovering" and not controller.faces_wind
            hint = "; the controller 'modes' flies them all" if is_multirotor else ""
            raise CommandError(f"{self.name}'s controller flies {able} only, not {mode.label}{hint}")

    @property
    def max_thrust(self) -> float:
        """Of all rotors together, N."""
        return float(self.airframe.max_thrusts.sum())

    def warn_of_weight(self) -> None:
        """If only its rotors lift it, and cannot, or hardly, with what is in its tank and in the air that is there.

        One that is too heavy when empty, in the usual air, has been refused if its controller cannot do without.
        """
        if self.description.surfaces or self.description.aerodynamics or self.description.hull:
            return
        share = float(self._column[row.DENSITY // LANES])
        text = lift_complaint(share * self.airframe.lift, self.mass * self.airframe.gravity)
        if text is None or (self.tank is None and share == 1.0):
            return
        air = f" in air of {share * STANDARD_DENSITY:.3g} kg/m³" if share != 1.0 else ""
        load = f" with {self.tank.litres:.3g} L in its tank" if self.tank is not None else ""
        self._sim.event(self.name, f"{text}{load}{air}", level="warning")

    def warn_of_inertia(self) -> None:
        """If no rigid body has what was measured, and it flies with the nearest that one has."""
        share = self.description.inertia.excess
        if share > 0.0:
            text = f"its largest moment of inertia exceeds the sum of the other two by {share:.1%}, as that of no"
            self._sim.event(self.name, f"{text} rigid body does: it flies with their sum", level="warning")

    def check_thrust(self, thrust: float) -> None:
        """Raise a CommandError if the rotors cannot give it."""
        if not 0.0 <= thrust <= self.max_thrust:
            raise CommandError(f"{self.name} can give a thrust of 0 to {self.max_thrust:.3g} N, got {thrust:.3g} N")

    def set_rotor_speeds(self, speeds: Any) -> None:
        """What the motors are told, rad/s; a controller overwrites it at its next turn."""
        try:
            fits = len(speeds) == self._targets.size and all(map(isfinite, speeds))  # quicker than NumPy for so few
        except (TypeError, OverflowError):
            fits = False
        if not fits:
            raise CommandError(f"{self.name} takes {self._targets.size} finite rotor speeds, got {speeds}")
        self._targets[:] = speeds

    def _vector(self, name: str, value: Any) -> np.ndarray:
        try:
            vector = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            vector = np.empty(0)
        if vector.shape != (3,) or not np.isfinite(vector).all():
            raise CommandError(f"{self.name}: {name} must be three finite numbers, got {value}")
        return vector

    def push(self, force: Any = (0.0, 0.0, 0.0), torque: Any = (0.0, 0.0, 0.0), by: str = "") -> None:
        """Force at the centre of mass (world, N) and torque (body, N m) from outside, until the next call.

        Several may push at once if each says who it is with `by`.
        """
        self._pushes[by] = np.concatenate([self._vector("force", force), self._vector("torque", torque)])
        self._set(row.EFX, sum(self._pushes.values()))

    def set_fault(self, sensor: str, fault: Fault | None, by: str = "") -> None:
        """What is wrong with a sensor from its next sample on, None for nothing, until the next call.

        Several faults of one sensor act together if each says who it is with `by`.
        """
        faults = self._faults.setdefault(sensor, {})
        faults.pop(by, None)
        if fault is not None:
            faults[by] = fault
        self._apply_faults(sensor)
        self._tell_of_fault(sensor)

    @property
    def faulty(self) -> list[str]:
        """Sensors and rotors with something wrong."""
        rotors = [rotor for rotor, shares in self._shares.items() if prod(shares.values()) < 1.0]
        return [*(sensor for sensor, faults in self._faults.items() if faults), *rotors]

    def fault_of(self, sensor: str) -> Fault:
        """All that is wrong with a sensor."""
        return together(self._faults.get(sensor, {}).values())

    def sample_ticks(self, sensor: str) -> int | None:
        """From one sample of a sensor to the next; None if it has no such sensor."""
        if (eye := self._fleet.eyes.get((self.name, sensor))) is not None:
            return ticks_per_period(eye.rate, self._sim.step_ns)
        s = self._fleet.sensor_index.get((self.name, sensor))
        return None if s is None else int(self._fleet.sensing.table[s, tables.TICKS])

    def _apply_faults(self, sensor: str) -> None:
        """An edit may have taken the sensor away; an autopilot's own was never here."""
        if sensor in self._craft.vehicle.sensors:
            self._fleet.set_fault(self.name, sensor, self.fault_of(sensor), self._sim.tick)

    def set_rotor_share(self, rotor: str, share: float, by: str = "") -> None:
        """Of the speed that a rotor is told, what it gives until the next call: 1 if all is well, 0 if it is lost.

        Those of several that say who they are with `by` multiply.
        """
        self._shares.setdefault(rotor, {})[by] = share
        self._apply_shares(rotor)
        self._tell_of_fault(rotor)

    def _apply_shares(self, rotor: str) -> None:
        names = list(self._craft.vehicle.rotors)
        if rotor in names:
            shares = self._fleet.rotor_column(self._craft, row.SHARE)
            shares[names.index(rotor)] = prod(self._shares[rotor].values())

    def _tell_of_fault(self, part: str) -> None:
        for tell in self.fault_listeners:
            tell(part)

    def forget(self) -> None:
        """What was done to it."""
        for done in (self._pushes, self._faults, self._shares):
            done.clear()
        self._has_own_wind = False
        if self.tank is not None:
            self.tank.forget()
        self.nozzles.open = True

    @property
    def wind(self) -> np.ndarray:
        """Velocity of the air around this vehicle, world, m/s."""
        return self._get(row.WINDX, 3)

    @property
    def air_density(self) -> float:
        """Of the air around this vehicle, as far as it acts on it, kg/m³."""
        return float(self._column[row.DENSITY // LANES]) * STANDARD_DENSITY

    def set_wind(self, wind: Any) -> None:
        """Velocity of the air around this vehicle (world, m/s) instead of the weather's, until the next call; None
        gives it back to the weather.
        """
        if wind is not None:
            self._set(row.WINDX, self._vector("wind", wind))
        elif self._fleet.layers.is_plain:
            self._set(row.WINDX, self._fleet.layers.wind)
        self._has_own_wind = wind is not None
        self._fleet.flight.blown[self.place_in_blocks] = wind is None

    def place(self, position: Any, yaw: float = 0.0, velocity: Any = (0.0, 0.0, 0.0)) -> None:
        """Put the vehicle elsewhere at once, level, with no rates."""
        position, velocity = self._vector("position", position), self._vector("velocity", velocity)
        if max(np.abs(position).max(), np.abs(velocity).max(), abs(yaw)) > EDGE:
            raise CommandError(f"{self.name}: cannot be placed at {position}, yaw {yaw:g} rad, with {velocity} m/s")
        self._set(row.STATE, (*position, *quaternion_from_euler(0.0, 0.0, yaw), *velocity, 0.0, 0.0, 0.0))
        self._sim.engine.take_state()

    @property
    def autopilot(self) -> Any:
        """The choice of an autopilot in the scenario, if one flies it."""
        return self._craft.vehicle.autopilot

    @property
    def controller(self) -> Controller | None:
        """What flies it, if it is one of Airloom's controllers."""
        return self._craft.controller

    @property
    def has_controller(self) -> bool:
        return self._craft.controller is not None

    @property
    def gains(self) -> dict[str, Any]:
        """The controller's parameters in force."""
        controller = self._craft.controller
        return {} if controller is None else controller.parameters.model_dump()

    @property
    def gains_in_force(self) -> dict[str, Any]:
        """Likewise, with those that are tuned from the airframe filled in."""
        controller = self._craft.controller
        return {} if controller is None else controller.in_force()

    def tune(self, **changes: Any) -> None:
        """Change the controller's parameters in flight. All of them are checked before any takes effect."""
        parameters = self.check_tuning(**changes)
        craft = self._craft
        assert craft.controller is not None
        before, craft.controller.parameters = craft.controller.parameters, parameters
        self._sim.fleet.fill_gains(craft, craft.block, craft.lane)
        text = ", ".join(f"{key} {getattr(before, key)} → {getattr(parameters, key)}" for key in changes)
        self._sim.event(self.name, f"tuned: {text}")

    def check_tuning(self, **changes: Any) -> Rated:
        """The controller's parameters with these changes; a CommandError if they cannot be."""
        craft = self._craft
        if craft.controller is None:
            raise CommandError(f"{self.name} has no controller to tune")
        model: type[Rated] = type(craft.controller.parameters)
        for key in changes:
            if key == "rate" or (key.endswith("_rate") and key in craft.controller.rates()):
                raise CommandError(f"{self.name}: {key} cannot change while running")
        try:
            return model.model_validate(craft.controller.parameters.model_dump() | changes)
        except ValidationError as error:
            first = error.errors()[0]
            known = ", ".join(model.model_fields)
            told = first["msg"].removeprefix("Value error, ")
            detail = f"known are {known}" if first["type"] == "extra_forbidden" else told[0].lower() + told[1:]
            what = ".".join(map(str, first["loc"])) or ", ".join(changes)
            raise CommandError(f"{self.name}: cannot set {what}: {detail}") from None


class Estimate:
    """Position and velocity in the world, attitude and body rates, as the estimator believes them."""

    def __init__(self, numbers: np.ndarray) -> None:
        offsets = [(first - row.EPX) // LANES for first in (row.EPX, row.EVX, row.EQW, row.EWX)]
        self.position, self.velocity, self.attitude, self.rates = (
            numbers[k : k + n] for k, n in zip(offsets, (3, 3, 4, 3), strict=True)
        )


def _as_array(command: Command) -> np.ndarray:
    return np.array(command.numbers(), dtype=float)
