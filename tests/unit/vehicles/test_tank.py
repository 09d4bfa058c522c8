"""Tanks: what flows, what the vehicle weighs, how the liquid swings; the sprayer."""

from __future__ import annotations

import numpy as np
import pytest

import airloom as al
from airloom.bus import messages
from airloom.kernels import LANES, row
from airloom.runs.link.methods import parse

WORLD = "world: {wind: [8, 0, 0]}"


def load(folder, vehicle="{extends: sprayer}", engine="batch", more="", step=0.001):
    file = folder / "spraying.yaml"
    file.write_text(f"name: spraying\nengine: {engine}\nstep: {step}\n{more}\nvehicles:\n  s: {vehicle}\n")
    return al.Simulation.load(file)


def tell(sim):
    """What is told on /events from now on."""
    texts = []
    sim.bus.subscribe("/events", lambda topic, message, time: texts.append(message.text))
    return texts


def hover(sim, height=5.0, until=20.0):
    vehicle = sim.vehicles["s"]
    vehicle.command(al.PositionYaw((0, 0, height)))
    sim.run(until=until)
    return vehicle


# -- flow --------------------------------------------------------------------------------------------------------------


def test_what_leaves_is_what_was_given_and_the_last_tick_gives_the_rest(tmp_path):
    sim = load(tmp_path, "{extends: sprayer, tank: {litres: 0.1, lag: 0.0}}")
    tank = sim.vehicles["s"].tank
    tank.command(4.0)
    sim.run(until=1.0)
    assert tank.litres == pytest.approx(0.1 - 4.0 / 60.0, abs=1e-12)
    assert tank.flow == pytest.approx(4.0)
    sim.run(until=1.499)
    assert tank.litres > 0.0
    sim.run(until=2.0)
    assert (tank.litres, tank.flow) == (0.0, 0.0)
    assert tank.given == pytest.approx(0.1, abs=1e-14)
    assert sim.vehicles["s"].mass == 15.0


def test_flow_follows_the_command_with_its_lag_and_the_share_of_open_nozzles(tmp_path):
    sim = load(tmp_path, "{extends: sprayer, tank: {lag: 0.2}}")
    tank = sim.vehicles["s"].tank
    tank.command(4.0)
    sim.run(until=0.2)
    assert tank.flow == pytest.approx(4.0 * (1 - np.exp(-1)), rel=1e-6)
    tank.open_share = 0.25
    sim.run(until=5.0)
    assert tank.flow == pytest.approx(1.0, rel=1e-6)
    tank.open_share = 1.0
    tank.command(100.0)
    sim.run(until=8.0)
    assert tank.flow == pytest.approx(5.0, rel=1e-6)
    assert "the pump gives 5" in sim.warnings[0]


def test_an_empty_tank_is_told_once_and_may_be_refilled(tmp_path):
    sim = load(tmp_path, "{extends: sprayer, tank: {litres: 0.05}}")
    vehicle, texts = sim.vehicles["s"], tell(sim)
    vehicle.tank.command(5.0)
    sim.run(until=3.0)
    vehicle.tank.command(5.0)
    sim.run(until=4.0)
    # 5/60 (t − 0.3 (1 − e^(−t/0.3))) = 0.05 L at t = 0.884 s
    assert [text for text in texts if "empty since" in text] == [
        "tank: empty since 0.88 s, 0.05 L given; nothing flows until it is refilled"
    ]
    assert vehicle.tank.flow == 0.0
    assert np.isfinite(vehicle.state).all()
    vehicle.tank.refill(2.0)
    assert vehicle.mass == pytest.approx(17.0)
    sim.run(until=5.0)
    assert vehicle.tank.flow == pytest.approx(5.0, rel=1e-3)


@pytest.mark.parametrize("flow", [-1.0, float("nan"), float("inf"), "much", None])
def test_impossible_flows_are_refused(flow, tmp_path):
    tank = load(tmp_path).vehicles["s"].tank
    with pytest.raises(al.CommandError, match="flow of its tank must be 0 or more L/min"):
        tank.command(flow)
    assert tank.asked == 0.0


def test_more_than_it_holds_is_refused(tmp_path):
    tank = load(tmp_path, "{extends: sprayer, tank: {litres: 1}}").vehicles["s"].tank
    with pytest.raises(al.CommandError, match="must be 0 to 10 L, got 11"):
        tank.refill(11)
    with pytest.raises(al.CommandError, match="open_share"):
        tank.open_share = 1.5


