"""Concrete function families on which Appendix B's definitions can be executed exactly.

* `PiecewiseQuadratic`: continuous on ℝ, quadratic between finitely many kinks, in rationals. One-sided slopes, hence
  regular subdifferentials, directional derivatives, weak-convexity moduli and proximal points, are rational numbers.
* `MaxOfQuadratics`: the largest of finitely many quadratics on ℝ^d, in rationals. Its regular subdifferential is
the convex
  hull of the gradients of the pieces that attain the maximum (a maximum of smooth functions is subdifferentially
  regular).
* `RegularisedRegression`: |⟨a, w⟩ − y| plus a separable penalty (MCP, SCAD), a weakly convex loss of Section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from reference.numerics.numbers import INF, Numbers, Real, Vector
from reference.numerics.preconditions import exact_tuple, require
from reference.setting.data import Example
from reference.setting.losses_weak import SeparablePenalty, WeaklyConvexLoss, WeakScalarLoss

Point = tuple[Fraction, ...]
"""A point of ℚ^d."""

Piece = tuple[Fraction, Fraction, Fraction]
"""(a, b, c): the quadratic av² + bv + c."""


# ------------------------------------------------------------------------------------------ on the line


@dataclass(frozen=True)
class PiecewiseQuadratic:
    """Continuous on ℝ; `pieces[i]` holds between `kinks[i−1]` and `kinks[i]` (from −∞, to ∞)."""

    kinks: tuple[Fraction, ...]
    pieces: tuple[Piece, ...]

    def __post_init__(self) -> None:
        """Refuse kinks out of order and pieces that do not meet."""
        kinks = tuple(Fraction(x) for x in self.kinks)
        pieces = tuple((Fraction(a), Fraction(b), Fraction(c)) for a, b, c in self.pieces)
        object.__setattr__(self, "kinks", kinks)
        object.__setattr__(self, "pieces", pieces)
        require(len(pieces) == len(kinks) + 1, "pieces", len(pieces), f"be one more than the {len(kinks)} kinks")
        ordered = all(x < y for x, y in pairwise(kinks))
        require(ordered, "kinks", kinks, "be strictly increasing")
        for i, kink in enumerate(kinks):
            jump = _quadratic(pieces[i], kink) - _quadratic(pieces[i + 1], kink)
            require(jump == 0, f"jump at {kink}", jump, "be 0", "the pieces must meet")

    def __call__(self, v: Fraction | int) -> Fraction:
        """f(v), exactly."""
        return _quadratic(self.pieces[self._right(Fraction(v))], Fraction(v))

    def slopes(self, v: Fraction | int) -> tuple[Fraction, Fraction]:
        """The one-sided derivatives f'(v−), f'(v+)."""
        v = Fraction(v)
        right = self._right(v)
        left = right - 1 if right and self.kinks[right - 1] == v else right
        return _slope(self.pieces[left], v), _slope(self.pieces[right], v)

    def _right(self, v: Fraction) -> int:
        """The piece that holds just to the right of v."""
        return sum(1 for kink in self.kinks if kink <= v)

    def bends(self) -> list[tuple[Fraction, Fraction]]:
        """Each kink with the jump of the slope there (negative: a concave kink)."""
        jumps = ((kink, self.slopes(kink)) for kink in self.kinks)
        return [(kink, right - left) for kink, (left, right) in jumps]

    def __add__(self, other: PiecewiseQuadratic) -> PiecewiseQuadratic:
        """The sum, piece by piece."""
        kinks = tuple(sorted({*self.kinks, *other.kinks}))
        inside = _samples(kinks)
        pieces = tuple(_plus(self.pieces[self._right(x)], other.pieces[other._right(x)]) for x in inside)
        return PiecewiseQuadratic(kinks, pieces)

    def value(self, K: Numbers, v: Real) -> Real:
        """f(v) in a number system (decisions through K)."""
        index = sum(1 for kink in self.kinks if not K.lt(v, K(kink)))
        a, b, c = self.pieces[index]
        return (K(a) * v + K(b)) * v + K(c)


def _quadratic(piece: Piece, v: Fraction) -> Fraction:
    a, b, c = piece
    return (a * v + b) * v + c


def _slope(piece: Piece, v: Fraction) -> Fraction:
    return 2 * piece[0] * v + piece[1]


def _plus(one: Piece, two: Piece) -> Piece:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


def _samples(kinks: Sequence[Fraction]) -> list[Fraction]:
    """One point strictly inside each stretch between kinks."""
    if not kinks:
        return [Fraction(0)]
    middles = [(x + y) / 2 for x, y in pairwise(kinks)]
    return [kinks[0] - 1, *middles, kinks[-1] + 1]


def linear(slope: Fraction | int, offset: Fraction | int = 0) -> PiecewiseQuadratic:
    """slope·v + offset."""
    return PiecewiseQuadratic((), ((Fraction(0), Fraction(slope), Fraction(offset)),))


def quadratic(a: Fraction | int, b: Fraction | int = 0, c: Fraction | int = 0) -> PiecewiseQuadratic:
    """av² + bv + c."""
    return PiecewiseQuadratic((), ((Fraction(a), Fraction(b), Fraction(c)),))


def absolute(scale: Fraction | int = 1, at: Fraction | int = 0) -> PiecewiseQuadratic:
    """scale·|v − at| (a negative scale gives a concave kink)."""
    s, kink = Fraction(scale), Fraction(at)
    zero = Fraction(0)
    return PiecewiseQuadratic((kink,), ((zero, -s, s * kink), (zero, s, -s * kink)))


def square_residual(root: Fraction | int = 1, scale: Fraction | int = 1) -> PiecewiseQuadratic:
    """|scale²v² − root²|: robust phase retrieval on the line with y a square; |v² − 1| by default."""
    r, a2 = Fraction(root), Fraction(scale) ** 2
    y, kink = r * r, abs(r / Fraction(scale))
    out, arch = (a2, Fraction(0), -y), (-a2, Fraction(0), y)
    return PiecewiseQuadratic((-kink, kink), (out, arch, out)) if kink else quadratic(a2)


def mcp(lam: Fraction | int, gamma: Fraction | int) -> PiecewiseQuadratic:
    """The minimax concave penalty λ|v| − v²/(2γ), constant from |v| = γλ on."""
    lam, gamma = Fraction(lam), Fraction(gamma)
    end, bend, top = gamma * lam, -1 / (2 * gamma), gamma * lam * lam / 2
    flat, zero = (Fraction(0), Fraction(0), top), Fraction(0)
    return PiecewiseQuadratic((-end, zero, end), (flat, (bend, -lam, zero), (bend, lam, zero), flat))


def scad(lam: Fraction | int, a: Fraction | int) -> PiecewiseQuadratic:
    """The smoothly clipped absolute deviation: slope λ up to λ, falling to 0 at aλ."""
    lam, a = Fraction(lam), Fraction(a)
    zero, end = Fraction(0), a * lam
    bend = -1 / (2 * (a - 1))
    slope, start = end / (a - 1), -lam * lam / (2 * (a - 1))
    flat = (zero, zero, lam * lam * (a + 1) / 2)
    return PiecewiseQuadratic(
        (-end, -lam, zero, lam, end),
        (flat, (bend, -slope, start), (zero, -lam, zero), (zero, lam, zero), (bend, slope, start), flat),
    )


# ------------------------------------------------------------------------------------------------ in ℝ^d


@dataclass(frozen=True)
class Quadratic:
    """½wᵀQw + ⟨b, w⟩ + c with Q symmetric, in rationals."""

    Q: tuple[Point, ...]
    b: Point
    c: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Refuse a matrix that is not square and symmetric."""
        rows = tuple(exact_tuple("Q", row) for row in self.Q)
        object.__setattr__(self, "Q", rows)
        object.__setattr__(self, "b", exact_tuple("b", self.b))
        object.__setattr__(self, "c", Fraction(self.c))
        transposed = tuple(tuple(row[j] for row in rows) for j in range(len(rows)))
        require(transposed == rows and len(rows) == len(self.b), "Q", rows, "be symmetric and as large as b")

    def __call__(self, w: Point) -> Fraction:
        """The value at w."""
        return inner(self.b, w) + self.c + inner(w, self._times(w)) / 2

    def gradient(self, w: Point) -> Point:
        """Qw + b."""
        return tuple(x + y for x, y in zip(self._times(w), self.b, strict=True))

    def _times(self, w: Point) -> Point:
        return tuple(inner(row, w) for row in self.Q)


