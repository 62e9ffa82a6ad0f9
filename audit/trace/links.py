"""What code, tests and checks say about themselves: marks on functions, pytest markers, registered checks."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import audit
import reference
from reference.paper.algorithms import Edition
from reference.paper.registry import LINKS, Link, LinkKind

ROOT = Path(reference.__file__).parent.parent
"""Where the packages lie: the checkout, or the site-packages of an installed copy."""


def checkout() -> Path | None:
    """The checkout that holds the packages, its tests and its map; None for an installed copy."""
    return ROOT if (ROOT / "pyproject.toml").is_file() and (ROOT / "tests").is_dir() else None


@dataclass(frozen=True)
class CodeLink:
    """A function that implements, claims or refutes something."""

    id: str
    kind: LinkKind
    edition: Edition
    module: str
    name: str
    target: Any = field(compare=False, repr=False)

    @property
    def code(self) -> str:
        """Where it is: `reference.convex.oracle:oracle`."""
        return f"{self.module}:{self.name}"

    @property
    def path(self) -> str:
        """Its file, relative to the checkout."""
        return _path(self.target)

    def lines(self) -> tuple[int, int]:
        """First and last line of the function in its file, decorators included."""
        return _span(self.target)


@cache
def _path(target: Any) -> str:
    source = inspect.getsourcefile(inspect.unwrap(target)) or ""
    return Path(source).resolve().relative_to(ROOT.resolve()).as_posix()


@cache
def _span(target: Any) -> tuple[int, int]:
    """First and last source line; like the path slow to find, and asked for again by many links."""
    text, first = inspect.getsourcelines(target)
    return first, first + len(text) - 1


@dataclass(frozen=True)
class PytestLink:
    """A test that checks a statement, and how."""

    id: str
    kind: str
    path: str
    name: str

    @property
    def node(self) -> str:
        """What pytest calls it: `tests/reference/numerics/test_tape.py::test_x`."""
        return f"{self.path}::{self.name}"


# ------------------------------------------------------------------------------------------------- code


_MARKS = re.compile(r"\b(implements|claims|counterexample)\(")


def marked_modules(package: ModuleType) -> Iterator[ModuleType]:
    """The modules of a package whose source has a mark, in the order of names; only these are imported."""
    root = Path(next(iter(package.__path__)))
    for path in sorted(root.rglob("*.py")):
        if _MARKS.search(path.read_text(encoding="utf-8")):
            parts = [package.__name__, *path.relative_to(root).with_suffix("").parts]
            yield importlib.import_module(".".join(parts).removesuffix(".__init__"))


def code_links() -> list[CodeLink]:
    """Every marked function of `reference` and `audit`, in the order of modules and of definition."""
    return [link for package in (reference, audit) for module in marked_modules(package) for link in links_in(module)]


def links_in(module: ModuleType) -> list[CodeLink]:
    """The marked functions, classes and methods that a module defines itself."""
    found: list[CodeLink] = []
    for value in list(vars(module).values()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        members = list(vars(value).values()) if inspect.isclass(value) else []
        for item in [value, *members]:
            target = item.fget if isinstance(item, property) else getattr(item, "__func__", item)
            found.extend(_links_of(target, module.__name__))
    return list(dict.fromkeys(found))


def _links_of(target: Any, module: str) -> Iterator[CodeLink]:
    links: tuple[Link, ...] = vars(target).get(LINKS, ()) if hasattr(target, "__dict__") else ()
    for link in links:
        yield CodeLink(link.id, link.kind, link.edition, module, target.__qualname__, target)


# ------------------------------------------------------------------------------------------------ tests


def tests_of(root: Path) -> tuple[list[PytestLink], frozenset[str]]:
    """The tests of a checkout, read without importing them.

    First those that carry `@pytest.mark.statement(id, kind=…)`, then the names of all, parameters aside.
    """
    links: list[PytestLink] = []
    nodes: list[str] = []
    for path in sorted(root.glob("tests/**/test_*.py")):
        file = path.relative_to(root).as_posix()
        for name, decorators in _functions(ast.parse(path.read_text(encoding="utf-8"))):
            nodes.append(f"{file}::{name}")
            links.extend(PytestLink(id, kind, file, name) for id, kind in _marks(decorators))
    return links, frozenset(nodes)


def _functions(tree: ast.Module) -> Iterator[tuple[str, list[ast.expr]]]:
    """Test functions with their own and inherited decorators: `pytestmark` of the module, marks of the class."""
    module_marks = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "pytestmark" for t in node.targets)
    ]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node.name, [*module_marks, *node.decorator_list]
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name.startswith("test"):
                    inherited = [*module_marks, *node.decorator_list]
                    yield f"{node.name}::{item.name}", [*inherited, *item.decorator_list]


def _marks(decorators: list[ast.expr]) -> Iterator[tuple[str, str]]:
    """The (id, kind) pairs of `pytest.mark.statement` calls, wherever they stand in the decorators."""
    for decorator in decorators:
        for call in ast.walk(decorator):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("mark.statement"):
                arguments = {k.arg: _text(k.value) for k in call.keywords}
                named = dict(zip(("id", "kind"), map(_text, call.args), strict=False)) | arguments
                yield named.get("id", "?"), named.get("kind", "?")


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)
