"""airloom plan"""

from __future__ import annotations

import shutil
from enum import StrEnum
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airloom.cli.progress import working
from airloom.cli.screen import new_table, out, say, warn
from airloom.cli.signals import abandoned_by_signals

if TYPE_CHECKING:
    from airloom.farm import Plan

SHOWN = 6
"""Shortfalls that are told one by one."""


class Surface(StrEnum):
    GROUND = "ground"
    TOP = "top"


class Edge(StrEnum):
    COVER = "cover"
    CENTRE = "centre"
    INSIDE = "inside"


class Elsewhere(StrEnum):
    RATE = "rate"
    NONE = "none"


class SprayCommand(StrEnum):
    SPRAYER = "sprayer"
    SERVO = "servo"
    ACTUATOR = "actuator"


def register(app: typer.Typer) -> None:
    app.command()(plan)


def plan(
    field: Annotated[Path, typer.Argument(metavar="FIELD.geojson", help="The field, in longitude and latitude.")],
    folder: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="What to make; FIELD.job beside it if left out.")
    ] = None,
    world: Annotated[
        str | None, typer.Option(metavar="WORLD", help="Whose ground is flown over: a bundled world, or a file.")
    ] = None,
    terrain: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The same, of a terrain folder; level ground without both.")
    ] = None,
    rate: Annotated[float, typer.Option(metavar="L/HA", help="Litres per hectare.")] = 20.0,
    swath: Annotated[float, typer.Option(metavar="M", help="Width of what a line treats: the lines' distance.")] = 4.0,
    speed: Annotated[float, typer.Option(metavar="M/S", help="On the lines.")] = 4.0,
    height: Annotated[float, typer.Option(metavar="M", help="Above the canopy.")] = 2.5,
    canopy: Annotated[float, typer.Option(metavar="M", help="Height of the plants above the ground.")] = 0.0,
    surface: Annotated[
        Surface, typer.Option(help="What the terrain shows: the ground, or the top of the plants.")
    ] = Surface.GROUND,
    rows: Annotated[
        float | None,
        typer.Option(metavar="DEG", help="Compass direction of the rows; by the file, or the longest edge."),
    ] = None,
    edge: Annotated[
        Edge, typer.Option(help="At slanting edges: cover the field, spray by the line's centre, or stay inside.")
    ] = Edge.COVER,
    headland: Annotated[
        float | None, typer.Option(metavar="M", help="Room to turn beyond the field; what the speed needs if left out.")
    ] = None,
    hop: Annotated[
        float, typer.Option(metavar="M", help="Gaps up to here are flown over; wider ones divide the field.")
    ] = 30.0,
    lag: Annotated[float, typer.Option(metavar="S", help="From the command to liquid from the nozzles.")] = 0.3,
    tank: Annotated[float, typer.Option(metavar="L", help="What it holds.")] = 10.0,
    flow: Annotated[
        str | None, typer.Option(metavar="MIN,MAX", help="What pump and nozzles can give, litres per minute.")
    ] = None,
    refill: Annotated[
        str | None,
        typer.Option(metavar="LON,LAT", help="Where the tank is filled; by the file, or where the work begins."),
    ] = None,
    prescription: Annotated[
        Path | None, typer.Option(metavar="MAP", help="Litres per hectare by place: a GeoTIFF, or polygons in GeoJSON.")
    ] = None,
    crs: Annotated[
        str | None, typer.Option(metavar="NAME", help="The map's coordinates if it names none: EPSG:32632.")
    ] = None,
    elsewhere: Annotated[
        Elsewhere, typer.Option(help="Where the map says nothing: the rate, or none.")
    ] = Elsewhere.RATE,
    command: Annotated[
        SprayCommand,
        typer.Option(help="What opens nozzles in .plan files: ArduPilot's sprayer or servo, PX4's actuator."),
    ] = SprayCommand.SPRAYER,
    servo: Annotated[int, typer.Option(metavar="N", min=1, max=32, help="The pump's output, for servo.")] = 9,
    compare: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Make no plan, but compare what a run has given with what is asked for."),
    ] = None,
) -> None:
    """Plan the spraying of a field: lines, heights, turns, rates, refills.

    The field is a polygon; its holes are not sprayed, nor polygons marked by a property no_spray or no_fly.

    A line in the file gives the direction of the rows, a point the place where the tank is filled.

    It makes a folder: job.json for the system spray_job, plan.png, and a .plan of QGroundControl for each tank.

    [bold]Examples[/bold]

      airloom plan field.geojson
      airloom plan field.geojson --world vineyard --canopy 2 --rate 60
      airloom plan field.geojson --terrain field.terrain --surface top
      airloom plan field.geojson --prescription map.tif --flow 0.5,6
      airloom plan field.geojson --world vineyard --rate 60 --compare last
    """
    from airloom.basics.folders import part_of
    from airloom.farm.folder import PICTURE, SUFFIX, write_plan
    from airloom.farm.planning import plan_field

    target = folder or field.with_suffix(SUFFIX)
    numbers = {
        "rate": rate, "swath": swath, "speed": speed, "height": height, "canopy": canopy, "surface": surface.value,
        "edge": edge.value, "headland": headland, "hop": hop, "lag": lag, "tank": tank,
        "flow": _pair(flow, "--flow", "a least and a greatest flow, such as 0.5,6"),
    }  # fmt: skip
    place = _pair(refill, "--refill", "a longitude and a latitude in degrees, such as 7.12,47.04")
    with abandoned_by_signals(lambda: shutil.rmtree(part_of(target), ignore_errors=True)), working() as progress:
        planned = plan_field(
            field, world=world, terrain=terrain, rows=rows, prescription=prescription, crs=crs,
            elsewhere=elsewhere.value, refill=place, progress=progress, **numbers,
        )  # fmt: skip
        if compare is None:
            progress("Writing", 1.0)
            write_plan(planned, target, command.value, servo)
    if compare is not None:
        _compare(planned, compare, folder)
        return
    _tell(planned)
    _tell_of_plans(planned, command)
    say(f"Made {target}: its {PICTURE} shows it. Fly it in a scenario by\n"
        f"  systems: {{job: {{kind: spray_job, vehicle: NAME, file: {target / 'job.json'}}}}}")  # fmt: skip


