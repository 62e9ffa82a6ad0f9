"""Number systems: one function body, three meanings.

Every reference function takes the number system `K` first and computes with the scalars and vectors
that `K` makes:

* `Float64()` — IEEE binary64. Only + − × ÷ √ are bit-reproducible across platforms.
* `MP(digits)` — mpmath at `digits` decimal digits, in a context of its own.
* `Ball(bits)` — midpoint–radius intervals (Arb, through python-flint): every result encloses the truth.

Arithmetic uses the operators. Decisions go through `K` (`K.lt`, `K.le`, `K.argmin`, `K.sign`, `K.ceil`):
where two balls overlap they raise `Undecided` instead of guessing, and `certify` repeats the computation at
twice the precision until it is decided or a cap is reached. A ball refuses `<`, `==`, `bool`, `float` and
arithmetic with a Python float, because each of these would answer or round silently.

Exact inputs are ints, Fractions, decimal strings and binary64 values (taken at their exact binary value).
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, TypeAlias, TypeVar

from flint import arb, arb_mat, ctx, fmpq
from mpmath.ctx_mp import MPContext
from mpmath.libmp import from_rational

Real: TypeAlias = Any
"""A scalar of the number system in use: `float`, mpmath's `mpf` or `BallScalar`."""

Exact: TypeAlias = int | Fraction | str | float
"""What `K(...)` takes besides its own scalars; a float stands for its exact binary value."""

INF = math.inf
"""The exponent of the maximum norm, and the end of an unbounded interval."""


class Undecided(ArithmeticError):
    """A decision on balls that overlap. More precision may decide it; guessing never does."""


def certainly(question: Callable[..., bool], *about: Any) -> bool:
    """The answer; "no" where balls are too wide to tell."""
    try:
        return question(*about)
    except Undecided:
        return False


# --------------------------------------------------------------------------- exact integer logarithms


def floor_log2(x: int | Fraction) -> int:
    """⌊log2 x⌋ of a positive rational, exactly. (In floating point `log(2**k)/log(2)` misses integers.)"""
    x = Fraction(x)
    if x <= 0:
        raise ValueError(f"x = {x} must be positive: log2 is defined on (0, ∞)")
    k = x.numerator.bit_length() - x.denominator.bit_length()
    return k if _power_of_two(k) <= x else k - 1


def _power_of_two(k: int) -> Fraction:
    return Fraction(2**k) if k >= 0 else Fraction(1, 2**-k)


# --------------------------------------------------------------------------------------------- vectors


class Vector(ABC):
    """An immutable vector: `+`, `−`, scalar `·` and `/`, inner product `@`, `[]`, `len`, iteration."""

    __slots__ = ()

    @abstractmethod
    def __add__(self, other: Vector) -> Vector: ...
    @abstractmethod
    def __sub__(self, other: Vector) -> Vector: ...
    @abstractmethod
    def __mul__(self, scalar: Real) -> Vector: ...
    @abstractmethod
    def __matmul__(self, other: Vector) -> Real: ...
    @abstractmethod
    def __getitem__(self, index: int) -> Real: ...
    @abstractmethod
    def __len__(self) -> int: ...
    @abstractmethod
    def __truediv__(self, scalar: Real) -> Vector: ...

    def __rmul__(self, scalar: Real) -> Vector:
        return self.__mul__(scalar)

    def __neg__(self) -> Vector:
        return self * -1

    def __iter__(self) -> Iterator[Real]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        raise TypeError("vectors have no ==: compare entries through the number system")

    __hash__ = None  # type: ignore[assignment]

    def _mpmath_(self, *_: Any) -> Any:
        """Tell mpmath at once that `scalar * vector` is ours (it would print the whole vector first)."""
        raise TypeError("a vector is not a number")

    def __repr__(self) -> str:
        return f"({', '.join(str(x) for x in self)})"


def _same_length(a: Sequence[Real] | Vector, b: Sequence[Real] | Vector) -> None:
    if len(a) != len(b):
        raise ValueError(f"vectors of dimension {len(a)} and {len(b)} do not combine: dimensions must agree")


