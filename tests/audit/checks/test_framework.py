"""What a check is, what a result is, and how a verdict follows: one case a form, and mutants that the cases catch."""

import inspect
import json
import math
import sys
import types
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_checks import BAD, GOOD

from audit.checks import framework
from audit.checks.framework import (
    GRADES,
    Check,
    CheckResult,
    Figure,
    Outcome,
    check,
    distinct,
    judge,
    plain,
    run_one,
    seed_of,
    select,
    verdict,
)

# -------------------------------------------------------------------------------------------- verdicts


def result(
    kind="exact",
    edition="corrected",
    erratum=None,
    severity="privacy",
    holds=None,
    condition=None,
    tight="",
    ratio=None,
    power=None,
    error="",
    statement="lem:x",
) -> CheckResult:
    about = Check(f"s.{kind}", statement, kind, edition, "quick", erratum, condition, lambda seed: Outcome(True))
    holds = about.expected if holds is None else holds
    outcome = Outcome(holds, ratio=ratio, tight=tight, would_detect=power)
    found = framework._result(about, outcome, 1)
    return framework.replace(found, error=error, severity=severity if erratum else "")


SLIP = {"kind": "counterexample", "edition": "printed", "erratum": "E3.10", "severity": "typo"}
PRINTED = {"kind": "counterexample", "edition": "printed", "erratum": "E3.1"}

CASES: list[tuple[str, Sequence[CheckResult], str, str]] = [
    ("nothing ran", [], "unchecked", "no check yet"),
    ("only our variant was checked", [result(edition="tight")], "unchecked", "no check yet"),
    ("exact", [result()], "holds", "holds"),
    ("certified", [result("certified", ratio=0.5)], "holds", "holds"),
    ("proof beside search", [result("adversarial", ratio=0.9), result()], "holds", "holds"),
    ("loose", [result(tight="c = 1"), result("adversarial")], "loose", "holds, loose (c = 1)"),
    ("loose twice", [result(tight="b"), result(tight="a"), result(tight="b")], "loose", "holds, loose (b; a)"),
    ("condition", [result(condition="δ ≤ 1/e")], "conditional", "holds only if δ ≤ 1/e"),
    (
        "conditions and room",
        [result(condition="b"), result(condition="a", tight="c")],
        "conditional",
        "holds only if a; b; loose (c)",
    ),
    ("refuted, repaired", [result(**PRINTED), result()], "refuted", "refuted as printed → corrected (E3.1)"),
    (
        "refuted, the repair searched only",
        [result(**PRINTED), result("adversarial")],
        "refuted",
        "refuted as printed → corrected (E3.1)",
    ),
    (
        "refuted twice, repaired under a condition",
        [result(**PRINTED), result(**(PRINTED | {"erratum": "E2.9"})), result(condition="d ≥ 3", erratum="E3.1")],
        "refuted",
        "refuted as printed → corrected (E2.9, E3.1), if d ≥ 3",
    ),
    (
        "a condition of the printed text is none of the repair",
        [result(**PRINTED, condition="D large"), result()],
        "refuted",
        "refuted as printed → corrected (E3.1)",
    ),
    (
        "refuted, no repair checked",
        [result(**PRINTED)],
        "unrepaired",
        "refuted as printed (E3.1), correction not checked",
    ),
    (
        "a tight variant is no repair, nor a citation",
        [result(**PRINTED), result(edition="tight"), result("cited")],
        "unrepaired",
        "refuted as printed (E3.1), correction not checked",
    ),
    (
        "another part of the printed text that holds is no repair",
        [result(**PRINTED), result(edition="printed")],
        "unrepaired",
        "refuted as printed (E3.1), correction not checked",
    ),
    (
        "a step of the proof refutes the proof, not the statement",
        [result(**PRINTED, statement="lem:x/proof"), result()],
        "holds",
        "holds, not by its printed proof (E3.1)",
    ),
    (
        "a step of the proof beside a defect and a slip",
        [
            result(**PRINTED, statement="lem:x/proof"),
            result(**(PRINTED | {"erratum": "E2.9"})),
            result(),
            result(**SLIP),
        ],
        "refuted",
        "refuted as printed → corrected (E2.9), not by its printed proof (E3.1), once a slip is corrected (E3.10)",
    ),
    (
        "a repair that was checked inside the proof counts",
        [result(**PRINTED), result(statement="lem:x/proof")],
        "refuted",
        "refuted as printed → corrected (E3.1)",
    ),
    (
        "the proof by itself",
        [result(**PRINTED, statement="lem:x/proof"), result(statement="lem:x/proof")],
        "refuted",
        "refuted as printed → corrected (E3.1)",
    ),
    ("a slip refutes nothing", [result(**SLIP), result()], "holds", "holds, once a slip is corrected (E3.10)"),
    (
        "slips, in the order of their numbers",
        [result(**SLIP), result(**(SLIP | {"erratum": "E3.9"})), result("adversarial", ratio=0.5)],
        "searched",
        "no violation found (largest ratio 0.5), once slips are corrected (E3.9, E3.10)",
    ),
    ("nothing but a slip was checked", [result(**SLIP)], "unchecked", "no check yet but of a slip (E3.10)"),
    (
        "a slip beside a defect",
        [result(**SLIP), result(**PRINTED), result()],
        "refuted",
        "refuted as printed → corrected (E3.1), once a slip is corrected (E3.10)",
    ),
    (
        "a slip that did not reproduce",
        [result(**SLIP, holds=True), result()],
        "unexpected",
        "UNEXPECTED: s.counterexample",
    ),
    ("a check of a corrected slip is a check", [result(erratum="E3.10", severity="typo")], "holds", "holds"),
    ("the repair alone is no refutation", [result(erratum="E3.1")], "holds", "holds"),
    ("cited", [result("cited"), result("cited")], "cited", "cited"),
    ("cited and searched", [result("cited"), result("adversarial")], "searched", "no violation found"),
    (
        "searched",
        [result("adversarial", ratio=0.25), result("adversarial", ratio=0.75)],
        "searched",
        "no violation found (largest ratio 0.75)",
    ),
    ("statistics never say holds", [result("statistical")], "searched", "no violation found"),
    (
        "statistics say what they would have seen, the weakest first",
        [result("statistical", power=1.25), result("statistical", power=1.5)],
        "searched",
        "no violation found; would have seen ε ≥ 1.5 with probability 0.95",
    ),
    (
        "search and statistics under a condition",
        [result("adversarial", ratio=0.5, condition="ε ≤ 1"), result("statistical", power=2.0)],
        "searched",
        "no violation found if ε ≤ 1 (largest ratio 0.5); would have seen ε ≥ 2 with probability 0.95",
    ),
    (
        "a proof of our variant is none of the text",
        [result(edition="tight"), result("adversarial")],
        "searched",
        "no violation found",
    ),
    ("a claim failed", [result(holds=False), result()], "unexpected", "UNEXPECTED: s.exact"),
    (
        "an erratum did not reproduce",
        [result(**PRINTED, holds=True), result()],
        "unexpected",
        "UNEXPECTED: s.counterexample",
    ),
    ("an error", [result(error="boom")], "unexpected", "UNEXPECTED: s.exact"),
    ("our variant failed", [result(), result(edition="tight", holds=False)], "unexpected", "UNEXPECTED: s.exact"),
    ("the repair failed", [result(**PRINTED), result(holds=False)], "unexpected", "UNEXPECTED: s.exact"),
]


