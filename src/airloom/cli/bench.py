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
    from airloom.bench.bench import Benchmark, Measurement


def register(app: typer.Typer) -> None:
    app.command()(bench)


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Entries, by a part of their names; all if left out.", show_default=False),
    ] = None,
    quick: Annotated[bool, flag("--quick", help="Shorter and rougher, without the first start.")] = False,
    json_: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Keep the figures in a file.", show_default=False)
    ] = None,
) -> None:
    """Measure how fast Airloom is on this machine.

    All takes several minutes: "airloom bench radio" measures what has that in its name. Ctrl-C shows what there is.

    The targets stand beside; slowness is no error, the exit code is 0.

    The last column compares with the same without Airloom: mj_step over the same model, or an echo of the same bytes.
    """
    from airloom.bench.bench import QUICK, Effort, as_json, benchmarks, machine

    if json_:
        _keep(json_, "")  # whoever cannot write there should know before it has been measured
    effort = QUICK if quick else Effort()
    chosen = _chosen(benchmarks(effort), names or [])
    measured: list[Measurement] = []
    about = machine()
    say(f"Airloom {about['airloom']}, {about['processor']}, {about['cores']} cores, MuJoCo {about['mujoco']}")
    try:
        with interrupted_by_ctrl_c(), out.status("") as status:
            for number, (name, measure) in enumerate(chosen.items(), start=1):
                status.update(f"Measuring {number} of {len(chosen)}: {name} …")
                measured.append(measure(effort))
                if json_:
                    _keep(json_, json.dumps(as_json(measured), indent=2) + "\n")
    finally:
        if measured:
            _print_table(measured)
    if json_:
        say(f"Written: {json_}")


def _chosen(everything: dict[str, Benchmark], parts: list[str]) -> dict[str, Benchmark]:
    for part in parts:
        if not any(part in name for name in everything):
            complain(f"no entry has '{part}' in its name; there are: {'; '.join(everything)}")
            raise typer.Exit(2)
    return {name: measure for name, measure in everything.items() if not parts or any(part in name for part in parts)}


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
