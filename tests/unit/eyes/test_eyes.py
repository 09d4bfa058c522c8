"""Eyes: what they see, when they tell it, what goes wrong with them, and what they cost when nobody looks."""

from __future__ import annotations

from math import inf, pi, tan
from typing import Any

import numpy as np
import pytest
from validation.case import body

from airloom.scenario import models
from airloom.scenario.models import Scenario
from airloom.simulation import Simulation
from airloom.world.meshes import ngon, prism
from airloom.world.things import Thing

pytest.importorskip("embreex")

DEPTH = {"kind": "depth_camera", "rate": 10, "width": 65, "height": 49, "field_of_view": 1.2, "max_distance": 50.0}
LIDAR = {
    "kind": "lidar",
    "rate": 10,
    "pattern": {"kind": "spinning", "beams": 4, "columns": 90, "lowest": -0.5, "highest": 0.1},
}
NOISY = {"distance_errors": {"noise": 0.01, "growth": 0.001, "dropout": 0.1}}
NS = 1_000_000_000


def vehicle(position=(0, 0, 2), velocity=(0.0, 0.0, 0.0), **sensors: Any) -> dict[str, Any]:
    sensors["odometry"] = {"kind": "odometry", "rate": 125}
    return body(pose={"position": position}, motion={"velocity": velocity}, sensors=sensors)


def watching(
    eye: dict[str, Any], world: dict[str, Any] | None = None, velocity=(0.0, 0.0, 0.0), **more: Any
) -> Simulation:
    """A body at a height of 2 m that looks east and falls not."""
    fields = {"name": "eyes", "engine": {"kind": "batch"}, "world": {"gravity": 0.0, **(world or {})}, **more}
    return Simulation(Scenario.model_validate({**fields, "vehicles": {"body": vehicle(velocity=velocity, eye=eye)}}))


def with_another(sim: Simulation, other: dict[str, Any]) -> Scenario:
    return sim.scenario.model_copy(
        update={"vehicles": {**sim.scenario.vehicles, "other": models.Vehicle.model_validate(other)}}
    )


def frame_of(sim: Simulation) -> Any:
    eye = sim.vehicles["body"].eye("eye")
    sim.first_look()
    return eye.frame


def messages_of(sim: Simulation, topic: str, until: float) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    sim.bus.subscribe(f"/body/eye/{topic}", lambda topic, message, time_ns: found.append((time_ns, message)))
    sim.run(until=until)
    return found


# -- what is seen ------------------------------------------------------------------------------------------------------


def test_a_wall_has_one_depth_and_the_ground_grows_farther_row_by_row():
    wall = {"shape": "box", "size": (1.0, 40.0, 4.0), "position": (8.5, 0.0, 2.0)}
    depth = frame_of(watching(DEPTH, {"obstacles": {"wall": wall}})).depth
    assert depth.shape == (49, 65)
    assert depth.dtype == np.float32
    focal = 32.5 / tan(0.6)
    top, bottom = 24 - focal * 2.0 / 8.0, 24 + focal * 2.0 / 8.0  # rows where the wall ends
    for row in range(49):
        expected = inf if row < top else 8.0 if row < bottom else 2.0 * focal / (row - 24)
        assert depth[row] == pytest.approx(expected, abs=1e-5), row


def test_a_ball_is_seen_at_the_pixel_where_it_is():
    """Left of the axis and above it, so on the left and the upper side of the picture."""
    ball = {"shape": "sphere", "size": (1.0, 1.0, 1.0), "position": (6.0, 1.5, 3.0)}
    depth = frame_of(watching({**DEPTH, "max_distance": 7.0}, {"obstacles": {"ball": ball}})).depth
    rows, columns = np.nonzero(np.isfinite(depth[:24]))
    focal = 32.5 / tan(0.6)
    assert rows.mean() == pytest.approx(24 - focal / 6.0, abs=0.3)
    assert columns.mean() == pytest.approx(32 - 1.5 * focal / 6.0, abs=0.3)
    assert depth[round(rows.mean()), round(columns.mean())] == pytest.approx(5.5, abs=0.02)


