"""A base station by radio: what it knows, what its orders lead to, and what vehicles do when they hear it no more."""

from __future__ import annotations

import json
from math import inf

import pytest

import airloom as al
from airloom.bus import messages
from airloom.scenario import ScenarioError, load

SCENARIO = """
name: stationed
duration: 30
engine: batch
radio: {power: 0, stations: {base: {position: [0, 0, 2]}}}    # heard for some 15 m
vehicles:
  a: {extends: multirotor, pose: {position: [3, 0, 0.05]}}
  b: {extends: multirotor, pose: {position: [3, 4, 0.05]}}
  c: {extends: multirotor, pose: {position: [3, 8, 0.05]}}
systems:
  base: {kind: base_station, beat: 5, telemetry: 5, silence: 1, failsafe: {after: 1, action: hold}}
"""


@pytest.fixture
def made(tmp_path):
    def make(scenario=SCENARIO, **overrides):
        (tmp_path / "stationed.yaml").write_text(scenario)
        sim = al.Simulation(
            load(tmp_path / "stationed.yaml", {key.replace("__", "."): v for key, v in overrides.items()})
        )
        sim.texts = []
        sim.bus.subscribe("/events", lambda topic, m, time_ns: sim.texts.append(f"{m.source}: {m.text}"))
        return sim

    return make


def order(at, items, vehicles="*"):
    return {"at": at, "items": items, "vehicles": vehicles}


def test_orders_are_flown_and_the_picture_is_as_old_as_it_says(made):
    sim = made(systems__base__orders=[order(0.5, [{"takeoff": 2}, {"goto": [6, 0, 2]}], "a")])
    pictures = []
    sim.bus.subscribe("/base/picture", lambda topic, message, time_ns: pictures.append((time_ns, message)))
    sim.run(until=8)
    base = sim.systems["base"]
    (sent,) = base.dispatches
    assert sent.state == "delivered"
    assert sim.vehicles["a"].position == pytest.approx([6, 0, 2], abs=0.2)
    assert "a: order 1 is done" in sim.texts
    time_ns, last = pictures[-1]
    assert list(last.name) == ["a", "b", "c"]
    assert list(last.doing) == ["holds", "rests", "rests"]
    assert list(last.order) == [1, 0, 0]
    assert not any(last.lost)
    seen = base.picture["a"].telemetry
    assert 0 < last.age[0] < 0.45, "five times a second, and some time on the way"
    assert last.age[0] == pytest.approx((time_ns - seen.time_ns) * 1e-9, abs=0.21)
    assert seen.position == pytest.approx(sim.vehicles["a"].estimate.position, abs=0.05)


def far(vehicle):
    return [{"takeoff": 2}, {"goto": [60, {"a": 0, "b": 4, "c": 8}[vehicle], 2], "speed": 6}]


def test_each_does_without_a_link_what_the_scenario_says(made):
    orders = [order(0.5, far(name), name) for name in "abc"]
    failsafes = {"b": {"after": 1, "action": "land"}, "c": {"after": 1, "action": "return", "least_height": 4}}
    sim = made(systems__base__orders=orders, systems__base__failsafes=failsafes)
    sim.run(until=38)
    a, b, c = (sim.vehicles[name] for name in "abc")
    assert 12 < a.position[0] < 50
    assert abs(a.velocity[0]) < 0.05, "it holds where it was"
    assert 12 < b.position[0] < 50
    assert not b.armed, "it has landed"
    assert c.position == pytest.approx([3, 8, 0.05], abs=0.3)
    assert not c.armed
    for name, what in zip("abc", ("holds", "lands", "returns"), strict=True):
        assert f"{name}: has not heard base for 1 s: it {what}" in sim.texts
    assert "c: hears base again: it does what it began without" in sim.texts
    report = sim.systems["base"].report(sim)
    ((since, until),) = report["a"]["station_lost"]
    assert 3 < since < 12
    assert until is None
    assert report["c"]["station_lost"][0][1] > report["c"]["station_lost"][0][0] + 1
    assert "base: has lost a" in sim.texts
    assert sim.systems["base"].picture["a"].age(sim.time_ns) > 10


