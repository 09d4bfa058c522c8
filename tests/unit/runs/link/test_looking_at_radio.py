"""What is told of a radio to those who look on from outside."""

import pytest

from airloom.net.json_lines import RequestError
from airloom.radio.shown import Watched, told_in
from airloom.runs.folder import RunFolder
from airloom.runs.link.context import RequestContext
from airloom.runs.link.methods import parse
from airloom.runs.recorded import RecordedRun
from airloom.scenario import load
from airloom.simulation import Simulation


def context(tmp_path, **changes):
    sim = Simulation(load("choreography", {"engine": "batch", "vehicles.drone.copies.count": 3, **changes}))
    return RequestContext(RecordedRun(sim, RunFolder.create("talk", tmp_path / "talk"), log=False))


def test_links_and_packets_are_told_from_the_first_look_on_and_to_nobody_after(tmp_path):
    looked_at = context(tmp_path, radio={})
    sim = looked_at.sim
    ledger = sim.radio.bands[""].ledger

    def talk():
        for node in sim.radio.values():
            node.send(b"here I am")
        sim.call_at(sim.time + 0.1, talk)

    sim.call_at(0.1, talk)
    sim.run(1.0)
    assert not ledger.is_kept
    assert told_in(parse(b'{"method": "radio", "packets": true}').carry_out(looked_at)) == []
    sim.run(3.0)
    watched = Watched()
    watched.take(told_in(parse(b'{"method": "radio", "packets": true, "since": 1.0}').carry_out(looked_at)))
    places = {name: vehicle.position for name, vehicle in sim.vehicles.items()}
    assert len(watched.lines(places).ends) == 6, "three pairs, two halves each"
    assert len(watched.packets(places, sim.time).ends) > 0
    looked_at.close()
    assert not ledger.is_kept


def test_a_run_without_radio_says_so(tmp_path):
    with pytest.raises(RequestError, match="nobody has a radio"):
        parse(b'{"method": "radio"}').carry_out(context(tmp_path))
