"""Test vectors of the six algorithms: one JSON file an algorithm and variant, described in SPEC.md and schema.json.

`load(label, variant)` reads one file. The files are generated (`reference.vectors.generate`) from the cases in
`cases/`, byte for byte; `manifest.sha256` lists them.

What may not enter: a file that `generate` did not write.
"""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from typing import Any

from reference.paper.algorithms import BY_LABEL

__all__ = ["FORMAT", "SHIPPED", "VERSION", "damaged", "file_name", "load", "misshapen", "names", "read", "root"]

FORMAT = 2
"""The version of the file format that SPEC.md describes."""

VERSION = "2.1.0"
"""The version of the vectors: the first number is the format; the others change whenever a value or a case does."""

SHIPPED = ("SPEC.md", "schema.json", "reply.schema.json", "check_vectors.py", "manifest.sha256", "ids.txt")
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


def misshapen(document: Any) -> str:
    """What a file lacks that every reader relies on; "" if nothing. (`schema.json` says all.)"""
    if not isinstance(document, dict):
        return "holds no object"
    if document.get("format") != FORMAT:
        return f"has format {document.get('format')!r}: this reader knows format {FORMAT}"
    needed = {"algorithm", "variant", "output", "flags", "cases"}
    if missing := sorted(needed - set(document)):
        return f"lacks {', '.join(missing)}"
    wanted = {"id", "result", "flags", "input", "draws", "algorithm", "variant"}
    for case in document["cases"]:
        if not isinstance(case, dict) or wanted - set(case):
            return "has a case without id, result, flags, input, draws, algorithm or variant"
        due = {"reason"} if case["result"] == "reject" else {"output", "radius", "tolerance", "trace"}
        if due - set(case) or any(flag not in document["flags"] for flag in case["flags"]):
            return f"has a case {case['id']} without {', '.join(sorted(due - set(case))) or 'its flags'}"
    return ""


def names(words: str, reason: str) -> bool:
    """Whether the words of a refusal name the parameter at fault: at the start of a word, and one letter as a word."""
    end = r"(?!\w)" if len(reason) == 1 else ""
    return re.search(rf"(?<!\w){re.escape(reason)}{end}", words, re.IGNORECASE) is not None


def root() -> str:
    """The one hash to cite: sha256 of the manifest, which lists vectors, specification, schemas and reader."""
    return hashlib.sha256(read("manifest.sha256")).hexdigest()


def damaged() -> list[str]:
    """The files whose content is not the one that the manifest lists."""
    lines = read("manifest.sha256").decode().splitlines()
    pairs = [line.split(maxsplit=1) for line in lines]
    return [name for digest, name in pairs if hashlib.sha256(read(name)).hexdigest() != digest]
