"""Slips of the hand at the auditor's door: each is refused, or reported, in a line that says what to do instead."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from audit import audit_dp, estimator
from audit.auditor.targets.containment import Noticed

D, N = [0, 1, 1], [1, 1, 1]
X = np.ones((3, 1))
Rng = np.random.Generator


class Model:
    """An estimator with a parameter, which is not the place for a dataset."""

    def __init__(self, scale: float = 1.0):
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Model:
        self.coef_ = float(np.sum(y) + np.random.laplace(0, self.scale))
        return self


def noisy(dataset: list[int], rng: Rng) -> float:
    return float(sum(dataset) + rng.laplace())


def with_epsilon(data: list[int], epsilon: float) -> float:
    return float(sum(data) + np.random.laplace(0, 1 / epsilon))


def with_all(data: list[int], epsilon: float, rng: Rng) -> float:
    return float(sum(data) + rng.laplace(0, 1 / epsilon))


def with_keyword(data: list[int], rng: Rng, *, epsilon: float) -> float:
    return float(sum(data) + rng.laplace(0, 1 / epsilon))


async def later(data: list[int], rng: Rng) -> float:
    return noisy(data, rng)


def run(mechanism: Any, *data: Any, **options: Any) -> Any:
    return audit_dp(mechanism, *(data or (D, N)), epsilon=1, samples=200, **options)


def test_a_missing_neighbour_is_no_violation() -> None:
    with pytest.raises(ValueError, match="neighbour = None: give two datasets"):
        run(noisy, D)
    with pytest.raises(ValueError, match="dataset = None: give two datasets"):
        audit_dp(noisy, epsilon=1, samples=200)


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        (with_all, r"with_all\(.*missing a required argument: 'rng'.*lambda dataset, rng: with_all\(dataset, …\)"),
        (with_keyword, "missing a required (keyword-only )?argument: 'epsilon'"),
        (later, r"later is async: .*asyncio\.run\(later"),
        (Model(), r"has a fit method: give audit\.estimator\(Model, …\)"),
    ],
)
def test_what_cannot_be_called_is_refused_with_a_way_out(mechanism: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(mechanism)


def test_a_generator_taken_for_epsilon_is_named() -> None:
    result = run(with_epsilon)
    assert result.verdict == "error"
    assert "its parameter 'epsilon' was given the generator" in result.reason
    assert "was given the generator" not in run(lambda d, rng: 1 / 0).reason


def test_a_class_with_fit_is_fitted_and_not_called() -> None:
    data = (X, np.array(D)), (X, np.array(N))
    assert run(Model, *data).epsilon_lower == run(estimator(Model), *data).epsilon_lower
    assert run(Model, *data).verdict == "inconclusive"


@pytest.mark.parametrize("timeout", [0, -1, "a"])
def test_a_timeout_is_positive(timeout: Any) -> None:
    with pytest.raises(ValueError, match=r"timeout = .* must be a positive number"):
        run(noisy, timeout=timeout)


def test_make_is_a_function() -> None:
    with pytest.raises(ValueError, match="make = 3 must be a function of ε"):
        run(noisy, make=3)


@pytest.mark.parametrize(
    ("release", "parts"),
    [("nope", "which has 'value', 'secret' (type dict)"), (3, "which has 'value'"), ((0, 1), "which has 'value'")],
)
def test_a_part_that_is_not_there_is_named_with_those_that_are(release: Any, parts: str) -> None:
    result = run(lambda d, rng: {"value": noisy(d, rng), "secret": d}, release=release)
    assert result.verdict == "error"
    assert f"release = {release!r} is no attribute, key or index" in result.reason
    assert parts in result.reason
    assert len(result.reason.splitlines()) == 1


def test_a_part_that_is_missing_on_one_side_is_a_leak() -> None:
    def sometimes(d: list[int], rng: Rng) -> dict[str, float]:
        return {"value": noisy(d, rng)} if d[0] else {}

    assert run(sometimes, release="value").violated


def test_a_batch_without_the_part_is_reported_like_a_single_call() -> None:
    def batch(d: list[int], size: int, rng: Rng) -> list[dict[str, float]]:
        return [{"value": noisy(d, rng)} for _ in range(size)]

    assert "release = 'nope'" in run(batch, release="nope").reason
    assert run(batch, release="value").verdict == "consistent"


def test_a_generator_is_read_once() -> None:
    def lazy(d: list[int], rng: Rng) -> Iterator[float]:
        return (x + 3 * rng.laplace() for x in d)

    as_list = run(lambda d, rng: list(lazy(d, rng)))
    assert run(lazy).to_dict() | {"seconds": 0} == as_list.to_dict() | {"seconds": 0}
    assert run(lambda d, rng: iter([1, 2])).verdict == "error"


def test_an_exception_is_one_line_and_its_traceback_begins_in_the_mechanism() -> None:
    def inner() -> None:
        raise ValueError("two\nlines")

    calls = itertools.count()

    def outer(d: list[int], rng: Rng) -> float:
        if next(calls) % 3 == 0:
            inner()
        return noisy(d, rng)

    result = run(outer)
    (finding,) = [f for f in result.findings if f.kind == "raises"]
    assert finding.message.endswith("first: ValueError: two lines")
    frames = [line for line in finding.details["traceback"].splitlines() if line.startswith("  File")]
    assert [line.rpartition(" in ")[2] for line in frames] == ["outer", "inner"]


def test_an_exception_of_the_call_itself_has_no_traceback() -> None:
    noticed = Noticed()
    try:
        raise KeyError("here")
    except KeyError:
        noticed.note_exception(0)
    assert "note_exception" not in noticed.first_traceback
    assert noticed.first_error == "KeyError: 'here'"
    result = run(noisy, release="nope")
    assert "Traceback" not in str(result)
