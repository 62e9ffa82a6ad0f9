"""Files are replaced in one step, and what replaces them is on the disk before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from audit.runtime import files
from audit.runtime.files import write_atomically


def test_what_replaces_a_file_is_on_the_disk_before_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, done = tmp_path / "report.json", list[object]()
    target.write_text("old")
    sync, replace = os.fsync, Path.replace

    def synced(number: int) -> None:
        done.append(os.fstat(number).st_size)
        sync(number)

    def replaced(self: Path, other: Path) -> Path:
        done.append((self.read_text(), other.read_text()))
        return replace(self, other)

    monkeypatch.setattr(files.os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_atomically(target, "the new text")
    assert done == [12, ("the new text", "old")]
    assert target.read_text() == "the new text"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_a_link_where_the_text_is_prepared_is_not_followed(tmp_path: Path) -> None:
    other, file = tmp_path / "other", tmp_path / "file"
    other.write_text("theirs")
    (tmp_path / "file.tmp").symlink_to(other)
    write_atomically(file, "ours")
    assert (file.read_text(), other.read_text()) == ("ours", "theirs")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "other"]


def test_a_file_is_read_whole_up_to_the_largest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert files.LARGEST == 268_435_456  # 256 MB
    file = tmp_path / "x.json"
    file.write_text("12345", encoding="utf-8")
    monkeypatch.setattr(files, "LARGEST", 5)
    assert files.read_text(file, "--data x") == "12345"
    monkeypatch.setattr(files, "LARGEST", 4)
    with pytest.raises(files.InputError, match="--data x: larger than 0 MB; give a smaller file"):
        files.read_text(file, "--data x")
