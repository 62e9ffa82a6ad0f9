"""Tests of claims: what they refuse, what they say, and that every mode of an audit takes every kind."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import special

from audit.auditor.api import audit_dp
from audit.auditor.terms.claim import GDP, RDP, ZCDP, Claim, Epsilon, Profile, TradeOff, claimed
from audit.auditor.terms.result import AuditResult, ShortRule

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: GDP(-1), "mu = -1 must be a finite number ≥ 0"),
    (lambda: GDP(math.inf), "an infinite μ claims nothing"),
    (lambda: GDP(math.nan), "mu = nan must be a finite number"),
    (lambda: GDP("1"), "mu = '1' is a str: give a number"),  # type: ignore[arg-type]
    (lambda: ZCDP(-0.1), "rho = -0.1 must be a finite number ≥ 0"),
    (lambda: RDP(1, 0.5), "alpha = 1 must be a finite order > 1"),
    (lambda: RDP({2: 0.1, 0.5: 1}), "alpha = 0.5 must be a finite order > 1"),
    (lambda: RDP(math.inf, 1), "alpha = inf must be a finite order > 1"),
    (lambda: RDP([8, 16], [1, 2]), "alpha = .8, 16. is a list: give a number"),  # type: ignore[arg-type]
    (lambda: RDP(8), "RDP needs an order and its ε"),
    (lambda: RDP({}), "has no order: give at least one"),
    (lambda: RDP(8, -1), "must be a finite number ≥ 0"),
    (lambda: Epsilon(1, 1), "delta = 1 must be in"),
    (lambda: Profile({1e-5: 1.0, 1e-3: 1.2}), "the profile is not decreasing"),
    (lambda: Profile({1e-3: 1.0, 1e-2: 0.999, 0.5: 0.0}), "the profile is not convex: δ = 0.01 at ε = 0.999"),
    (lambda: Profile({1e-5: math.nan, 1e-3: 1.0}), "the profile has ε = nan at δ = 1e-05: it must be ≥ 0"),
    (lambda: Profile({1e-5: -1.0}), "the profile has ε = -1.0 at δ = 1e-05: it must be ≥ 0"),
    (lambda: Profile({2.0: 1.0}), "the profile has δ = 2.0"),
    (lambda: Profile({math.nan: 1.0}), "the profile has δ = nan"),
    (lambda: Profile({1e-5: math.inf}), "no finite ε: it claims nothing"),
    (lambda: Profile({}), "the profile has no rows"),
    (lambda: Profile(5), "must be a table, function or distribution"),
    (lambda: TradeOff(5), "f = 5 must be a function of the type I error"),  # type: ignore[arg-type]
    (lambda: TradeOff(lambda a: a), "0 ≤ f.a. ≤ 1 − a must hold"),
    (lambda: TradeOff(lambda a: 0.1 * np.sin(3 * a) * (a < 1) * (1 - a)), "it must be decreasing"),
    (lambda: TradeOff(lambda a: 0.5 * (1 - a**2) * (a < 1 / 2) * 0.5), "it must be convex"),
    (lambda: claimed(None), "nothing is claimed"),
    (lambda: claimed(None, epsilon=1, mu=1), "epsilon and mu are claimed: give one of"),
    (lambda: claimed(None, mu=1, delta=1e-5), "delta = 1e-05 goes with epsilon="),
    (lambda: claimed(5), "is no claim: give Epsilon"),  # type: ignore[arg-type]
    (lambda: claimed(GDP), "GDP has no number yet: write claim=GDP"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_makes_no_sense_is_one_line(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        make()
    assert "\n" not in str(error.value)


def gaussian(deviation: float) -> Callable[..., Any]:
    """A mechanism with μ = 1/deviation, its outputs on a grid."""
    return lambda data, size, rng: np.round((data[0] + deviation * rng.normal(size=size)) * 2**20) / 2**20


def _errors(a: Any) -> Any:
    return special.ndtr(-special.ndtri(a) - 1)


TRUE: list[Claim] = [
    Epsilon(2.0, 0.09),
    GDP(1.0),
    ZCDP(0.5),
    RDP(4, 2.0),
    RDP({2: 1.0, 8: 4.0}),
    Profile({1e-5: 4.378, 1e-3: 3.139, 0.1: 1.161}),
    TradeOff(_errors, name="G(1)"),
]
"""What N(0, 1) against N(1, 1) keeps."""


@pytest.mark.parametrize(
    "claim", [pytest.param(c, marks=[pytest.mark.night] * (c in TRUE[2:4]), id=str(c)) for c in TRUE]
)
def test_every_mode_takes_every_claim(claim: Claim, tmp_path: Path) -> None:
    """Half of the noise is found fixed, anytime and in a run that is kept; kept and resumed it is the same result.

    What keeps the claim is refuted with probability at most 1e-6 an audit.
    """
    asked: dict[str, Any] = {"claim": claim, "samples": 4000, "seed": 3, "lints": False, "confidence": 1 - 1e-6}
    bad, good = gaussian(0.5), gaussian(1.0)

    def seen(**more: Any) -> AuditResult:
        return audit_dp(bad, [0.0], [1.0], **asked, **more)

    fixed = seen()
    assert fixed.violated
    assert fixed.lower > claim.number
    assert seen(anytime=True).violated
    kept = [seen(out=tmp_path / "run"), seen(out=tmp_path / "run", resume=True)]
    assert [(r.lower, r.p_value) for r in kept] == [(fixed.lower, fixed.p_value)] * 2
    for anytime in (False, True):
        assert not audit_dp(good, [0.0], [1.0], **asked, anytime=anytime).violated


@pytest.mark.parametrize("deviation", [1.0, 2.0])
def test_an_event_that_says_something_is_tested_where_a_curve_holds(deviation: float) -> None:
    """The event that comes nearest to breaking f in numbers hardly ever happens: nothing follows from it, and the
    verdict used to be inconclusive.
    """
    result = audit_dp(gaussian(deviation), [0.0], [1.0], claim=TRUE[-1], samples=3000, lints=False, confidence=0.99)
    assert result.verdict == "consistent"
    assert result.selected > 100


def test_a_distribution_of_an_accountant_is_a_profile() -> None:
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    claim = Profile(pld.from_gaussian_mechanism(1.0))
    rows = dict(claim.rows)
    exact = special.ndtr(0.5 - rows[1e-3]) - math.exp(rows[1e-3]) * special.ndtr(-0.5 - rows[1e-3])
    assert exact == pytest.approx(1e-3, rel=1e-3)
    asked: dict[str, Any] = {"claim": claim, "samples": 4000, "lints": False, "confidence": 1 - 1e-6}
    found = [audit_dp(gaussian(z), [0.0], [1.0], **asked) for z in (0.5, 1.0)]
    assert [r.violated for r in found] == [True, False]


def test_a_finding_contradicts_a_profile_too() -> None:
    """The watched noise is worth more than the profile's row, which so few draws do not refute."""
    claim = Profile({1e-5: 4.378, 1e-3: 3.139})
    result = audit_dp(lambda data, rng: data[0] + 0.5 * rng.normal(), [0.0], [1.0], claim=claim, samples=150)
    assert result.verdict == "suspect"
    assert "sensitivity" in {finding.kind for finding in result.findings}


