"""What the gateway serves over plain HTTP: viser's page with our script in it, the script, an icon, refusals."""

from __future__ import annotations

import hashlib
import html
import re
from http import HTTPStatus
from pathlib import Path

import viser

from airloom.net.admission import Request, Turned

ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#2a7de1" stroke-width="2.5">
<path d="M8 8 24 24M24 8 8 24"/><circle cx="8" cy="8" r="5.5"/><circle cx="24" cy="8" r="5.5"/>
<circle cx="8" cy="24" r="5.5"/><circle cx="24" cy="24" r="5.5"/><circle cx="16" cy="16" r="3" fill="#2a7de1"/></svg>"""

POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' blob: data:",
        "font-src 'self' data:",
        "media-src 'self' blob: data:",
        "connect-src 'self' blob: data:",
        "worker-src 'self' blob: data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""Nothing from, and nothing to, any other host; viser's page is one file that unpacks scripts, styles and workers."""

ALWAYS = {
    "Connection": "close",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

REFUSAL = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Airloom</title>
<style>body {{ font: 1.1rem system-ui; max-width: 30rem; margin: 20vh auto; padding: 0 1rem }}
input, button {{ font: inherit; padding: .4rem .6rem }}</style>
<h1>Airloom</h1><p>{reason}</p>{form}</html>"""
TOKEN_FORM = """<p>It is in the address that the terminal printed when the studio started.</p>
<form action="/"><input name="token" type="password" placeholder="token" autofocus required>
<button>Enter</button></form>"""


class Nothing(Turned):
    def __init__(self) -> None:
        super().__init__(404, "There is nothing here.")


class Pages:
    """All files there are, made once."""

    def __init__(self) -> None:
        here, client = Path(__file__).parent, Path(viser.__file__).parent / "client" / "build" / "index.html"
        script, page = (here / "page.js").read_bytes(), client.read_text(encoding="utf-8")
        self.edition = hashlib.sha256(script + page.encode()).hexdigest()[:16]
        """Differs when a browser has to load the page anew."""
        self._files = {
            "/": ("text/html; charset=utf-8", _airloomed(page, self.edition).encode()),
            "/airloom.js": ("text/javascript; charset=utf-8", script),
            "/favicon.svg": ("image/svg+xml", ICON.encode()),
        }

    def reply(self, request: Request) -> bytes:
        if request.path not in self._files:
            raise Nothing
        kind, body = self._files[request.path]
        headers = {"Cache-Control": "no-cache", "ETag": f'"{self.edition}"'}
        if request.headers.get("if-none-match") == headers["ETag"]:
            return answer(304, headers)
        return answer(200, {**headers, "Content-Type": kind}, body)


def answer(status: int, headers: dict[str, str], body: bytes = b"") -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in {**ALWAYS, **headers, "Content-Length": str(len(body))}.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def refusal(status: int, reason: str) -> bytes:
    page = REFUSAL.format(reason=html.escape(reason), form=TOKEN_FORM if status == 401 else "")
    return answer(status, {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"}, page.encode())


def _airloomed(page: str, edition: str) -> str:
    """Our script stands first in the head, so that it runs before anything of viser's."""
    script = f'<script src="/airloom.js" data-edition="{edition}"></script>'
    page = page.replace("<head>", f"<head>\n    {script}", 1)
    page = re.sub(r"<title>.*?</title>", "<title>Airloom</title>", page, count=1)
    return re.sub(r'<link\s+rel="icon".*?/>', '<link rel="icon" href="/favicon.svg" />', page, count=1, flags=re.DOTALL)
