"""What a check is, and what a result is."""

import json
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sample_checks import BAD, EVIDENCE, GOOD

from audit.checks import framework
from audit.checks.evidence import BLIND, KINDS, LEGEND, Enclosed, ExactAt, Measured, Refutation, Searched
from audit.checks.framework import (
    Check,
    CheckResult,
    Figure,
    Outcome,
    check,
    distinct,
    plain,
    run_one,
    seed_of,
    select,
)
from reference.numerics.numbers import Ball

PRINTED = {"kind": "counterexample", "edition": "printed", "erratum": "E3.1"}


def result(kind="exact", edition="corrected", erratum=None) -> CheckResult:
    about = Check(f"s.{kind}", "lem:x", EVIDENCE[kind], edition, "quick", erratum, None, lambda seed: Outcome(True))
    return framework.result_of(about, Outcome(about.expected), 1)


# ---------------------------------------------------------------------------------------------- checks


def test_what_is_expected() -> None:
    assert result().expected
    assert not result(**PRINTED).expected
    assert result("enclosed", "corrected", "E3.1").expected
    assert result("enclosed", "tight", "E3.1").expected
    assert result(edition="printed").expected


def test_a_check_must_be_declared_soundly() -> None:
    with pytest.raises(ValueError, match=r"kind = 'exact' must be one of Proved, Enclosed, .*, with its domain"):
        check("lem:x", kind="exact")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level = 'long'"):
        check("lem:x", kind=ExactAt("a point"), level="long")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"the counterexample of E3\.1 is to the text as printed"):
        check("lem:x", kind=Refutation("exact"), erratum="E3.1")


def test_a_function_about_two_statements_is_two_checks() -> None:
    names = {c.name for c in GOOD if "corrected_holds" in c.name}
    assert names == {f"sample_checks.corrected_holds[{id}]" for id in ("Alg:gll_oracle", "Alg:phased")}
    assert len({c.name for c in GOOD}) == len(GOOD)


def test_one_declared_twice_is_refused() -> None:
    one = GOOD[0]
    other = framework.replace(one, evidence=Enclosed("a point"))
    with pytest.raises(ValueError, match="is declared twice"):
        distinct([one, other])
    assert distinct([one, one]) == [one]


def test_levels_include_the_lower_ones() -> None:
    assert [len(select(GOOD, level)) for level in framework.LEVELS] == [5, 6, 6]
    assert {c.statement for c in select(GOOD, "deep", ["E3.1", "lem:moreau"])} == {"Alg:gll_oracle:6", "lem:moreau"}


def test_seeds_differ_by_check_and_by_run() -> None:
    seeds = {seed_of(c, s) for c in GOOD for s in range(20)}
    assert len(seeds) == 20 * len(GOOD)


def test_an_exception_is_a_result_with_its_reason() -> None:
    found = run_one(BAD["raises"], 0)
    assert not found.as_recorded
    assert found.error == "ArithmeticError: no such root (raises)"
    assert run_one(BAD["answers_nonsense"], 0).error.startswith("TypeError")


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (Outcome(True, ratio=1.0 + 1e-6), "the outcome contradicts itself: it holds with ratio 1.000001 > 1"),
        (Outcome(True, ratio=math.inf), "the outcome contradicts itself: it holds with ratio inf > 1"),
        (Outcome(False, ratio=math.nan), "the outcome contradicts itself: its ratio is not a number"),
        (Outcome(True, ratio=1.0 + 1e-12), ""),
        (Outcome(False, ratio=7.0), ""),
    ],
)
def test_an_outcome_that_contradicts_itself_is_not_believed(outcome: Outcome, error: str) -> None:
    about = Check("s.c", "lem:x", Searched("a grid"), "corrected", "quick", None, None, lambda seed: outcome)
    assert run_one(about, 0).error == error


def test_a_rounded_number_does_not_enter_a_rigorous_check() -> None:
    """What a check says it is, its outcome must be: an exact number, or a ball of which the upper end counts."""
    third = Ball(64)(Fraction(1, 3))
    for kind, evidence in EVIDENCE.items():
        for ratio in (0.5, np.float64(0.5), Fraction(1, 3), third, 1):
            about = Check(
                "s.c", "lem:x", evidence, "printed", "quick", None, None, lambda seed, r=ratio: Outcome(True, r)
            )
            refused = isinstance(ratio, float) and kind in ("proved", "enclosed", "exact")
            assert bool(run_one(about, 0).error) == refused, (kind, ratio)
    assert run_one(
        Check("s.c", "lem:x", ExactAt("a"), "printed", "quick", None, None, lambda seed: Outcome(True, 0.5)), 0
    ).error == ("the check says exact, but its ratio 0.5 is rounded; give a Fraction or a ball")
    above = Check("s.c", "lem:x", Enclosed("a"), "printed", "quick", None, None, lambda seed: Outcome(True, third * 3))
    assert "contradicts itself" in run_one(above, 0).error, "a ball that reaches above 1 proves no ratio of at most 1"


def test_every_kind_has_a_type_and_a_legend() -> None:
    assert set(EVIDENCE) == set(KINDS) == set(LEGEND)
    assert [e.kind for e in EVIDENCE.values()] == list(KINDS)


# ------------------------------------------------------------------------------------- results as JSON


def test_plain_numbers() -> None:
    assert plain(np.float64(0.5)) == 0.5
    assert type(plain(np.int64(3))) is int
    assert plain(np.bool_(True)) is True
    assert plain(Fraction(1, 4)) == 0.25
    assert plain(Ball(64)(Fraction(1, 4))) == 0.25
    assert plain(1j) == "1j"
    assert [plain(x) for x in (math.inf, -math.inf, math.nan)] == ["inf", "-inf", "nan"]


def test_a_result_survives_json() -> None:
    for one in GOOD:
        found = run_one(one, 5)
        back = CheckResult.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False)))
        assert back == found
        assert back.to_json() == found.to_json()


def test_a_figure_must_be_drawable() -> None:
    with pytest.raises(ValueError, match="figure 'f': its series a, b hold no point"):
        Figure("f", "x", "y", {"a": [], "b": []})
    with pytest.raises(ValueError, match="kind = 'pie' must be one of"):
        Figure("f", "x", "y", {"a": [(0, 0)]}, kind="pie")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="topic = 'art' must be one of"):
        Figure("f", "x", "y", {"a": [(0, 0)]}, topic="art")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs a lower and an upper series; it has 1"):
        Figure("f", "x", "y", {"a": [(0, 0)]}, kind="band")
    with pytest.raises(ValueError, match=r"roles\['b'\]"):
        Figure("f", "x", "y", {"a": [(0, 0)]}, roles={"b": ["printed"]})
    with pytest.raises(ValueError, match="red"):
        Figure("f", "x", "y", {"a": [(0, 0)]}, roles={"a": ["red"]})  # type: ignore[list-item]


def test_what_a_check_is_blind_to_is_a_whole_sentence() -> None:
    """Verdicts repeat the clause; a semicolon in its parentheses would cut it."""
    for kind in (Searched, partial(Measured, "1e-6")):
        assert str(kind(f"the ends; {BLIND}more noise (at n = 10, so far)")).endswith("so far)")
        with pytest.raises(ValueError, match="cut by a semicolon"):
            kind(f"the ends; {BLIND}more noise (at n = 10; so far)")
