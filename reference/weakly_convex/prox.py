"""The proximal-type mapping, what it certifies, and how to compute it with a certificate.

=============================  ==============================================================================
paper                          here
=============================  ==============================================================================
Proposition 16                 `strong_convexity` = νβ − ρ; `regularised_defect` measures it
prox_f^β(w), eqs. (10), (11)   `prox_line` (closed forms), `prox_exact` (rational), `prox_population` (certified)
Lemma 17                       `stationarity_bound_printed` = βDδ, `stationarity_bound` = βδ(D̂ − δ)
eq. (13)                       `is_close_to_nearly_stationary`
Definition 18, eq. (14)        `near_stationarity_of`, `distance_allowed`
eq. (21)                       `consequences`
=============================  ==============================================================================

**Lemma 17, sharper and in every norm.** Optimality of ŵ gives g ∈ ∂f(ŵ) and h ∈ ∂‖·‖(ŵ−w) with ⟨g + βδh, v − ŵ⟩ ≥ 0
for v ∈ W, δ = ‖ŵ−w‖. Then ⟨g, ŵ−v⟩ ≤ βδ⟨h, v−ŵ⟩ = βδ(⟨h, v−w⟩ − ⟨h, ŵ−w⟩) ≤ βδ(‖v−w‖ − δ), because ‖h‖_* ≤ 1 and
⟨h, ŵ−w⟩ = δ. So the bound is βδ(D̂ − δ) with D̂ = max_{v∈W}‖v−w‖ ≤ D for w ∈ W; neither differentiability nor
strong convexity of the norm is used for it. Attained: W = [0, D], w = 0, f(v) = −cv.

**Certified proximal points of a finite population.** F = Σ_jπ_jf(·, z_j) is ρ̃-weakly convex in ‖·‖_p̄, so F + ρ̃h
is convex and every subgradient at a point u_k (relative to w) is an affine minorant c_k + ⟨s_k, u − u_k⟩ of it. For
weights α on such cuts,

    G(u) = F(w+u) + (β/2)‖u‖² ≥ Σ_kα_k(c_k + ⟨s_k, u−u_k⟩) + (A/2)‖u‖²,   A = β − κρ̃,

and the right side is minimised over X = W ∩ B(w, R0) by one mirror step, with its own duality gap: a lower bound on
min G. Any feasible u has G(u) as an upper bound. G is (β/κ−ρ̃)-strongly convex, hence

    **‖u − û‖ ≤ √(2(upper − lower)/(β/κ − ρ̃))**.

The cuts and weights come from a bundle search in binary64 (Kelley's method with the strongly convex part kept,
weights improved two at a time). The certificate is then computed in the caller's number system, and on balls it is a
proof: what it supposes is checked first (`require_certifiable`: w ∈ W, the constants hold on W and for these records),
ℓ and ρ̃ are raised by what features may be too long, the weights are checked, every point is moved into X as far as
that system can tell (`feasible_near`), and an upper bound below the lower one is an error. In binary64 and mpmath an
allowance for rounding is added; it is an estimate, and says so by being wider.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from reference.numerics.numbers import Ball, Exact, Float64, Numbers, Real, Undecided, Vector, certainly, norm
from reference.numerics.preconditions import require, same_dimension
from reference.paper.registry import claims, implements
from reference.setting.data import FEATURE_SLACK, Example
from reference.setting.losses_weak import WeaklyConvexLoss, WeakPredictorLoss, WeakScalarLoss
from reference.setting.sets import FeasibleSet
from reference.weakly_convex.functions import PiecewiseQuadratic, modulus
from reference.weakly_convex.hull_point import gaussian_elimination
from reference.weakly_convex.mirror import (
    duality_map,
    feasible_near,
    half_square,
    mirror_step,
    objective,
    size,
    unit_roundoff,
)
from reference.weakly_convex.strongly_convex import Scales, require_setting, scales, with_beta
from reference.weakly_convex.weak_convexity import Interval, defect

# --------------------------------------------------------------------------------------- Proposition 16


@claims("prop:reg_wk_cvx")
def strong_convexity(K: Numbers, nu: Exact | Real, beta: Exact | Real, rho: Exact | Real) -> Real:
    """νβ − ρ: the modulus of f + (β/2)‖·−u‖² for a ρ-weakly convex f, when ½‖·‖² is ν-strongly convex."""
    return K(nu) * K(beta) - K(rho)


def regularised_defect(
    K: Numbers,
    f: Callable[[Vector], Real],
    p: Any,
    beta: Real,
    centre: Vector,
    strength: Real,
    w: Vector,
    v: Vector,
    lam: Real,
) -> Real:
    """The slack of strong convexity with modulus `strength` of f + (β/2)‖·−centre‖²_p: ≥ 0 where it holds."""

    def regularised(x: Vector) -> Real:
        length = norm(K, x - centre, p)
        return f(x) + beta * length * length / 2

    return defect(K, regularised, p, -strength, w, v, lam)


# ------------------------------------------------------------------------------ Lemma 17, Definition 18


@claims("lem:prox_estimate", "printed")
def stationarity_bound_printed(K: Numbers, beta: Real, D: Real, delta: Real) -> Real:
    """βDδ."""
    return beta * D * delta


@claims("lem:prox_estimate", "tight")
def stationarity_bound(K: Numbers, beta: Real, farthest: Real, delta: Real) -> Real:
    """βδ(D̂ − δ), D̂ = max_{v∈W}‖v−w‖ ≤ D."""
    return beta * delta * (farthest - delta)


@implements("def:prox_near_stat")
@implements("eqn:prox_near_stat")
def near_stationarity_of(K: Numbers, distance: Real, beta: Real, D: Real) -> Real:
    """The smallest ϑ that an expected distance ‖prox(w) − w‖ allows: distance·max{1, βD}."""
    return distance * K.max(K(1), beta * D)


def distance_allowed(K: Numbers, theta: Real, beta: Real, D: Real) -> Real:
    """ϑ/max{1, βD}."""
    return theta / K.max(K(1), beta * D)


@implements("eqn:close_near_stationary")
def is_close_to_nearly_stationary(K: Numbers, distance: Real, gap: Real, theta: Real) -> bool:
    """‖w − ŵ‖ ≤ ϑ and gap(ŵ) ≤ ϑ."""
    return K.le(distance, theta) and K.le(gap, theta)


@claims("eqn:PNS_conseq")
def consequences(K: Numbers, theta: Real, beta: Real, D: Real) -> tuple[Real, Real]:
    """Bounds on E‖prox − A(S)‖ and on E gap(prox) under Definition 18: ϑ/max{1,βD} and βD times it, both ≤ ϑ."""
    distance = distance_allowed(K, theta, beta, D)
    return distance, stationarity_bound_printed(K, beta, D, distance)


# ------------------------------------------------------------------------------------------ closed forms


@implements("eqn:prox_map")
@implements("eqn:Moreau")
def prox_line(
    K: Numbers,
    loss: WeakScalarLoss,
    beta: Exact | Real,
    m: Exact | Real,
    low: Exact | None = None,
    high: Exact | None = None,
) -> Real:
    """The proximal point over [low, high] ⊂ ℝ: the closed form over ℝ, clipped.

    Clipping is right because the objective is strongly convex for β > ρ: it falls up to its minimiser and rises
    after it.
    """
    v = loss.prox(K, beta, m)
    if low is not None:
        v = K.max(v, K(low))
    return v if high is None else K.min(v, K(high))


def prox_exact(f: PiecewiseQuadratic, beta: Fraction | int, w: Fraction | int, W: Interval) -> Fraction:
    """The proximal point of a piecewise quadratic over [a, b], as a rational number.

    The derivative of the regularised function rises strictly, so the minimiser is the first point at which its right
    derivative is not negative; within a piece that point solves a linear equation.
    """
    beta, w = Fraction(beta), Fraction(w)
    need = modulus(f)
    require(beta > need, "beta", beta, f"exceed ρ/ν = {need}", "otherwise the proximal point need not be unique")
    inside = [W[0], *(k for k in f.kinks if W[0] < k < W[1]), W[1]]
    for low, high in pairwise(inside):
        if f.slopes(low)[1] + beta * (low - w) >= 0:
            return low
        middle = (low + high) / 2
        a, b, _ = f.pieces[sum(1 for kink in f.kinks if kink <= middle)]
        stationary = (beta * w - b) / (2 * a + beta)
        if stationary < high:
            return stationary
    return W[1]


# -------------------------------------------------------------------------------- certified, in ℓ_p̄


@dataclass(frozen=True)
class Population:
    """A distribution on finitely many records, so that F_D and its proximal point are computable."""

    loss: WeaklyConvexLoss
    records: tuple[Example, ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        """Refuse weights that are no distribution."""
        weights = tuple(Fraction(x) for x in self.weights)
        object.__setattr__(self, "weights", weights)
        require(
            len(weights) == len(self.records), "weights", len(weights), f"be as many as the {len(self.records)} records"
        )
        require(min(weights) >= 0 and sum(weights) == 1, "weights", weights, "be non-negative and sum to 1")

    def value(self, K: Numbers, w: Vector) -> Real:
        """F_D(w)."""
        return K.sum(K(c) * self.loss.value(K, w, z) for c, z in zip(self.weights, self.records, strict=True))

    def subgradient(self, K: Numbers, w: Vector) -> Vector:
        """A subgradient of F_D at w."""
        total = K.zeros(len(w))
        for c, z in zip(self.weights, self.records, strict=True):
            total = total + self.loss.subgradient(K, w, z) * K(c)
        return total


class _Prepared:
    """A population with everything that does not depend on w computed once."""

    def __init__(self, K: Numbers, population: Population):
        self.K, self.population = K, population
        self.weights = [K(c) for c in population.weights]
        loss = population.loss
        self.parts: list[tuple[Real, Vector, WeakScalarLoss]] = []
        if isinstance(loss, WeakPredictorLoss):
            self.parts = [
                (c, loss.features(K, z), loss.scalar(z)) for c, z in zip(self.weights, population.records, strict=True)
            ]

    def value(self, w: Vector) -> Real:
        if not self.parts:
            return self.population.value(self.K, w)
        return self.K.sum(c * h.value(self.K, a @ w) for c, a, h in self.parts)

    def subgradient(self, w: Vector) -> Vector:
        if not self.parts:
            return self.population.subgradient(self.K, w)
        total = self.K.zeros(len(w))
        for c, a, h in self.parts:
            total = total + a * (c * h.subgradient(self.K, a @ w))
        return total


@dataclass(frozen=True)
class CertifiedProx:
    """A feasible point and a proven bound on its distance from the proximal point, in ‖·‖_p̄."""

    point: Vector
    radius: Real
    upper: Real
    lower: Real
    cuts: int


@dataclass(frozen=True)
class Bundle:
    """Points at which the convexified risk is minorised, weights of the cuts, and the best point (relative to w)."""

    points: tuple[Vector, ...]
    weights: tuple[Fraction, ...]
    best: Vector


def prox_population(
    K: Numbers,
    population: Population,
    W: FeasibleSet,
    w: Vector,
    *,
    beta: Exact | None = None,
    tolerance: Fraction = Fraction(1, 10**5),
    max_cuts: int = 80,
) -> CertifiedProx:
    """prox_{F_D}^β(w) over W in ‖·‖_p̄ with a certificate; the search stops at `tolerance` or after `max_cuts` cuts."""
    require_certifiable(K, population, W, w)
    F = Float64()
    at_search = _declared_scales(F, population, W, beta)
    start = F.vector([F(K.to_float(x)) for x in w])
    bundle = _BundleSearch(F, population, W, start, at_search, F(tolerance), max_cuts).run()
    return certify_prox(K, population, W, w, bundle, beta=beta)


ROOM = (1 + FEATURE_SLACK) ** 2
"""What features that are too long by the share `FEATURE_SLACK` add to L0 and ρ, of degree at most two in them."""


def _room(population: Population) -> Fraction:
    """`ROOM`, or 1 where no feature vector is longer than R."""
    loss, B = population.loss, Ball(128)
    if not isinstance(loss, WeakPredictorLoss):
        return ROOM
    lengths = (norm(B, B.vector(z.x), loss.q) for z in population.records)
    return Fraction(1) if all(certainly(B.le, length, B(loss.R)) for length in lengths) else ROOM


def _declared_scales(K: Numbers, population: Population, W: FeasibleSet, beta: Exact | None) -> Scales:
    loss = population.loss
    at = scales(K, loss.p, W.dim, loss.L0, loss.rho)
    return at if beta is None else with_beta(K, at, K(beta))


def _population_scales(K: Numbers, population: Population, W: FeasibleSet, beta: Exact | None) -> Scales:
    """β as it is asked for, ℓ and ρ̃ as these records need them."""
    at, room = _declared_scales(K, population, W, beta), K(_room(population))
    at = replace(at, L=at.L * room, ell=at.ell * room, rho=at.rho * room, weak=at.weak * room)
    return with_beta(K, at, at.beta)


def require_certifiable(K: Numbers, population: Population, W: FeasibleSet, w: Vector) -> None:
    """Refuse what a certificate supposes and could not see: w ∈ W, and L0 and ρ that hold on W for these records.

    Without the first the radius R0 = ℓ/β is none, and without the second neither is ρ. On balls w is refused if it
    certainly lies outside W; one that touches the boundary is taken to be a point of W.
    """
    loss = population.loss
    require_setting(K, loss, W)
    for i, z in enumerate(population.records):
        remedy = "scale its features or move its label: L0 and ρ hold for such records only"
        require(loss.admit(z, W.dim) == z, f"record {i}", z, "be admissible for the loss", remedy)
    same_dimension("w", len(w), W.dim)
    slack = Fraction(0) if isinstance(K, Ball) else Fraction(1, 2**40)
    try:
        inside = W.contains(K.unwatched, w, slack=slack)
    except Undecided:
        return
    require(inside, "w", tuple(K.to_float(v) for v in w), "lie in W", "project it first")


def certify_prox(
    K: Numbers, population: Population, W: FeasibleSet, w: Vector, bundle: Bundle, *, beta: Exact | None = None
) -> CertifiedProx:
    """The certificate of the module docstring for a given bundle, in the caller's number system."""
    require_certifiable(K, population, W, w)
    at = _population_scales(K, population, W, beta)
    exact = _Prepared(K, population)
    shares = [Fraction(a) for a in bundle.weights]
    fair = len(shares) == len(bundle.points) > 0 and min(shares) >= 0 and sum(shares) == 1
    require(
        fair, "weights", bundle.weights, "be as many as the points, non-negative, with sum 1", "divide by their sum"
    )

    def inside(u: Vector) -> Vector:
        return feasible_near(K, at.geo, W, w, K.vector(list(u)), at.radius)

    cuts = [_cut(K, exact, at, w, inside(u)) for u in bundle.points]
    offset = K.sum(K(a) * b for a, (b, _) in zip(bundle.weights, cuts, strict=True))
    slope = K.zeros(len(w))
    for a, (_, s) in zip(bundle.weights, cuts, strict=True):
        slope = slope + s * K(a)
    A = at.beta - at.geo.kappa * at.weak
    step = mirror_step(K, at.geo, W, w, -slope, A, at.radius)
    best = inside(bundle.best)
    value = exact.value(w + best) + at.beta * half_square(K, at.geo, best)
    far = K.max(size(K, at.geo, w) - 8 * at.radius, K(0))  # w + u is rounded; the ball's own share is in what follows
    away = K(unit_roundoff(K)) * far
    room = (K(unit_roundoff(K)) * (K.abs(value) + at.ell * at.radius) + 2 * at.ell * away) * (len(cuts) + 10)
    upper = value + room
    lower = offset + objective(K, at.geo, step.u, -slope, A) - step.gap - room
    if certainly(K.lt, upper, lower):
        raise ArithmeticError(
            f"upper bound {upper} below lower bound {lower}: the loss is not ρ-weakly convex as declared"
        )
    excess = K.max(value - lower, K(0))  # the room is in the lower bound
    return CertifiedProx(w + best, K.sqrt(2 * excess / at.strength) + away, upper, lower, len(cuts))


