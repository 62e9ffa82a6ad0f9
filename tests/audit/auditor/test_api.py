"""The whole auditor: verdicts that are right, and bad input that never gets one."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import time
from typing import Any

import numpy as np
import pytest
from clock import stopped
from night import by_day
from scipy import special

from audit import assert_dp, audit_dp
from audit.auditor import api as auditor
from audit.auditor.search.neighbours import Space
from audit.auditor.terms.claim import Epsilon
from audit.auditor.terms.relation import describe
from audit.auditor.terms.result import AuditResult
from audit.auditor.test.anytime import log_factors, stakes
from bench.zoo import by_name

CAREFUL = 0.99995
"""Two false alarms in 25 runs at this confidence have a chance of at most 7.5e-7."""


def on(entry, **keywords):
    options = {
        "epsilon": entry.epsilon,
        "delta": entry.delta,
        "samples": 3000,
        "neighbours": "any",
        "floats": entry.floats,
    }
    return audit_dp(entry.mechanism, entry.dataset, entry.neighbour, **{**options, **keywords})


# ------------------------------------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    "name",
    [
        "laplace",
        "report-noisy-max",
        "svt-1",
        "four-outcomes",
        "gaussian",
        "mixed-tuple",
        "ignores-data",
        "randomised-response-8",
    ],
)
def test_no_false_alarm_at_the_exact_epsilon(name):
    entry = by_name(name)
    alarms = sum(
        on(entry, epsilon=entry.true_epsilon, seed=s, confidence=CAREFUL, samples=600).violated
        for s in range(by_day(4, 25))
    )
    assert alarms <= 1


@pytest.mark.parametrize(
    "name",
    [
        "noisy-max-quarter-noise",
        "svt-5",
        "leaking-nan",
        "leaking-length",
        "wrong-query",
        "seed-reuse",
        "truncated-laplace",
        "data-dependent-scale",
        "gaussian-shift-100",
        "scale-inverted",
        "laplace-float-inversion",
        "clip-after-noise",
        "svt-6",
    ],
)
def test_bugs_are_found(name):
    result = on(by_name(name), confidence=0.99, samples=10_000)
    assert result.violated
    assert result.claimed_epsilon < result.epsilon_lower <= by_name(name).true_epsilon


@pytest.mark.parametrize(("name", "share"), [("laplace", 0.9), ("report-noisy-max", 0.9), ("svt-5", 0.95)])
def test_the_bound_is_near_the_ideal(name, share):
    entry = by_name(name)
    bounds = [on(entry, samples=20_000, seed=seed).epsilon_lower for seed in range(3)]
    assert np.median(bounds) >= share * entry.law.ideal(20_000)


def test_both_directions_are_learned():
    """A max of one-sided noises: all information is in one orientation, whichever it is."""
    bounds = [
        audit_dp(
            lambda d, size, rng, s=sign: s * (d[0] + rng.exponential(size=(size, 3)).max(axis=1)),
            [0.0],
            [1.0],
            epsilon=0.1,
            samples=5000,
        ).epsilon_lower
        for sign in (1, -1)
    ]
    assert min(bounds) > 2


def test_a_low_bit_leak_is_a_finding_or_a_verdict():
    entry = by_name("laplace-float-inversion")
    plain = on(entry, floats="values")
    assert not plain.violated
    assert [f.kind for f in plain.findings] == ["float-granularity"]
    assert plain.findings[0].details["lower"] > 3
    assert len(str(plain.findings[0])) < 120
    assert not on(entry, floats="values", delta=1e-6).findings  # of real numbers, an accountant would say
    assert not [f for f in on(by_name("laplace")).findings if f.kind == "float-granularity"]


def test_a_run_can_be_repeated_to_the_bit():
    a, b = (on(by_name("svt-6"), seed=5) for _ in range(2))
    assert dataclasses.replace(a, seconds=0.0) == dataclasses.replace(b, seconds=0.0)
    assert on(by_name("svt-6"), seed=6).right != a.right or on(by_name("svt-6"), seed=6).event != a.event


def test_result_carries_the_contract():
    result = on(by_name("laplace"))
    data = json.loads(result.to_json())
    assert {
        "verdict",
        "epsilon_lower",
        "delta",
        "confidence",
        "samples",
        "event",
        "claimed_epsilon",
        "would_detect",
        "seed",
        "seconds",
    } <= data.keys()
    assert data["samples"] == 3000
    assert data["draws"]["burn_in"] + data["draws"]["test"] == 6000
    assert "CONSISTENT with (1, 0)-DP" in str(result)
    assert 1 < result.would_detect < 2


def test_several_pairs_share_one_level():
    def mechanism(d, size, rng):
        return sum(d) * 0.2 + rng.laplace(size=size)

    pairs = [([0.0, 0.0], [0.0, 1.0]), ([0.0, 0.0], [0.0, 20.0]), ([1.0, 1.0], [1.0, 1.0])]
    result = audit_dp(mechanism, pairs=pairs, epsilon=1.0, samples=3000)
    assert result.violated
    assert result.pair == 1
    assert [f.kind for f in result.findings if "pair 2" in f.message] == ["equal-pair"]


def test_slow_mechanisms_have_a_budget_in_time(monkeypatch: pytest.MonkeyPatch):
    stopped(monkeypatch)

    def slow(d, rng):
        time.sleep(0.001)
        return d[0] * 10 + rng.laplace()

    result = audit_dp(slow, [0.0], [1.0], epsilon=1.0, seconds=1.0)
    assert result.violated
    assert 300 < result.samples < 500  # two sides share what the lints leave of 1000 calls
    assert 0.8 < result.seconds <= 1.2


def test_search_finds_the_pair():
    def mechanism(d, size, rng):
        return (max(d) - min(d)) * 2 + rng.laplace(size=size)

    result = audit_dp(mechanism, {"records": 3, "low": 0, "high": 1}, epsilon=1.0, samples=6000, neighbours="search")
    assert result.violated
    assert next(f for f in result.findings if f.kind == "searched").details["dataset"] is not None
    adding = audit_dp(
        mechanism, Space(records=2, relation="add-remove"), epsilon=1.0, samples=6000, neighbours="search"
    )
    assert adding.violated


def test_search_tries_special_values():
    def mechanism(d, size, rng):
        return np.where(np.isnan(d).any(), 5.0, 0.0) + rng.laplace(size=size)

    result = audit_dp(mechanism, Space(records=3, special=[math.nan]), epsilon=1.0, samples=4000, neighbours="search")
    assert result.violated


# -------------------------------------------------------------------------------------------------- anytime


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.02), (2.0, 0.3)])
def test_bets_are_fair_on_the_pair_that_attains_the_bound(epsilon, delta):
    """The expected factor over all outcomes and labels is at most 1 for any confidence, and it is 1 for the best."""
    q = special.expit(epsilon)
    p1 = np.array([delta, (1 - delta) * q, (1 - delta) * (1 - q), 0.0])
    law = {1: p1, 0: p1[::-1]}
    largest = 0.0
    for sure in itertools.product([-1.0, 0.3, 2.0, 30.0], repeat=4):
        cap = stakes(np.array([epsilon]), np.array(sure), delta)[0].max(axis=1)
        expected = 0.0
        for label, z in itertools.product((0, 1), range(4)):
            guess = 1 if z <= 1 else 0
            factor = np.exp(
                log_factors(np.array([epsilon]), np.array([sure[z]]), np.array([float(guess == label)]), delta, cap)
            )
            expected += 0.5 * law[label][z] * factor[0, 0]
        largest = max(largest, expected)
    assert largest <= 1 + 1e-12
    assert largest > 1 - 1e-9


def test_gross_bugs_fall_within_five_thousand_draws():
    for name in ("scale-inverted", "noisy-max-quarter-noise", "leaking-length", "svt-5"):
        used = [on(by_name(name), anytime=True, samples=10_000, seed=s).draws["test"] for s in range(3)]
        assert np.median(used) <= 5000


def test_an_anytime_audit_may_be_continued():
    first = on(by_name("laplace"), epsilon=0.8, anytime=True, samples=500, confidence=CAREFUL)
    assert not first.violated
    assert first.mode == "anytime"
    second = first.resume(samples=20_000)
    assert second.draws["test"] > first.draws["test"]
    assert second.epsilon_lower >= first.epsilon_lower
    assert second.violated
    with pytest.raises(ValueError, match="anytime=True"):
        on(by_name("laplace")).resume(samples=100)


def test_anytime_stays_silent_on_correct_mechanisms():
    for name in ("laplace", "four-outcomes", "ignores-data"):
        entry = by_name(name)
        alarms = sum(
            on(entry, epsilon=entry.true_epsilon, anytime=True, seed=s, confidence=CAREFUL, samples=400).violated
            for s in range(by_day(4, 12))
        )
        assert alarms <= 1


# ------------------------------------------------------------------------------------------------ bad input


def error(mechanism, **keywords):
    result = audit_dp(mechanism, [0.0], [1.0], **{"epsilon": 1.0, "samples": 500, **keywords})
    assert result.verdict == "error", str(result)
    assert "could not be tested" in str(result)
    return result.reason


def test_a_mechanism_that_always_raises():
    assert "ZeroDivisionError" in error(lambda d, rng: 1 / 0)
    assert "ZeroDivisionError" in error(lambda d, size, rng: 1 / 0, samples=20)


def test_an_exception_on_one_side_is_a_leak():
    result = audit_dp(lambda d, rng: 1 / (1 - d[0]) + rng.laplace(), [0.0], [1.0], epsilon=1.0, samples=500)
    assert result.violated
    finding = next(f for f in result.findings if f.kind == "raises")
    assert finding.details["dataset"] == 0
    assert "ZeroDivisionError" in finding.details["traceback"]


def test_a_constant_mechanism():
    assert "same in all of" in error(lambda d, rng: 7)
    assert "same in all of" in error(lambda d, rng: 7, anytime=True)


def test_a_deterministic_mechanism_that_shows_its_data():
    result = audit_dp(lambda d, rng: d[0], [0.0], [1.0], epsilon=1.0, samples=500)
    assert result.violated
    assert "deterministic" in [f.kind for f in result.findings]


def test_a_hanging_mechanism():
    assert "timeout = 0.2 s" in error(lambda d, rng: time.sleep(30), timeout=0.2)


def test_a_mechanism_that_ignores_its_data_is_noticed():
    result = audit_dp(lambda d, rng: rng.laplace(), [0.0], [1.0], epsilon=0.5, samples=10_000)
    assert result.verdict == "consistent"
    assert "data-independent" in [f.kind for f in result.findings]


def test_a_mechanism_that_changes_its_data_is_noticed():
    def greedy(d, rng):
        d[0] += 5
        return rng.laplace()

    result = audit_dp(greedy, [0.0], [1.0], epsilon=1.0, samples=200)
    assert "mutates-input" in [f.kind for f in result.findings]


def test_different_shapes_are_outcomes():
    result = audit_dp(lambda d, rng: np.zeros(2 + int(d[0])) + rng.laplace(), [0.0], [1.0], epsilon=1.0, samples=400)
    assert result.violated


def test_equal_pairs_are_not_tested():
    result = audit_dp(lambda d, rng: rng.laplace(), pairs=[([1.0], [1.0])], epsilon=1.0)
    assert result.verdict == "error"
    assert "equal" in result.reason


def test_pairs_that_are_not_neighbours_are_named():
    result = audit_dp(lambda d, rng: rng.laplace(), [0.0, 0.0], [1.0, 1.0], epsilon=1.0, samples=200)
    message = next(f.message for f in result.findings if f.kind == "not-neighbours")
    assert "2 of 2 records differ" in message
    result = audit_dp(lambda d, rng: rng.laplace(), [0.0], [0.0, 1.0], epsilon=1.0, samples=200)
    assert "neighbours under add-remove, not under replace-one" in str(result)
    result = audit_dp(
        lambda d, rng: rng.laplace(), [0.0], [0.0, 1.0], epsilon=1.0, samples=200, neighbours="add-remove"
    )
    assert not [f for f in result.findings if f.kind == "not-neighbours"]


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ([1, 2], [1, 2], "equal"),
        ([1, 2], [1, 3], "replace-one"),
        ([1, 2], [1], "add-remove"),
        ([1, 2, 3], [1, 3], "add-remove"),
        ([1, 2], [3, 4], "other"),
        (np.zeros((3, 2)), np.vstack([np.zeros((2, 2)), np.ones((1, 2))]), "replace-one"),
        ((np.zeros((3, 2)), np.zeros(3)), (np.zeros((3, 2)), np.array([0.0, 1, 0])), "replace-one"),
        ({"x": [1, 2], "y": [1, 2]}, {"x": [1, 2], "y": [1, 3]}, "replace-one"),
        (1.0, 2.0, "unknown"),
        ([math.nan], [math.nan], "equal"),
        ([1, 2, 3, 4], [1, 2], "other"),
    ],
)
def test_relations_are_recognised(a, b, relation):
    assert describe(a, b)[0] == relation


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"epsilon": -1.0}, "epsilon = -1.0"),
        ({"epsilon": math.nan}, "epsilon = nan"),
        ({"delta": 1.0}, "delta = 1.0"),
        ({"confidence": 1.0}, "confidence = 1.0"),
        ({"samples": 3}, "samples = 3"),
        ({"seconds": 0.0}, "seconds = 0.0"),
        ({"neighbours": "friends"}, "neighbours = 'friends'"),
        ({"floats": "all"}, "floats = 'all'"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(keywords, message):
    with pytest.raises(ValueError) as caught:
        audit_dp(lambda d, rng: rng.laplace(), [0.0], [1.0], **{"epsilon": 1.0, **keywords})
    assert message in str(caught.value)


def test_assert_dp_for_test_suites():
    assert (
        assert_dp(lambda d, rng: d[0] + rng.laplace(), [0.0], [1.0], epsilon=1.0, samples=4000).verdict == "consistent"
    )
    with pytest.raises(AssertionError, match="VIOLATED"):
        assert_dp(lambda d, rng: d[0] + rng.laplace() / 10, [0.0], [1.0], epsilon=1.0, samples=500)
    with pytest.raises(AssertionError, match="could not be tested"):
        assert_dp(lambda d, rng: 1, [0.0], [1.0], epsilon=1.0, samples=500)


@pytest.mark.parametrize(("bound", "shown"), [(1.00000012, "ε = 1.0000001 "), (2.0, "ε = 2 "), (1.23456, "ε = 1.235 ")])
def test_a_bound_just_above_the_claim_is_seen_to_exceed_it(bound: float, shown: str) -> None:
    result = AuditResult(
        "violated", bound, 0.0, 0.95, 100, "event", 1.0, math.inf, 0, 1.0, claim=Epsilon(1.0), lower=bound
    )
    assert shown in str(result)


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_the_verdict_turns_exactly_at_the_bound(delta: float) -> None:
    """Bound and verdict are two readings of one test, at one level: the same draws refute every smaller claim."""

    def audit(epsilon: float) -> Any:
        return audit_dp(noisy, [0], [1], epsilon=epsilon, delta=delta, samples=4000, lints=False)

    bound = audit(0.2).epsilon_lower
    assert 0.5 < bound < 1
    assert [audit(bound + shift).verdict for shift in (-1e-6, 1e-6)] == ["violated", "consistent"]


def test_what_would_be_detected_is_told_at_the_part_of_the_level_that_the_selection_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(auditor, "would_detect", lambda epsilon, seen, alpha: asked.append((seen, alpha)) or 1.0)
    audit_dp(noisy, [0], [1], epsilon=1.0, samples=4000, lints=False)
    ((seen, alpha),) = asked
    assert seen.part < 1
    assert alpha == pytest.approx(0.001 * (1 - auditor.BIT_SHARE) * seen.part)


def noisy(dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    return np.round((dataset[0] + rng.laplace(size=size)) * 2**20) / 2**20


SPACE = {"records": 2, "low": 0, "high": 1}


@pytest.mark.parametrize(
    ("asked", "mode"),
    [
        (([0.0], [1.0]), {}),
        (([0.0], [1.0]), {"anytime": True}),
        ((SPACE,), {"neighbours": "search"}),
        ((np.zeros(2),), {"neighbours": "search"}),
    ],
)
def test_a_call_that_takes_as_long_as_there_is_time_makes_few_calls_and_says_so(
    asked: tuple[Any, ...], mode: dict[str, Any]
) -> None:
    calls = []

    def slow(dataset: Any, rng: np.random.Generator) -> float:
        calls.append(1)
        time.sleep(0.05)
        return float(sum(dataset) + rng.laplace())

    result = audit_dp(slow, *asked, epsilon=1.0, seconds=0.5, **mode)
    assert result.verdict in ("inconclusive", "error")
    assert len(calls) <= 60  # of the 200 000 that the default would make
    if not mode:
        assert "not-inspected" in {f.kind for f in result.findings}