class TupleVector(Vector):
    """A vector of scalars in a tuple; `dot` is its number system's inner product of two tuples."""

    __slots__ = ("_dot", "entries")

    def __init__(self, entries: tuple[Real, ...], dot: Callable[[tuple[Real, ...], tuple[Real, ...]], Real]):
        self.entries = entries
        self._dot = dot

    def _of(self, entries: Iterable[Real]) -> TupleVector:
        return TupleVector(tuple(entries), self._dot)

    def __add__(self, other: Vector) -> Vector:
        assert isinstance(other, TupleVector)
        _same_length(self.entries, other.entries)
        return self._of(map(operator.add, self.entries, other.entries))

    def __sub__(self, other: Vector) -> Vector:
        assert isinstance(other, TupleVector)
        _same_length(self.entries, other.entries)
        return self._of(map(operator.sub, self.entries, other.entries))

    def __mul__(self, scalar: Real) -> Vector:
        return self._of([scalar * x for x in self.entries])

    def __truediv__(self, scalar: Real) -> Vector:
        return self._of([x / scalar for x in self.entries])

    def __matmul__(self, other: Vector) -> Real:
        assert isinstance(other, TupleVector)
        _same_length(self.entries, other.entries)
        return self._dot(self.entries, other.entries)

    def __getitem__(self, index: int) -> Real:
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Real]:
        return iter(self.entries)


class BallVector(Vector):
    """A vector of balls, kept as a column `arb_mat` so that whole-vector operations run in C."""

    __slots__ = ("_k", "column")

    def __init__(self, k: Ball, column: arb_mat):
        self._k = k
        self.column = column

    def _apply(self, op: Callable[[Any, Any], Any], other: Any) -> BallVector:
        return BallVector(self._k, self._k.at_precision(op, self.column, other))

    def __add__(self, other: Vector) -> Vector:
        assert isinstance(other, BallVector)
        _same_length(self, other)
        return self._apply(operator.add, other.column)

    def __sub__(self, other: Vector) -> Vector:
        assert isinstance(other, BallVector)
        _same_length(self, other)
        return self._apply(operator.sub, other.column)

    def __mul__(self, scalar: Real) -> Vector:
        return self._apply(operator.mul, self._k.raw(scalar))

    def __truediv__(self, scalar: Real) -> Vector:
        return self._apply(operator.truediv, self._k.raw(scalar))

    def __matmul__(self, other: Vector) -> Real:
        assert isinstance(other, BallVector)
        _same_length(self, other)
        product = self._k.at_precision(operator.mul, self.column.transpose(), other.column)
        return BallScalar(self._k, product[0, 0])

    def __getitem__(self, index: int) -> Real:
        size = len(self)
        if not -size <= index < size:
            raise IndexError(index)
        return BallScalar(self._k, self.column[index % size, 0])

    def __len__(self) -> int:
        return int(self.column.nrows())


# ----------------------------------------------------------------------------------- the ball scalar


class BallScalar:
    """A real number known to lie in [mid − rad, mid + rad]. Operators enclose; nothing is compared silently."""

    __slots__ = ("_k", "ball")

    def __init__(self, k: Ball, ball: arb):
        self._k = k
        self.ball = ball

    def _apply(self, op: Callable[[Any, Any], Any], other: Any) -> BallScalar:
        return BallScalar(self._k, self._k.at_precision(op, self.ball, self._k.raw(other)))

    def _applied_to(self, op: Callable[[Any, Any], Any], other: Any) -> BallScalar:
        return BallScalar(self._k, self._k.at_precision(op, self._k.raw(other), self.ball))

    def __add__(self, other: Any) -> BallScalar:
        return self._apply(operator.add, other)

    def __sub__(self, other: Any) -> BallScalar:
        return self._apply(operator.sub, other)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, BallVector):
            return other * self
        return self._apply(operator.mul, other)

    def __truediv__(self, other: Any) -> BallScalar:
        return self._apply(operator.truediv, other)

    def __radd__(self, other: Any) -> BallScalar:
        return self._applied_to(operator.add, other)

    def __rsub__(self, other: Any) -> BallScalar:
        return self._applied_to(operator.sub, other)

    def __rmul__(self, other: Any) -> BallScalar:
        return self._applied_to(operator.mul, other)

    def __rtruediv__(self, other: Any) -> BallScalar:
        return self._applied_to(operator.truediv, other)

    def __neg__(self) -> BallScalar:
        return BallScalar(self._k, self._k.at_precision(operator.sub, arb(0), self.ball))

    def __pow__(self, exponent: int) -> BallScalar:
        if not isinstance(exponent, int):
            raise TypeError(f"exponent {exponent!r} must be an int; K.power takes real exponents")
        return BallScalar(self._k, self._k.at_precision(_integer_power, self.ball, exponent))

    def _refuse(self, *_: Any) -> Any:
        raise TypeError("a ball is not compared, rounded or tested silently: use K.lt, K.le, K.sign, K.to_float")

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _refuse
    __bool__ = __float__ = __int__ = __abs__ = __round__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    @property
    def mid(self) -> Fraction:
        """The midpoint, exactly."""
        return _dyadic(self.ball.mid())

    @property
    def rad(self) -> Fraction:
        """The radius, exactly."""
        return _dyadic(self.ball.rad())

    def contains(self, x: Any) -> bool:
        """Whether the exact value `x` (int, Fraction, float, mpf) lies in the ball."""
        return self.mid - self.rad <= _as_fraction(x) <= self.mid + self.rad

    def __repr__(self) -> str:
        return str(self.ball.str(30))


