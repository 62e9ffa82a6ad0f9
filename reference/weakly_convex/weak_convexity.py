"""Weak convexity, regular subdifferentials, directional derivatives, normal cones and the stationarity gap.

===========================  =================================================================================
paper                        here
===========================  =================================================================================
eq. (9), Definition 22       `defect` (any function, any ℓ_p), `modulus` and `violation` (exact, on the line)
Definition 23, ∂f(w)         `subdifferential` (line), `MaxOfQuadratics.generators` (ℝ^d)
f'(w; e)                     `directional_derivative`; as printed, `directional_derivative_printed`
Proposition 24               `from_directions`: {g : ⟨g, e⟩ ≤ f'(w; e) for all e}
Proposition 25               `subgradient_defect`
Corollary 26                 `smooth_defect`
Theorem 27 (sum rule)        `sum_rule`
Proposition 28               `distance_to_zero`, `steepest_descent`
Proposition 29               `stationary_subgradient`
N_W(w)                       `in_normal_cone`, `in_normal_cone_printed`
Gap_f(w)                     `gap`, `gap_printed` (line), `gap_of_hull` (ℝ^d, polytopes)
===========================  =================================================================================

On the line everything is a rational number, so the definitions are executed and not approximated: the liminf of
(f(v) − f(w) − g(v−w))/|v−w| as v → w is min{f'(w+) − g, g − f'(w−)}, hence ∂f(w) = [f'(w−), f'(w+)], empty at a
concave kink.

Three proofs that the paper leaves open or takes a detour for:

*Sum rule.* All norms on ℝ^d are equivalent, so a weakly convex f has f + (c/2)‖·‖_2² convex for some c, finite, hence
continuous. Then ∂(f+g) = ∂(f + c/2‖·‖² + g) − c·id = ∂(f + c/2‖·‖²) + ∂g − c·id = ∂f + ∂g by the convex sum rule.

*Stationarity.* If w* minimises f over W then 0 ∈ ∂(f + χ_W)(w*) straight from the liminf, so by the sum rule there
is g ∈ ∂f(w*) with −g ∈ N_W(w*). Neither a distance formula nor closedness is needed. f must be weakly convex on
ℝ^d: the Lipschitz (McShane) extension of a weakly convex f on W need not be (see the counterexamples). A weakly
convex one exists: f + (c/2)‖·−w*‖_2² is convex and Lipschitz on a bounded W, its infimal convolution with a large
multiple of the norm is a convex extension; subtract the square.

*The gap does not depend on the extension.* For weakly convex extensions f_1, f_2 of f: ∂f_1 + N_W = ∂(f + χ_W) =
∂f_2 + N_W at w, and adding n ∈ N_W(w) to g only raises sup_{v∈W}⟨g+n, w−v⟩, because ⟨n, w−v⟩ ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import INF, Numbers, Real, Vector, norm
from reference.numerics.preconditions import require
from reference.paper.registry import claims, implements
from reference.weakly_convex.functions import PiecewiseQuadratic, Point, inner, modulus
from reference.weakly_convex.games import matrix_game

Interval = tuple[Fraction, Fraction]
"""[a, b] ⊂ ℚ."""

# --------------------------------------------------------------------------------------- weak convexity


@implements("eqn:wk_cvx")
@implements("defn:weak_convexity")
def defect(K: Numbers, f: Callable[[Vector], Real], p: Any, rho: Real, w: Vector, v: Vector, lam: Real) -> Real:
    """λf(w) + (1−λ)f(v) + ρλ(1−λ)‖w−v‖²/2 − f(λw + (1−λ)v): at least 0 everywhere iff f is ρ-weakly convex."""
    length = norm(K, w - v, p)
    chord = lam * f(w) + (1 - lam) * f(v)
    return chord + rho * lam * (1 - lam) * length * length / 2 - f(w * lam + v * (1 - lam))


def line_defect(f: PiecewiseQuadratic, rho: Fraction, w: Fraction, v: Fraction, lam: Fraction) -> Fraction:
    """`defect` on the line, exactly."""
    chord = lam * f(w) + (1 - lam) * f(v) + rho * lam * (1 - lam) * (w - v) ** 2 / 2
    return chord - f(lam * w + (1 - lam) * v)


@dataclass(frozen=True)
class Violation:
    """Two points and a weight at which weak convexity fails, and by how much (a negative defect)."""

    w: Fraction
    v: Fraction
    lam: Fraction
    defect: Fraction


def violation(f: PiecewiseQuadratic, rho: Fraction | int) -> Violation | None:
    """A witness that f is not ρ-weakly convex, or None exactly if it is (`modulus` decides)."""
    rho = Fraction(rho)
    if modulus(f) <= rho:
        return None
    for kink, jump in f.bends():
        if jump < 0:
            return _at_kink(f, rho, kink)
    return _on_arch(f, rho)


def _at_kink(f: PiecewiseQuadratic, rho: Fraction, kink: Fraction) -> Violation:
    h = Fraction(1)
    while (found := line_defect(f, rho, kink - h, kink + h, Fraction(1, 2))) >= 0:
        h /= 2
    return Violation(kink - h, kink + h, Fraction(1, 2), found)


def _on_arch(f: PiecewiseQuadratic, rho: Fraction) -> Violation:
    bounds = [None, *f.kinks, None]
    i = max(range(len(f.pieces)), key=lambda j: -f.pieces[j][0])
    low, high = bounds[i], bounds[i + 1]
    w = low if low is not None else (high - 1 if high is not None else Fraction(0))
    v = high if high is not None else w + 1
    return Violation(w, v, Fraction(1, 2), line_defect(f, rho, w, v, Fraction(1, 2)))


# --------------------------------------------------------------------------------------- subdifferential


@implements("defn:regular_subdifferential")
def subdifferential(f: PiecewiseQuadratic, w: Fraction | int) -> Interval | None:
    """∂f(w) = [f'(w−), f'(w+)], or None where it is empty."""
    left, right = f.slopes(w)
    return (left, right) if left <= right else None


def subgradient_liminf(f: PiecewiseQuadratic, w: Fraction | int, g: Fraction | int) -> Fraction:
    """liminf_{v→w}(f(v) − f(w) − g(v−w))/|v−w| = min{f'(w+) − g, g − f'(w−)}: Definition 23 asks for ≥ 0."""
    left, right = f.slopes(w)
    return min(right - g, g - left)


def directional_derivative(f: PiecewiseQuadratic, w: Fraction | int, e: Fraction | int) -> Fraction:
    """liminf_{ε↓0, c→e}(f(w+εc) − f(w))/ε: one-sided in ε (for Lipschitz f the limit in c changes nothing)."""
    left, right = f.slopes(w)
    return right * e if e > 0 else left * e


def directional_derivative_printed(f: PiecewiseQuadratic, w: Fraction | int, e: Fraction | int) -> Fraction:
    """liminf_{ε→0}(f(w+εe) − f(w))/ε as printed: ε of both signs, so the smaller of the two one-sided limits."""
    left, right = f.slopes(w)
    return min(right * e, left * e)


@claims("prop:loc_subdiff")
def from_directions(
    f: PiecewiseQuadratic,
    w: Fraction | int,
    derivative: Callable[[PiecewiseQuadratic, Fraction | int, Fraction | int], Fraction] = directional_derivative,
) -> Interval | None:
    """{g : g·e ≤ f'(w; e) for all e} = [−f'(w; −1), f'(w; 1)], or None where it is empty."""
    low, high = -derivative(f, w, -1), derivative(f, w, 1)
    return (low, high) if low <= high else None


def hull_derivative(generators: Sequence[Point], e: Point) -> Fraction:
    """f'(w; e) = max_i⟨g_i, e⟩ of a maximum of smooth functions with active gradients g_i."""
    return max(inner(g, e) for g in generators)


@claims("prop:wk_cvx_subdifferential")
@claims("eqn:subgrad_weak_cvx")
def subgradient_defect(f: PiecewiseQuadratic, rho: Fraction, w: Fraction, v: Fraction, g: Fraction) -> Fraction:
    """f(v) − f(w) − g(v−w) + (ρ/2)(v−w)²: ≥ 0 for all v and g ∈ ∂f(w) iff f is ρ-weakly convex."""
    return f(v) - f(w) - g * (v - w) + rho * (v - w) ** 2 / 2


@claims("cor:smooth_implies_wk_cvx")
def smooth_defect(
    K: Numbers,
    f: Callable[[Vector], Real],
    gradient: Callable[[Vector], Vector],
    p: Any,
    L1: Real,
    w: Vector,
    v: Vector,
) -> Real:
    """f(v) − f(w) − ⟨∇f(w), v−w⟩ + (L1/2)‖v−w‖²: ≥ 0 for an L1-smooth f."""
    length = norm(K, v - w, p)
    return f(v) - f(w) - gradient(w) @ (v - w) + L1 * length * length / 2


@claims("thm:sum_subdiff")
def sum_rule(
    f: PiecewiseQuadratic, g: PiecewiseQuadratic, w: Fraction | int
) -> tuple[Interval | None, Interval | None]:
    """(∂(f+g)(w), ∂f(w) + ∂g(w)): equal for weakly convex f and convex g."""
    whole, one, two = subdifferential(f + g, w), subdifferential(f, w), subdifferential(g, w)
    return whole, (one[0] + two[0], one[1] + two[1]) if one and two else None


# ----------------------------------------------------------------------- distance of ∂f from 0 (Prop. 28)


@claims("prop:dist_directional")
def distance_to_zero(generators: Sequence[Point], norm_name: str = "l1") -> Fraction:
    """dist_*(0, conv{g_i}) in the norm dual to ℓ_1 (max norm) or to ℓ_∞ (ℓ_1 norm): the dual one, exactly.

    min_{λ}‖Σλ_ig_i‖_* = min_λ max_{e ∈ ball}⟨Σλ_ig_i, e⟩, a matrix game over the vertices of the unit ball.
    """
    return matrix_game([[inner(g, e) for e in unit_ball(len(g), norm_name)] for g in generators]).value


def steepest_descent(generators: Sequence[Point], norm_name: str = "l1") -> Fraction:
    """−inf_{‖e‖≤1}f'(w; e) = max_e min_i⟨g_i, −e⟩, solved on its own side (the ball's vertices mix, the g_i
    answer).
    """
    ball = unit_ball(len(generators[0]), norm_name)
    return -matrix_game([[inner(g, e) for g in generators] for e in ball]).value


def unit_ball(d: int, norm_name: str) -> list[Point]:
    """The vertices of the unit ball of ℓ_1 ("l1") or ℓ_∞ ("linf")."""
    require(norm_name in ("l1", "linf"), "norm_name", norm_name, 'be "l1" or "linf"', "only these balls are polytopes")
    if norm_name == "l1":
        return [tuple(Fraction(s * int(i == j)) for i in range(d)) for s in (1, -1) for j in range(d)]
    signs = range(2**d)
    return [tuple(Fraction(1 - 2 * (mask >> j & 1)) for j in range(d)) for mask in signs]


# ---------------------------------------------------------------------------------- normal cone and gap


def in_normal_cone(W: Interval, w: Fraction | int, n: Fraction | int) -> bool:
    """n ∈ N_W(w) for W = [a, b]: n(v−w) ≤ 0 for all v ∈ W, n any number."""
    return all(n * (v - w) <= 0 for v in W)


def in_normal_cone_printed(W: Interval, w: Fraction | int, n: Fraction | int) -> bool:
    """As printed the cone also asks for n ∈ W."""
    return W[0] <= n <= W[1] and in_normal_cone(W, w, n)


def largest_fall(W: Interval, w: Fraction | int, g: Fraction | int) -> Fraction:
    """sup_{v∈W} g(w−v) for W = [a, b]."""
    return max(Fraction(g * (w - v)) for v in W)


@implements("eqn:stat_gap_wk_cvx")
def gap(f: PiecewiseQuadratic, W: Interval, w: Fraction | int) -> Fraction | float:
    """inf_{g∈∂f(w)} sup_{v∈W} g(w−v); ∞ where ∂f(w) is empty.

    For w ∈ W the supremum is 0 at g = 0 and grows with |g| on either side, so the g nearest 0 attains the infimum.
    """
    found = subdifferential(f, w)
    return INF if found is None else largest_fall(W, w, _nearest_zero(found))


def _nearest_zero(interval: Interval) -> Fraction:
    return min(max(Fraction(0), interval[0]), interval[1])


@implements("eqn:stat_gap_wk_cvx", "printed")
def gap_printed(f: PiecewiseQuadratic, W: Interval, w: Fraction | int) -> Fraction | float:
    """inf_{g∈∂f(w)} sup_{v∈W} g(v−w), the printed sign."""
    found = subdifferential(f, w)
    return INF if found is None else max(Fraction(_nearest_zero(found) * (v - w)) for v in W)


def gap_of_hull(generators: Sequence[Point], vertices: Iterable[Point], w: Point) -> Fraction:
    """inf_{g∈conv{g_i}} sup_{v∈conv{v_j}}⟨g, w−v⟩ as an exact matrix game: Lagrange duality without a gap."""
    corners = list(vertices)
    return matrix_game([[inner(g, w) - inner(g, v) for v in corners] for g in generators]).value


@claims("prop:opt_cond_wk_cvx")
def stationary_subgradient(f: PiecewiseQuadratic, W: Interval, w: Fraction | int) -> Fraction | None:
    """A g ∈ ∂f(w) with g(v−w) ≥ 0 for all v ∈ W, or None if there is none."""
    found = subdifferential(f, w)
    if found is None:
        return None
    candidates = (*found, _nearest_zero(found))
    return next((g for g in candidates if all(g * (v - w) >= 0 for v in W)), None)


def minimisers(f: PiecewiseQuadratic, W: Interval) -> list[Fraction]:
    """The points of [a, b] with the smallest value among ends, kinks and stationary points of the pieces."""
    bounds = [W[0], *(k for k in f.kinks if W[0] < k < W[1]), W[1]]
    stationary = [-b / (2 * a) for a, b, _ in f.pieces if a]
    candidates = {*bounds, *(v for v in stationary if W[0] <= v <= W[1])}
    best = min(f(v) for v in candidates)
    return sorted(v for v in candidates if f(v) == best)
