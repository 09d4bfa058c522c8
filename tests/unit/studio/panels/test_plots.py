"""Plots and events in the studio, without a browser: what is asked of a run, and what is drawn."""

from __future__ import annotations

import time

import numpy as np
import pytest

from airloom.runs.link.client import Refused
from airloom.studio.panels import lines as traces
from airloom.studio.panels.events import MOST, EventsPanel
from airloom.studio.panels.lines import KEPT, MOST_POINTS, Curve, Line, grid, title_of
from airloom.studio.panels.panel import StudioState
from airloom.studio.panels.plots import PlotsPanel
from airloom.studio.sources.source import Snapshot, Status
from airloom.studio.web import viser_server as tamed

TOPICS = {
    "/clock": [],
    "/a/state": ["pose.pose.position.x", "pose.pose.position.z"],
    "/a/setpoint": ["position.z", "yaw"],
    "/b/state": ["pose.pose.position.x", "pose.pose.position.z"],
}
NOBODY = Snapshot(0.0, np.zeros((2, 22)))


class Run:
    """A run whose every number is the time, a hundred times a second."""

    def __init__(self, recorded=False, title="run"):
        self.recorded, self.title, self.names = recorded, title, ["a", "b"]
        self.time, self.end, self.asked, self.events = 0.0, 100.0, [], []

    def status(self):
        return Status(self.time, self.end, 1.0, 1.0, False, False, 0, len(self.events))

    def ask(self, method, **fields):
        self.asked.append((method, fields))
        if method == "topics":
            return {"topics": {topic: {"type": "", "fields": fields} for topic, fields in TOPICS.items()}}
        if method == "events":
            return {"count": len(self.events), "events": self.events[fields["since"] :]}
        if fields["field"] not in TOPICS[fields["topic"]]:
            raise Refused("there is no such number")
        times = np.arange(0, round((self.end if self.recorded else self.time) * 100) + 1) / 100
        times = times[times > fields["since"]]
        return {"times": times.tolist(), "values": times.tolist()}

    def history(self, topic, field, since):
        """Until ten seconds ago, when it was first asked."""
        times = np.arange(0, round((self.time - 10.0) * 100)) / 100
        return times[times > since], times[times > since]

    def count(self, method):
        return sum(asked == method for asked, _ in self.asked)


class Nothing:
    on_stick = on_stick_gone = None


@pytest.fixture(scope="module")
def server():
    server = tamed.start_viser()
    yield server
    tamed.stop_viser(server)


@pytest.fixture
def studio(server, monkeypatch):
    """With a browser that looks on."""
    server.gui.reset()
    monkeypatch.setattr(server, "get_clients", lambda: {0: None})

    def made(*runs):
        studio = StudioState(server, Nothing(), list(runs))
        studio.views = []
        return studio

    return made


def show(panel, times=1):
    for _ in range(times):
        panel.refresh(panel.studio.source.status(), NOBODY)


# -- lines -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "short", "unit"),
    [
        ("pose.pose.position.z", "position.z", "m"),
        ("twist.twist.linear.x", "linear.x", "m/s"),
        ("twist.twist.angular.x", "angular.x", "rad/s"),
        ("velocity.y", "velocity.y", "m/s"),
        ("velocity[3]", "velocity[3]", "rad/s"),
        ("linear_acceleration.z", "linear_acceleration.z", "m/s²"),
        ("pose.pose.orientation.w", "orientation.w", "w"),
        ("thrust", "thrust", "thrust"),
    ],
)
def test_lines_have_short_names_and_units(field, short, unit):
    line = Line("/cf/topic", field)
    assert (str(line), line.unit) == (f"/cf/topic {short}", unit)


def test_a_title_says_once_what_lines_share():
    height, told = Line("/cf/state", "pose.pose.position.z"), Line("/cf/setpoint", "position.z")
    assert title_of([height]) == "/cf/state position.z"
    assert title_of([height, told]) == "/cf/state, /cf/setpoint position.z"
    assert title_of([height, Line("/cf/state", "pose.pose.position.x")]) == "/cf/state position.z, position.x"
    assert (
        title_of([told, Line("/cf/state", "pose.pose.position.x")]) == "/cf/setpoint position.z, /cf/state position.x"
    )


