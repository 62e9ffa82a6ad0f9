"""Test draws as pieces of work: counts that add up exactly, and a bound that stays valid."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sample_work
from scipy import stats

from audit.auditor.targets import isolate
from audit.auditor.targets.containment import Noticed
from audit.auditor.targets.isolate import IsolatedTarget, Worker
from audit.auditor.targets.sampling import BURN_IN, TEST, BlockName, CallableTarget, Pair, draw_block
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.outputs import VALUE_BITS, concatenate
from audit.auditor.test import draws as longrun
from audit.auditor.test.confidence import Selection, p_value
from audit.auditor.test.draws import Binning, RunSettings, Work, conduct, select
from audit.auditor.test.plan import ROUNDING, Cutoff, Plan, Selected, make_plan
from audit.runtime import store as stores
from audit.runtime.pool import Pool
from audit.runtime.store import Store, StoreError

PAIR = Pair([0.0], [1.0])
ALPHA = 0.05


def test_a_binning_has_one_step_more_than_edges() -> None:
    plan = Plan(SimpleNamespace(), "either", (), 0.0)  # type: ignore[arg-type]
    assert Binning(plan, np.array([0.1, 0.2]), "x").steps == 3


def planned(mechanism: Callable[..., Any], delta: float, draws: int = 60_000, block: int = 2048) -> Work:
    target = CallableTarget(mechanism, None, 60.0)
    burn = draw_block(target, PAIR, BlockName(0, BURN_IN, 0, 0), 4000)
    binning = Binning.of(*make_plan(burn.values, burn.labels, draws, Epsilon(1.0, delta), ALPHA))
    return Work(target, PAIR, 0, draws, block, VALUE_BITS, (binning,))


def selected(work: Work, delta: float, settings: RunSettings | None = None) -> tuple[Selection, ...]:
    (found,) = select(work, conduct(work, settings or RunSettings(), lambda text: None))
    assert found is not None
    return found


def in_memory(work: Work, delta: float) -> tuple[Selection, ...]:
    """What the plan's cutoffs select when all draws are kept and sorted."""
    blocks = [
        draw_block(work.target, PAIR, BlockName(0, TEST, 0, i), min(work.block, work.draws - i * work.block))
        for i in range(work.blocks)
    ]
    plan = work.binnings[0].plan
    chosen = plan.select(concatenate([b.values for b in blocks]))
    right = chosen.label == (np.concatenate([b.labels for b in blocks]) == 1)
    order = np.argsort(-chosen.margin, kind="stable")
    sizes = [r.n if r.threshold is None else int((chosen.margin >= r.threshold).sum()) for r in plan.cutoffs]
    return tuple(
        Selection(n, int(right[order[:n]].sum()), len(right), 0.0, plan.sides, cutoff.part, delta > 0)
        for n, cutoff in zip(sizes, plan.cutoffs, strict=True)
    )


def test_without_delta_the_counts_are_those_of_all_draws_in_memory() -> None:
    work = planned(sample_work.laplace, 0.0)
    assert len(work.binnings[0].plan.cutoffs) > 1
    assert selected(work, 0.0) == in_memory(work, 0.0)


@pytest.mark.parametrize("mechanism", [sample_work.laplace, sample_work.gaussian])
def test_with_delta_the_steps_lose_next_to_nothing(mechanism: Callable[..., Any]) -> None:
    """The same n, and right guesses within what sorting the last step (3 % of n) can change by chance at 1e-6."""
    work = planned(mechanism, 1e-4)
    cutoffs = work.binnings[0].plan.cutoffs
    assert len(cutoffs) > 1
    for found, sorted_out, cutoff in zip(selected(work, 1e-4), in_memory(work, 1e-4), cutoffs, strict=True):
        assert found.n == sorted_out.n == cutoff.n
        assert found.part == cutoff.part
        assert abs(found.k - sorted_out.k) <= 5 * np.sqrt(0.05 * found.n)


