"""A mechanism under inspection, one call at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints import subject as module
from audit.auditor.lints.recorder import Recorder
from audit.auditor.lints.subject import Subject, single
from audit.auditor.targets.containment import Watch
from audit.auditor.targets.sampling import CallableTarget, Pair


def made(mechanism: Any, recorder: Any = None, **more: Any) -> Subject:
    """A subject; without a recorder it can only be asked."""
    pair = more.pop("pair", Pair([1.0, 2.0], [3.0, 2.0]))
    return Subject(CallableTarget(mechanism), pair, recorder, Watch(None), 7, **more)


def test_calls_and_time_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    one = made(lambda data, rng: 0.0, most=3, deadline=10.0)
    now = [9.0]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert not one.late
    one.calls = 2
    assert not one.late
    one.calls = 3
    assert one.late
    assert not one.out_of_time
    one.calls, now[0] = 0, 10.0
    assert not one.late
    now[0] = 10.1
    assert one.late
    assert one.out_of_time
    free = made(lambda data, rng: 0.0)
    free.calls = 10**6
    assert not free.late
    assert not free.out_of_time


def test_the_size_is_the_number_of_records() -> None:
    assert made(lambda data, rng: 0.0).size == 2
    assert made(lambda data, rng: 0.0, pair=Pair(object(), object())).size is None


def test_each_call_has_its_own_generator_and_its_own_copy() -> None:
    def release(data: list[float], rng: np.random.Generator) -> Any:
        data.append(0.0)
        return sum(data), rng.random()

    with Recorder((release,)) as recorder:
        one, again = made(release, recorder), made(release, recorder)
        runs = [one.record(0), one.record(0), one.record(1)]
        assert [r.output[0] for r in runs] == [3.0, 3.0, 5.0]
        assert len({r.output[1] for r in runs}) == 3
        assert again.record(0).output == runs[0].output
        replayed = one.replay(1, runs[0])
        assert replayed.output == (5.0, runs[0].output[1])
        assert one.calls == 4
        assert one.mutated


def test_a_change_is_looked_for_in_the_first_two_calls_of_a_side() -> None:
    calls = [0]

    def later(data: list[float], rng: np.random.Generator) -> float:
        calls[0] += 1
        if calls[0] == 3:
            data.append(0.0)
        return 0.0

    for sides, mutated in (((0, 0, 0), False), ((0, 0, 1), True), ((0, 1, 1), True)):
        calls[0] = 0
        with Recorder((later,)) as recorder:
            one = made(later, recorder)
            for side in sides:
                one.record(side)
        assert one.mutated is mutated


def test_a_call_that_raises_is_noted_for_its_side() -> None:
    def fails(data: list[float], rng: np.random.Generator) -> float:
        if data[0] == 3.0:
            raise KeyError("no")
        return 0.0

    with Recorder((fails,)) as recorder:
        one = made(fails, recorder)
        assert [one.record(side).error for side in (0, 1, 1)] == [None, "KeyError", "KeyError"]
    assert list(one.target.noticed.raised) == [0, 2]


def test_one_output_whatever_the_calling_convention() -> None:
    rng = np.random.default_rng(0)
    assert single(CallableTarget(lambda data, rng: data), 4.0, rng) == 4.0
    assert single(CallableTarget(lambda data: 2 * data), 4.0, rng) == 8.0

    def batch(data: float, size: int, rng: np.random.Generator) -> Any:
        assert size == 1
        return np.full(size, data)

    assert single(CallableTarget(batch), 4.0, rng) == 4.0
    assert single(CallableTarget(lambda data, rng: {"a": 1.0, "b": 2.0}, "b"), 4.0, rng) == 2.0
