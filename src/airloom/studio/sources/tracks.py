"""The states of vehicles in a log, as arrays that give them at any time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from airloom.basics.rotations import matrix_from_quaternion
from airloom.commands import Mode
from airloom.runs.mcap import LogReader
from airloom.scenario.models import Vehicle
from airloom.studio.sources.source import ATTITUDE, MODE, POSITION, RATES, ROTOR_SPEEDS, TARGET, TARGET_YAW, VELOCITY

SMOOTH = slice(POSITION.start, RATES.stop)
"""What changes smoothly between two frames; the rest is held."""

_MODE_CHANGE = re.compile(r"mode (\w+) → (\w+)")

Series = tuple[np.ndarray, np.ndarray]


class Track:
    """Vehicles whose states were logged at the same times."""

    def __init__(self, times: np.ndarray, members: list[int], columns: int) -> None:
        self.times, self.members = times, members
        self.frames = np.zeros((len(times), len(members), columns), dtype=np.float32)

    def at(self, time: float) -> np.ndarray:
        """[member, column] at a time; before the first and after the last frame, as in that."""
        before = int(np.searchsorted(self.times, time, side="right")) - 1
        if not 0 <= before < len(self.times) - 1:
            return self.frames[0 if before < 0 else -1].copy()
        start, end = self.times[before : before + 2]
        return _between(self.frames[before], self.frames[before + 1], np.float32((time - start) / (end - start)))

    def mend(self) -> None:
        """A vehicle stays as it last was where the log has no numbers for it."""
        good = np.all(np.isfinite(self.frames), axis=2)
        if not good.all():
            last = np.maximum.accumulate(np.where(good, np.arange(len(good))[:, None], 0), axis=0)
            self.frames = np.nan_to_num(self.frames[last, np.arange(good.shape[1])], posinf=0.0, neginf=0.0)


def _between(one: np.ndarray, other: np.ndarray, share: np.float32) -> np.ndarray:
    state = one.copy()
    state[:, SMOOTH] += share * (other[:, SMOOTH] - one[:, SMOOTH])
    same_side = np.where((one[:, ATTITUDE] * other[:, ATTITUDE]).sum(axis=1, keepdims=True) < 0, -1, 1)
    attitude = (1 - share) * one[:, ATTITUDE] + share * same_side * other[:, ATTITUDE]
    state[:, ATTITUDE] = attitude / np.maximum(np.linalg.norm(attitude, axis=1, keepdims=True), 1e-9)
    return state


def read_tracks(
    log: LogReader, vehicles: Mapping[str, Vehicle], pose_topics: Mapping[str, str], events: Iterable[dict]
) -> list[Track]:
    """All vehicles, each in one of the tracks; its number there is that in `vehicles`."""
    names = list(vehicles)
    tracks = _read_motion(log, vehicles, pose_topics)
    _read_setpoints(log, names, tracks)
    _read_rotors(log, vehicles, tracks)
    _fill_modes(names, events, tracks)
    for track in tracks:
        track.mend()
    return tracks


def _read_motion(log: LogReader, vehicles: Mapping[str, Vehicle], pose_topics: Mapping[str, str]) -> list[Track]:
    names = list(vehicles)
    poses, twists = (log.series_of(pose_topics.values(), field) for field in ("pose.pose", "twist.twist"))
    together: dict[bytes, list[int]] = {}
    for number, name in enumerate(names):
        together.setdefault(poses[pose_topics[name]][0].tobytes(), []).append(number)
    columns = ROTOR_SPEEDS.start + max(len(vehicle.rotors) for vehicle in vehicles.values())
    tracks = [Track(poses[pose_topics[names[group[0]]]][0], group, columns) for group in together.values()]
    for name, _, frames in _members(names, tracks):
        pose, twist = poses[pose_topics[name]][1], twists[pose_topics[name]][1]
        frames[:, POSITION] = frames[:, TARGET] = pose[:, :3]
        frames[:, ATTITUDE] = pose[:, [6, 3, 4, 5]]
        frames[:, VELOCITY] = np.einsum("nij,nj->ni", matrix_from_quaternion(frames[:, ATTITUDE]), twist[:, :3])
        frames[:, RATES] = twist[:, 3:]
    return tracks


def _read_setpoints(log: LogReader, names: list[str], tracks: list[Track]) -> None:
    """Who is told no position may be where it is."""
    positions, yaws = (_logged(log, names, "setpoint", field) for field in ("position", "yaw"))
    for name, times, frames in _members(names, tracks):
        if name in positions:
            target = _held(times, positions[name])
            told = np.isfinite(target).all(axis=1)
            frames[told, TARGET] = target[told]
            frames[:, TARGET_YAW] = np.nan_to_num(_held(times, yaws[name]))


def _read_rotors(log: LogReader, vehicles: Mapping[str, Vehicle], tracks: list[Track]) -> None:
    alike: dict[int, list[str]] = {}
    for name, vehicle in vehicles.items():
        alike.setdefault(len(vehicle.rotors), []).append(name)
    speeds: dict[str, Series] = {}
    for names in alike.values():
        speeds |= _logged(log, names, "rotors", "velocity")
    for name, times, frames in _members(list(vehicles), tracks):
        if name in speeds:
            held = _held(times, speeds[name])
            frames[:, ROTOR_SPEEDS.start : ROTOR_SPEEDS.start + held.shape[1]] = held


def _fill_modes(names: list[str], events: Iterable[dict], tracks: list[Track]) -> None:
    """Modes are in no topic of their own: their changes are told among the events."""
    changes: dict[str, list[tuple[float, Mode, Mode]]] = {}
    for event in events:
        if match := _MODE_CHANGE.fullmatch(event["text"]):
            changes.setdefault(event["source"], []).append((event["time"], *map(Mode.named, match.groups())))
    for name, times, frames in _members(names, tracks):
        if name in changes:
            moments, before, after = zip(*changes[name], strict=True)
            frames[:, MODE] = np.array([before[0], *after])[np.searchsorted(moments, times, side="right")]


def _members(names: list[str], tracks: list[Track]):
    for track in tracks:
        for k, number in enumerate(track.members):
            yield names[number], track.times, track.frames[:, k]


def _logged(log: LogReader, names: list[str], topic: str, field: str) -> dict[str, Series]:
    """The field for those vehicles that have it in the log."""
    topics = {name: f"/{name}/{topic}" for name in names if f"/{name}/{topic}" in log.topics}
    found = log.series_of(topics.values(), field) if topics else {}
    return {name: found[topics[name]] for name in topics}


def _held(times: np.ndarray, series: Series) -> np.ndarray:
    """Values at other times: at each the last that had come."""
    moments, values = series
    if np.array_equal(moments, times):
        return values
    return values[np.maximum(np.searchsorted(moments, times, side="right") - 1, 0)]