def test_a_thing_that_stands_there_is_seen():
    sim = watching(DEPTH)
    trunk = prism(ngon(0.3, 12), 0.0, 5.0, (90, 60, 40)).moved((7.0, 0.0, 0.0))
    sim.fleet.land.things = [Thing("oak", "tree", trunk)]
    depth = frame_of(sim).depth
    assert depth[24, 32] == pytest.approx(6.7, abs=0.02)
    assert np.isinf(depth[24, 20])


def test_another_vehicle_is_seen_and_moves_and_the_own_one_is_not():
    sim = Simulation(with_another(watching(DEPTH), vehicle((5, 0, 2), (1.0, 0, 0))))
    half = 0.15
    assert frame_of(sim).depth[24, 32] == pytest.approx(5.0 - half, abs=1e-5)
    sim.run(until=1.0)
    assert sim.vehicles["body"].eye("eye").frame.depth[24, 32] == pytest.approx(6.0 - half, abs=1e-3)


@pytest.mark.parametrize("pitch", [0.0, 0.5, pi / 2])
def test_points_lie_on_the_ground_wherever_the_eye_looks(pitch):
    frame = frame_of(watching({**DEPTH, "pitch": pitch, "yaw": 1.0, "position": [0.2, 0.1, 0.3]}))
    points = frame.to_world(frame.points)
    assert len(points) > 500
    assert np.abs(points[:, 2]).max() < 1e-4


def test_hills_are_seen_where_the_ground_is():
    sim = Simulation.load("hover", overrides={"world": "hills", "vehicles.cf.sensors.eye": LIDAR})
    sim.vehicles["cf"].place((5.0, 3.0, 6.0))
    eye = sim.vehicles["cf"].eye("eye")
    sim.first_look()
    frame = eye.frame
    points = frame.to_world(frame.points)
    heights = [sim.fleet.land.height(x, y) for x, y, _ in points]
    assert len(points) > 100
    assert np.abs(points[:, 2] - heights).max() < 1e-3


@pytest.mark.parametrize("most_cells", [1000, 1_000_000])
def test_the_edge_of_a_height_field_is_seen_where_the_ground_is(monkeypatch, most_cells):
    """From outside, where it falls to the level ground."""
    monkeypatch.setattr("airloom.eyes.sight.MOST_CELLS", most_cells)
    heights = np.full((40, 40), 6.0)
    heights[20, 20], heights[3, 0] = 0.0, 4.0
    terrain = {"kind": "heightfield", "size": (39.0, 39.0), "heights": heights.tolist()}
    sim = watching({**LIDAR, "max_distance": 20.0}, {"terrain": terrain})
    sim.vehicles["body"].place((-24.0, -22.0, 2.0))
    frame = frame_of(sim)
    points = frame.to_world(frame.points)
    above = np.array([z - sim.fleet.land.height(x, y) for x, y, z in points])
    assert (points[:, 2] > 1.0).sum() > 20
    assert np.abs(above).max() < 1e-3


def test_of_a_large_terrain_only_what_is_near_is_built(tmp_path):
    rng = np.random.default_rng(1)
    np.save(tmp_path / "h.npy", rng.uniform(0, 1, (900, 900)))
    terrain = {"kind": "heightfield", "size": (899.0, 899.0), "file": str(tmp_path / "h.npy")}
    sim = watching({**LIDAR, "max_distance": 30.0}, {"terrain": terrain})
    sim.vehicles["body"].place((100.0, -200.0, 4.0))
    frame = frame_of(sim)
    (window,) = sim.eyes.sight._scenes
    assert 64**2 < window.cells < 200**2
    points = frame.to_world(frame.points)
    heights = [sim.fleet.land.height(x, y) for x, y, _ in points]
    assert np.abs(points[:, 2] - heights).max() < 1e-3


