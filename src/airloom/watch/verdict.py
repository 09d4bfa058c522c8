"""The verdict of a run: whether it did what it was for, by the word of those who had something to do in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

MOST_IN_SUMMARY = 100
EXIT_CODE = 3
"""Of a run that went well and did not do its job; 1 is for one that could not go on, 2 for a user's mistake."""


@dataclass(frozen=True)
class Finding:
    """What somebody says about the job it had."""

    time: float
    source: str
    text: str
    good: bool

    def __str__(self) -> str:
        return f"{self.time:.3f} s: {self.source}: {self.text}"


class Verdict:
    """All findings of a run; a single bad one makes it a failed run.

    Missions, systems, members and autopilots add theirs by `sim.succeed` and `sim.fail`.
    """

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    @property
    def failures(self) -> list[Finding]:
        return [finding for finding in self.findings if not finding.good]

    @property
    def is_good(self) -> bool:
        """Also of a run in which nobody had a job."""
        return not self.failures

    def __str__(self) -> str:
        """Why the run failed, or that it did not."""
        failures = self.failures
        if not failures:
            return "all is well"
        more = f" (and {len(failures) - 1} more in summary.json)" if len(failures) > 1 else ""
        return f"{failures[0]}{more}"

    def summary(self) -> dict[str, Any]:
        kept = [asdict(finding) for finding in list(self._failures_first())[:MOST_IN_SUMMARY]]
        return {"good": self.is_good, "failures": len(self.failures), "findings": kept}

    def _failures_first(self) -> Iterator[Finding]:
        yield from self.failures
        yield from (finding for finding in self.findings if finding.good)
