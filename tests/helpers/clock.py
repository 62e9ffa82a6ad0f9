"""A clock that only moves when somebody sleeps: budgets of time are tested without the machine's load deciding."""

from __future__ import annotations

import time

import pytest


class Clock:
    """Stands in the place of `time.monotonic` and `time.sleep`."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def stopped(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Until the test ends, time passes by `time.sleep` alone."""
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    return clock
