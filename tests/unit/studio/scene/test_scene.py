"""The scene without a browser: what rays meet, how blades turn, how long trails are, how much a frame sends."""

import contextlib
import io

import numpy as np
import pytest
import viser

from airloom.engines.fleet import expand_copies
from airloom.scenario import load
from airloom.studio.scene.daylight import daylight
from airloom.studio.scene.fleet_view import FINE_AT_MOST, TEAL, FleetView
from airloom.studio.scene.landscape import Landscape, height_lines
from airloom.studio.scene.overlays import Dots, Fleet
from airloom.studio.scene.pieces import Pieces
from airloom.studio.scene.sky import sky_image
from airloom.studio.scene.trails import LINES_AT_MOST, Trails
from airloom.studio.sources.source import Snapshot
from airloom.world.ground import ground
from airloom.world.land import Land


def scenario(name: str, **overrides):
    loaded = load(name, {key.replace("__", "."): value for key, value in overrides.items()})
    return loaded.model_copy(update={"vehicles": expand_copies(loaded.vehicles)})


def fleet_of(count: int):
    return scenario("fleet", vehicles__drone__copies__count=count)


def snapshot(time: float, run, height: float = 1.0, speed: float = 0.0) -> Snapshot:
    states = np.zeros((len(run.vehicles), 22))
    states[:, :3] = [vehicle.pose.position for vehicle in run.vehicles.values()]
    states[:, 2] += height
    states[:, 3] = 1.0
    states[:, 13:16] = np.nan
    states[:, 18:] = speed
    return Snapshot(time, states)


@pytest.fixture
def server():
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(port=0, verbose=False)
        yield server
        server.stop()


@pytest.fixture
def sent(server, monkeypatch):
    """Every message the server sends from now on."""
    messages: list = []
    queue = server._websock_server.queue_message
    monkeypatch.setattr(server._websock_server, "queue_message", lambda m: (messages.append(m), queue(m))[1])
    return messages


def test_rays_meet_plane_and_obstacles(server):
    landscape = Landscape(server, scenario("hover", world="obstacles"))
    np.testing.assert_allclose(landscape.hit([0, 0, 5], [1, 0, -1]), [5, 0, 0], atol=1e-9)
    np.testing.assert_allclose(landscape.hit([2, -6, 9], [0, 0, -2]), [2, -6, 1.6], atol=1e-9)
    np.testing.assert_allclose(landscape.hit([0, 6, 1], [1, 0, 0]), [8, 6, 1], atol=1e-9)
    assert landscape.hit([0, 0, 5], [0, 0, 1]) is None
    assert landscape.obstacle_at([2, -6, 9], [0, 0, -1]) == "ball"
    assert landscape.obstacle_at([0, 6, 1], [1, 0, 0]) == "house"
    assert landscape.obstacle_at([5, 2, 20], [0, 0, -1]) == "pillar_near"
    assert landscape.obstacle_at([0, 0, 5], [1, 0, -1]) is None


def test_a_ray_stops_at_water_or_goes_through_to_the_bottom(server):
    landscape = Landscape(server, scenario("boat"))
    surface = landscape.hit([0, 0, 5], [1, 0, -1], on_water=True)
    np.testing.assert_allclose(surface, [5, 0, 0], atol=1e-9)
    bottom = landscape.hit([0, 0, 5], [1, 0, -1])
    np.testing.assert_allclose(bottom, [13, 0, -8], atol=1e-9)
    np.testing.assert_allclose(landscape.hit([0, 0, -2], [1, 0, -1], on_water=True), [6, 0, -8], atol=1e-9)
    assert landscape.is_on_water(surface)
    assert not landscape.is_on_water(bottom)
    assert landscape.is_under_water(bottom)
    assert not landscape.is_under_water(np.array([0, 0, -0.3]))


