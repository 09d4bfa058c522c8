"""A run that is begun anew in the middle has the bits of a fresh one, whatever the craft, with weather and missions."""

from __future__ import annotations

import pytest

import airloom as al

SHORT = {"systems.mission.items": [{"takeoff": 8, "speed": 3}, {"goto": [250, 0, 20], "speed": 12}]}


@pytest.mark.parametrize("engine", ["batch", "mujoco"])
@pytest.mark.parametrize(
    ("name", "changes", "middle", "end"),
    [("vtol", SHORT, 12.0, 9.0), ("rov", {}, 5.0, 3.0), ("boat", {}, 5.0, 3.0), ("airship", {}, 5.0, 3.0)],
)
def test_a_reset_in_the_middle_is_as_good_as_a_fresh_run(name, changes, middle, end, engine):
    """The quadplane goes over from its rotors to its wing meanwhile."""
    fresh, again = (al.Simulation.load(name, overrides={"engine": engine, **changes}) for _ in range(2))
    fresh.run(until=end)
    again.run(until=middle)
    again.reset()
    again.run(until=end)
    assert again.state_hash() == fresh.state_hash()
