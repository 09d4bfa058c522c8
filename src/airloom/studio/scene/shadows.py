"""Shadows as flat shapes on whatever the sunlight meets behind a vehicle or an obstacle.

Maps of the light, as graphics cards make them, would draw everything three times and look into three of them for each
pixel: half of the time of a browser without such a card, and nothing beyond 20 m.
"""

from __future__ import annotations

from math import cos, sin

import numpy as np
from viser.transforms import SO3

from airloom.scenario.models import Obstacle, Vehicle
from airloom.studio.scene.shapes import axes, hubs, tilt
from airloom.world.boundaries import convex_outline
from airloom.world.ground import W_BASE, W_COLUMNS, W_OBSTACLES, W_TRIANGLES, ground, ray
from airloom.world.meshes import Colour, Mesh, annulus, joined, ngon, painted, prism, rectangle

SHADE: Colour = (40, 46, 58)
BODY, DISC, SOLID = 0.42, 0.16, 0.34  # opacities
REACH = 300.0  # m that sunlight is followed
ABOVE = 0.008  # m over the ground
LOWEST_SUN = -0.02  # of the sunlight's way down, with which shadows are still drawn
RINGS = 6  # of an obstacle's shadow, to lie on hills


def vehicle_shadow(vehicle: Vehicle) -> Mesh:
    """Hull, arms and discs of rotors, level about the vehicle's origin."""
    length, width, _ = np.array(vehicle.body.size) * 0.42
    parts = [_flat(rectangle(length, width), BODY).moved([*vehicle.body.position[:2], 0.0])]
    for rotor, hub, axis in zip(vehicle.rotors.values(), hubs(vehicle), axes(vehicle), strict=True):
        middle, upright = np.array([*hub[:2], 0.0]), abs(float(axis[2]))
        if upright > 0.5:
            disc = annulus(0.08 * rotor.radius, rotor.radius, 12, SHADE, (DISC, DISC))
            parts.append(Mesh(disc.vertices, disc.faces[: len(disc.faces) // 2], disc.colours).moved(middle))
        if np.linalg.norm(middle) > 1e-6:
            parts.append(_strip(np.zeros(3), middle, 0.2 * rotor.radius))
    return joined(parts)


def _flat(outline: np.ndarray, opacity: float) -> Mesh:
    n = len(outline)
    fan = np.stack([np.zeros(n - 2, dtype=int), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    return painted(np.column_stack([outline, np.zeros(n)]), fan, SHADE, opacity)


def _strip(start: np.ndarray, end: np.ndarray, width: float) -> Mesh:
    along = (end - start) / np.linalg.norm(end - start)
    aside = 0.5 * width * np.array([-along[1], along[0], 0.0])
    return painted([start - aside, end - aside, end + aside, start + aside], [[0, 1, 2], [0, 2, 3]], SHADE, BODY)


def fallen(world: np.ndarray, positions: np.ndarray, sunlight: np.ndarray) -> np.ndarray:
    """Where the sunlight behind some points meets the ground, an obstacle or a thing; NaN where it meets nothing."""
    points = np.full(positions.shape, np.nan)
    if sunlight[2] > LOWEST_SUN:
        return points
    if world[W_COLUMNS] == world[W_OBSTACLES] == world[W_TRIANGLES] == 0.0:
        distances = (world[W_BASE] - positions[:, 2:]) / sunlight[2]
        return np.where((distances >= 0.0) & (distances < REACH), positions + distances * sunlight, np.nan)
    for k, position in enumerate(positions.astype(float)):
        distance = ray(world, *position, *sunlight, REACH)
        if distance < REACH:
            points[k] = position + distance * sunlight
    return points


def lying(world: np.ndarray, points: np.ndarray, yaws: np.ndarray) -> np.ndarray:
    """The attitudes of shapes that lie on the slope of the ground at some points."""
    turned = SO3.from_z_radians(yaws)
    if world[W_COLUMNS] == 0.0:
        return turned.wxyz
    slopes = np.array([ground(world, *point[:2])[1:] for point in np.nan_to_num(points)]).reshape(-1, 2)
    normals = np.column_stack([-slopes, np.ones(len(slopes))])
    return (tilt(normals / np.linalg.norm(normals, axis=1, keepdims=True)) @ turned).wxyz


def obstacle_shadow(obstacle: Obstacle, world: np.ndarray, sunlight: np.ndarray) -> Mesh:
    """On the ground alone, as fine as to follow hills."""
    corners = _corners(obstacle, sunlight)
    level = ground(world, *obstacle.position[:2])[0]
    drop = np.maximum(corners[:, 2] - level, 0.0) / -sunlight[2]
    outline = convex_outline((corners + drop[:, None] * sunlight)[:, :2])
    middle, n = outline.mean(axis=0), len(outline)
    flat = np.concatenate([middle + share * (outline - middle) for share in np.arange(1, RINGS + 1) / RINGS])
    heights = np.array([ground(world, x, y)[0] + ABOVE for x, y in flat])
    around = np.arange(n)
    after = (around + 1) % n
    faces = [np.stack([around[0] + 0 * around, around, after], axis=1)[1:-1]]
    for ring in range(RINGS - 1):
        a, b = around + ring * n, after + ring * n
        faces += [np.stack([a, a + n, b + n], axis=1), np.stack([a, b + n, b], axis=1)]
    return painted(np.column_stack([flat, heights]), np.concatenate(faces), SHADE, SOLID)


def _corners(obstacle: Obstacle, sunlight: np.ndarray) -> np.ndarray:
    x, y, z = np.array(obstacle.size) / 2
    if obstacle.shape == "sphere":
        aside = np.cross(sunlight, [0.0, 0.0, 1.0])
        aside /= np.linalg.norm(aside)
        circle = ngon(x, 32)
        local = circle[:, :1] * aside + circle[:, 1:] * np.cross(sunlight, aside)
    else:
        solid = prism(ngon(x, 32) if obstacle.shape == "cylinder" else rectangle(2 * x, 2 * y), -z, z, SHADE)
        c, s = cos(obstacle.yaw), sin(obstacle.yaw)
        local = solid.vertices @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    return local + np.array(obstacle.position)
