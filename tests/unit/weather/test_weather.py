"""The weather in a run: who feels it, who is told of it, and what an edit, a reset and a live wind leave of it."""

import numpy as np
import pytest

import airloom as al
from airloom.bus import messages

EDDIES = {"kind": "dryden", "intensity": "moderate"}
CALM = {"systems": {}, "world.wind": [4, 1, 0], "vehicles.cf.drag": 0.02, "vehicles.cf.pose.position": [0, 0, 12]}


def flight(engine="batch", **changes):
    return al.Simulation.load("hover", overrides={**CALM, "engine": engine, **changes})


def hovering(engine="batch", **changes):
    sim = flight(engine, **changes)
    sim.vehicles["cf"].command(al.PositionYaw((0, 0, 12)))
    return sim


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_a_run_in_turbulence_repeats_to_the_bit_however_it_is_stepped(engine):
    layers = {
        "world.weather.layers": {"eddies": EDDIES, "ground": {"kind": "profile"}},
        "world.weather.density": "actual",
    }
    sim = hovering(engine, **layers)
    sim.run(0.4)
    expected = sim.state_hash()
    sim.reset()
    sim.vehicles["cf"].command(al.PositionYaw((0, 0, 12)))
    sim.bus.subscribe("/wind/info", lambda *_: None)
    for ticks in (1, 2, 7, 90, 300):
        sim.step(ticks)
    assert sim.state_hash() == expected
    assert not np.allclose(sim.vehicles["cf"].wind, (4, 1, 0))


def test_vehicles_at_one_place_feel_the_same_wind_and_others_another():
    vehicle = {"extends": "crazyflie2", "controller": None}
    fleet = {name: {**vehicle, "pose": {"position": place}} for name, place in
             {"a": [0, 0, 20], "b": [0, 0, 20], "c": [0, 200, 20]}.items()}  # fmt: skip
    world = {"wind": [4, 0, 0], "weather": {"layers": {"eddies": EDDIES}}}
    sim = al.Simulation.load("hover", overrides={"engine": "batch", "systems": {}, "vehicles": fleet, "world": world})
    sim.step(11)
    a, b, c = (sim.vehicles[name].wind for name in "abc")
    assert (a == b).all()
    assert not np.allclose(a, c)


def test_wind_is_felt_anew_at_the_rate_of_the_weather():
    sim = flight(**{"world.weather": {"rate": 50, "layers": {"wave": {"kind": "wave", "velocity": [2, 0, 0]}}}})
    felt = []
    for _ in range(60):
        sim.step(1)
        felt.append(sim.vehicles["cf"].wind[0])
    assert np.count_nonzero(np.diff(felt)) == 2


def test_a_wind_of_its_own_goes_before_the_weather_until_it_is_given_back():
    sim = flight(**{"world.weather.layers": {"eddies": EDDIES}})
    vehicle = sim.vehicles["cf"]
    vehicle.set_wind((1, 2, 3))
    sim.step(50)
    assert list(vehicle.wind) == [1, 2, 3]
    sim.change(sim.scenario.model_copy(update={"duration": 99.0}))
    sim.step(50)
    assert list(vehicle.wind) == [1, 2, 3]
    vehicle.set_wind(None)
    sim.step(11)
    assert not np.allclose(vehicle.wind, (1, 2, 3))


@pytest.mark.parametrize("layers", [{}, {"more": {"kind": "constant", "velocity": [0, 0, 1]}}])
def test_the_wind_is_set_by_topic(layers):
    sim = flight(**{"world.weather.layers": layers})
    sim.step(5)
    topic = sim.bus.advertise("/wind/update", messages.VECTOR3)
    topic.publish(messages.build(messages.VECTOR3, {"x": -2.0, "y": 7.0}), sim.time_ns)
    up = len(layers)
    sim.step(20)
    assert sim.vehicles["cf"].wind == pytest.approx([-2, 7, up])
    assert sim.weather.wind((0, 0, 5)) == pytest.approx([-2, 7, up])
    sim.change(sim.scenario.model_copy(update={"duration": 99.0}))
    sim.step(20)
    assert sim.vehicles["cf"].wind == pytest.approx([-2, 7, up]), "an edit leaves it"
    topic.publish(messages.build(messages.VECTOR3, {"x": np.nan}), sim.time_ns)
    assert "three numbers" in sim.warnings[-1]
    sim.reset()
    sim.step(20)
    assert sim.vehicles["cf"].wind == pytest.approx([4, 1, up]), "a reset does not"


