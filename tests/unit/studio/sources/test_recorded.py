"""A recorded run as the studio's source: states between the frames of a log, the clock, what can be asked."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from airloom.basics.rotations import quaternion_from_euler
from airloom.commands import Mode
from airloom.runs.folder import RunFolder
from airloom.runs.link.client import Refused
from airloom.runs.mcap import LogError, LogReader, LogWriter
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation
from airloom.studio.film.film_set import FilmSet
from airloom.studio.scene.cameras import FIELD_OF_VIEW
from airloom.studio.sources.playback import FASTEST, Playback
from airloom.studio.sources.recorded import RecordedSource
from airloom.studio.sources.source import (
    ATTITUDE,
    MODE,
    POSITION,
    RATES,
    ROTOR_SPEEDS,
    TARGET,
    TARGET_YAW,
    VELOCITY,
)
from airloom.studio.sources.tracks import Track


class Wall:
    """A wall clock that is turned by hand."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def flown(path, scenario="figure8", seconds=2.0, **changes):
    sim = Simulation(load(scenario, {"duration": seconds, **changes}))
    RecordedRun(sim, RunFolder.create(scenario, path)).fly()
    return RunFolder.open(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return flown(tmp_path_factory.mktemp("runs") / "eight")


@pytest.fixture
def clock():
    return Playback(Wall())


@pytest.fixture
def source(folder, clock):
    source = RecordedSource(folder, clock)
    yield source
    source.close()


# -- the clock -------------------------------------------------------------------------------------------------------


def test_the_first_who_looks_on_sees_it_from_the_beginning():
    clock = Playback(wall := Wall())
    clock.end = 10.0
    wall.now += 5.0
    assert (clock.time, clock.paused) == (0.0, True)
    clock.welcome()
    wall.now += 2.0
    assert (clock.time, clock.paused) == (2.0, False)
    clock.pause()
    clock.welcome()
    wall.now += 2.0
    assert (clock.time, clock.paused) == (2.0, True)


def test_the_clock_goes_at_its_speed_and_stands_at_the_end():
    clock = Playback(wall := Wall())
    clock.end = 300.0
    clock.resume()
    wall.now += 1.0
    clock.change_speed(0.5)
    wall.now += 2.0
    assert clock.time == pytest.approx(2.0)
    clock.change_speed(None)
    wall.now += 1.0
    assert clock.time == pytest.approx(2.0 + FASTEST)
    wall.now += 10.0
    assert (clock.time, clock.paused) == (300.0, True)
    clock.resume()
    assert (clock.time, clock.paused) == (0.0, False)


def test_seeking_stays_within_the_run():
    clock = Playback(Wall())
    clock.end = 3.0
    for wished, got in ((2.0, 2.0), (-1.0, 0.0), (9.0, 3.0)):
        clock.seek(wished)
        assert clock.time == got


# -- states ----------------------------------------------------------------------------------------------------------


def test_at_the_times_of_the_log_states_are_those_of_the_log(source, clock, folder):
    (name,) = source.names
    log = LogReader(folder.log)
    times, position = log.series(f"/{name}/state", "pose.pose.position")
    _, orientation = log.series(f"/{name}/state", "pose.pose.orientation")
    _, linear = log.series(f"/{name}/state", "twist.twist.linear")
    _, angular = log.series(f"/{name}/state", "twist.twist.angular")
    _, target = log.series(f"/{name}/setpoint", "position")
    _, yaw = log.series(f"/{name}/setpoint", "yaw")
    _, speeds = log.series(f"/{name}/rotors", "velocity")
    for k in range(0, len(times), 7):
        clock.seek(times[k])
        state = source.snapshot().vehicles[0]
        np.testing.assert_array_equal(state[POSITION], position[k].astype(np.float32))
        np.testing.assert_allclose(state[ATTITUDE], orientation[k][[3, 0, 1, 2]], atol=1e-6)
        np.testing.assert_allclose(state[VELOCITY], Rotation.from_quat(orientation[k]).apply(linear[k]), atol=1e-5)
        np.testing.assert_array_equal(state[RATES], angular[k].astype(np.float32))
        np.testing.assert_array_equal(state[TARGET], target[k].astype(np.float32))
        assert state[TARGET_YAW] == np.float32(yaw[k])
        np.testing.assert_array_equal(state[ROTOR_SPEEDS], speeds[k].astype(np.float32))


def test_the_velocity_is_that_of_the_world(source, clock):
    clock.seek(1.0)
    before = source.snapshot()
    clock.seek(1.04)
    after = source.snapshot()
    moved = (after.vehicles - before.vehicles)[:, POSITION] / (after.time - before.time)
    np.testing.assert_allclose(moved, (before.vehicles + after.vehicles)[:, VELOCITY] / 2, atol=0.05)


def two_frames(one, other):
    track = Track(np.array([1.0, 2.0]), [0], ROTOR_SPEEDS.start + 4)
    for frame, (position, attitude, rest) in zip(track.frames, (one, other), strict=True):
        frame[0, POSITION], frame[0, ATTITUDE], frame[0, TARGET.start :] = position, attitude, rest
    return track


def test_between_two_frames_vehicles_move_evenly_and_what_they_are_told_is_held():
    quarter = quaternion_from_euler(0.0, 0.0, 1.0)
    track = two_frames((0.0, [1, 0, 0, 0], 5.0), (4.0, -quarter, 7.0))
    (state,) = track.at(1.5)
    np.testing.assert_allclose(state[POSITION], 2.0)
    np.testing.assert_allclose(state[ATTITUDE], quaternion_from_euler(0.0, 0.0, 0.5), atol=1e-6)
    np.testing.assert_array_equal(state[TARGET.start :], 5.0)


def test_before_and_after_the_log_vehicles_stay():
    track = two_frames((0.0, [1, 0, 0, 0], 5.0), (4.0, [1, 0, 0, 0], 7.0))
    for time, position in ((0.0, 0.0), (1.0, 0.0), (2.0, 4.0), (9.0, 4.0)):
        assert track.at(time)[0, 0] == position


def test_a_vehicle_stays_where_the_log_has_no_numbers():
    track = two_frames((3.0, [1, 0, 0, 0], 5.0), (np.nan, [1, 0, 0, 0], np.inf))
    track.mend()
    np.testing.assert_array_equal(track.frames[1], track.frames[0])


def test_modes_are_held_from_one_change_to_the_next(tmp_path, clock):
    source = RecordedSource(flown(tmp_path / "run", "hover", 5.5), clock)
    modes = []
    for moment in (0.0, 4.9, 5.1):
        clock.seek(moment)
        modes.append(Mode(int(source.snapshot().vehicles[0, MODE])))
    assert modes == [Mode.IDLE, Mode.IDLE, Mode.POSITION_YAW]


def test_vehicles_with_different_rotors_logged_at_different_rates(tmp_path, clock):
    changes = {
        "vehicles": {"a": "hexarotor", "b": {"extends": "x500", "copies": {"count": 2, "spacing": 2.0}}},
        "systems": {}, "log.rates": {"/a/state": 10.0},
    }  # fmt: skip
    folder = flown(tmp_path / "run", "hover", 1.0, **changes)
    source = RecordedSource(folder, clock)
    assert source.names == ["a", "b_0", "b_1"] == list(source.scenario.vehicles)
    clock.seek(0.55)
    vehicles = source.snapshot().vehicles
    assert vehicles.shape == (3, ROTOR_SPEEDS.start + 6)
    assert np.isfinite(vehicles).all()
    assert (vehicles[1:, ROTOR_SPEEDS][:, 4:] == 0).all()


# -- what can be asked -----------------------------------------------------------------------------------------------


def test_status_tells_how_the_clock_stands(source, clock):
    status = source.status()
    assert (status.time, status.end, status.paused, status.finished) == (0.0, pytest.approx(2.0), True, False)
    source.ask("resume")
    source.ask("speed", speed=2.0)
    assert (source.status().paused, source.status().real_time_factor) == (False, 2.0)
    source.ask("speed", speed="max")
    assert source.status().speed is None
    source.ask("seek", time=99.0)
    assert source.status().finished


def test_step_and_reset_and_pause(source, clock):
    source.ask("seek", time=1.0)
    source.ask("step", ticks=100)
    assert clock.time == pytest.approx(1.0 + 100 * source.scenario.step)
    source.ask("reset")
    assert clock.time == 0.0
    source.ask("resume")
    source.ask("pause")
    assert clock.paused


def test_only_what_has_happened_by_now_is_told(tmp_path, clock):
    source = RecordedSource(flown(tmp_path / "run", "hover", 5.5), clock)
    assert source.ask("events") == {"count": 0, "events": []}
    source.ask("seek", time=5.2)
    told = source.ask("events", since=0)
    assert (told["count"], source.status().events) == (1, 1)
    assert told["events"] == [
        {"time": 5.0, "source": "cf", "level": "info", "text": "mode idle → position_yaw"},
    ]
    assert source.ask("events", since=1)["events"] == []


def test_topics_and_series_are_those_of_the_log(source, folder):
    (name,) = source.names
    topics = source.ask("topics")["topics"]
    assert topics[f"/{name}/rotors"]["fields"] == [f"velocity[{k}]" for k in range(4)]
    reply = source.ask("series", topic=f"/{name}/rotors", field="velocity[2]")
    times, values = LogReader(folder.log).series(f"/{name}/rotors", "velocity[2]")
    np.testing.assert_array_equal(reply["times"], times)
    np.testing.assert_array_equal(reply["values"], values)
    assert source.ask("series", topic=f"/{name}/rotors", field="velocity[2]", since=1.5)["times"][0] > 1.5


@pytest.mark.parametrize(
    ("method", "fields", "reason"),
    [
        ("takeoff", {"vehicle": "cf"}, "only be looked at"),
        ("gains", {"vehicle": "cf"}, "only be looked at"),
        ("series", {"topic": "/nobody/state", "field": "x"}, "no topic /nobody/state"),
        ("series", {"topic": "/x500/state", "field": "altitude"}, "no field 'altitude'"),
    ],
)
def test_what_a_recording_cannot_do_is_refused(source, method, fields, reason):
    if fields.get("topic") == "/x500/state":
        fields = {**fields, "topic": f"/{source.names[0]}/state"}
    with pytest.raises(Refused, match=reason):
        source.ask(method, **fields)


# -- logs that are not as they should be -----------------------------------------------------------------------------


def test_the_scenario_beside_the_log_will_do(folder, tmp_path, clock):
    log = without_scenario(folder, tmp_path / "log.mcap")
    with pytest.raises(LogError, match="no scenario in it, nor beside it"):
        RecordedSource(RunFolder.open(log), clock)
    shutil.copy(folder.scenario, tmp_path / "scenario.yaml")
    assert RecordedSource(RunFolder.open(log), clock).names


def without_scenario(folder, path, rename=lambda topic: topic):
    from airloom.bus.bus import Bus

    bus, log = Bus(), LogReader(folder.log)
    with LogWriter(path, bus, "*"):
        topics = {name: bus.advertise(rename(name), info.msgtype) for name, info in log.topics.items()}
        for topic, time_ns, message in log.messages():
            topics[topic].publish(message, time_ns)
    return path


def test_a_vehicle_that_the_scenario_does_not_know(folder, tmp_path, clock):
    name = LogReader(folder.log).topics and RecordedSource(folder, clock).names[0]
    log = without_scenario(folder, tmp_path / "log.mcap", lambda topic: topic.replace(f"/{name}/", "/stranger/"))
    shutil.copy(folder.scenario, tmp_path / "scenario.yaml")
    with pytest.raises(LogError, match="'stranger', which is no vehicle of its scenario"):
        RecordedSource(RunFolder.open(log), clock)


def test_a_scenario_that_makes_no_sense(folder, tmp_path, clock):
    log = without_scenario(folder, tmp_path / "log.mcap")
    (tmp_path / "scenario.yaml").write_text("vehicles: 7\n")
    with pytest.raises(LogError, match="cannot be read, maybe of another version"):
        RecordedSource(RunFolder.open(log), clock)


def test_a_log_that_is_cut_off(tmp_path, clock):
    folder = flown(tmp_path / "run", seconds=40.0)
    whole = folder.log.read_bytes()
    folder.log.write_bytes(whole[: len(whole) // 2])
    source = RecordedSource(folder, clock)
    assert not source.complete
    assert 1.0 < source.duration < 39.0
    clock.seek(source.duration)
    assert np.isfinite(source.snapshot().vehicles).all()


# -- on film ---------------------------------------------------------------------------------------------------------


def test_a_film_is_framed_for_the_whole_flight_whatever_of_it_is_filmed(folder, source, clock):
    aspect = 16 / 9
    with LogReader(folder.log) as log:
        _, flown = log.series(f"/{source.names[0]}/state", "pose.pose.position")
    with FilmSet(source, clock, "orbit", source.names[0]) as scene:
        scene._frame_flight(aspect)
        camera = scene._server.initial_camera
        back = camera.position - camera.look_at
    back /= np.linalg.norm(back)
    aside = np.cross([0.0, 0.0, 1.0], back)
    aside /= np.linalg.norm(aside)
    to = flown - camera.position
    edge = np.tan(FIELD_OF_VIEW / 2) * (to @ -back)
    assert (np.abs(to @ aside) < aspect * edge).all()
    assert (np.abs(to @ np.cross(back, aside)) < edge).all()