def test_a_station_is_a_mast_with_its_name(server):
    stations = {"base": {"position": [3.0, 4.0, 12.0]}}
    landscape = Landscape(server, scenario("hover", radio={"stations": stations}))
    mast, name = landscape._standing
    assert np.allclose(mast.position, [3.0, 4.0, 0.0])
    assert name.text == "base"
    assert name.position[2] > 12.0
    landscape.rebuild(scenario("hover"))
    assert not landscape._standing


def test_walls_and_pillars_that_a_flock_knows_of_are_drawn(server):
    landscape = Landscape(server, scenario("flock"))
    nodes = {node.name.rpartition("/")[2]: node for node in landscape._standing}
    assert set(nodes) == {"walls", "pillars", "edges"}
    reach = np.abs(nodes["edges"].points).reshape(-1, 3).max(axis=0)
    np.testing.assert_allclose(reach, [80.0, 80.0, 15.0])
    landscape.rebuild(scenario("hover"))
    assert not landscape._standing


def test_another_world_replaces_the_first(server):
    landscape = Landscape(server, scenario("hover", world="obstacles"))
    landscape.rebuild(scenario("hover", world="hills"))
    assert landscape.obstacle_at([2, -6, 9], [0, 0, -1]) is None
    assert landscape.hit([0, 0, 9], [0, 0, -1])[2] == pytest.approx(0.0, abs=1e-6)
    assert server.scene.get_handle_by_name("/world/landscape/obstacles/ball") is None
    assert server.scene.get_handle_by_name("/world/landscape/ground/0_0_0") is not None


def test_drawn_hills_are_those_of_the_world():
    run = scenario("hover", world="hills")
    land = Land(run.world)
    array = land.array
    pieces = Pieces(land)
    (piece,) = pieces.seen_from([np.zeros(3)])
    vertices, faces = pieces.mesh(piece)
    for middle in vertices[faces[: 2 * 8 * 8]].mean(axis=1):
        assert ground(array, middle[0], middle[1])[0] == pytest.approx(middle[2], abs=1e-6)
    assert vertices[:, 0].min() == -50.0, "around it lies a cell in which the ground falls"
    for x, y, z in vertices:
        assert ground(array, x, y)[0] == pytest.approx(z, abs=1e-6)
    lines = height_lines(land.grid)
    assert lines.shape == (2 * 9 * 8, 2, 3)


def test_blades_turn_their_way_and_not_too_far_a_frame(server):
    run = scenario("hover")
    view = FleetView(server, run, ["cf"])
    view.show(snapshot(0.0, run, speed=20.0))
    view.show(snapshot(0.01, run, speed=20.0))
    angles = view._batches[0].angles[0]
    assert np.sign(angles).tolist() == [1, -1, 1, -1]
    assert abs(angles[0]) == pytest.approx(0.2, rel=0.05)
    view.show(snapshot(0.05, run, speed=2200.0))
    assert np.abs(view._batches[0].angles[0] - angles).max() < np.pi / 2


def test_discs_are_seen_when_rotors_are_fast(server):
    run = scenario("hover")
    view = FleetView(server, run, ["cf"])
    discs = server.scene.get_handle_by_name("/world/fleet/carrier/kind_0/discs")
    view.show(snapshot(0.0, run, speed=0.0))
    assert discs.batched_scales.tolist() == [0.0]
    view.show(snapshot(0.1, run, speed=2000.0))
    assert discs.batched_scales.tolist() == [1.0]


def test_pick_takes_the_nearest_that_is_met_then_the_one_close_by(server):
    run = fleet_of(9)
    view = FleetView(server, run, list(run.vehicles))
    view.show(snapshot(0.0, run))
    along_row, across = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    assert view.pick([-1.5, 0.05, 1.015], along_row) == "drone_3"
    assert view.pick([-1.5, 0.0, 1.015], [-1.0, 0.0, 0.0]) == "drone_2"
    assert view.pick([0.09, -5.0, 1.015], across) == "drone_4"
    assert view.pick([0.5, -5.0, 1.015], across) is None
    assert view.pick([0.0, -5.0, 1.015], [0.0, -1.0, 0.0]) is None


