"""`dpso vectors`: list the test vectors, check that they are what the reference gives, export them."""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
import tarfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.runtime.errors import InputError, wrapped

HELP = "list the test vectors, check them against schema, manifest and reference, or export them"
EXAMPLE = "dpso vectors list phased-sgd"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=("list", "check", "export"),
        help="list (default), check, or export",
    )
    parser.add_argument(
        "what", nargs="?", metavar="ALGORITHM|DIR", help="list: an algorithm; export: a folder, or FILE.tar.gz"
    )


def run(args: argparse.Namespace) -> int:
    """List, check or export; exit 1 if a file is damaged or stale."""
    if args.action == "list":
        return _list(args)
    if args.action == "check":
        return _check(args)
    return _export(args)


def _documents(label: str | None = None) -> list[dict[str, Any]]:
    from reference import vectors
    from reference.paper.algorithms import ALGORITHMS

    return [
        vectors.load(algorithm.label, variant)
        for algorithm in ALGORITHMS
        for variant in algorithm.editions
        if label in (None, algorithm.label)
    ]


def _list(args: argparse.Namespace) -> int:
    from audit.cli.algorithms import label_of

    documents = _documents(None if args.what is None else label_of(args.what))
    if args.json:
        print(json.dumps([_summary(d, args.what is not None) for d in documents], indent=1, ensure_ascii=False))
        return 0
    for document in documents:
        counts = Counter(case["result"] for case in document["cases"])
        words = ", ".join(f"{counts[word]} {word}" for word in ("match", "reject", "either") if counts[word])
        print(f"{document['name']}-{document['variant']}: {len(document['cases'])} cases ({words})")
        if args.what is not None:
            for case in document["cases"]:
                print(wrapped(f"  {case['id']}  {case['result']}  {case['comment']}"))
    return 0


def _summary(document: dict[str, Any], full: bool) -> dict[str, Any]:
    keys = ("algorithm", "name", "variant")
    cases = [{k: c[k] for k in ("id", "result", "comment", "flags")} for c in document["cases"]]
    return {**{k: document[k] for k in keys}, "count": len(cases), **({"cases": cases} if full else {})}


def _against_the_schema() -> list[str]:
    """Where a file is not as schema.json says, at most five places a file."""
    from jsonschema import Draft202012Validator

    from reference import vectors

    schema, found = Draft202012Validator(json.loads(vectors.read("schema.json"))), []
    for document in _documents():
        name = vectors.file_name(document["algorithm"], document["variant"])
        found += [f"{name}: {e.json_path}: {e.message[:200]}" for e in schema.iter_errors(document)][:5]
    return found


def _check(args: argparse.Namespace) -> int:
    if args.what is not None:
        raise InputError(f"dpso vectors check takes no argument, got {args.what!r}")
    from reference import vectors
    from reference.vectors.generate import problems

    found = _against_the_schema() + problems(lambda name: print(f"computed {name}", file=sys.stderr))
    if args.json:
        print(json.dumps({"sound": not found, "problems": found}, indent=1, ensure_ascii=False))
    else:
        print(
            "\n".join(found)
            if found
            else f"all vectors are sound: schema, manifest, reference; root hash {vectors.root()}"
        )
    return 1 if found else 0


def _export(args: argparse.Namespace) -> int:
    from reference import vectors

    if args.what is None:
        raise InputError("dpso vectors export needs a folder or an archive: dpso vectors export DIR, or FILE.tar.gz")
    place = Path(args.what)
    names = [*vectors.SHIPPED, *(vectors.file_name(d["algorithm"], d["variant"]) for d in _documents())]
    try:
        if place.name.endswith(".tar.gz"):
            place.write_bytes(archive(names))
        else:
            place.mkdir(parents=True, exist_ok=True)
            for name in names:
                (place / name).write_bytes(vectors.read(name))
    except OSError as error:
        raise InputError(f"cannot write to {args.what}: {error.strerror or error}") from None
    if args.json:
        told = {"folder": str(place), "files": names, "version": vectors.VERSION, "root": vectors.root()}
        print(json.dumps(told, indent=1))
    else:
        print(f"{len(names)} files in {place}, version {vectors.VERSION}, root hash {vectors.root()}")
    return 0


def archive(names: Sequence[str]) -> bytes:
    """A release archive: the same bytes wherever it is made (no times, owners or modes of this machine)."""
    from reference import vectors

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(names):
            content = vectors.read(name)
            entry = tarfile.TarInfo(f"dpso-vectors-{vectors.VERSION}/{name}")
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)
