"""Run somebody else's implementation on the test vectors, and say at which line of the paper it first differs.

A client answers a case with `{"trace": […], "output": {…}}`, `{"reject": "why"}`, or `{"unsupported": "what"}` for
what it does not offer; the trace may be missing or hold some of the events only. Numbers may be JSON numbers or
decimal strings. What no reply covered is listed: agreement of outputs says nothing about noise that they do not show.

**When two numbers agree.** A vector carries for every quantity a certified radius r (the printed decimal is within r of
the truth) and a tolerance τ (what binary64 may lose: see SPEC.md). A client's x agrees with the printed d if
|x − d| ≤ r + τ, entry by entry; integers, index lists and words must be equal.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from audit.crosscheck.clients import Client
from audit.crosscheck.replies import (
    ClientError,
    Json,
    events,
    flat,
    given,
    integers,
    key,
    number,
    same_shape,
    shortened,
)
from audit.runtime.errors import one_line
from reference import vectors

Status = Literal["pass", "fail", "error", "skip"]

ASKED = ("id", "algorithm", "variant", "input", "draws")
"""What a client gets to see of a case."""


@dataclass(frozen=True)
class Flag:
    """A known bug that a case would show, and the line of the paper's algorithm at which it does."""

    bug: str
    effect: str
    line: int
    severity: str

    def __str__(self) -> str:
        """In words."""
        return f"{self.bug} → {self.effect} (line {self.line}, {self.severity})"


@dataclass(frozen=True)
class Divergence:
    """The first quantity that differs: the paper's line, what was expected, what came."""

    line: int
    quantity: str
    expected: str
    got: str
    difference: float | None = None
    ulps: float | None = None
    tolerance: float | None = None


Quantity: TypeAlias = tuple[int, str]
"""A line of the algorithm and the name of a quantity that it sets."""


