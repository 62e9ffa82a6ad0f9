"""How a verdict follows: one case a form, and mutants that the cases catch."""

import inspect
import sys
import types
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_checks import EVIDENCE

from audit.checks import framework, scale
from audit.checks.framework import Check, CheckResult, Outcome
from audit.checks.scale import GRADES, Grade, bearing, effect, judge
from reference.paper.inventory import FALSIFYING, SEVERITIES, Erratum, load

STATEMENT, PROOF = "lem:oracle", "lem:oracle/proof"


def erratum(id: str, severity: str, where: Sequence[str] = (STATEMENT,), stated: str = "") -> Erratum:
    regime = {"condition": "δ ≤ 1/e", "edge": "d = 1"}.get(severity, "large ε" if severity in FALSIFYING else "")
    falsifies = tuple(where) if severity in FALSIFYING else ()
    texts = ("printed", "corrected", "none", "free", "nobody")
    return Erratum(id, "t", tuple(where), (), (1, 1), severity, *texts, regime, stated, falsifies)


KNOWN = replace(
    load(),
    errata=(
        erratum("E3.1", "privacy"),
        erratum("E3.2", "rate"),
        erratum("E3.3", "accuracy"),
        erratum("E3.4", "edge"),
        erratum("E3.5", "proof", [PROOF]),
        erratum("E3.6", "condition"),
        erratum("E3.7", "condition", stated="line 379"),
        erratum("E3.8", "misprint"),
        erratum("E3.10", "misprint"),
        erratum("E3.11", "misprint", [PROOF]),
        erratum("E3.12", "loose"),
        erratum("E3.13", "misprint", [PROOF, STATEMENT]),
        replace(erratum("E3.14", "privacy", ["Alg:phased", STATEMENT]), falsifies=("Alg:phased",)),
        erratum("E3.15", "condition", [PROOF]),
    ),
)
"""One erratum of each severity, some of them in the proof, one that makes false something else."""


def result(
    kind="exact",
    edition="corrected",
    erratum=None,
    holds=None,
    condition=None,
    tight="",
    ratio=None,
    power=None,
    error="",
) -> CheckResult:
    about = Check(
        f"s.{kind}", STATEMENT, EVIDENCE[kind], edition, "quick", erratum, condition, lambda seed: Outcome(True)
    )
    outcome = Outcome(about.expected if holds is None else holds, ratio=ratio, tight=tight, would_detect=power)
    return replace(framework.result_of(about, outcome, 1), error=error)


def shown(id: str, **more) -> CheckResult:
    """A counterexample that came out as it should."""
    return result("counterexample", "printed", id, **more)


