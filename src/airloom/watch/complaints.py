"""The warnings of a run: what is said again and again is told once, with how often."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_OF_A_KIND = 20
"""Texts that differ in nothing but numbers and are told one by one; the others of the kind are counted."""
MOST_KINDS = 1000
NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")


@dataclass
class Complaint:
    text: str
    first: float
    last: float
    count: int = 1

    def __str__(self) -> str:
        often = f" ({self.count} times, the last at {self.last:.3f} s)" if self.count > 1 else ""
        return f"{self.first:.3f} s: {self.text}{often}"


class Complaints:
    def __init__(self) -> None:
        self._told: dict[str, Complaint] = {}
        self._kinds: dict[str, int] = {}

    def add(self, time: float, text: str) -> None:
        text = self._as_told(text)
        if text in self._told:
            self._told[text].count += 1
            self._told[text].last = time
        else:
            self._told[text] = Complaint(text, time, time)

    def _as_told(self, text: str) -> str:
        if text in self._told:
            return text
        kind = NUMBER.sub("…", text)
        if kind not in self._kinds and len(self._kinds) >= MOST_KINDS:
            return "other warnings"
        self._kinds[kind] = self._kinds.get(kind, 0) + 1
        return text if self._kinds[kind] <= MOST_OF_A_KIND else f"{kind} (with other numbers)"

    def clear(self) -> None:
        self._told.clear()
        self._kinds.clear()

    def texts(self) -> list[str]:
        """In the order in which they were first heard."""
        return [str(complaint) for complaint in self._told.values()]
