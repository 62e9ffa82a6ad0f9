"""The scale of verdicts, and how a verdict follows: from results of checks and the record of errata, purely.

Nothing is graded by hand. An erratum says once, in `errata.toml`, how grave it is and what it makes false; whether it
is shown, and what holds beside it, the checks say. Report, README, map, tour and `dpso calibrate` read the verdicts
that `judge` gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from audit.checks.evidence import BLIND, Kind
from audit.checks.framework import CheckResult
from reference.paper.inventory import FALSE, FALSIFYING, PROOF, Erratum, Inventory, erratum_order

Grade: TypeAlias = Literal[
    "holds",
    "loose",
    "misprint",
    "conditional",
    "unproved",
    "edge",
    "false",
    "searched",
    "cited",
    "unexpected",
    "unchecked",
]
"""The scale of verdicts. Up to "false" the later is the graver."""
GRADES: tuple[Grade, ...] = get_args(Grade)
PROOFS: tuple[Kind, ...] = ("proved", "enclosed", "exact")
"""The kinds of check that may say "holds"."""


@dataclass(frozen=True)
class Verdict:
    """What is known of one statement: its grade, for colours and comparison, and the sentence.

    `remarks` is what the sentence says beside the grade: regimes, conditions, constants, what stands in the way.
    """

    grade: Grade
    text: str
    errata: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Of a false statement: in what it is false (privacy, rate, accuracy)."""
    corrected: Grade | None = None
    """Of a false statement, be it at an edge only: the grade of what stands when the errata are corrected."""


def effect(erratum: Erratum, statement: str, known: Inventory) -> str:
    """What an erratum means for a statement or a place inside one: its severity, "remark", or "" for nothing.

    It makes false what it falsifies, and what holds that (an algorithm, for its line). Where it is named and not
    falsified it means nothing for the verdict. What is in the proof only is a remark, unless the printed proof fails.
    """
    named = [place for place in erratum.where if statement in known.places_of(place)]
    if not named:
        return ""
    if erratum.severity in FALSIFYING:
        falsified = any(place in erratum.falsifies for place in named)
        return erratum.severity if falsified else ""
    in_proof = all(place.endswith(PROOF) for place in named) and not statement.endswith(PROOF)
    return "remark" if in_proof and erratum.severity != "proof" else erratum.severity


def bearing(statement: str, shows: str, known: Inventory) -> tuple[str, ...]:
    """What a check bears on: its statement and what holds that; if it shows an erratum, all places of the erratum."""
    found = known.erratum(shows)
    places = (statement, *(found.where if found else ()))
    return tuple(dict.fromkeys(id for place in places for id in known.places_of(place)))


def by_place(results: Iterable[CheckResult], known: Inventory) -> dict[str, list[CheckResult]]:
    """The results that bear on each statement and place, in order of first appearance."""
    grouped: dict[str, list[CheckResult]] = {}
    for result in results:
        for id in bearing(result.statement, result.shows, known):
            grouped.setdefault(id, []).append(result)
    return grouped


def judge(statement: str, results: Sequence[CheckResult], known: Inventory) -> Verdict:
    """The verdict on one statement, from the checks that bear on it and ran.

    A check that came out otherwise than recorded beats everything. Then the errata that were shown decide, the gravest
    first, by what they mean for this statement (`effect`); an erratum whose counterexample did not run counts for
    nothing. What they leave is judged by the checks of the text as it should read: "holds" needs a rigorous one (not
    of our tighter variant); searching without finding is said in those words, with the power of the search where that
    is known.
    """
    text = [r for r in results if r.edition != "tight"]
    unexpected = [r.name for r in results if not r.as_recorded]
    if unexpected:
        return Verdict("unexpected", f"UNEXPECTED: {', '.join(unexpected)}", remarks=tuple(unexpected))
    shown = {r.shows for r in text}
    defects = _Defects([(e, what) for e in known.errata if e.id in shown and (what := effect(e, statement, known))])
    rest = _standing([r for r in text if r.expected], defects, _blind(results))
    return _false(rest, defects, text) or rest


@dataclass(frozen=True)
class _Defects:
    """The errata that mean something for a statement, in their order, each with what it means."""

    effects: Sequence[tuple[Erratum, str]]

    def of(self, *what: str) -> list[Erratum]:
        return [erratum for erratum, effect in self.effects if effect in what]


def _names(errata: Iterable[Erratum]) -> str:
    return ", ".join(e.id for e in errata)


