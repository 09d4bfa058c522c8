"""What a scenario file may say: every key, its unit, its limits. SI units, world ENU, body FLU, angles in radians."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from airloom.basics.hints import did_you_mean
from airloom.basics.inertia import ROUNDING, TOLERATED, excess, possible
from airloom.basics.patterns import Pattern

from .battery import Battery
from .coefficients import read_propeller
from .figures import Figure
from .foxglove import Foxglove
from .generated import Meadow, Mountains, Vineyard
from .light import Light
from .nozzles import Nozzle
from .objects import Object
from .radio import Radio
from .ros2 import Ros2
from .surfaces import Aerodynamics, Mixer, Servo, Surface
from .tank import Tank
from .terrain import read_terrain_file
from .values import Bounded, Colour, Extent, Model, Name, NonNegative, Number, Positive, Title, Vector3, Whole, Wind
from .water import Hull, Water
from .weather import Weather
from .wheels import Wheel


def _not_zero(direction: Vector3) -> Vector3:
    if np.linalg.norm(direction) < 1e-6:
        raise ValueError("must not be zero")
    return direction


def _rectangular(heights: list[list[float]]) -> list[list[float]]:
    if len(heights) < 2 or len(heights[0]) < 2:
        raise ValueError("must have at least 2 rows and 2 columns")
    if len({len(row) for row in heights}) > 1:
        raise ValueError("the rows must be equally long")
    return heights


def _a_temperature_of_air(temperature: float) -> float:
    if not COLDEST <= temperature <= WARMEST:
        raise ValueError(
            f"must be {COLDEST:g} to {WARMEST:g} K, got {temperature:g}; in kelvin, which is 273.15 more than in °C"
        )
    return temperature


COLDEST, WARMEST = 170.0, 350.0
STANDARD_DENSITY = 1.225  # kg/m³
Kelvin = Annotated[Number, AfterValidator(_a_temperature_of_air)]
Direction = Annotated[Vector3, AfterValidator(_not_zero)]
Heights = Annotated[list[list[Bounded]], AfterValidator(_rectangular)]


class PluginChoice(BaseModel):
    """A plugin by its kind (a registered name, or path/to/file.py:ClassName); every other key is its parameter."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False, frozen=True, defer_build=True)
    kind: str
    description: str = ""

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(self.__pydantic_extra__ or {})


class SensorChoice(PluginChoice):
    rate: Positive = Field(100.0, description="samples a second, Hz")


class SystemChoice(PluginChoice):
    enabled: bool = True
    rate: Positive | None = Field(None, description="calls a second, Hz; the system's own default if left out")


class Inertia(Model):
    """Inertia about the centre of mass, kg m². Products of inertia are the tensor's off-diagonal entries."""

    xx: Positive
    yy: Positive
    zz: Positive
    xy: Number = 0.0
    xz: Number = 0.0
    yz: Number = 0.0

    def matrix(self) -> np.ndarray:
        """Of a body that can be: see `possible`."""
        return possible(self._given()) if self.excess else self._given()

    @property
    def excess(self) -> float:
        """By which the largest moment exceeds what a rigid body can have, as a share; it flies with what can be."""
        found = excess(self._given())
        return found if found > ROUNDING else 0.0

    def _given(self) -> np.ndarray:
        return np.array([[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]])

    @model_validator(mode="after")
    def _is_physical(self) -> Inertia:
        small, middle, large = np.linalg.eigvalsh(self._given())
        if small <= 0:
            raise ValueError("the inertia matrix must be positive definite")
        if large > (small + middle) * (1 + TOLERATED):
            raise ValueError(
                f"no rigid body has principal moments {small:.4g}, {middle:.4g}, {large:.4g} kg m²: "
                "the largest may not exceed the sum of the other two (triangle inequality)"
            )
        return self


Polynomial = Annotated[list[Bounded], Field(min_length=1, max_length=6)]


