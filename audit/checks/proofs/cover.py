"""Boxes of balls that cover a domain: lhs < rhs is decided on every one, or the box is halved.

Each side of a box becomes a ball that contains it; the two sides of the claim are evaluated in ball arithmetic, so that
"decided" holds at every point of the box. A box that stays open at the least width is reported, and nothing is proved.
An unbounded domain is not covered: a step handles its tail by an explicit majorant or by a substitution that makes the
domain bounded, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

from flint import arb, fmpq

from reference.numerics.numbers import Ball, BallScalar

Ranges: TypeAlias = Mapping[str, tuple[Fraction, Fraction]]
Sides: TypeAlias = Callable[..., tuple[Any, Any]]
"""(K, x, y, …) → (lhs, rhs), each of the box's variables by its name."""

BITS = 96
LIMIT = 200_000
"""Boxes that may be looked at before a cover is given up."""


@dataclass(frozen=True)
class Covering:
    """What covering a box gave: how many boxes decided, or the box that stayed open."""

    done: bool
    boxes: int
    open_box: str = ""


def interval(K: Ball, low: Fraction, high: Fraction) -> BallScalar:
    """A ball that contains [low, high]."""

    def join() -> arb:
        a, b = (arb(fmpq(x.numerator, x.denominator)) for x in (low, high))
        return a if low == high else a.union(b)

    return BallScalar(K, K.at_precision(join))


def cover(box: Ranges, sides: Sides, bits: int = BITS, depth: int = 60, limit: int = LIMIT) -> Covering:
    """Whether lhs < rhs at every point of the box, by branch and bound."""
    K, names = Ball(bits), list(box)
    todo, boxes = [(dict(box), 0)], 0
    while todo:
        one, level = todo.pop()
        boxes += 1
        answer = decided(K, one, sides)
        if answer:
            continue
        if answer is False:
            return Covering(False, boxes, _shown(one))
        if level >= depth or boxes >= limit:
            return Covering(False, boxes, _shown(one))
        name = max(names, key=lambda n: _share(one[n], box[n]))
        low, high = one[name]
        if low == high:
            return Covering(False, boxes, _shown(one))
        middle = (low + high) / 2
        todo += [({**one, name: (low, middle)}, level + 1), ({**one, name: (middle, high)}, level + 1)]
    return Covering(True, boxes)


def decided(K: Ball, box: Ranges, sides: Sides) -> bool | None:
    """Whether lhs < rhs on the whole box (True) or nowhere (False); None if one evaluation does not tell."""
    try:
        left, right = sides(K, **{name: interval(K, *ends) for name, ends in box.items()})
        return K.lt(left, right)
    except (ValueError, ArithmeticError):
        return None


def refuted_at(box: Ranges, sides: Sides, parts: int = 8, bits: int = 192) -> dict[str, Fraction] | None:
    """A point of a grid on the box at which lhs > rhs is certain; None if the grid has none."""
    K = Ball(bits)
    for point in _grid(box, parts):
        try:
            left, right = sides(K, **{name: K(x) for name, x in point.items()})
            if K.lt(right, left):
                return point
        except (ValueError, ArithmeticError):
            continue
    return None


def _grid(box: Ranges, parts: int) -> Iterator[dict[str, Fraction]]:
    """Points of the box, `parts` + 1 a side, the corners first."""
    for steps in (1, parts):
        sides = [[low + (high - low) * Fraction(i, steps) for i in range(steps + 1)] for low, high in box.values()]
        for values in product(*sides):
            yield dict(zip(box, values, strict=True))


def _share(side: tuple[Fraction, Fraction], whole: tuple[Fraction, Fraction]) -> Fraction:
    return (side[1] - side[0]) / (whole[1] - whole[0]) if whole[1] > whole[0] else Fraction(0)


def _shown(box: Ranges) -> str:
    return ", ".join(f"{name} in [{float(a):.6g}, {float(b):.6g}]" for name, (a, b) in box.items())
