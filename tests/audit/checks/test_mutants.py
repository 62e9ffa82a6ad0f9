"""The machinery of mutants: what it breaks is broken everywhere, and whole again afterwards."""

from __future__ import annotations

from fractions import Fraction

import pytest

from audit.checks import section3
from audit.checks.evidence import Searched
from audit.checks.framework import MARK, Check, Outcome, check
from audit.checks.mutants import at, catches, edited, replaced, resolution, scaled, tried
from reference.convex import moreau, oracle
from reference.numerics.numbers import Float64

K = Float64()
GAP = "reference.convex.moreau.envelope_gap"


def gap_is_half(seed: int) -> Outcome:
    return Outcome(section3.envelope_gap(K, K(1), K(1)) <= K(Fraction(1, 2)))


def described(function: object, **about: object) -> Check:
    return Check("sample.x", "lem:moreau", Searched("a point"), "corrected", "quick", None, None, function, **about)  # type: ignore[arg-type]


def test_a_scaled_function_is_scaled_wherever_it_is_known() -> None:
    held = moreau.envelope_gap
    with scaled(GAP, 2).applied():
        assert held(K, K(1), K(1)) == section3.envelope_gap(K, K(1), beta=K(1)) == 1
    assert held(K, K(1), K(1)) == section3.envelope_gap(K, K(1), K(1)) == 1 / 2


def test_a_constant_is_changed_in_every_module_that_holds_it() -> None:
    with scaled("reference.convex.counterexamples.FAR", 2).applied():
        assert section3.defects.FAR == 2000
    assert section3.defects.FAR == 1000


def test_an_edited_function_is_changed_for_whoever_holds_it() -> None:
    held = oracle.least_exponent
    before = held(K, K(16), K(1))
    with edited("reference.convex.oracle.least_exponent", "return ", "return 1 + ").applied():
        assert held(K, K(16), K(1)) == 1 + before
    assert held(K, K(16), K(1)) == before


def test_what_is_replaced_may_be_named_by_its_place() -> None:
    with replaced(GAP, "reference.convex.moreau.smoothing_error_printed").applied():
        assert section3.envelope_gap(K, K(1), K(1)) == 2


def test_an_exception_leaves_the_product_whole() -> None:
    with pytest.raises(RuntimeError), scaled(GAP, 2).applied():
        raise RuntimeError
    assert section3.envelope_gap(K, K(1), K(1)) == 1 / 2


def test_an_exception_in_a_check_is_not_a_catch() -> None:
    def raises(seed: int) -> Outcome:
        if section3.envelope_gap(K, K(1), K(1)) > 1:
            raise ArithmeticError("too large")
        return Outcome(True)

    assert tried(described(raises), scaled(GAP, 4)).error
    assert not catches(described(raises), scaled(GAP, 4))


def test_the_resolution_is_the_factor_nearest_to_one_that_is_caught() -> None:
    found = resolution(described(gap_is_half), scaled(GAP, 2))
    assert found is not None
    assert 1 < found < Fraction(103, 100)
    assert resolution(described(gap_is_half), scaled(GAP, Fraction(1, 2))) is None
    assert not catches(described(gap_is_half), at(scaled(GAP, 2), Fraction(1)))


@pytest.mark.parametrize(
    ("mutant", "says"),
    [
        (scaled("reference.convex.moreau.no_such", 2), "has no no_such"),
        (scaled("nowhere.at.all", 2), "there is no such module"),
        (edited("reference.convex.moreau.envelope_gap", "no such text", ""), "stands 0 times"),
    ],
)
def test_a_mutant_of_nothing_is_refused(mutant: object, says: str) -> None:
    with pytest.raises(ValueError, match=says), mutant.applied():  # type: ignore[attr-defined]
        pass


def test_several_checks_of_one_function_name_its_mutants_once() -> None:
    one = scaled(GAP, 2)

    @check("lem:moreau", kind=Searched("a point"))
    @check("lem:oracle", kind=Searched("a point"), mutants=(one,))
    def both(seed: int) -> Outcome:
        return Outcome(True)

    assert [c.mutants for c in getattr(both, MARK)] == [(one,), (one,)]
