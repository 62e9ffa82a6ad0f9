"""Tests of audits from one training run."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from scipy import optimize, special, stats

from audit.auditor.one_run import (
    audit_one_run,
    one_run_lower_bound,
    one_run_p_value,
    refuted,
    with_canaries,
)
from audit.auditor.terms.claim import GDP, ZCDP, Claim, Epsilon
from bench import claims


def by_definition(epsilon: float, delta: float, m: int, r: int, v: int) -> float:
    """The published bound, term by term."""
    law = stats.binom(r, math.exp(epsilon) / (1 + math.exp(epsilon)))
    steep = max(sum(law.pmf(j) for j in range(v - i, v)) / i for i in range(1, v + 1))
    return min(1.0, float(law.sf(v - 1) + 2 * m * delta * steep))


@pytest.mark.parametrize(("m", "r", "v"), [(100, 100, 60), (1000, 100, 81), (500, 20, 20), (50, 50, 1)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 1e-5), (0.5, 1e-3)])
def test_for_epsilon_it_is_the_published_formula(m: int, r: int, v: int, epsilon: float, delta: float) -> None:
    assert one_run_p_value(Epsilon(epsilon, delta), m, r, v) == pytest.approx(
        by_definition(epsilon, delta, m, r, v), rel=1e-9, abs=1e-15
    )


def by_linear_programme(mu: float, m: int, r: int, v: int) -> float:
    """The largest P(w ≥ v) over all laws of w that meet all constraints, the convex ones replaced by tangents."""
    half = np.geomspace(1e-8, 0.5, 160)
    x = np.concatenate([half, 1 - half])
    z = special.ndtri(x)
    height, slope = special.ndtr(z - mu), np.exp(z * mu - mu**2 / 2)
    j, rows, limits = np.arange(r + 1), [], []
    for i in range(r):
        wrong, right = np.where(j >= i, (r - j) / m, 0), np.where(j >= i + 1, j / m, 0)
        rows.append(slope[:, None] * right - wrong)
        limits.append(slope * x - height)
    found = optimize.linprog(
        -(j >= v).astype(float),
        A_ub=np.concatenate(rows),
        b_ub=np.concatenate(limits),
        A_eq=np.ones((1, r + 1)),
        b_eq=[1],
        bounds=(0, 1),
    )
    return float(-found.fun)


@pytest.mark.parametrize(
    ("mu", "m", "r", "v"), [(1.0, 10, 10, 9), (0.5, 20, 20, 15), (1.0, 30, 10, 9), (2.0, 20, 12, 12)]
)
def test_the_recursion_is_the_best_that_the_constraints_allow(mu: float, m: int, r: int, v: int) -> None:
    found, best = one_run_p_value(GDP(mu), m, r, v), by_linear_programme(mu, m, r, v)
    assert found == pytest.approx(best, rel=5e-3)
    assert found >= stats.binom.sf(v - 1, r, stats.norm.cdf(mu / 2))  # independent canaries, all guessed by the sign


@pytest.mark.parametrize("claim", [Epsilon(1.0), Epsilon(1.0, 1e-4), GDP(0.8)], ids=str)
def test_the_bound_inverts_the_test(claim: Claim) -> None:
    bound = one_run_lower_bound(claim, 400, 400, 330, 0.05)
    assert bound > 0
    assert one_run_p_value(claim.at(bound), 400, 400, 330) <= 0.05
    assert one_run_p_value(claim.at(bound + 1e-4), 400, 400, 330) > 0.05
    assert one_run_lower_bound(claim, 400, 400, 200, 0.05) == 0.0


def runs(m: int, reps: int, seed: int) -> Any:
    """Randomised response at ε = 1 and Gaussian sums at μ = 1, one score a canary."""
    rng = np.random.default_rng(seed)
    for _ in range(reps):
        included = rng.integers(0, 2, m) == 1
        kept = rng.random(m) < special.expit(1.0)
        yield included, np.where(kept, included, ~included).astype(float), included + rng.normal(size=m)


def test_false_alarms_at_the_exact_claims() -> None:
    """At level 0.05, on mechanisms that use their claim up: no more than 1e-7 allows; a smaller claim is refuted."""
    reps, m = 300, 200
    wrong = {"response": 0, "gauss": 0}
    refuted = 0
    for included, response, _ in runs(m, reps, 1):
        wrong["response"] += audit_one_run(response, included, epsilon=1.0, confidence=0.95).violated
        refuted += audit_one_run(response, included, epsilon=0.3, confidence=0.95).violated
    for included, _, gauss in runs(m, 60, 2):
        wrong["gauss"] += audit_one_run(gauss, included, mu=1.0, confidence=0.95).violated
    assert wrong["response"] <= stats.binom.isf(1e-7, reps, 0.05)
    assert wrong["gauss"] <= stats.binom.isf(1e-7, 60, 0.05)
    assert refuted > reps / 2


def test_a_correlated_mechanism_keeps_the_level_too() -> None:
    """One coin with probability δm reveals everything: what the term in δ is for."""
    rng = np.random.default_rng(3)
    m, delta, wrong, reps = 100, 2e-4, 0, 2000
    chance = 0
    for _ in range(reps):
        shown = rng.random() < delta
        chance += shown
        wrong += one_run_p_value(Epsilon(0.0, delta), m, m, 100 if shown else int(rng.binomial(m, 0.5))) <= 0.05
    assert wrong <= stats.binom.isf(1e-7, reps, 0.05)


def test_more_canaries_say_more() -> None:
    found = []
    for m in (200, 1000, 5000):
        included, response, _ = next(runs(m, 1, 5))
        found.append(audit_one_run(response, included, epsilon=0.5).lower)
    assert found[0] < found[1] < found[2] <= 1


def test_a_result_says_what_was_guessed() -> None:
    included, response, _ = next(runs(1000, 1, 6))
    result = audit_one_run(response, included, epsilon=0.4, delta=1e-6)
    assert (result.mode, result.samples, result.relation) == ("one-run", 1000, "add-remove")
    assert result.right <= result.selected <= 1000
    assert f"{result.selected} surest" in str(result)
    assert result.violated
    assert len(re.findall("<svg", result.to_html())) == 2
    few = audit_one_run(response[:30], included[:30], epsilon=1.0)
    assert few.verdict == "inconclusive"


def test_a_run_has_bounds_in_both_currencies() -> None:
    """They are those of the best option, each in its own currency; others cannot be had from one run."""
    included, _, gauss = next(runs(5000, 1, 7))
    result = audit_one_run(gauss, included, mu=0.1, confidence=0.95)
    assert result.lower_in("mu") == result.lower > 0
    assert 0 < result.lower_in("epsilon", delta=1e-5) <= result.lower_in("epsilon", delta=0.0)
    other = audit_one_run(gauss, included, epsilon=0.1, delta=1e-5, confidence=0.95)
    assert other.lower == result.lower_in("epsilon", delta=1e-5)
    assert other.lower_in("mu") == result.lower
    with pytest.raises(ValueError, match="cannot be audited from one run yet"):
        result.lower_in("rho")


def test_a_delta_that_no_number_of_guesses_refutes_is_said() -> None:
    """With probability mδ a mechanism may tell everything: a level far below that is out of reach for any m."""
    included, response, _ = next(runs(5000, 1, 7))
    result = audit_one_run(response, included, epsilon=0.5, delta=1e-4, confidence=1 - 1e-6)
    assert result.verdict == "inconclusive"
    assert "a smaller δ, less confidence or more canaries" in str(result)


def test_bad_input_is_one_line() -> None:
    included = [True, False] * 50
    with pytest.raises(ValueError, match="score 3 is NaN"):
        audit_one_run([0.0, 1.0, 2.0, math.nan] + [0.0] * 96, included, epsilon=1.0)
    with pytest.raises(ValueError, match="99 scores and 100 entries of included"):
        audit_one_run([0.0] * 99, included, epsilon=1.0)
    with pytest.raises(ValueError, match="included is True everywhere"):
        audit_one_run([0.0] * 100, [True] * 100, epsilon=1.0)
    with pytest.raises(ValueError, match="at least 20 are needed"):
        audit_one_run([0.0] * 10, included[:10], epsilon=1.0)
    with pytest.raises(ValueError, match="seed = -1 must be a whole number"):
        audit_one_run([0.0] * 100, included, epsilon=1.0, seed=-1)
    with pytest.raises(ValueError, match="cannot be audited from one run yet"):
        audit_one_run([0.0] * 100, included, claim=ZCDP(1.0))


def test_canaries_join_the_data_by_fair_coins() -> None:
    rng = np.random.default_rng(8)
    X, y, included = with_canaries(np.zeros((5, 2)), np.zeros(5), np.ones((4000, 2)), np.ones(4000), rng)
    assert len(X) == len(y) == 5 + included.sum()
    assert X[5:].min() == 1
    assert abs(int(included.sum()) - 2000) < 200  # six standard deviations
    with pytest.raises(ValueError, match="they must be alike"):
        with_canaries(np.zeros((5, 2)), np.zeros(5), np.ones((3, 3)), np.ones(3), rng)
    with pytest.raises(ValueError, match="rng = 5 must be a generator"):
        with_canaries(np.zeros((5, 2)), np.zeros(5), np.ones((3, 2)), np.ones(3), 5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one label each"):
        with_canaries(np.zeros((5, 2)), np.zeros(4), np.ones((3, 2)), np.ones(3), rng)


@pytest.mark.parametrize(
    ("shift", "corners", "epsilon", "n", "k", "sharper", "n_sharper", "k_sharper"),
    [
        (1.0, 386, 1.13346, 3376, 2807, 2.164749, 406, 379),
        (2.0, 374, 2.311945, 4666, 4499, 4.7218075, 938, 934),
        (4.0, 140, 4.395568, 8233, 8223, 9.133752, 5436, 5436),
    ],
)
def test_bounds_are_those_published_elsewhere(
    shift: float, corners: int, epsilon: float, n: int, k: int, sharper: float, n_sharper: int, k_sharper: int
) -> None:
    """JAX-Privacy's tests say what ε is at least, by both formulas, for scores that are quantiles of normal laws.

    `bench.claims`, part "published", looks at all the thresholds that are tried there; here it is the best one.
    """
    tried = claims.guesses(shift)
    assert len(tried) == corners
    assert {(n, k), (n_sharper, k_sharper)} <= set(tried)
    level, m = claims.PUBLISHED_LEVEL / corners, 2 * claims.EACH
    ours = one_run_lower_bound(Epsilon(0.0, claims.PUBLISHED_DELTA), m, n, k, level)
    assert ours == pytest.approx(epsilon, abs=1e-5)
    mu = one_run_lower_bound(GDP(0.0), m, n_sharper, k_sharper, level)
    delta = special.ndtr(mu / 2 - sharper / mu) - math.exp(sharper) * special.ndtr(-mu / 2 - sharper / mu)
    assert delta == pytest.approx(claims.PUBLISHED_DELTA, rel=1e-4)


@pytest.mark.parametrize("claim", [Epsilon(0.6, 1e-5), GDP(0.5)], ids=str)
def test_what_is_refuted_is_what_has_a_small_p_value(claim: Claim) -> None:
    for right in range(220, 300, 4):
        p = one_run_p_value(claim, 500, 400, right)
        for level in (0.2, 0.01, 1e-4):
            assert refuted(claim, 500, 400, right, level) == (p <= level)
    assert not refuted(claim, 500, 400, 0, 0.5)


@pytest.mark.parametrize(("guesses", "level"), [(10, 0.05), (100, 0.05), (1000, 0.05), (1000, 0.001)])
def test_where_every_guess_is_right_the_bound_is_the_closed_form(guesses: int, level: float) -> None:
    """P(Bin(r, q) ≥ r) = q^r, so the published bound at δ = 0 is ε with (e^ε/(1+e^ε))^r = level."""
    rate = level ** (1 / guesses)
    closed = math.log(rate / (1 - rate))
    assert one_run_lower_bound(Epsilon(0.0), guesses, guesses, guesses, level) == pytest.approx(closed, abs=1e-6)
