"""Which tests are near to a place: by the name of their file, by what they name, by who uses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import nearest
from bench.nearest import MATRIX, MOST, RECORDED, near, using

ROOT = Path(nearest.__file__).parents[1]


@pytest.mark.parametrize(
    ("path", "owner", "first"),
    [
        ("reference/convex/oracle.py", "oracle", "tests/reference/convex/test_oracle.py"),
        ("audit/runtime/store.py", "Store._verify", "tests/audit/runtime/test_store.py"),
        ("audit/auditor/test/plan.py", "", "tests/audit/auditor/test/test_plan.py"),
    ],
)
def test_the_file_of_the_same_name_comes_first(path: str, owner: str, first: str) -> None:
    stages = [stage for stage in near(ROOT, path, owner) if not stage.keyword]
    assert stages[0].files == (first,)


def test_a_module_without_tests_of_its_own_has_those_that_name_it(tmp_path: Path) -> None:
    for name, text in {"test_far": "x = 1", "test_user": "used_by()", "test_owner": "from room import thing"}.items():
        (tmp_path / "tests" / "elsewhere").mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / "elsewhere" / f"{name}.py").write_text(text)
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "module.py").write_text("def thing(): ...\ndef used_by(): thing()\n")
    stages = near(tmp_path, "room/module.py", "thing")
    assert [stage.files for stage in stages] == [("tests/elsewhere/test_owner.py",), ("tests/elsewhere/test_user.py",)]


def test_a_check_is_tried_with_its_record_and_its_mutants_and_so_is_what_it_uses() -> None:
    (first, second, *rest) = near(ROOT, "audit/checks/section5.py", "excess_ratio")
    assert (first.files, second.files) == ((RECORDED,), (MATRIX,))
    assert ".calls_keep_their_bound" in first.keyword.split(" or ")
    assert first.keyword == second.keyword
    assert all(not {MATRIX, RECORDED} & set(stage.files) for stage in rest)
    assert sum(len(stage.files) for stage in rest) <= MOST


def test_a_grid_of_points_is_tried_with_the_record_of_all_checks_of_its_module() -> None:
    (first, *rest) = near(ROOT, "audit/checks/section2.py", "")
    assert (first.files, first.keyword) == ((RECORDED,), "section2.")
    assert all(not {MATRIX, RECORDED} & set(stage.files) for stage in rest)


def test_what_drives_a_whole_room_comes_first_with_the_module_and_last_with_all(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_table.py").write_text('DRIVES = ("room/",)\n')
    (tmp_path / "tests" / "test_module.py").write_text("x = 1")
    for room in ("room", "other"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "module.py").write_text("def thing(): ...\n")
    table, own = ("tests/test_table.py",), ("tests/test_module.py",)
    found = [(stage.files, stage.keyword) for stage in near(tmp_path, "room/module.py", "thing")]
    assert found == [(table, "room.module"), (own, ""), (table, "")]
    assert [stage.files for stage in near(tmp_path, "other/module.py", "thing")] == [own]


def test_what_drives_a_room_and_is_near_by_name_too_runs_as_a_whole_once(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "room").mkdir()
    (tmp_path / "tests" / "test_module.py").write_text('DRIVES = ("room/",)\n')
    (tmp_path / "room" / "module.py").write_text("def thing(): ...\n")
    own = ("tests/test_module.py",)
    found = [(stage.files, stage.keyword) for stage in near(tmp_path, "room/module.py", "thing")]
    assert found == [(own, "room.module"), (own, "")]


def test_who_uses_a_function(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text("def a(): ...\ndef b(): a()\nclass C:\n    def d(self): b()\ndef e(): ...\n")
    assert using(file, "a") == {"b", "C"}
    assert using(file, "e") == set()
