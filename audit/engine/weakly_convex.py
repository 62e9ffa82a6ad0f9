"""Algorithm 6 and its solver A_sc, vectorised over trials. Line numbers are the paper's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from audit.engine.arrays import ARRAYS, Array, floats, matrix
from audit.engine.sets import contains, norms
from audit.engine.tapes import BatchTape
from reference.numerics.numbers import Float64
from reference.numerics.tape import Draw
from reference.paper.algorithms import Edition
from reference.setting.data import Example
from reference.setting.losses_weak import WeaklyConvexLoss, WeakPredictorLoss
from reference.setting.sets import Polytope, Simplex
from reference.weakly_convex.mirror import constrained_step, underlying
from reference.weakly_convex.proximal_guided import check_rounds, exact_quotient, prepared, printed_scales
from reference.weakly_convex.strongly_convex import (
    BatchGradient,
    Plan,
    Scales,
    check_plan,
    noise_scale,
    require_budget,
    scales,
    with_beta,
)

K = Float64()


class ClippedMean:
    """The mean over some records of the clipped subgradients, at one point a trial."""

    def __init__(self, loss: WeakPredictorLoss, records: Sequence[Example], L: float):
        self._X, self._L, self._size = matrix(z.x for z in records), L, len(records)
        self._reach = norms(self._X, float(loss.q))
        labels = [z.y for z in records]
        self._groups = [
            (loss.scalar(Example((0,), y)), np.array([i for i, label in enumerate(labels) if label == y]))
            for y in dict.fromkeys(labels)
        ]

    def __call__(self, w: Array) -> Array:
        predictions = w @ self._X.T
        slopes = np.empty_like(predictions)
        for scalar, columns in self._groups:
            slopes[:, columns] = scalar.subgradient(ARRAYS, predictions[:, columns])
        slopes *= self._L / np.maximum(np.abs(slopes) * self._reach, self._L)
        return np.asarray(slopes @ self._X / self._size)


def clipped_mean(loss: WeaklyConvexLoss, records: Sequence[Example], L: float) -> Callable[[Array], Array]:
    """The mean of the clipped subgradients, at one point a trial; the reference's, row by row, for other losses."""
    if isinstance(loss, WeakPredictorLoss):
        return ClippedMean(loss, records, L)
    mean = BatchGradient(K, loss, records, L, loss.p)
    return lambda w: np.stack([floats(mean(K.vector(row.tolist()))) for row in w])


class _Solver:
    """One call of A_sc on every trial, around the points `w`."""

    def __init__(self, at: Scales, W: Any, w: Array, radius: float | None):
        self.at, self.W, self.w, self.radius = at, underlying(W), w, radius
        self.p_bar, self.q_bar = float(at.geo.p_bar), float(at.geo.q_bar)
        self.u = np.zeros_like(w)

    def _signed_power(self, u: Array, exponent: float, length: Array) -> Array:
        """length·sgn(u)(|u|/length)^exponent, 0 at 0."""
        safe = np.where(length > 0, length, 1)[:, None]
        return np.asarray(length[:, None] * np.sign(u) * (np.abs(u) / safe) ** exponent)

    def slope(self) -> Array:
        """∇h at the current point."""
        if self.p_bar == 2:
            return np.asarray(self.u * self.at.geo.kappa)
        power = self._signed_power(self.u, self.p_bar - 1, norms(self.u, self.p_bar))
        return np.asarray(power * self.at.geo.kappa)

    def step(self, theta: Array, A: float) -> None:
        """The mirror step: the closed form, and the reference's constrained step where W binds."""
        length = norms(theta, self.q_bar)
        s = length / A if self.radius is None else np.minimum(self.radius, length / A)
        share = np.where(length > 0, s / np.where(length > 0, length, 1), 0)[:, None]
        towards = theta if self.p_bar == 2 else self._signed_power(theta, self.q_bar - 1, length)
        self.u = towards * share
        for i in np.flatnonzero(~self._inside()):
            at, rows = self.at, (K.vector(self.w[i].tolist()), K.vector(theta[i].tolist()))
            found = constrained_step(K, at.geo, self.W, *rows, A, self.radius)
            self.u[i] = floats(found.u)

    def _inside(self) -> Array:
        """Where the closed form is the step, as `mirror.mirror_step` decides: never on a simplex."""
        x = self.w + self.u
        if isinstance(self.W, Simplex):
            return np.zeros(len(x), dtype=bool)
        if isinstance(self.W, Polytope):
            return np.array([self.W.contains(K, K.vector(row.tolist())) for row in x])
        return contains(self.W, x)


def solve(
    at: Scales,
    loss: WeaklyConvexLoss,
    batch: Sequence[Example],
    W: Any,
    w: Array,
    plan: Plan,
    mu: float,
    tape: BatchTape,
    prefix: tuple[int, ...],
    restrict: bool,
) -> Array:
    """A_sc for every trial: the last iterate of the last phase."""
    check_plan(plan, len(batch))
    require_budget(K, mu)
    run = _Solver(at, W, w, float(at.radius) if restrict else None)
    used = 0
    for i, phase in enumerate(plan, start=1):
        mean = clipped_mean(loss, batch[used : used + phase.n], float(at.L))
        used += phase.n
        sigma = noise_scale(K, Fraction(at.geo.p), at.geo.d, at.L, phase.n, phase.T, mu)
        lam, anchor = float(phase.lam) * at.weak, run.slope()
        Lam = at.strength + lam
        for k in range(1, phase.T + 1):
            noise = tape.read(Draw("A", (*prefix, i, k), "normal", at.geo.d)) * sigma
            slope = run.slope()
            estimate = mean(w + run.u) + noise + slope * at.weak
            theta = slope * (Lam * (k - 1) / 2) + anchor * lam - estimate
            run.step(theta, at.geo.kappa * Lam * (k + 1) / 2)
    return np.asarray(w + run.u)


def proximally_guided(
    loss: WeaklyConvexLoss,
    W: Any,
    dataset: Sequence[Example],
    tape: BatchTape,
    *,
    rounds: int,
    plan: Plan,
    mu: Any,
    edition: Edition = "corrected",
    start: Sequence[Any] | None = None,
    beta: Any = None,
) -> Array:
    """Algorithm 6 for every trial: (trials, d). Fast for losses of ⟨a, w⟩ on balls and boxes, else row by row."""
    printed = edition == "printed"
    check_rounds(rounds, len(dataset))
    dataset = prepared(K, loss, W, dataset, None if start is None else K.vector(start))
    make = printed_scales if printed else scales
    at = make(K, loss.p, W.dim, loss.L0, loss.rho)  # L1
    modulus = at.rho if printed else at.weak
    at = with_beta(K, at, 2 * at.geo.kappa * modulus if beta is None else K(beta), modulus)
    w = np.tile(floats(W.centre(K) if start is None else start), (tape.trials, 1))
    calls = rounds if printed else rounds - 1
    size = exact_quotient(len(dataset), calls) if printed else len(dataset) // max(1, calls)
    iterates = [w]
    for r in range(1, calls + 1):  # L2
        batch = dataset[(r - 1) * size : r * size]  # L3
        w = solve(at, loss, batch, W, w, plan, float(K(mu)), tape, (r,), not printed)  # L4
        iterates.append(w)
    index = tape.read(Draw("r", (), "index", rounds))  # L5
    return np.asarray(np.stack(iterates, axis=1)[np.arange(tape.trials), index])
