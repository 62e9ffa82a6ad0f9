"""Real terms and formulas: written with Python's operators, evaluated exactly, printed as SMT-LIB.

A step of a proof is written once, in these terms. A solver gets the text that `script` writes; a model that refutes a
mutant is evaluated here, in rationals; an identity is decided here, by expanding both sides. `Symbolic` is a number
system whose scalars are terms, so that a bound can be taken from the function of `reference` that computes it: if that
function changes, the proof is about the changed one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import Any, NoReturn, TypeAlias

from reference.numerics.numbers import Exact, Numbers, Real, Vector

Assignment: TypeAlias = Mapping[str, Fraction]
"""A value for each variable."""
Operand: TypeAlias = "Term | int | Fraction"


class Term:
    """A real term: a rational constant, a variable, or an operation on terms."""

    __slots__ = ("args", "op", "value")

    def __init__(self, op: str, args: tuple[Any, ...] = (), value: Any = None):
        self.op, self.args, self.value = op, args, value

    def __add__(self, other: Operand) -> Term:
        return Term("+", (self, term(other)))

    def __radd__(self, other: Operand) -> Term:
        return Term("+", (term(other), self))

    def __sub__(self, other: Operand) -> Term:
        return Term("-", (self, term(other)))

    def __rsub__(self, other: Operand) -> Term:
        return Term("-", (term(other), self))

    def __mul__(self, other: Operand) -> Term:
        return Term("*", (self, term(other)))

    def __rmul__(self, other: Operand) -> Term:
        return Term("*", (term(other), self))

    def __truediv__(self, other: Operand) -> Term:
        return Term("/", (self, term(other)))

    def __rtruediv__(self, other: Operand) -> Term:
        return Term("/", (term(other), self))

    def __neg__(self) -> Term:
        return Term("*", (term(-1), self))

    def __pow__(self, power: int) -> Term:
        if not isinstance(power, int) or power < 0:
            raise TypeError(f"power {power!r} must be a whole number")
        result = term(1)
        for i in range(power):
            result = self if i == 0 else result * self
        return result

    def __le__(self, other: Operand) -> Formula:
        return Formula("<=", (self, term(other)))

    def __lt__(self, other: Operand) -> Formula:
        return Formula("<", (self, term(other)))

    def __ge__(self, other: Operand) -> Formula:
        return Formula("<=", (term(other), self))

    def __gt__(self, other: Operand) -> Formula:
        return Formula("<", (term(other), self))

    def equals(self, other: Operand) -> Formula:
        """The formula that both are equal."""
        return Formula("=", (self, term(other)))

    def __repr__(self) -> str:
        return smt(self)


class Formula:
    """A relation of terms, or a combination of formulas."""

    __slots__ = ("args", "op")

    def __init__(self, op: str, args: tuple[Any, ...]):
        self.op, self.args = op, args

    def __bool__(self) -> NoReturn:
        raise TypeError("a formula has no truth value of its own: evaluate it at a point; do not chain comparisons")

    def __repr__(self) -> str:
        return smt(self)


def term(x: Operand) -> Term:
    """A constant, or the term itself. A float is refused: it is not what was meant."""
    if isinstance(x, Term):
        return x
    if isinstance(x, bool) or not isinstance(x, int | Fraction):
        raise TypeError(f"{x!r} is not exact: give an int, a Fraction or a term")
    return Term("const", (), Fraction(x))


def reals(names: str) -> tuple[Term, ...]:
    """Variables, by their names with blanks between."""
    return tuple(Term("var", (), name) for name in names.split())


def real(name: str) -> Term:
    """One variable."""
    return reals(name)[0]


def ite(condition: Formula, then: Operand, other: Operand) -> Term:
    """One term where the condition holds, another where not."""
    return Term("ite", (condition, term(then), term(other)))


def absolute(x: Term) -> Term:
    """|x|."""
    return ite(x >= 0, x, -x)


def maximum(x: Operand, y: Operand) -> Term:
    """The larger of two terms."""
    return ite(term(x) >= term(y), x, y)


def minimum(x: Operand, y: Operand) -> Term:
    """The smaller of two terms."""
    return ite(term(x) <= term(y), x, y)


def both(*parts: Formula) -> Formula:
    """All of them."""
    return Formula("and", parts)


def either(*parts: Formula) -> Formula:
    """At least one of them."""
    return Formula("or", parts)


def negation(part: Formula) -> Formula:
    """Not this."""
    return Formula("not", (part,))


def root(name: str, square: Term) -> tuple[Term, Formula]:
    """A variable for √square, and what makes it that."""
    x = real(name)
    return x, both(x >= 0, (x * x).equals(square))


# -------------------------------------------------------------------------------------------- evaluation


def evaluate(x: Term, at: Assignment) -> Fraction:
    """The exact value of a term."""
    if x.op == "const":
        return Fraction(x.value)
    if x.op == "var":
        return at[x.value]
    if x.op == "ite":
        return evaluate(x.args[1] if holds(x.args[0], at) else x.args[2], at)
    a, b = (evaluate(y, at) for y in x.args)
    if x.op == "+":
        return a + b
    if x.op == "-":
        return a - b
    return a * b if x.op == "*" else a / b


def holds(x: Formula, at: Assignment) -> bool:
    """Whether a formula is true at a point, exactly."""
    if x.op in ("and", "or"):
        return (all if x.op == "and" else any)(holds(y, at) for y in x.args)
    if x.op == "not":
        return not holds(x.args[0], at)
    a, b = (evaluate(y, at) for y in x.args)
    return a <= b if x.op == "<=" else a < b if x.op == "<" else a == b


# ------------------------------------------------------------------------------------------------- SMT-LIB


def smt(x: Term | Formula) -> str:
    """The term or formula as SMT-LIB writes it."""
    if isinstance(x, Term) and x.op == "const":
        size = abs(x.value)
        text = f"{size.numerator}.0" if size.denominator == 1 else f"(/ {size.numerator}.0 {size.denominator}.0)"
        return f"(- {text})" if x.value < 0 else text
    if isinstance(x, Term) and x.op == "var":
        return str(x.value)
    if x.op in ("and", "or") and not x.args:
        return "true" if x.op == "and" else "false"
    return f"({x.op} {' '.join(smt(y) for y in x.args)})"


def variables(parts: Iterable[Term | Formula]) -> list[str]:
    """The variables that occur, in order of first appearance."""

    def walk(x: Term | Formula) -> Iterator[str]:
        if isinstance(x, Term) and x.op == "var":
            yield x.value
        for y in x.args:
            yield from walk(y)

    return list(dict.fromkeys(name for x in parts for name in walk(x)))


def denominators(parts: Iterable[Term | Formula]) -> list[Term]:
    """What is divided by, constants aside, each once."""

    def walk(x: Term | Formula) -> Iterator[Term]:
        if x.op == "/" and x.args[1].op != "const":
            yield x.args[1]
        for y in x.args:
            yield from walk(y)

    return list({smt(x): x for part in parts for x in walk(part)}.values())


def script(assertions: Sequence[Formula], comment: str = "") -> str:
    """An SMT-LIB script that asks whether the assertions can hold together."""
    lines = [f"; {line}" for line in comment.splitlines()]
    lines.append("(set-logic QF_NRA)")
    lines += [f"(declare-const {name} Real)" for name in variables(assertions)]
    lines += [f"(assert {smt(x)})" for x in assertions]
    return "\n".join([*lines, "(check-sat)", ""])


# ---------------------------------------------------------------------------------------------- identities

Monomial: TypeAlias = tuple[tuple[str, int], ...]


class Polynomial:
    """A polynomial with rational coefficients, expanded."""

    __slots__ = ("coefficients",)

    def __init__(self, coefficients: Mapping[Monomial, Fraction]):
        self.coefficients = {m: c for m, c in coefficients.items() if c}

    def __add__(self, other: Polynomial) -> Polynomial:
        total = dict(self.coefficients)
        for m, c in other.coefficients.items():
            total[m] = total.get(m, Fraction(0)) + c
        return Polynomial(total)

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Monomial, Fraction] = {}
        for m, c in self.coefficients.items():
            for n, e in other.coefficients.items():
                powers = dict(m)
                for name, power in n:
                    powers[name] = powers.get(name, 0) + power
                key = tuple(sorted(powers.items()))
                total[key] = total.get(key, Fraction(0)) + c * e
        return Polynomial(total)

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.coefficients.items()})


def fraction_of(x: Term) -> tuple[Polynomial, Polynomial]:
    """A term without cases as a quotient of two polynomials."""
    if x.op == "const":
        return Polynomial({(): x.value}), Polynomial({(): Fraction(1)})
    if x.op == "var":
        return Polynomial({((x.value, 1),): Fraction(1)}), Polynomial({(): Fraction(1)})
    if x.op == "ite":
        raise TypeError("a term with cases is no polynomial")
    (a, b), (c, d) = (fraction_of(y) for y in x.args)
    if x.op in ("+", "-"):
        return a * d + (c if x.op == "+" else -c) * b, b * d
    return (a * c, b * d) if x.op == "*" else (a * d, b * c)


def identical(x: Term, y: Term) -> bool:
    """Whether two terms are the same rational function: both sides expanded, every coefficient compared."""
    (a, b), (c, d) = fraction_of(x), fraction_of(y)
    if not b.coefficients or not d.coefficients:
        raise ZeroDivisionError("a denominator is 0 everywhere")
    return not (a * d + -(c * b)).coefficients


# ------------------------------------------------------------------------------------ a symbolic number system


class Symbolic(Numbers):
    """A number system whose scalars are terms; roots become variables with what makes them that (`facts`).

    What branches (lt, floor, …) or is not algebraic (exp, log, …) is refused: such a quantity enters a proof as a
    variable with the bounds that are known of it.
    """

    name = "symbolic"

    def __init__(self) -> None:
        self.facts: list[Formula] = []
        self._fresh = count(1)

    def __call__(self, x: Exact | Real) -> Real:
        if isinstance(x, Term):
            return x
        return term(Fraction(x) if isinstance(x, str) else x)  # type: ignore[arg-type]

    def sqrt(self, x: Real) -> Real:
        y, fact = root(f"root{next(self._fresh)}", x)
        self.facts.append(fact)
        return y

    def abs(self, x: Real) -> Real:
        return absolute(x)

    def max(self, x: Real, y: Real) -> Real:
        return maximum(x, y)

    def min(self, x: Real, y: Real) -> Real:
        return minimum(x, y)

    def _refuse(self, *_: Any) -> NoReturn:
        raise TypeError("not algebraic, or a branch: let it enter as a variable with the bounds that are known of it")

    def vector(self, entries: Iterable[Exact | Real]) -> Vector:
        self._refuse()

    @property
    def pi(self) -> Real:
        self._refuse()

    @property
    def unwatched(self) -> Numbers:
        return self

    exp = expm1 = log = log1p = tanh = erfc = gamma = power = lt = le = floor = to_float = _refuse  # type: ignore[assignment]
