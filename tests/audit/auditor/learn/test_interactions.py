"""Leaks that no single leaf shows are found, and what tells nothing is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from audit.auditor.api import audit_dp
from audit.auditor.learn import interactions as module
from audit.auditor.learn.interactions import Bit, Combinations, Product, Residuals, Source, Within
from audit.auditor.learn.normal import NormalScores, ScoreTables
from audit.auditor.learn.scores import Score
from audit.auditor.terms.outputs import tabulate

ROWS = 8000


# ------------------------------------------------------------------------------------------- columns by hand


def test_columns_of_each_kind() -> None:
    table = tabulate(np.array([[5.0, -1.0, 1.0], [2.0, 2.0, 2.0], [np.nan, 3.0, 1.0], [2.0**63, 0.5, 1.0]]))
    assert Source(1).read(table.numbers).tolist() == [-1.0, 2.0, 3.0, 0.5]
    first, second = (Source(0, bit).read(table.numbers) for bit in (0, 1))
    assert first[:2].tolist() == [1.0, 0.0]
    assert second[:2].tolist() == [0.0, 1.0]
    assert np.isnan(first[2:]).all()
    assert Bit(Source(0, 2)).column(table)[:2].tolist() == [1.0, 0.0]
    maps = (NormalScores(np.array([-4.0, 4.0]), np.array([-4.0, 4.0])),) * 2
    product = Product((Source(1), Source(2)), maps, signs=False)
    assert product.column(table).tolist() == [-1.0, 4.0, 3.0, 0.5]
    assert Product((Source(1), Source(2)), maps, signs=True).column(table).tolist() == [-1.0, 1.0, 1.0, 1.0]
    inside = Within(1, 2, 1.0, False).column(table)
    assert inside[[0, 2, 3]].tolist() == [-1.0, 3.0, 0.5]
    assert np.isnan(inside[1])
    words = tabulate([["a", 1.0], ["b", 2.0]])
    code = float(words.token_matrix()[0, 0])
    assert Within(1, 0, code, True).column(words)[0] == 1.0
    assert np.isnan(Within(1, 0, code, True).column(words)[1])
    both = Combinations((Bit(Source(0, 0)), Within(1, 2, 1.0, False))).table(table)
    assert both.numbers.shape == (4, 2)
    assert both.keys is table.keys
    assert Combinations().table(table).numbers.shape == (4, 0)


def test_residuals_are_measured_in_their_standard_deviations() -> None:
    left = Residuals.of(np.array([1, 0, 1]), np.array([0.5, 0.2, 0.9]))
    assert left.values == pytest.approx([0.5, -0.2, 0.1])
    assert left.variances == pytest.approx([0.25, 0.16, 0.09])
    columns = np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]])
    expected = (0.5 - 0.4 - 0.1) / np.sqrt(0.25 + 4 * 0.16 + 0.09)
    assert left.scores(columns) == pytest.approx([expected, 0.0], abs=1e-12)
    assert left.take(slice(1, 3)).values == pytest.approx([-0.2, 0.1])


def test_the_threshold_is_for_the_largest_of_many_on_both_sides() -> None:
    for candidates in (1, 40, 10_000):
        chance = 2 * candidates * stats.norm.sf(module._threshold(candidates))
        assert chance == pytest.approx(module.DOUBT)
    assert module._threshold(0) == module._threshold(1)
    scores = np.array([0.0, -9.0, 5.0, 2.0, *[6.0] * 60])
    best = module._best(scores, len(scores))
    assert best[0] == 1
    assert len(best) == min(61, module.MOST)
    assert 3 not in best
    assert module._best(np.zeros(3), 3).tolist() == []


def test_bits_are_those_of_long_integers() -> None:
    rng = np.random.default_rng(0)
    long = rng.integers(0, 2**20, 50).astype(float)
    long[0] = 2.0**20 - 1
    table = tabulate(np.column_stack([long, rng.integers(0, 3, 50), rng.normal(size=50)]))
    assert module._bit_sources(table) == [Source(0, bit) for bit in range(20)]
    assert module._bit_sources(tabulate(long[:7])) == []
    assert module._bit_sources(tabulate(np.where(long == long[0], 2.0**53, long))) == []


def test_columns_are_centred_and_what_is_no_number_is_the_mean() -> None:
    columns = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    assert module._centred(columns).tolist() == [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]


def test_products_are_scored_pair_by_pair_and_triple_by_triple() -> None:
    rng = np.random.default_rng(1)
    z = rng.normal(size=(400, 4))
    labels = (z[:, 0] * z[:, 2] + z[:, 0] * z[:, 1] * z[:, 3] + 0.1 * rng.normal(size=400) > 0).astype(int)
    left = Residuals.of(labels, np.full(400, 0.5))
    found = {factors: score for score, factors in module._telling_products(z, left)}
    assert {(0, 2), (0, 1, 3)} <= found.keys()
    for factors, score in found.items():
        column = np.prod(z[:, factors], axis=1)
        assert score == pytest.approx(float(left.scores(column[:, None])[0]), rel=1e-4)
    assert all(len(factors) == 2 for _, factors in module._telling_products(z[:, [0, 2]], left))


def test_categories_are_words_and_leaves_of_few_numbers() -> None:
    rows = [["a" if i % 3 else "b", float(i % 4), float(i), 1.0] for i in range(120)]
    found = list(module._levels(tabulate(rows)))
    assert [(leaf, token) for leaf, _, token, _ in found] == [(0, True)] * 2 + [(1, False)] * 4
    assert found[0][3].sum() == 80  # the commoner first
    assert found[1][3].sum() == 40
    assert sorted(level for _, level, token, _ in found if not token) == [0.0, 1.0, 2.0, 3.0]


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
