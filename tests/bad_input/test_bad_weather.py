"""Whatever is wrong with the weather, the user reads where and what to do, and a run that has begun keeps its log."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.weather import patience

HEAD = "name: t\nduration: 2\nengine: batch\nvehicles:\n  cf: crazyflie2\nworld:\n  weather:\n    layers:\n"


def scenario(folder, layer, head=HEAD):
    file = folder / "t.yaml"
    file.write_text(head + f"      mine: {layer}\n")
    return file


def refused(folder, layer, head=HEAD):
    with pytest.raises(al.ScenarioError) as caught:
        al.Simulation.load(scenario(folder, layer, head))
    return str(caught.value)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        ("{kind: breeze}", "t.yaml, line 9: world.weather.layers.mine.kind: must be 'constant', 'wave'"),
        ("{kind: dryden, intensity: mild}", "must be 'light', 'moderate' or 'severe'"),
        ("{kind: dryden, wind_at_20_feet: -3}", "wind_at_20_feet: must be at least 0, got -3"),
        ("{kind: dryden, intensity: light, wind_at_20_feet: 3}", "give either intensity or wind_at_20_feet"),
        ("{kind: dryden, standard: MIL-F-9490D}", "must be 'MIL-F-8785C' or 'MIL-HDBK-1797'"),
        ("{kind: wave, velocity: [1, 2]}", "mine.velocity: must be a list of 3"),
        ("{kind: wave, velocity: [1, 0, 0], amplitude: -1}", "amplitude: must be at least 0, got -1"),
        ("{kind: gust, velocity: [1, 0, 0], rise: 3, every: 5}", "a gust lasts 6 s, longer than the 5 s of 'every'"),
        ("{kind: profile, reference_height: 0.01}", "reference_height must be above displacement + roughness"),
        ("{kind: shelter}", "mine: there are no vine rows in the world to give shelter; add an object"),
        ("{kind: shelter, porosity: 1.2}", "porosity: must be at most 0.9, got 1.2"),
        ("{kind: field, file: nowhere.npz}", "there is no file 'nowhere.npz'"),
        ("{kind: constant, velocity: [1, 0, 0], gusty: true}", "mine.gusty: unknown key"),
        ("{kind: constant, velocity: [0, 2000, 0]}", "mine.velocity.1: must be at most 1000, got 2000"),
    ],
)  # fmt: skip
def test_a_layer_that_cannot_be_is_refused_where_it_is_written(layer, said, tmp_path):
    assert said in refused(tmp_path, layer)


def test_a_temperature_in_celsius_is_refused(tmp_path):
    said = refused(tmp_path, "{kind: profile}", HEAD.replace("world:\n", "world:\n  temperature: 30\n"))
    assert "world.temperature: must be 170 to 350 K, got 30; in kelvin, which is 273.15 more than in °C" in said


def test_a_rate_that_does_not_fit_the_step_is_refused_with_those_that_do(tmp_path):
    head = HEAD.replace("  weather:\n", "  weather:\n    rate: 300\n")
    assert "world.weather.rate: 300 Hz does not fit" in refused(tmp_path, "{kind: profile}", head)


AXES = {"x": np.arange(3.0), "y": np.arange(2.0), "z": np.arange(4.0), "time": np.arange(0.0, 10.0)}
CALM = {name: np.zeros((10, 4, 2, 3)) for name in "uvw"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"u": None}, "wind.npz has no variable u; it has time, v, w, x, y, z, and needs x, y, z (m), u, v (m/s)"),
        ({"v": np.zeros((4, 2, 3))}, "v has the shape (4, 2, 3), but its axes time, z, y, x make (10, 4, 2, 3)"),
        ({"w": np.full((10, 4, 2, 3), np.nan)}, "w holds values that are no finite numbers"),
        ({"x": np.array([0.0, 2.0, 1.0])}, "x must grow, but 1 follows 2; turn round an axis that falls"),
        ({"v": np.full((10, 4, 2, 3), 3e4)}, "v reaches 3e+04 m/s; no wind is over 1000"),
        ({"time": np.arange(1.0, 11.0)}, "begins at 1 s, after the run; let its time begin at 0, or say at_end: hold"),
        ({"u": np.array(["calm"] * 3)}, "u must hold numbers"),
        ({"time": np.arange(10) * 0.1}, "ends at 0.9 s, before the run at 2 s; shorten the run's duration, or say"),
    ],
)  # fmt: skip
def test_a_wind_file_that_cannot_be_used_is_refused(changes, said, tmp_path):
    variables = {**AXES, **CALM, **changes}
    np.savez(tmp_path / "wind.npz", **{key: value for key, value in variables.items() if value is not None})
    assert said in refused(tmp_path, "{kind: field, file: wind.npz}")


@pytest.mark.parametrize("beginning", [b"PK\x03\x04", b"CDF\x01", b"\x89HDF\r\n\x1a\n", b"wind", b""])
def test_a_damaged_wind_file_is_refused(beginning, tmp_path):
    (tmp_path / "wind.npz").write_bytes(beginning + bytes(range(200)))
    said = refused(tmp_path, "{kind: field, file: wind.npz}")
    assert "it may be damaged" in said or "is neither an .npz nor a NetCDF file" in said


FUNCTIONS = """
import json
import time

