"""The ground of a survey: everybody who touches it, looks at it or flies over it finds it in the same place."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np
from matplotlib.figure import Figure

from airloom.scenario.models import World
from airloom.world.ground import ground, ray
from airloom.world.land import Land
from airloom.world.triangulation import triangulate
from validation.case import Outcome, Row, body, case, simulate, the_body

CELLS, CELL = 256, 0.5
SIZE = CELLS * CELL
FINENESS = 0.05  # m, of the mesh that eyes and the studio see


@cache
def rough_heights() -> np.ndarray:
    """Hills of some metres with furrows of some decimetres, made up."""
    x = np.linspace(0.0, SIZE, CELLS + 1)
    hills = 3.0 * np.sin(x / 19.0)[None, :] * np.cos(x / 13.0)[:, None]
    furrows = 0.15 * np.sin(2 * np.pi * (x[None, :] + 0.4 * x[:, None]) / 2.5)
    return (hills + furrows).astype(np.float32)


def with_ground(use):
    """Call `use` with a world whose ground these heights are."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "heights.npy"
        np.save(file, rough_heights())
        return use({"terrain": {"kind": "heightfield", "size": (SIZE, SIZE), "file": str(file)}})


@cache
def land() -> Land:
    def made(world):
        land = Land(World.model_validate(world))
        assert land.grid is not None
        return land

    return with_ground(made)


def mujoco_ground() -> tuple[mujoco.MjModel, mujoco.MjData]:
    """The same heights as MuJoCo's own height field, without any of our code."""
    heights = rough_heights()
    low, span = float(heights.min()), float(np.ptp(heights))
    spec = mujoco.MjSpec()
    spec.add_hfield(
        name="ground", nrow=CELLS + 1, ncol=CELLS + 1, userdata=((heights - low) / span).ravel(),
        size=(SIZE / 2, SIZE / 2, span, 1.0),
    )  # fmt: skip
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", pos=(0, 0, low))
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def rays(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Origins above the ground and directions that meet it, slanted up to 60°."""
    random = np.random.default_rng(5)
    origins = np.column_stack([random.uniform(-45, 45, (count, 2)), random.uniform(5, 15, count)])
    tilt, turn = random.uniform(0.0, np.pi / 3, count), random.uniform(0.0, 2 * np.pi, count)
    return origins, np.column_stack([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), -np.cos(tilt)])


def worst_ray() -> float:
    """The largest difference between our rays and MuJoCo's, m."""
    (model, data), hit, worst = mujoco_ground(), np.zeros(1, np.int32), 0.0
    for origin, direction in zip(*rays(300), strict=True):
        theirs = mujoco.mj_ray(model, data, origin, direction, None, 1, -1, hit)
        worst = max(worst, abs(ray(land().array, *origin, *direction, 100.0) - theirs))
    return worst


def worst_rest(on: str) -> float:
    """How far the lowest corner of a box that has come to rest is from the ground, at the worst of some places, m."""

    def tried(world):
        worst = 0.0
        for x, y in np.random.default_rng(2).uniform(-50, 50, (5, 2)):
            place = (x, y, land().height(x, y) + 0.4)
            sim = simulate(body(pose={"position": place}), on, world=world)
            sim.run(4.0)
            worst = max(worst, abs(sim.fleet.depth_in_ground(sim.fleet.crafts[0])))
            assert the_body(sim).position[2] < place[2]
        return worst

    return with_ground(tried)


def draw_section(figure: Figure) -> None:
    axes, x = figure.subplots(), np.linspace(-10.0, 10.0, 400)
    axes.plot(x, [ground(land().array, each, 3.0)[0] for each in x], "k-", label="ground")
    for each in np.linspace(-9.5, 9.5, 20):
        end = 6.0 - ray(land().array, each, 3.0, 6.0, 0.0, 0.0, -1.0, 50.0)
        axes.plot([each, each], [6.0, end], color="tab:blue", linewidth=0.6)
        axes.plot(each, end, ".", color="tab:blue")
    axes.set(xlabel="east, m", ylabel="height, m")


@case("Ground that all agree on", "MuJoCo's own height field and its rays; the grid itself")
def agreement() -> Outcome:
    """A ground with furrows on a grid of 0.5 m. Our rays meet it where MuJoCo's rays meet the same heights; boxes of
    both engines come to rest on it; and the mesh that eyes and the studio see is nowhere farther from a corner of
    the grid than it was told to be. Contacts are soft: 2 mm are allowed.
    """
    (level,) = triangulate(land().grid, [FINENESS])
    return Outcome(
        [
            Row("slanted rays, worst of 300", worst_ray(), 0.0, 1e-4, "m"),
            Row("a box at rest, worst of 5 places, batch", worst_rest("rk4"), 0.0, 2e-3, "m"),
            Row("a box at rest, worst of 5 places, MuJoCo", worst_rest("mujoco"), 0.0, 2e-3, "m"),
            Row("mesh against the grid, worst corner", level.largest, 0.0, FINENESS, "m"),
        ],
        draw_section,
        "A section of the ground, and rays that look down at it.",
    )
