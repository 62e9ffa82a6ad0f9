"""An audit from a single training run: canaries that are in the data with probability ½ each.

m canaries are included by independent fair coins, the model is trained once, and each canary gets a score. Of the r
canaries that the guesser is surest of (the highest r/2 scores are guessed in, the lowest r/2 out; on the others it
abstains) w guesses are right. r is taken from a short list, OPTIONS, that is fixed before anything is seen; each entry
has its part of the level. Neighbours are add-remove: a canary is in the data, or it is not.

**(ε, δ)** (Steinke, Nasr, Jagielski 2023, Theorem 5.2). For V ~ Bin(r, e^ε/(1+e^ε))

    P(w ≥ v) ≤ P(V ≥ v) + 2mδ·max_{1≤i≤v} P(v − i ≤ V < v)/i.

At δ = 0 this is one binomial: given the output and the earlier coins, each coin is guessed with probability at most
e^ε/(1+e^ε).

**f-DP, here μ-GDP** (Mahloujifar, Melis, Chaudhuri 2024). Let p_j = P(w = j), and for a canary chosen at random among
all m

    R_i = P(guessed right, w ≥ i) = Σ_{j≥i} (j/m)·p_j,       H_i = P(guessed wrong, w ≥ i) = Σ_{j≥i} ((r−j)/m)·p_j.

*The constraint.* H_i ≥ g(R_{i+1}), with g(x) the smallest Q(S) that the claim allows where P(S) = x (for μ-GDP Φ(Φ⁻¹(x)
− μ)). *Proof.* Fix canary k and let n be how many of the *other* guesses are right, a function of the output and of the
other coins, which are independent of coin k. Right with w ≥ i + 1, and wrong with w ≥ i, both mean n ≥ i. With A = {k
guessed in, n ≥ i} and B = {k guessed out, n ≥ i}, and P, Q the laws with k in and out, the right mass is ½(P(A) + Q(B))
and the wrong mass ½(Q(A) + P(B)) ≥ ½(g(P(A)) + g(Q(B))) ≥ g(½(P(A) + Q(B))), g being convex; average over k. ∎

*The recursion.* From R_i − R_{i+1} = (i/m)p_i and H_i − H_{i+1} = ((r−i)/m)p_i one goes down from i = v, where a tail
P(w ≥ v) = τ puts R_v = τv/m and H_v = τ(r−v)/m, and takes each H_i as small as the constraint allows. If the total
R_0 + H_0, which is r/m, comes out larger, no mechanism for which the claim is true has that tail: P(w ≥ v) < τ. The
p-value is the smallest such τ. (That another distribution above v, or larger H, gains nothing, is proved there; the
test suite compares with the linear programme of all constraints, at small m.)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from audit.auditor.given import check_seed, scores_and_labels
from audit.auditor.terms.claim import GDP, Claim, Epsilon, claimed
from audit.auditor.terms.options import CONFIDENCE, Budget
from audit.auditor.terms.picture import Drawing
from audit.auditor.terms.result import AuditResult
from audit.auditor.terms.verdict import verdict_of
from audit.auditor.test.exact import curves_of

Array = np.ndarray

OPTIONS = (1.0, 0.5, 0.2, 0.08, 0.03)
"""How many of the canaries are guessed, as shares: chosen; each has the same part of the level."""
FEWEST = 10
"""Guesses of the smallest option at least: fewer say nothing at any usual level."""
LEAST_CANARIES = 20
"""Canaries that are needed at least."""


def one_run_p_value(claim: Claim, canaries: int, guesses: int, right: int) -> float:
    """How probable so many right guesses are at most, if the claim holds.

    >>> round(one_run_p_value(Epsilon(0.0), 100, 100, 60), 4)
    0.0284
    >>> round(one_run_p_value(GDP(1.0), 20, 20, 17), 2)
    0.36
    """
    if isinstance(claim, Epsilon):
        return _of_epsilon(claim, canaries, guesses, right) if right > 0 else 1.0
    least = _least_of(claim)
    return _of_curve(least, canaries, guesses, right) if right > 0 else 1.0


def _least_of(claim: Claim) -> Callable[[float], float]:
    """The smallest Q(S) that the claim allows where P(S) = x."""
    if isinstance(claim, GDP):
        return lambda x: float(special.ndtr(special.ndtri(x) - claim.mu))
    raise ValueError(f"{claim} cannot be audited from one run yet: claim (ε, δ)-DP or μ-GDP")


def refuted(claim: Claim, canaries: int, guesses: int, right: int, level: float) -> bool:
    """Whether so many right guesses refute the claim at this level: whether the p-value is no larger."""
    if isinstance(claim, Epsilon):
        return one_run_p_value(claim, canaries, guesses, right) <= level
    return right > 0 and _ruled_out(_least_of(claim), canaries, guesses, right, level)


def _of_epsilon(claim: Epsilon, canaries: int, guesses: int, right: int) -> float:
    """The published bound."""
    rate = float(special.expit(claim.epsilon))
    beta = float(special.betainc(right, guesses - right + 1, rate))
    if claim.delta == 0:
        return min(1.0, beta)
    below = np.arange(right - 1, -1, -1)
    log_choose = special.gammaln(guesses + 1) - special.gammaln(below + 1) - special.gammaln(guesses - below + 1)
    mass = np.exp(log_choose + special.xlogy(below, rate) + special.xlog1py(guesses - below, -rate))
    steepest = float((np.cumsum(mass) / np.arange(1, right + 1)).max())
    return min(1.0, beta + 2 * canaries * claim.delta * steepest)


def _of_curve(least: Callable[[float], float], canaries: int, guesses: int, right: int) -> float:
    """The smallest tail that the recursion rules out, from above."""
    low, high = -60.0, 0.0
    if not _ruled_out(least, canaries, guesses, right, 1.0):
        return 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if _ruled_out(least, canaries, guesses, right, math.exp(middle)) else (middle, high)
    return math.exp(high)


def _ruled_out(least: Callable[[float], float], canaries: int, guesses: int, right: int, chance: float) -> bool:
    """Whether P(right or more) = chance leads to more than the whole."""
    whole = guesses / canaries
    yes, no = chance * right / canaries, chance * (guesses - right) / canaries
    for i in range(right - 1, -1, -1):
        larger = max(no, least(yes))
        if larger == no:  # and so in all that follows
            break
        if i:
            yes += i / (guesses - i) * (larger - no)
        no = larger
        if yes + no > whole:
            return True
    return yes + no > whole


def one_run_lower_bound(claim: Claim, canaries: int, guesses: int, right: int, level: float) -> float:
    """The largest number that is refuted at this level, from below; 0 if none is."""
    if not refuted(claim.at(0.0), canaries, guesses, right, level):
        return 0.0
    low, high = 0.0, 1.0
    while high < 64 and refuted(claim.at(high), canaries, guesses, right, level):
        low, high = high, 2 * high
    for _ in range(26):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(claim.at(middle), canaries, guesses, right, level) else (low, middle)
    return low


def audit_one_run(
    scores: Any,
    included: Any,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    mu: float | None = None,
    claim: Claim | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> AuditResult:
    """Audit a training algorithm from one run with canaries.

    Args:
        scores: one number a canary, the higher the surer that it was included; any function of the trained model.
        included: for each canary, whether it was in the training data: independent fair coins (`with_canaries`).
        epsilon: the ε that is claimed, under add-remove neighbours.
        delta: the δ that is claimed with it.
        mu: the μ of Gaussian DP that is claimed instead.
        claim: `Epsilon` or `GDP` instead.
        confidence: of the whole audit.
        seed: of the order in which equal scores are taken.

    Returns:
        An `AuditResult` with mode "one-run": `selected` guesses were made, `right` of them correctly, and `samples` is
        the number of canaries.

    Raises:
        ValueError: a score is NaN, lengths differ, or the claim is none that one run can test.

    >>> rng = np.random.default_rng(1)
    >>> included = rng.integers(0, 2, 2000) == 1
    >>> audit_one_run(3 * included + rng.normal(size=2000), included, epsilon=1.0, delta=1e-5).verdict
    'violated'
    """
    started = time.monotonic()
    check_seed(seed)
    made = claimed(claim, epsilon, delta, None, mu)
    values, inside = scores_and_labels(scores, included, "included")
    level = 1 - Budget(confidence=confidence).confidence
    m = len(values)
    if m < LEAST_CANARIES:
        raise ValueError(f"there are {m} canaries: at least {LEAST_CANARIES} are needed")
    one_run_p_value(made, m, m, 1)
    ties = np.random.default_rng([seed, 73]).permutation(m)
    order = ties[np.argsort(-values[ties], kind="stable")]
    tried = []
    for r in sorted({min(m, max(FEWEST, 2 * round(share * m / 2))) for share in OPTIONS}, reverse=True):
        half = r // 2
        right = int(inside[order[:half]].sum() + (~inside[order[m - (r - half) :]]).sum())
        tried.append((r, right))
    part = level / len(tried)
    bounds = [one_run_lower_bound(made, m, r, right, part) for r, right in tried]
    chances = [one_run_p_value(made, m, r, right) for r, right in tried]
    best = max(range(len(tried)), key=lambda j: (bounds[j], -chances[j]))
    guesses, right = tried[best]
    p = min(1.0, min(chances) * len(tried))
    reach = _would_detect(made, m, guesses, part)
    evidence = Guessed(m, tuple(tried), part)
    return AuditResult(
        verdict=verdict_of(made, p <= level, [], reach),
        epsilon_lower=evidence.lower(Epsilon(0.0, made.delta)),
        delta=made.delta,
        confidence=confidence,
        samples=m,
        event=f"of {m} canaries the {guesses} surest were guessed, {right} of them right",
        claimed_epsilon=made.epsilon if isinstance(made, Epsilon) else math.inf,
        would_detect=reach,
        seed=seed,
        seconds=time.monotonic() - started,
        claim=made,
        lower=bounds[best],
        draws={"test": m},
        selected=guesses,
        right=right,
        p_value=p,
        mode="one-run",
        relation="add-remove",
        bounds=evidence,
    )


@dataclass(frozen=True)
class Guessed:
    """What was counted in one run: the canaries, and (guesses, right ones) of each option at its part of the level.

    All bounds hold together: for the truth v* of a currency the error "the bound exceeds v*" means that an option has
    at least c right guesses, for a number c that does not depend on the run; of several such events of one option the
    one with the smallest c contains the others, and has at most the option's part of the level.
    """

    canaries: int
    tried: tuple[tuple[int, int], ...]
    part: float

    def lower(self, claim: Claim) -> float:
        """The lower bound in this claim's currency."""
        return max(one_run_lower_bound(claim, self.canaries, n, k, self.part) for n, k in self.tried)

    def figures(self, claim: Claim, lower: float) -> list[Drawing]:
        """The trade-off curve and the profile; a dot for each option."""
        return curves_of(claim, lower, [((n - k) / self.canaries, 1 - k / self.canaries) for n, k in self.tried])


