"""Correct programs in other arithmetic agree with every vector; a tie that rounding breaks is no vector."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from arithmetic import STYLES, extended, positions, quadruple
from night import by_day

from audit.crosscheck.clients import PythonClient
from audit.crosscheck.compare import crosscheck
from reference.paper.algorithms import ALGORITHMS
from reference.vectors import generate
from reference.vectors.cases import family
from reference.vectors.encode import decimal

SLOW = (extended, quadruple)
"""Of these, every fourth edition by day, of all variants."""


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.__name__)
def test_a_correct_program_agrees_whatever_its_arithmetic(style: object) -> None:
    client = PythonClient(style().run, "style", timeout=60)  # type: ignore[operator]
    editions = [(a.label, variant) for a in ALGORITHMS for variant in a.editions]
    step = by_day(4, 1) if style in SLOW else 1
    found = [v for label, variant in editions[::step] for v in crosscheck(client, label, variant)]
    assert len(found) >= (570 if step == 1 else 100)
    assert [(v.id, v.note, v.divergence) for v in found if v.status not in ("pass", "skip")] == []
    assert sum(v.status == "skip" for v in found) == 2 or step > 1, "steps on which W binds, in Algorithm 6"


def test_the_search_in_positions_is_another_program() -> None:
    """A tie at a rounded m tells them apart: format 1 had such ties, with τ = 1/4 at the third midpoint."""
    steep = [lambda u: 0.0, lambda u: -0.25 if u < 1 else 0.75, 0.75]
    q = {"L0": 1.0, "R": 1.0, "beta": 4.0, "alpha": 0.046875}
    other = positions()
    found = {m / 97: (other.search(steep, m / 97, q, False), offsets_search(steep, m / 97, q)) for m in range(1, 40)}
    assert any(abs(a - b) > 1e-3 for a, b in found.values())


def offsets_search(ell: object, m: float, q: dict[str, float]) -> float:
    import spec_client

    return float(spec_client.search(ell, m, q, False))


@pytest.mark.parametrize("name", ["phased-sgd", "noisy-frank-wolfe"])
def test_a_tie_of_line_6_at_a_rounded_point_is_refused(name: str) -> None:
    """τ = 1/4 is a multiple of the search's step: the third midpoint is the minimiser itself."""
    (algorithm,) = [a for a in ALGORITHMS if a.name == name]
    told = family(algorithm)
    (basic,) = [case for case in told.cases if case.slug == "basic"]
    tied = replace(basic, input={**basic.input, "loss": {"family": "quantile", "tau": "0.25"}})
    with pytest.raises(generate.BadCase, match="line 6 of Algorithm 1 is tied at m = "):
        generate.vector(algorithm, "corrected", tied, told)


def test_a_tied_choice_at_a_rounded_value_is_refused() -> None:
    """Two vertices with the same score, which is a sum of 60 bits: the order of summation decides in binary64."""
    (algorithm,) = [a for a in ALGORITHMS if a.name == "poly-sfw"]
    told = family(algorithm)
    (tie,) = [case for case in told.cases if case.slug == "tie"]
    rows = [
        {"x": [decimal(Fraction(v) * (1 + Fraction(1, 2**30)), 60) for v in z["x"]], "y": z["y"]}
        for z in tie.input["dataset"]
    ]
    with pytest.raises(generate.BadCase, match="an argmin is tied at"):
        generate.vector(algorithm, "corrected", replace(tie, input={**tie.input, "dataset": rows}), told)
