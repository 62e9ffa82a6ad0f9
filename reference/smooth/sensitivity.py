"""How far one record moves the recursive gradient estimate of Section 4, and for how long.

| paper | here |
|---|---|
| η_{r,t} = 1/√(t+1) | `step_size(K, t)` |
| ∏_{j=k+1..t} (1 − η_{r,j}) | `decay(K, k, t)`, written P_{k,t} |
| a_t^{(k)}, c_t^{(k)} (eq. 5) | `unravelled(K, t)` |
| T = 2^r, the steps of a round | `steps` |
| ‖∇_r^t − ∇'_r^t‖_* | at most 2·`record_bound(K, k, …)`/|B_k|·P_{k,t} |

Neighbours are replace-one. A record sits in one batch k of one round; given everything released before, it changes
the estimate at step k and then only through the factor (1 − η_t) of each later step. Three facts carry all privacy
results of this package. T is any integer ≥ 1, not only a power of two.

**Fact 1 (influence).** The change at step k is at most 2c_k/m_k in the dual norm, m_k the size of the batch, with c_0
= L0 and c_k = (1−η_k)·min{L1·D·η_{k−1}, 2L0} + η_k·L0. At t ≥ k it is at most (2c_k/m_k)·P_{k,t}. *Proof.* One record
contributes X = (1−η_k)(a − a⁻) + η_k·a = a − (1−η_k)a⁻ with a = ∇f(w_k, z), a⁻ = ∇f(w_{k−1}, z), divided by m_k. ‖a −
a⁻‖_* ≤ L1‖w_k − w_{k−1}‖ ≤ L1·D·η_{k−1}, since w_k − w_{k−1} = η_{k−1}(v_{k−1} − w_{k−1}), and it is at most 2L0; so
‖X‖_* ≤ c_k, and two records give 2c_k. Afterwards both runs add the same batches at the same points, so the
difference is multiplied by 1 − η_t. ∎ Both arguments of the minimum are attained (a = L0, a⁻ = L0 − min). *Coarse
form.* With m_k ≥ b/(k+1): 2c_k/m_k ≤ 2√(k+1)(L0 + L1·D)/b, because (1−η_k)/√k = (√(k+1) − 1)/√(k(k+1)) ≤ 1/√(k+1) (as
√(k+1) ≤ 1 + √k). So the printed index η_{r,k} for η_{r,k−1} does no harm *after* the factor 1 − η_k.

**Fact 2 (sum).** √(k+1)·B_k ≤ T for B_k = Σ_{t=k}^{T−1} P_{k,t} and every 0 ≤ k < T. *Proof.* Backwards in k. B_{T−1}
= 1 and √T ≤ T. B_k = 1 + (1 − 1/√(k+2))·B_{k+1}; if the claim holds for k+1 then B_k ≤ 1 + T/√(k+2) − T/(k+2) ≤
T/√(k+2) ≤ T/√(k+1), as k+2 ≤ T. ∎

**Fact 3 (sum of squares).** (k+1)·Q_k ≤ V = max(T, T^{3/2}/2) for Q_k = Σ_{t=k}^{T−1} P_{k,t}². *Proof.* Q_{T−1} = 1
and T ≤ V. With x = 1/√(k+2) ≥ 1/√T, Q_k = 1 + (1−x)²Q_{k+1} ≤ 1 + (1−x)²x²V. The claim (1/x² − 1)(1 + (1−x)²x²V) ≤ V
rearranges to (1−x²)/x² ≤ V(1 − (1−x²)(1−x)²) = V(2x(1−x²) + x⁴), where V·2x ≥ x^{−3}·x = x^{−2} because V ≥ T^{3/2}/2
≥ x^{−3}/2. ∎

**Fact 4 (variance).** S_t = Σ_{k=1}^{t} P_{k,t}² ≤ √((t+1)/2), with equality at t = 1. *Proof.* S_0 = 0, S_1 = 1, S_t
= 1 + (1−x)²S_{t−1} with x = 1/√(t+1) ≤ 1/√3 for t ≥ 2. By induction and √(1−x²) ≤ 1 − x²/2, S_t ≤ 1 + (1−x)²(1 −
x²/2)/(√2·x), and this is at most 1/(√2·x) iff √2·x ≤ 1 − (1−x)²(1−x²/2), that is √2 ≤ 2 − x/2 − x² + x³/2; the right
side falls on [0, 1/√3] and is 1.474 at the right end. ∎
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reference.numerics.numbers import Exact, Numbers, Real
from reference.numerics.preconditions import require, whole
from reference.paper.registry import claims, implements


def step_size(K: Numbers, t: int) -> Real:
    """η_t = 1/√(t+1): the step of every round, the same in all rounds."""
    return 1 / K.sqrt(K(t + 1))


def decay(K: Numbers, k: int, t: int) -> Real:
    """P_{k,t} = ∏_{j=k+1..t} (1 − 1/√(j+1)): what is left at step t of a change made at step k."""
    require(0 <= k <= t, "t", t, f"be at least k = {k}", "a record acts from its own batch on")
    product = K(1)
    for j in range(k + 1, t + 1):
        product = product * (1 - step_size(K, j))
    return product


def trajectory(K: Numbers, k: int, steps: int) -> tuple[Real, ...]:
    """√(k+1)·P_{k,t} for t = k, …, T−1: the influence of a record of batch k, in units of 2(L0+L1·D)/b."""
    require(0 <= k < whole("steps", steps), "k", k, f"lie in [0, {steps})", "a round has batches 0 to T−1")
    value = K.sqrt(K(k + 1))
    values = [value]
    for t in range(k + 1, steps):
        value = value * (1 - step_size(K, t))
        values.append(value)
    return tuple(values)


def round_sums(
    K: Numbers, steps: int, eta: Callable[[Numbers, int], Real] = step_size
) -> tuple[tuple[Real, Real], ...]:
    """(B_k, Q_k) = (Σ_t P_{k,t}, Σ_t P_{k,t}²) for every batch k of a round of T steps, by one backward pass."""
    first, second = K(1), K(1)
    found = [(first, second)]
    for k in range(whole("steps", steps) - 2, -1, -1):
        keep = 1 - eta(K, k + 1)
        first, second = 1 + keep * first, 1 + keep * keep * second
        found.append((first, second))
    return tuple(reversed(found))


@claims("thm:privacy-polySFW", "tight")
def sum_bound(K: Numbers, steps: int) -> Real:
    """T: the bound of Fact 2 on √(k+1)·Σ_t P_{k,t}."""
    return K(whole("steps", steps))


@claims("thm:privacy-polySFW", "tight")
def square_sum_bound(K: Numbers, steps: int) -> Real:
    """V = max(T, T^{3/2}/2): the bound of Fact 3 on (k+1)·Σ_t P_{k,t}²."""
    T = K(whole("steps", steps))
    return K.max(T, T * K.sqrt(T) / 2)


def record_bound(
    K: Numbers,
    k: int,
    L0: Exact | Real,
    L1: Exact | Real,
    D: Exact | Real,
    steps: Callable[[Numbers, int], Real] = step_size,
) -> Real:
    """c_k of Fact 1: the largest dual norm of what one record of batch k adds, before the division by |B_k|."""
    if k == 0:
        return K(L0)
    eta, before = steps(K, k), steps(K, k - 1)
    return (1 - eta) * K.min(K(L1) * K(D) * before, 2 * K(L0)) + eta * K(L0)


def coarse_record_bound(K: Numbers, k: int, L0: Exact | Real, L1: Exact | Real, D: Exact | Real) -> Real:
    """(L0 + L1·D)/√(k+1) ≥ c_k: the form that the paper's noise is made for."""
    return (K(L0) + K(L1) * K(D)) * step_size(K, k)


