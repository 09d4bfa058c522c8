"""What is kept of the bus for those who look on."""

from __future__ import annotations

from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.runs.link.observers import MOST_TRACES, Plots


def test_whoever_asks_for_many_fields_costs_no_more_than_a_few():
    bus = Bus()
    topic = bus.advertise("/cf/joy", messages.JOY)
    plots = Plots(bus)
    kept = plots.trace(topic, "axes[0]")
    for number in range(2 * MOST_TRACES):
        plots.trace(topic, f"nothing_{number}")
        kept.since(0.0)
    assert len(topic._raw_listeners) == MOST_TRACES
    assert plots.trace(topic, "axes[0]") is kept, "who is read stays"
