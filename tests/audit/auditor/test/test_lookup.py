"""A lookup says what the plan says, of whatever a mechanism may give, and faster paths count the same draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sample_work

from audit.auditor.learn.condition import EntryCondition
from audit.auditor.targets.sampling import (
    BURN_IN,
    TEST,
    BlockName,
    CallableTarget,
    Pair,
    draw_block,
    sides_of_block,
)
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.outputs import VALUE_BITS, tabulate
from audit.auditor.test.draws import Binning, RunSettings, Work, _counts, conduct
from audit.auditor.test.lookup import LEFT, Lookup
from audit.auditor.test.plan import make_plan
from audit.auditor.test.rule import EventRule, Part
from audit.runtime.pool import Pool

PAIR = Pair([0.0], [1.0])


def gaussian(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=size) + dataset[0]


def clamped(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.clip(rng.laplace(size=size) + dataset[0], -0.4870193, 2.0613027)


def geometric(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.geometric(0.4, size) - rng.geometric(0.4, size) + int(dataset[0])


def rounded(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.round(4 * (rng.normal(size=size) + dataset[0])) / 4


def coin(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return rng.random(size) < 0.3 + 0.2 * dataset[0]


def odd(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers, and now and then none."""
    x = rng.normal(size=size) + dataset[0]
    x[rng.random(size) < 1e-3] = np.nan
    return x


def binned(mechanism: Any, delta: float) -> tuple[Binning, Any]:
    burn = draw_block(CallableTarget(mechanism), PAIR, BlockName(0, BURN_IN, 0, 0), 8000)
    return Binning.of(*make_plan(burn.values, burn.labels, 200_000, Epsilon(1.0, delta), 0.05)), burn.values


