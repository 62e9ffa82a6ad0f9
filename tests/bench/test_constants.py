"""The benchmark of the auditor's constants: it moves what it says, puts it back, and its table is short of nothing."""

from __future__ import annotations

import importlib

import pytest

from bench import constants


@pytest.mark.parametrize("name", constants.CONSTANTS)
def test_every_constant_exists_and_is_multiplied_and_put_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home, _, constant = name.rpartition(".")
    module = importlib.import_module(f"audit.auditor.{home}")
    before = getattr(module, constant)
    seen = []
    monkeypatch.setattr(constants, "_certified", lambda *_: seen.append(getattr(module, constant)) or 1.0)
    entry = constants.entries()[0]
    constants._shares([(entry, 1.0)], 100, name, 2)
    assert getattr(module, constant) is before
    assert all((value == 2 * before).all() if hasattr(value, "all") else value == 2 * before for value in seen)


def test_a_small_run_gives_a_row_a_constant() -> None:
    result = constants.run(lambda _: None, constants=["test.plan.SAFETY"], samples=500, every=12)
    assert result["mechanisms"] >= 2
    assert 0 < result["share"] < 1.2
    (row,) = result["rows"]
    assert row["name"] == "test.plan.SAFETY"
    assert row["halved"][1] <= row["halved"][0] <= row["halved"][2]
    assert "| `test.plan.SAFETY` |" in constants.render(result)
