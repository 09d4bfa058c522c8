"""Who may come in: the head of a request, and the checks it has to pass before anything else happens."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlsplit

from airloom.net.listening import LOOPBACK, token_for


class Turned(Exception):
    """A request that is answered with an error instead of what it asked for."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class ForeignSite(Turned):
    def __init__(self, origin: str) -> None:
        super().__init__(403, "Another web site may not steer this simulation.")
        self.origin = origin


@dataclass(frozen=True)
class Request:
    """The head of an HTTP request."""

    raw: bytes
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    """By lower-case names."""

    @classmethod
    def parse(cls, raw: bytes) -> Request:
        first, *lines = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        try:
            method, target, version = first.split(" ")
            url = urlsplit(target)
            headers = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines)}
        except ValueError:
            raise Turned(400, "This is not HTTP.") from None
        if not version.startswith("HTTP/1."):
            raise Turned(400, "This is not HTTP/1.1.")
        if method != "GET":
            raise Turned(405, "Only GET is served here.")
        return cls(raw, url.path, dict(parse_qsl(url.query)), headers)

    @property
    def is_websocket(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket"

    @property
    def host(self) -> str:
        return self.headers.get("host", "")

    def cookie(self, name: str) -> str:
        try:
            morsel = SimpleCookie(self.headers.get("cookie", "")).get(name)
        except CookieError:
            return ""
        return morsel.value if morsel else ""


class Admission:
    """Lets in whoever sits at this computer, or knows the token; never a page of somebody else's web site."""

    def __init__(self, host: str, token: str | None, origins: Collection[str] = ()) -> None:
        """`origins` are sites whose pages may open a websocket as ours may, such as https://app.example."""
        self.only_loopback, self._origins = host in LOOPBACK, frozenset(origins)
        self.token = token_for(host, token)
        self.key = hashlib.sha256(self.token.encode()).hexdigest() if self.token else None
        """What the cookie of a browser holds that has shown the token."""

    def check(self, request: Request, cookie: str) -> None:
        """Raise `Turned` unless the request may pass."""
        if self.only_loopback and _hostname(f"//{request.host}") not in LOOPBACK:
            raise Turned(403, "This is served to localhost only.")  # another name for us means DNS rebinding
        origin = request.headers.get("origin")
        if request.is_websocket and not (origin in self._origins or _is_ours(origin, request.host)):
            raise ForeignSite(origin or "")
        if not (_equal(request.cookie(cookie), self.key) or _equal(request.query.get("token", ""), self.token)):
            raise Turned(401, "This simulation is shown to those who know its token.")


def _equal(shown: str, wanted: str | None) -> bool:
    return wanted is None or secrets.compare_digest(shown.encode(), wanted.encode())


def _is_ours(origin: str | None, host: str) -> bool:
    """Browsers always tell where a page that opens a websocket comes from; other programs need not."""
    try:
        return origin is None or urlsplit(origin).netloc == host
    except ValueError:  # of what is no address at all
        return False


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