def test_info_tells_true_and_apparent_wind_and_drag_of_each_part_20_times_a_second():
    parts = {"base": {"coefficient": 0.3}, "tank": {"coefficient": [0.5, 0.4, 0.2], "position": [0, 0, -0.1]}}
    sim = flight(**{"vehicles.cf.drag": parts, "vehicles.cf.motion.velocity": [1, 0, 0]})
    told = []
    sim.bus.subscribe("/wind/info", lambda topic, message, time: told.append((time, message)))
    sim.run(0.2)
    assert [time for time, _ in told] == [50_000_000 * k for k in range(5)]
    first = told[0][1]
    assert first.name == ["cf/base", "cf/tank"]
    true, apparent = first.true_wind[1], first.apparent_wind[1]
    assert (true.x, true.y, apparent.x, apparent.y) == (4, 1, 3, 1)
    speed = np.hypot(3, 1)
    assert [(f.x, f.y, f.z) for f in first.drag_force] == [
        pytest.approx((0.3 * speed * 3, 0.3 * speed * 1, 0)), pytest.approx((0.5 * speed * 3, 0.4 * speed * 1, 0)),
    ]  # fmt: skip


def test_nobody_who_listens_costs_no_pause():
    sim = flight()
    sim.step(1)
    assert sim.weather.info.turns == []


def free_body(engine, **changes):
    """After a tick of Euler's scheme, in which forces are those at its beginning."""
    sim = flight(
        {"kind": engine, "integrator": "euler"},
        **{"world.gravity": 0, "vehicles.cf.controller": None, "vehicles.cf.mass": 2.0, **changes},
    )
    sim.step(1)
    return sim.vehicles["cf"]


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_three_numbers_are_drag_along_the_axes_of_the_body(engine):
    body = free_body(engine, **{"vehicles.cf.drag": [0.3, 0.5, 0.1], "vehicles.cf.pose.yaw": np.pi / 2})
    speed = np.hypot(4, 1)  # the wind comes along −y of the body with 4 m/s, along x with 1 m/s
    assert body.velocity == pytest.approx([0.5 * speed * 4 * 5e-4, 0.3 * speed * 1 * 5e-4, 0], rel=1e-3)


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_a_part_aside_turns_the_vehicle(engine):
    inertia = {"xx": 0.1, "yy": 0.1, "zz": 0.2}
    boom = {"boom": {"coefficient": 0.4, "position": [0, 1.5, 0]}}
    body = free_body(engine, **{"vehicles.cf.drag": boom, "vehicles.cf.inertia": inertia, "world.wind": [3, 0, 0]})
    force = 0.4 * 9
    assert body.velocity[0] == pytest.approx(force / 2.0 * 1e-3, rel=1e-3)
    assert body.rates[2] == pytest.approx(-1.5 * force / 0.2 * 1e-3, rel=1e-3)


def test_parts_with_one_coefficient_at_the_centre_are_a_number():
    whole = free_body("batch", **{"vehicles.cf.drag": 0.7})
    parts = free_body("batch", **{"vehicles.cf.drag": {"a": {"coefficient": 0.3}, "b": {"coefficient": 0.4}}})
    assert parts.velocity == pytest.approx(whole.velocity, rel=1e-12)


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_thin_air_gives_less_thrust_and_less_drag(engine):
    high = {"world.origin.altitude": 3000, "world.weather": {"density": "actual", "humidity": 0}}
    share = flight(**high).weather.density(3012.0) / 1.225
    assert share == pytest.approx(0.7417, abs=1e-3)
    drags = [free_body(engine, **{"vehicles.cf.drag": 0.7, **changes}).velocity[0] for changes in ({}, high)]
    assert drags[1] / drags[0] == pytest.approx(share, rel=1e-4)

    def climb(**changes):
        sim = flight(engine, **{"world.gravity": 0, "vehicles.cf.controller": None, "world.wind": [0, 0, 0], **changes})
        vehicle = sim.vehicles["cf"]
        vehicle.set_rotor_speeds([1500.0] * 4)
        sim.step(20)
        return vehicle.velocity[2]

    assert climb(**high) / climb() == pytest.approx(share, rel=1e-3)
