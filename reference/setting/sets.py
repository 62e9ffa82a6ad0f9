"""Feasible sets W: membership, Euclidean projection, linear minimisation, diameter in any ℓ_p.

| paper | here |
|---|---|
| W | `FeasibleSet` |
| D, the ‖·‖_p-diameter | `.diameter(K, p)`, attained by `.farthest_pair(K, p)` |
| V = (v_1, …, v_J), J | `Polytope.vertices(K)`, `Polytope.J` |
| argmin_{v ∈ W} ⟨v, g⟩ | `.linear_minimiser(K, g)` |
| Π_W (Euclidean) | `.project(K, w)`, or `NoProjection` where there is no closed form |

Sets hold exact numbers; the methods compute in the number system they are given. Projections and diameters take no
decision that could be undecided: they are written with max, min and clip, so that in balls they always enclose. Linear
minimisers are discontinuous in g and decide through `K`.

Pins: g = 0 gives the centre of a ball; a coordinate g_j = 0 gives the lower end of a box (and the centre's coordinate
in an ℓ_p ball with 1 < p ≤ ∞); ties go to the lowest index.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from reference.numerics.numbers import (
    INF,
    BallScalar,
    Exact,
    Numbers,
    Real,
    Undecided,
    Vector,
    _as_fraction,
    dual_exponent,
    norm,
)
from reference.numerics.preconditions import (
    Exponent,
    exact_tuple,
    exponent,
    nonnegative,
    positive,
    require,
    same_dimension,
    whole,
)
from reference.setting.hull import hull_meets_box

Pair = tuple[Vector, Vector]
_Exacts = tuple[Fraction, ...]

MAX_BOX_DIMENSION = 16
"""`box_polytope` lists 2^d vertices; beyond this dimension use `Box`."""


class NoProjection(ValueError):
    """The Euclidean projection on this set has no closed form."""


class FeasibleSet(ABC):
    """A closed convex set W ⊆ ℝ^d."""

    dim: int

    @property
    def projects(self) -> bool:
        """Whether `project` has a closed form for every point; asked before a run, since a step may stay inside."""
        return True

    @abstractmethod
    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        """Whether w ∈ W; each inequality that defines W may be missed by `slack`. Balls may be `Undecided`."""

    @abstractmethod
    def project(self, K: Numbers, w: Vector) -> Vector:
        """The point of W nearest to w in ℓ_2, or `NoProjection`."""

    @abstractmethod
    def linear_minimiser(self, K: Numbers, g: Vector) -> Vector:
        """A point of W that minimises ⟨v, g⟩ (the pins of this module decide which)."""

    @abstractmethod
    def farthest_pair(self, K: Numbers, p: Exponent) -> Pair:
        """Two points of W whose ℓ_p distance is the diameter."""

    @abstractmethod
    def diameter(self, K: Numbers, p: Exponent) -> Real:
        """The largest ℓ_p distance of two points of W."""

    @abstractmethod
    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        """A bound on ‖w‖_p over W, attained unless the class says otherwise."""

    @abstractmethod
    def centre(self, K: Numbers) -> Vector:
        """A point in the middle of W: the usual start."""

    @abstractmethod
    def _data(self) -> tuple[Any, ...]:
        """What makes two sets of one class equal."""

    def _same_dimension(self, name: str, w: Vector) -> None:
        same_dimension(name, len(w), self.dim)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeasibleSet) and (type(self), self._data()) == (type(other), other._data())

    def __hash__(self) -> int:
        return hash((type(self), self._data()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(_text(x) for x in self._data())})"


def _text(x: Any) -> str:
    if isinstance(x, tuple):
        return f"[{', '.join(_text(y) for y in x)}]"
    return str(x) if not isinstance(x, Fraction) or x.denominator == 1 else f"Fraction({x.numerator}, {x.denominator})"


# -------------------------------------------------------------------------------------------- helpers


def require_projection(W: FeasibleSet) -> None:
    """Refuse a set without a closed-form Euclidean projection before a run meets a point outside it."""
    remedy = "take an ℓ_1, ℓ_2 or ℓ_∞ ball, a box, a simplex, a segment or the whole space"
    require(W.projects, "W", W, "have a closed-form Euclidean projection", remedy)


def require_inside(K: Numbers, W: FeasibleSet, w: Vector, name: str) -> None:
    """Refuse a start outside W: then the first move would be longer than the diameter that the noise is made for."""
    same_dimension(name, len(w), W.dim)
    inside = W.contains(K.unwatched, w, slack=Fraction(1, 2**40))
    require(inside, name, tuple(K.to_float(v) for v in w), "lie in W", "project it first")


def _all_le(K: Numbers, pairs: Iterable[tuple[Real, Real]]) -> bool:
    """a ≤ b for all pairs (a, b); one that certainly fails outweighs others that are undecided."""
    undecided: Undecided | None = None
    for a, b in pairs:
        try:
            if not K.le(a, b):
                return False
        except Undecided as error:
            undecided = error
    if undecided:
        raise undecided
    return True


def _one_over(K: Numbers, p: Exponent) -> Any:
    """1/p, exactly where p is exact; 0 for p = ∞."""
    if isinstance(p, float) and p == INF:
        return Fraction(0)
    return Fraction(1) / p if isinstance(p, (int, Fraction)) else 1 / K(p)


def _is_smaller(K: Numbers, p: Exponent, s: Exponent) -> bool:
    """p < s, exactly where both are exact."""
    if isinstance(p, (int, Fraction, float)) and isinstance(s, (int, Fraction, float)):
        return p < s
    return K.lt(K(_one_over(K, s)), K(_one_over(K, p)))


def _root(K: Numbers, base: int, power: Any) -> Real:
    """base^power for an integer base ≥ 1; √ for power 1/2, so that ℓ_2 constants are reproducible."""
    if isinstance(power, Fraction):
        if power.denominator == 1:
            return K(Fraction(base) ** power.numerator)
        if power == Fraction(1, 2):
            return K.sqrt(K(base))
    return K.power(K(base), power)


def _embedding(K: Numbers, dim: int, p: Exponent, s: Exponent) -> Real:
    """max ‖u‖_p over ‖u‖_s ≤ 1 in ℝ^d: max(1, d^{1/p − 1/s}).

    For p ≥ s it is 1, at e_1 (‖·‖_p falls in p). For p < s Hölder's inequality gives ‖u‖_p ≤ d^{1/p−1/s}‖u‖_s, with
    equality at the constant vector.
    """
    return K.max(K(1), _root(K, dim, _one_over(K, p) - _one_over(K, s)))


def _descending(K: Numbers, values: Sequence[Real]) -> list[Real]:
    """The values in descending order. Where balls overlap, exchanges by max and min enclose the order statistics."""
    try:
        return sorted(values, key=cmp_to_key(lambda a, b: int(K.lt(a, b)) - int(K.lt(b, a))))
    except Undecided:
        ordered = list(values)
        for end in range(len(ordered) - 1, 0, -1):
            for i in range(end):
                a, b = ordered[i], ordered[i + 1]
                ordered[i], ordered[i + 1] = K.max(a, b), K.min(a, b)
        return ordered


def _simplex_threshold(K: Numbers, values: Sequence[Real], total: Real) -> Real:
    """τ with Σ_j max(v_j − τ, 0) = total: the largest (Σ of the k largest values − total)/k over k.

    For every index set A, Σ_{j∈A}(v_j − τ) ≤ Σ_j max(v_j − τ, 0) = total, so τ ≥ (Σ_A v − total)/|A|, with equality at
    A = {j : v_j > τ}. For |A| = k the right side is largest at the k largest values.
    """
    head = K(0)
    threshold = None
    for k, value in enumerate(_descending(K, values), start=1):
        head = head + value
        candidate = (head - total) / k
        threshold = candidate if threshold is None else K.max(threshold, candidate)
    return threshold


def _endpoints(x: Real) -> tuple[Fraction, Fraction]:
    """The exact ends of a ball; twice the exact value of a float or mpf."""
    if isinstance(x, BallScalar):
        return x.mid - x.rad, x.mid + x.rad
    value = _as_fraction(x)
    return value, value


# ---------------------------------------------------------------------------------------------- balls


class LpBall(FeasibleSet):
    """{w : ‖w − centre‖_p ≤ radius}, p ∈ [1, ∞]."""

    def __init__(self, centre: Iterable[Exact], radius: Exact, p: Exponent):
        self.exact_centre = exact_tuple("centre", centre)
        self.radius = nonnegative("radius", radius)
        self.p = exponent("p", p)
        require(isinstance(self.p, (int, Fraction, float)), "p", p, "be exact", "give an int, a Fraction or INF")
        self.dim = len(self.exact_centre)
        self._at_origin = not any(self.exact_centre)

    def _data(self) -> tuple[Any, ...]:
        return (self.exact_centre, self.radius, self.p)

    @property
    def projects(self) -> bool:
        """p = 1, 2, ∞, one dimension, or a point."""
        return self.p in (1, 2, INF) or self.dim == 1 or self.radius == 0

    def centre(self, K: Numbers) -> Vector:
        return K.vector(self.exact_centre)

    def _from_centre(self, K: Numbers, w: Vector) -> Vector:
        return w if self._at_origin else w - self.centre(K)

    def _at_centre(self, K: Numbers, u: Vector) -> Vector:
        return u if self._at_origin else self.centre(K) + u

    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        self._same_dimension("w", w)
        limit = K(self.radius + nonnegative("slack", slack))
        if self.p == INF:
            u = self._from_centre(K, w)
            return _all_le(K, [(K.abs(x), limit) for x in u])
        return K.le(norm(K, self._from_centre(K, w), self.p), limit)

    def project(self, K: Numbers, w: Vector) -> Vector:
        """Closed for p = 2 (scaling), p = ∞ (clipping), p = 1 (soft threshold; see `_simplex_threshold`), and d = 1."""
        self._same_dimension("w", w)
        if self.radius == 0:
            return self.centre(K)
        if self._surely_inside(K, w):
            return w
        u, r = self._from_centre(K, w), K(self.radius)
        if self.p == INF or self.dim == 1:
            nearest = K.vector([K.clip(x, -r, r) for x in u])
        elif self.p == 2:
            nearest = u * (r / K.max(r, norm(K, u, 2)))
        elif self.p == 1:
            tau = K.max(K(0), _simplex_threshold(K, [K.abs(x) for x in u], r))
            nearest = K.vector([x - K.clip(x, -tau, tau) for x in u])
        else:
            raise NoProjection(f"p = {self.p} has no closed-form Euclidean projection: it must be 1, 2 or ∞")
        return self._at_centre(K, nearest)

    def _surely_inside(self, K: Numbers, w: Vector) -> bool:
        """True only if w ∈ W is certain: then w is its own projection, to the last bit."""
        try:
            return self.contains(K, w)
        except Undecided:
            return False

    def linear_minimiser(self, K: Numbers, g: Vector) -> Vector:
        """centre − radius·sgn(g)|g|^{q−1}/‖g‖_q^{q−1}; for p = 1 a signed unit vector; the centre where g = 0."""
        self._same_dimension("g", g)
        largest = norm(K, g, INF)
        if not K.lt(K(0), largest):
            return self.centre(K)
        step: Vector = self._steepest(K, g / largest) * -K(self.radius)
        return self._at_centre(K, step)

    def _steepest(self, K: Numbers, g: Vector) -> Vector:
        """A maximiser of ⟨u, g⟩ over ‖u‖_p ≤ 1, for ‖g‖_∞ = 1 (scaled so that nothing under- or overflows)."""
        if self.p == 1:
            j = K.argmin([-K.abs(x) for x in g])
            return K.vector([K.sign(x) if i == j else 0 for i, x in enumerate(g)])
        if self.p == INF:
            return K.vector([K.sign(x) for x in g])
        if self.p == 2:
            unit: Vector = g / norm(K, g, 2)
            return unit
        q = dual_exponent(self.p)
        scale = K.power(norm(K, g, q), q - 1)
        return K.vector([K.sign(x) * K.power(K.abs(x), q - 1) / scale for x in g])

    def diameter(self, K: Numbers, p: Exponent) -> Real:
        """2·radius·max(1, d^{1/p − 1/s}) for an ℓ_s ball: the ball is symmetric, so opposite points are farthest."""
        return 2 * K(self.radius) * _embedding(K, self.dim, exponent("p", p), self.p)

    def farthest_pair(self, K: Numbers, p: Exponent) -> Pair:
        """centre ± radius·e_1 if p ≥ s, centre ± radius·d^{−1/s}(1, …, 1) if p < s."""
        if _is_smaller(K, exponent("p", p), self.p):
            u = K.vector([1] * self.dim) * (K(self.radius) / _root(K, self.dim, _one_over(K, self.p)))
        else:
            u = K.unit(self.dim, 0) * K(self.radius)
        return self._at_centre(K, u), self._at_centre(K, -u)

    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        """‖centre‖_p + radius·max(1, d^{1/p − 1/s}): attained if centre = 0 or p = s, else an upper bound."""
        p = exponent("p", p)
        return norm(K, self.centre(K), p) + K(self.radius) * _embedding(K, self.dim, p, self.p)


class L2Ball(LpBall):
    """{w : ‖w − centre‖_2 ≤ radius}."""

    def __init__(self, centre: Iterable[Exact], radius: Exact):
        super().__init__(centre, radius, 2)

    def _data(self) -> tuple[Any, ...]:
        return (self.exact_centre, self.radius)


# ------------------------------------------------------------------------------------- box and simplex


class Box(FeasibleSet):
    """{w : lower_j ≤ w_j ≤ upper_j}."""

    def __init__(self, lower: Iterable[Exact], upper: Iterable[Exact]):
        self.lower = exact_tuple("lower", lower)
        self.upper = exact_tuple("upper", upper)
        self.dim = len(self.lower)
        same_dimension("upper", len(self.upper), self.dim)
        for j, (a, b) in enumerate(zip(self.lower, self.upper, strict=True)):
            require(a <= b, f"lower[{j}]", a, f"be at most upper[{j}] = {b}")

    def _data(self) -> tuple[Any, ...]:
        return (self.lower, self.upper)

    def centre(self, K: Numbers) -> Vector:
        return K.vector([(a + b) / 2 for a, b in zip(self.lower, self.upper, strict=True)])

    def _sides(self, K: Numbers, w: Vector) -> list[tuple[Real, Real, Real]]:
        return [(x, K(a), K(b)) for x, a, b in zip(w, self.lower, self.upper, strict=True)]

    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        self._same_dimension("w", w)
        room = K(nonnegative("slack", slack))
        sides = self._sides(K, w)
        return _all_le(K, [*((a - room, x) for x, a, _ in sides), *((x, b + room) for x, _, b in sides)])

    def project(self, K: Numbers, w: Vector) -> Vector:
        """Coordinatewise clipping."""
        self._same_dimension("w", w)
        return K.vector([K.clip(x, a, b) for x, a, b in self._sides(K, w)])

    def linear_minimiser(self, K: Numbers, g: Vector) -> Vector:
        """The upper end where g_j < 0, the lower end otherwise."""
        self._same_dimension("g", g)
        return K.vector([b if K.sign(x) < 0 else a for x, a, b in self._sides(K, g)])

    def diameter(self, K: Numbers, p: Exponent) -> Real:
        """‖upper − lower‖_p."""
        lower, upper = self.farthest_pair(K, p)
        return norm(K, upper - lower, exponent("p", p))

    def farthest_pair(self, K: Numbers, p: Exponent) -> Pair:
        """(lower, upper)."""
        exponent("p", p)
        return K.vector(self.lower), K.vector(self.upper)

    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        """The norm of the corner farthest from the origin: attained."""
        corner = [max(abs(a), abs(b)) for a, b in zip(self.lower, self.upper, strict=True)]
        return norm(K, K.vector(corner), exponent("p", p))


class Simplex(FeasibleSet):
    """{w ≥ 0 : Σ_j w_j = scale}."""

    def __init__(self, dim: int, scale: Exact = 1):
        self.dim = whole("dim", dim)
        self.scale = positive("scale", scale)

    def _data(self) -> tuple[Any, ...]:
        return (self.dim, self.scale)

    @property
    def J(self) -> int:
        """The number of vertices."""
        return self.dim

    @property
    def exact_vertices(self) -> tuple[_Exacts, ...]:
        """scale·e_1, …, scale·e_d."""
        return tuple(tuple(self.scale * int(i == j) for i in range(self.dim)) for j in range(self.dim))

    def vertices(self, K: Numbers) -> tuple[Vector, ...]:
        """scale·e_1, …, scale·e_d."""
        return tuple(K.vector(v) for v in self.exact_vertices)

    def centre(self, K: Numbers) -> Vector:
        return K.vector([self.scale / self.dim] * self.dim)

    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        """w_j ≥ −slack and |Σw − scale| ≤ slack. A rounded sum needs slack; at slack 0 a wide ball is undecided."""
        self._same_dimension("w", w)
        room = K(nonnegative("slack", slack))
        deficit = K.abs(K.sum(w) - K(self.scale))
        return _all_le(K, [*((-room, x) for x in w), (deficit, room)])

    def project(self, K: Numbers, w: Vector) -> Vector:
        """max(w_j − τ, 0) with the τ of `_simplex_threshold`."""
        self._same_dimension("w", w)
        tau = _simplex_threshold(K, list(w), K(self.scale))
        return K.vector([K.max(x - tau, K(0)) for x in w])

    def linear_minimiser(self, K: Numbers, g: Vector) -> Vector:
        """The vertex of the smallest coordinate of g; ties to the lowest index."""
        self._same_dimension("g", g)
        return self.vertices(K)[K.argmin(list(g))]

    def diameter(self, K: Numbers, p: Exponent) -> Real:
        """2^{1/p}·scale, the distance of any two vertices; 0 in dimension 1."""
        if self.dim == 1:
            return K(0)
        return K(self.scale) * _root(K, 2, _one_over(K, exponent("p", p)))

    def farthest_pair(self, K: Numbers, p: Exponent) -> Pair:
        """The first and the last vertex."""
        exponent("p", p)
        vertices = self.vertices(K)
        return vertices[0], vertices[-1]

    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        """`scale`, at every vertex: a norm is convex, so its maximum is at a vertex."""
        exponent("p", p)
        return K(self.scale)


# ------------------------------------------------------------------------------------------- polytopes


class Polytope(FeasibleSet):
    """The convex hull of a list of points. J counts the points as listed; none needs to be extreme."""

    def __init__(self, vertices: Iterable[Iterable[Exact]]):
        points = [exact_tuple(f"vertices[{i}]", v) for i, v in enumerate(vertices)]
        require(len(points) > 0, "vertices", points, "have at least one entry", "a polytope is not empty")
        self.dim = len(points[0])
        for i, point in enumerate(points):
            same_dimension(f"vertices[{i}]", len(point), self.dim)
        self.exact_vertices: tuple[_Exacts, ...] = tuple(points)

    def _data(self) -> tuple[Any, ...]:
        return (self.exact_vertices,)

    @property
    def J(self) -> int:
        """The number of listed vertices."""
        return len(self.exact_vertices)

    def vertices(self, K: Numbers) -> tuple[Vector, ...]:
        """v_1, …, v_J in the order given."""
        return tuple(K.vector(v) for v in self.exact_vertices)

    def centre(self, K: Numbers) -> Vector:
        """The mean of the listed vertices."""
        return K.vector([sum(column, Fraction(0)) / self.J for column in zip(*self.exact_vertices, strict=True)])

    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        """Whether w is within ℓ_∞ distance `slack` of the hull, by an exact linear programme (module `hull`).

        A float or an mpf is one rational point, so the answer is exact. A ball is outside if its box misses the hull;
        it is inside if the points mid ± d·rad_j·e_j are, since their hull covers the box; else `Undecided`.
        """
        self._same_dimension("w", w)
        room = nonnegative("slack", slack)
        ends = [_endpoints(x) for x in w]
        if not self._meets([a for a, _ in ends], [b for _, b in ends], room):
            return False
        middle = [(a + b) / 2 for a, b in ends]
        for j, (a, b) in enumerate(ends):
            for step in ((b - a) / 2 * self.dim, (a - b) / 2 * self.dim) if a < b else ():
                corner = [*middle[:j], middle[j] + step, *middle[j + 1 :]]
                if not self._meets(corner, corner, room):
                    raise Undecided(f"w = {w} touches the boundary of the polytope")
        return True

    @property
    def projects(self) -> bool:
        """One vertex, a segment, or an interval."""
        return self.J <= 2 or self.dim == 1

    def _meets(self, low: Sequence[Fraction], high: Sequence[Fraction], room: Fraction) -> bool:
        return hull_meets_box(self.exact_vertices, [a - room for a in low], [b + room for b in high])

    def project(self, K: Numbers, w: Vector) -> Vector:
        """Closed for one vertex, for two (a segment) and in dimension 1 (an interval)."""
        self._same_dimension("w", w)
        if self.J == 1:
            return self.vertices(K)[0]
        if self.dim == 1:
            ends = [v[0] for v in self.exact_vertices]
            return K.vector([K.clip(w[0], K(min(ends)), K(max(ends)))])
        if self.J > 2:
            raise NoProjection(
                f"J = {self.J} vertices in dimension {self.dim} have no closed-form projection: "
                "use l1_ball, box_polytope, Box or Simplex where the set is one of these"
            )
        return self._project_on_segment(K, w)

    def _project_on_segment(self, K: Numbers, w: Vector) -> Vector:
        a, b = self.vertices(K)
        square = sum(((x - y) ** 2 for x, y in zip(*self.exact_vertices, strict=True)), Fraction(0))
        if square == 0:
            return a
        step: Vector = (b - a) * K.clip(((w - a) @ (b - a)) / K(square), K(0), K(1))
        return a + step

    def linear_minimiser(self, K: Numbers, g: Vector) -> Vector:
        """The listed vertex with the smallest ⟨v, g⟩; ties to the lowest index."""
        self._same_dimension("g", g)
        vertices = self.vertices(K)
        return vertices[K.argmin([v @ g for v in vertices])]

    def diameter(self, K: Numbers, p: Exponent) -> Real:
        """The largest distance of two vertices: a convex function of a pair of points peaks at a pair of vertices."""
        p = exponent("p", p)
        largest = K(0)
        for v, w in itertools.combinations(self.vertices(K), 2):
            largest = K.max(largest, norm(K, v - w, p))
        return largest

    def farthest_pair(self, K: Numbers, p: Exponent) -> Pair:
        """The first pair of vertices at the largest distance (the vertex twice if there is only one).

        Pairs whose differences agree up to order and signs are at the same distance: only the first of them competes.
        """
        p = exponent("p", p)
        distinct: dict[_Exacts, tuple[_Exacts, _Exacts]] = {}
        for v, w in itertools.combinations_with_replacement(self.exact_vertices, 2):
            sizes = sorted(abs(a - b) for a, b in zip(v, w, strict=True))
            distinct.setdefault(tuple(sizes), (v, w))
        lengths = [-norm(K, K.vector(sizes), p) for sizes in distinct]
        first, second = list(distinct.values())[K.argmin(lengths)]
        return K.vector(first), K.vector(second)

    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        """The largest norm of a vertex: attained."""
        p = exponent("p", p)
        largest = K(0)
        for v in self.vertices(K):
            largest = K.max(largest, norm(K, v, p))
        return largest


class _ShapedPolytope(Polytope):
    """A polytope that is also a ball or a box: the vertices in the pinned order, the rest by the shape's formulas."""

    def __init__(self, vertices: Iterable[Iterable[Exact]], shape: FeasibleSet):
        super().__init__(vertices)
        self.shape = shape

    def _data(self) -> tuple[Any, ...]:
        return (self.shape,)

    @property
    def projects(self) -> bool:
        """As the shape does."""
        return self.shape.projects

    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        return self.shape.contains(K, w, slack)

    def project(self, K: Numbers, w: Vector) -> Vector:
        return self.shape.project(K, w)

    def diameter(self, K: Numbers, p: Exponent) -> Real:
        return self.shape.diameter(K, p)

    def farthest_pair(self, K: Numbers, p: Exponent) -> Pair:
        return self.shape.farthest_pair(K, p)

    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        return self.shape.norm_bound(K, p)

    def centre(self, K: Numbers) -> Vector:
        return self.shape.centre(K)


