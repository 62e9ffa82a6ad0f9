"""The mark of the code: it follows what decides results."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.runtime import code_mark as module
from audit.runtime.code_mark import code_mark


def test_it_follows_sources_and_what_they_read_not_recorded_results(tmp_path: Path) -> None:
    written_files = ("audit/a.py", "audit/deep/b.toml", "reference/c.json", "audit/deep/results.json", "audit/a.pyc")
    for name in written_files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")

    def mark() -> str:
        code_mark.cache_clear()
        return code_mark(tmp_path)

    before = mark()
    assert before == mark()
    counted = []
    for name in written_files:
        (tmp_path / name).write_text("2")
        counted += [name] if mark() != before else []
        (tmp_path / name).write_text("1")
    assert counted == list(written_files[:3])
    (tmp_path / "audit/a.py").rename(tmp_path / "audit/moved.py")
    assert mark() != before


def test_a_library_that_is_not_installed_has_a_mark_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = code_mark(tmp_path)
    code_mark.cache_clear()
    monkeypatch.setattr(module, "LIBRARIES", (*module.LIBRARIES[:-1], "no-such-library"))
    assert code_mark(tmp_path) != before
    code_mark.cache_clear()
