"""The simplest score, and that a plan from few draws considers it."""

from __future__ import annotations

import numpy as np
import pytest

from audit.auditor.api import audit_dp
from audit.auditor.learn.simple import Sign
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.outputs import tabulate
from audit.auditor.test import plan as planning
from audit.auditor.test.plan import make_plan


def test_the_best_entry_and_side_are_found() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    for sign in (1, -1):
        table = tabulate(np.stack([rng.normal(size=60), sign * 3 * labels + rng.normal(size=60)], axis=1))
        found = Sign.learn(table, labels)
        assert found is not None
        assert found.condition.entry == 1
        logits, errors = found.logit(table)
        assert np.mean((logits > 0) == (labels == 1)) > 0.8
        assert not errors.any()


@pytest.mark.parametrize("words", [("yes", "no"), (None, 0.5), ((1.0, 2.0), (1.0,))])
def test_words_and_lengths_are_tried(words: tuple[object, object]) -> None:
    labels = np.arange(40) % 2
    table = tabulate([words[b] for b in labels])
    found = Sign.learn(table, labels)
    assert found is not None
    assert np.array_equal(found.logit(table)[0] > 0, labels == 1)


def test_what_never_varies_has_no_simplest_score() -> None:
    assert Sign.learn(tabulate(np.zeros(20)), np.arange(20) % 2) is None


def test_where_nothing_can_be_promised_every_draw_is_guessed() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 20)
    plan, _ = make_plan(tabulate(rng.normal(size=20) + 0.5 * labels), labels, 20, Epsilon(0.1), 0.05)
    assert isinstance(plan.score, Sign)
    (cutoff,) = plan.cutoffs
    assert (cutoff.n, cutoff.share, cutoff.part) == (20, 1.0, 1.0)


def test_many_draws_are_left_to_the_learned_score() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 2000)
    table = tabulate(rng.normal(size=2000) + 0.5 * labels)
    assert not isinstance(make_plan(table, labels, planning.FEW_DRAWS, Epsilon(0.1), 0.05)[0].score, Sign)


def test_few_draws_do_not_reject_the_truth_more_often_than_allowed() -> None:
    """Randomised response at its exact ε, 30 draws a side: P(Bin(200, 0.05) > 29) < 1e-6."""
    q = 1 / (1 + np.exp(0.5))

    def respond(d: list[int], size: int, rng: np.random.Generator) -> np.ndarray:
        return np.abs(d[0] - (rng.random(size) < q))

    verdicts = [
        audit_dp(respond, [0], [1], epsilon=0.5, samples=30, confidence=0.95, seed=seed, lints=False).verdict
        for seed in range(200)
    ]
    assert verdicts.count("violated") <= 29
