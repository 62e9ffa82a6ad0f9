"""Checks of Section 2 and of privacy from both sides: they hold, and they catch what they must."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from audit import engine as fast
from audit.checks import privacy, section2
from audit.checks.framework import collect
from audit.checks.results import read_record
from reference.convex.phased_noise import tight_sigma
from reference.convex.phased_sgd import phased_parameters, sigma_printed
from reference.numerics.numbers import Ball, Float64
from reference.privacy import kov_delta
from reference.setting.losses import GLL, Absolute
from reference.setting.sets import L2Ball

K = Float64()


@pytest.mark.statement("lem:adv_comp", kind="enclosed")
@pytest.mark.parametrize(
    "run", [section2.advanced_composition_covers_the_exact_one, section2.tanh_form_covers_the_exact_composition]
)
def test_composition_checks_hold(run: Any) -> None:
    outcome = run(0)
    assert outcome.holds
    assert 0 < outcome.ratio <= 1


@pytest.mark.parametrize(
    ("name", "run"),
    [
        ("advanced_composition", section2.advanced_composition_covers_the_exact_one),
        ("advanced_composition_tanh", section2.tanh_form_covers_the_exact_composition),
    ],
)
def test_a_composition_bound_without_its_mean_term_is_caught(
    monkeypatch: pytest.MonkeyPatch, name: str, run: Any
) -> None:
    def mutant(system: Any, epsilon: Any, delta: Any, k: int, delta_prime: Any) -> tuple[Any, Any]:
        """Half the deviation and no mean."""
        root = system.sqrt(2 * k * system.log(1 / system(delta_prime)))
        return system(epsilon) * root / 2, system(delta)

    monkeypatch.setattr(section2, name, mutant)
    assert not run(0).holds


@pytest.mark.statement("eqn:st-gap", kind="searched")
def test_the_gap_check_holds_and_catches_the_wrong_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    run = section2.gap_is_never_negative_and_bounds_every_direction
    assert run(0).holds
    right = section2.stationarity_gap
    monkeypatch.setattr(section2, "stationarity_gap", lambda K, W, g, w: right(K, W, -g, w) * -1)
    assert not run(0).holds


def test_the_exact_composition_is_what_the_grid_compares_with() -> None:
    B = Ball(128)
    assert B.to_float(kov_delta(B, 1, 1, 1)) == 0  # one 1-DP step is 1-DP


CASES = [c for c in collect() if c.name.startswith("privacy.") and c.level == "quick"]
NUMBERS = {r["name"]: r["numbers"] for r in read_record()["results"]}
"""As recorded: tests/audit/checks/test_recorded.py holds them against what the checks find."""


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_every_private_variant_is_consistent(case: Any) -> None:
    numbers = NUMBERS[case.name]
    assert numbers["measured ε"] <= numbers["certified ε"] <= numbers["claimed ε"] * (1 + 1e-9)


def test_a_check_of_privacy_draws_its_profile() -> None:
    (case,) = [c for c in CASES if c.name == "privacy.frank_wolfe_tight_is_private_quick"]
    assert [figure.topic for figure in case.function(0).figures] == ["privacy"]


def test_all_six_algorithms_but_the_oracle_are_covered() -> None:
    covered = {c.statement for c in collect() if c.name.startswith("privacy.")}
    assert covered >= {"thm:l2_glm", "thm:l1_glm", "alg:polySFW", "alg:nSFW", "Alg:PGPSMD"}


def test_too_little_noise_is_caught() -> None:
    """The mutant: an eighth of the tight standard deviation."""

    def weak(system: Any, rho: Any, eta: Any, T: int, p: Any) -> Any:
        return tight_sigma(system, rho, eta, T, p) / 8

    W = L2Ball((0,), Fraction(1, 2))
    target = {"epsilon": privacy.EPSILON, "delta": privacy.DELTA}
    p = phased_parameters(K, 16, GLL(Absolute, 1, 1), W, **target, sigma=weak, unproven=True)  # type: ignore[arg-type]
    found = privacy.measure(
        lambda data, tape: fast.phased_sgd(data, p, tape),
        privacy.phased_pair(16),
        privacy.EPSILON,
        privacy.DELTA,
        5000,
        0,
    )
    assert found.verdict == "violated"
    assert not privacy.LossBounds("", found, None, 1.0).outcome().holds


def test_a_bound_above_the_certified_one_is_caught() -> None:
    """The mutant: an accountant that certifies too little."""
    W = L2Ball((0,), Fraction(1, 2))
    p = phased_parameters(
        K,
        16,
        GLL(Absolute, 1, 1),
        W,
        epsilon=privacy.EPSILON,
        delta=privacy.DELTA,
        sigma=tight_sigma,
    )
    found = privacy.measure(
        lambda data, tape: fast.phased_sgd(data, p, tape),
        privacy.phased_pair(16),
        privacy.EPSILON,
        privacy.DELTA,
        5000,
        0,
    )
    assert found.epsilon_lower > 0.2
    assert privacy.LossBounds("", found, 1.0, 1.0).outcome().holds
    assert not privacy.LossBounds("", found, 0.2, 1.0).outcome().holds
    assert not privacy.LossBounds("", found, 1.5, 1.0).outcome().holds


@pytest.mark.statement("alg:nSFW", kind="measured")
def test_the_printed_pair_has_the_law_that_the_proof_computes() -> None:
    """μ of the audited pair is the one of E4.1, printed and corrected."""
    from reference.smooth.calibration import corrected_pair_mu, printed_pair_mu

    for body, predicted in (
        (privacy.noisy_sfw_printed, printed_pair_mu(K, 1, privacy.FAILING, privacy.DELTA)),
        (privacy.noisy_sfw, corrected_pair_mu(K, privacy.FAILING, privacy.DELTA)),
    ):
        (one, deviations), (two, _) = (privacy.pair_release(body, privacy.Example((1,), y)) for y in (1, -1))
        mu = float((((one - two) / deviations) ** 2).sum() ** 0.5)
        assert mu == pytest.approx(float(predicted), rel=1e-9)


def test_the_printed_scale_is_the_default() -> None:
    W = L2Ball((0,), Fraction(1, 2))
    p = phased_parameters(K, 16, GLL(Absolute, 1, 1), W, epsilon=1, delta=Fraction(1, 100))
    assert p.sigma is sigma_printed
