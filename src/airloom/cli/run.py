"""airloom run"""

from __future__ import annotations

import shlex
import signal
import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from airloom.cli.options import (
    Host,
    Port,
    Replace,
    ScenarioName,
    Tls,
    TlsCert,
    TlsKey,
    Token,
    certificate,
    flag,
    new_folder,
    own_certificate,
    parsed_settings,
    parsed_speed,
)
from airloom.cli.screen import complain, err, out, results_only, say, warn
from airloom.cli.signals import abandoned_by_signals, ended_by_signals
from airloom.errors import RunError, UserError

if TYPE_CHECKING:
    from airloom.cli.progress import Display
    from airloom.net.tls import Certificate
    from airloom.runs.recorded import RecordedRun
    from airloom.scenario import Scenario
    from airloom.simulation import Simulation


MOST_ADDRESSES = 8


@dataclass
class StudioWishes:
    host: str
    port: int | None
    token: str | None
    certificate: Certificate | None
    """For https."""


@dataclass
class Wishes:
    speed: float | None
    folder: Path | None
    replace: bool
    log: bool
    link: bool
    studio: StudioWishes | None
    loom: str | None
    cluster: str | None
    token: str | None
    certificate: Certificate | None
    figures: bool
    quiet: bool
    json: bool
    debug: bool
    is_excerpt: bool
    """Whether it shall fly for another time than the scenario's."""


def register(app: typer.Typer) -> None:
    app.command()(run)


def run(
    scenario: ScenarioName,
    speed: Annotated[
        str | None,
        typer.Option(
            metavar="N|max",
            help="Seconds of simulation time a second: 1 is real time, max is unlimited; default: 1, headless max.",
        ),
    ] = None,
    until: Annotated[
        float | None, typer.Option(metavar="S", help="End at this time; the scenario's duration if left out.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="For the noise; the scenario's seed if left out.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario; may be given several times."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the run; runs/SCENARIO-N if left out.")
    ] = None,
    replace: Replace = False,
    link: Annotated[bool, flag("--link", help="Let `airloom fly` command a headless run, too.")] = False,
    loom: Annotated[
        str | None,
        typer.Option(metavar="tcp:HOST:PORT", help="Where members on other machines may join; tls:HOST:PORT by TLS."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Start members on the workers of this Dask cluster, tcp://HOST:8786."),
    ] = None,
    ros2: Annotated[bool, flag("--ros2", help="Be a node of ROS 2, on this machine only; `ros2:` says more.")] = False,
    domain: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, max=232, help="Be one in this domain, with --ros2 or without; ROS_DOMAIN_ID, or 0."
        ),
    ] = None,
    foxglove: Annotated[bool, flag("--foxglove", help="Let Foxglove's app on this machine look on.")] = False,
    no_log: Annotated[bool, flag("--no-log", help="Write no log, and so draw no figures.")] = False,
    no_figures: Annotated[bool, flag("--no-figures", help="Draw no figures.")] = False,
    quiet: Annotated[bool, flag("--quiet", "-q", help="Print only warnings and errors.")] = False,
    json_: Annotated[
        bool, flag("--json", help="Print the summary as JSON, and all that is said besides on standard error.")
    ] = False,
    headless: Annotated[bool, flag("--headless", help="Without the studio, as fast as possible.")] = False,
    port: Port = None,
    host: Host = "127.0.0.1",
    token: Token = None,
    tls: Tls = False,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    debug: Annotated[bool, flag("--debug", help="Print the traceback if the run fails.")] = False,
) -> None:
    """Fly a scenario, seen in the browser; leave a folder with log, summary and figures.

    The studio shows the flight in any browser, which may come and go; who looks on may pause, steer and edit.

    As long as somebody looks on, a flight that is over stays there to be flown again.

    The folder also holds the scenario with nothing left to look up, which repeats the run.

    The same scenario and seed give the same run, bit by bit, at any speed.

    Ctrl-C ends it cleanly, a second Ctrl-C at once.

    The exit code is 0 if all went well, 1 if the run could not go on, 2 if it could not begin because of a mistake.

    It is 3 if somebody in the run did not do its job (a mission failed), and 128 + N after signal N.

    [bold]Examples[/bold]

      airloom run hover
      airloom run hover --headless              without the studio, at full speed
      airloom run fleet --host 0.0.0.0 --tls    others may look on
      airloom run hover --set engine=batch --set vehicles.cf.mass=0.03 --seed 7
      airloom run my_scenario.yaml --out results/first
      airloom run hover --until 600             time to fly it yourself
      airloom run hover --ros2                  topics and frames for ROS 2
      airloom run runs/hover-1/scenario.yaml    the same run again
      airloom run hover --headless --json       the summary for a program
    """
    from airloom.cli.progress import displayed
    from airloom.scenario import load

    given = certificate(tls_cert, tls_key)
    studio = None if headless else StudioWishes(host, port, token, given or (own_certificate() if tls else None))
    if studio:
        from airloom.studio.web.ports import check

        check(host, port)
    figures = not (no_log or no_figures)
    chosen = _with_ros2(load(scenario, parsed_settings(set_) | _checked(until, seed)), ros2, domain)
    chosen = _with_foxglove(chosen) if foxglove else chosen
    is_seen = link or studio or chosen.ros2 or chosen.foxglove
    pace = parsed_speed(("1" if is_seen else "max") if speed is None else speed)
    wishes = Wishes(
        pace, out, replace, not no_log, link, studio, loom, cluster, token, given, figures, quiet, json_, debug,
        is_excerpt=until is not None,
    )  # fmt: skip
    with results_only() if json_ else nullcontext():
        with displayed(chosen.engine.kind, quiet) as display:
            flown = _flown(chosen, wishes, display)
        code = _concluded(*flown, wishes)
    raise typer.Exit(code)


