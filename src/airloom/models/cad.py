"""STEP and IGES: exact surfaces of CAD, cut into facets by Open CASCADE. They know their units: metres come out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from airloom.models.description import ModelError

KINDS: dict[str, Literal["step", "iges"]] = {".step": "step", ".stp": "step", ".iges": "iges", ".igs": "iges"}
FINENESS = 0.01  # mm between facets and the surface
ANGLE = 0.05
"""rad between neighbouring facets: a round rod is 0.04 % too light."""


def load_cad(file: Path) -> Any:
    """A trimesh.Trimesh in metres."""
    try:
        import cascadio
    except ImportError:
        raise ModelError(
            f'{file}: STEP and IGES files need Open CASCADE: pip install "airloom[step]". Or save it as STL or GLB in '
            "your CAD program, with fine facets"
        ) from None
    import trimesh

    with _silence():
        glb = cascadio.load(
            file.read_bytes(), file_type=KINDS[file.suffix.lower()], tol_linear=FINENESS, tol_angular=ANGLE,
            use_parallel=False,
        )  # fmt: skip
    if not glb:
        raise ModelError(f"{file}: Open CASCADE does not read it as {KINDS[file.suffix.lower()].upper()}")
    return trimesh.load(BytesIO(glb), file_type="glb", force="mesh", process=False, skip_materials=True)


@contextmanager
def _silence() -> Iterator[None]:
    """The library prints what it does not like; our message is enough."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [os.dup(number) for number in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in (1, 2):
            os.dup2(nowhere, number)
        yield
    finally:
        for number, copy in zip((1, 2), saved, strict=True):
            os.dup2(copy, number)
            os.close(copy)
        os.close(nowhere)
