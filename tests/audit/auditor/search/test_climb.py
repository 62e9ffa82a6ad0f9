"""The climber reaches known maxima, stays in its box and budget, and repeats itself."""

import math

import numpy as np
import pytest

from audit.auditor.search.climb import climb

BOX = [(-1.0, 1.0)] * 4
HILLS = float((np.sin(9 * np.linspace(-1, 1, 200001)) + np.linspace(-1, 1, 200001)).max())


@pytest.mark.parametrize(
    ("f", "maximum", "tolerance"),
    [
        (lambda x: -float(((x - 0.3) ** 2).sum()), 0.0, 1e-9),
        (lambda x: float(np.abs(x).sum()), 4.0, 0.0),  # in the corners
        (lambda x: float(np.sin(9 * x[0]) + x[0]), HILLS, 1e-6),  # several hills; start on the wrong one
        (lambda x: float(x[0] > 0.9) + float(x[1] > 0.9), 2.0, 0.0),  # plateaus
        (lambda x: -float(np.abs(x - 0.25).max()), 0.0, 1e-3),  # kinks
        (lambda x: float("nan") if x[0] < 0.5 else -float(x @ x), -0.25, 1e-6),  # undefined on most of the box
    ],
)
def test_known_maxima(f, maximum, tolerance):
    best = climb(f, [-0.5] * 4, BOX, 3000, seed=1)
    assert best.value >= maximum - max(tolerance, 1e-12)
    assert best.value == f(best.x)
    assert best.value <= maximum + max(tolerance, 1e-12)


def test_same_seed_same_answer_and_budget_is_kept():
    calls = []

    def f(x):
        calls.append(x.copy())
        return float(x[0] * x[1] - x[2] ** 2)

    first = climb(f, [0, 0, 0, 0], BOX, 500, seed=3)
    assert len(calls) == first.evaluations == 500
    assert all(np.all(np.abs(x) <= 1) for x in calls)
    second = climb(f, [0, 0, 0, 0], BOX, 500, seed=3)
    assert np.array_equal(first.x, second.x)
    assert first.value == second.value
    other = climb(f, [0, 0, 0, 0], BOX, 500, seed=4)
    assert not np.array_equal(first.x, other.x)


def test_f_cannot_move_the_climber_by_mutating_its_argument():
    def f(x):
        value = -float(x @ x)
        x[:] = 7
        return value

    best = climb(f, [0.5] * 4, BOX, 300, seed=0)
    assert np.all(np.abs(best.x) <= 1)
    assert best.value == -float(best.x @ best.x)


def test_budget_of_one_returns_the_start():
    best = climb(lambda x: float(x[0]), [0.25], [(0.0, 1.0)], 1, seed=0)
    assert (best.x[0], best.value, best.evaluations) == (0.25, 0.25, 1)


def test_a_function_that_is_nowhere_defined_gives_minus_infinity():
    assert climb(lambda x: math.nan, [0.0], [(0.0, 1.0)], 10, seed=0).value == -math.inf


def test_an_exception_is_not_swallowed():
    with pytest.raises(RuntimeError, match="mine"):
        climb(lambda x: (_ for _ in ()).throw(RuntimeError("mine")), [0.0], [(0.0, 1.0)], 10, seed=0)


@pytest.mark.parametrize(
    ("x0", "bounds", "budget", "name"),
    [
        ([0.0], [(1.0, 0.0)], 10, "bounds"),
        ([0.0], [(0.0, math.inf)], 10, "bounds"),
        ([], [], 10, "bounds"),
        ([0.0, 0.0], [(0.0, 1.0)], 10, "x0"),
        ([math.nan], [(0.0, 1.0)], 10, "x0"),
        ([0.0], [(0.0, 1.0)], 0, "budget"),
    ],
)
def test_bad_input_is_named(x0, bounds, budget, name):
    with pytest.raises(ValueError, match=f"^{name} = "):
        climb(lambda x: 0.0, x0, bounds, budget, seed=0)
