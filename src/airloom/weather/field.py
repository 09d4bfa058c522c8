"""Wind on a grid, from a file."""

from __future__ import annotations

from math import floor, inf, nan

import numpy as np

from airloom.compiled import compiled, singles_at
from airloom.scenario import weather as models
from airloom.scenario.weather import WeatherError
from airloom.weather.air import wind_law
from airloom.weather.field_file import read_field
from airloom.weather.law import Law, Surroundings

REFUSE, HOLD, REPEAT = range(3)
AT_END = {"refuse": REFUSE, "hold": HOLD, "repeat": REPEAT}
# Numbers of the layer: what happens at the end, whether heights are above the ground, where the wind is as float32
# [time, z, y, x, component], and how many of each; then the axes themselves: times, z, y, x.
RULE, ABOVE_GROUND, DATA, TIMES, ROWS_Z, ROWS_Y, ROWS_X, AXES = range(8)


@compiled
def _place(p, first, count, value):
    """Where on an axis a value is: the entry before it, and the share of the way to the next; ends are held."""
    if count == 1 or value <= p[first]:
        return 0, 0.0
    if value >= p[first + count - 1]:
        return count - 2, 1.0
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if value >= p[first + middle]:
            low = middle
        else:
            high = middle
    return low, (value - p[first + low]) / (p[first + low + 1] - p[first + low])


@compiled
def _time(p, t):
    """The time of the file; no number if it has not begun, or is over."""
    first, last = p[AXES], p[AXES + int(p[TIMES]) - 1]
    if first <= t <= last or last == first or p[RULE] == HOLD:
        return t
    return first + (t - first) - (last - first) * floor((t - first) / (last - first)) if p[RULE] == REPEAT else nan


@wind_law
def blow_as_in_file(t, x, y, z, h, p, v):
    """Linear between the corners of the grid in x, y, z and time, beyond its sides as at them."""
    times, in_z, in_y, in_x = int(p[TIMES]), int(p[ROWS_Z]), int(p[ROWS_Y]), int(p[ROWS_X])
    t = _time(p, t)
    if t != t:
        v[0] = nan
        return
    data = singles_at(int(p[DATA]), times * in_z * in_y * in_x * 3)
    axis = AXES
    a, share_t = _place(p, axis, times, t)
    axis += times
    b, share_z = _place(p, axis, in_z, h if p[ABOVE_GROUND] != 0.0 else z)
    axis += in_z
    c, share_y = _place(p, axis, in_y, y)
    d, share_x = _place(p, axis + in_y, in_x, x)
    for corner in range(16):
        i, j, k, m = corner & 1, corner >> 1 & 1, corner >> 2 & 1, corner >> 3
        weight = (share_t if i else 1.0 - share_t) * (share_z if j else 1.0 - share_z)
        weight *= (share_y if k else 1.0 - share_y) * (share_x if m else 1.0 - share_x)
        if weight == 0.0:
            continue
        at = 3 * (((a + i) * in_z + b + j) * in_y * in_x + (c + k) * in_x + d + m)
        v[0] += weight * data[at]
        v[1] += weight * data[at + 1]
        v[2] += weight * data[at + 2]


class FieldLaw(Law):
    kernel = blow_as_in_file

    def __init__(self, layer: models.FieldOfWind, around: Surroundings) -> None:
        self._file, field = layer.file, read_field(layer.file)
        changes = len(field.time) > 1
        begin, self._end = (float(field.time[0]) if changes else -inf), (float(field.time[-1]) if changes else inf)
        if layer.at_end == "refuse" and begin > 0.0:
            raise WeatherError(
                f"{layer.file} begins at {begin:g} s, after the run; let its time begin at 0, or say at_end: hold or "
                "at_end: repeat"
            )
        if layer.at_end == "refuse" and self._end < around.duration:
            raise WeatherError(
                f"{layer.file} ends at {self._end:g} s, before the run at {around.duration:g} s; shorten the run's "
                "duration, or say at_end: hold or at_end: repeat"
            )
        self._wind = field.wind
        header = [AT_END[layer.at_end], layer.heights == "above ground", self._wind.ctypes.data, *self._wind.shape[:4]]
        self.numbers = np.concatenate([np.array(header, dtype=float), field.time, field.z, field.y, field.x])

    def why_not(self, time: float, position: tuple[float, float, float]) -> str:
        return f"{self._file} ends at {self._end:g} s; say at_end: hold or at_end: repeat to fly on"
