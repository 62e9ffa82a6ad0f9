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
    difference,
    epsilon_where,
    gaussian_delta,
    is_known,
    largest,
    lattice,
    log_density,
    lopsided,
    named,
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


# ------------------------------------------------------------------------------------------------ integer noise


def skellam(k: int) -> float:
    """Skellam(4, 2.5) by its definition, a sum over Poisson masses."""

    def mass(mean: float, i: int) -> float:
        return math.exp(i * math.log(mean) - mean - math.lgamma(i + 1))

    return sum(mass(4.0, i) * mass(2.5, i - k) for i in range(max(k, 0), 120))


MASSES = {
    "geometric(0.4)": lambda k: 0.4 * 0.6 ** (k - 1) if k >= 1 else 0.0,
    "discrete Laplace(0.7)": lambda k: (math.exp(0.7) - 1) / (math.exp(0.7) + 1) * math.exp(-0.7 * abs(k)),
    "Poisson(3)": lambda k: math.exp(-3) * 3**k / math.factorial(k) if k >= 0 else 0.0,
    "binomial(12, 0.5)": lambda k: math.comb(12, k) / 2**12 if 0 <= k <= 12 else 0.0,
    "binomial(5, 0.2)": lambda k: math.comb(5, k) * 0.2**k * 0.8 ** (5 - k) if 0 <= k <= 5 else 0.0,
    "Skellam(4, 2.5)": skellam,
}


@pytest.mark.parametrize("ratio", [1.0, -2.0])
@pytest.mark.parametrize("name", MASSES)
def test_integer_noise_against_direct_sums(name: str, ratio: float) -> None:
    masses = {k: MASSES[name](k) for k in range(-60, 61)}
    at = np.array(sorted(masses))
    assert np.exp(log_density(name, at)) == pytest.approx([masses[int(k)] for k in at], rel=1e-9, abs=1e-25)
    for epsilon in (-0.5, 0.0, 0.4, 1.0):
        direct = sum(max(0.0, masses[k] - math.exp(epsilon) * MASSES[name](k - int(ratio))) for k in at.tolist())
        assert float(delta_of(((name, ratio, 1),), np.array(epsilon))) == pytest.approx(direct, rel=1e-9, abs=1e-9)
    law = lattice(name)
    assert law is not None
    assert law.mean == pytest.approx(sum(k * m for k, m in masses.items()), abs=1e-9)
    assert law.deviation**2 == pytest.approx(sum((k - law.mean) ** 2 * m for k, m in masses.items()), rel=1e-9)
    assert law.symmetric == (not lopsided(name)) == name.startswith(("discrete", "binomial(12"))


def test_what_a_single_integer_sum_may_lose() -> None:
    assert largest((("discrete Laplace(0.7)", -2.0, 3),)) == pytest.approx(4.2)
    assert largest((("geometric(0.4)", -2.0, 1),)) == pytest.approx(-2 * math.log(0.6))
    for name, ratio in (("geometric(0.4)", 1.0), ("Poisson(3)", 1.0), ("discrete Laplace(0.7)", 0.5)):
        assert largest(((name, ratio, 1),)) == math.inf
    assert reach((("discrete Laplace(0.7)", 2.0, 3),)) == pytest.approx(4.2)
    assert 0 < reach((("Skellam(4, 2.5)", 1.0, 1), ("geometric(0.4)", 1.0, 1))) < math.inf


def test_between_integers_nothing_is_hidden() -> None:
    """Ratios that are integers but for rounding are; half of one is not, and leaks alone and among others."""
    at = np.array([0.0, 3.0])
    assert delta_of((("discrete Laplace(0.7)", 0.5, 1),), at).tolist() == [1.0, 1.0]
    assert delta_of((("discrete Laplace(0.7)", 0.5, 1), ("laplace", 0.5, 2)), at).tolist() == [1.0, 1.0]
    near = delta_of((("discrete Laplace(0.7)", 1 + 1e-11, 1),), np.array(0.2))
    assert near == delta_of((("discrete Laplace(0.7)", 1.0, 1),), np.array(0.2))
    assert log_density("Poisson(3)", np.array([0.5])).tolist() == [-math.inf]


def test_integer_sums_add_up_with_others() -> None:
    """Three of them against all outcomes; one beside a Gaussian one against the mean over its losses."""
    name, one = "discrete Laplace(0.7)", MASSES["discrete Laplace(0.7)"]
    losses = [(one(k), 0.7 * (abs(k - 1) - abs(k))) for k in range(-50, 51)]
    up = sum(m for m, x in losses if x > 0)
    for epsilon in (0.0, 0.6, 1.5):
        direct = sum(
            math.comb(3, n) * up**n * (1 - up) ** (3 - n) * max(0.0, -math.expm1(epsilon - 0.7 * (2 * n - 3)))
            for n in range(4)
        )
        assert float(delta_of(((name, 1.0, 3),), np.array(epsilon))) == pytest.approx(direct, rel=2e-3)
        mixed = sum(m * float(gaussian_delta(0.8, np.array(epsilon - x))) for m, x in losses)
        found = float(delta_of((("normal", 0.8, 1), (name, 1.0, 1)), np.array(epsilon)))
        assert found == pytest.approx(mixed, rel=1e-4)


def test_names_of_laws_on_the_integers() -> None:
    assert named("Skellam", 4.0, 2.5) == "Skellam(4, 2.5)"
    for family, *parameters in (("geometric", 1.0), ("Poisson", 0.0), ("Poisson", math.nan), ("binomial", 2.5, 0.5)):
        assert named(family, *parameters) == ""
    assert named("Poisson", 1e9) == ""
    assert difference("geometric(0.4)", "geometric(0.4)") == f"discrete Laplace({-math.log(0.6):.12g})"
    assert difference("Poisson(4)", "Poisson(2.5)") == "Skellam(4, 2.5)"
    assert difference("geometric(0.4)", "geometric(0.5)") == difference("Poisson(4)", "geometric(0.4)") == ""
    assert lattice("laplace") is None
    assert [is_known(x) for x in ("laplace", "Poisson(3)", "t")] == [True, True, False]
