"""Tapes: keyed, declared, recorded, replayed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.engine.numpy_tape import NumpyTape
from reference.numerics.numbers import MP, Ball, Float64
from reference.numerics.tape import (
    DRAW_KINDS,
    GRID,
    Draw,
    RecordingTape,
    ReplayTape,
    SeededTape,
    SystemTape,
    Tape,
    TapeError,
    ZeroTape,
    dumps,
    reading,
)

DECLARED = (
    Draw("xi", (1,), "normal", 3),
    Draw("b", (0, 2), "laplace", 2),
    Draw("G", (4,), "gumbel", 2),
    Draw("E", (), "exponential", 1),
    Draw("pi", (), "permutation", 5),
    Draw("out", (), "index", 7),
)
LIVE: list[Callable[[], Tape]] = [lambda: SeededTape(1), lambda: NumpyTape(1), SystemTape, ZeroTape]


def read_all(tape: Tape) -> tuple[object, ...]:
    with reading(tape, DECLARED) as t:
        return (
            t.normal("xi", 1, dim=3),
            t.laplace("b", 0, 2, dim=2),
            t.gumbel("G", 4, dim=2),
            t.exponential("E", dim=1),
            t.permutation("pi", dim=5),
            t.index("out", dim=7),
        )


@pytest.mark.parametrize("make", LIVE)
def test_every_live_tape_serves_every_kind(make: Callable[[], Tape]) -> None:
    normal, laplace, gumbel, exponential, permutation, index = read_all(make())
    assert [len(v) for v in (normal, laplace, gumbel, exponential)] == [3, 2, 2, 1]  # type: ignore[arg-type]
    assert sorted(permutation) == list(range(5))  # type: ignore[call-overload]
    assert 0 <= index < 7  # type: ignore[operator]


@pytest.mark.parametrize("make", [SeededTape, NumpyTape])
def test_seeded_tapes_are_keyed_not_ordered(make: Callable[[int], Tape]) -> None:
    first, second = make(3), make(3)
    forward = [first.read(d) for d in DECLARED]
    backward = [second.read(d) for d in reversed(DECLARED)]
    assert forward == backward[::-1]
    assert [make(4).read(d) for d in DECLARED] != forward


@pytest.mark.parametrize("make", [SeededTape, NumpyTape])
@pytest.mark.parametrize(
    ("kind", "mean", "variance"),
    [("normal", 0, 1), ("laplace", 0, 2), ("gumbel", 0.5772156649, math.pi**2 / 6), ("exponential", 1, 1)],
)
def test_draws_are_unit(make: Callable[[int], Tape], kind: str, mean: float, variance: float) -> None:
    """Mean and variance of 20000 draws within six standard errors (false alarm below 1e-8 a test; seeded)."""
    n = 20_000
    values = make(0).read(Draw("x", (), kind, n))  # type: ignore[arg-type]
    average = math.fsum(values) / n
    spread = math.fsum((v - average) ** 2 for v in values) / n
    fourth = math.fsum((v - average) ** 4 for v in values) / n
    assert abs(average - mean) < 6 * math.sqrt(variance / n)
    assert abs(spread - variance) < 6 * math.sqrt((fourth - spread**2) / n)
    if kind == "gumbel":  # maximum type: skewed to the right (+1.14), the sign that noisy-min depends on
        assert math.fsum((v - average) ** 3 for v in values) / n > 1


def test_recorded_draws_replay_exactly() -> None:
    recorder = RecordingTape(SeededTape(5))
    first = read_all(recorder)
    assert read_all(recorder.replay()) == first
    text = dumps(recorder.replay())
    assert read_all(ReplayTape.from_json(json.loads(text))) == first
    assert dumps(ReplayTape.from_json(json.loads(text))) == text


def test_stored_draws_are_exact_in_every_number_system() -> None:
    recorder = RecordingTape(SeededTape(5))
    values = recorder.normal("xi", 1, dim=3)
    assert all((Fraction(v) * GRID).denominator == 1 for v in values)
    for K in (Float64(), MP(20), Ball(60)):
        assert [K.to_float(x) for x in K.vector(values)] == list(values)
    assert all(x.rad == 0 for x in Ball(60).vector(values))


def test_an_undeclared_draw_is_an_error() -> None:
    with pytest.raises(TapeError, match=r"zeta\[1\].*not declared"), reading(SeededTape(0), DECLARED) as tape:
        tape.normal("zeta", 1, dim=3)


def test_a_draw_of_the_wrong_size_is_an_error() -> None:
    with pytest.raises(TapeError, match="not declared"), reading(SeededTape(0), DECLARED) as tape:
        tape.normal("xi", 1, dim=4)


def test_a_draw_read_twice_is_an_error() -> None:
    with reading(SeededTape(0), DECLARED[:1]) as tape:
        tape.normal("xi", 1, dim=3)
        with pytest.raises(TapeError, match="twice"):
            tape.normal("xi", 1, dim=3)


def test_a_draw_left_unread_is_an_error() -> None:
    with pytest.raises(TapeError, match="never read"), reading(SeededTape(0), DECLARED) as tape:
        tape.normal("xi", 1, dim=3)


def test_an_exception_inside_is_not_masked() -> None:
    with pytest.raises(ZeroDivisionError), reading(SeededTape(0), DECLARED):
        _ = 1 // 0


def test_a_stored_tape_must_fit_exactly() -> None:
    recorder = RecordingTape(SeededTape(5))
    read_all(recorder)
    records = dict(recorder.records)
    removed = records.pop(DECLARED[0])
    with pytest.raises(TapeError, match=r"missing: xi\[1\]"):
        read_all(ReplayTape(records))
    extra = {**records, DECLARED[0]: removed, Draw("zeta", (), "normal", 1): (0.5,)}
    with pytest.raises(TapeError, match=r"unused: zeta\[\]"):
        read_all(ReplayTape(extra))
    with pytest.raises(TapeError, match="not on the tape"):
        ReplayTape(records).read(DECLARED[0])


@pytest.mark.parametrize(
    ("key", "entry", "message"),
    [
        ("xi", {"kind": "normal", "dim": 1, "values": ["0"]}, "symbol"),
        ("xi[a]", {"kind": "normal", "dim": 1, "values": ["0"]}, "not a draw"),
        ("xi[1]", {"kind": "cauchy", "dim": 1, "values": ["0"]}, "must be one of"),
        ("xi[1]", {"kind": "normal", "dim": 0, "values": []}, "at least 1"),
        ("xi[1]", {"kind": "normal", "dim": 2, "values": ["0"]}, "has 1 values"),
        ("xi[1]", {"kind": "normal", "dim": 1, "values": ["0.1"]}, "binary64"),
        ("xi[1]", {"kind": "normal", "dim": 1, "values": ["0.000000476837158203125"]}, r"2\*\*-20"),
        ("xi[1]", {"kind": "normal", "dim": 1, "values": ["x"]}, "decimal strings"),
        ("xi[1]", {"kind": "normal", "dim": 1}, "decimal strings"),
        ("pi[]", {"kind": "permutation", "dim": 2, "values": [0, 0]}, "permutation"),
        ("out[]", {"kind": "index", "dim": 2, "values": [2]}, "range"),
    ],
)
def test_bad_stored_tapes_are_refused(key: str, entry: dict[str, object], message: str) -> None:
    with pytest.raises(TapeError, match=message):
        ReplayTape.from_json({key: entry})


@given(st.sampled_from(DRAW_KINDS), st.integers(1, 6), st.integers(0, 10))
def test_any_draw_survives_storage(kind: str, dim: int, seed: int) -> None:
    draw = Draw("x", (seed, 2), kind, dim)  # type: ignore[arg-type]
    recorder = RecordingTape(SeededTape(seed))
    values = recorder.read(draw)
    assert ReplayTape.from_json(json.loads(dumps(recorder.replay()))).read(draw) == values


def test_recording_rounds_to_the_nearest_multiple() -> None:
    draw = Draw("x", (), "normal", 50)
    live, stored = SeededTape(9).read(draw), RecordingTape(SeededTape(9)).read(draw)
    assert live != stored
    assert max(abs(a - b) for a, b in zip(live, stored, strict=True)) <= 1 / (2 * GRID)