@pytest.mark.parametrize(("results", "grade", "text"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_each_form_of_verdict(results: Sequence[CheckResult], grade: str, text: str) -> None:
    found = judge(results)
    assert (found.grade, found.text) == (grade, text)
    assert verdict(results) == text


@pytest.mark.parametrize(
    ("results", "remarks"),
    [
        ([result()], ()),
        ([result(tight="2 is enough")], ("2 is enough",)),
        ([result(condition="d ≥ 2", tight="2")], ("only if d ≥ 2", "loose (2)")),
        ([result(**PRINTED)], ("correction not checked",)),
        ([result(**PRINTED), result()], ()),
        ([result(**PRINTED), result(condition="d ≥ 2")], ("the correction holds if d ≥ 2",)),
        ([result(**PRINTED, statement="lem:x/proof"), result()], ("not by its printed proof (E3.1)",)),
        ([result(**SLIP), result()], ("once a slip is corrected (E3.10)",)),
        ([result(**SLIP)], ("no check but of a slip (E3.10)",)),
        ([result("adversarial", ratio=0.5, condition="ε ≤ 1")], ("if ε ≤ 1", "largest ratio 0.5")),
        ([result("statistical", power=2.0)], ("would have seen ε ≥ 2 with probability 0.95",)),
        ([result(error="boom")], ("s.exact",)),
    ],
)
def test_what_a_verdict_says_beside_its_class_is_a_field(
    results: Sequence[CheckResult], remarks: tuple[str, ...]
) -> None:
    assert judge(results).remarks == remarks


def test_every_grade_has_a_case() -> None:
    assert {grade for _, _, grade, _ in CASES} == set(GRADES)


def test_refutations_name_their_errata() -> None:
    results = [result(**PRINTED), result(**(PRINTED | {"erratum": "E2.9"})), result()]
    assert judge(results).errata == ("E2.9", "E3.1")
    assert judge([result(erratum="E3.1")]).errata == ()
    assert judge([result(**PRINTED), result(**SLIP), result()]).errata == ("E3.1", "E3.10")


@given(
    st.permutations([result(**PRINTED), result(), result("statistical", power=1.0), result("adversarial", ratio=0.5)])
)
def test_the_verdict_does_not_depend_on_the_order(results: list[CheckResult]) -> None:
    assert verdict(results) == "refuted as printed → corrected (E3.1)"


MUTANTS = [
    (
        'PROOFS: tuple[Kind, ...] = ("exact", "certified")',
        'PROOFS: tuple[Kind, ...] = ("exact", "certified", "statistical")',
    ),
    (
        'PROOFS: tuple[Kind, ...] = ("exact", "certified")',
        'PROOFS: tuple[Kind, ...] = ("exact", "certified", "adversarial")',
    ),
    ('PROOFS: tuple[Kind, ...] = ("exact", "certified")', 'PROOFS: tuple[Kind, ...] = ("exact",)'),
    ('[r for r in results if r.edition != "tight"]', "list(results)"),
    ("[r.name for r in results if not r.as_recorded]", "[r.name for r in text if not r.as_recorded]"),
    ("if any(not r.expected for r in text):", "if any(r.erratum for r in text):"),
    ("if any(not r.expected for r in text):", "if all(not r.expected for r in text):"),
    ('if all(r.kind == "cited" for r in text):', 'if any(r.kind == "cited" for r in text):'),
    ('r.edition == "corrected" and r.kind != "cited"', 'r.edition == "corrected"'),
    ('r.edition == "corrected" and r.kind != "cited"', 'r.expected and r.kind != "cited"'),
    ("if not repaired:", "if False:"),
    ("_conditions(repaired)", "_conditions(results)"),
    ("if conditions := _conditions(results):", "if conditions := '':"),
    ("max(powers)", "min(powers)"),
    ('return not self.expected and self.severity == "typo"', 'return self.severity == "typo"'),
    ('return not self.expected and self.severity == "typo"', "return not self.expected"),
    ("[r for r in text if not r.is_slip]", "list(text)"),
    ("if all(r.statement.endswith(PROOF) for r in text):", "if False:"),
    ("if r.statement.endswith(PROOF) and not r.expected]", "if r.statement.endswith(PROOF)]"),
    ("if r.statement.endswith(PROOF) and not r.expected]", "if False]"),
    ("key=inventory.erratum_order", "key=str"),
    ("max(ratios)", "min(ratios)"),
]


@pytest.mark.parametrize(("old", "new"), MUTANTS)
def test_the_cases_catch_a_mutated_verdict(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that no case told apart from the original would be a hole in the cases."""
    source = inspect.getsource(framework)
    assert source.count(old) == 1
    mutant = types.ModuleType("mutated_framework")
    monkeypatch.setitem(sys.modules, mutant.__name__, mutant)
    exec(source.replace(old, new), mutant.__dict__)
    caught = False
    for _, results, grade, text in CASES:
        found = mutant.judge([mutant.CheckResult(**vars(r)) for r in results])
        caught |= (found.grade, found.text) != (grade, text)
    assert caught


# ---------------------------------------------------------------------------------------------- checks


def test_what_is_expected() -> None:
    assert result().expected
    assert not result(**PRINTED).expected
    assert result("certified", "corrected", "E3.1").expected
    assert result("certified", "tight", "E3.1").expected
    assert result(edition="printed").expected


def test_a_check_must_be_declared_soundly() -> None:
    with pytest.raises(ValueError, match="kind = 'proof' must be one of"):
        check("lem:x", kind="proof")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level = 'long'"):
        check("lem:x", kind="exact", level="long")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"the counterexample of E3\.1 is to the text as printed"):
        check("lem:x", kind="counterexample", erratum="E3.1")


def test_a_function_about_two_statements_is_two_checks() -> None:
    names = {c.name for c in GOOD if "corrected_holds" in c.name}
    assert names == {f"sample_checks.corrected_holds[{id}]" for id in ("Alg:gll_oracle", "Alg:phased")}
    assert len({c.name for c in GOOD}) == len(GOOD)


def test_one_declared_twice_is_refused() -> None:
    one = GOOD[0]
    other = framework.replace(one, kind="certified")
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
    about = Check("s.c", "lem:x", "exact", "corrected", "quick", None, None, lambda seed: outcome)
    assert run_one(about, 0).error == error


# ------------------------------------------------------------------------------------- results as JSON


def test_plain_numbers() -> None:
    assert plain(np.float64(0.5)) == 0.5
    assert type(plain(np.int64(3))) is int
    assert plain(np.bool_(True)) is True
    assert plain(Fraction(1, 3)) == "1/3"
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
