"""One exact binomial test, and the lower bound on ε that it gives.

Setting. P = M(D_1) and Q = M(D_0) are the mechanism's laws on two neighbours. Each draw tosses a fair coin b and
then draws Z from P if b = 1, from Q if b = 0; draws are independent. A score learned on other draws (the burn-in)
gives each Z a guess g(Z) ∈ {0, 1} and a rank. Of the N test draws we select n *without looking at their labels b*
and count k, the selected draws whose guess equals their label.

**Theorem.** Let M be (ε, δ)-DP on this pair, q = e^ε/(1 + e^ε), and let s = 1 if every guess is the same label,
s = 2 if guesses may differ from draw to draw. If n is fixed before the test draws are seen (the selected set may
depend on all the Z's), then k is stochastically at most

    W = (X ∧ n) + Bin(n − X ∧ n, q),    X ~ Bin(N, sδ/2).

*Proof.* Write p, p' for the densities of P, Q. Guess 1 first (s = 1). Split p = min(p, e^ε p') + (p − e^ε p')₊; the
second part has mass δ' ≤ δ. Call a draw flagged (x = 1) if b = 1 and Z came from the second part: flags are
i.i.d. with P(x = 1) = δ'/2. Given all Z and x the labels are independent: a flagged draw has b = 1; an unflagged one
has b = 1 with probability min(p, e^ε p')/(min(p, e^ε p') + p') ≤ q. So, with independent uniforms U_i and the
selected set A (a function of the Z's and of independent coins), k ≤ X_A + Σ_{i∈A, x_i=0} 1[U_i ≤ q], where X_A ≤
X ∧ n counts the flags in A. The law of j + Bin(n − j, q) increases stochastically in j, because turning one more
Bernoulli(q) into a 1 can only raise the sum; and X is at most Bin(N, δ/2). Since |A| = n whatever (Z, x) is, the
binomial part is independent of X. For s = 2 flag also the draws with b = 0 that come from (p' − e^ε p)₊: the flag
probability is at most δ, and an unflagged draw has either label with probability at most q. ∎

W is attained by the four-outcome pair P = (δ, (1−δ)q, (1−δ)(1−q), 0), Q = (0, (1−δ)(1−q), (1−δ)q, δ) when one selects
the impossible-under-Q outcome first and then the second one: the test cannot be sharpened for fixed n (the test suite
measures its level there).

**δ = 0: n may be chosen by looking at the Z's.** Then no draw is flagged and, given the Z's, the labels are
independent with P(b_i = g_i) ≤ q; n and the selected set are functions of what is conditioned on, so k ≤ Bin(n, q)
given the Z's. ∎ With δ > 0 this is false (X and n become dependent): never do it.

**Lower bound.** p(ε) = P(W ≥ k) is nondecreasing in ε because q is. So ε_L = sup{ε ≥ 0 : p(ε) ≤ α} (0 if there is none)
satisfies P(ε_L > ε) ≤ P(p(ε) ≤ α) ≤ α for every ε such that M is (ε, δ)-DP on the pair. ∎

**Several selections of the same draws.** Give selection j a part w_j of the level, Σ w_j ≤ 1, before the test draws are
seen. By the union bound P(some p_j(ε) ≤ w_j α) ≤ α: p(ε) = min_j p_j(ε)/w_j is a p-value, nondecreasing in ε, and its
ε_L is the largest of the bounds of the selections at their own levels w_j α. ∎

Neither proof lets a label influence the selection: ties are broken by position, and positions are exchangeable
because labels are coins (not N/2 of each) and each side's outputs are permuted before they are dealt out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

Array = np.ndarray

NEGLIGIBLE = 1e-15
"""Probability that is moved to the worst case instead of being summed: it only makes a p-value larger."""

LARGEST_EPSILON = 64.0
"""Bounds are searched below this: e^64 draws are out of reach."""


def correct_rate(epsilon: float) -> float:
    """q(ε) = e^ε/(1+e^ε): the largest chance that a guess of the label is right, under pure ε-DP."""
    return float(special.expit(epsilon))


@dataclass(frozen=True)
class Selection:
    """What was tested: n of N draws were selected without their labels, k of their guesses are right.

    `sides` is 1 if all guesses name the same label, 2 if they may differ; `part` is its part of the error level;
    `fixed` says that n was fixed beforehand, rather than an event, n being what falls into it.
    """

    n: int
    k: int
    draws: int
    delta: float = 0.0
    sides: int = 1
    part: float = 1.0
    fixed: bool = True

    def __post_init__(self) -> None:
        """Refuse counts that no test can produce."""
        if not 0 <= self.k <= self.n <= self.draws:
            raise ValueError(f"k = {self.k}, n = {self.n}, draws = {self.draws} must satisfy 0 ≤ k ≤ n ≤ draws")
        if not 0 <= self.delta < 1:
            raise ValueError(f"delta = {self.delta} must be in [0, 1)")
        if self.sides not in (1, 2):
            raise ValueError(f"sides = {self.sides} must be 1 or 2")
        if not 0 < self.part <= 1:
            raise ValueError(f"part = {self.part} must be in (0, 1]")

    @property
    def flag_rate(self) -> float:
        """The largest chance that a draw carries mass beyond e^ε: sδ/2."""
        return self.sides * self.delta / 2


def p_value(epsilon: float, seen: Selection) -> float:
    """P(W ≥ k) when the mechanism is (ε, δ)-DP: see the theorem above.

    An upper bound, exact to 1e-14 but for what scipy's incomplete beta function loses.
    """
    q = correct_rate(epsilon)
    x, weight = _flags(seen.draws, seen.flag_rate)
    return min(1.0, float(np.dot(weight, _at_least(seen.k - x, seen.n - x, q))))


def _flags(draws: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Values and probabilities of X ~ Bin(draws, rate), 0 ≤ rate < 1, both tails folded inwards to the worse side.

    W increases in X, so mass below the range may move up to its first value, and mass above it to `draws`: that is
    under 1e-25 (Bernstein), and `NEGLIGIBLE` stands for it. Within the range the weights follow from their ratios, and
    add up to what the lower tail leaves: logarithms of factorials would lose six digits at 10⁹ draws.
    """
    if rate == 0:
        return np.zeros(1), np.ones(1)
    mean, spread = draws * rate, math.sqrt(draws * rate * (1 - rate))
    low = max(0, int(mean - 9 * spread - 2))
    high = min(draws, int(mean + 12 * spread + 40))
    x = np.arange(low, high + 1, dtype=float)
    steps = np.log((draws - x[:-1]) / (x[:-1] + 1)) + math.log(rate / (1 - rate))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    below = float(special.bdtr(low - 1, draws, rate)) if low else 0.0
    weight = np.exp(logs - logs.max())
    weight *= (1 - below) / weight.sum()
    weight[0] += below
    return np.append(x, float(draws)), np.append(weight, NEGLIGIBLE)


