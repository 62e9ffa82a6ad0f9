"""Properties: what is drawn repeats with its seed, a wrong constant is found, and the message says how to keep it."""

from __future__ import annotations

import importlib
import sys

import pytest
from hypothesis import strategies as hs

import dpso
from audit.checks import properties
from audit.checks.properties import KEPT, worst


def test_a_false_property_is_found_and_says_how_to_keep_its_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KEPT, "sum", ())
    found = worst("sum", hs.integers(0, 100), lambda n: n / 50, seed=1)
    assert not found.holds
    assert "to keep: add" in found.note


def test_a_kept_example_is_tried_first_and_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KEPT, "sum", (10**6,))
    found = worst("sum", hs.integers(0, 10), lambda n: n / 50, seed=1)
    assert found.witness == "1000000"


def test_a_seed_repeats_its_examples_and_another_draws_others() -> None:
    one, again, other = (properties.neighbours_move_the_gradient(seed).witness for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_the_strategies_are_public() -> None:
    strategies = importlib.import_module("dpso.strategies")
    assert dpso.__name__ == "dpso"
    assert callable(strategies.gll_neighbours)


def test_without_hypothesis_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("dpso.strategies", "audit.checks.strategies"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(ImportError, match=r"needs hypothesis: pip install 'dpso\[paper\]'"):
        importlib.import_module("dpso.strategies")
