"""Lemmas 12 and 15, Theorems 11 and 14 as functions with explicit constants: printed beside what is proved here.

| paper | here |
|---|---|
| Lemma 12 | `gradient_error_printed`; proved: `gradient_error_closed`, `gradient_errors` |
| Lemma 15 | `noisy_gradient_error_printed`; proved: `noisy_gradient_errors` |
| the averages with 9, 12, 6, 2 and 9, 24, 48, 24 | `gap_printed`, `noisy_gap_printed` |
| Theorem 11 | `rate_printed`; with constants `gap_at_choice_printed` |
| Theorem 14 | `noisy_rate_printed`; with constants `noisy_gap_at_choice_printed` |
| E[α_r^t] ≤ 2 s_r log J | `vertex_excess_printed`; exact value `laplace_excess`, `gumbel_excess` |
| Γ_r ≤ 3 L_0 D 2^{r/2} | `telescoped_printed`; proved: `telescoped_bound` |

All gaps are E[Gap_{F_D}(ŵ)] for ŵ uniform over the iterates. Trivially Gap ≤ L0·D.

**The descent step.** Smoothness alone (no convexity) gives F(w_{t+1}) ≤ F(w_t) + η_t⟨∇F(w_t), v_t − w_t⟩ +
L1·D²η_t²/2, and ⟨∇F, v_t − w⟩ ≤ ⟨∇F − ∇̂, v_t − v*⟩ + ⟨∇F, v* − w⟩ + α_t, v* the minimiser of ⟨∇F, ·⟩, ⟨∇F, v* − w⟩ =
−Gap(w). Divide by η_t and sum: Σ_t E Gap(w_t) ≤ Γ + (L1·D²/2)Σ_t η_t + D·Σ_t E‖e_t‖_* + Σ_t E α_t, e_t = ∇̂_t −
∇F(w_t).

**Improvement D (any start, one round).** Γ = Σ_{t<T} √(t+1)·E[F(w_t) − F(w_{t+1})] = Σ_{t<T}(√(t+1) − √t)·E[F(w_t) −
F(w_T)] by Abel summation, and |F(w) − F(w')| ≤ L0·D: Γ ≤ √T·L0·D. The start does not enter, so rounds buy nothing:
one round of T steps has the same bound with all samples in it.

**Improvement B (gradient error).** Given the past, e_t = (1−η_t)e_{t−1} + (1/m_t)Σ_{z∈B_t}(X_z − E X_z) with
independent X_z = ∇f(w_t,z) − (1−η_t)∇f(w_{t−1},z), ‖X_z‖_* ≤ c_t (`sensitivity.record_bound`). Put V_t = Σ_{k≤t}
P_{k,t}²c_k²/m_k ≤ [P_{0,t}²L0² + (L0+L1·D)²S_t]/b.

* *κ-regular dual.* Add the summands one at a time with (3); the linear term has mean 0, ‖X − EX‖ ≤ 2c: E‖e_t‖_*² ≤
  4κV_t. One κ, not κ_+·κ.
* *ℓ_2.* E‖X − EX‖_2² ≤ E‖X‖_2² ≤ c²: E‖e_t‖_2² ≤ V_t. In ℓ_q this gives E‖e_t‖_q² ≤ d^{1−2/q}V_t.
* *Polyhedral norm with J vertices.* ⟨v, X_z⟩ lies in [−c, c] for every vertex v of the unit ball, so by Hoeffding's
  lemma E[e^{λ⟨v, e_t⟩}] ≤ e^{λ²V_t/2} (condition step by step), and ‖e‖_* = max_v⟨v, e⟩ has E‖e_t‖_* ≤ (ln J)/λ +
  λV_t/2 = √(2 ln J·V_t) at the best λ. No regularity is used, the factor 4 is gone, and 2 ln J is what the paper
  calls κ: this proves Lemma 12 with room to spare, although its proof (κ twice, a missing factor 2, an unproved κ)
  does not.
* *A polytope W with J vertices in any normed space.* The same for the J² differences v − v' of vertices of W: ⟨v −
  v', X⟩ lies in [−Dc, Dc], so E max_{v,v'}⟨e_t, v − v'⟩ ≤ D√(4 ln J·V_t). The descent step needs no more, so the norm
  need not be polyhedral.

**Improvement C (rate).** T^{−1/2} + √(ln J/b)·T^{1/4} + ln J·T^{3/4}√L/(bε) at T = min{(b/ln J)^{2/3}, (bε/(ln
J√L))^{4/5}}: `rate_tight`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import INF, Exact, Numbers, Real, dual_exponent
from reference.numerics.preconditions import require, whole
from reference.paper.registry import claims
from reference.privacy import SelectionNoise, gaussian_mu, log_inverse
from reference.smooth.calibration import (
    dimension_factor,
    gaussian_stretch,
    laplace_scale,
    tight_deviation,
    tight_scale,
)
from reference.smooth.regular_spaces import kappa_printed, kappa_provable
from reference.smooth.sensitivity import batch_sizes, decay, record_bound, step_size

Constants = tuple[Any, Any, Any]
"""(L0, L1, D)."""


def _scale(K: Numbers, constants: Constants) -> tuple[Real, Real, Real]:
    L0, L1, D = constants
    return K(L0), K(L1), K(D)


# ------------------------------------------------------------------------------------------ the sums


ROUND_CONSTANTS: dict[str, tuple[int, Fraction, int]] = {
    "9": (3, Fraction(1, 2), 9),
    "12": (4, Fraction(1, 2), 12),
    "6": (8, Fraction(5, 4), 6),
    "2": (4, Fraction(2), 2),
    "24": (8, Fraction(1, 2), 24),
    "48": (32, Fraction(5, 4), 48),
    "24'": (32, Fraction(7, 4), 24),
}
"""Name → (c, a, C): the proofs bound Σ_{r<R} c·2^{ar} by C·2^{aR}; 9, 12, 6, 2 in Theorem 11; 9, 24, 48, 24' in
Theorem 14.
"""


def round_sum(K: Numbers, coefficient: int, exponent: Fraction, R: int) -> Real:
    """Σ_{r<R} c·2^{ar}."""
    return coefficient * K.sum(K.power(K(2), exponent * r) for r in range(whole("R", R)))


def round_sum_limit(K: Numbers, coefficient: int, exponent: Fraction) -> Real:
    """c/(2^a − 1): the smallest C with Σ_{r<R} c·2^{ar} ≤ C·2^{aR} for all R (approached as R → ∞)."""
    return coefficient / (K.power(K(2), exponent) - 1)


def averaged_constant(K: Numbers, coefficient: int, exponent: Fraction, R: int) -> Real:
    """Σ_{r<R} c·2^{ar}/((2^R − 1)·2^{(a−1)R}): what stands before 2^{(a−1)R} once one divides by 2^R − 1, not 2^R."""
    return round_sum(K, coefficient, exponent, R) / ((2**R - 1) * K.power(K(2), (exponent - 1) * R))


# ---------------------------------------------------------------------------- the noise of the argmin


@claims("thm:convergence-polySFW", "printed")
def vertex_excess_printed(K: Numbers, J: int, s: Real) -> Real:
    """2·s·ln J ≥ E[α]: true for every J ≥ 1."""
    return 2 * s * K.log(K(whole("J", J)))


def laplace_excess(K: Numbers, J: int) -> Real:
    """E max of J unit Laplace variables: Σ_{j≤J}(1−2^{−j})/j − 2^{−J}/J; E[α] ≤ s times this.

    *Proof.* α = ⟨v_t,∇⟩ − min ≤ u(v*) − min_v u(v), whose mean is E max_v u(v) (u is symmetric). With F(x) = 1 −
    e^{−x}/2 for x > 0 and e^{x}/2 below, E max = ∫_0^∞ (1 − F^J) − ∫_{−∞}^0 F^J; the second is 2^{−J}/J, and in the
    first y = 1 − e^{−x}/2 turns dx into dy/(1−y) and (1 − y^J)/(1−y) into Σ_{j<J} y^j: it is Σ_{j≤J}(1 − 2^{−j})/j. ∎
    At most ln J for J ≥ 4: the increment 1/(J+1) + 2^{−J}/(J(J+1)) is at most 1/(J+1) + 1/(2(J+1)²) ≤ ln(1+1/J).
    """
    total, half = K(0), K(1)
    for j in range(1, whole("J", J) + 1):
        half = half / 2
        total = total + (1 - half) / j
    return total - half / J


def gumbel_excess(K: Numbers, J: int) -> Real:
    """ln J: E[α] ≤ s·(E max_v G(v) − E G) = s·(γ + ln J − γ) for noise −s·G."""
    return K.log(K(whole("J", J)))


def excess(K: Numbers, J: int, noise: SelectionNoise) -> Real:
    """The mean excess of the chosen vertex in units of the noise scale."""
    return gumbel_excess(K, J) if noise == "gumbel" else laplace_excess(K, J)


# ------------------------------------------------------------------------------------ gradient error


@claims("lem:grad-error-polySFW", "printed")
def gradient_error_printed(K: Numbers, t: int, b: int, J: int, constants: Constants, power_shift: int = 1) -> Real:
    """4L0√(ln J/b)(1−1/√(t+1))^{t+1} + 4(L1·D+L0)(ln J/√b)(t+1)^{1/4}; `power_shift` 0: the exponent t of the proof."""
    L0, L1, D = _scale(K, constants)
    log_J = K.log(K(J))
    first = 4 * L0 * K.sqrt(log_J / b) * (1 - step_size(K, t)) ** (t + power_shift)
    return first + 4 * (L1 * D + L0) * log_J / K.sqrt(K(b)) * K.power(K(t + 1), Fraction(1, 4))


@claims("lem:grad-error-polySFW")
def gradient_error_closed(K: Numbers, t: int, b: int, J: int, constants: Constants) -> Real:
    """√(2 ln J/b)·[P_{0,t}L0 + (L0+L1·D)((t+1)/2)^{1/4}]: improvement B for a polyhedral norm, in closed form.

    At most the printed bound for all t ≥ 0, J ≥ 2 (checked for the terms): √2·2^{−1/4} = 1.19 ≤ 4√(ln J)(=3.33 at J =
    2), and the rest covers √2·P_{0,t}. At t = 0, where S_0 = 0, the second term is dropped.
    """
    L0, L1, D = _scale(K, constants)
    rest = (L0 + L1 * D) * K.power(K(Fraction(t + 1, 2)), Fraction(1, 4)) if t else K(0)
    return K.sqrt(2 * K.log(K(J)) / b) * (decay(K, 0, t) * L0 + rest)


def error_variances(K: Numbers, sizes: Sequence[int], constants: Constants) -> list[Real]:
    """V_t = (1−η_t)²V_{t−1} + c_t²/m_t for the batches of a round."""
    L0, L1, D = constants
    value = K(0)
    values = []
    for t, size in enumerate(sizes):
        keep, bound = 1 - step_size(K, t), record_bound(K, t, L0, L1, D)
        value = keep * keep * value + bound * bound / size
        values.append(value)
    return values


@claims("lem:grad-error-polySFW", "tight")
def gradient_errors(K: Numbers, sizes: Sequence[int], J: int, constants: Constants) -> list[Real]:
    """√(2 ln J·V_t): the bound of improvement B on E‖e_t‖_* for every t, J the number of vertices of the norm's unit
    ball.
    """
    factor = 2 * K.log(K(J))
    return [K.sqrt(factor * v) for v in error_variances(K, sizes, constants)]


@claims("lem:grad-error-noisySFW", "printed")
def noisy_gradient_error_printed(
    K: Numbers, t: int, b: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact, power_shift: int = 1
) -> Real:
    """Lemma 15 as printed; `power_shift` 0: the exponent t of the proof."""
    L0, L1, D = _scale(K, constants)
    kappa, noise = kappa_printed(K, d, dual_exponent(p)), _noise_term_printed(K, b, d, p, epsilon, delta)
    first = 8 * L0 * (K.sqrt(kappa / b) + noise) * (1 - step_size(K, t)) ** (t + power_shift)
    quarter = K.power(K(t + 1), Fraction(1, 4))
    return first + 16 * (L1 * D + L0) * (kappa / K.sqrt(K(b)) * quarter + noise * quarter**3)


def lemma_15_units(K: Numbers, t: int) -> tuple[Real, Real, Real, Real]:
    """Lemma 15 as stated is true for d ≥ 2 where the constant 16 suffices (E4.2): needed and claimed, data and noise.

    *Proof.* In units of κ/√b the data part needs at most 2√e·(P_{0,t} + ((t+1)/2)^{1/4}) per L0 (without P_{0,t} per
    L1·D): √φ ≤ 2√(κ_provable), and κ_provable ≤ e·κ, where κ is the printed one. (If q − 1 ≤ 2 ln d both are q − 1 or
    less; else ρ = 2 ln d gives e(2 ln d − 1) for d ≥ 3, and 2 ≤ e·2 ln 2 at d = 2.) And κ ≥ 1 for d ≥ 2, so √κ ≤ κ.
    In units of √(dκκ̃L)/(bε) the noise part needs at most 4√2·√((t+1)(P_{0,t}² + √((t+1)/2))): a step's joint
    deviation is at most (4√L·d^{1/p−1/2}/(bε))√(k+1)(L0+L1·D), Σ_k(k+1)P_{k,t}² ≤ (t+1)(P_{0,t}² + S_t), and E‖g‖_q ≤
    d^{1/q}√(2 ln(2d)) ≤ d^{1/q}√(2κ̃) (√d at p = 2). Claimed is 8(1−1/√(t+1))^{t+1} + 16(t+1)^{1/4}, and
    16(t+1)^{3/4}. ∎
    """
    P, quarter = decay(K, 0, t), K.power(K(t + 1), Fraction(1, 4))
    half = K.power(K(Fraction(t + 1, 2)), Fraction(1, 4)) if t else K(0)
    data = 2 * K.sqrt(K.exp(K(1))) * (P + half)
    noise = 4 * K.sqrt(2 * (t + 1) * (P * P + half * half))
    return data, 8 * (1 - step_size(K, t)) ** (t + 1) + 16 * quarter, noise, 16 * quarter**3


def kappa_tilde(K: Numbers, d: int, p: Any) -> Real:
    """κ̃ = 1 + ln d·1(p < 2)."""
    return K(1) + (K.log(K(d)) if p < 2 else K(0))


def _noise_term_printed(K: Numbers, b: int, d: int, p: Any, epsilon: Exact, delta: Exact) -> Real:
    """√(dκκ̃·log(1/δ))/(bε)."""
    product = d * kappa_printed(K, d, dual_exponent(p)) * kappa_tilde(K, d, p) * log_inverse(K, delta)
    return K.sqrt(product) / (b * K(epsilon))


def gaussian_norm(K: Numbers, d: int, q: Any) -> Real:
    """A bound on E‖g‖_q, g standard Gaussian in ℝ^d: d^{1/q}·min{(E|g_1|^q)^{1/q}, √(2 ln(2d))}, or √(2 ln(2d)) at q
    = ∞.

    E‖g‖_q ≤ (E‖g‖_q^q)^{1/q}, E|g_1|^q = 2^{q/2}Γ((q+1)/2)/√π; and ‖g‖_q ≤ d^{1/q}‖g‖_∞ with E max of 2d Gaussians
    ±g_j ≤ √(2 ln(2d)).
    """
    largest = K.sqrt(2 * K.log(K(2 * d)))
    if q == INF:
        return largest
    q = Fraction(q)
    moment = K.power(K(2), q / 2) * K.gamma(K((q + 1) / 2)) / K.sqrt(K.pi)
    return K.power(K(d), 1 / q) * K.min(K.power(moment, 1 / q), largest)


def data_factor(K: Numbers, d: int, p: Any) -> Real:
    """The smallest proven φ with E‖e_t‖_q² ≤ φ·V_t (without noise): min{4κ, d^{1−2/q}}, so 1 at p = 2."""
    q = dual_exponent(p)
    euclidean = K.power(K(d), 1 - (0 if q == INF else Fraction(2) / Fraction(q)))
    return K.min(euclidean, 4 * kappa_provable(K, d, q).kappa)


@claims("lem:grad-error-noisySFW", "tight")
def noisy_gradient_errors(
    K: Numbers, sizes: Sequence[int], d: int, p: Any, constants: Constants, deviations: Sequence[Real]
) -> list[Real]:
    """√(φV_t) + √(Σ_k P_{k,t}²σ_k²)·E‖g‖_q ≥ E‖e_t‖_q, for noise of deviation σ_k added to X_k.

    e_t is linear in data and noise: its noise part Σ_k P_{k,t}N_k is *one* Gaussian vector, so no κ multiplies it. If
    the deviations depend on the past but stay below σ_k, topping the noise up to σ_k with independent centred noise
    only raises the mean norm (Jensen), so the bound stays.
    """
    factor, mean = data_factor(K, d, p), gaussian_norm(K, d, dual_exponent(p))
    noise = K(0)
    errors = []
    for t, (variance, sigma) in enumerate(zip(error_variances(K, sizes, constants), deviations, strict=True)):
        keep = 1 - step_size(K, t)
        noise = keep * keep * noise + sigma * sigma
        errors.append(K.sqrt(factor * variance) + K.sqrt(noise) * mean)
    return errors


# ------------------------------------------------------------------------------------ telescoped sum


def telescoped_printed(K: Numbers, steps: int, L0: Exact, D: Exact | Real) -> Real:
    """3·L0·D·√T ≥ Γ."""
    return 3 * telescoped_bound(K, steps, L0, D)


@claims("thm:convergence-polySFW", "tight")
def telescoped_bound(K: Numbers, steps: int, L0: Exact, D: Exact | Real) -> Real:
    """L0·D·√T ≥ Γ, whatever the start (improvement D); attained when F falls by L0·D in the last step."""
    return K.sqrt(K(whole("steps", steps))) * K(L0) * K(D)


def step_sum(K: Numbers, steps: int) -> Real:
    """Σ_{t<T} 1/√(t+1) ≤ 2√T."""
    return K.sum(step_size(K, t) for t in range(steps))


def round_gap_sum(K: Numbers, errors: Sequence[Real], excesses: Real, constants: Constants) -> Real:
    """The bound on Σ_{t<T} E Gap(w_t) in one round, from E‖e_t‖_* ≤ errors[t] and E α_t ≤ excesses."""
    L0, L1, D = _scale(K, constants)
    T = len(errors)
    smooth = L1 * D * D / 2 * step_sum(K, T)
    return telescoped_bound(K, T, L0, D) + smooth + D * K.sum(errors) + T * excesses


# ------------------------------------------------------------------------------------- Algorithm 4


@claims("thm:convergence-polySFW", "printed")
def gap_printed(K: Numbers, R: int, b: int, J: int, constants: Constants, epsilon: Exact, delta: Exact) -> Real:
    """The averaged bound of the proof of Theorem 11 (constants 9, 12, 6, 2) before R and b are put in."""
    L0, L1, D = _scale(K, constants)
    big, half = D * (L0 + L1 * D), K.power(K(2), Fraction(-R, 2))
    log_J, root_log = K.log(K(J)), K.sqrt(log_inverse(K, delta))
    first = 9 * big * half + 12 * L0 * D * K.sqrt(log_J / b) * half
    third = 6 * big * log_J / K.sqrt(K(b)) * K.power(K(2), Fraction(R, 4))
    return first + third + 2 * big * log_J * root_log / (b * K(epsilon)) * 2**R


@claims("thm:convergence-polySFW")
def gap_corrected(K: Numbers, R: int, b: int, J: int, constants: Constants, epsilon: Exact, delta: Exact) -> Real:
    """The proven bound for corrected Algorithm 4 (rounds, Laplace, printed scale): exact sums over 2^R − 1 iterates."""
    L0, L1, D = constants
    total = K(0)
    for r in range(R):
        errors = gradient_errors(K, batch_sizes(b, 2**r), J, constants)
        s = laplace_scale(K, r, b, L0, L1, D, epsilon, delta)
        total = total + round_gap_sum(K, errors, s * laplace_excess(K, J), constants)
    return total / (2**R - 1)


@claims("thm:convergence-polySFW", "tight")
def gap_tight(
    K: Numbers,
    T: int,
    b: int,
    J: int,
    constants: Constants,
    epsilon: Exact,
    delta: Exact,
    noise: SelectionNoise = "gumbel",
    J_norm: int | None = None,
) -> Real:
    """The proven bound for `poly_sfw_tight`: one round, T iterates, T − 1 released steps (the last one only in the
    analysis).

    J counts the vertices of W, `J_norm` those of the norm's unit ball (J if not given). With `J_norm` = J² the bound
    holds for any norm: J² differences of vertices of W take the place of the ball's vertices.
    """
    L0, L1, D = constants
    errors = gradient_errors(K, batch_sizes(b, whole("T", T, 2)), J if J_norm is None else J_norm, constants)
    s = tight_scale(K, T - 1, b, L0, L1, D, epsilon, delta, noise)
    return round_gap_sum(K, errors, s * excess(K, J, noise), constants) / T


def choice_argument(K: Numbers, n: int, J: int, epsilon: Exact, delta: Exact) -> Real:
    """x = nε/(ln²J·ln²n·√L): Theorem 11 sets 2^R = x^{2/3}, so its R is (2/3)·log2 x."""
    logs = K.log(K(J)) * K.log(K(n))
    return n * K(epsilon) / (logs * logs * K.sqrt(log_inverse(K, delta)))


@claims("thm:convergence-polySFW", "printed")
def gap_at_choice_printed(
    K: Numbers, n: int, J: int, constants: Constants, epsilon: Exact, delta: Exact
) -> tuple[Real, Real, Real, Real]:
    """The four terms of the proof's last display, as printed."""
    L0, L1, D = _scale(K, constants)
    big, log_J, log_n, L = D * (L0 + L1 * D), K.log(K(J)), K.log(K(n)), log_inverse(K, delta)
    rate = K.power(log_J * log_J * K.sqrt(L) * log_n * log_n / (n * K(epsilon)), Fraction(1, 3))
    third = K.power(K(epsilon), Fraction(1, 6)) / (K.power(log_n, Fraction(1, 3)) * K.power(L, Fraction(1, 12)))
    third = third * K.power(log_J * log_J / n, Fraction(1, 3))
    return 9 * big * rate, 12 * L0 * D * K.sqrt(log_J * log_n * log_n / n) * rate, 6 * big * third, 2 * big * rate