def _at_least(k: np.ndarray, n: np.ndarray, q: float) -> np.ndarray:
    """P(Bin(n, q) ≥ k) elementwise, for k ≤ n; 1 where k ≤ 0 (also where n < 0: then all n draws are flagged)."""
    return np.asarray(np.where(k <= 0, 1.0, special.betainc(np.maximum(k, 1.0), n - k + 1, q)))


def lower_bound(seen: Selection, alpha: float) -> float:
    """ε_L = sup{ε ≥ 0 : p(ε) ≤ α}, from below; 0 if no ε is rejected."""
    if p_value(0.0, seen) > alpha:
        return 0.0
    low, high = 0.0, LARGEST_EPSILON
    for _ in range(60):
        middle = (low + high) / 2
        if p_value(middle, seen) <= alpha:
            low = middle
        else:
            high = middle
    return low


def joint_p_value(epsilon: float, seen: Sequence[Selection]) -> float:
    """The p-value of several selections of the same draws: min_j p_j/w_j."""
    return min(1.0, *(p_value(epsilon, one) / one.part for one in seen))


def strongest(seen: Sequence[Selection], alpha: float) -> tuple[int, float]:
    """Which selection gives the largest lower bound at its own part of the level, and that bound: the joint ε_L.

    Where none gives any, the one that comes nearest to refuting ε = 0.
    """
    bounds = [lower_bound(one, alpha * one.part) for one in seen]
    doubts = [p_value(0.0, one) / one.part for one in seen]
    best = min(range(len(seen)), key=lambda j: (-bounds[j], doubts[j]))
    return best, bounds[best]


def critical_count(epsilon: float, seen: Selection, alpha: float) -> int | None:
    """The smallest k that rejects (ε, δ)-DP at level α, or None if even k = n does not."""

    def rejects(k: int) -> bool:
        return p_value(epsilon, replace(seen, k=k)) <= alpha

    if not rejects(seen.n):
        return None
    low, high = 0, seen.n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rejects(middle) else (middle, high)
    return high


def would_detect(epsilon: float, seen: Selection, alpha: float, power: float = 0.95) -> float:
    """The smallest loss ε' on an event as frequent as the selected one that gives "violated" with this power.

    If the selected draws have P(guess right) = q(ε'), then k ~ Bin(n, q(ε')) (excess mass would only help), and the
    claim ε is rejected when k reaches the critical count c: solve P(Bin(n, q(ε')) ≥ c) = power. Infinite if nothing
    rejects.
    """
    needed = critical_count(epsilon, seen, alpha)
    if needed is None:
        return math.inf
    return float(special.logit(special.betaincinv(needed, seen.n - needed + 1, power)))


def predicted_bound(n: Array, rate: Array, draws: int, delta: float, alpha: float, sides: int) -> Array:
    """About what `lower_bound` will say when n draws are selected and a share `rate` of the guesses is right.

    For planning only: vectorised, real-valued counts. For every c, P(W ≥ k) ≤ P(X > c) + P(Bin(n − c, q) ≥ k − c), so
    each c gives a bound that the exact one exceeds; the best of a few c is taken. Selections that stand out from c by
    less than three standard deviations of X are left aside: their bound hangs on the luck of a few draws.
    """
    flagged = sides * delta / 2
    if flagged == 0:
        return _clopper_pearson(n * rate, n, alpha)
    best = np.zeros(len(n))
    for tail in (0.8 * alpha, 0.5 * alpha, 0.2 * alpha, 0.04 * alpha):
        excess = math.ceil(special.bdtrik(1 - tail, draws, flagged))
        clear = n * rate - excess >= 3 * math.sqrt(excess)
        best = np.maximum(best, np.where(clear, _clopper_pearson(n * rate - excess, n - excess, alpha - tail), 0.0))
    return best


def _clopper_pearson(k: Array, n: Array, level: float) -> Array:
    """The ε at which P(Bin(n, q(ε)) ≥ k) = level; 0 where k draws say nothing: no more than half of n do not, for the
    law Beta(k, n − k + 1) has its median below one half then.
    """
    above = 2 * k > n if level <= 0.5 else np.full(np.shape(k), True)
    usable = (k > 0.5) & (n >= k) & above
    bound = np.zeros(np.shape(usable))
    k, n = np.broadcast_arrays(k, n)
    q = special.betaincinv(k[usable], n[usable] - k[usable] + 1, level)
    bound[usable] = np.maximum(special.logit(q), 0.0)
    return bound
