"""Printed, corrected, and everything between: editions of one algorithm from two bodies that read side by side.

An algorithm is written twice, as printed and as corrected. Lines that differ carry the id of exactly one erratum
in a trailing comment (`# L6 [E3.1]`); lines that agree carry none. `edition(printed, corrected, {"E3.1"})` is the
algorithm with exactly these errata applied, so that an audit can say which defect does what harm. Two bodies that
differ on an untagged line, or a block that names two errata, are refused: the lint of the project is this function.
"""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

_TAG = re.compile(r"\[(E[\w.]+)\]")
_LINE_MARK = re.compile(r"#\s*L(\d+)(?:[–-](\d+))?")


class EditionError(ValueError):
    """Two bodies that do not differ exactly on their tagged lines."""


@dataclass(frozen=True)
class Block:
    """A stretch of the two bodies: equal text (no erratum), or two versions of one erratum's lines."""

    erratum: str | None
    printed: tuple[str, ...]
    corrected: tuple[str, ...]


def body_lines(function: Callable[..., Any]) -> list[str]:
    """The source lines of a function after its signature and docstring, comments included."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    tree = _function_node(function)
    first = tree.body[1 if _has_docstring(tree) else 0]
    return lines[first.lineno - 1 :]


def line_marks(function: Callable[..., Any]) -> list[int]:
    """The paper's line numbers that a body carries, in order of appearance (`# L4`, `# L6–9`)."""
    marks: list[int] = []
    for line in body_lines(function):
        for match in _LINE_MARK.finditer(line):
            first, last = int(match[1]), int(match[2] or match[1])
            marks.extend(range(first, last + 1))
    return marks


def blocks(printed: Callable[..., Any], corrected: Callable[..., Any]) -> list[Block]:
    """The two bodies, aligned. Raises `EditionError` where they differ without saying why."""
    old, new = body_lines(printed), body_lines(corrected)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    found: list[Block] = []
    for op, i1, i2, j1, j2 in matcher.get_opcodes():
        if op == "equal":
            _refuse_tags(old[i1:i2], printed.__name__)
            found.append(Block(None, tuple(old[i1:i2]), tuple(new[j1:j2])))
        else:
            found.extend(_split(old[i1:i2], new[j1:j2], printed.__name__))
    return found


def _refuse_tags(lines: list[str], name: str) -> None:
    for line in lines:
        if tag := _TAG.search(line):
            raise EditionError(f"{name}: {line.strip()!r} is tagged {tag[1]} but is the same in both bodies")


def _split(old: list[str], new: list[str], name: str) -> Iterator[Block]:
    """A differing stretch as one block an erratum; the ids come in the same order on both sides."""
    old_runs, new_runs = _runs(old, name), _runs(new, name)
    order = list(dict.fromkeys([*old_runs, *new_runs]))
    shared = [e for e in old_runs if e in new_runs]
    if shared != [e for e in new_runs if e in old_runs]:
        raise EditionError(f"{name}: errata {shared} come in different orders in the two bodies")
    if any(e in old_runs for e in order) and any(e in new_runs for e in order):
        order.sort(key=lambda e: _position(e, old_runs, new_runs))
    for erratum in order:
        yield Block(erratum, tuple(old_runs.get(erratum, ())), tuple(new_runs.get(erratum, ())))


def _position(erratum: str, old: dict[str, list[str]], new: dict[str, list[str]]) -> int:
    """Where an erratum stands in a stretch: by the printed side if it is there, else by the corrected one."""
    keys = list(old) if erratum in old else list(new)
    return keys.index(erratum)


def _runs(lines: list[str], name: str) -> dict[str, list[str]]:
    runs: dict[str, list[str]] = {}
    last = None
    for line in lines:
        tags = set(_TAG.findall(line))
        if len(tags) != 1:
            why = "names two errata" if tags else "differs between the bodies but names no erratum"
            raise EditionError(f"{name}: {line.strip()!r} {why}")
        erratum = tags.pop()
        if erratum in runs and erratum != last:
            raise EditionError(f"{name}: the lines of {erratum} are interleaved with another erratum's")
        runs.setdefault(erratum, []).append(line)
        last = erratum
    return runs


def errata_of(printed: Callable[..., Any], corrected: Callable[..., Any]) -> frozenset[str]:
    """The errata on which two bodies differ."""
    return frozenset(b.erratum for b in blocks(printed, corrected) if b.erratum)


def edition(
    printed: Callable[..., Any], corrected: Callable[..., Any], errata: Collection[str]
) -> Callable[..., Any]:
    """The algorithm with exactly these errata applied: ∅ gives the printed text, all of them the corrected one."""
    known = errata_of(printed, corrected)
    if unknown := set(errata) - known:
        raise EditionError(f"{sorted(unknown)} do not belong to {printed.__name__}: it has {sorted(known)}")
    lines = [
        line
        for block in blocks(printed, corrected)
        for line in (block.corrected if block.erratum is None or block.erratum in errata else block.printed)
    ]
    header = _header(corrected)
    name = f"{corrected.__name__}_with_{'_'.join(sorted(errata)) or 'nothing'}"
    namespace: dict[str, Any] = {}
    source = "\n".join([header, *lines])
    exec(compile(source, f"<edition {name}>", "exec"), dict(corrected.__globals__), namespace)  # noqa: S102
    function: Callable[..., Any] = namespace[corrected.__name__]
    function.__name__ = function.__qualname__ = name
    return function


def _header(function: Callable[..., Any]) -> str:
    lines = textwrap.dedent(inspect.getsource(function)).splitlines()
    node = _function_node(function)
    start = node.lineno - 1
    end = node.body[0].lineno - 1
    return "\n".join(lines[start:end])


def _function_node(function: Callable[..., Any]) -> Any:
    import ast

    return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]


def _has_docstring(node: Any) -> bool:
    import ast

    first = node.body[0]
    return isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