def test_no_edge_of_a_step_lies_where_rounding_would_decide() -> None:
    """Margins that are the same but for rounding fall into one step, the one above their edge."""
    margins = np.repeat(np.array([0.5, 1.0, 2.0]), 50)
    score: Any = None
    plan = Plan(score, "either", (Cutoff(40, None, 0.4, 1.0),), 0.5)
    edges = Binning.of(plan, Selected(margins, margins > 0)).edges
    assert np.diff(edges).min(initial=1.0) > ROUNDING / 2
    for noise in (-1e-9, 0.0, 1e-9):
        steps = np.searchsorted(edges, margins + noise, side="right")
        assert np.array_equal(steps, np.searchsorted(edges, margins, side="right"))


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_the_same_bits_whoever_does_the_work(delta: float) -> None:
    work = planned(sample_work.laplace, delta)
    counts = [
        conduct(work, RunSettings(who), lambda text: None)[0]
        for who in (Pool.here(), Pool.processes(2), Pool.processes(3))
    ]
    assert counts[0] is not None
    assert all(np.array_equal(counts[0], other) for other in counts[1:])
    assert counts[0].dtype == np.int64
    assert int(counts[0][:, 0].sum()) == work.draws


def test_pieces_depend_on_the_number_of_draws_alone_and_cover_it() -> None:
    for draws in (5, 16384, 16385, 10**6, 10**8, 10**10):
        work = Work(CallableTarget(sample_work.laplace), PAIR, 0, draws, 16384, VALUE_BITS, ())
        assert sum(work.size(i) for i in range(work.pieces)) == draws if work.pieces < 10**4 else True
        assert work.size(work.pieces - 1) > 0
        assert work.pieces <= max(2 * longrun.PIECES, draws // (longrun.LARGEST * 16384) + 1)


def test_what_was_noticed_is_the_same_whoever_noticed_it() -> None:
    found = []
    for who in (Pool.here(), Pool.processes(2)):
        work = planned(sample_work.noisy_word, 0.0, draws=3000, block=256)
        work.target.noticed = Noticed()
        conduct(work, RunSettings(who), lambda text: None)
        noticed = longrun._noticed_as_json(work.target.noticed)
        noticed["first_traceback"] = noticed["first_traceback"].splitlines()[-1]
        found.append(noticed)
    assert found[0] == found[1]
    assert found[0]["printed"] > 0
    assert min(found[0]["raised"]) > 0
    assert found[0]["global_sources"] == ["numpy.random"]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def apart(work: Work, timeout: float = 60.0) -> Work:
    """The same work on a target that has a process of its own."""
    return replace(work, target=IsolatedTarget(CallableTarget(sample_work.laplace, None, timeout)))


@needs_fork
def test_a_process_of_its_own_counts_what_it_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts come out of it, not draws: the fewest bytes that the draws of a piece can take are not sent."""
    work, sizes, ask = planned(sample_work.laplace, 1e-4), [], Worker.ask

    def measured(self: Worker, request: Any) -> Any:
        sizes.append(len(pickle.dumps(answer := ask(self, request))))
        return answer

    monkeypatch.setattr(Worker, "ask", measured)
    other = apart(work)
    with contextlib.closing(other):
        found = conduct(other, RunSettings(), lambda text: None)
    assert np.array_equal(found[0], conduct(work, RunSettings(), lambda text: None)[0])  # type: ignore[arg-type]
    assert len(sizes) == work.pieces
    assert max(sizes) < 8 * work.block


@needs_fork
def test_counting_for_long_is_no_call_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    work, count = apart(planned(sample_work.laplace, 0.0, draws=2048), timeout=0.05), Binning.count

    def slow(self: Binning, table: Any, labels: Any) -> Any:
        time.sleep(0.5)
        return count(self, table, labels)

    monkeypatch.setattr(isolate, "GRACE", 0.0)
    monkeypatch.setattr(Binning, "count", slow)
    with contextlib.closing(work):
        assert {cutoff.draws for cutoff in selected(work, 0.0)} == {2048}


# ----------------------------------------------------------------------------------------------- selection


def binning(n: int, steps: int = 4, sides: str = "neighbour") -> Binning:
    plan = Plan(None, sides, (Cutoff(n, None, 0.1, 1.0),), 0.0)  # type: ignore[arg-type] # the score is not asked
    return Binning(plan, np.arange(steps - 1, dtype=float), "")


def picked(n: int, counts: np.ndarray, coins: np.random.Generator, delta: float = 0.1) -> Selection:
    (found,) = binning(n).selections(counts, coins)
    return replace(found, delta=delta)


def coins(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(seed))


def test_whole_steps_then_whole_pieces_then_coins() -> None:
    seen = np.array([[5, 1, 4, 2], [7, 0, 6, 3]])
    right = np.array([[0, 0, 3, 2], [7, 0, 0, 1]])
    counts = np.stack([seen, right], axis=1)
    expected = {2: 2, 5: 3, 9: 6, 15: 6, 16: 6, 21: 6, 28: 13}
    for n, k in expected.items():
        assert picked(n, counts, coins(0)) == Selection(n, k, 28, 0.1, 1)
    drawn = [picked(7, counts, coins(s)).k - 3 for s in range(2000)]
    law = stats.hypergeom(4, 3, 2)
    tally = np.bincount(drawn, minlength=3)
    assert stats.chisquare(tally[1:], 2000 * law.pmf([1, 2])).pvalue > 1e-6
    assert tally[0] == 0  # of four with three right, two hold at least one


def test_labels_do_not_decide_how_many_are_selected() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        seen = rng.integers(0, 20, size=(3, 4))
        for right in (np.zeros_like(seen), seen, rng.integers(0, seen + 1)):
            n = int(rng.integers(0, seen.sum() + 1))
            assert picked(n, np.stack([seen, right], axis=1), coins(1)).n == n


def four_outcomes(epsilon: float, delta: float, draws: int, pieces: int, rng: np.random.Generator) -> np.ndarray:
    """Counts of the pair on which the bound is attained: the impossible outcome is the last step."""
    q = np.exp(epsilon) / (1 + np.exp(epsilon))
    one = np.array([0, (1 - delta) * (1 - q), (1 - delta) * q, delta])
    other = np.array([delta, (1 - delta) * q, (1 - delta) * (1 - q), 0])
    right = rng.multinomial(draws // pieces, np.concatenate([one, other]) / 2, size=pieces)
    return np.stack([right[:, :4] + right[:, 4:], right[:, :4]], axis=1)


@pytest.mark.parametrize("n", [30, 100, 155])
def test_the_level_holds_on_the_worst_pair_and_is_nearly_attained(n: int) -> None:
    """Rejections of a true claim in 4000 runs: at most the 1 − 1e-6 quantile of Bin(4000, α), and not none."""
    rng, runs = np.random.default_rng(n), 4000
    rejected = 0
    for seed in range(runs):
        counts = four_outcomes(1.0, 0.05, 300, 3, rng)
        rejected += p_value(1.0, picked(n, counts, coins(seed), 0.05)) <= ALPHA
    assert rejected <= stats.binom.ppf(1 - 1e-6, runs, ALPHA)
    assert rejected >= 0.02 * runs


def test_choosing_by_labels_would_be_caught() -> None:
    """The mutant that takes right guesses first in the last step breaks the level on the same pair."""

    class Cheat:
        def hypergeometric(self, good: int, bad: int, count: int) -> int:
            return int(min(good, count))

    rng, runs = np.random.default_rng(0), 1000
    rejected = sum(
        p_value(1.0, picked(100, four_outcomes(1.0, 0.05, 300, 3, rng), Cheat(), 0.05)) <= ALPHA  # type: ignore[arg-type]
        for _ in range(runs)
    )
    assert rejected > stats.binom.ppf(1 - 1e-6, runs, ALPHA)


# --------------------------------------------------------------------------------------------------- store


def kept(folder: Path, resume: bool = False) -> contextlib.AbstractContextManager[RunSettings]:
    @contextlib.contextmanager
    def opened() -> Any:
        settings = RunSettings(Pool.here(), folder, resume)
        with settings.opened({"seed": 0}):
            yield settings

    return opened()


def test_a_run_continues_where_it_was_and_does_no_work_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is stopped while it works on the eleventh piece, and one flush has ten of them."""
    monkeypatch.setattr(stores, "FLUSH", 0.0)
    work = planned(sample_work.laplace, 1e-4)
    whole = selected(work, 1e-4)
    done: list[int] = []
    real, limit = longrun.count_piece, 10

    def counted(work: Work, piece: int) -> Any:
        if len(done) == limit:
            raise MemoryError
        done.append(piece)
        return real(work, piece)

    monkeypatch.setattr(longrun, "count_piece", counted)
    with pytest.raises(MemoryError), kept(tmp_path) as settings:
        selected(work, 1e-4, settings)
    limit = work.pieces
    with kept(tmp_path, resume=True) as settings:
        assert selected(work, 1e-4, settings) == whole
    assert done == list(range(work.pieces))


def test_a_finished_run_is_read_and_nothing_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = planned(sample_work.laplace, 0.0)
    with kept(tmp_path) as settings:
        whole = selected(work, 0.0, settings)
    monkeypatch.setattr(longrun, "count_piece", lambda work, piece: pytest.fail("work was done again"))
    with kept(tmp_path, resume=True) as settings:
        assert selected(work, 0.0, settings) == whole


def test_another_plan_is_refused(tmp_path: Path) -> None:
    with kept(tmp_path) as settings:
        selected(planned(sample_work.laplace, 0.0), 0.0, settings)
    with kept(tmp_path, resume=True) as settings, pytest.raises(StoreError, match="of another plan: burn-in was"):
        selected(planned(sample_work.gaussian, 0.0), 0.0, settings)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda r: r | {"counts": [[[1, 2], [3, 4]]]},
        lambda r: r | {"counts": [[[0, 2048], [0, 2049]]]},
        lambda r: r | {"counts": [[[-1, 2049], [0, 0]]]},
        lambda r: r | {"counts": [[[0.5, 2047.5], [0, 0]]]},
        lambda r: r | {"counts": [[[10**30, 0], [0, 0]]]},
        lambda r: r | {"counts": [[["0", "2048"], ["0", "0"]]]},
        lambda r: r | {"counts": []},
        lambda r: r | {"noticed": {}},
        lambda r: {},
        lambda r: None,
        lambda r: "x",
    ],
)
def test_what_cannot_have_been_counted_is_not_believed(spoil: Callable[[Any], Any], tmp_path: Path) -> None:
    work = planned(sample_work.laplace, 0.0)
    result = longrun.count_piece(work, 0)
    for key, value, believed in (
        ("0", result, True),
        ("0", spoil(result), False),
        ("-1", result, False),
        ("00", result, False),
        ("x", result, False),
    ):
        with Store.in_folder(tmp_path, {}, "replace") as store:
            store.begin({})
            store.put(key, value)
        with Store.in_folder(tmp_path, {}, "continue") as store:
            store.begin({})
            if believed:
                assert list(longrun._checked(store, work)) == [(0, json.loads(json.dumps(result)))]
                continue
            with pytest.raises(StoreError, match="cannot have written"):
                list(longrun._checked(store, work))


