"""The typed messages of the bus: ROS 2 definitions, Airloom's own ones, and their binary form (CDR).

A `Template` is the fast way: everything constant in a topic's messages is serialised once, and only the stamp and
the numbers are patched into the bytes, for one sample or for a whole batch of samples at a time.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

ODOMETRY = "nav_msgs/msg/Odometry"
IMU = "sensor_msgs/msg/Imu"
NAV_SAT_FIX = "sensor_msgs/msg/NavSatFix"
FLUID_PRESSURE = "sensor_msgs/msg/FluidPressure"
MAGNETIC_FIELD = "sensor_msgs/msg/MagneticField"
RANGE = "sensor_msgs/msg/Range"
BATTERY_STATE = "sensor_msgs/msg/BatteryState"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
TRANSFORM_STAMPED = "geometry_msgs/msg/TransformStamped"
VECTOR3 = "geometry_msgs/msg/Vector3"
VECTOR3_STAMPED = "geometry_msgs/msg/Vector3Stamped"
WRENCH_STAMPED = "geometry_msgs/msg/WrenchStamped"
FLOAT64 = "std_msgs/msg/Float64"
TF_MESSAGE = "tf2_msgs/msg/TFMessage"
CLOCK = "rosgraph_msgs/msg/Clock"
ACTUATORS = "actuator_msgs/msg/Actuators"
SETPOINT = "airloom_interfaces/msg/Setpoint"
FLIGHT_COMMAND = "airloom_interfaces/msg/FlightCommand"
JOY = "sensor_msgs/msg/Joy"
EVENT = "airloom_interfaces/msg/Event"
WIND_INFO = "airloom_interfaces/msg/WindInfo"
CONTROL_MODE = "airloom_interfaces/msg/ControlMode"
POSITION_YAW = "airloom_interfaces/msg/PositionYaw"
VELOCITY_YAW_RATE = "airloom_interfaces/msg/VelocityYawRate"
THRUST_ATTITUDE = "airloom_interfaces/msg/ThrustAttitude"
THRUST_VELOCITY = "airloom_interfaces/msg/ThrustVelocity"
THRUST_TORQUE = "airloom_interfaces/msg/ThrustTorque"
BASE_PICTURE = "airloom_interfaces/msg/BasePicture"
STRING = "std_msgs/msg/String"
DEPOSITION_MAP = "airloom_interfaces/msg/DepositionMap"
RADIO_LINKS = "airloom_interfaces/msg/RadioLinks"
RADIO_PACKETS = "airloom_interfaces/msg/RadioPackets"

OWN_DEFINITIONS = {
    ACTUATORS: """
        std_msgs/Header header
        float64[] position
        float64[] velocity
        float64[] normalized
    """,
    SETPOINT: """
        std_msgs/Header header
        geometry_msgs/Vector3 position
        geometry_msgs/Vector3 velocity
        geometry_msgs/Vector3 acceleration
        float64 yaw
        float64 yaw_rate
    """,
    FLIGHT_COMMAND: """
        std_msgs/Header header
        float64 thrust
        float64 roll
        float64 pitch
        float64 yaw_rate
    """,
    EVENT: """
        std_msgs/Header header
        string source
        string level
        string text
    """,
    WIND_INFO: """
        std_msgs/Header header
        string[] name
        geometry_msgs/Vector3[] true_wind
        geometry_msgs/Vector3[] apparent_wind
        geometry_msgs/Vector3[] drag_force
    """,
    BASE_PICTURE: """
        std_msgs/Header header
        string[] name
        geometry_msgs/Vector3[] position
        geometry_msgs/Vector3[] velocity
        float64[] yaw
        string[] doing
        uint32[] order
        float64[] battery
        float64[] age
        float64[] strength
        bool[] lost
    """,
    CONTROL_MODE: """
        uint8 mode
    """,
    POSITION_YAW: """
        geometry_msgs/Vector3 position
        geometry_msgs/Vector3 velocity
        geometry_msgs/Vector3 acceleration
        float64 yaw
        float64 yaw_rate
    """,
    VELOCITY_YAW_RATE: """
        geometry_msgs/Vector3 velocity
        geometry_msgs/Vector3 acceleration
        float64 yaw_rate
        bool body_frame
    """,
    THRUST_ATTITUDE: """
        float64 thrust
        geometry_msgs/Vector3 attitude
        geometry_msgs/Vector3 attitude_rates
    """,
    THRUST_VELOCITY: """
        float64 thrust
        geometry_msgs/Vector3 velocity
        geometry_msgs/Vector3 acceleration
        bool world
    """,
    THRUST_TORQUE: """
        float64 thrust
        geometry_msgs/Vector3 torque
        bool world
    """,
    DEPOSITION_MAP: """
        std_msgs/Header header
        nav_msgs/MapMetaData info
        float32[] data
    """,
    RADIO_LINKS: """
        std_msgs/Header header
        float64 interval
        string[] nodes
        float32[] positions
        uint32[] broadcasts
        uint16[] sender
        uint16[] receiver
        uint32[] meant
        uint32[] delivered
        float32[] delay
        float32[] strength
    """,
    RADIO_PACKETS: """
        std_msgs/Header header
        string[] nodes
        uint32[] number
        uint16[] sender
        uint16[] size
        uint64[] sent
        uint32[] heard_number
        uint16[] heard_sender
        uint16[] receiver
        uint64[] heard_sent
        uint64[] heard
        float32[] strength
    """,
}

_DTYPES = {"bool": "?", "octet": "u1", "byte": "u1", "char": "u1", "float32": "<f4", "float64": "<f8"}
_DTYPES |= {f"{sign}int{bits}": f"<{sign[:1] or 'i'}{bits // 8}" for sign in ("", "u") for bits in (8, 16, 32, 64)}

Axes = Sequence[float] | np.ndarray
UNKNOWN = (0.0, 0.0, 0.0)
"""Variances of three axes that nobody knows, or that are none: ROS writes both as zero."""
DIAGONAL_KNOWN = 2  # sensor_msgs/NavSatFix

_ENCAPSULATION = 4  # bytes before the first field; alignment counts from there
_NANOSECONDS = 1_000_000_000


@cache
def typestore() -> Typestore:
    """All known types: those of ROS 2 Jazzy, which Kilted shares, and Airloom's own."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    for msgtype, text in OWN_DEFINITIONS.items():
        store.register(get_types_from_msg(text, msgtype))
    return store


