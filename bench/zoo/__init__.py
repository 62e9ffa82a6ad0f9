"""The zoo: mechanisms with ground truth, correct and broken, each with its exact law.

`entries()` lists them; an entry knows its sampler, a pair, its claim, its exact ε and the best bound that N draws
allow.

What may not enter: a mechanism whose law is not known exactly.
"""

from __future__ import annotations

from bench.zoo import additive, selection, structures
from bench.zoo.entry import Entry
from bench.zoo.law import Law

__all__ = ["Entry", "Law", "by_name", "entries"]


def entries() -> list[Entry]:
    """All entries; names are unique."""
    return [*additive.entries(), *selection.entries(), *structures.entries()]


def by_name(name: str) -> Entry:
    """One entry."""
    found = {e.name: e for e in entries()}
    if name not in found:
        raise ValueError(f"name = {name!r} is not in the zoo: {', '.join(sorted(found))}")
    return found[name]