def gap_at_choice(
    K: Numbers, n: int, J: int, constants: Constants, epsilon: Exact, delta: Exact
) -> tuple[Real, Real, Real, Real]:
    """The four terms of `gap_printed` at 2^R = x^{2/3}, b = n/ln²n, computed rather than simplified."""
    L0, L1, D = _scale(K, constants)
    big, log_J, log_n, L = D * (L0 + L1 * D), K.log(K(J)), K.log(K(n)), log_inverse(K, delta)
    power, b = K.power(choice_argument(K, n, J, epsilon, delta), Fraction(2, 3)), n / (log_n * log_n)
    half = 1 / K.sqrt(power)
    third = 6 * big * log_J / K.sqrt(b) * K.power(power, Fraction(1, 4))
    fourth = 2 * big * log_J * K.sqrt(L) / (b * K(epsilon)) * power
    return 9 * big * half, 12 * L0 * D * K.sqrt(log_J / b) * half, third, fourth


@claims("thm:convergence-polySFW", "printed")
def rate_printed(K: Numbers, n: int, J: int, constants: Constants, epsilon: Exact, delta: Exact) -> Real:
    """Theorem 11 without its constant: D(L0+L1·D)(ln²J·ln²n·√L/(nε))^{1/3}. Needs ε = O(√L)."""
    L0, L1, D = _scale(K, constants)
    return D * (L0 + L1 * D) / K.power(choice_argument(K, n, J, epsilon, delta), Fraction(1, 3))