def test_a_trace_asks_only_for_what_is_new_and_forgets_what_is_old():
    run = Run()
    trace = Curve(run, Line("/a/state", "pose.pose.position.z"))
    for run.time in (1.0, 2.0, KEPT + 10.0):
        trace.poll(run.time)
    assert [fields["since"] for _, fields in run.asked] == [-1.0, 1.0, 2.0]
    assert trace.times[0] == pytest.approx(10.0)
    assert (np.diff(trace.times) > 0).all()


def test_a_trace_begins_anew_with_its_run():
    run = Run()
    trace = Curve(run, Line("/a/state", "pose.pose.position.z"))
    for run.time in (5.0, 1.0):
        trace.poll(run.time)
    assert trace.times[[0, -1]].tolist() == [0.0, 1.0]


def test_a_recorded_trace_is_read_once():
    run = Run(recorded=True)
    trace = Curve(run, Line("/a/state", "pose.pose.position.z"))
    trace.poll(0.0)
    trace.poll(1.0)
    assert (run.count("series"), trace.times[-1]) == (1, 100.0)


def test_a_number_that_a_run_does_not_have_leaves_a_gap():
    trace = Curve(Run(), Line("/a/state", "yaw"))
    trace.poll(1.0)
    assert np.isnan(trace.at(grid(0.0, 1.0))).all()


@pytest.mark.parametrize(("start", "end"), [(0.0, 20.0), (13.37, 33.37), (0.0, 1e4), (0.0, 0.1)])
def test_a_plot_has_few_points_which_stay_where_they_are(start, end):
    times, later = grid(start, end), grid(start + 0.1, end + 0.1)
    assert 0.9 * MOST_POINTS < len(times) <= MOST_POINTS
    assert times[0] >= start - 1e-9
    assert times[-1] <= end + 1e-9
    assert len(np.setdiff1d(later.round(9), times.round(9))) < 0.1 / (end - start) * MOST_POINTS + 2 or end < 1.0


# -- the panel -------------------------------------------------------------------------------------------------------


def test_the_first_vehicle_that_is_selected_shows_its_height(studio):
    panel = PlotsPanel(studio(Run()))
    assert panel._hint.visible
    panel.select("a")
    panel.select("b")
    (plot,) = panel._plots
    show(panel, 3)
    assert plot._chart.title == "/a/state, /a/setpoint position.z"
    assert not panel._hint.visible
    assert panel._topic.value == "/b/state"


def test_topics_without_numbers_are_not_offered(studio):
    panel = PlotsPanel(studio(Run()))
    assert panel._topic.options == ("/a/state", "/a/setpoint", "/b/state")
    panel._topic.value = "/a/setpoint"
    panel._offer_fields()
    assert panel._field.options == ("position.z", "yaw")


def test_a_live_plot_shows_the_last_seconds(studio):
    run = Run()
    panel = PlotsPanel(studio(run))
    panel.select("a")
    run.time = 50.0
    show(panel, 3)
    times, *lines = panel._plots[0]._chart.data
    assert times[[0, -1]] == pytest.approx([30.0, 50.0], abs=0.05)
    assert len(lines) == 2
    np.testing.assert_allclose(lines[0], times, atol=1e-6)


def test_no_chart_is_ever_given_nothing_but_gaps(studio):
    """It would take NaN for its scales, and keep them."""
    run = Run()
    panel = PlotsPanel(studio(run))
    panel._put(Line("/a/state", "yaw"), anew=True)
    (plot,) = panel._plots
    run.time = 50.0
    show(panel, 3)
    assert (plot._chart, plot._waiting.visible) == (None, True)
    panel._put(Line("/a/setpoint", "yaw"), anew=False)
    show(panel, 3)
    assert not plot._waiting.visible
    assert np.isfinite(plot._chart.data[2]).all()
    run.ask = lambda *_, **__: {"times": [], "values": []}
    run.time = 0.0
    show(panel, 3)
    assert (plot._chart, plot._waiting.visible) == (None, True)


def test_a_live_plot_begins_with_the_history_that_there_is(studio, monkeypatch):
    monkeypatch.setattr(traces, "LOGGED_AFTER", 0.0)
    run = Run()
    run.time, ask = 50.0, run.ask
    run.ask = lambda method, **fields: ask(method, **{**fields, "since": max(fields.get("since", 0.0), 40.0)})
    panel = PlotsPanel(studio(run))
    panel.select("a")
    deadline = time.monotonic() + 30
    while not (panel._plots[0].traces and all(len(trace.times) > 4000 for trace in panel._plots[0].traces)):
        assert time.monotonic() < deadline
        show(panel)
    times, *lines = panel._plots[0]._chart.data
    np.testing.assert_allclose(lines, [times, times], atol=1e-6)