class Advance(Model):
    """A propeller that flies along its axis: by the advance ratio J = speed / (turns a second × diameter)."""

    diameter: Extent = Field(description="m")
    thrust: Polynomial | None = Field(None, description="thrust over that at rest, less 1: factors of J, J², …")
    torque: Polynomial | None = Field(None, description="torque over that at rest, less 1: factors of J, J², …")
    last: Positive = Field(1.0, description="J up to which this is known; beyond it, it stays")
    file: str | None = Field(
        None,
        description="table of J, CT and CP (UIUC's, or CSV) instead of thrust, torque and last",
    )

    @model_validator(mode="after")
    def _is_given_once(self) -> Advance:
        if self.file is not None:
            if both := sorted({"thrust", "torque", "last"} & self.model_fields_set):
                raise ValueError(f"a propeller with a file has its numbers from there; leave out {', '.join(both)}")
            read_propeller(self.file)
        elif self.thrust is None or self.torque is None:
            raise ValueError("give thrust and torque, or a file with a table")
        return self


class InWater(Model):
    """A rotor that turns in water: a thruster, whose thrust constant is that in water of 1000 kg/m³."""

    reverse: NonNegative = Field(
        1.0, le=1, description="its thrust backwards as a part of that ahead; 0 if it turns one way only"
    )


class Rotor(Model):
    """One rotor (RotorS model). `turns` is seen from above: ccw or cw."""

    position: Vector3 = Field(description="hub from the vehicle's origin, m")
    axis: Direction = Field((0.0, 0.0, 1.0), description="thrust direction, normalised")
    turns: Literal["ccw", "cw"]
    thrust_constant: Positive = Field(description="thrust = constant × speed², N s²")
    moment_constant: NonNegative = Field(description="drag torque per thrust, m")
    drag_coefficient: NonNegative = Field(0.0, description="H-force = coefficient × speed × cross flow, N s² / m")
    rolling_moment_coefficient: NonNegative = Field(0.0, description="N s²")
    advance: Advance | None = Field(None, description="of a propeller: what air along its axis does")
    reverse: NonNegative = Field(
        0.0, le=1, description="in air, its thrust backwards as a part of that ahead; 0 if it turns one way only"
    )
    in_water: InWater | None = Field(None, description="of a thruster: it pushes water, and may turn both ways")
    time_constant_up: Positive = Field(0.0125, le=1, description="motor lag when speeding up, s")
    time_constant_down: Positive = Field(0.025, le=1, description="motor lag when slowing down, s")
    max_speed: Positive = Field(description="rad/s")
    radius: Positive = Field(0.1, description="for drawing, and of a thruster for how much of it is wet, m")

    @model_validator(mode="after")
    def _turns_in_air_or_water(self) -> Rotor:
        if self.in_water and (self.advance or self.drag_coefficient or self.rolling_moment_coefficient):
            raise ValueError(
                "a rotor in water has no advance, drag_coefficient or rolling_moment_coefficient: these are of air"
            )
        return self

    def advance_table(self) -> np.ndarray:
        """[row, (J, f − 1, g − 1)] of a propeller with a file, from J = 0 on: thrust and torque over those at rest."""
        assert self.advance is not None
        assert self.advance.file is not None
        diameter, rows = self.advance.diameter, read_propeller(self.advance.file)
        unit = STANDARD_DENSITY * diameter**4 / (2 * np.pi) ** 2
        thrust = rows[:, 1] * unit / self.thrust_constant
        at_rest = self.thrust_constant * self.moment_constant
        torque = rows[:, 2] * unit * diameter / (2 * np.pi) / at_rest if at_rest else np.ones(len(rows))
        table = np.column_stack([rows[:, 0], thrust - 1.0, torque - 1.0])
        return table if rows[0, 0] == 0.0 else np.vstack([np.zeros(3), table])

    @model_validator(mode="after")
    def _fits_its_table(self) -> Rotor:
        if self.advance is not None and self.advance.file is not None:
            begin, thrust, torque = self.advance_table()[0 if len(self.advance_table()) == 1 else 1]
            for what, change in (("thrust_constant", thrust), ("moment_constant", torque)):
                if not -0.5 <= change <= 0.5:
                    raise ValueError(
                        f"advance: by {self.advance.file} it is {1.0 + change:.3g} times what {what} says at rest, "
                        f"already at J = {begin:g}; correct {what}, or advance.diameter"
                    )
        return self


