"""How far a long piece of work is, and how long it will take: for people who wait."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

LIVE, FIRST, LATER = 0.5, 2.0, 1.25
"""Seconds between two lines on a terminal; in a log the first line comes after FIRST seconds, and each next one after
LATER times the time so far: a run of a day has some fifty."""


class Meter:
    """Says how far the work is and how long it will take: on a terminal twice a second, in a log ever more rarely."""

    def __init__(self, what: str, total: int, say: Callable[[str], None], done: int = 0, live: bool | None = None):
        self._what, self._total, self._say = what, total, say
        self._done = self._before = done
        self._live = sys.stderr.isatty() if live is None else live
        self._started = time.monotonic()
        self._next = LIVE if self._live else FIRST

    def add(self, amount: int) -> None:
        """So much more is done."""
        self._done += amount
        elapsed = time.monotonic() - self._started
        if elapsed >= self._next:
            self._next = elapsed + LIVE if self._live else LATER * elapsed
            self._say(self.text(elapsed))

    def text(self, elapsed: float) -> str:
        """How far, how fast, how long."""
        rate = (self._done - self._before) / max(elapsed, 1e-9)
        left = (self._total - self._done) / max(rate, 1e-9)
        share = 100 * self._done / max(self._total, 1)
        return f"{self._what}: {self._done:.3g} of {self._total:.3g} ({share:.0f} %), {duration(left)} left"


def duration(seconds: float) -> str:
    """A time for people: 7 s, 3:05 min, 2:40 h, 3 days."""
    whole = int(min(seconds, 10.0**12) + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d} min"
    return f"{whole // 3600}:{whole % 3600 // 60:02d} h" if whole < 172_800 else f"{whole // 86_400} days"
