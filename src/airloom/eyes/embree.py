"""Embree, Intel's library for rays, as it comes with the package embreex.

embreex itself casts one ray after the other. We call the library for eight at a time from compiled code, which takes
little more than half as long, and needs no arrays of rays and hits.
"""

from __future__ import annotations

import ctypes
import weakref
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
from numba import types

from airloom.eyes.eye import EyeError

TRIANGLE, INDICES, VERTICES, UINT3, FLOAT3 = 0, 0, 1, 0x5003, 0x9003  # of rtcore_geometry.h, rtcore_buffer.h
ROBUST = 4  # no ray slips through between two triangles
COHERENT, ALL_FEATURES = 1 << 16, -1


def _library() -> str:
    try:
        import embreex
    except ImportError:
        raise EyeError("depth cameras, lidars and cameras need embreex: pip install 'airloom[eyes]'") from None
    beside = Path(embreex.__path__[0]).with_name("embreex.libs")
    found = sorted(beside.glob("libembree4*"))
    if not found:
        raise EyeError(f"embreex brings no libembree4 in {beside}: pip install --force-reinstall 'airloom[eyes]'")
    for other in beside.glob("libtbb*"):  # which it was linked with, and looks for where the system has its own
        ctypes.CDLL(str(other), ctypes.RTLD_GLOBAL)
    return str(found[0])


_path = _library()
llvmlite.binding.load_library_permanently(_path)
intersect8: Any = types.ExternalFunction("rtcIntersect8", types.void(types.intp, types.intp, types.intp, types.intp))
"""`intersect8(valid, scene, rays, arguments)`, all of them addresses."""

_rtc = ctypes.CDLL(_path)
_P, _I, _U, _N = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_size_t
for _name, _takes, _gives in [
    ("rtcNewDevice", [ctypes.c_char_p], _P),
    ("rtcGetDeviceError", [_P], _I),
    ("rtcNewScene", [_P], _P),
    ("rtcSetSceneFlags", [_P, _I], None),
    ("rtcCommitScene", [_P], None),
    ("rtcReleaseScene", [_P], None),
    ("rtcNewGeometry", [_P, _I], _P),
    ("rtcSetSharedGeometryBuffer", [_P, _I, _U, _I, _P, _N, _N, _N], None),
    ("rtcCommitGeometry", [_P], None),
    ("rtcAttachGeometry", [_P, _P], _U),
    ("rtcReleaseGeometry", [_P], None),
]:
    getattr(_rtc, _name).argtypes, getattr(_rtc, _name).restype = _takes, _gives

_device = _rtc.rtcNewDevice(b"threads=1")

arguments = np.zeros(16, dtype=np.int32)
"""RTCIntersectArguments: rays of a packet go the same way."""
arguments[:2] = COHERENT, ALL_FEATURES


class Triangles:
    """A scene of triangles [n, 3] between vertices [m, 3], at `address` for `intersect8`."""

    def __init__(self, vertices: np.ndarray, faces: np.ndarray) -> None:
        # Embree reads a vertex as 16 bytes, beyond the last one too.
        self._vertices = np.zeros((len(vertices) + 1, 3), dtype=np.float32)
        self._vertices[:-1] = vertices
        self._faces = np.ascontiguousarray(faces, dtype=np.uint32)
        self.address: int = _rtc.rtcNewScene(_device)
        _rtc.rtcSetSceneFlags(self.address, ROBUST)
        shape = _rtc.rtcNewGeometry(_device, TRIANGLE)
        share = _rtc.rtcSetSharedGeometryBuffer
        share(shape, VERTICES, 0, FLOAT3, self._vertices.ctypes.data, 0, 12, len(vertices))
        share(shape, INDICES, 0, UINT3, self._faces.ctypes.data, 0, 12, len(faces))
        _rtc.rtcCommitGeometry(shape)
        _rtc.rtcAttachGeometry(self.address, shape)
        _rtc.rtcReleaseGeometry(shape)
        _rtc.rtcCommitScene(self.address)
        weakref.finalize(self, _rtc.rtcReleaseScene, self.address)
        if error := _rtc.rtcGetDeviceError(_device):
            raise MemoryError(f"Embree cannot take {len(faces)} triangles (error {error})")
