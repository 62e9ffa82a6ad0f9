"""A lint: what rounds in the source of a function that says it does not.

`impurities(function)` reads the function and, name by name, the functions of the project's checks that it uses, and
lists every place where a float, a quotient of two whole numbers, a root or a negative power, the midpoint of a ball, or
a library that rounds could decide. What only shows a result is passed over: f-strings, and the witness, numbers, notes
and figures of an outcome. The number systems of `reference` are taken at their word: a `Ball` encloses, `Float64` and
`MP` round; so is `evidence`, which takes the upper end of a ball. A function of `reference` is taken at the word of its
annotations: one that returns a float rounds, and so does one that is given no number system and names one that rounds.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from audit.checks.evidence import Grounds
from reference.numerics.numbers import INF, MP, Ball, Float64

FLOATS = {"mid", "to_float", "gauss", "uniform", "random"}
"""Attributes that give a rounded number: the midpoint of a ball, draws of a generator."""
ROUNDING = {"numpy", "scipy", "mpmath", "math", "cmath", "statistics", "random", "decimal"}
"""Libraries whose numbers are rounded; of `math` those in `WHOLE` are not."""
BUILTINS = {"float": float, "complex": complex}
"""What rounds without being imported."""
WHOLE = {"isqrt", "comb", "gcd", "lcm", "factorial", "prod", "perm"}
"""What `math` does in whole numbers."""
FOLLOWED = "audit.checks."
"""Functions of which modules are read too, beside those of a function's own."""
TRUSTED = "audit.checks.evidence"
DECIDES = {"Outcome": ("holds", "ratio"), "Counterexample": ("shown",)}
"""The fields of a result that say something; the others show it."""


def impurities(function: Callable[..., Any]) -> list[str]:
    """Where rounding may enter, as "name:line: what", in the order of reading; nothing if nowhere."""
    return list(dict.fromkeys(_of(inspect.unwrap(function), set())))


def grounds(function: Callable[..., Any]) -> Grounds:
    """What a counterexample rests on: exact numbers, balls, or rounded arithmetic."""
    if impurities(function):
        return "computed"
    return "enclosed" if uses(function, Ball) else "exact"


def uses(function: Callable[..., Any], thing: object) -> bool:
    """Whether the function, or one of its module that it uses, names this object."""
    return any(value is thing for _, _, value in _names(inspect.unwrap(function), set()))


def _of(function: Any, seen: set[tuple[str, str, int]]) -> Iterator[str]:
    for owner, node, value in _names(function, seen, everything=True):
        what = _rounds(node, value) or _quotient(node, owner) or _power(node, owner)
        if what:
            yield f"{owner.__name__}:{node.lineno}: {what}"  # type: ignore[attr-defined]


def _rounds(node: ast.AST, value: object) -> str:
    if isinstance(node, ast.Constant):
        return f"the float {node.value}" if isinstance(node.value, float) else ""
    if isinstance(node, ast.Attribute):
        if node.attr in FLOATS:
            return f".{node.attr} rounds"
        return f"math.{node.attr} rounds" if value is sys.modules.get("math") and node.attr not in WHOLE else ""
    if isinstance(value, float | complex):
        exact = value in (INF, -INF)  # infinity rounds nothing
        return "" if exact else f"{getattr(node, 'id', value)} is a float"
    if isinstance(value, FunctionType | type) and value in BUILTINS.values():
        return f"{getattr(node, 'id', value)}(…)"
    if isinstance(value, Float64 | MP) or value in (Float64, MP):
        return f"{getattr(node, 'id', value)} rounds"
    root = (value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")) or ""
    root = root.split(".")[0]
    if root == "math" and (isinstance(value, ModuleType) or getattr(value, "__name__", "") in WHOLE):
        return ""
    if root == "random" and not isinstance(value, ModuleType):
        return ""  # a generator that is made: its draws are found by their names
    return f"{root} rounds" if root in ROUNDING and root != "random" else _by_its_word(value)


def _by_its_word(value: object) -> str:
    """A function of `reference` that gives a float, or works in a number system that rounds without being asked to."""
    if not isinstance(value, FunctionType) or not (value.__module__ or "").startswith("reference."):
        return ""
    said = value.__annotations__
    gives = str(said.get("return", ""))
    if re.search(r"\bfloat\b", gives) and "Fraction" not in gives:  # Fraction | float: a rational, or infinity
        return f"{value.__name__} gives a float"
    given = any("Numbers" in str(what) or "Ball" in str(what) for name, what in said.items() if name != "return")
    named = set() if given else {n.id for n in ast.walk(_tree(value)) if isinstance(n, ast.Name)}
    chosen = {name for name in named if isinstance(value.__globals__.get(name), Float64 | MP) or name in _ROUNDED}
    return f"{value.__name__} works in {', '.join(sorted(chosen))}" if chosen else ""


_ROUNDED = {"Float64", "MP"}


def _quotient(node: ast.AST, owner: FunctionType) -> str:
    """A quotient of two numbers that are whole on the face of it, which Python rounds."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return ""
    whole = _whole_names(_tree(owner))
    return "a quotient of whole numbers" if _is_whole(node.left, whole) and _is_whole(node.right, whole) else ""


def _power(node: ast.AST, owner: FunctionType) -> str:
    """A power that Python rounds: of a rational to one that is not whole, of a whole number to a negative one."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)):
        return ""
    base, power = node.left, node.right
    if isinstance(power, ast.Call) and isinstance(power.func, ast.Name) and power.func.id in ("Fraction", "F"):
        return "a root of a number" if _is_rational(base, _whole_names(_tree(owner))) else ""
    negative = isinstance(power, ast.UnaryOp) and isinstance(power.op, ast.USub)
    return "a negative power" if negative and _is_whole(base, _whole_names(_tree(owner))) else ""


def _is_rational(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression is a whole number or a rational on the face of it."""
    made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Fraction", "F")
    return made or _is_whole(node, names)


def _is_whole(node: ast.AST, names: set[str]) -> bool:
    """Whether an expression is a whole number whatever else happens: constants, counters, `len`, and what they make."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int)
    if isinstance(node, ast.Name):
        return node.id in names
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("len", "int")
    if isinstance(node, ast.UnaryOp):
        return _is_whole(node.operand, names)
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv | ast.Mod)
        and _is_whole(node.left, names)
        and _is_whole(node.right, names)
    )