def _cut(K: Numbers, F: _Prepared, at: Scales, w: Vector, u: Vector) -> tuple[Real, Vector]:
    """(b, s) with F(w+v) + ρ̃h(v) ≥ b + ⟨s, v⟩ for all feasible v, tight at u."""
    bend = at.geo.kappa * at.weak
    s: Vector = F.subgradient(w + u) + duality_map(K, at.geo, u) * bend
    return F.value(w + u) + bend * half_square(K, at.geo, u) - s @ u, s


class _BundleSearch:
    """The bundle search, in binary64: what it finds is a candidate; `certify_prox` is what counts."""

    def __init__(
        self,
        K: Float64,
        population: Population,
        W: FeasibleSet,
        w: Vector,
        at: Scales,
        tolerance: Real,
        max_cuts: int,
    ):
        self.K, self.F, self.W, self.w, self.at = K, _Prepared(K, population), W, w, at
        self.A = at.beta - at.geo.kappa * at.weak
        self.target = at.strength * tolerance * tolerance / 2
        self.max_cuts = max_cuts
        self.tiny = K(Fraction(1, 2**46))
        self.points: list[Vector] = []
        self.offsets: list[Real] = []
        self.slopes: list[Vector] = []
        self.alpha: list[Real] = []

    def run(self) -> Bundle:
        """Add cuts where the model is minimal until the gap is small."""
        K = self.K
        u = best = K.zeros(len(self.w))
        upper = self._objective(u)
        for _ in range(self.max_cuts):
            self._add(u)
            u, lower = self._master(upper)
            value = self._objective(u)
            if value < upper:
                best, upper = u, value
            if upper - lower <= self.target:
                break
        weights = [Fraction(a) for a in self.alpha]
        total = sum(weights)
        kept = [(x, a / total) for x, a in zip(self.points, weights, strict=True) if a > 0]
        return Bundle(tuple(x for x, _ in kept), tuple(a for _, a in kept), best)

    def _objective(self, u: Vector) -> Real:
        return self.F.value(self.w + u) + self.at.beta * half_square(self.K, self.at.geo, u)

    def _add(self, u: Vector) -> None:
        offset, slope = _cut(self.K, self.F, self.at, self.w, u)
        self.points.append(u)
        self.offsets.append(offset)
        self.slopes.append(slope)
        self.alpha.append(self.K(0) if self.alpha else self.K(1))

    def _primal(self, slope: Vector) -> Vector:
        return mirror_step(self.K, self.at.geo, self.W, self.w, -slope, self.A, self.at.radius).u

    def _scores(self, u: Vector) -> list[Real]:
        return [b + s @ u for b, s in zip(self.offsets, self.slopes, strict=True)]

    def _mixed(self) -> Vector:
        total = self.K.zeros(len(self.w))
        for a, s in zip(self.alpha, self.slopes, strict=True):
            if a:
                total = total + s * a
        return total

    def _value(self, u: Vector, mean: Real) -> Real:
        """The dual function: the mixed cut plus the strongly convex part, at its minimiser u."""
        return mean + self.A * half_square(self.K, self.at.geo, u)

    def _master(self, upper: Real) -> tuple[Vector, Real]:
        """Improve the weights until the model's own gap is small: Newton on the carried cuts, else two at a time."""
        slope = self._mixed()
        u = self._primal(slope)
        for _ in range(60):
            scores = self._scores(u)
            mean = sum(a * x for a, x in zip(self.alpha, scores, strict=True))
            lower = self._value(u, mean)
            high = max(range(len(scores)), key=scores.__getitem__)
            if scores[high] - mean <= max(self.target / 10, (upper - lower) / 20):
                break
            if not self._newton(slope, u, scores, high, lower):
                low = min((i for i, a in enumerate(self.alpha) if a > 0), key=scores.__getitem__)
                if low == high:
                    break
                moved = self._transfer(slope, high, low, scores[high] - scores[low])
                self.alpha[high] += moved
                self.alpha[low] = max(self.alpha[low] - moved, self.K(0))
            slope = self._mixed()
            u = self._primal(slope)
        mean = sum(a * x for a, x in zip(self.alpha, self._scores(u), strict=True))
        return u, self._value(u, mean)

    def _newton(self, slope: Vector, u: Vector, scores: list[Real], high: int, current: Real) -> bool:
        """One step of Newton's method for the concave dual on the carried cuts and the highest one.

        Curvature by differences of the primal map. Kept only if the dual value rises; False asks for the fallback.
        """
        base = max((i for i, a in enumerate(self.alpha) if a > 0), key=self.alpha.__getitem__)
        others = [i for i, a in enumerate(self.alpha) if (a > 0 or i == high) and i != base]
        if not others:
            return False
        change = self._direction(slope, u, scores, base, others)
        if change is None:
            return False
        full: dict[int, Real] = dict(zip(others, change, strict=True))
        full[base] = -sum(change)
        if high in full and full[high] < 0:
            return False
        falling = [-self.alpha[i] / x for i, x in full.items() if x < 0]
        step = min([self.K(1), *falling])
        before = list(self.alpha)
        for _ in range(5):
            for i, x in full.items():
                value = before[i] + step * x
                self.alpha[i] = value if value > self.tiny else self.K(0)
            total = sum(self.alpha)
            self.alpha = [a / total for a in self.alpha]
            point = self._primal(self._mixed())
            mean = sum(a * x for a, x in zip(self.alpha, self._scores(point), strict=True))
            if self._value(point, mean) > current:
                return True
            step = step / 4
        self.alpha = before
        return False

    def _direction(
        self, slope: Vector, u: Vector, scores: list[Real], base: int, others: list[int]
    ) -> list[Real] | None:
        """Δ with MΔ = the score differences, M the (negative) curvature of the dual along s_l − s_base."""
        h = self.K(Fraction(1, 2**20))
        edges = [self.slopes[i] - self.slopes[base] for i in others]
        responses = [(u - self._primal(slope + edge * h)) / h for edge in edges]
        matrix = [[edge @ response for response in responses] for edge in edges]
        ridge = sum(matrix[i][i] for i in range(len(edges))) * self.tiny
        for i in range(len(edges)):
            matrix[i][i] += ridge
        return gaussian_elimination(matrix, [scores[i] - scores[base] for i in others])

    def _transfer(self, slope: Vector, high: int, low: int, first: Real) -> Real:
        """The weight to move: a root of the falling difference of the two scores, by regula falsi (Illinois)."""
        direction = self.slopes[high] - self.slopes[low]
        jump = self.offsets[high] - self.offsets[low]

        def difference(t: Real) -> Real:
            return jump + direction @ self._primal(slope + direction * t)

        left, right = self.K(0), self.alpha[low]
        f_left, f_right = first, difference(right)
        if f_right >= 0:
            return right
        for _ in range(40):
            t = left + (right - left) * (f_left / (f_left - f_right))
            value = difference(t)
            if abs(value) <= abs(first) / 1000:
                return t
            if value > 0:
                left, f_left, f_right = t, value, f_right / 2
            else:
                right, f_right, f_left = t, value, f_left / 2
        return left


def distance(K: Numbers, at: Scales, w: Vector, found: CertifiedProx) -> tuple[Real, Real]:
    """Bounds below and above on ‖prox(w) − w‖_p̄ from a certified point."""
    length = size(K, at.geo, found.point - w)
    return K.max(length - found.radius, K(0)), length + found.radius


def empirical(loss: WeaklyConvexLoss, records: Sequence[Example]) -> Population:
    """The uniform distribution on some records."""
    return Population(loss, tuple(records), tuple(Fraction(1, len(records)) for _ in records))
