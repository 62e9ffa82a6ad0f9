"""Every erratum of Section 5, Appendix B and their row of Table 1 has a counterexample, and it shows the defect."""

from reference.paper.inventory import load
from reference.paper.registry import LINKS
from reference.weakly_convex import counterexamples

FUNCTIONS = {
    link.id: function
    for function in vars(counterexamples).values()
    for link in getattr(function, LINKS, ())
    if link.kind == "counterexample" and function.__module__ == counterexamples.__name__
}


def test_there_is_one_for_each_erratum() -> None:
    ours = {e.id for e in load().errata if e.id.startswith(("E5.", "EB.")) or e.id in ("E1.20", "E1.21", "E1.22")}
    assert set(FUNCTIONS) == ours


def test_numbers_quoted_in_the_errata_are_what_runs_give() -> None:
    text = {e.id: " ".join((e.title, e.printed, e.corrected, e.affects, e.cost)) for e in load().errata}
    numbers = {erratum: FUNCTIONS[erratum]().numbers for erratum in ("E5.1", "E5.3", "E5.6", "E5.10", "E5.14")}
    quoted = {
        "E5.1": f"{numbers['E5.1']['p_bar']:.2f}",
        "E5.3": f"{numbers['E5.3']['squared_ratio']:.0f}",
        "E5.6": f"{numbers['E5.6']['delta']:.2f}",
        "E5.10": str(numbers["E5.10"]["R"]),
        "E5.14": f"{numbers['E5.14']['delta']:.2f}",
    }
    for erratum, number in quoted.items():
        assert number in text[erratum], (erratum, number)
