"""How many slips the vectors find: `python -m mutants --figures`.

Two sets: the catalogue (lines of the reference changed; the vectors were chosen with it at hand), and slips by hand in
the client of SPEC.md (which nobody looked at when the vectors were chosen). Each slip is run twice, with its trace and
with outputs only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slips_by_hand import BY_HAND

from audit.crosscheck.bugs import answer, mutated_code
from audit.crosscheck.bugs.catalogue import MUTANTS
from audit.crosscheck.clients import PythonClient
from audit.crosscheck.compare import CrosscheckReport, crosscheck
from reference.paper.algorithms import ALGORITHMS

Run = Callable[[Any], Any]
LABELS = {algorithm.name: algorithm.label for algorithm in ALGORITHMS}


@dataclass(frozen=True)
class Found:
    """What became of one slip."""

    name: str
    traced: bool
    """Seen with the trace."""
    line: bool
    """And the first failing case names its line."""
    output: bool
    """Seen in outputs alone."""
    said: bool
    """If not: its line, or a line that shows it, is in the list of what is unchecked."""


def judged(name: str, run: Run, label: str, variant: str, lines: tuple[int, ...]) -> Found:
    """One slip, with its trace and without."""
    failed = _report(run, label, variant).failed
    divergence = failed[0].divergence if failed else None
    silent = _report(lambda case: _untraced(run(case)), label, variant)
    said = any(line in lines for line, _ in silent.unchecked)
    return Found(name, bool(failed), divergence is not None and divergence.line in lines, bool(silent.failed), said)


def _report(run: Run, label: str, variant: str) -> CrosscheckReport:
    verdicts = crosscheck(PythonClient(run, "slip"), label, variant)
    return CrosscheckReport(label, variant, "slip", tuple(verdicts))


def _untraced(reply: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in reply.items() if name != "trace"}


def catalogued(step: int = 1) -> Iterator[Found]:
    """The bugs of the catalogue, or each `step`-th of them."""
    for mutant in MUTANTS[::step]:
        code = mutated_code(mutant)
        lines = (mutant.line, *mutant.also)
        yield judged(mutant.id, lambda case, code=code: answer(code, case), mutant.algorithm, mutant.variant, lines)  # type: ignore[misc]


def by_hand(step: int = 1) -> Iterator[Found]:
    """The slips in the client of SPEC.md, or each `step`-th of them."""
    for slip in BY_HAND[::step]:
        space: dict[str, Any] = {"__name__": "slip"}
        exec(compile(slip.source, f"<{slip.bug}>", "exec"), space)
        yield judged(f"{slip.name}: {slip.bug}", space["run"], LABELS[slip.name], slip.variant, slip.lines)


def row(name: str, found: list[Found]) -> str:
    """The line of docs/conformance.md."""
    silent = [f for f in found if not f.output]
    said = sum(f.said for f in silent)
    counts = (len(found), sum(f.traced for f in found), sum(f.line for f in found), len(found) - len(silent))
    return f"| {name} | {' | '.join(map(str, (*counts, said, len(silent) - said)))} |"


def table(name: str, found: list[Found]) -> str:
    """One line of figures."""
    traced, lines, silent = sum(f.traced for f in found), sum(f.line for f in found), [f for f in found if not f.output]
    said = sum(f.said for f in silent)
    return (
        f"{name}: {len(found)} slips; with trace {traced} found, {lines} at their line; by output alone "
        f"{len(found) - len(silent)} found, {said} more declared unchecked, {len(silent) - said} neither"
    )
