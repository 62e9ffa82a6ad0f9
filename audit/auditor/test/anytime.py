"""An audit that may stop at any moment: betting on labels.

A gambler starts with 1. Before each draw, using past blocks only, it fixes for every output z a guess g(z) and a stake
λ(z) ∈ [0, c]. After the draw (label b, output Z) its capital is multiplied by

    1 + λ(Z)·(1[b = g(Z)] − q) − c(1−q)δ,      q = e^ε/(1+e^ε).

**Theorem.** If the mechanism is (ε, δ)-DP on the pair, the capital is a non-negative supermartingale: it ever reaches
1/α with probability at most α (Ville), at whatever moments one looks and stops. *Proof.* Fix the past. For a set A of
outputs on which the guess is 1, P(b = 1, Z ∈ A) − q·P(Z ∈ A) = ½[(1−q)P(A) − qQ(A)] ≤ ½(1−q)δ, because P(A) ≤ e^εQ(A)
+ δ and (1−q)e^ε = q; the same holds for guess 0 with P and Q exchanged. Write λ(z) = ∫_0^c 1[λ(z) > u] du and apply
both bounds to the level sets: E[λ(Z)(1[b = g(Z)] − q)] ≤ ∫_0^c 2·½(1−q)δ du = c(1−q)δ. So the expected factor is at
most 1. It is non-negative because the stakes are capped at c ≤ 0.95/(q + (1−q)δ). ∎

**Any claim.** A claim implies (ε', δ(ε'))-DP for every ε' (`exact.implied_delta`), so any of these pairs may be used in
the factor, and another one in every block if the past alone chooses it. ∎ It is the one whose expected growth on the
outputs of the past is largest.

The same draws serve a whole grid of the claim's number (ε, μ, ρ, …), with one capital each. **Lower bound**: the
largest grid value such that it and all smaller ones have reached 1/α. If the claim is true with the number v*,
exceeding v* requires the first grid value ≥ v* to be reached, a true hypothesis: probability at most α, over all looks
together. ∎

Several pairs share one capital: each block goes to one pair, chosen from the past, and every factor is fair under the
claim that all pairs satisfy (ε, δ)-DP. Nothing depends on how good the guesses are; they only make the capital grow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special

from audit.auditor.learn.scores import Score
from audit.auditor.targets.sampling import TEST, BlockName, Pair, Target, draw_block
from audit.auditor.terms.claim import ORDERS, ZCDP, Claim, Epsilon
from audit.auditor.terms.outputs import Table, concatenate
from audit.auditor.test.exact import implied_delta
from audit.auditor.test.plan import guess, margin

Array = np.ndarray

FIRST_BLOCK = 128
"""Draws of the first block, on which nothing is bet: chosen; a score needs about so many to tell anything."""
SMALLEST_BLOCK, FIRST_BLOCKS = 24, 32
"""A small budget is cut into at most so many blocks, none smaller than this: a score needs something to learn from, and
what a block taught is of use from the next one on."""
FIRST_TIMED = 8
"""Draws of the first block where time is short: they tell how long one takes."""
LONGEST_BLOCK = 16384
"""Draws of a block at most: those of a block of the fixed mode."""
REFINEMENT = 8
"""A later block is this part of the draws so far: the score learns from each block before the next is bet on.
Chosen for speed and power.
"""
MEMORY = 40_000
"""The score learns from at most this many draws of a pair: chosen for speed; it learns again after every block."""
FLOOR = 0.05
"""A factor never falls below this: chosen; any value in (0, 1) is valid, and with 0 one lost bet would be the end."""


def stakes(epsilon: Array, margins: Array, delta: Array | float) -> tuple[Array, Array]:
    """λ(z) for each ε (rows) and output (columns), and the caps c: Kelly's stake for the estimated chance of success.

    With success probability p the growth-optimal stake is (p − q)/(q(1−q)), none if p ≤ q.
    """
    q = special.expit(epsilon)[:, None]
    p = special.expit(margins)[None, :]
    cap = (1 - FLOOR) / (q + (1 - q) * _column(delta, epsilon))
    return np.minimum(np.maximum(p - q, 0.0) / (q * (1 - q)), cap), cap[:, 0]


def _column(delta: Array | float, epsilon: Array) -> Array:
    return np.broadcast_to(np.asarray(delta, dtype=float), epsilon.shape)[:, None]


def log_factors(epsilon: Array, margins: Array, right: Array, delta: Array | float, cap: Array) -> Array:
    """The logarithm of each draw's factor, for each ε (rows). `cap` ≤ the cap of `stakes`, fixed before the draws."""
    q = special.expit(epsilon)[:, None]
    stake = np.minimum(stakes(epsilon, margins, delta)[0], cap[:, None])
    return np.asarray(np.log1p(stake * (right[None, :] - q) - cap[:, None] * (1 - q) * _column(delta, epsilon)))


