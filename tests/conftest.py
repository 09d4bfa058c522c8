"""What tests of several kinds share."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def free_port():
    def find():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return listener.getsockname()[1]

    return find
