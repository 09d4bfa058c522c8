"""Lines of JSON: the same reading and the same words for the control link and for `airloom serve`."""

from __future__ import annotations

import pytest

from airloom.net.json_lines import LONGEST_LINE, LineBuffer, RequestError, parse_object, refusal, take_method
from airloom.runs.link.methods import parse as parse_for_link
from airloom.serve.requests import parse as parse_for_server

BAD = {
    b"{": "this is no line of JSON: Input data was truncated",
    b"\xff\xfe": "this is no line of JSON: ",
    b"[" * 5000: "this is no line of JSON: maximum recursion depth",
    b'{"method": "step", "ticks": NaN}': "out of range: numbers must be finite, got NaN",
    b'{"method": "step", "ticks": [-Infinity]}': "out of range: numbers must be finite, got -Infinity",
    b'{"method": "step", "ticks": 1e999}': "a number is out of range: numbers must be finite, got 1e999",
    b'{"method": "step", "\\ud800": 1}': "half a character",
    b'{"method": "step", "x": "\\udfff"}': "half a character",
    b"[1, 2]": 'a request is an object such as {"method": "step"}',
    b'"step"': "a request is an object",
    b"{}": "there is no method null; methods are ",
    b'{"method": 3}': "there is no method 3",
    b'{"method": "stepp"}': "there is no method \"stepp\"; did you mean 'step'?",
    b'{"method": "' + b"x" * 60_000 + b'"}': 'there is no method "xxx',
    b" " * (LONGEST_LINE + 1): f"a line may have {LONGEST_LINE} bytes at most",
}


@pytest.mark.parametrize("parse", [parse_for_link, parse_for_server])
@pytest.mark.parametrize("line", BAD, ids=lambda line: line[:40].decode(errors="replace"))
def test_both_refuse_it_in_the_same_words(parse, line):
    with pytest.raises(RequestError) as caught:
        parse(line)
    assert BAD[line] in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("number", [b"1e10", b"-2000000000", b"9" * 400])
@pytest.mark.parametrize("where", [b'"position": [0, 0, %s]', b'"x": {"y": [[%s]]}'])
def test_no_number_on_the_link_is_beyond_sense(number, where):
    with pytest.raises(RequestError, match=r"numbers must be at most 1e\+09, got -?[0-9]") as caught:
        parse_for_link(b'{"method": "goto", "vehicle": "cf", ' + where % number + b"}")
    assert len(str(caught.value)) < 120


def test_lines_come_in_pieces():
    buffer = LineBuffer()
    assert buffer.feed(b'{"a"') == []
    assert buffer.feed(b': 1}\n\n  \n{"b": 2}\n{"c"') == [b'{"a": 1}', b'{"b": 2}']
    assert buffer.feed(b": 3}\n") == [b'{"c": 3}']


def test_a_line_without_an_end_takes_no_memory_and_the_next_one_is_read():
    buffer = LineBuffer()
    for _ in range(100):
        assert buffer.feed(b"x" * LONGEST_LINE) == []
    assert len(buffer._rest) == LONGEST_LINE + 1
    long, good = buffer.feed(b'x\n{"method": "step"}\n')
    with pytest.raises(RequestError, match="at most"):
        parse_object(long)
    assert take_method(parse_object(good), {"step": 7}) == 7


def test_a_refusal_can_be_written_down():
    assert refusal("no '\ud800'") == {"ok": False, "error": "no '\\ud800'"}
