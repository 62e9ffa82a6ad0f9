"""Records, datasets and what "neighbouring" means.

A dataset is a tuple of records. The record of a generalised linear loss is `Example(x, y)`: a feature vector and a
label, in exact numbers. Neighbours are replace-one, as in the paper: same size, exactly one record differs, position by
position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from reference.numerics.numbers import Exact
from reference.numerics.preconditions import exact, exact_tuple, require

_Z = TypeVar("_Z")


@dataclass(frozen=True)
class Example:
    """A feature vector x and a label y. Numbers are kept as they come; decimal strings become Fractions."""

    x: tuple[Exact, ...]
    y: Exact = 0

    def __post_init__(self) -> None:
        exact_tuple("x", self.x)
        exact("y", self.y)
        object.__setattr__(self, "x", tuple(_number(value) for value in self.x))
        object.__setattr__(self, "y", _number(self.y))


def _number(value: Any) -> Exact:
    if isinstance(value, str):
        return Fraction(value)
    return value if isinstance(value, (int, float, Fraction)) else exact("value", value)


def replace_one(dataset: Sequence[_Z], i: int, z: _Z) -> tuple[_Z, ...]:
    """The dataset with record i (from 0) replaced by z."""
    require(isinstance(i, int) and 0 <= i < len(dataset), "i", i, f"be an index of a dataset of {len(dataset)} records")
    return (*dataset[:i], z, *dataset[i + 1 :])


def are_neighbours(S: Sequence[Any], S2: Sequence[Any]) -> bool:
    """Whether S and S2 have one size and differ in exactly one record. (Equal datasets are not neighbours.)"""
    return len(S) == len(S2) and sum(a != b for a, b in zip(S, S2, strict=True)) == 1
