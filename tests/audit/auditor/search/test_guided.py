"""A search from an example: it finds bugs without a pair, keeps to the range, and says what it tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from audit.auditor.api import audit_dp
from audit.auditor.search.guided import Form, described_pairs
from audit.auditor.search.neighbours import Space
from audit.auditor.targets.estimator import estimator
from audit.auditor.terms.relation import describe
from bench.foreign import inspect_alone, searched
from bench.specimens import specimens

SPECIMENS = {s.name: s for s in specimens()}


@pytest.mark.parametrize("name", ["fixed-scale", "open-standard-error", "length-leaks", "batch-mean", "byte-state"])
def test_a_bug_is_found_without_a_pair_and_its_twin_is_not(name: str) -> None:
    specimen = SPECIMENS[name]
    assert searched(specimen, specimen.make, 1, samples=5000).verdict in ("violated", "suspect")
    assert searched(specimen, specimen.repaired, 1, samples=5000).verdict in ("consistent", "inconclusive")


EXAMPLES: list[tuple[Any, str]] = [
    ([0.2, 0.9, 0.4], "list"),
    (np.array([3.0, 1.0]), "array"),
    (np.eye(3), "array"),
    ((np.eye(3), np.array([1.0, -1.0, 1.0])), "pair"),
    ({"X": np.eye(2), "y": np.array([0, 1])}, "pair"),
]


@pytest.mark.parametrize(("example", "kind"), EXAMPLES)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_pairs_are_neighbours_of_the_form_inside_the_range(example: Any, kind: str, relation: str) -> None:
    form = Form.of(example)
    assert form is not None
    assert form.kind == kind
    found = list(described_pairs(form, relation, np.random.default_rng(0)))
    assert len({what.split(",")[1] for what, _, _ in found}) >= 4
    for _, a, b in found:
        assert describe(a, b)[0] in (relation, "equal")
        rows = np.asarray(b[0] if kind == "pair" else b, dtype=float)
        assert rows.size == 0 or (form.low <= rows.min() and rows.max() <= form.high)
        if rows.ndim == 2 and rows.size:
            assert np.abs(rows).sum(axis=1).max() <= 1 + 1e-12


@pytest.mark.parametrize("example", [None, "text", [], ["a"], np.array(3.0), np.array(["a"]), (1, 2)])
def test_other_things_have_no_form(example: Any) -> None:
    assert Form.of(example) is None


class Centre:
    """A classifier's centre: noise for one feature, labels taken as they are."""

    def __init__(self, scale: float):
        self.scale = scale

    def fit(self, X: Any, y: Any) -> None:
        self.centre_ = float((X[:, 0] * y).sum() + np.random.laplace(0, self.scale))


def test_an_estimator_is_searched_from_X_and_y() -> None:
    example = np.array([[0.1], [0.9]]), np.array([1.0, -1.0])
    result = audit_dp(estimator(Centre, scale=0.5), example, neighbours="search", epsilon=1.0, samples=3000)
    assert result.verdict in ("violated", "suspect")
    (told,) = [f for f in result.findings if f.kind == "searched"]
    assert "pairs tried in" in told.message
    assert "label flipped" in told.message
    right = audit_dp(estimator(Centre, scale=2.0), example, neighbours="search", epsilon=1.0, samples=3000)
    assert right.verdict in ("consistent", "inconclusive")
    assert "not-clipped" in {f.kind for f in right.findings}


def test_a_form_may_be_given_with_its_range_and_relation() -> None:
    space = Space(like=np.zeros(3), low=-2.0, high=2.0, relation="add-remove")
    result = audit_dp(
        lambda d, rng: float(d.sum() + rng.laplace(0, 1.0)), space, neighbours="search", epsilon=1.0, samples=3000
    )
    assert result.violated
    with pytest.raises(ValueError, match="must be a list or array of numbers"):
        audit_dp(lambda d, rng: 0.0, Space(like="x"), neighbours="search", epsilon=1.0)


def test_sums_after_draws_that_differ_in_number_are_not_compared() -> None:
    """Records are included by one draw each: with a record more, the draws do not match, and no sum after them does."""
    specimen = SPECIMENS["realised-batch"]
    data = np.eye(6)[[0, 1, 2, 3]]
    more = np.concatenate([data, np.zeros((1, 6))])
    for seed in range(20):
        seen = inspect_alone(specimen.repaired(0.25), data, more, epsilon=0.25, seed=seed)
        assert "sensitivity" not in {f.kind for f in seen.findings}
