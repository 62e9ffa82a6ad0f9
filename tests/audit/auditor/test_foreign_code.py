"""Answers about other people's code that were wrong once."""

from __future__ import annotations

import logging
import random
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from clock import stopped
from night import by_day

from audit.auditor.api import audit_dp
from audit.auditor.learn.scores import Score
from audit.auditor.search.neighbours import Space
from audit.auditor.targets.containment import Noticed, contained
from audit.auditor.terms.leaves import flatten
from audit.auditor.terms.outputs import significant, tabulate
from bench.foreign import inspect_alone
from bench.specimens import Innocent, innocents


def kinds(mechanism: Any, a: Any, b: Any, **more: Any) -> set[str]:
    return {f.kind for f in inspect_alone(mechanism, a, b, **({"epsilon": 1.0} | more)).findings}


# ------------------------------------------------------------------------------------------------ random states


def test_code_that_replaces_the_seed_functions_gets_fresh_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks used to repeat their noise, and a private mechanism was violated."""
    monkeypatch.setattr(np.random, "seed", lambda *_: None)
    monkeypatch.setattr(random, "seed", lambda *_: None)

    def noise(dataset: list[float]) -> tuple[float, float]:
        return dataset[0] + np.random.laplace(0, 2.0), dataset[0] + 2.0 * random.expovariate(1.0) * random.choice(
            (-1, 1)
        )

    result = audit_dp(noise, [0.0], [1.0], epsilon=1.0, samples=4000, lints=False)
    assert result.verdict in ("consistent", "inconclusive")
    seen = []
    for seed in (1, 2, 1):
        with contained(Noticed(), seed):
            seen.append((np.random.normal(), random.random()))
    assert seen[0] == seen[2] != seen[1]


def test_a_state_is_that_of_the_public_seed() -> None:
    """What a block draws is what it drew when the public functions were called."""
    with contained(Noticed(), 77):
        drawn = np.random.normal(), random.random()
    assert drawn == (np.random.RandomState(77).normal(), random.Random(77).random())


def test_handlers_without_a_stream_of_their_own_are_left_alone() -> None:
    """As `dill` makes them: a stream that cannot be set."""

    class Own(logging.StreamHandler):  # type: ignore[type-arg]
        def __init__(self) -> None:
            logging.Handler.__init__(self)

        @property
        def stream(self) -> Any:
            return sys.stderr

    handler = Own()
    with contained(Noticed(), 0):
        print("inside")
    assert handler.stream is sys.stderr


# -------------------------------------------------------------------------------------------------- noise, reshaped


@pytest.mark.parametrize("innocent", innocents(), ids=lambda i: i.name)
def test_noise_that_is_shaped_by_other_draws_is_not_taken_for_what_it_was(innocent: Innocent) -> None:
    """`dpso bench foreign` measures it with 20 seeds."""
    pair = innocent.dataset, innocent.neighbour
    for seed in range(by_day(1, 4)):
        claim = {"epsilon": innocent.epsilon, "delta": innocent.delta, "seed": seed}
        assert kinds(innocent.mechanism, *pair, **claim) <= {"global-state"}
    result = audit_dp(innocent.mechanism, *pair, epsilon=innocent.epsilon, delta=innocent.delta, samples=1000)
    assert result.verdict in ("consistent", "inconclusive")


def test_floats_of_32_bits_are_read_to_fewer_bits() -> None:
    """Their grid would tell a shifted value from the draw alone; all bits count where that is asked for."""
    short = np.float32([1 / 3, 100 / 3])
    for outputs in (
        short,
        list(short),
        [np.asarray(x) for x in short],
        [[x] for x in short],
        [(x, "a") for x in short],
    ):
        read = tabulate(outputs).numbers[:, 0]
        assert read.tolist() == significant(short.astype(float), 12).tolist()
        assert tabulate(outputs, 53).numbers[:, 0].tolist() == short.astype(float).tolist()
    assert tabulate([1 / 3]).numbers[0, 0] == significant(np.array([1 / 3]), 30)[0]
    assert tabulate([np.asarray(np.float32(2.0**23 + 1))]).numbers[0, 0] == 2.0**23 + 1


def test_a_scale_that_follows_from_what_was_published_is_no_mixture() -> None:
    def adaptive(data: list[float], rng: np.random.Generator) -> list[float]:
        first = data[0] + rng.laplace(0, 2.0)
        return [first, data[0] + rng.laplace(0, 0.2 + 0.01 * abs(first))]

    assert "sensitivity" in kinds(adaptive, [0.0], [1.0])


# ------------------------------------------------------------------------------------------ outputs and generators


@dataclass
class Model:
    """A declared field, and attributes that `fit` adds."""

    epsilon: float = 1.0

    def fitted(self, mean: float) -> Model:
        self.w_ = mean
        self.b_ = [mean, 0.0]
        self._hidden = 3
        return self


def test_attributes_that_fit_adds_to_a_dataclass_are_read() -> None:
    leaves, _ = flatten(Model().fitted(0.25))
    assert leaves == [1.0, "keys 'b_', 'w_'", 0.25, 0.0, 0.25]
    assert flatten(Model())[0] == [1.0]
    result = audit_dp(
        lambda d, rng: Model().fitted(d[0] + rng.laplace(0, 0.1)), [0.0], [1.0], epsilon=1.0, samples=500, lints=False
    )
    assert result.violated


OWN = np.random.default_rng(3)


def by_default(data: list[float], _: Any = None, rng: np.random.Generator = np.random.default_rng(5)) -> float:  # noqa: B008
    return float(data[0] + rng.laplace(0, 0.2))


def by_keyword(data: list[float], *, source: np.random.Generator = np.random.default_rng(5)) -> float:  # noqa: B008
    return float(data[0] + source.laplace(0, 0.2))


def by_module(data: list[float]) -> float:
    return float(data[0] + OWN.laplace(0, 0.2))


def through_another(data: list[float]) -> float:
    return by_keyword(data)


@pytest.mark.parametrize("mechanism", [by_default, by_keyword, by_module, through_another])
def test_generators_made_beforehand_are_recorded(mechanism: Any) -> None:
    before = by_default.__defaults__, dict(by_keyword.__kwdefaults__ or {}), OWN
    called = (lambda d, _rng: mechanism(d)) if mechanism is by_default else mechanism
    assert "sensitivity" in kinds(called, [0.0], [1.0])
    assert before == (by_default.__defaults__, dict(by_keyword.__kwdefaults__ or {}), OWN)


def test_a_source_of_its_own_is_called_that() -> None:
    result = audit_dp(by_module, [0.0], [1.0], epsilon=9.0, samples=100, lints=False)
    (finding,) = [f for f in result.findings if f.kind == "not-reproducible"]
    assert "randomness of its own (a generator made before the call" in finding.message


# ---------------------------------------------------------------------------------------------- events, searches


def test_a_search_keeps_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second of a mechanism that takes five milliseconds: the search used to make 500 000 calls all the same."""
    stopped(monkeypatch)
    calls: list[float] = []

    def slow(data: list[float], rng: np.random.Generator) -> float:
        calls.append(0.005)
        time.sleep(calls[-1])
        return float(sum(data) + rng.laplace(0, 2.0))

    audit_dp(slow, Space(records=4), neighbours="search", epsilon=1.0, seconds=1.0, lints=False)
    assert 100 < len(calls) <= 240  # a second, and a fifth more


@pytest.mark.parametrize(("count", "least"), [(500, 5.0), (50_000, 1.0)])
def test_many_rare_outputs_of_one_side_only_are_seen(count: int, least: float) -> None:
    """Words of either side, 16 % of the outputs: of a hundred thousand, next to none is drawn twice."""

    def words(data: list[int], rng: np.random.Generator) -> str:
        if rng.random() < 0.16:
            return f"w{2 * rng.integers(0, count) + data[0]}"
        return "abcd"[rng.integers(0, 4)]

    assert audit_dp(words, [0], [1], epsilon=1.0, samples=20000, lints=False).epsilon_lower > least


def test_rare_outputs_of_no_side_are_not_leant_on() -> None:
    """The same words on both sides: no bound, and no cell for a word that was seen once."""
    rng = np.random.default_rng(8)
    labels = rng.integers(0, 2, 6000)
    words = [f"w{rng.integers(0, 20_000)}" if rng.random() < 0.4 else "ab"[rng.integers(0, 2)] for _ in labels]
    table = tabulate(words)
    score = Score.learn(table, labels)
    _, counts = np.unique(table.keys, return_counts=True)
    assert 20 < len(score.cells.keys) == np.count_nonzero(counts > 1)
