"""What PX4 prints is heard: unknown parameters, and its status texts."""

from __future__ import annotations

from types import SimpleNamespace

from airloom.autopilots.px4_console import Console

PRINTED = """INFO  [px4] startup script: /bin/sh etc/init.d-posix/rcS 0
\x1b[31mERROR [param] Parameter NONSENSE not found.\x1b[0m
INFO  [param] selected parameter default file parameters.bson
WARN  [health_and_arming_checks] Preflight Fail: Accel 0 uncalibrated
INFO  [commander] Takeoff detected
an unfinished li"""


class Sim:
    time = 0.0

    def __init__(self):
        self.calls, self.events = [], []

    def call_at(self, time, function):
        self.calls.append(function)

    def event(self, source, text, level="info"):
        self.events.append((source, text, level))


def test_complaints_and_texts(tmp_path):
    (tmp_path / "console.txt").write_text(PRINTED)
    sim, texts = Sim(), []
    console = Console(SimpleNamespace(sim=sim, vehicle=SimpleNamespace(name="drone"), note_text=texts.append), tmp_path)
    sim.calls.pop()()
    assert sim.events == [("drone", "PX4 knows no parameter NONSENSE: it is ignored", "warning")]
    assert texts == ["Preflight Fail: Accel 0 uncalibrated", "Takeoff detected"]
    with (tmp_path / "console.txt").open("a") as file:
        file.write("ne\nINFO  [commander] Landing detected\n")
    sim.calls.pop()()
    assert texts[-1] == "Landing detected"
    console.close()
