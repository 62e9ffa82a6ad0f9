"""What rounding adds to the sensitivities of Algorithms 4 and 5: nothing on balls, a reserve where numbers are rounded.

The model is that of `numerics.rounding`: unit roundoff u. B bounds ‖w‖_p over W, d is the dimension, m the records of a
batch.

**One record.** Its gradient is computed at a prediction that errs by γ_{d+1}BR, and its slope within `SLOPE`·u of L0:
an error of at most L1·B·(d + 2)u + SLOPE·uL0. Points are rounded too, so a step is longer by up to 4uB. So a record of
batch k adds c_k + κ,

    κ = u(L1·B·(2d + 12) + (2·SLOPE + 8)L0).

**One step of the recursion.** The sums over a batch err by (m + 3)uL0 each after division by m, the operations by
6u(‖∇‖ + 2L0): λ_t = u((2m + 40)L0 + 8‖∇^{t−1}‖) in all. In Algorithm 4 ‖∇‖ ≤ E = 2L0 + L1·D, since Σ_kP_{k,t}η_k ≤ 1
and c_k ≤ (L0 + L1·D)η_k. A difference of the estimates shrinks by 1 − η_t a step, so the errors of all steps add up to
at most λ·Z_t, Z_t = Σ_kP_{k,t} ≤ √(t+1) (Z_t = 1 + (1 − η_t)Z_{t−1} ≤ 1 + √(t+1) − 1). Factors 1 − η_t are themselves
rounded: (1 + 6uT) for T of them.

**Algorithm 4.** Step t ≥ k reveals at most r_t/s + (r' + scores)/s + tail of a record of batch k, r_t as in
`calibration` with c_k + κ, r' = 2(D + 2uB)·λ√T, and the rest from `selection_reserve`. Adding up over t: T times that
for pure DP, √T times in the root of zCDP. ∎

**Algorithm 5.** What is released is a sum over a batch plus noise; what is computed from it afterwards is
post-processing. The mean moves by 2(L0 + κ)/m + 2(m + 4)uL0, the mean variation by 2(L1·Dη_{t−1} + κ)/m + 2(2m +
20)uL0; the tight release by 2(c_t + κ)/m + 2λ_t, λ_t with the norm of the noisy estimate before, which both runs share.
(Where L1 = 0 the gradients at two points are the same numbers, and so are their sums.) ∎
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reference.numerics.numbers import Numbers, Real
from reference.numerics.preconditions import require
from reference.numerics.rounding import SLOPE, finer, require_range, rounds, selection_reserve, unit
from reference.privacy import kov_delta, zcdp_rho
from reference.setting.data import FEATURE_SLACK
from reference.smooth.sensitivity import batch_sizes, record_bound, round_sums, step_size


@dataclass(frozen=True)
class Reserve:
    """What rounding adds in a round of Algorithm 4: to c_k, to the range of scores, to the loss of a step; a factor."""

    record: Real = 0
    spread: Real = 0
    tail: Real = 0
    grow: Real = 1


NOTHING = Reserve()
"""The reserve of exact numbers."""


def record_reserve(K: Numbers, loss: Any, W: Any) -> Real:
    """κ: what rounding adds to the share c_k of one record."""
    if not rounds(K):
        return K(0)
    return unit(K) * (K(loss.L1) * W.norm_bound(K, loss.p) * (2 * W.dim + 12) + (2 * SLOPE + 8) * K(loss.L0))


def step_reserve(K: Numbers, loss: Any, size: int, estimate: Real) -> Real:
    """λ_t: the error of one step of the recursion over a batch of `size` records; `estimate` bounds ‖∇^{t−1}‖."""
    return unit(K) * ((2 * size + 40) * K(loss.L0) + 8 * estimate)


def round_reserve(K: Numbers, loss: Any, W: Any, D: Real, sizes: Sequence[int]) -> Reserve:
    """The reserve of one round of Algorithm 4 with batches of these sizes."""
    if not rounds(K):
        return NOTHING
    T, far = len(sizes), W.norm_bound(K, loss.p)
    E = 2 * K(loss.L0) + K(loss.L1) * D
    scores, tail = selection_reserve(K, far * E, W.dim)
    spread = 2 * (D + 2 * unit(K) * far) * step_reserve(K, loss, max(sizes), E) * K.sqrt(K(T)) + scores
    grow = (1 + 6 * unit(K) * T) * (1 + 2 * unit(K) * far / D)
    return Reserve(record_reserve(K, loss, W), spread, tail, grow)


# ------------------------------------------------------------------------------------------ Algorithm 4

HOPELESS = 64
"""An ε0-DP release with ε0 > ε + 64 may have δ(ε) > 1 − e^{−63}: nobody asks for that."""

Steps = Callable[[Numbers, int], Real]
"""η_t."""


def require_scale(
    K: Numbers, loss: Any, W: Any, D: Real, s: Real, r: int, b: int, epsilon: Any, delta: Any, eta: Steps = step_size
) -> None:
    """Refuse a round of Algorithm 4 that scale s does not make (ε,δ)-DP, for its own step sizes and rounding."""
    K, sizes = K.unwatched, batch_sizes(b, 2**r)
    require_steps(K, eta, len(sizes))
    require_range(K, "s", s)
    exact, rounded = (
        _losses(K, loss, D, s, sizes, eta, reserve) for reserve in (NOTHING, round_reserve(K, loss, W, D, sizes))
    )
    if _private(K, rounded, epsilon, delta):
        return
    remedy = "the proof is for steps of 1/√(t+1); take noisy_sfw, or poly_sfw_tight"
    if _private(K, exact, epsilon, delta):
        way = finer(K, [(rounded[0] - exact[0], K(epsilon) - exact[0])]) or "take poly_sfw_tight"
        remedy = f"rounding in {K} adds {K.to_float(rounded[0] - exact[0]):.3g} to {K.to_float(exact[0]):.3g}; {way}"
    require(False, f"s_{r}", K.to_float(s), f"make round {r} (epsilon, delta)-DP", remedy)


def require_steps(K: Numbers, eta: Steps, steps: int) -> None:
    """0 ≤ η_t ≤ 1: iterates then stay in W, and no step is longer than η_t·D."""
    for t in range(steps if eta is not step_size else 0):
        value = eta(K, t)
        inside = K.le(K(0), value) and K.le(value, K(1))
        require(inside, f"eta_{t}", K.to_float(value), "lie in [0, 1]", "otherwise iterates leave W")


def fixed_steps(K: Numbers, eta: Steps, steps: int) -> Steps:
    """The step sizes of a run, each asked for once, and refused outside [0, 1].

    Proof, noise and moves speak of the same η_t. A rule that draws its steps, or remembers that it was asked, would
    give each of them another.
    """
    if eta is step_size:
        return eta
    chosen = tuple(eta(K, t) for t in range(steps))
    require_steps(K, lambda _, t: chosen[t], steps)
    return lambda _, t: chosen[t]


def _losses(
    K: Numbers, loss: Any, D: Real, s: Real, sizes: Sequence[int], eta: Steps, reserve: Reserve
) -> tuple[Real, Real]:
    """(pure, √(2ρ)): what a record can lose in a round with Laplace noise of scale s."""
    T, longer = len(sizes), K((1 + FEATURE_SLACK) ** 2)
    pure, root = K(0), K(0)
    for k, (total, squares) in enumerate(round_sums(K, T, eta)):
        first = 2 * D * (record_bound(K, k, loss.L0, loss.L1, D, eta) * longer + reserve.record) / sizes[k] / s
        pure = K.max(pure, first * reserve.grow * total)
        root = K.max(root, first * reserve.grow * K.sqrt(squares))
    each = K(reserve.spread) / s + reserve.tail
    return pure + T * each, root + K.sqrt(K(T)) * each


def _private(K: Numbers, losses: tuple[Real, Real], epsilon: Any, delta: Any) -> bool:
    pure, root = losses
    if K.lt(K(epsilon) + HOPELESS, pure):
        return False
    if K.le(pure, K(epsilon)) or K.le(kov_delta(K, epsilon, pure, 1), K(delta)):
        return True
    return K.le(root * root / 2, K(zcdp_rho(K, epsilon, delta)))


# ------------------------------------------------------------------------------------------ Algorithm 5


def mean_share(K: Numbers, loss: Any, W: Any, size: int) -> Real:
    """By what share rounding lengthens the move 2L0/m of a mean gradient over m records."""
    if not rounds(K) or loss.L0 == 0:
        return K(0)
    return record_reserve(K, loss, W) / K(loss.L0) + size * (size + 4) * unit(K)


def pair_share(K: Numbers, loss: Any, W: Any, D: Real, b: int, steps: int, eta: Steps = step_size) -> Real:
    """The largest such share over the pairs (Δ^t, g^t), 1 ≤ t < steps: that of the mean and that of the variation."""
    share = K(0)
    if not rounds(K):
        return share
    for t, size in list(enumerate(batch_sizes(b, steps)))[1:]:
        share, move = K.max(share, mean_share(K, loss, W, size)), K(loss.L1) * D * eta(K, t - 1)
        if K.lt(K(0), move):
            error = record_reserve(K, loss, W) + size * (2 * size + 20) * unit(K) * K(loss.L0)
            share = K.max(share, error / move)
    return share


def release_reserve(K: Numbers, loss: Any, W: Any, size: int, estimate: Real) -> Real:
    """What rounding adds to c_t of the tight release: κ + mλ_t."""
    if not rounds(K):
        return K(0)
    return record_reserve(K, loss, W) + size * step_reserve(K, loss, size, estimate)
