"""Warnings of a run, each told once."""

from __future__ import annotations

from airloom.watch.complaints import MOST_KINDS, MOST_OF_A_KIND, Complaints


def told(*complaints):
    them = Complaints()
    for time, text in complaints:
        them.add(time, text)
    return them.texts()


def test_what_is_said_again_is_counted():
    again = told((1.0, "cf: too fast"), (2.0, "cf: too high"), (3.0, "cf: too fast"), (4.5, "cf: too fast"))
    assert again == ["1.000 s: cf: too fast (3 times, the last at 4.500 s)", "2.000 s: cf: too high"]


def test_what_differs_only_in_numbers_is_counted_when_it_is_too_much():
    some = told(*((k, f"cf: {0.5 * k} m is too high") for k in range(100)))
    assert some[:2] == ["0.000 s: cf: 0.0 m is too high", "1.000 s: cf: 0.5 m is too high"]
    assert len(some) == MOST_OF_A_KIND + 1
    assert some[-1] == "20.000 s: cf: … m is too high (with other numbers) (80 times, the last at 99.000 s)"


def test_there_is_an_end_to_kinds():
    names = [f"{a}{b}{c}" for a in "abcdefghijkl" for b in "abcdefghijkl" for c in "abcdefghijkl"]
    many = told(*((1.0, f"nobody is called {name}") for name in names))
    assert len(many) == MOST_KINDS + 1
    assert many[-1] == f"1.000 s: other warnings ({len(names) - MOST_KINDS} times, the last at 1.000 s)"
