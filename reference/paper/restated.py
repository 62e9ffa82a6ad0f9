r"""What each statement says, in formulas: the restatements of `restated.toml`, validated against the inventory.

The formulas are the paper's, in its symbols; words and arrangement are ours. A line is text with TeX between dollar
signs; `\boxed` marks where the printed and the corrected form differ.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from reference.paper.inventory import Inventory, InventoryError, Section

RESTATED = Path(__file__).parent / "restated.toml"


@dataclass(frozen=True)
class Restatement:
    """One statement, algorithm, equation or table in formulas."""

    id: str
    given: tuple[str, ...]
    """What is assumed, and what the symbols are."""
    printed: tuple[str, ...]
    """What is concluded, as printed."""
    corrected: tuple[str, ...] = ()
    """The same once the errata are corrected; empty where it stands as printed."""
    tight: tuple[str, ...] = ()
    """The best constants that are known; empty where there is no room, or none is known."""


def read(path: Path, inventory: Inventory) -> Mapping[str, Restatement]:
    """The restatements of a file: one for each entry of the inventory that states something."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("restated", [])
    found = {one.id: one for one in map(_restatement, entries)}
    wanted = [id for id, entry in inventory.entries.items() if not isinstance(entry, Section)]
    if len(found) != len(entries) or set(found) != set(wanted):
        odd = sorted(set(found) ^ set(wanted))
        raise InventoryError(f"{path.name}: {', '.join(odd) or 'an id'}: one restatement for each entry of paper.toml")
    return {id: found[id] for id in wanted}


def _restatement(entry: Mapping[str, Any]) -> Restatement:
    id = str(entry.get("id", "?"))
    known = [f.name for f in fields(Restatement)]
    if unknown := sorted(set(entry) - set(known)):
        raise InventoryError(f"restated.toml: {id} has unknown fields {', '.join(unknown)}: known are {known}")
    lines = {name: tuple(map(str, entry.get(name, ()))) for name in known if name != "id"}
    if not lines["given"] or not lines["printed"]:
        raise InventoryError(f"restated.toml: {id} must say what is given and what is printed")
    for line in (line for part in lines.values() for line in part):
        if line.count("$") % 2 or not re.search(r"\$[^$]+\$|\w", line):
            raise InventoryError(f"restated.toml: {id}: {line!r} has a dollar sign without its partner")
    return Restatement(id, **lines)


@lru_cache(maxsize=1)
def load() -> Mapping[str, Restatement]:
    """The project's restatements."""
    from reference.paper import inventory

    return read(RESTATED, inventory.load())