RATE_CONSTANT = 7
"""C in gap ≤ C·`rate_tight`: √2 (floor of T) + 3.6 (error) + 1.71 (noise), see `rate_tight`."""


@claims("thm:convergence-polySFW", "tight")
def rate_tight(K: Numbers, b: int, J: int, constants: Constants, epsilon: Exact, delta: Exact) -> Real:
    """Improvement C: D(L0+L1·D)[(ln J/b)^{1/3} + (ln J·√L/(bε))^{2/5}], for L ≥ 1, b ≥ ln J, J ≥ 2, Gumbel noise.

    *Proof of gap ≤ 7 times this at T = `steps_tight`.* Let x be the minimum before rounding, T = ⌊x⌋ ≥ x/2, x ≥ 1,
    and divide all by D(L0+L1·D). (i) Γ and the step sum: (L0·D·√T + L1·D²·√T)/T, so T^{−1/2} ≤ √2·x^{−1/2} ≤ √2·(the
    larger of the two rates). (ii) Errors: √(2 ln J/b)·(1/T)Σ_t(P_{0,t} + ((t+1)/2)^{1/4}) ≤ 3.6·√(ln J/b)·T^{1/4} ≤
    3.6(ln J/b)^{1/3}, since ΣP_{0,t} ≤ 1.7 and Σ(t+1)^{1/4} ≤ T^{5/4}. (iii) Noise, closed form: s·ln J ≤
    (1/√2)·T^{3/4}·ln J·(√(L+ε)+√L)/(bε). If ε ≤ L the bracket is at most (1+√2)√L: 1.71(ln J√L/(bε))^{2/5}. If ε > L
    it is at most (1+√2)√ε, and T^{3/4} ≤ (b/ln J)^{1/2}: 1.71(ln J/b)^{1/2} ≤ 1.71(ln J/b)^{1/3}. So ε = O(√L) is not
    needed. ∎
    """
    L0, L1, D = _scale(K, constants)
    log_J, root_log = K.log(K(J)), K.sqrt(log_inverse(K, delta))
    rates = K.power(log_J / b, Fraction(1, 3)) + K.power(log_J * root_log / (b * K(epsilon)), Fraction(2, 5))
    return D * (L0 + L1 * D) * rates


