"""Twelve mechanisms as they stand in lecture notes and libraries, each with a twin that has one slip.

Every slip is one that was met in public code: noise divided twice, a batch's scale for a sum, a scale given as
location, records released as they are, one record counted in two bins, a count without noise, a budget that is not
ended, too little noise for a maximum, statistics released on the side, levels of a tree that are not paid for, a test
without noise, local instead of smooth sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import estimator

Rng = np.random.Generator


@dataclass(frozen=True)
class Twins:
    """A mechanism with or without its slip, a pair that shows it, the claim, and what the lints say of the slip."""

    make: Callable[[bool], Callable[..., Any]]
    pair: tuple[Any, Any]
    epsilon: float = 1.0
    delta: float = 0.0
    finding: str | None = None
    soon: bool = True
    """Whether a few thousand draws refute the claim of the slip."""


def _sigma(sensitivity: float, epsilon: float = 1.0, delta: float = 1e-5) -> float:
    return sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def sgd_step(slip: bool) -> Callable[..., Any]:
    """Clipped gradients of a logistic loss, their mean, and noise for it."""

    def step(data: Any, rng: Rng) -> Any:
        X, y = data
        gradients = (1 / (1 + np.exp(-X @ np.zeros(2))) - y)[:, None] * X
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True))
        scale = _sigma(2.0) / len(X)
        noise = rng.normal(0, scale / len(X) if slip else scale, 2)
        return -0.1 * (clipped.mean(0) + noise)

    return step


def _minimiser(X: Any, y: Any, linear: Any) -> Any:
    """Of the ℓ₂-regularised logistic loss with a linear term, in one dimension, by bisection."""
    low, high = -1e3, 1e3
    for _ in range(60):
        w = (low + high) / 2
        slope = -(X[:, 0] * y / (1 + np.exp(np.clip(y * X[:, 0] * w, -50, 50)))).sum() + w + float(linear[0])
        low, high = (low, w) if slope > 0 else (w, high)
    return np.array([(low + high) / 2])


def objective_perturbation(slip: bool) -> Callable[..., Any]:
    """Chaudhuri, Monteleoni, Sarwate: a random linear term in the objective."""

    def fit(data: Any, rng: Rng) -> Any:
        X, y = data
        spent = 2.0 - 2 * math.log(1 + 0.25)
        scale = 2 / spent
        return _minimiser(X, y, rng.laplace(0, scale / len(X) if slip else scale, 1))

    return fit


class OutputPerturbation:
    """The regularised minimiser with noise, as a class with `fit`."""

    def __init__(self, slip: bool):
        self.slip = slip

    def fit(self, X: Any, y: Any) -> OutputPerturbation:
        exact = _minimiser(X, y, [0.0])
        self.coef_ = exact + (np.random.laplace(2.0, size=1) if self.slip else np.random.laplace(0, 2.0, size=1))
        return self


def quantile(slip: bool) -> Callable[..., Any]:
    """The median by the exponential mechanism over the gaps between the records."""

    def median(data: Any, rng: Rng) -> float:
        ends = np.concatenate([[0.0], np.sort(np.clip(data, 0, 10)), [10.0]])
        gaps = np.diff(ends)
        utility = -np.abs(np.arange(len(gaps)) - (len(gaps) - 1) / 2)
        weights = np.maximum(gaps, 1e-12) * np.exp(utility / 2)
        at = rng.choice(len(gaps), p=weights / weights.sum())
        return float(ends[at + 1] if slip else rng.uniform(ends[at], ends[at + 1]))

    return median


def histogram(slip: bool) -> Callable[..., Any]:
    """A count for each letter; a replaced record moves two of them."""
    return lambda data, rng: {k: data.count(k) + rng.laplace(0, 1 if slip else 2) for k in "abcd"}


def k_means_step(slip: bool) -> Callable[..., Any]:
    """Noisy sums over noisy sizes of the clusters."""

    def step(data: Any, rng: Rng) -> list[float]:
        near = np.argmin(np.abs(data[:, None] - np.array([0.25, 0.75])), axis=1)
        centres = []
        for j in range(2):
            total = data[near == j].sum() + rng.laplace(0, 4)
            size = (near == j).sum() + (0 if slip else rng.laplace(0, 4))
            centres.append(float(total / max(size, 1)))
        return centres

    return step


def above_threshold(slip: bool) -> Callable[..., Any]:
    """The first of many queries above a noisy threshold; after it the budget is spent."""

    def first(data: Any, rng: Rng) -> list[bool]:
        threshold, answers = 1 + rng.laplace(0, 2), []
        for i in range(20):
            query = data[0] if i % 2 else 1 - data[0]
            answers.append(bool(query + rng.laplace(0, 4) >= threshold))
            if answers[-1] and not slip:
                break
        return answers

    return first


def votes(slip: bool) -> Callable[..., Any]:
    """The label with the most votes of the teachers, with noise."""
    return lambda data, rng: int(np.argmax(np.bincount(data, minlength=3) + rng.laplace(0, 0.5 if slip else 2, 3)))


def components(slip: bool) -> Callable[..., Any]:
    """The first principal component of a noisy second-moment matrix of rows in the unit ball."""

    def fit(data: Any, rng: Rng) -> Any:
        noise = np.triu(rng.normal(0, _sigma(math.sqrt(2)), (2, 2)))
        _, vectors = np.linalg.eigh(data.T @ data + noise + np.triu(noise, 1).T)
        component = vectors[:, -1] * np.sign(vectors[0, -1])
        return {"component": component, "mean": data.mean(0)} if slip else component

    return fit


def tree(slip: bool) -> Callable[..., Any]:
    """Sums of the leaves, of pairs and of all four, each with noise; a record is in three of them."""

    def sums(data: Any, rng: Rng) -> list[float]:
        levels = [data, [data[0] + data[1], data[2] + data[3]], [sum(data)]]
        return [node + rng.laplace(0, 1 if slip else 3) for level in levels for node in level]

    return sums


def propose_test_release(slip: bool) -> Callable[..., Any]:
    """The most frequent letter, if a noisy test finds it stable; half the gap of the counts is the distance."""

    def mode(data: Any, rng: Rng) -> str | None:
        counts = sorted(((data.count(k), k) for k in "abc"), reverse=True)
        distance = (counts[0][0] - counts[1][0]) / 2 - 1
        noisy = distance + (0 if slip else rng.laplace(0, 1))
        return counts[0][1] if noisy > math.log(1 / 0.05) else (None if noisy > -9 else "?")

    return mode


def smooth_sensitivity(slip: bool) -> Callable[..., Any]:
    """The median of numbers in [0, 10] with noise for its smooth (or, by the slip, its local) sensitivity."""

    def median(data: Any, rng: Rng) -> float:
        s = np.concatenate([np.zeros(9), np.sort(data), np.full(9, 10.0)])
        m = 9 + len(data) // 2
        local = [max(s[m + t] - s[m + t - k - 1] for t in range(k + 2)) for k in range(len(data) + 1)]
        if slip:
            return float(s[m] + rng.laplace(0, max(local[0], 1e-3)))
        return float(s[m] + 6 * max(math.exp(-k / 6) * a for k, a in enumerate(local)) * rng.standard_cauchy())

    return median


_X = np.array([[5.0, 0.0], [1.0, 1.0], [-1.0, 2.0], [0.0, 1.0]])
_Y = np.array([1.0, 0.0, 1.0, 0.0])
_LINE, _SIGNS = np.array([[1.0], [0.5], [-0.2], [0.3]]), np.array([1.0, -1.0, 1.0, 1.0])
_FLIPPED = _SIGNS * np.array([-1.0, 1.0, 1.0, 1.0])
_BALL = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])

TWINS: dict[str, Twins] = {
    "sgd_step": Twins(sgd_step, ((_X, _Y), (_X * [[-1], [1], [1], [1]], _Y)), delta=1e-5, finding="sensitivity"),
    "objective_perturbation": Twins(
        objective_perturbation, ((_LINE, _SIGNS), (_LINE, _FLIPPED)), epsilon=2.0, finding="output-law"
    ),
    "output_perturbation": Twins(
        lambda slip: estimator(OutputPerturbation, slip=slip),
        ((4 * _LINE, _SIGNS), (4 * _LINE, _FLIPPED)),
        epsilon=0.5,
        finding="scale-as-loc",
    ),
    "quantile": Twins(quantile, ([2.0, 4.0, 5.0, 6.0, 8.0], [2.0, 4.0, 5.0, 6.0, 9.0])),
    "histogram": Twins(histogram, (list("abac"), list("bbac")), finding="composition"),
    "k_means_step": Twins(
        k_means_step, (np.array([0.1, 0.9]), np.array([0.9, 0.9])), finding="unnoised-path", soon=False
    ),
    "above_threshold": Twins(above_threshold, ([0.0, 1.0], [1.0, 1.0])),
    "votes": Twins(votes, ([0, 0, 1, 1, 2], [1, 0, 1, 1, 2]), finding="selection"),
    "components": Twins(components, (_BALL, _BALL[[1, 1, 2]]), delta=1e-5, finding="unnoised-output"),
    "tree": Twins(tree, ([1, 0, 1, 1], [0, 0, 1, 1]), finding="composition"),
    "propose_test_release": Twins(
        propose_test_release, (list("aaaaaaaaab"), list("aaaaaaaabb")), delta=0.05, finding="deterministic"
    ),
    "smooth_sensitivity": Twins(
        smooth_sensitivity, ([3.0, 3, 3, 3, 3, 9, 9], [3.0, 3, 3, 9, 3, 9, 9]), finding="data-dependent-scale"
    ),
}