class CrossPolytope(_ShapedPolytope):
    """{w : ‖w‖_1 ≤ radius} by its vertices +e_1, …, +e_d, −e_1, …, −e_d times the radius."""

    def __init__(self, dim: int, radius: Exact = 1):
        dim = whole("dim", dim)
        r = positive("radius", radius)
        units = [[sign * r if i == j else Fraction(0) for i in range(dim)] for sign in (1, -1) for j in range(dim)]
        super().__init__(units, LpBall([0] * dim, r, 1))


class BoxPolytope(_ShapedPolytope):
    """A box by its 2^d vertices in product order: the last coordinate moves fastest, lower end first."""

    def __init__(self, lower: Iterable[Exact], upper: Iterable[Exact]):
        box = Box(lower, upper)
        require(
            box.dim <= MAX_BOX_DIMENSION, "dim", box.dim, f"be at most {MAX_BOX_DIMENSION}", "2^d vertices: use Box"
        )
        super().__init__(itertools.product(*zip(box.lower, box.upper, strict=True)), box)


def l1_ball(dim: int, radius: Exact = 1) -> Polytope:
    """The ℓ_1 ball around 0 as a polytope with J = 2d vertices (+e_1..+e_d, −e_1..−e_d)."""
    return CrossPolytope(dim, radius)


