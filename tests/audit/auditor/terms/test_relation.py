"""What speaks against a pair is a kind that decisions read, and a sentence for people."""

from __future__ import annotations

import pytest

from audit.auditor.terms import relation
from audit.auditor.terms.relation import Objection, objection


def test_an_objection_has_a_kind() -> None:
    equal = objection([1, 2], [1, 2], "replace-one")
    assert equal == Objection("equal", "the two datasets are equal: nothing can differ")
    other = objection([1, 2], [1, 2, 3], "replace-one")
    assert other is not None
    assert other.kind == "not-neighbours"
    assert "under add-remove, not under replace-one" in other.text
    assert objection([1, 2], [1, 3], "replace-one") is None
    assert objection([1, 2], [7, 8, 9, 10], "any") is None


def test_the_wording_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relation, "describe", lambda a, b: ("other", "the equal parts aside, two records differ"))
    found = objection([1, 2], [3, 4], "replace-one")
    assert found is not None
    assert found.kind == "not-neighbours"
