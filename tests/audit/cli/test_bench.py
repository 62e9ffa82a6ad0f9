"""`dpso bench --record` keeps each part as soon as it is measured, beside the parts that were recorded before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import bench.record
from audit.cli.bench import _measured

KEPT = {"old": 1, "a": 1}


def run(say: Any, parts: tuple[str, ...] = ("all",)) -> dict[str, int]:
    return dict.fromkeys(parts, 2)


@pytest.mark.parametrize(
    ("parts_of_it", "asked", "written"),
    [
        (("a", "b"), [], [{"old": 1, "a": 2}, {"old": 1, "a": 2, "b": 2}]),
        (("a", "b"), ["b"], [{"old": 1, "a": 1, "b": 2}]),
        ((), [], [{"all": 2}]),
    ],
)
def test_what_is_recorded(
    parts_of_it: tuple[str, ...], asked: list[str], written: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A benchmark without parts is recorded anew: nothing of its old record stays."""
    records: list[Any] = []
    monkeypatch.setattr(bench.record, "recorded", lambda name: dict(KEPT))
    monkeypatch.setattr(bench.record, "record", lambda name, result, page: records.append(result))
    module: Any = SimpleNamespace(run=run, **({"PARTS": dict.fromkeys(parts_of_it)} if parts_of_it else {}))
    found = _measured("sample", module, asked, record=True)
    assert records == written
    assert found == dict.fromkeys(asked or parts_of_it or ("all",), 2)
    _measured("sample", module, asked, record=False)
    assert records == written
