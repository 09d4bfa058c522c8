"""What base station and vehicles say to each other, and how orders find their way."""

from __future__ import annotations

import zlib
from math import isnan, nan

import pytest

from airloom.radio.packet import LONGEST
from airloom.station.dispatch import Dispatch
from airloom.station.link import Link, News
from airloom.station.schedule import Schedule
from airloom.station.words import (
    BEAT,
    MARK,
    Doing,
    Got,
    OrderState,
    Piece,
    Telemetry,
    Word,
    got_word,
    in_pieces,
    piece_word,
    telemetry_word,
    understood,
)


def signed(word):
    return word + zlib.crc32(word).to_bytes(4, "little")


HOW = Telemetry(7 * 10**9, (1.2345, -20.0, 3.0), (0.5, -1.25, 0.0), -3.1, Doing.ORDER, 0.42, 3, 1, OrderState.FLYING)


def test_telemetry_arrives_as_it_was_to_the_millimetre():
    heard = understood(telemetry_word(HOW))
    assert isinstance(heard, Telemetry)
    assert heard.position == pytest.approx(HOW.position, abs=0.51e-3)
    assert heard.velocity == pytest.approx(HOW.velocity, abs=0.51e-2)
    assert heard.yaw == pytest.approx(HOW.yaw, abs=0.51e-3)
    assert heard[4:] == HOW[4:]
    assert heard.time_ns == HOW.time_ns


def test_a_battery_that_nobody_knows_and_a_place_beyond_all_bounds():
    heard = understood(telemetry_word(HOW._replace(battery=nan, position=(1e12, -1e12, 0.0))))
    assert isnan(heard.battery)
    assert heard.position[0] == -heard.position[1] == pytest.approx((2**31 - 1) * 1e-3)


def test_an_order_in_pieces_fits_into_packets():
    content = bytes(range(256)) * 20
    pieces = list(in_pieces(9, content))
    words = [piece_word(piece) for piece in pieces]
    assert len(words) == 4
    assert max(map(len, words)) == LONGEST
    assert b"".join(understood(word).content for word in words) == content
    assert {(piece.order, piece.of) for piece in pieces} == {(9, 4)}


def test_a_beat_says_nothing_more():
    assert understood(BEAT) is Word.BEAT


@pytest.mark.parametrize(
    "content", [MARK, MARK + b"\x02short", b"", signed(MARK), signed(MARK + b"\x63"), signed(MARK + b"\x04\0")]
)
def test_what_makes_no_sense_is_passed_over(content):
    assert understood(content) is None


def test_no_bit_can_be_another_unnoticed():
    word = got_word(Got(1, 2))
    for bit in range(8 * len(word)):
        other = bytearray(word)
        other[bit // 8] ^= 1 << bit % 8
        assert understood(bytes(other)) is None


def test_a_piece_is_sent_again_until_it_is_acknowledged():
    one = Dispatch("a", 1, 0, bytes(3000))

    def sent(ms):
        return [piece.number for piece in one.due(ms * 10**6, 0.5, 3)]

    assert sent(0) == [0, 1, 2]
    assert sent(400) == []
    assert not one.acknowledge(Got(1, 1), 10**8)
    assert not one.acknowledge(Got(2, 0), 10**8), "that is another order"
    assert sent(500) == [0, 2]
    assert not one.acknowledge(Got(1, 0), 10**8)
    assert one.acknowledge(Got(1, 2), 6 * 10**8)
    assert (one.state, one.delivered_ns, one.attempts) == ("delivered", 6 * 10**8, 2)
    assert sent(1000) == []


def test_an_order_that_nobody_acknowledges_is_given_up():
    one = Dispatch("a", 1, 0, b"x")
    attempts = [len(list(one.due(k * 10**9, 0.5, 3))) for k in range(6)]
    assert attempts == [1, 1, 1, 0, 0, 0]
    assert one.state == "given up"


def test_a_link_begins_with_the_first_word_and_knows_when_it_was_lost():
    link = Link(2.0)
    assert link.look(10**12) is None, "who was never heard is not lost"
    link.hear(5 * 10**9)
    assert link.look(7 * 10**9) is None
    assert link.look(7 * 10**9 + 1) is News.LOST
    assert link.look(8 * 10**9) is None
    link.hear(9 * 10**9)
    assert link.look(10 * 10**9) is News.BACK
    assert [outage.seconds for outage in link.outages] == [(5.0, 9.0)]
    assert not link.is_lost


def test_a_schedule_keeps_its_rate_at_any_turns():
    for turns in (10, 20, 50):
        schedule = Schedule(2.0)
        assert sum(schedule.is_due(k * 10**9 // turns) for k in range(3 * turns)) == 6


def test_got_and_piece_are_told_apart():
    assert understood(got_word(Got(1, 2))) == Got(1, 2)
    assert understood(piece_word(Piece(1, 2, 3, b"x"))) == Piece(1, 2, 3, b"x")
