"""Spray for people: a thinned cloud of drops and a coarse map, as messages of the bus and as texts of the link."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.bus import messages
from airloom.bus.arrays import CloudTemplate
from airloom.spray.maps import DepositionMap

if TYPE_CHECKING:
    from airloom.bus.bus import Topic
    from airloom.simulation import Simulation
    from airloom.spray.spray import Spray

MOST_POINTS, MOST_CELLS = 4_000, 160  # drops; cells each way
RATE = 2.0  # messages a second
FRAME = "world"


@dataclass(frozen=True)
class CoarseMap:
    """What landed, on the ground and in leaves together, on few enough cells to be drawn."""

    corner: tuple[float, float]
    cell: float
    litres_per_hectare: np.ndarray
    """float32 [row, column], rows run north"""


NOTHING = CoarseMap((0.0, 0.0), 1.0, np.zeros((0, 0), dtype="<f4"))


def thinned(drops: np.ndarray) -> np.ndarray:
    """float32 [n, 3], world, m."""
    return drops[:: -(-len(drops) // MOST_POINTS) or 1, :3].astype("<f4")


def coarse(deposition: DepositionMap) -> CoarseMap:
    """Of the part that something has landed in."""
    wet = deposition.ground + deposition.canopy
    rows, columns = deposition.sprayed_part(margin=0.0)
    part = wet[rows, columns]
    if not part.any():
        return NOTHING
    merged = -(-max(part.shape) // MOST_CELLS)
    lines, across = (-(-side // merged) for side in part.shape)
    whole = np.zeros((lines * merged, across * merged))
    whole[: part.shape[0], : part.shape[1]] = part
    litres = whole.reshape(lines, merged, across, merged).sum(axis=(1, 3))
    west, south = deposition.corner
    corner = west + columns.start * deposition.cell, south + rows.start * deposition.cell
    return CoarseMap(corner, merged * deposition.cell, (deposition.per_hectare(litres) / merged**2).astype("<f4"))


class Topics:
    """`/NAME/drops` and `/NAME/map`, twice a second if somebody wants them."""

    def __init__(self, sim: Simulation, name: str) -> None:
        self._cloud = CloudTemplate(FRAME)
        self._drops: Topic = sim.bus.advertise(f"/{name}/drops", self._cloud.msgtype)
        self._map: Topic = sim.bus.advertise(f"/{name}/map", messages.DEPOSITION_MAP)
        self._due = 0

    def reset(self) -> None:
        self._due = 0

    def publish(self, sim: Simulation, spray: Spray) -> None:
        if sim.time_ns < self._due:
            return
        self._due = sim.time_ns + round(1e9 / RATE)
        if self._drops.wanted:
            cloud = self._cloud.cloud(sim.time_ns, thinned(spray.drops[: spray.count]))
            self._drops.publish_bytes(cloud, sim.time_ns)
        if self._map.wanted:
            self._map.publish(map_message(sim.time_ns, coarse(spray.map)), sim.time_ns)


def map_message(time_ns: int, found: CoarseMap) -> Any:
    rows, columns = found.litres_per_hectare.shape
    sec, nanosec = divmod(time_ns, 1_000_000_000)
    fields = {
        "header.stamp.sec": sec, "header.stamp.nanosec": nanosec, "header.frame_id": FRAME,
        "info.resolution": found.cell, "info.width": columns, "info.height": rows,
        "info.origin.position.x": found.corner[0], "info.origin.position.y": found.corner[1],
        "info.origin.orientation.w": 1.0, "data": found.litres_per_hectare.ravel(),
    }  # fmt: skip
    return messages.build(messages.DEPOSITION_MAP, fields)


def map_in(message: Any) -> CoarseMap:
    info = message.info
    litres = np.asarray(message.data, dtype="<f4").reshape(info.height, info.width)
    return CoarseMap((info.origin.position.x, info.origin.position.y), float(info.resolution), litres)


# -- through a line of JSON --------------------------------------------------------------------------------------------


def as_texts(time: float | None, points: np.ndarray, found: CoarseMap) -> dict[str, Any]:
    return {
        "time": time, "points": _text(points), "corner": list(found.corner), "cell": found.cell,
        "shape": list(found.litres_per_hectare.shape), "map": _text(found.litres_per_hectare),
    }  # fmt: skip


def shown(sim: Simulation, spray: Spray) -> dict[str, Any]:
    return as_texts(sim.time, thinned(spray.drops[: spray.count]), coarse(spray.map))


def points_in(reply: dict[str, Any]) -> np.ndarray:
    return _numbers(reply["points"]).reshape(-1, 3)


def map_in_reply(reply: dict[str, Any]) -> CoarseMap:
    return CoarseMap(tuple(reply["corner"]), reply["cell"], _numbers(reply["map"]).reshape(reply["shape"]))


def _text(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f4").tobytes()).decode()


def _numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")
