"""airloom cache"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from airloom.cli.options import flag
from airloom.cli.screen import complain, new_table, out, say
from airloom.cli.signals import interrupted_by_ctrl_c

CONTENTS = {
    "compiled": "machine code of the inner loop, compiled anew at the next start",
    "programs": "helpers in C and C++, compiled anew when they are needed",
    "ros2_clients": "clients of ROS 2 for Airloom's own tests",
    "ns3": "releases of ns-3 for Airloom's own tests",
}


def register(app: typer.Typer) -> None:
    app.command()(cache)


def cache(clear: Annotated[bool, flag("--clear", help="Delete it.")] = False) -> None:
    """Show what Airloom keeps on this machine to start faster, or delete it.

    All of it is made anew when it is needed. Runs are never touched.

    To uninstall Airloom, clear the cache, then: pip uninstall airloom

    [bold]Examples[/bold]

      airloom cache
      airloom cache --clear
    """
    import platformdirs

    folder = Path(platformdirs.user_cache_dir("airloom"))
    with interrupted_by_ctrl_c():
        sizes = {entry: _size(entry) for entry in (sorted(folder.iterdir()) if folder.is_dir() else ())}
        if clear:
            _delete(folder, sum(sizes.values()))
        else:
            _show(folder, sizes)
            _show_what_else_is_kept()


def _size(entry: Path) -> int:
    """Bytes; what another process deletes meanwhile counts no longer."""
    files = entry.rglob("*") if entry.is_dir() else [entry]
    return sum(file.lstat().st_size for file in files if file.is_file() and not file.is_symlink())


def _delete(folder: Path, size: int) -> None:
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        complain(f"cannot delete {error.filename}: {error.strerror}")
        raise typer.Exit(2) from None
    say(f"Deleted: {folder} ({_megabytes(size)})")


def _show(folder: Path, sizes: dict[Path, int]) -> None:
    if not sizes:
        say(f"{folder} is empty.")
        return
    table = new_table(str(folder), "size", "", numbers={1})
    for entry, size in sizes.items():
        table.add_row(entry.name, _megabytes(size), CONTENTS.get(entry.name, ""))
    out.print(table)
    say(f"{_megabytes(sum(sizes.values()))} in all; `airloom cache --clear` deletes it.")


def _show_what_else_is_kept() -> None:
    import platformdirs

    for folder, what in (
        (Path(platformdirs.user_data_dir("airloom")), "the certificate for --tls"),
        (Path(platformdirs.user_state_dir("airloom")), "the history of `airloom fly`, and which run was last"),
    ):
        if folder.is_dir():
            say(f"Elsewhere: {what}, in {folder}", "dim")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
