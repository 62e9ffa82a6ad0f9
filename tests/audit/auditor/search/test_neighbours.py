"""The space of datasets, the pairs that are tried first, and how the search climbs from them."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit.auditor.search import neighbours as module
from audit.auditor.search.neighbours import Space, _PairSearch, candidates
from audit.auditor.targets.sampling import CallableTarget, Pair, TargetError
from audit.auditor.terms.relation import describe

PARTS = (0.3, 0.1, 0.03)
"""Of the range, how far a record is moved."""


def test_a_space_says_what_is_wrong_with_it() -> None:
    for given, message in (
        ({"records": 0}, "records = 0 must be at least 1"),
        ({"low": 1.0, "high": 1.0}, "low = 1.0, high = 1.0 must satisfy low < high"),
        ({"relation": "both"}, 'relation = \'both\' must be "replace-one" or "add-remove"'),
        ({"size": 3}, "unknown field 'size' of a space: use beyond, choices, dim, extra, high, "),
    ):
        with pytest.raises(ValueError) as refused:
            Space.parse(given)
        assert str(refused.value).startswith(message)
    assert Space.parse({"records": 1, "choices": ["a"], "low": 1.0}) == Space(records=1, choices=["a"], low=1.0)
    assert Space.parse({}) == Space(4, 0.0, 1.0, 0, False)
    with pytest.raises(ValueError, match="dataset = 3 must describe a space"):
        Space.parse(3)


@pytest.mark.parametrize(
    ("space", "values"),
    [
        (Space(), [0.0, 1.0, 0.5]),
        (Space(low=-1.0, high=3.0, special=[9.0]), [-1.0, 3.0, 0.0, 1.0, 9.0]),
        (Space(low=-3.0, high=0.0), [-3.0, 0.0, -1.5]),
        (Space(low=0, high=3, integer=True), [0, 3, 2]),
        (Space(low=-1, high=1, integer=True), [-1, 1, 0]),
        (Space(choices=["a", "b"], special=["z"]), ["a", "b", "z"]),
        (
            Space(dim=2, special=[7.0, [1.0, 2.0]]),
            [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5], [0.0, 0.0], [1.0, 0.0], [7.0, 7.0], [1.0, 2.0]],
        ),
    ],
)
def test_values_worth_trying(space: Space, values: list[Any]) -> None:
    assert space.values() == values


def test_random_and_moved_records_stay_inside() -> None:
    rng = np.random.default_rng(0)
    reals, whole = Space(low=-1.0, high=3.0), Space(low=-1, high=2, integer=True)
    found = [reals.random_record(rng) for _ in range(300)]
    assert -1.0 <= min(found) < -0.8 < 2.8 < max(found) <= 3.0
    assert {whole.random_record(rng) for _ in range(100)} == {-1, 0, 1, 2}
    assert {Space(choices="ab").random_record(rng) for _ in range(40)} == {"a", "b"}
    vector = Space(low=-1.0, high=3.0, dim=3).random_record(rng)
    assert len(set(vector)) == 3
    near = np.array([reals.moved(1.0, rng) for _ in range(3000)])
    assert near.min() >= -1.0
    assert near.max() <= 3.0
    steps = np.abs(near - 1.0)
    for limit in (0.1, 1.0):  # anywhere in three cases of ten, else normal with 0.3, 0.1 or 0.03 of the range
        expected = 0.3 * limit / 2 + 0.7 * np.mean([math.erf(limit / (4 * part * math.sqrt(2))) for part in PARTS])
        assert np.mean(steps < limit) == pytest.approx(expected, abs=5 * math.sqrt(0.25 / 3000))
    assert {type(whole.moved(1, rng)) for _ in range(50)} == {int}
    assert all(-1 <= x <= 3 for _ in range(50) for x in Space(low=-1.0, high=3.0, dim=2).moved([3.0, -1.0], rng))
    assert Space(choices="ab").moved("a", rng) in "ab"
    odd = [Space(special=[np.nan]).moved(bad, rng) for bad in (np.nan, np.inf, "word") for _ in range(20)]
    assert all(0.0 <= x <= 1.0 for x in odd)


def test_the_first_candidates_are_patterns_with_one_record_changed() -> None:
    found = list(candidates(Space(records=3)))
    bases = [[0.0] * 3, [1.0] * 3, [0.5] * 3, [0.0, 1.0, 0.0]]
    expected = [(b, [v, *b[1:]]) for b, v in itertools.product(bases, [0.0, 1.0, 0.5]) if b[0] != v]
    assert found == expected
    assert [len(a) for a, _ in candidates(Space(records=1))] == [1] * 6
    added = list(candidates(Space(records=2, relation="add-remove", choices=["a"])))
    assert added == [(["a", "a"], ["a", "a", "a"]), (["a", "a"], ["a"])]
    many = Space(records=2, choices=list("abcdef"))
    assert len({tuple(a) for a, _ in candidates(many)}) == 5  # four values and their mixture


class Told(_PairSearch):
    """A search whose leakage is told, and which keeps what it compared."""

    def __init__(self, space: Space, budget: int, worth: Any):
        super().__init__(SimpleNamespace(seed=1), space, np.random.default_rng(0), budget)  # type: ignore[arg-type]
        self.worth = worth
        self.asked: list[tuple[Pair, int]] = []

    def leakage(self, pair: Pair, size: int) -> float:
        self.asked.append((pair, size))
        self.used += size
        return float(self.worth(pair))


def total(pair: Pair) -> float:
    return float(sum(pair.neighbour) - sum(pair.dataset))


def test_half_of_the_draws_rank_the_patterns_and_the_rest_climbs_from_the_best() -> None:
    search = Told(Space(records=2, low=-1.0), 1000, total)
    best = search.best()
    size = 40
    first = [n for _, n in search.asked if n == size]
    assert len(first) == 12  # the thirteenth would be beyond the half
    assert [n for _, n in search.asked[len(first) : len(first) + 4]] == [3 * size] * 4
    ranked = sorted((p for p, n in search.asked[: len(first)]), key=total, reverse=True)[:4]
    assert {p.index for p in ranked} == {p.index for p, _ in search.asked[len(first) : len(first) + 4]}
    assert search.used <= 1000
    assert search.used + 3 * size > 1000
    assert total(best) >= max(total(p) for p, _ in search.asked) - module.LEAST_GAIN * 4
    assert [p.index for p, _ in search.asked[:12]] == list(range(1, 13))


def test_more_draws_a_look_where_there_are_many() -> None:
    for budget, size in ((32, 8), (100, 12), (1000, 40), (6000, 100), (60_000, 200)):
        search = Told(Space(records=1), budget, total)
        search.best()
        assert search.asked[0][1] == size
    few = Told(Space(records=1), 31, total)
    assert (few.best().dataset, few.asked) == ([0.0], [])


def test_without_two_records_there_is_nothing_to_test() -> None:
    with pytest.raises(TargetError, match="the space holds no two different records"):
        Told(Space(choices=["a"]), 1000, total).best()


def test_a_step_must_gain_more_than_noise() -> None:
    gains = iter([0.04, 0.05, 0.06, 0.1, 0.12])
    search = Told(Space(records=2), 50, lambda pair: next(gains))
    start = Pair([0.0, 0.0], [1.0, 0.0], 1)
    kept = search._climb((0.0, start), 10)
    assert len(search.asked) == 5
    assert kept is search.asked[4][0]


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_a_step_changes_a_common_record_on_both_sides_or_the_one_that_differs(relation: str) -> None:
    search = Told(Space(records=3, relation=relation), 10, total)
    a, b = [0.1, 0.2, 0.3], [0.9, 0.2, 0.3] if relation == "replace-one" else [0.1, 0.2, 0.3, 0.4]
    start = Pair(a, b, 0)
    changed = set()
    for _ in range(200):
        moved = search._neighbouring(start)
        assert describe(moved.dataset, moved.neighbour)[0] == relation
        at = [i for i, (x, y) in enumerate(zip(moved.neighbour, b, strict=True)) if x != y]
        own = [i for i, (x, y) in enumerate(zip(moved.dataset, a, strict=True)) if x != y]
        assert len(at) <= 1
        assert at == own or not (at and own)
        changed.add((tuple(own), tuple(at)))
    common = {((i,), (i,)) for i in ((1, 2) if relation == "replace-one" else (0, 1, 2))}
    alone = {((), (0,)), ((0,), ())} if relation == "replace-one" else {((), (3,))}
    assert changed == common | alone
    assert (a, b[0]) == ([0.1, 0.2, 0.3], start.neighbour[0])  # the pair itself is left as it was


def of(mechanism: Any, **more: Any) -> Any:
    return SimpleNamespace(target=CallableTarget(mechanism), seed=3, draws=100, findings=[], **more)


def test_leakage_is_the_log_odds_of_the_most_confident_tenth() -> None:
    pair = Pair([0.0], [1.0], 1)

    def search(mechanism: Any) -> _PairSearch:
        return _PairSearch(of(mechanism), Space(), np.random.default_rng(0), 1000)

    clear = search(lambda data, rng: data[0] + 0.01 * rng.normal())
    blind = search(lambda data, rng: rng.normal())
    fixed = search(lambda data, rng: 1.0)
    assert clear.leakage(pair, 401) == pytest.approx(np.log(0.3 ** (1 / 40) / (1 - 0.3 ** (1 / 40))), rel=1e-6)
    assert clear.used == 400
    assert clear.leakage(pair, 60) == pytest.approx(np.log(0.3**0.1 / (1 - 0.3**0.1)), rel=1e-6)
    assert abs(blind.leakage(pair, 400)) < 1.5
    assert fixed.leakage(pair, 400) == 0.0
    assert clear.leakage(pair, 401) > blind.leakage(pair, 400) + 1


def test_time_that_is_short_allows_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def slow(data: Any, rng: Any) -> float:
        now[0] += 0.5
        return 0.0

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    assert module._pace(of(slow), Pair([0.0], [1.0], 0)) == 0.5
    assert module._affordable(of(slow, deadline=None), Space()) == 100
    assert module._affordable(of(slow, deadline=1.0, seconds_left=40.0), Space()) == 20  # a quarter, at 0.5 each
    assert module._affordable(of(slow, deadline=1.0, seconds_left=-1.0), Space()) == 0
    assert module._affordable(of(slow, deadline=1.0, seconds_left=None), Space()) == 0


def test_a_quarter_of_the_draws_is_spent_and_what_was_done_is_told() -> None:
    run = of(lambda data, rng: sum(data) + 0.01 * rng.normal(), deadline=None)
    run.draws = 6000
    (pair,) = module.find_pairs(run, {"records": 2})
    (told,) = run.findings
    assert told.kind == "searched"
    assert told.details == {"dataset": pair.dataset, "neighbour": pair.neighbour}
    used = 6000 - run.draws
    assert 1300 < used <= 1500
    assert f" pairs tried with {used} draws; tested: {pair.dataset!r} against {pair.neighbour!r}" in told.message
    with pytest.raises(ValueError, match="a space could not be read"):
        module.find_pairs(run, {"records": "x"})
