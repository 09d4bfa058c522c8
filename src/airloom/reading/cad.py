"""STEP and IGES: exact surfaces of CAD, cut into facets by Open CASCADE. They know their units: metres come out."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from airloom.reading.unreadable import Unreadable

KINDS: dict[str, Literal["step", "iges"]] = {".step": "step", ".stp": "step", ".iges": "iges", ".igs": "iges"}
FINENESS = 0.01  # mm between facets and the surface
ANGLE = 0.05
"""rad between neighbouring facets: a round rod is 0.04 % too light."""


def facets(file: Path) -> dict[str, np.ndarray]:
    """Vertices in metres, and faces."""
    try:
        import cascadio
    except ImportError:
        raise Unreadable(
            f'{file}: STEP and IGES files need Open CASCADE: pip install "airloom[step]". Or save it as STL or GLB in '
            "your CAD program, with fine facets"
        ) from None
    import trimesh

    kind = KINDS[file.suffix.lower()]
    glb = cascadio.load(
        file.read_bytes(), file_type=kind, tol_linear=FINENESS, tol_angular=ANGLE, use_parallel=False
    )  # fmt: skip
    if not glb:
        raise Unreadable(f"{file}: Open CASCADE does not read it as {kind.upper()}")
    mesh: Any = trimesh.load(BytesIO(glb), file_type="glb", force="mesh", process=False, skip_materials=True)
    return {"vertices": np.asarray(mesh.vertices, dtype=float), "faces": np.asarray(mesh.faces, dtype=np.int64)}
