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
from reference.numerics.numbers import Ball, BallScalar, Float64, Numbers, Real
from reference.numerics.preconditions import nonnegative
from reference.paper.algorithms import Edition, PerAlgorithm
from reference.paper.inventory import load
from reference.privacy import log_inverse
from reference.setting.sets import Region

NoiseKind: TypeAlias = Literal["laplace", "gumbel", "normal"]

WORK = Ball(128)
"""Where scales are computed before they are rounded to binary64."""


EXACT = Ball(128)
"""Exact arithmetic, as the numbers of a run: nothing is rounded."""


class RunBall(Ball):
    """Balls in which a run's own formulas are evaluated: they round nothing, and reserve what that run rounds."""

    def __init__(self, bits: int, run: Numbers):
        super().__init__(bits)
        self.name, self.roundoff = run.name, run.unit_roundoff

    @property
    def unit_roundoff(self) -> Fraction:
        """That of the run."""
        return self.roundoff


class RunFloat(Float64):
    """The same in binary64, where a formula has a term for each of very many steps."""

    def __init__(self, run: Numbers):
        self.name, self.roundoff = run.name, run.unit_roundoff

    @property
    def unit_roundoff(self) -> Fraction:
        """That of the run."""
        return self.roundoff


@dataclass(frozen=True)
class PrivacyTarget:
    """The variant, the (ε,δ) that it is asked for, and the numbers that the run computes with."""

    variant: Edition
    epsilon: Fraction
    delta: Fraction
    numbers: Numbers = EXACT

    @property
    def numbers_name(self) -> str:
        """The number system in a word."""
        return self.numbers.name if self.rounded else "exact"

    @property
    def rounded(self) -> bool:
        """Whether the run rounds: its noise then has a reserve, and no pair of neighbours spends that."""
        return self.numbers.unit_roundoff > 0

    def work(self, bits: int = 0) -> RunBall:
        """Where the run's formulas are evaluated: with bits enough for its δ, unless given."""
        return RunBall(bits or WORK.bits + (1 // self.delta).bit_length(), self.numbers)

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
class Reading:
    """Another reading of the printed text than the one that the account is for, and the profile that it has."""

    name: str
    profile: PrivacyProfile

    def verdict(self, target: PrivacyTarget) -> str:
        """private, fails so read, or not certified: "violated" is said of the printed mechanism alone."""
        found = self.profile.verdict(target.epsilon, target.delta)
        return "fails so read" if found == "violated" else found


def refuted(algorithm: str) -> bool:
    """Whether the record of errata says of the algorithm as printed that it is not private."""
    known = load()
    places = (place for e in known.errata if e.severity == "privacy" for place in e.falsifies)
    return any(algorithm in known.places_of(place) for place in places)


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
    readings: tuple[Reading, ...] = ()
    """What the same scales guarantee if the text is read otherwise."""

    @property
    def failed(self) -> tuple[Condition, ...]:
        """The conditions that fail: without them nothing is proved, and the profile is not to be used."""
        return tuple(c for c in self.conditions if not c.holds)

    @property
    def verdict(self) -> ProfileVerdict | Literal["no guarantee", "no noise", "cited"]:
        """private, violated, not certified; no guarantee if a condition fails; no noise; cited: no scale is printed.

        "violated" is said where an exact profile exceeds the target and the record of errata refutes the printed
        algorithm: whatever else the profile is exact for is not the printed mechanism.
        """
        if self.failed:
            return "no guarantee"
        if self.profile is None:
            return "cited" if self.cited else "no noise"
        found = self.profile.verdict(self.target.epsilon, self.target.delta)
        known = self.target.printed and refuted(self.algorithm)
        return found if found != "violated" or known else "not certified"


ACCOUNTANTS: PerAlgorithm[Callable[..., Account]] = PerAlgorithm()
"""By the algorithm's label: from a target, and the algorithm's own parameters as keywords, to the account."""


def guarded(profile: PrivacyProfile, conditions: Sequence[Condition]) -> PrivacyProfile | None:
    """The profile, or None if a condition fails: a number that nothing proves is not given."""
    return profile if all(c.holds for c in conditions) else None


def region(d: int, reach: Any, D: Any) -> Region:
    """Any W of dimension d whose points have norm at most `reach`; not given, D: then W holds the origin."""
    return Region(d, D if reach is None else nonnegative("reach", reach))


def accepted(target: PrivacyTarget, what: str, check: Callable[[], None]) -> tuple[Condition, ...]:
    """That a run in these numbers accepts a scale of the text: `check` is the run's own."""
    try:
        check()
    except ValueError as error:
        return (Condition(f"a run in {target.numbers.name} accepts {what}", False, f"it says: {error}"),)
    return (Condition(f"a run in {target.numbers.name} accepts {what}", True),)


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
