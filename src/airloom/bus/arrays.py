"""Messages that are mostly one large array: pictures and point clouds. Its bytes are copied once, into the message."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from airloom.bus import messages

IMAGE = "sensor_msgs/msg/Image"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
POINT_CLOUD = "sensor_msgs/msg/PointCloud2"
POINT_FIELD = "sensor_msgs/msg/PointField"
FLOAT32 = 7  # of sensor_msgs/PointField

_STAMP = struct.Struct("<iI")
_WHOLE = struct.Struct("<I")


class ArrayTemplate:
    """Messages of a topic whose field `data` is an array; of the rest, the stamp and `counts` change."""

    def __init__(self, msgtype: str, constants: Mapping[str, Any], counts: tuple[str, ...] = ()) -> None:
        self.msgtype = msgtype
        base = messages.serialize(messages.build(msgtype, constants))
        found = messages.layout(base, msgtype)
        data = found.leaves["data"].offset
        self._head, self._tail = base[:data], base[data:]
        self._stamp = found.leaves["header.stamp.sec"].offset
        self._counts = {name: found.leaves[name].offset for name in counts}

    def encode(self, time_ns: int, array: np.ndarray, **counts: int) -> bytes:
        """The bytes of one message."""
        head = bytearray(self._head)
        _STAMP.pack_into(head, self._stamp, *divmod(time_ns, 1_000_000_000))
        for name, value in counts.items():
            _WHOLE.pack_into(head, self._counts[name], value)
        _WHOLE.pack_into(head, len(head) - _WHOLE.size, array.nbytes)
        return b"".join((head, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, self._tail))


def image(frame_id: str, width: int, height: int, encoding: str, bytes_a_pixel: int) -> ArrayTemplate:
    size = {"width": width, "height": height, "step": width * bytes_a_pixel}
    return ArrayTemplate(IMAGE, {"header.frame_id": frame_id, "encoding": encoding, **size})


def camera_info(frame_id: str, width: int, height: int, focal: float) -> messages.Template:
    """No columns. A pinhole without distortion; `focal` in pixels, whole coordinates are middles of pixels."""
    x, y = (width - 1) / 2, (height - 1) / 2
    return messages.Template(
        CAMERA_INFO,
        [],
        {
            "header.frame_id": frame_id, "width": width, "height": height, "distortion_model": "plumb_bob",
            "d": [0.0] * 5, "k": [focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0],
            "r": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            "p": [focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0],
        },
    )  # fmt: skip


class CloudTemplate(ArrayTemplate):
    """Point clouds of float32 [n, 3]: x, y, z."""

    def __init__(self, frame_id: str) -> None:
        fields = [
            messages.build(POINT_FIELD, {"name": name, "offset": 4 * k, "datatype": FLOAT32, "count": 1})
            for k, name in enumerate("xyz")
        ]
        constants = {"header.frame_id": frame_id, "height": 1, "fields": fields, "point_step": 12, "is_dense": True}
        super().__init__(POINT_CLOUD, constants, ("width", "row_step"))

    def cloud(self, time_ns: int, points: np.ndarray) -> bytes:
        return self.encode(time_ns, points, width=len(points), row_step=12 * len(points))