def test_an_anchor_changes_what_is_sent_but_not_where_vehicles_are(server):
    run = fleet_of(4)
    view = FleetView(server, run, list(run.vehicles))
    view.anchor = "drone_2"
    moment = snapshot(0.0, run, height=3.0)
    view.show(moment)
    carrier = server.scene.get_handle_by_name("/world/fleet/carrier")
    body = server.scene.get_handle_by_name("/world/fleet/carrier/kind_0/body")
    np.testing.assert_allclose(body.batched_positions[2], 0.0)
    np.testing.assert_allclose(carrier.position + body.batched_positions, moment.vehicles[:, :3], atol=1e-6)


def test_types_of_vehicles_are_batches(server):
    run = load("hover")
    other = load("modes").vehicles["drone"]
    run = run.model_copy(update={"vehicles": {"a": run.vehicles["cf"], "b": other, "c": run.vehicles["cf"]}})
    view = FleetView(server, run, ["a", "b", "c"])
    assert [batch.members.tolist() for batch in view._batches] == [[0, 2], [1]]
    view.rebuild(load("hover"), ["cf"])
    assert server.scene.get_handle_by_name("/world/fleet/carrier/kind_1/body") is None


def test_two_runs_in_one_scene_keep_apart(server):
    run = scenario("hover")
    first, second = FleetView(server, run, ["cf"]), FleetView(server, run, ["cf"], prefix="other", accent=TEAL)
    first.show(snapshot(0.0, run, height=1.0))
    second.show(snapshot(0.0, run, height=2.0))
    heights = [
        server.scene.get_handle_by_name(f"/world/{prefix}/carrier/kind_0/body").batched_positions[0, 2]
        for prefix in ("fleet", "other")
    ]
    assert heights == pytest.approx([1.015, 2.015])


@pytest.mark.parametrize(("count", "messages", "size"), [(1, 12, 3_000), (100, 12, 170_000), (1000, 10, 300_000)])
def test_a_frame_is_few_messages(server, sent, count, messages, size):
    run = fleet_of(count)
    view = FleetView(server, run, list(run.vehicles))
    for k in range(6):
        view.show(snapshot(k / 30, run, height=1 + k, speed=2000.0))
    sent.clear()
    view.show(snapshot(0.2, run, height=9.0, speed=2000.0))
    assert 0 < len(sent) <= messages
    arrays = [a for m in sent for a in getattr(m, "updates", {}).values() if isinstance(a, np.ndarray)]
    assert sum(a.nbytes for a in arrays) < size
    assert (view._batches[0]._blades is None) == (count > FINE_AT_MOST)


@pytest.mark.parametrize("option", ["trails", "setpoints", "thrust", "contacts", "frames", "labels", "dots"])
def test_options_come_and_go(server, option):
    run = fleet_of(4)
    view = FleetView(server, run, list(run.vehicles))
    nodes = {"setpoints": "setpoints/rings", "labels": "labels/drone_1"}
    node = f"/world/fleet/{nodes.get(option, option)}"
    for wanted in (True, False, True):
        setattr(view.options, option, wanted)
        view.show(snapshot(0.1, run, speed=2000.0))
        assert (server.scene.get_handle_by_name(node) is not None) == wanted


def test_only_the_selected_of_many_has_a_label(server):
    run = fleet_of(30)
    view = FleetView(server, run, list(run.vehicles))
    view.selected = "drone_7"
    view.show(snapshot(0.0, run))
    assert server.scene.get_handle_by_name("/world/fleet/labels/drone_7") is not None
    assert server.scene.get_handle_by_name("/world/fleet/labels/drone_8") is None
    view.selected = None
    view.show(snapshot(0.1, run))
    assert server.scene.get_handle_by_name("/world/fleet/labels/drone_7") is None


