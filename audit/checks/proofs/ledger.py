"""The ledger: the steps of each statement's proof, which of them a machine replays, and what a verdict says of them.

A statement's proof, the paper's or ours, is a list of named steps (`steps`). Those by machine are replayed by `dpso
prove` and, statement by statement, by `dpso audit`; the others say where they are written or from where they are taken.
A step may also be filed under an erratum, of which it proves what is said there. The record `proved.json` holds what
the last complete replay gave, with a fingerprint of each step, and is shown where no solver is installed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from audit.checks.proofs import solvers
from audit.checks.proofs.steps import MEANINGS, ProofStep, StepReplay, StepStatus
from audit.runtime.errors import InputError
from audit.runtime.files import write_atomically

SECTIONS = ("privacy", "convex", "smooth", "weakly_convex", "rounding")
"""The modules that declare steps, in the order of the paper; what rounding adds to each comes last."""

RECORD = Path(__file__).with_name("proved.json")
"""What `dpso prove --record` wrote."""


@cache
def steps() -> tuple[ProofStep, ...]:
    """Every step; an id that two steps share is refused."""
    found = [one for name in SECTIONS for one in import_module(f"audit.checks.proofs.{name}").steps()]
    ids = [one.id for one in found]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise ValueError(f"step {twice[0]} is declared twice")
    return tuple(found)


def statements() -> list[str]:
    """The statements and errata that have a step here, in order of first appearance."""
    return list(dict.fromkeys(id for one in steps() for id in one.of))


def steps_of(statement: str) -> list[ProofStep]:
    """The steps of one statement's proof."""
    return [one for one in steps() if statement in one.of]


# ---------------------------------------------------------------------------------------------------- words


@dataclass(frozen=True)
class Basis:
    """What a statement's "holds" rests on: how many steps its proof has, and how many of them a machine replays."""

    machine: int
    steps: int
    cited: int

    def __str__(self) -> str:
        """In words; where every step is cited, or by machine, nothing is said of paper."""
        if not self.steps:
            return "instances only"
        cited = f", {self.cited} cited" if self.cited else ""
        if self.machine == self.steps:
            return f"{self.machine} of {self.steps} steps proved by machine"
        if self.machine:
            return f"proved on paper, {self.machine} of {self.steps} steps by machine{cited}"
        if self.cited == self.steps:
            return "cited"
        return f"proved on paper{cited}, instances only"


def basis(statement: str) -> Basis:
    """What is known of the proof of a statement's text (steps of our tighter variants do not count)."""
    found = [one for one in steps_of(statement) if one.edition != "tight"]
    return Basis(sum(one.by_machine for one in found), len(found), sum(one.proof.method == "cited" for one in found))


def share() -> Basis:
    """The whole ledger, our tighter variants with it, each step counted once."""
    return Basis(
        sum(one.by_machine for one in steps()), len(steps()), sum(one.proof.method == "cited" for one in steps())
    )


@dataclass(frozen=True)
class StepRow:
    """A step as it is shown beside a statement."""

    id: str
    status: str
    """As recorded; "not recorded" if it has changed since, or nothing is."""
    says: str
    domain: str
    edition: str

    @property
    def text(self) -> str:
        """The sentence, and the parameters that it is proved for."""
        return f"{self.says} – for {self.domain}" if self.domain else self.says


def rows(id: str) -> list[StepRow]:
    """The ledger of a statement or an erratum, as recorded."""
    record = read_record()
    return [
        StepRow(one.id, _standing(one, recorded(one, record)), one.says, _domain(one), one.edition)
        for one in steps_of(id)
    ]


def _standing(one: ProofStep, status: StepStatus | None) -> str:
    """proved, by smt; on paper; cited; each only if it is recorded so."""
    if status is None:
        return "not recorded"
    said = {"proved": f"proved by {one.proof.method}", "paper": "on paper", "cited": "cited"}
    return said.get(status, status)


def _domain(one: ProofStep) -> str:
    """The parameters; of a step that is not for a machine, where its proof is."""
    return one.proof.domain if one.by_machine else ""


# ---------------------------------------------------------------------------------------------------- the record


def read_record() -> dict[str, Any]:
    """The recorded replay: the solver, and status and fingerprint of each step; nothing if there is none."""
    if not RECORD.exists():
        return {"solver": "", "steps": {}}
    try:
        data: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{RECORD.name} is not JSON ({error}); dpso prove --record writes it") from None
    return data


def recorded(step: ProofStep, record: Mapping[str, Any]) -> StepStatus | None:
    """What is recorded of a step; None if nothing is, or the step has changed since."""
    entry = record["steps"].get(step.id)
    if entry is None or entry["fingerprint"] != step.fingerprint() or entry["status"] not in MEANINGS:
        return None
    status: StepStatus = entry["status"]
    return status


def stale(record: Mapping[str, Any]) -> list[str]:
    """Steps that are not recorded as they stand, and recorded ones that no longer exist."""
    known = {one.id for one in steps()}
    return [one.id for one in steps() if recorded(one, record) is None] + sorted(set(record["steps"]) - known)


def write_record(replays: Mapping[str, StepReplay]) -> None:
    """Record a replay of every step, none of which came out otherwise than it should."""
    wrong = [id for id, found in replays.items() if found.status not in ("proved", "paper", "cited")]
    missing = [one.id for one in steps() if one.id not in replays]
    if wrong or missing:
        raise InputError(f"--record: not recorded, for these are not proved: {', '.join([*wrong, *missing])}")
    data = {
        "solver": solvers.version(),
        "steps": {
            one.id: {"status": replays[one.id].status, "method": one.proof.method, "fingerprint": one.fingerprint()}
            for one in steps()
        },
    }
    write_atomically(RECORD, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
