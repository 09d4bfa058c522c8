"""Fields as GeoJSON, drawn in metres east and north of an origin; and a stand-in for a tank."""

from __future__ import annotations

import json

import numpy as np

from airloom.scenario.models import Origin
from airloom.world.geodesy import local_to_geodetic

HERE = Origin()
RECTANGLE = [(-50, -20), (50, -20), (50, 20), (-50, 20)]


def position(x, y, origin=HERE):
    place = np.radians(origin.latitude), np.radians(origin.longitude), float(origin.altitude)
    latitude, longitude, _ = local_to_geodetic(float(x), float(y), 0.0, *place)
    return [float(np.degrees(longitude)), float(np.degrees(latitude))]


def ring(corners, origin=HERE):
    return [position(x, y, origin) for x, y in [*corners, corners[0]]]


def polygon(*rings, origin=HERE, **properties):
    coordinates = [ring(corners, origin) for corners in rings]
    return {
        "type": "Feature", "properties": properties, "geometry": {"type": "Polygon", "coordinates": coordinates},
    }  # fmt: skip


def line(*points):
    coordinates = [position(x, y) for x, y in points]
    return {"type": "Feature", "properties": {}, "geometry": {"type": "LineString", "coordinates": coordinates}}


def point(x, y):
    return {"type": "Feature", "properties": {}, "geometry": {"type": "Point", "coordinates": position(x, y)}}


def write(file, *features, **more):
    file.write_text(json.dumps({"type": "FeatureCollection", "features": list(features), **more}))
    return file


class StandInTank:
    """What the contract of a tank says, with a pure delay from command to flow. `told` has the times of commands."""

    max_flow = 12.0

    def __init__(self, vehicle, capacity, lag):
        self.vehicle, self.capacity, self.lag = vehicle, capacity, lag
        self.told = [(0.0, 0.0)]
        self.edges = []
        """Where the vehicle was when liquid began to flow, or ceased, and what flows then."""
        self._filled = 0.0
        self._begun = capacity

    @property
    def sim(self):
        return self.vehicle._sim

    def command(self, flow):
        before = self.told[-1][1]
        if flow == before:
            return
        self.told.append((self.sim.time, flow))
        if (flow == 0.0) != (before == 0.0):
            self.sim.call_at(self.sim.time + self.lag, lambda: self._note(flow))

    def _note(self, flow):
        self.edges.append((self.vehicle.position.copy(), flow))

    def _used(self, until):
        ends = [*(t + self.lag for t, _ in self.told[1:]), until]
        spans = zip(self.told, ends, strict=True)
        return sum(q * max(min(end, until) - max(t + self.lag, self._filled), 0.0) / 60.0 for (t, q), end in spans)

    @property
    def litres(self):
        return max(self._begun - self._used(self.sim.time), 0.0)

    def refill(self, litres=None):
        self._begun, self._filled = self.capacity, self.sim.time


def give_tanks(monkeypatch, capacity=10.0, lag=0.3):
    """Each vehicle of this process has one."""
    from airloom.vehicle import Vehicle

    def tank(vehicle):
        if "_stand_in" not in vehicle.__dict__:
            vehicle._stand_in = StandInTank(vehicle, capacity, lag)
        return vehicle._stand_in

    monkeypatch.setattr(Vehicle, "tank", property(tank), raising=False)
