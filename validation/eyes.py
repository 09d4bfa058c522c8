"""Eyes: depth against closed forms and against MuJoCo's own rays, noise against its formula."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from airloom.simulation import Simulation
from validation.case import Outcome, Row, body, case, simulate
from validation.sensors import SOLIDS, rough_ground

ODOMETRY = {"kind": "odometry", "rate": 125}
CAMERA = {"kind": "depth_camera", "rate": 10, "width": 201, "height": 151, "field_of_view": 1.4, "max_distance": 60.0}
LIDAR = {
    "kind": "lidar", "rate": 10, "min_distance": 0.0, "max_distance": 60.0,
    "pattern": {"kind": "spinning", "beams": 8, "lowest": -1.2, "highest": 0.2, "columns": 25},
}  # fmt: skip


def seeing(eye: dict[str, Any], world: dict[str, Any], position: tuple) -> Simulation:
    """A body at a place, at rest, and its eye."""
    sensors = {"odometry": ODOMETRY, "eye": eye}
    return simulate(body(pose={"position": position}, sensors=sensors), world={"gravity": 0.0, **world})


def frame_of(sim: Simulation) -> Any:
    eye = sim.vehicles["body"].eye("eye")
    sim.first_look()
    return eye.frame


def pixels() -> tuple[np.ndarray, np.ndarray]:
    """Tangents of the pixels' angles: to the right, and down."""
    focal = 100.5 / np.tan(0.7)
    return np.meshgrid((np.arange(201) - 100) / focal, (np.arange(151) - 75) / focal)


def plane_gap() -> float:
    depth = frame_of(seeing(CAMERA, {}, (0.0, 0.0, 2.0))).depth
    _, down = pixels()
    true = np.where(down > 2.0 / 60.0, 2.0 / np.maximum(down, 1e-9), np.inf)
    assert np.array_equal(np.isfinite(depth), np.isfinite(true))
    seen = np.isfinite(true)
    return float(np.abs(depth[seen] - true[seen]).max())


def box_gap() -> float:
    """A box that fills the view, its near face turned by 0.3 rad."""
    box = {"shape": "box", "size": (2.0, 300.0, 300.0), "position": (20.0, 0.0, 150.0), "yaw": 0.3}
    depth = frame_of(seeing(CAMERA, {"obstacles": {"box": box}}, (0.0, 0.0, 150.0))).depth
    right, _ = pixels()
    true = (20.0 * np.cos(0.3) - 1.0) / (np.cos(0.3) - right * np.sin(0.3))
    seen = (true > 0) & (true < 50.0)
    return float(np.abs(depth - true)[seen].max())


def ball_gap() -> float:
    """A ball of 2 m, 6 m ahead, where the ray meets it at more than 30°."""
    ball = {"shape": "sphere", "size": (2.0, 2.0, 2.0), "position": (6.0, 0.0, 30.0)}
    depth = frame_of(seeing(CAMERA, {"obstacles": {"ball": ball}}, (0.0, 0.0, 30.0))).depth
    right, down = pixels()
    square = 1.0 + right**2 + down**2  # |d|² of a ray with a depth of 1
    inside = 36.0 - square * 35.0
    seen = inside > 0.25 * square  # half of the radius squared, times |d|²
    true = (6.0 - np.sqrt(np.maximum(inside, 0.0))) / square
    return float(np.abs(depth - true)[seen].max())


