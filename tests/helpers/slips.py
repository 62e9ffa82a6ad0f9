"""Every small change of a formula, by rule: the client of SPEC.md with one operand moved or one branch taken away.

`changes()` lists them from the syntax tree of `spec_client`: each operand of a product, quotient, sum, difference or
power, each argument of a root, logarithm or exponential, moved by a sixteenth (an integer by one), and exchanged for
every other number of its statement; each `min`, `max` and `a if c else b` replaced by one of its sides; each logarithm
to another base. `seen(change)` is the first verdict of the
vectors against the changed client, run on the cases that reach its line; None if no expected value moves.

Nothing here is chosen by hand, and the client shares no line with what made the vectors.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import spec_client

from audit.crosscheck.compare import CaseVerdict, compare, question
from audit.crosscheck.replies import ClientError
from audit.crosscheck.worker import answered
from reference import vectors
from reference.paper.algorithms import ALGORITHMS

SOURCE = Path(str(spec_client.__file__)).read_text(encoding="utf-8")
ELEMENTARY = {"math.sqrt", "math.log", "math.exp", "math.log1p", "math.tanh"}
LINES = ("trace.mark", "batches.take")
OTHER_LOGS = {"math.log": ("math.log2", "math.log10"), "math.log1p": ("math.log",)}


@dataclass(frozen=True)
class Change:
    """One change: function and line of the client, what stood there, what stands there now."""

    owner: str
    line: int
    column: int
    old: str
    new: str
    inside: str

    def __str__(self) -> str:
        return f"{self.owner}:{self.line}:{self.column} {self.old} → {self.new} in {self.inside}"


SIZES = (17 / 16, 5 / 4, 4 / 5)
"""By what an operand is multiplied; the later ones for what acts through decisions and rounding to integers only."""


def mover(size: float) -> Callable[[Any], Any]:
    """So much more (or less), an integer by one; what is no number stays."""

    def moved(x: Any) -> Any:
        if isinstance(x, bool) or not isinstance(x, (int, float)):
            return x
        if isinstance(x, int):
            return x + (1 if size > 1 else -1)
        return x * size if x else size - 1

    return moved


def changes() -> Iterator[tuple[Change, CodeType]]:
    """All changes, each with the changed top-level definition, compiled."""
    for node in ast.parse(SOURCE).body:
        for definition in _functions(node):
            _note_leaves(definition)
            sites = [(part, *found) for part in ast.walk(definition) for found in (*_of(part), *_exchanged(part))]
            for part, field, place, new in sites:
                old, inside = _child(part, field, place), ast.unparse(part)
                told = Change(definition.name, old.lineno, old.col_offset, ast.unparse(old), ast.unparse(new), inside)
                _replace(part, field, place, ast.copy_location(new, old))
                module = ast.fix_missing_locations(ast.Module([node], []))
                yield told, compile(module, f"<{told}>", "exec")
                _replace(part, field, place, old)


def _note_leaves(definition: ast.FunctionDef) -> None:
    """Every operation learns which operands its statement has."""
    for statement in ast.walk(definition):
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
            parts = list(ast.walk(statement))
            leaves = [leaf for part in parts for _, _, leaf in _operands(part)]
            for part in parts:
                part.leaves = leaves  # type: ignore[attr-defined]


def _functions(node: ast.stmt) -> list[ast.FunctionDef]:
    if isinstance(node, ast.ClassDef):
        return [part for part in node.body if isinstance(part, ast.FunctionDef)]
    return [node] if isinstance(node, ast.FunctionDef) else []


def _of(node: ast.AST) -> Iterator[tuple[str, int | None, ast.expr]]:
    """The changes of one node's children."""
    yield from ((field, place, _moved(leaf)) for field, place, leaf in _operands(node))
    for field, value in ast.iter_fields(node):
        for place, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if place == 0 and isinstance(node, ast.Call) and ast.unparse(node.func) in LINES:
                continue  # the number of a line, which nobody compares
            yield from ((field, place, new) for new in _instead(child))


