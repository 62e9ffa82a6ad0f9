"""Mutation testing itself: which slips it makes, how it samples, and that it tells tested lines from untested ones."""

from __future__ import annotations

import ast
import shutil
from collections import Counter
from pathlib import Path

import pytest

from bench import mutation, nearest
from bench.mutation import (
    CORE_ROOM,
    Mutant,
    Nearest,
    attempt,
    draw,
    equivalents,
    false_alarms,
    mutants_of,
    outdated,
    room_of,
    score,
    shares,
    statement_lines,
)
from bench.slips import Slip, slips

ROOT = Path(mutation.__file__).parents[1]

SOURCE = '''"""Text."""
from typing import TypeAlias

Real: TypeAlias = int | float
LIMIT = 3
"""Says what it is."""


def clipped(x: int | None, *, sure: bool = True) -> int:
    """Text."""
    assert x is not None
    if x > LIMIT and sure:
        raise ValueError(f"x = {x + 1}")
    total = 0
    total += x * 2  # L5 [E1]
    return total if not isinstance(x, int | float) else -total
'''


def changes(source: str) -> set[tuple[str, str]]:
    return {(slip.before, slip.after) for slip in slips(source.encode())}


def test_every_kind_of_slip_is_made_and_texts_and_types_are_left_alone() -> None:
    assert changes(SOURCE) == {
        ("3", "4"),
        ("True", "False"),
        ("x > LIMIT and sure", "(not (x > LIMIT and sure))"),
        (">", ">="),
        ("and", "or"),
        ('raise ValueError(f"x = {x + 1}")', "pass"),
        ("0", "1"),
        ("+=", "-="),
        ("total += x * 2", "pass"),
        ("*", "/"),
        ("2", "3"),
        ("return total if not isinstance(x, int | float) else -total", "pass"),
        ("not isinstance(x, int | float)", "(not (not isinstance(x, int | float)))"),
    }


def test_a_slip_changes_one_place_and_leaves_comments_and_lines() -> None:
    source = SOURCE.encode()
    for slip in slips(source):
        changed = slip.applied(source)
        assert changed != source
        ast.parse(changed)
        assert changed.decode().count("\n") == SOURCE.count("\n")
        assert b"# L5 [E1]" in changed
        assert slip.owner == ("clipped" if slip.line > 6 else "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a < b <= c", {("<", "<="), ("<=", "<")}),
        ("a // b", {("//", "*")}),
        ("a ** b", {("**", "*")}),
        ("a in b or a is not c", {("in", "not in"), ("or", "and"), ("is not", "is")}),
        ("a == 0.5", {("==", "!="), ("0.5", "1.0")}),
        ("[a for a in b if c]", {("c", "(not (c))")}),
        ("zip(a, b, strict=True)", set()),
        ("'ä' + a", {("+", "-")}),
    ],
)
def test_slips_of_an_expression(before: str, after: set[tuple[str, str]]) -> None:
    assert changes(f"x = {before}\n") == after


def test_a_name_that_is_defined_once_keeps_its_definition() -> None:
    found = changes("def f(a):\n    b = a\n    b = b\n    self.c = b\n    return b\n")
    assert {before for before, after in found if after == "pass"} == {"b = b", "self.c = b", "return b"}


def test_every_slip_of_the_product_is_python() -> None:
    path = ROOT / "audit" / "auditor" / "test" / "confidence.py"
    source = path.read_bytes()
    found = slips(source)
    assert len(found) > 100
    for slip in found:
        ast.parse(slip.applied(source))


# -------------------------------------------------------------------------------------------------- sampling


def test_rooms_are_the_folders_and_the_core_is_one_of_its_own() -> None:
    assert room_of("reference/convex/oracle.py") == "reference/convex"
    assert room_of("audit/auditor/lints/rules.py") == "audit/auditor/lints"
    assert room_of("audit/auditor/api.py") == "audit/auditor"
    assert room_of("audit/auditor/test/plan.py") == CORE_ROOM
    assert room_of("dpso/_own.py") == "dpso"
    assert all((ROOT / path).exists() for path in mutation.CORE)


def test_each_room_gives_a_few_and_the_rest_in_proportion() -> None:
    parts = shares({CORE_ROOM: 600, "a": 4000, "b": 1000, "c": 3}, 200)
    assert parts == {CORE_ROOM: 60, "a": 8 + round(116 * 4000 / 5003), "b": 8 + round(116 * 1000 / 5003), "c": 3}


def test_a_seed_is_a_sample() -> None:
    by_room = mutants_of(ROOT)
    first, again, other = (draw(by_room, 300, seed) for seed in (1, 1, 2))
    assert [m.id for m in first] == [m.id for m in again] != [m.id for m in other]
    assert len({m.id for m in first}) == len(first) >= 290
    rooms = Counter(m.room for m in first)
    assert rooms[CORE_ROOM] == mutation.CORE_COUNT
    assert min(rooms.values()) >= mutation.LEAST
    assert {m.slip.kind for m in first} == {"operator", "comparison", "branch", "constant", "deleted"}


def test_the_lines_of_a_statement() -> None:
    source = b"x = (\n    1 +\n    2\n)\nif (x and\n    y):\n    z = 1\n    w = 2\n"
    assert [list(statement_lines(source, line)) for line in (2, 6, 7)] == [[1, 2, 3, 4], [5, 6], [7]]


