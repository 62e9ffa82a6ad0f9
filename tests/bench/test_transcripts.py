"""What worst-case transcripts spend of the certified ε."""

from __future__ import annotations

from fractions import Fraction

import pytest

from audit.accounting.accountants import account
from bench import transcripts
from bench.transcripts import EPSILON, Case, cases, spent

DELTA = Fraction(1, 100)
NEEDED = {"Algorithm 2": 0.9, "Algorithm 3": 0.7, "Algorithm 4": 0.7, "Algorithm 5": 0.9, "Algorithm 6": 0.9}


@pytest.fixture(autouse=True)
def _fewer_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "SELECTIONS", 60)


def share(case: Case) -> float:
    profile = account(case.algorithm, "tight", EPSILON, DELTA, **case.parameters).profile
    assert profile is not None
    return spent(case, DELTA) / profile.certified_epsilon(DELTA)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.night] * (name == "Algorithm 6")) for name in NEEDED]
)
def test_the_certified_loss_is_nearly_spent_and_never_exceeded(name: str) -> None:
    found = [share(case) for case in cases(DELTA) if case.name == name]
    assert max(found) <= 1 + 1e-8
    assert max(found) >= NEEDED[name]


def test_half_the_noise_would_exceed_what_is_certified() -> None:
    """A positive control: the algorithm for twice the ε, held against the certificate for ε."""
    (case,) = [c for c in cases(DELTA) if c.name == "Algorithm 5"]
    loud = Case(case.name, case.algorithm, _twice, case.pair, case.parameters)
    assert share(loud) > 1.5


def _twice(data, tape):  # type: ignore[no-untyped-def]
    return transcripts.fast.noisy_sfw_tight(
        transcripts.Linear(p=2), transcripts.Box([-1], [1]), data, 3, 2, 2 * EPSILON, DELTA, tape
    )
