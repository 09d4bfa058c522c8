"""Addresses, listeners, and who must show a token."""

from __future__ import annotations

import errno
import socket
import stat

import pytest

from airloom.errors import UserError
from airloom.net import listening
from airloom.net.listening import Address, AddressError, ListenError, PortTaken, tcp_listener, token_for, unix_listener


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/tmp/loom", Address("unix", path="/tmp/loom")),
        ("tcp:drone.local:7700", Address("tcp", "drone.local", 7700)),
        ("tcp:::1:0", Address("tcp", "::1", 0)),
        ("tcp:[fe80::1]:80", Address("tcp", "fe80::1", 80)),
        ("tls:127.0.0.1:7700#ab:cd", Address("tls", "127.0.0.1", 7700, "ab:cd")),
    ],
)
def test_addresses(text, address):
    assert Address.parse(text) == address


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "an address is unix:/path, tcp:host:port or tls:host:port#fingerprint, got ''"),
        ("/tmp/loom", "an address is unix:/path"),
        ("ftp:127.0.0.1:1", "an address is unix:/path"),
        ("tcp:127.0.0.1", "an address by TCP is tcp:host:port"),
        ("tls::7700", "an address by TCP is tls:host:port"),
        ("tcp:127.0.0.1:99999", "an address by TCP"),
        ("tcp:127.0.0.1:-1", "an address by TCP"),
        ("tcp:127.0.0.1:" + 5000 * "9", "an address by TCP"),
    ],
)
def test_texts_that_are_none(text, complaint):
    with pytest.raises(AddressError, match=complaint):
        Address.parse(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_port_in_use_is_told_with_one_that_is_free(host):
    with tcp_listener(host, 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(PortTaken) as caught:
            tcp_listener(host, port, taken="not {port} of {host}; try {free}")
    assert str(caught.value) == f"not {port} of {host}; try {caught.value.next_free}"
    assert port < caught.value.next_free < port + listening.PORTS_TRIED
    tcp_listener(host, caught.value.next_free).close()


def test_if_none_near_is_free_any_is_offered(monkeypatch):
    def opened(*_: object) -> socket.socket:
        raise OSError(errno.EADDRINUSE, "Address already in use")

    monkeypatch.setattr(listening, "_opened", opened)
    with pytest.raises(PortTaken, match="port 80: Address already in use; port 0 is free") as caught:
        tcp_listener("127.0.0.1", 80)
    assert caught.value.next_free == 0


@pytest.mark.parametrize("host", ["203.0.113.1", "no.such.host.invalid", "x" * 70, "a..b", "2001:db8::1"])
def test_hosts_that_are_not_ours(host):
    with pytest.raises(ListenError, match="cannot listen on") as caught:
        tcp_listener(host, 0)
    assert isinstance(caught.value, UserError)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_on_this_machine_a_token_is_nobodys_duty(host):
    assert not token_for(host)
    assert token_for(host, "mine") == "mine"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "drone.local", ""])
@pytest.mark.parametrize("given", [None, ""])
def test_beyond_it_there_always_is_one(host, given):
    tokens = {token_for(host, given) for _ in range(2)}
    assert len(tokens) == 2, "made up anew"
    assert all(tokens)
    assert token_for(host, "mine") == "mine"


def test_a_unix_socket_is_its_owners_and_what_was_left_there_is_removed(tmp_path):
    place = tmp_path / "s"
    unix_listener(place, "--socket PATH").close()
    with unix_listener(place, "--socket PATH"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        with pytest.raises(ListenError, match=r"in use by another server; .* another --socket PATH"):
            unix_listener(place, "--socket PATH")


def test_places_where_no_unix_socket_can_be(tmp_path):
    (tmp_path / "file").write_text("precious")
    for place, complaint in (
        (tmp_path / "file", "is no socket"),
        (tmp_path / "no" / "s", "No such file or directory"),
        (tmp_path / ("x" * 120), "is too long"),
    ):
        with pytest.raises(ListenError, match=rf"{complaint}.*with --socket PATH"):
            unix_listener(place, "--socket PATH")
    assert (tmp_path / "file").read_text() == "precious"
