"""`dpso trace`: from a statement to code, checks, errata and verdict, and back."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit.checks.results import inventory, read_record
from audit.cli.checkout import checkout_module
from audit.report import graph
from audit.runtime.errors import InputError, wrapped
from audit.runtime.files import write_atomically
from audit.trace import paper_copy, proofs_map
from audit.trace.consistency import contradictions
from audit.trace.coverage import Traceability, trace
from audit.trace.links import checkout
from audit.trace.show import describe, show
from reference.paper.inventory import Inventory, PrintedAlgorithm, Statement

HELP = "from a statement to its code, checks, errata and verdict, and back"
EXAMPLE = "dpso trace lem:oracle"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    what = "an id (lem:oracle), a name (Lemma 5), a line (Alg:gll_oracle:6), an erratum (E3.1) or code"
    parser.add_argument("id", nargs="?", metavar="ID", help=f"{what} (reference.convex.oracle:oracle, FILE.py:LINE)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument(
        "--check", action="store_true", help="in a checkout: is anything stale, does anything contradict? 1 if so"
    )
    mode.add_argument(
        "--write",
        action="store_true",
        help="in a checkout: write proofs_map.md, and renew what README quotes",
    )
    parser.add_argument("--paper", type=Path, metavar="FILE.tex", help="compare a copy of the paper; 1 if it differs")
    parser.add_argument("--graph", type=Path, metavar="FILE.svg", help="draw what depends on what")


def run(args: argparse.Namespace) -> int:
    """Do what the options ask for; without any, show the whole inventory in brief."""
    if args.id is not None and (args.check or args.write or args.paper or args.graph):
        raise InputError(f"ID {args.id!r} goes without --check, --write, --paper and --graph")
    asked: dict[str, Callable[[], Answer]] = {}
    if args.paper is not None:
        asked["paper"] = lambda: _paper(inventory(), args.paper)
    if args.check:
        asked["check"] = lambda: _check(trace())
    if args.write:
        asked["write"] = lambda: _write(trace())
    if args.graph is not None:
        asked["graph"] = lambda: _graph(trace(), args.graph)
    return _answer(asked or {"show": lambda: _show(trace(), args.id)}, args.json)


Answer = tuple[int, dict[str, Any], list[str]]
"""Exit code, data for --json, lines for people."""


def _answer(asked: dict[str, Callable[[], Answer]], as_json: bool) -> int:
    """Print what was asked for: one object, or one that holds an object for each question."""
    answers = {name: ask() for name, ask in asked.items()}
    data = [answer[1] for answer in answers.values()]
    whole = data[0] if len(data) == 1 else dict(zip(answers, data, strict=True))
    lines = [line for answer in answers.values() for line in answer[2]]
    print(json.dumps(whole, ensure_ascii=False, indent=1) if as_json else "\n".join(lines))
    return max(answer[0] for answer in answers.values())


def _check(links: Traceability) -> Answer:
    path = proofs_map.path()
    committed = path.read_text(encoding="utf-8") if path.is_file() else ""
    stale = proofs_map.stale_rows(committed, proofs_map.render(links))
    markers = checkout_module("docs.markers", "dpso trace --check recomputes quoted numbers")
    quotes = markers.quotes_in(path.parent)
    print(f"recomputing {len(quotes)} quoted numbers", file=sys.stderr)
    numbers = [problem for quote in quotes if (problem := quote.problem())]
    problems = [*links.problems(), *contradictions(links.inventory, read_record(), links.checks)]
    problems += markers.unfounded_in(path.parent)
    problems += filter(
        None, [checkout_module("docs.readme", "dpso trace --check compares README.md").problem(path.parent)]
    )
    lines = [*stale, *numbers, *problems]
    if stale:
        lines.append(f"{path.name} is stale in {len(stale)} rows: dpso trace --write, then look at what changed")
    if not lines:
        lines.append(f"{path.name} is what the links give; {len(quotes)} quoted numbers agree")
    if uncovered := links.uncovered():
        lines.append(f"no check yet: {', '.join(uncovered)}")
    failed = bool(stale or numbers or problems)
    data = {"stale": stale, "numbers": numbers, "problems": problems, "uncovered": uncovered, "current": not failed}
    return int(failed), data, lines


def _write(links: Traceability) -> Answer:
    path = proofs_map.path()
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    text = proofs_map.render(links)
    write_atomically(path, text)
    rows = proofs_map.stale_rows(before, text)
    renewed = checkout_module("docs.markers", "dpso trace --write renews quoted counts").renew(path.parent)
    lines = [*rows, f"{path.name}: {len(rows)} rows changed", *(f"{name}: renewed" for name in renewed)]
    return 0, {"written": path.name, "rows": rows, "renewed": renewed}, lines


def _paper(known: Inventory, path: Path) -> Answer:
    result = paper_copy.compare_file(known, path)
    left = paper_copy.unjudged(known, paper_copy.load_tex(path)) if result.identical else []
    data = {"identical": result.identical, "labels": result.total, "lines without a verdict": left}
    return int(not result.identical), data | result.paragraphs, list(paper_copy.summary(result, path, left))


def _graph(links: Traceability, path: Path) -> Answer:
    try:
        path.write_text(graph.document(links.inventory, _nodes(links)), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--graph {path}: cannot be written ({error.strerror})") from None
    edges = graph.edges(links.inventory)
    count = sum(map(len, edges.values()))
    data = {"written": str(path), "nodes": len(edges), "edges": count}
    return 0, data, [f"{path}: {len(edges)} nodes, {count} arrows"]


def _nodes(links: Traceability) -> dict[str, graph.Node]:
    """What the graph shows of each statement and algorithm: the recorded verdict."""
    entries: list[Statement | PrintedAlgorithm] = [*links.inventory.statements, *links.inventory.algorithms]
    return {
        e.id: graph.Node(
            e.id, e.name, f"{e.title}. {links.verdict(e.id)}", links.grade(e.id), isinstance(e, PrintedAlgorithm)
        )
        for e in entries
    }


def _show(links: Traceability, id: str | None) -> Answer:
    if checkout() is None:
        print("installed copy: the tests are not part of it, so links from tests are not shown", file=sys.stderr)
    data = describe(links, id)
    return 0, data, [wrapped(line) for line in show(data)]
