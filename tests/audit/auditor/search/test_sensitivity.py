"""Adversarial searches find what exceeds a claim, and stay within what does not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from audit import audit_oracle, audit_sensitivity
from audit.auditor.search.sensitivity import prox


def mean(d):
    return np.mean(d)


PAIRS = [([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]), ([0.5, 0.5, -1.0], [0.5, 0.5, 0.5])]


def test_listed_pairs_are_recombined():
    result = audit_sensitivity(mean, PAIRS, claimed=0.5)
    assert result.exceeded
    assert result.largest == pytest.approx(2 / 3)
    a, b = result.witness
    assert abs(np.mean(a) - np.mean(b)) == pytest.approx(result.largest)
    assert sum(x != y for x, y in zip(a, b, strict=True)) == 1


def test_a_right_claim_stays_within():
    result = audit_sensitivity(mean, PAIRS, claimed=2 / 3)
    assert result.verdict == "within"
    assert result.evaluations == 2000
    assert "WITHIN" in str(result)


def test_callables_and_bounds_climb_to_the_corner():
    def make(rng):
        a = list(rng.uniform(-0.1, 0.1, 3))
        return a, [*a[:-1], 0.0]

    result = audit_sensitivity(mean, make, claimed=0.6, bounds=(-1, 1))
    assert result.exceeded
    assert result.largest == pytest.approx(2 / 3, abs=1e-6)


def test_strategies_are_driven():
    record = st.floats(-1, 1)
    pairs = st.tuples(st.lists(record, min_size=3, max_size=3), record).map(lambda t: (t[0], [t[1], *t[0][1:]]))
    assert audit_sensitivity(mean, pairs, claimed=0.5, budget=400).exceeded
    assert not audit_sensitivity(mean, pairs, claimed=2 / 3, budget=400).exceeded


def test_vectors_norms_and_arrays():
    pairs = [(np.zeros((2, 2)), np.array([[3.0, 4.0], [0.0, 0.0]]))]
    for norm, value in ((1, 7.0), (2, 5.0), ("inf", 4.0)):
        assert audit_sensitivity(
            lambda d: d.sum(axis=0), pairs, claimed=100, norm=norm, budget=1
        ).largest == pytest.approx(value)


def test_a_shape_that_changes_is_an_infinite_move():
    result = audit_sensitivity(lambda d: [0.0] * (1 + int(d[0] > 0)), [([0.0], [1.0])], claimed=1.0, budget=1)
    assert result.exceeded
    assert result.largest == math.inf
    assert result.to_dict()["largest"] is None


@pytest.mark.parametrize("keywords", [{"claimed": -1.0}, {"norm": 0.5}, {"norm": "two"}, {"budget": 0}])
def test_arguments_that_mean_nothing(keywords):
    with pytest.raises(ValueError, match=next(iter(keywords))):
        audit_sensitivity(mean, PAIRS, **{"claimed": 1.0, **keywords})
    with pytest.raises(ValueError, match="neighbours"):
        audit_sensitivity(mean, 3, claimed=1.0)


# ------------------------------------------------------------------------------------------------- oracle

BETA, L0, R = 4.0, 1.0, 1.0


def hinge(u, y):
    return max(0, 1 - y * u)


def exact(w, x, y):
    m = float(w @ x)
    t = y * m
    u = m if t >= 1 else y * 1.0 if t >= 1 - 1 / BETA else m + y / BETA
    return BETA * (m - u) * x


def test_an_exact_oracle_is_within():
    result = audit_oracle(exact, hinge, beta=BETA, alpha=1e-9, L0=L0, R=R, budget=150)
    assert result.verdict == "within"
    assert result.evaluations == 150


@pytest.mark.parametrize(
    "wrong",
    [
        lambda w, x, y: 0 * x,
        lambda w, x, y: exact(w, x, y) * 1.01,
        lambda w, x, y: exact(w, x, y) + (0.02 * x if w @ x > 1.5 else 0),
    ],
)
def test_wrong_oracles_are_exceeded(wrong):
    result = audit_oracle(wrong, hinge, beta=BETA, alpha=5e-3, L0=L0, R=R, budget=150)
    assert result.exceeded
    w, x, y = (np.array(v) for v in result.witness)
    assert np.linalg.norm(wrong(w, x, int(y)) - exact(w, x, int(y))) == pytest.approx(result.largest, abs=1e-9)


def test_prox_of_the_hinge():
    assert prox(hinge, 1, BETA, 0.9, L0) == pytest.approx(1.0, abs=1e-12)
    assert prox(hinge, 1, BETA, -3.0, L0) == pytest.approx(-2.75, abs=1e-12)


def test_losses_that_know_only_floats():
    def strict(u, y):
        if not isinstance(u, float):
            raise TypeError("floats only")
        return abs(u - y)

    assert prox(strict, 0.5, BETA, 0.6, L0) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("answer", [None, "much", {"sum": 1.0}, object()])
def test_an_answer_without_distance_is_refused_and_not_infinitely_far(answer):
    with pytest.raises(ValueError, match=r"query\(dataset\) gave .*: it must return a number"):
        audit_sensitivity(lambda d: answer, PAIRS, claimed=1.0, budget=10)
    with pytest.raises(ValueError, match=r"oracle\(w, x, y\) gave .*: it must return a number"):
        audit_oracle(lambda w, x, y: answer, lambda u, y: abs(u), beta=1.0, alpha=1e-3, L0=1.0, R=1.0, budget=10)


def test_a_gradient_of_another_shape_is_not_stretched():
    with pytest.raises(ValueError, match=r"gave shape \(\): a gradient has that of w, \(2,\)"):
        audit_oracle(lambda w, x, y: 0.5, lambda u, y: abs(u), beta=1.0, alpha=1e-3, L0=1.0, R=1.0, budget=10)


def test_a_noisy_query_has_no_sensitivity():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="on the same dataset: its sensitivity is that of the query without noise"):
        audit_sensitivity(lambda d: mean(d) + rng.laplace(), PAIRS, claimed=1.0, budget=10)


def test_nan_on_both_sides_is_no_move_and_on_one_an_infinite_one():
    assert audit_sensitivity(lambda d: math.nan, PAIRS, claimed=0.0, budget=10).largest == 0.0
    assert audit_sensitivity(lambda d: math.nan if d[-1] == 1 else 0.0, PAIRS, claimed=9.0, budget=10).exceeded


@pytest.mark.parametrize("neighbours", [[1, 2], lambda rng: 5, st.just(3)])
def test_what_is_no_pair_is_shown(neighbours):
    with pytest.raises(ValueError, match=r"neighbours gave \d: it must give pairs"):
        audit_sensitivity(mean, neighbours, claimed=1.0, budget=10)
