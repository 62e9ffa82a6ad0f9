"""Smooth, mostly non-convex losses of Section 4: f(w, (a, y)) = φ_y(⟨a, w⟩) with ‖a‖_q ≤ R.

| paper | here |
|---|---|
| L_0: ‖∇f(w, z)‖_q ≤ L_0 on W | `.L0` |
| L_1: ‖∇f(w, z) − ∇f(v, z)‖_q ≤ L_1‖w − v‖_p | `.L1` |

Since ∇f = φ'(⟨a, w⟩)a, the constants are L_0 = R·sup|φ'| and L_1 = R²·sup|φ''|: the mean value theorem gives
|φ'(⟨a, w⟩) − φ'(⟨a, v⟩)| ≤ sup|φ''|·R‖w − v‖_p. Where a supremum is irrational, a function of this module gives it in
any number system, and the declared constant is a rational above it by less than 2^{−150} of its size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import Ball, Exact, Numbers, Real, Vector
from reference.numerics.preconditions import exact, nonnegative, positive, require
from reference.setting.data import Example, blank, nearest_label, readable
from reference.setting.losses_convex import LinearPredictor


def rounded_up(constant: Callable[[Numbers], Real]) -> Fraction:
    """A rational just above a constant: the upper end of its enclosure at 160 bits."""
    enclosure = constant(Ball(160))
    return Fraction(enclosure.mid + enclosure.rad)


class SmoothLoss(ABC):
    """f(·, z), L0-Lipschitz and L1-smooth with respect to ‖·‖_p on the set it was declared for."""

    p: Any

    @property
    @abstractmethod
    def L0(self) -> Fraction:
        """The Lipschitz constant of f(·, z)."""

    @property
    @abstractmethod
    def L1(self) -> Fraction:
        """The Lipschitz constant of ∇f(·, z), from ‖·‖_p to its dual."""

    def admit(self, z: Any, dim: int) -> Example:
        """The admissible record that stands for z (the rule of `data`); a loss with bounds on its records adds them."""
        return readable(z, dim) or blank(dim)

    @abstractmethod
    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        """f(w, z)."""

    @abstractmethod
    def gradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """∇f(w, z)."""


class SmoothPredictorLoss(LinearPredictor, SmoothLoss):
    """φ_y(⟨a, w⟩): families give φ, φ' and the suprema of |φ'| and |φ''| over labels |y| ≤ `label_bound`."""

    label_bound: Fraction | None = Fraction(1)

    @abstractmethod
    def profile(self, K: Numbers, t: Real, y: Real) -> Real:
        """φ_y(t)."""

    @abstractmethod
    def slope(self, K: Numbers, t: Real, y: Real) -> Real:
        """φ_y'(t)."""

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        return self.profile(K, self.predictor(K, w, z), self._label(K, z))

    def gradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        g: Vector = self.features(K, z) * self.slope(K, self.predictor(K, w, z), self._label(K, z))
        return g

    def admit_label(self, y: Exact) -> Exact | None:
        """y, moved into [−Y, Y]."""
        return nearest_label(y, self.label_bound)

    def _label(self, K: Numbers, z: Example) -> Real:
        Y = self.label_bound
        require(Y is None or abs(exact("y", z.y)) <= Y, "y", z.y, f"lie in [−{Y}, {Y}]")
        return K(z.y)


# ---------------------------------------------------------------------------------------- the families


def sigmoid_curvature(K: Numbers) -> Real:
    """sup|σ''| = 1/(6√3): σ'' = σ(1 − σ)(1 − 2σ), extreme at σ = (1 ± 1/√3)/2."""
    return 1 / (6 * K.sqrt(K(3)))


@dataclass(frozen=True)
class Sigmoid(SmoothPredictorLoss):
    """1/(1 + e^{y⟨a,w⟩}), |y| ≤ 1: sup|φ'| = 1/4 (at 0), sup|φ''| = `sigmoid_curvature`."""

    R: Any
    p: Any = 2

    def __post_init__(self) -> None:
        self._check_bounds()

    @property
    def L0(self) -> Fraction:
        return Fraction(self.R) / 4

    @property
    def L1(self) -> Fraction:
        return Fraction(self.R) ** 2 * rounded_up(sigmoid_curvature)

    def profile(self, K: Numbers, t: Real, y: Real) -> Real:
        s = y * t
        return K.exp(-K.max(s, K(0))) / (1 + K.exp(-K.abs(s)))

    def slope(self, K: Numbers, t: Real, y: Real) -> Real:
        e = K.exp(-K.abs(y * t))
        return -y * e / ((1 + e) * (1 + e))