def in_mujoco(sim: Simulation) -> mujoco.MjModel:
    """The ground and the obstacles of a simulation, whole: its own model has the ground under the vehicle only."""
    spec, land = mujoco.MjSpec(), sim.fleet.land
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1), pos=(0, 0, land.base))
    if (grid := land.grid) is not None:
        (east, north), (dx, dy), span = grid.size, grid.cell, grid.high - grid.low
        heights = np.pad((grid.heights - grid.low) / span, 1)  # beyond its edge it falls to its lowest height
        rows, columns = heights.shape
        spec.add_hfield(
            name="ground", nrow=rows, ncol=columns, size=(east / 2 + dx, north / 2 + dy, span, 1.0),
            userdata=heights.ravel(),
        )  # fmt: skip
        middle = (grid.corner[0] + east / 2, grid.corner[1] + north / 2, grid.low)
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", pos=middle)
    for obstacle in sim.scenario.world.obstacles.values():
        x, y, z = np.array(obstacle.size) / 2
        shape, size = {
            "box": (mujoco.mjtGeom.mjGEOM_BOX, (x, y, z)),
            "cylinder": (mujoco.mjtGeom.mjGEOM_CYLINDER, (x, z, 0)),
            "sphere": (mujoco.mjtGeom.mjGEOM_SPHERE, (x, 0, 0)),
        }[obstacle.shape]
        turn = (np.cos(obstacle.yaw / 2), 0.0, 0.0, np.sin(obstacle.yaw / 2))
        spec.worldbody.add_geom(type=shape, size=size, pos=obstacle.position, quat=turn)
    return spec.compile()


def gaps_to_mujoco(world: dict[str, Any]) -> np.ndarray:
    """Distances of a lidar at 20 random places minus MuJoCo's, up to 60 m."""
    random, gaps = np.random.default_rng(7), []
    sim = seeing(LIDAR, world, (0.0, 0.0, 9.0))
    model, hit = in_mujoco(sim), np.zeros(1, np.int32)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for x, y in random.uniform(-25, 25, (20, 2)):
        sim.reset()
        sim.vehicles["body"].place((x, y, 9.0))
        frame = frame_of(sim)
        for direction, ours in zip(frame.directions.astype(float), frame.distances, strict=True):
            theirs = mujoco.mj_ray(model, data, frame.position, frame.rotation @ direction, None, 1, -1, hit)
            gaps.append(min(float(ours), 60.0) - (theirs if 0.0 <= theirs <= 60.0 else 60.0))
    return np.abs(gaps)


def noise_ratio() -> float:
    """σ of a wall's depth at 12 m over a + b d²."""
    wall = {"shape": "box", "size": (1.0, 200.0, 200.0), "position": (12.5, 0.0, 0.0)}
    eye = {**CAMERA, "distance_errors": {"noise": 0.01, "growth": 0.001}}
    depth = frame_of(seeing(eye, {"obstacles": {"wall": wall}}, (0.0, 0.0, 90.0))).depth
    return float(depth.std() / (0.01 + 0.001 * 12.0**2))


@case("What eyes see", "Closed forms; `mj_ray` of MuJoCo 3.x/4.x")
def eyes() -> Outcome:
    """Depth cameras and lidars cast their rays with Embree, in single precision, at triangles. A plane and a box must
    have the depth that geometry gives them. A ball is a mesh whose sides lie up to 1 mm inside it. 4000 beams each on
    rough ground and among obstacles are compared with MuJoCo's `mj_ray`; beams that pass an edge closely may meet it
    for one and miss it for the other, so there it is the share that counts. Noise has σ = a + b d².
    """
    rough, solid = gaps_to_mujoco({"terrain": rough_ground()}), gaps_to_mujoco({"obstacles": SOLIDS})
    return Outcome(
        [
            Row("depth of a plane to 60 m, largest error", plane_gap(), 0.0, 1e-3, "m"),
            Row("depth of a turned box, largest error", box_gap(), 0.0, 1e-3, "m"),
            Row("depth of a ball, largest error", ball_gap(), 0.0, 3e-3, "m"),
            Row("beams on rough ground, 99 % within", float(np.quantile(rough, 0.99)), 0.0, 1e-3, "m"),
            Row("beams on rough ground that differ by a centimetre", float(np.mean(rough > 0.01)), 0.0, 2e-3),
            Row("beams among obstacles, 99 % within", float(np.quantile(solid, 0.99)), 0.0, 5e-3, "m"),
            Row("beams among obstacles that differ by 5 cm", float(np.mean(solid > 0.05)), 0.0, 2e-3),
            Row("noise over its formula", noise_ratio(), 1.0, 0.02),
        ]
    )
