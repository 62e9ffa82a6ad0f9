"""Ridge-penalised logistic regression by Newton's method: the one learner behind every score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

Array = np.ndarray


TOLERANCE = 0.1
"""Newton's method stops when a step gains less than this in total log-loss: chosen; it decides power only."""


MANY_ENTRIES = 2_000_000
"""Entries of a design beyond which the strength of the penalty is chosen on a part of its rows: chosen for speed."""


@dataclass(frozen=True)
class LogisticFit:
    """Coefficients, their approximate covariance (the inverse Hessian) and the log evidence."""

    weights: Array
    covariance: Array
    evidence: float

    def errors(self, design: Array) -> Array:
        """The standard error of the log-odds of each row."""
        spread = design @ self.covariance.astype(np.float32)
        return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", spread, design), 0.0)), dtype=float)


def fit_logistic(
    design: Array,
    ones: Array,
    counts: Array,
    penalty: Array,
    steps: int = 15,
    start: Array | None = None,
) -> LogisticFit:
    """Minimise Σ log-loss + ½ Σ penalty_j β_j², where row i stands for counts_i draws, ones_i of them of label 1.

    Newton steps with halving: the objective never rises, so a separable sample ends at the penalised optimum. Single
    precision is enough for a score, and halves the time.
    """
    beta = np.zeros(design.shape[1]) if start is None else start
    single = design.astype(np.float32, copy=False)
    logit = predict(single, beta)
    value = _objective(logit, ones, counts, penalty, beta)
    for _ in range(steps):
        probability = special.expit(logit)
        gradient = single.T @ (counts * probability - ones).astype(np.float32) + penalty * beta
        weight = np.maximum(counts * probability * (1 - probability), 1e-9)
        scaled = single * np.sqrt(weight)[:, None].astype(np.float32)
        hessian = (scaled.T @ scaled).astype(float)
        hessian[np.diag_indices_from(hessian)] += penalty + 1e-6 * np.diag(hessian).max() + 1e-9
        step = linalg.cho_solve(_factor(hessian), gradient, check_finite=False)
        moved = predict(single, step)
        scale, previous = 1.0, value
        while scale > 1e-4:
            value = _objective(logit - scale * moved, ones, counts, penalty, beta - scale * step)
            if value <= previous:
                break
            scale /= 2
        else:
            break
        beta, logit = beta - scale * step, logit - scale * moved
        if previous - value < TOLERANCE:
            break
    factor = _factor(hessian)
    covariance = linalg.cho_solve(factor, np.eye(len(hessian)), check_finite=False)
    return LogisticFit(beta, covariance, _evidence(value, penalty, factor))


def _factor(hessian: Array) -> tuple[Array, bool]:
    """The Cholesky factor; where rounding has made the matrix indefinite, of it with as much added as that takes."""
    ridge = 0.0
    while True:
        try:
            factor, lower = linalg.cho_factor(hessian + ridge * np.eye(len(hessian)), check_finite=False)
            return factor, lower
        except linalg.LinAlgError:
            ridge = max(10 * ridge, 1e-6 * float(np.abs(np.diag(hessian)).max()))


def predict(design: Array, beta: Array) -> Array:
    """The log-odds of each row; the design is in single precision, the sum is handed on in double."""
    return np.asarray(design @ beta.astype(np.float32), dtype=float)


def _evidence(value: float, penalty: Array, factor: tuple[Array, bool]) -> float:
    """Laplace's approximation of the log marginal likelihood: how well this penalty predicts the labels."""
    return -value + 0.5 * float(np.sum(np.log(penalty))) - float(np.sum(np.log(np.diag(factor[0]))))


def fit_best(
    design: Array, ones: Array, counts: Array, penalty: Array, fixed: Array, strengths: Sequence[float]
) -> tuple[LogisticFit, float]:
    """The fit whose multiple of the penalty, plus the fixed one, has the largest evidence, and that multiple.

    From the strongest penalty down, each fit starting from the one before, until the evidence falls.
    """
    rows = slice(None) if design.shape[1] * len(design) <= MANY_ENTRIES else slice(None, None, _thinning(design))
    part = design[rows]
    best: tuple[LogisticFit, float] | None = None
    for strength in sorted(strengths, reverse=True):
        start = best[0].weights if best else None
        fit = fit_logistic(part, ones[rows], counts[rows], penalty * strength + fixed, start=start)
        if best is not None and fit.evidence <= best[0].evidence:
            break
        best = fit, strength
    assert best is not None
    if len(part) < len(design):
        best = fit_logistic(design, ones, counts, penalty * best[1] + fixed, start=best[0].weights), best[1]
    return best


def _thinning(design: Array) -> int:
    return max(1, int(design.shape[1] * len(design) / MANY_ENTRIES))


def _objective(logit: Array, ones: Array, counts: Array, penalty: Array, beta: Array) -> float:
    loss = np.sum(counts * np.logaddexp(0.0, logit) - ones * logit)
    return float(loss) + 0.5 * float(penalty @ (beta * beta))
