"""pcap files of the built-in medium, as a reader of others finds them."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.errors import RunError, UserError
from airloom.radio import builtin
from airloom.radio.builtin import medium_of
from airloom.radio.captures import Captures
from airloom.radio.medium import EVERYBODY, Frame
from airloom.scenario.radio import Radio

dpkt = pytest.importorskip("dpkt")
MS = 1_000_000
DATA, ACKNOWLEDGEMENT = 2, 1  # types of 802.11 frames: data, control
FIRST, SECOND, THIRD = (b"\x02\0\0\0\0" + bytes([k]) for k in (1, 2, 3))


def air(folder, nodes=3, **radio):
    description = Radio.model_validate({"pcap": True, **radio})
    names = [f"n{k}" for k in range(nodes)]
    return medium_of(description, nodes, captures=Captures(folder, names, description))


def line(*places):
    return np.array([(x, 0, 10) for x in places], dtype=float)


def read(path):
    """Time in s, radiotap head and 802.11 frame of each."""
    with path.open("rb") as file:
        reader = dpkt.pcap.Reader(file)
        assert reader.datalink() == dpkt.pcap.DLT_IEEE802_11_RADIO
        return [(time, head, head.data) for time, head in ((t, dpkt.radiotap.Radiotap(data)) for t, data in reader)]


def said(frame):
    """Behind the heads of MAC and LLC, before the checksum."""
    return bytes(frame.data_frame.data)[8:] if frame.type == DATA else b""


def test_a_frame_for_one_and_its_acknowledgement_are_in_all_files(tmp_path):
    medium = air(tmp_path / "a folder")
    medium.send([Frame(0, 0, 1, 20, 5 * MS)], [b"what the vehicle said"[:20]])
    (arrival,) = medium.advance(50 * MS, line(0, 10, 20))
    medium.close()
    for name in ("n0", "n1", "n2"):
        (sent, head, frame), (answered, _, answer) = read(tmp_path / "a folder" / f"{name}.pcap")
        assert (frame.type, answer.type, frame.retry) == (DATA, ACKNOWLEDGEMENT, 0)
        assert said(frame) == b"what the vehicle sai"
        assert (frame.data_frame.src, frame.data_frame.dst, answer.ack.dst) == (FIRST, SECOND, FIRST)
        assert head.channel.freq == 2437
        assert head.rate.val == 12, "6 Mb/s in units of 500 kb/s"
        assert 0.005 < float(sent) < float(answered) < 0.006
        if name == "n1":
            assert float(sent) == pytest.approx(arrival.heard_ns * 1e-9, abs=1e-9)
            assert head.ant_sig.db == round(arrival.strength)
        assert head.ant_sig_present == (name != "n0"), "who sends it hears no signal"


def test_files_hold_what_arrived_and_nothing_else(tmp_path):
    medium = air(tmp_path, 4)
    frames = [Frame(k, k % 3, EVERYBODY, 8, 2 * k * MS) for k in range(30)]
    medium.send(frames, [b"frame %02d" % k for k in range(30)])
    arrivals = medium.advance(100 * MS, line(0, 30, 60, 5000))
    medium.close()
    for node in range(4):
        heard = sorted(f"frame {one.number:02d}" for one in arrivals if one.receiver == node)
        own = [f"frame {frame.number:02d}" for frame in frames if frame.sender == node]
        assert sorted(said(frame).decode() for *_, frame in read(tmp_path / f"n{node}.pcap")) == sorted(heard + own)
    assert read(tmp_path / "n3.pcap") == []


def test_what_is_sent_again_says_so(tmp_path):
    medium = air(tmp_path, 2, attempts=3)
    medium.send([Frame(0, 0, 1, 4, 0)], [b"heya"])
    medium.advance(50 * MS, line(0, 5000))
    medium.close()
    assert [(frame.retry, said(frame)) for *_, frame in read(tmp_path / "n0.pcap")] == [(0, b"heya")] + 2 * [
        (1, b"heya")
    ]


def test_a_narrow_band_and_one_that_comes_later(tmp_path):
    medium = air(tmp_path, 1, bandwidth=200e3, frequency=915e6)
    medium.add_node("late")
    medium.send([Frame(0, 1, EVERYBODY, 3, 0)], [b"abc"])
    (arrival,) = medium.advance(200 * MS, line(0, 10))
    medium.close()
    ((time, head, frame),) = read(tmp_path / "n0.pcap")
    assert (said(frame), frame.data_frame.src, head.channel.freq) == (b"abc", SECOND, 915)
    assert float(time) == pytest.approx(arrival.heard_ns * 1e-9, abs=1e-9)
    assert not head.rate_present, "60 kb/s cannot be told there"


def test_bits_are_the_same_with_files_and_in_small_pieces(tmp_path, monkeypatch):
    frames = [Frame(k, k % 5, (k + 1) % 5 if k % 2 else EVERYBODY, 50, k * MS // 4) for k in range(200)]
    found = []
    for pieces in (1 << 14, 7):
        monkeypatch.setattr(builtin, "COLLECTED", pieces)
        folder = tmp_path / str(pieces)
        for medium in (air(folder, 5), medium_of(Radio(), 5)):
            medium.send(frames)
            table = medium.advance(100 * MS, line(*range(0, 100, 20))).table
            medium.close()
            found.append((table.tobytes(), [count.tolist() for count in medium.outcomes()]))
    assert found == [found[0]] * 4
    files = [[(tmp_path / folder / f"n{k}.pcap").read_bytes() for k in range(5)] for folder in ("16384", "7")]
    assert files[0] == files[1]
    assert len(files[0][0]) > 10_000


def test_a_file_that_cannot_be_written_is_one_message(tmp_path):
    medium = air(tmp_path, 2)
    (tmp_path / "n0.pcap").unlink()
    (tmp_path / "n0.pcap").symlink_to("/dev/full")
    medium.send([Frame(0, 0, EVERYBODY, 1000, 0)])
    medium.advance(10 * MS, line(0, 10))
    with pytest.raises(RunError, match=r"cannot write .*n0\.pcap: No space left on device"):
        medium.close()


def test_without_a_folder_it_says_what_to_do():
    with pytest.raises(UserError, match="pcap files need a folder: `airloom run` has one"):
        air(None)
