"""The loss of additive noise: each family against its density, sums of losses against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from audit.auditor.lints.losses import (
    Atoms,
    Losses,
    _composed,
    _single,
    atoms_of,
    delta_of,
    epsilon_where,
    gaussian_delta,
    largest,
    log_density,
    reach,
    zcdp_of,
)

DENSITIES = {
    "normal": lambda u: math.exp(-u * u / 2) / math.sqrt(2 * math.pi),
    "laplace": lambda u: math.exp(-abs(u)) / 2,
    "logistic": lambda u: math.exp(-u) / (1 + math.exp(-u)) ** 2,
    "gumbel": lambda u: math.exp(-u - math.exp(-u)),
    "exponential": lambda u: math.exp(-u) if u >= 0 else 0.0,
    "cauchy": lambda u: 1 / (math.pi * (1 + u * u)),
}


@pytest.mark.parametrize("family", DENSITIES)
def test_densities(family: str) -> None:
    at = np.array([-1.3, 0.4, 2.0])
    assert np.exp(log_density(family, at)) == pytest.approx([DENSITIES[family](float(u)) for u in at], rel=1e-12)


def test_what_is_alike_is_counted_and_gaussian_entries_are_one() -> None:
    sums = [
        ("normal", np.array([3.0, 0.0, 4.0])),
        ("laplace", np.array([0.5, 0.5 + 1e-14, 0.0, -0.5])),
        ("normal", np.array([12.0])),
        ("gumbel", np.array([0.25])),
    ]
    assert atoms_of(sums) == (("normal", 13.0, 1), ("gumbel", 0.25, 1), ("laplace", -0.5, 1), ("laplace", 0.5, 2))
    assert atoms_of([("normal", np.zeros(2)), ("laplace", np.zeros(1))]) == ()


def test_delta_is_the_mean_of_what_a_loss_exceeds_epsilon_by() -> None:
    losses, masses, infinite = np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0.1, 0.2, 0.3, 0.35]), 0.05
    law = Losses(losses, masses, infinite)
    at = np.array([-5.0, -1.0, -0.5, 0.0, 0.7, 1.0, 1.5, 2.0, 9.0])
    expected = [
        infinite + sum(m * max(0.0, 1 - math.exp(e - x)) for x, m in zip(losses, masses, strict=True)) for e in at
    ]
    assert law.delta(at) == pytest.approx(expected, abs=1e-14)
    assert Losses(losses, masses).delta(np.array(9.0)) == 0.0


@pytest.mark.parametrize("mu", [0.3, 2.5])
@pytest.mark.parametrize("epsilon", [-3.0, -0.2, 0.0, 0.7, 4.0])
def test_gaussian_delta_is_its_integral(mu: float, epsilon: float) -> None:
    def excess(u: float) -> float:
        return max(0.0, float(stats.norm.pdf(u) - math.exp(epsilon) * stats.norm.pdf(u - mu)))

    expected = integrate.quad(excess, -12, 12, points=[mu / 2 - epsilon / mu], limit=300)[0]
    assert float(gaussian_delta(mu, np.array(epsilon))) == pytest.approx(expected, abs=1e-9)


def test_no_noise_between_equals_loses_nothing() -> None:
    at = np.array([-1.0, 0.0, 2.0])
    for found in (gaussian_delta(0.0, at), delta_of((), at)):
        assert found == pytest.approx([1 - math.exp(-1), 0.0, 0.0])
    assert delta_of((("normal", 1.5, 1),), at) == pytest.approx(gaussian_delta(1.5, at))


@pytest.mark.parametrize(
    ("atoms", "top", "far", "rho"),
    [
        ((("normal", 2.0, 1),), math.inf, 2.0 + 24.0, 2.0),
        ((("laplace", 0.5, 3),), 1.5, 1.5, 0.375),
        ((("laplace", -0.5, 3), ("logistic", 2.0, 2)), 5.5, 5.5, 4.375),
        ((("cauchy", -3.0, 2),), 4 * math.asinh(1.5), 4 * math.asinh(1.5), 4 * math.asinh(1.5) ** 2),
        ((("exponential", -0.5, 2),), 1.0, 1.0, 0.25),
        ((("exponential", 0.5, 2),), math.inf, 0.0, math.inf),
        ((("gumbel", -0.5, 2),), 1.0, 1.0, 0.25),
        ((("gumbel", 0.5, 2),), math.inf, 120 * math.expm1(0.5), math.inf),
        ((("exponential", 0.0, 1), ("gumbel", 0.0, 1)), 0.0, 0.0, 0.0),
    ],
)
def test_the_largest_loss_a_far_one_and_zcdp(atoms: Atoms, top: float, far: float, rho: float) -> None:
    assert largest(atoms) == pytest.approx(top)
    assert reach(atoms) == pytest.approx(far)
    assert zcdp_of(atoms) == pytest.approx(rho)


@pytest.mark.parametrize("ratio", [0.5, -0.5, 2.0])
@pytest.mark.parametrize("family", DENSITIES)
def test_a_single_sum_has_the_masses_of_its_noise(family: str, ratio: float) -> None:
    """All mass is there, and E[e^{−loss}] is the mass of the neighbour's noise where the dataset's may be."""
    loss, mass, infinite = _single(family, ratio)
    assert float(mass.sum()) + infinite == pytest.approx(1.0, abs=1e-6)
    common = math.exp(min(ratio, 0.0)) if family == "exponential" else 1.0
    hidden = -math.expm1(-ratio) if family == "exponential" and ratio > 0 else 0.0
    coarse = 1e-2 if family == "cauchy" else 2e-4  # its cells reach to a million: they are wide
    assert float((mass * np.exp(-loss)).sum()) == pytest.approx(common, abs=coarse)
    assert infinite == pytest.approx(2 / (math.pi * 1e6) if family == "cauchy" else hidden, rel=1e-3, abs=1e-12)
    if family == "laplace":
        assert float((mass * loss).sum()) == pytest.approx(abs(ratio) + math.exp(-abs(ratio)) - 1, abs=1e-5)
    if family == "normal":
        assert float((mass * loss).sum()) == pytest.approx(ratio**2 / 2, abs=1e-4)
        assert float((mass * loss**2).sum()) == pytest.approx(ratio**2 + ratio**4 / 4, rel=1e-3)


def test_composed_losses_against_closed_forms() -> None:
    at = np.array([0.0, 0.1, 0.3, 0.6])
    one = delta_of((("laplace", 0.5, 1),), at)
    assert one == pytest.approx(np.maximum(0.0, 1 - np.exp((at - 0.5) / 2)), abs=2e-4)
    fixed = delta_of((("exponential", -0.1, 3),), at)  # each loss is 0.1
    assert fixed == pytest.approx(np.maximum(0.0, 1 - np.exp(at - 0.3)), abs=1e-3)
    open_ = delta_of((("exponential", 0.2, 2),), at)  # infinite unless both draws are above 0.2
    assert open_ == pytest.approx(np.full(4, 1 - math.exp(-0.4)), abs=1e-9)
    assert delta_of((("exponential", 0.2, 1), ("exponential", -0.7, 1)), at) == pytest.approx(
        1 - math.exp(-0.2) + math.exp(-0.2) * np.maximum(0.0, 1 - np.exp(at - 0.5)), abs=1e-3
    )


def test_many_losses_have_their_mean_and_spread_on_the_grid() -> None:
    """A thousand Laplace sums with ratio 0.05: the mean loss and the variance add up, nothing falls off the grid."""
    law = _composed((("laplace", 0.05, 1000),))
    mean = 0.05 + math.exp(-0.05) - 1
    assert float(law.masses.sum()) == pytest.approx(1.0, abs=1e-9)
    assert float(law.masses @ law.losses) == pytest.approx(1000 * mean, rel=1e-3)
    u = np.linspace(-40, 40, 800_001)  # E[loss²] of one sum, by quadrature
    second = float((np.exp(-np.abs(u)) / 2 * (np.abs(u - 0.05) - np.abs(u)) ** 2).sum() * (u[1] - u[0]))
    variance = float(law.masses @ (law.losses - law.masses @ law.losses) ** 2)
    assert variance == pytest.approx(1000 * (second - mean**2), rel=1e-2)
    assert law.losses[-1] < 50.0  # the grid is as wide as the spread, not as the largest loss there can be
    assert law.infinite == 0.0


def test_the_epsilon_of_a_delta() -> None:
    def falling(e: float) -> float:
        return math.exp(-e) / 2

    assert epsilon_where(falling, 0.5, 10.0) == 0.0
    assert epsilon_where(falling, 0.6, 10.0) == 0.0
    assert epsilon_where(falling, 0.05, 10.0) == pytest.approx(math.log(10), abs=1e-8)
    assert epsilon_where(falling, math.exp(-10.0) / 2, 10.0) == pytest.approx(10.0)
    assert epsilon_where(falling, 1e-6, 10.0) == math.inf
