"""Every erratum of Section 5, Appendix B and their row of Table 1 has a counterexample, and it shows the defect."""

import pytest

from reference.inventory import load
from reference.registry import LINKS, Counterexample
from reference.weakly_convex import counterexamples

FUNCTIONS = {
    link.id: function
    for function in vars(counterexamples).values()
    for link in getattr(function, LINKS, ())
    if link.kind == "counterexample" and function.__module__ == counterexamples.__name__
}


def test_there_is_one_for_each_erratum() -> None:
    ours = {e.id for e in load().errata if e.id.startswith(("E5.", "EB.")) or e.id in ("E1.20", "E1.21")}
    assert set(FUNCTIONS) == ours


@pytest.mark.parametrize("erratum", sorted(FUNCTIONS))
def test_it_shows_the_defect(erratum: str) -> None:
    found = FUNCTIONS[erratum]()
    assert isinstance(found, Counterexample)
    assert found.shown, found.summary
    assert found.summary
