"""Many more draws make a score sharper, by counts or by sums, and never make it worse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import special

from audit.auditor import api
from audit.auditor.api import audit_dp
from audit.auditor.learn import refine as refining
from audit.auditor.learn.logistic import LogisticFit
from audit.auditor.learn.refine import HELD_OUT, refine
from audit.auditor.learn.scores import Score
from audit.auditor.targets import run as run_module
from audit.auditor.targets.run import Run
from audit.auditor.targets.sampling import BURN_IN, TEST, BlockName, draw_block
from audit.auditor.terms.outputs import Table, tabulate
from audit.auditor.test import budget
from audit.auditor.test import draws as draws_module


@dataclass(frozen=True)
class Old:
    """What a step of Newton's method asks of the score that it starts from."""

    fit: LogisticFit
    scaled_penalty: Any
    fixed_penalty: Any
    strength: float


def test_a_step_from_sums_is_newtons_at_the_likeliest_strength() -> None:
    """Weights, covariance, evidence and choice against matrices written out."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(8, 3))
    weights, gradient, hessian = np.array([0.2, -0.1, 0.4]), np.array([3.0, -1.0, 2.0]), 20 * root.T @ root
    old = Old(LogisticFit(weights, np.eye(3), 0.0), np.array([0.01, 1.0, 2.0]), np.array([0.0, 0.0, 3.0]), 0.7)
    sums = refining._Sums(old)  # type: ignore[arg-type]
    sums.gradient, sums.hessian = gradient, hessian
    found = sums.score()
    made = []
    for strength in (*refining.STRENGTHS, 0.7):
        penalty = old.scaled_penalty * strength + old.fixed_penalty
        full = hessian + np.diag(penalty) + (1e-9 + 1e-6 * hessian.diagonal().max()) * np.eye(3)
        moved = np.linalg.solve(full, gradient + penalty * weights)
        new = weights - moved
        loss = -gradient @ moved + moved @ hessian @ moved / 2 + penalty @ new**2 / 2
        evidence = np.log(penalty).sum() / 2 - np.linalg.slogdet(full)[1] / 2 - loss
        made.append((evidence, strength, new, np.linalg.inv(full)))
    best = max(made, key=lambda item: item[:2])
    assert found.strength == best[1]
    assert found.fit.weights == pytest.approx(best[2])
    assert found.fit.covariance == pytest.approx(best[3])
    assert found.fit.evidence == pytest.approx(best[0])


EPSILON = 0.15
FIRST, MORE, BLOCK = 4000, 200_000, 10_000


def numbers(rng: np.random.Generator, size: int) -> tuple[Table, np.ndarray]:
    """Eight Laplace draws, the fifth of which moves."""
    labels = rng.integers(0, 2, size)
    x = rng.laplace(size=(size, 8)) / EPSILON
    x[:, 4] += labels
    return tabulate(x), labels


def bits(rng: np.random.Generator, size: int) -> tuple[Table, np.ndarray]:
    """Randomised response on six bits, one of which differs."""
    labels = rng.integers(0, 2, size)
    x = rng.random((size, 6)) < 0.5
    x[:, 2] = labels ^ (rng.random(size) > special.expit(EPSILON))
    return tabulate(x.astype(float)), labels


def blocks(draw, rng: np.random.Generator) -> Iterator[tuple[Table, np.ndarray]]:
    for _ in range(MORE // BLOCK):
        yield draw(rng, BLOCK)


def right(score: Score, draw) -> float:
    table, labels = draw(np.random.default_rng(99), 200_000)
    return float(np.mean((score.logit(table)[0] > 0) == (labels == 1)))


@pytest.mark.parametrize("draw", [numbers, bits])
def test_a_weak_leak_is_found_by_many_draws(draw):
    """Of the advantage over a coin that the law allows, 0.037, 0.8 is reached: six standard errors are 0.007."""
    rng = np.random.default_rng(1)
    table, labels = draw(rng, FIRST)
    score = Score.learn(table, labels)
    better = refine(score, table, labels, blocks(draw, rng), MORE)
    most = special.expit(EPSILON) - 0.5 if draw is bits else (1 - np.exp(-EPSILON / 2)) / 2
    assert right(better.score, draw) - 0.5 > 0.8 * most
    assert right(better.score, draw) > right(score, draw)
    assert len(better.logits) == len(better.errors) == len(better.labels) == int(HELD_OUT * MORE)
    held_out = np.mean((better.logits > 0) == (better.labels == 1))
    assert held_out == pytest.approx(right(better.score, draw), abs=0.015)


def test_a_worse_score_is_not_taken(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(2)
    table, labels = numbers(rng, FIRST)
    score = Score.learn(table, labels)
    upside_down = Score.learn(table, 1 - labels)
    monkeypatch.setattr(refining._Sums, "score", lambda self: upside_down)
    better = refine(score, table, labels, blocks(numbers, rng), MORE)
    assert better.score is score


def test_the_outputs_that_are_counted_are_limited(monkeypatch: pytest.MonkeyPatch):
    """The most frequent ones stay; draws are counted exactly."""
    monkeypatch.setattr(refining, "MOST_OUTPUTS", 3)
    rng = np.random.default_rng(3)
    outputs = np.array([0.0] * 50 + [1.0] * 40 + [2.0] * 30 + [3.0])
    labels = rng.integers(0, 2, len(outputs))
    counts = refining._Counts(Score.learn(tabulate(outputs), labels))
    for _ in range(40):
        counts.add(tabulate(outputs), labels)
    table, n, k = counts.together()
    assert sorted(zip(table.numbers[:, 0].tolist(), n.tolist(), strict=True)) == [(0, 2000), (1, 1600), (2, 1200)]
    assert k.sum() == 40 * labels[:120].sum()


def test_no_draw_that_teaches_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of an audit that refines its score is drawn under a name of its own, and the test has its own stream.

    The exact ε of a randomised response on 16 bits is audited 20 times at small size: P(Bin(20, 0.05) > 10) < 1e-8.
    """
    for name, value in (("BURN_LIMIT", 1500), ("REFINED_FROM", 2500)):
        monkeypatch.setattr(budget, name, value)
    monkeypatch.setattr(Run, "block_size", 512)
    named: list[tuple[int, int, int]] = []
    refined = []

    def noted(target: Any, pair: Any, name: BlockName, size: int, bits: int) -> Any:
        named.append((name.stream, name.pair, name.index))
        return draw_block(target, pair, name, size, bits)

    def counted(*arguments: Any) -> Any:
        refined.append(1)
        return refine(*arguments)

    for module in (run_module, draws_module):
        monkeypatch.setattr(module, "draw_block", noted)
    monkeypatch.setattr(api, "refine", counted)
    epsilon = 0.4
    flip = 1 / (1 + np.exp(epsilon / 2))

    def respond(d: list[int], size: int, rng: np.random.Generator) -> np.ndarray:
        bits = np.zeros((size, 16))
        bits[:, d[0]] = 1
        return np.abs(bits - (rng.random((size, 16)) < flip))

    alarms = 0
    for seed in range(20):
        named.clear()
        found = audit_dp(respond, [0], [1], epsilon=epsilon, samples=8000, confidence=0.95, seed=seed, lints=False)
        alarms += found.violated
        assert len(set(named)) == len(named)
        assert {stream for stream, *_ in named} >= {BURN_IN, TEST}
    assert len(refined) == 20
    assert alarms <= 10
