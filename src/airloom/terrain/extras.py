"""Libraries that only whoever makes terrain needs."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from airloom.scenario.terrain import TerrainError


def library(name: str, purpose: str, extra: str = "terrain") -> Any:
    """A module of an extra, or one clear message."""
    try:
        module = import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise TerrainError(f"{purpose} needs {package}: pip install 'airloom[{extra}]' ({error})") from None
    if name == "rasterio":
        logging.getLogger(name).addHandler(logging.NullHandler())  # it raises what it logs; we tell it once
    return module
