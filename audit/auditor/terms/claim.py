"""What is claimed of a mechanism, and how sure a refutation must be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Claim:
    """(ε, δ)-DP, and the confidence of the whole audit."""

    epsilon: float
    delta: float = 0.0
    confidence: float = 0.95

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing; numbers of other kinds (a fraction, numpy's) become floats."""
        for name in ("epsilon", "delta", "confidence"):
            object.__setattr__(self, name, real(name, getattr(self, name)))
        if not self.epsilon >= 0:
            raise ValueError(f"epsilon = {self.epsilon!r} must be a finite number ≥ 0")
        if self.epsilon == math.inf:
            raise ValueError(f"epsilon = {self.epsilon!r} must be a finite number ≥ 0: an infinite ε claims nothing")
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta = {self.delta!r} must be in [0, 1)")
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence = {self.confidence!r} must be strictly between 0 and 1, e.g. 0.95")

    @property
    def alpha(self) -> float:
        """The error level of the whole audit."""
        return 1 - self.confidence


def real(name: str, value: Any) -> float:
    """A real number as Python's; anything else is refused with the way to make one of it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, np.integer | np.floating | Fraction):
        return float(value)
    raise ValueError(f"{name} = {value!r:.60} is a {type(value).__name__}: give a number, e.g. {name}=float(…)")
