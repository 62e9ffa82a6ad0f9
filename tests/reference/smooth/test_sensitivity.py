"""Facts 1 to 4: how far a record moves the estimate, certified on balls and compared with real pairs of runs."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_sums import variance_sums

from reference.numerics.numbers import Ball, Float64
from reference.numerics.tape import SeededTape
from reference.paper.events import Trace
from reference.setting import Box, Example, SquaredTanh, l1_ball
from reference.smooth import sensitivity as s
from reference.smooth.poly_sfw import poly_sfw

K = Float64()
B = Ball(96)


@pytest.mark.statement("thm:privacy-polySFW", kind="enclosed")
@pytest.mark.parametrize("r", range(12))
def test_sums_of_the_trajectory_for_every_batch(r):
    """Facts 2 and 3 for all k at this r. Mutant: V = T^{3/2}/2 alone fails for r ≤ 1; T^{3/2}·0.4 fails for r ≥ 6."""
    T = 2**r
    bound, squares_bound = s.sum_bound(B, T), s.square_sum_bound(B, T)
    for k, (total, squares) in enumerate(s.round_sums(B, T)):
        assert B.le(B.sqrt(B(k + 1)) * total, bound)
        assert B.le((k + 1) * squares, squares_bound)


def largest_sum(K, steps):
    """max_k √(k+1)·Σ_t P_{k,t}: at most T (Fact 2)."""
    largest = K(0)
    for k, (total, _) in enumerate(s.round_sums(K, steps)):
        largest = K.max(largest, K.sqrt(K(k + 1)) * total)
    return largest


def largest_square_sum(K, steps):
    """max_k (k+1)·Σ_t P_{k,t}²: at most `square_sum_bound` (Fact 3)."""
    largest = K(0)
    for k, (_, squares) in enumerate(s.round_sums(K, steps)):
        largest = K.max(largest, (k + 1) * squares)
    return largest


def test_mutants_of_the_square_bound_are_caught():
    assert K.lt(K(2) ** Fraction(3, 2) / 2, largest_square_sum(K, 2))
    assert K.lt(K(64) * 8 * Fraction(2, 5), largest_square_sum(K, 64))


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
@pytest.mark.parametrize("T", [3, 5, 6, 7, 9, 100, 777])
def test_the_sums_need_no_power_of_two(T):
    assert B.le(largest_sum(B, T), s.sum_bound(B, T))
    assert B.le(largest_square_sum(B, T), s.square_sum_bound(B, T))


def test_the_constants_that_the_prose_quotes():
    values = {r: (largest_sum(K, 2**r) / 2**r, largest_square_sum(K, 2**r) / 2 ** (1.5 * r)) for r in (8, 10)}
    assert [round(x, 3) for x in values[8]] == [0.812, 0.436]
    assert [round(x, 3) for x in values[10]] == [0.882, 0.459]


@given(st.integers(0, 30), st.integers(0, 30))
def test_recursions_agree_with_products(k, extra):
    T = k + extra + 1
    row = s.trajectory(K, k, T)
    assert row == pytest.approx([K.sqrt(K(k + 1)) * s.decay(K, k, t) for t in range(k, T)])
    total, squares = s.round_sums(K, T)[k]
    assert sum(row) == pytest.approx(total * (k + 1) ** 0.5)
    assert sum(x * x for x in row) == pytest.approx(squares * (k + 1))


@pytest.mark.statement("lem:grad-error-polySFW", kind="searched")
def test_variance_sums():
    """Fact 4, with equality at t = 1; the mutant 0.7 for 1/√2 fails there."""
    values = variance_sums(B, 1500)
    for t, value in enumerate(values):
        assert t == 1 or B.lt(value, B.sqrt(B(Fraction(t + 1, 2))))
    assert K.to_float(variance_sums(K, 2)[1]) == 1
    assert K.sqrt(K(2)) * 0.7 < 1
    x = 1 / 3**0.5
    assert round(2 - x / 2 - x**2 + x**3 / 2, 3) == 1.474


@given(st.integers(1, 400), st.floats(0, 10), st.floats(0, 10))
def test_fine_and_coarse_record_bounds(k, L0, L1D):
    """c_k·(k+1) ≤ √(k+1)(L0 + L1·D): Fact 1's coarse form."""
    fine, coarse = s.record_bound(K, k, L0, L1D, 1), s.coarse_record_bound(K, k, L0, L1D, 1)
    assert fine <= coarse * (1 + 1e-12)


@pytest.mark.statement("eqn:unravel_recur_polySFW", kind="enclosed")
@pytest.mark.parametrize("t", [1, 2, 3, 10, 40])
def test_unravelled_coefficients(t):
    """a^{(k)} = (1−η_k)P_{k,t}, c^{(k)} = η_k·P_{k,t}, ∇^0 has a^{(1)}; all below 1. Mutant: a^{(0)} would be 0."""
    first, a, c = s.unravelled(B, t)
    assert (first - a[0]).contains(0)
    for k in range(1, t + 1):
        eta = s.step_size(B, k)
        assert (a[k - 1] - (1 - eta) * s.decay(B, k, t)).contains(0)
        assert (c[k - 1] - eta * s.decay(B, k, t)).contains(0)
        assert B.lt(a[k - 1], B(1))
        assert B.lt(c[k - 1], B(1))


