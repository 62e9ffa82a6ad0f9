"""Losses, sets, datasets and tapes of a test vector, read from its JSON (see SPEC.md).

A vector declares the constants of its loss (L0, L1, ρ) beside the loss: they are inputs like any other, dyadic, at
least as large as the true ones. `DeclaredSmooth` and `DeclaredWeak` carry them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference.convex.moreau import REAL_LINE, Interval
from reference.numerics.numbers import INF, Float64, Numbers, Real
from reference.numerics.preconditions import exact, require, same_dimension
from reference.setting.data import Example
from reference.setting.losses import (
    Absolute,
    EpsilonInsensitive,
    GemanMcClure,
    Hinge,
    Huber,
    Logistic,
    NegativeQuadratic,
    PiecewiseLinear,
    Quantile,
    RobustPhaseRetrieval,
    ScalarLoss,
    Sigmoid,
    SignedQuadratic,
    SmoothPredictorLoss,
    SquaredTanh,
    TanhRegression,
    WeakPredictorLoss,
    WeakScalarLoss,
)
from reference.setting.sets import (
    Box,
    FeasibleSet,
    L2Ball,
    LpBall,
    Polytope,
    Simplex,
    WholeSpace,
    box_polytope,
    l1_ball,
)

Json = Mapping[str, Any]


def number(text: Any) -> Fraction:
    """The rational that a decimal string (or an int) stands for."""
    return exact("value", text)


def numbers(texts: Sequence[Any]) -> tuple[Fraction, ...]:
    """A list of decimal strings."""
    return tuple(number(t) for t in texts)


def optional(text: Any) -> Fraction | None:
    """A decimal string, or nothing for null."""
    return None if text is None else number(text)


def norm_exponent(text: str) -> Any:
    """An exponent p: "1", "1.5", "2", "inf"."""
    if text == "inf":
        return INF
    p = number(text)
    return int(p) if p.denominator == 1 else p


# ----------------------------------------------------------------------------------------------- sets


def feasible_set(data: Json) -> FeasibleSet:
    """W from its type and parameters."""
    kind = data["type"]
    require(kind in SETS, "set type", kind, f"be one of {', '.join(SETS)}")
    return SETS[kind](data)


SETS: Mapping[str, Callable[[Json], FeasibleSet]] = {
    "l2-ball": lambda s: L2Ball(numbers(s["centre"]), number(s["radius"])),
    "lp-ball": lambda s: LpBall(numbers(s["centre"]), number(s["radius"]), norm_exponent(s["p"])),
    "box": lambda s: Box(numbers(s["lower"]), numbers(s["upper"])),
    "simplex": lambda s: Simplex(s["dim"], number(s["scale"])),
    "l1-polytope": lambda s: l1_ball(s["dim"], number(s["radius"])),
    "box-polytope": lambda s: box_polytope(numbers(s["lower"]), numbers(s["upper"])),
    "polytope": lambda s: Polytope([numbers(v) for v in s["vertices"]]),
    "whole-space": lambda s: WholeSpace(s["dim"]),
}


def interval(data: Sequence[str] | None) -> Interval:
    """M: null is the real line."""
    if data is None:
        return REAL_LINE
    lower, upper = data
    return Interval(number(lower), number(upper))


# --------------------------------------------------------------------------------------------- losses


def scalar_family(data: Json) -> Callable[[Any], ScalarLoss]:
    """y ↦ ℓ^{(y)} of Section 3."""
    kind = data["family"]
    require(kind in SCALARS, "loss family", kind, f"be one of {', '.join(SCALARS)}")
    return lambda y: SCALARS[kind](data, y)


SCALARS: Mapping[str, Callable[[Json, Any], ScalarLoss]] = {
    "absolute": lambda _, y: Absolute(y),
    "hinge": lambda _, y: Hinge(y),
    "quantile": lambda s, y: Quantile(y, number(s["tau"])),
    "epsilon-insensitive": lambda s, y: EpsilonInsensitive(y, number(s["width"])),
    "huber": lambda s, y: Huber(y, number(s["width"])),
    "logistic": lambda _, y: Logistic(y),
    "piecewise-linear": lambda s, _: PiecewiseLinear(numbers(s["kinks"]), numbers(s["slopes"])),
}


def public(z: Example, dim: int) -> Example:
    """A record of a vector, of the right dimension."""
    same_dimension("x", len(z.x), dim)
    return z


@dataclass(frozen=True)
class DeclaredSmooth(SmoothPredictorLoss):
    """A smooth loss with declared constants."""

    inner: SmoothPredictorLoss
    declared_L0: Fraction
    declared_L1: Fraction
    p: Any = 2

    @property
    def label_bound(self) -> Fraction | None:  # type: ignore[override]
        """That of the loss."""
        return self.inner.label_bound

    @property
    def R(self) -> Fraction:
        """That of the loss."""
        return Fraction(self.inner.R)

    @property
    def L0(self) -> Fraction:
        return self.declared_L0

    @property
    def L1(self) -> Fraction:
        return self.declared_L1

    def admit(self, z: Any, dim: int) -> Example:
        """The record as it is: those of a vector are public, and its constants are declared."""
        self._label(Float64(), z)
        return public(z, dim)

    def profile(self, K: Numbers, t: Real, y: Real) -> Real:
        return self.inner.profile(K, t, y)

    def slope(self, K: Numbers, t: Real, y: Real) -> Real:
        return self.inner.slope(K, t, y)


SMOOTH: Mapping[str, Callable[[Json], SmoothPredictorLoss]] = {
    "sigmoid": lambda _: Sigmoid(1),
    "geman-mcclure": lambda s: GemanMcClure(1, number(s["width"])),
    "squared-tanh": lambda _: SquaredTanh(1),
    "signed-quadratic": lambda s: SignedQuadratic(1, 1, number(s["curvature"])),
}


def smooth_loss(data: Json) -> DeclaredSmooth:
    """A loss of Section 4 from an input with loss, L0, L1, p."""
    kind = data["loss"]["family"]
    require(kind in SMOOTH, "loss family", kind, f"be one of {', '.join(SMOOTH)}")
    inner = SMOOTH[kind](data["loss"])
    return DeclaredSmooth(inner, number(data["L0"]), number(data["L1"]), norm_exponent(data["p"]))


@dataclass(frozen=True)
class DeclaredWeak(WeakPredictorLoss):
    """A weakly convex loss with declared constants."""

    inner: WeakPredictorLoss
    declared_L0: Fraction
    declared_rho: Fraction
    p: Any = 2

    @property
    def R(self) -> Fraction:
        """That of the loss."""
        return Fraction(self.inner.R)

    @property
    def L0(self) -> Fraction:
        return self.declared_L0

    @property
    def rho(self) -> Fraction:
        return self.declared_rho

    def admit(self, z: Any, dim: int) -> Example:
        """The record as it is: those of a vector are public, and its constants are declared."""
        return public(z, dim)

    def scalar(self, z: Example) -> WeakScalarLoss:
        return self.inner.scalar(z)


WEAK: Mapping[str, Callable[[Json], WeakPredictorLoss]] = {
    "robust-phase-retrieval": lambda _: RobustPhaseRetrieval(1, 1),
    "tanh-regression": lambda _: TanhRegression(1),
    "negative-quadratic": lambda s: NegativeQuadratic(1, 1, number(s["curvature"])),
}


def weak_loss(data: Json) -> DeclaredWeak:
    """A loss of Section 5 from an input with loss, L0, rho, p."""
    kind = data["loss"]["family"]
    require(kind in WEAK, "loss family", kind, f"be one of {', '.join(WEAK)}")
    inner = WEAK[kind](data["loss"])
    return DeclaredWeak(inner, number(data["L0"]), number(data["rho"]), norm_exponent(data["p"]))


# ----------------------------------------------------------------------------------------------- data


def dataset(data: Sequence[Json]) -> tuple[Example, ...]:
    """The records, each an object of its own."""
    return tuple(Example(numbers(z["x"]), number(z["y"])) for z in data)
