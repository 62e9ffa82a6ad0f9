"""A fourth number system, for formulas only: scalars are binary64 arrays.

A closed formula of `reference` (max, min, clip, |·|, exp, …) runs on whole arrays through it. A decision does not:
an array has no single truth value, so `lt`, `le` and `floor` are refused, and loops and branches are written anew in
this package.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NoReturn, TypeAlias

import numpy as np
from scipy import special

from reference.numerics.numbers import Numbers, Vector

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Arrays(Numbers):
    """Binary64 arrays as scalars: formulas, no decisions."""

    name = "arrays"

    @property
    def unit_roundoff(self) -> Fraction:
        """2^{−53}, as of `Float64`."""
        return Fraction(1, 2**53)

    def __call__(self, x: Any) -> Any:
        return float(Fraction(x)) if isinstance(x, (str, Fraction)) else x

    def vector(self, entries: Iterable[Any]) -> Vector:
        self._refuse("vector")

    def sqrt(self, x: Any) -> Any:
        return np.sqrt(x)

    def exp(self, x: Any) -> Any:
        return np.exp(x)

    def expm1(self, x: Any) -> Any:
        return np.expm1(x)

    def log(self, x: Any) -> Any:
        return np.log(x)

    def log1p(self, x: Any) -> Any:
        return np.log1p(x)

    def tanh(self, x: Any) -> Any:
        return np.tanh(x)

    def erfc(self, x: Any) -> Any:
        return special.erfc(x)

    def gamma(self, x: Any) -> Any:
        return special.gamma(x)

    def power(self, x: Any, y: Any) -> Any:
        return np.power(x, self(y))

    def abs(self, x: Any) -> Any:
        return np.abs(x)

    def max(self, x: Any, y: Any) -> Any:
        return np.maximum(x, y)

    def min(self, x: Any, y: Any) -> Any:
        return np.minimum(x, y)

    @property
    def pi(self) -> Any:
        return np.pi

    def sign(self, x: Any) -> Any:
        """Entry by entry: a factor, not a branch."""
        return np.sign(x)

    def lt(self, x: Any, y: Any) -> bool:
        self._refuse("lt")

    def le(self, x: Any, y: Any) -> bool:
        self._refuse("le")

    def floor(self, x: Any) -> int:
        self._refuse("floor")

    def to_float(self, x: Any) -> float:
        return float(x)

    def _refuse(self, name: str) -> NoReturn:
        raise TypeError(f"K.{name} is not defined on arrays: a trial each would take its own branch; vectorise it")


ARRAYS = Arrays()


def floats(values: Iterable[Any]) -> Array:
    """Exact numbers, or a reference vector, as a binary64 array."""
    return np.array([float(v) for v in values])


def matrix(rows: Iterable[Iterable[Any]]) -> Array:
    """Rows of exact numbers as a binary64 matrix."""
    return np.array([[float(v) for v in row] for row in rows])
