"""How much is to be given where: the same everywhere, or by a prescription map, in litres per hectare."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from airloom.farm.field import Field, frame_of, to_local
from airloom.farm.geojson import FarmError, Feature, read_features, shapely
from airloom.reading.rasters import RasterFile
from airloom.scenario.models import Origin
from airloom.terrain.frame import Frame, crs_of
from airloom.terrain.raster import applied

KEYS = ("litres_per_hectare", "rate")
GREATEST = 10_000.0  # L/ha
MOST_PIXELS = 100_000_000


class Rates(Protocol):
    def at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Litres per hectare at places; NaN where nothing is said."""


class Constant:
    def __init__(self, rate: float) -> None:
        self.rate = rate

    def at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.full(np.shape(x), self.rate)


class Zones:
    """Polygons with a rate each; of those that overlap, the last in the file counts."""

    def __init__(self, zones: list[tuple[Any, float]]) -> None:
        self._zones = zones

    def at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        rates = np.full(np.shape(x), np.nan)
        for polygon, rate in self._zones:
            rates[shapely().contains_xy(polygon, x, y)] = rate
        return rates


class Raster:
    """Pixels, each of one rate; the raster's own coordinates are those of the frame."""

    def __init__(self, rates: np.ndarray, transform: Any, frame: Frame) -> None:
        self._rates, self._to_pixels, self._frame = rates, ~transform, frame

    def at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        places = self._frame.survey(x, y, 0.0)
        columns, rows = applied(self._to_pixels, places[:, 0], places[:, 1])
        columns, rows = np.floor(columns), np.floor(rows)
        there = (columns >= 0) & (rows >= 0) & (columns < self._rates.shape[1]) & (rows < self._rates.shape[0])
        found = np.full(len(places), np.nan)
        found[there] = self._rates[rows[there].astype(int), columns[there].astype(int)]
        return found.reshape(np.shape(x))


class OrElse:
    """A rate where another map says nothing."""

    def __init__(self, rates: Rates, rate: float) -> None:
        self._rates, self._rate = rates, rate

    def at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        rates = self._rates.at(x, y)
        return np.where(np.isnan(rates), self._rate, rates)


def read_prescription(file: str | Path, field: Field, elsewhere: float, crs: str | None = None) -> Rates:
    """A prescription map, from a GeoTIFF or a GeoJSON file.

    Args:
        file: a raster with litres per hectare in its first band, or polygons that have it as a property.
        field: that it is for, which it must touch.
        elsewhere: the rate where the map says nothing.
        crs: the file's coordinate system if it names none.
    """
    file = Path(file)
    is_json = file.suffix.lower() in (".geojson", ".json")
    rates = _zones(file, field.origin) if is_json else _raster(file, field.origin, crs)
    x, y = _samples(field)
    if np.isnan(rates.at(x, y)).all():
        raise FarmError(f"{file}: the prescription lies nowhere in the field; look at its coordinate system")
    return OrElse(rates, elsewhere)


def _samples(field: Field) -> tuple[np.ndarray, np.ndarray]:
    """Places all over the field."""
    west, south, east, north = field.area.bounds
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(west, east, 200), np.linspace(south, north, 200)))
    inside = shapely().contains_xy(field.area, x, y)
    return (x[inside], y[inside]) if inside.any() else (np.array([west]), np.array([south]))


def _zones(file: Path, origin: Origin) -> Zones:
    features = read_features(file)
    if not features:
        raise FarmError(f"{file}: there is no zone in it")
    return Zones([(to_local(f.geometry, frame_of(origin, f.crs)), _rate(f)) for f in features])


def _rate(feature: Feature) -> float:
    if feature.kind not in ("Polygon", "MultiPolygon"):
        raise FarmError(f"{feature.where}: a zone must be a polygon, got a {feature.kind}")
    rate = next((rate for key in KEYS if (rate := feature.number(key)) is not None), None)
    if rate is None:
        raise FarmError(f'{feature.where}: a zone needs a property "{KEYS[0]}" or "{KEYS[1]}"')
    _check(np.array([rate]), feature.where)
    return rate


def _raster(file: Path, origin: Origin, crs: str | None) -> Raster:
    data = RasterFile.look_at(file, FarmError)
    rates = data.values([1], MOST_PIXELS)[0]
    if data.crs is None and crs is None:
        raise FarmError(f"{file}: the raster names no coordinate system; give it by --crs, such as --crs EPSG:32632")
    _check(rates[np.isfinite(rates)], str(file))
    known = crs_of(data.crs or crs, str(file))
    return Raster(np.where(np.isfinite(rates), rates, np.nan), data.transform, frame_of(origin, known))


def _check(rates: np.ndarray, where: str) -> None:
    if rates.size and not (rates.min() >= 0 and rates.max() <= GREATEST):
        worst = rates.min() if rates.min() < 0 else rates.max()
        raise FarmError(f"{where}: a rate lies between 0 and {GREATEST:g} litres per hectare, got {worst:g}")