def _exchanged(node: ast.AST) -> Iterator[tuple[str, int | None, ast.expr]]:
    """Each operand of a statement's arithmetic, exchanged for another one of the same statement: L0 for R, say."""
    names = {ast.unparse(leaf): leaf for leaf in getattr(node, "leaves", ()) if not isinstance(leaf, ast.Constant)}
    for field, place, leaf in _operands(node):
        yield from ((field, place, other) for text, other in names.items() if text != ast.unparse(leaf))


def _operands(node: ast.AST) -> Iterator[tuple[str, int | None, ast.expr]]:
    """The operands of one operation: numbers by name, attribute, subscript or constant."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)):
        yield from ((field, None, leaf) for field in ("left", "right") if _number(leaf := getattr(node, field)))
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ELEMENTARY and _number(node.args[0]):
        yield "args", 0, node.args[0]


def _instead(child: Any) -> list[ast.expr]:
    """What an expression is exchanged for: a side of a minimum, maximum or condition, another logarithm."""
    if isinstance(child, ast.IfExp):
        return [child.body, child.orelse]
    if isinstance(child, ast.Call):
        name = ast.unparse(child.func)
        if name in ("min", "max") and len(child.args) == 2 and not child.keywords:
            return list(child.args)
        if name in OTHER_LOGS:
            made = (ast.parse(other, mode="eval").body for other in OTHER_LOGS[name])
            return [ast.Call(func, child.args, []) for func in made]
    return []


def _number(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
    )


def _moved(node: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("moved", ast.Load()), [node], [])


def _child(node: ast.AST, field: str, place: int | None) -> Any:
    value = getattr(node, field)
    return value if place is None else value[place]


def _replace(node: ast.AST, field: str, place: int | None, new: ast.expr) -> None:
    if place is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[place] = new


# ------------------------------------------------------------------------------------------------- running


@cache
def cases() -> tuple[tuple[Mapping[str, Any], str], ...]:
    """All cases that must match or be refused, with the output that is due."""
    documents = [vectors.load(a.label, v) for a in ALGORITHMS for v in a.editions]
    return tuple((case, d["output"]) for d in documents for case in d["cases"] if case["result"] != "either")


@cache
def reached() -> Mapping[int, tuple[int, ...]]:
    """Line of the client → the cases that reach it, by number."""
    found: dict[int, list[int]] = {}
    file = str(spec_client.__file__)

    def tracer(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return tracer

    for number, (case, _) in enumerate(cases()):
        lines: set[int] = set()
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            answered(spec_client.run, question(case))
        finally:
            sys.settrace(before)
        for line in lines:
            found.setdefault(line, []).append(number)
    return {line: tuple(numbers) for line, numbers in found.items()}


@cache
def _parts() -> tuple[tuple[str, CodeType], ...]:
    """The top-level statements of the client, compiled one by one, with the name that each defines."""
    nodes = ast.parse(SOURCE).body
    return tuple((getattr(n, "name", ""), compile(ast.Module([n], []), "<client>", "exec")) for n in nodes)


def built(name: str, code: CodeType, size: float = SIZES[0]) -> Any:
    """The `run` of the client with one definition exchanged."""
    space: dict[str, Any] = {"__name__": "changed_client", "moved": mover(size)}
    for own, part in _parts():
        exec(code if own == name else part, space)
    return space["run"]


def seen(change: Change, code: CodeType) -> CaseVerdict | None:
    """The first case at which the changed client fails."""
    name = next(name for name in code.co_names if name)
    for size in SIZES if change.new.startswith("moved(") else SIZES[:1]:
        run = built(name, code, size)
        for number in reached().get(change.line, ()):
            verdict = judged(run, *cases()[number])
            if verdict.status in ("fail", "error"):
                return verdict
    return None


def judged(run: Any, case: Mapping[str, Any], main: str, trace: bool = True) -> CaseVerdict:
    """The verdict on one case; with or without the trace."""
    reply = answered(run, question(case))
    if not trace:
        reply.pop("trace", None)
    try:
        if "fault" in reply:
            raise ClientError(reply["fault"])
        return compare(case, reply, main, {})
    except ClientError as error:
        return CaseVerdict(case["id"], case["result"], "error", str(error))
