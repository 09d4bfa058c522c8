"""The air of a world: all layers of its weather, as the compiled loop sees them."""

from __future__ import annotations

import numpy as np

from airloom.basics.clock import ticks_per_period, to_ns
from airloom.scenario import weather as models
from airloom.scenario.models import Scenario
from airloom.scenario.weather import WeatherError
from airloom.sensors.noise import stream_key
from airloom.weather.air import LAYER_WIDTH
from airloom.weather.constant import ConstantLaw, WaveLaw
from airloom.weather.dryden import DrydenLaw
from airloom.weather.field import FieldLaw
from airloom.weather.function import FunctionLaw
from airloom.weather.gust import GustLaw
from airloom.weather.law import Law, Surroundings
from airloom.weather.profile import ProfileLaw
from airloom.weather.shelter import ShelterLaw
from airloom.world.land import Land

LAWS: dict[str, type[Law]] = {
    "constant": ConstantLaw, "wave": WaveLaw, "gust": GustLaw, "dryden": DrydenLaw, "profile": ProfileLaw,
    "shelter": ShelterLaw, "field": FieldLaw, "function": FunctionLaw,
}  # fmt: skip


class Layers:
    """`table` is what `wind_at` works on; its first row is the wind of the world file, which may change in flight."""

    def __init__(self, scenario: Scenario, land: Land) -> None:
        world = scenario.world
        self._layers = world.weather.layers
        self.names = ["world.wind", *(f"world.weather.layers.{name}" for name in world.weather.layers)]
        constant = [layer.velocity for layer in world.weather.layers.values() if isinstance(layer, models.Constant)]
        self._constant, self._wind = np.sum([(0.0, 0.0, 0.0), *constant], axis=0), np.array(world.wind, dtype=float)
        around = Surroundings(world, land, scenario.duration, self._wind + self._constant)
        self.laws: list[Law] = [ConstantLaw(models.Constant(kind="constant", velocity=world.wind), around)]
        for name, layer in zip(self.names[1:], world.weather.layers.values(), strict=True):
            try:
                self.laws.append(LAWS[layer.kind](layer, around))
            except WeatherError as error:
                raise WeatherError(f"{name}: {error}") from None
        self.table = np.zeros((len(self.laws), LAYER_WIDTH), dtype=np.int64)
        for line, law in zip(self.table, self.laws, strict=True):
            line[:] = law.kernel.address, law.numbers.ctypes.data, law.numbers.size
        self.acts_on_density = world.weather.density == "actual"
        self.is_plain = world.weather.is_plain
        """Vehicles keep the wind they have: there is only that of the world file."""
        self.ticks = 0 if self.is_plain else ticks_per_period(world.weather.rate, to_ns(scenario.step))

    def begin(self, seed: int) -> None:
        """The run begins, with the noise of `seed`."""
        self.laws[0].numbers[:] = self._wind
        for name, law in zip(self.names, self.laws, strict=True):
            law.begin(stream_key(seed, "weather", name))

    @property
    def wind(self) -> np.ndarray:
        """Of the world file, or what has been set in its place, m/s."""
        return self.laws[0].numbers.copy()

    def set_wind(self, wind: np.ndarray, time: float) -> None:
        """Replace the wind of the world file from a time on, s."""
        self.laws[0].numbers[:] = wind
        for law in self.laws:
            law.change_mean(wind + self._constant, time)

    def take_over(self, old: Layers) -> None:
        """Go on with the wind that was set in flight, and where layers that are still there had come to."""
        if (old.wind != old._wind).any():
            self.laws[0].numbers[:] = old.wind
        for name, layer in self._layers.items():
            if layer == old._layers.get(name):
                self.law_of(name).take_over(old.law_of(name))

    def law_of(self, name: str) -> Law:
        return self.laws[1 + list(self._layers).index(name)]

    def hash_into(self, digest) -> None:
        """What has been changed since the run began."""
        if not self.is_plain or (self.wind != self._wind).any():
            digest.update(self.wind.tobytes())
            for law in self.laws:
                digest.update(law.state().tobytes())
