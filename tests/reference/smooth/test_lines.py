"""Every line of Section 4 has a verdict, and every check that a verdict names exists."""

import ast
from pathlib import Path

from reference.inventory import load

ROOT = Path(__file__).parents[3]
LINES = [line for line in load().lines if Path(line.file).name == "section4.toml"]


def test_every_tex_line_is_covered():
    covered = {n for line in LINES for n in range(line.tex[0], line.tex[1] + 1)}
    assert set(range(669, 1090)) <= covered


def test_every_algorithm_line_has_a_verdict():
    inventory = load()
    own = {line.id for line in LINES}
    for algorithm in inventory.algorithms:
        if algorithm.id in ("alg:polySFW", "alg:nSFW"):
            assert {f"{algorithm.id}:{i}" for i in range(1, len(algorithm.lines) + 1)} <= own


def test_statements_and_equations_have_a_verdict():
    inventory = load()
    heads = {line.id.partition("/")[0] for line in LINES}
    for entry in (*inventory.statements, *inventory.equations):
        if entry.section.startswith("4"):
            assert entry.id in heads


def test_checks_exist():
    inventory = load()
    functions = {}
    for line in LINES:
        for name in line.check:
            if name.startswith("E"):
                assert inventory.erratum(name) is not None, (line.id, name)
                continue
            path, _, test = name.partition("::")
            if path not in functions:
                tree = ast.parse((ROOT / path).read_text())
                functions[path] = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
            assert test in functions[path], (line.id, name)


def test_refuted_lines_name_their_erratum():
    for line in LINES:
        if line.verdict in ("refuted", "typo"):
            assert any(name.startswith("E") for name in line.check), line.id
