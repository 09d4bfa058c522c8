"""What members know of each other: what was heard, flown on for a while, then forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.radio.packet import Packet
from airloom.swarm.neighbours import Neighbours
from airloom.swarm.words import SIZE, spoken, understood

SECOND = 1_000_000_000
STATE = np.array([12.3456, -7.0, 20.0, 1.5, -2.25, 0.1])


def packet(sender, content):
    return Packet(sender, "*", content, 0, 0, -60.0)


def heard(time_ns, state=STATE, sender="b", leg=0):
    return packet(sender, spoken(time_ns, state, leg))


def test_a_word_is_short_and_true_to_the_millimetre():
    words = understood([heard(5 * SECOND, leg=3)])
    assert SIZE == 29
    assert words.times.tolist() == [5 * SECOND]
    assert words.legs.tolist() == [3]
    assert words.states[0, :3] == pytest.approx(STATE[:3], abs=5.1e-4)
    assert words.states[0, 3:] == pytest.approx(STATE[3:], abs=5.1e-3)


@pytest.mark.parametrize("content", [b"", b"hello", bytes(SIZE), bytes(SIZE + 1)])
def test_other_talk_is_passed_over(content):
    table = Neighbours(1, ["a", "b"], 3.0)
    table.hear([0], [packet("b", content)])
    assert not table.at(0)[1].any()


def test_a_neighbour_flies_on_and_is_forgotten():
    table = Neighbours(2, ["a", "b"], 3.0)
    table.hear([0], [heard(10 * SECOND)])
    states, known = table.at(12 * SECOND)
    assert known.tolist() == [[False, True], [False, False]]
    assert states[0, 1, :2] == pytest.approx([12.346 + 2 * 1.5, -7.0 - 2 * 2.25])
    assert not table.at(13 * SECOND)[1].any()


def test_what_was_measured_last_counts_not_what_was_heard_last():
    table = Neighbours(1, ["a", "b"], 3.0)
    late, new = STATE + 50.0, STATE
    table.hear([0, 0], [heard(2 * SECOND, new), heard(SECOND, late)])
    table.hear([0], [heard(SECOND, late)])
    assert table.at(2 * SECOND)[0][0, 1, 0] == pytest.approx(12.346)


def test_strangers_are_passed_over():
    table = Neighbours(1, ["a", "b"], 3.0)
    table.hear([0], [heard(SECOND, sender="stranger")])
    assert not table.at(SECOND)[1].any()
