"""Looking on from outside, and changing a run while it stands still: the studio's side of the control link."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import airloom as al
from airloom.engines.fleet import expand_copies
from airloom.runs.folder import RunFolder
from airloom.runs.link.client import LinkError, Refused
from airloom.runs.link.context import RequestContext
from airloom.runs.link.flying import GiveCommand, SwitchMode
from airloom.runs.mcap import LogReader
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.studio.sources.live import LiveSource
from airloom.studio.sources.source import MODE, POSITION, ROTOR_SPEEDS, TARGET

AIRLOOM = [sys.executable, "-m", "airloom"]
SCENARIO = """
name: field
duration: 4000
engine: {engine}
world: obstacles
vehicles:
  drone: {{extends: multirotor, pose: {{position: [0, 0, 0.05]}}, copies: {{count: 3, spacing: 3}}}}
"""


@contextmanager
def running(engine, folder, *options):
    (folder / "field.yaml").write_text(SCENARIO.format(engine=engine))
    process = subprocess.Popen(
        [*AIRLOOM, "run", "field.yaml", "--headless", "--link", "--speed", "5", "--no-figures", "--out", "run",
         *options],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
    )  # fmt: skip
    source = joined(process, folder / "run")
    yield source
    source.close()
    process.terminate()
    process.communicate(timeout=60)


@pytest.fixture
def source(tmp_path):
    with running("batch", tmp_path) as source:
        yield source


@pytest.fixture(params=["batch", "mujoco"])
def on_both_engines(request, tmp_path):
    with running(request.param, tmp_path) as source:
        yield source


@pytest.fixture(scope="module")
def paused(tmp_path_factory):
    with running("batch", tmp_path_factory.mktemp("paused")) as source:
        source.ask("pause")
        yield source


def joined(process, folder):
    deadline = time.monotonic() + 120
    while True:
        try:
            return LiveSource(RunFolder(folder))
        except LinkError:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)


def until(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def place(source, name):
    return source.snapshot().vehicles[source.names.index(name), POSITION]


def test_window_shows_what_observe_tells(source):
    source.ask("takeoff", vehicle="drone_1", height=2)
    until(lambda: place(source, "drone_1")[2] > 1.5)
    source.ask("pause")
    assert source.status().paused
    told = source.ask("observe", vehicle="drone_1")["vehicles"]["drone_1"]
    seen = source.snapshot().vehicles[1]
    assert seen[POSITION] == pytest.approx(told["position"], abs=0)
    assert seen[TARGET] == pytest.approx(told["setpoint"]["position"], abs=0)
    assert al.Mode(int(seen[MODE])).label == told["mode"]
    assert (seen[ROTOR_SPEEDS] > 100).all()
    assert source.status().time == source.ask("info")["time"]


def test_steps_are_exact_and_only_for_a_paused_run(source):
    with pytest.raises(Refused, match="pause it first"):
        source.ask("step")
    source.ask("pause")
    before = source.ask("info")["time"]
    assert source.ask("step", ticks=7)["time"] == pytest.approx(before + 0.007, abs=1e-12)


def test_reset_begins_anew_and_keeps_both_logs(source, tmp_path):
    source.ask("audience", studio="test", count=1)
    source.ask("takeoff", vehicle="drone_0", height=1)
    until(lambda: source.status().time > 2)
    source.ask("speed", speed=0.05)  # lest the beginning be over before anybody looks
    source.ask("reset")
    until(lambda: source.status().time < 2)
    assert place(source, "drone_0")[2] == pytest.approx(0.05, abs=0.01)
    source.ask("stop")
    until(lambda: (tmp_path / "run/summary.json").exists())
    first, second = LogReader(tmp_path / "run/log-1.mcap"), LogReader(tmp_path / "run/log.mcap")
    assert first.complete
    assert first.duration > 2
    until(lambda: LogReader(tmp_path / "run/log.mcap").complete)
    assert second.duration < first.duration


AFTER_THE_END = {
    "takeoff": {}, "fly_to": {"position": [0, 0, 2]}, "land": {}, "switch_mode": {"mode": 2}, "kill": {},
    "tune": {"gains": {"position_frequency": 1.0}}, "stick": {"axes": [0] * 4, "buttons": [0] * 17},
}  # fmt: skip


def test_a_run_that_is_over_stays_for_its_audience(tmp_path):
    with running("batch", tmp_path, "--until", "40", "--speed", "1") as source:

        def looked_on(count=1):
            return source.ask("audience", studio="test", count=count)

        looked_on()
        source.ask("speed", speed="max")
        until(lambda: looked_on() and source.status().finished)
        time.sleep(0.3)
        assert source.ask("info")["time"] == pytest.approx(40.0)
        for method, fields in AFTER_THE_END.items():
            looked_on()
            with pytest.raises(Refused, match="the run is over: begin anew"):
                source.ask(method, vehicle="drone_0", **fields)
        source.ask("stick_gone", vehicle="drone_0")
        looked_on()
        source.ask("move", name="drone_0", position=[0, 0, 3])
        source.refresh()
        source.ask("speed", speed=0.05)  # lest it be over again before anybody looks
        looked_on()
        source.ask("reset")
        until(lambda: not source.status().finished)
        looked_on(0)
        source.ask("speed", speed="max")
        with pytest.raises(LinkError):
            until(lambda: source.ask("info") is None)


def test_spawn_move_copy_delete_and_fly_on(on_both_engines):
    source = on_both_engines
    source.ask("takeoff", vehicle="drone_0", height=2)
    until(lambda: place(source, "drone_0")[2] > 1.8)
    with pytest.raises(Refused, match="pause it first"):
        source.ask("spawn", kind="iris", position=[0, 8, 0.1])
    source.ask("pause")
    before = place(source, "drone_0")
    assert source.ask("spawn", kind="iris", position=[0, 8, 0.1])["name"] == "iris_1"
    assert source.ask("spawn", kind="box", position=[-3, -8, 0.5], size=[1, 2, 1])["name"] == "box_1"
    assert source.ask("copy", name="iris_1", position=[3, 8, 0.1])["name"] == "iris_2"
    source.ask("move", name="drone_1", position=[0, -9, 0.06], yaw=1.0)
    source.ask("move", name="house", position=[30, 6, 1.5])
    source.ask("delete", name="drone_2")
    source.ask("delete", name="ball")
    assert source.refresh()
    assert source.names == ["drone_0", "drone_1", "iris_1", "iris_2"]
    assert "ball" not in source.scenario.world.obstacles
    assert source.scenario.world.obstacles["house"].position == (30, 6, 1.5)
    assert (place(source, "drone_0") == before).all()
    assert place(source, "drone_1") == pytest.approx([0, -9, 0.06])
    source.ask("resume")
    source.ask("fly_to", vehicle="iris_1", position=[1, 8, 3])
    until(lambda: np.linalg.norm(place(source, "iris_1") - [1, 8, 3]) < 0.3)
    assert np.linalg.norm(place(source, "drone_0")[:2] - before[:2]) < 0.3


@pytest.mark.parametrize(
    ("method", "fields", "complaint"),
    [
        ("spawn", {"kind": "irs", "position": [0, 0, 1]}, "did you mean 'iris'"),
        ("spawn", {"kind": "../iris.yaml", "position": [0, 0, 1]}, "can be spawned"),
        ("spawn", {"kind": "box", "position": [0, 0, 1], "size": [1, -1, 1]}, "greater than 0"),
        ("spawn", {"kind": "box", "position": [0, 0]}, "at least 3"),
        ("move", {"name": "drone_9", "position": [0, 0, 1]}, "did you mean"),
        ("spawn", {"kind": "iris", "position": [8, 6, 1.5]}, "house is in the way"),
        ("spawn", {"kind": "iris", "position": [-1.3, -1.5, 0.1]}, "drone_0 is there already"),
        ("spawn", {"kind": "box", "position": [-1.5, -1.5, 0.5]}, "drone_0 is there already"),
        ("copy", {"name": "drone_1", "position": [-1.5, -1.4, 0.1]}, "drone_0 is there already"),
        ("move", {"name": "drone_1", "position": [-1.5, -1.4, 0.1]}, "drone_0 is there already"),
        ("move", {"name": "house", "position": [-1.5, -1.5, 1.5]}, "drone_0 is there already"),
        ("delete", {"name": "nothing"}, "nothing here is called"),
        ("delete", {"name": "drone_0", "edition": 17}, "somebody else"),
        ("save", {"file": "../away"}, "names no folder"),
        ("save", {"file": "field"}, "exists already"),
        ("series", {"topic": "/drone_0/stat", "field": "x"}, "did you mean '/drone_0/state'"),
        ("stick", {"vehicle": "drone_0", "axes": [2.0, 0, 0, 0], "buttons": []}, "from -1 to 1"),
    ],
)
def test_refusals_say_why(paused, method, fields, complaint):
    with pytest.raises(Refused, match=complaint):
        paused.ask(method, **fields)
    assert paused.ask("info")["paused"]


def test_what_is_spawned_where_another_starts_would_be_in_it_after_a_restart(source):
    source.ask("fly_to", vehicle="drone_0", position=[0, -4, 3])
    until(lambda: np.linalg.norm(place(source, "drone_0") - [0, -4, 3]) < 0.3)
    source.ask("pause")
    with pytest.raises(Refused, match="drone_0 starts there"):
        source.ask("spawn", kind="iris", position=[-1.5, -1.5, 0.1])
    with pytest.raises(Refused, match="drone_0 is there already"):
        source.ask("spawn", kind="iris", position=place(source, "drone_0").tolist())
    source.ask("spawn", kind="iris", position=[0, 8, 0.1])


def test_saved_world_runs(source, tmp_path):
    source.ask("pause")
    source.ask("spawn", kind="x500", position=[0, 5, 0.3], yaw=0.5)
    path = source.ask("save", file="my field 2")["file"]
    with pytest.raises(Refused, match="exists already"):
        source.ask("save", file="my field 2")
    source.ask("save", file="my field 2", overwrite=True)
    scenario = load(tmp_path / "my field 2.yaml")
    assert path.endswith("my field 2.yaml")
    assert scenario.vehicles["x500_1"].pose.yaw == 0.5
    sim = al.Simulation(scenario)
    sim.run(until=0.5)
    assert set(sim.vehicles) == {"drone_0", "drone_1", "drone_2", "x500_1"}


def test_series_of_any_field(source):
    topics = source.ask("topics")["topics"]
    assert "pose.pose.position.z" in topics["/drone_0/state"]["fields"]
    assert "velocity[3]" in topics["/drone_0/rotors"]["fields"]
    source.ask("series", topic="/drone_0/state", field="pose.pose.position.z")
    source.ask("takeoff", vehicle="drone_0", height=2)

    def plotted():
        return source.ask("series", topic="/drone_0/state", field="pose.pose.position.z")

    until(lambda: max(plotted()["values"], default=0.0) > 1.9)
    reply = plotted()
    assert np.diff(reply["times"]).min() > 0
    assert max(reply["values"]) == pytest.approx(2.05, abs=0.3)
    later = source.ask("series", topic="/drone_0/state", field="pose.pose.position.z", since=reply["times"][-1])
    assert not set(later["times"]) & set(reply["times"])


def test_contacts_carry_the_weight(on_both_engines):
    source = on_both_engines
    until(lambda: source.status().time > 1)
    source.ask("pause")
    forces = np.array(source.ask("contacts")["forces"])
    assert forces.sum(axis=0)[2] == pytest.approx(3 * 9.80665, abs=0.05)
    assert forces.sum(axis=0)[0] < -0.5, "friction holds against the wind from the west"


def test_a_stick_flies_and_its_silence_brakes(source):
    source.ask("speed", speed=1)
    source.ask("takeoff", vehicle="drone_0", height=2)
    until(lambda: place(source, "drone_0")[2] > 1.8)

    def pushed():
        return source.ask("stick", vehicle="drone_0", axes=[0, -1, 0, 0], buttons=[0] * 17)["doing"]["drone_0"]

    until(lambda: pushed() == "velocity_yawrate")
    until(lambda: pushed() and place(source, "drone_0")[0] > -1)  # forward is the vehicle's x

    def fly_it_nevertheless():
        for _ in range(20):  # a hand that is silent for a second, as it may be on a busy machine, is none
            pushed()
            source.ask("fly_to", vehicle="drone_0", position=[0, 0, 2])

    with pytest.raises(Refused, match="flown by hand; put the stick down first"):
        fly_it_nevertheless()
    source.ask("stick_gone", vehicle="drone_0")
    until(lambda: "position" in source.ask("observe", vehicle="drone_0")["vehicles"]["drone_0"]["mode"])
    until(lambda: any("braking" in event["text"] for event in source.ask("events")["events"]))


def run_to_its_end(folder, *options):
    command = [*AIRLOOM, "run", folder / "field.yaml", "--headless", "--until", "4", "--no-figures", "--replace"]
    return subprocess.Popen(
        [*command, "--out", folder / "run", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_state_is_the_same_to_the_bit_whether_watched_or_not(engine, tmp_path):
    (tmp_path / "field.yaml").write_text(SCENARIO.format(engine=engine))
    alone = run_to_its_end(tmp_path)
    alone.communicate(timeout=120)
    expected = RunFolder(tmp_path / "run").read_summary()["state_hash"]
    watched = run_to_its_end(tmp_path, "--link", "--speed", "0.05")
    assert looks_on_until_its_end(joined(watched, tmp_path / "run")) > 3
    watched.communicate(timeout=120)
    assert RunFolder(tmp_path / "run").read_summary()["state_hash"] == expected


def looks_on_until_its_end(source):
    """It creeps until somebody has looked a few times."""
    looks = 0
    try:
        while True:
            source.snapshot()
            source.ask("series", topic="/drone_0/state", field="pose.pose.position.z")
            source.ask("contacts")
            looks += 1
            if looks == 4:
                source.ask("speed", speed=4)
    except LinkError:
        return looks


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_vehicles_that_stay_fly_on_to_the_bit(engine):
    changed, untouched = (al.Simulation.load("choreography", overrides={"engine": engine}) for _ in range(2))
    for sim in (changed, untouched):
        sim.run(until=6.0)
    vehicles = expand_copies(changed.scenario.vehicles)
    model = vehicles["drone_3"]
    away = model.pose.model_copy(update={"position": (30.0, 0.0, 0.05)})
    del vehicles["drone_7"]
    vehicles["extra"] = model.model_copy(update={"pose": away})
    changed.change(changed.scenario.model_copy(update={"vehicles": vehicles}))
    for sim in (changed, untouched):
        sim.run(until=12.0)
    for name, vehicle in untouched.vehicles.items():
        if name != "drone_7":
            assert (changed.vehicles[name].state == vehicle.state).all(), name
    changed.vehicles["extra"].command(al.PositionYaw((30, 0, 2)))
    changed.run(until=20.0)
    assert changed.vehicles["extra"].position == pytest.approx([30, 0, 2], abs=0.15)


def test_a_group_forgets_who_has_left():
    sim = al.Simulation.load("choreography", overrides={"engine": "batch", "systems.dance.enabled": False})
    sim.run(until=0.5)
    group = sim.group()
    vehicles = expand_copies(sim.scenario.vehicles)
    del vehicles["drone_0"]
    sim.change(sim.scenario.model_copy(update={"vehicles": vehicles}))
    targets = group.positions + np.array([0, 0, 2])
    targets[0] = 50.0
    group.command(al.PositionYaw(targets))
    sim.run(until=8.0)
    assert group.positions[1:] == pytest.approx(targets[1:], abs=0.2)
    assert sim.vehicles["drone_1"].position == pytest.approx(targets[1], abs=0.2)


def test_missions_go_on_and_those_of_vehicles_that_leave_fail():
    sim = al.Simulation.load("choreography", overrides={"engine": "batch", "systems.dance.enabled": False})

    async def tour(pilot):
        await pilot.takeoff(2)
        x, y, z = pilot.vehicle.position
        await pilot.follow([(x, y, z), (x, y, z + 2), (x, y, z + 4)], method="pursuit")
        await pilot.goto((x, y, z))

    tasks = {name: sim.start(tour(sim.pilot(name)), name) for name in ("drone_0", "drone_5", "drone_9")}
    sim.run(until=2.0)
    vehicles = expand_copies(sim.scenario.vehicles)
    for name in ("drone_0", "drone_1", "drone_2"):
        del vehicles[name]
    sim.change(sim.scenario.model_copy(update={"vehicles": vehicles}))
    sim.run(until=20.0)
    assert "has left the simulation" in str(tasks["drone_0"].error)
    for name in ("drone_5", "drone_9"):
        assert tasks[name].done
        assert tasks[name].error is None
        assert sim.vehicles[name].position[2] == pytest.approx(2.05, abs=0.2)


def test_it_is_told_which_systems_command_a_vehicle(tmp_path):
    (tmp_path / "two.yaml").write_text(
        "name: two\nengine: batch\nvehicles:\n"
        "  drone: {extends: multirotor, copies: {count: 2, spacing: 3}}\n  alone: {extends: multirotor}\n"
        "systems:\n  dance: {kind: choreography, vehicles: 'drone*'}\n"
        "  gust: {kind: push, at: 1, duration: 1}\n"
    )
    sim = al.Simulation(load(tmp_path / "two.yaml"))
    context = RequestContext(RecordedRun(sim, RunFolder.create("two", tmp_path / "run"), log=False))
    assert {name: context.systems_of(vehicle) for name, vehicle in sim.vehicles.items()} == {
        "drone_0": ["dance"], "drone_1": ["dance"], "alone": [],
    }  # fmt: skip


def test_signals_do_not_make_it_wait_forever(tmp_path):
    sim = al.Simulation(load("hover"))
    run = RecordedRun(sim, RunFolder.create("hover", tmp_path / "run"), log=False, link=True)
    deadline = time.monotonic() + 120

    def receive(*_):
        assert time.monotonic() < deadline, "it does not come back"

    before = signal.signal(signal.SIGALRM, receive)
    try:
        with run.link as link:
            signal.setitimer(signal.ITIMER_REAL, 0.00101, 0.00101)
            for _ in range(1000):
                link.serve(wait=0.001)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def context(tmp_path):
    sim = al.Simulation(load("modes", {"systems": {}, "duration": 60.0, "engine": "batch"}))
    sim.step()
    return RequestContext(RecordedRun(sim, RunFolder.create("modes", tmp_path / "run"), log=False))


@pytest.mark.parametrize("mode", ["velocity_yawrate", "thrust_attitude"])
def test_a_mode_that_somebody_holds_stays_until_nobody_looks_on(context, mode):
    sim, (drone,) = context.sim, context.sim.vehicles.values()
    context.hear_of_audience("studio", 1)
    drone.command(al.PositionYaw((0.0, 0.0, 5.0)))
    sim.run(until=sim.time + 4.0)
    SwitchMode(vehicle=drone.name, mode=mode, hold=True).carry_out(context)
    sim.run(until=sim.time + 5.0)
    assert drone.mode.label == mode
    context.hear_of_audience("studio", 0)
    sim.run(until=sim.time + 2.0)
    assert drone.mode.label == "position_yaw"


def test_a_mode_is_held_no_longer_once_somebody_else_commands(context):
    sim, (drone,) = context.sim, context.sim.vehicles.values()
    context.hear_of_audience("studio", 1)
    SwitchMode(vehicle=drone.name, mode="velocity_yawrate", hold=True).carry_out(context)
    GiveCommand(vehicle=drone.name, kind="velocity_yawrate", velocity=[0.0, 0.0, 1.0]).carry_out(context)
    sim.run(until=sim.time + 2.0)
    assert drone.mode.label == "position_yaw"


def test_time_in_which_a_run_stands_still_is_not_counted(tmp_path):
    sim = al.Simulation(load("hover", {"duration": 0.5}))
    run = RecordedRun(sim, RunFolder.create("hover", tmp_path / "run"), log=False, link=True)
    run.audience = 1
    until_its_end = []

    def look():
        until(lambda: run.finished)
        until_its_end.append(run.wall_time)
        time.sleep(1.0)
        run.stop()

    threading.Thread(target=look).start()
    run.fly()
    assert 0.0 < run.summary()["wall_time"] < until_its_end[0] + 0.9
