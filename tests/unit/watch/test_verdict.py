"""What the verdict of a run says."""

from __future__ import annotations

from airloom.watch.verdict import MOST_IN_SUMMARY, Finding, Verdict


def test_a_run_in_which_nobody_had_a_job_is_good():
    assert Verdict().summary() == {"good": True, "failures": 0, "findings": []}


def test_one_failure_is_enough_and_comes_first():
    verdict = Verdict()
    verdict.findings += [Finding(1.0, "a", "landed", good=True), Finding(2.0, "b", "fell", good=False)]
    assert not verdict.is_good
    assert str(verdict) == "2.000 s: b: fell"
    assert [finding["source"] for finding in verdict.summary()["findings"]] == ["b", "a"]


def test_ten_thousand_failures_make_no_long_summary():
    verdict = Verdict()
    verdict.findings += [Finding(0.0, f"d{k}", "fell", good=False) for k in range(10_000)]
    assert str(verdict) == "0.000 s: d0: fell (and 9999 more in summary.json)"
    assert verdict.summary()["failures"] == 10_000
    assert len(verdict.summary()["findings"]) == MOST_IN_SUMMARY