def steps_tight(K: Numbers, b: int, J: int, epsilon: Exact, delta: Exact) -> int:
    """⌊min{(b/ln J)^{2/3}, (bε/(ln J√L))^{4/5}}⌋: the T of `rate_tight`; refused below 2."""
    log_J, root_log = K.log(K(J)), K.sqrt(log_inverse(K, delta))
    x = K.min(K.power(b / log_J, Fraction(2, 3)), K.power(b * K(epsilon) / (log_J * root_log), Fraction(4, 5)))
    T = K.floor(x)
    require(T >= 2, "T", T, "be at least 2", f"b = {b} is too small for J = {J} and this privacy; use more records")
    return T


# ------------------------------------------------------------------------------------- Algorithm 5


@claims("thm:convergence-noisySFW", "printed")
def noisy_gap_printed(
    K: Numbers, R: int, b: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact
) -> Real:
    """The averaged bound of the proof of Theorem 14 (constants 9, 24, 48, 24)."""
    L0, L1, D = _scale(K, constants)
    big, half = D * (L0 + L1 * D), K.power(K(2), Fraction(-R, 2))
    kappa, noise = kappa_printed(K, d, dual_exponent(p)), _noise_term_printed(K, b, d, p, epsilon, delta)
    first = 9 * big * half + 24 * D * L0 * (K.sqrt(kappa / b) + noise) * half
    third = 48 * big * kappa / K.sqrt(K(b)) * K.power(K(2), Fraction(R, 4))
    return first + third + 24 * big * noise * K.power(K(2), Fraction(3 * R, 4))


