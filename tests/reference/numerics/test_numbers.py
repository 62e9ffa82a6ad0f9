"""One body, three number systems: enclosure, reproducibility, and no silent comparison."""

from __future__ import annotations

import copy
import math
import operator
from fractions import Fraction

import flint
import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.numerics.numbers import (
    INF,
    MP,
    Ball,
    BallScalar,
    Float64,
    Numbers,
    Undecided,
    Vector,
    certify,
    dual_exponent,
    dual_norm,
    floor_log2,
    largest_radius,
    norm,
)

SYSTEMS: list[Numbers] = [Float64(), MP(50), Ball(200)]
rationals = st.fractions(min_value=-100, max_value=100, max_denominator=10**6)
positive = st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=10**6)
exponents = st.one_of(st.fractions(min_value=1, max_value=12, max_denominator=50), st.just(INF))


def mixed_expression(K: Numbers, a: Fraction, b: Fraction) -> list[object]:
    """A body that uses every operation once; it runs unchanged in the three systems."""
    x, y = K(a), K(b)
    u = K.vector([a, b, 1]) * y - K.vector([1, a, b]) / (y * y + 1)
    values = [
        x + y, x - y, x * y, x / (y * y + 1), -x, x**3, 2 * x, 1 - y, 1 / (1 + y * y), 3 + x,
        K.sqrt(y * y + 1), K.exp(x / 50), K.expm1(x / 50), K.log(y * y + 1), K.log1p(y * y), K.tanh(x),
        K.erfc(x / 10), K.gamma(K.abs(x) / 10 + 1), K.power(K.abs(y) + 1, Fraction(3, 7)), K.abs(x),
        K.max(x, y), K.min(x, y), K.clip(x, K(-1), K(1)), K.pi * x, K.normal_cdf(x / 10),
        u @ u, u[0], K.sum(u), norm(K, u, 1), norm(K, u, 2), norm(K, u, INF), norm(K, u, Fraction(5, 3)),
    ]  # fmt: skip
    return list(values)


@given(rationals, rationals)
def test_the_value_at_100_digits_lies_in_the_ball(a: Fraction, b: Fraction) -> None:
    exact = mixed_expression(MP(100), a, b)
    balls = mixed_expression(Ball(150), a, b)
    for value, ball in zip(exact, balls, strict=True):
        assert isinstance(ball, BallScalar)
        # MP(100) itself is off by a few units of its last place: the ball is widened by exactly that.
        slack = Fraction(1, 10**95) * (1 + abs(ball.mid))
        assert ball.mid - ball.rad - slack <= _fraction(value) <= ball.mid + ball.rad + slack
        assert ball.rad <= Fraction(1, 10**30) * (1 + abs(ball.mid))


@given(rationals, rationals)
def test_binary64_agrees_with_the_ball_to_its_own_precision(a: Fraction, b: Fraction) -> None:
    for value, ball in zip(mixed_expression(Float64(), a, b), mixed_expression(Ball(150), a, b), strict=True):
        assert isinstance(ball, BallScalar)
        assert abs(Fraction(value) - ball.mid) <= Fraction(1, 10**9) * (1 + abs(ball.mid))  # type: ignore[call-overload]


def _fraction(x: object) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_  # type: ignore[attr-defined]
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


# Results of + − × ÷ √ on fixed inputs, as hexadecimal binary64: the same on every conforming machine.
PINNED = {
    "root": "0x1.bb67ae8584caap+0",
    "quotient": "0x1.5555555555555p-2",
}


def test_float64_is_bit_reproducible() -> None:
    K = Float64()
    third = K(1) / K(3)
    assert third.hex() == PINNED["quotient"]
    assert K.sqrt(K(3)).hex() == PINNED["root"]
    entries = [K(Fraction(i, 7)) for i in range(100)]
    forward = K.vector(entries) @ K.vector(entries)
    backward = K.vector(entries[::-1]) @ K.vector(entries[::-1])
    assert forward.hex() == backward.hex()
    products = sum(Fraction(x * x) for x in entries)
    assert forward == float(products)  # the sum is exact, rounded once


