"""Processes that do not end when they are asked to: how long they are waited for."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from audit.runtime import process


class Deaf:
    """A process that ends when it is killed; waiting for it moves the clock."""

    def __init__(self, pid: int, clock: list[float]):
        self.pid, self.killed, self._clock = pid, False, clock
        self.returncode = None

    def wait(self, timeout: float) -> int:
        if self.killed:
            return -9
        self._clock.append(timeout)
        raise subprocess.TimeoutExpired("deaf", timeout)


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Deaf], list[float]]:
    """Three of them, and what was waited so far."""
    clock: list[float] = []
    found = [Deaf(pid, clock) for pid in range(3)]
    monkeypatch.setattr(process, "time", SimpleNamespace(monotonic=lambda: sum(clock)))
    monkeypatch.setattr(process, "kill_group", lambda pid: setattr(found[pid], "killed", True))
    return found, clock


def test_all_of_them_together_have_two_seconds(deaf: tuple[list[Deaf], list[float]]) -> None:
    found, clock = deaf
    asked: list[int] = []
    ones: Any = [SimpleNamespace(process=one, ask_to_end=lambda pid=one.pid: asked.append(pid)) for one in found]
    process.end_all(ones)
    assert asked == [0, 1, 2]
    assert all(one.killed for one in found)
    assert clock == [2.0, 0.0, 0.0]


def test_one_that_hung_up_has_two_seconds(deaf: tuple[list[Deaf], list[float]]) -> None:
    found, clock = deaf
    one: Any = object.__new__(process.Interpreter)
    one.process, one.kill = found[0], lambda: None
    assert one.how_it_ended() == "the worker process hung up"
    assert clock == [2.0]
