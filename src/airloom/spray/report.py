"""What became of the liquid, in numbers: balance, swath and evenness, share on target, drift by distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from airloom.spray import drops as at
from airloom.spray.maps import DepositionMap

DISTANCES = (3.0, 5.0, 10.0, 20.0, 50.0)  # m from the target's edge
BLOCK = 1.0  # m: evenness is that of squares of this size, in which enough drops have landed
NARROW = 1.0  # m that the sprayer may leave its line for a swath to be that of one pass
ALLOWED_CV = 0.25
STEP = 0.1  # m between widths of a swath that are tried


def balance(sums: np.ndarray, airborne: float) -> dict[str, float]:
    """Litres by where they are; `error` is what is missing, as a share of all."""
    found = {
        "sprayed": sums[at.SPRAYED], "ground": sums[at.ON_GROUND], "canopy": sums[at.ON_CANOPY],
        "objects": sums[at.ON_OBJECTS], "evaporated": sums[at.EVAPORATED], "out_of_map": sums[at.OUT],
        "airborne": airborne,
    }  # fmt: skip
    kept = sum(found.values()) - found["sprayed"]
    found["error"] = (kept - found["sprayed"]) / max(found["sprayed"], 1e-300) if found["sprayed"] else 0.0
    return {key: float(value) for key, value in found.items()}


# -- one pass ----------------------------------------------------------------------------------------------------------


def across_profile(deposition: DepositionMap, axis: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Places across a direction of flight, m to its left, and what landed there, L for each m."""
    wet = deposition.ground + deposition.canopy
    rows, columns = np.nonzero(wet)
    if not len(rows):
        return np.zeros(0), np.zeros(0)
    aside = deposition.middles(rows, columns) @ np.array([-axis[1], axis[0]])
    first = np.floor(aside.min() / step)
    bins = (np.floor(aside / step) - first).astype(int)
    litres = np.bincount(bins, weights=wet[rows, columns])
    return (first + 0.5 + np.arange(len(litres))) * step, litres / step


def width_at_half(places: np.ndarray, profile: np.ndarray) -> tuple[float, float]:
    """Width of the part that gets at least half of the largest deposit, and its middle, m."""
    wet = places[profile >= 0.5 * profile.max()]
    step = places[1] - places[0] if len(places) > 1 else 0.0
    return float(wet[-1] - wet[0] + step), float(0.5 * (wet[-1] + wet[0]))


def variation(profile: np.ndarray, step: float, width: float) -> float:
    """Coefficient of variation across a field that is flown in one direction in lanes of this width."""
    count = max(round(width / step), 1)
    lanes = np.bincount(np.arange(len(profile)) % count, weights=profile, minlength=count)
    return float(lanes.std() / lanes.mean())


def effective_swath(places: np.ndarray, profile: np.ndarray) -> tuple[float, float]:
    """The widest lane whose coefficient of variation is at most 25 %, or the one with the least; and that coefficient.

    Passes that overlap add up, as ISO 23117-2 and ASAE S341 work out swaths from one pass across collectors.
    """
    step = float(places[1] - places[0])
    widths = np.arange(max(round(0.5 / step), 1), len(profile) + 1) * step
    found = [variation(profile, step, float(width)) for width in widths]
    good = [k for k, value in enumerate(found) if value <= ALLOWED_CV]
    best = good[-1] if good else int(np.argmin(found))
    return float(widths[best]), found[best]


def one_pass(deposition: DepositionMap, axis: np.ndarray, line: float) -> dict[str, Any]:
    """Of a flight along one line: its swath, and how far that lies to the left of the line."""
    places, profile = across_profile(deposition, axis, max(deposition.cell, STEP))
    if len(places) < 3:
        return {}
    width, middle = width_at_half(places, profile)
    effective, cv = effective_swath(places, profile)
    return {"width_at_half": width, "displacement": middle - line, "effective_width": effective, "variation": cv}


# -- target ------------------------------------------------------------------------------------------------------------


