"""A port of this process that nobody else reaches."""

from __future__ import annotations

import socket
import sys

import pytest

from airloom.net.walled import HERE, WalledPort

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's filters")
IN_VAIN = 0.2  # s


@pytest.fixture
def listener():
    with socket.create_server((HERE, 0)) as made:
        yield made


def came(walled: WalledPort) -> socket.socket:
    coming = walled.approach()
    coming.settimeout(60)
    coming.connect(walled.address)
    return coming


def stranger_is_let_in(address: tuple[str, int]) -> bool:
    with socket.socket() as stranger:
        stranger.settimeout(IN_VAIN)
        try:
            stranger.connect(address)
        except TimeoutError:
            return False
        return True


def test_nobody_is_let_in_but_who_approaches_from_here(listener):
    assert stranger_is_let_in(listener.getsockname())
    listener.accept()[0].close()
    walled = WalledPort(listener.getsockname()[1])
    assert not stranger_is_let_in(walled.address)
    with came(walled) as coming, listener.accept()[0] as inside:
        assert not stranger_is_let_in(walled.address), "while somebody is let in, too"
        walled.shut()
        assert not stranger_is_let_in(walled.address)
        coming.sendall(b"still here")
        assert inside.recv(100) == b"still here"
        with came(walled) as another, listener.accept()[0] as beside:
            another.sendall(b"me too")
            assert beside.recv(100) == b"me too"
            inside.sendall(b"and both stay")
            assert coming.recv(100) == b"and both stay"
    walled.close()


def test_a_port_that_is_not_ours_is_told():
    with pytest.raises(OSError, match="does not listen on port 1"):
        WalledPort(1)
