"""The few calls before an audit: what stands out, and what stops it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints import preflight as module
from audit.auditor.targets.containment import Noticed
from audit.auditor.targets.sampling import CallableTarget, Pair, TargetError
from audit.auditor.terms.leaves import Raised

PAIR = Pair([0.0], [1.0])


class Elsewhere:
    """A target that is no Python code: outputs by side, call by call; `again` are those of a second time."""

    def __init__(self, first: Any, second: Any, again: Any = None):
        self.sides, self.again, self.noticed = (first, second), again, Noticed()

    def outputs(self, pair: Pair, labels: Any, name: Any) -> Any:
        side = int(labels[0])
        made = self.sides[side]
        if side == 0 and self.again is not None:
            self.sides = (self.again, self.sides[1])
        return list(made)[: len(labels)]


def kinds(target: Any, calls: int = 3) -> list[str]:
    return [f.kind for f in module._first_calls(target, PAIR, 0, calls)[1]]


def test_equal_outputs_on_equal_draws_are_independence_of_the_data_unless_all_are_equal() -> None:
    noisy, other = [1.0, 2.0, 3.0], [1.0, 2.5, 3.0]
    assert kinds(Elsewhere(noisy, noisy)) == ["data-independent"]
    assert kinds(Elsewhere(noisy, other)) == []
    assert kinds(Elsewhere([1.0] * 3, [1.0] * 3)) == []
    inner: Any = Elsewhere(noisy, noisy)
    inner.inner = None  # Python code in a process of its own is replayed instead
    assert kinds(inner) == []
    assert module._first_calls(Elsewhere([[1.0, 2.0]] * 3, [[1.0]] * 3), PAIR, 0, 3)[0] == 2


def test_the_same_seed_must_give_the_same_outputs() -> None:
    assert kinds(Elsewhere([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], again=[1.0, 2.0, 4.0])) == ["not-reproducible"]
    assert kinds(Elsewhere([1.0, 2.0, 3.0], [2.0, 2.0, 2.0], again=[1.0, 2.0, 3.0])) == []


def test_a_mechanism_that_always_fails_alike_cannot_be_tested() -> None:
    failed = [Raised("KeyError")] * 3
    with pytest.raises(TargetError, match="raised on every call, on both datasets: "):
        module._first_calls(Elsewhere(failed, failed), PAIR, 0, 3)
    assert kinds(Elsewhere(failed, [Raised("ValueError")] * 3)) == []
    assert kinds(Elsewhere(failed, [1.0, 2.0, 3.0])) == []
    assert not module._fail_alike([[Raised("E"), 1.0], [Raised("E"), 1.0]])


def test_a_changed_dataset_is_noticed() -> None:
    def adds(data: list[float], rng: np.random.Generator) -> float:
        data.append(0.0)
        return rng.normal()

    assert kinds(CallableTarget(adds)) == ["mutates-input"]
    assert kinds(CallableTarget(lambda data, rng: rng.normal())) == []


def test_what_was_noticed_over_the_whole_run() -> None:
    noticed = Noticed()
    assert module.after_run(SimpleNamespace(noticed=noticed)) == []  # type: ignore[arg-type]
    noticed.raised = [3, 0]
    noticed.first_error = "KeyError: 1"
    noticed.printed, noticed.first_print = 5, " said \n"
    noticed.warned, noticed.first_warning = 2, "w" * 130
    noticed.global_sources.update({"random", "numpy"})
    found = {f.kind: f for f in module.after_run(SimpleNamespace(noticed=noticed))}  # type: ignore[arg-type]
    assert list(found) == ["global-state", "prints", "warns", "raises"]
    assert "the global state of numpy, random;" in found["global-state"].message
    assert found["prints"].message == "5 characters printed (kept off stdout), first: 'said'"
    assert found["warns"].message == f"2 warnings, first: {'w' * 120}"
    assert "3 on the dataset and 0 on the neighbour; first: KeyError: 1" in found["raises"].message
    assert (found["raises"].details["dataset"], found["raises"].details["neighbour"]) == (3, 0)


def test_calls_are_fewer_where_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    class Slow(Elsewhere):
        def outputs(self, pair: Pair, labels: Any, name: Any) -> Any:
            now[0] += 0.5
            return super().outputs(pair, labels, name)

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def calls(left: float | None, pairs: int = 1, deadline: float | None = 1.0) -> int:
        target = Slow([1.0] * 9, [1.0] * 9)
        run: Any = SimpleNamespace(deadline=deadline, seconds_left=left, target=target, pairs=[PAIR] * pairs, seed=0)
        return module._calls(run)

    assert calls(None, deadline=None) == 8
    assert [calls(left) for left in (1e6, 60.0, 45.0, 1.0, None)] == [8, 4, 3, 1, 1]
    assert calls(60.0, pairs=2) == 2


def test_every_pair_is_looked_at_and_the_widest_output_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    target = Elsewhere([[1.0, 2.0]] * 8, [[1.0]] * 8)
    run: Any = SimpleNamespace(
        deadline=None, target=target, pairs=[PAIR, PAIR], seed=0, width=1, note=lambda new: found.append(list(new))
    )
    now = iter([0.0, 100.0])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(now)))
    assert module.preflight(run) == 100.0 / (2 * module.PREFLIGHT_CALLS)
    assert (run.width, len(found)) == (2, 2)
