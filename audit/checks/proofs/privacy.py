"""Steps of the privacy proofs: selection with noise, zCDP, conversions, composition, Gaussian profiles (Section 2).

The proofs are written out in `reference/privacy/`; these are their inequalities, each for all parameters.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from audit.checks.proofs.steps import (
    Cover,
    Identity,
    Induction,
    OnPaper,
    Parts,
    ProofStep,
    Quoted,
    Smt,
    step,
)
from audit.checks.proofs.terms import Symbolic, absolute, real, reals
from reference.privacy.zcdp import bounded_range_rho, pure_rho

LEMMA_1 = "lem:adv_comp"
SELECTION = ("thm:l1_glm", "thm:privacy-polySFW")
"""The theorems whose privacy rests on report-noisy-min."""
GAUSSIAN = ("thm:l2_glm", "thm:l2_glm_unconstrained", "thm:privacy-noisySFW", "thm:nsmth_ncnvx")
"""The theorems whose privacy rests on Gaussian releases."""
F, S = Fraction, Symbolic()


def steps() -> list[ProofStep]:
    """All steps, in the order of Section 2."""
    return [*selection(), *concentrated(), *composition(), *gaussian()]


# ------------------------------------------------------------------------------------------- report-noisy-min


def selection() -> list[ProofStep]:
    """Report-noisy-min is (r/s)-DP, r the range of the change of the scores."""
    r, c, m, n, q, y = reals("r c m n q y")
    E, A, B, a, b = reals("E A B a b")
    low, shift = reals("low shift")
    return [
        step(
            "selection.threshold",
            SELECTION,
            "the threshold below which a candidate wins moves by at most the range r of the change of the scores",
            Smt(
                "all scores, 0 ≤ c ≤ r (a common constant cancels)",
                (c >= 0, c <= r, n - m >= 0, n - m <= r),
                absolute((n - q - c) - (m - q)) <= r,
                F(99, 100),
            ),
        ),
        step(
            "selection.laplace",
            SELECTION,
            "the log-cdf of unit Laplace noise is 1-Lipschitz: density over cdf, (y/2)/(1 − y/2), is at most 1 above 0",
            Smt("y = e^{−x} in (0, 1], x ≥ 0 (below 0 it is 1)", (y > 0, y <= 1), y / 2 <= 1 - y / 2, F(99, 100)),
        ),
        step(
            "selection.average",
            SELECTION,
            "F(τ') ≤ e^{r/s}F(τ) for every value of the other noises, so also on average; ties have probability 0",
            OnPaper("reference/privacy/noisy_min.py, noisy_min_epsilon"),
        ),
        step(
            "selection.gumbel",
            "thm:privacy-polySFW",
            "the exponential mechanism: the normaliser shrinks by a factor between e^{−r} and 1, one weight at a time",
            Smt(
                "one more candidate (none is trivial), E = e^{−r} in (0, 1]",
                (E > 0, E <= 1, A > 0, a > 0, B >= E * A, B <= A, b >= E * a, b <= a),
                E * (A + a) <= B + b,
                F(99, 100),
            ),
            "tight",
        ),
        step(
            "selection.range",
            "thm:privacy-polySFW",
            "the losses λ − c of the exponential mechanism have modulus and range at most r",
            Parts(
                "0 ≤ c, λ ≤ r",
                {
                    "modulus": Smt("", (c >= 0, c <= r, shift >= 0, shift <= r), absolute(shift - c) <= r, F(99, 100)),
                    "range": Smt(
                        "",
                        (c >= 0, c <= r, low >= 0, low <= r),
                        absolute((shift - c) - (shift - low)) <= r,
                        F(99, 100),
                    ),
                },
                "smt",
            ),
            "tight",
        ),
    ]


# -------------------------------------------------------------------------------------------------------- zCDP


def concentrated() -> list[ProofStep]:
    """Bounded range gives zCDP, and zCDP gives (ε, δ)."""
    low, w, mean, square = reals("low w mean square")
    alpha, psi, at_0, at_1, e, r, q, a, b, eps = reals("alpha psi at_0 at_1 e r q a b eps")
    of = ("thm:privacy-polySFW", "thm:l1_glm")
    both = (*of, "thm:l2_glm", "thm:l2_glm_unconstrained")
    return [
        step(
            "zcdp.variance",
            of,
            "a variable in an interval of length w has variance at most w²/4 (from E(Z − a)(a + w − Z) ≥ 0)",
            Smt(
                "every law on [a, a + w], through its first two moments",
                (w > 0, -square + (2 * low + w) * mean - low * (low + w) >= 0),
                square - mean * mean <= w * w / 4,
                F(99, 100),
            ),
            "tight",
        ),
        step(
            "zcdp.cumulant",
            of,
            "ψ − (w²/8)λ(λ − 1) is concave, ψ(0) = ψ(1) = 0: its chord from 0 to α at 1 gives ψ(α) ≤ (w²/8)α(α − 1)",
            Smt(
                "α > 1, w > 0",
                (
                    alpha > 1,
                    w > 0,
                    at_0.equals(0),
                    at_1.equals(0),
                    at_1 >= (1 - 1 / alpha) * at_0 + (psi - bounded_range_rho(S, w) * alpha * (alpha - 1)) / alpha,
                ),
                psi <= bounded_range_rho(S, w) * alpha * (alpha - 1),
                F(99, 100),
            ),
            "tight",
        ),
        step(
            "zcdp.pure",
            of,
            "an ε-DP step has losses in an interval of length 2ε: ε²/2-zCDP",
            Identity("all ε", pure_rho(S, e), bounded_range_rho(S, 2 * e)),
            "tight",
        ),
        step(
            "zcdp.markov",
            both,
            "at the order α = 1 + √(L/ρ) Markov's bound e^{(α−1)(αρ−ε)} is e^{−L} for ε = ρ + 2√(ρL)",
            Identity(
                "ρ = r² > 0, L = q² > 0", (q / r) * ((r * r + 2 * r * q) - (1 + q / r) * r * r), q * q, F(99, 100)
            ),
        ),
        step(
            "zcdp.root",
            of,
            "√ρ = √(L + ε) − √L solves ρ + 2√(ρL) = ε",
            Smt(
                "L = b² ≥ 0, ε > 0",
                (b >= 0, eps > 0, a >= 0, (a * a).equals(b * b + eps)),
                ((a - b) * (a - b) + 2 * (a - b) * b).equals(eps),
                F(99, 100),
            ),
            "tight",
        ),
        step(
            "zcdp.sharp",
            of,
            "the sharper conversion at the optimal order",
            Quoted("Canonne, Kamath and Steinke (2020), Proposition 12"),
            "tight",
        ),
    ]


# ------------------------------------------------------------------------------------------------- composition


def composition() -> list[ProofStep]:
    """Lemma 1, advanced composition."""
    p, d, k, y, e, t, L = reals("p d k y e t L")
    return [
        step(
            "composition.reveal",
            LEMMA_1,
            "for a fixed pair an (ε, δ)-DP step is: reveal the dataset with probability δ, else randomised response",
            Quoted("Kairouz, Oh and Viswanath (2015), Theorem 2.5"),
            "printed",
        ),
        step(
            "composition.bernoulli",
            LEMMA_1,
            "k steps all avoid the revealing branch with probability (1 − δ)^k ≥ 1 − kδ",
            Induction(
                "0 ≤ δ ≤ 1, k ≥ 1",
                Smt("k = 1", (d >= 0, d <= 1), 1 - d <= 1 - d, F(9, 10)),
                Smt(
                    "k to k + 1",
                    (d >= 0, d <= 1, k >= 1, p >= 0, p >= 1 - k * d),
                    1 - (k + 1) * d <= (1 - d) * p,
                    F(99, 100),
                ),
            ),
            "printed",
        ),
        step(
            "composition.mean",
            LEMMA_1,
            "randomised response has mean loss ε(y − 1)/(y + 1) = ε·tanh(ε/2), y = e^ε",
            Identity("all ε", y / (1 + y) * e - 1 / (1 + y) * e, e * (y - 1) / (y + 1)),
            "printed",
        ),
        step(
            "composition.hoeffding",
            LEMMA_1,
            "independent losses in [−ε, ε] exceed their mean by t with probability at most e^{−t²/(2kε²)}",
            Quoted("Hoeffding (1963); its lemma is the variance bound of zcdp.variance under a tilted law"),
            "printed",
        ),
        step(
            "composition.exponent",
            LEMMA_1,
            "at t = ε√(2kL) the exponent t²/(2kε²) is L = ln(1/δ')",
            Smt(
                "ε, k, L > 0",
                (e > 0, k > 0, L > 0, t >= 0, (t * t).equals(e * e * 2 * k * L)),
                t * t / (2 * k * e * e) >= L,
                F(99, 100),
            ),
            "printed",
        ),
        step(
            "composition.printed",
            LEMMA_1,
            "tanh(ε/2) = (y − 1)/(y + 1) ≤ e^ε − 1: the printed mean is above the exact one (by a factor 2 near 0)",
            Smt("y = e^ε ≥ 1", (y >= 1,), (y - 1) / (y + 1) <= y - 1, F(49, 100)),
            "printed",
        ),
    ]


# ----------------------------------------------------------------------------------------- Gaussian releases


def gaussian() -> list[ProofStep]:
    """One Gaussian release, several of them, and the tails."""
    e, m, s, T, sigma, mu, k, root_k, root_L = reals("e m s T sigma mu k root_k root_L")
    stretch = real("stretch")
    return [
        step(
            "gaussian.density",
            GAUSSIAN,
            "e^ε·φ(ε/μ + μ/2) = φ(ε/μ − μ/2): the exponents differ by ε, so ∂δ_G/∂μ = φ(ε/μ − μ/2) > 0",
            Identity("μ ≠ 0", ((e / m + m / 2) ** 2 - (e / m - m / 2) ** 2) / 2, e, F(99, 100)),
        ),
        step(
            "gaussian.profile",
            GAUSSIAN,
            "the exact profile δ_G of two Gaussians μ standard deviations apart, in any dimension",
            Quoted("Balle and Wang (2018), Theorem 8"),
        ),
        step(
            "gaussian.composition",
            "thm:nsmth_ncnvx",
            "T releases of sensitivity s with σ = s√T/μ compose to μ: T(s/σ)² = μ²",
            Smt(
                "s, μ, T > 0",
                (s > 0, mu > 0, T > 0, sigma > 0, (sigma * sigma * mu * mu).equals(s * s * T)),
                (T * (s / sigma) * (s / sigma)).equals(mu * mu),
                F(99, 100),
            ),
        ),
        step(
            "gaussian.stretch",
            "thm:privacy-noisySFW",
            "deviations raised by max(1, ε√k/(2√L·μ*)) leave k releases at most μ* apart",
            Smt(
                "ε, L, μ* > 0, k ≥ 1",
                (
                    e > 0,
                    root_L > 0,
                    mu > 0,
                    root_k >= 1,
                    stretch >= 1,
                    stretch >= e * root_k / (2 * root_L * mu),
                    k > 0,
                ),
                e * root_k / (2 * root_L) / stretch <= mu,
                F(99, 100),
            ),
        ),
        step(
            "gaussian.tail",
            ("sec:noisySFW", "thm:l2_glm", "thm:l2_glm_unconstrained"),
            "P(|g| > x) ≤ e^{−x²/2}",
            Cover("1/100 ≤ x ≤ 12", {"x": (F(1, 100), F(12))}, _tail, F(99, 100)),
        ),
        step(
            "gaussian.tail-ends",
            ("sec:noisySFW", "thm:l2_glm", "thm:l2_glm_unconstrained"),
            "the same near 0 and beyond 12: the difference has derivative e^{−x²/2}(√(2/π) − x), rises from 0 and falls"
            " to 0",
            OnPaper("one sign of a derivative, written in the sentence"),
        ),
    ]


def _tail(K: Any, x: Any) -> tuple[Any, Any]:
    """P(|g| > x) and e^{−x²/2}."""
    return K.erfc(x / K.sqrt(K(2))), K.exp(-x * x / 2)