class Body(Model):
    """The box that touches the ground and other bodies."""

    size: tuple[Extent, Extent, Extent] = Field(description="full length, width, height, m")
    position: Vector3 = Field((0.0, 0.0, 0.0), description="its middle from the vehicle's origin, m")


class Visual(Model):
    """A mesh that the studio draws where the vehicle is, in place of the made-up shape of its body."""

    file: str = Field(description="OBJ, STL, PLY, GLB, glTF, OFF or DAE, as seen from the folder of the vehicle file")
    position: Vector3 = Field((0.0, 0.0, 0.0), description="from the vehicle's origin, m")
    roll: Bounded = Field(0.0, description="rad")
    pitch: Bounded = Field(0.0, description="rad")
    yaw: Bounded = Field(0.0, description="rad")
    scale: tuple[Number, Number, Number] = Field((1.0, 1.0, 1.0), description="m for a unit of the file, along x, y, z")
    colour: Colour | None = Field(None, description="red, green, blue, 0 … 255; the file's own if left out")


Drag = NonNegative | tuple[NonNegative, NonNegative, NonNegative]


class DragPart(Model):
    """A part of the vehicle that the air pushes: a tank, a boom."""

    coefficient: Drag = Field(
        description="force = coefficient × speed², N s² / m²; or one each for x, y, z of the body"
    )
    position: Vector3 = Field((0.0, 0.0, 0.0), description="where the force acts, from the vehicle's origin, m")


class Pose(Model):
    position: Vector3 = (0.0, 0.0, 0.0)
    roll: Bounded = 0.0
    pitch: Bounded = 0.0
    yaw: Bounded = 0.0


class Motion(Model):
    velocity: Vector3 = Field((0.0, 0.0, 0.0), description="world, m/s")
    rates: Vector3 = Field((0.0, 0.0, 0.0), description="body, rad/s")


class Copies(Model):
    """Many alike, named NAME_0, NAME_1, …, in rows around the pose."""

    count: Whole = Field(ge=1, le=100_000)
    columns: Whole | None = Field(None, ge=1, description="vehicles in a row along x; about a square if left out")
    spacing: Extent = Field(1.0, description="m")


