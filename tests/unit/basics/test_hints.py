"""What somebody may have meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import airloom
from airloom.basics.hints import MOST_COMPARED, MOST_LISTED, closest, did_you_mean


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("mas", ["inertia", "mass"], "; did you mean 'mass'?"),
        ("xyz", ["inertia", "mass"], "; keys are inertia, mass"),
        (None, ["mass"], "; keys are mass"),
        (["mass"], ["mass"], "; did you mean 'mass'?"),
        ("xyz", [], "; keys are "),
    ],
)
def test_the_closest_or_all(name, known, hint):
    assert did_you_mean(name, known, "keys are") == hint


def test_nothing_is_said_of_what_is_like_nothing():
    assert did_you_mean("xyz", ["mass"]) == ""


def test_long_lists_are_cut():
    hint = did_you_mean("xyz", (f"drone_{k}" for k in range(MOST_LISTED + 1)), "vehicles are")
    assert hint.endswith(f"drone_{MOST_LISTED - 1} …")


def test_nobody_waits_for_a_look_through_a_whole_fleet():
    names = [f"drone_{k}" for k in range(MOST_COMPARED)]
    assert closest("abcdefgh", [*names, "abcdefgi"]) is None


def test_how_like_a_name_must_be():
    assert closest("preupdate", ["pre_update"], like=0.8) == "pre_update"
    assert closest("date", ["pre_update"], like=0.8) is None


def test_there_is_one_hint():
    """Everybody else asks for it here."""
    package = Path(airloom.__file__).parent
    others = [path for path in package.rglob("*.py") if "get_close_matches" in path.read_text()]
    assert [path.name for path in others] == ["hints.py"]
