"""The weakly convex losses that the introduction names: covariance estimation, dictionary learning, trimmed estimation.

Each is |c(w) − y| or a product, with c a form of degree two: weakly convex, not smooth, and not of the form h(⟨a, w⟩).

| paper | here |
|---|---|
| covariance matrix estimation | `CovarianceEstimation`: ∣‖Xᵀa‖² − y∣, w = X |
| sparse dictionary learning | `DictionaryLearning`: ∣aᵀDCb − y∣ + λ‖C‖_1, w = (D, C) |
| trimmed estimation | `TrimmedRegression`: ⟨e, v⟩·∣⟨a, u⟩ − y∣, w = (u, v), v ≥ 0 the weights of the groups |
| ρ, L_0 | `.rho`, `.L0`, with respect to ‖·‖_p for 1 ≤ p ≤ 2 |

**Weak convexity.** |c − y| = max{c − y, y − c}, and a maximum of ρ-weakly convex functions is ρ-weakly convex; a form c
of degree two is ρ-weakly convex, with −c, iff |c(Δ)| ≤ (ρ/2)‖Δ‖². Write ‖·‖ for ‖·‖_p, p ≤ 2 ≤ q, so that Σ_k‖x_k‖² ≤
‖(x_k)_k‖² for blocks x_k, and st ≤ 2^{−2/p}(s^p + t^p)^{2/p} for s, t ≥ 0, with equality at s = t.

* Covariance: Σ_k⟨a, Δ_k⟩² ≤ R²Σ_k‖Δ_k‖² ≤ R²‖Δ‖². So ρ = 2R², attained by one column (phase retrieval).
* Dictionary: |⟨Uᵀa, Vb⟩| ≤ ‖Uᵀa‖_2‖Vb‖_2 ≤ R‖U‖·R‖V‖ ≤ 2^{−2/p}R²‖(U, V)‖². So ρ = 2^{1−2/p}R², attained by one atom.
* Trimmed: h = |⟨a, ·⟩ − y| is convex and R-Lipschitz, and v ≥ 0. With s ∈ ∂h(u): v'h(u') ≥ v'(h(u) + ⟨s, u'−u⟩) =
  vh(u) + (v'−v)h(u) + v⟨s, u'−u⟩ + (v'−v)⟨s, u'−u⟩, and the last term is at least −R|v'−v|·‖u'−u‖. So ρ = 2^{1−2/p}R,
  attained.

**Lipschitz constants**, on ‖w‖ ≤ B (trimmed: ‖u‖ ≤ B, |y| ≤ Y, 0 ≤ v ≤ 1, e a unit vector):

* Covariance: ∇_k c = 2⟨a, x_k⟩a, of norm ‖·‖_q at most 2R(Σ_k|⟨a, x_k⟩|^q)^{1/q} ≤ 2R·R(Σ_k‖x_k‖^p)^{1/p} ≤ 2R²B.
* Dictionary: ∇_D = a(Cb)ᵀ, ∇_C = (Dᵀa)bᵀ, so (‖a‖_q^q‖Cb‖_q^q + ‖Dᵀa‖_q^q‖b‖_q^q)^{1/q} ≤ R²(‖C‖^p + ‖D‖^p)^{1/p} ≤
  R²B; the penalty adds at most λ·(number of entries of C)^{1/q}.
* Trimmed: (⟨e, v⟩s, e·h(u)): at most (R^q + (RB + Y)^q)^{1/q}.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import INF, Exact, Numbers, Real, Vector, dual_exponent, norm
from reference.numerics.preconditions import exponent, nonnegative, require, same_dimension, whole
from reference.setting.data import FEATURE_SLACK, Example, blank, clipped_features, nearest_label, readable
from reference.setting.losses_smooth import rounded_up
from reference.setting.losses_weak import WeaklyConvexLoss
from reference.setting.sets import Box, Polytope, WholeSpace


def _checked_exponent(p: Any) -> Any:
    found = exponent("p", p)
    require(found <= 2, "p", found, "lie in [1, 2]", "the constants are proved for these norms")
    return found


def _balanced(p: Any) -> Fraction:
    """2^{1−2/p}: twice the largest st with s^p + t^p = 1; 1/2 at p = 1, 1 at p = 2."""
    power = 1 - 2 / Fraction(p)
    return Fraction(2) ** int(power) if power.denominator == 1 else rounded_up(lambda K: K.power(K(2), power))


def _joined(q: Any, *sizes: Exact) -> Fraction:
    """(Σ size^q)^{1/q} for exact sizes, rounded up where it is irrational; the maximum for q = ∞."""
    if q == INF:
        return max(Fraction(size) for size in sizes)
    return rounded_up(lambda K: K.power(K.sum(K.power(K(size), K(q)) for size in sizes if size), 1 / K(q)))


def _clipped(x: Sequence[Exact], R: Any, p: Any) -> tuple[Exact, ...]:
    return clipped_features(x, Fraction(R), dual_exponent(p))


def _admitted(z: Any, dim: int, scaled: Callable[[tuple[Exact, ...]], tuple[Exact, ...]]) -> Example:
    """The record with its features scaled, or the blank one (the rule of `data`)."""
    record = readable(z, dim)
    return blank(dim) if record is None else Example(scaled(record.x), nearest_label(record.y))


def _columns(w: Sequence[Real], rows: int) -> list[list[Real]]:
    """w as a matrix with this many rows, column by column."""
    return [list(w[start : start + rows]) for start in range(0, len(w), rows)]


def _product(K: Numbers, a: Sequence[Any], x: Sequence[Any]) -> Real:
    return K.vector(list(a)) @ K.vector(list(x))


@dataclass(frozen=True)
class CovarianceEstimation(WeaklyConvexLoss):
    """|‖Xᵀa‖² − y| for X with `rows` rows and `rank` columns, ‖X‖_p ≤ B and ‖a‖_q ≤ R: rho = 2R², L0 = 2R²B.

    A record is a measurement aᵀΣa = y of a covariance matrix Σ ≈ XXᵀ. w holds X column by column.
    """

    rows: int
    rank: int
    R: Any
    B: Any
    p: Any = 2

    def __post_init__(self) -> None:
        """Refuse sizes and bounds that are none."""
        for name in ("rows", "rank"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        for name in ("R", "B"):
            object.__setattr__(self, name, nonnegative(name, getattr(self, name)))
        object.__setattr__(self, "p", _checked_exponent(self.p))

    @property
    def dim(self) -> int:
        """The number of variables."""
        return self.rows * self.rank

    @property
    def L0(self) -> Fraction:
        """2R²B."""
        return 2 * Fraction(self.R) ** 2 * Fraction(self.B)

    @property
    def rho(self) -> Fraction:
        """2R²."""
        return 2 * Fraction(self.R) ** 2

    def admit(self, z: Any, dim: int) -> Example:
        """a scaled to ‖a‖_q ≤ R, y at most 2^100 in size; the blank record for what is no record."""
        return _admitted(z, self.rows, lambda x: _clipped(x, self.R, self.p))

    def _coefficients(self, K: Numbers, w: Vector, z: Example) -> list[Real]:
        """⟨a, x_k⟩, column by column."""
        same_dimension("w", len(w), self.dim)
        same_dimension("x", len(z.x), self.rows)
        return [_product(K, z.x, column) for column in _columns(list(w), self.rows)]

    def _residual(self, K: Numbers, found: Sequence[Real], z: Example) -> Real:
        return K.sum(t * t for t in found) - K(z.y)

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        """f(w, z)."""
        return K.abs(self._residual(K, self._coefficients(K, w, z), z))

    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """2·sgn·⟨a, x_k⟩a in column k; 0 at the kink."""
        found = self._coefficients(K, w, z)
        sign = K.sign(self._residual(K, found, z))
        return K.vector([2 * sign * t * K(x) for t in found for x in z.x])


@dataclass(frozen=True)
class DictionaryLearning(WeaklyConvexLoss):
    """|aᵀDCb − y| + λ‖C‖_1 for D with `rows` rows and `atoms` columns, C with `atoms` rows and `codes` columns.

    A record x = (a, b) observes one number of the data matrix that is to be factored: an entry, for unit vectors a and
    b. ‖a‖_q, ‖b‖_q ≤ R and ‖(D, C)‖_p ≤ B: rho = 2^{1−2/p}R², L0 = R²B + λ(atoms·codes)^{1/q}. w holds D column by
    column (atom by atom), then C row by row (atom by atom).
    """

    rows: int
    atoms: int
    codes: int
    R: Any
    B: Any
    lam: Any = 0
    p: Any = 2

    def __post_init__(self) -> None:
        """Refuse sizes and bounds that are none."""
        for name in ("rows", "atoms", "codes"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        for name in ("R", "B", "lam"):
            object.__setattr__(self, name, nonnegative(name, getattr(self, name)))
        object.__setattr__(self, "p", _checked_exponent(self.p))

    @property
    def dim(self) -> int:
        """The number of variables."""
        return self.atoms * (self.rows + self.codes)

    @property
    def L0(self) -> Fraction:
        """R²B + λ(atoms·codes)^{1/q}."""
        bilinear = Fraction(self.R) ** 2 * Fraction(self.B)
        if not self.lam:
            return bilinear
        return bilinear + Fraction(self.lam) * _joined(dual_exponent(self.p), *[1] * (self.atoms * self.codes))

    @property
    def rho(self) -> Fraction:
        """2^{1−2/p}R²."""
        return _balanced(self.p) * Fraction(self.R) ** 2

    def admit(self, z: Any, dim: int) -> Example:
        """a and b scaled to the length R each, y at most 2^100 in size; the blank record for what is no record."""
        cut = self.rows
        scaled = lambda x: (*_clipped(x[:cut], self.R, self.p), *_clipped(x[cut:], self.R, self.p))  # noqa: E731
        return _admitted(z, self.rows + self.codes, scaled)

    def _parts(self, K: Numbers, w: Vector, z: Example) -> tuple[list[Real], list[Real], Sequence[Any], Sequence[Any]]:
        """(Dᵀa, Cb, a, b)."""
        same_dimension("w", len(w), self.dim)
        same_dimension("x", len(z.x), self.rows + self.codes)
        a, b = z.x[: self.rows], z.x[self.rows :]
        cut = self.atoms * self.rows
        left = [_product(K, a, atom) for atom in _columns(list(w)[:cut], self.rows)]
        right = [_product(K, b, code) for code in _columns(list(w)[cut:], self.codes)]
        return left, right, a, b

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        """f(w, z)."""
        left, right, _, _ = self._parts(K, w, z)
        fit = K.abs(_product(K, left, right) - K(z.y))
        codes = list(w)[self.atoms * self.rows :]
        return fit + K(self.lam) * K.sum(K.abs(t) for t in codes) if self.lam else fit

    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """sgn·(a(Cb)ᵀ, (Dᵀa)bᵀ) + λ(0, sgn C); 0 at each kink."""
        left, right, a, b = self._parts(K, w, z)
        sign = K.sign(_product(K, left, right) - K(z.y))
        dictionary = [sign * t * K(x) for t in right for x in a]
        codes = [sign * t * K(x) for t in left for x in b]
        if self.lam:
            entries = list(w)[self.atoms * self.rows :]
            codes = [g + K(self.lam) * K.sign(t) for g, t in zip(codes, entries, strict=True)]
        return K.vector(dictionary + codes)


@dataclass(frozen=True)
class TrimmedRegression(WeaklyConvexLoss):
    """⟨e, v⟩·|⟨a, u⟩ − y|, v in [0, 1]^groups: the weights of the groups of records are learned with the predictor.

    A record x = (a, e) says to which group it belongs (e a unit vector). ‖a‖_q ≤ R, ‖u‖_p ≤ B, |y| ≤ Y: rho =
    2^{1−2/p}R, L0 = (R^q + (RB + Y)^q)^{1/q}. Trimming itself is the constraint Σv = h: W a polytope (p = 2), say. w =
    (u, v). Weakly convex for v ≥ 0 only; a W that leaves [0, 1] is refused.
    """

    features: int
    groups: int
    R: Any
    B: Any
    Y: Any
    p: Any = 2

    def __post_init__(self) -> None:
        """Refuse sizes and bounds that are none."""
        for name in ("features", "groups"):
            object.__setattr__(self, name, whole(name, getattr(self, name)))
        for name in ("R", "B", "Y"):
            object.__setattr__(self, name, nonnegative(name, getattr(self, name)))
        object.__setattr__(self, "p", _checked_exponent(self.p))

    @property
    def dim(self) -> int:
        """The number of variables."""
        return self.features + self.groups

    @property
    def L0(self) -> Fraction:
        """(R^q + (RB + Y)^q)^{1/q}."""
        return _joined(dual_exponent(self.p), self.R, self.R * self.B + self.Y)

    @property
    def rho(self) -> Fraction:
        """2^{1−2/p}R."""
        return _balanced(self.p) * Fraction(self.R)

    def admit(self, z: Any, dim: int) -> Example:
        """a scaled to ‖a‖_q ≤ R, y moved into [−Y, Y]; blank for what is no record or belongs to no group."""
        record, d = readable(z, self.dim), self.features
        if record is None or sorted(record.x[d:]) != [*[0] * (self.groups - 1), 1]:
            return blank(self.dim)
        x = (*_clipped(record.x[:d], self.R, self.p), *record.x[d:])
        return Example(x, nearest_label(record.y, Fraction(self.Y)))

    def require_valid(self, K: Numbers, W: Any) -> None:
        """‖u‖_p ≤ B and 0 ≤ v ≤ 1 on W: for v < 0, however small, the loss is not weakly convex at all."""
        K = K.unwatched
        same_dimension("W", W.dim, self.dim)
        require(not isinstance(W, WholeSpace), "W", W, "keep the weights v in [0, 1]", "take a box or a polytope")
        for j in range(self.features, self.dim):
            e = K.unit(self.dim, j)
            low, high = W.linear_minimiser(K, e)[j], W.linear_minimiser(K, -e)[j]
            inside = K.le(K(0), low) and K.le(high, K(1 + FEATURE_SLACK))
            seen = f"v_{j - self.features + 1} goes from {K.to_float(low):.6g} to {K.to_float(high):.6g}"
            remedy = f"{seen}; take a smaller set"
            require(inside, "W", W, "keep the weights v in [0, 1]", remedy)
        reach = self._reach(K, W)
        remedy = f"L0 holds for ‖u‖_p ≤ B only, and W reaches {K.to_float(reach):.6g}; raise B, or take a box"
        require(K.le(reach, K(Fraction(self.B) * (1 + FEATURE_SLACK))), "B", self.B, "bound ‖u‖_p on W", remedy)

    def _reach(self, K: Numbers, W: Any) -> Real:
        """The largest ‖u‖_p on a box or a polytope (at a vertex); elsewhere a bound by the norm of all of w."""
        d, box = self.features, getattr(W, "shape", W)
        if isinstance(box, Box):
            return Box(box.lower[:d], box.upper[:d]).norm_bound(K, self.p)
        if isinstance(W, Polytope):
            longest = K(0)
            for vertex in W.exact_vertices:
                longest = K.max(longest, norm(K, K.vector(vertex[:d]), self.p))
            return longest
        return W.norm_bound(K, self.p)

    def _parts(self, K: Numbers, w: Vector, z: Example) -> tuple[Real, Real]:
        """(⟨a, u⟩ − y, ⟨e, v⟩)."""
        same_dimension("w", len(w), self.dim)
        same_dimension("x", len(z.x), self.dim)
        d, entries = self.features, list(w)
        residual = _product(K, z.x[:d], entries[:d]) - K(z.y)
        return residual, _product(K, z.x[d:], entries[d:])

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        """f(w, z)."""
        residual, weight = self._parts(K, w, z)
        return weight * K.abs(residual)

    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """(⟨e, v⟩·sgn·a, |⟨a, u⟩ − y|·e); sgn 0 = 0."""
        residual, weight = self._parts(K, w, z)
        pull, size = weight * K.sign(residual), K.abs(residual)
        return K.vector([pull * K(x) for x in z.x[: self.features]] + [size * K(x) for x in z.x[self.features :]])


__all__ = ["CovarianceEstimation", "DictionaryLearning", "TrimmedRegression"]
