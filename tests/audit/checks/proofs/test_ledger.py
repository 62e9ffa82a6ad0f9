"""The ledger: every step by machine is proved, is recorded as it stands, and belongs to something that exists."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from audit.checks import proved
from audit.checks.proofs import convex, ledger, privacy, rounding, smooth, solvers, weakly_convex
from audit.checks.proofs.ledger import Basis
from audit.checks.proofs.steps import Cover, Identity, Parts, ProofStep, Smt, StepReplay, step
from audit.checks.proofs.terms import negation, real, script
from audit.checks.purity import impurities
from audit.runtime.errors import InputError
from reference.paper.inventory import load

DRIVES = ("audit/checks/proofs/",)
"""What these tests run through as a whole: `bench.nearest` reads it."""
MACHINE = [one for one in ledger.steps() if one.by_machine]


@pytest.mark.parametrize("section", ledger.SECTIONS, ids=lambda name: f"audit.checks.proofs.{name}")
def test_the_steps_of_a_module_are_recorded_as_they_stand(section: str) -> None:
    """If this fails: dpso prove --record, and read the difference."""
    ours = {one.id for one in import_module(f"audit.checks.proofs.{section}").steps()}
    assert ours
    assert [id for id in ledger.stale(ledger.read_record()) if id in ours] == []


def test_nothing_else_is_recorded() -> None:
    assert ledger.stale(ledger.read_record()) == []


@pytest.mark.parametrize("one", MACHINE, ids=lambda one: one.id)
def test_every_step_by_machine_is_proved(one: ProofStep) -> None:
    found = one.proof.replay()
    assert found.status == "proved", found.detail
    assert found.mutant


def test_steps_belong_to_what_exists() -> None:
    known = load()
    for one in ledger.steps():
        for id in one.of:
            assert known.find(id) is not None or known.erratum(id) is not None, f"{one.id}: {id}"


def parts_of(proof: Any) -> Iterator[Any]:
    """A proof and all that it is made of."""
    yield proof
    for part in proof.parts.values() if isinstance(proof, Parts) else ():
        yield from parts_of(part)


def test_no_hypothesis_is_the_claim() -> None:
    """A claim that stands among the hypotheses proves nothing."""
    for one in MACHINE:
        for part in parts_of(one.proof):
            if isinstance(part, Smt):
                assert str(part.claim) not in {str(x) for x in part.given}, one.id


REFLEXIVE = ("composition.bernoulli", "near.normalised")
"""Steps with a part that is an equation in itself: the base of an induction, and a normalisation."""


def test_a_claim_needs_its_hypotheses() -> None:
    """What holds of all reals whatever was assumed says nothing of the paper."""
    claims = [(one.id, p) for one in MACHINE for p in parts_of(one.proof) if isinstance(p, Smt) and p.given]
    empty = [id for id, p in claims if solvers.ask(script([negation(p.claim)])).verdict == "unsat"]
    assert [id for id in empty if id not in REFLEXIVE] == []
    assert solvers.ask(script([negation(real("x") * real("x") >= 0)])).verdict == "unsat", "what the test would see"


def test_a_rounded_number_does_not_enter_a_proof() -> None:
    for module in (privacy, convex, smooth, weakly_convex, rounding):
        floats = [n.value for n in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(n, ast.Constant)]
        assert not [v for v in floats if isinstance(v, float)], module.__name__
        source = inspect.getsource(module)
        assert not any(word in source for word in ("float(", ".mid", "to_float", "numpy", "Float64", "MP(")), (
            module.__name__
        )


def test_nothing_that_rounds_decides_a_cover() -> None:
    covers = [(one.id, p) for one in MACHINE for p in parts_of(one.proof) if isinstance(p, Cover)]
    assert len(covers) >= 20
    assert {id: found for id, p in covers if (found := impurities(p.sides))} == {}
    assert impurities(lambda K, x: (x.mid, K(1))), "what the lint sees"


def test_every_step_is_exported_under_a_name_that_every_system_takes() -> None:
    """The names are ASCII without blanks, apart from each other whatever the case of letters."""
    names = [name for one in MACHINE for name, _ in one.files()]
    assert len(names) > 300
    assert not [name for name in names if not re.fullmatch(r"[A-Za-z0-9._-]+\.smt2", name)]
    assert len({name.lower() for name in names}) == len(names)


def test_an_exported_identity_is_refuted_by_no_division_by_zero() -> None:
    """A solver may give x/0 any value: the files say that no denominator is 0."""
    identities = [one for one in MACHINE if isinstance(one.proof, Identity)]
    assert len(identities) >= 20
    for one in identities:
        for _, text in one.files():
            assert solvers.ask(text).verdict == "unsat", one.id


@pytest.mark.parametrize(
    ("basis", "words"),
    [
        (Basis(9, 9, 0), "9 of 9 steps proved by machine"),
        (Basis(5, 8, 0), "proved on paper, 5 of 8 steps by machine"),
        (Basis(5, 8, 1), "proved on paper, 5 of 8 steps by machine, 1 cited"),
        (Basis(0, 2, 2), "cited"),
        (Basis(0, 3, 0), "proved on paper, instances only"),
        (Basis(0, 0, 0), "instances only"),
    ],
)
def test_what_a_verdict_says_of_its_proof(basis: Basis, words: str) -> None:
    assert str(basis) == words


def test_tight_steps_do_not_count_for_the_text() -> None:
    found = ledger.basis("thm:l2_glm")
    assert found.steps == sum(one.edition != "tight" for one in ledger.steps_of("thm:l2_glm"))
    assert 0 < found.machine < found.steps


def test_the_share_counts_each_step_once() -> None:
    found = ledger.share()
    assert found.machine == len(MACHINE)
    assert found.steps == len({one.id for one in ledger.steps()})
    assert found.machine >= 80, "what the project set out to prove at least"
    assert found.machine + found.cited <= found.steps


def test_rows_show_what_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {row.id: row for row in ledger.rows("lem:prox_estimate")}
    assert rows["prox.sharp"].status == "proved by smt"
    assert rows["prox.exists"].status == "on paper"
    assert rows["prox.sharp"].text.startswith(rows["prox.sharp"].says)
    assert ledger.rows("lem:prox_estimate/nowhere") == []
    monkeypatch.setattr(ledger, "read_record", lambda: {"solver": "", "steps": {}})
    assert {row.status for row in ledger.rows("lem:prox_estimate")} == {"not recorded"}


def test_a_record_is_refused_where_something_is_not_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "RECORD", tmp_path / "proved.json")
    assert ledger.read_record() == {"solver": "", "steps": {}}
    good = {one.id: StepReplay("proved" if one.by_machine else "paper") for one in ledger.steps()}
    first = MACHINE[0].id
    with pytest.raises(InputError, match=first):
        ledger.write_record(good | {first: StepReplay("unknown")})
    with pytest.raises(InputError, match=first):
        ledger.write_record({id: found for id, found in good.items() if id != first})
    ledger.write_record(good)
    record = ledger.read_record()
    assert ledger.stale(record) == []
    assert record["solver"] == solvers.version()
    record["steps"][first]["fingerprint"] = "0"
    record["steps"]["gone.step"] = {}
    assert ledger.stale(record) == [first, "gone.step"]
    (tmp_path / "proved.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        ledger.read_record()


def test_two_steps_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.steps.cache_clear()
    monkeypatch.setattr(smooth, "steps", convex.steps)
    with pytest.raises(ValueError, match=r"moreau\.\w+ is declared twice|is declared twice"):
        ledger.steps()
    monkeypatch.undo()
    ledger.steps.cache_clear()


def test_a_check_replays_the_steps_of_its_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    x = real("x")
    true, false = (step(f"a.{c}", "lem:moreau", "says", Smt("", (x >= 0,), x <= c * x)) for c in (1, 0))
    assert proved.replay([true]).holds
    found = proved.replay([true, false])
    assert not found.holds
    assert found.witness.startswith("a.0: refuted")
    monkeypatch.setattr(solvers, "installed", lambda solver: False)
    with pytest.raises(RuntimeError, match="pip install"):
        proved.replay([true])


def test_the_record_is_json_without_times() -> None:
    data = json.loads(ledger.RECORD.read_text())
    assert set(data) == {"solver", "steps"}
    assert all(set(entry) == {"status", "method", "fingerprint"} for entry in data["steps"].values())
