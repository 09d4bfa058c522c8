"""What a PX4 that was started prints: its status texts go to /events, and its complaints about parameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from airloom.autopilots.programs import ProgramAutopilot

PERIOD = 0.1  # s between two looks
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
TEXT = re.compile(r"(INFO|WARN|ERROR)\s+\[(\w+)\]\s*(.+)")
UNKNOWN = re.compile(r"Parameter (\w+) not found")
CHATTER = {"init", "param", "dataman", "mavlink", "logger", "simulator_mavlink", "uxrce_dds_client", "pxh", "px4"}
"""Modules whose lines of INFO tell how it starts, which nobody needs to read."""


class Console:
    def __init__(self, autopilot: ProgramAutopilot, folder: Path) -> None:
        self._autopilot, self._sim = autopilot, autopilot.sim
        self._file = (folder / "console.txt").open("rb")
        self._rest = b""
        self._over = False
        self._sim.call_at(self._sim.time, self._look)

    def _look(self) -> None:
        if not self._over:
            self._sim.call_at(self._sim.time + PERIOD, self._look)
            *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
            for line in lines:
                self._note(COLOURS.sub("", line.decode(errors="replace")).strip())

    def _note(self, line: str) -> None:
        if found := UNKNOWN.search(line):
            text = f"PX4 knows no parameter {found[1]}: it is ignored"
            self._sim.event(self._autopilot.vehicle.name, text, level="warning")
        elif (found := TEXT.search(line)) and not (found[1] == "INFO" and found[2] in CHATTER):
            self._autopilot.note_text(found[3])

    def close(self) -> None:
        self._over = True
        self._file.close()