@pytest.mark.parametrize("delta", [0.0, 1e-4])
@pytest.mark.parametrize("mechanism", [gaussian, clamped, geometric, rounded, coin])
def test_a_lookup_says_what_the_plan_says(mechanism, delta):
    """But for margins that are taken for the same within a cell; what is left to the plan is little."""
    binning, table = binned(mechanism, delta)
    lookup = Lookup.fit(binning, table)
    assert lookup is not None
    rng = np.random.default_rng(1)
    x = np.concatenate([mechanism([side], 20_000, rng) for side in (0, 1)])
    cells = lookup.cells(x)
    codes = lookup.codes[cells]
    totals = np.zeros(len(lookup.codes), dtype=np.int64)
    assert len(lookup.count(x, totals)) == np.sum(codes == LEFT) <= 0.1 * len(x)
    assert np.array_equal(totals, np.bincount(cells, minlength=len(totals)))
    step, guess, margin = binning.steps_of(tabulate(x))
    known = codes != LEFT
    near = np.min(np.abs(margin[known][:, None] - binning.edges), axis=1) < 0.06
    assert np.all((codes[known] // 2 == step[known]) | near)
    assert np.abs(codes[known] // 2 - step[known]).max() <= (1 if delta == 0 else binning.steps)
    assert np.mean(codes[known] % 2 == guess[known]) > 0.999


def test_what_is_no_number_or_beyond_is_left_to_the_plan():
    binning, table = binned(gaussian, 0.0)
    lookup = Lookup.fit(binning, table)
    assert lookup is not None
    strange = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, 40.0, -40.0])
    assert np.array_equal(lookup.count(strange, np.zeros(len(lookup.codes), dtype=np.int64)), strange, equal_nan=True)


def test_vectors_and_words_have_no_lookup():
    binning, _ = binned(gaussian, 0.0)
    assert Lookup.fit(binning, tabulate(np.zeros((5, 2)))) is None
    assert Lookup.fit(binning, tabulate(["a", "b"])) is None


@pytest.mark.parametrize("delta", [0.0, 1e-4])
@pytest.mark.parametrize("mechanism", [gaussian, clamped, coin, odd])
def test_counts_by_lookup_are_those_of_the_same_draws_scored_one_by_one(mechanism, delta):
    """The draws of the piece are made again and scored by the plan: the same but near the edges of steps."""
    binning, table = binned(mechanism, delta)
    lookup = Lookup.fit(binning, table.take(np.isfinite(table.numbers[:, 0])) if mechanism is odd else table)
    if lookup is None:
        lookup = Lookup.fit(binning, tabulate(gaussian([0.0], 4000, np.random.default_rng(2))))
    assert lookup is not None
    target = CallableTarget(mechanism)
    work = Work(target, PAIR, 0, 40_000, 4096, VALUE_BITS, (binning,), lookup)
    pieces = [np.array(_counts(work, target, piece)[0]) for piece in range(work.pieces)]
    exact = np.zeros((2, binning.steps), dtype=np.int64)
    for index in range(work.blocks):
        name, size = BlockName(0, TEST, 0, index), min(4096, 40_000 - index * 4096)
        ones = int(name.coins().binomial(size, 0.5))
        sides = target.sides(PAIR, (size - ones, ones), name)
        assert sides is not None
        for label, x in enumerate(sides):
            exact += binning.count(tabulate(x), np.full(len(x), label))
    found = np.sum(pieces, axis=0)
    assert found[0].sum() == exact[0].sum() == 40_000
    moved = np.abs(np.cumsum(found - exact, axis=1)).max()
    assert moved <= 0.01 * 40_000 if delta == 0 else 0.03 * 40_000


RULES = {
    "ends": (Part(1, (EntryCondition(0, "≥", 1.25),)), Part(0, (EntryCondition(0, "≤", -0.5),))),
    "interval": (Part(1, (EntryCondition(0, "≥", 0.1), EntryCondition(0, "≤", 3.0))),),
    "atom": (Part(1, (EntryCondition(0, "=", 1.0),)), Part(0, (EntryCondition(0, "≤", -1.0),))),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("mechanism", [gaussian, clamped, geometric, rounded, coin, odd])
def test_the_event_in_words_is_counted_exactly_by_cells(mechanism, rule):
    """Not about: the number that is printed is the number that is compared."""
    told = EventRule(rule, 1)
    binning, table = binned(mechanism, 0.0)
    lookup = Lookup.fit(binning, table.take(np.isfinite(table.numbers[:, 0])), told)
    if lookup is None:
        lookup = Lookup.fit(binning, tabulate(gaussian([0.0], 4000, np.random.default_rng(2))), told)
    assert lookup is not None
    target = CallableTarget(mechanism)
    work = Work(target, PAIR, 0, 40_000, 4096, VALUE_BITS, (binning,), lookup, rule=told)
    found = np.sum([_counts(work, target, piece)[-1] for piece in range(work.pieces)], axis=0)
    exact = np.zeros((2, 2), dtype=np.int64)
    for index in range(work.blocks):
        sides = sides_of_block(target, PAIR, BlockName(0, TEST, 0, index), min(4096, 40_000 - index * 4096))
        assert sides is not None
        for side, x in enumerate(sides):
            exact += told.count_scalars(x, side)
    assert np.array_equal(found, exact)


def test_a_whole_number_s_cell_does_not_speak_for_what_lies_beside_it():
    """The burn-in saw whole numbers only; then come others, and the event in words is still counted as it is said."""

    def later(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return geometric(dataset, size, rng) + 0.25

    told = EventRule((Part(1, (EntryCondition(0, "≤", 1.0),)),), 1)
    binning, table = binned(geometric, 0.0)
    lookup = Lookup.fit(binning, table, told)
    assert lookup is not None
    assert lookup.whole
    assert lookup.told is not None
    target = CallableTarget(later)
    work = Work(target, PAIR, 0, 8000, 4096, VALUE_BITS, (binning,), lookup, rule=told)
    outside, inside = np.sum([_counts(work, target, piece)[-1] for piece in range(work.pieces)], axis=0)[0]
    drawn = [sides_of_block(target, PAIR, BlockName(0, TEST, 0, i), size) or [] for i, size in enumerate((4096, 3904))]
    assert inside == sum(int(np.sum(x <= 1.0)) for sides in drawn for x in sides)
    assert outside + inside == 8000


def test_the_same_bits_for_any_number_of_workers():
    binning, table = binned(sample_work.laplace, 0.0)
    work = Work(
        CallableTarget(sample_work.laplace), PAIR, 0, 60_000, 2048, VALUE_BITS, (binning,), Lookup.fit(binning, table)
    )
    one, two = (conduct(work, RunSettings(who), lambda text: None)[0] for who in (Pool.here(), Pool.processes(2)))
    assert one is not None
    assert np.array_equal(one, two)
    assert int(one[:, 0].sum()) == 60_000


def test_a_batch_that_is_no_array_of_scalars_is_counted_the_long_way():
    def words(dataset: Any, size: int, rng: np.random.Generator) -> list[float]:
        return gaussian(dataset, size, rng).tolist()

    binning, table = binned(gaussian, 0.0)
    target = CallableTarget(words)
    assert target.sides(PAIR, (5, 5), BlockName(0, TEST, 0, 0)) is None
    work = Work(target, PAIR, 0, 4000, 2048, VALUE_BITS, (binning,), Lookup.fit(binning, table))
    assert sum(np.array(_counts(work, target, piece)[0])[0].sum() for piece in range(work.pieces)) == 4000


def test_the_granularity_is_counted_in_the_first_pieces_only():
    binning, table = binned(gaussian, 0.0)
    work = Work(
        CallableTarget(gaussian), PAIR, 0, 10**6, 1024, VALUE_BITS, (binning, binning), None, grain_draws=100_000
    )
    assert [work.counted(piece) for piece in range(12)] == [2] * 7 + [1] * 5
    assert work.size(0) * 7 >= 100_000 > work.size(0) * 6
    assert table.width == 1
