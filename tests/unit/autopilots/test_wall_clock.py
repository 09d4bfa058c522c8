"""Frames at their time of the wall clock."""

from __future__ import annotations

import time

import numpy as np
import pytest

from airloom.autopilots.wall_clock import BEAT, CLOCK_NS, FRAMES, GAPS, TICK, report, wait_for

STEP_NS = 1_000_000


@pytest.fixture
def beat():
    beat = np.zeros(BEAT, np.int64)
    wait_for(0, STEP_NS, np.zeros(BEAT, np.int64))  # it is compiled
    return beat


def make_late(beat, tick, seconds):
    """So that the frame at this tick was due some seconds ago."""
    beat[CLOCK_NS], beat[TICK] = time.monotonic_ns() - round(seconds * 1e9), tick


def test_frames_pass_as_the_clock_does(beat):
    began = time.monotonic()
    for tick in range(0, 101, 2):
        wait_for(tick, STEP_NS, beat)
    assert time.monotonic() - began >= 0.099
    assert beat[FRAMES] + beat[GAPS] == 50, "the first begins the schedule"


def test_lateness_is_measured(beat):
    """It lies between that before and that after the call, which may be far apart on a busy machine."""
    before, after = np.zeros(40), np.zeros(40)
    for k in range(40):
        make_late(beat, k, (k + 1) * 1e-3)
        due = beat[CLOCK_NS]
        before[k] = (time.monotonic_ns() - due) * 1e-9
        wait_for(k, STEP_NS, beat)
        after[k] = (time.monotonic_ns() - due) * 1e-9
    found = report(beat)
    assert found["frames"] == found["late"] == 40
    assert before.mean() <= found["mean"] <= after.mean()
    assert found["jitter"] == pytest.approx(before.std(), abs=np.sqrt(np.mean((after - before) ** 2)) + 2e-6)
    assert 0.040 <= found["percentile_99"] <= found["maximum"] <= after.max()


def test_after_a_gap_the_schedule_begins_anew(beat):
    make_late(beat, 0, 0.0)
    wait_for(1, STEP_NS, beat)
    make_late(beat, 2, 0.5)
    wait_for(2, STEP_NS, beat)
    assert report(beat)["gaps"] == 1
    assert report(beat)["frames"] == 1, "the frame after the gap has no time at which it was due"
    assert beat[TICK] == 2
    assert time.monotonic_ns() - beat[CLOCK_NS] < 0.4e9


def test_what_delays_the_second_frame_is_no_gap(beat):
    wait_for(0, STEP_NS, beat)
    make_late(beat, 2, 5.0)
    wait_for(2, STEP_NS, beat)
    assert report(beat) == {
        "frames": 0, "late": 0, "gaps": 0, "mean": 0.0, "jitter": 0.0, "percentile_99": 0.0, "maximum": 0.0,
    }  # fmt: skip
