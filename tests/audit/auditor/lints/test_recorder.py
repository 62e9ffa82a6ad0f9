"""The recorder sees every kind of noise call, follows noise to where it is added, and puts everything back."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats as st
from numpy.random import laplace as imported_laplace

from audit.auditor.lints.recorder import RecordedRun, Recorder

kept_generator = np.random.default_rng(3)
kept_state = np.random.RandomState(4)


def recorded(run: Any, holders: tuple[Any, ...] = ()) -> RecordedRun:
    with Recorder((run, *holders)) as recorder:
        return recorder.record(run)


def fingerprint() -> tuple[Any, ...]:
    return (
        *(
            getattr(np.random, n)
            for n in ("normal", "laplace", "seed", "default_rng", "Generator", "RandomState", "choice")
        ),
        *(getattr(random, n) for n in ("gauss", "random", "seed", "shuffle", "sample")),
        *(vars(random.Random)[n] for n in ("gauss", "uniform", "seed", "choice")),
        *(vars(c).get("rvs") for c in (st.rv_continuous, st.rv_discrete)),
        imported_laplace,
        kept_generator,
        kept_state,
    )


def test_everything_is_put_back_even_after_an_exception() -> None:
    before = fingerprint()

    def fail() -> None:
        with Recorder() as recorder:
            assert fingerprint() != before
            recorder.record(lambda: np.random.normal())
            raise KeyError("inside")

    with pytest.raises(KeyError):
        fail()
    assert fingerprint() == before
    assert "random" not in vars(random.Random)


CASES: dict[str, tuple[Any, str, str, float, float]] = {
    "legacy": (lambda: np.random.laplace(0.0, 0.5), "numpy.random", "laplace", 0.0, 0.5),
    "imported": (lambda: imported_laplace(scale=0.25), "numpy.random", "laplace", 0.0, 0.25),
    "fresh generator": (lambda: np.random.default_rng(1).normal(2.0, 3.0), "Generator", "normal", 2.0, 3.0),
    "kept generator": (lambda: kept_generator.gumbel(scale=2.0), "Generator", "gumbel", 0.0, 2.0),
    "fresh state": (lambda: np.random.RandomState(1).logistic(0, 4.0), "RandomState", "logistic", 0.0, 4.0),
    "kept state": (lambda: kept_state.standard_normal(), "RandomState", "normal", 0.0, 1.0),
    "python": (lambda: random.gauss(1.0, 2.0), "random", "normal", 1.0, 2.0),
    "python object": (lambda: random.Random(5).normalvariate(0, 2.0), "random.Random", "normal", 0.0, 2.0),
    "rate": (lambda: random.expovariate(4.0), "random", "exponential", 0.0, 0.25),
    "scipy": (lambda: st.laplace.rvs(scale=0.7), "scipy.stats", "laplace", 0.0, 0.7),
    "frozen scipy": (lambda: st.norm(1.0, 2.0).rvs(), "scipy.stats", "normal", 1.0, 2.0),
    "covariance": (
        lambda: np.random.default_rng(1).multivariate_normal([0.0, 0.0], 4 * np.eye(2)),
        "Generator", "multivariate_normal", 0.0, 2.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_way_of_drawing_is_seen_once_with_location_scale_and_line(name: str) -> None:
    run, source, distribution, loc, scale = CASES[name]
    trace = recorded(run)
    assert len(trace.calls) == 1, "draws inside draws are not noise of their own"
    call = trace.calls[0]
    assert (call.source, call.distribution) == (source, distribution)
    assert np.all(np.asarray(call.loc) == loc)
    assert np.all(np.asarray(call.scale) == scale)
    assert call.site.startswith("test_recorder.py:")


def test_between_runs_draws_are_ordinary_numbers() -> None:
    with Recorder() as recorder:
        for draw in (
            lambda: np.random.laplace(),
            lambda: random.gauss(0, 1),
            lambda: st.norm.rvs(),
            lambda: np.random.default_rng(1).normal(),
            lambda: random.choice([1.0, 2.0]),
        ):
            assert type(draw()) in (float, np.float64)
        assert not recorder.listening
        seen = recorder.record(lambda: recorder.listening)
        assert seen.output is True
        with recorder.quietly():
            assert recorder.record(lambda: float(np.random.laplace())).calls == []
    assert recorder.record(lambda: np.random.laplace()).calls == []


def test_what_cannot_be_parsed_is_unknown_noise() -> None:
    trace = recorded(lambda: [np.random.normal(loc=0.0, scale=1.0, size=(2,)), random.expovariate(2.0)])
    assert [(c.distribution, c.shape) for c in trace.calls] == [("normal", (2,)), ("exponential", ())]
    zero = recorded(lambda: random.expovariate(0.0))
    assert zero.error == "ZeroDivisionError"
    assert zero.calls == []


def test_calls_are_told_in_one_line() -> None:
    (call,) = recorded(lambda: np.random.normal(np.zeros(2), 1.23456)).calls
    assert str(call).startswith("numpy.random.normal: normal(loc=array(2,), scale=1.235) at test_recorder.py:")
    assert (call.additive, call.chance, call.hidden, call.has_location) == (True, False, True, False)
    (coin,) = recorded(lambda: np.random.randint(0, 2)).calls
    assert (coin.additive, coin.chance, coin.hidden) == (False, True, True)
    (around,) = recorded(lambda: np.random.laplace(3.0, 1.0)).calls
    assert (around.hidden, around.has_location) == (False, True)


def test_a_draw_that_seeds_a_generator_is_no_chance_of_its_own() -> None:
    (seed, draw) = recorded(lambda: np.random.default_rng(np.random.randint(0, 2**31)).laplace()).calls
    assert (seed.feeds, seed.chance, draw.feeds) == (True, False, False)
    (other, _) = recorded(lambda: (np.random.randint(0, 9), np.random.default_rng(77).laplace())).calls
    assert not other.feeds


def test_a_tilted_run_has_the_noise_that_it_is_given_and_keeps_its_choices() -> None:
    def run() -> Any:
        return np.random.permutation(5), np.random.laplace(0.0, 2.0) + 1.0, np.random.normal(0.0, 3.0, 2) + 1.0

    with Recorder((run,)) as recorder:
        script = recorder.record(run)
        np.random.seed(7)
        still = recorder.tilt(run, script, {})
        given = recorder.tilt(run, script, {1: 0.5, 2: np.array([1.0, -1.0])})
    assert np.array_equal(given.output[0], script.output[0])
    assert given.output[1] == pytest.approx(2.0 * 0.5 + 1)
    assert given.output[2] == pytest.approx([3.0 + 1, -3.0 + 1])
    assert still.output[1] != script.output[1]
    assert given.diverged is None


def test_a_draw_on_another_scale_is_dealt_out_on_that_scale() -> None:
    def run(loc: float, scale: float) -> Any:
        return lambda: float(np.random.laplace(loc, scale))

    with Recorder() as recorder:
        first = recorder.record(run(1.0, 2.0))
        again, moved, none = (recorder.replay(run(*given), first) for given in ((1.0, 6.0), (5.0, 2.0), (1.0, 0.0)))
    assert again.output - 1.0 == pytest.approx(3 * (first.output - 1.0))
    assert moved.output == first.output  # the recorded sum
    assert none.output == 1.0


def test_a_single_argument_of_scipy_is_a_location() -> None:
    cases = [
        (lambda: st.norm.rvs(4.0), False),
        (lambda: st.norm.rvs(4.0, 2.0), True),
        (lambda: st.norm.rvs(scale=2.0), True),
        (lambda: st.norm.rvs(loc=4.0), False),
        (lambda: st.norm.rvs(), True),
        (lambda: st.norm.rvs(0.0), True),
    ]
    assert [recorded(run).calls[0].named_scale for run, _ in cases] == [named for _, named in cases]
    named = {"expon": "exponential", "gumbel_r": "gumbel", "cauchy": "cauchy"}
    for name, distribution in named.items():
        assert recorded(lambda name=name: getattr(st, name).rvs()).calls[0].distribution == distribution  # type: ignore[misc]


def test_generators_in_closures_and_objects_are_seen() -> None:
    hidden = np.random.default_rng(5)

    class Holder:
        def __init__(self) -> None:
            self.rng = np.random.default_rng(6)

        def draw(self) -> float:
            return float(self.rng.laplace())

    holder = Holder()
    assert len(recorded(lambda: hidden.laplace()).calls) == 1
    assert len(recorded(holder.draw).calls) == 1
    assert type(hidden) is type(holder.rng) is np.random.Generator


ADDITIONS: dict[str, Any] = {
    "float + noise": lambda rng: 3.0 + rng.laplace(0, 2.0),
    "noise + float": lambda rng: rng.laplace(0, 2.0) + 3.0,
    "float - noise": lambda rng: 3.0 - rng.laplace(0, 2.0),
    "scaled": lambda rng: 3.0 + 4.0 * rng.laplace(0, 0.5),
    "divided": lambda rng: 3.0 + rng.laplace(0, 4.0) / 2,
    "negated": lambda rng: 3.0 + -rng.laplace(0, 2.0),
    "numpy scalar": lambda rng: np.float64(3.0) + rng.laplace(0, 2.0),
    "unit normal": lambda rng: 3.0 + 2.0 * rng.standard_normal(),
    "gauss": lambda rng: 3.0 + random.gauss(0.0, 2.0),
}


@pytest.mark.parametrize("name", ADDITIONS)
def test_the_quantity_and_the_scale_of_a_sum(name: str) -> None:
    with Recorder() as recorder:
        rng = recorder.generator(np.random.PCG64(1))
        trace = recorder.record(lambda: ADDITIONS[name](rng))
    assert [(a.quantity, float(a.scale)) for a in trace.additions] == [(3.0, 2.0)]
    assert type(trace.output) in (float, np.float64)
    assert trace.output == trace.additions[0].result
    assert not trace.calls[0].hidden


def test_arrays_slices_and_in_place_sums_are_followed() -> None:
    def run(rng: Any) -> Any:
        x = np.arange(4.0)
        a = x + 2 * rng.normal(0, 1.5, 4)
        b = x.copy()
        b += rng.laplace(0, 2.0, size=4)
        noise = rng.laplace(0, 2.0, (2, 4))
        c = [v + 1.0 for v in noise[0]]
        noise += x
        return a, b, c, noise

    with Recorder() as recorder:
        trace = recorder.record(lambda: run(recorder.generator(np.random.PCG64(1))))
    assert [a.call for a in trace.additions] == [0, 1, 2, 2, 2, 2, 2]
    assert float(trace.additions[0].scale) == 3.0
    assert type(trace.output[0]) is type(trace.output[1]) is np.ndarray


@pytest.mark.parametrize(
    "use",
    [
        lambda z: z > 0.3,
        lambda z: abs(z),
        lambda z: np.exp(z),
        lambda z: float(z),
        lambda z: max(z, 0.0),
        lambda z: z * z,
    ],
)
def test_other_uses_make_a_draw_opaque(use: Any) -> None:
    assert recorded(lambda: use(np.random.laplace())).calls[0].opaque


def test_matrix_products_and_sorting_make_an_array_opaque() -> None:
    for use in (lambda z: z @ np.ones(3), lambda z: np.dot(z, np.ones(3)), lambda z: np.sort(z), lambda z: z.sum()):
        trace = recorded(lambda use=use: use(np.random.laplace(size=3)))  # type: ignore[misc]
        assert trace.calls[0].opaque
        assert trace.error is None


def test_writing_into_an_array_of_noise_makes_it_opaque() -> None:
    def run() -> Any:
        noise = np.random.laplace(size=3)
        noise[0] = 0.0
        return noise + 1.0

    trace = recorded(run)
    assert trace.calls[0].opaque
    assert trace.output[0] == 1.0


def test_recording_does_not_change_what_is_drawn() -> None:
    def run() -> list[Any]:
        rng = np.random.default_rng(7)
        np.random.seed(1)
        random.seed(1)
        sample = [
            rng.normal(),
            rng.choice(5),
            rng.permutation(4),
            np.random.laplace(0, 2),
            random.gauss(0, 1),
            random.sample("abc", 2),
        ]
        return [*sample, rng.choice([1.5, 2.5], size=3, p=[0.5, 0.5]), rng.integers(0, 9, 3)]

    plain = run()
    trace = recorded(run)
    assert trace.error is None
    assert all(np.array_equal(a, b) for a, b in zip(plain, trace.output, strict=True))


def test_a_replay_repeats_draws_choices_and_sums() -> None:
    def run(x: Any) -> Any:
        rng = np.random.default_rng()
        batch = rng.choice(len(x), size=2, replace=False)
        items = list(range(5))
        random.shuffle(items)
        return x[batch].sum() + rng.laplace(0, 2.0), batch, items, random.choice("abcdef")

    x = np.arange(6.0)
    with Recorder((run,)) as recorder:
        first = recorder.record(lambda: run(x))
        again = recorder.replay(lambda: run(x), first)
        moved = recorder.replay(lambda: run(x + 10), first)
    assert again.diverged is None
    assert all(np.array_equal(a, b) for a, b in zip(first.output, again.output, strict=True))
    assert moved.output[0] == first.output[0], "a noisy sum comes out as it was"
    assert moved.additions[0].quantity - first.additions[0].quantity == 20.0


def test_a_replay_notices_another_course() -> None:
    def run(twice: bool) -> float:
        return np.random.laplace() + (np.random.laplace() if twice else 0.0)

    with Recorder((run,)) as recorder:
        first = recorder.record(lambda: run(False))
        assert "was not made before" in str(recorder.replay(lambda: run(True), first).diverged)
        second = recorder.record(lambda: run(True))
        assert "was not made" in str(recorder.replay(lambda: run(False), second).diverged)


def test_seeding_inside_a_call_is_noted() -> None:
    def run() -> None:
        np.random.seed(1)
        random.seed(2)
        np.random.default_rng(3)
        np.random.RandomState(4)
        random.Random(5)
        np.random.default_rng()

    assert [s for _, s in recorded(run).seeds] == [1, 2, 3, 4, 5, None]


def test_isinstance_stays_true_in_watched_code() -> None:
    def run() -> bool:
        rng = np.random.default_rng(0)
        return isinstance(rng, np.random.Generator) and isinstance(kept_state, np.random.RandomState)

    assert recorded(run).output is True


@pytest.mark.parametrize("name", ["audit.mine", "bench.mine", "audit.auditor.lints.noise"])
def test_a_users_package_of_our_name_is_recorded(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from numpy.random import laplace\n\ndef release():\n    return 1.0 + laplace(scale=2.0)\n")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)
    assert spec.loader is not None
    spec.loader.exec_module(module)
    trace = recorded(lambda: module.release())
    assert [call.site for call in trace.calls] == ["mine.py:4 in release"]
    assert trace.calls[0].scale == 2.0


def test_our_own_modules_are_left_alone() -> None:
    from audit.auditor.lints import noise, patches

    assert patches._is_library(noise.__name__, noise)
    assert not patches._is_library(__name__, sys.modules[__name__])
