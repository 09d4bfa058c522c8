"""A real PX4, where its program is found: it flies the bundled scenario, several fly beside ours, failsafes act."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from pymavlink.dialects.v20.common import MAV_PARAM_TYPE_REAL32
from tests.programs import free_instance, ground_station, needs_px4

import airloom as al
from airloom.scenario import load
from airloom.sensors.faults import Fault

pytestmark = [needs_px4]
INSTANCE = free_instance()
MIXED = f"""
name: mixed
duration: 300
vehicles:
  north:
    extends: x500
    pose: {{position: [0, 10, 0.05]}}
    sensors: {{magnetometer: {{field_errors: {{noise: 1.0e-7}}}}}}
    autopilot: {{kind: px4, instance: {INSTANCE}, params: PARAMS}}
  south:
    extends: iris
    pose: {{position: [0, -10, 0.055], yaw: 1.0}}
    sensors: {{magnetometer: {{field_errors: {{noise: 1.0e-7}}}}}}
    autopilot: {{kind: px4, instance: {INSTANCE + 1}, motors: [4, 3, 2, 1]}}
  ours:
    extends: x500
    pose: {{position: [20, 0, 0.05]}}
"""


def turns(sim):
    """The simulation as its own member, ten times a second."""
    while True:
        sim.run(until=sim.time + 0.1)
        yield sim


@pytest.fixture
def mixed(tmp_path):
    def make(params="{}", without=()):
        (tmp_path / "mixed.yaml").write_text(MIXED.replace("PARAMS", params))
        sim = al.Simulation(load(tmp_path / "mixed.yaml", {f"vehicles.{name}": None for name in without}))
        sim.member_logs = tmp_path
        return sim

    return make


def in_the_air(sim, instance=INSTANCE, vehicle="north"):
    stations = ground_station()
    station = stations.Station(turns(sim), stations.PX4, instance, [vehicle])
    station.take_off(10)
    return station, station.drones[0]


def test_it_takes_off_flies_a_square_and_lands(tmp_path, monkeypatch):
    monkeypatch.setenv("AIRLOOM_INSTANCE", str(INSTANCE))
    seen = []
    with al.Simulation.load("px4") as sim:
        sim.member_logs = tmp_path
        sim.run(until=75, watch=lambda sim: seen.append(sim.vehicles["drone"].state))
    said = (tmp_path / "member-station.txt").read_text()
    assert "landed" in said, said
    states = np.array(seen)
    for corner in ((0, 20), (20, 20), (20, 0), (0, 0)):
        assert np.abs(states[:, :2] - corner).max(axis=1).min() < 1.0, corner
    far = np.linalg.norm(states[:, :2], axis=1) > 5
    assert states[far, 2] == pytest.approx(10.0, abs=0.3)
    assert states[-1, :3] == pytest.approx([0, 0, 0.05], abs=1.0)
    assert states[:, 2].max() < 10.5
    assert list((tmp_path / "autopilot-drone").glob("log/*/*.ulg")), "PX4's own log"
    assert not any(path.is_symlink() for path in (tmp_path / "autopilot-drone").iterdir())


def test_two_fly_beside_one_of_ours(mixed):
    with mixed() as sim:
        sim.vehicles["ours"].command(al.PositionYaw((20, 0, 5)))
        (northern, _), (southern, south) = in_the_air(sim), in_the_air(sim, INSTANCE + 1, "south")
        south.fly_to((-15, -10, 10))
        northern.fly_to({"north": (0, 25, 10)}, "north")
        southern.fly_to({"south": (-15, -10, 10)}, "west")
        assert sim.vehicles["ours"].position == pytest.approx([20, 0, 5], abs=0.05)
        northern.land()
        assert sim.vehicles["north"].position[2] < 0.2
        assert sim.vehicles["south"].position[2] == pytest.approx(10, abs=0.6)


def test_a_geofence_keeps_it_in_and_sends_it_home(mixed):
    with mixed("{GF_ACTION: 3, GF_MAX_HOR_DIST: 30}", without=["south", "ours"]) as sim:
        station, drone = in_the_air(sim)
        drone.fly_to((0, 70, 10))
        station.wait(lambda drone: "outside geofence" in drone.seen["STATUSTEXT"].text, "too far", 5)
        station.fly_to({"north": (0, 30, 10)}, "far")
        drone.line.mav.param_set_send(drone.system, 1, b"GF_MAX_HOR_DIST", 15.0, MAV_PARAM_TYPE_REAL32)
        station.wait(lambda drone: not drone.is_armed, "home", 180)
        assert drone.position == pytest.approx([0, 10, 0.05], abs=1.5)


@pytest.mark.parametrize(
    ("params", "lose"),
    [
        ("{NAV_DLL_ACT: 3}", lambda sim: None),
        ("{}", lambda sim: sim.vehicles["north"].set_fault("gnss", Fault(outage=True))),
    ],
    ids=["ground station", "satellites"],
)
def test_it_lands_when_it_loses(mixed, params, lose):
    with mixed(params, without=["south", "ours"]) as sim:
        in_the_air(sim)
        lose(sim)
        sim.run(until=sim.time + 90)
        assert sim.vehicles["north"].position[2] < 0.2
        assert max(sim.vehicles["north"].rotor_speeds) < 1.0, "and is disarmed"


def test_mavsdk_commands_it(mixed):
    mavsdk = pytest.importorskip("mavsdk", minversion="4")
    from mavsdk.plugins.action import Action
    from mavsdk.plugins.telemetry import Telemetry

    def until(is_so):
        deadline = time.monotonic() + 60
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def fly():
        who = mavsdk.Configuration.create_with_component_type(mavsdk.ComponentType.GROUND_STATION)
        with mavsdk.Mavsdk(who) as client:
            client.add_any_connection(f"udpout://127.0.0.1:{18570 + INSTANCE}")
            system = client.first_autopilot(30.0)
            action, telemetry = Action(system), Telemetry(system)
            until(telemetry.health_all_ok)
            action.set_takeoff_altitude(5.0)
            action.arm()
            action.takeoff()
            until(lambda: telemetry.position().relative_altitude_m > 4.5)

    with mixed(without=["south", "ours"]) as sim, ThreadPoolExecutor() as pool:
        flight = pool.submit(fly)
        while not flight.done() and sim.time < 200:
            sim.run(until=sim.time + 0.1)
        flight.result(timeout=0)
        assert sim.vehicles["north"].position[2] == pytest.approx(5.0, abs=0.7)


def test_it_takes_over_a_vehicle_that_stands_in_a_running_world(mixed):
    with mixed(without=["south", "ours"]) as sim:
        with_px4 = sim.scenario
        north = with_px4.vehicles["north"].model_copy(update={"autopilot": None})
        sim.change(with_px4.model_copy(update={"vehicles": {"north": north}}))
        sim.run(until=3.0)
        sim.change(with_px4)
        _, drone = in_the_air(sim)
        assert drone.position == pytest.approx([0, 10, 10], abs=1.1)


def test_nobody_arms_it_and_two_runs_are_equal(mixed):
    hashes = set()
    for _ in range(2):
        with mixed(without=["south", "ours"]) as sim:
            sim.run(until=10)
            hashes.add(sim.state_hash())
    assert len(hashes) == 1


GNSS, BAROMETER, MAGNETOMETER, IMU = (
    {"kind": "sensor_fault", "sensor": sensor} for sensor in ("gnss", "barometer", "magnetometer", "imu")
)
TROUBLE = {
    "spoofed": ({**GNSS, "fault": "offset", "offset": [30, 0, 0], "ramp": 15}, [-30, 0, 10], 3.0),
    "glitch": ({**GNSS, "fault": "offset", "offset": [100, 0, 0], "duration": 0.5}, [0, 0, 10], 3.0),
    "barometer out": ({**BAROMETER, "fault": "outage"}, [0, 0, 10], 2.0),
    "barometer blocked": ({**BAROMETER, "fault": "frozen"}, [0, 0, 10], 2.0),
    "magnet": ({**MAGNETOMETER, "fault": "offset", "offset": [4e-5, -4e-5, 0]}, [0, 0, 10], 2.0),
    "imu stuck": ({**IMU, "fault": "frozen"}, None, 0.0),
    "imu out": ({**IMU, "fault": "outage"}, None, 0.0),
    "motor lost": ({"kind": "rotor_fault", "rotor": "back_left"}, None, 0.0),
}
"""A fault in hover, and where the vehicle is half a minute later; None for on the ground."""


@pytest.mark.parametrize("trouble", TROUBLE)
def test_in_trouble_the_run_goes_on(tmp_path, trouble):
    fault, place, near = TROUBLE[trouble]
    overrides = {
        "members": {}, "world.wind": [0, 0, 0], "vehicles.drone.autopilot.instance": INSTANCE,
        "systems": {"trouble": {**fault, "at": 30}},
    }  # fmt: skip
    with al.Simulation.load("px4", overrides=overrides) as sim:
        sim.member_logs, events = tmp_path, []
        sim.bus.subscribe("/events", lambda topic, event, time_ns: events.append((time_ns / 1e9, event.text)))
        in_the_air(sim, vehicle="drone")
        sim.run(until=60)
        found = sim.vehicles["drone"].position
        assert [time for time, text in events if text.startswith("trouble begins")] == [30.0]
    if place is None:
        assert found[2] < 1.0
    else:
        assert found == pytest.approx(place, abs=near)
