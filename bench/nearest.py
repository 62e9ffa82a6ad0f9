"""Which tests are near to a place in the product, read off their texts: without running all of them first.

`make mutation` learns from a run under coverage which test runs which line, which takes as long as all tests do and
more. `--near` asks less: which files of tests stand where the module stands, or name it, or name the function that was
changed or one of those in the module that use it. What only a farther test would notice then counts as unnoticed: the
score is a lower one.

A file of tests that drives a whole room by a table, without naming each module, says so in a constant of its own:
`DRIVES = ("reference/",)`. It is near to all that is there: first its tests with the name of the module, at the end
all of them.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MOST = 4
"""Files of tests that are tried, the nearest first."""
MATRIX = "tests/audit/checks/test_matrix.py"
"""Check × mutant: the slowest tests; of them those of the checks that a change concerns."""
RECORDED = "tests/audit/checks/test_recorded.py"
"""The numbers that every check shows: of them those of the same checks, or of all of a module that is data."""
SLOW = ("tests/bench/", "tests/docs/", "tests/examples/", "tests/audit/checks/test_job.py", "tests/test_")
"""Tests that drive the whole product: only what has them for its own is tried with them."""
OWN, FOLDER, MODULE, OWNER, USER = 100, 12, 20, 30, 10
"""What a file gains by its name, by its folder, by naming the module, the owner of the slip, or one that uses it."""
FIRST_SECONDS = 30
"""Of the processor, for the nearest file of tests, and for all that drive a whole room."""
ENOUGH = 10
"""What a file of tests needs to be tried."""


@dataclass(frozen=True)
class Near:
    """Files of tests, and which of the tests in them (`-k` of pytest; all, if it is empty)."""

    files: tuple[str, ...]
    keyword: str = ""
    seconds: int = 12
    """Of the processor, for all of them."""


def near(tree: Path, path: str, owner: str) -> list[Near]:
    """What to run for a change in `owner` in the module at `path`: the nearest file, and then the others."""
    names = [part for part in owner.split(".") if part]
    users = using(tree / path, names[0]) if names else set()
    found = sorted(
        ((_gain(tree, test, path, names, users), test) for test in _tests(tree)), key=lambda pair: (-pair[0], pair[1])
    )
    files = [test for gain, test in found if gain >= ENOUGH][:MOST]
    stages = [Near((files[0],), seconds=FIRST_SECONDS), Near(tuple(files[1:]))] if files else []
    if drivers := tuple(test for test in _tests(tree) if path.startswith(_drives(tree, test))):
        module = ".".join(Path(path).with_suffix("").parts)
        farther = tuple(test for test in drivers if test not in files)
        stages = [Near(drivers, module), *stages, Near(farther, seconds=FIRST_SECONDS)]
    if path.startswith("audit/checks/"):
        checks = " or ".join(sorted({f".{name}" for name in {names[0], *users}})) if names else f"{Path(path).stem}."
        both = Near((RECORDED,), checks, FIRST_SECONDS), *([Near((MATRIX,), checks)] if names else [])
        stages = [*both, *stages]
    return [stage for stage in stages if stage.files]


def _gain(tree: Path, test: str, path: str, names: list[str], users: set[str]) -> float:
    """How near a file of tests is to a place."""
    words, module = _words(tree, test), Path(path)
    home, folder = Path("tests", *module.parent.parts), Path(test).parent
    own = Path(test).name == f"test_{module.name.lstrip('_')}"
    if not own and test.startswith(SLOW):
        return 0.0
    gain = OWN * own + FOLDER * (folder == home) + MODULE * (module.stem in words and module.parent.name in words)
    gain += OWNER * (bool(names) and names[-1] in words and not names[-1].startswith("__"))
    gain += OWNER * (len(names) > 1 and names[0] in words) + USER * bool(users & words)
    return gain + (folder == home) / 2


@cache
def _tests(tree: Path) -> tuple[str, ...]:
    files = sorted(path.relative_to(tree).as_posix() for path in (tree / "tests").rglob("test_*.py"))
    return tuple(file for file in files if file not in (MATRIX, RECORDED))


@cache
def _drives(tree: Path, test: str) -> tuple[str, ...]:
    """The folders of the product that a file of tests says it runs through."""
    for node in ast.parse((tree / test).read_bytes()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DRIVES":
            return tuple(ast.literal_eval(node.value))
    return ()


@cache
def _words(tree: Path, test: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", (tree / test).read_text(encoding="utf-8")))


def using(file: Path, name: str) -> set[str]:
    """The functions and classes of a module that use one of them, directly or by others."""
    parts = {
        node.name: {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        for node in ast.parse(file.read_bytes()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    found = {name}
    while more := {part for part, used in parts.items() if used & found} - found:
        found |= more
    return found - {name}
