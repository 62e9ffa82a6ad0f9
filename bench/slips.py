"""Slips of the pen in Python source: all small changes that a test should notice, read off the syntax tree.

A slip changes one operator, comparison, connective, condition or constant, or deletes one statement. It is applied to
the text, not to the tree: comments and line numbers stay, on which editions of the algorithms depend.

Not changed, because nothing hangs on it, or only a wording, or because any run that reaches it would end at once:
annotations, decorators, imports, docstrings and other texts, what stands in a `raise` or an f-string, `assert`s and
`strict=` (they only ask), what type checkers read, and assignments that define a name (without them it is missing).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

SlipKind: TypeAlias = Literal["operator", "comparison", "branch", "constant", "deleted"]

ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.MatMult: ("@", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
FOR_TYPE_CHECKERS = ("TypeAlias", "TypeVar")
DELETED = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Raise, ast.Delete, ast.Continue, ast.Break)
"""Statements that are deleted."""

Place: TypeAlias = ast.expr | ast.stmt


@dataclass(frozen=True)
class Slip:
    """One change: the bytes from `start` to `end` of a source become `after`."""

    owner: str
    """The function or class that it is in, with those around it; empty at the top level of a module."""
    kind: SlipKind
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def slips(source: bytes) -> list[Slip]:
    """All slips that a source allows, in the order of its text."""
    found = _Finder(source)
    found.walk(ast.parse(source), ())
    return sorted(found.slips, key=lambda slip: (slip.start, slip.end, slip.after))


class _Finder:
    """Walks a tree and collects slips."""

    def __init__(self, source: bytes):
        self.source = source
        lengths = [len(line) for line in source.splitlines(keepends=True)]
        self.begins = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        self.slips: list[Slip] = []
        self.owner: tuple[str, ...] = ()
        self.in_function = False
        self.defined: set[tuple[tuple[str, ...], str]] = set()
        """Names that were assigned to so far, by their owner."""

    # ----------------------------------------------------------------------------------------------- the walk

    def walk(self, node: ast.AST, owner: tuple[str, ...], in_function: bool = False) -> None:
        """Collect the slips of what a node holds."""
        for child in _children(node):
            self.owner, self.in_function = owner, in_function
            self.look(child)
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            inner = (*owner, child.name) if named else owner  # type: ignore[attr-defined]
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or (in_function and not named)
            self.walk(child, inner, inside)

    def look(self, node: ast.AST) -> None:
        """The slips of one node."""
        match node:
            case ast.BinOp() if type(node.op) in ARITHMETIC:
                if not isinstance(node.op, ast.BitAnd | ast.BitOr) or self.in_function:
                    self.between("operator", node.left, node.right, *ARITHMETIC[type(node.op)])
            case ast.AugAssign() if type(node.op) in ARITHMETIC:
                old, new = ARITHMETIC[type(node.op)]
                self.between("operator", node.target, node.value, f"{old}=", f"{new}=")
                self.delete(node)
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
                    self.between("comparison", left, right, *COMPARISONS[type(op)])
            case ast.BoolOp():
                words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    self.between("branch", left, right, *words)
            case ast.If() | ast.While() | ast.IfExp():
                self.negate(node.test)
            case ast.comprehension():
                for condition in node.ifs:
                    self.negate(condition)
            case ast.Constant():
                self.constant(node)
            case ast.stmt():
                self.delete(node)

    # ------------------------------------------------------------------------------------------------- slips

    def between(self, kind: SlipKind, left: Place, right: Place, old: str, new: str) -> None:
        """Change the word between two expressions."""
        start, end = self.at(left)[1], self.at(right)[0]
        gap = self.source[start:end]
        if gap.count(old.encode()) == 1:
            first = start + gap.index(old.encode())
            self.add(kind, first, first + len(old.encode()), new, left.end_lineno or left.lineno)

    def negate(self, test: ast.expr) -> None:
        """Turn a condition round."""
        start, end = self.at(test)
        self.add("branch", start, end, f"(not ({self.source[start:end].decode()}))", test.lineno)

    def constant(self, node: ast.Constant) -> None:
        """A constant that is a little off: a whole number by one, another number by a factor of two, a truth value."""
        value = node.value
        if isinstance(value, bool):
            new = str(not value)
        elif isinstance(value, int):
            new = str(value + 1)
        elif isinstance(value, float):
            new = repr(2 * value) if value else "1.0"
        else:
            return
        self.add("constant", *self.at(node), new, node.lineno)

    def delete(self, node: ast.stmt) -> None:
        """Leave a statement out."""
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        met = {(self.owner, name) for name in names}
        if isinstance(node, DELETED) and met <= self.defined and (self.in_function or not names):
            self.add("deleted", *self.at(node), "pass", node.lineno)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            self.defined |= met

    def add(self, kind: SlipKind, start: int, end: int, after: str, line: int) -> None:
        """Keep a slip."""
        before = self.source[start:end].decode()
        self.slips.append(Slip(".".join(self.owner), kind, line, start, end, before, after))

    def at(self, node: Place) -> tuple[int, int]:
        """Where a node begins and ends, in bytes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self.begins[node.lineno - 1] + node.col_offset,
            self.begins[node.end_lineno - 1] + node.end_col_offset,
        )


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What a node holds and may be changed."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params") or (
            isinstance(node, ast.Raise) and name in ("exc", "cause")
        ):
            continue
        if name == "args" and isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            value = value[:1]  # the types are no less fixed than those of an annotation
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                yield child


def _is_left_alone(node: ast.AST) -> bool:
    """Whether nothing in a node is changed."""
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Pass() | ast.keyword(arg="strict"):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.AnnAssign(annotation=ast.Name(id=name)):
            return name in FOR_TYPE_CHECKERS
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id=name))):
            return name in FOR_TYPE_CHECKERS
        case ast.Assign(value=ast.Subscript(value=ast.Name(id=name))):
            return name in ("Callable", "Literal", "tuple", "dict", "list")
    return False
