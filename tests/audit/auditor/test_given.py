"""Tests of audits of outputs and scores that were made elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from night import by_day
from scipy import stats

from audit.auditor.given import LEAST, LOOKED_AT, GivenOutputs, audit_outputs, audit_scores
from audit.auditor.targets.sampling import BURN_IN, CHECK, TEST, BlockName, Pair, TargetError
from audit.auditor.terms.claim import GDP


def laplace(seed: int, size: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.laplace(size=size), 1 + rng.laplace(size=size)


def test_so_many_labelled_draws_are_allowed_by_the_smaller_side() -> None:
    def draws(first: int, second: int) -> int:
        return GivenOutputs(np.zeros(first), np.ones(second), seed=0).draws

    least = 500 - LOOKED_AT
    assert draws(500, 900) == draws(900, 500) == int(2 * least - 2 * (least * np.log(1e12)) ** 0.5)
    assert draws(LOOKED_AT, 900) == 0


def test_half_of_the_noise_is_seen_and_the_right_noise_is_not() -> None:
    a, b = laplace(1, 6000)
    assert audit_outputs(a, b, epsilon=0.5).violated
    right = audit_outputs(a, b, epsilon=1.0)
    assert right.verdict == "consistent"
    assert 0.5 < right.epsilon_lower <= 1
    assert [f.kind for f in right.findings][-1] == "given-outputs"


def test_false_alarms_at_the_exact_claim() -> None:
    """Laplace at its own ε and a Gaussian at its own μ, many audits each at level 0.05: no more than 1e-7 allows."""
    audits = by_day(40, 200)
    for shift, claim in ((1.0, {"epsilon": 1.0}), (0.7, {"mu": 0.7})):
        wrong = 0
        for seed in range(audits):
            rng = np.random.default_rng([7, seed])
            draw = rng.laplace if "epsilon" in claim else rng.normal
            a, b = np.round(draw(size=600), 6), np.round(shift + draw(size=600), 6)
            wrong += audit_outputs(a, b, confidence=0.95, seed=seed, **claim).violated  # type: ignore[arg-type]
        assert wrong <= stats.binom.isf(1e-7, audits, 0.05)


def test_each_output_is_dealt_once_and_the_checks_have_their_own() -> None:
    a, b = np.arange(500.0), 1000 + np.arange(500.0)
    target = GivenOutputs(a, b, seed=3)
    pair = Pair("a", "b")
    looked = target.outputs(pair, np.array([0, 1] * 8), BlockName(0, CHECK, 0, 0))
    seen: list[float] = []
    rng = np.random.default_rng(0)
    for stream, size in ((BURN_IN, 200), (TEST, 300)):
        labels = rng.integers(0, 2, size)
        dealt = target.outputs(pair, labels, BlockName(0, stream, 0, 0))
        assert ((dealt >= 1000) == (labels == 1)).all()
        seen += dealt.tolist()
    assert len(set(seen)) == len(seen)
    assert not set(seen) & set(looked.tolist())
    with pytest.raises(TargetError, match="too few for these labels"):
        target.outputs(pair, np.zeros(400, dtype=int), BlockName(0, TEST, 0, 1))


def test_the_labels_never_ask_for_more_than_there_is() -> None:
    """Fair coins over all the draws that a target promises: neither side runs out, in ten thousand tosses."""
    target = GivenOutputs(np.zeros(1000), np.zeros(1200), seed=0)
    heads = np.random.default_rng(5).binomial(target.draws, 0.5, size=10_000)
    assert heads.max() <= 1200 - 16
    assert (target.draws - heads).max() <= 1000 - 16
    assert stats.binom.sf(1000 - 16, target.draws, 0.5) < 1e-11


def test_any_objects_are_outputs() -> None:
    rng = np.random.default_rng(2)
    words = (
        [["no", "yes"][int(x)] for x in rng.random(2000) < 0.5],
        [["no", "yes"][int(x)] for x in rng.random(2000) < 0.9],
    )
    assert audit_outputs(*words, epsilon=0.2).violated


def test_scores_of_members_and_of_others() -> None:
    rng = np.random.default_rng(4)
    member = rng.integers(0, 2, 6000) == 1
    scores = member + rng.normal(size=6000)
    result = audit_scores(scores, member, claim=GDP(0.6))
    assert result.violated
    assert 0.6 < result.lower <= 1


@pytest.mark.parametrize(
    ("scores", "member", "says"),
    [
        ([1.0, float("nan")] * 50, [0, 1] * 50, "score 1 is NaN"),
        ([1.0] * 100, [0, 1] * 49, "100 scores and 98 entries of member"),
        ([1.0] * 100, [1] * 100, "member is True everywhere"),
        ([1.0] * 100, [0] * 100, "member is False everywhere"),
        ([1.0] * 100, [2, 1] * 50, "must hold True and False"),
        (["a"] * 100, [0, 1] * 50, "must be numbers"),
        ([[1.0]] * 100, [0, 1] * 50, "must be plain lists"),
    ],
)
def test_bad_scores_are_one_line(scores: Any, member: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        audit_scores(scores, member, epsilon=1.0)
    assert "\n" not in str(error.value)


def test_too_few_or_unlike_outputs_are_one_line() -> None:
    with pytest.raises(ValueError, match="outputs has 5 outputs: at least 62 a side"):
        audit_outputs([1] * 5, [1] * 100, epsilon=1.0)
    with pytest.raises(ValueError, match=r"outputs = array\(0.\) must be a list"):
        audit_outputs(np.zeros(()), [1] * 100, epsilon=1.0)
    with pytest.raises(ValueError, match="seed = -1 must be a whole number"):
        audit_outputs([1] * 100, [1] * 100, epsilon=1.0, seed=-1)
    with pytest.raises(ValueError, match="seed = None must be a whole number"):
        audit_outputs([1] * 100, [1] * 100, epsilon=1.0, seed=None)  # type: ignore[arg-type]


def test_the_fewest_outputs_that_are_taken_can_be_tested() -> None:
    rng = np.random.default_rng(6)
    result = audit_outputs(rng.normal(size=LEAST), 9 + rng.normal(size=LEAST), epsilon=0.1)
    assert result.verdict in ("inconclusive", "violated")
    assert result.samples == 10


def test_bad_shapes_are_one_line() -> None:
    with pytest.raises(ValueError, match="rows must be alike"):
        audit_outputs(np.zeros((100, 2)), np.zeros((100, 3)), epsilon=1.0)
    with pytest.raises(ValueError, match="must be a list or an array"):
        audit_outputs("abc", [1] * 100, epsilon=1.0)
