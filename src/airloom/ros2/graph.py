"""What makes a DDS participant a ROS node: the message that says which node has which readers and writers."""

from __future__ import annotations

from typing import Any

import numpy as np

from airloom.bus import messages
from airloom.ros2.dds import LATCHED, Participant

INFO = "rmw_dds_common/msg/ParticipantEntitiesInfo"
NODE_INFO = "rmw_dds_common/msg/NodeEntitiesInfo"
GID = "rmw_dds_common/msg/Gid"


class Graph:
    """Our node in the graph of ROS, which `tell` makes known whenever it has got something new."""

    def __init__(self, participant: Participant, node: str) -> None:
        self.readers: list[bytes] = []
        self.writers: list[bytes] = []
        self._participant, self._node = participant, node
        self._writer = participant.writer("ros_discovery_info", INFO, LATCHED)
        self._told: tuple[int, int] | None = None

    def tell(self) -> None:
        known = len(self.readers), len(self.writers)
        if known != self._told:
            self._told = known
            self._writer.write(messages.serialize(self._message()))

    def _message(self) -> Any:
        node = {
            "node_namespace": "/",
            "node_name": self._node,
            "reader_gid_seq": [_gid(one) for one in self.readers],
            "writer_gid_seq": [_gid(one) for one in self.writers],
        }
        whose = {"gid": _gid(self._participant.gid), "node_entities_info_seq": [messages.build(NODE_INFO, node)]}
        return messages.build(INFO, whose)


def _gid(guid: bytes) -> Any:
    return messages.build(GID, {"data": np.frombuffer(guid, np.uint8)})
