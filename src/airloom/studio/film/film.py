"""A video or a picture of a run without a screen: a browser nobody sees draws what any browser would show."""

from __future__ import annotations

import html
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import viser
from PIL import Image

from airloom.errors import UserError
from airloom.keeper import Kept
from airloom.studio.web.gateway import Gateway
from airloom.studio.web.viser_server import PortlessViser

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
GRAPHICS_IN_SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
KEEP_TO_YOURSELF = (
    "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-quic", "--disable-extensions", "--disable-default-apps",
)  # fmt: skip
NEVER_DOZE = (
    "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
)  # fmt: skip
CODECS = {".mp4": ("libx264", "libopenh264"), ".webm": ("libvpx-vp9", "libvpx")}
WINDOW = "320,180"
"""Small, for it is drawn too: pictures have a size of their own, and look the same (compared byte by byte)."""
SHORT_PATH = "/tmp"
"""Where the profile goes: it holds a socket, whose path may not be long."""
PATIENCE = 120.0
"""Seconds for the browser to show the page, and for each picture: processors that draw alone are slow."""

Size = tuple[int, int]
"""Width and height."""


class FilmError(UserError):
    """There can be no film; the message is meant for the user."""


class BrowserMissing(FilmError):
    def __init__(self) -> None:
        super().__init__(
            "no Chromium or Chrome was found: install one (Debian, Ubuntu: apt install chromium), "
            "or name its program in AIRLOOM_BROWSER"
        )


def find_browser() -> str:
    """The program of a Chromium, or `BrowserMissing`."""
    named = os.environ.get("AIRLOOM_BROWSER")
    for name in [named] if named else BROWSERS:
        if found := shutil.which(name):
            return found
    raise BrowserMissing


def film(
    server: PortlessViser,
    out: str | Path,
    times: Iterable[float],
    show: Callable[[float], None],
    size: Size = (1280, 720),
    fps: int = 30,
) -> None:
    """A video with one picture for each time, after `show` has brought the studio there."""
    with Filmer(out, size, fps) as filmer, headless_client(server) as client:
        for time_shown in times:
            show(time_shown)
            filmer.frame(picture(client, size))


def still(server: PortlessViser, out: str | Path, size: Size = (1280, 720)) -> None:
    """A picture of what the studio shows now; the suffix chooses the format."""
    with headless_client(server) as client:
        Image.fromarray(picture(client, size)).save(out)


def picture(client: viser.ClientHandle, size: Size) -> np.ndarray:
    """What a client's camera sees, [row, column, RGB]."""
    try:
        return client.get_render(size[1], size[0], timeout=PATIENCE)[:, :, :3]
    except (RuntimeError, TimeoutError) as error:
        raise FilmError(f"the browser gave no picture: {error}") from None


@contextmanager
def headless_client(server: PortlessViser) -> Iterator[viser.ClientHandle]:
    """A browser that nobody sees, as the viser server knows it. Nobody else is let in to look on."""
    others = set(server.get_clients())
    with Gateway(server, port=0, token=secrets.token_urlsafe(16)) as gateway, headless_browser(gateway.url) as browser:
        yield _arrival(server, others, browser)


def _arrival(server: PortlessViser, others: set[int], browser: subprocess.Popen) -> viser.ClientHandle:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if browser.poll() is not None:
            raise FilmError(f"the browser ended at once, with code {browser.returncode}")
        for number, client in server.get_clients().items():
            if number not in others:
                return client
        time.sleep(0.05)
    raise FilmError(f"the browser did not show the page within {PATIENCE:.0f} s")


@contextmanager
def headless_browser(url: str) -> Iterator[subprocess.Popen]:
    """A browser of its own, with nobody's profile, that looks at a page until the block ends."""
    program = find_browser()
    with tempfile.TemporaryDirectory(prefix="airloom-film-", dir=SHORT_PATH, ignore_cleanup_errors=True) as profile:
        browser = Kept(
            _command(program, profile, _page_that_leads_to(url, Path(profile))),
            patience=5.0,
            folders=[profile],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": profile},
        )
        try:
            yield browser
        finally:
            browser.end()


def _page_that_leads_to(url: str, profile: Path) -> str:
    """Where the browser starts: the arguments of a process, and a token in them, can be read by everybody."""
    full_resolution = f"{url}{'&' if '?' in url else '?'}fixedDpr=1"  # or viser draws coarsely when it is slow
    page = profile / "start.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={html.escape(full_resolution)}">', encoding="utf-8")
    return page.as_uri()


def _command(program: str, profile: str, url: str) -> list[str]:
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has none for root, and says so by not starting
    return [
        program, "--headless=new", *sandbox, *GRAPHICS_IN_SOFTWARE, *KEEP_TO_YOURSELF, *NEVER_DOZE,
        f"--user-data-dir={profile}", f"--window-size={WINDOW}", "--hide-scrollbars", "--mute-audio",
        url,
    ]  # fmt: skip


class Filmer:
    """Makes a video of pictures, one after the other; the suffix chooses: .mp4 (H.264) or .webm (VP9)."""

    def __init__(self, out: str | Path, size: Size, fps: int = 30) -> None:
        av = _av()
        self.out, self.frames = Path(out), 0
        if any(length % 2 for length in size):
            raise FilmError(f"a video's width and height are even, but {size[0]} × {size[1]} are not")
        codec = _codec(self.out.suffix)
        self._container = av.open(str(self.out), "w")
        self._stream = self._container.add_stream(codec, rate=fps)
        self._stream.width, self._stream.height = size
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "20"}

    def frame(self, image: np.ndarray) -> None:
        """Add a picture, [row, column, RGB]."""
        frame = _av().VideoFrame.from_ndarray(np.ascontiguousarray(image[:, :, :3]), format="rgb24")
        self._container.mux(self._stream.encode(frame))
        self.frames += 1

    def close(self) -> None:
        """Finish the video; without a single picture there is none."""
        if self.frames:
            self._container.mux(self._stream.encode())
        self._container.close()
        if not self.frames:
            self.out.unlink(missing_ok=True)

    def __enter__(self) -> Filmer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _codec(suffix: str) -> str:
    if suffix not in CODECS:
        raise FilmError(f"a film is a .mp4 or a .webm, not a '{suffix}'")
    for name in CODECS[suffix]:
        if name in _av().codecs_available:
            return name
    raise FilmError(f"the installed PyAV has none of {', '.join(CODECS[suffix])}, which a {suffix} needs")


def _av() -> Any:
    try:
        import av
    except ImportError:
        raise FilmError("a film needs PyAV: pip install 'airloom[film]'") from None
    return av
