"""Packages that only some commands need, and the extra of the installation that has each."""

from __future__ import annotations

EXTRAS = {
    "cvc5": ("cvc5", "paper"),
    "dask": ("dask", "cluster"),
    "distributed": ("distributed", "cluster"),
    "dp_accounting": ("dp-accounting", "paper"),
    "flint": ("python-flint", "paper"),
    "hypothesis": ("hypothesis", "paper"),
    "jsonschema": ("jsonschema", "paper"),
    "latex2mathml": ("latex2mathml", "paper"),
    "z3": ("z3-solver", "paper"),
}
"""Module → the package that installs it, and our extra that asks for it."""


def remedy(error: BaseException) -> str | None:
    """What to install, in one line, if the error is that a module of an extra is missing; else None."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    package, extra = EXTRAS.get((missing or "").partition(".")[0], (None, None))
    return f"needs {package}: pip install 'dpso[{extra}]'" if package else None