def test_a_station_that_is_down_for_a_while(made):
    """Its radio is down from 3 s to 5 s: hold meanwhile, then go on with the item that was broken off, or not."""
    when = {"b": {"after": 1, "action": "hold", "when_back": "resume"}}
    when |= {"c": {"after": 1, "action": "hold", "when_back": "hold"}}
    orders = [
        order(0.2, [{"takeoff": 2}, {"goto": [9, y, 2], "speed": 1}], name)
        for name, y in zip("abc", (0, 4, 8), strict=True)
    ]
    down = {"kind": "radio_fault", "node": "base", "fault": "off", "at": 3, "duration": 2}
    sim = made(systems__base__orders=orders, systems__base__failsafes=when, systems__down=down)
    sim.run(until=14)
    xs = [sim.vehicles[name].position[0] for name in "abc"]
    assert xs[1] == pytest.approx(9, abs=0.1)
    assert max(xs[0], xs[2]) < 7
    flying = {name: sim.systems["base"].picture[name].telemetry for name in "abc"}
    assert [flying[name].doing.name for name in "abc"] == ["FAILSAFE", "HOLDS", "HOLDS"]
    assert [flying[name].state.name for name in "abc"] == ["BROKEN_OFF", "DONE", "BROKEN_OFF"]
    assert "b: hears base again: it goes on with order 1, item 2" in sim.texts
    assert "c: hears base again: it holds" in sim.texts
    sim.systems["base"].order("a", {"goto": [5, 0, 2]})
    sim.run(until=17)
    assert sim.vehicles["a"].position[0] == pytest.approx(5, abs=0.1), "an order ends it"


def test_a_failsafe_takes_over_from_a_mission_of_the_scenario(made):
    items = [{"takeoff": 2}, {"goto": [60, 0, 2], "speed": 6}]
    sim = made(systems__flight={"kind": "mission", "vehicle": "a", "items": items})
    sim.run(until=16)
    assert "a: has not heard base for 1 s: it holds" in sim.texts
    assert sim.vehicles["a"].position[0] < 50
    assert not sim.missions_under_way
    assert all(finding.good for finding in sim.verdict.findings)


def test_corrupted_orders_are_sent_again_and_none_is_flown_otherwise(made):
    bad = {"kind": "radio_fault", "node": "*", "fault": "corrupt", "share": 0.5, "at": 0}
    sim = made(systems__bad=bad, systems__base__orders=[order(0.5, [{"takeoff": 2}])])
    sim.run(until=8)
    base = sim.systems["base"]
    assert {one.state for one in base.dispatches} == {"delivered"}
    assert max(one.attempts for one in base.dispatches) > 1
    assert [vehicle.position[2] for vehicle in sim.vehicles.values()] == pytest.approx([2.05] * 3, abs=0.1)
    for name, seen in base.picture.items():
        assert seen.telemetry.position == pytest.approx(sim.vehicles[name].position, abs=0.1)


def test_of_two_stations_the_last_order_counts(made):
    stations = {"base": {"position": [0, 0, 2]}, "other": {"position": [6, 6, 2]}}
    other = {"kind": "base_station", "station": "other", "failsafe": {"action": "none"}}
    sim = made(
        radio__stations=stations, systems__other=other, systems__other__orders=[order(3, [{"goto": [3, 3, 2]}], "a")]
    )
    sim.systems["base"].order("a", {"takeoff": 2}, {"goto": [9, 0, 2], "speed": 1})
    sim.run(until=10)
    assert sim.vehicles["a"].position == pytest.approx([3, 3, 2], abs=0.2)
    states = [sim.systems[name].onboard["a"].flight.state.name for name in ("base", "other")]
    assert states == ["BROKEN_OFF", "DONE"]


