"""Pictures from anybody's files: the one place where they are decoded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from airloom.basics.given import MEGABYTE, Mistake, regular_file

if TYPE_CHECKING:
    from PIL import Image

LARGEST_FILE = 512 * MEGABYTE
MOST_PIXELS = 100_000_000
FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "GIF", "PPM", "WEBP", "TGA")
"""Pillow knows others that start programs."""


def read_picture(file: Path | str, mistake: Mistake, advice: str = "", most: int = MOST_PIXELS) -> Image.Image:
    """All of its pixels, at most so many, are in memory."""
    from PIL import Image

    path = regular_file(file, mistake, LARGEST_FILE, advice)
    end = f"; {advice}" if advice else ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is odd, yet can be read; we count the pixels ourselves
        try:
            picture = Image.open(path, formats=FORMATS)
            width, height = picture.size
            if width * height <= most:
                picture.load()
        except Exception as error:  # whatever damaged files lead readers of pictures to
            why = "is no picture of a kind that is known" if isinstance(error, OSError) and not error.errno else error
            raise mistake(f"{path}: cannot be read as a picture: {why}{end}") from None
    if width * height > most:
        raise mistake(f"{path}: has {width} × {height} pixels; {most // 10**6} million are the most{end}")
    return picture
