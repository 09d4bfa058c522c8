"""Cameras move the world for one browser: what is looked at stays in the origin, and rays find their way back."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from airloom.studio.scene.cameras import FIELD_OF_VIEW, FROM_ABOVE, VIEW, Camera, Placement, first_look, framed, sees


class Scene:
    def add_frame(self, name, show_axes):
        return SimpleNamespace(position=np.zeros(3), wxyz=np.array([1.0, 0, 0, 0]))


def browser():
    camera = SimpleNamespace(position=np.array([3.0, -4.0, 5.0]), look_at=np.zeros(3), aspect=1.6)
    return SimpleNamespace(camera=camera, scene=Scene(), atomic=nullcontext)


POSITION = np.array([10.0, 20.0, 3.0])


def test_placement_there_and_back():
    placement = Placement.around(POSITION, 0.7)
    np.testing.assert_allclose(placement.to_scene(POSITION), 0.0, atol=1e-12)
    ahead = POSITION + np.array([np.cos(0.7), np.sin(0.7), 0.0])
    np.testing.assert_allclose(placement.to_scene(ahead), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(placement.to_world(placement.to_scene([1.0, 2.0, 3.0])), [1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(placement.direction_to_world([1, 0, 0]), ahead - POSITION, atol=1e-12)


@pytest.mark.parametrize("mode", ["follow", "chase", "top"])
def test_a_vehicle_that_is_gone_along_with_stays_in_the_origin(mode):
    camera = Camera(browser(), "/world")
    camera.switch(mode, "cf", POSITION, 0.5, 2.0)
    assert np.linalg.norm(camera.client.camera.position) == pytest.approx(2.0, rel=1e-5)
    for k in range(5):
        moved = POSITION + np.array([0.3 * k, 0.0, 0.1 * k])
        camera.keep_up(moved, 0.5)
        np.testing.assert_allclose(camera.placement.to_scene(moved), 0.0, atol=1e-12)
    np.testing.assert_allclose(camera._root.position, camera.placement.offset)


def test_chasing_looks_from_behind_and_turns_smoothly_the_short_way():
    camera = Camera(browser(), "/world")
    camera.switch("chase", "cf", POSITION, 3.0, 2.0)
    eye = camera.placement.to_world(camera.client.camera.position)
    assert (eye - POSITION) @ [np.cos(3.0), np.sin(3.0), 0.0] < -1.5
    camera.keep_up(POSITION, -3.0)
    first = -camera.placement.yaw
    assert 3.0 < first < 3.1
    for _ in range(100):
        camera.keep_up(POSITION, -3.0)
    assert np.cos(-camera.placement.yaw + 3.0) == pytest.approx(1.0, abs=1e-6)


def test_following_after_a_look_from_above_looks_from_the_side():
    camera = Camera(browser(), "/world")
    camera.switch("top", "cf", POSITION, 0.5, 2.0)
    camera.switch("follow", "cf", POSITION, 0.5, 2.0)
    eye = camera.client.camera.position
    assert 0.2 < eye[2] / np.linalg.norm(eye) < 0.8


def test_a_window_that_changes_while_a_view_is_framed_for_the_first_time_does_no_harm():
    """Browsers tell of their windows in another thread, which came between the parts of a view."""
    camera = Camera(browser(), "/world")
    camera._framed = (grid(3), 0.1, VIEW)
    camera.fit(np.zeros(3))


def test_free_again_the_view_stays():
    camera = Camera(browser(), "/world")
    camera.switch("chase", "cf", POSITION, 0.5, 2.0)
    before = camera.placement.to_world(camera.client.camera.position)
    camera.switch("orbit", "cf", POSITION, 0.5, 2.0)
    np.testing.assert_allclose(camera.client.camera.position, before)
    np.testing.assert_allclose(camera.client.camera.look_at, POSITION)
    assert camera.placement.yaw == 0.0


def grid(side):
    x, y = np.meshgrid(np.arange(side) - (side - 1) / 2, np.arange(side) - (side - 1) / 2)
    return np.column_stack([x.ravel(), y.ravel(), np.full(side**2, 0.015)])


def extent(positions, eye, target, aspect):
    """How far to the edges the outermost are: 1 is the edge."""
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    to = positions - eye
    depth, half = to @ forward, np.tan(FIELD_OF_VIEW / 2)
    assert (depth > 0).all()
    return np.abs(to @ right / depth).max() / (aspect * half), np.abs(
        to @ np.cross(right, forward) / depth
    ).max() / half


@pytest.mark.parametrize("view", [VIEW, FROM_ABOVE], ids=["aslant", "above"])
@pytest.mark.parametrize("aspect", [0.5, 0.77, 16 / 9])
@pytest.mark.parametrize("side", [1, 3, 10, 32])
def test_the_first_look_shows_everybody_in_any_window(side, aspect, view):
    positions = grid(side)
    reached = extent(positions, *first_look(positions, 0.075, aspect, view), aspect)
    assert max(reached) < 1.0
    if side > 3:
        assert max(reached) > 0.8, "no smaller than they must be"


def test_a_small_vehicle_that_flies_little_is_filmed_from_near():
    eye, target = framed(np.array([[0, 0, 0.02], [0, 0, 0.3]]), 0.075, 16 / 9)
    assert np.linalg.norm(eye - target) < 1.2


def test_a_window_that_becomes_narrow_still_shows_everybody_unless_the_view_was_turned():
    camera = Camera(browser(), "/world")
    camera.frame(grid(5), 0.3, VIEW)
    seen = camera.client.camera
    seen.aspect, first = 0.6, np.array([9.0, 9.0, 9.0])
    camera.fit(first)
    assert max(extent(grid(5), seen.position, seen.look_at, 0.6)) < 1.0
    seen.position = seen.position + np.array([1.0, 0.0, 0.0])
    turned, seen.aspect = seen.position, 1.6
    camera.fit(first)
    assert seen.position is turned
    seen.position = first
    camera.fit(first)
    assert max(extent(grid(5), seen.position, seen.look_at, 1.6)) < 1.0, "it came to its first view late"


def spread(reach):
    return reach * np.array([[1.0, 0, 0.1], [-1, 0, 0.1], [0, 1, 0.1], [0, -1, 0.1]])


def test_a_fleet_that_flies_away_stays_in_the_picture():
    camera = Camera(browser(), "/world")
    camera.frame(spread(10.0), 0.3, VIEW)
    here = camera.client.camera.position.copy()
    camera.keep_in_view(spread(9.0))
    np.testing.assert_array_equal(camera.client.camera.position, here)
    looks = set()
    for reach in np.linspace(10.0, 100.0, 200):
        camera.keep_in_view(spread(reach))
        seen = camera.client.camera
        looks.add(tuple(seen.position))
        assert sees(seen.position, seen.look_at, 1.6, spread(reach))
    assert len(looks) < 15, "it does not move all the time"


def test_a_view_that_a_hand_has_turned_stays():
    camera = Camera(browser(), "/world")
    camera.frame(spread(10.0), 0.3, VIEW)
    camera.client.camera.position = np.array([20.0, 0.0, 30.0])
    camera.keep_in_view(spread(500.0))
    np.testing.assert_array_equal(camera.client.camera.position, [20.0, 0.0, 30.0])


def test_what_is_behind_or_beside_the_picture_is_not_seen():
    eye, target = np.array([0.0, -10.0, 0.0]), np.zeros(3)
    wide = 10.0 * 1.6 * np.tan(FIELD_OF_VIEW / 2)
    assert sees(eye, target, 1.6, np.array([[0.98 * wide, 0, 0]]))
    assert not sees(eye, target, 1.6, np.array([[1.02 * wide, 0, 0]]))
    assert not sees(eye, target, 1.6, np.array([[0, -12.0, 0]]))
