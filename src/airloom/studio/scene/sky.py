"""A sky that pales to the horizon, haze over far ground, a sun: as the world's light has them."""

from __future__ import annotations

import io

import numpy as np
import viser
from PIL import Image
from viser import _messages

from airloom.studio.scene.daylight import Daylight
from airloom.studio.scene.gltf import linear
from airloom.studio.scene.tones import light_seen_as

SOIL = np.array([150.0, 150.0, 144.0])
BRIGHTEST = 2.0  # of the light in the picture of the sky, which as such knows 0 … 1
ROWS, COLUMNS = 512, 128
"""Of the picture of the sky. The horizon needs rows. From the columns browsers make pictures of all that may shine
back, sharp and blurred, before they draw anything: with 1024 and no graphics card that takes 8 s more."""
FAR = 1e6  # m, so far away that moving the world does not change where the sun stands


def show_sky(server: viser.ViserServer, root: str, light: Daylight) -> None:
    scene = server.scene
    scene.configure_default_lights(enabled=False)
    scene.configure_fog(light.haze_from, light.haze_to, color=linear(light.haze))
    still = (1.0, 0.0, 0.0, 0.0)
    server.scene._websock_interface.queue_message(
        _messages.EnvironmentMapMessage(
            hdri_data=sky_image(light), background=True, background_blurriness=0.0, background_intensity=BRIGHTEST,
            background_wxyz=still, environment_intensity=0.35 * BRIGHTEST, environment_wxyz=still,
        )
    )  # fmt: skip
    scene.add_light_hemisphere(
        f"{root}/daylight", sky_color=(228, 236, 248), ground_color=(176, 170, 160), intensity=0.9 * light.day
    )
    scene.add_light_directional(
        f"{root}/sun", color=tuple(round(c) for c in light.sun_colour), intensity=2.7 * light.sun_strength,
        cast_shadow=False, position=tuple(FAR * light.sun),
    )  # fmt: skip


def sky_image(light: Daylight) -> bytes:
    """All around as one JPEG: straight up in the first row, straight down in the last. The same in every direction."""
    elevation = np.linspace(90.0, -90.0, ROWS)
    soil = light.day * SOIL
    stops = {**light.sky, -2.0: light.haze, -25.0: soil, -90.0: soil}
    heights = sorted(stops)
    channels = [np.interp(elevation, heights, [stops[h][k] for h in heights]) for k in range(3)]
    column = encoded(light_seen_as(np.stack(channels, axis=-1)) / BRIGHTEST)
    dither = np.random.default_rng(0).uniform(-0.5, 0.5, (ROWS, COLUMNS, 1))
    pixels = np.clip(np.round(column[:, None, :] + dither), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=95, subsampling=0)
    return file.getvalue()


def encoded(light: np.ndarray) -> np.ndarray:
    """Light, 0 … 1, as sRGB, 0 … 255; the reverse of `linear`."""
    return 255.0 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0.0) ** (1 / 2.4) - 0.055)
