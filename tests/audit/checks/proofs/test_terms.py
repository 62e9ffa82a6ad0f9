"""Terms: exact values, SMT-LIB text, identities, and the symbolic number system."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.checks.proofs.terms import (
    Symbolic,
    absolute,
    both,
    either,
    evaluate,
    holds,
    identical,
    ite,
    maximum,
    minimum,
    negation,
    reals,
    root,
    script,
    smt,
    term,
    variables,
)
from reference.convex.moreau import envelope_gap

F = Fraction
x, y = reals("x y")
RATIONALS = st.fractions(min_value=-5, max_value=5, max_denominator=9)


@given(RATIONALS, RATIONALS.filter(bool))
def test_a_term_has_the_value_of_what_it_writes(a: Fraction, b: Fraction) -> None:
    at = {"x": a, "y": b}
    assert evaluate((x + 2) * (3 - x) / y - x**3 + -y + 1 / y + 2 * x - (x - 1), at) == (
        (a + 2) * (3 - a) / b - a**3 - b + 1 / b + 2 * a - (a - 1)
    )
    assert evaluate(absolute(x), at) == abs(a)
    assert (evaluate(maximum(x, y), at), evaluate(minimum(x, y), at)) == (max(a, b), min(a, b))
    assert evaluate(x**0, at) == 1
    relations = {x <= y: a <= b, x < y: a < b, x >= y: a >= b, x > y: a > b, x.equals(y): a == b}
    for formula, truth in relations.items():
        assert holds(formula, at) == truth
        assert holds(negation(formula), at) != truth
    assert holds(both(x <= y, x >= y), at) == (a == b)
    assert holds(either(x < y, x > y), at) == (a != b)


def test_the_text_for_a_solver() -> None:
    assert smt(term(F(-1, 2)) * x + 3) == "(+ (* (- (/ 1.0 2.0)) x) 3.0)"
    assert smt(ite(x >= 0, x, -x) <= y) == "(<= (ite (<= 0.0 x) x (* (- 1.0) x)) y)"
    text = script([x < y, both()], "why\nnot")
    assert text.splitlines()[:2] == ["; why", "; not"]
    assert "(declare-const x Real)\n(declare-const y Real)\n(assert (< x y))\n(assert true)\n(check-sat)" in text
    assert variables([y < x, x]) == ["y", "x"]


def test_identities_are_decided_by_expanding() -> None:
    assert identical((x + y) ** 2, x * x + 2 * x * y + y * y)
    assert identical(1 / x - 1 / y, (y - x) / (x * y))
    assert not identical((x + y) ** 2, x * x + y * y)
    with pytest.raises(TypeError, match="no polynomial"):
        identical(absolute(x), x)
    with pytest.raises(ZeroDivisionError):
        identical(x / (y - y), x)


def test_what_is_not_meant_is_refused() -> None:
    with pytest.raises(TypeError, match=r"0\.5 is not exact"):
        x * 0.5  # type: ignore[operator]
    with pytest.raises(TypeError, match="do not chain"):
        bool(x <= y)
    with pytest.raises(TypeError, match="whole number"):
        x**-1
    K = Symbolic()
    for ask in (lambda: K.exp(x), lambda: K.lt(x, y), lambda: K.vector([1]), lambda: K.pi, lambda: K.to_float(x)):
        with pytest.raises(TypeError, match="let it enter as a variable"):
            ask()


def test_a_bound_of_the_reference_becomes_a_term() -> None:
    K = Symbolic()
    assert identical(envelope_gap(K, x, y), x * x / (2 * y))
    side = K.sqrt(x)
    assert variables([side]) == ["root1"]
    assert holds(K.facts[0], {"root1": F(3), "x": F(9)})
    assert not holds(K.facts[0], {"root1": F(-3), "x": F(9)})
    assert K(F(1, 2)).value == F(1, 2)
    assert K("0.25").value == F(1, 4)
    assert K.unwatched is K
    assert evaluate(K.max(K.abs(x), K.min(x, y)), {"x": F(-2), "y": F(5)}) == 2
    assert holds(root("r", x)[1], {"r": F(0), "x": F(0)})