Case = tuple[str, Sequence[CheckResult], Grade, str]
FALSE = "false – privacy: large ε (E3.1) → "
CASES: list[Case] = [
    ("nothing ran", [], "unchecked", "no check yet"),
    ("only our variant was checked", [result(edition="tight")], "unchecked", "no check yet"),
    ("exact", [result()], "holds", "holds"),
    ("enclosed", [result("enclosed", ratio=0.5)], "holds", "holds"),
    ("proved", [result("proved")], "holds", "holds"),
    ("proof beside search", [result("searched", ratio=0.9), result()], "holds", "holds"),
    (
        "a measurement that would not notice something says so, be it of our variant",
        [replace(result("measured", "tight"), evidence="level; power: all; no power against more noise"), result()],
        "holds",
        "holds; no power against more noise",
    ),
    (
        "and so it is where it is false, once",
        [shown("E3.1"), *[replace(result("measured"), evidence="no power against that; b")] * 2, result()],
        "false",
        f"{FALSE}corrected: holds; no power against that",
    ),
    ("loose", [result(tight="c = 1"), result("searched")], "loose", "holds, loose (c = 1)"),
    ("loose twice", [result(tight="b"), result(tight="a"), result(tight="b")], "loose", "holds, loose (b; a)"),
    ("loose by an erratum", [shown("E3.12"), result(tight="b")], "loose", "holds, loose (b; E3.12)"),
    ("condition", [result(condition="n ≥ 2")], "conditional", "holds if n ≥ 2"),
    ("conditions and room", [result(condition="b; a", tight="c")], "conditional", "holds if a; b; loose (c)"),
    (
        "a condition that an erratum names is said once",
        [shown("E3.6"), result(condition="n ≥ 2; δ ≤ 1/e")],
        "conditional",
        "holds if δ ≤ 1/e (E3.6); n ≥ 2",
    ),
    (
        "a condition of two errata, of which the paper states one, names both",
        [shown("E3.6"), shown("E3.7"), result()],
        "conditional",
        "holds if δ ≤ 1/e (E3.6, E3.7)",
    ),
    (
        "a condition that the paper states elsewhere",
        [shown("E3.7"), result()],
        "conditional",
        "holds if δ ≤ 1/e (E3.7, stated elsewhere)",
    ),
    ("misprint", [shown("E3.8"), result()], "misprint", "holds after a misprint is corrected (E3.8)"),
    (
        "misprints, in the order of their numbers",
        [shown("E3.10"), shown("E3.8"), result()],
        "misprint",
        "holds after misprints are corrected (E3.8, E3.10)",
    ),
    ("a slip in the proof", [shown("E3.11"), result()], "holds", "holds; a slip in its proof (E3.11)"),
    (
        "two, one of them in the statement too",
        [shown("E3.11"), shown("E3.13"), result()],
        "misprint",
        "holds after a misprint is corrected (E3.13); a slip in its proof (E3.11)",
    ),
    (
        "what a proof needs beyond the statement is a remark",
        [shown("E3.11"), shown("E3.15"), result()],
        "holds",
        "holds; slips in its proof (E3.11, E3.15)",
    ),
    ("unproved", [shown("E3.5"), result()], "unproved", "true, but not by its printed proof (E3.5)"),
    (
        "the gravest gives the grade, the rest is said",
        [shown("E3.12"), shown("E3.8"), shown("E3.6"), shown("E3.5"), shown("E3.11"), result()],
        "unproved",
        "true, but not by its printed proof (E3.5); if δ ≤ 1/e (E3.6); after a misprint is corrected (E3.8);"
        " loose (E3.12); a slip in its proof (E3.11)",
    ),
    ("edge", [shown("E3.4"), result()], "edge", "false only at the edge – d = 1 (E3.4) → corrected: holds"),
    ("false", [shown("E3.1"), result()], "false", f"{FALSE}corrected: holds"),
    (
        "false in several ways",
        [shown("E3.3"), shown("E3.1"), shown("E3.4"), shown("E3.2"), result()],
        "false",
        "false – privacy: large ε (E3.1); rate: large ε (E3.2); accuracy: large ε (E3.3); edge: d = 1 (E3.4)"
        " → corrected: holds",
    ),
    (
        "false, the repair searched only",
        [shown("E3.1"), result("searched")],
        "false",
        f"{FALSE}corrected: no violation found",
    ),
    (
        "false, repaired under a condition",
        [shown("E3.1"), result(condition="d ≥ 3", erratum="E3.1")],
        "false",
        f"{FALSE}corrected: holds if d ≥ 3",
    ),
    (
        "false, and what stands needs more",
        [shown("E3.1"), shown("E3.8"), result()],
        "false",
        f"{FALSE}corrected: holds after a misprint is corrected (E3.8)",
    ),
    (
        "a condition of the printed text is none of the repair",
        [shown("E3.1", condition="D large"), result()],
        "false",
        f"{FALSE}corrected: holds",
    ),
    ("false, no repair checked", [shown("E3.1")], "false", f"{FALSE}correction not checked"),
    (
        "a tight variant is no repair, nor a citation",
        [shown("E3.1"), result(edition="tight"), result("cited")],
        "false",
        f"{FALSE}correction not checked",
    ),
    (
        "another part of the printed text that holds is no repair",
        [shown("E3.1"), result(edition="printed")],
        "false",
        f"{FALSE}correction not checked",
    ),
    ("what makes another statement false does not concern this one", [shown("E3.14"), result()], "holds", "holds"),
    ("an erratum that nobody lists shows nothing", [shown("E3.99"), result()], "holds", "holds"),
    (
        "searched, with errata",
        [shown("E3.5"), shown("E3.8"), result("searched", ratio=0.5)],
        "searched",
        "no violation found; largest ratio 0.5; not by its printed proof (E3.5); after a misprint is corrected (E3.8)",
    ),
    (
        "nothing but a misprint was checked",
        [shown("E3.8")],
        "unchecked",
        "no check yet but of errata: after a misprint is corrected (E3.8)",
    ),
    (
        "a counterexample that does not reproduce",
        [shown("E3.8", holds=True), result()],
        "unexpected",
        "UNEXPECTED: s.counterexample",
    ),
    ("a check of a correction is a check", [result(erratum="E3.10")], "holds", "holds"),
    ("the repair alone is no refutation", [result(erratum="E3.1")], "holds", "holds"),
    ("cited", [result("cited"), result("cited")], "cited", "cited"),
    (
        "cited, with a misprint",
        [result("cited"), shown("E3.8")],
        "cited",
        "cited; after a misprint is corrected (E3.8)",
    ),
    ("cited and searched", [result("cited"), result("searched")], "searched", "no violation found"),
    (
        "searched",
        [result("searched", ratio=0.25), result("searched", ratio=0.75)],
        "searched",
        "no violation found; largest ratio 0.75",
    ),
    ("statistics never say holds", [result("measured")], "searched", "no violation found"),
    (
        "statistics say what they would have seen, the weakest first",
        [result("measured", power=1.25), result("measured", power=1.5)],
        "searched",
        "no violation found; would have seen ε ≥ 1.5 with probability 0.95",
    ),
    (
        "search and statistics under a condition",
        [result("searched", ratio=0.5, condition="ε ≤ 1"), result("measured", power=2.0)],
        "searched",
        "no violation found; largest ratio 0.5; would have seen ε ≥ 2 with probability 0.95; if ε ≤ 1",
    ),
    (
        "a proof of our variant is none of the text",
        [result(edition="tight"), result("searched")],
        "searched",
        "no violation found",
    ),
    ("a claim failed", [result(holds=False), result()], "unexpected", "UNEXPECTED: s.exact"),
    ("an error", [result(error="boom")], "unexpected", "UNEXPECTED: s.exact"),
    ("our variant failed", [result(), result(edition="tight", holds=False)], "unexpected", "UNEXPECTED: s.exact"),
    ("the repair failed", [shown("E3.1"), result(holds=False)], "unexpected", "UNEXPECTED: s.exact"),
]


