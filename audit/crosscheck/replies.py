"""What a client sent, made fit to be compared: plain JSON values, exact finite numbers, events by key.

Everything here refuses with `ClientError`, which becomes the note of that one case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from audit.runtime.errors import one_line

Json: TypeAlias = Mapping[str, Any]

SHOWN = 160
"""Characters of a client's words that are quoted: two lines of a terminal."""
DIGITS = 60
"""Digits to which a ratio is sent: more than any tolerance can see."""
LONGEST = 5000
"""Digits and decimal exponent of a number that is read: beyond, a short text would stand for a number of gigabytes."""
_DECIMAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*\Z")


class ClientError(Exception):
    """The client did not answer as the protocol says; the message says what it did, `ended` that it is no more."""

    def __init__(self, what: str, ended: bool = False) -> None:
        super().__init__(what)
        self.ended = ended


def shortened(value: Any) -> str:
    """As much of a value as is quoted in a message."""
    text = one_line(str(value))
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def plain(value: Any) -> Any:
    """A Python reply as JSON data: arrays and numpy's scalars as lists and numbers, long numbers as decimal strings."""
    try:
        return _plain(value)
    except RecursionError:
        raise ClientError("returned a reply that is nested too deeply") from None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, Fraction):
        return str(Context(prec=DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator)))
    if isinstance(value, Decimal):
        return str(value)
    if callable(getattr(value, "tolist", None)):  # arrays and scalars of numpy, torch, jax
        return _plain(value.tolist())
    if callable(getattr(value, "__float__", None)):
        return float(value)
    raise ClientError(f"returned a {type(value).__name__} ({shortened(value)}), which is no JSON value")


def given(reply: Json, name: str) -> Any:
    """A field of the reply; null is as good as missing."""
    return reply.get(name)


def number(quantity: str, value: Any) -> Fraction:
    """A JSON number or a decimal string, exactly; refuses what is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ClientError(f"sent {quantity} = {shortened(value)}, which is no number")
    if isinstance(value, str):
        return _decimal(quantity, value)
    try:
        return Fraction(value)
    except (ValueError, OverflowError):
        raise ClientError(f"sent {quantity} = {shortened(value)}, which is no finite number") from None


def _decimal(quantity: str, text: str) -> Fraction:
    """A decimal string, if it stands for a number of reasonable size."""
    if len(text) > LONGEST or not _DECIMAL.match(text):
        raise ClientError(f"sent {quantity} = {shortened(text)}, which is no finite number in decimals")
    exponent = re.search(r"[eE]([-+]?\d+)", text)
    if exponent and abs(int(exponent[1])) > LONGEST:
        raise ClientError(f"sent {quantity} = {shortened(text)}, which is no finite number of reasonable size")
    return Fraction(text.strip())


def integers(expected: Any, value: Any) -> Any:
    """Whole numbers as ints where ints are due, so that 3.0 and "3" are 3."""
    if isinstance(value, (list, tuple)):
        return [integers(expected[0] if isinstance(expected, list) and expected else 0, v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and not isinstance(expected, str) and re.fullmatch(r"-?\d{1,18}", value):
        return int(value)
    return value


def key(event: Json) -> str:
    """The quantity of an event with its indices: `w[3]`, `sigma[2]`, `rho`."""
    index = event.get("index") or []
    return f"{event['name']}[{','.join(map(str, index))}]" if index else str(event["name"])


def events(trace: Any, expected: Iterable[Json]) -> tuple[dict[str, Any], list[str]]:
    """The client's events by key, and the keys that nobody knows."""
    if trace is None:
        return {}, []
    if not isinstance(trace, Sequence) or isinstance(trace, str):
        raise ClientError(f"sent a trace that is no list: {shortened(trace)}")
    known = {key(event) for event in expected}
    found: dict[str, Any] = {}
    for event in trace:
        name = _checked(event)
        if name in found and found[name] != event["value"]:
            raise ClientError(f"sent {name} twice: {shortened(found[name])}, then {shortened(event['value'])}")
        found[name] = event["value"]
    unknown = [name for name in found if name not in known]
    if found and len(unknown) == len(found):
        raise ClientError(f"sent a trace of which no event is known: {', '.join(unknown[:3])}")
    return found, unknown


def _checked(event: Any) -> str:
    """The key of an event that has a name, a value and a list of indices."""
    if not isinstance(event, Mapping) or "name" not in event or "value" not in event:
        raise ClientError(f"sent an event without name or value: {shortened(event)}")
    if not isinstance(event["name"], str):
        raise ClientError(f"sent an event whose name is no string: {shortened(event['name'])}")
    index = event.get("index")
    if index is None:
        return key(event)
    whole = isinstance(index, (list, tuple)) and all(_whole(i) for i in index)
    if not whole:
        raise ClientError(f"sent {event['name']} with an index that is no list of integers: {shortened(index)}")
    return key({"name": event["name"], "index": [int(i) for i in index]})


def _whole(value: Any) -> bool:
    return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))


def same_shape(quantity: str, expected: Any, got: Any) -> None:
    """Refuse a value that has not the shape of the expected one, or that is no number where one is due."""
    if isinstance(expected, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            due = f"{len(expected)} entries are due"
            raise ClientError(f"sent {quantity} with another shape: {due}, got {shortened(got)}")
    elif isinstance(got, (list, tuple, Mapping)) or got is None:
        raise ClientError(f"sent {quantity} with another shape: one value is due, got {shortened(got)}")
    for value in flat(got):
        number(quantity, value)


def flat(value: Any) -> list[Any]:
    """The entries of a vector, or the one value."""
    return list(value) if isinstance(value, (list, tuple)) else [value]
