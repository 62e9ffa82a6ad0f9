"""Any output becomes a row; what an observer can tell apart stays apart."""

from __future__ import annotations

import dataclasses
import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audit.auditor.learn.features import lowest_bit
from audit.auditor.terms.leaves import Raised
from audit.auditor.terms.outputs import (
    ABSENT,
    EXACT_BITS,
    LOOKED_AT,
    concatenate,
    distinct_keys,
    fit_width,
    significant,
    tabulate,
)


@dataclasses.dataclass
class Fitted:
    coef: list[float]
    name: str


ATOMS = [
    0.5,
    2,
    None,
    math.nan,
    math.inf,
    -math.inf,
    True,
    False,
    "a",
    "nan",
    (1.0,),
    (1.0, 2.0),
    (1.0, None),
    ((1.0,), 2.0),
    {"a": 1.0},
    {"b": 1.0},
    Raised("ValueError"),
    Raised("KeyError"),
    np.array([1.0, 2.0, 3.0]),
    b"a",
    1 + 2j,
]


def test_every_kind_is_an_outcome_of_its_own():
    keys = tabulate(ATOMS).keys
    assert len(np.unique(keys)) == len(ATOMS)
    assert np.array_equal(keys, tabulate(ATOMS).keys)


def test_keys_do_not_depend_on_the_batch():
    together = tabulate(["a", (1.0, "b"), None, (1.0, "b")])
    alone = [tabulate([x]).keys[0] for x in ("a", (1.0, "b"), None)]
    assert together.keys[1] == together.keys[3]
    assert together.keys[:3].tolist() == alone
    assert tabulate([1.5, None]).keys[0] == tabulate([1.5, 2.0]).keys[0] == tabulate(np.array([1.5])).keys[0]
    assert tabulate([np.array([1.5, 2.0]), None]).keys[0] == tabulate(np.array([[1.5, 2.0]])).keys[0]


def test_numeric_atoms_of_arrays():
    table = tabulate(np.array([1.0, np.nan, np.inf, -np.inf, 1.0]))
    assert len(np.unique(table.keys)) == 4
    assert table.tokens is not None
    assert list(table.tokens[:, 0] == 0) == [True, False, False, False, True]


def test_ragged_outputs_are_padded():
    table = tabulate([(1.0,), (1.0, 2.0)])
    assert table.width == 2
    assert table.tokens[0, 1] == ABSENT
    wide = concatenate([table, tabulate([(1.0, 2.0, 3.0)])])
    assert wide.width == 3
    assert len(wide) == 3
    assert fit_width(wide, 1).width == 1


def test_dataclasses_and_frames_are_flattened():
    class Frame:
        def to_numpy(self):
            return np.array([[1.0, 2.0]])

    table = tabulate([Fitted([1.0, 2.0], "x"), Frame()])
    assert table.width == 3
    assert sorted(v for v in table.numbers[0] if np.isfinite(v)) == [1.0, 2.0]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_lowest_bit_is_exact(values):
    for x, level in zip(values, lowest_bit(np.array(values)), strict=True):
        exact = Fraction(x)
        if exact == 0:
            assert level == 1100
        elif level > -1000:
            scaled = exact / Fraction(2) ** int(level)
            assert scaled.denominator == 1
            assert scaled.numerator % 2 == 1


def test_rounding_keeps_thirty_bits():
    x = np.random.default_rng(0).normal(size=1000)
    y = significant(x, 30)
    assert np.all(np.abs(y - x) <= np.abs(x) * 2.0**-30)
    assert np.array_equal(significant(x, EXACT_BITS), x)
    kept = significant(np.array([np.inf, 1.5, 0.0]), 30)
    assert kept.tolist() == [np.inf, 1.5, 0.0]


def test_long_vectors_differ_beyond_the_cut():
    a = np.zeros((2, 5000))
    a[1, 4999] = 1.0
    assert len(np.unique(tabulate(a).keys)) == 2


