"""MJCF, which MuJoCo compiles together with all meshes, pictures and files that it names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from airloom.reading.unreadable import Unreadable, told


def compiled(file: Path) -> dict[str, np.ndarray]:
    """The `model` as MuJoCo saves it, and where its bodies are at first: `positions` [n, 3], `rotations` [n, 3, 3]."""
    os.environ["MUJOCO_GL"] = "disable"  # nothing is drawn, and looking for a library to draw with starts programs
    import mujoco

    try:
        model = mujoco.MjModel.from_xml_path(str(file))
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
    except (ValueError, mujoco.FatalError) as error:
        raise Unreadable(f"{file}: MuJoCo does not read it: {told(error)}") from None
    saved = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, saved)
    return {"model": saved, "positions": data.xpos, "rotations": data.xmat.reshape(-1, 3, 3)}
