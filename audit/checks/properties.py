"""Statements as properties: searched over drawn losses, norms, records and neighbours, each towards its worst case.

What is drawn is `audit.checks.strategies` (public as `dpso.strategies`), by hypothesis, which climbs towards a large
ratio. A seed gives the same examples in every run, so the recorded verdicts repeat; another one (`dpso audit --seed N`,
`make nightly`) explores others. An example that fails is printed with what to do: put it into `KEPT` under the check's
name, and it is tried in every run from then on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as hs
from hypothesis.strategies import SearchStrategy

from audit.checks import strategies as st
from audit.checks.evidence import Searched
from audit.checks.framework import Outcome, check
from audit.checks.mutants import scaled
from reference.convex.moreau import (
    envelope,
    envelope_derivative,
    envelope_gap,
    envelope_lipschitz,
    smoothed_gradient,
    smoothed_lipschitz,
)
from reference.numerics.numbers import MP, dual_norm
from reference.setting.losses import Logistic, ScalarLoss

K = MP(30)
TINY = K(Fraction(1, 10**20))
EXAMPLES = 150
MOREAU = "reference.convex.moreau"

KEPT: dict[str, tuple[Any, ...]] = {"moreau_constants": (), "neighbours_move_the_gradient": ()}
"""By check: examples that failed once."""


def worst(name: str, drawn: SearchStrategy[Any], ratio: Callable[[Any], float], seed: int) -> Outcome:
    """The largest ratio over the examples that are kept and those drawn with a seed; at most 1 holds."""
    largest, where = 0.0, ""

    def look(case: Any) -> None:
        nonlocal largest, where
        found = ratio(case)
        hypothesis.target(min(found, 1e9))
        if found > largest:
            largest, where = found, str(case)

    settings = hypothesis.settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        derandomize=False,
        phases=(Phase.generate, Phase.target),
        suppress_health_check=list(HealthCheck),
    )
    hypothesis.seed(seed)(settings(hypothesis.given(drawn)(look)))()
    for case in KEPT[name]:
        if (found := ratio(case)) > largest:
            largest, where = found, str(case)
    note = "" if largest <= 1 else f"to keep: add {where} to KEPT[{name!r}] in audit/checks/properties.py"
    return Outcome(largest <= 1, largest, where, {"examples": EXAMPLES}, note=note)


def largest_of(values: Iterable[Any]) -> float:
    """The largest, as a float."""
    return max(float(value) for value in values)


def has_closed_form(ell: ScalarLoss) -> bool:
    """Whether the envelope of a loss is computed without a search."""
    return not isinstance(ell, Logistic)


@check(
    "lem:moreau",
    kind=Searched("150 drawn losses, β and m, at 30 digits"),
    mutants=(scaled(f"{MOREAU}.envelope_gap", "1/2"), scaled(f"{MOREAU}.envelope_lipschitz", "9/10")),
)
def moreau_constants(seed: int) -> Outcome:
    """|ℓ_β'| ≤ L0 and 0 ≤ ℓ − ℓ_β ≤ L0²/(2β) over drawn convex losses with kinks, flats and curves."""

    def ratio(case: tuple[Any, Fraction, Fraction]) -> float:
        ell, beta, m = case
        L0, at = ell.lipschitz, K(m)
        gap = ell.value(K, at) - envelope(K, ell, beta, at)
        slope = abs(envelope_derivative(K, ell, beta, at))
        sharp = (gap / (envelope_gap(K, L0, beta) + TINY), slope / (envelope_lipschitz(K, L0) + TINY))
        return largest_of((*sharp, 1 - gap / TINY if gap < -TINY else 0))

    drawn = hs.tuples(st.scalar_losses().filter(has_closed_form), st.positives(), st.dyadics(-4, 4))
    return worst("moreau_constants", drawn, ratio, seed)


@check(
    "lem:f_smoothness",
    kind=Searched("150 drawn pairs of neighbours, at 30 digits"),
    condition="ℓ is convex; ⟨w, x⟩ ∈ M",
    mutants=(scaled(f"{MOREAU}.smoothed_lipschitz", "9/10"),),
)
def neighbours_move_the_gradient(seed: int) -> Outcome:
    """The mean smoothed gradient at 0 moves by at most 2L0R/n in the dual norm over drawn neighbours."""

    def ratio(case: tuple[Any, Any, Any]) -> float:
        gll, data, other = case
        start = K.zeros(len(data[0].x))
        total = start
        for one, two in zip(data, other, strict=True):
            total = total + smoothed_gradient(K, gll, 3, start, one) - smoothed_gradient(K, gll, 3, start, two)
        moved = dual_norm(K, total, gll.p)
        return float(moved / (2 * smoothed_lipschitz(K, gll.L0, gll.R) + TINY))

    drawn = st.gll_neighbours(max_size=4).filter(lambda case: case[0].family is not Logistic)
    return worst("neighbours_move_the_gradient", drawn, ratio, seed)
