"""The names of the six algorithms: TeX labels, and what people type."""

from __future__ import annotations

from collections.abc import Mapping

from audit.runtime.errors import InputError
from audit.runtime.suggest import did_you_mean

LABELS = ("Alg:gll_oracle", "Alg:phased", "Alg:nfw", "alg:polySFW", "alg:nSFW", "Alg:PGPSMD")

_NAMES: Mapping[str, tuple[str, ...]] = {
    "Alg:gll_oracle": ("gll-oracle", "oracle"),
    "Alg:phased": ("phased-sgd", "phased"),
    "Alg:nfw": ("noisy-frank-wolfe", "frank-wolfe", "nfw"),
    "alg:polySFW": ("poly-sfw", "polysfw"),
    "alg:nSFW": ("noisy-sfw", "nsfw"),
    "Alg:PGPSMD": ("proximally-guided", "proximal", "pgpsmd"),
}
ALIASES: Mapping[str, str] = {
    name: label
    for number, label in enumerate(LABELS, start=1)
    for name in (*_NAMES[label], f"algorithm-{number}", str(number))
}
"""Every name that is understood, in lower case with hyphens, to the label."""

SHORT = tuple(names[0] for names in _NAMES.values())
"""One name for each algorithm, in the paper's order."""


def label_of(name: str) -> str:
    """The TeX label for a label or a name; refuses what it does not know."""
    for label in LABELS:
        if name.lower() == label.lower():
            return label
    key = name.lower().replace("_", "-")
    if key in ALIASES:
        return ALIASES[key]
    hint = did_you_mean(key, [*ALIASES, *LABELS]) or ":"
    raise InputError(f"algorithm = {name!r} is unknown{hint} give one of {', '.join(LABELS)}, or {', '.join(SHORT)}")
