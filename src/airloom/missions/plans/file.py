"""A plan's file, and its places in the world.

A plan names places on Earth, and they stay where they are: they become local by the world's geodetic origin. A plan
whose home is far from that origin is refused with the origin to set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot, radians
from pathlib import Path
from typing import Any

from airloom.basics.given import MEGABYTE, json_of
from airloom.missions.fence import Point
from airloom.missions.items import FASTEST
from airloom.missions.pursuit import TOP_SPEED
from airloom.scenario.errors import ScenarioError
from airloom.scenario.models import Origin
from airloom.scenario.tree import displayed
from airloom.world.geodesy import geodetic_to_local

FARTHEST = 20_000.0  # m from the world's origin
LARGEST_FILE = 16 * MEGABYTE
USUAL_SPEED, USUAL_CRUISE = 5.0, 15.0  # m/s, QGroundControl's
FIXED_WING, VTOLS = 1, range(19, 26)  # of MAV_TYPE
Heights = Callable[[float, float], float]


@dataclass(frozen=True)
class Place:
    x: float
    y: float
    z: float
    height: float | None = None
    """above the ground, if it is that which counts"""


class PlanFile:
    """`where` is what is being read, for messages."""

    def __init__(self, file: Path, origin: Origin, ground: Heights) -> None:
        self.origin, self.ground = origin, ground
        self.name = self.where = displayed(file)
        self.warnings: list[str] = []
        self.content = self._read(file)
        self.mission: dict[str, Any] = self.content["mission"]
        self.home = self._home()
        self.home_height = ground(*self.home)
        self.is_for_wings = self.mission.get("vehicleType") == FIXED_WING
        self.speed = None if self.is_for_wings else self.checked_speed(self.mission.get("hoverSpeed")) or USUAL_SPEED

    @property
    def cruise_speed(self) -> float:
        """Of what hovers and cruises."""
        return self.checked_speed(self.mission.get("cruiseSpeed")) or USUAL_CRUISE

    def at(self, where: str) -> None:
        self.where = f"{self.name}, {where}"

    def error(self, what: str) -> ScenarioError:
        return ScenarioError(f"{self.where}: {what}")

    def warn(self, what: str) -> None:
        self.warnings.append(f"{self.where}: {what}")

    def _read(self, file: Path) -> dict[str, Any]:
        content = json_of(file, ScenarioError, LARGEST_FILE, "no plan is that large", self.name)
        if not isinstance(content, dict) or content.get("fileType") != "Plan":
            raise self.error('is no QGroundControl plan: "fileType" must be "Plan"')
        if not isinstance(content.get("mission"), dict):
            raise self.error('the plan has no "mission"')
        return content

    def _home(self) -> Point:
        home = self.mission.get("plannedHomePosition")
        if not isinstance(home, list) or len(home) != 3 or not all(map(is_number, home)):
            raise self.error('"plannedHomePosition" must be latitude, longitude, altitude')
        x, y, _ = self.local(home[0], home[1], self.origin.altitude)
        if hypot(x, y) > FARTHEST:
            raise self.error(
                f"the plan's home lies {hypot(x, y) / 1000:.0f} km from the world's origin; set world.origin="
                f"{{latitude: {home[0]}, longitude: {home[1]}, altitude: {home[2]}}}"
            )
        return x, y

    def checked_speed(self, speed: Any) -> float | None:
        """Nothing, zero and −1 mean no change."""
        if speed is not None and not is_number(speed):
            raise self.error(f"a speed is a number, got {shown(speed)}")
        if speed is None or speed <= 0:
            return None
        if self.is_for_wings or self.mission.get("vehicleType") in VTOLS:
            return min(float(speed), FASTEST)  # what the vehicle can is known when it flies
        if speed > TOP_SPEED:
            self.warn(f"{speed:g} m/s is too fast for missions here, which fly {TOP_SPEED:g} m/s instead")
        return min(float(speed), TOP_SPEED)

    # -- places ------------------------------------------------------------------------------------------------------

    def above(self, x: float, y: float, z: float, height: float | None = None) -> Place:
        ground = self.ground(x, y)
        if not z > ground:
            place = f"({x:.1f}, {y:.1f}, {z:.1f})"
            raise self.error(f"{place} does not lie above the ground, which is at {ground:.1f} m there")
        return Place(x, y, z, height)

    def point(self, corner: Any) -> Point:
        """From a list of latitude and longitude."""
        if not isinstance(corner, list) or len(corner) < 2 or not all(map(is_number, corner[:2])):
            raise self.error(f"a point is latitude and longitude, got {shown(corner)}")
        x, y, _ = self.local(corner[0], corner[1], self.origin.altitude)
        if hypot(x, y) > FARTHEST:
            far, farthest = hypot(x, y) / 1000, FARTHEST / 1000
            raise self.error(f"lies {far:.0f} km from the world's origin, and only {farthest:g} km are in reach")
        return x, y

    def local(self, latitude: float, longitude: float, altitude: float) -> tuple[float, float, float]:
        for what, angle, most in (("latitude", latitude, 90), ("longitude", longitude, 180)):
            if not -most <= angle <= most:
                raise self.error(f"a {what} lies between −{most}° and {most}°, got {angle:g}")
        o = self.origin
        place = (radians(latitude), radians(longitude), float(altitude))
        x, y, z = geodetic_to_local(*place, radians(o.latitude), radians(o.longitude), float(o.altitude))
        return float(x), float(y), float(z)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"
