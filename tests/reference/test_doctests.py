"""The examples in docstrings of the reference and of the accountants do what they show."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

from reference.paper.algorithms import ALGORITHMS

SHOWN = {
    **{algorithm.module: algorithm.function for algorithm in ALGORITHMS},
    "reference.paper.algorithms": "named",
    "reference.numerics.exact_samplers": "DiscreteTape",
    "audit.accounting.accountants": "account",
}
"""Modules with examples, and a public name in each that a user calls."""


@pytest.mark.parametrize("name", SHOWN)
def test_examples_do_what_they_show(name: str) -> None:
    found = doctest.testmod(import_module(name), optionflags=doctest.FAIL_FAST)
    assert found.attempted > 0, f"{name} has no example"
    assert found.failed == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda a: a.name)
def test_every_algorithm_documents_parameters_result_and_an_example(algorithm: object) -> None:
    function = getattr(import_module(algorithm.module), algorithm.function)  # type: ignore[attr-defined]
    text = function.__doc__
    for name in function.__annotations__:
        assert name == "return" or f"\n        {name}: " in text, name
    assert "Returns:" in text
    assert ">>> " in text
