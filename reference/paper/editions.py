"""Printed, corrected, and everything between: editions of one algorithm from two bodies.

An algorithm is written twice, side by side, as printed and as corrected. Lines that differ carry the id of
exactly one erratum in a trailing comment (`# L6 [E3.1]`); lines that agree carry none.
`edition(printed, corrected, {"E3.1"})` is the algorithm with exactly these errata applied, so that an audit
can say which defect does what harm.

How two bodies are aligned. The lines without a tag must be the same sequence in both: they are the fixed
points. Between two fixed points each body has a (possibly empty) run of tagged lines for every erratum that
acts there; runs of one erratum on the two sides are the two versions of one block, and these pairs anchor the
runs that stand on one side only (pure deletions, pure insertions). Where a deletion and an insertion of
different errata meet between the same anchors, the printed lines come first. Whatever does not fit this is
refused: an untagged difference, a line that names two errata, a tagged line that is the same in both bodies,
errata that change places.
"""

from __future__ import annotations

import ast
import inspect
import io
import linecache
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, TypeAlias

Body: TypeAlias = Callable[..., Any]

_TAG = re.compile(r"\[(E[\w.]+)\]")
_LINE_MARK = re.compile(r"#\s*L(\d+)(?:[–-](\d+))?(?=[\s:\[]|$)")


class EditionError(ValueError):
    """Two bodies that do not differ exactly on their tagged lines."""


@dataclass(frozen=True)
class AlignedBlock:
    """A stretch of the two bodies: equal text (no erratum), or two versions of one erratum's lines."""

    erratum: str | None
    printed: tuple[str, ...]
    corrected: tuple[str, ...]


# ------------------------------------------------------------------------------------------- one body


def body_lines(function: Body) -> list[str]:
    """The source lines after signature and docstring: comments included, blank lines dropped."""
    return [line for _, line in numbered_body(function)]


def numbered_body(function: Body) -> list[tuple[int, str]]:
    """The body with each line's number in its file."""
    source, first = _source_and_line(function)
    lines, start = source.splitlines(), _body_start(function)
    return [(first + i, line) for i, line in enumerate(lines) if i >= start and line.strip()]


def marks_in(line: str) -> list[int]:
    """The paper's line numbers that a source line carries: `# L4` is one, `# L6–9` are four."""
    found = ((int(m[1]), int(m[2] or m[1])) for m in _LINE_MARK.finditer(line))
    return [number for first, last in found for number in range(first, last + 1)]


def line_marks(function: Body) -> list[int]:
    """The paper's line numbers that a body carries, in order of appearance."""
    return [number for line in body_lines(function) for number in marks_in(line)]


def tags(line: str) -> list[str]:
    """The errata that a source line names in its comment, each once."""
    _, mark, comment = line.rpartition("#")
    return list(dict.fromkeys(_TAG.findall(comment))) if mark else []


@lru_cache(maxsize=1024)
def _source_and_line(function: Body) -> tuple[str, int]:
    """The source without indentation, and where it starts in its file: slow to find, so it is kept."""
    lines, first = inspect.getsourcelines(function)
    return textwrap.dedent("".join(lines)), first


def _source(function: Body) -> str:
    return _source_and_line(function)[0]


@lru_cache(maxsize=1024)
def _function_node(function: Body) -> ast.FunctionDef:
    node = ast.parse(_source(function)).body[0]
    if not isinstance(node, ast.FunctionDef):
        raise EditionError(f"{function.__name__} is not a plain function: editions are made of `def`s")
    return node


def _body_start(function: Body) -> int:
    """How many source lines come before the body: decorators, signature, docstring."""
    node = _function_node(function)
    first = node.body[0]
    if _has_docstring(node):
        return first.end_lineno or first.lineno
    end = _signature_end(_source(function), node.lineno)
    if first.lineno <= end:
        raise EditionError(f"{function.__name__}: the body must start on a line of its own")
    return end


