"""`dpso bench`: measure, and print the tables that the README shows."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import audit.bench
from audit.bench import _record
from audit.errors import InputError

ROOT = Path(audit.bench.__file__).parent.parent.parent
"""The checkout, where the README is."""

HELP = "measure speed and power: the README's tables"
EXAMPLE = "dpso bench numbers"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"which: {', '.join(_names())} (default all)")
    parser.add_argument(
        "--parts", metavar="PART", nargs="+", default=[], help="parts of auditor or of resilience (default all)"
    )
    parser.add_argument(
        "--record", action="store_true", help="keep the results, each part as it is done, and renew the README's tables"
    )


def _names() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(audit.bench.__path__) if not m.name.startswith("_"))


def _module(name: str) -> ModuleType:
    if name not in _names():
        raise InputError(f"unknown benchmark {name!r}: choose from {', '.join(_names())}")
    return importlib.import_module(f"audit.bench.{name}")


def _check_parts(parts: list[str], modules: dict[str, ModuleType]) -> None:
    """Refuse parts that a benchmark does not have."""
    for name, module in modules.items():
        known = getattr(module, "PARTS", {})
        for part in parts:
            if part not in known:
                raise InputError(f"--parts {part}: {name} has {', '.join(known) or 'no parts'}")


def _measured(name: str, module: ModuleType, parts: list[str], record: bool) -> dict[str, Any]:
    """What a benchmark finds, part by part; with `record` each part is kept as soon as it is measured."""
    known = list(getattr(module, "PARTS", {}))
    result: dict[str, Any] = {}
    for part in parts or known or [None]:
        result |= module.run(_say, **({} if part is None else {"parts": [part]}))
        if record:
            kept = _record.recorded(name) if known else {}
            _record.record(name, kept | result, ROOT / "README.md")
    return result


def _say(message: str) -> None:
    print(f"  {message}", file=sys.stderr)


def run(args: argparse.Namespace) -> int:
    """Run the named benchmarks and print their tables (or, with --json, their results)."""
    modules = {name: _module(name) for name in (args.names or _names())}
    _check_parts(args.parts, modules)
    results = {}
    for name, module in modules.items():
        print(f"bench {name}: {module.HELP}", file=sys.stderr)
        results[name] = _measured(name, module, args.parts, args.record)
        if not args.json:
            print(f"\n### {name}\n\n{module.render(results[name])}")
    if args.json:
        json.dump(results, sys.stdout, indent=1)
        print()
    return 0
