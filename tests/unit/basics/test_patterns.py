"""Patterns of names: what they mean, and which are refused before they cost anything."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airloom.basics.patterns import LONGEST, MOST_WILDCARDS, PatternError, checked, matches, matching
from airloom.basics.text import is_sound, sound
from airloom.bus.bus import Bus
from airloom.scenario import ScenarioError, load

LETTERS = st.text("ab_[]!-*?", max_size=16)


@settings(deadline=None)
@given(LETTERS, LETTERS)
def test_they_mean_what_they_mean_to_the_shell(name, pattern):
    assert matches(name, pattern) == fnmatchcase(name, pattern)


def test_those_that_match_come_in_order():
    assert matching({"b_1": 1, "a": 2, "b_0": 3}.items(), "b_?") == [1, 3]


@pytest.mark.parametrize("pattern", ["[" * 20_000, "*" * (MOST_WILDCARDS + 1), "*" + "a" * LONGEST, "[!" * 5000])
def test_what_nobody_needs_is_refused_at_once(pattern):
    began = time.process_time()
    for _ in range(100):
        with pytest.raises(PatternError, match=f"at most {LONGEST} characters and {MOST_WILDCARDS} of"):
            matches("name", pattern)
    assert time.process_time() - began < 2.0, "it took 90 s each"


def test_a_name_may_be_long():
    assert matches("a" * 1000, checked("a" * 1000))
    assert not matches("a", "a" * 100_000)


@pytest.mark.parametrize(
    "key", ["log.topics", "log.rates", "members.chief.vehicles", "systems.waypoints.vehicle", "systems.push.vehicle"]
)
def test_a_scenario_names_the_key(key):
    long = "*" * 50
    value = {"log.topics": [long], "log.rates": {long: 1}}.get(key, long)
    more = {"systems.push": {"kind": "push", "force": [0, 0, 1]}} if "push" in key else {}
    with pytest.raises(ScenarioError, match=rf"--set {key}.*a pattern has at most"):
        load("relay" if "members" in key else "hover", {**more, key: value})


def test_a_subscriber_is_told():
    with pytest.raises(PatternError):
        Bus().subscribe("/" + "*" * 50, print)


def test_halves_of_characters():
    assert is_sound("Grüße 🚁")
    assert not is_sound("\ud83d")
    assert sound("a\udcffb") == r"a\udcffb"
    assert sound("Grüße 🚁") == "Grüße 🚁"


def test_a_scenario_refuses_half_a_character():
    with pytest.raises(ScenarioError, match="holds half a character"):
        load("hover", {"description": "\ud800"})
