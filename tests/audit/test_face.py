"""`audit/__init__.py`: every public name is where it says, and nothing else is."""

from __future__ import annotations

from importlib import import_module

import pytest

import audit


def test_every_name_is_what_its_home_has() -> None:
    known = {name: home for home, names in audit._HOMES.items() for name in names}
    for name in audit.__all__:
        found = getattr(audit, name)
        if name == "pairs":
            assert found is import_module("audit.auditor.search.pairs")
        else:
            assert found is getattr(import_module(known[name]), name)
    assert sorted(known) == [name for name in audit.__all__ if name != "pairs"]


def test_other_names_are_refused_and_all_are_listed() -> None:
    with pytest.raises(AttributeError, match="module 'audit' has no attribute 'nothing'"):
        audit.nothing  # noqa: B018
    assert set(audit.__all__) <= set(dir(audit))
    assert dir(audit) == sorted(set(dir(audit)))
