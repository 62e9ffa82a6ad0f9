"""Correct code as people write it: watching it neither breaks it nor finds anything; with too little noise it does."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

from audit.auditor.lints.look import inspected
from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import CallableTarget, Pair
from audit.auditor.terms.claim import Epsilon
from bench.foreign import inspect_alone

Rng = np.random.Generator


def private_sgd(scale: float) -> Any:
    def mechanism(data: Any, rng: Rng) -> Any:
        X, y = data
        w = 0.01 * rng.standard_normal(X.shape[1])
        for _ in range(3):
            total = np.zeros(X.shape[1])
            for i in np.where(rng.random(len(X)) < 0.5)[0]:
                gradient = (X[i] @ w - y[i]) * X[i]
                total += gradient / max(1.0, float(np.linalg.norm(gradient)))
            w = w - 0.1 * (total + rng.normal(0, 8 * scale, size=len(w))) / (0.5 * len(X))
        return w

    return mechanism


def objective_perturbation(scale: float) -> Any:
    def mechanism(data: Any, rng: Rng) -> Any:
        X, y = data
        direction = rng.normal(size=X.shape[1])
        b = scale * rng.gamma(2, 4) * direction / np.linalg.norm(direction)

        def loss(w: Any) -> float:
            return float(np.mean(np.log1p(np.exp(-y * (X @ w)))) + 0.5 * w @ w + b @ w / len(X))

        return scipy.optimize.minimize(loss, np.zeros(X.shape[1])).x

    return mechanism


def output_perturbation(scale: float) -> Any:
    def mechanism(data: Any, rng: Rng) -> Any:
        X, y = data
        w = np.linalg.solve(X.T @ X + np.eye(X.shape[1]), X.T @ y)
        noisy = [value + random.gauss(0, 9 * scale) for value in w]
        return np.concatenate([noisy, np.atleast_1d(rng.laplace(y.sum(), 20 * scale))])

    return mechanism


def newton(scale: float) -> Any:
    def mechanism(data: Any, rng: Rng) -> Any:
        X, y = data
        H = X.T @ X + 20 * np.eye(X.shape[1])
        E = rng.normal(0, 30 * scale, H.shape)
        return np.linalg.lstsq(H + (E + E.T) / 2, X.T @ y + rng.normal(0, 12 * scale, len(H)), rcond=None)[0]

    return mechanism


def shuffled_epochs(scale: float) -> Any:
    def mechanism(data: Any, _rng: Rng) -> Any:
        y, order, w = data[1], list(range(len(data[1]))), 0.0
        random.shuffle(order)
        for start in range(0, len(order), 2):
            w -= 0.1 * (np.clip(w - y[order[start : start + 2]], -1, 1).sum() + np.random.laplace(0, 4 * scale))
        return w

    return mechanism


def frozen_scipy(scale: float) -> Any:
    def mechanism(data: Any, rng: Rng) -> Any:
        X, y = data
        answer = scipy.stats.norm.rvs(loc=X.sum(), scale=10 * scale, random_state=rng)
        return answer, scipy.stats.laplace(loc=y.sum(), scale=4 * scale).rvs(random_state=rng)

    return mechanism


def private_median(scale: float) -> Any:
    def mechanism(data: Any, rng: Rng) -> Any:
        candidates = np.linspace(-1, 1, 21)
        score = -np.abs((data[1][:, None] < candidates).sum(axis=0) - len(data[1]) / 2)
        return candidates[np.argmax(score + rng.gumbel(0, 4 * scale, size=21))]

    return mechanism


def propose_test_release(scale: float) -> Any:
    def mechanism(data: Any, rng: Rng) -> Any:
        y = data[1]
        if abs(y.sum()) + rng.laplace(0, 4 * scale) > 5:
            return None
        return y.mean() + rng.laplace(0, 4 * scale / len(y))

    return mechanism


STYLES = {
    f.__name__: f
    for f in (
        private_sgd,
        objective_perturbation,
        output_perturbation,
        newton,
        shuffled_epochs,
        frozen_scipy,
        private_median,
        propose_test_release,
    )
}
FOLLOWED = ["output_perturbation", "newton", "frozen_scipy", "private_median", "propose_test_release"]

ANGLES = np.arange(6) * math.pi / 3
X = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
Y = np.array([1.0, -1, 1, -1, 1, 1])
FLIPPED = np.array([-1.0, -1, 1, -1, 1, 1])


def kinds(mechanism: Any, seed: int) -> set[str]:
    seen = inspect_alone(mechanism, (X, Y), (X, FLIPPED), epsilon=1.0, delta=1e-5, seed=seed)
    assert {t.error for side in seen.runs for t in side} == {None}
    return {f.kind for f in seen.findings} - {"global-state"}


@pytest.mark.parametrize("name", STYLES)
def test_correct_code_runs_watched_and_is_silent(name: str) -> None:
    assert [kinds(STYLES[name](1.0), seed) for seed in range(3)] == [set()] * 3


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_tenth_of_the_noise_is_noticed(name: str) -> None:
    assert {"sensitivity", "selection"} & kinds(STYLES[name](0.1), 0)


def test_code_that_fails_only_when_watched_is_not_accused() -> None:
    """A mechanism that insists on numpy's own array type fails with watched noise: that is not its fault."""

    def strict(data: Any, rng: Rng) -> float:
        noise = rng.laplace(size=2)
        if type(noise) is not np.ndarray:
            raise TypeError("not an array")
        return float(data[0] + noise[0])

    found = inspected(Run(CallableTarget(strict), Epsilon(1.0), draws=1000, pairs=[Pair([0.0], [1.0])]))
    assert [f.kind for f in found] == ["not-inspected"]