def raising(t, position):
    if t > 1.0:
        raise ValueError("no more wind")
    return 1.0, 0.0, 0.0

def raising_in_python(t, position):
    json.dumps({})
    return raising(t, position)

def dividing(t, position):
    return (1e308 * (1.0 + 10.0 * (t // 1.0)), 0.0, 0.0) if t >= 1.0 else (1.0, 0.0, 0.0)

def growing(t, position):
    return 10.0 ** (3.0 * t), 0.0, 0.0

def pair(t, position):
    return 1.0, 2.0

def words(t, position):
    return "a gale"

def at_once(t, position):
    return position[5], 0.0, 0.0

def slow(t, position):
    time.sleep(0.3)
    return 0.0, 0.0, 0.0

number = 5
"""


@pytest.fixture
def functions(tmp_path):
    (tmp_path / "winds.py").write_text(FUNCTIONS)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pair", "line 20: pair(0, (0, 0, 1)): must give three numbers, east, north and up in m/s, got (1.0, 2.0)"),
        ("words", "winds.py, line 23: words(0, (0, 0, 1)): must give three numbers"),
        ("at_once", "winds.py, line 27: at_once(0, (0, 0, 1)): IndexError: tuple index out of range"),
        ("storm", "has no function 'storm'"),
        ("number", "winds.py:number is neither a function nor a kernel of kind wind_law"),
    ],
)  # fmt: skip
def test_a_function_that_is_no_wind_is_refused_with_its_line(name, said, functions):
    assert said in refused(functions, f"{{kind: function, function: winds.py:{name}}}")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("raising", "winds.py, line 7: raising(1.01, (0, 0, 0.0"),
        ("raising_in_python", "winds.py, line 7: raising_in_python(1.01, (0, 0, 0.0"),
        ("dividing", "must give finite numbers, got (inf, 0.0, 0.0)"),
        ("growing", "must give at most 1000 m/s, got (1071.5"),
    ],
)
def test_a_function_that_fails_in_flight_ends_the_run_with_its_log_complete(name, said, functions):
    sim = al.Simulation.load(scenario(functions, f"{{kind: function, function: winds.py:{name}}}"))
    times = []
    sim.bus.subscribe("/clock", lambda topic, message, time: times.append(time), raw=False)
    with pytest.raises(al.AirloomError, match=r"world.weather.layers.mine gives no wind at t = 1") as caught:
        sim.run()
    assert said in str(caught.value)
    assert max(times) >= 1_000_000_000


def test_who_waits_for_a_slow_function_knows_for_what(functions, monkeypatch, capfd):
    monkeypatch.setattr(patience, "LONG", 0.0)
    monkeypatch.setattr(patience, "LOOK", 0.02)
    al.Simulation.load(scenario(functions, "{kind: function, function: winds.py:slow}"))
    assert "winds.py:slow is being called for the first time, 0 s so far" in capfd.readouterr().err


def test_whoever_is_told_that_a_function_stays_in_python_reads_why_in_plain_text(functions):
    sim = al.Simulation.load(scenario(functions, "{kind: function, function: winds.py:slow}"))
    (said,) = (text for text in sim.warnings if "cannot be compiled" in text)
    assert "which takes longer: Unknown attribute 'sleep' of type Module(<module 'time'" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("place", [(1, 2), (0, 0, np.nan)])
def test_a_place_that_is_none_has_no_wind(place, tmp_path):
    sim = al.Simulation.load(scenario(tmp_path, "{kind: profile}"))
    with pytest.raises(ValueError, match="a place is three numbers, x, y and z in m, got"):
        sim.weather.wind(place)
