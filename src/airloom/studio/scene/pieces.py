"""The ground in pieces, fine near an eye and coarse far away: which of them are to be seen, and their meshes.

A piece of one level is as wide as four of the finer level, and its error about four times as large. So if a piece is
cut where an eye is nearer than some of its widths, all of them look equally fine. Where a fine one meets a coarse one
there would be gaps; a skirt around each piece closes them. At the ground's edge it falls to the level ground around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from airloom.world.grid import Grid
from airloom.world.land import Land
from airloom.world.triangulation import TILE, tiles_of

SPREAD = 4  # pieces of a finer level, each way
NEAR = 0.5  # widths of a piece
SKIRT = 2.0  # times the error of the coarser level


class Piece(NamedTuple):
    level: int
    row: int
    column: int

    @property
    def tiles(self) -> int:
        """Each way."""
        return SPREAD**self.level

    @property
    def parts(self) -> Iterator[Piece]:
        for k in range(SPREAD * SPREAD):
            yield Piece(self.level - 1, SPREAD * self.row + k // SPREAD, SPREAD * self.column + k % SPREAD)


class Pieces:
    """Those of one land, whose ground is a grid."""

    def __init__(self, land: Land) -> None:
        assert land.grid is not None
        self.grid: Grid = land.grid
        self._levels = land.levels
        self._tiles = tiles_of(self.grid.heights.shape)

    def seen_from(self, eyes: Sequence[np.ndarray]) -> set[Piece]:
        """The pieces that together are the ground, for these eyes."""
        top = len(self._levels) - 1
        rows, columns = (-(-n // Piece(top, 0, 0).tiles) for n in self._tiles)
        roots = [Piece(top, r, c) for r in range(rows) for c in range(columns)]
        return {part for root in roots for part in self._cut(root, eyes)}

    def _cut(self, piece: Piece, eyes: Sequence[np.ndarray]) -> Iterator[Piece]:
        if not self._exists(piece):
            return
        if piece.level > 0 and any(self._is_near(piece, eye) for eye in eyes):
            for part in piece.parts:
                yield from self._cut(part, eyes)
        else:
            yield piece

    def _exists(self, piece: Piece) -> bool:
        return piece.row * piece.tiles < self._tiles[0] and piece.column * piece.tiles < self._tiles[1]

    def distance(self, piece: Piece, eye: np.ndarray) -> float:
        """From an eye, m."""
        grid, width = self.grid, np.array(self.grid.cell) * TILE * piece.tiles
        low = np.array([*(grid.corner + width * [piece.column, piece.row]), grid.low])
        high = np.array([*(low[:2] + width), grid.high])
        return float(np.linalg.norm(eye - np.clip(eye, low, high)))

    def _is_near(self, piece: Piece, eye: np.ndarray) -> bool:
        return self.distance(piece, eye) < NEAR * max(self.grid.cell) * TILE * piece.tiles

    def mesh(self, piece: Piece) -> tuple[np.ndarray, np.ndarray]:
        """Vertices and faces, those of the skirt last."""
        numbers, faces = np.unique(self._faces(piece), return_inverse=True)
        faces = faces.reshape(-1, 3)
        corners = np.stack(np.divmod(numbers.astype(np.int64), self.grid.heights.shape[1]), axis=1)
        vertices, edges = self._places(corners), _outer_edges(faces)
        lowered = np.unique(edges)
        below = np.zeros(len(vertices), dtype=np.int64)
        below[lowered] = len(vertices) + np.arange(len(lowered))
        a, b = edges.T
        skirt = np.concatenate([np.stack([below[a], below[b], b], 1), np.stack([below[a], b, a], 1)])
        hem = vertices[lowered] - [0.0, 0.0, self._depth(piece)]
        outwards = self._outwards(corners[lowered])
        at_edge = outwards.any(axis=1)
        hem[:, :2] += outwards * self.grid.cell
        hem[at_edge, 2] = self.grid.low
        return np.concatenate([vertices, hem]), np.concatenate([faces, skirt]).astype(np.uint32)

    def _outwards(self, corners: np.ndarray) -> np.ndarray:
        """For corners [row, column] at the edge of the grid −1 or 1, east and north; 0 within."""
        return (np.equal(corners, np.subtract(self.grid.heights.shape, 1)).astype(int) - (corners == 0))[:, ::-1]

    def _faces(self, piece: Piece) -> np.ndarray:
        """A row of tiles lies together."""
        level, (down, across) = self._levels[piece.level], self._tiles
        first, end = piece.column * piece.tiles, min((piece.column + 1) * piece.tiles, across)
        rows = range(piece.row * piece.tiles, min((piece.row + 1) * piece.tiles, down))
        return np.concatenate(
            [level.faces[level.starts[r * across + first] : level.starts[r * across + end]] for r in rows]
        )

    def _depth(self, piece: Piece) -> float:
        """Of its skirt, m."""
        coarser = self._levels[min(piece.level + 1, len(self._levels) - 1)]
        return SKIRT * coarser.error

    def _places(self, corners: np.ndarray) -> np.ndarray:
        grid, (rows, columns) = self.grid, corners.T
        east, north = grid.corner[0] + grid.cell[0] * columns, grid.corner[1] + grid.cell[1] * rows
        return np.column_stack([east, north, grid.heights[rows, columns]])


def _outer_edges(faces: np.ndarray) -> np.ndarray:
    """Directed edges [n, 2] that only one triangle has, the ground on their left."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    size = int(faces.max()) + 1
    forth, back = edges[:, 0] * size + edges[:, 1], edges[:, 1] * size + edges[:, 0]
    return edges[~np.isin(forth, back)]