def geman_mcclure_slope(K: Numbers) -> Real:
    """sup|2s/(1 + s²)²| = 3√3/8, at s = ±1/√3."""
    return 3 * K.sqrt(K(3)) / 8


@dataclass(frozen=True)
class GemanMcClure(SmoothPredictorLoss):
    """s²/(1 + s²) at s = (⟨a, w⟩ − y)/width: sup|φ'| = `geman_mcclure_slope`/width, sup|φ''| = 2/width² (at s = 0)."""

    R: Any
    width: Any = 1
    p: Any = 2

    label_bound = None

    def __post_init__(self) -> None:
        self._check_bounds()
        object.__setattr__(self, "width", positive("width", self.width))

    @property
    def L0(self) -> Fraction:
        return Fraction(self.R / self.width) * rounded_up(geman_mcclure_slope)

    @property
    def L1(self) -> Fraction:
        return 2 * Fraction(self.R / self.width) ** 2

    def profile(self, K: Numbers, t: Real, y: Real) -> Real:
        s = (t - y) / K(self.width)
        return 1 - 1 / (1 + s * s)

    def slope(self, K: Numbers, t: Real, y: Real) -> Real:
        s = (t - y) / K(self.width)
        return 2 * s / ((1 + s * s) * (1 + s * s) * K(self.width))


def squared_tanh_curvature(K: Numbers) -> Real:
    """sup|φ''| = 2(1 − T)²(1 + T)(1 + 3T) at T = (√33 − 3)/12, about 2.465.

    With T = tanh t, φ'' = 2(1 − T²)(1 − 3T² + 2Ty) is linear in y, so extreme at y = ±1, and by symmetry at y = 1,
    where it is 2(1 − T)²(1 + T)(1 + 3T). Its derivative in T vanishes where 6T² + 3T − 1 = 0 (and at T = 1, where
    φ'' = 0); the other root (−√33 − 3)/12 gives about −1.923.
    """
    T = (K.sqrt(K(33)) - 3) / 12
    return 2 * (1 - T) * (1 - T) * (1 + T) * (1 + 3 * T)


@dataclass(frozen=True)
class SquaredTanh(SmoothPredictorLoss):
    """(tanh⟨a, w⟩ − y)², |y| ≤ 1: sup|φ'| = 64/27 (tanh = 1/3, y = −1), sup|φ''| = `squared_tanh_curvature`."""

    R: Any
    p: Any = 2

    def __post_init__(self) -> None:
        self._check_bounds()

    @property
    def L0(self) -> Fraction:
        return Fraction(self.R) * Fraction(64, 27)

    @property
    def L1(self) -> Fraction:
        return Fraction(self.R) ** 2 * rounded_up(squared_tanh_curvature)

    def profile(self, K: Numbers, t: Real, y: Real) -> Real:
        residual = K.tanh(t) - y
        return residual * residual

    def slope(self, K: Numbers, t: Real, y: Real) -> Real:
        T = K.tanh(t)
        return 2 * (T - y) * (1 - T) * (1 + T)


@dataclass(frozen=True)
class SignedQuadratic(SmoothPredictorLoss):
    """y·(curvature/2)·⟨a, w⟩², |y| ≤ 1, on a set with ‖w‖_p ≤ B: L_1 = curvature·R², L_0 = curvature·R²·B.

    With d = 1, a = 1, y = ±1, curvature = 2L_0/D and B = D/2 this is ±(L_0/D)w² on [−D/2, D/2].
    """

    R: Any
    B: Any
    curvature: Any = 1
    p: Any = 2

    def __post_init__(self) -> None:
        self._check_bounds()
        object.__setattr__(self, "B", nonnegative("B", self.B))
        object.__setattr__(self, "curvature", nonnegative("curvature", self.curvature))

    @property
    def L0(self) -> Fraction:
        return self.L1 * Fraction(self.B)

    @property
    def L1(self) -> Fraction:
        return Fraction(self.curvature) * Fraction(self.R) ** 2

    def profile(self, K: Numbers, t: Real, y: Real) -> Real:
        return y * K(self.curvature) * t * t / 2

    def slope(self, K: Numbers, t: Real, y: Real) -> Real:
        return y * K(self.curvature) * t