@cache
def _whole_names(tree: ast.AST) -> set[str]:
    """Names that count over a range, and parameters that are declared whole."""
    loops = [n for n in ast.walk(tree) if isinstance(n, ast.For | ast.comprehension)]
    counters = {
        n.target.id
        for n in loops
        if isinstance(n.target, ast.Name)
        and isinstance(n.iter, ast.Call)
        and isinstance(n.iter.func, ast.Name)
        and n.iter.func.id == "range"
    }
    declared = (n for n in ast.walk(tree) if isinstance(n, ast.arg) and isinstance(n.annotation, ast.Name))
    return counters | {n.arg for n in declared if isinstance(n.annotation, ast.Name) and n.annotation.id == "int"}


Named: TypeAlias = tuple[FunctionType, ast.AST, object]
"""A name where it is read: in which function, and what it stands for."""


def _names(function: Any, seen: set[tuple[str, str, int]], everything: bool = False) -> Iterator[Named]:
    """Names that the function and those it uses read, with what they stand for; constants too if wanted."""
    if not isinstance(function, FunctionType) or _key(function) in seen:
        return
    seen.add(_key(function))
    tree = _tree(function)
    own = _bound(tree)
    for node in _deciding(tree):
        value, inner = None, None
        if isinstance(node, ast.Name) and node.id not in own:
            value = inner = _meaning(function, node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in own:
            value = _meaning(function, node.value.id)
            inner = getattr(value, node.attr, None) if isinstance(value, ModuleType) else None
        if isinstance(node, ast.Name | ast.Attribute) or everything:
            yield function, node, value
        if _is_followed(inner, function):
            yield from _names(inner, seen, everything)


def _key(function: FunctionType) -> tuple[str, str, int]:
    return function.__module__, function.__qualname__, function.__code__.co_firstlineno


def _is_followed(value: object, function: FunctionType) -> bool:
    """Whether a function that another one uses is read with it."""
    module = getattr(value, "__module__", None) or ""
    return module == function.__module__ or (module.startswith(FOLLOWED) and module != TRUSTED)


def _meaning(function: FunctionType, name: str) -> object:
    if name in BUILTINS and name not in function.__globals__:
        return BUILTINS[name]
    free = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    here = _imported(_tree(function))
    return here[name] if name in here else free.get(name, function.__globals__.get(name))


@cache
def _imported(tree: ast.AST) -> dict[str, object]:
    """What a function imports in its own body, by the name that it has there."""
    found: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                module = import_module(one.name)
                found[one.asname or one.name.partition(".")[0]] = (
                    module if one.asname else sys.modules[one.name.partition(".")[0]]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            module = import_module(node.module)
            found |= {one.asname or one.name: getattr(module, one.name, None) for one in node.names}
    return found


@cache
def _bound(tree: ast.AST) -> set[str]:
    """Names that the function binds itself: what they hold was read where it was made."""
    stored = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}


@cache
def _deciding(node: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes of a function that can decide: no decorators, annotations, texts, and no field that only shows."""
    return tuple(_decide(node))


def _decide(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.JoinedStr):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("decorator_list", "annotation", "returns", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and _counts(node, name, child, value):
                yield from _decide(child)


def _counts(parent: ast.AST, field: str, child: ast.AST, siblings: object) -> bool:
    """Whether a child of a node says something, and does not only show it."""
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Name) or parent.func.id not in DECIDES:
        return True
    fields = DECIDES[parent.func.id]
    if field == "args" and isinstance(siblings, list):
        return siblings.index(child) < len(fields)
    return not isinstance(child, ast.keyword) or child.arg in fields


@cache
def _module(name: str) -> dict[str, ast.AST]:
    """The functions of a module by qualified name, those without one by their line."""
    tree = ast.parse(inspect.getsource(sys.modules[name]))
    found: dict[str, ast.AST] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                inner = f"{prefix}{child.name}"
                found[inner] = child
                inner += "." if isinstance(child, ast.ClassDef) else ".<locals>."
            elif isinstance(child, ast.Lambda):
                found[f"<lambda>:{child.lineno}"] = child
            visit(child, inner)

    visit(tree, "")
    return found


def _tree(function: FunctionType) -> ast.AST:
    code, known = function.__code__, _module(function.__module__)
    if code.co_name == "<lambda>":
        return known.get(f"<lambda>:{code.co_firstlineno}", ast.Pass())
    return known.get(code.co_qualname, ast.Pass())