def test_an_interval_holds_the_share_and_a_room_counts_by_its_size() -> None:
    row = {"slips": 100, "sampled": 50, "killed": 40, "equivalent": 2}
    share, low, high = score([row])
    assert share == 40 / 48
    assert (low, high) == pytest.approx((0.7015, 0.9158), abs=1e-4)  # Agresti and Coull at 40 of 48
    both = score([row, {"slips": 300, "sampled": 48, "hung": 12, "survived": 36}])
    assert both[0] == pytest.approx(0.25 * 40 / 48 + 0.75 * 12 / 48)
    assert low > both[2] > both[0] > both[1] > 0.2


# ------------------------------------------------------------------------------------------------ end to end

LOOSE = "def loose(x):\n    return x + 0\n\n\ndef never(x):\n    return x * 2\n"
TESTS = """
from reference.toy import strict, loose
from reference import toy
import subprocess, sys

def test_strict():
    assert [strict(x) for x in (1, 2, 3)] == [False, True, True]

def test_loose():
    assert loose(1)

def test_in_a_child():
    program = "from reference.toy import child; print(child(20))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "5.0\\n"
"""


def test_a_tested_line_kills_and_an_untested_one_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tmp_path / "tree"
    for folder in ("reference", "audit", "dpso", "tests"):
        (tree / folder).mkdir(parents=True)
        (tree / folder / "__init__.py").touch()
    (tree / "dpso" / "pytest_plugin.py").touch()  # pytest looks for it
    (tree / "bench").mkdir()
    shutil.copy(ROOT / "bench" / "traced.py", tree / "bench")
    toy = "def strict(x):\n    return x > 1\n\n\ndef child(x):\n    return x / 4\n\n\n"
    (tree / "reference" / "toy.py").write_text(toy + LOOSE)
    (tree / "tests" / "test_toy.py").write_text(TESTS)
    monkeypatch.setattr(mutation, "ROOT", tree)
    monkeypatch.setattr(mutation, "WORK", tmp_path / "work")
    monkeypatch.setenv("PYTHONPATH", str(tree))
    said: list[str] = []
    result = mutation.run(said.append, count=100, seed=4, workers=1)
    survivors = {(s["owner"], s["before"], s["fate"]) for s in result["survivors"]}
    assert ("loose", "+", "survived") in survivors
    assert ("never", "*", "unreached") in survivors
    assert not {owner for owner, _, _ in survivors} & {"strict", "child"}
    assert (tmp_path / "work" / "tree-0" / "reference" / "toy.py").read_text() == toy + LOOSE
    assert result["rooms"]["reference"]["sampled"] == len(said) - 2
    said.clear()
    assert mutation.run(said.append, count=100, seed=4, workers=1) == result
    assert said == [f"{result['sampled']} slips, seed 4"]  # all was known
    assert "| **all** |" in mutation.render(result)


COUNTING = "def down(n):\n    while n > 0:\n        n -= 1\n    return n\n"
OF_COUNTING = """
from reference.counting import down

def test_down():
    assert down(3) == 0

def test_that_fails_anyway():
    assert down(0) == 1
"""


def test_what_does_not_end_has_been_noticed_and_what_fails_anyway_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("reference", "tests", "bench"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    shutil.copy(ROOT / "bench" / "traced.py", tmp_path / "bench")
    module = tmp_path / "reference" / "counting.py"
    module.write_text(COUNTING)
    (tmp_path / "tests" / "test_counting.py").write_text(OF_COUNTING)
    monkeypatch.setattr(nearest, "FIRST_SECONDS", 8)
    noise = "tests/test_counting.py::test_that_fails_anyway"
    guide = Nearest(tmp_path)
    (changed,) = (s for s in slips(module.read_bytes()) if s.after == "(not (n > 0))")
    fates = {"not": attempt(tmp_path, Mutant("reference/counting.py", changed), guide)}
    assert fates == {"not": ("killed", "tests/test_counting.py::test_down")}
    fates["other"] = ("killed", noise)
    assert false_alarms(tmp_path, fates, guide) == {noise}
    (endless,) = (s for s in slips(module.read_bytes()) if s.after == "+=")
    assert attempt(tmp_path, Mutant("reference/counting.py", endless), guide.without({noise})) == ("hung", "")
    assert module.read_text() == COUNTING


def test_a_trace_is_kept_where_nothing_changed() -> None:
    files = {"reference/a.py": "1", "reference/b.py": "1", "tests/test_a.py": "1", "tests/test_b.py": "1"}
    lines = {"reference/a.py": {"1": ["tests/test_a.py::one"]}, "reference/b.py": {"1": ["tests/test_b.py::one"]}}
    data = {"files": files, "lines": lines}
    assert outdated(data, files) == []
    assert outdated(data, files | {"README.md": "2"}) == []
    assert outdated(data, files | {"tests/test_b.py": "2"}) == ["tests/test_b.py"]
    assert outdated(data, files | {"tests/test_c.py": "1"}) == ["tests/test_c.py"]
    assert outdated(data, files | {"reference/a.py": "2"}) == ["tests/test_a.py"]
    assert outdated(data, files | {"tests/conftest.py": "1"}) is None


# -------------------------------------------------------------------------------------------- what is recorded


def test_every_slip_that_changes_nothing_is_one_of_the_code_and_has_a_reason() -> None:
    known: dict[str, list[Slip]] = {}
    for (path, owner, line, after), reason in equivalents().items():
        source = (ROOT / path).read_bytes()
        lines = source.decode().splitlines()
        found = known.setdefault(path, slips(source))
        assert any((s.owner, lines[s.line - 1].strip(), s.after) == (owner, line, after) for s in found), (path, line)
        assert len(reason) > 20
