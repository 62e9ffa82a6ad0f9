"""What a wheel says of where the project lives: nothing, or the address that it was built for."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def hook() -> Any:
    pytest.importorskip("hatchling", reason="hatchling is not installed: it is what builds a wheel")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_are_absolute_where_there_is_an_address(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSO_URL", "scheme://forge/dpso/")
    metadata: dict[str, Any] = {}
    hook.PublishedMetadata(str(ROOT), {}).update(metadata)
    text = metadata["readme"]["text"]
    assert "](scheme://forge/dpso/raw/main/docs/figures/power.svg)" in text
    assert all(target.startswith("scheme://") for target in re.findall(r"\]\(([^)\s]+)\)", text))
    assert metadata["urls"]["Source"] == "scheme://forge/dpso"


def test_without_an_address_there_are_no_dead_links(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPSO_URL", raising=False)
    metadata: dict[str, Any] = {}
    hook.PublishedMetadata(str(ROOT), {}).update(metadata)
    assert metadata["urls"] == {}
    assert re.findall(r"\]\(([^)\s]+)\)", metadata["readme"]["text"]) == []
    assert "your first audit" in metadata["readme"]["text"]