class Vehicle(Model):
    """An airframe with its sensors and its flight stack."""

    description: str = ""
    mass: Extent = Field(description="everything together but the liquid in a tank, kg")
    center_of_mass: Vector3 = Field((0.0, 0.0, 0.0), description="from the vehicle's origin, m")
    inertia: Inertia
    drag: Drag | dict[Name, DragPart] = Field(
        0.0,
        description="force = coefficient × speed², N s² / m²; one number, one each for x, y, z of the body, or parts",
    )
    rotor: dict[str, Any] = Field(default_factory=dict, description="what all rotors share")
    rotors: dict[Name, Rotor] = Field(default_factory=dict, description="none of what only floats or glides")
    surfaces: dict[Name, Surface] = Field(default_factory=dict, description="wings, tails and fins")
    aerodynamics: Aerodynamics | None = Field(None, description="of a whole aircraft, beside or instead of surfaces")
    servos: dict[Name, Servo] = Field(default_factory=dict, max_length=8, description="what moves their flaps")
    wheels: dict[Name, Wheel] = Field(default_factory=dict, max_length=8, description="what it rolls on")
    mixer: Mixer | None = Field(None, description="which servos turn it about what; learned if left out")
    hull: Hull | None = Field(None, description="of what floats, dives, or is lighter than air")
    body: Body
    visuals: dict[Name, Visual] = Field(default_factory=dict, description="what is drawn of its body")
    tank: Tank | None = Field(None, description="of a sprayer")
    battery: Battery | None = Field(None, description="what rotors live on; without one they turn for ever")
    nozzles: dict[Name, Nozzle] = Field(default_factory=dict, description="where it sprays from")
    sensors: dict[Name, SensorChoice] = Field(default_factory=dict)
    estimator: PluginChoice = PluginChoice(kind="ideal")
    controller: PluginChoice | None = PluginChoice(kind="cascade")
    autopilot: PluginChoice | None = Field(
        None, description="a real flight stack in a process of its own, in place of estimator and controller"
    )
    command_timeout: Positive | None = Field(
        1.0,
        description="silence after which a vehicle steered by velocity or thrust brakes to a hover, s; null for never",
    )
    pose: Pose = Pose()
    motion: Motion = Motion()
    copies: Copies | None = None

    @property
    def has_wings(self) -> bool:
        return bool(self.surfaces) or self.aerodynamics is not None

    def names(self, name: str) -> list[str]:
        """That of the vehicle, or of its copies."""
        return [name] if self.copies is None else [f"{name}_{k}" for k in range(self.copies.count)]

    @property
    def stands(self) -> float:
        """How high its origin is above level ground when it stands there on its wheels or its body, m."""
        lowest = [wheel.position[2] + wheel.sinks for wheel in self.wheels.values()]
        return -min([self.body.position[2] - 0.5 * self.body.size[2], *lowest])

    @model_validator(mode="after")
    def _has_the_servos_it_names(self) -> Vehicle:
        named = [(f"surfaces.{name}", it.servo) for name, it in self.surfaces.items() if it.servo is not None]
        named += [(f"wheels.{name}", it.servo) for name, it in self.wheels.items() if it.servo is not None]
        if self.aerodynamics is not None:
            named += [("aerodynamics", servo) for servo in sorted(self.aerodynamics.servos)]
        if self.mixer is not None:
            named += [(f"mixer.{axis}", servo) for axis, share in self.mixer.axes.items() for servo in share]
        for where, servo in named:
            if servo not in self.servos:
                hint = did_you_mean(servo, self.servos)
                raise ValueError(f"{where}: there is no servo '{servo}' under servos{hint}")
        return self

    @model_validator(mode="after")
    def _has_the_rotors_it_names(self) -> Vehicle:
        for name, surface in self.surfaces.items():
            if surface.slipstream is not None and surface.slipstream.rotor not in self.rotors:
                rotor = surface.slipstream.rotor
                hint = did_you_mean(rotor, self.rotors)
                raise ValueError(f"surfaces.{name}.slipstream: there is no rotor '{rotor}' under rotors{hint}")
        return self

    @property
    def blowing(self) -> list[str]:
        """The rotors that blow over surfaces."""
        named = [it.slipstream.rotor for it in self.surfaces.values() if it.slipstream is not None]
        return list(dict.fromkeys(named))

    @model_validator(mode="after")
    def _moves_water_that_has_mass(self) -> Vehicle:
        if self.hull is not None:
            own = np.diag([self.mass] * 3 + [0.0] * 3)
            own[3:, 3:] = self.inertia.matrix()
            least = float(np.linalg.eigvalsh(own + self.hull.matrix(self.center_of_mass))[0])
            if least <= 0:
                raise ValueError(
                    "hull.added_mass: together with the vehicle's own mass and inertia it must be positive definite, "
                    f"and its least eigenvalue is {least:.3g}. Fossen's Xu̇ … Nṙ are negative: give them with the "
                    "opposite sign"
                )
        return self

    @model_validator(mode="after")
    def _draws_on_its_battery(self) -> Vehicle:
        if self.battery is not None:
            for name, rotor in self.rotors.items():
                if rotor.moment_constant == 0.0:
                    raise ValueError(
                        f"battery: rotor {name} would turn without any power, since its moment_constant is 0; "
                        "give it its drag torque per thrust, m"
                    )
        return self

    @model_validator(mode="after")
    def _holds_its_tank(self) -> Vehicle:
        """The body is what touches the ground, so a tank beyond it would go through."""
        if self.tank is not None:
            parts = zip("xyz", self.tank.position, self.tank.size, self.body.position, self.body.size, strict=True)
            for axis, at, size, middle, extent in parts:
                beyond = abs(at - middle) + 0.5 * size - 0.5 * extent
                if beyond > 1e-3:
                    raise ValueError(
                        f"tank: it reaches {beyond:.3g} m out of the body along {axis}; move it, or enlarge body.size"
                    )
        return self

    @model_validator(mode="before")
    @classmethod
    def _needs_no_stack_without_rotors(cls, data: Any) -> Any:
        """What has nothing to act with is steered by nobody, unless its file says by whom."""
        if isinstance(data, dict) and not data.get("rotors") and not data.get("servos"):
            return {"controller": None, **data}
        return data

    @model_validator(mode="before")
    @classmethod
    def _share_rotor_values(cls, data: Any) -> Any:
        shared = data.get("rotor") if isinstance(data, dict) else None
        if isinstance(shared, dict) and isinstance(data.get("rotors"), dict):
            rotors = {name: {**shared, **own} if isinstance(own, dict) else own for name, own in data["rotors"].items()}
            return {**data, "rotors": rotors}
        return data


