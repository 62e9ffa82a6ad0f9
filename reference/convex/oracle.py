"""Algorithm 1: a gradient oracle for the smoothed loss f_β, by a search on the line (Lemma 5).

| paper | here |
|---|---|
| w, (x, y) | `w`, `x` (a vector), `ell` = ℓ^{(y)} |
| β, α, L_0, R, M | `p: OracleParameters` |
| m = ⟨w, x⟩ | `m` |
| [a, b], m_t, ū | `a`, `b`, `m_t`, `u`, each as τ = (its distance from m)·β/L0 |
| h_β(u) = ℓ(u) + (β/2)(u − m)² | `ProximalLoss` |
| β(m − ū), O_{β,α,R}(w, (x, y)) | `derivative` = −L0·τ, `gradient` |

Positions are kept relative to m in units of L0/β. With M = ℝ they are then dyadic numbers, exact in every number
system: a test at a point where ℓ is flat or has its kink is decided even in balls, and the derivative −L0·τ is not a
difference.

**The printed algorithm never looks at the loss.** Let g(u) = ℓ(u) + c(u − m)², c > 0 (c = 1 as printed), ℓ convex,
so g is strictly convex. Line 6 keeps the half whose quarter point has the *larger* value, so the next midpoint
m_{t+1} is the one of the quarter points q_1, q_2 = m_t ∓ (b − a)/4 with the larger value (q_1 on a tie). By strict
convexity g(m_t) < (g(q_1) + g(q_2))/2 ≤ g(m_{t+1}): the values at the midpoints rise strictly, and line 10 picks
the first, m_1. With M = ℝ the first midpoint is m itself: the output is β(m − m)x = 0 on every input. With another
M it is β(m − m_1)x, where m_1, the middle of M ∩ [m ± 2L0/β], does not depend on ℓ either. ∎

**The corrected search.** h' = ∂ℓ + β(· − m) changes its sign at u*; halving M ∩ [m ± L0/β] by the sign of one
subgradient at the middle keeps u* (fact 1 of `moreau`: |m − u*| ≤ L0/β). After T halvings the middle ū errs by at
most (L0/β)2^{−T}, the derivative β(m − ū) by L0·2^{−T}, and the gradient by L0R·2^{−T} ≤ α for T = ⌈log2(L0R/α)⌉. ∎
T subgradients a call. The value β(m − ū) lies in [−L0, L0] by construction; the clip removes what rounding adds. No
difference of two nearly equal values is taken, so binary64 loses only ulps of m (`oracle_error_binary64`); comparing
values loses half the digits (`value_oracle`).

**A sound search by values.** g(q_1) ≥ g(q_2) proves u* ≥ q_1, else u* ≤ q_2 (a convex function does not fall towards
both): three quarters stay, not one half. The middle errs by at most r(3/4)^T, r the half length of the interval.

**The values at the midpoints, best of all, T as printed**, with the two slips mended and a subgradient to decide
(all errata but E3.4) is right too in exact arithmetic: after T cuts the interval has length 2^{−T}|P|; for θ >
2^{−T} the set (1−θ)u* + θP is longer, so some point of it was cut off by a midpoint m_t; there h(m_t) ≤ h(point) ≤
(1−θ)h(u*) + θ max h. Hence h(ū) − h(u*) ≤ 2^{−T}τ, and strong convexity gives |ū − u*| ≤ √(2·2^{−T}τ/β). ∎
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from reference.convex.moreau import REAL_LINE, Interval, prox
from reference.numerics.numbers import Exact, Numbers, Real, Vector
from reference.numerics.preconditions import require
from reference.paper.events import Trace, mark
from reference.paper.registry import claims, implements
from reference.setting.losses import ScalarLoss


@dataclass
class Counter:
    """How often a loss was asked, and how many oracle calls that served."""

    calls: int = 0
    values: int = 0
    subgradients: int = 0


@dataclass(frozen=True)
class OracleParameters:
    """β, α, L_0, R, M of an oracle, as scalars of one number system."""

    beta: Real
    alpha: Real
    L0: Real
    R: Real
    M: Interval = REAL_LINE
    count: Counter = field(default_factory=Counter, compare=False)


def oracle_parameters(
    K: Numbers, *, beta: Exact | Real, alpha: Exact | Real, L0: Exact | Real, R: Exact | Real, M: Interval = REAL_LINE
) -> OracleParameters:
    """Checked parameters: β, α, L0 > 0, R ≥ 0, and α < 4L0R (beyond, the printed number of steps is not positive)."""
    K = K.unwatched
    p = OracleParameters(K(beta), K(alpha), K(L0), K(R), M)
    for name, value in (("beta", p.beta), ("alpha", p.alpha), ("L0", p.L0), ("R", p.R)):
        require(K.gt(value, K(0)), name, K.to_float(value), "be positive")
    limit = 4 * p.L0 * p.R
    remedy = f"4*L0*R = {K.to_float(limit):.6g}, and from there on line 3 asks for no step at all"
    require(K.lt(p.alpha, limit), "alpha", K.to_float(p.alpha), "be less than 4*L0*R", remedy)
    return p


@dataclass(frozen=True)
class OracleOutput:
    """∇f_β(w, z) up to α: the vector β(m − ū)x, its scalar β(m − ū), and the point ū."""

    gradient: Vector
    derivative: Real
    u: Real


Oracle: TypeAlias = Callable[[Numbers, Vector, Vector, ScalarLoss, OracleParameters, "Trace | None"], OracleOutput]


class ProximalLoss:
    """g(u) = ℓ(u) + c(u − m)² at u = m + τr, r = L0/β, counting what it asks of ℓ; `pull` = 2cr, and c = β/2
    makes it h_β.
    """

    __slots__ = ("K", "count", "ell", "m", "pull", "r")

    def __init__(self, K: Numbers, ell: ScalarLoss, pull: Real, m: Real, p: OracleParameters):
        self.K, self.ell, self.pull, self.m, self.r, self.count = K, ell, pull, m, p.L0 / p.beta, p.count

    def at(self, tau: Real) -> Real:
        """u = m + τr."""
        return self.m + tau * self.r

    def value(self, tau: Real) -> Real:
        """g(u)."""
        self.count.values += 1
        return self.ell.value(self.K, self.at(tau)) + self.pull * self.r * tau * tau / 2

    def subgradient(self, tau: Real) -> Real:
        """An element of ∂g(u)."""
        self.count.subgradients += 1
        return self.ell.subgradient(self.K, self.at(tau)) + self.pull * tau


def window(K: Numbers, m: Real, p: OracleParameters, width: int) -> tuple[Real, Real]:
    """M ∩ [m ± width·L0/β] in units τ: exactly ±width where M = ℝ."""
    if p.M == REAL_LINE:
        return K(-width), K(width)
    r = p.L0 / p.beta
    a, b = p.M.meet(K, m - width * r, m + width * r)
    return (a - m) / r, (b - m) / r


# ----------------------------------------------------------------------------------------- Algorithm 1


@implements("Alg:gll_oracle", "printed")
def oracle_printed(
    K: Numbers, w: Vector, x: Vector, ell: ScalarLoss, p: OracleParameters, trace: Trace | None = None
) -> OracleOutput:
    """Algorithm 1 as printed. It returns 0 whatever the loss (proof above)."""
    p.count.calls += 1
    m = w @ x  # L1
    a, b = window(K, m, p, 2)  # L2 [E3.4]
    T = least_exponent(K, 16 * p.L0 * p.L0 * p.R * p.R, p.alpha * p.alpha)  # L3 [E3.4]
    pull = 2 * p.L0 / p.beta  # [E3.2] the square on lines 6 and 10 with factor 1
    g, midpoints = ProximalLoss(K, ell, pull, m, p), []
    mark_search(trace, g, a, b, T)
    for t in range(1, T + 1):  # L4
        m_t = (a + b) / 2  # L5
        rise = g.value((m_t + b) / 2) - g.value((a + m_t) / 2)  # [E3.3] what line 6 looks at
        if K.le(rise, K(0)):  # L6 [E3.1]
            b = m_t  # L7
        else:  # L8
            a = m_t  # L9
        midpoints.append(m_t)
        mark_step(trace, g, m_t, b is m_t, t)
    u = midpoints[K.argmin([g.value(v) for v in midpoints])]  # L10 [E3.4]
    derivative = -p.L0 * u  # [E3.4] β(m − ū)
    mark(trace, 10, "u", g.at(u))
    return OracleOutput(x * derivative, derivative, g.at(u))  # L11


@implements("Alg:gll_oracle")
def oracle(
    K: Numbers, w: Vector, x: Vector, ell: ScalarLoss, p: OracleParameters, trace: Trace | None = None
) -> OracleOutput:
    """Algorithm 1, corrected: T = ⌈log2(L0R/α)⌉ subgradients halve [m ± L0/β]; the middle of what is left is ū.

    Args:
        K: the number system.
        w: the parameter.
        x: the features of a record.
        ell: the scalar loss ℓ of the record, convex and L0-Lipschitz.
        p: β, α, L0, R and M, made by `oracle_parameters`.
        trace: where the steps are noted, if given.

    Returns:
        The gradient β(m − ū)x of the smoothed loss up to α, its factor β(m − ū), and ū.

    The smoothed absolute value has slope 1 at a distance:

    >>> from reference.numerics.numbers import Float64
    >>> from reference.setting import Absolute
    >>> K = Float64()
    >>> p = oracle_parameters(K, beta=4, alpha="0.001", L0=1, R=1)
    >>> found = oracle(K, K.vector([1, 0]), K.vector([1, 0]), Absolute(0), p)
    >>> [round(g, 2) for g in found.gradient]
    [1.0, 0.0]
    """
    p.count.calls += 1
    m = w @ x  # L1
    a, b = window(K, m, p, 1)  # L2 [E3.4]
    T = least_exponent(K, p.L0 * p.R, p.alpha)  # L3 [E3.4]
    pull = p.L0  # [E3.2] the square on lines 6 and 10 with factor β/2
    g, midpoints = ProximalLoss(K, ell, pull, m, p), []
    mark_search(trace, g, a, b, T)
    for t in range(1, T + 1):  # L4
        m_t = (a + b) / 2  # L5
        rise = g.subgradient(m_t)  # [E3.3] what line 6 looks at
        if K.ge(rise, K(0)):  # L6 [E3.1]
            b = m_t  # L7
        else:  # L8
            a = m_t  # L9
        midpoints.append(m_t)
        mark_step(trace, g, m_t, b is m_t, t)
    u = (a + b) / 2  # L10 [E3.4]
    derivative = K.clip(-p.L0 * u, -p.L0, p.L0)  # [E3.4] β(m − ū)
    mark(trace, 10, "u", g.at(u))
    return OracleOutput(x * derivative, derivative, g.at(u))  # L11


def mark_search(trace: Trace | None, g: ProximalLoss, a: Real, b: Real, T: int) -> None:
    """The events of lines 1 to 3."""
    if trace is None:
        return
    trace.mark(1, "m", g.m)
    trace.mark(2, "a", g.at(a))
    trace.mark(2, "b", g.at(b))
    trace.mark(3, "T", T)


def mark_step(trace: Trace | None, g: ProximalLoss, m_t: Real, left: bool, t: int) -> None:
    """The events of one step: the midpoint, and which half is kept."""
    if trace is None:
        return
    trace.mark(5, "m_t", g.at(m_t), t)
    trace.mark(6, "keep", "left" if left else "right", t)


def least_exponent(K: Numbers, x: Real, y: Real) -> int:
    """The smallest T ≥ 0 with x ≤ 2^T·y, that is max(0, ⌈log2(x/y)⌉), decided in `K` without a logarithm."""
    T = 0
    while not K.le(x, y * 2**T):
        T += 1
    return T


# ---------------------------------------------------------------------------------------- other oracles


@implements("lem:oracle")
def value_oracle(
    K: Numbers, w: Vector, x: Vector, ell: ScalarLoss, p: OracleParameters, trace: Trace | None = None
) -> OracleOutput:
    """The search by values that is sound: quarter points, three quarters stay, ⌈log_{4/3}(L0R/α)⌉ steps.

    For exact arithmetic and for many digits. In binary64 two values of h that differ by less than an ulp of h
    compare at random, which happens within √(2^{−52}|h|/β) of the minimiser: the derivative stalls at an error of
    √(2^{−52}|h|β).
    """
    p.count.calls += 1
    m = w @ x
    a, b = window(K, m, p, 1)
    h = ProximalLoss(K, ell, p.L0, m, p)
    for t in range(1, value_search_length(K, p.L0 * p.R, p.alpha) + 1):
        left, right = a + (b - a) / 4, b - (b - a) / 4
        if K.ge(h.value(left), h.value(right)):
            a = left
        else:
            b = right
        mark(trace, 5, "m_t", h.at((a + b) / 2), t)
    u = (a + b) / 2
    derivative = K.clip(-p.L0 * u, -p.L0, p.L0)
    mark(trace, 10, "u", h.at(u))
    return OracleOutput(x * derivative, derivative, h.at(u))


def value_search_length(K: Numbers, x: Real, y: Real) -> int:
    """The smallest T ≥ 0 with x·3^T ≤ y·4^T, that is ⌈log_{4/3}(x/y)⌉."""
    T = 0
    while not K.le(x * 3**T, y * 4**T):
        T += 1
    return T


@implements("lem:oracle")
def closed_form_oracle(
    K: Numbers, w: Vector, x: Vector, ell: ScalarLoss, p: OracleParameters, trace: Trace | None = None
) -> OracleOutput:
    """∇f_β itself, for losses whose proximal point has a closed form: error 0 (α is not used)."""
    p.count.calls += 1
    m = w @ x
    u = prox(K, ell, p.beta, m, p.M)
    derivative = p.beta * (m - u)
    mark(trace, 10, "u", u)
    return OracleOutput(x * derivative, derivative, u)


# ------------------------------------------------------------------------------------------------ claims


@claims("lem:oracle")
def oracle_error(K: Numbers, p: OracleParameters) -> Real:
    """α ≥ ‖O(w, z) − ∇f_β(w, z)‖_* for ‖x‖_* ≤ R."""
    return p.alpha


@claims("lem:oracle")
def oracle_error_binary64(p: OracleParameters, m: float) -> float:
    """α + R(2β·ulp(|m| + L0/β) + L0·2^{−49}) ≥ ‖O − ∇f_β‖_* in binary64, at the prediction m that it sees.

    A test at τ looks at ℓ at a point within an ulp of m + τr: it is the exact test of a prediction m' with
    |m' − m| ≤ ulp. The offset τ* of the minimiser is (β/L0)-Lipschitz in m, so τ* is at most (β/L0)·ulp outside the
    last cell. The last term covers the rounding of a smooth ℓ'. ∎ For the theorems' α = L0R/(n ln n) and |m| ≤ 4
    the excess over α is below 3.5e-4·α up to n = 10^7, and it shows only where n ln n is that near to a power of
    two from below (n = 8417131).
    """
    reach = abs(m) + p.L0 / p.beta
    return float(p.alpha + p.R * (2 * p.beta * math.ulp(reach) + p.L0 * math.ldexp(1, -49)))


@claims("lem:oracle")
def oracle_evaluations(K: Numbers, p: OracleParameters) -> int:
    """⌈log2(L0R/α)⌉ subgradients a call, exactly (0 from α = L0R on)."""
    return least_exponent(K, p.L0 * p.R, p.alpha)


@claims("lem:oracle", "printed")
def oracle_evaluations_printed(K: Numbers, p: OracleParameters) -> int:
    """3⌈log2(16L0²R²/α²)⌉ values a call: two a step on line 6, one a step on line 10."""
    return 3 * least_exponent(K, 16 * p.L0 * p.L0 * p.R * p.R, p.alpha * p.alpha)


def quantum(K: Numbers, p: OracleParameters) -> Real:
    """2L0·2^{−T}: the spacing of the values that the corrected oracle's derivative can take (T as in
    `oracle_evaluations`).

    They are −L0 + (j + 1/2)·quantum, j = 0, …, 2^T − 1; the error is at most half of it.
    """
    return 2 * p.L0 * K(Fraction(1, 2 ** oracle_evaluations(K, p)))