def test_datasets_are_told_apart_by_their_content() -> None:
    values = [
        [1], [1.0], [1, 2], (1,), {"a": 1}, {"a": 2}, {"b": 1}, "1", b"1", None, True, np.array([1]),
        np.array([1.0]), np.array([[1]]), {"a": [1, (2, None)]}, float("nan"), {1, 2},
    ]  # fmt: skip
    marks = [longrun.canonical(value) for value in values]
    assert len(set(marks)) == len(marks)
    assert longrun.canonical({"a": 1, "b": 2}) == longrun.canonical({"b": 2, "a": 1})
    with pytest.raises(ValueError, match="cannot be told from others"):
        longrun.canonical(lambda: None)


def test_a_draw_that_just_reaches_a_threshold_is_selected() -> None:
    margins, guesses = np.array([0.4, 0.5, 1.0, 1.1]), np.array([True, True, False, True])
    plan: Any = SimpleNamespace(
        select=lambda table: Selected(margins, guesses), cutoffs=(Cutoff(2, 1.0, 0.5, 1.0),), sides=2
    )
    binning = Binning(plan, np.array([0.5, 1.0]), "")
    assert binning.steps_of(plan)[0].tolist() == [0, 1, 2, 2]
    counts = binning.count(plan, np.array([1, 1, 0, 0]))
    (found,) = binning.selections(counts[None], np.random.default_rng(0))
    assert (found.n, found.k) == (2, 1)