def _margin(logits: Array, errors: Array) -> Array:
    """The margin of the guess of a draw's label, whichever it is."""
    return margin("either", logits, errors)


@dataclass
class _Past:
    """What is known about one pair."""

    tables: list[Table] = field(default_factory=list)
    labels: list[Array] = field(default_factory=list)
    score: Score | None = None
    draws: int = 0
    gain: float = 0.0
    blocks: int = 0

    def add(self, table: Table, labels: Array) -> None:
        self.draws += len(table)
        self.blocks += 1
        if sum(map(len, self.tables)) < MEMORY:
            self.tables.append(table)
            self.labels.append(labels)
            both = np.concatenate(self.labels)
            if 0 < both.sum() < len(both):
                self.score = Score.learn(concatenate(self.tables), both)


CANDIDATES = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
"""The ε' that may be used against a claim of another kind: chosen."""
CONSIDERED = 2000
"""Outputs of the past by which one of them is chosen."""
STEPS = 1.08 ** np.arange(-60, 25)
"""The grid of numbers, as multiples of a claim that is no ε."""


def grid_of(claim: Claim) -> Array:
    """The numbers that are refuted or not, in rising order; the claim's own is one of them."""
    if isinstance(claim, Epsilon):
        numbers = np.concatenate([np.arange(0.0, 3.0, 0.05), np.arange(3.0, 12.01, 0.25), [claim.number]])
    elif claim.least < 0:
        numbers = claim.number + np.concatenate([np.linspace(claim.least, 0.0, 20), claim.far * np.linspace(0, 2, 21)])
    else:
        numbers = np.concatenate([[0.0], max(claim.number, claim.floor) * STEPS, [claim.number]])
    return np.unique(numbers)


