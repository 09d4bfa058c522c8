"""The light of a world's day: how the sun, the sky and the haze look, from where the sun stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from airloom.scenario.models import World
from airloom.world.sun import sun_angles, sun_direction

ZENITH, HIGH, LOW, HAZE = (28, 84, 172), (66, 136, 216), (132, 186, 238), (206, 224, 240)
DUSK_HIGH, DUSK_LOW, DUSK_HAZE = (92, 118, 168), (206, 158, 128), (226, 184, 148)
NOON, EVENING = (255, 244, 226), (255, 176, 108)
SKY_TINT = np.array([0.95, 1.0, 1.06])  # of the light that comes from all of the sky
NIGHT = 0.05  # of the light of day that is left, so that something is seen
HAZE_BEGINS = 0.045  # of the distance at which nothing is seen any more
SUN_ON_GROUND, SKY_ON_GROUND = 0.72, 0.48  # level ground in the usual sun has its own colour


@dataclass(frozen=True)
class Daylight:
    """Colours are sRGB, 0 … 255."""

    sun: np.ndarray
    """Unit vector to it."""
    sun_colour: np.ndarray
    sun_strength: float
    """0 … 1 for a clear day's, more for a brighter one."""
    day: float
    """1 by day, `NIGHT` by night."""
    sky: dict[float, np.ndarray]
    """Colours by elevation, degrees."""
    haze: np.ndarray
    haze_from: float
    haze_to: float

    @property
    def sunlight(self) -> np.ndarray:
        """The way it goes."""
        return -self.sun

    @property
    def casts_shadows(self) -> bool:
        return bool(self.sun[2] > 0.02)

    def falling_on(self, normals: np.ndarray, shade: np.ndarray) -> np.ndarray:
        """Red, green and blue of the light on surfaces [place, rgb], as shares; `shade` is the share without sun."""
        facing = np.maximum(normals @ self.sun, 0.0) * (1.0 - shade) * self.sun_strength * SUN_ON_GROUND
        sky = SKY_ON_GROUND * self.day * (0.78 + 0.22 * normals[..., 2])
        return sky[..., None] * SKY_TINT + facing[..., None] * self.sun_colour / np.mean(NOON)


def daylight(world: World) -> Daylight:
    light, (_, elevation) = world.light, sun_angles(world)
    day = NIGHT + (1.0 - NIGHT) * _rise(elevation, -7.0, 9.0)
    low = 1.0 - _rise(elevation, 3.0, 24.0)
    zenith = np.array(light.sky or ZENITH, dtype=float)
    high = _between(np.array(HIGH), DUSK_HIGH, low) if light.sky is None else _between(zenith, (255, 255, 255), 0.15)
    pale = _between(np.array(LOW), DUSK_LOW, low) if light.sky is None else _between(zenith, (255, 255, 255), 0.4)
    usual = _between(np.array(HAZE), DUSK_HAZE, low) if light.sky is None else _between(zenith, (255, 255, 255), 0.65)
    haze = day * np.array(light.fog.colour if light.fog.colour is not None else usual, dtype=float)
    return Daylight(
        sun=sun_direction(world),
        sun_colour=_between(np.array(NOON), EVENING, low),
        sun_strength=light.brightness * _rise(elevation, -1.0, 12.0),
        day=day,
        sky={90.0: day * zenith * (1.0 - 0.25 * low), 28.0: day * high, 6.0: day * pale, 0.0: haze},
        haze=haze,
        haze_from=HAZE_BEGINS * light.fog.distance,
        haze_to=light.fog.distance,
    )


def _rise(x: float, start: float, end: float) -> float:
    share = min(max((x - start) / (end - start), 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def _between(one: np.ndarray, other, share: float) -> np.ndarray:
    return one + share * (np.asarray(other, dtype=float) - one)
