"""Algorithms 4 and 5, vectorised over trials. Line numbers are the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from audit.engine.arrays import ARRAYS, Array, floats, matrix
from audit.engine.sets import linear_minimiser, norms, vertices
from audit.engine.tapes import BatchTape
from reference.numerics.numbers import Float64
from reference.numerics.tape import Draw
from reference.paper.algorithms import Edition
from reference.privacy import SelectionNoise, gaussian_mu, log_inverse
from reference.setting.data import Example, admitted
from reference.setting.losses_smooth import SmoothPredictorLoss
from reference.smooth.calibration import (
    dimension_factor,
    gaussian_stretch,
    laplace_scale,
    laplace_scale_printed,
    tight_deviation,
    tight_scale,
)
from reference.smooth.poly_sfw import check_one_round, require_round_proofs
from reference.smooth.rounding import mean_share, pair_share, release_reserve, round_reserve
from reference.smooth.rounds import check_privacy, check_rounds, checked_setting, iterate_count
from reference.smooth.sensitivity import record_bound

K = Float64()


class Records:
    """The records of every trial in the order of its permutation, and the sums of gradients over slices of them."""

    def __init__(self, loss: SmoothPredictorLoss, dataset: Sequence[Example], dim: int, order: Array):
        self._loss, self._order, self._used = loss, order, 0
        records = admitted(loss, dataset, dim)
        self._A, self._y = matrix(z.x for z in records), floats(loss._label(K, z) for z in records)

    def take(self, size: int) -> tuple[Array, Array]:
        """(features, labels) of the next `size` records of each trial."""
        if self._used + size > self._order.shape[1]:
            left = self._order.shape[1] - self._used
            raise ValueError(f"batch size = {size} must be at most the {left} records that are left")
        chosen = self._order[:, self._used : self._used + size]
        self._used += size
        return self._A[chosen], self._y[chosen]

    def total(self, w: Array, batch: tuple[Array, Array]) -> Array:
        """Σ_{z ∈ B} ∇f(w, z), trial by trial."""
        features, labels = batch
        predictions = np.einsum("tmd,td->tm", features, w)
        slopes = self._loss.slope(ARRAYS, predictions, labels)
        return np.asarray(np.einsum("tm,tmd->td", slopes, features))


def _batch_size(b: int, t: int, edition: Edition) -> int:
    return b // (t + 1) if edition == "printed" else -(-b // (t + 1))


def _start(W: Any, start: Sequence[Any] | None, trials: int) -> Array:
    return np.tile(floats(W.centre(K) if start is None else start), (trials, 1))


def _diameter(W: Any, loss: Any, D: Any, start: Sequence[Any] | None) -> float:
    return float(checked_setting(K, loss, W, D, None if start is None else K.vector(start)))


def _pick(iterates: list[Array], index: Array) -> Array:
    """ŵ: the chosen iterate of each trial."""
    return np.asarray(np.stack(iterates, axis=1)[np.arange(len(index)), index])


# ----------------------------------------------------------------------------------------- Algorithm 4


def poly_sfw(
    loss: SmoothPredictorLoss,
    W: Any,
    dataset: Sequence[Example],
    R: int,
    b: int,
    epsilon: Any,
    delta: Any,
    tape: BatchTape,
    *,
    edition: Edition = "corrected",
    start: Sequence[Any] | None = None,
    D: Any = None,
    exact_budget: bool = False,
) -> Array:
    """Algorithm 4 for every trial: (trials, d). Step sizes 1/√(t+1)."""
    check_rounds(len(dataset), R, b, exact_budget)
    check_privacy(epsilon, delta)
    V, D, n = vertices(W), _diameter(W, loss, D, start), len(dataset)
    if edition != "printed":
        require_round_proofs(K, loss, W, D, R, b, epsilon, delta)
    scale = laplace_scale_printed if edition == "printed" else laplace_scale
    records = Records(loss, dataset, W.dim, tape.read(Draw("pi", (), "permutation", n)))
    w, iterates = _start(W, start, tape.trials), []  # L1
    for r in range(R):  # L2
        s = float(scale(K, r, b, loss.L0, loss.L1, D, epsilon, delta))  # L3
        previous = estimate = w
        for t in range(2**r):  # L4–12
            eta = 1 / np.sqrt(t + 1)
            size = _batch_size(b, t, edition)
            batch, weight = records.take(size), (t + 1) / b if edition == "printed" else 1 / size
            now = records.total(w, batch)
            if t == 0:
                estimate = now / b  # L5
            else:
                variation = (now - records.total(previous, batch)) * weight  # L10
                estimate = (estimate + variation) * (1 - eta) + now * (eta * weight)  # L11
            noise = s * tape.read(Draw("u", (r, t), "laplace", len(V)))
            chosen = np.argmin(estimate @ V.T + noise, axis=1)  # L6, L12
            iterates.append(w)
            previous, w = w, w * (1 - eta) + V[chosen] * eta  # L7, L13
    return _pick(iterates, tape.read(Draw("hat", (), "index", iterate_count(R))))  # L15


def poly_sfw_tight(
    loss: SmoothPredictorLoss,
    W: Any,
    dataset: Sequence[Example],
    T: int,
    b: int,
    epsilon: Any,
    delta: Any,
    tape: BatchTape,
    *,
    noise: SelectionNoise = "gumbel",
    start: Sequence[Any] | None = None,
    D: Any = None,
) -> Array:
    """The tight variant of Algorithm 4 for every trial."""
    check_privacy(epsilon, delta or Fraction(1, 2))  # δ = 0 asks for pure DP
    sizes, V, n = check_one_round(len(dataset), T, b), vertices(W), len(dataset)
    D = _diameter(W, loss, D, start)
    reserve = round_reserve(K, loss, W, D, sizes)
    s = float(tight_scale(K, T - 1, b, loss.L0, loss.L1, D, epsilon, delta, noise, reserve))
    s = -s if noise == "gumbel" else s
    records = Records(loss, dataset, W.dim, tape.read(Draw("pi", (), "permutation", n)))
    w = previous = _start(W, start, tape.trials)
    iterates, estimate = [w], np.zeros_like(w)
    for t, size in enumerate(sizes):
        estimate = _recursive(records, size, w, previous, estimate, t)
        scores = estimate @ V.T + s * tape.read(Draw("u", (t,), noise, len(V)))
        eta = 1 / np.sqrt(t + 1)
        previous, w = w, w * (1 - eta) + V[np.argmin(scores, axis=1)] * eta
        iterates.append(w)
    return _pick(iterates, tape.read(Draw("hat", (), "index", T)))


def _recursive(records: Records, size: int, w: Array, previous: Array, estimate: Array, t: int) -> Array:
    """(1 − η_t)(∇^{t−1} − mean ∇f(w_{t−1})) + mean ∇f(w_t)."""
    batch = records.take(size)
    now = records.total(w, batch) / size
    if t == 0:
        return now
    return np.asarray((estimate - records.total(previous, batch) / size) * (1 - 1 / np.sqrt(t + 1)) + now)


# ----------------------------------------------------------------------------------------- Algorithm 5


def noisy_sfw(
    loss: SmoothPredictorLoss,
    W: Any,
    dataset: Sequence[Example],
    R: int,
    b: int,
    epsilon: Any,
    delta: Any,
    tape: BatchTape,
    *,
    edition: Edition = "corrected",
    start: Sequence[Any] | None = None,
    D: Any = None,
    exact_budget: bool = False,
) -> Array:
    """Algorithm 5 for every trial: (trials, d). Step sizes 1/√(t+1)."""
    check_rounds(len(dataset), R, b, exact_budget)
    check_privacy(epsilon, delta)
    D, n, d, printed = _diameter(W, loss, D, start), len(dataset), W.dim, edition == "printed"
    factor = float(dimension_factor(K, d, loss.p))
    unit = 4 * factor * float(K.sqrt(log_inverse(K, delta))) / (b * float(K(epsilon)))
    stretch = (lambda *given: 1.0) if printed else gaussian_stretch
    first = unit * float(stretch(K, epsilon, delta, 1, mean_share(K, loss, W, b)))  # L3
    records = Records(loss, dataset, W.dim, tape.read(Draw("pi", (), "permutation", n)))
    w, iterates = _start(W, start, tape.trials), []  # L1
    for r in range(R):  # L2
        previous = estimate = w
        later = unit * float(stretch(K, epsilon, delta, 2, pair_share(K, loss, W, D, b, 2**r)))  # L9
        for t in range(2**r):
            eta = 1 / np.sqrt(t + 1)
            size = _batch_size(b, t, edition)
            batch, weight = records.take(size), (t + 1) / b if printed else 1 / size  # L4, L10
            now = records.total(w, batch)
            noise = tape.read(Draw("N", (r, t), "normal", d))
            if t == 0:
                estimate = now / b + noise * (first * float(loss.L0))  # L5
            else:
                move = eta if printed else 1 / np.sqrt(t)  # L9
                sigma, sigma_hat = later * float(loss.L0) * (t + 1), later * float(loss.L1) * D * move * (t + 1)
                variation = (now - records.total(previous, batch)) * weight  # L11
                variation = variation + tape.read(Draw("hatN", (r, t), "normal", d)) * sigma_hat  # L12
                fresh = now * weight + noise * sigma  # L13
                estimate = (estimate + variation) * (1 - eta) + fresh * eta  # L14
            iterates.append(w)
            previous, w = w, w * (1 - eta) + linear_minimiser(W, estimate) * eta  # L6–7, L15–16
    return _pick(iterates, tape.read(Draw("hat", (), "index", iterate_count(R))))  # L18


def noisy_sfw_tight(
    loss: SmoothPredictorLoss,
    W: Any,
    dataset: Sequence[Example],
    T: int,
    b: int,
    epsilon: Any,
    delta: Any,
    tape: BatchTape,
    *,
    adaptive: bool = True,
    start: Sequence[Any] | None = None,
    D: Any = None,
) -> Array:
    """The tight variant of Algorithm 5 for every trial."""
    check_privacy(epsilon, delta)
    sizes, D, n, d = check_one_round(len(dataset), T, b), _diameter(W, loss, D, start), len(dataset), W.dim
    mu, L0, L1 = gaussian_mu(K, epsilon, delta), float(loss.L0), float(loss.L1)
    records = Records(loss, dataset, W.dim, tape.read(Draw("pi", (), "permutation", n)))
    w = previous = _start(W, start, tape.trials)
    iterates, estimate = [w], np.zeros_like(w)
    for t, size in enumerate(sizes):
        eta = 1 / np.sqrt(t + 1)
        bound: Any = L0
        if t > 0 and adaptive:
            bound = (1 - eta) * np.minimum(L1 * norms(w - previous, float(loss.p)), 2 * L0) + eta * L0
        elif t > 0:
            bound = record_bound(K, t, loss.L0, loss.L1, D)
        bound = bound + release_reserve(K, loss, W, size, norms(estimate, 2))
        sigma = np.broadcast_to(tight_deviation(K, size, bound, d, loss.p, mu), (tape.trials,))
        estimate = _recursive(records, size, w, previous, estimate, t)
        estimate = estimate + tape.read(Draw("N", (t,), "normal", d)) * sigma[:, None]
        previous, w = w, w * (1 - eta) + linear_minimiser(W, estimate) * eta
        iterates.append(w)
    return _pick(iterates, tape.read(Draw("hat", (), "index", T)))
