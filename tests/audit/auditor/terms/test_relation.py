"""What speaks against a pair is a kind that decisions read, and a sentence for people."""

from __future__ import annotations

from collections import UserDict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from audit.auditor.terms import relation
from audit.auditor.terms.relation import Objection, describe, objection, records, same


def test_an_objection_has_a_kind() -> None:
    equal = objection([1, 2], [1, 2], "replace-one")
    assert equal == Objection("equal", "the two datasets are equal: nothing can differ")
    other = objection([1, 2], [1, 2, 3], "replace-one")
    assert other is not None
    assert other.kind == "not-neighbours"
    assert "under add-remove, not under replace-one" in other.text
    assert objection([1, 2], [1, 3], "replace-one") is None
    assert objection([1, 2], [7, 8, 9, 10], "any") is None


def test_the_wording_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation, "describe", lambda a, b: ("other", "the equal parts aside, two records differ"))
    found = objection([1, 2], [3, 4], "replace-one")
    assert found is not None
    assert found.kind == "not-neighbours"


@pytest.mark.parametrize("at", range(5))
@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_record_may_be_inserted_anywhere(at: int, kind: Any) -> None:
    short = [10, 20, 30, 40]
    long = [*short[:at], 99, *short[at:]]
    for a, b in ((short, long), (long, short)):
        assert describe(kind(a), kind(b)) == ("add-remove", "one record is added or removed")
        assert objection(kind(a), kind(b), "add-remove") is None


def test_one_record_more_is_not_enough() -> None:
    assert describe([1, 2, 3], [1, 9, 2, 8])[0] == "other"
    assert describe([1, 2, 3], [1, 9, 3, 2])[0] == "other"
    assert describe([1, 2, 3], [9, 1, 2, 4]) == ("other", "they have 3 and 4 records and differ in more than one")
    assert describe([1, 2], [1, 2, 3, 4]) == ("other", "they have 2 and 4 records and differ in more than one")
    assert describe([1, 2, 3], [1, 5, 6]) == ("other", "2 of 3 records differ")
    assert describe([1, 2, 3], [1, 5, 3]) == ("replace-one", "one record is replaced")


def test_columns_of_records_are_records() -> None:
    x, y = np.arange(6.0).reshape(3, 2), np.arange(3)
    other = x.copy()
    other[1, 0] = 7
    assert describe((x, y), (other, y))[0] == "replace-one"
    assert describe({"x": x, "y": y}, {"x": other, "y": y})[0] == "replace-one"
    assert describe((x, y), (x[:2], y[:2]))[0] == "add-remove"
    assert [len(r) for r in records((x, y)) or []] == [2, 2, 2]
    assert records((x, y[:2])) is None  # columns of two lengths
    assert records((1.0, "a", None)) == [1.0, "a", None]  # a tuple without a column is its records
    assert records({"x": x, "y": {1, 2, 3}}) is None  # a set has no order
    assert records({"x": x, "y": {0: 1, 1: 2, 2: 3}}) is None
    assert records(np.float64(3.0)) is None
    assert records(np.array(3.0)) is None
    assert len(records(np.zeros((4, 2))) or []) == 4
    assert records(object()) is None


class Record:
    def __init__(self, *inside: Any):
        self.inside = inside


class Alike:
    """Equal to all of its kind, whatever is inside."""

    def __init__(self, inside: Any):
        self.inside = inside

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    __hash__ = None  # type: ignore[assignment]


class Frame:
    """What `same` asks of a data frame."""

    def __init__(self, values: list[float], columns: Any, index: Any):
        self.values, self.columns, self.index = values, columns, index

    def to_numpy(self) -> Any:
        return np.array(self.values)


NAN = float("nan")


def _named(value: Any) -> str:
    """What a case is called: the same in every process, so no address of an object."""
    text = repr(value)
    return type(value).__name__ if " object at 0x" in text else text


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (1.0, np.float64(1)),
        (NAN, float("nan")),
        ([1, (2, "x")], [1, (2, "x")]),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        (np.array([1.0, NAN]), np.array([1.0, NAN])),
        (np.array(["a"]), np.array(["a"])),
        (np.array([[1], None], dtype=object), np.array([[1], None], dtype=object)),
        (np.array([float("nan"), "a"], dtype=object), np.array([NAN, "a"], dtype=object)),
        (np.array([NAN], dtype=object), np.array([NAN])),
        (np.array([1.0]), np.array([1])),
        (Frame([1.0, 2.0], ["x"], [0]), Frame([1.0, 2.0], ("x",), [0])),
        (Frame([1.0], None, [0]), Frame([1.0], ["x"], [0])),  # one that does not tell
        (Record(1, [2]), Record(1, [2])),
        (Alike(1), Alike(2)),
    ],
    ids=_named,
)
def test_what_is_the_same(a: Any, b: Any) -> None:
    assert same(a, b)
    assert same(b, a)
    assert same(a, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 2),
        (1, "1"),
        (NAN, 1.0),
        ([1, 2], (1, 2)),
        ([1, 2], [1, 2, 2]),
        ([1, 2], [1]),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        (np.array([1.0]), [1.0]),
        (np.array([1.0]), np.array([1.0, 1.0])),
        (np.array([1.0]), np.array([[1.0]])),
        (np.array([1.0, NAN]), np.array([NAN, 1.0])),
        (np.array([[1], None], dtype=object), np.array([[2], None], dtype=object)),
        (np.array([1], dtype=object), np.array(["1"])),
        (np.array([1, "a"], dtype=object), np.array([1], dtype=object)),
        (np.array([1.0]), np.array(["1"])),
        (Frame([1.0, 2.0], ["x"], [0]), Frame([1.0, 2.0], ["y"], [0])),
        (Frame([1.0, 2.0], ["x"], [0]), Frame([1.0, 2.0], ["x"], [1])),
        (Frame([1.0, 2.0], ["x"], [0]), Frame([1.0, 3.0], ["x"], [0])),
        (1, Fraction(1)),
        (Record(1), Record(2)),
        (Record(1), Alike(1)),
        (True, "True"),
        (UserDict(a=1), {"a": 1}),
    ],
    ids=_named,
)
def test_what_is_not_the_same(a: Any, b: Any) -> None:
    assert not same(a, b)
    assert not same(b, a)


def test_what_holds_itself_is_compared_all_the_same() -> None:
    a: list[Any] = [1]
    b: list[Any] = [1]
    a.append(a)
    b.append(b)
    assert same(a, b)
    b.insert(0, 2)
    assert not same(a, b)


def test_objects_without_records_are_left_to_the_caller() -> None:
    assert describe(Record(1), Record(2)) == ("unknown", "the datasets have no visible records")
    assert objection(Record(1), Record(2), "replace-one") is None
    assert objection(Record(1), [1], "add-remove") is None
    with pytest.raises(ValueError, match="neighbour = None"):
        objection([1], None, "replace-one")
    with pytest.raises(ValueError, match="dataset = None"):
        objection(None, [1], "replace-one")
    other = objection([1, 2], [3, 4], "replace-one")
    assert other is not None
    assert other.text.startswith("2 of 2 records differ, not under replace-one; the ")


def test_columns_may_be_arrays_beside_lists() -> None:
    rows = records((np.array([[1.0, 2.0], [3.0, 4.0]]), [7, 8]))
    assert rows is not None
    assert [(list(x), y) for x, y in rows] == [([1.0, 2.0], 7), ([3.0, 4.0], 8)]
    assert describe((np.arange(2), [7, 8]), (np.arange(2), [7, 9]))[0] == "replace-one"