@claims("thm:convergence-noisySFW")
def noisy_gap_corrected(
    K: Numbers, R: int, b: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact
) -> Real:
    """The proven bound for corrected Algorithm 5: the two noises of a step add up to one Gaussian of their joint
    deviation.
    """
    total = K(0)
    deviations = corrected_deviations(K, 2 ** (R - 1), b, d, p, constants, epsilon, delta)
    for r in range(R):
        errors = noisy_gradient_errors(K, batch_sizes(b, 2**r), d, p, constants, deviations[: 2**r])
        total = total + round_gap_sum(K, errors, K(0), constants)
    return total / (2**R - 1)


def corrected_deviations(
    K: Numbers, steps: int, b: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact
) -> list[Real]:
    """√((1−η_t)²σ̂_t² + η_t²σ_t²) for t < T: the joint deviation of a step's two noises, corrected (E4.1, E4.2)."""
    L0, L1, D = _scale(K, constants)
    unit = 4 * dimension_factor(K, d, p) * K.sqrt(log_inverse(K, delta)) / (b * K(epsilon))
    deviations = [unit * gaussian_stretch(K, epsilon, delta, 1) * L0]
    later = unit * gaussian_stretch(K, epsilon, delta, 2)
    for t in range(1, steps):
        eta = step_size(K, t)
        first, second = (1 - eta) * L1 * D * step_size(K, t - 1), eta * L0
        deviations.append(later * (t + 1) * K.sqrt(first * first + second * second))
    return deviations


