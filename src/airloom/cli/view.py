"""airloom view"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from airloom.cli.options import Host, Port, Tls, TlsCert, TlsKey, Token, certificate, own_certificate
from airloom.cli.screen import out, say, warn
from airloom.cli.signals import interrupted_by_ctrl_c

if TYPE_CHECKING:
    from airloom.runs.folder import RunFolder
    from airloom.studio.sources.source import Source
    from airloom.studio.studio import Studio

LISTENING_PERIOD = 1.0  # s


def register(app: typer.Typer) -> None:
    app.command()(view)


def view(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN", help="Folders of runs, their log files, or the word last.", show_default="last"),
    ] = None,
    port: Port = None,
    host: Host = "127.0.0.1",
    token: Token = None,
    tls: Tls = False,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Look at a run in the browser, at any moment of it; or at several side by side.

    Play it, faster or slower, or drag the time; plot what was logged, read what happened.

    Several runs play by the same clock in one scene, each in a colour of its own.

    A run that is still under way is joined, if it was started with the studio or with --link.

    Ctrl-C ends it.

    [bold]Examples[/bold]

      airloom view                                    the last run
      airloom view runs/hover-1 runs/hover-2          what became different?
      airloom view runs/fleet-3/log-1.mcap            an earlier log of it
      airloom view last --host 0.0.0.0 --tls          others may look on
    """
    from airloom.cli.studio_process import invite
    from airloom.studio.studio import Studio
    from airloom.studio.web.ports import check

    check(host, port)
    shown = certificate(tls_cert, tls_key) or (own_certificate() if tls else None)
    sources = _opened(runs or ["last"])
    context = shown.context() if shown else None
    with Studio(sources, host, port, token, context) as studio, suppress(KeyboardInterrupt), interrupted_by_ctrl_c():
        invite(studio.gateway.url, studio.gateway.port, port, shown)
        say("Ctrl-C ends it.", "dim")
        studio.run(look=_listening(studio))
        say(f"Over: {studio.state.lost}.")


def _listening(studio: Studio) -> Callable[[], None]:
    """Notices that a run is over, even while nobody looks on and nothing is asked of it."""
    due = time.monotonic()

    def look() -> None:
        nonlocal due
        if time.monotonic() >= due:
            due += LISTENING_PERIOD
            studio.state.ask("events", since=studio.state.source.status().events)

    return look


def _opened(runs: list[str]) -> list[Source]:
    from airloom.runs.folder import RunFolder
    from airloom.studio.sources.playback import Playback

    folders = [RunFolder.open(run) for run in runs]
    if len(folders) == 1 and (live := _joined(folders[0])):
        return [live]
    clock = Playback()
    sources = [_recorded(folder, clock) for folder in folders]
    for source in sources[1:]:
        if source.scenario.world != sources[0].scenario.world:
            warn(f"{source.title} was flown in another world than {sources[0].title}, whose world is shown.")
    return list(sources)


def _joined(folder: RunFolder) -> Source | None:
    """The run itself, if it is still under way and lets others in."""
    from airloom.runs.link.client import LinkError
    from airloom.studio.sources.live import LiveSource

    try:
        return LiveSource(folder) if folder.log.name == "log.mcap" else None
    except LinkError:
        return None


def _recorded(folder: RunFolder, clock):
    from airloom.studio.sources.recorded import RecordedSource

    with out.status(f"Reading {folder.log} …"):
        source = RecordedSource(folder, clock)
    if not source.complete:
        warn(f"{folder.log} is cut off: it tells of the first {source.duration:.2f} s.")
    return source
