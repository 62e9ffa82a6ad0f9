"""The learner behind every score, against a general minimiser and against sums written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import linalg, optimize, special

from audit.auditor.learn import logistic as module
from audit.auditor.learn.logistic import LogisticFit, fit_best, fit_logistic, predict


def sample(rows: int = 300, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """A design, how many of how many draws of each row have label 1, and a penalty."""
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    counts = rng.integers(1, 6, rows).astype(float)
    ones = rng.binomial(counts.astype(int), special.expit(design @ [0.3, 1.0, -0.5])).astype(float)
    return design, ones, counts, np.array([0.1, 2.0, 30.0])


def objective(beta: Any, design: Any, ones: Any, counts: Any, penalty: Any) -> float:
    logit = design @ beta
    return float(np.sum(counts * np.log1p(np.exp(logit)) - ones * logit) + 0.5 * penalty @ beta**2)


def test_the_objective_is_the_log_loss_and_half_the_penalty() -> None:
    given = sample()
    beta = np.array([0.4, -0.2, 0.7])
    design, ones, counts, penalty = given
    assert module._objective(design @ beta, ones, counts, penalty, beta) == pytest.approx(objective(beta, *given))


def test_a_fit_is_the_minimum_with_its_covariance_and_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOLERANCE", 1e-9)
    design, ones, counts, penalty = sample()
    fit = fit_logistic(design, ones, counts, penalty)
    best = optimize.minimize(objective, np.zeros(3), (design, ones, counts, penalty), tol=1e-10).x
    assert fit.weights == pytest.approx(best, abs=2e-4)
    p = special.expit(design @ best)
    hessian = (design * (counts * p * (1 - p))[:, None]).T @ design + np.diag(penalty)
    covariance = np.linalg.inv(hessian)
    assert fit.covariance == pytest.approx(covariance, rel=1e-3, abs=1e-7)
    evidence = -objective(best, design, ones, counts, penalty) + 0.5 * np.log(penalty).sum()
    evidence -= 0.5 * np.linalg.slogdet(hessian)[1]
    assert fit.evidence == pytest.approx(evidence, abs=1e-2)
    rows = design[:5]
    assert fit.errors(rows) == pytest.approx(np.sqrt(np.einsum("ij,jk,ik->i", rows, covariance, rows)), rel=1e-3)
    assert predict(rows.astype(np.float32), best) == pytest.approx(rows @ best, abs=1e-6)


def test_steps_end_early_where_they_gain_little() -> None:
    design, ones, counts, penalty = sample()
    value = objective(np.zeros(3), design, ones, counts, penalty)
    once = fit_logistic(design, ones, counts, penalty, steps=1)
    full = fit_logistic(design, ones, counts, penalty)
    gains = [value - objective(f.weights, design, ones, counts, penalty) for f in (once, full)]
    assert 0 < gains[0] < gains[1]
    assert gains[1] - gains[0] > module.TOLERANCE  # one step was not enough
    again = fit_logistic(design, ones, counts, penalty, start=full.weights)
    assert again.weights == pytest.approx(full.weights, abs=0.05)


def test_a_separable_sample_ends_at_the_penalised_optimum() -> None:
    x = np.linspace(-1, 1, 41)
    design, ones = np.column_stack([np.ones(41), x]), (x > 0).astype(float)
    penalty = np.array([1e-3, 1e-2])
    fit = fit_logistic(design, ones, np.ones(41), penalty)
    best = optimize.minimize(objective, np.zeros(2), (design, ones, np.ones(41), penalty), tol=1e-10)
    assert objective(fit.weights, design, ones, np.ones(41), penalty) <= best.fun + module.TOLERANCE


def test_the_likeliest_strength_is_taken_from_the_strongest_down() -> None:
    design, ones, counts, penalty = sample()
    fixed, strengths = np.array([0.05, 0.0, 0.0]), (0.01, 1.0, 100.0, 0.1, 10.0)
    found, strength = fit_best(design, ones, counts, penalty, fixed, strengths)
    evidence = {s: fit_logistic(design, ones, counts, penalty * s + fixed).evidence for s in strengths}
    assert strength == max(evidence, key=lambda s: evidence[s])
    assert found.evidence == pytest.approx(evidence[strength], abs=0.3)
    alone = fit_logistic(design, ones, counts, penalty * strength + fixed)
    assert found.weights == pytest.approx(alone.weights, abs=0.05)


def test_a_large_design_is_thinned_for_the_strength_and_fitted_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def watched(design: Any, *rest: Any, **more: Any) -> LogisticFit:
        seen.append(len(design))
        return fit_logistic(design, *rest, **more)

    monkeypatch.setattr(module, "fit_logistic", watched)
    monkeypatch.setattr(module, "MANY_ENTRIES", 300)
    design, ones, counts, penalty = sample(200)
    assert module._thinning(design) == 2
    fit_best(design, ones, counts, penalty, np.zeros(3), (1.0, 0.1))
    assert seen[:-1] == [100] * (len(seen) - 1)
    assert seen[-1] == 200
    seen.clear()
    fit_best(design[:100], ones[:100], counts[:100], penalty, np.zeros(3), (1.0, 0.1))
    assert set(seen) == {100}
    assert module._thinning(design[:50]) == 1


def test_a_matrix_that_is_not_definite_gets_a_ridge() -> None:
    broken = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-9]])
    factor, lower = module._factor(broken)
    upper = np.triu(factor)
    assert not lower
    assert upper.T @ upper == pytest.approx(broken + 1e-6 * np.eye(2), abs=1e-12)
    good = np.array([[2.0, 0.5], [0.5, 1.0]])
    assert linalg.cho_solve(module._factor(good), good) == pytest.approx(np.eye(2))
    worse = np.array([[1.0, 1.001], [1.001, 1.0]])
    assert math.isclose(np.triu(module._factor(worse)[0])[0, 0] ** 2, 1 + 1e-2, rel_tol=1e-6)
