"""Convex losses on the line, and generalised linear losses built from them (Definition of Section 3).

| paper | here |
|---|---|
| ℓ^{(y)} : ℝ → ℝ | `ScalarLoss` (one object a label y) |
| L_0 | `.lipschitz` of a scalar loss, `GLL.L0` of the family |
| f(w, (x, y)) = ℓ^{(y)}(⟨w, x⟩) | `GLL` |
| R ≥ ‖x‖_* | `GLL.R`, in the dual of ‖·‖_p |
| prox_ℓ^β(m) = argmin_u ℓ(u) + (β/2)(u − m)² over ℝ | `.prox(K, beta, m)`, or `NoClosedForm` |

Values and proximal points are written with max, min, clip and |·|, so that in balls they enclose without a decision. A
subgradient jumps at a kink and is decided through `K`; at a kink it is the element of the subdifferential nearest 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from reference.numerics.numbers import Exact, Numbers, Real, Vector, dual_exponent, dual_norm
from reference.numerics.preconditions import (
    Exponent,
    exact,
    exact_tuple,
    exponent,
    nonnegative,
    positive,
    require,
    same_dimension,
)
from reference.paper.registry import implements
from reference.setting.data import FEATURE_SLACK, Example, blank, clipped_features, nearest_label, readable


class NoClosedForm(ValueError):
    """The proximal point of this loss has no closed form."""


def checked_beta(K: Numbers, beta: Exact | Real, above: Fraction = Fraction(0)) -> Real:
    """β as a scalar, β > `above` (0, or ρ for a ρ-weakly convex loss, whose proximal point is unique only then)."""
    number = K(beta)
    why = "the proximal point is then unique" if above else ""
    require(K.lt(K(above), number), "beta", beta, f"be greater than {above}", why)
    return number


# ------------------------------------------------------------------------------------ losses on the line


class ScalarLoss(ABC):
    """ℓ on ℝ with its Lipschitz constant."""

    is_convex: bool = True
    smoothness: Fraction | None = None
    """The Lipschitz constant of ℓ', where ℓ is differentiable."""

    @property
    @abstractmethod
    def lipschitz(self) -> Fraction:
        """L_0: |ℓ(u) − ℓ(v)| ≤ L_0|u − v|, the smallest such number."""

    @abstractmethod
    def value(self, K: Numbers, u: Real) -> Real:
        """ℓ(u)."""

    @abstractmethod
    def subgradient(self, K: Numbers, u: Real) -> Real:
        """The element of ∂ℓ(u) nearest 0."""

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """argmin_u ℓ(u) + (β/2)(u − m)² over ℝ."""
        raise NoClosedForm(f"{self} has no closed-form proximal point: search for it with the subgradient")


class _PiecewiseLinear(ScalarLoss):
    """What all piecewise linear losses share, from their kinks k_1 < … < k_m and slopes s_0, …, s_m."""

    kinks: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]

    @property
    def lipschitz(self) -> Fraction:
        return max(abs(s) for s in self.slopes)

    def subgradient(self, K: Numbers, u: Real) -> Real:
        """The slope of the piece of u; at a kink the number between the two slopes that is nearest 0."""
        for i, kink in enumerate(self.kinks):
            if K.lt(u, K(kink)):
                return K(self.slopes[i])
            if K.le(u, K(kink)):
                low, high = sorted(self.slopes[i : i + 2])
                return K(min(max(Fraction(0), low), high))
        return K(self.slopes[-1])

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """m − (s_0 + Σ_i clip(β(m − k_i) − s_{i−1}, 0, s_i − s_{i−1}))/β.

        The bracket is the derivative e of the Moreau envelope. As m grows, u = m − e/β moves along a piece while
        e = s_i stands still, and rests at the kink k_i while e = β(m − k_i) grows from s_{i−1} to s_i: each kink adds
        its own jump, by the clip, and nothing else. So e ∈ ∂ℓ(u) throughout, which is the optimality condition of u.
        """
        if not self.is_convex:
            raise NoClosedForm(f"{self} is not convex: its proximal point is not unique")
        b, centre = checked_beta(K, beta), K(m)
        slope = K(self.slopes[0])
        for kink, left, right in zip(self.kinks, self.slopes, self.slopes[1:], strict=False):
            slope = slope + K.clip(b * (centre - K(kink)) - K(left), K(0), K(right - left))
        return centre - slope / b


