"""airloom bench"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airloom.cli.options import flag
from airloom.cli.screen import complain, new_table, out, say
from airloom.cli.signals import interrupted_by_ctrl_c

if TYPE_CHECKING:
    from airloom.bench.bench import Measurement


def register(app: typer.Typer) -> None:
    app.command()(bench)


def bench(
    quick: Annotated[bool, flag("--quick", help="Shorter and rougher, without the first start.")] = False,
    json_: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Keep the figures in a file.", show_default=False)
    ] = None,
) -> None:
    """Measure how fast Airloom is on this machine.

    It takes about two minutes. The targets stand beside; slowness is no error, the exit code is 0.

    The last column compares with the same without Airloom: mj_step over the same model, or an echo of the same bytes.
    """
    from airloom.bench.bench import QUICK, Effort, as_json, benchmarks, machine

    if json_:
        _keep(json_, "")  # whoever cannot write there should know before it has been measured
    effort = QUICK if quick else Effort()
    measured: list[Measurement] = []
    with interrupted_by_ctrl_c(), out.status("") as status:
        for name, measure in benchmarks(effort).items():
            status.update(f"Measuring: {name} …")
            measured.append(measure(effort))
    about = machine()
    say(f"Airloom {about['airloom']}, {about['processor']}, {about['cores']} cores, MuJoCo {about['mujoco']}")
    _print_table(measured)
    if json_:
        _keep(json_, json.dumps(as_json(measured), indent=2) + "\n")
        say(f"Written: {json_}")


def _print_table(measured: list[Measurement]) -> None:
    table = new_table("", "measured", "", "target", "of bare", numbers=(1, 3, 4))
    for one in measured:
        style = {True: "green", False: "yellow", None: ""}[one.is_reached]
        sign = "<" if one.less_is_better else "≥"
        table.add_row(
            one.name,
            f"[{style}]{one.value:.3g}[/{style}]" if style else f"{one.value:.3g}",
            one.unit,
            "" if one.target is None else f"{sign} {one.target:g}",
            "" if one.share_of_bare is None else f"{one.share_of_bare:.0%}",
        )
    out.print(table)


def _keep(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        complain(f"cannot write {file}: {error.strerror}")
        raise typer.Exit(2) from None
