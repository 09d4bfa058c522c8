"""Options that several commands share, and how their text is read."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from airloom.cli.screen import warn

if TYPE_CHECKING:
    from airloom.net.tls import Certificate
    from airloom.runs.folder import RunFolder

Speed = Annotated[
    str, typer.Option(metavar="N|max", help="Seconds of simulation time a second: 1 is real time, max is unlimited.")
]


def parsed_port(text: str) -> int:
    from airloom.net.listening import is_port

    if not is_port(text):
        raise typer.BadParameter(f"'{text}' is no port: that is a number from 0 (any that is free) to 65535")
    return int(text)


def parsed_token(text: str) -> str:
    from airloom.basics.text import is_sound

    if not is_sound(text):
        raise typer.BadParameter("a token is text in UTF-8")
    return text


Port = Annotated[
    int | None,
    typer.Option(
        metavar="N", parser=parsed_port, help="Of the studio; the first free one from 8080 on if left out, 0 any."
    ),
]
Host = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Where the studio listens; 0.0.0.0 lets other computers join.")
]
Token = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT", parser=parsed_token, help="What other computers must know to join; made up if left out."
    ),
]


TlsCert = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Certificate to show by TLS, in PEM, instead of one made up here.")
]
TlsKey = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Its private key; in the file of the certificate if left out.")
]


def certificate(cert: Path | None, key: Path | None) -> Certificate | None:
    """The one that was given, if it is one."""
    from airloom.net.tls import Certificate

    if cert is None:
        if key is not None:
            raise typer.BadParameter("a key needs its certificate; give --tls-cert too", param_hint="--tls-key")
        return None
    given = Certificate(cert, key)
    given.context()
    return given


def own_certificate() -> Certificate:
    """That of this machine's user."""
    from airloom.net.tls import Certificate

    return Certificate.own()


def completed_scenario(incomplete: str) -> list[str]:
    """For the shell, which completes other paths by itself."""
    from airloom.scenario import known

    here = [str(path) for path in sorted(Path().glob("*.yaml"))]
    return [name for name in [*known("scenario"), *here] if name.startswith(incomplete)]


ScenarioName = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="A name from `airloom list`, or a YAML file.",
        autocompletion=completed_scenario,
        show_default=False,
    ),
]


def flag(*names: str, help: str, **more: Any) -> Any:
    """An option without a value; some versions of Typer would show a type for it."""
    return typer.Option(*names, metavar="", help=help, **more)


Replace = Annotated[
    bool, flag("--replace", help="Replace an earlier run in --out DIR; if left out, DIR-2 is taken, and so on.")
]


def new_folder(scenario: str, out: Path | None, replace: bool) -> RunFolder:
    """For a run; says so if it is not the one that was asked for."""
    from airloom.runs.folder import RunFolder
    from airloom.runs.last import remember

    folder = RunFolder.create(scenario, out, replace)
    if out not in (None, folder.path):
        warn(f"{out} holds an earlier run, so this one goes to {folder.path}; --replace would replace it.")
    if out is not None:
        remember(folder.path)
    return folder


def parsed_speed(text: str) -> float | None:
    """A number above 0; None for `max`."""
    if text.lower() == "max":
        return None
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not (isfinite(speed) and speed > 0):
        raise typer.BadParameter(f"'{text}' is neither a number above 0 nor max", param_hint="--speed")
    return speed


def parsed_settings(texts: list[str] | None) -> dict[str, Any]:
    """KEY=VALUE texts as a mapping; the last of equal keys wins."""
    from airloom.scenario import parse_override

    return dict(parse_override(text) for text in texts or [])


Tls = Annotated[bool, flag("--tls", help="The studio speaks https, so that nobody on the way reads the token.")]
