"""Records, datasets, what "neighbouring" means, and what happens to a record that is not what it should be.

A dataset is a tuple of records. The record of a generalised linear loss is `Example(x, y)`: a feature vector and a
label, in exact numbers. Neighbours are replace-one, as in the paper: same size, exactly one record differs, position by
position.

**The rule for hostile records.** An exception that one record causes tells that the record is there, with certainty
and before any noise: no (ε,δ) allows it. So an algorithm never refuses a record. It maps every object to an admissible
record, each by itself, so that neighbours stay neighbours (or become equal), and the loss says how (`admit`):

1. What is not a record of the right dimension in finite numbers (NaN, ∞, text that is no number, another length,
   another type) becomes the *blank* record: features 0, label 0. Its gradient is 0.
2. Features that are too long are scaled to the bound: x ← x·min(1, R/‖x‖_q). A length up to R(1 + 2^{−40}) stays as it
   is; the noise pays for it.
3. A label is moved to the nearest one that the loss allows, at most 2^100 in size. Where no such label is known (a
   loss steeper than L0, a hinge loss with label 0), the record becomes blank.

Numbers are read as in `preconditions.exact`; a text with an exponent of five digits, or a number of more than 20 000
bits, is no number here: it would take its time. Objects are asked for their numbers once and not kept; one whose own
code ends the process (KeyboardInterrupt, say) is beyond any rule. What depends on no record (parameters, sets, the
number of records, the start) is refused at the door, with one clear line. Who wants records to be refused, because they
are public, calls `LinearPredictor.check` or `phased_sgd.checked_points`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from numbers import Rational, Real
from typing import Any, TypeVar

from reference.numerics.numbers import INF, Exact
from reference.numerics.preconditions import exact, exact_tuple, require

_Z = TypeVar("_Z")

FEATURE_SLACK = Fraction(1, 2**40)
"""‖x‖_q may exceed R by this share: features that were scaled to length R in binary64 are accepted."""

LARGEST_LABEL = Fraction(2**100)
"""Labels beyond are moved here: no loss tells them apart where binary64 can, and squares stay finite."""

MOST_BITS = 20_000
"""Of the numerator and the denominator of a number in a record."""

_NUMBER = re.compile(r"\s*[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?)\s*", re.ASCII)


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


# ------------------------------------------------------------------------------------- hostile records


def blank(dim: int) -> Example:
    """The record that stands for one that cannot be read."""
    return Example((0,) * dim, 0)


def readable(z: Any, dim: int) -> Example | None:
    """The record in plain finite numbers, or None: an `Example`, or a pair of features and label."""
    try:
        x, y = (z.x, z.y) if isinstance(z, Example) else z
        if isinstance(x, (str, bytes)) or len(x) != dim:
            return None
        features = [plain_number(value) for value in islice(iter(x), dim)]
        label = plain_number(y)
    except Exception:  # noqa: BLE001 - whatever a record does, it must not be seen outside
        return None
    numbers = [value for value in features if value is not None]
    if label is None or len(numbers) != dim:
        return None
    plain = type(z) is Example and type(x) is tuple  # a class of somebody's own may answer otherwise the next time
    same = plain and all(a is b for a, b in zip((*numbers, label), (*x, y), strict=True))
    return z if same else Example(tuple(numbers), label)


def plain_number(value: Any) -> Exact | None:
    """An int, a Fraction or a finite float; None for what is no number (see the rule above)."""
    kind = type(value)
    if kind is float:
        return float(value) if math.isfinite(value) else None
    if kind is bool or (kind is str and not (len(value) <= MOST_BITS // 4 and _NUMBER.fullmatch(value))):
        return None
    if kind is str or isinstance(value, Rational):
        number = Fraction(value) if kind is str else Fraction(int(value.numerator), int(value.denominator))
        short = max(number.numerator.bit_length(), number.denominator.bit_length()) <= MOST_BITS
        return None if not short else value if kind in (int, Fraction) else number
    if not isinstance(value, Real):
        return None
    rounded = float(value)
    return rounded if math.isfinite(rounded) else None


def clipped_features(x: Sequence[Exact], R: Fraction, q: Any) -> tuple[Exact, ...]:
    """x·min(1, R/‖x‖_q), in binary64 where it has to be scaled; x itself up to the length R(1 + 2^{−40}).

    The length is computed as m·‖x/m‖_q with m = max|x_j|, so that nothing over- or underflows; near the bound it is
    decided in rationals for q = 1, 2 and ∞. Scaled features are 2^{−41} shorter than R, which pays for rounding.
    """
    if _surely_short(x, R, q):
        return tuple(x)
    sizes = [abs(Fraction(value)) for value in x]
    largest = max(sizes)
    if largest * len(sizes) <= R:
        return tuple(x)
    if R == 0:
        return (0,) * len(sizes)
    shares = [float(size / largest) for size in sizes]
    length = largest * Fraction(_length(shares, q))
    if largest <= R * (1 + FEATURE_SLACK) and _inside(sizes, length, R, q):
        return tuple(x)
    factor = float(R * (1 - FEATURE_SLACK / 2)) / _length(shares, q)
    return tuple(math.copysign(share * factor, value) for share, value in zip(shares, map(_sign, x), strict=True))


def _surely_short(x: Sequence[Exact], R: Fraction, q: Any) -> bool:
    """Whether binary64 sees at once that ‖x‖_q ≤ R(1 + 2^{−41}): the usual case, without rationals.

    Its value is off by a factor of at most 1 + 2^{−48} where R is of an ordinary size: up to R(1 + 2^{−42}) it decides.
    """
    try:
        sizes = [abs(float(value)) for value in x]
        bound = float(R)
    except OverflowError:
        return False
    if not math.ldexp(1, -1000) <= bound <= math.ldexp(1, 1000):
        return False
    largest, limit = max(sizes), bound * (1 + math.ldexp(1, -42))
    if largest * len(sizes) <= bound:
        return True
    return largest > 0 and largest * _length([size / largest for size in sizes], q) <= limit


def _sign(value: Exact) -> int:
    return -1 if Fraction(value) < 0 else 1


def _length(shares: Iterable[float], q: Any) -> float:
    """‖·‖_q of numbers in [0, 1] of which one is 1, in binary64 with one rounding of the sum."""
    if q == INF:
        return 1
    return float(math.fsum(share ** float(q) for share in shares) ** (1 / float(q)))


def _inside(sizes: Sequence[Fraction], length: Fraction, R: Fraction, q: Any) -> bool:
    """‖x‖_q ≤ R(1 + 2^{−40}), given its value in binary64."""
    if length <= R * (1 - FEATURE_SLACK):
        return True
    if length > R * (1 + 3 * FEATURE_SLACK):
        return False
    limit = R * (1 + FEATURE_SLACK)
    if q == 1:
        return sum(sizes) <= limit
    if q == 2:
        return sum(size * size for size in sizes) <= limit * limit
    return max(sizes) <= limit if q == INF else length <= R * (1 + FEATURE_SLACK / 2)


def admitted(loss: Any, dataset: Iterable[Any], dim: int) -> tuple[Example, ...]:
    """The admissible records that stand for the given ones, each mapped by itself (the rule above).

    A loss of somebody's own without `admit` gets the records as they are, and has to bear with them.
    """
    admit = getattr(loss, "admit", None)
    return tuple(dataset) if admit is None else tuple(admit(z, dim) for z in dataset)


def nearest_label(y: Exact, bound: Fraction | None = None) -> Exact:
    """y, moved into [−bound, bound], the bound at most 2^100."""
    limit = LARGEST_LABEL if bound is None else min(bound, LARGEST_LABEL)
    number = Fraction(y)
    return y if abs(number) <= limit else limit if number > 0 else -limit