def test_flow_is_commanded_by_topic_and_nonsense_told(tmp_path):
    sim = load(tmp_path)
    texts = tell(sim)
    topic = sim.bus.advertise("/s/flow_rate_update", messages.FLOAT64)
    topic.publish(messages.build(messages.FLOAT64, {"data": 3.0}), 0)
    topic.publish(messages.build(messages.FLOAT64, {"data": -3.0}), 0)
    sim.run(until=3.0)
    assert sim.vehicles["s"].tank.flow == pytest.approx(3.0, rel=1e-3)
    assert [text for text in texts if "refused" in text and "-3" in text]


def test_the_control_link_sprays_and_refills(tmp_path):
    vehicle = load(tmp_path).vehicles["s"]
    parse(b'{"method": "spray", "vehicle": "s", "flow": 2.5}').act(None, [vehicle])
    parse(b'{"method": "refill", "vehicle": "s", "litres": 3}').act(None, [vehicle])
    assert (vehicle.tank.asked, vehicle.tank.litres) == (2.5, 3.0)
    with pytest.raises(al.CommandError, match="must be 0 or more"):
        parse(b'{"method": "spray", "vehicle": "s", "flow": -1}').act(None, [vehicle])


# -- the file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tank", "complaint"),
    [
        ("{litres: 11}", "litres is 11, more than its capacity of 10 L"),
        ("{litres: -1}", "must be at least 0"),
        ("{litres: .nan}", "must be a finite number"),
        ("{capacity: 20}", "its size holds only 11.88 L"),
        ("{position: [0.3, 0, -0.12]}", "reaches 0.15 m out of the body along x"),
        ("{shape: upright_cylinder}", "an upright cylinder is as long as wide"),
        ("{shape: lying_cylinder}", "a lying cylinder is as high as wide, or as high as long"),
        ("{density: 0}", "must be greater than 0"),
    ],
)
def test_impossible_tanks_are_refused_by_key(tank, complaint, tmp_path):
    with pytest.raises(al.ScenarioError, match="tank") as error:
        load(tmp_path, f"{{extends: sprayer, tank: {tank}}}")
    assert complaint in str(error.value)


def test_a_level_needs_a_tank(tmp_path):
    with pytest.raises(al.ScenarioError, match=r"vehicles\.s\.sensors\.level: .*the vehicle has none"):
        load(tmp_path, "{extends: x500, sensors: {level: {kind: tank_level}}}")


def test_a_vehicle_without_a_tank_has_none(tmp_path):
    assert load(tmp_path, "{extends: x500}").vehicles["s"].tank is None


