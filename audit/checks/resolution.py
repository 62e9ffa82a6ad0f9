"""What a check would notice: how little a part may be off and still be caught. Measured by command, and recorded.

A check that says "holds" of a wrong constant is worth as much as the wrongness that it would notice. For each mutant
that is off by a factor, `dpso audit --resolution` looks by bisection for the factor nearest to 1 that the check still
notices, and records it in `resolution.json`; tests measure a sample again. The words go beside the check wherever it is
listed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from audit.checks.framework import Check
from audit.checks.mutants import resolution
from audit.runtime.errors import InputError
from audit.runtime.files import write_atomically

RECORD = Path(__file__).with_name("resolution.json")
"""What `dpso audit --resolution` wrote."""

COARSE = Fraction(2)
"""Beyond this factor either way a check is said to notice gross errors only: chosen."""


def measure(checks: Sequence[Check], seed: int, say: Callable[[str], None]) -> dict[str, dict[str, str]]:
    """By check and part: the factor nearest to 1 that is noticed. Functions that are several checks are run once."""
    found: dict[str, dict[str, str]] = {}
    known: dict[Any, dict[str, str]] = {}
    for i, check in enumerate(checks, start=1):
        key = (check.function, check.expected)
        if key not in known:
            say(f"{i}/{len(checks)} {check.name}")
            known[key] = _of(check, seed)
        if known[key]:
            found[check.name] = known[key]
    return found


def _of(check: Check, seed: int) -> dict[str, str]:
    """The finest factor for each part that a mutant of the check scales."""
    finest: dict[str, Fraction] = {}
    for mutant in check.mutants:
        if (factor := resolution(check, mutant, seed)) is not None:
            before = finest.get(mutant.part, factor)
            finest[mutant.part] = min(before, factor, key=_off)
    return {part: str(factor) for part, factor in finest.items()}


def _off(factor: Fraction) -> Fraction:
    """How far from 1, whichever side."""
    return max(factor, 1 / factor)


def write_record(found: Mapping[str, Mapping[str, str]], seed: int) -> None:
    """Record what was measured of every check."""
    data = {"seed": seed, "checks": {name: dict(parts) for name, parts in sorted(found.items())}}
    write_atomically(RECORD, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    read_record.cache_clear()


@cache
def read_record() -> dict[str, dict[str, str]]:
    """By check and part: the recorded factor; nothing if there is no record."""
    if not RECORD.exists():
        return {}
    try:
        checks: dict[str, dict[str, str]] = json.loads(RECORD.read_text(encoding="utf-8"))["checks"]
    except (ValueError, KeyError) as error:
        raise InputError(f"{RECORD.name} is no record ({error}); dpso audit --resolution writes it") from None
    return checks


def words(check: str) -> str:
    """What a check would notice, in words; empty where nothing is recorded."""
    factors = {part: Fraction(factor) for part, factor in read_record().get(check, {}).items()}
    if not factors:
        return ""
    part, factor = min(factors.items(), key=lambda item: _off(item[1]))
    name = part.rpartition(".")[2]
    if _off(factor) > COARSE:
        return f"no power below a factor {float(_off(factor)):.3g} in {name}"
    return f"would notice {name} off by {abs(float(factor - 1)) * 100:.2g} %"