@given(rationals, rationals)
def test_float64_arithmetic_is_correctly_rounded(a: Fraction, b: Fraction) -> None:
    K = Float64()
    x, y = K(a), K(b)
    assert x == float(a)
    for op in (operator.add, operator.sub, operator.mul):
        assert op(x, y) == float(op(Fraction(x), Fraction(y)))


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_a_ball_refuses_every_native_comparison(op: object) -> None:
    K = Ball(64)
    with pytest.raises(TypeError, match=r"K\.lt"):
        op(K(1), K(2))  # type: ignore[operator]


@pytest.mark.parametrize("convert", [bool, float, int, abs, hash, round])
def test_a_ball_refuses_silent_conversion(convert: object) -> None:
    with pytest.raises(TypeError):
        convert(Ball(64)(1))  # type: ignore[operator]


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_a_ball_refuses_a_float_literal(op: object) -> None:
    with pytest.raises(TypeError, match="convert it"):
        op(Ball(64)(1), 0.1)  # type: ignore[operator]
    with pytest.raises(TypeError, match="convert it"):
        op(0.1, Ball(64)(1))  # type: ignore[operator]


@given(rationals, rationals, st.integers(2, 40))
def test_overlapping_balls_are_never_compared_silently(a: Fraction, b: Fraction, bits: int) -> None:
    """Every answer is right; where the balls overlap (other than as equal points) the answer is Undecided."""
    K = Ball(bits)
    x, y = K(a) * 1, K(b) * 1
    overlap = abs(x.mid - y.mid) <= x.rad + y.rad
    for decide, truth in ((K.lt, a < b), (K.le, a <= b), (K.gt, a > b), (K.ge, a >= b)):
        try:
            answer = decide(x, y)
        except Undecided:
            assert overlap
        else:
            assert answer == truth
            assert not overlap or x.rad + y.rad == 0 or abs(x.mid - y.mid) == x.rad + y.rad


def test_decisions_on_overlapping_balls_raise() -> None:
    K = Ball(53)
    third = K(1) / 3
    for decision in (
        lambda: K.lt(third, K(1) / 3),
        lambda: K.le(third, K(1) / 3),
        lambda: K.sign(third - Fraction(1, 3)),
        lambda: K.floor(third * 3),
        lambda: K.ceil(third * 3),
        lambda: K.argmin([third, K(1) / 3]),
    ):
        with pytest.raises(Undecided):
            decision()


def test_exact_points_are_decided() -> None:
    K = Ball(53)
    assert not K.lt(K(2), K(2))
    assert K.le(K(2), K(2))
    assert K.sign(K(0)) == 0
    assert K.argmin([K(2), K(1), K(1)]) == 1


@pytest.mark.parametrize("K", SYSTEMS, ids=str)
def test_decisions_agree_in_all_systems(K: Numbers) -> None:
    assert [K.sign(K(v)) for v in (-2, 0, 5)] == [-1, 0, 1]
    assert (K.floor(K(Fraction(7, 3))), K.ceil(K(Fraction(7, 3)))) == (2, 3)
    assert (K.floor(K(Fraction(-7, 3))), K.ceil(K(Fraction(-7, 3)))) == (-3, -2)
    assert K.argmin([K(3), K(1), K(2), K(1)]) == 1
    with pytest.raises(ValueError, match="empty"):
        K.argmin([])


def test_certify_doubles_until_decided() -> None:
    digits = "2.71828182845904523536028747135266249775724709369995"  # e, cut: smaller than e

    def e_is_larger(K: Numbers) -> bool:
        return K.lt(K(digits), K.exp(K(1)))

    with pytest.raises(Undecided):
        e_is_larger(Ball(64))
    found = certify(e_is_larger)
    assert found.value is True
    assert found.bits > 64


def test_certify_says_undecided_and_never_guesses() -> None:
    def tie(K: Numbers) -> bool:
        return K.lt(K.sqrt(K(2)) * K.sqrt(K(2)), K(2))

    with pytest.raises(Undecided, match="cap of 1024 bits"):
        certify(tie, cap=1024)