@cache
def definition(msgtype: str) -> str:
    """The complete ROS 2 definition of a type, the types it is made of included."""
    return typestore().generate_msgdef(msgtype, ros_version=2)[0]


def is_known(msgtype: str) -> bool:
    return msgtype in typestore().types


def serialize(message: Any) -> bytes:
    return bytes(typestore().serialize_cdr(message, message.__msgtype__, little_endian=True))


def deserialize(cdr: bytes | memoryview, msgtype: str) -> Any:
    return typestore().deserialize_cdr(cdr, msgtype)


def build(msgtype: str, values: Mapping[str, Any] | None = None) -> Any:
    """A message whose fields are all zero or empty, except `values`: {"header.frame_id": "world", …}."""
    message = _zero(msgtype)
    for path, value in (values or {}).items():
        *owners, name = path.split(".")
        owner = message
        for step in owners:
            owner = getattr(owner, step)
        if not hasattr(owner, name):
            raise ValueError(f"{msgtype} has no field '{path}'")
        current = getattr(owner, name)
        setattr(owner, name, np.array(value, current.dtype) if isinstance(current, np.ndarray) else value)
    return message


def event(time_ns: int, source: str, level: str, text: str) -> Any:
    """Something worth telling happened: `level` is info, warning or error."""
    sec, nanosec = divmod(time_ns, _NANOSECONDS)
    values = {"header.stamp.sec": sec, "header.stamp.nanosec": nanosec, "source": source, "level": level, "text": text}
    return build(EVENT, values)


def wind_info(time_ns: int, names: list[str], true: np.ndarray, apparent: np.ndarray, drag: np.ndarray) -> Any:
    """Wind (m/s) and drag (N) of each body, [body, xyz] in the world's axes."""
    vectors = {"true_wind": true.tolist(), "apparent_wind": apparent.tolist(), "drag_force": drag.tolist()}
    return _named_rows(WIND_INFO, time_ns, names, vectors)


def base_picture(
    time_ns: int, names: list[str], vectors: Mapping[str, Sequence[Sequence[float]]], values: Mapping[str, Any]
) -> Any:
    """What a base station knows of each vehicle: vectors in the world's axes, and all else."""
    return _named_rows(BASE_PICTURE, time_ns, names, vectors, values)


