"""Section 2: (ε,δ)-differential privacy, its mechanisms and its composition rules.

====================  ==========================================================================
paper                 here
====================  ==========================================================================
ε, δ                  `epsilon`, `delta`
S, S' (one point)     neighbours: same size, one record replaced
k (composition)       `k`
δ' (Lemma 1)          `delta_prime`
ε0 (one step)         `epsilon0`
ρ-zCDP                `rho`
μ-GDP                 `mu`: sensitivity / standard deviation of a Gaussian release
s (Laplace scale)     `scale`
====================  ==========================================================================

How the numbers are made. Every closed form below is evaluated on balls, at as many bits as it takes for the
relative radius to reach the accuracy of `K`, and is rounded once into `K` (`reference.numerics.enclosures`):

* `Ball(bits)`: an enclosure, about `bits` bits tight when the arguments are exact. Arguments that are balls
  with a radius are carried through.
* `MP(digits)`, `Float64()`: the value of the formula at the exact binary value of the arguments, correct to the
  last digit or two; nothing is lost to cancellation. A positive δ below the range of binary64 becomes the
  smallest positive binary64 value, never 0. A decimal string such as ``"1e-400"`` is read exactly in all three.

What binary64 noise does to a guarantee. All statements here are about real-valued noise. A binary64 generator
has gaps: the set of sums `q + s·noise` that can occur depends on the low bits of `q`, so that for two neighbours
some outputs are possible on one side only, and one such output identifies the dataset (Mironov, CCS 2012). Of
the outputs of textbook Laplace noise (±ln u) around 0, six in ten cannot occur around 1: what remains of ε = 1 is
(∞, 0.6), although a test that bins the outputs sees the intended ε. Rounding the
*released value* to a grid that does not depend on the data, or drawing the noise exactly on such a grid, removes
the effect; `reference.numerics.exact_samplers` does the latter over the rationals. An argmin over noisy scores
(report-noisy-min) releases no noisy value: there the low bits act only through near-ties.
"""

from __future__ import annotations

from reference.privacy.composition import (
    advanced_composition,
    advanced_composition_tanh,
    log_inverse,
)
from reference.privacy.counterexamples import (
    dual_norm_of_another_product,
    excess_risk_without_a_minimiser,
    two_neighbour_relations,
)
from reference.privacy.definition import dp_delta, dp_epsilon, hockey_stick
from reference.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_mu, gaussian_mu_safe, gdp_composition
from reference.privacy.laplace import laplace_delta
from reference.privacy.noisy_min import (
    SELECTION_NOISES,
    MinNoise,
    SelectionNoise,
    exponential_mechanism,
    noisy_min_epsilon,
    noisy_min_law,
)
from reference.privacy.optimal_composition import (
    kov_delta,
    kov_epsilon,
    kov_epsilon0,
)
from reference.privacy.zcdp import (
    bounded_range_rho,
    pure_rho,
    zcdp_delta,
    zcdp_rho,
)

__all__ = [
    "SELECTION_NOISES",
    "MinNoise",
    "SelectionNoise",
    "advanced_composition",
    "advanced_composition_tanh",
    "bounded_range_rho",
    "dp_delta",
    "dp_epsilon",
    "dual_norm_of_another_product",
    "excess_risk_without_a_minimiser",
    "exponential_mechanism",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "gaussian_mu_safe",
    "gdp_composition",
    "hockey_stick",
    "kov_delta",
    "kov_epsilon",
    "kov_epsilon0",
    "laplace_delta",
    "log_inverse",
    "noisy_min_epsilon",
    "noisy_min_law",
    "pure_rho",
    "two_neighbour_relations",
    "zcdp_delta",
    "zcdp_rho",
]
