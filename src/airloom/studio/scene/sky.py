"""A clear day: a sky that pales to the horizon, haze over far ground, a sun."""

from __future__ import annotations

import io

import numpy as np
import viser
from PIL import Image
from viser import _messages

from airloom.studio.scene.gltf import linear
from airloom.studio.scene.shadows import SUN
from airloom.studio.scene.tones import light_seen_as
from airloom.world.meshes import Colour

ZENITH, HIGH, LOW, HAZE = (28, 84, 172), (66, 136, 216), (132, 186, 238), (206, 224, 240)
SOIL: Colour = (150, 150, 144)
HAZE_FROM, HAZE_TO = 30.0, 700.0  # m
BRIGHTEST = 2.0  # of the light in the picture of the sky, which as such knows 0 … 1
FAR = 1e6  # m, so far away that moving the world does not change where the sun stands


def show_sky(server: viser.ViserServer, root: str) -> None:
    scene = server.scene
    scene.configure_default_lights(enabled=False)
    scene.configure_fog(HAZE_FROM, HAZE_TO, color=linear(np.array(HAZE)))
    still = (1.0, 0.0, 0.0, 0.0)
    server.scene._websock_interface.queue_message(
        _messages.EnvironmentMapMessage(
            hdri_data=sky_image(), background=True, background_blurriness=0.0, background_intensity=BRIGHTEST,
            background_wxyz=still, environment_intensity=0.35 * BRIGHTEST, environment_wxyz=still,
        )
    )  # fmt: skip
    scene.add_light_hemisphere(
        f"{root}/daylight", sky_color=(228, 236, 248), ground_color=(176, 170, 160), intensity=0.9
    )
    scene.add_light_directional(
        f"{root}/sun", color=(255, 244, 226), intensity=2.7, cast_shadow=False, position=tuple(FAR * SUN)
    )


def sky_image() -> bytes:
    """All around as one JPEG: straight up in the first row, straight down in the last. The same in every direction."""
    elevation = np.linspace(90.0, -90.0, 512)
    stops = {90.0: ZENITH, 28.0: HIGH, 6.0: LOW, 0.0: HAZE, -2.0: HAZE, -25.0: SOIL, -90.0: SOIL}
    heights = sorted(stops)
    channels = [np.interp(elevation, heights, [stops[h][k] for h in heights]) for k in range(3)]
    column = encoded(light_seen_as(np.stack(channels, axis=-1)) / BRIGHTEST)
    dither = np.random.default_rng(0).uniform(-0.5, 0.5, (512, 1024, 1))
    pixels = np.clip(np.round(column[:, None, :] + dither), 0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=95, subsampling=0)
    return file.getvalue()


def encoded(light: np.ndarray) -> np.ndarray:
    """Light, 0 … 1, as sRGB, 0 … 255; the reverse of `linear`."""
    return 255.0 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * np.maximum(light, 0.0) ** (1 / 2.4) - 0.055)
