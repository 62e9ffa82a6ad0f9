"""The geometry of ℓ_p̄ and the composite mirror step with its duality-gap certificate.

=================  =======================================================================================
paper / notes      here
=================  =======================================================================================
p, d               `Geometry.p`, `Geometry.d`
p̄                  `Geometry.p_bar` = max{p, 1 + 1/max{1, ln d}}
q̄                  `Geometry.q_bar`, conjugate to p̄
κ = 1/(p̄−1)        `Geometry.kappa`
C = d^{1/p−1/p̄}    `Geometry.C`: ‖x‖_p ≤ C‖x‖_p̄, hence ‖g‖_q̄ ≤ C‖g‖_q
½‖·‖²_p̄            `half_square`; its gradient `duality_map`, the inverse of that `dual_map`
h = (κ/2)‖·‖²_p̄    1-strongly convex with respect to ‖·‖_p̄; `bregman` is D_h(x, y)
=================  =======================================================================================

Why h is 1-strongly convex: ½‖·‖²_p is (p−1)-strongly convex with respect to ‖·‖_p for 1 < p ≤ 2 (Ball, Carlen and
Lieb 1994; the constant is attained at x = (1, −1), direction (1, 1)).

**The step.** Around a centre w the algorithms minimise O(u) = (A/2)‖u‖² − ⟨θ, u⟩ over the u with ‖u‖_p̄ ≤ r and w +
u ∈ W. On the sphere ‖u‖ = s the linear term is at most s‖θ‖_q̄, attained in the direction of sgn(θ)|θ|^{q̄−1}; so
without W the minimiser is that direction with s = min{r, ‖θ‖_q̄/A}. If the point lies in W it is the answer.
Otherwise `constrained_step` solves the optimality conditions by one-dimensional roots (next paragraph), for general
polytopes and p̄ = 2 by the nearest point of a hull (`hull_point`).

**Roots.** For fixed τ > 0 and ν let u(τ, ν) minimise τ‖u‖_p̄^p̄/p̄ + ν·ψ(w+u) − ⟨θ, u⟩, where W = {ψ ≤ const};
coordinates separate. The larger ν, the smaller ψ (compare the two minimisers in each other's objective), so ν(τ)
with ψ tight is a monotone root; likewise ‖u‖ falls in τ. The smallest τ with τ ≥ A‖u‖^{2−p̄} and ‖u‖ ≤ r satisfies
the conditions of the step, with the effective coefficient a = τ‖u‖^{p̄−2} ≥ A (a = A unless the ball is tight). On the
simplex the constraint is Σu = 0 with u ≥ −w: coordinates are max{−w_j, J^{−1}((θ_j−ν)/τ)}, and their sum falls in ν.

**Polytopes**, p̄ = 2: (a/2)‖u‖² − ⟨θ, u⟩ is smallest over W − w at the projection of θ/a, and ‖u‖ falls in a; a = A
unless the ball is tight. Points of a simplex or a polytope are made from weights of vertices, and so lie in W.

**Certificate.** Let u be feasible, a ≥ A and g = a·∇½‖u‖² − θ. On the ball, O(v) ≥ ℓ(v) := (a/2)‖v‖² − ⟨θ, v⟩ −
((a−A)/2)r², because the difference is ((a−A)/2)(r² − ‖v‖²) ≥ 0. And ℓ(v) = ℓ(u) + ⟨g, v−u⟩ + a·D(v, u), D the
Bregman distance of ½‖·‖². With ⟨g, v−u⟩ ≥ min_{x∈W}⟨g, x⟩ − ⟨g, w+u⟩ and O(u) − ℓ(u) = ((a−A)/2)(r² − ‖u‖²) this
gives, for **every** feasible v,

    O(v) ≥ O(u) − gap + A·D(v, u),   gap = ⟨g, w+u⟩ − min_{x∈W}⟨g, x⟩ + ((a−A)/2)(r² − ‖u‖²).

That is the three-point inequality of an exact step with slack `gap`, for any feasible u and any a ≥ A: nothing has
to be believed about the root finder. A distance to the exact minimiser would not do: ∇h is only (p̄−1)-Hölder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import (
    INF,
    MP,
    Ball,
    BallScalar,
    Exact,
    Float64,
    Numbers,
    Real,
    Undecided,
    Vector,
    certainly,
    dual_exponent,
    dual_norm,
    norm,
)
from reference.numerics.preconditions import require
from reference.setting.sets import Box, BoxPolytope, CrossPolytope, FeasibleSet, LpBall, Polytope, Simplex, WholeSpace
from reference.weakly_convex.hull_point import nearest_weights

# -------------------------------------------------------------------------------------------- geometry


@dataclass(frozen=True)
class Geometry:
    """The exponents and constants of one (p, d) in one number system."""

    p: Exact
    d: int
    p_bar: Any
    q_bar: Any
    kappa: Real
    C: Real

    @property
    def euclidean(self) -> bool:
        """Whether p̄ = 2 exactly: then the mirror map is the identity."""
        return isinstance(self.p_bar, (int, Fraction)) and self.p_bar == 2


def geometry(K: Numbers, p: int | Fraction, d: int) -> Geometry:
    """p̄ = max{p, 1 + 1/max{1, ln d}} and what follows from it. Exact where p̄ is rational."""
    check_exponent(p)
    require(isinstance(d, int) and d >= 1, "d", d, "be a positive integer", "give the dimension of the space")
    p_bar = _p_bar(K, Fraction(p), d)
    kappa = 1 / (K(p_bar) - 1)
    C = K.power(K(d), 1 / K(p) - 1 / K(p_bar)) if not _same(p, p_bar) else K(1)
    return Geometry(p, d, p_bar, dual_exponent(p_bar), kappa, C)


def check_exponent(p: Exact) -> None:
    """Refuse p outside [1, 2]."""
    require(
        isinstance(p, (int, Fraction)) and 1 <= p <= 2,
        "p",
        p,
        "be an int or a Fraction in [1, 2]",
        "the squared norm of ℓ_p is strongly convex only there (p = 1 through p̄)",
    )


def _p_bar(K: Numbers, p: Fraction, d: int) -> Any:
    if d <= 2 or p == 2:  # ln d < 1, so max{1, ln d} = 1 and p̄ = 2
        return 2
    threshold = 1 + 1 / K.log(K(d))
    return threshold if K.lt(K(p), threshold) else p


def _same(p: Exact, p_bar: Any) -> bool:
    return isinstance(p_bar, (int, Fraction)) and p == p_bar


def p_bar_printed(K: Numbers, p: int | Fraction, d: int) -> Real:
    """max{p, 1 + 1/ln d} as printed: no value at d = 1, above 2 at d = 2."""
    require(d >= 2, "d", d, "be at least 2 in the printed text, which divides by log d", "read max{1, log d} for log d")
    return K.max(K(p), 1 + 1 / K.log(K(d)))


# ------------------------------------------------------------------------------------------ mirror map


def size(K: Numbers, geo: Geometry, u: Vector) -> Real:
    """‖u‖_p̄."""
    return norm(K, u, geo.p_bar)


def dual_size(K: Numbers, geo: Geometry, g: Vector) -> Real:
    """‖g‖_q̄."""
    return norm(K, g, geo.q_bar)


def half_square(K: Numbers, geo: Geometry, u: Vector) -> Real:
    """½‖u‖²_p̄."""
    length = size(K, geo, u)
    return length * length / 2


def duality_map(K: Numbers, geo: Geometry, u: Vector) -> Vector:
    """∇(½‖·‖²_p̄)(u) = ‖u‖^{2−p̄} sgn(u)|u|^{p̄−1}; its dual norm is ‖u‖. ∇h is κ times this."""
    if geo.euclidean:
        return u
    return _signed_power(K, u, K(geo.p_bar) - 1, size(K, geo, u))


def dual_map(K: Numbers, geo: Geometry, theta: Vector) -> Vector:
    """∇(½‖·‖²_q̄)(θ): the inverse of `duality_map`."""
    if geo.euclidean:
        return theta
    return _signed_power(K, theta, K(geo.q_bar) - 1, dual_size(K, geo, theta))


def _signed_power(K: Numbers, u: Vector, exponent: Real, length: Real) -> Vector:
    """length·sgn(u)(|u|/length)^exponent, and 0 at 0. The dual norm is the length: what may be 0 is enclosed by it."""
    if _may_be_zero(length):
        return K.vector([_hull(K, length) for _ in u])
    if not K.lt(K(0), length):
        return K.zeros(len(u))
    return K.vector([length * signed(K, x, K.power(K.abs(x) / length, exponent)) for x in u])


def _may_be_zero(length: Real) -> bool:
    """Whether a ball holds 0 and other numbers: one that is exactly 0 is decided as any number is."""
    return isinstance(length, BallScalar) and length.rad > 0 and length.contains(0)


def signed(K: Numbers, x: Real, magnitude: Real) -> Real:
    """sgn(x)·magnitude with sgn 0 = 0. On a ball that touches 0 both signs are enclosed."""
    if isinstance(x, BallScalar):
        return magnitude * x / K.abs(x) if not x.contains(0) else _hull(K, magnitude)
    return magnitude if x > 0 else -magnitude


def _hull(K: Numbers, magnitude: Any) -> Real:
    """The ball [−m, m] for the upper end m of a ball."""
    top = magnitude.mid + magnitude.rad
    return BallScalar(K, K(-top).ball.union(K(top).ball))  # type: ignore[arg-type]


def bregman(K: Numbers, geo: Geometry, x: Vector, y: Vector) -> Real:
    """D_h(x, y) = h(x) − h(y) − ⟨∇h(y), x − y⟩ for h = (κ/2)‖·‖²_p̄ (both relative to the centre)."""
    inner = half_square(K, geo, x) - half_square(K, geo, y) - duality_map(K, geo, y) @ (x - y)
    return geo.kappa * inner


# -------------------------------------------------------------------------------------------- the step


@dataclass(frozen=True)
class Step:
    """A feasible point u of the step, the slack of its three-point inequality, and whether W was binding."""

    u: Vector
    gap: Real
    binding: bool


def mirror_step(
    K: Numbers, geo: Geometry, W: FeasibleSet, w: Vector, theta: Vector, A: Real, radius: Real | None
) -> Step:
    """argmin (A/2)‖u‖²_p̄ − ⟨θ, u⟩ over ‖u‖_p̄ ≤ radius (None: no ball), w + u ∈ W, with its gap."""
    W = underlying(W)
    if _may_be_zero(dual_size(K, geo, theta)):  # then staying is nearly the step, and its gap says how nearly
        stay = K.zeros(len(w))
        return Step(stay, step_gap(K, geo, W, w, stay, theta, A, A, radius), False)
    u = ball_step(K, geo, theta, A, radius)
    if _surely_inside(K, W, w + u):
        return Step(u, rounding(K, geo, w, u, theta, A), False)
    return constrained_step(K, geo, W, w, theta, A, radius)


def _surely_inside(K: Numbers, W: FeasibleSet, x: Vector) -> bool:
    """Whether x ∈ W; "no" where it is too close to call, since the constrained step is right in either case."""
    if isinstance(W, WholeSpace | Simplex):
        return isinstance(W, WholeSpace)
    return certainly(W.contains, K, x)


def ball_step(K: Numbers, geo: Geometry, theta: Vector, A: Real, radius: Real | None) -> Vector:
    """The closed form when W is slack: s·sgn(θ)(|θ|/‖θ‖_q̄)^{q̄−1}, s = min{radius, ‖θ‖_q̄/A}."""
    length = dual_size(K, geo, theta)
    if not K.lt(K(0), length):
        return K.zeros(len(theta))
    s = length / A if radius is None else K.min(radius, length / A)
    found: Vector = dual_map(K, geo, theta) * (s / length)
    return found


def objective(K: Numbers, geo: Geometry, u: Vector, theta: Vector, A: Real) -> Real:
    """(A/2)‖u‖² − ⟨θ, u⟩."""
    return A * half_square(K, geo, u) - theta @ u


def step_gap(
    K: Numbers,
    geo: Geometry,
    W: FeasibleSet,
    w: Vector,
    u: Vector,
    theta: Vector,
    A: Real,
    a: Real,
    radius: Real | None,
) -> Real:
    """The certificate of the module docstring, for a feasible u and any a ≥ A (a = A without a ball)."""
    g = duality_map(K, geo, u) * a - theta
    gap = g @ (w + u) - linear_minimum(K, W, g)
    if radius is None:
        return K.max(gap, K(0))
    length = size(K, geo, u)
    return K.max(gap, K(0)) + (a - A) / 2 * K.max(radius * radius - length * length, K(0))


def unit_roundoff(K: Numbers) -> Fraction:
    """About the relative error of one operation; 0 for balls, whose results enclose."""
    if isinstance(K, Float64):
        return Fraction(1, 10**15)
    return Fraction(1, 10 ** (K.digits - 1)) if isinstance(K, MP) else Fraction(0)


def rounding(K: Numbers, geo: Geometry, w: Vector, u: Vector, theta: Vector, A: Real) -> Real:
    """What rounding alone may leave in a gap: unit roundoff × (A‖u‖² + ‖θ‖(‖u‖ + ‖w‖))."""
    length, slope = size(K, geo, u), dual_size(K, geo, theta)
    return K(unit_roundoff(K)) * (A * length * length + slope * (length + size(K, geo, w)))


# -------------------------------------------------------------------- the step when W binds: 1-d roots


@dataclass(frozen=True)
class _Shape:
    """W relative to the centre of the step: what one coordinate's problem needs."""

    kind: str  # "ball" | "box" | "simplex"
    offset: tuple[Real, ...] = ()  # ball: w − centre of W; simplex: w
    radius: Real = None
    power: Any = None
    low: tuple[Real, ...] = ()
    high: tuple[Real, ...] = ()


