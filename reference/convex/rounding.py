"""What rounding adds to the sensitivities of Algorithms 2 and 3: 0 on balls, a reserve where numbers are rounded.

The model is that of `numerics.rounding`: unit roundoff u, γ_k = ku/(1 − ku). Write G = L0R, B for a bound on the ℓ_2
norms of the points of a phase (`reach`), N = B + 2ηG for one on what is projected, d for the dimension.

**The oracle as it is computed.** m̂ = fl⟨û, x⟩ errs by at most γ_{d+1}BR. A test of the search looks at ℓ at a point
within 3u(|m̂| + L0/β) of m̂ + τL0/β, and evaluates the slope within `SLOPE`·uL0: it is the exact test of another
prediction that is that near, or of a slope that near. The slope of h grows by at least L0 a unit of τ, so the final
cell misses the offset of the minimiser at ⟨û, x⟩ by at most ρ/L0 beyond its width, and likewise the closed forms: the
derivative errs by at most α/R + ρ,

    ρ = βBR·γ_{d+8} + (SLOPE + 16)·uL0,

and without the clip (closed forms) it is at most L0 + ρ. The losses that are smoothed are those with rounded kinks,
which are convex and as steep, and the same in both runs. (The search by values has no such bound: two values that agree
to all digits are compared at random. So `value_oracle` is proved on balls only.)

**A step as it is computed.** û_t = Π(û_{t−1} − ηO) + e_t, ‖e_t‖ ≤ r = u(N + 6ηG) + `projection_error`: the difference,
the product of step and features, the projection. Neighbours part by at most 2η(α + ρR) + 2r in a step, where 2ηα is
the exact bound, and by 2η(G + ρR) + 2r in the first. Adding up as in `drift`, the average of u_1..u_T moves further
by at most

    ηρR(T + 1) + (T + 1)r + 2γ_{T+1}N,

the last term for the mean of T vectors (none for T = 1); for u_0..u_{T−1} by ηρR(T − 1) + (T − 1)r + 2γ_{T+1}N, and by
0 for T = 1, where the start is returned. ∎

**The quadrature bound.** The two derivatives lie in cells j ≥ 0 apart, so both boundaries between were tested, and as
above two predictions that are 2ρ/β nearer or farther differ by at least (j − 1)q/β: s ≥ (j − 1)q/β − 2ρ/β. Then ‖Δ‖²
grows in a step by at most (ηq²/β)·j(λj − 2(j − 1) + 4x), x = ρ/q, which for λ ≤ 1 is at most (ηq²/β)(λ + 8x + 36x²): j
= 1 gives λ + 4x; j = 2 at most 8x; j ≥ 3 nothing where 4x ≤ 1 and j(2 − j + 4x) ≤ (1 + 2x)² ≤ 36x² elsewhere. (If the
cells lie the other way round, the same with j − 1 and 4x.) So ‖Δ_T‖ ≤ √(a² + (T − 1)((ηqR)² + (η/β)(8qρ + 36ρ²))) +
2rT, a the first step. ∎

**Projections.** Boxes, intervals, the whole space: 0, since clipping is exact (onto the rounded box). An ℓ_2 ball: the
norm has relative error γ_{d+2}, so scaling errs by (d + 16)u·N, off-centre balls included. ℓ_1 balls and simplices: the
threshold is a maximum over k of (sum of k numbers − total)/k and errs by at most (4d + 24)uN; √d times that. Segments:
(4d + 80)u·N. Balls in ℓ_∞ off the origin: 8uN. ∎

**Algorithm 3.** Given w_t, which is the same in both runs, the mean of n vectors with ‖O‖_∞ ≤ G + ρR moves by at most
2(G + ρR)/n + 2γ_{n+3}(G + ρR); vertices are rounded, so W has diameter D + 2uB_1, B_1 the largest ‖v‖_1; the scores and
the least of them are `selection_reserve`. ∎
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference.convex.drift import iterate_supremum
from reference.convex.oracle import OracleParameters, closed_form_oracle, quantum
from reference.numerics.numbers import INF, Numbers, Real, Vector, norm
from reference.numerics.preconditions import require
from reference.numerics.rounding import SLOPE, gamma, require_precision, rounds, selection_reserve, unit
from reference.setting.sets import Box, FeasibleSet, LpBall, Region, Simplex, WholeSpace

if TYPE_CHECKING:
    from reference.convex.noisy_frank_wolfe import FrankWolfeParameters
    from reference.convex.phased_sgd import PhasedParameters


# ------------------------------------------------------------------------------------------------ parts


def require_run(K: Numbers, p: PhasedParameters | FrankWolfeParameters, n: int) -> None:
    """The parameters are for n records, and their noise covers the rounding of K."""
    require(n == p.n, "n", n, f"be {p.n}", "the parameters were made for that many records")
    if not p.unproven:
        require_precision(K, p.K)


def oracle_reserve(K: Numbers, p: OracleParameters, reach: Real, dim: int) -> Real:
    """ρ: how much further than α/R the computed derivative may be from that of f_β, at ‖w‖ ≤ `reach`."""
    return p.beta * reach * p.R * gamma(K, dim + 8) + (SLOPE + 16) * unit(K) * p.L0


def projection_error(K: Numbers, W: FeasibleSet | Region, size: Real) -> Real:
    """How far the computed projection of a point of norm at most `size` is from the exact one; for a region, the worst
    of all kinds of sets.
    """
    W = getattr(W, "shape", W)
    d = W.dim
    if isinstance(W, Region):
        return K.max(K.sqrt(K(d)) * (4 * d + 24), K(4 * d + 80)) * unit(K) * size
    if isinstance(W, WholeSpace | Box) or d == 1:
        return K(0) if not isinstance(W, LpBall) else 8 * unit(K) * size
    if isinstance(W, LpBall) and W.p == INF:
        return 8 * unit(K) * size
    if isinstance(W, LpBall) and W.p == 2:
        return (d + 16) * unit(K) * size
    if isinstance(W, LpBall | Simplex):
        return K.sqrt(K(d)) * (4 * d + 24) * unit(K) * size
    return (4 * d + 80) * unit(K) * size


def step_error(K: Numbers, p: PhasedParameters, eta: Real, size: Real) -> Real:
    """r: how far a computed step is from the exact one from the same point."""
    return unit(K) * (size + 6 * eta * p.smoothing.L0 * p.smoothing.R) + projection_error(K, p.W, size)


# ------------------------------------------------------------------------------------------ Algorithm 2


def phase_reserve(K: Numbers, p: PhasedParameters, eta: Real, T: int) -> Real:
    """What rounding adds to `average_bound` for T steps of length η of this run."""
    if not rounds(K) or (T == 1 and p.average == "first"):
        return K(0)
    q, size, r = p.smoothing, *_sizes(K, p, eta)
    rho = oracle_reserve(K, q, size, p.W.dim)
    drift = 2 * eta * rho * q.R
    if p.average == "last":
        return drift * K(1 + T) / 2 + (T + 1) * r + _mean_error(K, T, size)
    return drift * (T - 1) / 2 + (T - 1) * r + _mean_error(K, T, size)


def quadrature_reserve(K: Numbers, p: PhasedParameters, eta: Real, T: int) -> Real:
    """What rounding adds to `iterate_supremum`, for the average."""
    if not rounds(K):
        return K(0)
    q, size, r = p.smoothing, *_sizes(K, p, eta)
    rho, cell = oracle_reserve(K, q, size, p.W.dim), quantum(K, q)
    exact = iterate_supremum(K, eta, T, q)
    more = (T - 1) * eta / q.beta * (8 * cell * rho + 36 * rho * rho)
    return K.sqrt(exact * exact + more) - exact + (T + 1) * r + _mean_error(K, T, size)


def _sizes(K: Numbers, p: PhasedParameters, eta: Real) -> tuple[Real, Real]:
    size = p.reach + 2 * eta * p.smoothing.L0 * p.smoothing.R
    return size, step_error(K, p, eta, size)


def _mean_error(K: Numbers, T: int, size: Real) -> Real:
    """2γ_{T+1}N for the means of both runs; one vector is its own mean."""
    return K(0) if T == 1 else 2 * gamma(K, T + 1) * size


def within(K: Numbers, p: PhasedParameters, w: Vector) -> Vector:
    """A start in ℝ^d, pulled back to ‖w‖ ≤ `start_reach` where numbers are rounded: what is farther out has no proof.

    This is post-processing of what was released; with the noise rules of this package it changes a run with probability
    below log2(n)·e^{−800}, since ‖ξ‖ exceeds √d + 40 with probability at most e^{−800}.
    """
    if not isinstance(p.W, WholeSpace) or not rounds(K):
        return w
    limit = K(p.start_reach)
    found: Vector = w * (limit / K.max(limit, norm(K, w, 2)))
    return found


# ------------------------------------------------------------------------------------------ Algorithm 3


def selection_terms(K: Numbers, p: FrankWolfeParameters) -> tuple[Real, Real]:
    """(r, t): with rounding one selection of scale s loses at most (`score_range` + r)/s + t."""
    if not rounds(K):
        return K(0), K(0)
    q, d, far = p.smoothing, p.W.dim, p.W.norm_bound(K, 1)
    extra = oracle_reserve(K, q, far, d) if p.oracle is closed_form_oracle else K(0)
    G = (q.L0 + extra) * q.R
    moved = 2 * G / p.n + 2 * gamma(K, p.n + 3) * G
    more = (p.D + 2 * unit(K) * far) * moved - 2 * p.D * q.L0 * q.R / p.n
    scores, tail = selection_reserve(K, 2 * far * G, d)
    return more + scores, tail
