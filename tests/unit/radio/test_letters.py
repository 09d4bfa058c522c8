"""Radio by letters: the bytes that the reference shows are those that go over the line."""

from __future__ import annotations

import re
from pathlib import Path

from airloom.loom.protocol import Letter, letters_as_bytes
from airloom.radio.packet import Packet, address_of_request, letter_for

PAGE = Path(__file__).parents[3] / "docs/reference/loom.md"
COUNT = 2  # bytes before the first letter


def shown():
    """The bytes of each block in the section."""
    text = PAGE.read_text()
    section = text[text.index("## Radio, by letters") : text.index("## Between coordinators")]
    blocks = re.findall(r"```text\n(.*?)```", section, re.DOTALL)
    return [bytes.fromhex("".join(re.findall(r"^(?:[0-9a-f]{2} ?)+(?=  )", block, re.MULTILINE))) for block in blocks]


def test_the_bytes_of_the_reference():
    asked, heard = shown()
    assert asked == letters_as_bytes([Letter(address_of_request("leader", "*"), b"abc")])[COUNT:]
    packet = Packet("leader", "*", b"abc", 1_000_000_000, 1_002_500_000, -60.0)
    assert heard == letters_as_bytes([Letter(*letter_for("near", packet))])[COUNT:]