def _integer_power(x: arb, n: int) -> arb:
    """x^n. Arb's own power is nan for a ball with midpoint exactly 0: there |x|^n is the hull of 0 and its top."""
    if n <= 0 or x.is_exact() or x.mid() != 0:
        return x**n
    even = arb(0).union(x.upper()) ** (n - n % 2)
    return even * x if n % 2 else even


def _dyadic(x: arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * _power_of_two(int(exponent))


def _as_fraction(x: Any) -> Fraction:
    if isinstance(x, BallScalar):
        raise TypeError("a ball has no single value; ask for its mid and rad")
    if isinstance(x, (int, float, Fraction, str)):
        return Fraction(x)
    sign, mantissa, exponent, _ = x._mpf_
    size = Fraction(int(mantissa)) * _power_of_two(int(exponent))
    return -size if sign else size


# --------------------------------------------------------------------------------- the number systems


class Numbers(ABC):
    """A number system `K`: makes scalars and vectors, computes functions, takes decisions."""

    name: str

    @abstractmethod
    def __call__(self, x: Exact | Real) -> Real:
        """The scalar for an exact value (rounded or enclosed once), or `x` itself if it is a scalar already."""

    @abstractmethod
    def vector(self, entries: Iterable[Exact | Real]) -> Vector:
        """The vector with these entries."""

    # functions
    @abstractmethod
    def sqrt(self, x: Real) -> Real:
        """√x, x ≥ 0."""

    @abstractmethod
    def exp(self, x: Real) -> Real:
        """The natural exponential."""

    @abstractmethod
    def expm1(self, x: Real) -> Real:
        """e^x − 1, accurate near 0."""

    @abstractmethod
    def log(self, x: Real) -> Real:
        """The natural logarithm, x > 0."""

    @abstractmethod
    def log1p(self, x: Real) -> Real:
        """ln(1 + x), accurate near 0."""

    @abstractmethod
    def tanh(self, x: Real) -> Real:
        """The hyperbolic tangent."""

    @abstractmethod
    def erfc(self, x: Real) -> Real:
        """The complementary error function."""

    @abstractmethod
    def gamma(self, x: Real) -> Real:
        """Euler's Γ, x > 0."""

    @abstractmethod
    def power(self, x: Real, y: Exact | Real) -> Real:
        """x^y for x ≥ 0 and real y (0^y = 0 for y > 0)."""

    @abstractmethod
    def abs(self, x: Real) -> Real:
        """|x|."""

    @abstractmethod
    def max(self, x: Real, y: Real) -> Real:
        """The larger value (an enclosure of it: no decision is taken)."""

    @abstractmethod
    def min(self, x: Real, y: Real) -> Real:
        """The smaller value (an enclosure of it: no decision is taken)."""

    @property
    @abstractmethod
    def pi(self) -> Real:
        """π."""

    # decisions
    @property
    def unwatched(self) -> Numbers:
        """The same numbers, to decide with whether an input is admissible: no decision of an algorithm.

        A number system that takes notes of an algorithm's decisions (how close they were, say) leaves these out.
        """
        return self

    @abstractmethod
    def lt(self, x: Real, y: Real) -> bool:
        """x < y, or `Undecided`."""

    @abstractmethod
    def le(self, x: Real, y: Real) -> bool:
        """x ≤ y, or `Undecided`."""

    @abstractmethod
    def floor(self, x: Real) -> int:
        """⌊x⌋ as an int, or `Undecided`. For ⌊log2⌋ of a rational use `floor_log2`."""

    @abstractmethod
    def to_float(self, x: Real) -> float:
        """The nearest binary64 value (of the midpoint): for display and hand-over, never for decisions."""

    @property
    def unit_roundoff(self) -> Fraction:
        """u with |fl(x∘y) − x∘y| ≤ u·|x∘y| for + − × ÷ √; 0 where results enclose the exact ones."""
        return Fraction(0)

    def gt(self, x: Real, y: Real) -> bool:
        """x > y, or `Undecided`."""
        return self.lt(y, x)

    def ge(self, x: Real, y: Real) -> bool:
        """x ≥ y, or `Undecided`."""
        return self.le(y, x)

    def ceil(self, x: Real) -> int:
        """⌈x⌉ as an int, or `Undecided`."""
        return -self.floor(-x)

    def sign(self, x: Real) -> int:
        """−1, 0 or 1, or `Undecided`."""
        zero = self(0)
        if self.lt(zero, x):
            return 1
        return 0 if self.le(zero, x) else -1

    def argmin(self, values: Sequence[Real]) -> int:
        """The lowest index of a smallest value; `Undecided` if two candidates overlap without being equal."""
        if not values:
            raise ValueError("values is empty: argmin needs at least one value")
        best = 0
        for i in range(1, len(values)):
            if self.lt(values[i], values[best]):
                best = i
        return best

    def clip(self, x: Real, low: Real, high: Real) -> Real:
        """The point of [low, high] nearest to x."""
        return self.min(self.max(x, low), high)

    # vectors
    def zeros(self, dim: int) -> Vector:
        """The zero vector."""
        return self.vector([0] * dim)

    def unit(self, dim: int, j: int) -> Vector:
        """The j-th standard basis vector."""
        return self.vector([int(i == j) for i in range(dim)])

    def sum(self, values: Iterable[Real]) -> Real:
        """The sum, from left to right."""
        total = self(0)
        for value in values:
            total = total + value
        return total

    def normal_cdf(self, x: Real) -> Real:
        """Φ(x) = erfc(−x/√2)/2."""
        return self.erfc(-x / self.sqrt(self(2))) / 2

    def __repr__(self) -> str:
        return self.name


def _exact_float(x: float) -> float:
    if math.isnan(x):
        raise ValueError("x = nan is not a number")
    return x


class Float64(Numbers):
    """IEEE binary64. Inner products are summed exactly and rounded once, so their order cannot matter."""

    name = "float64"

    @property
    def unit_roundoff(self) -> Fraction:
        """2^{−53}."""
        return Fraction(1, 2**53)

    def __call__(self, x: Exact | Real) -> Real:
        if isinstance(x, float):
            return _exact_float(x)
        return float(Fraction(x)) if isinstance(x, str) and "/" in x else float(x)

    def vector(self, entries: Iterable[Exact | Real]) -> Vector:
        return TupleVector(tuple(self(x) for x in entries), _fsum_dot)

    def sqrt(self, x: Real) -> Real:
        return math.sqrt(x)

    def exp(self, x: Real) -> Real:
        return math.exp(x)

    def expm1(self, x: Real) -> Real:
        return math.expm1(x)

    def log(self, x: Real) -> Real:
        return math.log(x)

    def log1p(self, x: Real) -> Real:
        return math.log1p(x)

    def tanh(self, x: Real) -> Real:
        return math.tanh(x)

    def erfc(self, x: Real) -> Real:
        return math.erfc(x)

    def gamma(self, x: Real) -> Real:
        return math.gamma(x)

    def floor(self, x: Real) -> int:
        whole: int = math.floor(x)
        return whole

    def abs(self, x: Real) -> Real:
        return abs(x)

    def max(self, x: Real, y: Real) -> Real:
        return max(x, y)

    def min(self, x: Real, y: Real) -> Real:
        return min(x, y)

    def lt(self, x: Real, y: Real) -> bool:
        return bool(x < y)

    def le(self, x: Real, y: Real) -> bool:
        return bool(x <= y)

    def to_float(self, x: Real) -> float:
        return float(x)

    def power(self, x: Real, y: Exact | Real) -> Real:
        return math.pow(x, self(y))

    @property
    def pi(self) -> Real:
        return math.pi


def _fsum_dot(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return math.fsum(map(operator.mul, a, b))


class MP(Numbers):
    """mpmath at `digits` decimal digits, in a context of its own (mpmath's global precision is not touched)."""

    def __init__(self, digits: int):
        if digits < 1:
            raise ValueError(f"digits = {digits} must be at least 1")
        self.digits = digits
        self.name = f"mp{digits}"
        self.context = MPContext()
        self.context.dps = digits
        if self.context.mpf(1).__lt__(Fraction(1)) is NotImplemented:
            _combine_with_fractions(self.context)

    @property
    def unit_roundoff(self) -> Fraction:
        """2^{−bits}: mpmath rounds to the nearest number of that many bits."""
        return Fraction(1, 2**self.context.prec)

    def __call__(self, x: Exact | Real) -> Real:
        if isinstance(x, float):
            return self.context.mpf(_exact_float(x))
        if isinstance(x, str) and "/" in x:
            x = Fraction(x)
        if isinstance(x, Fraction):
            return self.context.mpf(x.numerator) / x.denominator
        return self.context.mpf(x)

    def vector(self, entries: Iterable[Exact | Real]) -> Vector:
        return TupleVector(tuple(self(x) for x in entries), self.context.fdot)

    def sqrt(self, x: Real) -> Real:
        if x < 0:
            raise ValueError(f"x = {x} must be at least 0: the square root is real")
        return self.context.sqrt(x)

    def exp(self, x: Real) -> Real:
        return self.context.exp(x)

    def expm1(self, x: Real) -> Real:
        return self.context.expm1(x)

    def log(self, x: Real) -> Real:
        if x <= 0:
            raise ValueError(f"x = {x} must be positive: the logarithm is real")
        return self.context.log(x)

    def log1p(self, x: Real) -> Real:
        return self.context.log1p(x)

    def tanh(self, x: Real) -> Real:
        return self.context.tanh(x)

    def erfc(self, x: Real) -> Real:
        return self.context.erfc(x)

    def gamma(self, x: Real) -> Real:
        return self.context.gamma(x)

    def power(self, x: Real, y: Exact | Real) -> Real:
        return self.context.power(x, self(y))

    def abs(self, x: Real) -> Real:
        return self.context.fabs(x)

    def max(self, x: Real, y: Real) -> Real:
        return max(x, y)

    def min(self, x: Real, y: Real) -> Real:
        return min(x, y)

    def lt(self, x: Real, y: Real) -> bool:
        return bool(x < y)

    def le(self, x: Real, y: Real) -> bool:
        return bool(x <= y)

    def to_float(self, x: Real) -> float:
        return float(x)

    def floor(self, x: Real) -> int:
        return int(self.context.floor(x))

    @property
    def pi(self) -> Real:
        return +self.context.pi


def _combine_with_fractions(context: MPContext) -> None:
    """Let the numbers of this context combine with Fractions, as those of mpmath do from 1.4 on (1.3: not)."""
    mpf = context.mpf  # a class of this context alone
    plain = mpf.mpf_convert_rhs

    def convert(cls: Any, x: Any) -> Any:
        return from_rational(x.numerator, x.denominator, cls.context.prec) if isinstance(x, Fraction) else plain(x)

    mpf.mpf_convert_rhs = classmethod(convert)


class Ball(Numbers):
    """Balls with `bits` bits of midpoint: every operation encloses; decisions that overlap raise `Undecided`."""

    def __init__(self, bits: int):
        if bits < 2:
            raise ValueError(f"bits = {bits} must be at least 2")
        self.bits = bits
        self.name = f"ball{bits}"

    def at_precision(self, op: Callable[..., Any], *args: Any) -> Any:
        """`op(*args)` at this system's precision; Arb's process-wide setting is put back afterwards."""
        outside = ctx.prec
        ctx.prec = self.bits
        try:
            return op(*args)
        finally:
            ctx.prec = outside

    def raw(self, x: Any) -> Any:
        """The Arb operand for a scalar of this system or an int; a float is refused, since it may be a literal."""
        if isinstance(x, BallScalar):
            return x.ball
        if isinstance(x, int):
            return x
        if isinstance(x, Fraction):
            return fmpq(x.numerator, x.denominator)
        raise TypeError(f"{x!r} does not combine with a ball: convert it with K(...) first")

    def __call__(self, x: Exact | Real) -> Real:
        if isinstance(x, BallScalar):
            return x
        return BallScalar(self, self._enclose(x))

    def _enclose(self, x: Any) -> arb:
        if isinstance(x, float):
            return arb(_exact_float(x))
        if isinstance(x, int):
            return arb(x)
        if isinstance(x, str):
            x = Fraction(x)
        if isinstance(x, Fraction):
            return self.at_precision(arb, fmpq(x.numerator, x.denominator))
        raise TypeError(f"{x!r} is not an exact value: give an int, a Fraction, a decimal string or a float")

    def vector(self, entries: Iterable[Exact | Real]) -> Vector:
        column = [x.ball if isinstance(x, BallScalar) else self._enclose(x) for x in entries]
        return BallVector(self, arb_mat(len(column), 1, column))

    def _unary(self, name: str, x: Real) -> Real:
        result = self.at_precision(getattr(arb, name), x.ball)
        if result.is_nan():
            raise ValueError(f"{name}({x}) is not defined on the whole ball")
        return BallScalar(self, result)

    def sqrt(self, x: Real) -> Real:
        if x.ball.lower() < 0 and x.ball.upper() >= 0:  # touches 0: the root of the part that exists
            upper = self.at_precision(arb.sqrt, arb(x.ball.upper()))
            return BallScalar(self, self.at_precision(arb.union, arb(0), upper))
        return self._unary("sqrt", x)

    def exp(self, x: Real) -> Real:
        return self._unary("exp", x)

    def expm1(self, x: Real) -> Real:
        return self._unary("expm1", x)

    def log(self, x: Real) -> Real:
        return self._unary("log", x)

    def log1p(self, x: Real) -> Real:
        return self._unary("log1p", x)

    def tanh(self, x: Real) -> Real:
        return self._unary("tanh", x)

    def erfc(self, x: Real) -> Real:
        return self._unary("erfc", x)

    def gamma(self, x: Real) -> Real:
        return self._unary("gamma", x)

    def power(self, x: Real, y: Exact | Real) -> Real:
        exponent = self(y).ball
        if x.ball.lower() > 0 or x.ball.is_zero():
            return BallScalar(self, self.at_precision(operator.pow, x.ball, exponent))
        if x.ball.upper() < 0 or not exponent > 0:
            raise ValueError(f"{x} to the power {y}: the base must be positive, or touch 0 with a positive power")
        upper = self.at_precision(operator.pow, arb(x.ball.upper()), exponent)
        return BallScalar(self, self.at_precision(arb.union, arb(0), upper))

    def abs(self, x: Real) -> Real:
        return BallScalar(self, self.at_precision(abs, x.ball))

    def max(self, x: Real, y: Real) -> Real:
        return BallScalar(self, self.at_precision(arb.max, self(x).ball, self(y).ball))

    def min(self, x: Real, y: Real) -> Real:
        return BallScalar(self, self.at_precision(arb.min, self(x).ball, self(y).ball))

    @property
    def pi(self) -> Real:
        return BallScalar(self, self.at_precision(arb.pi))

    def lt(self, x: Real, y: Real) -> bool:
        a, b = self(x).ball, self(y).ball
        if a < b:
            return True
        if a >= b:
            return False
        raise Undecided(f"{a.str(12)} < {b.str(12)} is not decided at {self.bits} bits")

    def le(self, x: Real, y: Real) -> bool:
        a, b = self(x).ball, self(y).ball
        if a <= b:
            return True
        if a > b:
            return False
        raise Undecided(f"{a.str(12)} <= {b.str(12)} is not decided at {self.bits} bits")

    def floor(self, x: Real) -> int:
        low = _floor_fraction(x.mid - x.rad)
        if low != _floor_fraction(x.mid + x.rad):
            raise Undecided(f"floor({x}) is not decided at {self.bits} bits")
        return low

    def to_float(self, x: Real) -> float:
        return float(x.mid)


def _floor_fraction(x: Fraction) -> int:
    return x.numerator // x.denominator


# -------------------------------------------------------------------------------------------- certify

_V = TypeVar("_V")


@dataclass(frozen=True)
class Certified(Generic[_V]):
    """What `certify` returns: the value, and the precision at which every decision was settled."""

    value: _V
    bits: int


def certify(
    f: Callable[[Ball], _V], *, bits: int = 64, cap: int = 1 << 16, radius: Fraction | None = None
) -> Certified[_V]:
    """Run `f` on balls at `bits`, twice that, … until nothing is undecided; at `cap` raise `Undecided`.

    With `radius`, go on until the resulting ball (or every entry of a vector) has at most that radius.
    """
    reason = "nothing was tried"
    while bits <= cap:
        try:
            value = f(Ball(bits))
        except Undecided as undecided:
            reason = str(undecided)
        else:
            if radius is None or largest_radius(value) <= radius:
                return Certified(value, bits)
            reason = f"the radius {float(largest_radius(value)):.3g} exceeds {float(radius):.3g} at {bits} bits"
        bits *= 2
    raise Undecided(f"undecided up to the cap of {cap} bits: {reason}")


def largest_radius(value: Any) -> Fraction:
    """The radius of a ball, or the largest over the entries of a vector or sequence of balls."""
    if isinstance(value, BallScalar):
        return value.rad if value.ball.is_finite() else Fraction(2) ** 4096
    return max((largest_radius(x) for x in value), default=Fraction(0))


# ------------------------------------------------------------------------------------------ ℓ_p norms


def dual_exponent(p: Any) -> Any:
    """q with 1/p + 1/q = 1, for p an int, a Fraction, `INF` or a scalar > 1. Exact on rationals."""
    if isinstance(p, (int, Fraction)) or p is INF or (isinstance(p, float) and p == INF):
        if p == INF:
            return 1
        if p < 1:
            raise ValueError(f"p = {p} must lie in [1, ∞]: otherwise ‖·‖_p is not a norm")
        return INF if p == 1 else Fraction(p) / (Fraction(p) - 1)
    return p / (p - 1)


def norm(K: Numbers, x: Vector, p: Any) -> Real:
    """‖x‖_p = (Σ|x_j|^p)^{1/p}, and max|x_j| for p = `INF`."""
    if isinstance(p, (int, float, Fraction)) and not p >= 1:
        raise ValueError(f"p = {p} must lie in [1, ∞]: otherwise ‖·‖_p is not a norm")
    if isinstance(p, float) and p == INF:
        largest = K(0)
        for entry in x:
            largest = K.max(largest, K.abs(entry))
        return largest
    if isinstance(p, (int, Fraction)) and p == 1:
        return K.sum(K.abs(entry) for entry in x)
    if isinstance(p, (int, Fraction)) and p == 2:
        return K.sqrt(x @ x)
    exponent = K(p)
    bits = _bits_out_of_range(x, exponent) if isinstance(K, Float64) else 0
    if bits:
        return math.ldexp(norm(K, K.vector([math.ldexp(entry, -bits) for entry in x]), p), bits)
    return K.power(K.sum(K.power(K.abs(entry), exponent) for entry in x), 1 / exponent)


def _bits_out_of_range(x: Vector, exponent: float) -> int:
    """Where powers of the largest entry leave the range of binary64: its size in bits, by which to scale; else 0.

    Without that a short vector has length 0 (p = 101: entries below 10^−3), and clipping to a shorter one does nothing.
    """
    bits = math.frexp(max(map(abs, x), default=0))[1]
    return bits if abs(bits) * exponent > 900 else 0


def dual_norm(K: Numbers, x: Vector, p: Any) -> Real:
    """The dual of ‖·‖_p at x: ‖x‖_q with q the conjugate exponent."""
    return norm(K, x, dual_exponent(p))
