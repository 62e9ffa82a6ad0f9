"""The mark of the code: what was computed by other code must not be mixed with what is computed now."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Where the packages are."""
CODE = ("reference/**/*.py", "reference/**/*.toml", "reference/**/*.json", "audit/**/*.py", "audit/**/*.toml")
"""What decides results: sources and what they read. Not the JSON of `audit`, which holds results of earlier runs."""
LIBRARIES = ("numpy", "scipy", "mpmath", "python-flint")
"""What else computes."""


@functools.cache
def code_mark(root: Path = ROOT) -> str:
    """A hash of the code: the files of the packages, and the versions of Python and of the libraries that compute."""
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted({file for pattern in CODE for file in root.glob(pattern)}):
        digest.update(json.dumps([file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")]).encode())
    digest.update(json.dumps([platform.python_version(), *map(_version, LIBRARIES)]).encode())
    return digest.hexdigest()


def _version(library: str) -> str:
    """The version of a library; of one that is not installed (an extra), that it is not."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"
