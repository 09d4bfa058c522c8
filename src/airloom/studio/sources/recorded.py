"""A run that was recorded, at any time of it, seen in its log."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np

from airloom.basics.given import text_of
from airloom.bus import messages
from airloom.engines.fleet import expand_copies
from airloom.eyes.shown import as_texts, depth_picture
from airloom.radio import shown as radio
from airloom.runs.figures import pose_topics
from airloom.runs.folder import RunFolder
from airloom.runs.link.client import Refused
from airloom.runs.link.observers import numbers_in
from airloom.runs.mcap import LogError, LogReader
from airloom.scenario import ScenarioError
from airloom.scenario.document import LARGEST_RESOLVED
from airloom.scenario.models import Scenario, Vehicle
from airloom.scenario.text import scenario_of_run
from airloom.spray import shown as spray
from airloom.studio.sources.playback import Playback
from airloom.studio.sources.source import POSITION, Snapshot, Status
from airloom.studio.sources.tracks import read_tracks

LONGEST_LOOK = 1.0  # s from one picture to the next, at most


class RecordedSource:
    """May be asked by several threads. The clock runs to the end of the longest of the runs that share it."""

    recorded = True

    def __init__(self, folder: RunFolder, clock: Playback) -> None:
        self._log, self._clock = LogReader(folder.log), clock
        self.title = folder.path.resolve().name
        self.complete = self._log.complete
        self.duration = self._log.duration
        self._reading = threading.Lock()
        self._events = _events(self._log)
        self._event_times = [event["time"] for event in self._events]
        topics = pose_topics(self._log)
        self.scenario = _scenario(self._log, folder, topics)
        self.names = list(self.scenario.vehicles)
        self._tracks = read_tracks(self._log, self.scenario.vehicles, topics, self._events)
        self._columns = self._tracks[0].frames.shape[2]
        clock.end = max(clock.end, self.duration)
        self._methods: dict[str, Callable[..., dict[str, Any] | None]] = {
            "pause": clock.pause,
            "resume": clock.resume,
            "reset": lambda: clock.seek(0.0),
            "seek": lambda time: clock.seek(time),
            "speed": lambda speed: clock.change_speed(None if speed == "max" else float(speed)),
            "step": lambda ticks: clock.seek(clock.time + ticks * self.scenario.step),
            "audience": lambda studio, count: clock.welcome() if count else None,
            "events": self._events_since,
            "topics": self._topics,
            "series": self._series,
            "look": self._look,
            "spray": self._spray,
            "radio": self._radio,
        }

    def refresh(self) -> bool:
        return False

    def status(self) -> Status:
        clock, now = self._clock, self._clock.time
        return Status(
            time=now,
            end=clock.end,
            speed=clock.speed,
            real_time_factor=0.0 if clock.paused else clock.speed or 0.0,
            paused=clock.paused,
            finished=now >= clock.end,
            edition=0,
            events=self._count_events(now),
        )

    def snapshot(self) -> Snapshot:
        """Between two frames of the log, what lies between them."""
        now = self._clock.time
        vehicles = np.empty((len(self.names), self._columns), dtype=np.float32)
        for track in self._tracks:
            vehicles[track.members] = track.at(now)
        return Snapshot(now, vehicles)

    def places(self) -> np.ndarray:
        """Where any vehicle was at any time of the log, n × 3."""
        return np.concatenate([track.frames[:, :, POSITION].reshape(-1, 3) for track in self._tracks]).astype(float)

    def ask(self, method: str, **fields: Any) -> dict[str, Any]:
        if method not in self._methods:
            raise Refused("this is a recording: it can only be looked at")
        return self._methods[method](**fields) or {}

    def history(self, topic: str, field: str, since: float) -> tuple[np.ndarray, np.ndarray]:
        return np.empty(0), np.empty(0)

    def close(self) -> None:
        self._log.close()

    def _count_events(self, now: float) -> int:
        return bisect_right(self._event_times, now)

    def _events_since(self, since: int = 0) -> dict[str, Any]:
        """Those that had happened by now."""
        count = self._count_events(self._clock.time)
        return {"count": count, "events": self._events[since:count]}

    def _topics(self) -> dict[str, Any]:
        with self._reading:
            return {
                "topics": {
                    topic: {"type": info.msgtype, "fields": list(numbers_in(self._log.layout(topic)))}
                    for topic, info in self._log.topics.items()
                }
            }

    def _look(self, vehicle: str, eye: str) -> dict[str, Any]:
        """The last picture before now that was logged. Points are only for those who watch the run itself."""
        now, topic = self._clock.time, f"/{vehicle}/{eye}/image"
        if topic not in self._log.topics:
            raise Refused(f"the log has no pictures of {vehicle}'s {eye}: name {topic} in log.topics")
        with self._reading:
            last = self._last(topic, now)
        if last is None:
            return as_texts(None, None, None)
        return as_texts(last.time_ns * 1e-9, _picture_in(last.message), None)

    def _spray(self) -> dict[str, Any]:
        """The last drops and map before now that were logged."""
        topics = [topic for topic, info in self._log.topics.items() if info.msgtype == messages.DEPOSITION_MAP]
        if not topics:
            raise Refused("the log has no spray: name /spray/* in log.topics")
        now = self._clock.time
        with self._reading:
            map_, drops = (self._last(topic, now) for topic in (topics[0], topics[0].replace("/map", "/drops")))
        points = np.zeros(0) if drops is None else drops.message.data.view("<f4")
        return spray.as_texts(now, points, spray.NOTHING if map_ is None else spray.map_in(map_.message))

    def _radio(self, since: float, packets: bool = False) -> dict[str, Any]:
        """What was told of the radio after `since` and by now."""
        kinds = (messages.RADIO_LINKS, *([messages.RADIO_PACKETS] if packets else []))
        there = {topic: info.msgtype for topic, info in self._log.topics.items()}
        topics = [topic for topic, msgtype in there.items() if msgtype in kinds]
        with self._reading:
            found = [one for one in self._log.messages(topics, since, self._clock.time) if one.time_ns * 1e-9 > since]
        told = [(one.topic, one.time_ns * 1e-9, messages.serialize(one.message)) for one in found]
        return radio.as_texts(told) | {"has_packets": messages.RADIO_PACKETS in there.values()}

    def _last(self, topic: str, now: float) -> Any:
        """The last message of a topic before now."""
        last = None
        if topic in self._log.topics:
            for last in self._log.messages(topic, start=now - LONGEST_LOOK, end=now):  # noqa: B007
                pass
        return last

    def _series(self, topic: str, field: str, since: float = -1.0) -> dict[str, Any]:
        """To the end of the run, whatever the clock says."""
        try:
            with self._reading:
                times, values = self._log.series(topic, field)
        except LogError as error:
            raise Refused(str(error)) from None
        fresh = times > since
        return {"times": times[fresh], "values": values[fresh]}


def _picture_in(message: Any) -> np.ndarray:
    if message.encoding == "rgb8":
        return message.data.reshape(message.height, message.width, 3)
    return depth_picture(message.data.view("<f4").reshape(message.height, message.width))


def _events(log: LogReader) -> list[dict[str, Any]]:
    return [
        {"time": time_ns * 1e-9, "source": event.source, "level": event.level, "text": event.text}
        for _, time_ns, event in log.messages("/events")
    ]


def _scenario(log: LogReader, folder: RunFolder, topics: dict[str, str]) -> Scenario:
    """With every copy of a vehicle spelled out, and without vehicles that were not logged."""
    scenario = _parsed(_scenario_text(log, folder), log)
    vehicles: dict[str, Vehicle] = expand_copies(scenario.vehicles)
    strangers = [name for name in topics if name not in vehicles]
    if strangers:
        raise LogError(f"{log.path} tells of '{strangers[0]}', which is no vehicle of its scenario '{scenario.name}'")
    return scenario.model_copy(update={"vehicles": {name: vehicles[name] for name in vehicles if name in topics}})


def _scenario_text(log: LogReader, folder: RunFolder) -> str:
    if log.scenario_text:
        return log.scenario_text
    if folder.scenario.is_file():
        return text_of(folder.scenario, LogError, LARGEST_RESOLVED)
    raise LogError(f"{log.path} has no scenario in it, nor beside it: there is no telling what the vehicles look like")


def _parsed(text: str, log: LogReader) -> Scenario:
    """As the run left it, with nothing to look up: its plugins may be gone by now."""
    try:
        return scenario_of_run(text, f"the scenario in {log.path}")
    except ScenarioError as error:
        raise LogError(f"{log.path} cannot be read, maybe of another version: {error}") from error