def test_a_bound_below_a_curve_is_said_in_words() -> None:
    assert Profile({1e-5: 2.0}).bound_as_text(0.25) == "the claimed ε(δ) plus 0.25"
    assert Profile({1e-5: 2.0}).bound_as_text(-1.5) == "the claimed ε(δ) less 1.5"
    assert TradeOff(lambda a: 1 - a, name="f").bound_as_text(-0.5) == "that of a type II error 0.5 above f"


@pytest.mark.parametrize(
    ("claim", "cost"),
    [(Epsilon(1.0), "ε = 2"), (Epsilon(1.0, 1e-5), "ε = 2"), (GDP(1.0), "μ = 2"), (ZCDP(1.0), "ρ = 4")],
)
def test_what_a_replaced_record_costs_if_it_is_two_steps(claim: Claim, cost: str) -> None:
    """By the triangle inequality of ε and μ twice the claim; ρ is half of μ² for Gaussian noise: four times."""
    factor = float(cost[-1])

    def said(lower: float, relation: str) -> str:
        numbers = ("violated", lower, 0.0, 0.95, 100, "event", 1e-9, math.inf, 0, 1.0)
        return str(AuditResult(*numbers, claim=claim, lower=lower, relation=relation))

    assert f"which may cost {cost}:" in said(0.99 * factor, "replace-one")
    assert "which may cost" not in said(1.01 * factor, "replace-one")
    assert "which may cost" not in said(0.99 * factor, "add-remove")


@pytest.mark.parametrize(("lower", "said"), [(0.0, "of 20 test draws)"), (0.5, "of 20 test draws, ε = 0.5 by itself)")])
def test_a_short_rule_says_what_it_gives_where_that_is_something(lower: float, said: str) -> None:
    result = AuditResult(
        "consistent", 0.1, 0.0, 0.95, 100, "x > 1", 1.0, math.inf, 0, 1.0, claim=Epsilon(1.0), lower=0.1
    )
    result.rule = ShortRule("x > 1", 20, 15, lower)
    assert f"Event: x > 1 (right for 15 {said}." in str(result)
