"""The likelihood ratios of the random mechanisms are the true ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.random_mechanisms import KINDS, draw_correct, draw_mechanism
from bench.weak import mechanisms

DRAWS = 40_000


def mechanism_of(kind: str, seed: int):
    return draw_mechanism(seed, (kind,))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_ratio_is_that_of_the_two_samplers(kind: str, seed: int):
    """For every bounded function h of the output E_p[h] = E_q[h·p/q]; here h is any of three bounded functions of the
    ratio itself, in which a wrong ratio shows at once. Six standard errors: below 1e-8 a comparison.
    """
    mechanism = mechanism_of(kind, seed)
    rng = np.random.default_rng([seed, 5])
    q, p = (mechanism.draw(side, DRAWS, rng)[1] for side in (0, 1))
    for low, high in ((-math.inf, -0.3), (-0.3, 0.3), (0.3, 2.0)):
        inside_p = ((p > low) & (p <= high)).astype(float)
        weighted = np.where((q > low) & (q <= high), np.exp(np.minimum(q, 2.0)), 0.0)
        error = math.sqrt((inside_p.var() + weighted.var()) / DRAWS) + 1e-9
        assert abs(inside_p.mean() - weighted.mean()) < 6 * error + 2 / DRAWS, (mechanism.name, low)


@pytest.mark.parametrize("mechanism", mechanisms(), ids=lambda one: one.name)
def test_the_ratio_of_a_weak_leak_is_that_of_the_two_samplers(mechanism):
    """As above, of events of three sizes; what only the neighbour reaches is set apart. Six standard errors."""
    rng = np.random.default_rng(8)
    q, p = (mechanism.draw(side, 10 * DRAWS, rng)[1] for side in (0, 1))
    for level in (0.1, 0.5, 0.9):
        limit = np.quantile(q, level)
        inside = ((p > limit) & np.isfinite(p)).astype(float)
        weighted = np.where((q > limit) & np.isfinite(q), np.exp(q), 0.0)
        error = math.sqrt((inside.var() + weighted.var()) / len(q)) + 1e-9
        assert abs(inside.mean() - weighted.mean()) < 6 * error, level


@pytest.mark.parametrize("kind", KINDS)
def test_no_ratio_is_beyond_the_pure_epsilon(kind: str):
    for seed in range(4):
        mechanism = mechanism_of(kind, seed)
        rng = np.random.default_rng([seed, 6])
        for side in (0, 1):
            assert np.abs(mechanism.draw(side, 5000, rng)[1]).max() <= mechanism.pure * (1 + 1e-6) + 1e-9, (
                mechanism.name
            )


def test_a_seed_names_a_mechanism():
    one, two = (draw_mechanism(11) for _ in range(2))
    assert one.name == two.name
    a, b = (m.draw(0, 50, np.random.default_rng(0))[1] for m in (one, two))
    assert np.array_equal(a, b)


def test_correct_mechanisms_have_a_finite_loss():
    for seed in range(5):
        mechanism, epsilon = draw_correct(seed)
        assert mechanism.delta == 0
        assert math.isfinite(epsilon)