@dataclass(frozen=True)
class MaxOfQuadratics:
    """max_i φ_i on ℝ^d."""

    pieces: tuple[Quadratic, ...]

    def __call__(self, w: Point) -> Fraction:
        """The largest value."""
        return max(piece(w) for piece in self.pieces)

    def active(self, w: Point) -> tuple[int, ...]:
        """The pieces that attain the maximum at w (an exact comparison)."""
        values = [piece(w) for piece in self.pieces]
        return tuple(i for i, value in enumerate(values) if value == max(values))

    def generators(self, w: Point) -> tuple[Point, ...]:
        """The gradients of the active pieces: ∂f(w) is their convex hull."""
        return tuple(self.pieces[i].gradient(w) for i in self.active(w))

    def modulus_l1(self) -> Fraction:
        """A ρ with which f is ρ-weakly convex in ℓ_1 (exact for a maximum of concave quadratics): the largest |Q_jk|.

        Each φ_i is L_1-smooth in ℓ_1 with L_1 = max|Q_jk| (‖Qx‖_∞ ≤ max|Q_jk|·‖x‖_1), hence weakly convex, and a
        maximum of ρ-weakly convex functions is ρ-weakly convex.
        """
        return max(abs(x) for piece in self.pieces for row in piece.Q for x in row)


