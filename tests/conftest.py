"""What tests of several kinds share."""

from __future__ import annotations

import signal
import socket

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Whoever starts the tests in the background has them ignore Ctrl-C; the programs that they interrupt must not.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before xdist looks at the groups
def pytest_collection_modifyitems(items):
    """Tests of a file share what takes long to make; a browser without a graphics card wants all cores to itself."""
    for item in items:
        group = "browser" if item.path.parent.name == "browser" else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture
def free_port():
    def find():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return listener.getsockname()[1]

    return find
