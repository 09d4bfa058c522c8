from __future__ import annotations

import math

import pytest

from airloom.scenario.document import read, scalar
from airloom.scenario.tree import origin_of, plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-8", 1e-8), ("1E3", 1000.0), (".5", 0.5), ("-2.", -2.0), ("3", 3), ("+3", 3), ("010", 10), ("0x1F", 31),
        ("0o17", 15), ("true", True), ("False", False), ("null", None), ("~", None), ("", None), ("-.inf", -math.inf),
        ("yes", "yes"), ("on", "on"), ("1:30", "1:30"), ("2020-01-01", "2020-01-01"), ("1.2.3", "1.2.3"), ("e5", "e5"),
    ],
)  # fmt: skip
def test_plain_scalars_follow_yaml_1_2(text, value):
    assert scalar(text) == value
    assert type(scalar(text)) is type(value)


def test_quoted_numbers_are_text(write):
    assert plain(read(write("a.yaml", "a: '1'\nb: \"2\""))) == {"a": "1", "b": "2"}


def test_integers_too_long_to_be_meant_do_not_stall(write):
    assert plain(read(write("a.yaml", "a: " + "9" * 5000)))["a"] == math.inf


def test_every_value_knows_its_line(write):
    root = read(write("a.yaml", "a:\n  b: 1\n  c:\n    - 2\n    - d: 3\n"))
    lines = {path: origin_of(root, path).line for path in [("a",), ("a", "b"), ("a", "c", 0), ("a", "c", 1, "d")]}
    assert lines == {("a",): 1, ("a", "b"): 2, ("a", "c", 0): 4, ("a", "c", 1, "d"): 5}


def test_aliases_repeat_a_value(write):
    assert plain(read(write("a.yaml", "a: &x [1, 2]\nb: *x\n"))) == {"a": [1, 2], "b": [1, 2]}


def test_a_byte_order_mark_is_ignored(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert plain(read(file)) == {"a": 1}