@pytest.mark.parametrize(("results", "grade", "text"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_each_form_of_verdict(results: Sequence[CheckResult], grade: Grade, text: str) -> None:
    found = judge(STATEMENT, results, KNOWN)
    assert (found.grade, found.text) == (grade, text)


def test_every_grade_has_a_case() -> None:
    assert {grade for _, _, grade, _ in CASES} == set(GRADES)


def test_every_severity_has_an_erratum_and_means_something() -> None:
    assert {e.severity for e in KNOWN.errata} == set(SEVERITIES)
    named = {e.severity: effect(e, STATEMENT, KNOWN) for e in KNOWN.errata[:11]}
    assert named["proof"] == "proof"
    assert {severity: what for severity, what in named.items() if what != severity} == {"misprint": "remark"}


def test_what_a_verdict_says_beside_its_class_is_a_field() -> None:
    found = judge(STATEMENT, [shown("E3.2"), shown("E3.1"), shown("E3.4"), shown("E3.8"), result(tight="2")], KNOWN)
    assert found.kinds == ("privacy", "rate")
    assert found.corrected == "misprint"
    assert found.errata == ("E3.1", "E3.2", "E3.4", "E3.8")
    assert found.remarks[:3] == ("privacy: large ε (E3.1)", "rate: large ε (E3.2)", "edge: d = 1 (E3.4)")
    assert judge(STATEMENT, [shown("E3.4")], KNOWN).corrected == "unchecked"
    assert judge(STATEMENT, [result(tight="2 is enough")], KNOWN).remarks == ("loose (2 is enough)",)
    assert judge(STATEMENT, [result()], KNOWN).corrected is None
    assert judge(STATEMENT, [shown("E3.14"), result()], KNOWN).errata == ()


def test_what_is_false_at_a_line_is_false_of_the_algorithm() -> None:
    at_line = erratum("E3.1", "accuracy", ["Alg:gll_oracle:6", STATEMENT])
    known = replace(KNOWN, errata=(at_line,))
    for place in ("Alg:gll_oracle:6", "Alg:gll_oracle", STATEMENT):
        assert judge(place, [shown("E3.1"), result()], known).grade == "false"
    assert judge("Alg:gll_oracle:7", [shown("E3.1"), result()], known).grade == "holds"
    assert bearing("Alg:gll_oracle:6", "E3.1", known) == ("Alg:gll_oracle:6", "Alg:gll_oracle", STATEMENT)


def test_the_proof_by_itself() -> None:
    found = judge(PROOF, [shown("E3.5"), shown("E3.11"), shown("E3.8"), result()], KNOWN)
    assert found.text == "true, but not by its printed proof (E3.5); after a misprint is corrected (E3.11)"


def test_what_a_check_bears_on() -> None:
    assert bearing("Alg:gll_oracle:6", "", KNOWN) == ("Alg:gll_oracle:6", "Alg:gll_oracle")
    assert bearing(STATEMENT, "E3.5", KNOWN) == (STATEMENT, PROOF)
    assert bearing("Alg:phased", "E3.14", KNOWN) == ("Alg:phased", STATEMENT)


@given(st.permutations([shown("E3.1"), shown("E3.8"), result(), result("measured", power=1.0)]))
def test_the_verdict_does_not_depend_on_the_order(results: list[CheckResult]) -> None:
    assert judge(STATEMENT, results, KNOWN).text == f"{FALSE}corrected: holds after a misprint is corrected (E3.8)"


PROOFS = 'PROOFS: tuple[Kind, ...] = ("proved", "enclosed", "exact")'
MUTANTS = [
    (PROOFS, 'PROOFS: tuple[Kind, ...] = ("proved", "enclosed", "exact", "measured")'),
    (PROOFS, 'PROOFS: tuple[Kind, ...] = ("proved", "enclosed", "exact", "searched")'),
    (PROOFS, 'PROOFS: tuple[Kind, ...] = ("proved", "exact")'),
    (PROOFS, 'PROOFS: tuple[Kind, ...] = ("enclosed", "exact")'),
    ('[r for r in results if r.edition != "tight"]', "list(results)"),
    ("[r.name for r in results if not r.as_recorded]", "[r.name for r in text if not r.as_recorded]"),
    ("if e.id in shown and", "if"),
    ("_standing([r for r in text if r.expected], defects,", "_standing(text, defects,"),
    ('if all(r.kind == "cited" for r in text):', 'if any(r.kind == "cited" for r in text):'),
    ('r.edition == "corrected" and r.kind != "cited"', 'r.edition == "corrected"'),
    ('r.edition == "corrected" and r.kind != "cited"', 'r.expected and r.kind != "cited"'),
    ("return erratum.severity if falsified else", "return erratum.severity if named else"),
    ('return "remark" if in_proof and', 'return "remark" if False and'),
    ('in_proof and erratum.severity != "proof"', "in_proof"),
    ("in_proof = all(", "in_proof = any("),
    ('"false" if kinds else "edge"', '"false"'),
    ("or rest\n", "if False else rest\n"),
    ("sorted(clauses - set(by_regime))", "sorted(clauses)"),
    ("all(e.stated for e in those)", "any(e.stated for e in those)"),
    ("max(powers)", "min(powers)"),
    ("max(ratios)", "min(ratios)"),
    ("grade = sayings[0][0]", "grade = sayings[-1][0]"),
    ("if what not in FALSIFYING)", "if False)"),
]


@pytest.mark.parametrize(("old", "new"), MUTANTS)
def test_the_cases_catch_a_mutated_verdict(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that no case told apart from the original would be a hole in the cases."""
    source = inspect.getsource(scale)
    assert source.count(old) == 1
    mutant = types.ModuleType("mutated_scale")
    monkeypatch.setitem(sys.modules, mutant.__name__, mutant)
    exec(source.replace(old, new), mutant.__dict__)
    caught = False
    for _, results, _, _ in CASES:
        caught |= vars(mutant.judge(STATEMENT, results, KNOWN)) != vars(judge(STATEMENT, results, KNOWN))
    assert caught
