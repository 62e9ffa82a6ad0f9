"""Run somebody else's implementation on the test vectors, and say at which line of the paper it first differs.

A client answers a case with `{"trace": […], "output": {…}}`, `{"reject": "why"}`, or `{"unsupported": "what"}` for
what it does not offer; the trace may be missing or hold some of the events only. Numbers may be JSON numbers or
decimal strings.

**When two numbers agree.** A vector carries for every quantity a certified radius r (the printed decimal is within r of
the truth) and a tolerance τ (what binary64 may lose: see SPEC.md). A client's x agrees with the printed d if
|x − d| ≤ r + τ, entry by entry; integers, index lists and words must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from audit.crosscheck.clients import Client, ClientError, Json, shortened
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
    ended: bool = False
    """The client's process ended instead of answering."""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        flags = {name: str(flag) for name, flag in self.flags.items()}
        return vars(self) | {"flags": flags, "divergence": vars(self.divergence) if self.divergence else None}


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

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
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


def crosscheck(client: Client, label: str, variant: str, only: Sequence[str] = ()) -> Iterator[CaseVerdict]:
    """The verdicts, case by case, as they come."""
    document = vectors.load(label, variant)
    chosen = [case for case in document["cases"] if not only or case["id"] in only]
    for case in chosen:
        flags = {name: _flag(document["flags"][name]) for name in case["flags"]}
        try:
            reply = client.answer({name: case[name] for name in ASKED})
            yield compare(case, reply, document["output"], flags)
        except ClientError as error:
            yield CaseVerdict(
                case["id"], case["result"], "error", f"the client {one_line(str(error))}", ended=error.ended
            )


def _flag(entry: Json) -> Flag:
    return Flag(entry["bug"], entry["effect"], entry["line"], entry["severity"])


def compare(case: Json, reply: Json, main: str, flags: Mapping[str, Flag]) -> CaseVerdict:
    """The verdict on one reply; `main` is the output that every client must give."""
    expected, id = case["result"], case["id"]
    if "unsupported" in reply:
        return CaseVerdict(id, expected, "skip", f"not offered: {shortened(reply['unsupported'])}")
    if "reject" in reply:
        if expected != "match":
            return CaseVerdict(id, expected, "pass")
        why = f"rejected a valid input: {shortened(reply['reject'])}"
        compared, divergence = _in_trace(case["trace"], _events(reply.get("trace"), case["trace"])[0])
        return CaseVerdict(id, expected, "fail", why, divergence, flags, compared)
    if expected == "reject":
        note = f"accepted an input that must be refused (because of {case['reason']})"
        return CaseVerdict(id, expected, "fail", note, flags=flags)
    output = reply.get("output")
    if not isinstance(output, Mapping) or main not in output:
        raise ClientError(f'sent no "output" with "{main}": {shortened(reply)}')
    if expected == "either":
        _same_shape(main, case["output"][main], output[main])
        return CaseVerdict(id, expected, "pass")
    compared, divergence, note = _first_divergence(case, reply, output, main)
    status: Status = "fail" if divergence else "pass"
    return CaseVerdict(id, expected, status, note, divergence, flags if divergence else {}, compared)


def _first_divergence(case: Json, reply: Json, output: Json, main: str) -> tuple[int, Divergence | None, str]:
    events, unknown = _events(reply.get("trace"), case["trace"])
    compared, found = _in_trace(case["trace"], events)
    if found:
        return compared, found, _hint(unknown)
    for name in [main, *(n for n in case["output"] if n != main and n in output)]:
        compared += 1
        want = {"value": case["output"][name], "radius": case["radius"][name], "tolerance": case["tolerance"][name]}
        if found := differs(case["trace"][-1]["line"], name, want, output[name]):
            hint = "" if events else "only the output was compared: send a trace to learn the first line that differs"
            return compared, found, _hint(unknown) or hint
    return compared, None, _hint(unknown)


