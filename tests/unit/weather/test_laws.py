"""Each kind of layer, beside its closed form: the wind at a time and place, without a flight."""

from math import cos, log, pi

import numpy as np
import pytest

import airloom as al
from airloom.kernels import compiled, wind_at
from airloom.weather.shelter import share_left

CALM = {"engine": "batch", "systems": {}, "world.wind": [0, 0, 0], "duration": 1.0}


def weather(wind=(0, 0, 0), **layers):
    return al.Simulation.load(
        "hover", overrides={**CALM, "world.wind": list(wind), "world.weather": {"layers": layers}}
    ).weather


def test_layers_add_up_in_the_order_of_the_file():
    half = {"kind": "profile", "law": "power", "reference_height": 10, "exponent": 1}
    more = {"kind": "constant", "velocity": [0, 2, 1]}
    assert weather((4, 0, 0), half=half, more=more).wind((0, 0, 5)) == pytest.approx([2, 2, 1])
    assert weather((4, 0, 0), more=more, half=half).wind((0, 0, 5)) == pytest.approx([2, 1, 1])


def test_the_wave_is_the_law_of_the_thesis():
    sky = weather(wave={"kind": "wave", "velocity": [3, -2, 1], "amplitude": 0.8, "pulsation": 0.7})
    for t in (0.0, 1.3, 20.0):
        share = 1 - 0.8 * cos(0.7 * t)
        assert sky.wind((5, 6, 7), t) == pytest.approx([3 * share, -2 * share, 1])


def test_gusts_swell_as_one_minus_cosine_hold_and_return():
    sky = weather(gust={"kind": "gust", "velocity": [6, 0, 1], "start": 2, "rise": 1, "hold": 3, "every": 10})
    expected = {1.9: 0, 2.0: 0, 2.25: 3 * (1 - cos(pi / 4)), 2.5: 3, 3: 6, 5.9: 6, 6.5: 3, 7.1: 0, 12.5: 3}
    assert {t: sky.wind((0, 0, 1), t)[0] for t in expected} == pytest.approx(expected)


def test_a_gust_that_is_carried_comes_later_downwind():
    sky = weather(gust={"kind": "gust", "velocity": [6, 0, 0], "start": 1, "carried_by": [5, 0, 0]})
    assert sky.wind((10, 3, 1), 2.9)[0] == 0.0
    assert sky.wind((10, 3, 1), 3.4) == pytest.approx(sky.wind((0, 0, 1), 1.4))


def test_the_logarithmic_profile_is_over_the_ground():
    land = {"terrain": {"kind": "heightfield", "size": [100, 100], "heights": [[7, 7], [7, 7]]}}
    log_law = {"kind": "profile", "roughness": 0.1, "displacement": 1.0}
    world = {**land, "wind": [9, 0, 0], "weather": {"layers": {"grass": log_law}}}
    pose = {"vehicles.cf.pose.position": [0, 0, 8]}
    sky = al.Simulation.load("hover", overrides={**CALM, "world": world, **pose}).weather
    for height, share in ((10, 1.0), (3, log(20) / log(90)), (1.05, 0.0), (50, log(490) / log(90))):
        assert sky.wind((0, 0, 7 + height)) == pytest.approx([9 * share, 0, 0])


ROW = {"path": [[0, -50], [0, 50]], "height": 2.0, "width": 0.0}


def test_shelter_is_behind_a_row_and_fades_above_and_beside_it():
    sky = weather((5, 0, 1), hedge={"kind": "shelter", "porosity": 0.5, "rows": [ROW]})
    for heights in (-4, 1, 5, 20):
        assert sky.wind((2.0 * heights, 0, 1))[0] == pytest.approx(5 * share_left(heights, 0.5), rel=2e-3)
    low = 5 * share_left(5, 0.5)
    assert sky.wind((10, 0, 3))[0] == pytest.approx((low + 5) / 2, rel=1e-3)
    assert sky.wind((10, 0, 4.1)) == pytest.approx([5, 0, 1])
    assert sky.wind((10, 51, 1))[0] == pytest.approx((low + 5) / 2, rel=1e-3)
    assert sky.wind((10, 53, 1))[0] == 5
    assert sky.wind((100, 0, 1))[0] == 5


def test_wind_along_a_row_is_not_hindered():
    assert weather((0, 5, 0), hedge={"kind": "shelter", "rows": [ROW]}).wind((2, 0, 1)) == pytest.approx([0, 5, 0])


def test_vine_rows_of_the_world_give_shelter():
    rule = {"kind": "rows", "polygon": [[-20, -20], [20, -20], [20, 20], [-20, 20]], "between": 2.5, "heading": pi / 2}
    rows = {"vines": {"kind": "vine_row", "scatter": rule}}
    world = {"objects": rows, "wind": [5, 0, 0], "weather": {"layers": {"shelter": {"kind": "shelter"}}}}
    pose = {"vehicles.cf.pose.position": [0, 30, 1]}
    sky = al.Simulation.load("hover", overrides={**CALM, "world": world, **pose}).weather
    among, above, before = (sky.wind(place)[0] for place in ((10, 0, 1), (10, 0, 5), (-60, 0, 1)))
    assert 0.5 < among < 2.5
    assert above == before == 5


AXES = ("time", "z", "y", "x")


def saved(folder, **changes):
    t, z, y, x = (
        np.array([0.0, 10.0]),
        np.array([0.0, 10.0, 20.0]),
        np.array([-50.0, 50.0]),
        np.array([-50.0, 0.0, 50.0]),
    )
    grid = np.meshgrid(t, z, y, x, indexing="ij")
    wind = {"u": 1 + grid[0] + 0.1 * grid[1], "v": 0.02 * grid[2] - 0.01 * grid[3], "w": 0.05 * grid[0] + 0 * grid[1]}
    variables = {"time": t, "z": z, "y": y, "x": x, **wind, **changes}
    file = folder / "wind.npz"
    np.savez(file, **{name: values for name, values in variables.items() if values is not None})
    return str(file)