def is_inside(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Which of some points are in a polygon (even–odd rule)."""
    inside = np.zeros(len(points), dtype=bool)
    x, y = points.T
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        crosses = (y0 > y) != (y1 > y)
        if y1 != y0:
            inside ^= crosses & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return inside


def nearest_on(polygon: np.ndarray, points: np.ndarray) -> np.ndarray:
    """[n, 2] of the edge of a polygon, nearest to each point."""
    best, nearest = np.full(len(points), np.inf), np.zeros_like(points)
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        along = b - a
        share = np.clip((points - a) @ along / max(float(along @ along), 1e-12), 0.0, 1.0)
        foot = a + share[:, None] * along
        away = np.linalg.norm(points - foot, axis=1)
        nearest[away < best] = foot[away < best]
        best = np.minimum(best, away)
    return nearest


def on_target(deposition: DepositionMap, polygon: np.ndarray, sprayed: float, wind: np.ndarray) -> dict[str, Any]:
    """Share on target, its dose and evenness; what landed at some distances from its edge and beyond.

    `at` a distance is the mean of a strip of 1 m on the downwind side, as a share of the dose: what drift curves give.
    `beyond` is a share of all that was sprayed, on any side.
    """
    rows, columns = np.indices(deposition.ground.shape).reshape(2, -1)
    points, wet = deposition.middles(rows, columns), (deposition.ground + deposition.canopy).ravel()
    inside = is_inside(polygon, points)
    if not inside.any():
        return {}
    dose = float(wet[inside].mean())
    near = ~inside
    near &= (points >= polygon.min(axis=0) - 60.0).all(axis=1) & (points <= polygon.max(axis=0) + 60.0).all(axis=1)
    outward = points[near] - nearest_on(polygon, points[near])
    away = np.linalg.norm(outward, axis=1)
    speed = float(np.linalg.norm(wind[:2]))
    downwind = outward @ wind[:2] > 0.7 * speed * away if speed > 0.1 else np.ones(len(away), dtype=bool)
    far = wet[~inside].sum() - wet[near].sum()
    found: dict[str, Any] = {
        "area": float(inside.sum() * deposition.cell**2),
        "share": float(wet[inside].sum() / max(sprayed, 1e-300)),
        "dose": float(deposition.per_hectare(np.array(dose))),
        "variation": _variation_of_blocks(points[inside], wet[inside]),
        "at": {}, "beyond": {},
    }  # fmt: skip
    for d in DISTANCES:
        strip = wet[near][downwind & (np.abs(away - d) <= 0.5)]
        found["at"][f"{d:g}"] = float(strip.mean() / dose) if len(strip) and dose > 0.0 else None
        found["beyond"][f"{d:g}"] = float((wet[near][away >= d].sum() + far) / max(sprayed, 1e-300))
    return found


def _variation_of_blocks(points: np.ndarray, litres: np.ndarray) -> float:
    blocks = np.unique(np.floor(points / BLOCK).astype(int), axis=0, return_inverse=True)[1].ravel()
    cells = np.bincount(blocks)
    whole = cells >= 0.99 * cells.max()
    means = (np.bincount(blocks, weights=litres) / cells)[whole]
    return float(means.std() / means.mean()) if means.mean() > 0.0 else 0.0


def sentence(found: dict[str, Any]) -> str:
    """The report in a few words, for the terminal."""
    litres = found["litres"]
    if not litres["sprayed"]:
        return "nothing was sprayed"
    names = {"ground": "ground", "canopy": "canopy", "objects": "objects", "evaporated": "evaporated",
             "out_of_map": "out of the map", "airborne": "airborne"}  # fmt: skip
    parts = [f"{name} {litres[key] / litres['sprayed']:.1%}" for key, name in names.items() if litres[key]]
    text = f"{litres['sprayed']:.3g} L sprayed: {', '.join(parts)}"
    if swath := found.get("swath"):
        text += f"; swath {swath['effective_width']:.1f} m, variation {swath['variation']:.0%}"
    if target := found.get("target"):
        text += f"; {target['share']:.1%} on target, {target['dose']:.3g} L/ha, variation {target['variation']:.0%}"
        text += f"; {target['beyond']['10']:.2%} beyond 10 m"
    return text
