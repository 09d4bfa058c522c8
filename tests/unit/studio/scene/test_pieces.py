"""Which pieces of the ground are seen, and that no gap is between them."""

from __future__ import annotations

import numpy as np
import pytest

from airloom.scenario.models import World
from airloom.studio.scene.pieces import Piece, Pieces
from airloom.world.land import Land
from airloom.world.triangulation import TILE

SIDE = 9 * TILE  # cells
EAST = np.linspace(0.0, 40.0, SIDE + 1)


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    file = tmp_path_factory.mktemp("land") / "heights.npy"
    np.save(file, 3.0 * np.sin(EAST)[None, :] + 2.0 * np.cos(1.3 * EAST)[:, None])
    terrain = {"kind": "heightfield", "size": (SIDE, SIDE), "file": str(file)}
    return Pieces(Land(World.model_validate({"terrain": terrain})))


def covered(pieces, shown):
    tiles = np.zeros((9, 9), dtype=int)
    for piece in shown:
        tiles[piece.row * piece.tiles : (piece.row + 1) * piece.tiles, piece.column * piece.tiles :][
            :, : piece.tiles
        ] += 1
    return tiles


@pytest.mark.parametrize("eye", [(0, 0, 10), (280, 250, 3), (-3000, 0, 500), (0, 0, 1e5)])
def test_every_tile_is_seen_once(pieces, eye):
    assert (covered(pieces, pieces.seen_from([np.array(eye, dtype=float)])) == 1).all()


def test_fine_near_the_eye_and_coarse_far_away(pieces):
    shown = pieces.seen_from([np.array([-280.0, -280.0, 5.0])])
    assert Piece(0, 0, 0) in shown
    assert {piece.level for piece in shown} == {0, 1}
    assert min(max(p.row, p.column) for p in shown if p.level == 1) == 1
    assert pieces.seen_from([np.array([0.0, 0.0, 1e5])]) == {Piece(3, 0, 0)}


def test_more_eyes_see_finely_where_any_of_them_is(pieces):
    one, other = np.array([-280.0, -280.0, 5.0]), np.array([280.0, 280.0, 5.0])
    both = pieces.seen_from([one, other])
    assert {p for p in pieces.seen_from([one]) | pieces.seen_from([other]) if p.level == 0} <= both


def test_skirts_hang_below_the_edges_and_face_outwards(pieces):
    """From outside nothing is seen through the gap between a fine piece and a coarse one."""
    vertices, faces = pieces.mesh(Piece(0, 4, 4))
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    facing = np.cross(b - a, c - a)
    upright = np.abs(facing[:, 2]) < 1e-9
    outwards = ((a[upright, :2] - vertices[:, :2].mean(axis=0)) * facing[upright, :2]).sum(axis=1)
    assert upright.sum() > 8
    assert (outwards > 0).all()
    assert (facing[~upright, 2] > 0).all()
    assert np.ptp(c[upright, 2]) > 0
