"""The nearest known spelling of a name that a user got wrong."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CLOSE = 0.6
"""How alike two spellings must be, from 0 to 1: difflib's own default."""
LOOSELY = 0.4
"""The same for ids of statements and checks: of "lem:oracle" people remember "oracle"."""


def did_you_mean(name: str, known: Iterable[str], cutoff: float = CLOSE) -> str:
    """', did you mean x?' where something known is near, whatever its case; else nothing."""
    folded = {k.casefold(): k for k in sorted(known)}
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=cutoff)
    return f", did you mean {folded[close[0]]}?" if close else ""
