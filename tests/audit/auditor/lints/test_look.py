"""What the lints of an audit may spend, on what, and what comes of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints import look as module
from audit.auditor.lints.look import _Seen
from audit.auditor.lints.rules import Allowance
from audit.auditor.targets.containment import MechanismTimeout
from audit.auditor.targets.isolate import IsolatedTarget
from audit.auditor.targets.sampling import CallableTarget, Pair, TargetError
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.result import Finding


def run_of(mechanism: Any = None, **more: Any) -> Any:
    given = {
        "draws": 4000,
        "code": SimpleNamespace(make=None),
        "as_epsilon": Epsilon(1.0),
        "seconds_left": None,
        "seed": 0,
        "transcript": None,
        "pairs": [Pair([0.0], [1.0], i) for i in range(5)],
    }
    return SimpleNamespace(target=CallableTarget(mechanism or (lambda data, rng: 0.0)), **(given | more))


@pytest.mark.parametrize(
    ("more", "pairs", "expected"),
    [
        ({}, 1, Allowance(24, 440, None)),
        ({}, 3, Allowance(24, 146, None)),
        ({"draws": 100}, 1, Allowance(3, 11, None)),
        ({"draws": 300}, 1, Allowance(13, 33, None)),
        ({"as_epsilon": Epsilon(2.0)}, 1, Allowance(55, 440, None)),
        ({"code": SimpleNamespace(make=len)}, 1, Allowance(24, 408, None)),
        ({"code": SimpleNamespace(make=len), "draws": 600}, 1, Allowance(20, 38, None)),
        ({"seconds_left": 100.0}, 2, Allowance(24, 220, pytest.approx(5.5))),
    ],
)
def test_about_a_tenth_of_an_audit_may_go_into_lints(more: dict[str, Any], pairs: int, expected: Allowance) -> None:
    assert module._allowance(run_of(**more), pairs) == expected


def test_three_pairs_are_looked_at_and_the_dearest_transcript_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    costs = {0: None, 1: 0.5, 2: 0.25}

    def inspected(run: Any, target: Any, pair: Pair, allowance: Allowance) -> _Seen:
        asked.append(pair.index)
        cost = costs[pair.index]
        found = [Finding("a", f"on {pair.index}"), Finding("b" * (pair.index + 1), "more")]
        return _Seen(found, None if cost is None else SimpleNamespace(rho=cost))  # type: ignore[arg-type]

    monkeypatch.setattr(module, "_inspected", inspected)
    run = run_of()
    found = module.inspected(run)
    assert asked == [0, 1, 2]
    assert [f.kind for f in found] == ["a", "b", "bb", "bbb"]
    assert found[0].message == "on 0"
    assert run.transcript.rho == 0.5
    elsewhere = run_of()
    elsewhere.target = SimpleNamespace()
    assert module.inspected(elsewhere) == []


def test_the_python_mechanism_inside_a_target() -> None:
    inner = CallableTarget(lambda data, rng: 0.0)
    assert module._python(inner) == (inner, False)
    assert module._python(SimpleNamespace(inner=inner)) == (inner, False)  # type: ignore[arg-type]
    isolated: Any = object.__new__(IsolatedTarget)
    object.__setattr__(isolated, "inner", inner)
    assert module._python(SimpleNamespace(inner=isolated)) == (inner, True)  # type: ignore[arg-type]
    assert module._python(None) == (None, False)


@pytest.mark.parametrize(
    ("error", "told"),
    [(TargetError("it is gone"), "it is gone"), (MechanismTimeout(), "a call did not return")],
)
def test_lints_that_cannot_be_run_apart_are_a_finding(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(work: Any, timeout: Any) -> Any:
        raise error

    monkeypatch.setattr(module, "in_child", fails)
    run = run_of()
    (found,) = module._apart(run, run.target, run.pairs[0], Allowance(3)).findings
    assert (found.kind, found.message) == ("not-inspected", f"the lints could not be run: {told}")
    monkeypatch.setattr(module, "in_child", lambda work, timeout: _Seen([]))
    assert module._apart(run, run.target, run.pairs[0], Allowance(3)) == _Seen([])


def test_what_fails_only_when_it_is_watched_is_not_accused() -> None:
    def plain_only(data: list[float], rng: np.random.Generator) -> float:
        if type(rng.laplace()) is not float:
            raise TypeError("watched")
        return data[0]

    run = run_of(plain_only)
    (found,) = module._inspected(run, run.target, run.pairs[0], Allowance(3)).findings
    assert (found.kind, found.message) == ("not-inspected", "watched calls fail (TypeError), others do not")
    assert list(run.target.noticed.raised) == [0, 0]

    def always(data: list[float], rng: np.random.Generator) -> float:
        raise KeyError("always")

    run = run_of(always)
    assert "not-inspected" not in [
        f.kind for f in module._inspected(run, run.target, run.pairs[0], Allowance(3)).findings
    ]
