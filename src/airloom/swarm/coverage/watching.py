"""How much of an area is covered, by the truth: for the run's summary, verdict and figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from airloom.swarm.coverage.area import Area
from airloom.swarm.coverage.parameters import CoverageParameters
from airloom.swarm.coverage.sight import FREE, UNKNOWN, look

STEPS = (0.5, 0.9, 0.95, 0.99)


class CoverageSeen:
    """What has been seen of an area so far: `watched` is the share in sight now, `seen` the share that ever was."""

    keys: tuple[str, ...] = ("watched", "seen")

    def __init__(self, parameters: CoverageParameters, area: Area) -> None:
        self._p, self._area = parameters, area
        self._first = np.full(area.shape, np.nan)
        """When each cell was seen first, s."""
        self._now = np.zeros(area.shape, np.uint8)
        self._last = np.zeros((0, 2))
        self._reached: dict[str, float] = {}
        self._shares = {"watched": 0.0, "seen": 0.0}

    def look(self, time: float, positions: np.ndarray, flying: np.ndarray) -> tuple[float, float]:
        """From where those are that fly, [member, 3], m; `flying` says which they are."""
        area, blocks = self._area, np.zeros(self._now.size, bool)
        self._now.fill(UNKNOWN)
        self._last = positions[:, :2].copy()
        for place in area.to_cells(self._last):
            look(area.opaque, *place, self._p.radius / area.cell, self._now, blocks)
        self._first[np.isnan(self._first) & (self._now != UNKNOWN)] = time
        open_cells = ~area.opaque
        watched, seen = (self._now == FREE)[open_cells].mean(), np.isfinite(self._first)[open_cells].mean()
        self._shares = {"watched": float(watched), "seen": float(seen)}
        for step in STEPS:
            if self.covered >= step:
                self._reached.setdefault(f"{step:g}", time)
        return float(watched), float(seen)

    @property
    def covered(self) -> float:
        """The share that the law is for."""
        return self._shares[self._p.law.covers]

    def summary(self) -> dict[str, Any]:
        return {"law": self._p.law.kind, "covered": self.covered, **self._shares, "covered_at": self._reached}

    def map(self) -> dict[str, Any]:
        """For the figure."""
        area = self._area
        return {
            "corner": area.corner.tolist(),
            "cell": area.cell,
            "opaque": area.opaque.tolist(),
            "watched": (self._now == FREE).tolist(),
            "first_seen": np.round(self._first, 1).tolist(),
            "members": np.round(self._last, 2).tolist(),
            "radius": self._p.radius,
            "targets": {name: list(place) for name, place in self._p.targets.items()},
        }

    def told(self) -> str:
        return f"{self.covered:.1%} of the area {self._p.law.covers} at the end"

    def complaint(self) -> str | None:
        least = self._p.least_covered
        return f"{least:.1%} are wanted" if least is not None and self.covered < least else None
