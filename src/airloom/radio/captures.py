"""What the radio of each node sent and understood, as pcap files: 802.11 frames with a radiotap head, as ns-3 has them.

Frames that a node sends have the time at which they begin, those that it understands the time at which they end, both
of the simulation. Acknowledgements and frames for others are there, too. Head of each frame: radiotap.org, fields 1
(flags), 2 (rate), 3 (channel) and 5 (signal, of what was heard). MAC frame: IEEE 802.11-2020, 9.3.2.1 and 9.3.1.4.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from airloom.errors import RunError, UserError
from airloom.radio.medium import EVERYBODY, Frame
from airloom.radio.phy import ACK_BYTES, EXTENSION_NS, SIFS_NS, US, acknowledgement_rate, air_time
from airloom.radio.state import ACKNOWLEDGEMENT
from airloom.scenario.radio import RATES

if TYPE_CHECKING:
    from airloom.scenario.radio import RadioKind

NS_MAGIC, LINK_RADIOTAP, SNAPSHOT = 0xA1B23C4D, 127, 65535
FILE_HEAD = struct.pack("<IHHiIII", NS_MAGIC, 2, 4, 0, 0, SNAPSHOT, LINK_RADIOTAP)
RECORD = struct.Struct("<IIII")  # seconds, ns, bytes here, bytes on the air
WITH_CHECKSUM, SIGNAL = 0x10, 1 << 5
FLAGS, RATE, CHANNEL = 1 << 1, 1 << 2, 1 << 3
OFDM, BAND_2_GHZ, BAND_5_GHZ = 0x40, 0x80, 0x100
DATA_FRAME, ACKNOWLEDGEMENT_FRAME, RETRY = 0x0008, 0x00D4, 0x0800
SNAP = bytes.fromhex("aaaa03000000") + struct.pack(">H", 0x88B5)  # IEEE 802: for local experiments
OURS = b"\x02\0\0"  # first half of addresses that nobody has been assigned
ALL, CELL = b"\xff" * 6, OURS + b"\xff" * 3
LONGEST_DURATION = 32767  # µs for which a frame may reserve the medium
KEPT_AT_ONCE = 1 << 16  # bytes of a file
ON_THE_WAY_NS = 5_000_000_000
"""Beyond its lifetime in a queue, what a frame said is forgotten after that."""


class Captures:
    """The files of all nodes of a band."""

    def __init__(self, folder: Path | None, names: Sequence[str], radio: RadioKind) -> None:
        if folder is None:
            raise UserError("radio: pcap files need a folder: `airloom run` has one; in Python, set sim.radio.folder")
        self._folder, self._radio = folder, radio
        answer_ns = SIFS_NS + air_time(ACK_BYTES, RATES[acknowledgement_rate(radio.rate_indices[0])]) - EXTENSION_NS
        self._answered_within = min(-(-answer_ns * radio.stretch // US), LONGEST_DURATION)
        self._kept_ns = round(radio.lifetime * 1e9) + ON_THE_WAY_NS * radio.stretch
        self._files: list[Path] = []
        self._unwritten: list[bytearray] = []
        self._said: dict[int, tuple[int, bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """One node more."""
        self._files.append(self._folder / f"{name}.pcap")
        self._files[-1].write_bytes(FILE_HEAD)
        self._unwritten.append(bytearray())

    def remember(self, frames: Sequence[Frame], payloads: Sequence[bytes]) -> None:
        """What is in frames that are given to radios."""
        for frame, payload in zip(frames, payloads, strict=True):
            self._said[frame.number] = frame.time_ns, payload

    def write(self, captured: np.ndarray) -> None:
        """Rows of CAPTURE, with times in ns."""
        for row in captured.tolist():
            time_ns, node, sender, to, number, attempt, kind, rate, strength = row
            if kind == ACKNOWLEDGEMENT:
                frame = _acknowledgement(to)
            else:
                taken = 0 if to == EVERYBODY else self._answered_within
                frame = _data(sender, to, number, attempt, self._said[number][1], taken)
            content = self._radiotap(rate, None if node == sender else strength) + frame
            head = RECORD.pack(*divmod(time_ns, 1_000_000_000), len(content), len(content))
            self._unwritten[node] += head + content
            if len(self._unwritten[node]) > KEPT_AT_ONCE:
                self._flush(node)

    def _radiotap(self, rate: int, strength: float | None) -> bytes:
        """Rates in units of 500 kb/s, and frequencies in MHz, where they can be told so."""
        there, fields = FLAGS, struct.pack("<B", WITH_CHECKSUM)
        half_megabits, rest = divmod(2 * RATES[rate], self._radio.stretch)
        if not rest:
            there, fields = there | RATE, fields + struct.pack("<B", half_megabits)
        megahertz = round(self._radio.frequency * 1e-6)
        if megahertz < 1 << 16:
            band = BAND_2_GHZ if megahertz < 3000 else BAND_5_GHZ
            aligned = b"\0" * (len(fields) % 2)
            there, fields = there | CHANNEL, fields + aligned + struct.pack("<HH", megahertz, OFDM | band)
        if strength is not None:
            there, fields = there | SIGNAL, fields + struct.pack("<b", max(round(strength), -128))
        return struct.pack("<BBHI", 0, 0, 8 + len(fields), there) + fields

    def forget_before(self, time_ns: int) -> None:
        """What was given to a radio so long ago that it is done with; numbers count up with the time."""
        before = time_ns - self._kept_ns
        while self._said and self._said[oldest := next(iter(self._said))][0] < before:
            del self._said[oldest]

    def _flush(self, node: int) -> None:
        content, self._unwritten[node] = self._unwritten[node], bytearray()
        try:
            with self._files[node].open("ab") as file:
                file.write(content)
        except OSError as error:
            raise RunError(f"cannot write {self._files[node]}: {error.strerror}") from None

    def close(self) -> None:
        """Files are complete afterwards."""
        for node in range(len(self._files)):
            self._flush(node)


def _address(node: int) -> bytes:
    """Of the first node …:00:00:01."""
    return ALL if node == EVERYBODY else OURS + (node + 1).to_bytes(3, "big")


def _data(sender: int, to: int, number: int, attempt: int, payload: bytes, taken: int) -> bytes:
    """The medium is `taken` for so many µs after it."""
    control = DATA_FRAME | (RETRY if attempt > 1 else 0)
    places = _address(to) + _address(sender) + CELL
    return _checked(
        struct.pack("<HH", control, taken) + places + struct.pack("<H", number % 4096 << 4) + SNAP + payload
    )


def _acknowledgement(to: int) -> bytes:
    return _checked(struct.pack("<HH", ACKNOWLEDGEMENT_FRAME, 0) + _address(to))


def _checked(frame: bytes) -> bytes:
    return frame + struct.pack("<I", crc32(frame))
