"""What systems share that fly the members of a swarm: sensors and radios in, words and velocities out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from airloom.commands import Mode, VelocityYawRate
from airloom.group import Group
from airloom.scenario import ScenarioError
from airloom.swarm.fixes import to_state, unfit
from airloom.swarm.onboard import Onboard
from airloom.system import System
from airloom.systems.selection import chosen, described, unable_to_hover

if TYPE_CHECKING:
    from airloom.radio.packet import Packet
    from airloom.scenario.models import Scenario
    from airloom.simulation import Simulation


class Driven(System):
    rate = 20.0

    @classmethod
    def mistakes(cls, parameters: Any, scenario: Scenario) -> Iterator[tuple[str, str]]:
        if scenario.radio is None:
            what = f"a {cls.__name__.lower()} talks by radio, and the scenario has none: add a line `radio: {{}}`"
            yield "kind", what
        yield from (
            ("kind", f"a {cls.__name__.lower()} {what}") for what in unable_to_hover(scenario, parameters.vehicles)
        )
        for vehicle in described(scenario, parameters.vehicles):
            yield from (("sensor", what) for what in unfit(vehicle, parameters.sensor))

    def _logic_for(self, sim: Simulation, members: list[str], nodes: list[str]) -> Onboard:
        """What the members' computers do."""
        raise NotImplementedError

    def configure(self, sim: Simulation) -> None:
        assert sim.radio is not None, "`mistakes` has looked"
        self._radio = sim.radio
        self._group = chosen(sim, self.name, self.parameters.vehicles)
        if mute := [name for name in self._group.names if name not in self._radio]:
            what = f"{', '.join(mute[:3])} of the {type(self).__name__.lower()} has no radio: see radio.vehicles"
            raise ScenarioError(f"{sim.scenario.name}: systems.{self.name}.vehicles: {what}")

    def reset(self, sim: Simulation) -> None:
        self._vehicles = sorted(self._group, key=lambda vehicle: vehicle.name)
        self._logic = self._logic_for(sim, [vehicle.name for vehicle in self._vehicles], list(self._radio))
        self._stamps = np.full(len(self._vehicles), -1, np.int64)
        self._flown: Group | None = None
        self._flying = np.ones(len(self._vehicles), bool)

    def post_update(self, sim: Simulation) -> None:
        self._look_where_they_are(sim)
        self._listen(sim)
        velocities = self._logic.steer(sim.time_ns)
        # By name, as the loom calls members: packets are counted in the order in which they are sent.
        for node, words in sorted(self._words(sim).items()):
            for word in words:
                self._radio[node].send(word)
        if sim.time >= self.parameters.start:
            self._fly(sim, velocities)

    def _look_where_they_are(self, sim: Simulation) -> None:
        fleet, sensor = sim.fleet, self.parameters.sensor
        here = np.array([fleet.sensor_index.get((vehicle.name, sensor), -1) for vehicle in self._vehicles])
        stamps = np.where(here >= 0, fleet.sensing.stamps[here], -1)  # one that has left is measured no more
        for k in np.flatnonzero((stamps != self._stamps) & (stamps >= 0)).tolist():
            vehicle = self._vehicles[k]
            to = to_state(vehicle.description.sensors[sensor].kind, sim.scenario.world.origin)
            reading = vehicle.reading(sensor)
            self._logic.measured(k, reading.time_ns, to(reading.numbers))
        self._stamps = stamps

    def _listen(self, sim: Simulation) -> None:
        members: list[int] = []
        packets: list[Packet] = []
        for k, vehicle in enumerate(self._vehicles):
            heard = self._radio[vehicle.name].receive()
            packets += heard
            members += [k] * len(heard)
        self._logic.hear(members, packets)

    def _words(self, sim: Simulation) -> dict[str, list[bytes]]:
        """What each node has to say."""
        return {vehicle.name: self._logic.words(k) for k, vehicle in enumerate(self._vehicles)}

    def _fly(self, sim: Simulation, velocities: np.ndarray) -> None:
        """Those that nobody else has taken over or switched off, and that have not come down."""
        stopped = self._logic.stopped
        ours = self._flying & ~stopped
        if self._flown is not None:
            ours &= np.array([vehicle.mode is Mode.VELOCITY_YAWRATE for vehicle in self._vehicles])
        for k in np.flatnonzero(stopped & self._flying):
            self._vehicles[k].kill()
            self._tell_of_stop(sim, self._vehicles[k].name, bool(self._logic.landed[k]))
        if self._flown is None or (ours != self._flying).any():
            self._flying = ours
            self._flown = Group(sim, [self._vehicles[k] for k in np.flatnonzero(ours)])
        self._flown.command(VelocityYawRate(velocities[ours]))

    def _tell_of_stop(self, sim: Simulation, vehicle: str, landed: bool) -> None:
        if landed:
            sim.event(vehicle, "has landed")
        else:
            sim.event(vehicle, f"has fallen out of the {type(self).__name__.lower()}", level="warning")
