"""The one table of the algorithms: complete, as the inventory says, and the only one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from reference.paper.algorithms import ALGORITHMS, BY_LABEL, EDITIONS, NAMES, Algorithm, PerAlgorithm, named
from reference.paper.inventory import load as inventory

ROOT = Path(__file__).parents[3]
EACH = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=NAMES)


def test_labels_numbers_and_statements_are_the_inventorys() -> None:
    told = inventory()
    assert [(a.label, a.number) for a in ALGORITHMS] == [(a.id, a.number) for a in told.algorithms]
    uses = {s.id: s.uses for s in told.statements}
    assert all(a.label in uses[id] for a in ALGORITHMS for id in a.statements)


@EACH
def test_every_name_means_its_algorithm(algorithm: Algorithm) -> None:
    typed = (algorithm.label, *algorithm.names, f"Algorithm {algorithm.number}", f"ALG {algorithm.number}")
    assert {named(text).label for text in (*typed, *(t.upper().replace("-", "_") for t in typed))} == {algorithm.label}


def test_no_name_means_two_algorithms() -> None:
    names = [name for a in ALGORITHMS for name in a.names]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("text", ["fased-sgd", "7", "", "Algorithm"])
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"algorithm = '{text}' is unknown: give one of Alg:gll_oracle"):
        named(text)


@EACH
def test_every_algorithm_has_code_as_printed_and_as_corrected(algorithm: Algorithm) -> None:
    module = import_module(algorithm.module)
    assert callable(getattr(module, algorithm.function))
    assert callable(getattr(module, f"{algorithm.function}_printed"))


def test_every_edition_and_no_other_has_a_vector_file() -> None:
    files = {path.name for path in (ROOT / "reference" / "vectors").glob("*.json")}
    assert files - {"schema.json", "reply.schema.json"} == {
        f"{a.name}-{edition}.json" for a in ALGORITHMS for edition in a.editions
    }


def test_a_function_is_attached_once_and_to_a_known_label() -> None:
    attached: PerAlgorithm[Callable[[], None]] = PerAlgorithm()
    attached.of("alg:nSFW")(lambda: None)
    attached.of("Alg:phased")(lambda: None)
    assert list(attached) == ["Alg:phased", "alg:nSFW"], "in the paper's order"
    for label in ("Alg:phased", "Alg:other"):
        with pytest.raises(ValueError, match="label = "):
            attached.of(label)


def _literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the text of every literal tuple, list, set, mapping and string that is no docstring."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docs = {id(n.body[0].value) for n in ast.walk(tree) if isinstance(n, documented) and _is_text(n.body[0])}  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Dict):
            yield node.lineno, " ".join(ast.unparse(key) for key in node.keys if key is not None)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.lineno, node.value


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _spelled_out(source: str) -> list[int]:
    """The lines of literals with five of the six labels or names, or with the three editions (and "all") alone."""
    labels, names = (re.compile("|".join(map(re.escape, words))) for words in (BY_LABEL, NAMES))
    found = []
    for line, text in _literals(ast.parse(source)):
        words = set(re.findall(r"'(\w+)'", text))
        if words - {"all"} == set(EDITIONS) or any(len(set(six.findall(text))) >= 5 for six in (labels, names)):
            found.append(line)
    return found


def test_a_second_list_would_be_seen() -> None:
    assert _spelled_out(f"X = {tuple(BY_LABEL)}") == [1]
    assert _spelled_out(f"X = {dict.fromkeys(NAMES)}") == [1]
    assert _spelled_out(f"def f():\n    '''Doc.'''\n    return {', '.join(NAMES)!r}") == [3]
    assert _spelled_out(f"for x in {EDITIONS}: pass") == [1]
    assert _spelled_out("X = ('Alg:phased', 'Alg:nfw')\nY = ('printed', 'corrected')") == []


def test_no_other_module_spells_out_the_algorithms_or_the_editions() -> None:
    home = ROOT / "reference" / "paper" / "algorithms.py"
    folders = ("reference", "audit", "dpso", "bench")
    sources = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")) if path != home]
    assert len(sources) > 100
    again = [f"{path.relative_to(ROOT)}:{line}" for path in sources for line in _spelled_out(path.read_text("utf-8"))]
    assert again == []
