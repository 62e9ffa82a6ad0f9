"""Check × mutant: with something broken in the place of what it checks, a check comes out otherwise than recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction

import pytest

from audit.checks import resolution
from audit.checks.framework import Check, collect, run_one
from audit.checks.mutants import Mutant, catches, scaled, tried

CHECKS = collect()


def matrix() -> Iterator[tuple[Check, Mutant]]:
    """Every check with every mutant that it names; a function that is several checks stands once."""
    seen = set()
    for check in CHECKS:
        for mutant in check.mutants:
            key = (check.function, check.expected, id(mutant))
            if key not in seen:
                seen.add(key)
                yield check, mutant


def by_night(check: Check, mutant: Mutant) -> bool:
    """Left to the night: checks that a quick audit does not run, and of those that draw all mutants but the first."""
    return check.level != "quick" or (check.kind == "measured" and mutant is not check.mutants[0])


def named(pairs: list[tuple[Check, Mutant]]) -> list[object]:
    return [
        pytest.param(check, mutant, id=f"{check.name}-{mutant}", marks=[pytest.mark.night] * by_night(check, mutant))
        for check, mutant in pairs
    ]


@pytest.mark.parametrize(("check", "mutant"), named(list(matrix())))
def test_a_check_notices_its_mutants(check: Check, mutant: Mutant) -> None:
    found = tried(check, mutant)
    assert not found.error
    assert found.holds != check.expected, f"{mutant} is not noticed: {found.ratio}, {found.witness}"


@pytest.mark.parametrize(("check", "mutant"), named([(c, m) for c, m in matrix() if m.beside]))
def test_what_stands_beside_a_mutant_is_not_what_is_noticed(check: Check, mutant: Mutant) -> None:
    with contextlib.ExitStack() as stack:
        for other in mutant.beside:
            stack.enter_context(other.applied())
        found = run_one(check, 0)
    assert found.as_recorded, (found.error, found.ratio, found.witness)


def test_no_check_is_without_a_mutant() -> None:
    assert CHECKS
    assert [check.name for check in CHECKS if not check.mutants] == []


def test_what_is_recorded_of_the_resolution_is_still_noticed() -> None:
    """A sample: the recorded factor is caught; the words are made of it."""
    name, part = "section3.moreau_lemma", "reference.convex.moreau.envelope_gap"
    factor = Fraction(resolution.read_record()[name][part])
    (check,) = (c for c in CHECKS if c.name == name)
    assert catches(check, scaled(part, factor))
    assert "would notice envelope_gap off by" in resolution.words(name)
    assert resolution.words("no.such") == ""