class Origin(Model):
    """Where the world's (0, 0, 0) lies on Earth."""

    latitude: Number = Field(47.397742, ge=-90, le=90, description="degrees")
    longitude: Number = Field(8.545594, ge=-180, le=180, description="degrees")
    altitude: Number = Field(488.0, description="above mean sea level, m")


class Plane(Model):
    kind: Literal["plane"] = "plane"
    height: Bounded = 0.0


class HeightField(Model):
    """Ground heights on a regular grid, given here or in a .npy or .csv file. Rows run north, columns east."""

    kind: Literal["heightfield"]
    size: tuple[Extent, Extent] = Field(description="extent east and north, m")
    center: tuple[Bounded, Bounded] = (0.0, 0.0)
    heights: Heights | None = Field(None, description="m; the first row is the southern edge")
    file: str | None = None

    @model_validator(mode="after")
    def _has_heights(self) -> HeightField:
        if (self.heights is None) == (self.file is None):
            raise ValueError("give either heights or file")
        return self


class Survey(Model):
    """Ground from a terrain folder, which `airloom terrain build` makes of a GeoTIFF or a point cloud."""

    kind: Literal["survey"]
    folder: str


class Obstacle(Model):
    """A fixed solid. Size: box length, width, height; cylinder diameter, diameter, height; sphere diameter."""

    shape: Literal["box", "cylinder", "sphere"]
    size: tuple[Extent, Extent, Extent]
    position: Vector3
    yaw: Bounded = 0.0


class World(Model):
    description: str = ""
    gravity: NonNegative = Field(9.80665, le=1000, description="m/s²; at the sea")
    gravity_field: Literal["even", "spherical"] = Field(
        "even",
        description="`spherical`: to the Earth's middle, by the inverse square of the distance; the ground stays flat",
    )
    origin: Origin = Origin()
    wind: Wind = Field((0.0, 0.0, 0.0), description="velocity of the air, world, m/s")
    weather: Weather = Weather()
    water: Water | None = Field(None, description="a sea or a lake; none if left out")
    magnetic_field: Vector3 = Field((1.1e-6, 21.5e-6, -43.0e-6), description="world, T")
    pressure: Positive = Field(101325.0, description="at mean sea level, Pa")
    temperature: Kelvin = Field(288.15, description="at mean sea level, K; 170 to 350")
    terrain: Annotated[Plane | HeightField | Survey | Meadow | Vineyard | Mountains, Field(discriminator="kind")] = (
        Plane()
    )
    obstacles: dict[Name, Obstacle] = Field(default_factory=dict)
    objects: dict[Name, Object] = Field(default_factory=dict, description="by name; things that stand on the ground")
    light: Light = Light()

    @model_validator(mode="before")
    @classmethod
    def _lies_where_it_was_surveyed(cls, data: Any) -> Any:
        """A survey knows where on Earth it is; a world on it that says nothing else is there."""
        terrain = data.get("terrain") if isinstance(data, dict) else None
        folder = terrain.get("folder") if isinstance(terrain, dict) else getattr(terrain, "folder", None)
        if not isinstance(folder, str) or "origin" in data:
            return data
        about = read_terrain_file(folder)
        return {**data, "origin": {key: getattr(about, key) for key in ("latitude", "longitude", "altitude")}}