def _checked(until: float | None, seed: int | None) -> dict[str, Any]:
    if until is not None and not until > 0:
        raise typer.BadParameter(f"must be greater than 0 s, got {until:g}", param_hint="--until")
    given = {"duration": until, "seed": seed}
    return {key: value for key, value in given.items() if value is not None}


def _with_ros2(scenario: Scenario, wanted: bool, domain: int | None) -> Scenario:
    """With a bridge if it is wanted, or told which domain to be in."""
    from airloom.scenario.ros2 import Ros2

    if not wanted and domain is None:
        return scenario
    bridge = scenario.ros2 or Ros2()
    if domain is not None:
        bridge = bridge.model_copy(update={"domain": domain})
    return scenario.model_copy(update={"ros2": bridge})


def _with_foxglove(scenario: Scenario) -> Scenario:
    from airloom.scenario.foxglove import Foxglove

    return scenario.model_copy(update={"foxglove": scenario.foxglove or Foxglove()})


def _flown(scenario: Scenario, wishes: Wishes, display: Display | None) -> tuple[RecordedRun, list[int]]:
    """The run after its end, and the signals that ended it."""
    from airloom.runs.recorded import RecordedRun

    sim = _made(scenario, wishes)
    sim.is_excerpt = wishes.is_excerpt
    if sim.autopilots.are_live and wishes.speed not in (None, 1.0):
        problem = "a board is in the loop, which lives on the wall clock: leave it out, or give 1"
        raise typer.BadParameter(problem, param_hint="--speed")
    if not wishes.quiet:
        sim.autopilots.say = say
    _open_to_others(sim, wishes)
    with ended_by_signals() as ending:
        folder, link = new_folder(scenario.name, wishes.folder, wishes.replace), wishes.link or bool(wishes.studio)
        run = ending.of(RecordedRun(sim, folder, speed=wishes.speed, log=wishes.log, link=link))
        notices = _notices(run, wishes)

        def look() -> None:
            if display:
                display.compiled()
                for text in notices:
                    say(text, "cyan")
                display.look(run)

        with _studio_beside(run, wishes):
            run.fly(look)
    return run, ending.signals


def _open_to_others(sim: Simulation, wishes: Wishes) -> None:
    """Say where members on other machines join, and with which token."""
    from airloom.loom.cluster import Cluster
    from airloom.loom.listening import parsed
    from airloom.net.listening import token_for

    sim.loom.listen, sim.loom.token, sim.loom.certificate = wishes.loom, wishes.token, wishes.certificate
    if not wishes.quiet:
        sim.loom.tell = say
    if wishes.cluster:
        sim.loom.cluster = Cluster(wishes.cluster)
    elif wishes.loom:
        place = parsed(wishes.loom)
        sim.loom.token = token_for(place.host, wishes.token)
        need = f" with token {sim.loom.token}" if sim.loom.token else ""
        shown = f"#{(wishes.certificate or own_certificate()).fingerprint}" if place.scheme == "tls" else ""
        say(f"Members on other machines join at {wishes.loom}{shown}{need}", "cyan")


