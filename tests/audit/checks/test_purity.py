"""A check that says proved, enclosed or exact has nothing in its source that rounds; and the lint sees what rounds."""

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from math import log2
from pathlib import Path

import mpmath
import numpy as np
import pytest

from audit.checks import rates
from audit.checks.evidence import RIGOROUS, largest, upper
from audit.checks.framework import Check, Outcome, collect
from audit.checks.purity import grounds, impurities, uses
from audit.trace import links
from reference.convex.counterexamples import le_cam
from reference.numerics.numbers import MP, Ball, Float64
from reference.paper.registry import Counterexample
from reference.smooth.counterexamples import embedding_dimension

K, B = Float64(), Ball(64)


def literal() -> Outcome:
    return Outcome(B.lt(B(1), B(2)) and 1 < 1e-9)


def midpoint() -> Outcome:
    return Outcome(B(1).mid > 0)


def converted() -> Outcome:
    return Outcome(True, float(Fraction(1, 2)))


def global_floats() -> Outcome:
    return Outcome(K.lt(K(1), K(2)))


def digits() -> Outcome:
    exact = MP(50)
    return Outcome(exact.lt(exact(1), exact(2)))


def arrays() -> Outcome:
    return Outcome(bool(np.all(np.ones(2) > 0)))


def logarithm() -> Outcome:
    return Outcome(math.log(2) < 1)


def in_a_helper() -> Outcome:
    return Outcome(_helper(3))


def _helper(n: int) -> bool:
    return n / 2 > 1.4


def in_another_module() -> Outcome:
    return Outcome(rates.slope([1, 2], [1, 2]) > 0)


def quotient(n: int = 3) -> Outcome:
    return Outcome(n / 7 > 0)


def counted() -> Outcome:
    return Outcome(all((k + 1) / len("ab") > 0 for k in range(3)))


def nameless() -> Outcome:
    return Outcome((lambda x: x.mid > 0)(B(1)))


def local_import() -> Outcome:
    import numpy as hidden

    return Outcome(bool(hidden.sqrt(2) < 2))


def local_name() -> Outcome:
    from math import sqrt as root

    return Outcome(root(2) < 2)


def by_name() -> Outcome:
    return Outcome(log2(3) < 2)


def multiprecision() -> Outcome:
    return Outcome(mpmath.sqrt(2) < 2)


def a_root() -> Outcome:
    return Outcome(Fraction(2) ** Fraction(1, 2) < 2)


def a_negative_power() -> Outcome:
    return Outcome(2**-3 < 1)


def a_float_from_reference() -> Outcome:
    return Outcome(le_cam(4, Fraction(1, 20)) > 0)


def rounded_by_reference() -> Outcome:
    return Outcome(embedding_dimension(10**6, 4, "1e-6") > 0)


HALF = 0.5
TENTH = np.float64(0.1)


def a_constant() -> Outcome:
    return Outcome(Fraction(1, 3) < HALF)


def an_array_scalar() -> Outcome:
    return Outcome(bool(Fraction(1, 3) > TENTH))


def clean() -> Outcome:
    total = B(0)
    for n in range(1, math.isqrt(100)):
        total = total + Fraction(1, n)
    return Outcome(B.lt(total, B(3)), upper(total / 3), f"{float(upper(total)):.3g}", {"sum": 0.5 + n})


def rational() -> Counterexample:
    return Counterexample(Fraction(1, 3) * 3 == 1, f"{1 / 3:.2f}", {"third": 0.333})


ROUNDS = (
    literal,
    midpoint,
    converted,
    global_floats,
    digits,
    arrays,
    logarithm,
    in_a_helper,
    in_another_module,
    quotient,
    counted,
    nameless,
    local_import,
    local_name,
    by_name,
    multiprecision,
    a_root,
    a_negative_power,
    a_float_from_reference,
    rounded_by_reference,
    a_constant,
    an_array_scalar,
)


@pytest.mark.parametrize("function", ROUNDS)
def test_what_rounds_is_seen(function: Callable[[], Outcome]) -> None:
    assert impurities(function)
    assert grounds(function) == "computed"


def test_what_only_shows_is_passed_over() -> None:
    assert impurities(clean) == []
    assert (grounds(clean), grounds(rational)) == ("exact", "exact")
    assert uses(test_what_only_shows_is_passed_over, clean)
    assert not uses(rational, clean)


@pytest.mark.parametrize("check", [c for c in collect() if c.kind in RIGOROUS], ids=lambda c: c.name)
def test_a_rigorous_check_has_nothing_that_rounds(check: Check) -> None:
    assert impurities(check.function) == []


def test_the_upper_end() -> None:
    third = Ball(64)(Fraction(1, 3))
    assert third.mid < upper(third) < Fraction(1, 3) + Fraction(1, 2**60)
    assert upper(2) == 2
    with pytest.raises(TypeError, match=r"0\.5 is not exact"):
        upper(0.5)
    with pytest.raises(ArithmeticError, match="no upper end"):
        upper(B(1) / (third - third))
    assert largest([(1, "a"), (third * 6, "b"), (Fraction(3, 2), "c")])[1] == "b"
    assert largest([]) == (0, "")


# ------------------------------------------------------------------------------------- the tests' own marks

ROUNDED = {"Float64", "MP", "approx", "np", "numpy", "float", "isclose"}
WHOLE = {"isqrt", "comb", "gcd", "lcm", "factorial", "prod"}


def rounded(path: Path, name: str) -> str:
    """What rounds in a test, its parameters and what of its own file it uses; nothing if nothing does."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tops: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            tops[node.name] = node
        elif isinstance(node, ast.Assign):
            tops |= {x.id: node for t in node.targets for x in ast.walk(t) if isinstance(x, ast.Name)}
    return _rounded(tops[name.partition("::")[0]], tops, {name})


def _rounded(node: ast.AST, tops: dict[str, ast.AST], seen: set[str]) -> str:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, float):
            return f"the float {one.value}"
        if isinstance(one, ast.Attribute) and one.attr in ("mid", "to_float", "approx"):
            return f".{one.attr}"
        if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == "math":
            return "" if one.attr in WHOLE else f"math.{one.attr}"
        if isinstance(one, ast.Name):
            if one.id in ROUNDED:
                return one.id
            if one.id in tops and one.id not in seen:
                seen.add(one.id)
                if found := _rounded(tops[one.id], tops, seen):
                    return found
    return ""


def test_tests_are_marked_as_what_they_are() -> None:
    marked, _ = links.tests_of(links.ROOT)
    wrong = {t.node: rounded(links.ROOT / t.path, t.name) for t in marked if t.kind in RIGOROUS}
    assert {node: why for node, why in wrong.items() if why} == {}