class Engine(Model):
    kind: Literal["mujoco", "batch"] = "mujoco"
    integrator: Literal["rk4", "euler"] = Field("rk4", description="batch engine only; euler is MuJoCo's own scheme")
    threads: Whole = Field(1, ge=1, le=256, description="batch engine only")

    @property
    def takes_stages(self) -> bool:
        """Within a step, rather than velocities first and then places with these."""
        return self.kind == "batch" and self.integrator == "rk4"


class Log(Model):
    topics: list[Pattern] = Field(
        default=[
            "/clock",
            "/events",
            "/*/state",
            "/*/setpoint",
            "/*/command",
            "/*/rotors",
            "/radio/*links",
            "/tf",
            "/tf_static",
            "/*/robot_description",
        ],
        description="patterns such as /cf/imu or /*/odometry",
    )
    rate: Positive = Field(50.0, description="of the state topics, Hz; sensors keep their own rate")
    rates: dict[Pattern, Positive] = Field(
        default_factory=dict, description="patterns of topics and how often they are logged at most, Hz"
    )


class Member(Model):
    """A process that takes part in the run, in lockstep with it."""

    command: Annotated[list[str], Field(min_length=1)] | None = Field(
        None,
        description="starts it with the run, `python` and `airloom` being these; if left out, somebody else starts it",
    )
    folder: str | None = Field(None, description="where it is started, as seen from the folder of the scenario file")
    at: Name | None = Field(
        None, description="name of the branch that starts it, on another machine; if left out it is started here"
    )
    phase: Literal["logic", "simulator"] = Field(
        "logic", description="logic thinks with the autopilots; simulators advance their part of the world after them"
    )
    rate: Positive = Field(50.0, description="turns a second, Hz")
    vehicles: Pattern = Field("*", description="name or pattern of those it sees and commands")
    stations: Pattern | None = Field(None, description="name or pattern of the stations whose radios it uses")
    sensors: Pattern | None = Field(None, description="name or pattern of its vehicles' sensors whose readings it gets")
    timeout: Positive = Field(10.0, description="wall time that a turn may take, s")
    start_timeout: Positive = Field(30.0, description="wall time until it must have joined, s")
    on_failure: Literal["stop", "hold", "continue"] = Field(
        "stop", description="end the run, or go on without it, its vehicles holding where they are or flying on"
    )


class Scenario(Model):
    """One run: world, vehicles, systems, outputs."""

    name: Title
    description: str = ""
    step: Positive = Field(0.001, le=0.1, description="s; a whole number of nanoseconds")
    duration: Positive = Field(30.0, le=1e9, description="s")
    seed: Whole = Field(0, ge=0, lt=2**63)
    engine: Engine = Engine()
    world: World = World()
    vehicles: dict[Name, Vehicle] = Field(json_schema_extra={"minProperties": 1})
    systems: dict[Name, SystemChoice] = Field(default_factory=dict)
    radio: Radio | None = Field(None, description="who can talk to whom; there is none if left out")
    members: dict[Name, Member] = Field(default_factory=dict)
    ros2: Ros2 | None = Field(None, description="a bridge to ROS 2; there is none if left out")
    foxglove: Foxglove | None = Field(None, description="a server for Foxglove's app; there is none if left out")
    log: Log = Log()
    figures: dict[Name, Figure] = Field(default_factory=dict, description="by name; drawn when the run is over")

    @property
    def names(self) -> list[str]:
        """Those of all vehicles, copies too."""
        return [copy for name, vehicle in self.vehicles.items() for copy in vehicle.names(name)]