def _studio_beside(run: RecordedRun, wishes: Wishes) -> AbstractContextManager:
    if wishes.studio is None:
        return nullcontext()
    from airloom.cli.studio_process import StudioProcess

    asked = wishes.studio
    return StudioProcess(run.folder.path, asked.host, asked.port, asked.token, asked.certificate, wishes.quiet)


def _notices(run: RecordedRun, wishes: Wishes) -> Iterator[str]:
    """What is of interest once the run has begun."""
    if wishes.link:
        yield _invitation(run)
    if (bridge := run.sim.ros2) is not None:
        where = f"on {bridge.wishes.interface}" if bridge.wishes.interface else "on this machine"
        yield f"ROS 2 nodes find /airloom in domain {bridge.domain} {where}"
    if run.sim.foxglove is not None:
        yield f"Foxglove's app opens the connection {run.sim.foxglove.address}"
    if addresses := run.sim.autopilots.addresses():
        places = [f"{vehicle} {address}" for vehicle, address in list(addresses.items())[:MOST_ADDRESSES]]
        more = ", …" if len(addresses) > MOST_ADDRESSES else ""
        yield f"Autopilots speak MAVLink at:  {', '.join(places)}{more}"


def _invitation(run: RecordedRun) -> str:
    return (
        f"Fly it from another terminal:  airloom fly {shlex.quote(str(run.folder.path))}\n"
        f"It ends at t = {run.sim.scenario.duration:g} s, or when told to stop; --until S gives it longer."
    )


def _made(scenario: Scenario, wishes: Wishes) -> Simulation:
    from airloom.cli.progress import tell_of_many
    from airloom.simulation import Simulation
    from airloom.watch.origin import find_origin

    if not wishes.quiet:
        tell_of_many(scenario)
    try:
        with abandoned_by_signals():
            return Simulation(scenario)
    except Exception as error:
        culprit = find_origin(error)
        if not culprit.is_users or isinstance(error, UserError):
            raise
        _report_failure(error, str(culprit), wishes.debug)
        raise typer.Exit(1) from None


def _concluded(run: RecordedRun, signals: list[int], wishes: Wishes) -> int:
    """Draw, tell, and give the exit code."""
    from airloom.runs.folder import as_json
    from airloom.watch.verdict import EXIT_CODE

    if run.could_not_begin:
        return _told_why_it_could_not_begin(run)
    figures = _drawn(run, wishes.quiet) if wishes.figures else []
    if not wishes.quiet:
        from airloom.cli.summary import print_summary

        print_summary(run, figures)
        if wishes.studio and wishes.log:
            say(f"Look at it again:  airloom view {shlex.quote(str(run.folder.path))}", "dim")
    if wishes.json:
        typer.echo(as_json(run.summary()))
    if run.outcome.error:
        _report_failure(run.outcome.error, run.outcome.reason, wishes.debug)
        return 2 if isinstance(run.outcome.error, UserError) else 1
    if run.outcome.status == "stopped" and signals:
        warn(f"Stopped at t = {run.sim.time:.3f} s by {signal.Signals(signals[0]).name}.")
        return 128 + signals[0]
    if not run.sim.verdict.is_good:
        complain(str(run.sim.verdict), "The run failed")
        return EXIT_CODE
    return 0


def _told_why_it_could_not_begin(run: RecordedRun) -> int:
    """The exit code, which is that of a mistake: something that the run needs is missing or wrong."""
    complain(run.outcome.reason, "The run could not begin")
    if not run.folder.discard():
        warn(f"What the programs in it said is in {run.folder.path}")
    return 2


def _drawn(run: RecordedRun, quiet: bool) -> list[Path]:
    from airloom.runs.figures import plot
    from airloom.runs.mcap import LogError

    try:
        with nullcontext() if quiet else out.status("Drawing figures …"):
            return plot(run.folder)
    except LogError as error:
        warn(f"No figures: {error}")
        return []


def _report_failure(error: BaseException, reason: str, debug: bool) -> None:
    complain(reason, "The run failed")
    if debug:
        err.print(Text("".join(traceback.format_exception(error))), soft_wrap=True)
    elif not isinstance(error, UserError | RunError):
        warn("With --debug you see the traceback.")
