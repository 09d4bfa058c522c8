"""Light that a browser shows as a given colour: three.js bends all light by a film's curve before it is seen."""

from __future__ import annotations

import numpy as np

from airloom.studio.scene.gltf import linear

EXPOSURE = 1.0 / 0.6
_IN = np.array([[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]])
_OUT = np.array([[1.60475, -0.53108, -0.07367], [-0.10208, 1.10813, -0.00605], [-0.00327, -0.07276, 1.07602]])
"""Stephen Hill's fit of the ACES transforms, which three.js uses: light → film → screen."""


def light_seen_as(colours: np.ndarray) -> np.ndarray:
    """Red, green and blue of light, 0 … about 7, that come out as sRGB colours, 0 … 255.

    The curve of the film is y = (x² + p x − q) / (r x² + s x + t), solved for x.
    """
    y = np.clip(linear(np.asarray(colours)) @ np.linalg.inv(_OUT).T, 0.0, 0.999)
    p, q, r, s, t = 0.0245786, 0.000090537, 0.983729, 0.4329510, 0.238081
    a, b, c = 1.0 - r * y, p - s * y, -q - t * y
    x = (-b + np.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)
    return np.maximum(x @ np.linalg.inv(_IN).T / EXPOSURE, 0.0)