def test_of_more_ground_than_a_scene_takes_the_finest_mesh_is_seen(monkeypatch):
    """Within its error, and on the same rays as all cells."""
    across = np.linspace(0.0, 12.0, 200)
    heights = 2.0 * np.sin(across)[:, None] * np.cos(0.7 * across)
    terrain = {"kind": "heightfield", "size": (199.0, 199.0), "heights": heights.tolist()}
    eye = {**LIDAR, "max_distance": 40.0, "pattern": {**LIDAR["pattern"], "lowest": -1.2, "highest": -0.5}}

    def scan() -> Any:
        sim = watching(eye, {"terrain": terrain})
        sim.vehicles["body"].place((10.0, -20.0, 8.0))
        return sim, frame_of(sim)

    _, all_cells = scan()
    monkeypatch.setattr("airloom.eyes.sight.MOST_CELLS", 1000)
    monkeypatch.setattr("airloom.world.land.SMALL", 1000)
    sim, mesh = scan()
    ((window, _),) = sim.eyes.sight._scenes.items()
    assert window.tile is not None
    points = mesh.to_world(mesh.points)
    errors = [z - sim.fleet.land.height(x, y) for x, y, z in points]
    level = sim.fleet.land.levels[0]
    assert len(points) == len(all_cells.points) > 100
    assert 1e-4 < np.abs(errors).max() < 2 * level.error


def test_an_eye_in_the_ground_sees_nothing_and_says_so_once():
    sim = watching({**DEPTH, "position": [0, 0, -3]})
    assert np.isnan(frame_of(sim).depth).all()
    sim.run(until=0.5)
    assert [text for text in sim.warnings if "eye is in the ground and sees nothing" in text] == sim.warnings


def test_near_and_far_are_said_as_ros_says_it():
    """REP 117: −∞ too near, +∞ too far."""
    depth = frame_of(watching({**DEPTH, "min_distance": 4.0, "max_distance": 6.0})).depth
    focal = 32.5 / tan(0.6)
    true = 2.0 * focal / (np.arange(25, 49) - 24)
    expected = np.where(true < 4.0, -inf, np.where(true > 6.0, inf, true))
    assert depth[25:, 3] == pytest.approx(expected, abs=1e-4)


def test_the_rosette_fills_its_view_and_draws_other_petals_every_time():
    eye = {"kind": "lidar", "rate": 10, "pitch": pi / 2, "pattern": {"kind": "rosette", "points": 2000}}
    sim = watching(eye)
    first = frame_of(sim)
    sim.run(until=0.1)
    second = sim.vehicles["body"].eye("eye").frame
    assert not np.array_equal(first.directions, second.directions)
    for frame in (first, second):
        assert np.linalg.norm(frame.directions, axis=1) == pytest.approx(1.0, abs=1e-5)
        off = np.arccos(frame.directions[:, 0])
        assert off.max() == pytest.approx(1.229 / 2, abs=0.01)
        assert (off < 0.1).any()


# -- errors ------------------------------------------------------------------------------------------------------------


def test_noise_grows_with_the_distance():
    wall = {"shape": "box", "size": (1.0, 40.0, 40.0), "position": (10.5, 0.0, 2.0)}
    eye = {**DEPTH, "distance_errors": {"noise": 0.01, "growth": 0.0005, "dropout": 0.2}}
    depth = frame_of(watching(eye, {"obstacles": {"wall": wall}})).depth[:20]
    assert np.isnan(depth).mean() == pytest.approx(0.2, abs=0.03)
    errors = depth[np.isfinite(depth)] - 10.0
    assert errors.std() == pytest.approx(0.06, rel=0.06)
    assert errors.mean() == pytest.approx(0.0, abs=0.006)


def test_surfaces_at_a_grazing_angle_give_no_answer():
    depth = frame_of(watching({**DEPTH, "distance_errors": {"grazing": 0.2}})).depth[:, 32]
    focal = 32.5 / tan(0.6)
    angle = np.arctan((np.arange(49) - 24) / focal)
    seen = (2.0 / np.tan(np.maximum(angle, 1e-9)) < 50.0) & (angle > 0)
    assert np.array_equal(np.isnan(depth), seen & (angle < 0.2))