@dataclass(frozen=True)
class Absolute(_PiecewiseLinear):
    """|u − y|: L_0 = 1."""

    y: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y")

    @property
    def kinks(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (self.y,)

    @property
    def slopes(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (Fraction(-1), Fraction(1))

    def value(self, K: Numbers, u: Real) -> Real:
        return K.abs(u - K(self.y))


@dataclass(frozen=True)
class Hinge(_PiecewiseLinear):
    """max(0, 1 − y·u): L_0 = |y|. The usual labels are ±1; any y ≠ 0 will do."""

    y: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y")
        require(self.y != 0, "y", self.y, "not be 0", "the hinge loss has labels ±1")

    @property
    def kinks(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (1 / self.y,)

    @property
    def slopes(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (-self.y, Fraction(0)) if self.y > 0 else (Fraction(0), -self.y)

    def value(self, K: Numbers, u: Real) -> Real:
        return K.max(K(0), 1 - K(self.y) * u)


@dataclass(frozen=True)
class Quantile(_PiecewiseLinear):
    """max(τ(y − u), (1 − τ)(u − y)), the pinball loss: slopes −τ and 1 − τ, L_0 = max(τ, 1 − τ)."""

    y: Any
    tau: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y", "tau")
        require(0 < self.tau < 1, "tau", self.tau, "lie in (0, 1)")

    @property
    def kinks(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (self.y,)

    @property
    def slopes(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (-self.tau, 1 - self.tau)

    def value(self, K: Numbers, u: Real) -> Real:
        t = u - K(self.y)
        return K.max(-K(self.tau) * t, K(1 - self.tau) * t)


@dataclass(frozen=True)
class EpsilonInsensitive(_PiecewiseLinear):
    """max(0, |u − y| − width), width ≥ 0: L_0 = 1."""

    y: Any
    width: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y", "width")
        nonnegative("width", self.width)

    @property
    def kinks(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return (self.y - self.width, self.y + self.width) if self.width else (self.y,)

    @property
    def slopes(self) -> tuple[Fraction, ...]:  # type: ignore[override]
        return tuple(Fraction(s) for s in ((-1, 0, 1) if self.width else (-1, 1)))

    def value(self, K: Numbers, u: Real) -> Real:
        return K.max(K(0), K.abs(u - K(self.y)) - K(self.width))


@dataclass(frozen=True)
class PiecewiseLinear(_PiecewiseLinear):
    """Any continuous piecewise linear loss: slopes s_0, …, s_m between increasing kinks k_1, …, k_m.

    Its value is `offset` at the first kink (at 0 if there is none). It is convex if and only if the slopes do not fall;
    at a concave kink the subgradient is taken from the interval between the slopes (Clarke's) like at a convex one.
    """

    kinks: Any
    slopes: Any
    offset: Any = 0

    def __post_init__(self) -> None:
        kinks = tuple(exact(f"kinks[{i}]", k) for i, k in enumerate(self.kinks))
        slopes = exact_tuple("slopes", self.slopes)
        count = len(kinks)
        require(len(slopes) == count + 1, "slopes", slopes, f"have {count + 1} entries", "one more than kinks")
        for i in range(1, count):
            before = kinks[i - 1]
            require(before < kinks[i], f"kinks[{i}]", kinks[i], f"be greater than kinks[{i - 1}] = {before}")
        object.__setattr__(self, "kinks", kinks)
        object.__setattr__(self, "slopes", slopes)
        _set_exact(self, "offset")

    @property
    def is_convex(self) -> bool:  # type: ignore[override]
        return all(a <= b for a, b in pairwise(self.slopes))

    def value(self, K: Numbers, u: Real) -> Real:
        """offset + s_0(u − k_1) + Σ_i (s_i − s_{i−1})·max(0, u − k_i)."""
        start = self.kinks[0] if self.kinks else Fraction(0)
        total = K(self.offset) + K(self.slopes[0]) * (u - K(start))
        for kink, left, right in zip(self.kinks, self.slopes, self.slopes[1:], strict=False):
            total = total + K(right - left) * K.max(K(0), u - K(kink))
        return total


@dataclass(frozen=True)
class Huber(ScalarLoss):
    """(u − y)²/2 for |u − y| ≤ width, then linear with slope `width` = L_0. Its derivative is 1-Lipschitz."""

    y: Any
    width: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y", "width")
        positive("width", self.width)

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(self.width)

    @property
    def smoothness(self) -> Fraction:  # type: ignore[override]
        return Fraction(1)

    def value(self, K: Numbers, u: Real) -> Real:
        """With s = min(|u − y|, width): s²/2 + width·(|u − y| − s)."""
        t = K.abs(u - K(self.y))
        s = K.min(t, K(self.width))
        return s * s / 2 + K(self.width) * (t - s)

    def subgradient(self, K: Numbers, u: Real) -> Real:
        return K.clip(u - K(self.y), -K(self.width), K(self.width))

    def prox(self, K: Numbers, beta: Exact | Real, m: Exact | Real) -> Real:
        """m − clip(β(m − y)/(1 + β), ±width)/β: on the parabola u − y = β(m − y)/(1 + β), beyond it slope ±width."""
        b, centre, limit = checked_beta(K, beta), K(m), K(self.width)
        return centre - K.clip(b * (centre - K(self.y)) / (1 + b), -limit, limit) / b


@dataclass(frozen=True)
class Logistic(ScalarLoss):
    """ln(1 + e^{−y·u}): L_0 = |y| (approached, not attained), derivative y²/4-Lipschitz. No closed-form prox."""

    y: Any

    def __post_init__(self) -> None:
        _set_exact(self, "y")
        require(self.y != 0, "y", self.y, "not be 0", "the logistic loss has labels ±1")

    @property
    def lipschitz(self) -> Fraction:
        return Fraction(abs(self.y))

    @property
    def smoothness(self) -> Fraction:  # type: ignore[override]
        return Fraction(self.y) ** 2 / 4

    def value(self, K: Numbers, u: Real) -> Real:
        """max(0, −t) + ln(1 + e^{−|t|}) at t = y·u: no overflow."""
        t = K(self.y) * u
        return K.max(K(0), -t) + K.log1p(K.exp(-K.abs(t)))

    def subgradient(self, K: Numbers, u: Real) -> Real:
        """−y/(1 + e^t) at t = y·u, as −y·e^{−max(t, 0)}/(1 + e^{−|t|})."""
        t = K(self.y) * u
        return -K(self.y) * K.exp(-K.max(t, K(0))) / (1 + K.exp(-K.abs(t)))


def _set_exact(loss: object, *names: str) -> None:
    for name in names:
        object.__setattr__(loss, name, exact(name, getattr(loss, name)))


# ----------------------------------------------------------------------------- generalised linear losses


class LinearPredictor:
    """What the losses of ⟨w, x⟩ share: features, the dual bound R on them, the exponent p of the norm."""

    R: Any
    p: Any

    def _check_bounds(self) -> None:
        object.__setattr__(self, "R", nonnegative("R", self.R))
        object.__setattr__(self, "p", exponent("p", self.p))

    @property
    def q(self) -> Exponent:
        """The exponent of the dual norm."""
        return dual_exponent(self.p)

    def features(self, K: Numbers, z: Example) -> Vector:
        """x as a vector."""
        return K.vector(z.x)

    def predictor(self, K: Numbers, w: Vector, z: Example) -> Real:
        """⟨w, x⟩."""
        same_dimension("x", len(z.x), len(w))
        return w @ self.features(K, z)

    def admit(self, z: Any, dim: int) -> Example:
        """The admissible record that stands for z, whatever z is (the rule of `data`): it never raises."""
        record = readable(z, dim)
        label = None if record is None else self.admit_label(record.y)
        if record is None or label is None:
            return blank(dim)
        x = clipped_features(record.x, Fraction(self.R), self.q)
        unchanged = label is record.y and all(a is b for a, b in zip(x, record.x, strict=True))
        return record if unchanged else Example(x, label)

    def admit_label(self, y: Exact) -> Exact | None:
        """The nearest label that the loss allows; None if none is known."""
        return nearest_label(y)

    def check(self, K: Numbers, z: Example, slack: Exact = 0) -> None:
        """Raise `ValueError` unless ‖x‖_q ≤ R + slack."""
        size = dual_norm(K, self.features(K, z), self.p)
        limit = self.R + nonnegative("slack", slack)
        ok = K.le(size, K(limit))
        require(ok, f"‖x‖_{self.q}", size, f"be at most R = {self.R}", "scale the features or raise R")


def require_valid_on(K: Numbers, loss: Any, W: Any) -> None:
    """Refuse a set on which the constants of a loss do not hold: some hold for ‖w‖_p ≤ B only, and have such a B."""
    B, own = getattr(loss, "B", None), getattr(loss, "require_valid", None)
    if own is not None:
        own(K, W)
    elif B is not None:
        reach = W.norm_bound(K, loss.p)
        remedy = f"L0 holds for ‖w‖_p ≤ B only, and W reaches {K.to_float(reach):.6g}; raise B"
        inside = K.unwatched.le(reach, K(Fraction(B) * (1 + FEATURE_SLACK)))
        require(inside, "B", B, "bound the norms of the points of W", remedy)


@implements("def:glm")
@dataclass(frozen=True)
class GLL(LinearPredictor):
    """An L0-Lipschitz, R-bounded generalised linear loss: f(w, (x, y)) = ℓ^{(y)}(⟨w, x⟩), ‖x‖_q ≤ R.

    `family(y)` is ℓ^{(y)}; a label for which it is not L0-Lipschitz is refused.
    """

    family: Callable[[Any], ScalarLoss]
    L0: Any
    R: Any
    p: Any = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "L0", positive("L0", self.L0))
        self._check_bounds()

    @property
    def lipschitz(self) -> Fraction:
        """f(·, z) is L0·R-Lipschitz with respect to ‖·‖_p."""
        return Fraction(self.L0 * self.R)

    def scalar(self, z: Example) -> ScalarLoss:
        """ℓ^{(y)}."""
        loss = self.family(z.y)
        name = f"Lipschitz constant of the loss of the label y = {z.y}"
        require(loss.lipschitz <= self.L0, name, loss.lipschitz, f"be at most L0 = {self.L0}")
        return loss

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        """f(w, z)."""
        return self.scalar(z).value(K, self.predictor(K, w, z))

    def subgradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """ℓ'(⟨w, x⟩)·x, with the subgradient of ℓ nearest 0."""
        g: Vector = self.features(K, z) * self.scalar(z).subgradient(K, self.predictor(K, w, z))
        return g


def linear_prox(K: Numbers, loss: ScalarLoss, x: Vector, beta: Exact | Real, w: Vector) -> Vector:
    """argmin_v ℓ(⟨v, x⟩) + (β/2)‖v − w‖_2² over ℝ^d, from the proximal point of ℓ on the line.

    Among all v with ⟨v, x⟩ = t the nearest to w is w + x(t − m)/‖x‖², m = ⟨w, x⟩, at squared distance (t − m)²/‖x‖²:
    what remains is ℓ(t) + (β/(2‖x‖²))(t − m)². For x = 0 nothing pulls and v = w.
    """
    same_dimension("x", len(x), len(w))
    square = x @ x
    if not K.lt(K(0), square):
        return w
    m = w @ x
    t = loss.prox(K, K(beta) / square, m)
    step: Vector = x * ((t - m) / square)
    return w + step
