"""The thread in which messages leave."""

from __future__ import annotations

from contextlib import suppress

import pytest

pytest.importorskip("cyclonedds")
from airloom.ros2.sender import MOST_BEHIND, Sender


def unmakeable() -> bytes:
    raise ValueError("no bytes")


def put_much(sender: Sender) -> None:
    for _ in range(10 * MOST_BEHIND):
        sender.put(None, unmakeable)
        sender.hand_over()


def test_a_message_that_cannot_be_made_is_told_and_holds_up_nobody():
    sender = Sender()
    with pytest.raises(ValueError, match="no bytes"):
        put_much(sender)
    with suppress(ValueError):
        sender.close()
    assert not sender._thread.is_alive()