def _named_rows(
    msgtype: str,
    time_ns: int,
    names: list[str],
    vectors: Mapping[str, Sequence[Sequence[float]]],
    values: Mapping[str, Any] | None = None,
) -> Any:
    """A message with a row for each name, in the world's axes."""
    sec, nanosec = divmod(time_ns, _NANOSECONDS)
    found: dict[str, Any] = {"header.stamp.sec": sec, "header.stamp.nanosec": nanosec, "name": names, **(values or {})}
    found["header.frame_id"] = "world"
    for name, rows in vectors.items():
        found[name] = [build(VECTOR3, dict(zip("xyz", row, strict=True))) for row in rows]
    return build(msgtype, found)


def _zero(msgtype: str) -> Any:
    store = typestore()
    fields = store.get_msgdef(msgtype).fields
    return store.types[msgtype](**{name: _zero_value(*description) for name, description in fields})


def _zero_value(node: int, detail: Any) -> Any:
    from rosbags.interfaces import Nodetype

    if node == Nodetype.BASE:
        kind = detail[0]
        return "" if kind == "string" else False if kind == "bool" else 0.0 if kind.startswith("float") else 0
    if node == Nodetype.NAME:
        return _zero(detail)
    (item, item_detail), count = detail
    count = count if node == Nodetype.ARRAY else 0
    if item == Nodetype.BASE and item_detail[0] in _DTYPES:
        return np.zeros(count, _DTYPES[item_detail[0]])
    return [_zero_value(item, item_detail) for _ in range(count)]


class Leaf(NamedTuple):
    """Where the numbers of a field lie in a message's bytes; `length` is None for a single number."""

    offset: int
    dtype: np.dtype
    length: int | None

    def elements(self) -> list[int]:
        """The offsets of the single numbers."""
        return [self.offset + i * self.dtype.itemsize for i in range(1 if self.length is None else self.length)]


@dataclass
class Layout:
    """Where everything lies in one message's bytes. It holds for all messages with the same lengths inside."""

    size: int
    leaves: dict[str, Leaf] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    lengths: list[tuple[int, int]] = field(default_factory=list)
    """The 32-bit lengths of strings and sequences: where they lie, what they are."""


def layout(cdr: bytes | memoryview, msgtype: str, store: Typestore | None = None) -> Layout:
    """Walk through a message's little-endian bytes."""
    found = Layout(len(cdr))
    _Walk(cdr, found, store or typestore()).message(msgtype, "")
    return found


class _Walk:
    def __init__(self, cdr: bytes | memoryview, found: Layout, store: Typestore) -> None:
        if len(cdr) < _ENCAPSULATION or cdr[1] != 1:
            raise ValueError("not a little-endian CDR message")
        self.cdr, self.found, self.store, self.position = cdr, found, store, _ENCAPSULATION

    def message(self, msgtype: str, path: str) -> None:
        for name, description in self.store.fielddefs[msgtype][1]:
            self.value(description, f"{path}.{name}" if path else name)

    def value(self, description: Any, path: str) -> None:
        from rosbags.interfaces import Nodetype

        node, detail = description
        if node == Nodetype.NAME:
            self.message(detail, path)
        elif node != Nodetype.BASE:
            item, count = detail
            self.array(item, count if node == Nodetype.ARRAY else self.length(), path)
        elif detail[0] in _DTYPES:
            self.numbers(detail[0], None, path)
        else:
            self.found.texts.append(path)
            length = self.length()
            self.position += length

    def array(self, item: Any, count: int, path: str) -> None:
        from rosbags.interfaces import Nodetype

        node, detail = item
        if node == Nodetype.BASE and detail[0] in _DTYPES:
            self.numbers(detail[0], count, path)
        else:
            for i in range(count):
                self.value(item, f"{path}.{i}")

    def numbers(self, kind: str, count: int | None, path: str) -> None:
        dtype = np.dtype(_DTYPES[kind])
        if count != 0:
            self.align(dtype.itemsize)
        self.found.leaves[path] = Leaf(self.position, dtype, count)
        self.position += dtype.itemsize * (1 if count is None else count)

    def length(self) -> int:
        self.align(4)
        (length,) = struct.unpack_from("<I", self.cdr, self.position)
        self.found.lengths.append((self.position, length))
        self.position += 4
        return length

    def align(self, size: int) -> None:
        self.position += (_ENCAPSULATION - self.position) % size