def _pair(text: str | None, option: str, expected: str) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"'{text}' is not {expected}", param_hint=option) from None
    return first, second


def _tell(planned: Plan) -> None:
    from airloom.farm.field import compass

    job, sums, field = planned.job, planned.job.totals, planned.field
    flows = [stretch.flow for line in job.lines for stretch in line.spray]
    rates = [stretch.rate for line in job.lines for stretch in line.spray]
    outside, (x, y) = planned.overspray, job.refill.place
    table = new_table("", "", title=job.name)
    for what, text in (
        ("field", f"{sums.hectares:.2f} ha"),
        ("rows", f"{compass(field.rows) % 180:.0f}° of the compass"),
        ("lines", f"{sums.lines}, {sums.sprayed_metres:,.0f} m sprayed of {sums.line_metres:,.0f} m flown"),
        ("turns", f"{sums.turn_metres:,.0f} m, in a headland of {job.headland:.1f} m"),
        ("outside", f"{outside:,.0f} m² beyond the field are sprayed" if outside > 1 else "nothing is sprayed there"),
        ("height", f"{job.height:g} m above plants of {job.canopy:g} m"),
        ("rate", f"{_range(rates)} L/ha, {_range(flows)} L/min at {job.speed:g} m/s"),
        ("liquid", f"{sums.litres:.1f} L, {sums.refills} refill{'s' if sums.refills != 1 else ''} of {job.tank:g} L"),
        ("refilling", f"at ({x:.1f}, {y:.1f}), where the ground is {job.refill.height:.2f} m high"),
        ("time", f"{sums.minutes:.0f} min, about"),
    ):
        table.add_row(what, text)
    out.print(table)
    _tell_of_rows(planned)
    _tell_of_what_juts_out(planned)
    if planned.shortfalls:
        _tell_of_shortfalls(planned)


