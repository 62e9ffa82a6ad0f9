"""One check an erratum: its counterexample runs, and the printed text fails as the erratum says.

The checks are made from the functions marked `@counterexample` in `reference`. Each is filed under the first place that
its erratum makes false, or else the first that it names, and bears on all of them (`audit.checks.scale`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from audit.checks.evidence import Refutation
from audit.checks.framework import CheckFunction, Level, Outcome, check
from audit.checks.mended import mended
from audit.checks.purity import grounds
from reference.convex import counterexamples as convex
from reference.paper.inventory import FALSIFYING, Erratum, load
from reference.paper.registry import LINKS, Counterexample
from reference.privacy import counterexamples as privacy
from reference.smooth import counterexamples as smooth
from reference.weakly_convex import counterexamples as weakly_convex

SLOW: dict[str, Level] = {"E3.3": "standard"}
"""Errata whose counterexample takes longer than a quick audit may."""

Show = Callable[[], Counterexample]


def all_counterexamples() -> Iterator[tuple[str, Show]]:
    """The functions marked as counterexamples, each with its erratum."""
    for module in (privacy, convex, smooth, weakly_convex):
        for function in vars(module).values():
            if getattr(function, "__module__", "") == module.__name__:
                links = getattr(function, LINKS, ())
                yield from ((link.id, function) for link in links if link.kind == "counterexample")


def defect_check(erratum: Erratum, show: Show) -> CheckFunction:
    """A check that holds iff the counterexample does *not* show the defect: it is expected not to hold.

    One that makes a statement false has to be fair as well (`Counterexample.fair`): it meets the hypotheses.
    """

    def run(seed: int) -> Outcome:
        found = show()
        shown = found.shown and (erratum.severity not in FALSIFYING or found.fair)
        met = "; ".join(dict.fromkeys(hypothesis.text for hypothesis in found.hypotheses))
        note = met and f"meets: {met}"
        return Outcome(holds=not shown, witness=found.summary, numbers=dict(found.numbers), note=note)

    run.__name__ = run.__qualname__ = erratum.id.replace(".", "_")
    run.__doc__ = show.__doc__
    marked = check(
        erratum.home,
        kind=Refutation(grounds(show)),
        edition="printed",
        erratum=erratum.id,
        level=SLOW.get(erratum.id, "quick"),
        mutants=mended(erratum.id),
    )
    return marked(run)


for _id, _show in all_counterexamples():
    if (_erratum := load().erratum(_id)) is not None:
        _check = defect_check(_erratum, _show)
        globals()[_check.__name__] = _check