def test_certify_reaches_a_radius() -> None:
    goal = Fraction(1, 10**40)
    found = certify(lambda K: K.exp(K(1)), radius=goal)
    assert largest_radius(found.value) <= goal
    assert found.bits >= 128


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_integer_logarithms_of_rationals(x: Fraction) -> None:
    low = floor_log2(x)
    assert Fraction(2) ** low <= x < Fraction(2) ** (low + 1)


def test_integer_logarithms_at_powers_of_two() -> None:
    assert [floor_log2(2**k) for k in range(200)] == list(range(200))
    assert [floor_log2(Fraction(1, 2**k)) for k in range(200)] == [-k for k in range(200)]
    # The trap this avoids: the quotient of logarithms misses some powers of two.
    assert sum(math.log(2**k) / math.log(2) != k for k in range(1, 200)) > 0
    with pytest.raises(ValueError, match="positive"):
        floor_log2(0)


@pytest.mark.parametrize("K", SYSTEMS, ids=str)
def test_vectors(K: Numbers) -> None:
    x, y = K.vector([1, 2, 3]), K.vector([4, 5, 6])

    def ints(v: Vector) -> list[float]:
        return [K.to_float(e) for e in v]

    assert ints(x + y) == [5, 7, 9]
    assert ints(y - x) == [3, 3, 3]
    assert ints(2 * x) == ints(x * 2) == ints(x * K(2)) == ints(K(2) * x) == [2, 4, 6]
    assert ints(-x / 2) == [-0.5, -1, -1.5]
    assert K.to_float(x @ y) == 32
    assert (len(x), K.to_float(x[-1])) == (3, 3)
    assert ints(K.unit(3, 1)) == [0, 1, 0]
    assert ints(K.zeros(2)) == [0, 0]
    for combine in (operator.add, operator.sub, operator.matmul):
        with pytest.raises(ValueError, match="dimension"):
            combine(x, K.vector([1]))
    with pytest.raises(TypeError):
        _ = x == y
    with pytest.raises(IndexError):
        _ = x[3]


@given(st.lists(rationals, min_size=1, max_size=5), st.lists(rationals, min_size=5, max_size=5), exponents)
def test_hoelder_inequality(a: list[Fraction], b: list[Fraction], p: object) -> None:
    K = Ball(200)
    x, y = K.vector(a), K.vector(b[: len(a)])
    product = norm(K, x, p) * dual_norm(K, y, p)
    inner = K.abs(x @ y)
    assert inner.mid - inner.rad <= product.mid + product.rad


@given(st.lists(rationals, min_size=2, max_size=5), exponents, exponents)
def test_norms_fall_in_p(a: list[Fraction], p: object, r: object) -> None:
    K = Ball(200)
    p, r = sorted([p, r])  # type: ignore[type-var]
    low, high = norm(K, K.vector(a), r), norm(K, K.vector(a), p)
    assert low.mid - low.rad <= high.mid + high.rad


def test_dual_exponents_are_exact() -> None:
    assert dual_exponent(1) == INF
    assert dual_exponent(INF) == 1
    assert dual_exponent(2) == 2
    assert dual_exponent(Fraction(3, 2)) == 3
    for p in (0, Fraction(1, 2), -1):
        with pytest.raises(ValueError, match=r"\[1, ∞\]"):
            dual_exponent(p)
        with pytest.raises(ValueError, match=r"\[1, ∞\]"):
            norm(Float64(), Float64().vector([1]), p)


@pytest.mark.parametrize("K", SYSTEMS, ids=str)
def test_exact_inputs(K: Numbers) -> None:
    assert K.to_float(K("0.1")) == 0.1
    assert K.to_float(K("1/3")) == 1 / 3
    assert K.to_float(K(Fraction(1, 3))) == 1 / 3
    assert K.to_float(K(0.1)) == 0.1
    with pytest.raises(ValueError, match="nan"):
        K(math.nan)


