"""Leaks that no single leaf shows are found, and what tells nothing is left alone."""

from __future__ import annotations

import numpy as np
import pytest

from audit.auditor.api import audit_dp
from audit.auditor.learn.interactions import Bit, Combinations, Product, Residuals, Source, Within
from audit.auditor.learn.normal import NormalScores, ScoreTables
from audit.auditor.learn.scores import Score
from audit.auditor.terms.outputs import tabulate

ROWS = 8000


def labelled(seed: int) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 2, ROWS)


def found(outputs: object, labels: np.ndarray) -> Combinations:
    return Combinations.find(tabulate(outputs), Residuals.of(labels, np.full(len(labels), 0.5)))


def separation(outputs: object, labels: np.ndarray) -> float:
    """The mean log-odds of label 1 less that of label 0, on rows that were not learned from."""
    table, half = tabulate(outputs), ROWS // 2
    score = Score.learn(table.take(slice(0, half)), labels[:half])
    logits, _ = score.logit(table.take(slice(half, None)))
    return float(logits[labels[half:] == 1].mean() - logits[labels[half:] == 0].mean())


def test_the_sign_of_a_product_of_two_or_three_coordinates():
    for order in (2, 3):
        rng, labels = labelled(order)
        x = rng.standard_normal((ROWS, 6))
        wrong = (np.prod(np.sign(x[:, :order]), axis=1) > 0) != (labels == (rng.random(ROWS) < 0.85))
        x[wrong, 0] *= -1
        kept = found(x, labels).kept
        assert any(isinstance(one, Product) and {f.leaf for f in one.factors} == set(range(order)) for one in kept)
        assert separation(x, labels) > 1.5


def test_a_correlation_with_equal_marginals():
    rng, labels = labelled(4)
    x = rng.standard_normal((ROWS, 20))
    x[:, 7] = np.where(labels == 1, 0.6 * x[:, 3] + 0.8 * x[:, 7], x[:, 7])
    (first, *_) = found(x, labels).kept
    assert isinstance(first, Product)
    assert {f.leaf for f in first.factors} == {3, 7}


def test_a_category_that_decides_what_a_number_means():
    rng, labels = labelled(5)
    words = rng.integers(0, 2, ROWS)
    x = rng.laplace(size=ROWS) + np.where(words, 1.0, -1.0) * (labels - 0.5)
    outputs = [("ab"[w], float(v)) for w, v in zip(words, x, strict=True)]
    assert any(isinstance(one, Within) and one.leaf == 1 for one in found(outputs, labels).kept)
    assert separation(outputs, labels) > 0.5


@pytest.mark.parametrize("bit", [3, 17, 40])
def test_one_bit_of_a_long_integer(bit: int):
    rng, labels = labelled(bit)
    x = rng.integers(0, 2**45, ROWS)
    wanted = labels ^ (rng.random(ROWS) < 0.25)
    x ^= (((x >> bit) & 1) ^ wanted) << bit
    assert Bit(Source(0, bit)) in found(x, labels).kept
    assert separation(x, labels) > 0.8


def test_what_tells_nothing_is_rarely_kept():
    """DOUBT is 1 % for each of five screenings: about two of 40 tables have anything; 13 has chance below 1e-6."""
    kept = 0
    for seed in range(40):
        rng, labels = labelled(100 + seed)
        kept += bool(found(rng.standard_normal((ROWS, 8)), labels).kept)
    assert kept < 13


def test_what_single_leaves_explain_is_not_kept_as_a_product():
    """Three shifts make the product differ, too; against the regression's own residuals nothing is left of it."""
    rng, labels = labelled(6)
    x = rng.standard_normal((ROWS, 3)) + labels[:, None]
    assert found(x, labels).kept
    score = Score.learn(tabulate(x), labels)
    assert not score.extras.combinations.kept


def test_normal_scores_keep_the_order_whatever_the_tails():
    x = np.sign(np.linspace(-1, 1, 999)) * np.expm1(300 * np.abs(np.linspace(-1, 1, 999)))
    z = NormalScores.fit(x)(x)
    assert np.all(np.diff(z) >= 0)
    assert 0.8 < z.std() < 1.2
    assert NormalScores.fit(np.array([np.nan]))(np.array([np.nan, 1.0])).tolist() == [0.0, 0.0]


def test_tables_of_normal_scores_say_the_same_but_for_the_width_of_a_cell():
    rng = np.random.default_rng(7)
    x = np.stack([rng.normal(size=ROWS), rng.standard_cauchy(ROWS), rng.integers(0, 2, ROWS)], axis=1)
    x[:3, 0] = np.nan, np.inf, -np.inf
    exact = np.stack([NormalScores.fit(column)(column) for column in x.T], axis=1)
    found = ScoreTables.fit(x)(x)
    assert found[:3, 0].tolist() == [0.0, 0.0, 0.0]
    assert np.quantile(np.abs(found - exact), 0.99) < 0.02
    assert np.abs(found - exact).max() < 0.5
    assert len(np.unique(found[:, 2])) == 2


@pytest.mark.parametrize("bit", [3, 77, 126])
def test_one_bit_of_a_long_integer_is_found(bit: int) -> None:
    """128 random bits, of which one is set with probability 0.8 on the neighbour and 0.2 on the dataset: ε = ln 4."""

    def answer(d: list[int], rng: np.random.Generator) -> int:
        x = int.from_bytes(rng.bytes(16), "big") & ~(1 << bit)
        return x | (int(rng.random() < (0.8 if d[0] else 0.2)) << bit)

    result = audit_dp(answer, [0], [1], epsilon=0.5, samples=3000, seed=4, lints=False)
    assert 1.0 < result.epsilon_lower <= np.log(4)
