"""Named pairs: each kind changes what it says, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit.auditor.search.pairs import KINDS, SIZES, neighbour_pairs
from audit.auditor.terms.relation import describe


def one(kind: str, n: int = 4, **more: Any) -> Any:
    (pair,) = neighbour_pairs([kind], [n], radius=2.0, seed=3, **more)
    return pair


def test_records_have_the_radius_and_labels_alternate() -> None:
    (rows, labels), _ = one("zero", 5, dim=3).dataset, None
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.full(5, 2.0))
    assert labels.tolist() == [1.0, -1.0, 1.0, -1.0, 1.0]
    assert isinstance(one("zero", labels=False).dataset, np.ndarray)
    again, other = one("zero", 5, dim=3).dataset[0], neighbour_pairs(["zero"], [5], dim=3, seed=4)[0].dataset[0]
    assert np.array_equal(rows, again)
    assert not np.array_equal(rows, other)


def test_kinds_by_what_they_change() -> None:
    (a, y), (b, z) = (one("sign-flip").dataset, one("sign-flip").neighbour)
    assert (a[0].tolist(), b[0].tolist()) == ([2.0, 0.0], [-2.0, 0.0])
    assert np.array_equal(y, z)
    (a, y), (b, z) = (one("label-flip").dataset, one("label-flip").neighbour)
    assert np.array_equal(a, b)
    assert (y.tolist(), z.tolist()) == ([1, -1, 1, -1], [-1, -1, 1, -1])
    (a, _), (b, _) = (one("zero").dataset, one("zero").neighbour)
    assert b[0].tolist() == [0.0, 0.0]
    (a, _), (b, _) = (one("extreme").dataset, one("extreme").neighbour)
    assert b[0] == pytest.approx(100 * a[0])
    (a, y), (b, z) = (one("single-class").dataset, one("single-class").neighbour)
    assert (y.tolist(), z.tolist()) == ([1, 1, 1, 1], [-1, 1, 1, 1])
    assert np.array_equal(a, b)


def test_an_odd_one_out_differs_in_its_label_or_else_in_its_sign() -> None:
    pair = one("odd-one-out")
    for rows, _ in (pair.dataset, pair.neighbour):
        assert rows.tolist() == [[2.0, 0.0]] * 4
    assert (pair.dataset[1].tolist(), pair.neighbour[1].tolist()) == ([1, 1, 1, 1], [-1, 1, 1, 1])
    bare = one("odd-one-out", labels=False)
    assert bare.dataset.tolist() == [[2.0, 0.0]] * 4
    assert bare.neighbour.tolist() == [[-2.0, 0.0]] + [[2.0, 0.0]] * 3


def test_a_tie_swaps_two_coordinates_of_one_record() -> None:
    pair = one("tie")
    assert pair.dataset[0].tolist() == [[2.0, 0.0], [0.0, 2.0], [2.0, 0.0], [0.0, 2.0]]
    assert pair.neighbour[0].tolist() == [[0.0, 2.0], [0.0, 2.0], [2.0, 0.0], [0.0, 2.0]]
    wide = one("tie", dim=3)
    assert wide.neighbour[0][0].tolist() == [0.0, 2.0, 0.0]
    assert neighbour_pairs(["tie"], [4], dim=1) == []


def test_a_record_more_or_less() -> None:
    more, less = one("add"), one("remove")
    assert np.array_equal(more.neighbour[0], np.concatenate([more.dataset[0], more.dataset[0][:1]]))
    assert more.neighbour[1].tolist() == [1, -1, 1, -1, -1]
    assert np.array_equal(less.neighbour[0], less.dataset[0][1:])
    assert less.neighbour[1].tolist() == [-1, 1, -1]
    assert (more.relation, less.relation) == ("add-remove", "add-remove")
    assert neighbour_pairs(["remove"], [1]) == []
    assert len(one("add", 1, labels=False).neighbour) == 2
    assert len(one("remove", 2, labels=False).neighbour) == 1


@pytest.mark.parametrize("labels", [True, False])
def test_every_kind_is_a_pair_of_neighbours_under_its_relation(labels: bool) -> None:
    found = [p for r in ("replace-one", "add-remove") for p in neighbour_pairs(neighbours=r, labels=labels)]
    kinds = {name for name in KINDS if labels or name not in ("label-flip", "single-class")}
    assert {p.name.split(",")[0] for p in found} == kinds
    assert {p.name.split("n=")[1] for p in found} == {str(n) for n in SIZES} == {"1", "2", "4", "20"}
    for pair in found:
        assert describe(pair.dataset, pair.neighbour)[0] == pair.relation, pair.name


def test_what_cannot_be_made_is_refused() -> None:
    for given, message in (
        ({"kinds": ["magic"]}, "kinds = 'magic' is unknown: choose from sign-flip, "),
        ({"sizes": []}, r"sizes = \(\) and dim = 2 must be at least 1"),
        ({"sizes": [0]}, r"sizes = \(0,\) and dim = 2 must be at least 1"),
        ({"dim": 0}, "dim = 0 must be at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            neighbour_pairs(**given)
    assert [p.name for p in neighbour_pairs(["zero"], [1], dim=1)] == ["zero, n=1"]
