"""A noisy maximum loses what its index loses: silence at its true ε, a finding beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints.selection import place_law, place_loss
from bench.foreign import inspect_alone


def _selected(family: str, style: str) -> Any:
    def mechanism(data: list[float], rng: np.random.Generator) -> int:
        noise = getattr(rng, family)(size=len(data))
        if style == "argmax":
            return int(np.argmax(np.array(data) + noise))
        scores = [x + n for x, n in zip(data, noise, strict=True)]
        return max(range(len(data)), key=scores.__getitem__)

    return mechanism


def test_gumbel_noise_makes_the_exponential_mechanism() -> None:
    scores = np.array([0.0, 1.0, -2.0])
    assert place_law("gumbel", scores) == pytest.approx(np.exp(scores) / np.exp(scores).sum(), rel=1e-4)


def test_two_laplace_scores_in_closed_form() -> None:
    """The difference of two Laplace draws exceeds t with chance e^−t·(2 + t)/4."""
    assert place_law("laplace", np.array([0.0, 1.0]))[0] == pytest.approx(3 * math.exp(-1) / 4, rel=1e-4)
    assert place_loss(np.array([0.5, 0.5]), np.array([0.6, 0.4]), 0.1) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("style", ["argmax", "max"])
@pytest.mark.parametrize("family", ["laplace", "exponential", "gumbel", "normal"])
@pytest.mark.parametrize("size", [2, 10])
def test_silent_at_the_true_loss_and_not_below_it(family: str, size: int, style: str) -> None:
    first, second = np.zeros(size), np.zeros(size)
    second[0], second[-1] = 1.0, -1.0
    exact = place_loss(place_law(family, first), place_law(family, second), 0.0)
    pair = first.tolist(), second.tolist()
    assert inspect_alone(_selected(family, style), *pair, epsilon=exact, seed=3).findings == []
    (found,) = inspect_alone(_selected(family, style), *pair, epsilon=0.9 * exact, seed=3).findings
    assert found.kind == "selection"
    assert found.details["epsilon"] == pytest.approx(exact)