def test_a_recorded_plot_shows_everything_and_marks_the_present(studio):
    run = Run(recorded=True)
    panel = PlotsPanel(studio(run))
    panel.select("a")
    run.time = 25.0
    show(panel, 3)
    times, *lines, mark = panel._plots[0]._chart.data
    assert times[[0, -1]].tolist() == [0.0, 100.0]
    assert times[np.isfinite(mark)].tolist() == [25.0, 25.0]
    assert mark[np.isfinite(mark)].tolist() == [0.0, 1.0]
    assert np.isfinite(lines[0]).all()


def test_nothing_is_asked_or_drawn_while_nobody_looks(studio, server, monkeypatch):
    run = Run()
    panel = PlotsPanel(studio(run))
    panel.select("a")
    monkeypatch.setattr(server, "get_clients", dict)
    run.time = 5.0
    show(panel, 3)
    assert run.count("series") == 0


def test_nothing_is_sent_while_nothing_changes(studio):
    run = Run(recorded=True)
    panel = PlotsPanel(studio(run))
    panel.select("a")
    show(panel, 3)
    before = panel._plots[0]._chart.data
    show(panel)
    assert panel._plots[0]._chart.data is before


def test_lines_of_one_unit_share_a_plot(studio):
    panel = PlotsPanel(studio(Run()))
    for topic, field, anew in (
        ("/a/state", "pose.pose.position.x", True),
        ("/b/state", "pose.pose.position.x", False),
        ("/a/setpoint", "yaw", False),
    ):
        panel._topic.value = topic
        panel._offer_fields()
        panel._field.value = field
        panel.studio.tell = lambda *_: None
        panel._add(None, anew)
    assert [len(plot.lines) for plot in panel._plots] == [2, 1]


def test_several_runs_are_compared_in_one_plot(studio):
    runs = [Run(recorded=True, title="one"), Run(recorded=True, title="two")]
    panel = PlotsPanel(studio(*runs))
    panel.select("a")
    show(panel, 4)
    labels = [series["label"] for series in panel._plots[0]._chart.series]
    assert labels == [
        "t",
        "one /a/state position.z", "two /a/state position.z",
        "one /a/setpoint position.z", "two /a/setpoint position.z",
        "now",
    ]  # fmt: skip
    assert all(run.count("series") == 2 for run in runs)


def test_a_plot_can_be_removed(studio):
    panel = PlotsPanel(studio(Run()))
    panel.select("a")
    panel._remove(panel._plots[0])
    show(panel)
    assert panel._plots == []
    assert panel._hint.visible


# -- events ----------------------------------------------------------------------------------------------------------


def event(time, text="something", level="info"):
    return {"time": time, "source": "a", "level": level, "text": text}


def test_events_come_newest_first_and_are_asked_for_when_there_are_new_ones(studio):
    run = Run()
    panel = EventsPanel(studio(run))
    assert "Nothing has happened yet" in panel._list.content
    show(panel, 2)
    assert run.count("events") == 0
    run.events = [event(1.0, "first"), event(2.0, "<b>second</b>", "error")]
    show(panel, 2)
    content = panel._list.content
    assert run.count("events") == 1
    assert content.index("second") < content.index("first")
    assert "&lt;b&gt;second" in content
    assert "#c92a2a" in content


def test_only_the_last_events_are_listed(studio):
    run = Run()
    panel = EventsPanel(studio(run))
    run.events = [event(float(k), f"number {k}.") for k in range(200)]
    show(panel)
    assert panel._list.content.count("number") == MOST
    assert "number 199." in panel._list.content


def test_events_of_two_flights_are_divided(studio):
    run = Run()
    panel = EventsPanel(studio(run))
    run.events = [event(1.0, "early"), event(9.0, "late")]
    show(panel)
    assert "another flight" not in panel._list.content
    run.events += [event(0.5, "begun"), event(2.0, "going on")]
    show(panel)
    content = panel._list.content
    places = [content.index(word) for word in ("going on", "begun", "another flight", "late", "early")]
    assert places == sorted(places)
    assert content.count("another flight") == 1


def test_where_time_goes_back_so_do_the_events(studio):
    run = Run(recorded=True)
    panel = EventsPanel(studio(run))
    run.events = [event(1.0, "first"), event(2.0, "second")]
    show(panel)
    del run.events[1]
    show(panel)
    assert "second" not in panel._list.content
