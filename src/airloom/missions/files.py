"""Missions from files: Airloom's own YAML, and QGroundControl's `.plan`.

A plan names places on Earth, and they stay where they are: they become local by the world's geodetic origin. A plan
whose home is far from that origin is refused with the origin to set. Altitudes relative to home (frame 3) count from
the ground at home in this world, altitudes above the sea (frame 0) from the origin's altitude. Vehicles stop at every
waypoint, and keep their yaw where the plan leaves it open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import atan2, cos, hypot, pi, radians, sin
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from airloom.missions.items import GoTo, Item, Land, Rest, TakeOff
from airloom.missions.pursuit import TOP_SPEED
from airloom.scenario.document import read
from airloom.scenario.errors import ScenarioError, all_in_one, listed
from airloom.scenario.models import Origin
from airloom.scenario.tree import displayed, plain
from airloom.scenario.validation import complaints
from airloom.world.geodesy import geodetic_to_local

FARTHEST_HOME = 20_000.0  # m from the world's origin
GLOBAL, RELATIVE = 0, 3
HARMLESS = {
    195: "region of interest", 197: "region of interest", 201: "region of interest",
    203: "camera", 204: "gimbal", 205: "gimbal", 206: "camera trigger", 214: "camera trigger", 530: "camera mode",
    531: "camera zoom", 532: "camera focus", 1000: "gimbal", 2000: "camera", 2001: "camera",
    2500: "video", 2501: "video",
}  # fmt: skip


@dataclass
class Mission:
    """What to fly, and what was left out of it."""

    items: list[Any]
    warnings: list[str] = field(default_factory=list)


class MissionFile(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    description: str = ""
    mission: list[Item] = Field(min_length=1, description="takeoff, goto, follow, sleep, land, one after the other")


Heights = Callable[[float, float], float]


def read_mission(file: Path | str, origin: Origin | None = None, ground: Heights = lambda x, y: 0.0) -> Mission:
    """The mission in a file; `origin` and `ground` of the world say where a plan's places lie. Raises ScenarioError."""
    file = Path(file)
    return read_plan(file, origin or Origin(), ground) if file.suffix == ".plan" else read_yaml(file)


def read_yaml(file: Path) -> Mission:
    root = read(file)
    try:
        return Mission(MissionFile.model_validate(plain(root)).mission)
    except ValidationError as error:
        raise all_in_one(complaints(error, root, MissionFile)) from error


def read_plan(file: Path, origin: Origin, ground: Heights) -> Mission:
    return _Plan(file, origin, ground).mission()


