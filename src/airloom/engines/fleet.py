"""The fleet: all vehicles of a run laid out in blocks, with their sensors and flight stacks, ready for the loop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from airloom.basics.clock import ticks_per_period, to_ns
from airloom.basics.rotations import matrix_from_quaternion, quaternion_from_euler, yaw_from_quaternion
from airloom.compiled import Kernel, tables
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES
from airloom.compiled.tables import Flight, Sensing
from airloom.control.flight_stack import Controller, Estimator, StackError
from airloom.eyes.eye import Eye
from airloom.physics import tank as tank_rows
from airloom.physics.battery import drain_battery
from airloom.physics.tank import add_liquid, keep_tank, weigh
from airloom.physics.wrench import (
    drag_of_parts,
    gravity_of_a_ball,
    ground_on_wheels,
    lift_of_wings,
    move_servos,
    pull_of_propellers,
    push_of_thrusters,
    turn_propellers,
    turn_thrusters,
    turn_wheels,
    water_around,
    water_now,
)
from airloom.plugin import find
from airloom.scenario.models import Scenario, Vehicle
from airloom.sensors.faults import Fault
from airloom.sensors.noise import stream_key
from airloom.sensors.sensor import DELAYED, READING, READING_WIDTH, SENSOR_ROW, Sensor
from airloom.sensors.sensor_errors import ANY_ERRORS, MEMORY
from airloom.vehicles.airframe import Airframe
from airloom.vehicles.battery import battery_at_start, battery_numbers
from airloom.vehicles.hull import HullError, check_damping, hull_numbers
from airloom.vehicles.tank import tank_numbers
from airloom.vehicles.vessel import thruster_numbers
from airloom.vehicles.wheels import wheel_numbers
from airloom.vehicles.wings import propeller_numbers, propeller_shape, wing_numbers, wing_shape
from airloom.watch.divergence import SANE_WIDTH
from airloom.weather.layers import Layers
from airloom.world.ground import ground, is_thing_near
from airloom.world.land import Land
from airloom.world.overlap import Upright, thing_within

if TYPE_CHECKING:
    from airloom.system import System

GUIDE_PERIOD = 0.02  # s, or a step if that is longer
TANK = 0  # the influence of a vehicle's tank, if it has one


class Influence(NamedTuple):
    """What a system, or a part of a vehicle, has in the loop: two kernels that share their numbers."""

    effect: Kernel | None
    ticker: Kernel | None
    numbers: list[float]
    shape: tuple[int, ...] = ()
    """What must be equal for vehicles to share a block, where the numbers are laid out by it."""


@dataclass
class Craft:
    """One vehicle of the fleet: its description, its parts, and its place in the blocks."""

    name: str
    vehicle: Vehicle
    airframe: Airframe
    estimator: Estimator
    controller: Controller | None
    sensors: list[Sensor]
    eyes: list[Eye]
    parameters: Any
    """of the controller, as loaded"""
    influences: list[Influence]
    number: int
    block: int = -1
    lane: int = -1

    def kind(self) -> tuple:
        """Vehicles of one kind may share a block."""
        controller = None
        if self.controller is not None:
            controller = (type(self.controller), self.controller.kernel, self.controller.parameters.rate)
        influences = tuple((it.effect, it.ticker, it.shape) for it in self.influences)
        return (self.estimator.kernel, self.estimator.parameters.rate, controller, influences)


def expand_copies(vehicles: dict[str, Vehicle]) -> dict[str, Vehicle]:
    """Vehicles with `copies` become NAME_0, NAME_1, … in rows along x, centred on their pose."""
    expanded: dict[str, Vehicle] = {}
    for name, vehicle in vehicles.items():
        if vehicle.copies is None:
            expanded[name] = vehicle
            continue
        count, spacing = vehicle.copies.count, vehicle.copies.spacing
        columns = vehicle.copies.columns or int(np.ceil(np.sqrt(count)))
        rows = -(-count // columns)
        x0, y0, z0 = vehicle.pose.position
        for k, own_name in enumerate(vehicle.names(name)):
            rank, column = divmod(k, columns)
            x = x0 + (column - (min(columns, count) - 1) / 2) * spacing
            y = y0 + (rank - (rows - 1) / 2) * spacing
            pose = vehicle.pose.model_copy(update={"position": (x, y, z0)})
            expanded[own_name] = vehicle.model_copy(update={"pose": pose, "copies": None})
    return expanded


def _same_but_for(one: Vehicle, other: Vehicle, *keys: str) -> bool:
    return one.model_copy(update={key: getattr(other, key) for key in keys}) == other


PAGE = 4096  # bytes


def _zeros_by_page(rows: int, columns: int) -> np.ndarray:
    """Zeros that start on a page: a row of eight lanes never lies across two cache lines, and a run's speed does not
    depend on where its arrays happen to lie (a load waits for a store that has the same place in another page).
    """
    buffer = np.zeros(rows * columns + PAGE // 8)
    first = -buffer.ctypes.data % PAGE // 8
    return buffer[first : first + rows * columns].reshape(rows, columns)


class Fleet:
    """All vehicles as arrays. `flight` and `sensing` are what the compiled loop works on."""

    def __init__(self, scenario: Scenario, systems: Iterable[System]) -> None:
        self.scenario = scenario
        self.step_ns = to_ns(scenario.step)
        self.guide_ticks = max(to_ns(GUIDE_PERIOD) // self.step_ns, 1)
        self._resolved: dict[int, Any] = {}
        self._airframes: dict[int, Airframe] = {}
        systems = list(systems)
        vehicles = expand_copies(scenario.vehicles)
        self.crafts = [self._craft(k, name, v, systems) for k, (name, v) in enumerate(vehicles.items())]
        self.eyes = {(craft.name, eye.name): eye for craft in self.crafts for eye in craft.eyes}
        self.blocks = self._fill_blocks()
        self._propellers_of = self._number_propellers()
        self.rotor_count = max(len(m.airframe.rotors) for m in self.crafts)
        self._allocate()

    # -- building ------------------------------------------------------------------------------------------------

    def _craft(self, number: int, name: str, vehicle: Vehicle, systems: list[System]) -> Craft:
        airframe = self._airframe(vehicle)
        try:
            estimator = self._plugin("estimator", vehicle.estimator)
            controller = None
            if vehicle.controller is not None and vehicle.autopilot is None:
                controller_class, parameters = self._resolve("controller", vehicle.controller)
                controller = controller_class(parameters, airframe)
                self._check_rates(controller)
            all_sensors = [self._sensor(name, key, choice) for key, choice in vehicle.sensors.items()]
            if vehicle.rotors or controller is not None:
                self._check_needs("estimator", vehicle.estimator, vehicle)
            if vehicle.autopilot is not None:
                self._check_needs("autopilot", vehicle.autopilot, vehicle)
        except StackError as error:
            raise StackError(f"vehicle {name}: {error}") from None
        influences = [Influence(add_liquid, keep_tank, tank_numbers(airframe))] if vehicle.tank else []
        if vehicle.battery is not None:
            influences.append(Influence(None, drain_battery, battery_numbers(vehicle, self.scenario.step)))
        influences += [it for system in systems if (it := _influence_of(system, name)) is not None]
        if airframe.drag_rows:
            influences.append(Influence(drag_of_parts, None, airframe.drag_rows))
        if numbers := propeller_numbers(vehicle):
            influences.append(Influence(pull_of_propellers, turn_propellers, numbers, propeller_shape(vehicle)))
        if numbers := thruster_numbers(vehicle):
            influences.append(Influence(push_of_thrusters, turn_thrusters, numbers))
        if vehicle.has_wings:
            numbers = wing_numbers(vehicle, self.scenario.step)
            influences.append(Influence(lift_of_wings, move_servos, numbers, wing_shape(vehicle)))
        if vehicle.wheels:
            numbers = wheel_numbers(vehicle, airframe.gravity, self.scenario.step)
            influences.append(Influence(ground_on_wheels, turn_wheels, numbers))
        if self.scenario.world.gravity_field == "spherical":
            influences.append(Influence(gravity_of_a_ball, None, [self.scenario.world.origin.altitude]))
        if vehicle.hull is not None:  # the last, for it must know what all others do
            step, by_stages = self.scenario.step, self.scenario.engine.takes_stages
            water = self.scenario.world.water
            try:
                if by_stages:
                    check_damping(vehicle.hull, airframe, step)
                numbers = hull_numbers(
                    vehicle.hull, water, airframe.mass, vehicle.center_of_mass, 0.0 if by_stages else step
                )
            except HullError as error:
                raise HullError(f"vehicle {name}: hull: {error}") from None
            influences.append(Influence(water_around, water_now, numbers))
        loaded = None if controller is None else controller.parameters
        sensors = [sensor for sensor in all_sensors if isinstance(sensor, Sensor)]
        eyes = [sensor for sensor in all_sensors if isinstance(sensor, Eye)]
        return Craft(name, vehicle, airframe, estimator, controller, sensors, eyes, loaded, influences, number)

    def _resolve(self, category: str, choice):
        """Plugin class and parameters; copies of a vehicle share their choices, so these are looked up once."""
        if id(choice) not in self._resolved:
            plugin = find(category, choice.kind)
            self._resolved[id(choice)] = plugin, plugin.Parameters.model_validate(choice.parameters)
        return self._resolved[id(choice)]

    def _plugin(self, category: str, choice):
        plugin, parameters = self._resolve(category, choice)
        return plugin(parameters)

    def _sensor(self, vehicle: str, name: str, choice) -> Sensor | Eye:
        plugin, parameters = self._resolve("sensor", choice)
        return plugin(name, vehicle, choice.rate, parameters)

    def _airframe(self, vehicle: Vehicle) -> Airframe:
        """Copies of a vehicle share their rotors, and so their airframe."""
        if id(vehicle.rotors) not in self._airframes:
            airframe = Airframe(vehicle, self.scenario.world.gravity, self.scenario.step)
            self._airframes[id(vehicle.rotors)] = airframe
        return self._airframes[id(vehicle.rotors)]

    def _check_rates(self, controller: Controller) -> None:
        for key, rate in controller.rates().items():
            try:
                ticks = ticks_per_period(rate, self.step_ns)
            except ValueError as error:
                raise StackError(f"controller.{key}: {error}") from None
            if ticks % ticks_per_period(controller.parameters.rate, self.step_ns) != 0:
                raise StackError(
                    f"controller.{key}: {rate:g} Hz must go into the controller's own rate of "
                    f"{controller.parameters.rate:g} Hz without remainder"
                )

    def _check_needs(self, category: str, choice, vehicle: Vehicle) -> None:
        kinds = {sensor.kind for sensor in vehicle.sensors.values()}
        missing = [need for need in self._resolve(category, choice)[0].needs if need not in kinds]
        if missing:
            raise StackError(
                f"the {category} '{choice.kind}' needs a sensor of kind {' and '.join(missing)}; "
                f"the vehicle has {', '.join(sorted(kinds)) or 'none'}"
            )

    def _fill_blocks(self) -> list[list[Craft]]:
        groups: dict[tuple, list[Craft]] = {}
        for craft in self.crafts:
            groups.setdefault(craft.kind(), []).append(craft)
        blocks = [group[k : k + LANES] for group in groups.values() for k in range(0, len(group), LANES)]
        for b, block in enumerate(blocks):
            for i, craft in enumerate(block):
                craft.block, craft.lane = b, i
        return blocks

    def _lanes(self, block: list[Craft]) -> list[Craft]:
        """A craft for each lane: those without a vehicle repeat the block's last one."""
        return block + block[-1:] * (LANES - len(block))

    def _number_propellers(self) -> list[int]:
        """For each block the propellers that it shares with those whose lanes have the same airframes."""
        kinds = [tuple(id(m.airframe) for m in self._lanes(block)) for block in self.blocks]
        numbers = {kind: k for k, kind in enumerate(dict.fromkeys(kinds))}
        return [numbers[kind] for kind in kinds]

    def _allocate(self) -> None:
        self.land = Land(self.scenario.world, self.scenario.step)
        self.layers = Layers(self.scenario, self.land)
        n, rotors = len(self.blocks), -(-self.rotor_count // row.ROTORS_TOGETHER) * row.ROTORS_TOGETHER
        sensors = [s for block in self.blocks for m in block for s in m.sensors]
        depth = max((self._delay_ticks(s) // self._period(s) + 2 for s in sensors), default=1)
        effects = sum(len(block[0].influences) for block in self.blocks)
        rows = max((len(it.numbers) for m in self.crafts for it in m.influences), default=0)
        self.flight = Flight(
            blocks=_zeros_by_page(n, row.WIDTH),
            rotors=_zeros_by_page(n, rotors * row.ROTOR_WIDTH),
            propellers=_zeros_by_page(max(self._propellers_of) + 1, rotors * row.PROPELLER_WIDTH),
            stacks=np.zeros((n, tables.STACK_WIDTH), dtype=np.int64),
            vehicles=np.full((n, LANES), -1, dtype=np.int64),
            guides=np.zeros((n, LANES, tables.GUIDE_WIDTH), dtype=np.int64),
            world=self.land.array,
            effects=np.zeros((effects, 2), dtype=np.int64),
            effect_parameters=_zeros_by_page(effects, rows * LANES),
            records=np.zeros((tables.RECORD_COUNT, len(self.crafts), tables.RECORD_SPEEDS + self.rotor_count)),
            sane=np.zeros((n, SANE_WIDTH)),
            weather=np.array([self.layers.ticks, self.layers.acts_on_density], dtype=np.int64),
            layers=self.layers.table,
            blown=np.ones((n, LANES), dtype=np.int64),
            foul=np.full((n, 4), -1.0),
        )
        self.sensors = sensors
        self.sensor_index = {(s.vehicle, s.name): k for k, s in enumerate(sensors)}
        self.sensing = Sensing(
            table=np.zeros((len(sensors), tables.SENSOR_WIDTH), dtype=np.int64),
            keys=np.zeros(len(sensors), dtype=np.uint64),
            rows=_zeros_by_page(len(sensors), SENSOR_ROW),
            queue=np.zeros((len(sensors), depth, READING_WIDTH)),
            stamps=np.full(len(sensors), -1, dtype=np.int64),
            tape=np.zeros((0, tables.TAPE_LENGTH, 2 + READING_WIDTH)),
            taped=np.zeros(0, dtype=np.int64),
        )

    def _period(self, sensor: Sensor) -> int:
        return ticks_per_period(sensor.rate, self.step_ns)

    def _delay_ticks(self, sensor: Sensor) -> int:
        return round(sensor.parameters.delay * 1e9 / self.step_ns)

    # -- (re)starting --------------------------------------------------------------------------------------------

    def reset(self, seed: int) -> None:
        """Put every vehicle where its file says, with the noise of `seed`."""
        self.layers.begin(seed)
        self.land.begin(stream_key(seed, "water"))
        self.flight.blown[:], self.flight.foul[:] = 1, -1.0
        self.flight.blocks[:], self.flight.rotors[:] = 0.0, 0.0
        self.flight.guides[:], self.flight.stacks[:, tables.GUIDED_LANES] = 0, 0
        first_sensor = first_effect = 0
        for b, block in enumerate(self.blocks):
            for i, craft in enumerate(self._lanes(block)):
                self._fill_lane(b, i, craft)
            self._park_idle_lanes(b, len(block))
            self.flight.vehicles[b, : len(block)] = [m.number for m in block]
            first_sensor = self._fill_sensors(b, block, first_sensor, seed)
            first_effect = self._fill_effects(b, block, first_effect)
            for i, craft in enumerate(self._lanes(block)):
                self.weigh(craft, i)
            self._fill_stack(b, block[0])
        for eye in self.eyes.values():
            eye.reset(stream_key(seed, eye.vehicle, eye.name))
        self._forget_tuning()
        self.sensing.queue[:], self.sensing.stamps[:] = 0.0, -1

    def _forget_tuning(self) -> None:
        for craft in self.crafts:
            if craft.controller is not None and craft.controller.parameters is not craft.parameters:
                craft.controller.parameters = craft.parameters
                self.fill_gains(craft, craft.block, craft.lane)

    def _park_idle_lanes(self, b: int, used: int) -> None:
        """Lanes without a vehicle repeat the block's last one, floating far above any ground."""
        w = self.flight.blocks[b]
        w[row.PZ + used : row.PZ + LANES], w[row.GRAVITY + used : row.GRAVITY + LANES] = row.PARKED, 0.0

    def _fill_lane(self, b: int, i: int, craft: Craft) -> None:
        w, vehicle = self.flight.blocks[b], craft.vehicle

        def put(first: int, *values: float) -> None:
            for k, value in enumerate(values):
                w[first + k * LANES + i] = value

        pose, world = vehicle.pose, self.scenario.world
        attitude = quaternion_from_euler(pose.roll, pose.pitch, pose.yaw)
        put(row.PX, *pose.position)
        put(row.QW, *attitude)
        put(row.VX, *vehicle.motion.velocity)
        put(row.WX, *vehicle.motion.rates)
        put(row.EQW, *attitude)
        put(row.SPX, *pose.position)
        put(row.SYAW, pose.yaw)
        put(row.SCOS, np.cos(pose.yaw), np.sin(pose.yaw))
        put(row.DRAG, craft.airframe.drag)
        put(row.BOX_X, *(0.5 * s for s in vehicle.body.size), *vehicle.body.position)
        put(row.WINDX, *self.layers.wind)
        put(row.DENSITY, 1.0)
        put(row.GRAVITY, world.gravity)
        if vehicle.battery is not None:
            put(row.BATTERY_VOLTAGE, *battery_at_start(vehicle.battery))
        put(row.FILTER_GAIN, *craft.estimator.gains(self.scenario.step))
        self.set_mass(b, i, vehicle.mass, vehicle.center_of_mass, vehicle.inertia.matrix())
        self._fill_rotors(b, i, craft.airframe)
        self.fill_gains(craft, b, i)

    def set_mass(self, b: int, i: int, mass: float, center, inertia: np.ndarray) -> None:
        w, inverse = self.flight.blocks[b], np.linalg.inv(inertia)
        w[row.MASS + i], w[row.INV_MASS + i] = mass, 1.0 / mass
        w[row.CX + i], w[row.CY + i], w[row.CZ + i] = center
        for first, (a, c) in zip(
            (row.JXX, row.JYY, row.JZZ, row.JXY, row.JXZ, row.JYZ),
            ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)),
            strict=True,
        ):
            w[first + i] = inertia[a, c]
        for first, (a, c) in zip(
            (row.INV_JXX, row.INV_JYY, row.INV_JZZ, row.INV_JXY, row.INV_JXZ, row.INV_JYZ),
            ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)),
            strict=True,
        ):
            w[first + i] = inverse[a, c]

    def _fill_rotors(self, b: int, i: int, airframe: Airframe) -> None:
        table = self.flight.rotors[b].reshape(-1, row.ROTOR_WIDTH)
        table[:, row.THRUST_CONSTANT + i] = 1.0  # of idle rotors, which have no other number
        table[: len(airframe.rotors), i::LANES] = airframe.rotor_table
        propellers = self.flight.propellers[self._propellers_of[b]].reshape(-1, row.PROPELLER_WIDTH)
        propellers[: len(airframe.rotors), i::LANES] = airframe.propeller_table

    def fill_gains(self, craft: Craft, b: int, i: int) -> None:
        if craft.controller is not None:
            for k, gain in enumerate(craft.controller.gains(self.step_ns)):
                self.flight.blocks[b, row.GAIN + k * LANES + i] = gain
            for k, gain in enumerate(craft.controller.wing_gains(self.step_ns)):
                self.flight.blocks[b, row.WING_GAIN + k * LANES + i] = gain

    def _fill_sensors(self, b: int, block: list[Craft], first: int, seed: int) -> int:
        table, s, periods = self.sensing.table, first, []
        for i, craft in enumerate(block):
            for sensor in craft.sensors:
                key = stream_key(seed, craft.name, sensor.name)
                table[s, [tables.KERNEL, tables.LANE, tables.NUMBERS]] = sensor.kernel.address, i, sensor.width
                table[s, tables.TICKS], table[s, tables.DELAY] = self._period(sensor), self._delay_ticks(sensor)
                table[s, tables.DESTINATION] = -1 if self._is_second(craft, sensor) else sensor.destination
                table[s, tables.TAPE] = -1
                table[s, tables.FROZEN], table[s, tables.FIRST] = 0, 0
                self.sensing.keys[s] = key
                self.sensing.rows[s] = sensor.row(key)
                periods += [int(table[s, tables.TICKS]), int(table[s, tables.DELAY])]
                s += 1
        stack = self.flight.stacks[b]
        stack[tables.FIRST_SENSOR], stack[tables.END_SENSOR], stack[tables.SENSOR_TICKS] = first, s, gcd(*periods) or 1
        return s

    def _is_second(self, craft: Craft, sensor: Sensor) -> bool:
        """The flight stack reads the first sensor of each kind; others only publish."""
        same = [s for s in craft.sensors if s.destination is not None and s.destination == sensor.destination]
        return sensor.destination is None or same[0] is not sensor

    def _fill_effects(self, b: int, block: list[Craft], first: int) -> int:
        for k, influence in enumerate(block[0].influences):
            kernels = influence.effect, influence.ticker
            self.flight.effects[first + k] = [kernel.address if kernel else 0 for kernel in kernels]
        stack, end = self.flight.stacks[b], first + len(block[0].influences)
        stack[tables.FIRST_EFFECT], stack[tables.END_EFFECT] = first, end
        winged = [k for k, influence in enumerate(block[0].influences) if influence.effect is lift_of_wings]
        stack[tables.WINGS] = first + winged[0] if winged else -1
        for i, craft in enumerate(self._lanes(block)):
            for k, influence in enumerate(craft.influences):
                self.flight.effect_parameters[first + k, i : len(influence.numbers) * LANES : LANES] = influence.numbers
        return end

    def weigh(self, craft: Craft, lane: int, anew: bool = False) -> None:
        """Mass, centre and inertia with what is in the tank; as it was weighed last, unless `anew`."""
        if craft.vehicle.tank is not None:
            flight, b = self.flight, craft.block
            numbers = flight.effect_parameters[flight.stacks[b, tables.FIRST_EFFECT]]
            litres = numbers[(tank_rows.LITRES if anew else tank_rows.WEIGHED) + lane]
            weigh(flight.blocks[b], flight.rotors[b], numbers, lane, litres)

    def tank_numbers_of(self, craft: Craft) -> np.ndarray:
        """Those that the kernels of a vehicle's tank work on, a view."""
        return self.numbers_of(craft, TANK)

    def wing_numbers_of(self, craft: Craft) -> np.ndarray:
        """Those that the kernels of a vehicle's surfaces work on, a view; empty if it has none."""
        for k, influence in enumerate(craft.influences):
            if influence.effect is lift_of_wings:
                return self.numbers_of(craft, k)
        return np.empty(0)

    def numbers_of(self, craft: Craft, influence: int) -> np.ndarray:
        """Those that the kernels of one of a vehicle's influences work on, a view."""
        k = self.flight.stacks[craft.block, tables.FIRST_EFFECT] + influence
        return self.flight.effect_parameters[k].reshape(-1, LANES)[
            : len(craft.influences[influence].numbers), craft.lane
        ]

    def _fill_stack(self, b: int, craft: Craft) -> None:
        stack, controller = self.flight.stacks[b], craft.controller
        stack[tables.PROPELLERS] = self._propellers_of[b]
        stack[tables.GUIDE_TICKS] = self.guide_ticks
        stack[tables.ESTIMATOR] = craft.estimator.kernel.address
        stack[tables.ESTIMATOR_TICKS] = ticks_per_period(craft.estimator.parameters.rate, self.step_ns)
        if controller is not None and controller.kernel is not None:
            stack[tables.CONTROLLER] = controller.kernel.address
            stack[tables.CONTROLLER_TICKS] = ticks_per_period(controller.parameters.rate, self.step_ns)

    def take_over(self, old: Fleet) -> None:
        """Carry on with the state of the vehicles that were in another fleet; one with another pose is put there.

        One that an autopilot takes over, or gives back, stays where it is.
        """
        self.layers.take_over(old.layers)
        if self.land.world.water == old.land.world.water:
            self.land.water[:] = old.land.water
        before = {craft.name: craft for craft in old.crafts}
        for craft in self.crafts:
            if (was := before.get(craft.name)) and _same_but_for(was.vehicle, craft.vehicle, "pose", "autopilot"):
                self._carry_over(craft, was, old)

    def _carry_over(self, craft: Craft, was: Craft, old: Fleet) -> None:
        column, first = self.column(craft), row.STATE // LANES
        state = column[first : first + row.STATE_ROWS].copy()
        column[:] = old.column(was)
        if craft.vehicle.pose != was.vehicle.pose:
            column[first : first + row.STATE_ROWS] = state
        for kept in (row.SPEED, row.TARGET):
            self.rotor_column(craft, kept)[:] = old.rotor_column(was, kept)
        if craft.kind()[-1] == was.kind()[-1]:
            for k in range(len(craft.influences)):
                self.numbers_of(craft, k)[:] = old.numbers_of(was, k)
            self.weigh(craft, craft.lane)
        if craft.vehicle.autopilot == was.vehicle.autopilot:
            craft.estimator, craft.controller = was.estimator, was.controller
        else:
            self.fill_gains(craft, craft.block, craft.lane)
        craft.eyes = was.eyes
        self.eyes |= {(craft.name, eye.name): eye for eye in was.eyes}
        for sensor in craft.sensors:
            s, t = (fleet.sensor_index[craft.name, sensor.name] for fleet in (self, old))
            self.sensing.rows[s], self.sensing.stamps[s] = old.sensing.rows[t], old.sensing.stamps[t]
            self.sensing.table[s, [tables.FROZEN, tables.FIRST]] = old.sensing.table[t, [tables.FROZEN, tables.FIRST]]
            if self.sensing.queue.shape[1] == old.sensing.queue.shape[1]:
                self.sensing.queue[s] = old.sensing.queue[t]

    # -- faults --------------------------------------------------------------------------------------------------

    def set_fault(self, vehicle: str, sensor: str, fault: Fault, tick: int) -> None:
        """All that is wrong with a sensor from the sample after `tick` on."""
        if (vehicle, sensor) in self.eyes:
            self.eyes[vehicle, sensor].fault = fault
            return
        s = self.sensor_index[vehicle, sensor]
        line = self.sensing.table[s]
        line[tables.FROZEN] = fault.frozen
        if fault.outage:
            line[tables.FIRST] = tables.NEVER
        elif line[tables.FIRST] == tables.NEVER:
            line[tables.FIRST] = tick + 1
        numbers = self.sensors[s].error_numbers(int(self.sensing.keys[s]), fault)
        self.sensing.rows[s, ANY_ERRORS:MEMORY] = numbers

    # -- looking -------------------------------------------------------------------------------------------------

    def reading(self, sensor: Sensor) -> np.ndarray:
        """What a sensor has published last, where the loop writes it."""
        at = READING if sensor.parameters.delay == 0 else DELAYED
        return self.sensing.rows[self.sensor_index[sensor.vehicle, sensor.name], at : at + READING_WIDTH]

    def column(self, craft: Craft) -> np.ndarray:
        """A vehicle's rows, a view: `column[row // LANES]`."""
        return self.flight.blocks[craft.block].reshape(-1, LANES)[:, craft.lane]

    def rotor_column(self, craft: Craft, first: int) -> np.ndarray:
        """One row of each of a vehicle's rotors, a view."""
        table = self.flight.rotors[craft.block].reshape(-1, row.ROTOR_WIDTH)
        return table[: len(craft.airframe.rotors), first + craft.lane]

    def thing_around(self, craft: Craft) -> str | None:
        """The name of a thing of the land that a vehicle is in."""
        if not self.land.things:
            return None
        position, attitude = self.column(craft)[row.PX // LANES :][:3], self.column(craft)[row.QW // LANES :][:4]
        if not is_thing_near(self.flight.world, *position, _reach(craft)):
            return None
        body = Upright.of_vehicle(craft.vehicle, position, yaw_from_quaternion(attitude))
        return thing_within(self.land.things, body)

    @property
    def reach(self) -> float:
        """How far the largest vehicle's box extends from its origin, m."""
        return max(map(_reach, self.crafts))

    def depth_in_ground(self, craft: Craft) -> float:
        """How deep the lowest corner of a vehicle's box is, negative if it is above the ground."""
        column, body = self.column(craft), craft.vehicle.body
        turn, corner = matrix_from_quaternion(column[row.QW // LANES :][:4]), np.array(body.size) / 2
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners = column[row.PX // LANES :][:3] + (np.array(body.position) + signs * corner) @ turn.T
        return max(float(ground(self.flight.world, x, y)[0] - z) for x, y, z in corners)

    def set_tapes(self, wanted: list[int]) -> None:
        """Record the readings of these sensors until they are drained."""
        self.sensing.table[:, tables.TAPE] = -1
        self.sensing.table[wanted, tables.TAPE] = np.arange(len(wanted))
        self.sensing = self.sensing._replace(
            tape=np.zeros((len(wanted), tables.TAPE_LENGTH, 2 + READING_WIDTH)),
            taped=np.zeros(len(wanted), dtype=np.int64),
        )

    def set_guide(self, block: int, lane: int, first: tuple[int, int, int]) -> None:
        """Addresses of a kernel and of its plan, and the plan's length; all 0 for nothing."""
        guides = self.flight.guides[block]
        guides[lane] = first
        self.flight.stacks[block, tables.GUIDED_LANES] = np.count_nonzero(guides[:, tables.GUIDE_KERNEL])

    def hash_into(self, digest) -> None:
        """Feed the state of every vehicle, in the scenario's order, to a hash; and that of the weather."""
        self.layers.hash_into(digest)
        digest.update(self.land.water.tobytes())
        for m in self.crafts:
            digest.update(np.ascontiguousarray(self.column(m)[: row.KEPT_ROWS]).tobytes())
            digest.update(np.ascontiguousarray(self.rotor_column(m, row.SPEED)).tobytes())
            digest.update(np.ascontiguousarray(self.rotor_column(m, row.TARGET)).tobytes())
            if not self.layers.is_plain:
                digest.update(self.column(m)[row.DENSITY // LANES].tobytes())
                digest.update(self.flight.blown[m.block, m.lane].tobytes())
            for k, influence in enumerate(m.influences):
                if influence.ticker:
                    digest.update(self.numbers_of(m, k).tobytes())
            for sensor in m.sensors:
                s = self.sensor_index[m.name, sensor.name]
                for array in (self.sensing.rows, self.sensing.queue, self.sensing.stamps):
                    digest.update(array[s].tobytes())


def _influence_of(system: System, vehicle: str) -> Influence | None:
    if not system.effect and not system.ticker:
        return None
    numbers = system.effect_parameters(vehicle)
    return None if numbers is None else Influence(system.effect, system.ticker, numbers)


def _reach(craft: Craft) -> float:
    """How far a vehicle's box extends from its origin, m."""
    body = craft.vehicle.body
    return float(np.linalg.norm(np.abs(body.position) + np.array(body.size) / 2))
