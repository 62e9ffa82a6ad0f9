"""Bad parameters: one line that names the parameter, its value and the condition."""

import math
from fractions import Fraction

import numpy as np
import pytest

from reference.numerics.numbers import INF, MP, Ball, Float64
from reference.numerics.preconditions import exact, exact_tuple, exponent, nonnegative, positive, require, whole
from reference.setting.data import Example, replace_one
from reference.setting.losses import (
    GLL,
    MCP,
    SCAD,
    Absolute,
    EpsilonInsensitive,
    GemanMcClure,
    Hinge,
    Huber,
    Logistic,
    NegativeQuadratic,
    PiecewiseLinear,
    Quantile,
    RobustPhaseRetrieval,
    SeparablePenalty,
    Sigmoid,
    SignedQuadratic,
    SquareResidual,
)
from reference.setting.sets import (
    Box,
    L2Ball,
    LpBall,
    Polytope,
    Simplex,
    WholeSpace,
    box_polytope,
    l1_ball,
)

K = Float64()
NAN = math.nan
Z = Example((1, 0), 1)

BAD = [
    # call, the parameter, its value, a word of the condition
    (lambda: L2Ball([0, 0], -1), "radius", "-1", "at least 0"),
    (lambda: L2Ball([0, NAN], 1), "centre[1]", "nan", "finite"),
    (lambda: L2Ball([0, math.inf], 1), "centre[1]", "inf", "finite"),
    (lambda: L2Ball([0], NAN), "radius", "nan", "finite"),
    (lambda: L2Ball([0], math.inf), "radius", "inf", "finite"),
    (lambda: L2Ball([], 1), "centre", "()", "at least one"),
    (lambda: L2Ball("12", 1), "centre", "'12'", "sequence"),
    (lambda: L2Ball(7, 1), "centre", "7", "sequence"),
    (lambda: LpBall([0], 1, Fraction(1, 2)), "p", "1/2", "[1, ∞]"),
    (lambda: LpBall([0], 1, NAN), "p", "nan", "[1, ∞]"),
    (lambda: LpBall([0], 1, -INF), "p", "-inf", "finite"),
    (lambda: LpBall([0], 1, None), "p", "None", "[1, ∞]"),
    (lambda: LpBall([0], 1, MP(30)("1.5")), "p", "mpf('1.5')", "exact"),
    (lambda: LpBall([0], "many", 2), "radius", "'many'", "exact finite"),
    (lambda: LpBall([0], "1/0", 2), "radius", "'1/0'", "exact finite"),
    (lambda: LpBall([0], 1 + 2j, 2), "radius", "(1+2j)", "exact finite"),
    (lambda: LpBall([0], True, 2), "radius", "True", "exact finite"),
    (lambda: Box([0, 1], [1]), "dimension of upper", "1", "be 2"),
    (lambda: Box([0, 2], [1, 1]), "lower[1]", "2", "upper[1] = 1"),
    (lambda: Simplex(0), "dim", "0", "at least 1"),
    (lambda: Simplex(2.5), "dim", "2.5", "integer"),
    (lambda: Simplex(2, 0), "scale", "0", "positive"),
    (lambda: Polytope([]), "vertices", "[]", "at least one"),
    (lambda: Polytope([[0, 0], [1]]), "dimension of vertices[1]", "1", "be 2"),
    (lambda: Polytope([[0, NAN]]), "vertices[0][1]", "nan", "finite"),
    (lambda: l1_ball(2, 0), "radius", "0", "positive"),
    (lambda: l1_ball(-1), "dim", "-1", "at least 1"),
    (lambda: box_polytope([0] * 17, [1] * 17), "dim", "17", "at most 16"),
    (lambda: WholeSpace(0), "dim", "0", "at least 1"),
    (lambda: WholeSpace(2).linear_minimiser(K, K.vector([1, 0])), "g", "(1.0, 0.0)", "be 0"),
    (lambda: L2Ball([0, 0], 1).diameter(K, Fraction(9, 10)), "p", "9/10", "[1, ∞]"),
    (lambda: L2Ball([0, 0], 1).contains(K, K.vector([0])), "dimension of w", "1", "be 2"),
    (lambda: L2Ball([0, 0], 1).contains(K, K.vector([0, 0]), -1), "slack", "-1", "at least 0"),
    (lambda: Box([0], [1]).project(K, K.vector([0, 0])), "dimension of w", "2", "be 1"),
    (lambda: Simplex(2).linear_minimiser(K, K.vector([0])), "dimension of g", "1", "be 2"),
    (lambda: Absolute(NAN), "y", "nan", "finite"),
    (lambda: Hinge(0), "y", "0", "not be 0"),
    (lambda: Logistic(0), "y", "0", "not be 0"),
    (lambda: Quantile(0, 0), "tau", "0", "(0, 1)"),
    (lambda: Quantile(0, 1), "tau", "1", "(0, 1)"),
    (lambda: Quantile(0, "1.5"), "tau", "3/2", "(0, 1)"),
    (lambda: EpsilonInsensitive(0, -1), "width", "-1", "at least 0"),
    (lambda: Huber(0, 0), "width", "0", "positive"),
    (lambda: PiecewiseLinear([0, 0], [1, 2, 3]), "kinks[1]", "0", "greater than kinks[0] = 0"),
    (lambda: PiecewiseLinear([0], [1]), "slopes", "(Fraction(1, 1),)", "2 entries"),
    (lambda: GLL(Absolute, 0, 1), "L0", "0", "positive"),
    (lambda: GLL(Absolute, 1, -1), "R", "-1", "at least 0"),
    (lambda: GLL(Absolute, 1, 1, "1/2"), "p", "'1/2'", "[1, ∞]"),
    (lambda: GLL(Hinge, 1, 1).scalar(Example((0,), 2)), "Lipschitz constant", "2", "at most L0 = 1"),
    (lambda: GLL(Hinge, 1, 1).value(K, K.vector([0]), Z), "dimension of x", "2", "be 1"),
    (lambda: GLL(Hinge, 1, 1).check(K, Example((1, 1), 1)), "‖x‖_2", "1.414", "at most R = 1"),
    (lambda: Absolute(0).prox(K, 0, 1), "beta", "0", "greater than 0"),
    (lambda: SquareResidual(1, 1).prox(K, 2, 1), "beta", "2", "greater than 2"),
    (lambda: MCP(1, 2).prox(K, Fraction(1, 2), 1), "beta", "1/2", "greater than 1/2"),
    (lambda: MCP(0, 1), "lam", "0", "positive"),
    (lambda: MCP(1, 0), "gamma", "0", "positive"),
    (lambda: SCAD(1, 2), "a", "2", "greater than 2"),
    (lambda: SquareResidual(1, -1), "B", "-1", "at least 0"),
    (lambda: RobustPhaseRetrieval(1, -1), "B", "-1", "at least 0"),
    (lambda: NegativeQuadratic(1, 1, -1), "curvature", "-1", "at least 0"),
    (lambda: SignedQuadratic(1, 1, -1), "curvature", "-1", "at least 0"),
    (lambda: GemanMcClure(1, 0), "width", "0", "positive"),
    (lambda: Sigmoid(1).value(K, K.vector([1, 0]), Example((1, 0), 2)), "y", "2", "[−1, 1]"),
    (lambda: SeparablePenalty(MCP(1, 1), 2, 3), "p", "3", "[1, 2]"),
    (lambda: SeparablePenalty(MCP(1, 1), 2).value(K, K.vector([0]), Z), "dimension of w", "1", "be 2"),
    (lambda: Example((), 0), "x", "()", "at least one"),
    (lambda: Example((1, NAN), 0), "x[1]", "nan", "finite"),
    (lambda: Example((1,), None), "y", "None", "exact finite"),
    (lambda: Example("12", 0), "x", "'12'", "sequence"),
    (lambda: replace_one((1, 2), 2, 0), "i", "2", "2 records"),
    (lambda: replace_one((1, 2), -1, 0), "i", "-1", "2 records"),
]


