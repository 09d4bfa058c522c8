"""Where we listen: addresses, listeners on them, and who must show a token there."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from airloom.errors import UserError
from airloom.keeper import fits_a_socket

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""What this machine calls itself: who listens on anything else can be reached from outside, and asks for a token."""
LAST_PORT = 65535
PORTS_TRIED = 100
"""Behind one that is in use."""
BACKLOG = 128
"""That may wait to be let in."""


class ListenError(UserError):
    """Nobody can listen there; the message says what to do."""


class PortTaken(ListenError):
    def __init__(self, text: str, host: str, port: int, next_free: int) -> None:
        """`text` says it, with places for `{host}`, `{port}` and a port that is `{free}`: 0, if none near it is, takes
        any.
        """
        super().__init__(text.format(host=host, port=port, free=next_free))
        self.port, self.next_free = port, next_free


class AddressError(UserError, ValueError):
    """A text that is no address."""


class Address(NamedTuple):
    """Where somebody listens: `unix:/path`, `tcp:host:port` or `tls:host:port#fingerprint`."""

    scheme: str
    host: str = ""
    port: int = 0
    fingerprint: str = ""
    """Of the certificate that is shown there; none if somebody is to vouch for it."""
    path: str = ""
    """Of a Unix socket."""

    @classmethod
    def parse(cls, text: str) -> Address:
        scheme, _, rest = text.partition(":")
        if scheme == "unix":
            return cls(scheme, path=rest)
        if scheme not in ("tcp", "tls"):
            raise AddressError(f"an address is unix:/path, tcp:host:port or tls:host:port#fingerprint, got '{text}'")
        place, _, fingerprint = rest.partition("#")
        host, _, port = place.rpartition(":")
        if not host or not is_port(port):
            raise AddressError(f"an address by TCP is {scheme}:host:port, got '{text}'")
        return cls(scheme, host.strip("[]"), int(port), fingerprint)


def is_port(text: str) -> bool:
    return text.isdecimal() and len(text) <= len(str(LAST_PORT)) and int(text) <= LAST_PORT


def token_for(host: str, token: str | None = None) -> str | None:
    """What those who come to that host must know: beyond this machine there always is something."""
    return token if token or host in LOOPBACK else secrets.token_urlsafe(16)


def tcp_listener(
    host: str,
    port: int,
    backlog: int = BACKLOG,
    taken: str = "cannot listen on {host}, port {port}: Address already in use; port {free} is free",
) -> socket.socket:
    """Port 0 takes any free one; `PortTaken` if somebody else listens there, with its text from `taken`."""
    try:
        return _opened(host, port, backlog)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(taken, host, port, _next_free(host, port)) from None
        raise ListenError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    except UnicodeError:
        raise ListenError(f"cannot listen on '{host[:60]}': no host has such a name") from None


def _opened(host: str, port: int, backlog: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=backlog)


def _next_free(host: str, port: int) -> int:
    for candidate in range(port + 1, min(port + PORTS_TRIED, LAST_PORT + 1)):
        with suppress(OSError), _opened(host, candidate, 1):
            return candidate
    return 0


def unix_listener(path: Path, elsewhere: str) -> socket.socket:
    """For the owner only. What a killed server has left there is removed; `elsewhere` says how to choose a place."""
    if not fits_a_socket(path):
        raise ListenError(f"the path {path} is too long for a socket; give a shorter one with {elsewhere}")
    if path.is_socket():
        _remove_if_left_over(path, elsewhere)
    elif path.exists():
        raise ListenError(f"{path} exists and is no socket; choose another place with {elsewhere}")
    try:
        return private_listener(path)
    except OSError as error:
        raise ListenError(f"cannot listen at {path}: {error.strerror}; choose another place with {elsewhere}") from None


def _remove_if_left_over(path: Path, elsewhere: str) -> None:
    """A server that was killed leaves its socket behind, where nobody answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            with suppress(FileNotFoundError):
                path.unlink()
            return
        except OSError as error:
            raise ListenError(f"cannot listen at {path}: {error.strerror}") from None
    raise ListenError(f"the socket {path} is in use by another server; end that one, or choose another {elsewhere}")


def private_listener(path: Path) -> socket.socket:
    """For the owner only, from the first instant: Linux gives the file the mode that the socket has when bound."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.fchmod(listener.fileno(), 0o600)
    listener.bind(os.fspath(path))
    path.chmod(0o600)
    listener.listen()
    return listener