def test_noise_is_the_same_whoever_watches_and_however_one_steps():
    def depth(seed: int = 0, chunk: int = 1000, others: bool = False) -> np.ndarray:
        sim = watching({**DEPTH, **NOISY})
        sim.reset(seed)
        eye = sim.vehicles["body"].eye("eye")
        if others:
            sim.bus.subscribe("/body/eye/*", lambda *_: None)
        while sim.tick < 200:
            sim.step(min(chunk, 200 - sim.tick))
        return eye.frame.depth

    first = depth()
    assert np.isnan(first).any()
    assert np.array_equal(first, depth(chunk=1), equal_nan=True)
    assert np.array_equal(first, depth(chunk=70, others=True), equal_nan=True)
    assert not np.array_equal(first, depth(seed=1), equal_nan=True)


def test_whoever_asks_in_flight_gets_a_look_at_once_and_the_same_as_others_later():
    early, late = watching({**DEPTH, **NOISY}), watching({**DEPTH, **NOISY})
    eye = early.vehicles["body"].eye("eye")
    early.run(until=0.55)
    late.run(until=0.55)
    assert eye.frame.time_ns == 0.5 * NS
    assert late.vehicles["body"].eye("eye").frame.time_ns == 0.55 * NS
    early.run(until=0.7)
    late.run(until=0.7)
    frames = [sim.vehicles["body"].eye("eye").frame for sim in (early, late)]
    assert np.array_equal(frames[0].depth, frames[1].depth, equal_nan=True)


