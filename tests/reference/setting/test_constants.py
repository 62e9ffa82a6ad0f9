"""The search for the worst quotient certifies what it finds."""

from fractions import Fraction

import pytest
from constants import (
    into_ball,
    largest,
    lipschitz_quotient,
    smoothness_quotient,
    weak_convexity_quotient,
)

from reference.numerics.numbers import INF, Ball, Float64, norm


def pair(K, x):
    return K.vector([x[0]]), K.vector([x[1]])


def test_a_known_lipschitz_constant_is_found_and_a_smaller_one_refuted():
    def quotient(K, x):
        w, v = pair(K, x)
        return lipschitz_quotient(K, lambda u: 3 * K.abs(u[0]) + u[0], w, v, 2)

    found = largest(quotient, [0.5, -0.5], [(-1, 1)] * 2, 500, seed=0)
    assert found.share(4) > 1 - 1e-12
    assert not found.exceeds(4)
    assert found.exceeds(Fraction(39, 10))
    assert found.lower <= 4 <= found.upper or found.upper <= 4


def test_known_smoothness_and_weak_convexity():
    def smooth(K, x):
        w, v = pair(K, x)
        return smoothness_quotient(K, lambda u: u * -5, w, v, 2)

    def weak(K, x):
        w, v = pair(K, x)
        return weak_convexity_quotient(K, lambda u: -5 * u[0] * u[0] / 2, w, v, K(Fraction(1, 4)), 2)

    for quotient in (smooth, weak):
        found = largest(quotient, [0.5, -0.5], [(-1, 1)] * 2, 200, seed=0)
        assert found.share(5) > 1 - 1e-12
        assert not found.exceeds(5)


def test_float_noise_is_not_a_refutation():
    """Two points 1e-15 apart give a wrong quotient in binary64; the balls put it right."""

    def quotient(K, x):
        w = K.vector([K(x[0])])
        v = K.vector([K(x[0]) + K(x[1])])
        return lipschitz_quotient(K, lambda u: K.sqrt(1 + u[0] * u[0]), w, v, 2)

    noisy = max(float(quotient(Float64(), (9 + k / 97, 5e-15))) for k in range(200))
    assert noisy > 1.1
    found = largest(quotient, [9, 5e-15], [(9, 12), (1e-15, 5e-15)], 300, seed=0)
    assert not found.exceeds(1)
    assert found.share(1) > 0.9


def test_a_quotient_that_is_nowhere_defined_is_an_error():
    with pytest.raises(ValueError, match="quotient must be defined"):
        largest(lambda K, x: K(1) / K(0), [0.0], [(0.0, 1.0)], 20, seed=0)


@pytest.mark.parametrize("p", [1, Fraction(3, 2), 2, INF])
def test_into_ball(p):
    K = Ball(128)
    outside = into_ball(K, [3.0, -4.0], p, Fraction(5, 2))
    assert abs(norm(K, outside, p).mid - Fraction(5, 2)) < Fraction(1, 2**100)
    inside = into_ball(K, [0.25, 0.125], p, 2)
    assert [x.mid for x in inside] == [Fraction(1, 2), Fraction(1, 4)]
