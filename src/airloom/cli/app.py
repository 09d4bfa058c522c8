"""All commands together. Everything heavy is imported inside them, so that help is there at once."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import Annotated, Any, TypeGuard

import typer
from typer.core import TyperGroup

from airloom.basics.version import VERSION
from airloom.cli import (
    bench,
    branch,
    cache,
    check,
    docs,
    doctor,
    exec,
    film,
    fly,
    listing,
    models,
    plan,
    review,
    ros2,
    run,
    schema,
    serve,
    terrain,
    view,
)
from airloom.cli.options import flag
from airloom.cli.screen import complain, warn
from airloom.cli.signals import was_interrupted
from airloom.errors import RunError, UserError

OVERVIEW = """Simulate drones, from one nano-quadcopter to a swarm, in one exact lockstep.

[bold]First steps[/bold]

  airloom list                          what there is to fly
  airloom run hover                     fly it, seen in the browser
  airloom run hover --headless          fly it as fast as this machine can
  airloom view                          look at the flight again
  airloom film last flight.mp4          make a video of it
  airloom plot last                     draw its figures
  airloom fly                           command a run from another terminal
  airloom terrain build field.tif       make ground to fly over of a survey
  airloom import x500/model.sdf         fly somebody else's model
  airloom plan field.geojson            plan the spraying of a field
  airloom doctor                        is everything installed and working?

Each command explains itself: airloom run --help
"""


class Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Some versions of Typer put the name of an exception's class before what it says."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as mistake:
            mistake.message = mistake.message.removeprefix("Value error, ")
            raise


app = typer.Typer(
    name="airloom",
    cls=Commands,
    help=OVERVIEW,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    listing,
    run,
    fly,
    serve,
    branch,
    exec,
    view,
    film,
    review,
    schema,
    terrain,
    models,
    plan,
    ros2,
    docs,
    doctor,
    cache,
    bench,
    check,
):
    module.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"airloom {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, flag("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def run_command_line() -> None:
    try:
        app(prog_name="airloom")
    except Exception as error:
        if was_interrupted():
            sys.exit(128 + signal.SIGINT)  # something on the way has made another exception of it
        if not isinstance(error, UserError | RunError) and not _is_of_the_system(error):
            raise
        _give_up_what_cannot_be_printed()
        complain(_told(error))
        sys.exit(1 if isinstance(error, RunError) or _is_of_a_full_disk(error) else 2)
    except KeyboardInterrupt:
        warn("Stopped.")
        sys.exit(128 + signal.SIGINT)


def _is_about_a_long_name(error: Exception) -> TypeGuard[OSError]:
    """Any path that somebody gives may be longer than file systems take, wherever it is first looked at."""
    return isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG


def _is_of_a_full_disk(error: Exception) -> TypeGuard[OSError]:
    """Wherever it is written to; most often it is what is printed, into a file."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _is_of_the_system(error: Exception) -> bool:
    return _is_about_a_long_name(error) or _is_of_a_full_disk(error)


def _give_up_what_cannot_be_printed() -> None:
    """Python would try again at its end, and complain in its own way."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: Exception) -> str:
    if _is_of_a_full_disk(error):
        return f"{error.filename or 'what is printed'} cannot be written: {error.strerror}; make room on the disk"
    if _is_about_a_long_name(error):
        return f"a name may have 255 bytes, and a path 4095, but this is longer: '{str(error.filename)[:40]}…'"
    return str(error)