# -- when --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.25])
def test_frames_come_at_their_rate_and_late_by_their_delay(delay):
    found = messages_of(watching({**LIDAR, "delay": delay}, velocity=(1.0, 0, 0)), "points", 0.6)
    stamps = [m.header.stamp.sec * NS + m.header.stamp.nanosec for _, m in found]
    assert stamps == [k * NS // 10 for k in range(len(found))]
    assert len(found) == int(round((0.6 - delay) * 10, 6)) + 1
    assert [time for time, _ in found] == [stamp + round(delay * NS) for stamp in stamps]


def test_one_that_nobody_wants_does_not_look_nor_stop_the_loop(monkeypatch):
    monkeypatch.setattr("airloom.eyes.depth_camera.DepthCamera.look", lambda *_: pytest.fail("looked"))
    sim, pauses = watching(DEPTH), []
    sim.run(until=2.0, glance=lambda sim: pauses.append(sim.tick))
    assert len(pauses) <= 3
    assert sim.eyes.is_idle


def test_the_loop_stops_no_more_often_than_the_rate_asks():
    sim = watching(DEPTH)
    sim.vehicles["body"].eye("eye")
    times = []
    sim.run(until=0.5, glance=lambda sim: times.append(sim.tick))
    assert times == [100, 200, 300, 400, 500]


# -- faults ------------------------------------------------------------------------------------------------------------


def faulty(fault: dict[str, Any], eye: dict[str, Any] = LIDAR) -> Simulation:
    systems = {"bad": {"kind": "sensor_fault", "sensor": "eye", "at": 0.25, "duration": 0.3, **fault}}
    return watching(eye, velocity=(1.0, 0, 0), systems=systems)


def test_an_outage_is_silence():
    found = messages_of(faulty({"fault": "outage"}), "points", 0.9)
    assert [time * 10 // NS for time, _ in found] == [0, 1, 2, 6, 7, 8, 9]


def test_a_frozen_eye_says_the_same_as_if_it_were_fresh():
    wall = {"shape": "box", "size": (1.0, 40.0, 40.0), "position": (10.5, 0.0, 2.0)}
    systems = {"bad": {"kind": "sensor_fault", "sensor": "eye", "at": 0.25, "duration": 0.3, "fault": "frozen"}}
    sim = watching(DEPTH, {"obstacles": {"wall": wall}}, velocity=(1.0, 0, 0), systems=systems)
    found = messages_of(sim, "image", 0.7)
    ahead = [m.data.view("<f4").reshape(49, 65)[24, 32] for _, m in found]
    assert ahead == pytest.approx([10.0, 9.9, 9.8, 9.8, 9.8, 9.8, 9.4, 9.3], abs=1e-3)
    assert [m.header.stamp.nanosec * 10 // NS for _, m in found] == list(range(8))


def test_offset_and_noise_add_to_the_distance():
    def ahead(fault: dict[str, Any]) -> np.ndarray:
        sim = faulty(fault, {**DEPTH, "pitch": pi / 2})
        eye = sim.vehicles["body"].eye("eye")
        sim.run(until=0.3)
        return eye.frame.depth

    assert ahead({"fault": "offset", "offset": 0.5}) == pytest.approx(2.5, abs=1e-3)
    noisy = ahead({"fault": "noise", "noise": 0.1})
    assert noisy.std() == pytest.approx(0.1, rel=0.05)
    assert noisy.mean() == pytest.approx(2.0, abs=0.01)


# -- messages ----------------------------------------------------------------------------------------------------------


def test_messages_are_those_of_ros():
    sim = watching(DEPTH)
    (_, info), *_ = messages_of(sim, "camera_info", 0.0)
    sim = watching(DEPTH)
    clouds: list[Any] = []
    sim.bus.subscribe("/body/eye/points", lambda topic, message, time_ns: clouds.append(message))
    (_, image), *_ = messages_of(sim, "image", 0.0)
    depth = sim.vehicles["body"].eye("eye").frame.depth
    assert image.header.frame_id == info.header.frame_id == clouds[0].header.frame_id == "body/eye_optical"
    assert (image.encoding, image.width, image.height, image.step) == ("32FC1", 65, 49, 260)
    assert np.array_equal(image.data.view("<f4").reshape(49, 65), depth)
    cloud = clouds[0]
    points = cloud.data.view("<f4").reshape(-1, 3)
    assert [(f.name, f.offset, f.datatype) for f in cloud.fields] == [("x", 0, 7), ("y", 4, 7), ("z", 8, 7)]
    assert (cloud.width, cloud.height, cloud.point_step, cloud.row_step) == (len(points), 1, 12, len(points) * 12)
    # The camera's matrix takes a point of the cloud to the pixel that has its depth.
    pixels = points @ info.k.reshape(3, 3).T
    columns, rows = (pixels[:, :2] / pixels[:, 2:]).T
    assert np.abs(rows - rows.round()).max() < 1e-3
    assert depth[rows.round().astype(int), columns.round().astype(int)] == pytest.approx(points[:, 2], abs=1e-4)


def test_a_cloud_is_made_only_for_those_who_want_it():
    sim = watching(DEPTH)
    messages_of(sim, "image", 0.0)
    assert "points" not in vars(sim.vehicles["body"].eye("eye").frame)


def test_an_edit_elsewhere_leaves_an_eye_as_it_is():
    sim = watching({**DEPTH, **NOISY, "delay": 0.05})
    eye = sim.vehicles["body"].eye("eye")
    sim.run(until=0.22)
    sim.change(with_another(sim, vehicle((5, 0, 2))))
    assert sim.vehicles["body"].eye("eye") is eye
    sim.run(until=0.25)
    assert eye.frame.time_ns == 0.2 * NS
    assert np.isinf(eye.frame.depth[24, 32]) or np.isnan(eye.frame.depth[24, 32])
    sim.run(until=0.35)
    assert eye.frame.depth[24, 32] == pytest.approx(4.85, abs=0.3)


def test_a_name_that_is_no_eye_is_told():
    with pytest.raises(KeyError, match="body has no eye called 'ey'; it has eye"):
        watching(DEPTH).vehicles["body"].eye("ey")
