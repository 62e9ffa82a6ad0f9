"""Marks on functions: they add up, they change nothing else, and they are found where they are."""

from __future__ import annotations

import sys
import types

import pytest

from audit.trace.links import code_links, links_in
from reference.paper.registry import LINKS, Counterexample, Link, at_least, claims, counterexample, implements


@implements("Alg:phased", "printed")
@claims("thm:l2_glm")
def marked(x: int) -> int:
    return x + 1


class Holder:
    @implements("def:glm")
    def method(self) -> int:
        return 1

    @staticmethod
    @claims("lem:oracle", "tight")
    def static() -> int:
        return 2

    @property
    @claims("lem:moreau")
    def value(self) -> int:
        return 3


@counterexample("E3.1")
def shows() -> Counterexample:
    return Counterexample(shown=1 + 1 == 2, summary="arithmetic", numbers={"sum": 2})


def test_marks_add_up_and_leave_the_function_alone() -> None:
    assert getattr(marked, LINKS) == (
        Link("claims", "thm:l2_glm", "corrected"),
        Link("implements", "Alg:phased", "printed"),
    )
    assert marked(2) == 3
    assert shows().shown


def test_functions_classes_methods_and_properties_are_found_once() -> None:
    found = {(link.name, link.kind, link.id, link.edition) for link in links_in(sys.modules[__name__])}
    assert found == {
        ("marked", "claims", "thm:l2_glm", "corrected"),
        ("marked", "implements", "Alg:phased", "printed"),
        ("Holder.method", "implements", "def:glm", "corrected"),
        ("Holder.static", "claims", "lem:oracle", "tight"),
        ("Holder.value", "claims", "lem:moreau", "corrected"),
        ("shows", "counterexample", "E3.1", "printed"),
    }


def test_what_a_module_only_imports_is_not_its_own() -> None:
    other = types.ModuleType("other")
    vars(other)["marked"] = marked
    assert links_in(other) == []


def test_a_subclass_does_not_inherit_a_mark() -> None:
    @implements("def:glm")
    class Base:
        pass

    class Child(Base):
        pass

    module = types.ModuleType(__name__)
    vars(module).update(Base=Base, Child=Child)
    assert [link.name.rpartition(".")[2] for link in links_in(module)] == ["Base"]


def test_every_link_of_the_project_knows_its_file_and_lines() -> None:
    links = code_links()
    assert links, "the project marks its functions"
    for link in links:
        first, last = link.lines()
        assert link.path.startswith(("reference/", "audit/"))
        assert 1 <= first <= last


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.276677, 3, "0.276"),
        (0.9999999, 3, "0.999"),
        (1.0, 3, "1"),
        (26.9945, 3, "26.9"),
        (365215.04, 3, "365000"),
        (0.00771989, 3, "0.00771"),
        (2.14286e-06, 3, "2.14e-6"),
        (0.2766769, 4, "0.2766"),
        (12345678.0, 3, "1.23e+7"),
    ],
)
def test_a_lower_bound_is_printed_rounded_down(value: float, digits: int, shown: str) -> None:
    assert at_least(value, digits) == shown
    assert float(shown) <= value
