"""The table in docs/reliability.md: a row for each trial, of its last run."""

from __future__ import annotations

from pathlib import Path

from torture.trial import TRIALS, Tally

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- torture: begin -->", "<!-- torture: end -->"
HEAD = (
    "| trial | what is done | inputs | refused | slowest, s | memory, MB | took, s | surprises | also seen |\n"
    "|---|---|--:|--:|--:|--:|--:|--:|---|"
)


def row(name: str, tally: Tally) -> str:
    cells = [
        name, TRIALS[name].about, _grouped(tally.inputs), _grouped(tally.refused), f"{tally.slowest:.2f}",
        f"{tally.memory:.0f}", f"{tally.took:.0f}", _grouped(tally.surprise_count), tally.note,
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def table(rows: dict[str, str]) -> str:
    return "\n".join([HEAD, *(rows[name] for name in TRIALS if name in rows)])


def merge(rows: dict[str, str], page: Path = PAGE) -> None:
    """Put these rows into the page's table, where every other trial keeps the row it has."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    written, _, after = rest.partition(END)
    earlier = {line.split("|")[1].strip(): line for line in written.splitlines() if line.startswith("| ")}
    page.write_text(f"{before}{BEGIN}\n{table(earlier | rows)}\n{END}{after}", encoding="utf-8")


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", "\u202f")