def test_a_decimal_string_is_enclosed_not_rounded() -> None:
    assert Ball(64)("0.1").contains(Fraction(1, 10))
    assert not Ball(64)(0.1).contains(Fraction(1, 10))  # the binary64 value is another number


def test_no_global_precision_is_left_changed() -> None:
    outside = flint.ctx.prec, mpmath.mp.prec
    Ball(1000).exp(Ball(1000)(1))
    MP(500).exp(MP(500)(1))
    with pytest.raises(ValueError):
        Ball(999).log(Ball(999)(-1))
    assert (flint.ctx.prec, mpmath.mp.prec) == outside


def test_precisions_do_not_mix_up() -> None:
    coarse, fine = Ball(40), Ball(400)
    rough, sharp = coarse(1) / 3, fine(1) / 3
    assert sharp.rad < Fraction(1, 2**390) < rough.rad
    assert (fine(1) / 3 + fine(0)).rad < Fraction(1, 2**390)


def test_numbers_of_mpmath_combine_with_fractions() -> None:
    """Whatever the version of mpmath: 1.3 alone would refuse."""
    x, third = MP(30)(1), Fraction(1, 3)
    assert third < x
    assert x > third
    assert x == Fraction(1)
    for value in (x * third, third * x, third / x, x - 2 * third):
        assert abs(3 * value - 1) < 1e-29


@pytest.mark.skipif(mpmath.__version__.startswith("1.3"), reason="mpmath 1.3 copies within the context")
def test_copying_an_mpf_loses_its_context() -> None:
    """Why results are never copied or pickled: mpmath rebuilds the number in its global context."""
    value = MP(50)(1) / 3
    assert type(copy.deepcopy(value)) is not type(value)


@pytest.mark.parametrize("K", [MP(30), Ball(100)], ids=str)
def test_undefined_values_are_refused(K: Numbers) -> None:
    with pytest.raises(ValueError):
        K.log(K(-1))
    with pytest.raises(ValueError):
        K.sqrt(K(-1))


def test_balls_that_touch_zero() -> None:
    K = Ball(60)
    nearly_zero = K(1) / 3 - Fraction(1, 3)
    assert K.sqrt(K.abs(nearly_zero)).contains(0)
    assert K.power(K.abs(nearly_zero), Fraction(3, 2)).contains(0)
    assert K.to_float(K.power(K(0), Fraction(3, 2))) == 0
    with pytest.raises(ValueError):
        K.power(K.abs(nearly_zero), Fraction(-1, 2))


def test_precision_must_make_sense() -> None:
    with pytest.raises(ValueError, match="digits = 0"):
        MP(0)
    with pytest.raises(ValueError, match="bits = 1"):
        Ball(1)


def test_powers_of_a_ball_around_zero_are_enclosed() -> None:
    """Arb's power answers nan where the midpoint is exactly 0; squares of differences meet that all the time."""
    K = Ball(64)
    third = K(Fraction(1, 3))
    around_zero = third - third
    assert around_zero.mid == 0
    assert around_zero.rad > 0
    for n in range(1, 6):
        power = around_zero**n
        for x in (0, around_zero.rad, -around_zero.rad, around_zero.rad / 3):
            assert power.contains(x**n)
        assert power.rad <= around_zero.rad**n * (1 + Fraction(1, 2**20))
    assert (around_zero**0).contains(1)
    assert (third**3).contains(Fraction(1, 27))


@pytest.mark.parametrize("size", [1e-300, 1e-4, 1e-3, 1.0, 1e3, 1e4, 1e300])
@pytest.mark.parametrize("p", [Fraction(101), Fraction(11), 40])
def test_norms_do_not_leave_the_range_of_binary64(size: float, p: int | Fraction) -> None:
    """The powers of 10⁴ and 10^−4 do, from p = 77 on: the norm was infinite, or 0."""
    entries = [size, -size / 2, size / 3, 0]
    F, K = Float64(), MP(40)
    assert norm(F, F.vector(entries), p) == pytest.approx(float(norm(K, K.vector(entries), p)), rel=1e-13)
    assert norm(F, F.vector([0, 0]), p) == 0
    assert norm(F, F.vector([]), p) == 0
