"""A search from an example: it finds bugs without a pair, keeps to the range, and says what it tried."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit.auditor.api import audit_dp
from audit.auditor.lints.recorder import NoiseCall, RecordedRun
from audit.auditor.lints.replay import ComparedSum, Replayed
from audit.auditor.search import guided
from audit.auditor.search.guided import CERTAIN, Form, described_pairs
from audit.auditor.search.neighbours import Space
from audit.auditor.targets.estimator import estimator
from audit.auditor.targets.sampling import CallableTarget, Pair
from audit.auditor.terms.relation import describe
from bench.foreign import inspect_alone, searched
from bench.specimens import specimens

SPECIMENS = {s.name: s for s in specimens()}


# ------------------------------------------------------------------------------------------- forms and changes


def form_of(example: Any) -> Form:
    form = Form.of(example)
    assert form is not None
    return form


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ([0.2, 0.9, 0.4], ("list", 0, 0.2, 0.9, ())),
        (np.array([[3, 1], [2, 5]]), ("array", 2, 1.0, 5.0, ())),
        ([3.0, 3.0], ("list", 0, 0.0, 3.0, ())),
        ([-3.0, -3.0], ("list", 0, -3.0, 1.0, ())),
        ((np.eye(2), np.array([1, -1])), ("pair", 2, 0.0, 1.0, (-1.0, 1.0))),
        ((np.eye(2), np.array([2.0, 2.0])), ("pair", 2, 0.0, 1.0, (-2.0, 2.0))),
        ((np.eye(2), np.array([0.0, 0.0])), ("pair", 2, 0.0, 1.0, (0.0, 1.0))),
        ({"X": np.eye(2), "y": np.array([3, 1])}, ("pair", 2, 0.0, 1.0, (1.0, 3.0))),
    ],
)
def test_the_form_of_an_example(example: Any, expected: tuple[Any, ...]) -> None:
    form = form_of(example)
    assert (form.kind, form.dim, form.low, form.high, form.labels) == expected


def test_rows_are_no_longer_than_those_of_the_example_in_both_lengths() -> None:
    form = form_of(np.array([[3.0, 4.0], [0.0, 6.0]]))
    made = form.inside(np.array([[7.0, 7.0], [3.0, 4.0], [0.0, 9.0], [0.1, 0.1]]))
    assert made == pytest.approx(np.array([[3.5, 3.5], [3.0, 4.0], [0.0, 6.0], [0.1, 0.1]]))
    narrow = form_of(np.array([[3.0, 3.0]]))
    assert narrow.inside(np.array([[6.0, 0.0]])) == pytest.approx(np.array([[18**0.5, 0.0]]))
    assert form_of(np.zeros((1, 2))).inside(np.ones((1, 2))).tolist() == [[1.0, 1.0]]
    assert form_of([1.0, 2.0]).inside(np.array([9.0])).tolist() == [9.0]


def test_the_datasets_that_are_changed() -> None:
    form = form_of((np.array([[-1.0], [2.0]]), np.array([1.0, -1.0])))
    bases = list(form._bases(2, np.random.default_rng(0)))
    rows, labels = zip(*bases, strict=True)
    assert [r.ravel().tolist() for r in rows[:5]] == [[-1.0, 2.0], [0.0, 0.0], [2.0, 2.0], [2.0, 2.0], [-1.0, 2.0]]
    assert [y.tolist() for y in labels] == [[1, -1], [-1, 1], [-1, -1], [-1, 1], [-1, 1], [-1, 1], [-1, -1]]
    assert rows[6].ravel().tolist() == [-1.0, -1.0]
    assert len(list(form._bases(3, np.random.default_rng(0)))) == 6
    plain = [(r.tolist(), y) for r, y in form_of([0.5, 3.0])._bases(2, np.random.default_rng(0))]
    assert plain[:4] == [([0.5, 3.0], None), ([0.5, 0.5], None), ([3.0, 3.0], None), ([0.5, 3.0], None)]
    assert plain[5] == ([0.5, 0.5], None)
    assert len(plain) == 6
    below = form_of([-3.0, -1.0])
    assert next(b for b, _ in list(below._bases(1, np.random.default_rng(0)))).tolist() == [-1.0]


def test_what_is_done_to_one_record() -> None:
    form = form_of((np.array([[-1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0])))
    rows, labels = np.array([[0.5, 1.0], [0.0, 0.0]]), np.array([1.0, 1.0])
    made = {name: change(rows, labels) for name, change in form.changes("replace-one")}
    assert list(made) == ["label flipped", "high", "low", "zero", "one column", "sign flipped"]
    assert made["label flipped"][1].tolist() == [-1.0, 1.0]
    assert {name: made[name][0][0].tolist() for name in ("high", "low", "zero", "one column", "sign flipped")} == {
        "high": [1.0, 1.0],
        "low": [-1.0, -1.0],
        "zero": [0.0, 0.0],
        "one column": [2.0, 0.0],
        "sign flipped": [-0.5, -1.0],
    }
    assert form.changes("replace-one")[-1][1](np.array([[2.0, 0.0]]), None) is None  # −2 is below the lowest
    flipped = form.changes("replace-one")[0][1](rows, np.array([-1.0, 1.0]))
    assert flipped is not None
    assert flipped[1].tolist() == [1.0, 1.0]
    assert form.changes("replace-one")[0][1](rows, None) is None
    more = {name: change(rows, labels) for name, change in form.changes("add-remove")}
    assert list(more) == ["high added", "low added", "zero added", "one column added", "removed"]
    assert (more["low added"][0][2].tolist(), more["low added"][1].tolist()) == ([-1.0, -1.0], [1.0, 1.0, 1.0])
    assert (more["removed"][0].tolist(), more["removed"][1].tolist()) == ([[0.0, 0.0]], [1.0])
    assert form.changes("add-remove")[-1][1](rows[:1], labels[:1]) is None
    assert (rows[0, 0], labels[0]) == (0.5, 1.0)
    plain = dict(form_of([-1.0, 2.0]).changes("replace-one"))
    assert plain["high"](np.array([0.0, 1.0]), None)[0].tolist() == [2.0, 1.0]


def test_pairs_come_in_the_size_of_the_example_first() -> None:
    found = list(described_pairs(form_of([0.5, 1.0, 2.0]), "replace-one", np.random.default_rng(0)))
    sizes = list(dict.fromkeys(what.split(", ")[1] for what, _, _ in found))
    assert sizes == ["n=3", "n=4", "n=2", "n=1", "n=20"]
    assert [what.split(",")[0] for what, _, _ in found[:7]] == ["high"] * 6 + ["low"]
    assert "zero, n=3" in [what for what, _, _ in found]


# ------------------------------------------------------------------------------------------------ scores by hand


def noise(scale: float = 2.0, **more: Any) -> NoiseCall:
    given = {"additions": 1} | more
    return NoiseCall(0, "numpy", "laplace", "laplace", 0.0, scale, True, "here", (), 0.5, **given)


def moved(difference: Any, scale: Any = 2.0, other: Any = None, shape: Any = None, **more: Any) -> Replayed:
    call = noise(**more)
    place = np.shape(difference) if shape is None else shape
    one = ComparedSum(call, difference, scale, scale if other is None else other, place)
    first, second = RecordedRun([call], output=[0.5]), RecordedRun([call], output=[0.5])
    return Replayed(first, second, [one])


def test_sums_score_what_they_move_by_in_units_of_their_noise() -> None:
    assert guided._moved(moved(3.0), 4) == 1.5
    assert guided._moved(moved(np.array([1.0, -3.0])), 4) == 2.0
    assert guided._moved(moved(1e6), 4) == CERTAIN
    assert guided._moved(moved(1.0, 0.0, 0.0), 4) == CERTAIN
    assert guided._moved(moved(0.0), 4) == 0.0
    assert guided._moved(moved(0.0, 2.0, 3.0), 4) == CERTAIN / 2
    assert guided._moved(moved(3.0, opaque=True), 4) == 0.0
    assert guided._moved(moved(np.array([1.0, 3.0]), shape=()), 4) == 2.0 + CERTAIN
    assert guided._moved(moved(np.array([1.0, 1.0]), shape=()), 4) == 1.0
    for second in (RecordedRun(error="E"), RecordedRun(diverged="x", output=[0.5])):
        run = moved(3.0)
        run.second = second
        assert guided._moved(run, 4) == 1.5 + CERTAIN / 2
    open_ = moved(3.0)
    open_.second.output = [0.75]
    assert guided._moved(open_, 4) == 1.5 + CERTAIN
    lost = moved(0.0)
    lost.second.output = [0.75]
    assert guided._moved(lost, 4) == 0.0  # the draw was not followed


def runs(*outputs: Any, calls: Any = (), error: str | None = None) -> list[RecordedRun]:
    return [RecordedRun(list(calls), output=o, error=error) for o in outputs]


@pytest.mark.parametrize(
    ("first", "other", "score"),
    [
        (runs(1.0, 2.0, 3.0), runs(1.0, 2.0, 3.0), 0.0),
        (runs(1.0, 1.0, 1.0), runs(2.0, 2.0, 2.0), CERTAIN),
        (runs(1.0, 1.0, 1.0), runs(1.0, 1.0, 1.0), 0.0),
        (runs(1.0, 1.0, 1.0), runs(1.0, 1.0, 2.0), 0.0),
        (runs(*[None] * 3, error="E"), runs(1.0, 2.0, 3.0), CERTAIN),
        (runs(*[None] * 3, error="E"), runs(*[None] * 3, error="E"), 0.0),
        (runs(*[[1.0, 2.0]] * 3), runs(*[[1.0]] * 3), CERTAIN),
        ([*runs([1.0]), *runs(*[[1.0, 2.0]] * 2)], runs(*[[1.0]] * 3), 0.0),
        (runs(1.0, 2.0, 3.0, calls=[noise()]), runs(1.0, 2.0, 3.0), CERTAIN / 2),
        ([*runs(1.0, 1.0), *runs(None, error="E")], runs(2.0, 2.0, 2.0), 0.0),
    ],
)
def test_contrasts_that_are_seen_without_a_replay(first: Any, other: Any, score: float) -> None:
    assert guided._contrast(first, other) == score


def test_the_finalists_are_at_most_two_of_a_kind_and_six() -> None:
    ranked = [(9.0 - i, f"{kind}, n={i}", Pair(None, None, i)) for i, kind in enumerate("aaabbcccddeeff")]
    assert [item[2].index for item in guided._spread(ranked)] == [0, 1, 3, 4, 5, 6]


def test_time_and_draws_that_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "time", SimpleNamespace(monotonic=lambda: 10.0))
    assert guided._in_time(None, 1e9)
    assert guided._in_time(12.0, 2.0)
    assert not guided._in_time(12.0, 2.1)

    def draws(left: float | None, seconds: float) -> int:
        run: Any = SimpleNamespace(seconds_left=left)
        return guided._affordable_draws(run, seconds, 4)

    assert [draws(None, 1.0), draws(5.0, 0.0), draws(-5.0, 0.1), draws(400.0, 0.5), draws(1e6, 0.5)] == [
        200,
        200,
        0,
        40,
        200,
    ]


def test_a_look_takes_few_calls_and_says_how_far_the_sums_move() -> None:
    def release(data: Any, rng: np.random.Generator) -> float:
        return float(sum(data) + rng.laplace(0, 2.0))

    run: Any = SimpleNamespace(seed=0)
    score, calls = guided.looked_at(run, CallableTarget(release), Pair([0.0, 1.0], [3.0, 1.0]))
    assert score == pytest.approx(1.5)
    assert calls == 8 <= guided.LOOK  # three of each side, and a replay of both
    assert guided._short(" a\n  b") == r"' a\n b'"
    assert guided._short("x" * 99) == "'" + "x" * 59


def searched_by_hand(mechanism: Any, example: Any, worth: Any = None, relation: str = "replace-one") -> Any:
    """The pairs that a search chooses without an audit around it, and the run with its findings."""
    found: list[Any] = []
    run: Any = SimpleNamespace(
        target=CallableTarget(mechanism), seed=0, seconds_left=None, findings=found, note=found.extend
    )
    asked: list[tuple[Pair, int]] = []

    def leakage(pair: Pair, draws: int) -> float:
        asked.append((pair, draws))
        return float(worth(pair)) if worth else 0.0

    return guided.search_from_example(run, form_of(example), relation, leakage, lambda pair: 0.0), found, asked


def test_the_dearest_pairs_are_audited_and_what_lies_beyond_the_range_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guided, "MOST_PAIRS", 24)

    def release(data: Any, rng: np.random.Generator) -> float:
        return float(sum(data) + rng.laplace(0, 2.0))

    pairs, found, asked = searched_by_hand(release, [0.0, 4.0])
    assert [p.index for p in pairs] == [0, 1, 2]
    assert abs(sum(pairs[0].neighbour) - sum(pairs[0].dataset)) == 4.0
    assert [draws for _, draws in asked] == [200] * len(asked)
    assert len(asked) <= 6
    searched_, beyond = found
    assert searched_.kind == "searched"
    assert searched_.details == {"dataset": pairs[0].dataset, "neighbour": pairs[0].neighbour}
    assert f" pairs tried in {8 * int(searched_.message.split()[0])} watched calls, {len(asked)} of them " in (
        " " + searched_.message[len(searched_.message.split()[0]) :]
    )
    assert "by draws (sizes, extremes, zeros, flipped signs and labels, between 0 and 4)" in searched_.message
    assert (beyond.kind, beyond.details["what"], beyond.details["inside"]) == ("not-clipped", "a record", 2.0)
    assert beyond.details["score"] == CERTAIN
    assert "a record 100 times beyond the range of the example" in beyond.message
    clipped, quiet, _ = searched_by_hand(
        lambda data, rng: float(np.clip(data, 0, 4).sum() + rng.laplace(0, 2.0)), [0.0, 4.0]
    )
    assert [f.kind for f in quiet] == ["searched"]
    best, _, told = searched_by_hand(release, [0.0, 4.0], worth=lambda pair: pair.index)
    most = max(told, key=lambda item: item[0].index)[0]
    assert (best[1].dataset, best[1].neighbour) == (most.dataset, most.neighbour)
    assert len(clipped) == 3


# -------------------------------------------------------------------------------------------------- whole audits


@pytest.mark.parametrize(
    "name",
    [
        "fixed-scale",
        pytest.param("open-standard-error", marks=pytest.mark.night),
        pytest.param("length-leaks", marks=pytest.mark.night),
        pytest.param("batch-mean", marks=pytest.mark.night),
        "byte-state",
    ],
)
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
