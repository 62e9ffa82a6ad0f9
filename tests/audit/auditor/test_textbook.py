"""Textbook mechanisms keep their claims and raise no suspicion; their twins with one slip do, and the slip is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sample_textbook import TWINS, Twins

from audit import audit_dp
from audit.auditor.lints.replay import laplace_epsilon, laplace_vector_epsilon
from audit.auditor.terms.leaves import Raised, flatten, listed, names
from bench.foreign import inspect_alone

REMARKS = {"global-state", "float-granularity"}


def audited(twins: Twins, slip: bool, confidence: float) -> Any:
    claim = {"epsilon": twins.epsilon, "delta": twins.delta}
    return audit_dp(twins.make(slip), *twins.pair, **claim, samples=3000, confidence=confidence)


@pytest.mark.parametrize("name", TWINS)
def test_a_textbook_mechanism_raises_no_suspicion(name: str) -> None:
    result = audited(TWINS[name], False, 1 - 1e-6)
    assert result.verdict == "consistent"
    assert {f.kind for f in result.findings} <= REMARKS


@pytest.mark.parametrize("name", TWINS)
def test_a_slip_is_refuted_or_named(name: str) -> None:
    twins = TWINS[name]
    result = audited(twins, True, 0.99)
    assert result.violated or not twins.soon
    kinds = {f.kind for f in result.findings}
    assert twins.finding in kinds if twins.finding else kinds <= REMARKS
    assert "data-independent" not in kinds


# ------------------------------------------------------------------------------------------- losses that add up


@pytest.mark.parametrize(("count", "ratio", "delta"), [(2, 1.0, 1e-2), (3, 0.5, 0.1), (40, 0.1, 1e-5)])
def test_the_loss_of_a_laplace_vector_is_below_the_accountants_and_near(count: int, ratio: float, delta: float) -> None:
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    composed = from_laplace_mechanism(1 / ratio, value_discretization_interval=1e-4).self_compose(count)
    above = composed.get_epsilon_for_delta(delta)
    found = laplace_vector_epsilon(np.full(count, ratio), delta)
    assert 0.98 * above - 1e-3 <= found <= above + 1e-9
    assert found < laplace_epsilon(count * ratio, delta)


def test_without_delta_losses_add_up_and_one_draw_is_exact() -> None:
    assert laplace_vector_epsilon(np.array([1.0, 0.5, 0.0]), 0.0) == 1.5
    assert laplace_vector_epsilon(np.array([0.7]), 0.1) == laplace_epsilon(0.7, 0.1)
    assert laplace_vector_epsilon(np.array([0.1, 0.1]), 0.9) == 0.0


def test_advanced_composition_of_laplace_noise_is_not_suspected() -> None:
    """60 counts with ε₀ = 0.1 each: 6 in all at δ = 0, but less than 4 at δ = 1e-5."""

    def counts(data: list[int], rng: np.random.Generator) -> list[float]:
        return [data[0] + rng.laplace(0, 10) for _ in range(60)]

    def kinds(delta: float) -> set[str]:
        return {f.kind for f in inspect_alone(counts, [0], [1], epsilon=4.0, delta=delta).findings}

    assert kinds(0.0) == {"composition"}
    assert kinds(1e-5) == set()


def test_sums_that_are_not_published_as_they_are_do_not_add_up() -> None:
    def rounded(data: list[int], rng: np.random.Generator) -> list[float]:
        return [float(np.round(data[0] + rng.laplace(0, 1), 1)) for _ in range(3)]

    assert {f.kind for f in inspect_alone(rounded, [0], [1], epsilon=1.0).findings} <= {"transcript"}


# ----------------------------------------------------------------------------------------------------- names


class Fitted:
    def __init__(self) -> None:
        self.coef_ = np.zeros((1, 2))
        self.info = {"n": 3}
        self._hidden = 1


KEYS, COEF = "the keys of output", ("output.coef_[0, 0]", "output.coef_[0, 1]")


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (1.5, ["output"]),
        ([1, (True, "a")], ["output[0]", "output[1][0]", "output[1][1]"]),
        (np.zeros((1, 2)), ["output[0, 0]", "output[0, 1]"]),
        (np.array(3.0), ["output"]),
        ({"mean": np.zeros(2), "n": 4}, [KEYS, "output['mean'][0]", "output['mean'][1]", "output['n']"]),
        (1 + 2j, ["output.real", "output.imag"]),
        (np.array([None, "a"], dtype=object), ["output[0]", "output[1]"]),
        ({2.0, 1.0}, ["output[0]", "output[1]"]),
        (Raised("ValueError"), ["output"]),
        (
            Fitted(),
            ["the attributes of output", *COEF, "the keys of output.info", "output.info['n']"],
        ),
    ],
)
def test_entries_have_the_names_their_author_knows(output: Any, expected: list[str]) -> None:
    assert names(output) == expected
    assert len(flatten(output)[0]) == len(expected)


def test_many_names_are_cut() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdef")) == "a, b, c, d and 2 more"
    assert names(np.zeros(5000))[-1] == "entry 4999"


# ----------------------------------------------------------------------------------------------------- events


def event(mechanism: Any, dataset: Any = (0, 1, 1), neighbour: Any = (1, 1, 1)) -> str:
    return audit_dp(mechanism, list(dataset), list(neighbour), epsilon=1.0, samples=2000, lints=False).event


def test_an_event_is_told_by_the_entry_that_decides() -> None:
    told = event(lambda d, rng: {"sum": sum(d) + rng.laplace(0, 0.2), "n": len(d)})
    assert "output with entry 2 (of 0–2) " in told
    assert "learned score" not in told
    told = event(lambda d, rng: [rng.normal(), d[0] + rng.normal(0, 0.01)])
    assert told.startswith("output with entry 1 (of 0–1) ≥ ")


def test_an_event_is_told_by_length_keys_or_failure() -> None:
    told = event(lambda d, rng: rng.laplace(size=3 if d[0] else 2))
    assert set(told.split("; ")) <= {
        "output with more than 2 entries is likelier on the neighbour",
        "output with at most 2 entries is likelier on the dataset",
    }
    told = event(lambda d, rng: {str(k): d.count(k) + rng.laplace() for k in set(d)})
    assert set(told.split("; ")) <= {
        "output with entry 0 (of 0–2) = keys '0', '1' is likelier on the dataset",
        "output with entry 0 (of 0–2) = keys '1' is likelier on the neighbour",
        "output with more than 2 entries is likelier on the dataset",
        "output with at most 2 entries is likelier on the neighbour",
    }
    told = event(lambda d, rng: 1 / 0 if d[0] else rng.laplace())
    assert set(told.split("; ")) <= {
        "output raises ZeroDivisionError is likelier on the neighbour",
        "output a number is likelier on the dataset",
    }


@pytest.mark.parametrize("say", [bool, int, lambda b: "yes" if b else "no", lambda b: None if b else 0.0])
def test_twenty_answers_are_learned_from_whatever_they_are_written_in(say: Any) -> None:
    """A sparse vector technique that never stops: each answer says little, all of them much."""
    broken = TWINS["above_threshold"].make(True)
    result = audit_dp(lambda d, rng: [say(b) for b in broken(d, rng)], [0.0], [1.0], epsilon=1.0, samples=5000)
    assert result.epsilon_lower > 1.3  # over seeds: 1.38 to 1.97, whatever it is written in
    assert "at entry" in result.event


def test_a_learned_score_says_which_entries_decide() -> None:
    told = event(lambda d, rng: [rng.normal(), *(d[0] * 0.5 + rng.laplace(size=8)).tolist()])
    assert told.startswith("a learned score on 9 entries, of its weight ")
    assert "at entry 0" not in told


def test_a_sum_is_suspected_although_a_later_one_depends_on_it() -> None:
    """The second sum differs in some runs only; the first, which has too little noise, in all of them."""

    def adaptive(data: list[float], rng: np.random.Generator) -> tuple[float, float]:
        first = sum(data) + rng.laplace(0, 0.5)
        return first, sum(x * (first > 2) for x in data) + rng.laplace(0, 2)

    (finding,) = inspect_alone(adaptive, [0.0, 1, 1], [1.0, 1, 1], epsilon=1.0).findings
    assert finding.kind == "sensitivity"
    assert finding.details["scale"] == 0.5