@pytest.mark.statement("eqn:unravel_recur_polySFW", kind="searched")
def test_unravelled_recursion_reproduces_the_algorithm():
    data = tuple(Example(((-1) ** i, Fraction(i, 40)), Fraction(i % 3 - 1)) for i in range(40))
    trace, loss, W = Trace(), SquaredTanh(R=1, p=1), l1_ball(2, 1)
    poly_sfw(K, loss, W, data, 3, 4, 1, "0.01", SeededTape(5), trace=trace, exact_budget=True)
    found = {(e.name, e.indices): e.value for e in trace}
    for t in (1, 2, 3):
        deltas = [found["Delta", (2, k)] for k in range(1, t + 1)]
        fresh = []
        for k in range(1, t + 1):  # g = ((∇^k) − (1−η)(∇^{k−1} + Δ^k))/η
            eta = s.step_size(K, k)
            rest = (found["grad", (2, k - 1)] + found["Delta", (2, k)]) * (1 - eta)
            fresh.append((found["grad", (2, k)] - rest) / eta)
        first, a, c = s.unravelled(K, t)
        unravelled = found["grad", (2, 0)] * first
        for k in range(t):
            unravelled = unravelled + deltas[k] * a[k] + fresh[k] * c[k]
        assert list(unravelled) == pytest.approx(list(found["grad", (2, t)]), abs=1e-12)


@pytest.mark.statement("thm:privacy-polySFW", kind="searched")
@pytest.mark.parametrize("position", range(8))
def test_a_replaced_record_moves_the_estimate_by_at_most_its_trajectory(position):
    """Two runs with the same vertices (no noise, one vertex wins by far): the estimates differ as Fact 1 says."""
    loss, W = SquaredTanh(R=1, p=1), Box([-1], [1])
    sizes = s.batch_sizes(3, 4)  # 3, 2, 1, 1
    batch_of = [0, 0, 0, 1, 1, 2, 3][position] if position < 7 else 3
    base = [Example((1,), 1)] * 8
    runs = []
    for z in (Example((1,), 1), Example((-1,), 1)):
        data = [*base[:position], z, *base[position + 1 :]]
        runs.append(_forced_estimates(loss, W, data, sizes))
    k = batch_of
    for t in range(k, 4):
        moved = abs(runs[0][t] - runs[1][t])
        allowed = 2 * s.record_bound(K, k, loss.L0, loss.L1, 2) / sizes[k] * s.decay(K, k, t)
        assert moved <= allowed * (1 + 1e-12)


def _forced_estimates(loss, W, data, sizes):
    """The recursive estimates along a path that alternates between the ends, the same for both datasets."""
    from reference.smooth.poly_sfw import recursive_estimate
    from reference.smooth.rounds import Batches, Gradients

    batches, gradients = Batches(data, range(len(data))), Gradients(K, loss)
    w = previous = K.vector([-1])
    estimate, found = w * 0, []
    for t, size in enumerate(sizes):
        estimate = recursive_estimate(K, gradients, batches.take(size), w, previous, estimate, t)
        found.append(estimate[0])
        target, eta = K.vector([(-1) ** t]), s.step_size(K, t)
        previous, w = w, w * (1 - eta) + target * eta
    return found


def test_batches_are_rounded_up():
    assert s.batch_sizes(10, 4) == (10, 5, 4, 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: s.decay(K, 3, 2),
        lambda: s.trajectory(K, 4, 4),
        lambda: s.round_sums(K, 0),
        lambda: s.unravelled(K, 0),
        lambda: s.unit_sums(K, (1, 2), [K(1)]),
    ],
)
def test_bad_input_is_one_clear_line(call):
    with pytest.raises(ValueError, match="must") as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.statement("thm:privacy-noisySFW", kind="searched")
def test_record_bound_is_attained():
    """f = ±w² on [−1/2, 1/2], w_0 = −1/2, w_1 = 1/2: |a − (1−η)a⁻| = (2−η)L0 = c_1; η_k for η_{k−1} gives less."""
    from reference.smooth.counterexamples import Field

    loss, eta = Field(), s.step_size(K, 1)
    now, before = (loss.gradient(K, K.vector([x]), Example((0,), 1))[0] for x in (Fraction(1, 2), Fraction(-1, 2)))
    assert abs(now - (1 - eta) * before) == pytest.approx(s.record_bound(K, 1, 1, 2, 1))
    # and with a small L1, where the minimum is L1·D·η_{k−1}: a linear gradient along the largest move of step k
    for k in (1, 2, 7):
        step, previous = s.step_size(K, k), s.step_size(K, k - 1)
        slope = Fraction(1, 10)
        a, a_minus = 1.0, 1.0 - float(slope) * previous
        assert a - (1 - step) * a_minus == pytest.approx(s.record_bound(K, k, 1, slope, 1))
