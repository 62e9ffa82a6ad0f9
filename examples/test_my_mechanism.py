"""`assert_dp` in somebody else's test suite: pytest examples/test_my_mechanism.py

Four rules keep such tests quiet in CI and loud when it counts (the arithmetic is in examples/README.md):

1. Give a seed. The test then gives the same answer until the code changes.
2. Share one error budget: confidence = 1 − budget/tests. A right mechanism fails with at most that probability a seed.
3. Keep a positive control: a broken twin that must be caught. It shows that the test has power.
4. Never rerun a failing audit with another seed until it passes: that is how violations get through.
"""

import numpy as np
import pytest

from dpso import assert_dp

TESTS, BUDGET = 2, 1e-6
CONFIDENCE = 1 - BUDGET / TESTS
AUDIT = {"samples": 50_000, "confidence": CONFIDENCE, "seed": 2024}


def noisy_mean(dataset, size, rng, epsilon=1.0):
    """My mechanism: the mean of values in [0, 1], Laplace noise for replace-one neighbours."""
    values = np.clip(dataset, 0, 1)
    return values.mean() + rng.laplace(scale=1 / (len(values) * epsilon), size=size)


def unclipped_mean(dataset, size, rng):
    """Its broken twin: somebody dropped the clip."""
    return np.mean(dataset) + rng.laplace(scale=1 / len(dataset), size=size)


PAIRS = [([0.2, 0.4, 0.0], [0.2, 0.4, 1.0]), ([0.2, 0.4, 0.5], [0.2, 0.4, 9.0])]


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_noisy_mean_is_private(epsilon):
    """It keeps what it promises, at every ε that we offer."""
    result = assert_dp(
        lambda dataset, size, rng: noisy_mean(dataset, size, rng, epsilon), pairs=PAIRS, epsilon=epsilon, **AUDIT
    )
    assert result.would_detect < epsilon + 0.2, "too few samples to see anything: raise `samples`"


def test_the_broken_twin_is_caught():
    """The positive control."""
    with pytest.raises(AssertionError, match="VIOLATED"):
        assert_dp(unclipped_mean, pairs=PAIRS, epsilon=1.0, **AUDIT)
