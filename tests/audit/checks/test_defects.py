"""Every erratum is shown by one check, which is filed where its record says."""

from __future__ import annotations

import pytest

from audit.checks import defects
from audit.checks.framework import MARK, Check, collect, run_one
from reference.paper.inventory import load
from reference.paper.registry import Counterexample, Hypothesis

ERRATA = {erratum.id: erratum for erratum in load().errata}


def checks() -> dict[str, Check]:
    found = (one for function in vars(defects).values() for one in getattr(function, MARK, ()))
    return {one.name: one for one in found}


def test_every_erratum_has_its_check() -> None:
    assert {one.erratum for one in checks().values()} == set(ERRATA)
    assert checks().keys() <= {one.name for one in collect()}


def test_it_is_filed_where_the_record_says() -> None:
    for one in checks().values():
        erratum = ERRATA[one.erratum or ""]
        assert one.statement == (erratum.falsifies or erratum.where)[0]
        assert one.edition == "printed"
        assert not one.expected


MEETS = (Hypothesis("ℓ is convex", True, "line 266"),)
MISSES = (Hypothesis("ε ≤ √log(1/δ)", False, "line 379"),)


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        (Counterexample(True, "w", {}, MEETS, "exact", "statement"), True),
        (Counterexample(False, "w", {}, MEETS, "exact", "statement"), False),
        (Counterexample(True, "w", {}, (*MEETS, *MISSES), "exact", "statement"), False),
        (Counterexample(True, "w", {}, MEETS, "", "statement"), False),
        (Counterexample(True, "w"), False),
    ],
)
def test_what_makes_a_statement_false_must_show_it_and_be_fair(found: Counterexample, counts: bool) -> None:
    (one,) = getattr(defects.defect_check(ERRATA["E3.1"], lambda: found), MARK)
    result = run_one(one, 0)
    assert result.as_recorded == counts
    assert result.witness == "w"
    assert result.note.startswith("meets: ℓ is convex") == bool(found.hypotheses)


@pytest.mark.parametrize("shown", [True, False])
def test_what_leaves_a_statement_true_must_show_it(shown: bool) -> None:
    misprint = next(e for e in ERRATA.values() if e.severity == "misprint")
    (one,) = getattr(defects.defect_check(misprint, lambda: Counterexample(shown, "w")), MARK)
    assert run_one(one, 0).as_recorded == shown
