"""`dpso audit --resolution` measures what a check would notice, records it, and says it; without it nothing of that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.checks import resolution
from audit.cli import audit as command
from audit.cli.main import main

ONE = "section3.moreau_lemma"


def test_the_resolution_is_measured_if_asked_for_and_added_to_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[dict[str, Any]] = []
    asked: list[tuple[list[str], int]] = []

    def measure(checks: Any, seed: int, say: Any) -> dict[str, dict[str, str]]:
        asked.append(([check.name for check in checks], seed))
        return {ONE: resolution.read_record()[ONE]}

    monkeypatch.setattr(resolution, "measure", measure)
    monkeypatch.setattr(resolution, "write_record", lambda found, seed: written.append(dict(found)))
    words = ["audit", "--only", ONE, "--seed", "3", "--workers", "1", "--out", str(tmp_path)]
    assert main([*words, "--resolution"]) == 0
    assert capsys.readouterr().out == f"{ONE}: {resolution.words(ONE)}\n"
    assert asked == [([ONE], 3)]
    assert written == [resolution.read_record()]
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(command, "_run_in", lambda *arguments: 17)
    assert main(words) == 17
    assert len(asked) == 1
