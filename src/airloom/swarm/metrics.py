"""How well a swarm holds together, by the definitions of the simulator of Vásárhelyi et al. 2018 (robotsim).

Members are in one *cluster* if a chain of members leads from one to the other, each nearer to the next than a range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from airloom.swarm.surroundings import Arena

STILL = 1e-9  # m/s; who is slower flies in no direction


class Metrics(NamedTuple):
    """A swarm at one time."""

    order: float
    """Mean cosine of the angle between the velocities of two members of one cluster, over all pairs: 1 if all fly
    alike, NaN if nobody is in a cluster with others."""
    clusters: int
    """Of two members or more."""
    largest: int
    """Members of the largest cluster."""
    smallest: int
    """Members of the smallest, 1 if somebody is alone."""
    alone: int
    """Members in no cluster."""
    too_near: int
    """Pairs nearer than the collision radius."""
    nearest: float
    """Distance of the nearest pair, m."""
    speed: float
    """Mean, m/s."""
    outside: int
    """Members that have left the arena."""
    astray: float
    """How far those have left it, mean, m."""


def measure(
    positions: np.ndarray, velocities: np.ndarray, reach: float, collision_radius: float, arena: Arena | None = None
) -> Metrics:
    """Positions [member, 3], m, and velocities [member, 3], m/s."""
    distances = distances_between(positions)
    pairs = distances[np.triu(np.ones_like(distances, bool), 1)]
    labels = clusters(distances < reach)
    sizes = np.bincount(labels)
    out = beyond(positions, arena)
    return Metrics(
        order=order(velocities, labels),
        clusters=int((sizes > 1).sum()),
        largest=int(sizes.max(initial=0)),
        smallest=int(sizes.min()) if len(sizes) else 0,
        alone=int((sizes == 1).sum()),
        too_near=int((pairs <= collision_radius).sum()),
        nearest=float(pairs.min(initial=np.inf)),
        speed=float(np.linalg.norm(velocities, axis=1).mean()) if len(velocities) else 0.0,
        outside=int((out > 0.0).sum()),
        astray=float(out[out > 0.0].mean()) if (out > 0.0).any() else 0.0,
    )


def distances_between(positions: np.ndarray) -> np.ndarray:
    """Of each two: [member, member], m."""
    apart = positions[:, None] - positions[None, :]
    return np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))


def clusters(linked: np.ndarray) -> np.ndarray:
    """The cluster of each member, counted from 0, from who is linked with whom, [member, member]."""
    labels = np.full(len(linked), -1)
    count = 0
    for first in range(len(linked)):
        if labels[first] >= 0:
            continue
        found = np.zeros(len(linked), bool)
        edge = found.copy()
        edge[first] = True
        while edge.any():
            found |= edge
            edge = linked[edge].any(axis=0) & ~found
        labels[found] = count
        count += 1
    return labels


def order(velocities: np.ndarray, labels: np.ndarray) -> float:
    """Mean over all pairs i ≠ j of one cluster of v_i·v_j / (|v_i| |v_j|)."""
    speeds = np.linalg.norm(velocities, axis=1, keepdims=True)
    directions = np.where(speeds > STILL, velocities / np.maximum(speeds, STILL), 0.0)
    together = labels[:, None] == labels[None, :]
    np.fill_diagonal(together, False)
    return float((directions @ directions.T)[together].mean()) if together.any() else float("nan")


def beyond(positions: np.ndarray, arena: Arena | None) -> np.ndarray:
    """How far each is outside the arena, m; 0 inside."""
    if arena is None:
        return np.zeros(len(positions))
    apart = np.abs(positions[:, :2] - arena.center)
    if arena.shape == "square":
        return np.linalg.norm(np.maximum(apart - arena.radius, 0.0), axis=1)
    return np.maximum(np.linalg.norm(apart, axis=1) - arena.radius, 0.0)


def closest_approaches(positions: np.ndarray, velocities: np.ndarray, within: float) -> np.ndarray:
    """How near two will have come within a time, s, if all fly on as they do: [member, member], m."""
    apart = positions[:, None] - positions[None, :]
    closing = velocities[:, None] - velocities[None, :]
    square = np.maximum((closing * closing).sum(axis=2), 1e-12)
    when = np.clip(-(apart * closing).sum(axis=2) / square, 0.0, within)
    approaches = np.linalg.norm(apart + when[..., None] * closing, axis=2)
    np.fill_diagonal(approaches, np.inf)
    return approaches
