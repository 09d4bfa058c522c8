"""Compute every validation case and write docs/validation.md with its figures: `python validation/report.py`."""

from __future__ import annotations

import sys
from math import ceil, isfinite, log10
from pathlib import Path

from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from validation.case import Case, Outcome, Row
from validation.cases import CASES

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEAD = """# Validation

Airloom's numbers next to numbers that come from somewhere else: published check cases and tables, closed forms,
other programs. This page is written by `python validation/report.py`; every row is also a test
(`tests/integration/test_validation.py`). A row passes when the difference is no larger than the tolerance.

Tolerances were set before the numbers were seen. Where that is not so, a † stands at the tolerance and the reason
below the table: such a row keeps us from getting worse, but is no proof.

"Batch" is the batch engine with its integrator, "MuJoCo" the MuJoCo engine, whose integrator is Euler's.
"""


def number(value: float, tolerance: float) -> str:
    """With one digit more than the tolerance can see."""
    if value == 0.0 or tolerance == 0.0 or not isfinite(value):
        return f"{value:g}"
    if abs(value) < tolerance:
        return f"{value:.2g}"
    if abs(value) < 1e-3:
        return f"{value:.{ceil(log10(abs(value) / tolerance)) + 2}g}"
    return f"{value:.{min(max(ceil(-log10(tolerance)) + 1, 0), 12)}f}"


def line(row: Row) -> str:
    mark = "✓" if row.passed else "✗ **fails**"
    numbers = [
        number(row.ours, row.tolerance),
        number(row.reference, row.tolerance),
        f"{row.difference:.1g}",
        f"{row.tolerance:.2g}{' †' if row.hindsight else ''}",
    ]
    return " | ".join(["", row.quantity, *numbers, row.unit, mark, ""]).strip()


def table(rows: list[Row]) -> str:
    head = "| quantity | Airloom | reference | difference | tolerance | unit | |\n|---|--:|--:|--:|--:|---|---|"
    return "\n".join([head, *map(line, rows), *hindsights(rows)])


def hindsights(rows: list[Row]) -> list[str]:
    """Why some of the tolerances are not worth as much as the others."""
    reasons = dict.fromkeys(row.hindsight for row in rows if row.hindsight)
    return ["", "† Settled after looking: " + "; ".join(reasons) + "."] if reasons else []


def save_figure(case: Case, outcome: Outcome) -> str:
    """The figure as Markdown; nothing if the case has none."""
    if outcome.draw is None:
        return ""
    figure = Figure(figsize=(7.0, 3.2), dpi=120, layout="constrained")
    outcome.draw(figure)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    path = DOCS / "figures" / f"validation-{case.name.replace('_', '-')}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
    return f"\n![{outcome.caption}](figures/{path.name})\n\n*{outcome.caption}*\n"


def section(number: int, case: Case, outcome: Outcome) -> str:
    return (
        f"## {number}. {case.title}\n\n{case.text}\n\nSource: {case.source}.\n\n"
        f"{table(outcome.rows)}\n{save_figure(case, outcome)}"
    )


def overview(outcomes: list[tuple[Case, Outcome]]) -> str:
    lines = ["| case | rows | pass | † |", "|---|--:|--:|--:|"]
    for k, (case, outcome) in enumerate(outcomes, 1):
        passed, late = sum(row.passed for row in outcome.rows), sum(bool(row.hindsight) for row in outcome.rows)
        lines.append(f"| {k}. {case.title} | {len(outcome.rows)} | {passed} | {late or ''} |")
    return "\n".join(lines)


def main() -> int:
    """Returns 1 if a row fails."""
    outcomes = []
    for case in CASES:
        outcomes.append((case, case.compute()))
        failed = [row.quantity for row in outcomes[-1][1].rows if not row.passed]
        print(f"{case.name}: {'FAILS: ' + ', '.join(failed) if failed else 'passes'}", flush=True)
    sections = [section(k, *outcome) for k, outcome in enumerate(outcomes, 1)]
    DOCS.mkdir(exist_ok=True)
    (DOCS / "validation.md").write_text("\n".join([HEAD, overview(outcomes), "", *sections]))
    return int(any(not row.passed for _, outcome in outcomes for row in outcome.rows))


if __name__ == "__main__":
    sys.exit(main())
