"""The import graph of the project, read from its source: rooms, and the order in which they may lean on one another.

`STOREYS` is the plan of the house, from the ground up. A room may import rooms of its own storey and below, never
above; so there is no cycle between storeys. Modules have no cycles at all among the imports that run when they are
loaded. `reference` imports nothing of `audit`.

    python -m audit.trace.imports            # is ARCHITECTURE.md what the source gives? 1 if not
    python -m audit.trace.imports --write    # draw its graph again
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "ARCHITECTURE.md"
OPENING, CLOSING = "<!-- imports: python -m audit.trace.imports --write -->", "<!-- /imports -->"

Graph: TypeAlias = dict[str, set[str]]

STOREYS: tuple[Mapping[str, tuple[str, ...]], ...] = (
    {"ground": ("reference", "reference.numbers", "reference.enclosures", "reference.tape", "reference.registry",
                "reference.editions", "reference.tex", "reference.inventory", "reference.trace_events")},
    {"setting": ("reference.setting",), "privacy": ("reference.privacy", "reference.exact_samplers")},
    {"convex": ("reference.convex",), "smooth": ("reference.smooth",), "weakly_convex": ("reference.weakly_convex",)},
    {"vectors": ("reference.vectors",)},
    {"tools": ("audit", "audit.errors", "audit.inputs", "audit.markup", "audit.climb", "audit.tapes", "audit.journal",
               "audit.jsonschema", "audit.algorithms", "audit.workers", "audit.cluster", "audit.executors",
               "audit.strategies", "audit.replay")},
    {"accounting": ("audit.accounting", "audit.accountants", "audit.profiles"), "fast": ("audit.fast",),
     "blackbox": ("audit.blackbox",)},
    {"foreign": ("audit.foreign",)},
    {"auditor": ("audit.blackbox.auditor", "audit.longrun", "audit.foreign.grid")},
    {"sensitivity": ("audit.sensitivity", "audit.constants"), "zoo": ("audit.zoo", "audit.zoo_foreign"),
     "crosscheck": ("audit.crosscheck", "audit.mutants")},
    {"statements": ("audit.statements",)},
    {"run": ("audit.run",)},
    {"trace": ("audit.trace",), "prose": ("audit.quoted", "audit.prose", "audit.findings")},
    {"report": ("audit.report",)},
    {"commands": ("audit.cli", "audit.commands")},
    {"bench": ("audit.bench", "audit.commands.bench")},
)
"""Rooms by storey, and the modules or packages that make up each."""


def modules(root: Path = ROOT) -> dict[str, str]:
    """Every module of the two packages, with its source."""
    found = {}
    for package in ("reference", "audit"):
        for file in sorted((root / package).rglob("*.py")):
            name = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            found[name] = file.read_text(encoding="utf-8")
    return found


def imports(sources: Mapping[str, str], loading: bool = False) -> Graph:
    """Who imports whom. `loading`: only what runs when a module is loaded; otherwise also inside functions."""
    graph: Graph = {}
    for name, source in sources.items():
        named = _names(source, loading)
        graph[name] = {target for n in named if (target := _module(n, sources)) and target != name}
    return graph


@lru_cache(maxsize=2048)
def _names(source: str, loading: bool) -> tuple[str, ...]:
    return tuple(_named(ast.parse(source), loading))


def _named(node: ast.AST, loading: bool) -> Iterator[str]:
    """The dotted names that a module imports, those for type checkers aside."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if loading and isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module is not None and not child.level:
            yield from (f"{child.module}.{alias.name}" for alias in child.names)
        else:
            yield from _named(child, loading)


def _module(name: str, known: Mapping[str, str]) -> str:
    """The module that a dotted name lies in; empty if it is none of ours."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


# -------------------------------------------------------------------------------------------------- rooms


def room_of(module: str) -> str:
    """The room of a module: the longest prefix that the plan names. Packages' own names stand for themselves only."""
    best, room = "", ""
    for storey in STOREYS:
        for name, prefixes in storey.items():
            for prefix in prefixes:
                inside = module == prefix or ("." in prefix and module.startswith(f"{prefix}."))
                if inside and len(prefix) > len(best):
                    best, room = prefix, name
    return room


def rooms(graph: Graph) -> Graph:
    """The graph between rooms."""
    found: Graph = {name: set() for storey in STOREYS for name in storey}
    for module, targets in graph.items():
        found.setdefault(room_of(module), set()).update(room_of(target) for target in targets)
    return {room: targets - {room} for room, targets in found.items()}


def faults(sources: Mapping[str, str]) -> list[str]:
    """What breaks the plan; empty if nothing does."""
    graph = imports(sources)
    found = [f"{m}: say in audit/trace/imports.py to which room it belongs" for m in graph if not room_of(m)]
    level = {name: i for i, storey in enumerate(STOREYS) for name in storey}
    for module, targets in graph.items():
        for target in sorted(targets):
            here, there = room_of(module), room_of(target)
            if module.partition(".")[0] == "reference" and target.partition(".")[0] == "audit":
                found.append(f"{module} imports {target}: reference/ knows nothing of audit/")
            elif here and there and level[there] > level[here]:
                found.append(f"{module} ({here}) imports {target} ({there}), which stands above it")
    return found + cycles(imports(sources, loading=True)) + cycles(rooms(graph))


def cycles(graph: Graph) -> list[str]:
    """A cycle, as a fault; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [f"import cycle: {' <- '.join(error.args[1])}"]
    return []


# ------------------------------------------------------------------------------------------------ drawing


def reduced(graph: Graph) -> Graph:
    """Without the arrows that follow from others."""

    def beyond(room: str) -> set[str]:
        return {z for y in graph.get(room, ()) for z in (y, *beyond(y))}

    return {a: {b for b in bs if not any(b in beyond(c) for c in bs - {b})} for a, bs in graph.items()}


def mermaid(graph: Graph) -> str:
    """The rooms, two packages as boxes, an arrow from a room to what it imports."""
    lines = ["```mermaid", "flowchart TB"]
    for package in ("reference", "audit"):
        lines.append(f'  subgraph {package}["{package}/"]')
        for storey in STOREYS:
            inside = [name for name, prefixes in storey.items() if prefixes[0].partition(".")[0] == package]
            lines += [f"    {_node(name)}[{name}]" for name in inside]
        lines.append("  end")
    arrows = reduced(graph)
    lines += [f"  {_node(a)} --> {_node(b)}" for a in arrows for b in sorted(arrows[a])]
    return "\n".join([*lines, "```"])


def _node(name: str) -> str:
    return f"r_{name}"


def drawn(page: str, picture: str) -> str:
    """The page with its graph replaced."""
    before, opening, rest = page.partition(OPENING)
    _, closing, after = rest.partition(CLOSING)
    if not opening or not closing:
        raise ValueError(f"{PAGE.name}: lacks the markers {OPENING} and {CLOSING}")
    return f"{before}{opening}\n{picture}\n{closing}{after}"


def main() -> int:
    """Compare or write; 1 if the plan is broken or the page stale."""
    sources = modules()
    found = faults(sources)
    page = PAGE.read_text(encoding="utf-8")
    text = drawn(page, mermaid(rooms(imports(sources))))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    elif text != page:
        found.append(f"{PAGE.name} is stale: python -m audit.trace.imports --write")
    print("\n".join(found) or f"{PAGE.name} is what the source gives; {len(sources)} modules, no cycle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
