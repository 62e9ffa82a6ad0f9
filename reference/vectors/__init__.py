"""Test vectors of the six algorithms: one JSON file an algorithm and variant, described in SPEC.md and schema.json.

`load(label, variant)` reads one file. The files are generated (`reference.vectors.generate`) from the cases in
`cases/`, byte for byte; `manifest.sha256` lists them.

What may not enter: a file that `generate` did not write.
"""

from __future__ import annotations

import hashlib
import json
from importlib.resources import files
from typing import Any

from reference.paper.algorithms import BY_LABEL

__all__ = ["SHIPPED", "damaged", "file_name", "load", "read"]

SHIPPED = ("SPEC.md", "schema.json", "manifest.sha256", "ids.txt")
"""What belongs to the vectors besides the vector files."""


def file_name(label: str, variant: str) -> str:
    """The file of an algorithm (by its label) in a variant."""
    return f"{BY_LABEL[label].name}-{variant}.json"


def read(name: str) -> bytes:
    """One file of the vectors."""
    return files("reference.vectors").joinpath(name).read_bytes()


def load(label: str, variant: str) -> dict[str, Any]:
    """The vectors of an algorithm in a variant."""
    found: dict[str, Any] = json.loads(read(file_name(label, variant)))
    return found


def damaged() -> list[str]:
    """The files whose content is not the one that the manifest lists."""
    lines = read("manifest.sha256").decode().splitlines()
    pairs = [line.split(maxsplit=1) for line in lines]
    return [name for digest, name in pairs if hashlib.sha256(read(name)).hexdigest() != digest]
