"""Algorithms 1, 2 and 3, vectorised over trials. Line numbers are the paper's."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from audit.engine.arrays import ARRAYS, Array, floats, matrix
from audit.engine.sets import norms, project, vertices
from audit.engine.tapes import BatchTape
from reference.convex.noisy_frank_wolfe import FrankWolfeParameters
from reference.convex.oracle import OracleParameters, least_exponent
from reference.convex.phased_noise import used_sigma
from reference.convex.phased_sgd import PhasedParameters, admitted_points
from reference.convex.rounding import require_run
from reference.numerics.numbers import Float64, floor_log2
from reference.numerics.preconditions import require
from reference.numerics.tape import Draw
from reference.paper.algorithms import Edition
from reference.setting.data import Example
from reference.setting.losses import ScalarLoss
from reference.setting.losses_convex import _PiecewiseLinear
from reference.setting.sets import WholeSpace

ORACLE_ERRATA = frozenset({"E3.1", "E3.2", "E3.3", "E3.4"})
"""Inverted comparison, missing β/2, values for subgradients, range and output."""


# --------------------------------------------------------------------------------- losses, record by record


@dataclass(frozen=True)
class LossTable:
    """The losses of several records as arrays: kinks and slopes where they are piecewise linear, else one by one.

    `subgradient(u)` takes u with one column a record; a table of one record takes any column.
    """

    losses: tuple[ScalarLoss, ...]
    kinks: Array | None
    slopes: Array | None

    @staticmethod
    def of(losses: Sequence[ScalarLoss]) -> LossTable:
        """Pad all to the same number of kinks (a kink at ∞ is never met)."""
        if not all(isinstance(ell, _PiecewiseLinear) for ell in losses):
            return LossTable(tuple(losses), None, None)
        most = max(len(ell.kinks) for ell in losses)  # type: ignore[attr-defined]
        kinks = [floats(ell.kinks) for ell in losses]  # type: ignore[attr-defined]
        slopes = [floats(ell.slopes) for ell in losses]  # type: ignore[attr-defined]
        return LossTable(
            tuple(losses),
            np.array([np.append(k, [np.inf] * (most - len(k))) for k in kinks]),
            np.array([np.append(s, [s[-1]] * (most + 1 - len(s))) for s in slopes]),
        )

    def subgradient(self, u: Array) -> Array:
        """The subgradient nearest 0, entry by entry."""
        if self.kinks is None or self.slopes is None:
            return np.stack([self._column(ell, u[:, j]) for j, ell in enumerate(self.losses)], axis=1)
        below = above = self.slopes[:, 0] + np.zeros(() if self.kinks.shape[1] else u.shape)
        for i in range(self.kinks.shape[1]):
            kink, slope = self.kinks[:, i], self.slopes[:, i + 1]
            below = np.where(u > kink, slope, below)  # the slope just left of u
            above = np.where(u >= kink, slope, above)  # the slope just right of u
        return np.asarray(np.minimum(np.maximum(np.minimum(below, above), 0), np.maximum(below, above)))

    @staticmethod
    def _column(ell: ScalarLoss, u: Array) -> Array:
        """The subgradients of one loss among others: its own table if it is piecewise linear, else its formula."""
        if isinstance(ell, _PiecewiseLinear):
            return LossTable.of([ell]).subgradient(u[:, None])[:, 0]
        return np.asarray(ell.subgradient(ARRAYS, u))

    def value(self, u: Array) -> Array:
        """ℓ(u), entry by entry."""
        return np.stack([ell.value(ARRAYS, u[:, j]) for j, ell in enumerate(self.losses)], axis=1)


# ----------------------------------------------------------------------------------------- Algorithm 1


def oracle(table: LossTable, m: Array, p: OracleParameters, errata: Collection[str] = ORACLE_ERRATA) -> Array:
    """β(m − ū) for a (trials, records) array of m = ⟨w, x⟩, with these errata of Algorithm 1 applied.

    Positions are kept as τ = (their distance from m)·β/L0: dyadic and exact where M = ℝ, as in the reference.
    """
    beta, L0, T = float(p.beta), float(p.L0), _steps(p, errata)
    r, width = L0 / beta, 1 if "E3.4" in errata else 2
    a = np.maximum((float(p.M.lower) - m) / r, -width)  # L2
    b = np.minimum((float(p.M.upper) - m) / r, width)
    pull = L0 if "E3.2" in errata else 2 * L0 / beta

    def value(tau: Array) -> Array:
        return np.asarray(table.value(m + tau * r) + pull * r * tau * tau / 2)

    best, lowest = np.zeros(m.shape), np.full(m.shape, np.inf)
    for _ in range(T):  # L4
        m_t = (a + b) / 2  # L5
        if "E3.3" in errata:  # L6
            rise = table.subgradient(m + m_t * r) + pull * m_t
        else:
            rise = value((m_t + b) / 2) - value((a + m_t) / 2)
        left = rise >= 0 if "E3.1" in errata else rise <= 0
        b, a = np.where(left, m_t, b), np.where(left, a, m_t)  # L7–9
        if "E3.4" not in errata:
            here = value(m_t)
            best, lowest = np.where(here < lowest, m_t, best), np.minimum(here, lowest)
    if "E3.4" in errata:  # L10
        return np.asarray(np.minimum(np.maximum(-L0 * (a + b) / 2, -L0), L0))
    return np.asarray(-L0 * best)


def _steps(p: OracleParameters, errata: Collection[str]) -> int:
    """L3."""
    K, G, alpha = Float64(), float(p.L0) * float(p.R), float(p.alpha)
    if "E3.4" in errata:
        return least_exponent(K, G, alpha)
    return least_exponent(K, 16 * G * G, alpha * alpha)


# ------------------------------------------------------------------------------------ Algorithms 2 and 3


def require_binary64(p: PhasedParameters | FrankWolfeParameters, n: int) -> None:
    """The parameters are for n records, and for the numbers that this engine computes with."""
    require_run(Float64(), p, n)
    require(isinstance(p.K, Float64), "K", p.K, "be Float64()", "this engine computes in binary64: make p with that")


def phased_sgd(
    dataset: Sequence[Example],
    p: PhasedParameters,
    tape: BatchTape,
    edition: Edition = "corrected",
    oracle_errata: Collection[str] = ORACLE_ERRATA,
) -> Array:
    """Algorithm 2 for every trial: (trials, d). `p` holds binary64 scalars; the tight edition is `p.sigma`'s affair."""
    printed = edition == "printed"
    require_binary64(p, len(dataset))
    n, d = len(dataset), p.W.dim
    points = admitted_points(Float64(), p.gll, dataset, p.W, p.start)
    X, tables = matrix(x for x, _ in points), [LossTable.of([ell]) for _, ell in points]
    rho = p.epsilon / (2 * np.sqrt(np.log(1 / p.delta)))  # L2
    length, dimension = p.scale
    G = float(p.smoothing.L0) * float(p.smoothing.R)
    eta = length / (3 * G) * min(rho / np.sqrt(dimension), 1 / np.sqrt(n)) * float(p.stretch)  # L4–5
    w = np.tile(floats(p.start), (tape.trials, 1))  # L1
    s = 0  # L6
    for k in range(1, floor_log2(n) + 1):  # L3, L7
        T, eta_k = n // 2**k, eta / 4**k  # L8–9
        u = w if printed else _within(p, project(p.W, w))
        total = np.zeros_like(w)
        for t in range(s, s + T):  # L10
            total += 0 if p.average == "last" else u
            if printed or X[t].any():  # a record without features moves no point of W
                slope = oracle(tables[t], (u @ X[t])[:, None], p.smoothing, oracle_errata)
                step = eta_k * slope * X[t]
                u = project(p.W, u + step if printed else u - step)
            total += u if p.average == "last" else 0
        sigma = used_sigma(Float64(), rho, eta_k, T, p)
        w = total / T + sigma * tape.read(Draw("xi", (k,), "normal", d))  # L11
        s += T  # L12
    return w if printed else project(p.W, w)  # L13


