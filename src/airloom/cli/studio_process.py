"""The studio beside a run: a process of its own, so that no browser can slow the simulation or break it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import webbrowser
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any

from airloom.cli.screen import say, warn
from airloom.keeper import Kept
from airloom.net.tls import Certificate
from airloom.studio.web.ports import USUAL_PORT

PATIENCE = 3.0  # s for the studio to end


class StudioProcess:
    """Runs as long as the context is open; says where it is as soon as it knows."""

    def __init__(
        self,
        folder: Path,
        host: str,
        port: int | None,
        token: str | None,
        certificate: Certificate | None,
        quiet: bool,
    ) -> None:
        self._quiet, self._folder, self._port, self._certificate = quiet, folder, port, certificate
        self._ending = False
        heard, told = os.pipe()  # of our own: libraries print to standard output what they like
        command = [sys.executable, "-m", "airloom.studio", str(folder), "--host", host, "--tell", str(told)]
        command += [] if port is None else ["--port", str(port)]
        command += ["--tls", *(str(file) for file in certificate if file)] if certificate else []
        variables = {**os.environ, **({"AIRLOOM_TOKEN": token} if token else {})}
        self._process = Kept(command, patience=PATIENCE, pass_fds=[told], stdout=subprocess.DEVNULL, env=variables)
        os.close(told)
        Thread(target=self._listen, args=[heard], name="studio", daemon=True).start()

    def __enter__(self) -> StudioProcess:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._ending = True
        self._process.end()

    def _listen(self, heard: int) -> None:
        told: dict[str, Any] = {}
        with os.fdopen(heard) as lines:
            for line in lines:
                told = json.loads(line)
                self._announce(told)
        code = self._process.wait()
        if not self._ending and "error" not in told:
            place = f" --port {told['port']}" if told else ""
            again = f"airloom view {shlex.quote(str(self._folder))}{place}"
            warn(f"The studio has ended (code {code}); the run goes on. Look at it again with: {again}")

    def _announce(self, told: dict[str, Any]) -> None:
        if "error" in told:
            warn(f"No studio: {told['error']}. The run goes on without it.")
        elif not self._quiet:
            invite(told["url"], told["port"], self._port, self._certificate)
            if _has_screen():
                webbrowser.open(told["url"])


def invite(url: str, port: int, asked: int | None, certificate: Certificate | None) -> None:
    """Say where the studio is, and why it is not at the usual place."""
    if asked is None and port != USUAL_PORT:
        say(f"Port {USUAL_PORT} is in use, so the studio takes {port}.")
    say(f"Look at it in a browser:  {url}", "cyan")
    if certificate:
        say(f"Its certificate has the SHA-256 fingerprint {certificate.fingerprint}.")


def _has_screen() -> bool:
    """Whether a person sits before this very machine, as far as can be known."""
    shown = sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return shown and sys.stdout.isatty() and "SSH_CONNECTION" not in os.environ