@pytest.mark.parametrize("batch", [[1, 2.5, 3], [2**53, 1]])
def test_plain_numbers_take_the_fast_path(batch):
    table = tabulate(batch)
    assert table.width == 1
    assert len(table) == len(batch)


INTEGERS = st.one_of(st.integers(-(2**60), 2**60), st.just(10**5000))
LEAVES = st.one_of(st.floats(), INTEGERS, st.booleans(), st.text(max_size=3), st.none())


@given(rows=st.lists(st.lists(LEAVES, min_size=1, max_size=4), min_size=1, max_size=8))
@settings(max_examples=200, deadline=None)
@example(rows=[[0.0], [False]])
@example(rows=[[1], [True]])
@example(rows=[[0.0], [-0.0]])
def test_tuples_read_column_by_column_are_what_lists_are_item_by_item(rows):
    columns, items = tabulate([tuple(row) for row in rows]), tabulate(rows)
    assert np.array_equal(columns.keys, items.keys)
    assert np.array_equal(columns.numbers, items.numbers, equal_nan=True)
    assert np.array_equal(columns.token_matrix(), items.token_matrix())
    codes = set(columns.token_matrix().ravel().tolist()) - {0, ABSENT}
    assert {columns.names[c] for c in codes} == {items.names[c] for c in codes}


def test_what_compares_equal_but_prints_differently_is_told_apart():
    """A mechanism whose output is 1 on one dataset and True on the other is seen through."""
    for one, other in [(1, True), (0, False), ((0.0, "a"), (-0.0, "a")), ((1, None), (True, None)), ("1", 1)]:
        assert tabulate([one, other, None]).keys[0] != tabulate([other, one, None]).keys[0]
        assert len(np.unique(tabulate([one, other, one, None]).keys)) == 3
    assert tabulate([1, 1.0, None]).keys[0] == tabulate([1.0, 1, None]).keys[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x,
        lambda x: (x, "a"),
        lambda x: [x, [x]],
        lambda x: np.array([x, x]) if x < 2**63 else x,
        lambda x: np.int64(x) if x < 2**63 else x,
    ],
)
def test_integers_that_floats_confuse_are_told_apart(make):
    large = [2**60, 2**60 + 1, 10**30, 10**30 + 1, 10**5000, 10**5000 + 1]
    assert len(np.unique(tabulate([make(x) for x in large]).keys)) == len(large)
    assert tabulate([make(2**60), make(1)]).keys[0] == tabulate([make(2**60)]).keys[0]


def test_arrays_of_large_integers_are_read_exactly():
    large = np.array([2**60, 2**60 + 1, 5])
    for array in (large, large.astype(np.uint64), large[:, None]):
        assert len(np.unique(tabulate(array).keys)) == 3
    assert tabulate(large).numbers[2, 0] == 5


def test_moments_are_numbers_in_microseconds():
    day = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    table = tabulate([day, day + dt.timedelta(microseconds=1), dt.timedelta(seconds=1), dt.date(1970, 1, 2)])
    assert np.diff(table.numbers[:2, 0]).tolist() == [1.0]
    assert table.numbers[2:, 0].tolist() == [1e6, 86400e6]


@pytest.mark.parametrize("factor", [1, 2**16, 0xD6E8FEB86659FD93])
@pytest.mark.parametrize("most", [1, 3, 100, 1000])
def test_distinct_keys_are_those_of_a_sort_also_where_last_bits_are_the_same_and_some_come_late(most, factor):
    rng = np.random.default_rng(most)
    keys = rng.integers(0, most, 2 * LOOKED_AT)
    keys[-5:] = most + np.array([2, 1, 1, 0, 2])
    keys = keys.astype(np.uint64) * np.uint64(factor)
    found = distinct_keys(keys)
    expected = np.unique(keys, return_index=True, return_inverse=True)
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]