class _Plan:
    """Goes through the items of a plan and remembers place and speed on the way."""

    def __init__(self, file: Path, origin: Origin, ground: Heights) -> None:
        self._file, self._origin = file, origin
        self._flights = {
            16: self._waypoint, 19: self._waypoint, 20: self._return, 21: self._land, 22: self._take_off,
            93: self._delay, 178: self._change_speed,
        }  # fmt: skip
        self._where = displayed(file)
        content = self._content()
        self._raw_items = self._list_of_items(content)
        self._home = self._place_of_home(content["mission"])
        self._ground_at_home = ground(self._home[0], self._home[1])
        self._speed = self._sensible_speed(content["mission"].get("hoverSpeed")) or 2.0
        self._height = self._ground_at_home
        self._warnings: list[str] = []

    def mission(self) -> Mission:
        items: list[Any] = []
        for number, raw in enumerate(self._raw_items, start=1):
            self._where = f"{displayed(self._file)}, item {number}"
            items += self._flown(raw)
        if not items:
            raise self._error("the plan holds nothing to fly")
        return Mission(items, self._warnings)

    # -- the file ----------------------------------------------------------------------------------------------------

    def _error(self, what: str) -> ScenarioError:
        return ScenarioError(f"{self._where}: {what}")

    def _content(self) -> dict[str, Any]:
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
        except OSError as error:
            raise self._error(f"cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise self._error(f"is no valid JSON: {error}") from error
        if not isinstance(content, dict) or content.get("fileType") != "Plan":
            raise self._error('is no QGroundControl plan: "fileType" must be "Plan"')
        if not isinstance(content.get("mission"), dict):
            raise self._error('the plan has no "mission"')
        return content

    def _list_of_items(self, content: dict[str, Any]) -> list[Any]:
        items = content["mission"].get("items")
        if not isinstance(items, list) or not items:
            raise self._error('the plan\'s mission has no "items"')
        return items

    def _place_of_home(self, mission: dict[str, Any]) -> tuple[float, float]:
        home = mission.get("plannedHomePosition")
        if not isinstance(home, list) or len(home) != 3 or not all(map(_is_number, home)):
            raise self._error('"plannedHomePosition" must be latitude, longitude, altitude')
        x, y, _ = self._local(home[0], home[1], self._origin.altitude)
        if hypot(x, y) > FARTHEST_HOME:
            raise self._error(
                f"the plan's home lies {hypot(x, y) / 1000:.0f} km from the world's origin; set world.origin="
                f"{{latitude: {home[0]}, longitude: {home[1]}, altitude: {home[2]}}}"
            )
        return x, y

    # -- its items ---------------------------------------------------------------------------------------------------

    def _flown(self, raw: Any) -> Iterator[Any]:
        kind = raw.get("type") if isinstance(raw, dict) else None
        if kind != "SimpleItem":
            what = raw.get("complexItemType", kind) if isinstance(raw, dict) else raw
            raise self._error(f"'{what}' cannot be flown; only SimpleItems can: {self._supported()}")
        command, numbers = raw.get("command"), raw.get("params")
        if not isinstance(numbers, list) or len(numbers) != 7 or not all(n is None or _is_number(n) for n in numbers):
            raise self._error('"params" must be seven numbers or null')
        if command in self._flights:
            return self._flights[command](numbers, raw.get("frame"))
        if command in HARMLESS:
            self._warnings.append(f"{self._where}: command {command} ({HARMLESS[command]}) is left out")
            return iter(())
        raise self._error(f"command {command} cannot be flown; {self._supported()}")

    def _supported(self) -> str:
        return f"supported are {listed([str(command) for command in self._flights], 'and')}"

    def _take_off(self, numbers: list, frame: Any) -> Iterator[Any]:
        x, y, z = self._place(numbers, frame)
        if not z > self._ground_at_home:
            raise self._error("takeoff must lead above the ground at home")
        yield TakeOff(takeoff=z - self._ground_at_home, speed=min(self._speed, 1.5))
        if numbers[4] and numbers[5]:
            yield GoTo(goto=(x, y, z), yaw=_yaw(numbers[3]), speed=self._speed)

    def _waypoint(self, numbers: list, frame: Any) -> Iterator[Any]:
        yield GoTo(goto=self._place(numbers, frame), yaw=_yaw(numbers[3]), speed=self._speed)
        if numbers[0]:
            yield self._hold(numbers[0])

    def _land(self, numbers: list, frame: Any) -> Iterator[Any]:
        if numbers[4] and numbers[5]:
            x, y, _ = self._local(numbers[4], numbers[5], self._origin.altitude)
            yield GoTo(goto=(x, y, self._height), speed=self._speed)
        yield Land(land=None)

    def _return(self, numbers: list, frame: Any) -> Iterator[Any]:
        yield GoTo(goto=(*self._home, self._height), speed=self._speed)
        yield Land(land=None)

    def _delay(self, numbers: list, frame: Any) -> Iterator[Any]:
        yield self._hold(numbers[0])

    def _hold(self, seconds: float | None) -> Rest:
        if seconds is None or seconds < 0:
            raise self._error(f"a delay takes a number of seconds, got {seconds}; times of day are not supported")
        return Rest(sleep=seconds)

    def _change_speed(self, numbers: list, frame: Any) -> Iterator[Any]:
        self._speed = self._sensible_speed(numbers[1]) or self._speed
        return iter(())

    def _sensible_speed(self, speed: Any) -> float | None:
        """Nothing, zero and −1 mean no change."""
        return min(float(speed), TOP_SPEED) if _is_number(speed) and speed > 0 else None

    # -- its places --------------------------------------------------------------------------------------------------

    def _place(self, numbers: list, frame: Any) -> tuple[float, float, float]:
        latitude, longitude, altitude = numbers[4:]
        if latitude is None or longitude is None or altitude is None:
            raise self._error("latitude, longitude and altitude (params 5 to 7) must be given")
        if frame not in (GLOBAL, RELATIVE):
            raise self._error(f"frame {frame} is not supported; known are 0 (above the sea) and 3 (above home)")
        x, y, z = self._local(latitude, longitude, altitude if frame == GLOBAL else self._origin.altitude)
        self._height = z if frame == GLOBAL else self._ground_at_home + altitude
        return x, y, self._height

    def _local(self, latitude: float, longitude: float, altitude: float) -> tuple[float, float, float]:
        o = self._origin
        place = (radians(latitude), radians(longitude), float(altitude))
        x, y, z = geodetic_to_local(*place, radians(o.latitude), radians(o.longitude), float(o.altitude))
        return float(x), float(y), float(z)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def _yaw(compass: float | None) -> float | None:
    """Degrees clockwise from north → radians counter-clockwise from east."""
    if compass is None:
        return None
    east = pi / 2 - radians(compass)
    return atan2(sin(east), cos(east))