def constrained_step(
    K: Numbers, geo: Geometry, W: FeasibleSet, w: Vector, theta: Vector, A: Real, radius: Real | None
) -> Step:
    """The step when the closed form leaves W: monotone roots for a candidate, then the certificate in K.

    On balls the candidate is found with mpmath at the balls' precision and then treated as the exact point that it
    is; the gap is computed in balls, so its upper end is a proof.
    """
    if isinstance(W, Simplex | Polytope):
        return _hull_step(K, geo, W, w, theta, A, radius)
    if isinstance(K, Ball):
        return _constrained_on_balls(K, geo, W, w, theta, A, radius)
    stay = K.zeros(len(w))
    gap, room = step_gap(K, geo, W, w, stay, theta, A, A, None), rounding(K, geo, w, stay, theta, A)
    if gap <= room:  # θ points out of W at w: no τ moves the point, and there is no root to look for
        return Step(stay, room, True)
    u, a = _Roots(K, geo, _shape(K, W, w), tuple(theta), A, radius).solve()
    u = _pull_inside(K, geo, W, w, u, radius)
    gap = step_gap(K, geo, W, w, u, theta, A, a, radius)
    return Step(u, K.max(gap, rounding(K, geo, w, u, theta, A)), True)


def _constrained_on_balls(
    K: Ball, geo: Geometry, W: FeasibleSet, w: Vector, theta: Vector, A: Real, radius: Real | None
) -> Step:
    work = MP(K.bits * 3 // 10 + 1)
    near = geometry(work, Fraction(geo.p), geo.d)

    def middle(x: Any) -> Real:
        return work(x.mid)

    w_near, theta_near = work.vector(map(middle, w)), work.vector(map(middle, theta))
    limit = None if radius is None else middle(radius)
    roots = _Roots(work, near, _shape(work, W, w_near), tuple(theta_near), middle(A), limit)
    u_near, a_near = roots.solve()
    shrink = 1 - work(Fraction(1, 2 ** (K.bits // 2)))  # strictly inside, so that membership is decided
    u = K.vector([K(_fraction(x * shrink)) for x in u_near])
    a = K.max(A, K(_fraction(a_near)))
    u = _pull_inside(K, geo, W, w, u, radius)
    return Step(u, step_gap(K, geo, W, w, u, theta, A, a, radius), True)


def _fraction(x: Any) -> Fraction:
    """The exact value of an mpmath number."""
    sign, mantissa, exponent, _ = x._mpf_
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude


SLACK = Fraction(1, 2**40)
"""By how much a centre that is rounded may miss W: as much as a start of a run."""


def _pull_inside(K: Numbers, geo: Geometry, W: FeasibleSet, w: Vector, u: Vector, radius: Real | None) -> Vector:
    """u, shortened by as little as makes it feasible: w itself is in W, and W and the ball are convex.

    A w on the boundary as it is rounded, where K calls no point near it feasible, stays where it is.
    """
    step = Fraction(1, 2**52) if isinstance(K, Float64) else Fraction(1, 2 ** (_bits(K) // 2))
    for _ in range(2 * _bits(K)):
        if certainly(_feasible, K, geo, W, w, u, radius):
            return u
        u, step = u * K(1 - step), min(step * 2, Fraction(1, 2))
    try:
        near = W.contains(K, w, slack=SLACK)
    except Undecided:
        near = True
    require(near, "w", tuple(K.to_float(x) for x in w), "lie in W", "project it first")
    return K.zeros(len(w))


def _feasible(K: Numbers, geo: Geometry, W: FeasibleSet, w: Vector, u: Vector, radius: Real | None) -> bool:
    return W.contains(K, w + u) and (radius is None or K.le(size(K, geo, u), radius))


def _bits(K: Numbers) -> int:
    return K.bits if isinstance(K, Ball) else K.digits * 3 if isinstance(K, MP) else 52


def _shape(K: Numbers, W: FeasibleSet, w: Vector) -> _Shape:
    """The sets for which the step has one multiplier and separable coordinates."""
    if isinstance(W, Simplex):
        return _Shape("simplex", tuple(w), K(W.scale))
    if isinstance(W, LpBall) and W.p != INF:
        return _Shape("ball", tuple(w - W.centre(K)), K(W.radius), W.p)
    if isinstance(W, LpBall):
        centre, r = W.centre(K), K(W.radius)
        return _Shape(
            "box",
            low=tuple(c - r - x for c, x in zip(centre, w, strict=True)),
            high=tuple(c + r - x for c, x in zip(centre, w, strict=True)),
        )
    if isinstance(W, Box):
        return _Shape("box", low=tuple(K.vector(W.lower) - w), high=tuple(K.vector(W.upper) - w))
    raise ValueError(
        f"W = {type(W).__name__} has no constrained mirror step: it must be an ℓ_p ball, a box, a simplex, the whole "
        "space or, for p = 2, a polytope; enclose it in one of these"
    )


def require_step(W: FeasibleSet, p: Exact = 2) -> None:
    """Refuse, before a run looks at data, a set on which steps in ℓ_p̄ cannot be taken once they leave it."""
    inner = underlying(W)
    euclidean = p == 2 or W.dim <= 2
    if not isinstance(inner, WholeSpace) and not (euclidean and isinstance(inner, Polytope)):
        _shape(Float64(), inner, inner.centre(Float64()))


# ------------------------------------------------------------------------- the step on hulls of vertices


def _hull_step(
    K: Numbers, geo: Geometry, W: Simplex | Polytope, w: Vector, theta: Vector, A: Real, radius: Real | None
) -> Step:
    """The step over a simplex or a polytope: weights of vertices for a candidate, then the certificate in K.

    On balls the weights are found with mpmath, made exact and divided by their sum: the point is a convex combination.
    """
    if isinstance(K, Ball):
        work: Numbers = MP(K.bits * 3 // 10 + 1)
        near = geometry(work, Fraction(geo.p), geo.d)
        w_near, theta_near = (work.vector([work(x.mid) for x in v]) for v in (w, theta))
        limit = None if radius is None else work(radius.mid)
        found, a_near = _hull_weights(work, near, W, w_near, theta_near, work(A.mid), limit)
        weights = [_fraction(x) for x in found]
        a = K.max(A, K(_fraction(a_near)))
    else:
        weights, a = _hull_weights(K, geo, W, w, theta, A, radius)
    u = _into_ball(K, geo, _combination(K, W, weights) - w, radius)
    gap = step_gap(K, geo, W, w, u, theta, A, a, radius)
    return Step(u, K.max(gap, rounding(K, geo, w, u, theta, A)), True)


def feasible_near(K: Numbers, geo: Geometry, W: FeasibleSet, w: Vector, u: Vector, radius: Real | None) -> Vector:
    """A point that certainly has w + u ∈ W and ‖u‖ ≤ radius, at u or as near to it as rounding lets us say so; w ∈ W.

    On a simplex or a polytope it is made from weights of vertices; elsewhere u is shortened until K can decide.
    """
    W = underlying(W)
    if not isinstance(W, Simplex | Polytope):
        return _pull_inside(K, geo, W, w, u, radius)
    work: Numbers = MP(K.bits * 3 // 10 + 1) if isinstance(K, Ball) else K
    target = work.vector([work(x.mid) if isinstance(x, BallScalar) else x for x in w + u])
    weights = nearest_weights(work, W.vertices(work), target, work(unit_roundoff(work)))
    exact = [_fraction(x) for x in weights] if isinstance(K, Ball) else weights
    return _into_ball(K, geo, _combination(K, W, exact) - w, radius)


def _combination(K: Numbers, W: Simplex | Polytope, weights: list[Any]) -> Vector:
    """The convex combination of the vertices; weights below 0 count as 0, and the rest is divided by its sum."""
    kept = [max(weight, 0) for weight in weights]
    total = sum(kept)
    x = K.zeros(W.dim)
    for v, weight in zip(W.exact_vertices, kept, strict=True):
        if weight:
            x = x + K.vector(v) * K(weight / total)
    return x


def _into_ball(K: Numbers, geo: Geometry, u: Vector, radius: Real | None) -> Vector:
    """u, shortened by as little as makes ‖u‖ ≤ radius certain; w + u stays in W, which holds w."""
    if radius is None:
        return u
    step = Fraction(1, 2**52) if isinstance(K, Float64) else Fraction(1, 2 ** (_bits(K) // 2))
    for _ in range(2 * _bits(K)):
        if certainly(K.le, size(K, geo, u), radius):
            return u
        u, step = u * K(1 - step), min(step * 2, Fraction(1, 2))
    raise ArithmeticError("the step on a hull found no point in the ball: is the centre w inside W?")


def _hull_weights(
    K: Numbers, geo: Geometry, W: Simplex | Polytope, w: Vector, theta: Vector, A: Real, radius: Real | None
) -> tuple[list[Real], Real]:
    """Weights of the vertices and the effective coefficient a ≥ A of a candidate. Not for balls."""
    if isinstance(W, Simplex):
        if theta @ w >= max(theta) * K(W.scale):  # no vertex lies in the direction θ: u = 0
            return list(w), A
        u, a = _Roots(K, geo, _shape(K, W, w), tuple(theta), A, radius).solve()
        return list(w + u), a
    if not geo.euclidean:
        p_bar = K.to_float(K(geo.p_bar))
        raise ValueError(
            f"p̄ = {p_bar:.4g}: W = {type(W).__name__} has no constrained mirror step, p̄ must be 2; take p = 2, or a "
            "simplex, a ball or a box"
        )
    vertices, tolerance = W.vertices(K), K(unit_roundoff(K))

    def of(inverse: Real) -> tuple[list[Real], Real]:
        weights = nearest_weights(K, vertices, w + theta * inverse, tolerance)
        x = K.zeros(geo.d)
        for v, weight in zip(vertices, weights, strict=True):
            x = x + v * weight
        return weights, norm(K, x - w, 2)

    weights, length = of(1 / A)
    if radius is None or length <= radius:
        return weights, A
    low, high = K(0), 1 / A  # ‖u‖ rises from 0 with 1/a: regula falsi (Illinois)
    below, above = -radius, length - radius
    inverse = high
    for _ in range(200):
        inverse = low + (high - low) * (below / (below - above))
        weights, length = of(inverse)
        if abs(length - radius) <= 4 * tolerance * radius or not low < inverse < high:
            break
        if length > radius:
            high, above, below = inverse, length - radius, below / 2
        else:
            low, below, above = inverse, length - radius, above / 2
    return weights, K.max(A, 1 / inverse)


def underlying(W: FeasibleSet) -> FeasibleSet:
    """The ball or box that a polytope of that shape is."""
    return W.shape if isinstance(W, (CrossPolytope, BoxPolytope)) else W


def linear_minimum(K: Numbers, W: FeasibleSet, g: Vector) -> Real:
    """min_{x∈W}⟨g, x⟩. For balls and boxes through the dual norm: no decision is taken, so balls always enclose."""
    if isinstance(W, LpBall):
        return g @ W.centre(K) - K(W.radius) * dual_norm(K, g, W.p)
    if isinstance(W, Box):
        return K.sum(K.min(x * K(a), x * K(b)) for x, a, b in zip(g, W.lower, W.upper, strict=True))
    if isinstance(W, Simplex):
        return K(W.scale) * _smallest(K, list(g))
    if isinstance(W, Polytope):
        return _smallest(K, [v @ g for v in W.vertices(K)])
    return g @ W.linear_minimiser(K, g)


LARGEST_POWER = 400
"""log2 of what stands for a power that binary64 does not hold: squares of it and their sums are within its range."""

SMALLEST_LOG = 600
"""−log of the smallest τ: e^−600 and its quotients are within the range of binary64."""


def _smallest(K: Numbers, values: list[Real]) -> Real:
    """The minimum without a decision which one it is."""
    least = values[0]
    for value in values[1:]:
        least = K.min(least, value)
    return least


class _Roots:
    """The candidate of the constrained step: monotone one-dimensional roots, from the outside in τ, ν, coordinates.

    Used with binary64 and mpmath only (never with balls), so comparisons are written plainly. Roots in τ and ν are
    taken in log scale by Newton's method inside a bracket; the derivatives follow by implicit differentiation from
    the coordinates' equations τJ(u_j) + νP(x_j) = θ_j, J(u) = sgn(u)|u|^{p̄−1}, P(x) = sgn(x)|x|^{s−1}, x = u +
    offset.
    """

    def __init__(self, K: Numbers, geo: Geometry, shape: _Shape, theta: tuple[Real, ...], A: Real, radius: Real | None):
        self.K, self.geo, self.shape, self.theta, self.A, self.radius = K, geo, shape, theta, A, radius
        self.power = K(geo.p_bar) - 1
        self.inverse = 1 / self.power
        self.zero = K(0)
        self.tolerance = K(unit_roundoff(K))
        self.log_nu: Real = None
        self._nu: Real = None
        self.u: list[Real] = [self.zero] * len(theta)
        if shape.kind == "ball":
            self.outer = K(shape.power) - 1
            self.log_size = K.log(shape.radius)

    def solve(self) -> tuple[Vector, Real]:
        """The candidate u and its effective coefficient a ≥ A."""
        K = self.K
        if self.geo.euclidean and self._falls(self.A)[0] <= 0:
            return K.vector(self.u), self.A
        start = size(K, self.geo, ball_step(K, self.geo, K.vector(self.theta), self.A, self.radius))
        log_tau = K.log(self.A) + (1 - self.power) * K.log(start)
        log_tau = falling_root(K, self._falls_in_log, log_tau, 4 * self.tolerance)
        tau = K.exp(log_tau)
        self._falls(tau)
        length = self._own_length()
        a = tau if self.geo.euclidean or not length > 0 else tau * K.power(length, self.power) / length
        return K.vector(self.u), K.max(self.A, a)

    def _falls_in_log(self, log_tau: Real) -> tuple[Real, Real]:
        """`_falls`; a τ too small for binary64 counts as too small, which keeps the search inside its range."""
        return self._falls(self.K.exp(log_tau)) if log_tau > -SMALLEST_LOG else (self.K(1), self.K(0))

    def _falls(self, tau: Real) -> tuple[Real, Real]:
        """Positive while τ is too small (τ < A‖u‖^{2−p̄} or ‖u‖ > radius), and its derivative in log τ."""
        K = self.K
        slope = self._settle(tau)
        length = self._own_length()
        if not length > 0:
            return -K(1), K(0)
        log_length = K.log(length)
        bend = 1 - self.power  # 2 − p̄
        slack = K.log(self.A / tau) + bend * log_length, bend * slope - 1
        if self.radius is None:
            return slack
        tight = log_length - K.log(self.radius), slope
        return tight if tight[0] > slack[0] else slack

    def _own_length(self) -> Real:
        return size(self.K, self.geo, self.K.vector(self.u))

    def _settle(self, tau: Real) -> Real:
        """Put u(τ, ν(τ)) into `self.u`; the derivative of log‖u‖ in log τ."""
        if self.shape.kind == "simplex":
            return self._on_simplex(tau)
        free = [self._unpower(t, tau) for t in self.theta]
        if self.shape.kind == "box":
            sides = zip(free, self.shape.low, self.shape.high, strict=True)
            self.u = [min(max(x, low), high) for x, low, high in sides]
            return -self._share([x == f for x, f in zip(self.u, free, strict=True)])
        if self._outer_length(free) <= self.shape.radius:
            self.u = free
            return -self.inverse
        if self.geo.euclidean and self.shape.power == 2:
            return self._two_spheres(tau)
        return self._tight(tau, free)

    def _on_simplex(self, tau: Real) -> Real:
        """Σu = 0, u ≥ −offset: the root in ν of the falling sum of max{−offset, J^{−1}((θ−ν)/τ)}."""
        low, high = min(self.theta), max(self.theta)
        nu = self._nu if self._nu is not None and low < self._nu < high else (low + high) / 2
        for _ in range(400):
            total = self._at_multiplier(tau, nu)
            if total > 0:
                low = nu
            elif total < 0:
                high = nu
            else:
                break
            compliance = self.K.sum(self._compliances(tau))
            new = nu + total / compliance if compliance > 0 else (low + high) / 2
            if not low < new < high:
                new = (low + high) / 2
            if abs(new - nu) <= self.tolerance * max(abs(low), abs(high)) or not low < new < high:
                break
            nu = new
        self._nu = nu
        self._at_multiplier(tau, nu)
        own = self.K.sum(abs(self._power(x, self.power) * x) for x in self.u)
        soft = self._compliances(tau)
        pull = [self._power(x, self.power) for x in self.u]
        all_soft = self.K.sum(soft)
        if not (own > 0 and all_soft > 0):
            return self.zero
        mean = self.K.sum(c * J for c, J in zip(soft, pull, strict=True)) / all_soft  # ν follows τ so that Σu stays 0
        return -tau * self.K.sum(c * J * (J - mean) for c, J in zip(soft, pull, strict=True)) / own

    def _at_multiplier(self, tau: Real, nu: Real) -> Real:
        """Put u(τ, ν) on the simplex's coordinates into `self.u`; its sum."""
        self.u = [
            max(-w, self._unpower(theta - nu, tau)) for theta, w in zip(self.theta, self.shape.offset, strict=True)
        ]
        return self.K.sum(self.u)

    def _compliances(self, tau: Real) -> list[Real]:
        """du/dθ of each coordinate, |u|^{2−p̄}/(τ(p̄−1)); 0 where x = 0 holds it."""
        bend = 1 - self.power
        return [
            (self.K.power(abs(x), bend) if bend and x else self.K(0 if bend else 1)) / (tau * self.power)
            if x > -w
            else self.zero
            for x, w in zip(self.u, self.shape.offset, strict=True)
        ]

    def _share(self, moving: list[bool]) -> Real:
        """κ·Σ_{moving}|u|^p̄/Σ|u|^p̄."""
        powers = [self.K.power(abs(x), self.power + 1) for x in self.u]
        total = self.K.sum(powers)
        part = self.K.sum(x for x, free in zip(powers, moving, strict=True) if free)
        return self.inverse * part / total if total > 0 else self.zero

    def _two_spheres(self, tau: Real) -> Real:
        """p̄ = s = 2: x is θ + τ·offset, scaled to the sphere."""
        K, offset = self.K, self.K.vector(self.shape.offset)
        moved = K.vector(self.theta) + offset * tau
        length = norm(K, moved, 2)
        x = moved * (self.shape.radius / length)
        u = x - offset
        self.u = list(u)
        change = (offset - moved * ((moved @ offset) / (length * length))) * (self.shape.radius / length)
        own = u @ u
        return tau * (u @ change) / own if own > 0 else self.zero

    def _tight(self, tau: Real, free: list[Real]) -> Real:
        """W's constraint tight: the root in log ν, warm-started by the last one."""
        K = self.K
        sums: list[tuple[Real, ...]] = []

        def falls(log_nu: Real) -> tuple[Real, Real]:
            nu = K.exp(log_nu)
            sums[:] = [self._coordinates(tau, nu, free)]
            outer, pp = sums[0][0], sums[0][2]
            if not outer > 0:
                return -K(1), K(0)
            return K.log(outer) / (self.outer + 1) - self.log_size, -nu * pp / outer

        guess = self.log_nu if self.log_nu is not None else K.log(max(abs(t) for t in self.theta))
        self.log_nu = falling_root(K, falls, guess, 2 * self.tolerance)
        falls(self.log_nu)
        own, pp, pj, jj = sums[0][1:]
        if not own > 0:
            return self.zero
        correction = pj * pj / pp if pp > 0 else self.zero  # ν follows τ so that ‖x‖ stays
        return -tau * (jj - correction) / own

    def _coordinates(self, tau: Real, nu: Real, free: list[Real]) -> tuple[Real, ...]:
        """Solve every coordinate; Σ|x|^s, Σ|u|^p̄, ΣP²/m, ΣPJ/m, ΣJ²/m with m = dθ/du of the coordinate."""
        outer = own = pp = pj = jj = self.zero
        solved = []
        for theta, offset, start, last in zip(self.theta, self.shape.offset, free, self.u, strict=True):
            u, J, P = self._coordinate(theta, tau, nu, offset, start, last)
            solved.append(u)
            x = u + offset
            stiffness = self.zero
            if u:
                stiffness += tau * self.power * J / u
            if x:
                stiffness += nu * self.outer * P / x
            outer, own = outer + P * x, own + J * u
            if stiffness > 0 and (x or self.outer > 0):
                pp, pj, jj = pp + P * P / stiffness, pj + P * J / stiffness, jj + J * J / stiffness
        self.u = solved
        return outer, own, pp, pj, jj

    def _coordinate(
        self, theta: Real, tau: Real, nu: Real, offset: Real, free: Real, last: Real
    ) -> tuple[Real, Real, Real]:
        """u, J(u), P(x) of one coordinate. The root lies between −offset (x = 0) and `free` (ν = 0)."""
        if self.shape.power == 1:
            u = self._soft(theta, tau, nu, offset)
            x = u + offset
            return u, self._power(u, self.power), self.K(1) if x > 0 else -self.K(1) if x < 0 else self.zero
        if offset == 0 or self._nearer_to_own_zero(theta, tau, nu, offset):
            t = self._newton(theta, tau, nu, offset, self.power, self.outer, self._power(last, self.power))
            u = self._power(t, self.inverse)
            return u, t, self._power(u + offset, self.outer)
        back = self._power(last + offset, self.outer)
        t = self._newton(theta, nu, tau, -offset, self.outer, self.power, back)
        x = self._power(t, 1 / self.outer)
        return x - offset, self._power(x - offset, self.power), t

    def _nearer_to_own_zero(self, theta: Real, tau: Real, nu: Real, offset: Real) -> bool:
        """Whether the root is nearer to u = 0 than to x = 0: then J(u), else P(x), is the smooth variable."""
        middle = -offset / 2
        value = tau * self._power(middle, self.power) + nu * self._power(-middle, self.outer) - theta
        return (value >= 0) == (offset > 0) if value else True

    def _newton(self, theta: Real, a: Real, b: Real, shift: Real, inner: Real, other: Real, start: Real) -> Real:
        """The t with a·t + b·Q(V(t) + shift) = θ, V(t) = sgn(t)|t|^{1/inner}, Q(y) = sgn(y)|y|^other: increasing."""
        zero, root = self.zero, 1 / inner
        edge = -self._power(shift, inner)  # V(edge) + shift = 0
        ends = [zero, theta / a, edge]
        low, high = min(ends), max(ends)
        t = start if low <= start <= high else (low + high) / 2
        for _ in range(200):
            v = self._power(t, root)
            y = v + shift
            Q = self._power(y, other)
            value = a * t + b * Q - theta
            if value > 0:
                high = t
            elif value < 0:
                low = t
            else:
                return t
            slope = a + (b * other * (Q / y) * (v / t) * root if y and t else zero)
            new = t - value / slope
            if not low < new < high:
                new = (low + high) / 2
            if abs(new - t) <= self.tolerance * abs(t):
                return new
            t = new
        return t

    def _soft(self, theta: Real, tau: Real, nu: Real, offset: Real) -> Real:
        """argmin τ|u|^p̄/p̄ − θu + ν|u + offset|."""
        right = self._unpower(theta - nu, tau)
        if right > -offset:
            return right
        left = self._unpower(theta + nu, tau)
        return left if left < -offset else -offset

    def _power(self, x: Real, exponent: Real) -> Real:
        """sgn(x)|x|^exponent; where binary64 overflows, a number that is too large for any root to be beyond it."""
        if exponent == 1 or not x:
            return x
        try:
            size = abs(x) ** exponent
        except OverflowError:
            size = self.K(2**LARGEST_POWER)
        return size if x > 0 else -size

    def _unpower(self, theta: Real, tau: Real) -> Real:
        """u with τJ(u) = θ."""
        return self._power(theta / tau, self.inverse)

    def _outer_length(self, u: list[Real]) -> Real:
        x = self.K.vector([a + b for a, b in zip(u, self.shape.offset, strict=True)])
        return norm(self.K, x, self.shape.power)


def falling_root(K: Numbers, f: Callable[[Real], tuple[Real, Real]], start: Real, tolerance: Real) -> Real:
    """The root of a falling function of a real variable, given with its derivative: Newton inside a bracket.

    A Newton step that leaves the bracket, or a second one on the same side that did not halve the value, is replaced
    by bisection. Stops when |f| ≤ tolerance or the bracket is exhausted. Not for balls.
    """
    low: Real = None
    high: Real = None
    x, width, previous = start, K(1), None
    for _ in range(500):
        value, slope = f(x)
        if abs(value) <= tolerance:
            return x
        if value > 0:
            low = x
        else:
            high = x
        new = x - value / slope if slope < 0 else None
        stuck = previous is not None and abs(value) > abs(previous) / 2
        if low is None or high is None:
            beyond = x + width if high is None else x - width
            inside = new is not None and abs(new - x) <= width
            x, width = (new if inside and not stuck else beyond), width * 2
        elif new is None or stuck or not low < new < high:
            x = (low + high) / 2
        else:
            x = new
        if low is not None and high is not None and high - low <= tolerance * max(abs(low), abs(high), K(1)) / 4:
            return high
        previous = value
    return x
