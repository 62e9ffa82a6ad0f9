"""Lints and replay: each bug class is found in its specimen, and nothing is found where nothing is wrong."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints import replay
from audit.auditor.lints import rules as lints
from audit.auditor.lints.recorder import DOUBLE, SINGLE, NoiseCall, RecordedRun
from audit.auditor.lints.rules import (
    Inspection,
    _chance_of_repeats,
    _grid,
    _repeated_noise,
    enough_calls,
    significant,
)
from audit.auditor.terms.claim import Epsilon
from bench.foreign import REMARKS, inspect_alone, look
from bench.specimens import Specimen, specimens
from bench.zoo import entries

SPECIMENS = {s.name: s for s in specimens()}
CORRECT = {e.name: e for e in entries() if e.correct}
LOOKED_AT = [s for s in SPECIMENS.values() if s.kinds]


def kinds(inspection: Inspection) -> set[str]:
    return {f.kind for f in inspection.findings} - REMARKS


@pytest.mark.parametrize("specimen", LOOKED_AT, ids=lambda s: s.name)
def test_the_bug_is_found_by_looking(specimen: Specimen) -> None:
    for seed in (0, 1):
        seen = look(specimen, specimen.make, seed)
        assert kinds(seen) & specimen.kinds, str(seen)
        assert seen.calls <= 250


@pytest.mark.parametrize("specimen", SPECIMENS.values(), ids=lambda s: s.name)
def test_the_repaired_twin_is_silent(specimen: Specimen) -> None:
    for seed in (0, 1):
        assert kinds(look(specimen, specimen.repaired, seed)) == set()


@pytest.mark.parametrize("name", CORRECT)
def test_correct_mechanisms_of_the_zoo_are_silent(name: str) -> None:
    e = CORRECT[name]
    for seed in (0, 1):
        seen = inspect_alone(e.mechanism, e.dataset, e.neighbour, epsilon=e.epsilon, delta=e.delta, seed=seed)
        assert kinds(seen) == set(), str(seen)


# ----------------------------------------------------------------------------------------- the level of the lints


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.0), (1.0, 0.0), (1.0, 0.1), (3.0, 1e-3)])
def test_always_here_never_there_has_the_stated_largest_chance(epsilon: float, delta: float) -> None:
    """The bound of the docstring against a grid of all (p, r) that (ε, δ)-DP allows."""
    p, r = np.meshgrid(np.linspace(0, 1, 801), np.linspace(0, 1, 801))
    e = math.exp(epsilon)
    allowed = (p <= e * (1 - r) + delta) & (r <= e * (1 - p) + delta)
    largest = float(np.sqrt((p * r)[allowed].max()))
    bound = math.exp(lints._log_chance(Epsilon(epsilon, delta)))
    assert largest <= bound + 1e-12
    assert largest >= bound - 2e-3


def test_enough_calls_are_enough_where_they_can_be() -> None:
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        claim = Epsilon(epsilon, 1e-5)
        assert significant(claim, enough_calls(claim))
    assert not significant(Epsilon(1.0), 10)
    assert enough_calls(Epsilon(8.0)) == lints.CALLS
    assert not significant(Epsilon(8.0), lints.MOST_CALLS)


def test_a_nearly_constant_answer_at_large_epsilon_is_no_finding() -> None:
    """Randomised response at ε = 8 gives the true answer 24 times in 24 most of the time: that is its right."""

    def response(data: list[int], rng: np.random.Generator) -> int:
        return data[0] if rng.random() < 1 / (1 + math.exp(-8)) else 1 - data[0]

    assert kinds(inspect_alone(response, [0], [1], epsilon=8.0)) == set()


def test_warner_response_is_no_finding() -> None:
    """Coins drawn with `choice` look like a choice of records and are not."""

    def response(data: list[int], rng: np.random.Generator) -> int:
        return data[0] if rng.choice([True, False]) else int(rng.choice([0, 1]))

    assert kinds(inspect_alone(response, [0, 0, 0], [1, 0, 0], epsilon=math.log(3))) == set()


def test_noise_by_inversion_is_no_finding() -> None:
    """The sum `random() − 1/2` is not the place where the data are."""

    def inverted(data: list[float], rng: np.random.Generator) -> float:
        u = rng.random() - 0.5
        return data[0] - math.copysign(math.log(1 - 2 * abs(u)), u)

    assert kinds(inspect_alone(inverted, [0.0], [1.0], epsilon=1.0)) == set()


def test_noise_drawn_around_the_answer_is_followed() -> None:
    def around(scale: float) -> Any:
        return lambda data, rng: float(np.clip(rng.laplace(sum(data), scale), -50, 50))

    assert kinds(inspect_alone(around(1.0), [0.0, 2.0], [1.0, 2.0], epsilon=1.0)) == set()
    assert kinds(inspect_alone(around(1.0), [0.0, 0.0], [1.0, 0.0], epsilon=1.0)) == set()
    assert kinds(inspect_alone(around(0.5), [0.0, 2.0], [1.0, 2.0], epsilon=1.0)) == {"sensitivity"}
    assert kinds(inspect_alone(around(0.5), [0.0, 0.0], [1.0, 0.0], epsilon=1.0)) == {"sensitivity"}


def test_unseen_randomness_stops_the_replay() -> None:
    import os

    def secret(data: list[float], rng: np.random.Generator) -> float:
        return data[0] + int.from_bytes(os.urandom(4), "big") / 2**32 + rng.laplace(0, 0.01)

    assert "sensitivity" not in kinds(inspect_alone(secret, [0.0], [1.0], epsilon=1.0))


def test_subsampling_is_credited_with_amplification() -> None:
    """A noisy gradient on a batch of 2 of 20 with ε₀ = ln(1 + (e^ε − 1)/0.1) is correct at ε by amplification."""
    epsilon = 1.0
    local = math.log1p(math.expm1(epsilon) / 0.1)

    def step(scale: float) -> Any:
        def mechanism(data: Any, rng: np.random.Generator) -> float:
            batch = rng.choice(len(data), size=2, replace=False)
            return float(data[batch].sum() + rng.laplace(0.0, scale))

        return mechanism

    one, zero = np.zeros(20), np.zeros(20)
    one[0] = 1.0
    assert kinds(inspect_alone(step(1 / local), zero, one, epsilon=epsilon)) == set()
    assert kinds(inspect_alone(step(0.3 / local), zero, one, epsilon=epsilon)) == {"sensitivity"}


# -------------------------------------------------------------------------------------------- losses of one sum


def test_the_loss_of_one_sum_against_closed_forms() -> None:
    for mu, delta in ((1.0, 1e-5), (0.25, 1e-6), (3.7, 1e-5)):
        e = replay.gaussian_epsilon(mu, delta)
        tail = 0.5 * math.erfc((e / mu - mu / 2) / math.sqrt(2)) - math.exp(e) * 0.5 * math.erfc(
            (e / mu + mu / 2) / math.sqrt(2)
        )
        assert tail == pytest.approx(delta, rel=1e-6)
    assert replay.gaussian_epsilon(1.0, 0.0) == math.inf
    assert replay.laplace_epsilon(2.0, 0.0) == 2.0
    delta = 1 - math.exp((1.0 - 2.0) / 2)
    assert replay.laplace_epsilon(2.0, delta) == pytest.approx(1.0)
    assert replay.amplified(1.0, 1.0) == 1.0
    assert replay.amplified(1.0, 0.1) == pytest.approx(math.log(1 + 0.1 * (math.e - 1)))


def test_the_first_sum_with_too_little_noise_is_named() -> None:
    def two_steps(data: Any, rng: np.random.Generator) -> Any:
        first = data.sum() + rng.laplace(0.0, 2.0)
        second = 3 * data.sum() + rng.laplace(0.0, 2.0)
        return first, second

    seen = inspect_alone(two_steps, np.zeros(3), np.array([1.0, 0, 0]), epsilon=1.0)
    finding = next(f for f in seen.findings if f.kind == "sensitivity")
    assert finding.details["difference"] == 3.0
    assert finding.details["epsilon"] == pytest.approx(1.5)
    first_line = two_steps.__code__.co_firstlineno
    assert f":{first_line + 2} in" in finding.details["site"]


def test_the_list_of_draws_is_readable() -> None:
    seen = look(SPECIMENS["scale-as-loc"], SPECIMENS["scale-as-loc"].make, 0)
    assert any("laplace(loc=4, scale=1)" in line for line in seen.noise)
    assert "scale-as-loc" in str(seen)


def test_mechanisms_that_work_in_batches_are_looked_at_too() -> None:
    def batch(data: Any, size: int, rng: np.random.Generator) -> Any:
        return data[0] + rng.laplace(0.0, 0.25, size)

    assert kinds(inspect_alone(batch, [0.0], [1.0], epsilon=1.0)) == {"sensitivity"}


def test_looking_restores_global_generators() -> None:
    np.random.seed(5)
    before = np.random.get_state(legacy=True)[1].copy()  # type: ignore[index]
    look(SPECIMENS["byte-seed"], SPECIMENS["byte-seed"].make, 0)
    assert np.array_equal(before, np.random.get_state(legacy=True)[1])  # type: ignore[index]


def test_a_hanging_mechanism_is_interrupted() -> None:
    from audit.auditor.targets.containment import MechanismTimeout

    def hangs(_data: Any, _rng: Any) -> float:
        time.sleep(60)
        return 0.0

    normal = np.random.normal
    with pytest.raises(MechanismTimeout):
        inspect_alone(hangs, [0.0], [1.0], epsilon=1.0, timeout=0.2)
    assert np.random.normal is normal


def test_a_spread_that_grows_is_seen_without_the_recorder() -> None:
    """Noise made by hand from bytes: no call to record, but the outputs spread more at a larger ε."""

    def make(epsilon: float) -> Any:
        def mechanism(data: Any, rng: np.random.Generator) -> float:
            u = (int.from_bytes(rng.bytes(6), "big") + 0.5) / 2**48
            return float(data[0] + epsilon * math.log(u / (1 - u)))

        return mechanism

    seen = inspect_alone(make(1.0), [0.0], [1.0], epsilon=1.0, make=make)
    assert kinds(seen) == {"noise-grows-with-epsilon"}


def test_a_wider_output_of_less_noise_is_no_finding() -> None:
    """Objective perturbation regularises less at a larger ε: its output may spread more although it is noised less."""

    def make(epsilon: float) -> Any:
        weight = math.exp(-epsilon)
        return lambda data, rng: float(np.tanh(rng.laplace(0, 2 / epsilon)) / weight)

    wide = [np.std([make(e)([0.0], np.random.default_rng(s)) for s in range(50)]) for e in (1.0, 16.0)]
    assert wide[1] > 100 * wide[0]
    assert "noise-grows-with-epsilon" not in kinds(inspect_alone(make(1.0), [0.0], [1.0], epsilon=1.0, make=make))


@pytest.mark.parametrize(
    ("rounding", "repeats", "found"), [(DOUBLE, 1, True), (SINGLE, 1, False), (SINGLE, 2, True), (SINGLE, 0, False)]
)
def test_one_coincidence_of_two_numbers_of_32_bits_is_chance(rounding: float, repeats: int, found: bool) -> None:
    """Among 120 draws of 32 bits a pair is equal with a chance of 4e-4, two pairs with one of 1e-7."""
    values = [0.25 + i for i in range(20)] + [0.25 + i for i in range(repeats)]
    runs = [
        RecordedRun([NoiseCall(0, "", "", "normal", 0.0, 1.0, True, "here", (), value, additions=1, rounding=rounding)])
        for value in values
    ]
    assert (_repeated_noise(runs) is not None) == found


def test_numbers_that_all_but_coincide_repeat_by_chance_and_are_no_error() -> None:
    """What an algorithm with hardly any noise puts out: a spread of nothing, and many coincidences."""
    together = [1.0, *(1.0 + 2.0**-50,) * 30]
    assert _chance_of_repeats([together, together], 28) == 1.0
    apart = [0.1 * 2.0**-40 * k + k / 7 for k in range(100)]
    expected = sum(math.comb(100, 2) * _typical_grid(apart) / _middle(apart) for _ in range(2))
    assert _chance_of_repeats([apart, apart], 3) == pytest.approx(expected**3 / 6, rel=1e-9)
    assert _chance_of_repeats([[1.0], [2.0]], 3) == 0.0


def _typical_grid(values: list[float]) -> float:
    return float(np.median([_grid(x) for x in values]))


def _middle(values: list[float]) -> float:
    return float(np.quantile(values, 0.75) - np.quantile(values, 0.25))