def box_polytope(lower: Iterable[Exact], upper: Iterable[Exact]) -> Polytope:
    """The box as a polytope with J = 2^d vertices (product order, last coordinate fastest)."""
    return BoxPolytope(lower, upper)


# ----------------------------------------------------------------------------------------- whole space


class WholeSpace(FeasibleSet):
    """ℝ^d. Its diameter is infinite; a linear function has a minimum only if it is 0."""

    def __init__(self, dim: int):
        self.dim = whole("dim", dim)

    def _data(self) -> tuple[Any, ...]:
        return (self.dim,)

    def centre(self, K: Numbers) -> Vector:
        return K.zeros(self.dim)

    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        self._same_dimension("w", w)
        nonnegative("slack", slack)
        return True

    def project(self, K: Numbers, w: Vector) -> Vector:
        self._same_dimension("w", w)
        return w

    def linear_minimiser(self, K: Numbers, g: Vector) -> Vector:
        """The origin for g = 0; otherwise there is none."""
        self._same_dimension("g", g)
        bounded = _all_le(K, [(K.abs(x), K(0)) for x in g])
        require(bounded, "g", g, "be 0 on the whole space", "⟨v, g⟩ has no minimum: use a bounded set")
        return self.centre(K)

    def diameter(self, K: Numbers, p: Exponent) -> Real:
        """∞."""
        exponent("p", p)
        return K(INF)

    def farthest_pair(self, K: Numbers, p: Exponent) -> Pair:
        """There is none: the distance of two points has no maximum."""
        raise ValueError(f"dim = {self.dim}: the whole space has no farthest pair, its diameter is infinite")

    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        """∞."""
        exponent("p", p)
        return K(INF)


__all__ = [
    "MAX_BOX_DIMENSION",
    "Box",
    "BoxPolytope",
    "CrossPolytope",
    "FeasibleSet",
    "L2Ball",
    "LpBall",
    "NoProjection",
    "Polytope",
    "Simplex",
    "WholeSpace",
    "box_polytope",
    "l1_ball",
    "require_inside",
    "require_projection",
]


@dataclass(frozen=True)
class Region:
    """What is known of W before it is chosen: its dimension, and a bound on the norms of its points."""

    dim: int
    far: Fraction

    def norm_bound(self, K: Numbers, p: Exponent) -> Real:
        """How far W reaches, in the norm that the algorithm measures it by."""
        return K(self.far)