def _within(p: PhasedParameters, w: Array) -> Array:
    """Starts in ℝ^d that are too far out for the noise are pulled back, as `reference.convex.rounding.within` does."""
    if not isinstance(p.W, WholeSpace):
        return w
    limit = float(p.start_reach)
    return np.asarray(w * (limit / np.maximum(limit, norms(w, 2)))[:, None])


def noisy_frank_wolfe(
    dataset: Sequence[Example],
    p: FrankWolfeParameters,
    tape: BatchTape,
    edition: Edition = "corrected",
    oracle_errata: Collection[str] = ORACLE_ERRATA,
) -> Array:
    """Algorithm 3 for every trial: (trials, d)."""
    require_binary64(p, len(dataset))
    points, V = admitted_points(Float64(), p.gll, dataset, p.W, p.start), vertices(p.W)
    X, table = matrix(x for x, _ in points), LossTable.of([ell for _, ell in points])
    w = previous = np.tile(floats(p.start), (tape.trials, 1))  # L1
    sign = -1 if p.noise == "gumbel" else 1
    for t in range(1, p.T + 1):  # L4
        gradient = oracle(table, w @ X.T, p.smoothing, oracle_errata) @ X / len(X)  # L5
        b = sign * p.s * tape.read(Draw("b", (t,), p.noise, len(V)))  # L6
        chosen = np.argmin(gradient @ V.T + b, axis=1)  # L7
        mu = 3 / (t + 2)
        previous, w = w, (1 - mu) * w + mu * V[chosen]  # L8
    return previous if edition == "printed" else w  # L9
