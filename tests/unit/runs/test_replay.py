import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from rich.console import Console

from airloom.bus import messages
from airloom.bus.bus import Bus
from airloom.runs.mcap import LogError, LogReader, LogWriter
from airloom.runs.replay import play, print_replay

PERIOD = 10_000_000


@pytest.fixture
def path(tmp_path):
    bus, times = Bus(), np.arange(31) * PERIOD
    with LogWriter(tmp_path / "log.mcap", bus, metadata={"scenario": "hover"}) as log:
        for vehicle in ("cf", "x500"):
            topic = bus.advertise(f"/{vehicle}/odometry", messages.odometry("world", vehicle))
            values = np.tile([0, 0, 0, 1, 0, 0, 0, 3, 4, 0, 0, 0, -0.0], (31, 1))
            values[:, 2] = np.arange(31) / 10
            topic.publish_batch(times, values)
        events = bus.advertise("/events", messages.EVENT)
        events.publish(messages.event(5 * PERIOD, "cf", "info", "hello"), 5 * PERIOD)
    return log.path


def test_a_replay_gives_the_same_messages(path, tmp_path):
    bus = Bus()
    with LogWriter(tmp_path / "again.mcap", bus):
        play(path, bus, speed=math.inf)

    def content(path):
        return [(topic, time_ns, messages.serialize(message)) for topic, time_ns, message in LogReader(path).messages()]

    assert content(tmp_path / "again.mcap") == content(path)
    assert len(content(path)) == 63


def test_topics_can_be_chosen(path):
    bus, received = Bus(), []
    bus.subscribe("*", lambda topic, _, time_ns: received.append((topic.name, time_ns)))
    play(path, bus, speed=math.inf, topics=["/events"])
    assert received == [("/events", 5 * PERIOD)]


@pytest.mark.parametrize(("speed", "seconds"), [(2.0, 0.15), (1.0, 0.3)])
def test_it_is_paced(path, speed, seconds):
    started = time.monotonic()
    play(path, Bus(), speed=speed)
    assert seconds <= time.monotonic() - started < seconds + 60


@pytest.mark.parametrize("speed", [0, -1, math.nan])
def test_a_senseless_speed_is_explained(path, speed):
    with pytest.raises(LogError, match="speed above 0"):
        play(path, Bus(), speed=speed)


def test_the_table(path, tmp_path):
    with (tmp_path / "out").open("w") as file:
        print_replay(path, math.inf, Console(file=file, width=80))
    lines = (tmp_path / "out").read_text().splitlines()
    assert "hover, 0.30 of 0.30 s" in lines[0]
    assert [line.split() for line in lines if line.startswith(("cf", "x500"))] == [
        ["cf", "0.30", "0.000", "0.000", "3.000", "0.0", "0.0", "0.0", "5.00"],
        ["x500", "0.30", "0.000", "0.000", "3.000", "0.0", "0.0", "0.0", "5.00"],
    ]


def test_a_long_table_fits_the_terminal(path, tmp_path):
    with (tmp_path / "out").open("w") as file:
        print_replay(path, math.inf, Console(file=file, width=80, height=5, force_terminal=True))
    text = (tmp_path / "out").read_text()
    assert "and 1 more vehicles" in text
    assert "x500" not in text


def test_ctrl_c_ends_it_cleanly(path):
    command = f"from airloom.runs.replay import print_replay; print_replay({str(path)!r}, 0.001)"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    terminal = {**os.environ, "FORCE_COLOR": "1"}
    with subprocess.Popen([sys.executable, "-uc", command], env=terminal, **pipes) as process:
        while b"hover" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=120)
    assert process.returncode == 0, error
    assert b"Stopped at" in out
    assert error == b""
