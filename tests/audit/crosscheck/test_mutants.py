"""Seeded bugs: the vectors catch every one at its line, and exact computations see what those of privacy reveal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from mutants import Slip, at_its_line, clone, first_caught, mutated_code, mutated_source
from mutants.leaks import CHECKS

from audit.crosscheck.bugs.catalogue import MUTANTS
from audit.crosscheck.compare import CaseVerdict
from reference.convex import oracle
from reference.vectors.execute import CODE

FOUND: dict[str, CaseVerdict | None] = {}


def row(mutant: Slip) -> str:
    verdict = FOUND.get(mutant.id)
    found = verdict.divergence if verdict else None
    seen = f"L{found.line} {found.quantity}" if found else "survives"
    leak = mutant.leak or "–"
    return (
        f"{mutant.id:34} {mutant.algorithm:15} {mutant.variant:10} L{mutant.line:<3} {seen:28} {leak:16} {mutant.bug}"
    )


def test_there_are_enough_and_all_algorithms_have_some() -> None:
    assert len(MUTANTS) == len({m.id for m in MUTANTS}) >= 60
    assert min(Counter(m.algorithm for m in MUTANTS).values()) >= 15
    assert {m.variant for m in MUTANTS} == {"printed", "corrected", "tight"}
    assert sum(bool(m.leak) for m in MUTANTS) >= 40


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.id)
def test_the_vectors_catch_it_at_its_line(mutant: Slip) -> None:
    FOUND[mutant.id] = first_caught(mutant)
    print(row(mutant))
    assert at_its_line(mutant, FOUND[mutant.id]), row(mutant)


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.leak], ids=lambda m: m.id)
def test_what_it_reveals_is_computed(mutant: Slip) -> None:
    found, allowed = CHECKS[mutant.leak](mutated_code(mutant))
    print(f"{mutant.id:34} {mutant.leak:16} {found:.6g} > {allowed:.6g}")
    assert found > allowed


@pytest.mark.parametrize("check", CHECKS)
def test_the_reference_reveals_no_more_than_it_may(check: str) -> None:
    found, allowed = CHECKS[check](CODE)
    assert found <= allowed
    assert any(m.leak == check for m in MUTANTS), "a check that no mutant needs"


SPARE = {
    "phased-rho-without-two": "phased_scale",
    "nfw-scale-without-three": "nfw_steps",
    "nfw-scale-without-eight": "nfw_steps",
    "nfw-scale-without-D": "nfw_steps",
}


@pytest.mark.parametrize("id", SPARE)
def test_less_noise_within_the_slack_of_the_printed_constants_reveals_nothing(id: str) -> None:
    (mutant,) = [m for m in MUTANTS if m.id == id]
    found, allowed = CHECKS[SPARE[id]](mutated_code(mutant))
    assert not mutant.leak
    assert found <= allowed
    assert found > CHECKS[SPARE[id]](CODE)[0]


def test_privacy_flags_of_the_vectors_are_exercised_by_mutants_of_every_private_algorithm() -> None:
    private = {m.algorithm for m in MUTANTS if m.leak}
    assert private == {"Alg:gll_oracle", "Alg:phased", "Alg:nfw", "alg:polySFW", "alg:nSFW", "Alg:PGPSMD"}


def test_an_equivalent_change_survives() -> None:
    same = replace(MUTANTS[0], id="same", old="m = w @ x", new="m = x @ w")
    assert first_caught(same) is None
    assert not at_its_line(same, None)


def test_a_substitution_must_fit_once() -> None:
    with pytest.raises(ValueError, match="occurs 0 times"):
        mutated_source(replace(MUTANTS[0], old="no such text"))


def test_the_live_modules_are_not_touched() -> None:
    before = dict(vars(oracle))
    code = mutated_code(MUTANTS[0])
    assert code.oracle.oracle is not oracle.oracle
    assert dict(vars(oracle)) == before
    assert clone(oracle, {"least_exponent": 3})["least_exponent"] == 3
