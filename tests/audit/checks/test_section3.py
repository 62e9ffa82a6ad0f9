"""The checks of Section 3 come out as recorded, and each core catches the mutant it is there for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from audit.checks import section3
from audit.checks.framework import MARK, Check, run_one, select
from reference.convex import phased_sgd
from reference.convex.oracle import OracleOutput, closed_form_oracle, oracle, oracle_printed
from reference.convex.phased_noise import tight_sigma
from reference.convex.phased_sgd import sigma_printed
from reference.numerics.numbers import MP
from reference.paper.editions import edition
from reference.paper.inventory import load

F = Fraction


def checks() -> list[Check]:
    found = [c for value in vars(section3).values() for c in getattr(value, MARK, ())]
    return select(list(dict.fromkeys(found)), "quick")


@pytest.mark.night  # by day `test_recorded` runs them with the recorded seed
@pytest.mark.parametrize("one", checks(), ids=lambda c: f"{c.name}-{c.statement}")
def test_comes_out_as_recorded_with_another_seed(one: Check) -> None:
    result = run_one(one, seed=1)
    assert result.error == ""
    assert result.as_recorded, (result.witness, result.ratio)


def test_every_statement_and_algorithm_of_the_section_has_a_check() -> None:
    section = {
        "def:glm",
        "lem:moreau",
        "lem:f_smoothness",
        "lem:oracle",
        "thm:l2_glm",
        "thm:l2_glm_unconstrained",
        "lem:phase_bound",
        "thm:l1_glm",
        "Alg:gll_oracle",
        "Alg:phased",
        "Alg:nfw",
        "eq:un_ex_risk",
    }
    assert section <= {c.statement for c in checks()}
    inside = {s.id for s in (*load().statements, *load().algorithms, *load().equations) if 266 <= s.tex[0] <= 668}
    assert inside == section


@pytest.mark.parametrize("left_out", ["E3.1", "E3.2", "E3.3"])
def test_the_accuracy_check_catches_an_oracle_with_one_defect(left_out: str) -> None:
    broken = edition(oracle_printed, oracle, {"E3.1", "E3.2", "E3.3", "E3.4"} - {left_out})
    worst, where = section3.largest_oracle_error(MP(40), broken, section3.edge_cases(1, 60), [F(1, 1000)])
    assert worst > 1
    assert where
    assert section3.largest_oracle_error(MP(40), oracle, section3.edge_cases(1, 60), [F(1, 1000)])[0] <= 1


def test_the_sensitivity_climb_catches_a_jumping_oracle() -> None:
    def jumping(*args: object) -> OracleOutput:
        out = closed_form_oracle(*args)  # type: ignore[arg-type]
        c = 0.375 if out.derivative > 0 else -0.375
        return replace(out, gradient=args[2] * c)  # type: ignore[operator]

    assert section3.climbed_sensitivity(jumping, 5, F(1, 8), 1, 200)[0] > 1.02
    assert section3.climbed_sensitivity(oracle, 5, F(1, 8), 1, 200)[0] <= 1 + 1e-9


def test_the_privacy_check_catches_too_little_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    def quarter(K: object, rho: object, eta: object, T: int, p: object) -> object:
        return sigma_printed(K, rho, eta, T, p) / 4  # type: ignore[arg-type]

    monkeypatch.setattr(section3, "tight_sigma", quarter)
    monkeypatch.setattr(phased_sgd, "require_proof", lambda *_: None)
    assert section3.largest_spent(1000, "tight") > 1
    assert section3.largest_spent(1000, "printed") < 1


def test_the_privacy_check_catches_a_forgotten_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutant: noise for 2ηL0R alone, while the sensitivity has the α term."""

    def forgetful(K: object, rho: object, eta: object, T: int, p: object) -> object:
        return tight_sigma(K, rho, eta, 1, p)  # type: ignore[arg-type]

    monkeypatch.setattr(section3, "tight_sigma", forgetful)
    monkeypatch.setattr(phased_sgd, "require_proof", lambda *_: None)
    assert section3.largest_spent(1000, "tight") > 1.01


def test_the_exact_phase_risk_is_not_trivial() -> None:
    assert section3.exact_phase_risk(1.0, 0.0, 4, "last", 4.0, 0.02) == pytest.approx(0, abs=1e-12)
    assert section3.exact_phase_risk(0.0, 0.1, 4, "first", 4.0, 0.02) > 0.01
