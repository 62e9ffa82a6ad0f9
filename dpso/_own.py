"""Are `audit` and `reference` ours? Both are common names, and a user's folder may hold a module of the same name."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder that holds our packages: a checkout, or site-packages."""

PACKAGES = ("audit", "reference")


def _found(name: str) -> Path | None:
    """The file that `import name` gives or has given."""
    if name in sys.modules:
        file = getattr(sys.modules[name], "__file__", None)
    else:
        spec = find_spec(name)
        file = spec.origin if spec else None
    return Path(file).resolve() if file else None


def refuse_hidden() -> None:
    """Raise ImportError, with the file and the remedy in one line, where a user's module hides one of ours."""
    for name in PACKAGES:
        found = _found(name)
        if found is not None and found != ROOT / name / "__init__.py":
            raise ImportError(
                f"{found} hides dpso's own package {name!r}: rename it, or start Python where it is not on the path"
            )


def is_command() -> bool:
    """Is this process the command `dpso`, or `python -m dpso`, which is still looking for its module?"""
    return sys.argv[:1] == ["-m"] or Path(sys.argv[0] if sys.argv else "").stem == "dpso"


def is_plugin() -> bool:
    """Is this process pytest, which loads `dpso.pytest_plugin` before it knows whether any test needs it?"""
    return "_pytest.config" in sys.modules


def search_own_first() -> None:
    """Put the working folder last on the search path, so that its modules are found but hide none of ours."""
    here = Path.cwd()
    if here != ROOT:
        sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != here] + [str(here)]