class _Run(NamedTuple):
    """Numbers that lie side by side, and the columns of the values they come from."""

    offset: int
    dtype: np.dtype
    columns: list[int]


class Template:
    """Messages of one topic: `columns` change from message to message, everything else is constant.

    A column is a field with one number, or an array field that takes as many columns as it has numbers.
    """

    def __init__(self, msgtype: str, columns: Sequence[str], constants: Mapping[str, Any] | None = None) -> None:
        self.msgtype = msgtype
        self._columns, self._given = columns, constants

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.msgtype)

    def _key(self) -> tuple[str, list[str], str]:
        return self.msgtype, list(self._columns), repr(self._given)

    @cached_property
    def _bytes(self) -> _Bytes:
        """Worked out at the first message: most topics of a large fleet never send one."""
        return _Bytes(self.msgtype, self._columns, self._given)

    @property
    def width(self) -> int:
        return self._bytes.width

    @property
    def size(self) -> int:
        return self._bytes.size

    def encode(self, time_ns: int, values: Sequence[float] | np.ndarray) -> bytes:
        """The bytes of one message."""
        return self._bytes.encode(time_ns, values)

    def encode_batch(self, times_ns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The bytes of N messages as uint8[N, size], from int64[N] and float64[N, width]."""
        return self._bytes.encode_batch(times_ns, values)

    def encode_all(self, times_ns: np.ndarray, values: np.ndarray) -> list[bytes]:
        """Likewise, each message for itself; a single one, as those have who must be told at once, the quick way."""
        if len(times_ns) == 1:
            return [self._bytes.encode(int(times_ns[0]), values[0])]
        block, size = self.encode_batch(times_ns, values).tobytes(), self.size
        return [block[at : at + size] for at in range(0, len(block), size)]

    def message(self, time_ns: int, values: Sequence[float] | np.ndarray) -> Any:
        """One message as an object."""
        return deserialize(self.encode(time_ns, values), self.msgtype)


class Together:
    """Messages of many templates at one time: those that are alike, as a fleet's are, are encoded by one array."""

    def __init__(self, templates: Sequence[Template]) -> None:
        alike: dict[int, list[int]] = {}
        for k, template in enumerate(templates):
            alike.setdefault(template._bytes.kind, []).append(k)
        self._groups = [
            (templates[group[0]]._bytes, group, b"".join([templates[k]._bytes.base for k in group]))
            for group in alike.values()
        ]
        self._count = len(templates)

    def encode(self, time_ns: int, values: np.ndarray) -> list[bytes]:
        """From float64[template, width]."""
        found = [b""] * self._count
        for first, group, base in self._groups:
            encoded = bytearray(base)
            first.fill(np.frombuffer(encoded, first.row), time_ns, values[group])
            block, size = bytes(encoded), first.size
            for n, k in enumerate(group):
                found[k] = block[n * size : (n + 1) * size]
        return found


_kinds: dict[tuple, int] = {}


def _kind(places: tuple) -> int:
    return _kinds.setdefault(places, len(_kinds))


class _Bytes:
    """The bytes of a template's messages, and where in them the numbers go."""

    def __init__(self, msgtype: str, columns: Sequence[str], constants: Mapping[str, Any] | None) -> None:
        self.msgtype = msgtype
        self.base = serialize(build(msgtype, constants))
        places = layout(self.base, msgtype).leaves
        unknown = [path for path in columns if path not in places]
        if unknown:
            raise ValueError(f"{msgtype} has no numbers called '{unknown[0]}'; it has {', '.join(places)}")
        numbers = [(offset, places[path].dtype) for path in columns for offset in places[path].elements()]
        self.width = len(numbers)
        self.size = len(self.base)
        self._stamp = [
            (leaf.offset, leaf.dtype)
            for path in ("clock.sec", "clock.nanosec", "header.stamp.sec", "header.stamp.nanosec")
            if (leaf := places.get(path)) is not None
        ]
        self._runs = list(_runs(numbers))
        self.row = self._row_dtype()
        self.kind = _kind((self.size, *[*self._stamp, *numbers]))
        """Templates of one kind have all numbers at the same places, and differ in constants only."""
        self._prepare_packing([*self._stamp, *numbers])

    def _row_dtype(self) -> np.dtype:
        """Numbers without a header, such as Float64, have no stamp."""
        names = ["sec", "nanosec"][: len(self._stamp)] + [f"run{i}" for i in range(len(self._runs))]
        formats: list[Any] = [kind for _, kind in self._stamp] + [(run.dtype, len(run.columns)) for run in self._runs]
        offsets = [offset for offset, _ in self._stamp] + [run.offset for run in self._runs]
        return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": self.size})

    def _prepare_packing(self, numbers: list[tuple[int, np.dtype]]) -> None:
        """One `struct` for the whole message: its arguments are the numbers and the constant bytes between them."""
        self._constants: list[bytes] = []
        code, order, end = "<", [], 0
        for run in [*_runs(numbers), _Run(self.size, np.dtype("V1"), [])]:
            if run.offset > end:
                code += f"{run.offset - end}s"
                order.append(len(numbers) + len(self._constants))
                self._constants.append(self.base[end : run.offset])
            code += run.dtype.char * len(run.columns)
            order += run.columns
            end = run.offset + run.dtype.itemsize * len(run.columns)
        self._pack = struct.Struct(code).pack
        self._arrange = itemgetter(*order)

    def encode(self, time_ns: int, values: Sequence[float] | np.ndarray) -> bytes:
        if len(values) != self.width:
            raise ValueError(f"{self.msgtype} takes {self.width} values here, not {len(values)}")
        numbers = values.tolist() if isinstance(values, np.ndarray) else values
        stamp = divmod(time_ns, _NANOSECONDS) if self._stamp else ()
        return self._pack(*self._arrange((*stamp, *numbers, *self._constants)))

    def encode_batch(self, times_ns: np.ndarray, values: np.ndarray) -> np.ndarray:
        times, values = np.asarray(times_ns, np.int64), np.asarray(values)
        if values.shape != (len(times), self.width):
            raise ValueError(f"{self.msgtype} takes values of shape {(len(times), self.width)}, not {values.shape}")
        encoded = np.empty((len(times), self.size), np.uint8)
        encoded[:] = np.frombuffer(self.base, np.uint8)
        self.fill(encoded.view(self.row)[:, 0], times, values)
        return encoded

    def fill(self, rows: np.ndarray, times_ns: np.ndarray | int, values: np.ndarray) -> None:
        """Put times and numbers into messages that have all else."""
        if self._stamp:
            rows["sec"], rows["nanosec"] = np.divmod(times_ns, _NANOSECONDS)
        for i, run in enumerate(self._runs):
            rows[f"run{i}"] = values[:, run.columns]


def _runs(numbers: list[tuple[int, np.dtype]]) -> Iterator[_Run]:
    """Group numbers (offset, type) into runs without gaps."""
    run = _Run(-1, np.dtype("V1"), [])
    for column, (offset, dtype) in sorted(enumerate(numbers), key=lambda entry: entry[1][0]):
        if dtype != run.dtype or offset != run.offset + len(run.columns) * dtype.itemsize:
            if run.columns:
                yield run
            run = _Run(offset, dtype, [])
        run.columns.append(column)
    if run.columns:
        yield run


def _paths(prefix: str, names: str) -> list[str]:
    return [f"{prefix}.{name}" for name in names]


def covariance(variances: Sequence[float] | np.ndarray) -> list[float]:
    """The matrix, row by row, of quantities whose errors have nothing to do with each other."""
    return np.diag(variances).ravel().tolist()


def odometry(
    frame_id: str,
    child_frame_id: str,
    pose_covariance: Sequence[float] | None = None,
    twist_covariance: Sequence[float] | None = None,
) -> Template:
    """Columns: position xyz (world), attitude wxyz, velocity xyz (body), rates xyz (body)."""
    columns = [
        *_paths("pose.pose.position", "xyz"),
        *_paths("pose.pose.orientation", "wxyz"),
        *_paths("twist.twist.linear", "xyz"),
        *_paths("twist.twist.angular", "xyz"),
    ]
    constants: dict[str, Any] = {"header.frame_id": frame_id, "child_frame_id": child_frame_id}
    if pose_covariance is not None:
        constants["pose.covariance"] = pose_covariance
    if twist_covariance is not None:
        constants["twist.covariance"] = twist_covariance
    return Template(ODOMETRY, columns, constants)


def imu(frame_id: str, rates: Axes = UNKNOWN, forces: Axes = UNKNOWN) -> Template:
    """Columns: rates xyz (rad/s), specific force xyz (m/s²), with the variances of their axes.

    No attitude, marked as ROS asks: covariance -1.
    """
    columns = [*_paths("angular_velocity", "xyz"), *_paths("linear_acceleration", "xyz")]
    known = {"angular_velocity_covariance": covariance(rates), "linear_acceleration_covariance": covariance(forces)}
    no_attitude = {"orientation_covariance": [-1.0, *[0.0] * 8]}
    return Template(IMU, columns, {"header.frame_id": frame_id, **no_attitude, **known})


def nav_sat_fix(frame_id: str, position: Axes | None = None) -> Template:
    """Columns: latitude, longitude (degrees), altitude (m), with the variances east, north, up (m²) if known."""
    known: dict[str, Any] = {}
    if position is not None:
        known = {"position_covariance": covariance(position), "position_covariance_type": DIAGONAL_KNOWN}
    return Template(NAV_SAT_FIX, ["latitude", "longitude", "altitude"], {"header.frame_id": frame_id, **known})


def fluid_pressure(frame_id: str, variance: float = 0.0) -> Template:
    """Column: pressure (Pa)."""
    return Template(FLUID_PRESSURE, ["fluid_pressure"], {"header.frame_id": frame_id, "variance": variance})


def magnetic_field(frame_id: str, field: Axes = UNKNOWN) -> Template:
    """Columns: field xyz in the sensor's frame (T), with the variances of its axes."""
    known = {"magnetic_field_covariance": covariance(field)}
    return Template(MAGNETIC_FIELD, _paths("magnetic_field", "xyz"), {"header.frame_id": frame_id, **known})


def range_(
    frame_id: str, min_range: float, max_range: float, field_of_view: float = 0.0, variance: float = 0.0
) -> Template:
    """Column: distance (m)."""
    limits = {"min_range": min_range, "max_range": max_range, "field_of_view": field_of_view, "radiation_type": 1}
    return Template(RANGE, ["range"], {"header.frame_id": frame_id, "variance": variance, **limits})


def battery_state(frame_id: str) -> Template:
    """Columns: voltage (V), current (A, negative while it is drawn), charge, capacity, design capacity (Ah), share."""
    columns = ["voltage", "current", "charge", "capacity", "design_capacity", "percentage"]
    kind = {f"power_supply_{key}": value for key, value in (("status", 2), ("health", 1), ("technology", 3))}
    unknown = {"temperature": float("nan")}
    return Template(BATTERY_STATE, columns, {"header.frame_id": frame_id, "present": True, **kind, **unknown})


def wrench(frame_id: str) -> Template:
    """Columns: force xyz (N), torque xyz (N m)."""
    columns = [*_paths("wrench.force", "xyz"), *_paths("wrench.torque", "xyz")]
    return Template(WRENCH_STAMPED, columns, {"header.frame_id": frame_id})


def velocity(frame_id: str) -> Template:
    """Columns: velocity xyz (m/s)."""
    return Template(VECTOR3_STAMPED, _paths("vector", "xyz"), {"header.frame_id": frame_id})


def number() -> Template:
    """Column: a number. ROS has no header for it."""
    return Template(FLOAT64, ["data"])


def setpoint(frame_id: str) -> Template:
    """Columns: position, velocity, acceleration xyz (world), yaw, yaw rate."""
    vectors = chain.from_iterable(_paths(name, "xyz") for name in ("position", "velocity", "acceleration"))
    return Template(SETPOINT, [*vectors, "yaw", "yaw_rate"], {"header.frame_id": frame_id})


def flight_command(frame_id: str) -> Template:
    """Columns: thrust, roll, pitch, yaw rate: what the position loop asks of the inner loop."""
    return Template(FLIGHT_COMMAND, ["thrust", "roll", "pitch", "yaw_rate"], {"header.frame_id": frame_id})


def pose(frame_id: str) -> Template:
    """Columns: position xyz, attitude wxyz."""
    columns = [*_paths("pose.position", "xyz"), *_paths("pose.orientation", "wxyz")]
    return Template(POSE_STAMPED, columns, {"header.frame_id": frame_id})


def actuators(frame_id: str, rotors: int) -> Template:
    """Columns: the speed of each rotor (rad/s)."""
    return Template(ACTUATORS, ["velocity"], {"header.frame_id": frame_id, "velocity": np.zeros(rotors)})


def clock() -> Template:
    """No columns: the time is all there is."""
    return Template(CLOCK, [])