def test_a_long_mission_comes_in_pieces_and_a_lost_vehicle_gets_none(made, tmp_path):
    way = [[3 + 3 * (k % 2), 0, 2 + k * 1e-3] for k in range(200)]
    (tmp_path / "way.yaml").write_text(json.dumps({"mission": [{"takeoff": 2}, {"follow": way, "method": "pursuit"}]}))
    scenario = f'{SCENARIO.rstrip()[:-1]}, orders: [{{at: 0.5, vehicles: "[ab]", file: way.yaml}}]}}'
    sim = made(scenario, systems__base__attempts=3, vehicles__b__pose__position=[400, 0, 0.05])
    sim.run(until=5)
    base = sim.systems["base"]
    to_a, to_b = base.dispatches
    assert len(to_a.content) > 2800, "three packets"
    assert (to_a.state, to_b.state) == ("delivered", "given up")
    assert "a: takes order 1 of base" in sim.texts
    assert "base: order 1 to b is given up after 3 attempts" in sim.texts
    assert base.picture["b"].age(sim.time_ns) == inf
    base.conclude(sim)
    assert "base: b was never heard" in sim.texts


def test_orders_by_topic_and_what_is_refused(made):
    sim = made()
    topic = sim.bus.advertise("/base/order", messages.STRING)

    def say(text):
        topic.publish(messages.build(messages.STRING, {"data": text}), sim.time_ns)

    sim.run(until=0.5)
    for text in (
        "no json",
        "[]",
        '{"vehicles": "z", "items": [{"hold": null}]}',
        '{"vehicles": "a", "items": [{"fly": 1}]}',
    ):
        say(text)
    assert [text.startswith("/base/order: refused: ") for text in sim.texts] == [True] * 4
    say('{"vehicles": "a", "items": [{"takeoff": 1}]}')
    sim.run(until=3)
    assert sim.vehicles["a"].position[2] > 0.8


def test_the_same_again_after_a_reset_and_at_any_steps(made):
    sim = made(systems__base__orders=[order(0.5, far("a"))])
    sim.run(until=6)
    first, heard = sim.state_hash(), sim.systems["base"].report(sim)
    sim.reset()
    while sim.time < 6:
        sim.step(7 if sim.tick + 7 <= 6000 else 6000 - sim.tick)
    assert sim.state_hash() == first
    assert sim.systems["base"].report(sim) == heard


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"radio": None}, "a base station talks by radio, and the scenario has none"),
        ({"systems__base__station": "basis"}, "the radio has no station 'basis'; did you mean 'base'"),
        ({"systems__second": {"kind": "base_station"}}, "another base station stands at 'base'"),
        ({"systems__base__band": "far"}, "the radio has no band 'far'"),
        ({"systems__base__orders": [order(1, [{"hold": None}], "z*")]}, "no vehicle of this station matches 'z\\*'"),
        ({"systems__base__orders": [{"at": 1}]}, "give one of items and file"),
        ({"members__m": {"command": ["python"], "vehicles": "a"}}, "the member 'm' flies a, and would overrule it"),
        ({"vehicles__a__autopilot": "ardupilot"}, "an autopilot speaks for itself"),
        ({"radio__vehicles": "[bc]"}, "a has no radio there"),
    ],
)
def test_what_does_not_fit_is_refused(made, overrides, words):
    with pytest.raises(ScenarioError, match=words):
        made(**overrides)


def test_what_a_station_means_to_say_and_what_it_has_heard_is_part_of_the_state(made):
    sim, other = made(), made()
    for one in (sim, other):
        one.run(until=1)
    assert sim.state_hash() == other.state_hash()
    other.systems["base"].order("a", {"takeoff": 2})
    assert sim.state_hash() != other.state_hash(), "an order of which nothing has been sent yet"
    sim.systems["base"].order("a", {"takeoff": 2})
    assert sim.state_hash() == other.state_hash()
    other.systems["base"].picture["a"].link.hear(0)
    assert sim.state_hash() != other.state_hash()