def _signature_end(source: str, def_line: int) -> int:
    """The line on which the `def` statement's header ends (it may span several)."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return next(t.end[0] for t in tokens if t.type == tokenize.NEWLINE and t.start[0] >= def_line)


def _has_docstring(node: ast.FunctionDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None


# ------------------------------------------------------------------------------------------ two bodies


def blocks(printed: Body, corrected: Body) -> list[AlignedBlock]:
    """The two bodies, aligned. Raises `EditionError` where they differ without saying why."""
    name = printed.__name__
    old, new = _gaps(body_lines(printed), name), _gaps(body_lines(corrected), corrected.__name__)
    _require_same_fixed_points([line for _, line in old], [line for _, line in new], name)
    found: list[AlignedBlock] = []
    for (old_gap, line), (new_gap, _) in zip(old, new, strict=True):
        found.extend(_merge(old_gap, new_gap, name))
        if line is not None:
            found.append(AlignedBlock(None, (line,), (line,)))
    return _joined(found)


def _gaps(lines: Sequence[str], name: str) -> list[tuple[list[str], str | None]]:
    """The body as pairs (tagged lines, the untagged line that follows them); the last follower is None."""
    pairs: list[tuple[list[str], str | None]] = []
    gap: list[str] = []
    for line in lines:
        errata = tags(line)
        if len(errata) > 1:
            raise EditionError(f"{name}: {line.strip()!r} names two errata, a line belongs to one")
        if errata:
            gap.append(line)
        else:
            pairs.append((gap, line))
            gap = []
    return [*pairs, (gap, None)]


def _require_same_fixed_points(old: list[str | None], new: list[str | None], name: str) -> None:
    for left, right in zip(old, new, strict=False):
        if left != right:
            shown = " and ".join(repr(line.strip()) if line else "the end" for line in (left, right))
            raise EditionError(f"{name}: {shown} differ between the bodies but name no erratum")


_Key: TypeAlias = tuple[str, int]


def _runs(lines: Sequence[str]) -> dict[_Key, list[str]]:
    """Tagged lines by erratum; a second run of the same erratum in one gap has its own key."""
    runs: dict[_Key, list[str]] = {}
    seen: Counter[str] = Counter()
    last = ""
    for line in lines:
        (erratum,) = tags(line)
        if erratum != last:
            seen[erratum] += 1
        runs.setdefault((erratum, seen[erratum]), []).append(line)
        last = erratum
    return runs


def _merge(old: Sequence[str], new: Sequence[str], name: str) -> Iterator[AlignedBlock]:
    """The tagged lines between two fixed points as one block a run: shared runs anchor the others."""
    for line in set(old) & set(new):
        raise EditionError(f"{name}: {line.strip()!r} is tagged but is the same in both bodies")
    left, right = _runs(old), _runs(new)
    anchors = [key for key in left if key in right]
    if anchors != [key for key in right if key in left]:
        names = ", ".join(erratum for erratum, _ in anchors)
        raise EditionError(f"{name}: the errata {names} come in different orders in the two bodies")
    for key in _order(list(left), list(right), anchors):
        yield AlignedBlock(key[0], tuple(left.get(key, ())), tuple(right.get(key, ())))


def _order(left: list[_Key], right: list[_Key], anchors: list[_Key]) -> Iterator[_Key]:
    """Both sequences merged: up to each anchor the printed side's own runs, then the corrected side's."""
    i = j = 0
    for anchor in anchors:
        end_i, end_j = left.index(anchor), right.index(anchor)
        yield from left[i:end_i]
        yield from right[j:end_j]
        yield anchor
        i, j = end_i + 1, end_j + 1
    yield from left[i:]
    yield from right[j:]


def _joined(found: Sequence[AlignedBlock]) -> list[AlignedBlock]:
    """Neighbouring blocks of equal text as one."""
    joined: list[AlignedBlock] = []
    for block in found:
        if joined and block.erratum is None and joined[-1].erratum is None:
            last = joined.pop()
            block = AlignedBlock(None, last.printed + block.printed, last.corrected + block.corrected)
        joined.append(block)
    return joined


def errata_of(printed: Body, corrected: Body) -> frozenset[str]:
    """The errata on which two bodies differ."""
    return frozenset(b.erratum for b in blocks(printed, corrected) if b.erratum)


# --------------------------------------------------------------------------------------------- editions


def edition(printed: Body, corrected: Body, errata: Collection[str]) -> Body:
    """The algorithm with exactly these errata applied: none gives the printed text, all the corrected one.

    The function lives in the module of `corrected`: same globals, signature, defaults, annotations and
    docstring; `inspect.getsource` and tracebacks show its text.
    """
    return _edition(printed, corrected, frozenset(errata))


def subsets(printed: Body, corrected: Body) -> Iterator[frozenset[str]]:
    """Every choice of errata, from none (printed) to all (corrected)."""
    known = sorted(errata_of(printed, corrected))
    for size in range(len(known) + 1):
        yield from (frozenset(chosen) for chosen in combinations(known, size))


@lru_cache(maxsize=1024)
def _edition(printed: Body, corrected: Body, errata: frozenset[str]) -> Body:
    _require_same_frame(printed, corrected)
    aligned = blocks(printed, corrected)
    known = {b.erratum for b in aligned if b.erratum}
    if unknown := errata - known:
        raise EditionError(f"{sorted(unknown)} do not belong to {printed.__name__}: it has {sorted(known)}")
    lines = [
        line
        for block in aligned
        for line in (block.corrected if block.erratum is None or block.erratum in errata else block.printed)
    ]
    name = f"{corrected.__name__}_with_{'_'.join(sorted(errata)) or 'nothing'}"
    return _define(name, "\n".join([*_header(corrected), *lines, ""]), corrected)


def _require_same_frame(printed: Body, corrected: Body) -> None:
    """Refuse two bodies that do not share signature and module, or that close over variables."""
    old, new = inspect.signature(printed), inspect.signature(corrected)
    if list(old.parameters.values()) != list(new.parameters.values()):
        both = f"{printed.__name__}{old} and {corrected.__name__}{new}"
        raise EditionError(f"{both} must take the same parameters")
    if printed.__globals__ is not corrected.__globals__:
        raise EditionError(f"{printed.__name__} and {corrected.__name__} must live in one module")
    for function in (printed, corrected):
        if free := function.__code__.co_freevars:
            raise EditionError(f"{function.__name__} closes over {', '.join(free)}: use parameters")


def _header(function: Body) -> list[str]:
    """The `def` line(s) and the docstring, without decorators."""
    lines = _source(function).splitlines()
    return lines[_function_node(function).lineno - 1 : _body_start(function)]


def _define(name: str, source: str, model: Body) -> Body:
    """Compile `source` in the module of `model`; it gets a name, a text and the model's defaults."""
    filename = f"<edition {model.__module__}:{name}>"
    namespace: dict[str, Any] = {}
    try:
        code = compile(source, filename, "exec")
    except SyntaxError as error:
        raise EditionError(f"{name} is not a program ({error.msg}): these errata only go together") from None
    exec(code, model.__globals__, namespace)
    function: Body = namespace[model.__name__]
    function.__name__ = function.__qualname__ = name
    function.__defaults__, function.__kwdefaults__ = model.__defaults__, model.__kwdefaults__
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return function
