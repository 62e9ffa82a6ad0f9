"""Weakly convex losses of Section 5.

f is ρ-weakly convex with respect to ‖·‖ if f(λw + (1−λ)v) ≤ λf(w) + (1−λ)f(v) + ρλ(1−λ)‖w − v‖²/2.

| paper | here |
|---|---|
| ρ | `.rho` |
| L_0 on W | `.L0` (`.lipschitz` on the line) |
| prox_f^β over ℝ | `.prox(K, beta, m)` on the line, for β > ρ |

On the line: h is ρ-weakly convex if and only if h + (ρ/2)v² is convex. If h is, then f(w) = h(⟨a, w⟩) is
ρ‖a‖_q²-weakly convex with respect to ‖·‖_p, because |⟨a, w − v⟩| ≤ ‖a‖_q‖w − v‖_p.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import Exact, Numbers, Real, Vector
from reference.numerics.preconditions import exponent, nonnegative, positive, require, same_dimension, whole
from reference.setting.data import Example, blank, readable
from reference.setting.losses_convex import (
    LinearPredictor,
    ScalarLoss,
    _set_exact,
    checked_beta,
    linear_prox,
)
from reference.setting.losses_smooth import rounded_up

# ---------------------------------------------------------------------------------------- on the line


class WeakScalarLoss(ScalarLoss):
    """A loss on ℝ that is ρ-weakly convex; the Lipschitz constant may hold on an interval only (the class says so)."""

    is_convex = False

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """ρ: the smallest number for which ℓ + (ρ/2)v² is convex (a rational just above it where it is irrational)."""

    def _odd_prox(self, K: Numbers, m: Real, size: Real) -> Real:
        """sgn(m)·size for 0 ≤ size ≤ |m|, without deciding the sign."""
        return K.clip(m, -size, size)


@dataclass(frozen=True)
class SquareResidual(WeakScalarLoss):
    """|v² − y|: ρ = 2 for y > 0 (the arch y − v² between the kinks ±√y); 2B-Lipschitz on [−B, B]. |v² − 1| is y = 1.

    For y ≤ 0 the loss is v² − y: convex, and ρ = 2 is then only an upper bound; it is kept, so that a family has one ρ.
    """

    y: Any
    B: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y", "B")
        nonnegative("B", self.B)

    @property
    def lipschitz(self) -> Fraction:
        return 2 * Fraction(self.B)

    @property
    def rho(self) -> Fraction:
        return Fraction(2)

    def value(self, K: Numbers, u: Real) -> Real:
        return K.abs(u * u - K(self.y))

    def subgradient(self, K: Numbers, u: Real) -> Real:
        """2v·sgn(v² − y), 0 at a kink."""
        return 2 * u * K.sign(u * u - K(self.y))

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """clip(βm/(β−2), ±√y⁺) + βm/(β+2) − clip(βm/(β+2), ±√y⁺).

        For m ≥ 0: on the arch −2v + β(v − m) = 0, so v = βm/(β−2) while this is below √y; outside 2v + β(v − m) = 0, so
        v = βm/(β+2) once this is above √y; between the two v rests at the kink. The three cases are the three values of
        the two clips, and the formula is odd in m.
        """
        b, centre, kink = checked_beta(K, beta, self.rho), K(m), K.sqrt(K(max(self.y, Fraction(0))))
        arch, outside = b * centre / (b - 2), b * centre / (b + 2)
        return K.clip(arch, -kink, kink) + (outside - K.clip(outside, -kink, kink))


@dataclass(frozen=True)
class MCP(WeakScalarLoss):
    """The minimax concave penalty (Zhang 2010): λ|v| − v²/(2γ) up to |v| = γλ, then γλ²/2. L_0 = λ, ρ = 1/γ."""

    lam: Any
    gamma: Any

    def __post_init__(self) -> None:
        _set_exact(self, "lam", "gamma")
        positive("lam", self.lam)
        positive("gamma", self.gamma)

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(self.lam)

    @property
    def rho(self) -> Fraction:
        return 1 / Fraction(self.gamma)

    def value(self, K: Numbers, u: Real) -> Real:
        t = K.min(K.abs(u), K(self.gamma * self.lam))
        return K(self.lam) * t - t * t / (2 * K(self.gamma))

    def subgradient(self, K: Numbers, u: Real) -> Real:
        """sgn(v)·(λ − min(|v|, γλ)/γ); 0 at 0."""
        return K.sign(u) * (K(self.lam) - K.min(K.abs(u), K(self.gamma * self.lam)) / K(self.gamma))

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """sgn(m)·min(|m|, max(0, (β|m| − λ)/(β − 1/γ))): 0, then the arch, then m itself.

        On the arch λ − v/γ + β(v − m) = 0. The line (βm − λ)/(β − 1/γ) is steeper than m and meets it at m = γλ.
        """
        b, centre = checked_beta(K, beta, self.rho), K(m)
        t = K.abs(centre)
        arch = (b * t - K(self.lam)) / (b - K(self.rho))
        return self._odd_prox(K, centre, K.min(t, K.max(K(0), arch)))


@dataclass(frozen=True)
class SCAD(WeakScalarLoss):
    """The smoothly clipped absolute deviation (Fan and Li 2001), a > 2: slope λ up to λ, falling to 0 at aλ.

    L_0 = λ, ρ = 1/(a − 1).
    """

    lam: Any
    a: Any

    def __post_init__(self) -> None:
        _set_exact(self, "lam", "a")
        positive("lam", self.lam)
        require(self.a > 2, "a", self.a, "be greater than 2")

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(self.lam)

    @property
    def rho(self) -> Fraction:
        return 1 / (Fraction(self.a) - 1)

    def value(self, K: Numbers, u: Real) -> Real:
        """The integral of the slope: λ·min(t, λ) + ((aλ − λ)² − (aλ − s)²)/(2(a − 1)), t = |v|, s = clip(t, λ, aλ)."""
        t, lam, end = K.abs(u), K(self.lam), K(self.a * self.lam)
        s = K.clip(t, lam, end)
        return lam * K.min(t, lam) + ((end - lam) ** 2 - (end - s) ** 2) / (2 * K(self.a - 1))

    def subgradient(self, K: Numbers, u: Real) -> Real:
        """sgn(v)·clip((aλ − |v|)/(a − 1), 0, λ); 0 at 0."""
        falling = (K(self.a * self.lam) - K.abs(u)) / K(self.a - 1)
        return K.sign(u) * K.clip(falling, K(0), K(self.lam))

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """sgn(m)·min(|m|, max(0, |m| − λ/β, (β(a−1)|m| − aλ)/(β(a−1) − 1))).

        Soft threshold while v ≤ λ; on the arch (aλ − v)/(a − 1) + β(v − m) = 0; then m. The arch's line is the
        steepest: it crosses the soft threshold at v = λ and meets m at aλ, so that max and min pick the right piece.
        """
        b, centre, lam = checked_beta(K, beta, self.rho), K(m), K(self.lam)
        t, c = K.abs(centre), b * K(self.a - 1)
        arch = (c * t - K(self.a) * lam) / (c - 1)
        return self._odd_prox(K, centre, K.min(t, K.max(K.max(K(0), t - lam / b), arch)))


@dataclass(frozen=True)
class NegativeSquare(WeakScalarLoss):
    """−(c/2)v², c ≥ 0: ρ = c; c·B-Lipschitz on [−B, B]."""

    c: Any
    B: Any

    def __post_init__(self) -> None:
        _set_exact(self, "c", "B")
        nonnegative("c", self.c)
        nonnegative("B", self.B)

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(self.c * self.B)

    @property
    def rho(self) -> Fraction:
        return Fraction(self.c)

    def value(self, K: Numbers, u: Real) -> Real:
        return -K(self.c) * u * u / 2

    def subgradient(self, K: Numbers, u: Real) -> Real:
        return -K(self.c) * u

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """βm/(β − c)."""
        b = checked_beta(K, beta, self.rho)
        return b * K(m) / (b - K(self.c))


def tanh_curvature(K: Numbers) -> Real:
    """sup|tanh''| = 4/(3√3), about 0.7698: tanh'' = −2T(1 − T²), extreme at T = ±1/√3."""
    return 4 / (3 * K.sqrt(K(3)))


@dataclass(frozen=True)
class TanhResidual(WeakScalarLoss):
    """|tanh v − y|: L_0 = 1, ρ = `tanh_curvature`: away from the (convex) kink the second derivative is ±tanh''."""

    y: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y")

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(1)

    @property
    def rho(self) -> Fraction:
        return rounded_up(tanh_curvature)

    def value(self, K: Numbers, u: Real) -> Real:
        return K.abs(K.tanh(u) - K(self.y))

    def subgradient(self, K: Numbers, u: Real) -> Real:
        """sgn(tanh v − y)·(1 − tanh² v); 0 at the kink."""
        T = K.tanh(u)
        return K.sign(T - K(self.y)) * (1 - T) * (1 + T)


# ---------------------------------------------------------------------------------------- in ℝ^d


class WeaklyConvexLoss(ABC):
    """f(·, z): L0-Lipschitz on the set it was declared for and rho-weakly convex, both with respect to ‖·‖_p."""

    p: Any

    @property
    @abstractmethod
    def L0(self) -> Fraction:
        """The Lipschitz constant."""

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """The constant of weak convexity."""

    def admit(self, z: Any, dim: int) -> Example:
        """The admissible record that stands for z (the rule of `data`); a loss with bounds on its records adds them."""
        return readable(z, dim) or blank(dim)

    @abstractmethod
    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        """f(w, z)."""

    @abstractmethod
    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """An element of ∂f(w, z): the one nearest 0 of the loss on the line, times a."""


class WeakPredictorLoss(LinearPredictor, WeaklyConvexLoss):
    """h_y(⟨a, w⟩) with ‖a‖_q ≤ R: L0 = R·lipschitz(h), rho = R²·rho(h). `label`: a label at which both are reached."""

    label: Fraction = Fraction(0)

    @abstractmethod
    def scalar(self, z: Example) -> WeakScalarLoss:
        """h_y."""

    @property
    def L0(self) -> Fraction:
        return Fraction(self.R) * self.scalar(Example((0,), self.label)).lipschitz

    @property
    def rho(self) -> Fraction:
        return Fraction(self.R) ** 2 * self.scalar(Example((0,), self.label)).rho

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        return self.scalar(z).value(K, self.predictor(K, w, z))

    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        g: Vector = self.features(K, z) * self.scalar(z).subgradient(K, self.predictor(K, w, z))
        return g

    def prox(self, K: Numbers, beta: Exact | Real, w: Vector, z: Example) -> Vector:
        """argmin_v f(v, z) + (β/2)‖v − w‖_2² over ℝ^d, where h has a closed form."""
        return linear_prox(K, self.scalar(z), self.features(K, z), beta, w)


@dataclass(frozen=True)
class RobustPhaseRetrieval(WeakPredictorLoss):
    """|⟨a, w⟩² − y| on a set with ‖w‖_p ≤ B: rho = 2R², L0 = 2R²B (= R²D on a set centred at 0 with D = 2B)."""

    R: Any
    B: Any
    p: Any = 2

    label = Fraction(1)

    def __post_init__(self) -> None:
        self._check_bounds()
        object.__setattr__(self, "B", nonnegative("B", self.B))

    def scalar(self, z: Example) -> SquareResidual:
        return SquareResidual(z.y, self.R * self.B)


@dataclass(frozen=True)
class TanhRegression(WeakPredictorLoss):
    """|tanh⟨a, w⟩ − y|: rho = R²·4/(3√3), L0 = R."""

    R: Any
    p: Any = 2

    def __post_init__(self) -> None:
        self._check_bounds()

    def scalar(self, z: Example) -> TanhResidual:
        return TanhResidual(z.y)


@dataclass(frozen=True)
class NegativeQuadratic(WeakPredictorLoss):
    """−(curvature/2)⟨a, w⟩² on a set with ‖w‖_p ≤ B, whatever y: rho = curvature·R², L0 = curvature·R²·B."""

    R: Any
    B: Any
    curvature: Any = 1
    p: Any = 2

    def __post_init__(self) -> None:
        self._check_bounds()
        object.__setattr__(self, "B", nonnegative("B", self.B))
        object.__setattr__(self, "curvature", nonnegative("curvature", self.curvature))

    def scalar(self, z: Example) -> NegativeSquare:
        return NegativeSquare(self.curvature, self.R * self.B)


@dataclass(frozen=True)
class Penalised(WeakPredictorLoss):
    """h(⟨a, w⟩ − y) for one loss h on the line, e.g. MCP or SCAD of a residual: rho = R²·rho(h), L0 = R·lipschitz(h).

    If h is Lipschitz on [−B, B] only, |⟨a, w⟩ − y| must stay there.
    """

    h: WeakScalarLoss
    R: Any
    p: Any = 2

    def __post_init__(self) -> None:
        self._check_bounds()

    def scalar(self, z: Example) -> WeakScalarLoss:
        return _Shifted(self.h, z.y)


@dataclass(frozen=True)
class _Shifted(WeakScalarLoss):
    """h(v − y)."""

    h: WeakScalarLoss
    y: Any

    @property
    def lipschitz(self) -> Fraction:
        return self.h.lipschitz

    @property
    def rho(self) -> Fraction:
        return self.h.rho

    def value(self, K: Numbers, u: Real) -> Real:
        return self.h.value(K, u - K(self.y))

    def subgradient(self, K: Numbers, u: Real) -> Real:
        return self.h.subgradient(K, u - K(self.y))

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        return self.h.prox(K, beta, K(m) - K(self.y)) + K(self.y)


@dataclass(frozen=True)
class SeparablePenalty(WeaklyConvexLoss):
    """Σ_j h(w_j) for one loss h on the line and 1 ≤ p ≤ 2, whatever z: rho = rho(h), L0 = lipschitz(h)·d^{1−1/p}.

    The sum is rho(h)-weakly convex in ℓ_2, and ‖·‖_2 ≤ ‖·‖_p for p ≤ 2. L0 is a rational: d^{1−1/p} rounded up.
    """

    h: WeakScalarLoss
    dim: int
    p: Any = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", whole("dim", self.dim))
        object.__setattr__(self, "p", exponent("p", self.p))
        require(self.p <= 2, "p", self.p, "lie in [1, 2]", "‖·‖_2 ≤ ‖·‖_p only then")

    @property
    def L0(self) -> Fraction:
        power = 1 - 1 / Fraction(self.p)
        if power == 0 or self.dim == 1:
            return self.h.lipschitz
        return self.h.lipschitz * rounded_up(lambda K: K.power(K(self.dim), power))

    @property
    def rho(self) -> Fraction:
        return self.h.rho

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        same_dimension("w", len(w), self.dim)
        return K.sum(self.h.value(K, x) for x in w)

    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        same_dimension("w", len(w), self.dim)
        return K.vector([self.h.subgradient(K, x) for x in w])

    def prox(self, K: Numbers, beta: Exact | Real, w: Vector, z: Example) -> Vector:
        """Coordinate by coordinate (ℓ_2)."""
        return K.vector([self.h.prox(K, beta, x) for x in w])


__all__ = [
    "MCP",
    "SCAD",
    "NegativeQuadratic",
    "NegativeSquare",
    "Penalised",
    "RobustPhaseRetrieval",
    "SeparablePenalty",
    "SquareResidual",
    "TanhRegression",
    "TanhResidual",
    "WeakPredictorLoss",
    "WeakScalarLoss",
    "WeaklyConvexLoss",
    "tanh_curvature",
]
