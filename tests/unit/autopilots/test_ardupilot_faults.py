"""Faults as ArduPilot's own parameters, by their names of either generation, with a stand-in that has these."""

from __future__ import annotations

from math import cos, radians

import numpy as np
import pytest

from airloom.autopilots import ardupilot_faults as af
from airloom.scenario.models import World
from airloom.sensors.faults import Fault
from airloom.sensors.sensor_errors import CHANNELS
from airloom.simulation import Simulation
from airloom.world.atmosphere import air_pressure

WORLD = World()
STILL = np.zeros(3)


def channels(*values, first=0):
    numbers = np.zeros(CHANNELS)
    numbers[first : first + len(values)] = values
    return numbers


def nonzero(parameters):
    return {name: value for name, value in parameters.items() if value != 0.0}


def test_metres_become_degrees():
    found = nonzero(af.gnss(Fault(offset=channels(30.0, 40.0, 5.0)), WORLD, STILL))
    east = 30.0 / (111_318.845 * cos(radians(WORLD.origin.latitude)))
    expected = {"SIM_GPS_GLITCH_X": 40.0 / 111_318.845, "SIM_GPS_GLITCH_Y": east, "SIM_GPS_GLITCH_Z": 5.0}
    assert found == pytest.approx(expected)


def test_noise_of_positions_is_drawn_here_that_of_velocities_there():
    fault = Fault(noise=channels(1.0, 2.0, 3.0, 0.1, 0.2, 0.3))
    found = nonzero(af.gnss(fault, WORLD, np.array([0.0, 0.0, -2.0])))
    spread = {"SIM_GPS_VERR_X": 0.2, "SIM_GPS_VERR_Y": 0.1, "SIM_GPS_VERR_Z": 0.3}
    assert found == pytest.approx({"SIM_GPS_GLITCH_Z": -6.0} | {name: 3**0.5 * s for name, s in spread.items()})


def test_pressure_becomes_height():
    """A metre up is about 11.5 Pa less."""
    height = WORLD.origin.altitude
    less = air_pressure(height + 1.0, WORLD.pressure, WORLD.temperature) - air_pressure(
        height, WORLD.pressure, WORLD.temperature
    )
    found = nonzero(af.barometer(Fault(frozen=True, offset=channels(less)), WORLD, STILL))
    expected = {"SIM_BARO_FREEZE": 1, "SIM_BAR2_FREEZE": 1, "SIM_BARO_GLITCH": 1.0, "SIM_BAR2_GLITCH": 1.0}
    assert found == pytest.approx(expected, rel=1e-3)


def test_a_field_to_the_left_is_one_less_to_the_right_in_milligauss():
    found = nonzero(af.magnetometer(Fault(offset=channels(1e-5, 2e-5, -3e-5)), WORLD, STILL))
    of_each = {"OFS_X": -100.0, "OFS_Y": 200.0, "OFS_Z": -300.0}
    expected = {f"SIM_MAG{k}_{name}": value for k in (1, 2, 3) for name, value in of_each.items()}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("fault", "value"), [(Fault(outage=True), 1), (Fault(frozen=True), 2), (Fault(outage=True, frozen=True), 1)]
)
def test_a_compass_is_silent_or_frozen(fault, value):
    assert nonzero(af.magnetometer(fault, WORLD, STILL)) == {f"SIM_MAG{k}_FAIL": value for k in (1, 2, 3)}


class StandIn:
    """Has parameters, and answers as ArduPilot does: at the next look, and not when asked for one that it has not."""

    problem = None

    def __init__(self, parameters):
        self.parameters, self.answers = parameters, []

    def ask(self, name):
        if name in self.parameters:
            self.answers.append((name, self.parameters[name]))

    def put(self, name, value):
        self.parameters[name] = value
        self.ask(name)


