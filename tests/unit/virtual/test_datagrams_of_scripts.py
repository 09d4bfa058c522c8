"""UDP of scripts that goes by radio."""

from __future__ import annotations

import errno

import pytest

from airloom.radio.packet import LONGEST, Nodes
from airloom.virtual.datagrams import HEAD, Datagrams, RadioSocket


def test_what_is_too_long_is_refused_as_by_any_socket():
    sent = []
    net = Datagrams(Nodes(["a", "b"], ["a"], {"": ["a", "b"]}), lambda *packet: sent.append(packet))
    with RadioSocket(2, 2) as line:
        net.send(line, bytes(LONGEST - HEAD.size), "10.73.0.2", 5000)
        with pytest.raises(OSError, match="too long") as refused:
            net.send(line, bytes(LONGEST - HEAD.size + 1), "10.73.0.2", 5000)
    assert refused.value.errno == errno.EMSGSIZE
    assert len(sent) == 1
