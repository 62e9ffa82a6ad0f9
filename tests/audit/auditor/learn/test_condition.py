"""Conditions on one entry: where they hold, which exclude each other, and how they are told."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from audit.auditor.learn.condition import EntryCondition, digits_of
from audit.auditor.terms.outputs import tabulate, token_code

TABLE = tabulate([[1.0, 2.0], [1.0, math.inf], [1.0, -math.inf], [1.0, "a"], [1.0], [1.0, math.nan], [1.0, 3.0]])
WORD = float(token_code("str:'a'"))


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        (EntryCondition(1, "≤", 2.0), [0, 2]),
        (EntryCondition(1, "≤", 1.9), [2]),
        (EntryCondition(1, "≥", 3.0), [1, 6]),
        (EntryCondition(1, "≥", 2.0), [0, 1, 6]),
        (EntryCondition(1, "=", 3.0), [6]),
        (EntryCondition(1, "number"), [0, 6]),
        (EntryCondition(1, "present"), [0, 1, 2, 3, 5, 6]),
        (EntryCondition(1, "absent"), [4]),
        (EntryCondition(1, "is", WORD, "'a'"), [3]),
        (EntryCondition(2, "absent"), list(range(7))),
        (EntryCondition(2, "present"), []),
        (EntryCondition(2, "≤", 1.0), []),
        (EntryCondition(0, "=", 1.0), list(range(7))),
    ],
)
def test_where_a_condition_holds(condition: EntryCondition, rows: list[int]) -> None:
    assert np.flatnonzero(condition.holds(TABLE)).tolist() == rows


def test_conditions_exclude_each_other_if_no_output_fulfils_both() -> None:
    """Against all outputs that could tell them apart: numbers at and between the values, infinities, words, none."""
    values = [1.0, 2.0, 3.0]
    conditions = [EntryCondition(1, relation, v) for relation in "≤≥=" for v in values]
    words = [EntryCondition(1, "is", float(token_code(f"str:{w!r}")), w) for w in "ab"]
    conditions += [*words, *(EntryCondition(1, relation) for relation in ("number", "present", "absent"))]
    numbers = [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0]
    table = tabulate([*([5.0, x] for x in (*numbers, math.inf, -math.inf, "a", "b", "c", math.nan)), [5.0]])
    for one, two in itertools.product(conditions, repeat=2):
        apart = not bool((one.holds(table) & two.holds(table)).any())
        if {one.relation, two.relation} in ({"≤", "is"}, {"≥", "is"}, {"≤", "absent"}, {"≥", "absent"}):
            assert not one.excludes(two)  # it is not claimed; infinities are words, too
        else:
            assert one.excludes(two) is apart, (one, two)
    assert not EntryCondition(0, "≤", 1.0).excludes(EntryCondition(1, "≥", 2.0))


def test_a_sharper_condition_is_about_the_same_entry_in_the_same_direction() -> None:
    low = EntryCondition(1, "≤", 1.0)
    assert low.sharpens(EntryCondition(1, "≤", 5.0))
    assert not low.sharpens(EntryCondition(2, "≤", 5.0))
    assert not low.sharpens(EntryCondition(1, "≥", 5.0))
    assert not EntryCondition(1, "=", 1.0).sharpens(EntryCondition(1, "=", 1.0))


@pytest.mark.parametrize(
    ("condition", "width", "text"),
    [
        (EntryCondition(0, "≤", 0.25), 1, "≤ 0.25"),
        (EntryCondition(2, "≥", 3.0), 4, "with entry 2 (of 0–3) ≥ 3"),
        (EntryCondition(2, "absent"), 4, "with at most 2 entries"),
        (EntryCondition(2, "present"), 4, "with more than 2 entries"),
        (EntryCondition(2, "number"), 4, "with entry 2 (of 0–3) a number"),
        (EntryCondition(0, "number"), 1, "a number"),
        (EntryCondition(0, "is", WORD, "'a'"), 1, "'a'"),
        (EntryCondition(2, "is", WORD, "'a'"), 4, "with entry 2 (of 0–3) = 'a'"),
    ],
)
def test_conditions_in_words(condition: EntryCondition, width: int, text: str) -> None:
    assert condition.told(width) == text


def test_digits_give_the_number_back() -> None:
    assert [digits_of(x) for x in (0.5, 3.0, 1234567.0, 0.1 + 0.2, -2.0)] == [
        "0.5",
        "3",
        "1234567",
        "0.30000000000000004",
        "-2",
    ]
