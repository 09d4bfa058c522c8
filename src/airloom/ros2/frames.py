"""The tree of frames for tf: by REP 105, or the one of aerospace with NED and FRD in between.

By REP 103 and 105: world → map → <vehicle>/odom → <vehicle>/base_link → sensors, and for cameras optical frames. What
the bus tells is given in `world`, which is `map` and every `odom`: the simulation knows where it is.

Of aerospace: world (ENU) → ned → <vehicle>/frd → <vehicle>/base_link (FLU) → sensors. The quaternions between are
(w, [x, y, z]) = (0, [√½, √½, 0]) and (0, [1, 0, 0]), which are their own inverses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from airloom.basics.clock import NS_PER_SECOND
from airloom.basics.rotations import quaternion_from_euler
from airloom.bus import messages
from airloom.compiled import rows as row
from airloom.compiled.rows import LANES

if TYPE_CHECKING:
    from airloom.simulation import Simulation
    from airloom.vehicle import Vehicle

HERE, LEVEL = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
NED_IN_ENU = (0.0, sqrt(0.5), sqrt(0.5), 0.0)
FLU_IN_FRD = (0.0, 1.0, 0.0, 0.0)
OPTICAL = (0.5, -0.5, 0.5, -0.5)
"""z forward, x right, y down, in axes with x forward, y left, z up."""
TRANSLATION = [f"transform.translation.{axis}" for axis in "xyz"]
ROTATION = [f"transform.rotation.{axis}" for axis in "wxyz"]


class Frame(NamedTuple):
    """`child` as seen from `parent`: where it is (m), and how it is turned (w, x, y, z)."""

    parent: str
    child: str
    position: tuple[float, ...] = HERE
    attitude: tuple[float, ...] = LEVEL


def frames_of(vehicle: Vehicle) -> list[Frame]:
    """Of its sensors, cameras' axes and rotors, in its base_link."""
    base, found = f"{vehicle.name}/base_link", []
    carried: list[Any] = [*vehicle.sensors, *vehicle.eyes]
    for sensor in carried:
        mount = sensor.parameters
        name = f"{vehicle.name}/{sensor.name}"
        found.append(Frame(base, name, mount.position, _turn(mount.roll, mount.pitch, mount.yaw)))
        if getattr(sensor, "frame_id", name) == f"{name}_optical":
            found.append(Frame(name, f"{name}_optical", HERE, OPTICAL))
    for rotor, numbers in vehicle.description.rotors.items():
        found.append(Frame(base, f"{vehicle.name}/{rotor}", numbers.position, turn_to(numbers.axis)))
    return found


def _turn(roll: float, pitch: float, yaw: float) -> tuple[float, ...]:
    return tuple(quaternion_from_euler(roll, pitch, yaw).tolist())


def turn_to(axis: tuple[float, float, float]) -> tuple[float, ...]:
    """The shortest turn that takes z to an axis."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    if z < -1.0 + 1e-12:
        return 0.0, 1.0, 0.0, 0.0
    half = np.array([1.0 + z, -y, x, 0.0])
    return tuple((half / np.linalg.norm(half)).tolist())


class Moving:
    """The message for /tf of some vehicles, in any order."""

    def __init__(self, names: list[str], kind: str) -> None:
        self._is_ned = kind == "ned"
        frames = [self._frame(name) for name in names]
        fields = ["header.stamp.sec", "header.stamp.nanosec", *TRANSLATION, *ROTATION]
        columns = [f"transforms.{k}.{field}" for k in range(len(frames)) for field in fields]
        self._template = messages.Template(messages.TF_MESSAGE, columns, {"transforms": _stamped(frames)})

    def _frame(self, name: str) -> Frame:
        return Frame("ned", f"{name}/frd") if self._is_ned else Frame(f"{name}/odom", f"{name}/base_link")

    def encode(self, time_ns: int, poses: np.ndarray) -> bytes:
        """Of poses in `world`, [vehicle, x y z qw qx qy qz]."""
        stamp = divmod(time_ns, NS_PER_SECOND)
        poses = _as_ned(poses) if self._is_ned else poses
        return self._template.encode(0, [number for pose in poses.tolist() for number in (*stamp, *pose)])


class Tree:
    """All frames of a simulation: `fixed` ones, and the poses of the vehicles, which `moving` gives for now."""

    def __init__(self, sim: Simulation, kind: str) -> None:
        self._sim, self._is_ned = sim, kind == "ned"
        self._places = np.array([craft.block * LANES + craft.lane for craft in sim.fleet.crafts])
        self._moving = Moving(list(sim.vehicles), kind)

    def fixed(self) -> bytes:
        """The message for /tf_static."""
        found = [Frame("world", "ned", HERE, NED_IN_ENU)] if self._is_ned else [Frame("world", "map")]
        for name, vehicle in self._sim.vehicles.items():
            joint = (
                Frame(f"{name}/frd", f"{name}/base_link", HERE, FLU_IN_FRD)
                if self._is_ned
                else Frame("map", f"{name}/odom")
            )
            found += [joint, *frames_of(vehicle)]
        return messages.serialize(messages.build(messages.TF_MESSAGE, {"transforms": _stamped(found)}))

    def moving(self) -> Callable[[], bytes]:
        """What makes the message for /tf, of the poses as they are now."""
        return partial(self._moving.encode, self._sim.time_ns, self._poses())

    def _poses(self) -> np.ndarray:
        """[vehicle, x y z qw qx qy qz]"""
        blocks = self._sim.fleet.flight.blocks
        rows = blocks.reshape(len(blocks), -1, LANES)[:, row.PX // LANES : row.PX // LANES + 7]
        return rows.transpose(0, 2, 1).reshape(-1, 7)[self._places]


def _as_ned(poses: np.ndarray) -> np.ndarray:
    """Of FLU in ENU as of FRD in NED. Both turns only change places and signs of a quaternion's parts:
    (0, [√½, √½, 0]) · (w, x, y, z) · (0, [1, 0, 0]).
    """
    x, y, z, qw, qx, qy, qz = poses.T
    s = sqrt(0.5)
    return np.column_stack([y, x, -z, -s * (qw + qz), -s * (qx + qy), s * (qy - qx), s * (qz - qw)])


def _stamped(frames: list[Frame]) -> list[Any]:
    return [
        messages.build(
            messages.TRANSFORM_STAMPED,
            {
                "header.frame_id": frame.parent,
                "child_frame_id": frame.child,
                **dict(
                    zip((f"transform.translation.{axis}" for axis in "xyz"), map(float, frame.position), strict=True)
                ),
                **dict(zip((f"transform.rotation.{axis}" for axis in "wxyz"), map(float, frame.attitude), strict=True)),
            },
        )
        for frame in frames
    ]