@claims("thm:convergence-noisySFW", "tight")
def noisy_gap_tight(
    K: Numbers, T: int, b: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact
) -> Real:
    """The proven bound for `noisy_sfw_tight` (adaptive or not): one round of T iterates."""
    L0, L1, D = constants
    sizes, mu = batch_sizes(b, whole("T", T, 2)), gaussian_mu(K, epsilon, delta)
    deviations = [tight_deviation(K, m, record_bound(K, t, L0, L1, D), d, p, mu) for t, m in enumerate(sizes)]
    errors = noisy_gradient_errors(K, sizes, d, p, constants, deviations)
    return round_gap_sum(K, errors, K(0), constants) / T


def noisy_choice_argument(K: Numbers, n: int, d: int, p: Any, epsilon: Exact, delta: Exact) -> Real:
    """x = nε/(√(dκ̃L)·κ^{5/3}·ln²n): Theorem 14 sets 2^R = x^{4/5}."""
    kappa, log_n = kappa_printed(K, d, dual_exponent(p)), K.log(K(n))
    root = K.sqrt(d * kappa_tilde(K, d, p) * log_inverse(K, delta))
    return n * K(epsilon) / (root * K.power(kappa, Fraction(5, 3)) * log_n * log_n)


@claims("thm:convergence-noisySFW", "printed")
def noisy_gap_at_choice_printed(
    K: Numbers, n: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact
) -> tuple[Real, Real, Real, Real]:
    """The four terms of the display after R is put in, as printed."""
    L0, L1, D = _scale(K, constants)
    big, log_n, L = D * (L0 + L1 * D), K.log(K(n)), log_inverse(K, delta)
    kappa, tilde, e = kappa_printed(K, d, dual_exponent(p)), kappa_tilde(K, d, p), K(epsilon)
    rate = K.power(d * tilde * L, Fraction(1, 5)) * K.power(log_n, Fraction(4, 5)) / K.power(n * e, Fraction(2, 5))
    two_thirds = K.power(kappa, Fraction(2, 3))
    inner = K.sqrt(kappa * log_n * log_n / n) + K.sqrt(d * kappa * tilde * L) * log_n * log_n / (n * e)
    third = K.power(e, Fraction(1, 5)) * K.power(log_n, Fraction(3, 5)) / K.power(K(n), Fraction(3, 10))
    third = 48 * big * two_thirds * third / K.power(d * tilde * L, Fraction(1, 10))
    return 9 * big * two_thirds * rate, 24 * D * L0 * two_thirds * inner * rate, third, 24 * big * rate / K.sqrt(kappa)


