"""What coordinators say to each other survives the way, and nonsense is told from it."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from airloom.loom import bundles, protocol
from airloom.loom.bundles import Admission, Introduction, Round, TurnOutcome, What
from airloom.loom.protocol import HEAD, Hello, Letter, Phase, ProtocolError, Welcome
from airloom.loom.visibility import ToldVisibility


def body(message):
    length, _ = HEAD.unpack_from(message)
    assert length + 4 == len(message)
    return message[HEAD.size :]


def test_a_round_keeps_the_order_of_everybodys_letters():
    a, b, c = (Letter(name, name.encode() * 3) for name in "abc")
    known, told = ToldVisibility(), ToldVisibility()
    states = np.arange(5 * 13, dtype=float).reshape(5, 13)
    known.learn(np.arange(5), states)
    sent = Round(7, known, {"x": [c, b], "y": [a, c], "z": []})
    message = bundles.begins(sent, np.array([1, 4]), list(sent.letters))
    got = bundles.parse_begins(body(message), told)
    assert got.time_ns == 7
    assert got.letters == sent.letters
    assert (told.states(np.array([1, 4])) == states[[1, 4]]).all()
    assert message.count(b"ccc") == 1, "a letter to two travels once"


def test_the_rest_survives_too():
    who = Introduction("field", "secret")
    assert bundles.parse_branch(body(bundles.branch(who))) == who
    hello = Hello("one", Phase.SIMULATOR, 5, "drone_*", "")
    assert bundles.parse_join(body(bundles.join(hello))) == hello
    granted = Admission("one", Welcome(1, 2, ["drone_0"]), [3], 1.5)
    assert bundles.parse_admitted(body(bundles.admitted(granted))) == granted
    assert bundles.parse_dismiss(body(bundles.dismiss("one"))) == "one"
    outcomes = {"one": TurnOutcome(What.END, protocol.end(3)[5:]), "two": TurnOutcome(What.FAILED, b"is gone")}
    assert bundles.parse_ends(body(bundles.ends(9, outcomes.items()))) == (9, outcomes)


@pytest.mark.parametrize(
    "parser",
    [
        bundles.parse_branch, bundles.parse_join, bundles.parse_admitted, bundles.parse_bad_news, bundles.parse_dismiss,
        bundles.parse_ends, lambda data: bundles.parse_begins(data, ToldVisibility()),
    ],
)  # fmt: skip
@settings(deadline=None)
@given(data=some.binary(max_size=80))
def test_nonsense_is_an_error_of_the_protocol(parser, data):
    with suppress(ProtocolError):
        parser(data)