# -- weight ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["box", "upright_cylinder", "lying_cylinder"])
def test_mass_and_centre_follow_the_level(shape, tmp_path):
    size = {"box": [0.3, 0.22, 0.18], "upright_cylinder": [0.25, 0.25, 0.25], "lying_cylinder": [0.5, 0.2, 0.2]}[shape]
    sim = load(tmp_path, f"{{extends: sprayer, tank: {{shape: {shape}, size: {size}, max_flow: 600}}}}")
    vehicle, masses, centres = sim.vehicles["s"], [], []
    vehicle.tank.command(600.0)
    while vehicle.tank.litres > 0.0:
        sim.step(20)
        masses.append(vehicle.mass - 15.0 - vehicle.tank.liquid_mass)
        centres.append(sim.fleet.column(sim.fleet.crafts[0])[row.LIQUID_Z // LANES])
    assert np.abs(masses).max() < 2e-3  # it is weighed anew for each 10 000th of the capacity
    assert (np.diff(centres) <= 1e-12).all()
    assert centres[-1] == pytest.approx(-0.12 - size[2] / 2, abs=1e-6)
    assert vehicle.mass == 15.0


def test_what_cannot_be_lifted_stays_on_the_ground_and_the_run_says_why(tmp_path):
    heavy = "{extends: sprayer, pose: {position: [0, 0, 0.42]}, tank: {density: 7000}}"
    sim = load(tmp_path, heavy, engine="mujoco")
    vehicle = hover(sim, until=3.0)
    assert vehicle.position[2] == pytest.approx(0.42, abs=0.02)
    assert any("lift 699 N, the vehicle weighs 834 N: it cannot fly with 10 L" in text for text in sim.warnings)


def test_what_cannot_be_lifted_in_thin_air_stays_on_the_ground_and_the_run_says_why(tmp_path):
    high = "world: {origin: {altitude: 4000}, weather: {density: actual}}"
    sim = load(tmp_path, "{extends: sprayer, tank: {density: 4000}}", more=high)
    assert hover(sim, until=3.0).position[2] == pytest.approx(0.42, abs=0.02)
    assert any("lift 467 N, the vehicle weighs 539 N: it cannot fly with 10 L" in text for text in sim.warnings)
    assert any(text.endswith("in its tank in air of 0.818 kg/m³") for text in sim.warnings)


def test_a_dry_vehicle_that_is_too_heavy_is_refused_as_ever(tmp_path):
    with pytest.raises(al.ScenarioError, match="it cannot fly"):
        load(tmp_path, "{extends: sprayer, mass: 80}")


# -- flight ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("controller", ["modes", "cascade"])
def test_a_full_sprayer_flies_on_a_plateau_as_by_the_sea(controller, tmp_path):
    heights = []
    for altitude in (0, 4000):
        world = f"world: {{origin: {{altitude: {altitude}}}, weather: {{density: actual}}}}"
        sim = load(tmp_path, f"{{extends: sprayer, controller: {controller}}}", more=world)
        heights.append(hover(sim, until=6.0).position[2])
    assert heights[0] == pytest.approx(5.0, abs=0.25)
    assert heights[1] == pytest.approx(heights[0], abs=0.02)


@pytest.mark.parametrize("controller", ["modes", "cascade"])
def test_the_sprayer_flies_from_full_to_empty_in_wind_without_retuning(controller, tmp_path):
    sim = load(tmp_path, f"{{extends: sprayer, controller: {controller}, tank: {{max_flow: 20}}}}", more=WORLD)
    vehicle = hover(sim, until=25.0)
    vehicle.tank.command(20.0)
    heights = []
    while vehicle.tank.litres > 0.0:
        sim.step(100)
        heights.append(vehicle.position[2])
    assert np.abs(np.array(heights) - 5.0).max() < 0.04
    vehicle.command(al.PositionYaw((0, 3, 5)))
    sim.run(until=sim.time + 15.0)
    assert vehicle.position == pytest.approx((0.0, 3.0, 5.0), abs=0.08)


def test_a_tank_off_the_middle_does_not_tilt_a_hover(tmp_path):
    sim = load(tmp_path, "{extends: sprayer, tank: {position: [0.1, 0.05, -0.12]}}")
    vehicle = hover(sim, until=3.0)
    assert np.abs(np.degrees(vehicle.euler)).max() < 0.5


def test_it_lands_with_liquid_swinging_and_comes_to_rest(tmp_path):
    sim = load(tmp_path, "{extends: sprayer, pose: {position: [0, 0, 1.5]}, tank: {litres: 5}}", engine="mujoco")
    vehicle = sim.vehicles["s"]
    vehicle.place((0, 0, 1.0), velocity=(2.0, 0, -1.0))
    sim.run(until=0.8)
    moved = np.abs(vehicle.tank.displacement).max()
    sim.run(until=15.0)
    assert moved > 0.003
    assert np.abs(vehicle.tank.displacement).max() < 2e-4
    assert np.abs(vehicle.velocity).max() < 1e-3
    assert vehicle.position[2] == pytest.approx(0.42, abs=0.01)


@pytest.mark.parametrize("step", [0.0005, 0.002])
@pytest.mark.parametrize("litres", [0.0, 0.01, 5.0, 9.99])
def test_it_is_stable_at_any_level_and_step(step, litres, tmp_path):
    sim = load(tmp_path, f"{{extends: sprayer, tank: {{litres: {litres}, baffles: 0}}}}", step=step)
    vehicle = hover(sim, until=2.0)
    for aside in (1.0, -1.0, 1.0):
        vehicle.command(al.VelocityYawRate((3 * aside, -2 * aside, 0.0), 1.5))
        sim.run(until=sim.time + 1.0)
    vehicle.command(al.PositionYaw((0, 0, 5)))
    sim.run(until=sim.time + 15.0)
    assert vehicle.position == pytest.approx((0, 0, 5), abs=0.15)


# -- what is measured --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_at_rest_the_liquid_pulls_with_its_weight(engine, tmp_path):
    sim = load(tmp_path, "{extends: sprayer, pose: {position: [0, 0, 0.42]}, tank: {litres: 1}}", engine)
    sim.run(until=3.0)
    readings = sim.vehicles["s"].readings
    assert readings["sloshing_gravity"] == pytest.approx((0, 0, -9.80665, 0, 0, 0), abs=1e-3)
    assert readings["sloshing_inertia"] == pytest.approx(np.zeros(6), abs=2e-3)
    assert readings["sloshing_wrench"] == pytest.approx(readings["sloshing_gravity"], abs=2e-3)
    assert readings["tank_level"] == pytest.approx(1.0, abs=0.25)


def test_at_take_off_it_pulls_harder_and_the_parts_make_up_the_whole(tmp_path):
    sim = load(tmp_path, "{extends: sprayer, pose: {position: [0, 0, 2]}, tank: {litres: 1}}")
    vehicle = sim.vehicles["s"]
    sim.run(until=0.01)
    vehicle.command(al.PositionYaw((1, 1, 10)))
    seen = []
    for _ in range(40):
        sim.step(50)
        readings = vehicle.readings
        whole, parts = readings["sloshing_wrench"], readings["sloshing_gravity"] + readings["sloshing_inertia"]
        assert whole == pytest.approx(parts, abs=1e-9)
        seen.append(whole[2])
    assert min(seen) < -10.5


def test_topics_carry_level_flow_and_wrench(tmp_path):
    sim = load(tmp_path)
    found = {}
    for name in ("tank_level", "flow_rate_info", "sloshing_wrench"):
        sim.bus.subscribe(f"/s/{name}", lambda topic, message, time: found.setdefault(topic.name, []).append(message))
    hover(sim, until=1.0)
    assert {name: len(messages_) for name, messages_ in found.items()} == dict.fromkeys(found, 21)
    assert found["/s/tank_level"][-1].data == pytest.approx(10.0, abs=0.3)
    assert found["/s/sloshing_wrench"][0].wrench.force.z == pytest.approx(-98.0665)


# -- the same again ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
def test_runs_are_equal_to_the_bit_at_any_chunking_and_after_a_reset_and_an_edit(engine, tmp_path):
    def fly(sim, ticks):
        vehicle = sim.vehicles["s"]
        vehicle.command(al.PositionYaw((1, 2, 5)))
        vehicle.tank.command(5.0)
        while sim.tick < 600:
            sim.step(ticks)
            if edit and sim.tick == 300:
                sim.change(sim.scenario)
        return sim.state_hash()

    edit = False
    sim = load(tmp_path, engine=engine)
    first = fly(sim, 100)
    sim.reset()
    assert (sim.vehicles["s"].tank.litres, sim.vehicles["s"].mass) == (10.0, 25.0)
    assert fly(sim, 3) == first
    if engine == "batch":  # MuJoCo's solver starts anew after an edit
        sim.reset()
        edit = True
        assert fly(sim, 100) == first


@pytest.mark.parametrize("litres", [0.0, 1.0, 3.7, 10.0])
def test_a_frozen_liquid_turns_alike_on_both_engines(litres):
    """Whole numbers too: MuJoCo's model is made with a mass of 1 kg, which must not be taken for that of one litre."""
    tumbling = {
        "world.gravity": 0.0, "world.weather.layers": {}, "systems": {}, "vehicles.sprayer.controller": None,
        "vehicles.sprayer.pose": {"position": [0, 0, 50]}, "vehicles.sprayer.motion": {"rates": [0.5, 0.3, 0.2]},
        "vehicles.sprayer.tank.litres": litres, "vehicles.sprayer.tank.sloshing": False,
    }  # fmt: skip
    ends = []
    for engine in ({"kind": "batch", "integrator": "euler"}, {"kind": "mujoco"}):
        sim = al.Simulation.load("gust-tilt", overrides={**tumbling, "engine": engine})
        drone = sim.vehicles["sprayer"]
        drone.set_rotor_speeds([200, 210, 220, 200, 190, 205])
        sim.run(until=1.0)
        ends.append(np.concatenate([drone.position, drone.rates]))
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)