def batch_sizes(b: int, steps: int) -> tuple[int, ...]:
    """⌈b/(t+1)⌉ for t = 0, …, T−1."""
    return tuple(-(-b // (t + 1)) for t in range(whole("steps", steps, 0)))


# ------------------------------------------------------------------------------------ equation (5)


@implements("eqn:unravel_recur_polySFW", "printed")
def unravelled(K: Numbers, t: int) -> tuple[Real, tuple[Real, ...], tuple[Real, ...]]:
    """The coefficients of (5): that of ∇^0, those of Δ^1..Δ^t and those of g^1..g^t.

    a_t^{(k)} = ∏_{j=k..t}(1 − η_j) = (1 − η_k)·P_{k,t} belongs to Δ^k, c_t^{(k)} = η_k·P_{k,t} to g^k, and ∇^0 has
    a_t^{(1)} = P_{0,t}: unrolling ∇^t = (1−η_t)(∇^{t−1} + Δ^t) + η_t·g^t once multiplies all earlier coefficients by
    1 − η_t, gives Δ^t the factor 1 − η_t and g^t the factor η_t. So the printed indices are right, a^{(1)} included.
    """
    whole("t", t)
    deltas: list[Real] = []
    gradients: list[Real] = []
    start = K(1)
    for k in range(1, t + 1):
        eta = step_size(K, k)
        keep = 1 - eta
        start = start * keep
        deltas = [*(a * keep for a in deltas), keep]
        gradients = [*(c * keep for c in gradients), eta]
    return start, tuple(deltas), tuple(gradients)


# ------------------------------------------------------- what a given noise scale costs in privacy


def step_losses(
    K: Numbers, k: int, sizes: Sequence[int], bounds: Sequence[Real], D: Exact | Real, scale: Exact | Real
) -> tuple[Real, ...]:
    """ε_t = 2D·c_k·P_{k,t}/(m_k·s), t ≥ k: what step t may reveal of a record of batch k (report-noisy-min with scale
    s).

    The scores ⟨v, ∇⟩ of the vertices change by ⟨v, x⟩ with ‖x‖_* ≤ 2c_k·P_{k,t}/m_k; their *range* over W is at most
    D‖x‖_*, whether or not 0 lies in W, and report-noisy-min only sees the range.
    """
    unit = 2 * K(D) * bounds[k] / (sizes[k] * K(scale))
    value, losses = unit, [unit]
    for t in range(k + 1, len(sizes)):
        value = value * (1 - step_size(K, t))
        losses.append(value)
    return tuple(losses)


def unit_sums(K: Numbers, sizes: Sequence[int], bounds: Sequence[Real]) -> tuple[Real, Real]:
    """max_k (c_k/m_k)·B_k and max_k (c_k/m_k)²·Q_k: a round's worst record, for pure DP and for zCDP."""
    require(len(sizes) == len(bounds), "sizes", len(sizes), f"be as many as the bounds ({len(bounds)})")
    plain, squared = K(0), K(0)
    for k, (total, squares) in enumerate(round_sums(K, len(sizes))):
        weight = bounds[k] / sizes[k]
        plain = K.max(plain, weight * total)
        squared = K.max(squared, weight * weight * squares)
    return plain, squared
