"""What people type for an algorithm, as its label."""

from __future__ import annotations

from audit.runtime.errors import InputError
from audit.runtime.suggest import did_you_mean
from reference.paper.algorithms import BY_LABEL, BY_NAME, NAMES, named

HELP = f"a number, a name ({', '.join(NAMES)}) or a TeX label ({', '.join(BY_LABEL)})"
"""For `--help`: what an argument ALGORITHM may be."""


def label_of(name: str) -> str:
    """The TeX label for a label, a name or a number; refuses what it does not know."""
    try:
        return named(name).label
    except ValueError:
        hint = did_you_mean(name.lower(), BY_NAME) or ":"
        raise InputError(f"algorithm = {name!r} is unknown{hint} give {HELP}") from None
