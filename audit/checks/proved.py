"""Checks that replay the steps of a statement's proof: one a statement and edition, from the ledger.

What is proved, and for which parameters, is declared in `audit/checks/proofs/`; `dpso prove ID` shows it step by step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from audit.checks.evidence import Proved
from audit.checks.framework import CheckFunction, Outcome, check
from audit.checks.mutants import replaced
from audit.checks.proofs import ledger, solvers
from audit.checks.proofs.steps import Cover, Exponents, Identity, Parts, Powers, Proof, ProofStep, Smt
from audit.checks.proofs.terms import term
from reference.paper.algorithms import EDITIONS, Edition
from reference.paper.inventory import load

CHEAPEST = (Identity, Exponents, Smt, Parts, Cover)
"""The methods, by how long it takes to see that a sharpened claim is not proved."""


def replay(chosen: list[ProofStep]) -> Outcome:
    """Whether every step of these that is for a machine is proved, and its mutant refuted."""
    found = {one.id: one.proof.replay() for one in chosen if one.by_machine}
    if any(r.status == "missing" for r in found.values()):
        raise RuntimeError(solvers.missing())
    open_steps = {id: r for id, r in found.items() if r.status != "proved"}
    return Outcome(
        not open_steps,
        witness="; ".join(f"{id}: {r.status}, {r.detail}" for id, r in open_steps.items()),
        numbers={"steps": len(chosen), "proved by machine": len(found) - len(open_steps)},
        note="; ".join(f"{one.id}: {one.says}" for one in chosen if one.by_machine),
    )


def _check(statement: str, edition: Edition, chosen: list[ProofStep]) -> CheckFunction:
    def run(seed: int) -> Outcome:
        return replay(_steps(statement, edition))

    ending = "" if edition == "corrected" else f"_{edition}"
    run.__name__ = run.__qualname__ = re.sub(r"\W", "_", statement) + ending
    run.__doc__ = f"{len(chosen)} steps of the proof of {statement}."
    methods = {one.proof.method for one in chosen if one.by_machine}
    domain = f"{len(chosen)} steps, the domain of each in the ledger"
    method = methods.pop() if len(methods) == 1 else "steps"
    mutants = (
        replaced("audit.checks.proofs.ledger.steps", _with_sharpened(chosen), "a claim sharpened by its mutant"),
    )
    return check(statement, kind=Proved(domain, method), edition=edition, mutants=mutants)(run)  # type: ignore[arg-type]


def _with_sharpened(chosen: list[ProofStep]) -> Callable[[], tuple[ProofStep, ...]]:
    """The ledger, with the cheapest of these steps claiming what its own mutant claims."""
    one = min((x for x in chosen if x.by_machine), key=lambda x: CHEAPEST.index(type(x.proof)))
    everything = ledger.steps()

    def steps() -> tuple[ProofStep, ...]:
        broken = replace(one, proof=sharpened(one.proof))
        return tuple(broken if x.id == one.id else x for x in everything)

    return steps


def sharpened(proof: Proof) -> Proof:
    """What the mutant of a step claims, as a step."""
    if isinstance(proof, Identity):
        return replace(proof, right=term(proof.sharpen) * proof.right)
    if isinstance(proof, Smt):
        return replace(proof, claim=proof.sharpened)
    if isinstance(proof, Exponents):
        left, right = proof.pairs[0]
        return replace(proof, pairs=((left * Powers.of(n=Fraction(1, 12)), right), *proof.pairs[1:]))
    if isinstance(proof, Cover):
        sides, factor = proof.sides, proof.sharpen
        return replace(proof, sides=lambda K, **at: (sides(K, **at)[0], sides(K, **at)[1] * factor))
    if isinstance(proof, Parts):
        name, part = min(proof.parts.items(), key=lambda item: CHEAPEST.index(type(item[1])))
        return replace(proof, parts={**proof.parts, name: sharpened(part)})
    raise TypeError(f"{proof!r} has no mutant")


def _steps(statement: str, edition: Edition) -> list[ProofStep]:
    return [one for one in ledger.steps_of(statement) if one.edition == edition]


for _statement in (id for id in ledger.statements() if load().erratum(id) is None):
    for _edition in EDITIONS:
        _chosen = _steps(_statement, _edition)
        if any(one.by_machine for one in _chosen):
            _made = _check(_statement, _edition, _chosen)
            globals()[_made.__name__] = _made
