"""What a swarm keeps off is known to those who draw it, without a line of a stranger's code."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario import load
from airloom.system import boundaries_in
from airloom.world.boundaries import convex_outline, widened


def area(corners):
    x, y = np.asarray(corners).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def test_a_flocks_walls_and_pillars():
    walls, *pillars = boundaries_in(load("flock"))
    assert walls.encloses
    assert area(walls.corners) == pytest.approx(160.0**2)
    assert walls.top == 15.0
    assert [one.corners.mean(axis=0).round(6).tolist() for one in pillars] == [[35, 20], [-35, -20]]
    assert all(area(one.corners) == pytest.approx(np.pi * 8**2, rel=0.01) and not one.encloses for one in pillars)


def test_an_area_that_is_covered_and_what_stands_in_it():
    found = list(boundaries_in(load("search")))
    assert [one.encloses for one in found] == [True] + [False] * (len(found) - 1)
    assert area(found[0].corners) > 100.0


@pytest.mark.parametrize(("members", "count"), [(False, 0), (True, 1)])
def test_a_system_that_is_off_is_drawn_if_members_fly_by_it(members, count):
    scenario = load("flock-members" if members else "flock", {"systems.flock.enabled": False})
    walls = [one for one in boundaries_in(scenario) if one.encloses]
    assert len(walls) == count


def test_a_plugin_in_a_file_is_not_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("import airloom as al\nclass Mine(al.System):\n    pass\n")
    scenario = load("hover", {"systems.mine": {"kind": "mine.py:Mine"}})
    (tmp_path / "mine.py").write_text("raise SystemExit('executed')\n")
    assert list(boundaries_in(scenario)) == []


def test_outlines_are_widened_all_around():
    square = np.array([[0, 0], [0, 2], [2, 2], [2, 0]], float)
    assert area(convex_outline(square)) == 4.0
    assert area(widened(square, 1.0)) == pytest.approx(4 + 4 * 2 + np.pi, rel=0.01)
    assert np.array_equal(widened(square, 0.0), convex_outline(square))