def test_a_field_is_linear_in_space_and_time(tmp_path):
    sky = weather((0, 0, 0.5), field={"kind": "field", "file": saved(tmp_path), "at_end": "hold"})
    assert sky.wind((20, -30, 7), 4) == pytest.approx([1 + 4 + 0.7, -0.6 - 0.2, 0.5 + 0.2], rel=1e-6)
    assert sky.wind((20, -30, 70), 40) == pytest.approx([1 + 10 + 2, -0.6 - 0.2, 1.0], rel=1e-6), (
        "held beyond its sides"
    )
    again = weather(field={"kind": "field", "file": saved(tmp_path), "at_end": "repeat"})
    assert again.wind((20, -30, 7), 24) == pytest.approx([1 + 4 + 0.7, -0.8, 0.2], rel=1e-6)


UNITS = dict.fromkeys("uvw", "m s-1") | dict.fromkeys("xyz", "m") | {"time": "s"}


def as_classic(file, variables, units=UNITS):
    with pytest.importorskip("scipy.io").netcdf_file(file, "w") as netcdf:
        for name in AXES:
            netcdf.createDimension(name, len(variables[name]))
        for name, values in variables.items():
            made = netcdf.createVariable(name, "d", (name,) if values.ndim == 1 else AXES)
            made[:], made.units = values, units[name]


def as_hdf5(file, variables, units=UNITS):
    with pytest.importorskip("h5netcdf").File(file, "w") as netcdf:
        for name in AXES:
            netcdf.dimensions[name] = len(variables[name])
        for name, values in variables.items():
            made = netcdf.create_variable(name, (name,) if values.ndim == 1 else AXES, data=values)
            made.attrs["units"] = units[name]


@pytest.mark.parametrize("write", [as_classic, as_hdf5])
def test_a_field_may_be_netcdf(write, tmp_path):
    with np.load(saved(tmp_path)) as made:
        variables = dict(made)
    write(tmp_path / "wind.nc", variables)
    sky = weather(field={"kind": "field", "file": str(tmp_path / "wind.nc")})
    assert sky.wind((20, -30, 7), 4) == pytest.approx([5.7, -0.8, 0.2], rel=1e-6)


@pytest.mark.parametrize("write", [as_classic, as_hdf5])
def test_a_netcdf_file_in_other_units_is_refused(write, tmp_path):
    with np.load(saved(tmp_path)) as made:
        variables = dict(made)
    write(tmp_path / "wind.nc", variables, {**UNITS, "u": "knots"})
    with pytest.raises(al.ScenarioError, match="u is in 'knots', but m/s is needed"):
        weather(field={"kind": "field", "file": str(tmp_path / "wind.nc")})


FUNCTIONS = """
from math import sin
import numpy as np
from airloom.kernels import wind_law

def plain(t, position):
    x, y, z = position
    return 0.1 * z, sin(t), 0.0

def as_array(t, position):
    return np.array([0.1 * position[2], np.sin(t), 0.0])

def not_to_be_compiled(t, position):
    import json
    return json.loads(json.dumps([0.1 * position[2], sin(t), 0.0]))

@wind_law
def kernel(t, x, y, z, h, p, v):
    v[0] += p[0] * z
    v[1] += sin(t)
"""


@pytest.mark.parametrize("name", ["plain", "as_array", "not_to_be_compiled", "kernel"])
def test_a_function_beside_the_scenario_is_a_layer_as_any_other(name, tmp_path):
    (tmp_path / "winds.py").write_text(FUNCTIONS)
    layer = {"kind": "function", "function": f"{tmp_path}/winds.py:{name}"}
    if name == "kernel":
        layer["numbers"] = [0.1]
    sim = al.Simulation.load("hover", overrides={**CALM, "world.wind": [1, 0, 0], "world.weather.layers.mine": layer})
    assert sim.weather.wind((0, 0, 5), 2) == pytest.approx([1.5, np.sin(2), 0])
    assert sim.fleet.layers.laws[1].kernel.name != "ask_python" or name == "not_to_be_compiled"
    assert any("called from Python" in text for text in sim.warnings) == (name == "not_to_be_compiled")
    sim.run(0.5)
    vehicle = sim.vehicles["cf"]
    assert vehicle.wind[1] == pytest.approx(np.sin(0.49))


@compiled
def _winds_at(layers, world, places, out):
    for k in range(len(places)):
        wind_at(layers, world, 3.0, places[k, 0], places[k, 1], places[k, 2], out[k])


def test_compiled_code_of_users_sees_the_same_wind():
    sky = weather((3, 0, 0), eddies={"kind": "dryden", "intensity": "severe"})
    places = np.random.default_rng(0).uniform((-100, -100, 1), (100, 100, 60), (20, 3))
    out = np.zeros((20, 3))
    _winds_at(sky.layers, sky._sim.fleet.flight.world, places, out)
    assert out == pytest.approx(np.array([sky.wind(place, 3.0) for place in places]))


def test_density_falls_with_altitude_heat_and_humidity():
    def density(altitude, **world):
        changes = {f"world.{key}": value for key, value in world.items()}
        return al.Simulation.load("hover", overrides={**CALM, **changes}).weather.density(altitude)

    dry = {"weather.humidity": 0}
    assert density(0.0, **dry) == pytest.approx(1.225, abs=1e-5)
    assert density(1000.0, **dry) == pytest.approx(1.11164, abs=1e-4)
    assert density(0.0, **{"weather.humidity": 1}) < 1.2202
