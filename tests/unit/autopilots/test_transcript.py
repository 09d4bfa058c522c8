"""Transcripts: what was said comes back, whatever became of the file."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from airloom.autopilots.transcript import HEARD, TOLD, Transcript, TranscriptError, TranscriptWriter, note
from airloom.engines.lockstep import FILLED, FULL, STEP_NS, WIRE_WIDTH

SAID = [(0, HEARD, b"\0\1\2"), (0, TOLD, b""), (2**40 + 7, TOLD, b"{}\n" * 100), (2**40 + 8, HEARD, b"\xff" * 40)]


def new_wire():
    wire = np.zeros(WIRE_WIDTH, np.int64)
    wire[STEP_NS] = 1
    return wire


def write(path, wire, said):
    writer = TranscriptWriter(path, wire, autopilot="ardupilot", vehicle="drone")
    for tick, direction, data in said:
        array = np.frombuffer(data, np.uint8)
        note(wire, tick, direction, array.ctypes.data, len(data))
        if wire[FILLED] >= FULL:
            writer.turn_page(wire)
    return writer


def test_what_was_said_comes_back(tmp_path):
    wire = new_wire()
    write(tmp_path / "new/transcript.gz", wire, SAID).close(wire)
    found = Transcript(tmp_path / "new/transcript.gz")
    assert found.about["vehicle"] == "drone"
    for _ in range(2):
        assert [(m.time_ns, int(m.heard), m.data) for m in found] == SAID
    assert next(iter(found)).time == 0.0


def test_pages_turn(tmp_path):
    wire = new_wire()
    said = [(k, k % 2, bytes([k % 256]) * 1000) for k in range(5 * FULL // 1000)]
    write(tmp_path / "transcript.gz", wire, said).close(wire)
    assert [(m.time_ns, int(m.heard), m.data) for m in Transcript(tmp_path / "transcript.gz")] == said


def test_one_that_was_cut_off_gives_what_there_is(tmp_path):
    wire = new_wire()
    writer = write(tmp_path / "transcript.gz", wire, SAID)
    writer.turn_page(wire)
    assert [m.data for m in Transcript(tmp_path / "transcript.gz")] == [data for _, _, data in SAID], "not closed"
    writer.close(wire)
    whole = (tmp_path / "transcript.gz").read_bytes()
    for size in range(120, len(whole)):
        (tmp_path / "cut.gz").write_bytes(whole[:size])
        found = [m.data for m in Transcript(tmp_path / "cut.gz")]
        assert found == [data for _, _, data in SAID][: len(found)]


@pytest.mark.parametrize(
    "content",
    [b"", b"text", *map(gzip.compress, (b"text", b"[]\n", b"{}"))],
    ids=["empty", "text", "packed text", "packed list", "packed object"],
)
def test_files_that_are_no_transcripts(tmp_path, content):
    (tmp_path / "other.gz").write_bytes(content)
    with pytest.raises(TranscriptError, match=r"other.gz is no transcript of version 1; a run writes"):
        Transcript(tmp_path / "other.gz")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TranscriptError, match="no such file"):
        Transcript(tmp_path / "transcript.gz")


def test_nobody_notes_anything_without_a_transcript():
    wire = new_wire()
    note(wire, 0, TOLD, 1, 10**9)
    assert wire[FILLED] == 0
