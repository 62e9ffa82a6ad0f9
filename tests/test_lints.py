"""The project's own rules, as tests: a rule is a function from a source to its faults, with mutants it must catch."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from audit.trace.links import code_links
from reference.paper.editions import edition, subsets
from reference.paper.inventory import load

ROOT = Path(__file__).parents[1]
TEXT = (".py", ".md", ".toml", ".txt", ".json", ".html", ".cff", ".yml")
ROOMS = ("dpso", "reference", "audit", "bench", "tests", "docs", "examples")

Fault = str


def python_files(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


def text_files() -> list[Path]:
    """What a reader of the project reads: the rooms and the top level."""
    inside = [path for room in ROOMS for path in (ROOT / room).rglob("*")]
    return sorted(path for path in [*inside, *ROOT.iterdir()] if path.suffix in TEXT and path.is_file())


def faults_in(files: Iterable[Path], lint: object) -> list[str]:
    assert callable(lint)
    return [f"{path.relative_to(ROOT)}:{fault}" for path in files for fault in lint(path.read_text(encoding="utf-8"))]


# ---------------------------------------------------------------------------- what may not enter reference/

ALLOWED = {*sys.stdlib_module_names, "mpmath", "flint", "reference"}


def foreign_imports(source: str) -> Iterator[Fault]:
    """Imports of anything but the standard library, mpmath, python-flint and `reference` itself.

    Who may import whom inside the project is import-linter's to say (tests/test_architecture.py); a list of all that is
    allowed from outside is not among its contracts.
    """
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "."] if not node.level else []
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("__import__", "importlib.import_module"):
            names = [ast.literal_eval(a) for a in node.args[:1] if isinstance(a, ast.Constant)]
        yield from (f"{node.lineno} imports {n}" for n in names if n.partition(".")[0] not in ALLOWED)  # type: ignore[attr-defined]


def float_literals(source: str) -> Iterator[Fault]:
    """Float and complex literals, unless the line says `# lint: exact` (an exact zero, say)."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        is_float = isinstance(node, ast.Constant) and isinstance(node.value, float | complex)
        if is_float and "# lint: exact" not in lines[node.lineno - 1]:
            yield f"{node.lineno} has the float literal {node.value!r}"


def hidden_state(source: str) -> Iterator[Fault]:
    """`global` statements, and generators of random numbers outside the tape."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Global):
            yield f"{node.lineno} declares {', '.join(node.names)} global"
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (f"{node.lineno} imports {n}" for n in names if n in ("random", "secrets"))  # type: ignore[attr-defined]


def swallowed_errors(source: str) -> Iterator[Fault]:
    """Handlers that catch everything, or whose whole body is `pass`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            if node.type is None:
                yield f"{node.lineno} catches everything"
            if all(isinstance(statement, ast.Pass) for statement in node.body):
                yield f"{node.lineno} swallows {ast.unparse(node.type) if node.type else 'everything'}"


