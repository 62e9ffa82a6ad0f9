"""What the recorded noise of a run is worth: against exact values, and with a limit that is as sure as it claims."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audit.auditor.api import audit_dp
from audit.auditor.lints.losses import delta_of, epsilon_where
from audit.auditor.lints.transcript import lower_limit
from bench.foreign import inspect_alone
from bench.textbook import TEXTBOOK, gaussian, transcript


@pytest.mark.parametrize("delta", [1e-2, 1e-5])
@pytest.mark.parametrize("name", list(TEXTBOOK))
def test_textbook_compositions(name: str, delta: float) -> None:
    """Within 2 % of the exact value (four standard errors, where runs are averaged); the lower limit is below it."""
    mechanism, law = TEXTBOOK[name]
    found, exact = transcript(mechanism, delta=delta), epsilon_where(law, delta, 60.0)
    assert found.epsilon(delta) == pytest.approx(exact, rel=0.02)
    assert found.epsilon_lower(delta) <= exact


def test_many_sums_are_those_of_the_closed_form() -> None:
    """Grids against Gaussian closed form: a hundred logistic sums with ratio 0.1 lie near their Gaussian limit."""
    fisher = 1 / 3
    limit = epsilon_where(gaussian(math.sqrt(100 * fisher) * 0.1), 1e-3, 60.0)
    summed = epsilon_where(lambda e: float(delta_of((("logistic", 0.1, 100),), np.array(e))), 1e-3, 60.0)
    assert summed == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("size", [10, 100])
def test_the_lower_limit_fails_no_more_often_than_it_says(size: int) -> None:
    """At level 0.1, on numbers with a heavy tail, 2000 times: more than 0.1 + 4 standard errors would be a fault."""
    rng = np.random.default_rng(5)
    wrong = sum(lower_limit(rng.exponential(size=size) ** 2, 0.1) > 2.0 for _ in range(2000))
    assert wrong <= 2000 * 0.1 + 4 * math.sqrt(2000 * 0.09)
    assert np.mean([lower_limit(rng.exponential(size=size) ** 2, 0.1) for _ in range(50)]) > 0.2


FEATURES, LABELS = np.eye(3)[[0, 1, 2, 0]], np.array([1.0, -1.0, 1.0, 1.0])
FLIPPED = (FEATURES, np.array([-1.0, -1.0, 1.0, 1.0]))
CLIP = 0.3


def _dp_sgd(sensitivity: float, rho: float = 0.5, steps: int = 10) -> Any:
    """Logistic regression with clipped gradients; noise for ρ-zCDP if a step's sum moves by `sensitivity` at most."""
    sigma = sensitivity * math.sqrt(steps / (2 * rho))

    def fit(data: Any, rng: np.random.Generator) -> Any:
        X, y = data
        w = np.zeros(3)
        for _ in range(steps):
            chance = 1 / (1 + np.exp(-y * (X @ w)))
            gradients = -(1 - chance)[:, None] * y[:, None] * X
            gradients /= np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / CLIP)
            w = w - 0.5 * (gradients.sum(0) + rng.normal(0, sigma, size=3))
        return w

    return fit


def test_half_the_noise_of_a_training_loop_is_seen_in_ten_runs() -> None:
    """The sum moves by 2·CLIP when a record is replaced, the noise is for CLIP."""
    claimed = epsilon_where(gaussian(1.0), 1e-5, 60.0)
    for seed in range(5):
        broken = transcript(_dp_sgd(CLIP), ((FEATURES, LABELS), FLIPPED), runs=10, seed=seed)
        assert broken.runs == 10
        assert replace(broken, confidence=0.999).epsilon_lower(1e-5) > claimed
        right = transcript(_dp_sgd(2 * CLIP), ((FEATURES, LABELS), FLIPPED), runs=10, seed=seed)
        assert replace(right, confidence=0.999).epsilon_lower(1e-5) <= claimed


def test_an_audit_suspects_it_and_says_what_is_missing() -> None:
    claimed = epsilon_where(gaussian(1.0), 1e-5, 60.0)
    data = (FEATURES, LABELS), FLIPPED
    result = audit_dp(_dp_sgd(CLIP), *data, epsilon=claimed, delta=1e-5, samples=1000)
    assert result.verdict == "suspect"
    (finding,) = [f for f in result.findings if f.kind == "transcript"]
    assert finding.details["site"].startswith("test_transcript.py:")
    assert 1.5 < finding.details["factor"] < 2.3
    assert result.transcript.spending[0].difference == pytest.approx(2 * CLIP)
    assert result.to_dict()["transcript"]["spending"][0]["sums"] == 10
    assert audit_dp(_dp_sgd(2 * CLIP), *data, epsilon=claimed, delta=1e-5, samples=1000).verdict != "suspect"


def test_a_draw_that_decides_nothing_hides_nothing() -> None:
    """A loader of batches seeds workers that it does not have, or shuffles a batch of all records: the finding stays. A
    batch that is chosen at random is secret, and may cover what the noise does not.
    """
    claimed = epsilon_where(gaussian(1.0), 1e-5, 60.0)
    half = _dp_sgd(CLIP)

    def seeded(data: Any, rng: np.random.Generator) -> Any:
        rng.integers(2**31)
        return half(data, rng)

    def shuffled(data: Any, rng: np.random.Generator) -> Any:
        order = rng.permutation(4)
        return half((data[0][order], data[1][order]), rng)

    def batched(data: Any, rng: np.random.Generator) -> Any:
        rows = rng.choice(4, 2, replace=False)
        return half((data[0][rows], data[1][rows]), rng)

    pair = (FEATURES, LABELS), FLIPPED
    for mechanism, suspect in ((seeded, True), (shuffled, True), (batched, False)):
        found = inspect_alone(mechanism, *pair, epsilon=claimed, delta=1e-5).findings
        assert ("transcript" in {f.kind for f in found}) == suspect


def test_only_the_selected_answer_is_published() -> None:
    """A noisy maximum of ten scores: the transcript is worth ten times the claim, the mechanism keeps it."""

    def chosen(data: list[float], rng: np.random.Generator) -> int:
        return int(np.argmax([x + rng.laplace(0, 2.0) for x in data]))

    result = audit_dp(chosen, [0.0] * 10, [1.0] * 10, epsilon=1.0, samples=2000)
    assert result.verdict in ("consistent", "inconclusive")
    assert result.transcript is None or result.transcript.epsilon(0.0) == pytest.approx(5.0)
