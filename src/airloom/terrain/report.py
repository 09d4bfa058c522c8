"""What a terrain was made of and what came out, for people: as Markdown in its folder, as a table on the screen."""

from __future__ import annotations

import resource
from pathlib import Path

from airloom.scenario.terrain import PREVIEW, TerrainFile


def facts(about: TerrainFile) -> list[tuple[str, str]]:
    (east, north) = (n * size for n, size in zip((about.columns - 1, about.rows - 1), about.cell, strict=True))
    return [
        ("survey", about.source),
        ("coordinates", about.crs or "local metres"),
        ("origin", f"{about.latitude:.7f}°, {about.longitude:.7f}°, {about.altitude:g} m"),
        ("extent", f"{east:,.1f} m east × {north:,.1f} m north"),
        ("cells", f"{about.cell[0]:g} × {about.cell[1]:g} m, {about.columns:,} × {about.rows:,} corners"),
        ("heights", f"{about.low:,.2f} … {about.high:,.2f} m above the origin"),
        ("holes", f"{about.holes:,} corners" if about.holes else "none"),
        ("colour", about.colour or "none"),
        *([("overhangs", about.overhangs)] if about.overhangs else []),
    ]


def write_report(file: Path, about: TerrainFile, notes: list[tuple[str, str]], seconds: float) -> None:
    size = sum(path.stat().st_size for path in file.parent.iterdir())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = [f"# Terrain from {about.source}", "", f"![The ground from above]({PREVIEW})", "", "| | |", "|---|---|"]
    lines += [f"| {what} | {text} |" for what, text in facts(about)]
    lines += ["", "## How it was made", "", "| | |", "|---|---|"]
    lines += [f"| {what} | {text} |" for what, text in notes]
    lines += [
        f"| time | {seconds:.1f} s |",
        f"| memory of the process at most | {memory:,.0f} MB |",
        f"| size of the folder | {size / 1e6:,.1f} MB |",
        *(f"| **careful** | {warning} |" for warning in about.warnings),
        "", "## Meshes", "",
        "Errors are those of the mesh against the grid, at the grid's corners, up or down.", "",
        "| level | asked for, m | largest, m | mean, m | triangles | of all |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    most = 2 * (about.rows - 1) * (about.columns - 1)
    lines += [
        f"| {number} | {level.error:.3g} | {level.largest:.3g} | {level.mean:.3g} | {level.triangles:,} "
        f"| {level.triangles / most:.1%} |"
        for number, level in enumerate(about.levels)
    ]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