def noisy_gap_at_choice(
    K: Numbers, n: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact
) -> tuple[Real, Real, Real, Real]:
    """The four terms of `noisy_gap_printed` at 2^R = x^{4/5}, b = n/ln²n, computed rather than simplified."""
    L0, L1, D = _scale(K, constants)
    big, log_n, L = D * (L0 + L1 * D), K.log(K(n)), log_inverse(K, delta)
    kappa, tilde = kappa_printed(K, d, dual_exponent(p)), kappa_tilde(K, d, p)
    power, b = K.power(noisy_choice_argument(K, n, d, p, epsilon, delta), Fraction(4, 5)), n / (log_n * log_n)
    noise = K.sqrt(d * kappa * tilde * L) / (b * K(epsilon))
    half, quarter = 1 / K.sqrt(power), K.power(power, Fraction(1, 4))
    second = 24 * D * L0 * (K.sqrt(kappa / b) + noise) * half
    return 9 * big * half, second, 48 * big * kappa / K.sqrt(b) * quarter, 24 * big * noise * quarter**3


@claims("thm:convergence-noisySFW", "printed")
def noisy_rate_printed(K: Numbers, n: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact) -> Real:
    """Theorem 14 without its constant."""
    L0, L1, D = _scale(K, constants)
    log_n, L = K.log(K(n)), log_inverse(K, delta)
    second = K.power(d * kappa_tilde(K, d, p) * L, Fraction(1, 5)) * K.power(log_n, Fraction(4, 5))
    second = second / K.power(n * K(epsilon), Fraction(2, 5))
    first = K.power(log_n * log_n / n, Fraction(1, 3))
    kappa = kappa_printed(K, d, dual_exponent(p))
    return D * (L0 + L1 * D) * K.power(kappa, Fraction(2, 3)) * (first + second)


@claims("thm:convergence-noisySFW", "tight")
def noisy_rate_tight(K: Numbers, b: int, d: int, p: Any, constants: Constants, epsilon: Exact, delta: Exact) -> Real:
    """D(L0+L1·D)[(φ/b)^{1/3} + (G·d^{1/p−1/2}/(bμ*))^{2/5}], φ = `data_factor`, G = `gaussian_norm`: κ^{1/3} where
    κ^{2/3} is printed.

    From T^{−1/2} + √(φ/b)T^{1/4} + G·d^{1/p−1/2}T^{3/4}/(bμ*) at the smaller of the two balances; no embedding into
    more dimensions.
    """
    L0, L1, D = _scale(K, constants)
    data = data_factor(K, d, p) / b
    width = gaussian_norm(K, d, dual_exponent(p)) * dimension_factor(K, d, p)
    noise = width / (b * gaussian_mu(K, epsilon, delta))
    return D * (L0 + L1 * D) * (K.power(data, Fraction(1, 3)) + K.power(noise, Fraction(2, 5)))
