"""What tests of several kinds share."""

from __future__ import annotations

import signal
import socket

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Whoever starts the tests in the background has them ignore Ctrl-C; the programs that they interrupt must not.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def free_port():
    def find():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return listener.getsockname()[1]

    return find
