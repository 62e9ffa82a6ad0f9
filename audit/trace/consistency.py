"""Whether everything that grades the paper says the same: errata, recorded verdicts, lines of the text.

Verdicts, lines, map, report and quoted counts are derived from one record of errata and from results of checks. What
could still come apart is what is written down: the record of verdicts (`verdicts.json`) may be older than the errata,
or a line may leave out the erratum that makes it false. `contradictions` finds these; `dpso trace --check` prints them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from audit.checks.framework import Check, CheckResult, Outcome, result_of
from audit.checks.scale import Verdict, by_place, effect, judge
from reference.paper.inventory import FALSE, LINE_VERDICTS, PROOF, Inventory, OwnStatement, Section

WORDS = dict.fromkeys(FALSE, "false") | {
    "edge": "edge",
    "proof": "unproved",
    "condition": "conditional",
    "misprint": "misprint",
    "loose": "loose",
}
"""The grade, which is the word of a line too, that an erratum of each severity leads to."""


def contradictions(known: Inventory, record: Mapping[str, Any], checks: Sequence[Check]) -> list[str]:
    """Every disagreement, one line each."""
    verdicts = derived(known, record, checks)
    return [*_stale(record, verdicts), *_lines_against(known), *_unnamed(known)]


def derived(known: Inventory, record: Mapping[str, Any], checks: Sequence[Check]) -> dict[str, Verdict]:
    """The verdicts that follow now from the recorded results and the errata."""
    results = _results(record, checks)
    return {id: judge(id, found, known) for id, found in by_place(results, known).items()}


def _results(record: Mapping[str, Any], checks: Sequence[Check]) -> Iterator[CheckResult]:
    """The recorded results of the checks that still exist, in the order of the checks."""
    recorded = {one["name"]: one for one in record["results"]}
    for check in checks:
        if (one := recorded.get(check.name)) is not None:
            outcome = Outcome(**{key: one[key] for key in ("holds", "ratio", "tight", "would_detect")})
            yield result_of(check, outcome, record["seed"])


def _stale(record: Mapping[str, Any], verdicts: Mapping[str, Verdict]) -> Iterator[str]:
    """Recorded verdicts that no longer follow."""
    for id, verdict in verdicts.items():
        said = (record["grades"].get(id), record["errata"].get(id, []), record["kinds"].get(id, []))
        if said != (verdict.grade, list(verdict.errata), list(verdict.kinds)):
            yield f"{id}: recorded as {said[0]} ({', '.join(said[1])}); what follows now: {verdict.text}"
        elif not record["verdicts"][id].startswith(verdict.text):
            yield f"{id}: recorded in other words; what follows now: {verdict.text}"


def _lines_against(known: Inventory) -> Iterator[str]:
    """Statements that errata make worse or better than their lines say.

    A line that depends on what an erratum corrects elsewhere is worth less than its statement, and says nothing of it.
    """
    for id, entry in known.entries.items():
        own = [line for line in known.lines if known.places_of(line.owner)[-1] == id]
        if isinstance(entry, Section | OwnStatement) or not own:
            continue
        effects = {e.id: WORDS[what] for e in known.errata if (what := effect(e, id, known)) in WORDS}
        named = [effects[name] for line in own for name in line.check if name in effects]
        alone = [line for line in own if not any(known.erratum(name) for name in line.check)]
        said = [line.verdict for line in alone if line.verdict == "conditional"]
        by_errata, by_lines = _gravest(effects.values()), _gravest([*named, *said])
        if by_errata != by_lines:
            yield f"{id}: by errata {by_errata}, by its lines {by_lines}"


def _gravest(words: Iterable[str]) -> str:
    """The gravest of some words; with room or without, what holds holds."""
    return max((word for word in words if word != "loose"), key=LINE_VERDICTS.index, default="holds")


def _unnamed(known: Inventory) -> Iterator[str]:
    """Places that an erratum concerns, where no line names it."""
    for erratum in known.errata:
        lines = [line for line in known.lines if erratum.id in line.check]
        here = {known.places_of(line.owner)[-1] for line in lines}
        touched = any(line.tex[0] <= erratum.tex[1] and erratum.tex[0] <= line.tex[1] for line in lines)
        for id in dict.fromkeys(known.places_of(place.removesuffix(PROOF))[-1] for place in erratum.where):
            if effect(erratum, id, known) and id not in here and not touched:
                yield f"{erratum.id} concerns {id}, and no line of that names it"
