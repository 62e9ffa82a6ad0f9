"""The paper's choices of R and b, their conditions, and the planners of the tight variant."""

from fractions import Fraction

import pytest

from reference.numerics.numbers import Float64
from reference.smooth.bounds import gap_tight, noisy_gap_tight
from reference.smooth.parameters import (
    Rounds,
    largest_batch,
    noisy_parameters,
    noisy_plan,
    poly_parameters,
    poly_plan,
)
from reference.smooth.rounds import check_rounds
from reference.smooth.sensitivity import batch_sizes

K = Float64()
C = (Fraction(1, 2), Fraction(1, 2), 1)


@pytest.mark.statement("thm:convergence-polySFW", kind="exact")
def test_choices_of_theorem_11():
    assert [poly_parameters(n, 200, 1, "1e-6") for n in (10**5, 10**6, 10**7)] == [
        Rounds(1, 754),
        Rounds(3, 5239),
        Rounds(5, 38492),
    ]
    assert [noisy_parameters(n, 50, 2, 1, "1e-6") for n in (10**6, 10**7)] == [Rounds(6, 5239), Rounds(8, 38492)]
    for n in (10**5, 10**6, 10**8):
        for plan in (poly_parameters(n, 200, 1, "1e-6"), noisy_parameters(n, 50, Fraction(3, 2), 1, "1e-6")):
            check_rounds(n, plan.R, plan.b)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: poly_parameters(1000, 200, 1, "1e-6"),
            r"n = 1000 must give R ≥ 1 .*: all conditions hold from n = 31701",
        ),
        (lambda: noisy_parameters(1000, 50, Fraction(3, 2), 1, "1e-6"), "all conditions hold from n = 51836"),
        (
            lambda: poly_parameters(10**4, 200, 10**6, "1e-6"),
            r"b ≥ 2\^\(R−1\).*all conditions hold from n = 1586013452305625",
        ),
        (lambda: poly_parameters(10**6, 1, 1, "1e-6"), "J = 1 must be at least 2"),
        (lambda: noisy_parameters(10**6, 1, 2, 1, "1e-6"), "d = 1 must be at least 2: κ = .* is 0"),
        (lambda: noisy_parameters(10**6, 5, 1, 1, "1e-6"), r"p = 1 must lie in \(1, 2\]"),
        (lambda: noisy_parameters(10**6, 5, 3, 1, "1e-6"), "p = 3"),
        (lambda: poly_parameters(10**6, 5, 0, "1e-6"), "epsilon = 0 must be positive"),
        (lambda: poly_parameters(10**6, 5, 1, 1), r"delta = 1 must lie in \(0, 1\)"),
        (lambda: poly_parameters(1, 5, 1, "0.1"), "n = 1"),
        (lambda: largest_batch(3, 4), "n = 3 must be at least 4"),
    ],
)
def test_what_fails_says_for_which_n_it_would_hold(call, words):
    with pytest.raises(ValueError, match=words) as error:
        call()
    assert "\n" not in str(error.value)


def test_the_n_that_is_named_works_and_the_one_below_does_not():
    poly_parameters(31701, 200, 1, "1e-6")
    with pytest.raises(ValueError, match="R ≥ 1"):
        poly_parameters(31700, 200, 1, "1e-6")


def test_theorem_14_breaks_the_sample_condition_for_very_large_n():
    """R = (4/5)·log2(…) outgrows ln n: n = 10^34 is fine, 10^36 is not."""
    assert noisy_parameters(10**34, 2, 2, 1, "1e-6").R == 78
    with pytest.raises(ValueError, match=r"bR² ≤ n.*R = 83.*hold at n = 475 but not for all larger n"):
        noisy_parameters(10**36, 2, 2, 1, "1e-6")


def test_large_epsilon_breaks_the_sample_condition_only_where_it_says():
    with pytest.raises(ValueError, match="bR² ≤ n"):
        poly_parameters(10**9, 3, 3500, "0.01")


@pytest.mark.parametrize("steps", [1, 2, 3, 8, 50, 256])
def test_batches_fit(steps):
    """The largest batch is the largest. n/(1+ln T) would not fit: T = 2, n = 7."""
    for n in range(steps, steps + 400, 7):
        best = largest_batch(n, steps)
        assert sum(batch_sizes(best, steps)) <= n < sum(batch_sizes(best + 1, steps))
    assert sum(-(-Fraction(7 * 1000, 1693) // (t + 1)) for t in range(2)) == 8


def test_planners_minimise_the_bound_and_look_at_nothing_else():
    plan = poly_plan(10**5, 200, C, 1, "1e-6")
    assert plan.bound == gap_tight(K, plan.T, plan.b, 200, C, 1, "1e-6")
    for T in (plan.T // 2, plan.T * 2):
        assert gap_tight(K, T, largest_batch(10**5, T - 1), 200, C, 1, "1e-6") > plan.bound
    noisy = noisy_plan(10**5, 20, 2, C, 1, "1e-6")
    for T in (noisy.T // 2, noisy.T * 2):
        assert noisy_gap_tight(K, T, largest_batch(10**5, T - 1), 20, 2, C, 1, "1e-6") > noisy.bound
    assert noisy_plan(10**4, 1, 2, C, 1, "1e-6").bound > 0  # d = 1 is no special case
