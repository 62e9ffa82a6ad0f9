"""What Algorithms 4 and 5 cannot do better than: a lower bound on the gap, and where the printed rates fall below it.

| paper | here |
|---|---|
| T = 2^{R−1}, the steps of the last round | `T` |
| Σ_{k≤t} P_{k,t}² | at least √(t+1)/2 (Fact 5) |
| E[Gap_{F_D}(ŵ)] | at least L0·D·`gap_floor(K, R, b)` on the instance below |

**The instance.** W = [−½, ½], f(w, z) = z·w, z = ±1 with mean μ > 0 (for Algorithm 5 in ℝ^d a box with this first
side, and z·w_1; times L0 and D for other constants). The loss is linear, so the estimate does not depend on the
iterates: ∇^t = Σ_{k≤t} η_k P_{k,t} z̄_k, z̄_k the mean of the m_k = ⌈b/(k+1)⌉ records of batch k. The weights sum to
1, so its mean is μ; its variance is (1−μ²)A_t, A_t = Σ_k η_k²P_{k,t}²/m_k.

**Fact 5.** Σ_{k=0}^{t} P_{k,t}² ≥ √(t+1)/2. *Proof.* 1 ≥ ½ at t = 0, and the sum follows s_t = 1 + (1−x)²s_{t−1}, x =
1/√(t+1). If s_{t−1} ≥ √t/2 = √(1−x²)/(2x), then s_t ≥ 1/(2x) because 2x − 1 + (1−x)²√(1−x²) ≥ x²/2 + x³ − x⁴ ≥ 0, by
√(1−x²) ≥ 1 − x²/2 − x⁴/2. ∎ With Fact 4 the sum is of the order √t, exactly.

**Lemma.** Let t+1 ≥ T/2 be in the last round, V = √T/(2(b+T)). (i) m_k ≤ (b+T)/(k+1), so A_t ≥ √(t+1)/(2(b+T)) ≥
V/√2. (ii) No record has a weight above √(t+1)/b, so by the theorem of Berry and Esseen (0.56, Shevtsova 2010)

    P(∇^t ≤ 0) ≥ Φ(−2^{1/4}μ/√((1−μ²)V)) − 0.56(1+μ²)/√(1−μ²)·T^{1/4}√(2(b+T))/b.

(E|z−μ|³ = (1−μ²)(1+μ²).) (iii) The step takes the wrong end of W if ∇^t is below a symmetric variable that does not
depend on it (a difference of two Laplace or Gumbel variables, or Gaussian noise): with probability q ≥ ½·P(∇^t ≤ 0).
(iv) Gap(w) = μ(w + ½), and h_t = E(w_t + ½) follows h_{t+1} = (1−η_t)h_t + η_t·q_t, so h_t ≥ q(1 − e^{−(t−T/2)/√T})
for t ≥ T/2; summed over the last round that is at least q(T/2 − √T − 1). Hence

    **E Gap(ŵ) ≥ μq(T/2 − √T − 1)/(2^R − 1)**, of the order √V = T^{1/4}/√(2b) at μ = (3/4)√V, whatever the noise. ∎

**Theorem 11 needs ε = O(√L·ln²J)** (E4.22). At its R and b, T^{1/4}/√b over the printed rate is of the order
√ε/(ln J·L^{1/4}): unbounded in ε, at n as large as one likes. So a condition on ε is not a matter of the proof. The
paper asks for ε ≤ √L elsewhere (Algorithm 2), and that is enough.

**Theorem 14 at the R that it names** (E4.30), which is not the one that its proof runs with. There the gap is at least
of the order n^{−3/10}ε^{1/5}ln^{3/5}n/(dL)^{1/10} (p = 2), and the printed rate falls faster, like n^{−1/3}ln^{2/3}n
for a fixed d: the quotient grows like n^{1/30}. (The proof embeds into more dimensions, which is another R; or take the
smaller of two balances.) For a fixed d, bR² ≤ n fails when n is very large, though the batches still fit;
with √(dL)/ε as small as bR² ≤ n allows, of the order n^{0.134}/ln²n, the quotient still grows, like n^{0.0065}
times ln^{1/3}n.

**A floor without any data** (E4.21). W = [−½, ½], f(w, z) = L1·w²/2 for every z. A step takes w to (1−η)w + ηv with
|v| = ½, whatever the noise, so |w_{t+1}| + |w_t| ≥ η_t/2, and Gap(w) = L1|w|(|w| + ½) ≥ L1|w|/2. Summed over the last
round, Σ_t Gap(w_t) ≥ (L1/8)Σ_{t<T−1} η_t ≥ (L1/4)(√T − 1): the gap is at least of the order 2^{−R/2}. So R must be
large enough: with natural logarithms Theorems 11 and 14 promise what no noise allows (`step_floor`).
"""

from __future__ import annotations

from fractions import Fraction

from reference.numerics.numbers import Numbers, Real
from reference.numerics.preconditions import whole
from reference.paper.registry import claims

BERRY_ESSEEN = Fraction(56, 100)
"""The constant of the Berry–Esseen theorem for independent summands (Shevtsova, 2010)."""

SHARE = Fraction(3, 4)
"""μ over √V: near the best for the bound."""


def instance_mean(K: Numbers, R: int, b: int) -> Real:
    """μ = (3/4)√V, V = √T/(2(b+T)): the mean of z at which Algorithms 4 and 5 with R rounds are at a loss."""
    T = 2 ** (whole("R", R) - 1)
    return K(SHARE) * K.sqrt(K.sqrt(K(T)) / (2 * (whole("b", b) + T)))


@claims("thm:convergence-polySFW")
@claims("thm:convergence-noisySFW")
def gap_floor(K: Numbers, R: int, b: int) -> Real:
    """A lower bound on E[Gap(ŵ)]/(L0·D) on the instance above, for R rounds with batches ⌈b/(t+1)⌉; 0 if none is
    known.
    """
    T, mean = 2 ** (whole("R", R) - 1), instance_mean(K, R, b)
    rest = K.sqrt(1 - mean * mean)
    ratio = K(SHARE) * K.power(K(2), Fraction(1, 4)) / rest
    width = K.power(K(T), Fraction(1, 4)) * K.sqrt(K(2 * (b + T))) / b
    normal = K.normal_cdf(-ratio) - K(BERRY_ESSEEN) * (1 + mean * mean) / rest * width
    steps = K(T) / 2 - K.sqrt(K(T)) - 1
    return mean * K.max(normal, K(0)) / 2 * K.max(steps, K(0)) / (2**R - 1)


@claims("thm:convergence-polySFW")
@claims("thm:convergence-noisySFW")
def step_floor(K: Numbers, R: int) -> Real:
    """A lower bound on Gap(ŵ)/(L1·D²) averaged over the choice of ŵ, on the instance without data; R rounds."""
    T = 2 ** (whole("R", R) - 1)
    return (K.sqrt(K(T)) - 1) / (4 * (2**R - 1))
