"""Plants in rows that a world has: how far apart they stand in a field, and the lines that lie over them."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, radians, sin
from typing import Any

import numpy as np

from airloom.farm.field import Field
from airloom.farm.geojson import shapely
from airloom.scenario.models import World
from airloom.weather.shelter import vine_rows

ASKEW = radians(5.0)  # of a row against the field's rows: more, and it is none of them
SAME = 0.05  # of the rows' distance by which a swath may differ from it for a line to belong to each row


@dataclass(frozen=True)
class Rows:
    places: np.ndarray
    """v of each row in the field, ascending, m"""
    spacing: float
    """from one to the next, m"""

    def has_a_line_each(self, swath: float) -> bool:
        return abs(swath - self.spacing) <= SAME * self.spacing

    def are_skipped(self, swath: float) -> bool:
        return swath > (1.0 + SAME) * self.spacing

    def lines(self, low: float, high: float) -> np.ndarray:
        """v of lines over all rows, and as far apart where the field goes on without any."""
        below = np.arange(self.places[0] - self.spacing, low, -self.spacing)[::-1]
        above = np.arange(self.places[-1] + self.spacing, high, self.spacing)
        return np.concatenate([below, self.places, above])


def rows_in(field: Field, world: World | None, turned: Any) -> Rows | None:
    """The rows of a world that run through a field in its direction; `turned` brings a geometry to their axes."""
    area = turned(field.area)
    rows = [row.path for row in (vine_rows(world) if world else []) if _runs_along(row.path, field.rows)]
    parts = [turned(shapely().LineString(path)).intersection(area) for path in rows]
    places = np.unique([round(part.centroid.y, 3) for part in parts if part.length > 0])
    return Rows(places, float(np.median(np.diff(places)))) if len(places) > 1 else None


def _runs_along(path: list[tuple[float, float]], direction: float) -> bool:
    (ax, ay), (bx, by) = path[0], path[-1]
    return abs(sin(atan2(by - ay, bx - ax) - direction)) < sin(ASKEW)
