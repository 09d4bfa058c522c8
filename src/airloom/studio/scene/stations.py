"""How a station of the radio looks: a mast with its antenna at the top."""

from __future__ import annotations

import numpy as np

from airloom.world.meshes import Colour, Mesh, beam, joined, ngon, prism

STEEL: Colour = (120, 126, 134)
ANTENNA: Colour = (204, 46, 62)
LOWEST_MAST = 1.0  # m, as it is drawn, however low its antenna is


def mast_mesh(height: float) -> Mesh:
    """From the ground up, with its antenna at this height, m."""
    thick = 0.02 * height + 0.02
    pole = prism(ngon(thick, 10), 0.0, height, STEEL, top=0.6)
    antenna = prism(ngon(1.6 * thick, 10), 0.9 * height, 1.1 * height, ANTENNA)
    reach = 0.16 * height + 0.1
    feet = [
        beam(
            [0.0, 0.0, 0.45 * height],
            [reach * np.cos(turn), reach * np.sin(turn), 0.0],
            0.7 * thick,
            0.7 * thick,
            STEEL,
        )
        for turn in (0.5, 0.5 + 2.0 * np.pi / 3.0, 0.5 + 4.0 * np.pi / 3.0)
    ]
    return joined([pole, antenna, *feet])
