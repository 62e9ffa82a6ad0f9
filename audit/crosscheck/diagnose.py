"""Which catalogued bug gives the numbers that a client sent: the reference is run with each, on the failing cases.

A bug is named only if it reproduces every number that the client sent for each of the first failing cases; otherwise
none is.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from audit.crosscheck.bugs import HELPERS, Slip, answer, mutated_code, mutated_source
from audit.crosscheck.bugs.catalogue import MUTANTS
from audit.crosscheck.compare import CaseVerdict, CrosscheckReport
from audit.crosscheck.replies import ClientError, Json, flat, integers, key, number
from reference.paper.algorithms import BY_LABEL, EDITIONS
from reference.vectors.execute import CODE, MODULES

EXAMINED = 4
"""Failing cases that a bug must reproduce: one alone may be explained by several bugs."""
SHOWN = 3
"""Bugs that are named at most, where the cases do not tell them apart."""
ROOM = 16
"""Times the tolerance of the vectors: a bug may enlarge the numbers that are rounded."""
RELATIVE = Fraction(1, 10**11)
"""And this share of the value."""


def diagnosed(report: CrosscheckReport, document: Json) -> CrosscheckReport:
    """The report with the bugs that reproduce the client's numbers, on the first case that differs."""
    cases = {case["id"]: case for case in document["cases"]}
    differing = [v for v in report.verdicts if v.divergence is not None and v.reply is not None]
    if not differing or report.algorithm not in BY_LABEL:
        return report
    examined = [(cases[v.id], v) for v in differing[:EXAMINED]]
    found = tuple(name for name, code in candidates(report.algorithm, report.variant) if _explains(code, examined))
    first = differing[0].id
    marked = (replace(v, likely=found[:SHOWN]) if v.id == first else v for v in report.verdicts)
    return replace(report, verdicts=tuple(marked))


def _explains(code: tuple[SimpleNamespace, str], examined: Sequence[tuple[Json, CaseVerdict]]) -> bool:
    """Whether the reference with the bug gives all numbers of all examined replies."""
    space, variant = code
    return all(
        verdict.reply is not None and reproduces(case, verdict.reply, answer(space, {**case, "variant": variant}))
        for case, verdict in examined
    )


def candidates(label: str, variant: str) -> Iterator[tuple[str, tuple[SimpleNamespace, str]]]:
    """(in words, (code, variant)) of the other text of the algorithm, and of every bug that applies to the variant."""
    for other in BY_LABEL[label].editions:
        if other != variant and "tight" not in (other, variant):
            yield f"the {other} text of the algorithm, on every line", (CODE, other)
    for mutant in _applicable(label, variant):
        grave = ", privacy" if mutant.leak else ""
        yield f"{mutant.id}: {mutant.bug} (line {mutant.line}{grave})", (_code(mutant), variant)


@cache
def _code(mutant: Slip) -> SimpleNamespace:
    return mutated_code(mutant)


def _applicable(label: str, variant: str) -> list[Slip]:
    """The bugs of an algorithm, and those of the oracle that it calls, moved to the variant's function."""
    labels = (label, "Alg:gll_oracle") if label in ("Alg:phased", "Alg:nfw") else (label,)
    found = [_moved(m, variant) for m in MUTANTS if m.algorithm in labels]
    return list(dict.fromkeys(m for m in found if m is not None))


def _moved(mutant: Slip, variant: str) -> Slip | None:
    """The bug in the function of another variant, if the line stands there, too."""
    algorithm = BY_LABEL[mutant.algorithm]
    if (
        mutant.variant == variant
        or mutant.owner not in map(algorithm.body, EDITIONS)
        or mutant.algorithm == "Alg:gll_oracle"
    ):
        return mutant
    module = import_module({**MODULES, **HELPERS}[mutant.module])
    owner = algorithm.body(variant) if hasattr(module, algorithm.body(variant)) else algorithm.function
    moved = replace(mutant, owner=owner, variant=variant)
    try:
        mutated_source(moved)
    except (ValueError, OSError):
        return None
    return moved if inspect.isfunction(getattr(module, owner)) else None


def reproduces(case: Json, reply: Json, mutant: Json) -> bool:
    """Whether every number of the reply that the vector knows is the mutant's."""
    wanted = {key(event): event for event in case["trace"]}
    theirs = {key(event): event["value"] for event in mutant["trace"]}
    sent = {key(e): e["value"] for e in reply.get("trace") or () if key(e) in wanted}
    try:
        same = all(name in theirs and _same(wanted[name], value, theirs[name]) for name, value in sent.items())
        return same and _outputs(case, reply.get("output") or {}, mutant.get("output"))
    except (ClientError, TypeError, ValueError):
        return False


def _outputs(case: Json, output: Mapping[str, Any], theirs: Mapping[str, Any] | None) -> bool:
    known = [name for name in output if name in case["output"]]
    if theirs is None:
        return not known
    return all(_same({"tolerance": case["tolerance"][name]}, output[name], theirs[name]) for name in known)


def _same(want: Json, value: Any, theirs: Any) -> bool:
    """Whether two values agree as two runs of one program would."""
    if "tolerance" not in want:
        return bool(integers(want["value"], value) == theirs)
    if len(flat(value)) != len(flat(theirs)):
        return False
    room = ROOM * Fraction(want["tolerance"])
    pairs = [(number("value", a), number("value", b)) for a, b in zip(flat(value), flat(theirs), strict=True)]
    return all(abs(a - b) <= room + RELATIVE * max(abs(a), abs(b)) for a, b in pairs)
