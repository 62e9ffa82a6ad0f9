"""`dpso bench`: measure, and print the tables that the documentation shows. A command of a checkout."""

from __future__ import annotations

import argparse
import json
import sys
from types import ModuleType
from typing import Any

from audit.cli.checkout import checkout_module
from audit.runtime.errors import InputError
from audit.trace.links import ROOT

README = ROOT / "README.md"

HELP = "measure speed and power: the README's tables (in a checkout)"
EXAMPLE = "dpso bench numbers"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="which of the measurements in bench/ (default all)")
    parser.add_argument(
        "--parts", metavar="PART", nargs="+", default=[], help="parts of auditor or of resilience (default all)"
    )
    parser.add_argument(
        "--record", action="store_true", help="keep the results, each part as it is done, and renew the README's tables"
    )


def _bench(module: str = "bench") -> ModuleType:
    return checkout_module(module, "dpso bench measures")


def _module(name: str) -> ModuleType:
    names = _bench().NAMES
    if name not in names:
        raise InputError(f"unknown benchmark {name!r}: choose from {', '.join(names)}")
    return _bench(f"bench.{name}")


def _check_parts(parts: list[str], modules: dict[str, ModuleType]) -> None:
    """Refuse parts that a benchmark does not have."""
    for name, module in modules.items():
        known = getattr(module, "PARTS", {})
        for part in parts:
            if part not in known:
                raise InputError(f"--parts {part}: {name} has {', '.join(known) or 'no parts'}")


def _measured(name: str, module: ModuleType, parts: list[str], record: bool) -> dict[str, Any]:
    """What a benchmark finds, part by part; with `record` each part is kept as soon as it is measured."""
    recorder = _bench("bench.record")
    known = list(getattr(module, "PARTS", {}))
    result: dict[str, Any] = {}
    for part in parts or known or [None]:
        result |= module.run(_say, **({} if part is None else {"parts": [part]}))
        if record:
            kept = recorder.recorded(name) if known else {}
            recorder.record(name, kept | result, README)
    return result


def _say(message: str) -> None:
    print(f"  {message}", file=sys.stderr)


def run(args: argparse.Namespace) -> int:
    """Run the named benchmarks and print their tables (or, with --json, their results)."""
    modules = {name: _module(name) for name in (args.names or _bench().NAMES)}
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
