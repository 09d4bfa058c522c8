"""Numbers of the bus, or of the log, over time."""

from __future__ import annotations

import threading
import time
from typing import Any

import viser

from airloom.runs.link.client import Refused
from airloom.studio.panels.lines import KEPT, Curve, Line
from airloom.studio.panels.panel import Panel, StudioState
from airloom.studio.panels.plot import Plot
from airloom.studio.sources.source import Snapshot, Status

MOST_TOPICS = 200  # to choose from
MOST_PLOTS = 8
USUAL_WINDOW = 20.0  # s
BUDGET = 0.015  # s of a frame to ask for news; who has to wait comes first the next time

_HEIGHT = ("/{}/state", "pose.pose.position.z"), ("/{}/setpoint", "position.z")
_INVITATION = (
    '<div style="padding:0 0.75em 0.5em;font-size:0.875em;opacity:0.8">'
    "Choose a topic and one of its numbers above, then press New plot.</div>"
)


class PlotsPanel(Panel):
    def __init__(self, studio: StudioState) -> None:
        super().__init__(studio)
        self._lock = threading.Lock()
        self._plots: list[Plot] = []
        self._waiting: list[Curve] = []
        self._untouched = True
        self._fields = self._known_fields()
        self._topic: Any = self.gui.add_dropdown("Topic", self._topics_to_choose(None))
        self._field: Any = self.gui.add_dropdown("Number", self._fields_to_choose())
        self._topic.on_update(lambda _: self._offer_fields())
        buttons = self.gui.add_button_group("Add", ("New plot", "To the last"))
        buttons.on_click(lambda event: self._add(event.client, anew=buttons.value == "New plot"))
        self._window: Any = self.gui.add_slider(
            "Seconds", 1.0, KEPT, 1.0, USUAL_WINDOW, visible=not studio.source.recorded
        )
        self._hint = self.gui.add_html(_INVITATION)
        self._place = self.gui.add_folder(None)

    # -- what there is to choose -------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        self._fields = self._known_fields()
        self.select(self.studio.selected)

    def select(self, name: str | None) -> None:
        if name is not None and name not in self.studio.source.names:
            return
        self._topic.options = topics = self._topics_to_choose(name)
        self._topic.value = topics[0]
        self._offer_fields()
        if name is not None and self._untouched:
            self._show_height(name)

    def _known_fields(self) -> dict[str, list[str]]:
        """The numbers of each topic that has any."""
        try:
            topics = self.studio.source.ask("topics")["topics"]
        except Refused:
            return {}
        return {topic: about["fields"] for topic, about in topics.items() if about["fields"]}

    def _topics_to_choose(self, name: str | None) -> tuple[str, ...]:
        """Those of the selected vehicle first."""
        topics = sorted(self._fields, key=lambda topic: not topic.startswith(f"/{name}/"))
        return tuple(topics[:MOST_TOPICS]) or ("none",)

    def _fields_to_choose(self) -> tuple[str, ...]:
        return tuple(self._fields.get(self._topic.value, ())) or ("none",)

    def _offer_fields(self) -> None:
        self._field.options = fields = self._fields_to_choose()
        self._field.value = fields[0]

    # -- the plots ---------------------------------------------------------------------------------------------------

    def refresh(self, status: Status, snapshot: Snapshot) -> None:
        if not self.studio.server.get_clients():
            return
        with self._lock:
            self._poll(status.time)
            for plot in self._plots:
                plot.draw(status, self._window.value)

    def _poll(self, now: float) -> None:
        began = time.perf_counter()
        traces = [trace for plot in self._plots for trace in plot.traces]
        self._waiting = [trace for trace in self._waiting if trace in traces] or traces
        while self._waiting and time.perf_counter() - began < BUDGET:
            self._waiting.pop(0).poll(now)

    def _show_height(self, name: str) -> None:
        lines = [Line(topic.format(name), field) for topic, field in _HEIGHT if topic.format(name) in self._fields]
        with self._lock:
            self._untouched = False
            for k, line in enumerate(lines):
                self._put(line, anew=k == 0)

    def _add(self, client: viser.ClientHandle | None, anew: bool) -> None:
        if self._topic.value not in self._fields:
            return
        line = Line(self._topic.value, self._field.value)
        with self._lock:
            self._untouched = False
            if not anew and self._plots and self._plots[-1].unit != line.unit:
                self.studio.tell(
                    f"{line} ({line.unit}) gets a plot of its own: the last shows {self._plots[-1].unit}.", client
                )
                anew = True
            self._put(line, anew)

    def _put(self, line: Line, anew: bool) -> None:
        if anew or not self._plots:
            if len(self._plots) == MOST_PLOTS:
                self._plots.pop(0).remove()
            self._plots.append(Plot(self.studio, self._place, self._remove))
        self._plots[-1].add(line)
        self._hint.visible = False

    def _remove(self, plot: Plot) -> None:
        with self._lock:
            if plot in self._plots:
                self._plots.remove(plot)
                plot.remove()
            self._hint.visible = not self._plots