def _in_trace(expected: Iterable[Json], events: Json) -> tuple[int, Divergence | None]:
    """How many events were compared, up to the first that differs."""
    compared = 0
    for event in expected:
        key = _key(event)
        if key in events:
            compared += 1
            if found := differs(event["line"], key, event, events[key]):
                return compared, found
    return compared, None


def _hint(unknown: list[str]) -> str:
    return f"events that no vector has: {', '.join(unknown[:3])}" if unknown else ""


def _key(event: Json) -> str:
    index = event.get("index") or []
    return f"{event['name']}[{','.join(map(str, index))}]" if index else str(event["name"])


def _events(trace: Any, expected: Iterable[Json]) -> tuple[dict[str, Any], list[str]]:
    """The client's events by key (a repeated key must not change its value), and the keys that nobody knows."""
    if trace is None:
        return {}, []
    if not isinstance(trace, Sequence) or isinstance(trace, str):
        raise ClientError(f"sent a trace that is no list: {shortened(trace)}")
    known = {_key(event) for event in expected}
    found: dict[str, Any] = {}
    for event in trace:
        if not isinstance(event, Mapping) or "name" not in event or "value" not in event:
            raise ClientError(f"sent an event without name or value: {shortened(event)}")
        found[_key(event)] = event["value"]
    unknown = [key for key in found if key not in known]
    if found and len(unknown) == len(found):
        raise ClientError(f"sent a trace of which no event is known: {', '.join(unknown[:3])}")
    return found, unknown


def differs(line: int, quantity: str, want: Json, got: Any) -> Divergence | None:
    """The divergence of one quantity, or None if it agrees."""
    expected = want["value"]
    if "tolerance" not in want:
        same = expected == _integers(got)
        return None if same else Divergence(line, quantity, shortened(expected), shortened(got))
    _same_shape(quantity, expected, got)
    room = Fraction(want["radius"]) + Fraction(want["tolerance"])
    pairs = list(zip(_flat(expected), _flat(got), strict=True))
    gaps = [abs(_number(quantity, g) - Fraction(e)) for e, g in pairs]
    worst = max(range(len(gaps)), key=lambda i: gaps[i])
    if gaps[worst] <= room:
        return None
    scale = max(abs(float(e)) for e, _ in pairs)
    ulp = math.ulp(float(pairs[worst][0])) if float(pairs[worst][0]) else math.ulp(scale or 1.0)
    place = f"{quantity}, entry {worst + 1}" if len(pairs) > 1 else quantity
    difference = float(gaps[worst])
    shown = (shortened(_rounded(expected)), shortened(_rounded(got)))
    return Divergence(line, place, *shown, difference, difference / ulp, float(room))


def _integers(value: Any) -> Any:
    """Numbers that are whole as ints, so that 3.0 is 3."""
    if isinstance(value, (list, tuple)):
        return [_integers(v) for v in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _same_shape(quantity: str, expected: Any, got: Any) -> None:
    if isinstance(expected, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            raise ClientError(
                f"sent {quantity} with another shape: {len(expected)} entries are due, got {shortened(got)}"
            )
    elif isinstance(got, (list, tuple, Mapping)) or got is None:
        raise ClientError(f"sent {quantity} with another shape: one value is due, got {shortened(got)}")
    for value in _flat(got):
        if not isinstance(expected, str) or _is_decimal(expected):
            _number(quantity, value)


def _is_decimal(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit()


def _number(quantity: str, value: Any) -> Fraction:
    """A JSON number or a decimal string, exactly; refuses what is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ClientError(f"sent {quantity} = {shortened(value)}, which is no number")
    try:
        return Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise ClientError(f"sent {quantity} = {shortened(value)}, which is no finite number") from None


def _rounded(value: Any) -> Any:
    """Seventeen digits are enough to read."""
    if isinstance(value, (list, tuple)):
        return [_rounded(v) for v in value]
    return float(value) if isinstance(value, str) and _is_decimal(value) else value
