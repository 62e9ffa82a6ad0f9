"""Tests of the line of progress in a notebook."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from audit import audit_dp
from audit.runtime.notebook import progress_line


class Shown:
    """What a notebook would show."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def display(self, words: dict[str, str], **_: Any) -> Shown:
        self.texts.append(words["text/plain"])
        return self

    def update(self, words: dict[str, str], **_: Any) -> None:
        self.texts.append(words["text/plain"])


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """A running notebook, as far as IPython tells."""
    shown, ipython, display = Shown(), ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: SimpleNamespace(kernel=object())
    vars(display)["display"] = shown.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def noisy(dataset: Any, size: int, rng: Any) -> Any:
    return dataset[0] + rng.laplace(size=size)


def test_an_audit_shows_one_line_and_wipes_it(notebook: Shown) -> None:
    audit_dp(noisy, [0.0], [1.0], epsilon=1.0, samples=200)
    assert len(notebook.texts) > 1
    assert notebook.texts[-1] == ""


def test_who_asks_for_progress_gets_it_alone(notebook: Shown) -> None:
    said: list[str] = []
    audit_dp(noisy, [0.0], [1.0], epsilon=1.0, samples=200, progress=said.append)
    assert said
    assert notebook.texts == []


def test_elsewhere_there_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert progress_line() is None
    terminal = ModuleType("IPython")
    vars(terminal)["get_ipython"] = lambda: SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert progress_line() is None
