"""From a statement to its code: path and line, the source folded in, the printed text beside the corrected one.

The page may be drawn where the checks are not loaded: a check's place and its sentence are read from its file.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from audit.checks.framework import LEVELS
from audit.report.common import Frugal, erratum_link
from audit.report.prose import formula
from audit.runtime.markup import Html, tag
from audit.trace.links import ROOT, CodeLink, code_links
from reference.paper.editions import EditionError, blocks
from reference.paper.inventory import Equation, Inventory

LEDGER = "the steps of the proof that a machine replays are replayed one by one, and a mutant of each is refuted."
"""What the checks of the ledger do: they are made from it, one for each proof."""

CONTEXT = 2
"""Equal lines that stay on either side of a difference."""


@dataclass(frozen=True)
class CheckSource:
    """Where a check is written, and what its docstring says."""

    path: str
    line: int
    says: str


@cache
def _links() -> tuple[CodeLink, ...]:
    return tuple(code_links())


def links_of(id: str, inventory: Inventory) -> list[CodeLink]:
    """The functions tied to an entry or a place inside it; of an equation that has none, those of what holds it."""
    found = [link for link in _links() if link.id != "" and inventory.places_of(link.id)[-1] == id]
    entry = inventory.entries.get(id)
    if not found and isinstance(entry, Equation) and entry.inside:
        return links_of(entry.inside, inventory)
    unique = {(link.kind, link.edition, link.code): link for link in found if link.kind != "counterexample"}
    return list(unique.values())


@cache
def check_source(name: str, erratum: str = "") -> CheckSource | None:
    """The source of a check by its name; one that is made from a counterexample has the counterexample's."""
    if name.startswith("defects."):
        link = next((one for one in _links() if one.kind == "counterexample" and one.id == erratum), None)
        return CheckSource(link.path, link.lines()[0], _first(inspect.getdoc(link.target))) if link else None
    if name.startswith("proved."):
        made = _functions("proved").get("replay")
        return replace(made, says=LEDGER) if made else None
    module, _, rest = name.partition(".")
    function = rest.partition("[")[0].partition("/")[0]
    return _functions(module).get(function) or _module(module) if module.isidentifier() else None


@cache
def _module(module: str) -> CheckSource | None:
    """A module of checks as a whole: for those that it makes in a loop."""
    path = ROOT / "audit" / "checks" / f"{module}.py"
    if not path.is_file():
        return None
    says = _first(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))))
    return CheckSource(path.relative_to(ROOT).as_posix(), 1, says)


@cache
def _functions(module: str) -> dict[str, CheckSource]:
    """The functions of a module of checks, by name."""
    path = ROOT / "audit" / "checks" / f"{module}.py"
    if not path.is_file():
        return {}
    place = path.relative_to(ROOT).as_posix()
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef))
    found = {node.name: CheckSource(place, node.lineno, _first(ast.get_docstring(node))) for node in functions}
    return found | dict(_made(nodes, found))


def _made(nodes: Iterable[ast.stmt], found: Mapping[str, CheckSource]) -> Iterator[tuple[str, CheckSource]]:
    """The checks that a call registers at several levels: they say what the function says that the call names."""
    calls = (node.value for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    for call in calls:
        names = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        used = [
            node.id for arg in call.args for node in ast.walk(arg) if isinstance(node, ast.Name) and node.id in found
        ]
        for name in names[-1:]:
            for level in LEVELS:
                if used:
                    yield f"{name}_{level}", replace(found[used[0]], line=call.lineno)


def _first(docstring: str | None) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((docstring or "").split("\n\n")[0].split())


# ------------------------------------------------------------------------------------------------ on the page


def code_section(id: str, inventory: Inventory, frugal: Frugal) -> Html | None:
    """The functions of an entry, each with its source folded in, and what distinguishes printed from corrected."""
    links = links_of(id, inventory)
    if not links:
        return None
    rows = [_source(link, frugal) for link in links]
    pairs = _differences(links, inventory) if frugal.tables else ()
    return tag("div", tag("h4", "Code"), *pairs, *rows, class_="code")


def place(path: str, line: int) -> Html:
    """A path and line, as editors and code hosts take them."""
    return tag("code", f"{path}:{line}", class_="place")


def _source(link: CodeLink, frugal: Frugal) -> Html:
    """One function: where it is, what it says of itself, and its text."""
    text = textwrap.dedent(inspect.getsource(link.target)).rstrip()
    summary = tag(
        "summary" if frugal.tables else "p",
        place(link.path, link.lines()[0]),
        tag("span", link.edition, class_="kind"),
        tag("span", formula(f" {link.kind}: {_first(inspect.getdoc(link.target))}"), class_="about"),
    )
    if not frugal.tables:
        return tag("div", summary, class_="source")
    return tag("details", summary, tag("pre", tag("code", text), tabindex="0"), class_="source")


def _differences(links: Sequence[CodeLink], inventory: Inventory) -> Iterator[Html]:
    """Printed beside corrected, for each pair of functions of one name that stands for both."""
    printed = {link.name.removesuffix("_printed"): link for link in links if link.edition == "printed"}
    for link in links:
        other = printed.get(link.name)
        if link.edition == "corrected" and other is not None:
            yield _pair(other, link, inventory)


@dataclass(frozen=True)
class _Hunk:
    """Lines that differ, or lines that do not."""

    printed: Sequence[str]
    corrected: Sequence[str]
    erratum: str | None = None

    @property
    def same(self) -> bool:
        return self.printed == self.corrected


def _pair(printed: CodeLink, corrected: CodeLink, inventory: Inventory) -> Html:
    head = tag(
        "tr",
        tag("th", "As printed, ", place(printed.path, printed.lines()[0]), scope="col"),
        tag("th", "Corrected, ", place(corrected.path, corrected.lines()[0]), scope="col"),
    )
    rows = [_hunk(hunk, inventory) for hunk in _hunks(printed, corrected)]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="diff-table")
    summary = tag("summary", "Printed beside corrected: ", tag("code", corrected.name))
    return tag("details", summary, tag("div", table, class_="scroll", tabindex="0"), class_="source")


def _hunks(printed: CodeLink, corrected: CodeLink) -> list[_Hunk]:
    """The two bodies aligned: by their tags where they have them, else line by line."""
    try:
        return [_Hunk(b.printed, b.corrected, b.erratum) for b in blocks(printed.target, corrected.target)]
    except EditionError:
        old, new = (inspect.getsource(link.target).splitlines() for link in (printed, corrected))
        codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return [_Hunk(old[i:j], new[k:m]) for _, i, j, k, m in codes]


def _hunk(hunk: _Hunk, inventory: Inventory) -> Html:
    if hunk.same:
        text = "\n".join(_folded(hunk.printed))
        return tag("tr", tag("td", tag("pre", text), colspan=2), class_="same")
    known = hunk.erratum and inventory.erratum(hunk.erratum)
    mark = erratum_link(known.id) if known else None
    left = tag("td", mark, tag("pre", tag("del", "\n".join(hunk.printed))) if hunk.printed else None)
    right = tag("td", tag("pre", tag("ins", "\n".join(hunk.corrected))) if hunk.corrected else None)
    return tag("tr", left, right)


def _folded(lines: Iterable[str]) -> list[str]:
    """Equal lines; of a long stretch its ends."""
    found = list(lines)
    if len(found) <= 2 * CONTEXT + 1:
        return found
    return [*found[:CONTEXT], f"    ⋮ {len(found) - 2 * CONTEXT} equal lines", *found[-CONTEXT:]]
