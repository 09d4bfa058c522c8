"""The trials of `scripts/torture` that need no run, a few inputs each: what they try must still be there."""

from __future__ import annotations

import pytest
from torture import files, words
from torture.trial import TRIALS, Trial

READERS = [trial for trial in TRIALS.values() if trial.run.__module__ in (files.__name__, words.__name__)]


@pytest.mark.parametrize("trial", [pytest.param(trial, id=trial.name) for trial in READERS])
def test_a_few_inputs_and_no_surprise(trial: Trial) -> None:
    tally = trial.run(8, 0)
    assert tally.inputs >= 8
    assert tally.surprises == []
