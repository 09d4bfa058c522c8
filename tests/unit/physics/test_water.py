"""Water and what it does: seas, currents, thrusters, hulls that are meshes; on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.basics.rotations import matrix_from_quaternion
from airloom.scenario import ScenarioError, load_vehicle
from airloom.scenario.models import Scenario, Vehicle, World
from airloom.simulation import Simulation
from airloom.world.land import Land
from airloom.world.water import flow_at, pressure_at, surface_at

BALL = {"kind": "ball", "radius": 0.1}
BALL_VOLUME = 4 / 3 * np.pi * 0.1**3


def land(key=0, **water):
    it = Land(World.model_validate({"water": water}))
    it.begin(key)
    return it


def flow(it, t, x, y, z):
    out = np.zeros(6)
    flow_at(it.array, t, x, y, z, out)
    return out


def body(**changes):
    usual = {
        "mass": 4.0, "inertia": {"xx": 0.02, "yy": 0.02, "zz": 0.02}, "body": {"size": [0.1, 0.1, 0.1]},
        "hull": {"shapes": {"ball": BALL}}, "pose": {"position": [0, 0, -5]},
    }  # fmt: skip
    return usual | changes


def sim_of(vehicle, engine="batch", seed=0, **water):
    world = {"terrain": {"kind": "plane", "height": -50.0}, "water": water}
    given = {"name": "sea", "engine": {"kind": engine}, "world": world, "vehicles": {"v": vehicle}, "seed": seed}
    return Simulation(Scenario.model_validate(given))


def test_a_sea_is_as_high_as_its_file_says_and_another_for_each_key():
    it, other = (land(key, sea={"significant_height": 2.0, "peak_period": 8.0, "components": 32}) for key in (1, 2))
    times = np.arange(0.0, 4000.0, 0.7)
    heights = np.array([surface_at(it.array, t, 3.0, 4.0)[0] for t in times])
    assert 4 * heights.std() == pytest.approx(2.0, rel=0.03)
    assert abs(heights.mean()) < 0.02
    assert heights[5] != surface_at(other.array, times[5], 3.0, 4.0)[0]


def test_slopes_and_accelerations_are_those_of_the_waves():
    it = land(
        sea={"significant_height": 0.5, "peak_period": 4.0, "direction": 0.7}, waves=[{"amplitude": 0.1, "length": 9.0}]
    )
    height, east, north = surface_at(it.array, 2.0, 1.0, -3.0)
    e = 1e-5
    assert east == pytest.approx((surface_at(it.array, 2.0, 1.0 + e, -3.0)[0] - height) / e, abs=1e-4)
    assert north == pytest.approx((surface_at(it.array, 2.0, 1.0, -3.0 + e)[0] - height) / e, abs=1e-4)
    now, soon = flow(it, 2.0, 1.0, -3.0, -1.5), flow(it, 2.0 + e, 1.0, -3.0, -1.5)
    assert now[3:] == pytest.approx((soon - now)[:3] / e, abs=1e-4)
    rise = (surface_at(it.array, 2.0 + e, 1.0, -3.0)[0] - height) / e
    assert flow(it, 2.0, 1.0, -3.0, 0.0)[2] == pytest.approx(rise, abs=1e-4)


def test_currents_by_depth_and_time_add_up():
    knots = {"by_depth": [[0, 1, 0, 0], [10, 0, 0, 0]], "by_time": [[0, 0, 0, 0], [20, 0, 2, 0]]}
    it = land(current={"velocity": [0.1, 0, 0], **knots})
    assert flow(it, 5.0, 0, 0, -2.5)[:3] == pytest.approx([0.85, 0.5, 0])
    assert flow(it, 100.0, 0, 0, -40.0)[:3] == pytest.approx([0.1, 2.0, 0])


def test_pressure_goes_through_the_layers():
    it = land(density=1000.0, layers=[{"below": -10.0, "density": 1030.0}])
    assert pressure_at(it.array, 9.8, 0.0, 0.0, 0.0, -15.0) == pytest.approx(9.8 * (1000 * 10 + 1030 * 5))
    assert pressure_at(it.array, 9.8, 0.0, 0.0, 0.0, 1.0) == 0.0


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_what_weighs_as_much_as_its_water_goes_with_the_waves(engine):
    """Pressure of the waves and added mass together move it as they move the water, which goes round in circles."""
    hull = {"shapes": {"ball": BALL}, "added_mass": [0.5 * 1025 * BALL_VOLUME] * 3 + [0.0] * 3}
    waves = [{"amplitude": 0.2, "length": 20.0}]
    start = flow(land(waves=waves), 0.0, 0.0, 0.0, -3.0)[:3].tolist()
    vehicle = body(mass=1025 * BALL_VOLUME, hull=hull, pose={"position": [0, 0, -3]}, motion={"velocity": start})
    sim = sim_of(vehicle, engine, waves=waves)
    sim.run(until=3.0)
    ours, water = sim.vehicles["v"].velocity, sim.water.flow(sim.vehicles["v"].position)
    assert np.linalg.norm(water) > 0.1
    assert ours == pytest.approx(water, abs=0.02)


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_a_current_by_topic_carries_a_buoy_and_is_part_of_the_state(engine):
    sim = sim_of(
        body(mass=3.0, pose={"position": [0, 0, 0]}, hull={"shapes": {"ball": BALL}, "damping": [9.0] * 6}), engine
    )
    before = sim.state_hash()
    sim.water.set_current((0.5, 0.0, 0.0))
    assert sim.state_hash() != before
    sim.run(until=8.0)
    assert sim.vehicles["v"].velocity[0] == pytest.approx(0.5, abs=0.02)
    sim.reset()
    assert sim.state_hash() == before


def test_a_thruster_pushes_less_backwards_and_next_to_nothing_above_the_water():
    rotor = {"position": [0, 0, 0], "axis": [1, 0, 0], "turns": "ccw", "thrust_constant": 0.01, "moment_constant": 0.0}
    rotor |= {"max_speed": 40.0, "radius": 0.05, "in_water": {"reverse": 0.5}, "time_constant_up": 0.001}
    forces = {}
    for speed, z in ((30.0, -5.0), (-30.0, -5.0), (30.0, 5.0)):
        vehicle = body(rotors={"t": rotor}, sensors={"odometry": {"kind": "odometry"}}, controller=None)
        sim = sim_of(vehicle | {"pose": {"position": [0, 0, z]}}, density=1000.0)
        sim.vehicles["v"].set_rotor_speeds([speed])
        sim.step(20)
        begin = sim.vehicles["v"].velocity[0]
        sim.step(10)
        forces[speed, z] = 4.0 * (sim.vehicles["v"].velocity[0] - begin) / 0.01
    assert forces[30.0, -5.0] == pytest.approx(9.0, rel=1e-3)
    assert forces[-30.0, -5.0] == pytest.approx(-4.5, rel=1e-3)
    assert 0 < forces[30.0, 5.0] < 0.02


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
@pytest.mark.parametrize("step", [0.001, 0.02, 0.05])
@pytest.mark.parametrize("ratio", [0.1, 3.0, 30.0])
def test_water_that_moves_along_neither_gives_nor_takes_energy_at_any_step(engine, step, ratio):
    """However heavy it is beside the body, which tumbles through a current without friction."""
    mass, current = 1025 * BALL_VOLUME, np.array([0.3, 0.2, 0.0])
    added = ratio * mass * np.diag([0.5, 0.75, 1.0, 0.0025, 0.004, 0.005])
    added[0, 4] = added[4, 0] = 0.012 * ratio * mass
    vehicle = body(mass=mass, hull={"shapes": {"ball": BALL}, "added_mass": added.tolist()})
    vehicle |= {"motion": {"velocity": [1, 0.5, 0], "rates": [1, 2, 3]}}
    vehicle["estimator"] = {"kind": "ideal", "rate": 1 / step}
    given = {"name": "sea", "step": step, "engine": {"kind": engine}, "vehicles": {"v": vehicle}}
    given["world"] = {"terrain": {"kind": "plane", "height": -50.0}, "water": {"current": {"velocity": list(current)}}}
    given["log"] = {"rate": 1.0}
    sim = Simulation(Scenario.model_validate(given))
    both, v = added + np.diag([mass] * 3 + [0.02] * 3), sim.vehicles["v"]

    def energy():
        flow = np.concatenate([matrix_from_quaternion(v.attitude).T @ (v.velocity - current), v.rates])
        return flow @ both @ flow

    before = energy()
    sim.run(until=5.0)
    assert energy() == pytest.approx(before, rel=0.005)


def test_damping_that_stages_cannot_follow_is_refused_and_mujoco_takes_it():
    vehicle = body(hull={"shapes": {"ball": BALL}, "damping": [20_000.0, 1, 1, 1, 1, 1]})
    with pytest.raises(ScenarioError, match=r"damping.*at most 0\.00054 s.*integrator: euler"):
        sim_of(vehicle)
    sim = sim_of(vehicle | {"motion": {"velocity": [1, 0, 0]}}, "mujoco")
    sim.run(until=0.1)
    assert abs(sim.vehicles["v"].velocity[0]) < 1e-3


CUBE = load_vehicle("boat").hull.shapes["left_pontoon"]


def test_a_mesh_that_is_open_is_refused():
    with pytest.raises(ValueError, match="the mesh is open: 3 of"):
        type(CUBE)(kind="mesh", vertices=CUBE.vertices, faces=CUBE.faces[1:])
    with pytest.raises(ValueError, match="face inwards"):
        type(CUBE)(kind="mesh", vertices=CUBE.vertices, faces=[face[::-1] for face in CUBE.faces])


def test_an_open_mesh_in_a_file_is_refused_too(tmp_path):
    (tmp_path / "open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
    hull = {"shapes": {"it": {"kind": "mesh", "file": str(tmp_path / "open.obj")}}}
    with pytest.raises(ScenarioError, match=r"vehicle \w+: hull: .*open.obj: the mesh is open"):
        sim_of(body(hull=hull))


def test_an_added_mass_with_the_wrong_sign_is_refused():
    with pytest.raises(ValueError, match=r"must be positive definite.*opposite sign"):
        Vehicle.model_validate(body(hull={"shapes": {"ball": BALL}, "added_mass": [-5.0] + [0.0] * 5}))


def test_layers_out_of_order_are_refused():
    with pytest.raises(ValueError, match="denser the deeper"):
        World.model_validate({"water": {"layers": [{"below": -5.0, "density": 900.0}]}})
