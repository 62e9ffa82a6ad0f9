"""The accountants of the six algorithms: noise scales and privacy profiles from per-step sensitivities.

This module has what they share: what an account is, and the arithmetic of its scales.

What may not enter: sampling; every number here is an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from audit.accounting.profiles import PrivacyProfile, ProfileVerdict
from reference.numerics.enclosures import float_above
from reference.numerics.numbers import Ball, BallScalar, Numbers, Real
from reference.paper.algorithms import Edition, PerAlgorithm
from reference.privacy import log_inverse

NoiseKind: TypeAlias = Literal["laplace", "gumbel", "normal"]

WORK = Ball(128)
"""Where scales are computed before they are rounded to binary64."""


@dataclass(frozen=True)
class PrivacyTarget:
    """The variant, and the (ε,δ) that it is asked for."""

    variant: Edition
    epsilon: Fraction
    delta: Fraction

    def log_root(self, K: Numbers) -> Real:
        """√ln(1/δ)."""
        return K.sqrt(log_inverse(K, self.delta))

    @property
    def printed(self) -> bool:
        """Whether the text is taken as it stands."""
        return self.variant == "printed"


@dataclass(frozen=True)
class Condition:
    """A condition of the printed theorem, or of the proof that replaces it."""

    text: str
    holds: bool
    remedy: str = ""


@dataclass(frozen=True)
class Scale:
    """One noise scale: the paper's symbol, where it is used, its value, and the law of the noise."""

    symbol: str
    where: str
    value: float
    noise: NoiseKind


@dataclass(frozen=True)
class Account:
    """Scales, profile and verdict of one algorithm in one variant, for a target (ε,δ)."""

    algorithm: str
    target: PrivacyTarget
    scales: tuple[Scale, ...] = ()
    profile: PrivacyProfile | None = None
    conditions: tuple[Condition, ...] = ()
    notes: tuple[str, ...] = ()
    magnitude: tuple[float, ...] = field(default=(), repr=False)
    """What is compared between variants: the noise that reaches the estimate, one number a scale or a step."""
    known_leak: str = ""
    """A pair of neighbours that is known to part where a condition fails, if one has been computed."""
    cited: bool = False
    """The text prints no noise and rests on a theorem that it cites."""

    @property
    def failed(self) -> tuple[Condition, ...]:
        """The conditions that fail: without them nothing is proved, and the profile is not to be used."""
        return tuple(c for c in self.conditions if not c.holds)

    @property
    def verdict(self) -> ProfileVerdict | Literal["no guarantee", "no noise", "cited"]:
        """private, violated, not certified; no guarantee if a condition fails; no noise; cited: no scale is printed."""
        if self.failed:
            return "no guarantee"
        if self.profile is None:
            return "cited" if self.cited else "no noise"
        return self.profile.verdict(self.target.epsilon, self.target.delta)


ACCOUNTANTS: PerAlgorithm[Callable[..., Account]] = PerAlgorithm()
"""By the algorithm's label: from a target, and the algorithm's own parameters as keywords, to the account."""


def guarded(profile: PrivacyProfile, conditions: Sequence[Condition]) -> PrivacyProfile | None:
    """The profile, or None if a condition fails: a number that nothing proves is not given."""
    return profile if all(c.holds for c in conditions) else None


def nearest(x: BallScalar) -> float:
    """A printed scale as binary64 rounds it; the profile is that of the rounded number."""
    return WORK.to_float(x)


def at_least(x: BallScalar) -> float:
    """A scale of ours: the least binary64 number that is certainly not smaller."""
    return float_above(x)


def largest_of(K: Numbers, values: Sequence[Real]) -> Any:
    """The maximum, as an enclosure."""
    value = values[0]
    for other in values[1:]:
        value = K.max(value, other)
    return value