def test_setpoints_that_are_not_known_are_not_seen(server):
    run = fleet_of(2)
    view = FleetView(server, run, list(run.vehicles))
    view.options.setpoints = True
    moment = snapshot(0.0, run)
    moment.vehicles[1, 13:16] = [1.0, 2.0, 3.0]
    view.show(moment)
    rings = server.scene.get_handle_by_name("/world/fleet/setpoints/rings")
    assert rings.batched_scales.tolist() == [0.0, 1.0]
    assert rings.batched_positions[1].tolist() == [1.0, 2.0, 3.0]


def test_arrow_of_a_hovering_rotor_is_as_long_as_the_vehicle_reaches(server):
    run = scenario("modes")
    view = FleetView(server, run, ["drone"])
    view.options.thrust = True
    rotor = run.vehicles["drone"].rotors["front_left"]
    hover = np.sqrt(run.vehicles["drone"].mass * run.world.gravity / 4 / rotor.thrust_constant)
    view.show(snapshot(0.0, run, speed=hover))
    arrows = server.scene.get_handle_by_name("/world/fleet/thrust").points
    np.testing.assert_allclose(np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1), view.fleet.reaches[0], rtol=1e-3)


@pytest.mark.parametrize("vehicles", [1, 20, 1000])
def test_trails_are_bounded_and_end_at_the_vehicle(vehicles):
    trails = Trails(vehicles)
    for k in range(300):
        trails.push(0.1 * k, np.full((vehicles, 3), 0.1 * k))
    segments = trails.segments()
    assert len(segments) <= max(LINES_AT_MOST, 8 * vehicles)
    assert segments[trails.lines - 1, 1, 0] == pytest.approx(29.9, abs=1.0)
    assert 29.9 - segments[0, 0, 0] <= 9.0
    np.testing.assert_array_equal(segments[: trails.lines - 1, 1], segments[1 : trails.lines, 0])


def test_a_trail_starts_anew_when_time_goes_back():
    trails = Trails(1)
    for k in range(20):
        trails.push(0.1 * k, np.array([[k, 0.0, 0.0]]))
    assert trails.push(0.5, np.array([[5.0, 0.0, 0.0]]))
    assert (trails.segments()[..., 0] == 5.0).all()


def test_the_sky_is_a_picture():
    assert sky_image(daylight(load("hover").world))[:3] == b"\xff\xd8\xff"


def test_an_edit_of_an_obstacle_leaves_ground_and_things_as_they_are(server, sent):
    before = scenario(
        "hover", world={"extends": "obstacles", "objects": {"oak": {"kind": "tree", "position": [20, 0]}}}
    )
    landscape = Landscape(server, before)
    assert server.scene.get_handle_by_name("/world/landscape/things/leafy") is not None
    sent.clear()
    obstacles = {name: o for name, o in before.world.obstacles.items() if name != "ball"}
    world = before.world.model_copy(update={"obstacles": obstacles})
    landscape.rebuild(before.model_copy(update={"world": world}))
    assert not any("things" in getattr(message, "name", "") for message in sent)
    assert server.scene.get_handle_by_name("/world/landscape/obstacles/ball") is None
    assert server.scene.get_handle_by_name("/world/landscape/obstacles/house") is not None


def test_dots_have_a_direction_and_stay_dots(server):
    """A stroke without length is not drawn by browsers."""
    run = fleet_of(3)
    fleet = Fleet(run, list(run.vehicles))
    dots = Dots(server.scene, "/dots", fleet, TEAL)
    states = snapshot(0.0, run).vehicles
    dots.show(0.0, states, None)
    (strokes,) = dots.handles
    lengths = np.linalg.norm(strokes.points[:, 1] - strokes.points[:, 0], axis=1)
    assert (lengths > 0).all()
    assert (lengths < 0.1 * fleet.size).all()
    assert strokes.points[:, 0] == pytest.approx(states[:, :3])