def inner(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """⟨x, y⟩, exactly."""
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


# ----------------------------------------------------------------------------------- a loss of Section 5


@dataclass(frozen=True)
class RegularisedRegression(WeaklyConvexLoss):
    """|⟨x, w⟩ − y| + Σ_j h(w_j) with ‖x‖_q ≤ R: rho = rho(h) for p ≤ 2, L0 = R + lipschitz(h)·d^{1−1/p}."""

    h: WeakScalarLoss
    R: Any
    dim: int
    p: Any = 2

    @property
    def penalty(self) -> SeparablePenalty:
        """Σ_j h(w_j)."""
        return SeparablePenalty(self.h, self.dim, self.p)

    @property
    def L0(self) -> Fraction:
        return Fraction(self.R) + self.penalty.L0

    @property
    def rho(self) -> Fraction:
        return self.penalty.rho

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        return K.abs(w @ K.vector(z.x) - K(z.y)) + self.penalty.value(K, w, z)

    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        x = K.vector(z.x)
        g: Vector = x * K.sign(w @ x - K(z.y)) + self.penalty.subgradient(K, w, z)
        return g


def modulus(f: PiecewiseQuadratic) -> Fraction | float:
    """The smallest ρ ≥ 0 with which f is ρ-weakly convex on ℝ: twice the largest −a, or ∞ at a concave kink.

    On the line f is ρ-weakly convex if and only if f + (ρ/2)v² is convex, i.e. its slope never falls: 2a + ρ ≥ 0 on
    every piece and no kink where the slope jumps down.
    """
    if any(jump < 0 for _, jump in f.bends()):
        return INF
    return max(Fraction(0), *(-2 * a for a, _, _ in f.pieces))