def _false(rest: Verdict, defects: _Defects, text: Sequence[CheckResult]) -> Verdict | None:
    """The verdict on a false statement; "corrected" is said only if a check of the corrected text ran and held."""
    wrong = defects.of(*FALSIFYING)
    if not wrong:
        return None
    repaired = any(r.edition == "corrected" and r.kind != "cited" for r in text)
    kinds = tuple(kind for kind in FALSE if any(e.severity == kind for e in wrong))
    grade: Grade = "false" if kinds else "edge"
    regimes = tuple(f"{f'{e.severity}: ' if kinds else ''}{e.regime} ({e.id})" for e in wrong)
    after = f"corrected: {rest.text}" if repaired else "correction not checked"
    text_ = f"{'false' if kinds else 'false only at the edge'} – {'; '.join(regimes)} → {after}"
    errata = in_order([*(e.id for e in wrong), *rest.errata])
    return Verdict(grade, text_, errata, (*regimes, after), kinds, rest.grade if repaired else "unchecked")


Saying: TypeAlias = "tuple[Grade, str]"
"""One more thing to be said of a statement that is not false, and the grade that goes with it."""


def _standing(text: Sequence[CheckResult], defects: _Defects, blind: Sequence[str]) -> Verdict:
    """The verdict on a statement that no erratum makes false: the gravest thing to be said of it gives the grade."""
    sayings = _sayings(text, defects)
    notes = [words for _, words in sayings] + _remark(defects) + (list(blind) if text else [])
    errata = tuple(e.id for e, what in defects.effects if what not in FALSIFYING)
    if not text:
        known = f"no check yet but of errata: {'; '.join(notes)}" if notes else "no check yet"
        return Verdict("unchecked", known, errata, tuple(notes))
    if all(r.kind == "cited" for r in text):
        return Verdict("cited", "; ".join(["cited", *notes]), errata, tuple(notes))
    if not any(r.kind in PROOFS for r in text):
        notes = [*_power(text), *notes]
        return Verdict("searched", "; ".join(["no violation found", *notes]), errata, tuple(notes))
    if not sayings:
        return Verdict("holds", "; ".join(["holds", *notes]), errata, tuple(notes))
    grade = sayings[0][0]
    head = {"unproved": "true, but", "loose": "holds,"}.get(grade, "holds")
    return Verdict(grade, f"{head} {'; '.join(notes)}", errata, tuple(notes))


def _sayings(text: Sequence[CheckResult], defects: _Defects) -> list[Saying]:
    """What is to be said beside "holds", the gravest first."""
    found: list[Saying] = []
    if proofs := defects.of("proof"):
        found.append(("unproved", f"not by its printed proof ({_names(proofs)})"))
    if conditions := _conditions(text, defects.of("condition")):
        found.append(("conditional", f"if {'; '.join(conditions)}"))
    if misprints := defects.of("misprint"):
        words = "a misprint is" if len(misprints) == 1 else "misprints are"
        found.append(("misprint", f"after {words} corrected ({_names(misprints)})"))
    room = [*dict.fromkeys(r.tight for r in text if r.tight), *(e.id for e in defects.of("loose"))]
    if room:
        found.append(("loose", f"loose ({'; '.join(room)})"))
    return found


def _conditions(text: Sequence[CheckResult], errata: Sequence[Erratum]) -> list[str]:
    """The conditions that errata name, with whether the paper states them, and what the checks ask for beyond these."""
    by_regime: dict[str, list[Erratum]] = {}
    for erratum in errata:
        by_regime.setdefault(erratum.regime, []).append(erratum)
    named = [
        f"{regime} ({_names(those)}{', stated elsewhere' if all(e.stated for e in those) else ''})"
        for regime, those in by_regime.items()
    ]
    clauses = {clause for r in text for clause in (r.condition or "").split("; ") if clause}
    return [*named, *sorted(clauses - set(by_regime))]


def _remark(defects: _Defects) -> list[str]:
    """The slips of a proof, which leave the statement as it is."""
    slips = defects.of("remark")
    return [f"{'a slip' if len(slips) == 1 else 'slips'} in its proof ({_names(slips)})"] if slips else []


def _blind(results: Sequence[CheckResult]) -> list[str]:
    """What measurements, of our tighter variant too, would not notice: the clauses of their evidence that say so."""
    clauses = (clause for r in results for clause in r.evidence.split("; "))
    return list(dict.fromkeys(clause for clause in clauses if clause.startswith(BLIND)))


def _power(text: Sequence[CheckResult]) -> list[str]:
    """What a search without a find is worth: how near it came, and what it would have seen."""
    ratios = [r.ratio for r in text if r.ratio is not None]
    powers = [r.would_detect for r in text if r.would_detect is not None]
    nearest = [f"largest ratio {max(ratios):.3g}"] if ratios else []
    return [*nearest, *([f"would have seen ε ≥ {max(powers):.3g} with probability 0.95"] if powers else [])]


def in_order(errata: Iterable[str]) -> tuple[str, ...]:
    """Ids of errata as they are listed."""
    return tuple(sorted(errata, key=erratum_order))