def _would_detect(claim: Claim, canaries: int, guesses: int, level: float, power: float = 0.95) -> float:
    """The least number that guesses as many as these must show to be reported with this power; see `exact`."""
    if not refuted(claim, canaries, guesses, guesses, level):
        return math.inf
    low, high = 0, guesses
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if refuted(claim, canaries, guesses, middle, level) else (middle, high)
    rate = float(special.betaincinv(high, guesses - high + 1, power))
    if rate >= 1:
        return math.inf
    if isinstance(claim, Epsilon):
        return float(special.logit(rate))
    mass = guesses / canaries
    return float(claim.value(np.array(mass * rate), np.array(mass * (1 - rate))))


def with_canaries(
    X: Any, y: Any, canaries: Any, canary_labels: Any, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """The training data with each canary added by a fair coin of its own, and the coins.

    Args:
        X: the rows of the training data.
        y: their labels.
        canaries: the rows of the canaries.
        canary_labels: their labels.
        rng: draws the coins; the training must not see it.

    Returns:
        The rows, the labels, and for each canary whether it was included.

    Raises:
        ValueError: canaries and data have different shapes.

    >>> X, y, included = with_canaries([[0.0]], [0], [[1.0], [2.0]], [1, 1], np.random.default_rng(3))
    >>> len(X) == len(y) == 1 + int(included.sum())
    True
    """
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng = {rng!r:.40} must be a generator, e.g. numpy.random.default_rng(3)")
    rows, labels, more, marks = (np.asarray(v) for v in (X, y, canaries, canary_labels))
    if len(rows) != len(labels) or len(more) != len(marks):
        raise ValueError(
            f"{len(rows)} rows with {len(labels)} labels, {len(more)} canaries with {len(marks)}: one label each"
        )
    if rows.shape[1:] != more.shape[1:]:
        raise ValueError(f"canaries have shape {more.shape[1:]}, rows {rows.shape[1:]}: they must be alike")
    included = rng.integers(0, 2, len(more)) == 1
    return np.concatenate([rows, more[included]]), np.concatenate([labels, marks[included]]), included
