"""The steps about rounding are in the ledger: they are about our numbers, and count for no verdict on the text."""

from __future__ import annotations

from audit.checks.proofs import ledger, rounding
from audit.checks.proofs.steps import OnPaper


def test_the_ledger_has_every_step_and_says_which_are_on_paper() -> None:
    ours = [one for one in ledger.steps() if one.id.startswith("rounding.")]
    assert [one.id for one in ours] == [one.id for one in rounding.steps()]
    assert {one.edition for one in ours} == {"tight"}
    on_paper = [one.id for one in ours if isinstance(one.proof, OnPaper)]
    assert on_paper == ["rounding.oracle", "rounding.projections", "rounding.least"]
    assert all(one.by_machine for one in ours if one.id not in on_paper)
    assert all(one.proof.where.startswith("reference/") for one in ours if isinstance(one.proof, OnPaper))
