"""The audit's checks of Section 4 come out as recorded, cover every erratum and statement, and catch mutants."""

from fractions import Fraction

import pytest

import audit.checks.section4 as section4
from audit.checks.framework import MARK, collect, run_one
from reference.paper.inventory import load
from reference.smooth import bounds, calibration, sensitivity

CHECKS = [c for value in vars(section4).values() for c in getattr(value, MARK, ())]
QUICK = [c for c in CHECKS if c.level == "quick"]
BY_NAME = {c.name.removeprefix("section4."): c for c in CHECKS}


@pytest.mark.night  # by day `test_recorded` runs them with the recorded seed
@pytest.mark.parametrize("one", QUICK, ids=lambda c: c.name)
def test_comes_out_as_recorded_with_another_seed(one):
    result = run_one(one, seed=1)
    assert not result.error
    assert result.as_recorded, result.witness


def test_every_statement_of_section_4_has_a_check():
    inventory = load()
    wanted = {
        s.id for s in (*inventory.statements, *inventory.algorithms, *inventory.equations) if s.section.startswith("4")
    }
    assert wanted
    assert wanted <= {c.statement for c in collect()}
    assert all(inventory.find(c.statement) is not None for c in CHECKS)


def test_every_check_that_is_not_a_counterexample_says_what_it_does():
    for one in CHECKS:
        assert one.erratum or one.function.__doc__


MUTANTS = [
    ("influence_sums_to_twelve", sensitivity, "square_sum_bound", lambda K, T: K(T) * K.sqrt(K(T)) * Fraction(2, 5)),
    ("influence_sums_to_twelve", sensitivity, "sum_bound", lambda K, T: K(T) * Fraction(9, 10)),
    ("corrected_gaussians_meet_their_target", calibration, "gaussian_stretch", lambda K, e, d, m: K(1)),
    ("sums_9_12_6_2", bounds, "ROUND_CONSTANTS", bounds.ROUND_CONSTANTS | {"6": (8, Fraction(5, 4), Fraction(29, 5))}),
    (
        "sums_9_24_48_24",
        bounds,
        "ROUND_CONSTANTS",
        bounds.ROUND_CONSTANTS | {"24'": (32, Fraction(7, 4), Fraction(27, 2))},
    ),
    ("excess_of_the_noisy_vertex", bounds, "vertex_excess_printed", lambda K, J, s: s * K.log(K(J))),
    ("lemma_12_as_stated", bounds, "gradient_error_printed", lambda K, t, b, J, c: K(t + 1) * 0),
    ("measured_gradient_error", bounds, "error_variances", lambda K, sizes, c: [K(1) / 1600] * len(sizes)),
    ("tight_rate", bounds, "RATE_CONSTANT", 1),
    ("rates_of_the_table", bounds, "rate_printed", lambda K, n, *rest: K(n) ** -0.25),
]


@pytest.mark.parametrize(("name", "module", "attribute", "mutant"), MUTANTS, ids=[f"{m[0]}-{m[2]}" for m in MUTANTS])
def test_mutants_are_caught(monkeypatch, name, module, attribute, mutant):
    monkeypatch.setattr(module, attribute, mutant)
    assert not run_one(BY_NAME[name], seed=0).as_recorded
