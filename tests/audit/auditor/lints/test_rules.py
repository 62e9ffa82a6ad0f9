"""Lints and replay: each bug class is found in its specimen, and nothing is found where nothing is wrong."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from audit.auditor.lints import replay
from audit.auditor.lints import rules as lints
from audit.auditor.lints.recorder import DOUBLE, SINGLE, Addition, NoiseCall, RecordedRun
from audit.auditor.lints.replay import ComparedSum, Replayed
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


# -------------------------------------------------------------------------------------- rules on runs by hand


def drawn(index: int = 0, distribution: str = "laplace", loc: Any = 0.0, scale: Any = 2.0, **more: Any) -> NoiseCall:
    """A draw that was added once."""
    given = {"value": 0.5 + index, "additions": 1, "site": "here", "named": True} | more
    named, site = given.pop("named"), given.pop("site")
    return NoiseCall(index, "numpy", distribution, distribution, loc, scale, named, site, (), **given)


def outputs(*values: Any, calls: tuple[NoiseCall, ...] = ()) -> list[RecordedRun]:
    """Runs with these outputs."""
    return [RecordedRun(list(calls), output=value) for value in values]


CLAIM = Epsilon(1.0)
CALLS = 24


def test_significance_is_a_matter_of_calls_and_of_the_claim() -> None:
    """At ε = 1 the chance of a call is e/(1 + e): to the power of 2K it is under 1e-6 from K = 23 on."""
    assert [significant(CLAIM, calls) for calls in (22, 23)] == [False, True]
    assert significant(Epsilon(0.0), 10)
    assert not significant(Epsilon(0.0), 9)
    assert significant(Epsilon(0.0, 0.5), 25)  # s = 3/4: 2K ln(4/3) ≥ 6 ln 10 from K = 24.01 on
    assert not significant(Epsilon(0.0, 0.5), 24)
    assert [enough_calls(Epsilon(e)) for e in (0.0, 1.0, 2.0, 2.1, 2.2, 800.0)] == [24, 24, 55, 60, 24, 24]


def test_outputs_that_never_vary() -> None:
    (found,) = lints._outputs((outputs(*[1.0] * CALLS), outputs(*[2.0] * CALLS)), CLAIM)
    assert (found.kind, found.details) == ("deterministic", {"contradicts": True})
    assert found.message == "the outputs never varied in 24 calls a side, and they differ between the datasets"
    (same,) = lints._outputs((outputs(*[1.0] * CALLS), outputs(*[1.0] * CALLS)), CLAIM)
    assert (same.message, same.details["contradicts"]) == (
        "the outputs never varied in 24 calls a side, on both datasets",
        False,
    )
    noisy = outputs(*[1.0] * CALLS, calls=(drawn(),))
    assert lints._outputs((noisy, noisy), CLAIM) == []
    assert lints._outputs((noisy, outputs(*[2.0] * CALLS)), CLAIM)[0].details["contradicts"]
    few = outputs(*[1.0] * 20), outputs(*[2.0] * 20)
    assert lints._outputs(few, CLAIM) == []
    assert lints._outputs((outputs(*[1.0] * 23), outputs(*[1.0] * 23)), CLAIM) == []


def test_shapes_and_exceptions_that_tell_the_side() -> None:
    long, short = outputs(*[[1.0, float(i)] for i in range(CALLS)]), outputs(*[[float(i)] for i in range(CALLS)])
    (found,) = lints._outputs((long, short), CLAIM)
    assert found.kind == "shape-depends-on-data"
    assert (
        found.message == "always a list of 2 values on the dataset, a list of 1 values on the neighbour (24 calls each)"
    )
    assert lints._outputs((long[:5], short[:5]), CLAIM) == []
    fixed = outputs(*[[1.0, 2.0]] * 5), outputs(*[[1.0]] * 5)
    assert lints._outputs(fixed, CLAIM)[0].kind == "shape-depends-on-data"  # nothing was drawn: no chance
    raising = [RecordedRun(error="KeyError") for _ in range(CALLS)]
    (one_sided,) = lints._outputs((raising, short), CLAIM)
    assert (one_sided.kind, one_sided.details) == ("one-sided-exceptions", {"dataset": 24, "neighbour": 0})
    assert one_sided.message == "exceptions on one side only: 24 of 24 calls on the dataset, 0 on the neighbour"
    other = [RecordedRun(error="ValueError") for _ in range(CALLS)]
    (kinds_of_it,) = lints._outputs((raising, other), CLAIM)
    assert kinds_of_it.message.startswith("always KeyError raised on the dataset, ValueError raised on the neighbour")


def test_entries_that_never_vary() -> None:
    sides = [[[side, float(i), 5.0, "a"] for i in range(CALLS)] for side in (1.0, 2.0)]
    (found,) = lints._outputs((outputs(*sides[0]), outputs(*sides[1])), CLAIM)
    assert (found.kind, found.details) == ("unnoised-output", {"positions": [0]})
    assert "output[0] had one value on the dataset and another on the neighbour, in 24 calls each" in found.message
    assert lints._outputs((outputs(*sides[0][:20]), outputs(*sides[1][:20])), CLAIM) == []
    words = [[[float(i), word] for i in range(CALLS)] for word in ("a", "b")]
    assert lints._outputs((outputs(*words[0]), outputs(*words[1])), CLAIM)[0].details == {"positions": [1]}


def test_parts_that_cannot_be_read_are_told_once_a_type() -> None:
    found = lints._unread((outputs([object(), 1.0, object()]), outputs([1.0])))
    assert [f.details for f in found] == [{"types": ["object"]}]
    assert lints._unread((outputs(1.0), outputs("a"))) == []


def seeded(seeds: list[Any], values: list[float], additions: int = 1) -> Any:
    runs = [
        RecordedRun([drawn(value=v, additions=additions)], seeds=[("numpy.random.seed", s)])
        for s, v in zip(seeds, values, strict=True)
    ]
    return runs[: len(runs) // 2], runs[len(runs) // 2 :]


def test_seeds_inside_a_call() -> None:
    apart = [0.1 * i for i in range(8)]
    (found,) = lints._seeds(seeded([7] * 8, [0.5] * 8))
    assert (found.kind, found.details) == ("reseeded", {"seeds": [7]})
    assert found.message == (
        "noise repeats from call to call: the draw at here came out the same in different calls;"
        " numpy.random.seed is called inside the mechanism, with the constant 7"
    )
    (small,) = lints._seeds(seeded([*range(65_528, 65_536)], apart))
    assert small.message == (
        "noise repeats from call to call; numpy.random.seed is called inside the mechanism, with 8 different seeds in"
        " 8 calls, all below 65536"
    )
    assert len(small.details["seeds"]) == 8
    assert lints._seeds(seeded([*range(65_529, 65_537)], apart)) == []
    assert lints._seeds(seeded([None, *range(7)], apart)) == []  # seven seeds say nothing
    assert len(lints._seeds(seeded(list(range(10)), [*apart, 5.0, 6.0]))[0].details["seeds"]) == 8
    silent = [RecordedRun(seeds=[("s", i)]) for i in range(8)]
    assert lints._seeds((silent, [])) == []


def test_noise_that_repeats_must_have_been_added() -> None:
    assert _repeated_noise([*seeded([None] * 2, [0.5, 0.5])[0], *seeded([None] * 2, [0.5, 0.5])[1]]) == "here"
    hidden = seeded([None] * 2, [0.5, 0.5], additions=0)
    assert _repeated_noise([*hidden[0], *hidden[1]]) is None
    same_run = RecordedRun([drawn(0, value=0.5), drawn(1, value=0.5)])
    assert _repeated_noise([same_run]) is None
    vector = [RecordedRun([drawn(value=np.array([0.5, 1.5]), rounding=SINGLE)]) for _ in range(2)]
    assert _repeated_noise(vector) == "here"
    elsewhere = [RecordedRun([drawn(value=0.5, site=site)]) for site in ("here", "there")]
    assert _repeated_noise(elsewhere) is None


def test_numbers_that_repeat_on_one_side_only() -> None:
    rng = np.random.default_rng(0)
    apart = rng.normal(size=20).tolist()
    twice = [*apart[:5], *apart[:5], -9.5, 9.5]
    other = rng.normal(size=12).tolist()
    (found,) = lints._repeated_floats((outputs(*twice), outputs(*other)))
    assert (found.kind, found.details["position"]) == ("repeated-floats", 0)
    assert found.details["values"] == 5
    assert found.message.startswith("output repeats to the last digit (5 values, one is ")
    assert lints._repeated_floats((outputs(*apart), outputs(*other))) == []
    assert lints._repeated_floats((outputs(*twice), outputs(*twice))) == []  # on both datasets: no noise at all
    whole = [float(round(x * 10)) for x in twice]
    assert lints._repeated_floats((outputs(*whole), outputs(*other))) == []
    for call in (drawn(0, "choice"), drawn(0, additions=0)):
        assert lints._repeated_floats((outputs(*twice, calls=(call,)), outputs(*other))) == []
    assert lints._repeated_floats((outputs(*twice, calls=(drawn(),)), outputs(*other))) != []
    clipped = [-9.0, -9.0, -9.0, *apart, 9.5, 9.5]
    assert lints._repeated_floats((outputs(*[x + 0.25 for x in clipped]), outputs(*other))) == []
    second = lints._repeated_floats((outputs(*[[1.0, x] for x in twice]), outputs(*[[1.0, x] for x in other])))
    assert second[0].details["position"] == 1


def test_the_grid_of_a_number() -> None:
    assert [_grid(x) for x in (0.5, 0.75, 1.25, 0.1, 2.0, 1e-3)] == [0.5, 0.25, 0.25, 0.1, 1.0, 1e-3]


def test_a_location_in_the_place_of_a_scale() -> None:
    wrong = drawn(loc=4.0, scale=1.0, named=False)
    (found,) = lints._locations((outputs(1.0, calls=(wrong,)), outputs(1.0, calls=(wrong,))))
    assert (found.kind, found.details) == ("scale-as-loc", {"site": "here"})
    for other in (drawn(loc=5.0, named=False), drawn(loc=4.0, site="there"), drawn(loc=np.array([4.0]))):
        assert lints._locations((outputs(1.0, calls=(wrong,)), outputs(1.0, calls=(other,)))) == []
    for right in (drawn(loc=4.0), drawn(named=False)):
        assert lints._locations((outputs(1.0, calls=(right,)), outputs(1.0, calls=(right,)))) == []


def test_noise_on_one_side_only() -> None:
    quiet, noisy = outputs(*[1.0] * CALLS), outputs(*[1.0] * CALLS, calls=(drawn(),))
    (found,) = lints._one_sided((noisy, quiet), CLAIM)
    assert (found.kind, found.message) == ("one-sided-noise", "the noise at here is drawn on the dataset only")
    assert lints._one_sided((quiet, noisy), CLAIM)[0].message.endswith("on the neighbour only")
    assert lints._one_sided((noisy, noisy), CLAIM) == []
    assert lints._one_sided((noisy[:22], quiet[:22]), CLAIM) == []
    assert lints._one_sided(([*noisy[1:], quiet[0]], quiet), CLAIM) == []
    assert lints._one_sided((noisy, [*quiet[1:], noisy[0]]), CLAIM) == []
    twice = outputs(*[1.0] * CALLS, calls=(drawn(0), drawn(1)))
    assert len(lints._one_sided((twice, quiet), CLAIM)) == 1


def test_a_mechanism_without_data() -> None:
    def runs(count: int = 8, call: NoiseCall | None = None, second: Any = None, *sums: ComparedSum) -> list[Replayed]:
        first = [RecordedRun([call or drawn()], output=float(i)) for i in range(count)]
        return [
            Replayed(run, RecordedRun(output=run.output if second is None else second), list(sums)) for run in first
        ]

    (found,) = lints._no_effect(runs())
    assert found.kind == "data-independent"
    assert found.message.endswith("gave equal outputs and quantities, 8 times of 8")
    assert lints._no_effect(runs(7)) == []
    assert lints._no_effect(runs(8, None, 5.0)) == []
    assert lints._no_effect(runs(8, drawn(0, "uniform"))) == []
    assert lints._no_effect(runs(8, drawn(opaque=True))) == []
    assert lints._no_effect(runs(8, None, None, ComparedSum(drawn(), 1.0, 2.0, 2.0, ()))) == []
    assert lints._no_effect(runs(8, None, None, ComparedSum(drawn(), 0.0, 2.0, 3.0, ()))) == []
    assert lints._no_effect([*runs(8), *runs(1)]) == []  # an output that came twice


def with_scale(scale: Any, site: str = "here", **more: Any) -> RecordedRun:
    call = drawn(0, scale=scale, site=site, **more)
    return RecordedRun([call], [] if call.loc else [Addition(0, 1.0, scale, 2.0, ())], output=1.0)


def test_the_scale_of_each_line_is_that_of_its_first_sum() -> None:
    runs = [with_scale(np.array([1.0, 3.0])), with_scale(9.0), with_scale(2.0, "there", loc=4.0)]
    assert lints._effective(runs) == {"here": 3.0, "there": 2.0}
    assert lints._effective([with_scale(3.0, opaque=True)]) == {}


def test_noise_must_shrink_as_epsilon_grows() -> None:
    base = [with_scale(2.0)]
    (found,) = lints._scales(base, [with_scale(3.0)], set(), 0.5)
    assert (found.kind, found.message) == (
        "noise-grows-with-epsilon",
        "the noise at here has scale 2 at ε = 0.5 and 3 at ε = 8",
    )
    (ignored,) = lints._scales(base, [with_scale(2.0)], {"here"}, 0.5)
    assert (ignored.kind, ignored.details) == ("scale-ignores-epsilon", {"site": "here"})
    assert lints._scales(base, [with_scale(2.0)], {"there"}, 0.5) == []
    assert lints._scales(base, [with_scale(1.0)], {"here"}, 0.5) == []
    assert lints._scales(base, [with_scale(3.0, "there")], set(), 0.5) == []
    assert lints._all_shrink(base, [with_scale(1.0)])
    assert not lints._all_shrink(base, [with_scale(2.0)])
    assert not lints._all_shrink(base, [with_scale(1.0, "there")])
    assert not lints._all_shrink([], [])
    hidden = [[RecordedRun([drawn(scale=1.0, opaque=True, factor=f)])] for f in (4.0, 2.0)]
    assert lints._all_shrink(*hidden)
    assert not lints._all_shrink(*reversed(hidden))


def test_a_spread_that_grows_is_a_finding_of_rank() -> None:
    narrow, wide = np.linspace(-1, 1, 25), np.linspace(-50, 50, 33)
    (found,) = lints._spread(outputs(*narrow.tolist()), outputs(*wide.tolist()), 0.5)
    assert (found.kind, "spreads more at ε = 8 than at ε = 0.5" in found.message) == ("noise-grows-with-epsilon", True)
    assert found.details["p"] <= 1e-6
    assert lints._spread(outputs(*wide.tolist()), outputs(*narrow.tolist()), 0.5) == []
    assert lints._spread(outputs(*narrow.tolist()), outputs(*(1.2 * narrow).tolist()), 0.5) == []
    words = outputs(*[["a", x] for x in narrow.tolist()]), outputs(*[["a", x] for x in wide.tolist()])
    assert lints._spread(*words, 0.5)[0].message.startswith("output[1] ")
    assert lints._spread(outputs(*[0.0, 1.0] * 12), outputs(*wide.tolist()), 0.5) == []


def test_each_kind_and_each_line_is_told_once() -> None:
    first, second, third = (lints.Finding(kind, text) for kind, text in (("a", "1"), ("b", "2"), ("a", "3")))
    assert lints._once([first, third, second]) == [first, second]
    sites = lints._sites((outputs(1.0, calls=(drawn(), drawn(1))), outputs(1.0, calls=(drawn(0, site="there"),))))
    assert [text.rpartition(" at ")[2] for text in sites] == ["here", "there"]


# ------------------------------------------------------------------------------------- specimens, and what is right


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