@pytest.mark.parametrize(("call", "name", "value", "condition"), BAD)
def test_bad_parameters(call, name, value, condition):
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 250
    assert message.startswith(name)
    assert f"= {value}" in message
    assert " must " in message
    assert condition in message


def test_require():
    require(True, "a", 1, "be anything")
    with pytest.raises(ValueError, match=r"^a = 1 must be 2: count again$"):
        require(False, "a", 1, "be 2", "count again")
    with pytest.raises(ValueError) as caught:
        require(False, "a", "x\ny" * 100, "be short")
    assert len(str(caught.value)) < 120
    assert "\n" not in str(caught.value)


def test_exact_reads_what_it_says():
    assert exact("a", "0.1") == Fraction(1, 10)
    assert exact("a", 0.1) == Fraction(0.1) != Fraction(1, 10)
    assert exact("a", np.float64(0.5)) == Fraction(1, 2)
    assert exact("a", np.int64(3)) == 3
    assert type(exact("a", np.int64(3)).numerator) is int
    assert exact_tuple("a", np.array([1.0, 0.5])) == (1, Fraction(1, 2))
    assert positive("a", 2) == 2
    assert nonnegative("a", 0) == 0
    assert whole("a", np.int64(3)) == 3


def test_exponents():
    assert exponent("p", 1.5) == Fraction(3, 2)
    assert exponent("p", 2.0) == 2
    assert type(exponent("p", 2.0)) is int
    assert exponent("p", math.inf) is INF
    assert exponent("p", "17/16") == Fraction(17, 16)
    for system in (MP(30), Ball(64)):
        scalar = system("1.5")
        assert exponent("p", scalar) is scalar