@dataclass(frozen=True)
class CaseVerdict:
    """What became of one case."""

    id: str
    expected: str
    status: Status
    note: str = ""
    divergence: Divergence | None = None
    flags: Mapping[str, Flag] = field(default_factory=dict)
    compared: int = 0
    covered: frozenset[Quantity] = frozenset()
    """The quantities that were compared, each in all its events."""
    due: frozenset[Quantity] = frozenset()
    """The quantities that the vector has."""
    ended: bool = False
    """The client's process ended instead of answering."""
    likely: tuple[str, ...] = ()
    """The catalogued bugs that give all numbers of the client (`diagnose`)."""
    reply: Json | None = None
    """What the client sent where it differs."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        flags = {name: str(flag) for name, flag in self.flags.items()}
        sets = {"covered": sorted(map(list, self.covered)), "due": sorted(map(list, self.due))}
        divergence = vars(self.divergence) if self.divergence else None
        told = vars(self) | {"flags": flags, "divergence": divergence, "likely": list(self.likely)} | sets
        return {name: value for name, value in told.items() if name != "reply"}


@dataclass(frozen=True)
class CrosscheckReport:
    """All cases of an algorithm in a variant."""

    algorithm: str
    variant: str
    client: str
    verdicts: tuple[CaseVerdict, ...]

    @property
    def failed(self) -> tuple[CaseVerdict, ...]:
        """The cases that did not pass, in order; what the client does not offer is not held against it."""
        return tuple(v for v in self.verdicts if v.status not in ("pass", "skip"))

    @property
    def skipped(self) -> int:
        """How many cases the client does not offer."""
        return sum(v.status == "skip" for v in self.verdicts)

    @property
    def agrees(self) -> bool:
        """Every offered case passes, and at least one output was compared: nothing tested is no agreement."""
        return not self.failed and any(v.status == "pass" and v.expected == "match" for v in self.verdicts)

    @property
    def outputs(self) -> int:
        """How many outputs were compared and agree."""
        return sum(v.status == "pass" and v.expected == "match" for v in self.verdicts)

    @property
    def unchecked(self) -> tuple[Quantity, ...]:
        """What no reply covered: quantities of the agreeing cases that were compared in full in none of them."""
        agreeing = [v for v in self.verdicts if v.status == "pass"]
        due = {quantity for v in agreeing for quantity in v.due}
        return tuple(sorted(due - {quantity for v in agreeing for quantity in v.covered}))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "unchecked": [{"line": line, "name": name} for line, name in self.unchecked],
            "algorithm": self.algorithm,
            "variant": self.variant,
            "client": self.client,
            "agrees": self.agrees,
            "passed": len(self.verdicts) - len(self.failed) - self.skipped,
            "failed": len(self.failed),
            "skipped": self.skipped,
            "first": self.failed[0].to_json() if self.failed else None,
            "cases": [v.to_json() for v in self.verdicts],
        }


# ---------------------------------------------------------------------------------------------- comparing


def crosscheck(
    client: Client, label: str, variant: str, only: Sequence[str] = (), document: Json | None = None
) -> Iterator[CaseVerdict]:
    """The verdicts, case by case, as they come; `document` holds other vectors than ours."""
    document = vectors.load(label, variant) if document is None else document
    chosen = [case for case in document["cases"] if not only or case["id"] in only]
    for case in chosen:
        flags = {name: _flag(document["flags"][name]) for name in case["flags"]}
        try:
            reply = client.answer(question(case))
            yield compare(case, reply, document["output"], flags)
        except ClientError as error:
            note = f"the client {one_line(str(error))}"
            yield CaseVerdict(case["id"], case["result"], "error", note, ended=error.ended)


def question(case: Json) -> dict[str, Any]:
    """What a client gets to see of a case."""
    return {name: case[name] for name in ASKED}


def _flag(entry: Json) -> Flag:
    return Flag(entry["bug"], entry["effect"], entry["line"], entry["severity"])


def compare(case: Json, reply: Json, main: str, flags: Mapping[str, Flag]) -> CaseVerdict:
    """The verdict on one reply; `main` is the output that every client must give. `ClientError` if it is no reply."""
    try:
        return _compare(case, reply, main, flags)
    except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
        raise ClientError(f"sent a reply that cannot be read ({type(error).__name__}: {shortened(error)})") from None


def _compare(case: Json, reply: Json, main: str, flags: Mapping[str, Flag]) -> CaseVerdict:
    if not isinstance(reply, Mapping):
        raise ClientError(f"sent no object: {shortened(reply)}")
    expected, id, output = case["result"], case["id"], given(reply, "output")
    answers = [name for name in ("unsupported", "reject", "output") if given(reply, name) is not None]
    if len(answers) > 1:
        raise ClientError(f"sent {' and '.join(answers)} in one reply: one of them is due")
    if answers == ["unsupported"]:
        return CaseVerdict(id, expected, "skip", f"not offered: {shortened(reply['unsupported'])}")
    if answers == ["reject"]:
        return _refusal(case, reply, flags)
    if expected == "reject":
        note = f"accepted an input that must be refused (because of {case['reason']})"
        return CaseVerdict(id, expected, "fail", note, flags=flags)
    if not isinstance(output, Mapping) or main not in output:
        raise ClientError(f'sent no "output" with "{main}": {shortened(reply)}')
    if expected == "either":
        same_shape(main, case["output"][main], output[main])
        return CaseVerdict(id, expected, "pass")
    sent, unknown = events(reply.get("trace"), case["trace"])
    compared, divergence = _first_divergence(case, sent, output, main)
    note = f"events that no vector has: {', '.join(unknown[:3])}" if unknown else ""
    if divergence and not sent:
        note = note or "only the output was compared: send a trace to learn the first line that differs"
    return CaseVerdict(
        id,
        expected,
        "fail" if divergence else "pass",
        note,
        divergence,
        flags if divergence else {},
        len(compared),
        _covered(case, compared, main),
        frozenset((e["line"], e["name"]) for e in case["trace"]),
        reply=reply if divergence else None,
    )


def _refusal(case: Json, reply: Json, flags: Mapping[str, Flag]) -> CaseVerdict:
    """A refusal passes where one is due; whether its words name the parameter at fault is noted."""
    said = shortened(reply["reject"])
    if case["result"] == "reject":
        named = vectors.names(str(reply["reject"]), case["reason"])
        note = "" if named else f"refused, without a word on {case['reason']}: {said}"
        return CaseVerdict(case["id"], "reject", "pass", note)
    if case["result"] == "either":
        return CaseVerdict(case["id"], "either", "pass")
    sent, _ = events(reply.get("trace"), case["trace"])
    compared, divergence = _in_trace(case["trace"], sent)
    why = f"rejected a valid input: {said}"
    return CaseVerdict(case["id"], "match", "fail", why, divergence, flags, len(compared), reply=reply)


def _first_divergence(case: Json, sent: Json, output: Json, main: str) -> tuple[list[Any], Divergence | None]:
    """What was compared up to the first difference: events, then the names of outputs."""
    compared, found = _in_trace(case["trace"], sent)
    if found:
        return compared, found
    for name in [main, *(n for n in case["output"] if n != main and n in output)]:
        compared.append(name)
        want = {"value": case["output"][name], "radius": case["radius"][name], "tolerance": case["tolerance"][name]}
        if found := differs(case["trace"][-1]["line"], name, want, output[name]):
            return compared, found
    return compared, None


def _in_trace(expected: Iterable[Json], sent: Json) -> tuple[list[Any], Divergence | None]:
    """The events that were compared, up to the first that differs."""
    compared: list[Any] = []
    for event in expected:
        name = key(event)
        if name in sent:
            compared.append(event)
            if found := differs(event["line"], name, event, sent[name]):
                return compared, found
        elif event["name"] == "output" and (other := next((k for k in sent if k.startswith("output")), "")):
            return compared, Divergence(event["line"], "which iterate is the output", name, other)
    return compared, None


def _covered(case: Json, compared: Sequence[Any], main: str) -> frozenset[Quantity]:
    """The quantities of which all events were compared (a loop that ends too early sends some), and the output."""
    seen = {key(e) for e in compared if isinstance(e, Mapping)}
    seen |= {key(e) for e in case["trace"] if e["name"] == "output" and main in compared}
    missing = {(e["line"], e["name"]) for e in case["trace"] if key(e) not in seen}
    return frozenset({(e["line"], e["name"]) for e in case["trace"]} - missing)


def differs(line: int, quantity: str, want: Json, got: Any) -> Divergence | None:
    """The divergence of one quantity, or None if it agrees."""
    expected = want["value"]
    if "tolerance" not in want:
        same = expected == integers(expected, got)
        return None if same else Divergence(line, quantity, shortened(expected), shortened(got))
    same_shape(quantity, expected, got)
    room = Fraction(want["radius"]) + Fraction(want["tolerance"])
    pairs = list(zip(flat(expected), flat(got), strict=True))
    gaps = [abs(number(quantity, g) - Fraction(e)) for e, g in pairs]
    worst = max(range(len(gaps)), key=lambda i: gaps[i])
    if gaps[worst] <= room:
        return None
    scale = max(abs(float(e)) for e, _ in pairs)
    ulp = math.ulp(float(pairs[worst][0])) if float(pairs[worst][0]) else math.ulp(scale or 1.0)
    place = f"{quantity}, entry {worst + 1}" if len(pairs) > 1 else quantity
    difference = _float(gaps[worst])
    shown = (shortened(_rounded(expected)), shortened(_rounded(got)))
    return Divergence(line, place, *shown, difference, _float(Fraction(difference) / Fraction(ulp)), float(room))


def _float(x: Fraction) -> float:
    """The nearest float, the largest for what lies beyond."""
    return float(min(x, Fraction(sys.float_info.max)))


def _rounded(value: Any) -> Any:
    """Seventeen digits are enough to read."""
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    return float(value) if isinstance(value, str) else value
