"""`dpso trace`: from a statement to code, checks, errata and verdict, and back."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from audit.errors import InputError, wrapped
from audit.quoted import quotes_in
from audit.run import inventory
from audit.trace import compare, graph, proofs_map
from audit.trace.coverage import Trace, trace
from audit.trace.links import checkout
from audit.trace.show import describe, show
from reference.inventory import Inventory

HELP = "from a statement to its code, checks, errata and verdict, and back"
EXAMPLE = "dpso trace lem:oracle"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    what = "an id (lem:oracle), a name (Lemma 5), a line (Alg:gll_oracle:6), an erratum (E3.1) or code"
    parser.add_argument("id", nargs="?", metavar="ID", help=f"{what} (reference.convex.oracle:oracle, FILE.py:LINE)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="compare proofs_map.md and quoted numbers; 1 if stale")
    mode.add_argument("--write", action="store_true", help="write proofs_map.md")
    mode.add_argument("--paper", type=Path, metavar="FILE.tex", help="compare your copy of the paper; 1 if it differs")
    mode.add_argument("--graph", type=Path, metavar="FILE.svg", help="draw what leans on what")


def run(args: argparse.Namespace) -> int:
    """Do what the options ask for; without any, show the whole inventory in brief."""
    if args.id is not None and (args.check or args.write or args.paper or args.graph):
        raise InputError(f"ID {args.id!r} goes without --check, --write, --paper and --graph")
    if args.paper is not None:
        return _paper(inventory(), args.paper, args.json)
    links = trace()
    if args.check:
        return _check(links, args.json)
    if args.write:
        return _write(links, args.json)
    if args.graph is not None:
        return _graph(links, args.graph, args.json)
    return _show(links, args.id, args.json)


def _print(as_json: bool, data: dict[str, Any], lines: list[str]) -> None:
    print(json.dumps(data, ensure_ascii=False, indent=1) if as_json else "\n".join(lines))


def _check(links: Trace, as_json: bool) -> int:
    path = proofs_map.path()
    committed = path.read_text(encoding="utf-8") if path.is_file() else ""
    stale = proofs_map.stale_rows(committed, proofs_map.render(links))
    quotes = quotes_in(path.parent)
    print(f"recomputing {len(quotes)} quoted numbers", file=sys.stderr)
    numbers = [problem for quote in quotes if (problem := quote.problem())]
    problems = links.problems()
    lines = [*stale, *numbers, *problems]
    if stale:
        lines.append(f"{path.name} is stale in {len(stale)} rows: dpso trace --write, then look at what changed")
    if not lines:
        lines.append(f"{path.name} is what the links give; {len(quotes)} quoted numbers agree")
    if uncovered := links.uncovered():
        lines.append(f"no check yet: {', '.join(uncovered)}")
    failed = bool(stale or numbers or problems)
    data = {"stale": stale, "numbers": numbers, "problems": problems, "uncovered": uncovered, "current": not failed}
    _print(as_json, data, lines)
    return 1 if failed else 0


def _write(links: Trace, as_json: bool) -> int:
    path = proofs_map.path()
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    text = proofs_map.render(links)
    path.write_text(text, encoding="utf-8")
    rows = proofs_map.stale_rows(before, text)
    _print(as_json, {"written": path.name, "rows": rows}, [*rows, f"{path.name}: {len(rows)} rows changed"])
    return 0


def _paper(known: Inventory, path: Path, as_json: bool) -> int:
    result = compare.compare_file(known, path)
    left = compare.unjudged(known, compare.load_tex(path)) if result.identical else []
    data = {"identical": result.identical, "labels": result.total, "lines without a verdict": left}
    _print(as_json, data | result.paragraphs, list(compare.summary(result, path, left)))
    return 0 if result.identical else 1


def _graph(links: Trace, path: Path, as_json: bool) -> int:
    try:
        path.write_text(graph.svg(links), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--graph {path}: cannot be written ({error.strerror})") from None
    edges = graph.edges(links)
    count = sum(map(len, edges.values()))
    data = {"written": str(path), "nodes": len(edges), "edges": count}
    _print(as_json, data, [f"{path}: {len(edges)} nodes, {count} arrows"])
    return 0


def _show(links: Trace, id: str | None, as_json: bool) -> int:
    if checkout() is None:
        print("installed copy: the tests are not part of it, so links from tests are not shown", file=sys.stderr)
    data = describe(links, id)
    _print(as_json, data, [wrapped(line) for line in show(data)])
    return 0
