"""How closely multirotors follow: figure-eights, steps and wind for every bundled one with every tuned controller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, hypot, nan, pi, sin, sqrt, tan
from typing import Any, NamedTuple

import numpy as np

import airloom as al
from airloom.simulation import Simulation

VEHICLES = ("crazyflie2", "x500", "iris", "multirotor", "quad_plus", "hexarotor", "sprayer")
"""Bundled multirotors but the paper's Crazyflie, whose rotor drag tips it over at walking pace."""
PAIRS = (*((vehicle, name) for vehicle in VEHICLES for name in ("modes", "cascade")), ("crazyflie2", "crazyflie"))
TOP_SPEED, MOST_LEAN = 5.0, 0.6  # m/s and rad: what `modes` and `cascade` take a vehicle to if nobody says otherwise
HEIGHT = 20.0  # m
SETTLING = 6.0  # s, at a hover before it begins
COMMANDS = 100  # a second
SETTLED = 0.05  # of a step
AT_LEAST = 0.02  # m, for small steps


class Reference(NamedTuple):
    """Where to be from the start, how fast and how much faster."""

    place: tuple[float, float, float]
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    acceleration: tuple[float, float, float] = (0.0, 0.0, 0.0)


Way = Callable[[float], Reference]


def eight(size: tuple[float, float], period: float) -> Way:
    """Gerono's lemniscate, so many metres east and north."""
    a, b, w = size[0] / 2, size[1] / 2, 2 * pi / period

    def at(t: float) -> Reference:
        return Reference(
            (a * sin(w * t), b * sin(2 * w * t), 0.0),
            (a * w * cos(w * t), 2 * b * w * cos(2 * w * t), 0.0),
            (-a * w * w * sin(w * t), -4 * b * w * w * sin(2 * w * t), 0.0),
        )

    return at


def fast_eight(share: float) -> Way:
    """The one that takes this share of the top speed (√2 a w in the middle) and of the acceleration at the most lean
    (2.06 a w² at its greatest).
    """
    speed, acceleration = share * TOP_SPEED / sqrt(2), share * 9.80665 * tan(MOST_LEAN) / 2.06
    w = acceleration / speed
    return eight((2 * speed / w, speed / w), 2 * pi / w)


def step(size: float) -> Way:
    return lambda t: Reference((size, 0.0, 0.0))


@dataclass(frozen=True)
class Flown:
    """Of one vehicle: times, errors (m), places from its start (m) and leans (rad)."""

    vehicle: str
    controller: str
    times: np.ndarray
    errors: np.ndarray
    places: np.ndarray
    leans: np.ndarray

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def most(self) -> float:
        return float(self.errors.max())

    @property
    def height_error(self) -> float:
        return float(np.abs(self.places[:, 2]).max())

    @property
    def leans_all_it_may(self) -> bool:
        """For a tenth of the time or more: then it is the lean that decides how well it follows."""
        return float(np.mean(self.leans > 0.95 * MOST_LEAN)) >= 0.1

    def overshoot(self, size: float) -> float:
        """As a part of the step."""
        return max(float(self.places[:, 0].max()) / size - 1.0, 0.0)

    def settled_after(self, size: float) -> float:
        """Until it is within 5 % of the step, or 2 cm, for good, s; nan if never."""
        late = self.times[self.errors > max(SETTLED * size, AT_LEAST)]
        return nan if late.size and late[-1] == self.times[-1] else float(late.max(initial=0.0))


def fleet(pairs: Sequence[tuple[str, str]], **changes: Any) -> Simulation:
    vehicles = {
        f"{vehicle}__{controller}": {
            "extends": vehicle, "controller": controller,
            "pose": {"position": [0, 100 * k, HEIGHT], "roll": 0, "pitch": 0, "yaw": 0}, **changes,
        }
        for k, (vehicle, controller) in enumerate(pairs)
    }  # fmt: skip
    overrides = {"vehicles": {"cf": None, **vehicles}, "systems": {}, "engine": "batch", "world": "empty"}
    return Simulation.load("hover", overrides=overrides)


def fly(
    sim: Simulation, way: Way, seconds: float, wind: tuple[float, float, float] = (0.0, 0.0, 0.0), skip: float = 0.0
) -> list[Flown]:
    """All vehicles the same way from a hover in this wind; what they do in the first seconds may be left out."""
    group = list(sim.vehicles.values())
    homes = [np.array([*vehicle.position[:2], HEIGHT]) for vehicle in group]
    for vehicle, home in zip(group, homes, strict=True):
        vehicle.set_wind(wind)
        vehicle.command(al.PositionYaw(tuple(home)))
    begin = sim.time + SETTLING
    sim.run(until=begin)
    times, wanted, places, leans = [], [], [], []
    while sim.time < begin + seconds - 1e-9:
        now = way(sim.time - begin)
        for vehicle, home in zip(group, homes, strict=True):
            vehicle.command(al.PositionYaw(tuple(home + now.place), 0.0, now.velocity, now.acceleration))
        sim.run(until=sim.time + 1 / COMMANDS)
        times.append(sim.time - begin)
        wanted.append(way(times[-1]).place)
        places.append([vehicle.position - home for vehicle, home in zip(group, homes, strict=True)])
        leans.append([2 * np.arcsin(min(hypot(*vehicle.attitude[1:3]), 1.0)) for vehicle in group])
    kept = np.array(times) > skip
    at, all_places, all_leans = np.array(times)[kept], np.array(places)[kept], np.array(leans)[kept]
    errors = np.linalg.norm(all_places - np.array(wanted)[kept][:, None], axis=2)
    return [
        Flown(*vehicle.name.split("__"), at, errors[:, k], all_places[:, k], all_leans[:, k])
        for k, vehicle in enumerate(group)
    ]


def crazyflie_eight(controller: str, wind: float = 0.0, estimator: str = "ideal") -> Flown:
    """The figure-eight of 2 × 1 m in 5 s, two laps of it after the first; it takes off from the ground, for an
    estimator that must know its gyroscope's offset.
    """
    start = {"pose": {"position": [0, 0, 0.015], "roll": 0, "pitch": 0, "yaw": 0}, "estimator": estimator}
    sim = fleet([("crazyflie2", controller)], **start)
    sim.run(until=5.0)
    sim.vehicles[f"crazyflie2__{controller}"].command(al.PositionYaw((0, 0, HEIGHT)))
    sim.run(until=35.0)
    return fly(sim, eight((2.0, 1.0), 5.0), 15.0, (wind, 0.0, 0.0), skip=5.0)[0]