def _tell_of_rows(planned: Plan) -> None:
    rows, swath = planned.rows, planned.job.swath
    if rows and rows.are_skipped(swath):
        warn(f"Careful: the rows stand {rows.spacing:.3g} m apart and the lines {swath:g} m. Rows beside a line get "
             f"little unless the nozzles reach them; --swath {rows.spacing:.3g} lays a line over each.")  # fmt: skip


def _tell_of_what_juts_out(planned: Plan) -> None:
    """Trees and plants that the terrain shows are flown over only if the plan knows that it does."""
    if planned.wishes.surface == "ground":
        jut, (x, y) = max(
            (planned.clearance.jut(line.start, line.end) for line in planned.job.lines), key=itemgetter(0)
        )
        if jut > planned.job.canopy + planned.job.height / 2:
            warn(f"Careful: the terrain juts out by {jut:.1f} m near a line, at ({x:.1f}, {y:.1f}): if it shows plants "
                 "or trees, not the bare ground, plan with --surface top.")  # fmt: skip


def _range(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if high - low < 1e-3 * high else f"{low:.3g} to {high:.3g}"


def _tell_of_shortfalls(planned: Plan) -> None:
    swath, short = planned.job.swath, planned.shortfalls
    hectares = sum(one.square_metres(swath) for one in short) / 1e4
    warn(f"Careful: on {hectares:.3f} ha pump and nozzles cannot give what is asked for:")
    table = new_table("line", "from", "to", "asked, L/ha", "given, L/ha", numbers=range(5))
    for one in sorted(short, key=lambda one: -one.stretch.length)[:SHOWN]:
        stretch = one.stretch
        table.add_row(
            str(one.line), f"{stretch.start:.0f} m", f"{stretch.end:.0f} m", f"{one.asked:.3g}", f"{stretch.rate:.3g}"
        )
    out.print(table)
    if len(short) > SHOWN:
        say(f"and {len(short) - SHOWN} shorter ones", "dim")


def _tell_of_plans(planned: Plan, command: SprayCommand) -> None:
    from airloom.farm.ground_station import MOST_PLANS

    rates = {stretch.rate for line in planned.job.lines for stretch in line.spray}
    if command is SprayCommand.SPRAYER and len(rates) > 1:
        warn("Careful: ArduPilot's sprayer knows one rate only; --command servo gives others in .plan files.")
    if planned.job.totals.refills >= MOST_PLANS:
        warn(f"Careful: of the .plan files, one for each tank, only the first {MOST_PLANS} are written.")


def _compare(planned: Plan, run: str, folder: Path | None) -> None:
    from airloom.farm.comparison import SQUARE, Deposit, deposit_in, draw_comparison
    from airloom.runs import RunFolder

    source = Path(run) if Path(run).is_file() else RunFolder.open(run).path
    deposit = Deposit.read(deposit_in(source)).in_squares(SQUARE, planned.field)
    comparison = deposit.against(planned.field, planned.rates)
    target = folder or (source.parent if source.is_file() else source)
    target.mkdir(parents=True, exist_ok=True)
    deposit.save(comparison, target / "difference.tif")
    draw_comparison(comparison, target / "difference.png", f"{planned.job.name}: asked against given")
    table = new_table("", "", title=f"{planned.job.name}: asked against given", numbers=(1,))
    for what, number in comparison.numbers().items():
        table.add_row(what, f"{number:.3g}")
    out.print(table)
    say(f"Drawn: {target / 'difference.png'}, and {target / 'difference.tif'}")