def asserting_claims(source: str) -> Iterator[Fault]:
    """Claims that assert: a claim returns the bound, and callers compare."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and any("claims(" in ast.unparse(d) for d in node.decorator_list):
            asserts = [inner for inner in ast.walk(node) if isinstance(inner, ast.Assert)]
            yield from (f"{inner.lineno} asserts in the claim {node.name}" for inner in asserts)


def test_reference_imports_nothing_foreign() -> None:
    assert faults_in(python_files("reference"), foreign_imports) == []


def test_reference_has_no_float_literals() -> None:
    assert faults_in(python_files("reference"), float_literals) == []


def test_reference_has_no_hidden_state() -> None:
    files = [path for path in python_files("reference") if path.name != "tape.py"]
    assert faults_in(files, hidden_state) == []


def test_nothing_is_swallowed() -> None:
    files = [path for room in ("reference", "audit", "tests") for path in python_files(room)]
    assert faults_in(files, swallowed_errors) == []


def test_claims_return_and_do_not_assert() -> None:
    assert faults_in(python_files("reference"), asserting_claims) == []


@pytest.mark.parametrize(
    ("lint", "bad", "good"),
    [
        (foreign_imports, "import numpy as np", "import math"),
        (foreign_imports, "from audit.cli.main import main", "from reference.numerics.numbers import MP"),
        (foreign_imports, "def f():\n    import scipy.stats", "from . import x"),
        (foreign_imports, "__import__('numpy')", "import mpmath, flint"),
        (float_literals, "x = 0.1", "x = 1 / 10"),
        (float_literals, "x = f(1e-3)", "x = '1e-3'"),
        (float_literals, "x = 0.0", "x = 0.0  # lint: exact zero"),
        (float_literals, "x = 1j", "x = 1"),
        (hidden_state, "import random", "import reference.numerics.tape"),
        (hidden_state, "from secrets import token_bytes", "from reference.numerics.tape import SystemTape"),
        (hidden_state, "def f():\n    global n\n    n = 1", "def f():\n    n = 1"),
        (swallowed_errors, "try:\n    f()\nexcept ValueError:\n    pass", "try:\n    f()\nexcept ValueError:\n    g()"),
        (swallowed_errors, "try:\n    f()\nexcept:\n    g()", "try:\n    f()\nfinally:\n    g()"),
        (asserting_claims, "@claims('x')\ndef f(K):\n    assert K\n    return 1", "def f(K):\n    assert K"),
    ],
)
def test_the_lints_catch_their_mutants(lint: object, bad: str, good: str) -> None:
    assert callable(lint)
    assert list(lint(bad)), bad
    assert not list(lint(good)), good


# --------------------------------------------------------------------- printed, corrected, counterexamples
# Line marks, untagged differences, unknown tags, errata without counterexamples and line verdicts without
# checks are found by `Trace.problems`, which tests/audit/trace/test_trace.py holds against the project and mutants.


def bodies() -> list[tuple[object, object]]:
    """Printed and corrected bodies of the algorithms that have both."""
    algorithms = {algorithm.id for algorithm in load().algorithms}
    found: dict[str, dict[str, object]] = {}
    for link in code_links():
        if link.kind == "implements" and link.id in algorithms and link.module.startswith("reference."):
            found.setdefault(link.id, {})[link.edition] = link.target
    return [(pair["printed"], pair["corrected"]) for pair in found.values() if {"printed", "corrected"} <= set(pair)]


def test_every_choice_of_errata_of_every_algorithm_is_a_program() -> None:
    for printed, corrected in bodies():
        assert callable(printed)
        assert callable(corrected)
        for chosen in subsets(printed, corrected):
            assert inspect.signature(edition(printed, corrected, chosen)) == inspect.signature(corrected)


def test_counterexamples_take_no_arguments() -> None:
    for link in code_links():
        if link.kind == "counterexample":
            required = [p for p in inspect.signature(link.target).parameters.values() if p.default is p.empty]
            assert not required, link.code


# ------------------------------------------------------------------------------------- the paper stays out

RUN = 14


def words(text: str) -> list[str]:
    """Lower-case words of two letters and more, formulas and commands aside."""
    return re.findall(r"[a-z]{2,}", re.sub(r"\\[a-zA-Z]+|\$[^$]*\$", " ", text).lower())


def runs(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + RUN]) for i in range(len(found) - RUN + 1)}


def shared_runs(text: str, paper: set[tuple[str, ...]]) -> list[str]:
    return [" ".join(run) for run in sorted(runs(text) & paper)]


def test_no_sentence_of_the_paper_is_in_the_project(paper_tex: Path) -> None:
    paper = runs(paper_tex.read_text(encoding="utf-8"))
    found = {
        str(path.relative_to(ROOT)): shared[0]
        for path in text_files()
        if (shared := shared_runs(path.read_text(encoding="utf-8", errors="ignore"), paper))
    }
    assert found == {}


def test_a_copied_sentence_would_be_seen(paper_tex: Path) -> None:
    text = paper_tex.read_text(encoding="utf-8")
    sentence = " ".join(words(text)[1000 : 1000 + RUN])
    assert shared_runs(f"# As they say, {sentence}.", runs(text)) == [sentence]
    assert shared_runs(" ".join(sentence.split()[1:]), runs(text)) == []


# ------------------------------------------------------------------------------------- tests mirror the tree


def strangers(tests: Iterable[str], tree: Iterable[str]) -> list[str]:
    """Test files that stand in no folder of the product: a test lives in the folder of what it tests."""
    folders = {Path(path).parent for path in tree if path.endswith(".py")}
    return [test for test in tests if Path(test).parent.relative_to("tests") not in folders]


def test_tests_mirror_the_tree() -> None:
    rooms = ("reference", "audit", "bench", "docs", "examples")
    tree = [str(path.relative_to(ROOT)) for room in rooms for path in (ROOT / room).rglob("*")]
    tests = [str(p.relative_to(ROOT)) for room in rooms for p in (ROOT / "tests" / room).rglob("test_*.py")]
    assert strangers(tests, tree) == []


def test_a_test_of_nothing_would_be_seen() -> None:
    tree = ["audit/trace/links.py", "bench/fuzz.py", "docs/tour.md"]
    good, bad = (
        ["tests/bench/test_fuzz.py", "tests/audit/trace/test_more.py"],
        ["tests/docs/test_x.py", "tests/audit/test_y.py"],
    )
    assert strangers([*good, *bad], tree) == bad


# ------------------------------------------------------------------------------------- the project by itself

FOREIGN = re.compile(r"(?<![\w.])/(?:work|root|home)/|\bTODO\b|\bFIXME\b|\bXXX\b")


def foreign_words(text: str) -> Iterator[Fault]:
    """Paths of one machine, and notes to self."""
    for number, line in enumerate(text.splitlines(), start=1):
        if match := FOREIGN.search(line):
            yield f"{number} has {match[0]!r}"


def test_the_project_speaks_of_itself_alone() -> None:
    assert faults_in([path for path in text_files() if path != Path(__file__)], foreign_words) == []


def test_paths_and_leftovers_would_be_seen() -> None:
    assert list(foreign_words("see /work/main and a TODO\nfine: reference/work/x")) == ["1 has '/work/'"]
    assert list(foreign_words("# TODO later")) == ["1 has 'TODO'"]