@dataclass
class Betting:
    """The running state of an anytime audit: it can be continued."""

    target: Target
    pairs: Sequence[Pair]
    claim: Claim
    alpha: float
    seed: int
    bits: int
    pace: float = 0.0
    """Seconds that a draw took last; 0 where that is not known."""
    past: list[_Past] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing bet yet."""
        self.past = [_Past() for _ in self.pairs]
        self.grid = grid_of(self.claim)
        if isinstance(self.claim, Epsilon):
            self.epsilons, self.deltas = self.grid[:, None], np.full((len(self.grid), 1), self.claim.delta)
        else:
            self.epsilons = np.broadcast_to(CANDIDATES, (len(self.grid), len(CANDIDATES)))
            self.deltas = np.array([implied_delta(_rough(self.claim).at(float(v)), CANDIDATES) for v in self.grid])
        self.capital = np.zeros(len(self.grid))
        self.best = np.zeros(len(self.grid))
        self.bets = 0
        self.right = 0

    @property
    def draws(self) -> int:
        """Draws made so far, over all pairs."""
        return sum(p.draws for p in self.past)

    @property
    def rejected(self) -> Array:
        """Which grid values have been refuted."""
        return np.asarray(self.best >= np.log(1 / self.alpha))

    @property
    def at_claim(self) -> int:
        """Where the claim's own number stands in the grid."""
        return int(np.searchsorted(self.grid, self.claim.number))

    @property
    def claim_refuted(self) -> bool:
        """Whether the claim has been refuted."""
        return bool(self.rejected[self.at_claim])

    def lower(self) -> float:
        """The bound that holds now, and held at every earlier look."""
        refuted = self.rejected
        count = len(refuted) if refuted.all() else int(np.argmin(refuted))
        return float(self.grid[count - 1]) if count else self.claim.least

    def run(self, draws: int, deadline: float | None, progress: Callable[[str], None]) -> None:
        """Bet until the claim is refuted, `draws` more draws are used, or time is up."""
        limit = self.draws + draws
        while self.draws < limit and not self.claim_refuted:
            least = min(FIRST_BLOCK, max(SMALLEST_BLOCK, limit // FIRST_BLOCKS))
            size = min(limit - self.draws, max(least, min(LONGEST_BLOCK, self.draws // REFINEMENT)))
            begun = time.monotonic()
            if deadline is not None:
                left = deadline - begun
                if left <= 0:
                    break
                size = max(1, min(size, int(left / self.pace))) if self.pace else min(size, FIRST_TIMED)
            self._bet(self._next_pair(), size)
            self.pace = (time.monotonic() - begun) / size
            progress(f"{self.draws} draws, loss at least {self.claim.bound_as_text(self.lower())}")

    def _next_pair(self) -> int:
        """Each pair twice, then the one whose bets on the claim have grown fastest."""
        fresh = [i for i, p in enumerate(self.past) if p.blocks < 2]
        if fresh:
            return min(fresh, key=lambda i: (self.past[i].blocks, i))
        return max(range(len(self.past)), key=lambda i: self.past[i].gain / self.past[i].draws)

    def _bet(self, index: int, size: int) -> None:
        past = self.past[index]
        name = BlockName(self.seed, TEST, self.pairs[index].index, past.blocks)
        block = draw_block(self.target, self.pairs[index], name, size, self.bits)
        if past.score is not None:
            epsilon, delta, cap = self._terms(past)
            logits, errors = past.score.logit(block.values)
            margins, right = _margin(logits, errors), guess("either", logits) == (block.labels == 1)
            steps = log_factors(epsilon, margins, right.astype(float), delta, cap)
            path = self.capital[:, None] + np.cumsum(steps, axis=1)
            self.best = np.maximum(self.best, path.max(axis=1))
            self.capital = path[:, -1]
            claim = self.at_claim
            past.gain += float(steps[claim].sum())
            staked = stakes(epsilon[[claim]], margins, delta[[claim]])[0][0] > 0
            self.bets += int(staked.sum())
            self.right += int((right & staked).sum())
        past.add(block.values, block.labels)

    def _terms(self, past: _Past) -> tuple[Array, Array, Array]:
        """For each number of the grid: the (ε', δ') that is bet against, and the cap of the stakes, by the past alone.

        The cap is the largest stake used on the past: with δ > 0 an unused cap costs money.
        """
        assert past.score is not None
        margins = _margin(*past.score.logit(past.tables[-1]))
        rows = np.arange(len(self.grid))
        best = np.zeros(len(self.grid), dtype=int)
        if self.epsilons.shape[1] > 1:
            shown = margins[:CONSIDERED]
            growth = [expected_growth(e, d, shown) for e, d in zip(self.epsilons.T, self.deltas.T, strict=True)]
            best = np.argmax(growth, axis=0)
        epsilon, delta = self.epsilons[rows, best], self.deltas[rows, best]
        pure = stakes(epsilon, np.array([40.0]), delta)[1]
        used = stakes(epsilon, margins, delta)[0].max(axis=1)
        return epsilon, delta, np.where(delta == 0, pure, used)


def expected_growth(epsilon: Array, delta: Array, margins: Array) -> Array:
    """The mean growth of the log-capital on such outputs, were the guesses right as often as their margins say."""
    stake = stakes(epsilon, margins, delta)[0]
    cap = stake.max(axis=1)
    p = special.expit(margins)
    won, lost = (log_factors(epsilon, margins, np.full(len(margins), r), delta, cap) for r in (1.0, 0.0))
    return np.asarray((p * won + (1 - p) * lost).mean(axis=1))


def _rough(claim: Claim) -> Claim:
    """The claim with fewer orders to look at."""
    return replace(claim, tested=tuple(ORDERS[::4])) if isinstance(claim, ZCDP) else claim
