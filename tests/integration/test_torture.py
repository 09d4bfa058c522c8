"""The trials of `scripts/torture` that need no run, a few inputs each: what they try must still be there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from torture import table, trials
from torture.trial import TRIALS, Tally, Trial
from torture.trials import data_files, files, natives, words

trials.load()
OF_READERS = {module.__name__ for module in (data_files, files, natives, words)}
READERS = [trial for trial in TRIALS.values() if trial.run.__module__ in OF_READERS]


@pytest.mark.parametrize("trial", [pytest.param(trial, id=trial.name) for trial in READERS])
def test_a_few_inputs_and_no_surprise(trial: Trial) -> None:
    tally = trial.run(8, 0)
    assert tally.inputs >= 8
    assert tally.surprises == []


def test_a_single_row_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(table.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    table.merge({"logs": table.row("logs", Tally(inputs=1234, slowest=0.5, memory=99.6, note="a note"))}, page)
    before, after = (it.read_text(encoding="utf-8").splitlines() for it in (table.PAGE, page))
    assert [line for line in after if line not in before] == [
        f"| logs | {TRIALS['logs'].about} | 1\u202f234 | 0 | 0.50 | 100 | 0 | 0 | a note |"
    ]
    assert len([line for line in before if line not in after]) == 1


def test_a_trial_is_run_alone_by_name_with_a_chosen_number_of_inputs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "torture", "--mutants", "9", "loom, messages"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("✓")] == [
        line for line in done.stdout.splitlines() if "loom, messages" in line and "| 9 |" in line
    ][:1]


def test_a_name_that_no_trial_has_is_refused() -> None:
    done = subprocess.run([sys.executable, "-m", "torture", "logs", "loogs"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "no trial has 'loogs' in its name" in done.stderr