@pytest.fixture
def flown():
    """A drone whose ArduPilot is a stand-in, spoken with ten times a second."""
    made = []

    def make(faults, after=0.0, **parameters):
        there = StandIn(parameters)
        drone = {"extends": "multirotor", "pose": {"position": [0, 0, 1]}}
        systems = {name: {"kind": "sensor_fault", "at": 1.0, **fault} for name, fault in faults.items()}
        sim = Simulation.load("hover", overrides={"vehicles": {"drone": drone}, "systems": systems, "engine": "batch"})
        sim.texts = []
        sim.bus.subscribe("/events", lambda topic, m, time_ns: sim.texts.append(m.text))
        sim.run(until=after)
        there.desk = af.FaultDesk(sim, sim.vehicles["drone"], there)
        made.append(there)
        return sim, there

    yield make
    for there in made:
        there.desk.close()


def run(sim, there, until):
    while sim.time < until:
        sim.run(until=sim.time + 0.1)
        answers, there.answers = there.answers, []
        for answer in answers:
            there.desk.note(*answer)
        there.desk.say()


OLD_AND_NEW = [("SIM_GPS_DISABLE", 0.0, 1.0), ("SIM_GPS1_ENABLE", 1.0, 0.0)]


@pytest.mark.parametrize(("name", "well", "out"), OLD_AND_NEW)
def test_a_fault_comes_and_goes(flown, name, well, out):
    sim, there = flown({"jam": {"sensor": "gnss", "fault": "outage", "duration": 2.0}}, **{name: well})
    run(sim, there, 0.9)
    assert there.parameters[name] == well
    run(sim, there, 2.5)
    assert there.parameters[name] == out
    run(sim, there, 4.5)
    assert there.parameters[name] == well
    told = [text for text in sim.texts if "SIM" in text]
    assert told == [f"ArduPilot has {name} {well:g} → {out:g}", f"ArduPilot has {name} {out:g} → {well:g}"]
    assert sim.verdict.is_good


def test_what_was_there_before_is_added_to_and_comes_back(flown):
    compasses = {f"SIM_MAG{k}_OFS_X": 5.0 * k for k in (1, 2, 3)}
    fault = {"sensor": "magnetometer", "fault": "offset", "offset": [1e-5, 0, 0], "duration": 1.5}
    sim, there = flown({"magnet": fault}, **compasses)
    run(sim, there, 2.4)
    assert there.parameters == {name: value - 100.0 for name, value in compasses.items()}
    run(sim, there, 4.0)
    assert there.parameters == compasses


def test_one_that_takes_over_learns_of_what_has_failed_before(flown):
    sim, there = flown({"jam": {"sensor": "gnss", "fault": "outage"}}, after=3.0, SIM_GPS_DISABLE=0.0)
    run(sim, there, 4.0)
    assert there.parameters["SIM_GPS_DISABLE"] == 1


@pytest.mark.parametrize("name", ["SIM_GPS_GLITCH_Z", "SIM_GPS1_GLTCH_Z"])
def test_a_ramp_is_told_as_it_grows(flown, name):
    fault = {"sensor": "gnss", "fault": "offset", "offset": [0, 0, 50], "ramp": 10}
    sim, there = flown({"spoof": fault}, **{name: 0.0})
    for until in (3.0, 5.0, 9.0, 12.0):
        run(sim, there, until)
        assert there.parameters[name] == pytest.approx(min(5 * (until - 1), 50), abs=2.0)


def test_a_fault_that_does_not_arrive_fails_the_run(flown):
    sim, there = flown({"jam": {"sensor": "gnss", "fault": "outage"}})
    run(sim, there, 8.0)
    (failure,) = sim.verdict.failures
    assert failure.text == (
        "a fault does not reach ArduPilot: ArduPilot tells nothing of its SIM_GPS_DISABLE or SIM_GPS1_ENABLE"
    )


def test_nobody_at_the_other_end(flown):
    sim, there = flown({"jam": {"sensor": "gnss", "fault": "outage"}})
    there.problem = "it has not connected"
    run(sim, there, 8.0)
    assert [failure.text for failure in sim.verdict.failures] == [
        "a fault does not reach ArduPilot: it has not connected"
    ]


def test_what_cannot_be_done_there_fails_the_run(flown):
    sim, there = flown({"stuck": {"sensor": "gnss", "fault": "frozen"}})
    run(sim, there, 2.0)
    assert [str(failure) for failure in sim.verdict.failures] == [
        "1.000 s: drone: ArduPilot's own simulation cannot freeze its GNSS"
    ]
