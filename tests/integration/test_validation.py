"""Every number of docs/validation.md within its tolerance of the reference."""

from __future__ import annotations

import math
from importlib import import_module
from pkgutil import iter_modules

import pytest
import validation
from validation.case import Case, Row
from validation.cases import CASES
from validation.report import DOCS, line, number, table


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_case_agrees_with_its_reference(case: Case) -> None:
    rows = case.compute().rows
    wrong = [f"{r.quantity}: {r.ours} is not {r.reference} ± {r.tolerance} {r.unit}" for r in rows if not r.passed]
    assert rows
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("ours", [1.2, 0.8, math.nan, math.inf])
def test_a_wrong_number_fails(ours: float) -> None:
    row = Row("quantity", ours, 1.0, 0.1)
    assert not row.passed
    assert "fails" in line(row)


def test_a_right_number_passes() -> None:
    assert Row("quantity", 1.05, 1.0, 0.1).passed
    assert "✓" in line(Row("quantity", 1.05, 1.0, 0.1))


@pytest.mark.parametrize(
    ("value", "tolerance", "shown"),
    [(12.618391, 1e-4, "12.61839"), (0.0, 1e-9, "0"), (3.7e-10, 1e-9, "3.7e-10"), (2.0, 0.05, "2.000")],
)
def test_numbers_show_what_the_tolerance_sees(value: float, tolerance: float, shown: str) -> None:
    assert number(value, tolerance) == shown


def test_every_case_says_what_it_is() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert all(case.title and case.source and len(case.text) > 80 for case in CASES)


def test_every_case_that_is_written_is_computed() -> None:
    modules = [import_module(f"validation.{found.name}") for found in iter_modules(validation.__path__)]
    written = [one for module in modules for one in vars(module).values() if isinstance(one, Case)]
    assert {case.name for case in written} == {case.name for case in CASES}


def test_the_page_has_every_case() -> None:
    """`python validation/report.py` writes it."""
    page = (DOCS / "validation.md").read_text(encoding="utf-8")
    assert [case.name for case in CASES if f". {case.title}\n" not in page] == []


def test_a_tolerance_that_was_set_after_looking_is_marked_and_its_reason_told() -> None:
    before, after = Row("one", 1.0, 1.0, 0.1), Row("other", 1.0, 1.0, 0.5, hindsight="0.1 was hoped for")
    text = table([before, after])
    assert "| 0.1 | " in line(before)
    assert "| 0.5 † | " in line(after)
    assert text.endswith("\n\n† Settled after looking: 0.1 was hoped for.")
    assert "†" not in table([before])
