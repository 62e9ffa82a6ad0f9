"""Privacy profiles: ε ↦ δ(ε), with the rule that gave it and what certifies it.

A rule on balls encloses its own value, so "δ(ε) ≤ δ" is decided, not rounded. The one rule that is not on balls is
dp-accounting's pessimistic privacy-loss distribution (`TrajectoryLoss`): it dominates the truth in exact arithmetic,
its FFTs round in binary64, and the certificate says so.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from flint import arb

from reference.numerics.numbers import Ball, BallScalar, Exact, Float64, Undecided, certify
from reference.privacy import gaussian_delta, kov_delta, zcdp_delta

ProfileVerdict: TypeAlias = Literal["private", "violated", "not certified"]
Parameter: TypeAlias = Callable[[Ball], BallScalar]
"""A rule's parameter (μ, ρ, ε0) at any precision."""

BITS = 192
"""Where certified evaluations start; `certify` doubles it when a decision is open."""


SMALLEST_EPSILON = 2.0**-200
"""Where the search for the least ε stops: chosen, far below any ε that means something."""
LEAST_BITS = 100_000
"""Chosen: far beyond 10^-400 and every δ that somebody types, and still fast."""
LEAST = arb(2) ** -LEAST_BITS
"""Positive bounds below 2**-100000 are reported as that."""


@dataclass(frozen=True)
class Rule:
    """An upper bound on δ(ε), evaluated on balls. `exact`: attained by a pair of neighbours (at transcript level)."""

    name: str
    exact: bool
    body: Callable[[Ball, Fraction], BallScalar] = field(repr=False)
    parts: tuple[Rule, ...] = ()
    """Of several bounds the one that decides: the smallest (`pick` = min) or the largest (`pick` = max)."""
    pick: Callable[..., Any] = field(default=min, repr=False)

    def at(self, epsilon: Exact) -> str:
        """The name of the rule that decides at ε."""
        if not self.parts:
            return self.name
        _, _, part = self.pick((part.upper(epsilon), i, part) for i, part in enumerate(self.parts))
        return str(part.at(epsilon))

    def enclosure(self, epsilon: Exact, radius: Fraction | None = None) -> BallScalar:
        """δ(ε) as a ball, narrower than `radius` if given."""
        e = Fraction(epsilon)

        def narrow(K: Ball) -> BallScalar:
            value = self.body(K, e)
            if radius is not None and not value.ball.rad() <= K(radius).ball:
                raise Undecided(f"the radius is above {float(radius):.3g} at {K.bits} bits")
            return value

        return certify(narrow, bits=BITS).value

    def upper(self, epsilon: Exact) -> Fraction:
        """A rational that is certainly at least δ(ε): at most 1, and never 0 unless δ(ε) is."""
        ball = self.enclosure(epsilon)
        if ball.ball < LEAST and not ball.ball.is_zero():  # written out, such a rational may not fit into memory
            return Fraction(1, 2**LEAST_BITS)
        return min(Fraction(1), ball.mid + ball.rad)


def once(parameter: Parameter) -> Parameter:
    """The parameter, computed once a precision: a profile is asked for many ε."""
    known: dict[int, BallScalar] = {}

    def value(K: Ball) -> BallScalar:
        if K.bits not in known:
            known[K.bits] = parameter(K)
        return known[K.bits]

    return value


def gaussian_rule(mu: Parameter, name: str = "Gaussian release, exact", exact: bool = True) -> Rule:
    """One Gaussian release at distance μ: δ_G(ε, μ)."""
    at = once(mu)
    return Rule(name, exact, lambda K, e: gaussian_delta(K, e, at(K)))


def averaged_rule(mus: Callable[[Ball], Sequence[BallScalar]], shares: Sequence[Fraction], name: str) -> Rule:
    """A Gaussian release at distance μ_k with probability p_k, whether or not k is known: at most Σ p_k·δ_G(ε, μ_k).

    Hockey-stick divergences are jointly convex, so the average over k bounds the mixture.
    """
    known: dict[int, Sequence[BallScalar]] = {}

    def body(K: Ball, e: Fraction) -> BallScalar:
        if K.bits not in known:
            known[K.bits] = mus(K)
        total = K(0)
        for mu, share in zip(known[K.bits], shares, strict=True):
            total = total + K(share) * gaussian_delta(K, e, mu)
        return total  # type: ignore[no-any-return]

    return Rule(name, False, body)


def pure_rule(epsilon0: Parameter, name: str = "pure DP of the whole transcript", exact: bool = False) -> Rule:
    """ε0-DP: δ(ε) of randomised response at ε0, the worst ε0-DP mechanism."""
    at = once(epsilon0)
    return Rule(name, exact, lambda K, e: kov_delta(K, e, at(K), 1))


def kov_rule(epsilon0: Parameter, k: int, name: str = "optimal composition of pure DP") -> Rule:
    """k adaptive ε0-DP steps: exact for the class of all such mechanisms, an upper bound for a given one."""
    at = once(epsilon0)
    return Rule(f"{name}, {k} steps", False, lambda K, e: kov_delta(K, e, at(K), k))


def zcdp_rule(rho: Parameter, name: str = "zCDP, optimal order") -> Rule:
    """ρ-zCDP, converted at the best order (Canonne, Kamath, Steinke)."""
    at = once(rho)
    return Rule(name, False, lambda K, e: zcdp_delta(K, e, at(K)))


def constant_rule(name: str) -> Rule:
    """The output does not depend on the data: δ = 0 at every ε."""
    return Rule(name, True, lambda K, e: K(0))


def smallest(rules: Sequence[Rule]) -> Rule:
    """The least of several upper bounds on the same mechanism."""
    return _combined(rules, Ball.min, min, exact=False)


def largest(rules: Sequence[Rule]) -> Rule:
    """Parallel composition: a record meets one of the mechanisms, so the worst of them bounds all."""
    return _combined(rules, Ball.max, max, exact=all(rule.exact for rule in rules))


def _combined(rules: Sequence[Rule], fold: Callable[..., Any], pick: Callable[..., Any], exact: bool) -> Rule:
    if len(rules) == 1:
        return rules[0]

    def body(K: Ball, e: Fraction) -> BallScalar:
        value = rules[0].body(K, e)
        for rule in rules[1:]:
            value = fold(K, value, rule.body(K, e))
        return value

    return Rule(" / ".join(dict.fromkeys(rule.name for rule in rules)), exact, body, tuple(rules), pick)


# ------------------------------------------------------------------- trajectories of pure-DP steps


@dataclass(frozen=True)
class BatchRange:
    """Batches first..last of a round, and losses by lag that dominate those of every one of them."""

    first: int
    last: int
    losses: np.ndarray = field(repr=False)
    tail: float
    """What the later lags, left out of `losses`, add up to: taken off ε (basic composition)."""

    @property
    def rho(self) -> float:
        """½Σε_t² over `losses`: what zCDP makes of them, for ordering blocks and leaving out hopeless ones."""
        return float(np.sum(self.losses**2)) / 2


class TrajectoryLoss:
    """δ(ε) of a round in which a record of batch k makes step t ≥ k lose at most u_k·P_{k,t}, the worst k.

    P_{k,t} = ∏_{j=k+1..t}(1 − 1/√(j+1)). For a fixed lag j = t − k, P_{k,k+j} grows in k, and fewer lags are left. So
    batches first..last are dominated by the losses max u·P_{last,last+j}, j = 0, …, T−1−first. Branch and bound over
    such blocks: the block with the largest bound is halved until it is one batch, or until its bound is within one
    per cent of what its middle batch alone gives. The cover is kept for the next ε.

    A step that is ε_t-DP is dominated by randomised response at ε_t; its two atoms are split onto the grid so that both
    the mass and the likelihood of the alternative are kept, which only adds information ("connect the dots"). The
    library convolves and reads δ(ε) off. In exact arithmetic this is an upper bound; for the round-off of its FFTs an
    allowance of 16 units in the last place a convolution is added (the measured error is far below it).
    """

    name = "dp-accounting's pessimistic privacy-loss distribution"
    grid_points = 10_000
    """At least so many grid steps over the sum of the losses, and thirty over a root mean square loss."""
    tail_share = 1e-5
    tolerance = 1.01
    most_splits = 64

    def __init__(self, units: Sequence[float]):
        self.units = np.asarray(units, dtype=float) * (1 + 1e-12)
        self.steps = len(units)
        self._blocks: dict[tuple[int, int], BatchRange] = {}
        self._pmfs: dict[tuple[int, int], Any] = {}
        self._leaves = self._start()

    def _start(self) -> list[tuple[int, int]]:
        """A first cover: the batches 0, ½, 1, 2, 3, 4, 6 times √T before the end."""
        T = self.steps
        edges = sorted({max(0, T - math.ceil(x * math.sqrt(T))) for x in (0, 0.5, 1, 2, 3, 4, 6)} | {0})
        return [(a, b - 1) for a, b in pairwise(edges)]

    def block(self, first: int, last: int) -> BatchRange:
        """Batches first..last with their dominating losses."""
        if (first, last) not in self._blocks:
            keep = 1 - 1 / np.sqrt(np.arange(last + 1, last + self.steps - first) + 1.0)
            decay = np.concatenate([[1.0], np.cumprod(keep)])
            losses = self.units[first : last + 1].max() * decay
            after = np.concatenate([np.cumsum(losses[::-1])[::-1], [0.0]])
            cut = max(1, int(np.argmax(after <= self.tail_share * after[0])))
            self._blocks[first, last] = BatchRange(first, last, losses[:cut], float(after[cut]))
        return self._blocks[first, last]

    def _pmf(self, block: BatchRange) -> Any:
        key = (block.first, block.last)
        if key not in self._pmfs:
            mean_square = float(np.mean(block.losses**2))
            width = min(float(block.losses.sum()) / self.grid_points, math.sqrt(mean_square) / 30)
            parts = [_responses(block.losses[i : i + 8], width) for i in range(0, len(block.losses), 8)]
            while len(parts) > 1:
                paired = [a.compose(b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
                parts = paired + ([parts[-1]] if len(parts) % 2 else [])
            self._pmfs[key] = parts[0]
        return self._pmfs[key]

    def block_delta(self, first: int, last: int, epsilon: float) -> float:
        """An upper bound on δ(ε) for every batch first..last."""
        block = self.block(first, last)
        left = epsilon - block.tail
        if left < 0:
            return 1.0
        value = float(self._pmf(block).get_delta_for_epsilon(left))
        return min(1.0, value + 16 * np.finfo(float).eps * len(block.losses))

    def _cheap(self, first: int, last: int, epsilon: float) -> float:
        block = self.block(first, last)
        left = epsilon - block.tail
        return 1.0 if left < 0 else zcdp_delta(Float64(), left, block.rho)

    def delta(self, epsilon: float) -> float:
        """An upper bound on δ(ε), the worst batch found by branch and bound."""
        return self.worst(epsilon)[0]

    def worst(self, epsilon: float) -> tuple[float, int, int]:
        """(bound on δ(ε), first, last): the block of batches that has the largest bound.

        A block is first bounded by zCDP, which is cheap; only the blocks that come up are convolved.
        """
        if not self.units.max() > 0:
            return 0.0, 0, self.steps - 1
        heap = [(-self._cheap(a, b, epsilon), True, a, b) for a, b in self._leaves]
        heapq.heapify(heap)
        attained, splits = 0.0, 0
        while True:
            bound, cheap, first, last = heapq.heappop(heap)
            if cheap:
                heapq.heappush(heap, (max(bound, -self.block_delta(first, last, epsilon)), False, first, last))
                continue
            middle = (first + last) // 2
            if first < last:
                attained = max(attained, self.block_delta(middle, middle, epsilon))
            if first == last or -bound <= self.tolerance * attained or splits >= self.most_splits:
                return -bound, first, last
            splits += 1
            self._leaves.remove((first, last))
            self._leaves += [(first, middle), (middle + 1, last)]
            for a, b in ((first, middle), (middle + 1, last)):
                heapq.heappush(heap, (max(bound, -self._cheap(a, b, epsilon)), True, a, b))


def _responses(losses: np.ndarray, width: float) -> Any:
    """A few steps as one of the library's distributions (short ones are convolved directly: its FFTs cost more)."""
    from dp_accounting.pld import pld_pmf  # here, because importing it takes longer than most answers

    top, probabilities = 0, np.ones(1)
    for loss in losses:
        reach, response = _response(loss, width)
        top, probabilities = top + reach, np.convolve(probabilities, response)
    return pld_pmf.DensePLDPmf(width, -top, probabilities, 0.0, True)


def _response(epsilon: float, width: float) -> tuple[int, np.ndarray]:
    """Randomised response on the grid −t·width, …, t·width: (t, probabilities).

    The atom p at loss x between two grid points a < b goes to b with the share (1 − e^{−(x−a)})/(1 − e^{−(b−a)}), to a
    with the rest; then Σp and Σp·e^{−loss} are those of the atom.
    """
    top = math.ceil(epsilon / width)
    probabilities = np.zeros(2 * top + 1)
    for loss, mass in ((epsilon, 1 / (1 + math.exp(-epsilon))), (-epsilon, 1 / (1 + math.exp(epsilon)))):
        low = math.floor(loss / width)
        share = math.expm1(low * width - loss) / math.expm1(-width)
        probabilities[low + top] += mass * (1 - share)
        if share > 0:
            probabilities[min(low + 1 + top, 2 * top)] += mass * share
    return top, probabilities


# ----------------------------------------------------------------------------------------- profiles


@dataclass(frozen=True)
class PrivacyProfile:
    """ε ↦ δ(ε) of one algorithm in one variant: a rule on balls, and possibly a sharper one that is not."""

    certified: Rule
    sharper: TrajectoryLoss | None = None

    def upper(self, epsilon: Exact) -> Fraction:
        """The least upper bound on δ(ε) that any rule gives, as a rational."""
        bound = self.certified.upper(epsilon)
        if self.sharper is not None and bound > 0:
            bound = min(bound, Fraction(self.sharper.delta(float(Fraction(epsilon)))))
        return bound

    def delta(self, epsilon: Exact) -> float:
        """`upper`, rounded up to binary64 (a positive bound never becomes 0)."""
        return _float_above(self.upper(epsilon))

    def certified_delta(self, epsilon: Exact) -> float:
        """The same by the rule on balls alone."""
        return _float_above(self.certified.upper(epsilon))

    def enclosure(self, epsilon: Exact, radius: Fraction = Fraction(1, 10**30)) -> BallScalar:
        """The certified rule's δ(ε) as a ball narrower than `radius`."""
        return self.certified.enclosure(epsilon, radius)

    def rule(self, epsilon: Exact) -> str:
        """Which rule gives the least bound at ε."""
        if self.sharper is not None and self.upper(epsilon) < self.certified.upper(epsilon):
            return self.sharper.name
        return self.certified.at(epsilon)

    def certificate(self, epsilon: Exact, certified: bool = False) -> str:
        """In words: what is proved about δ(ε), and by what. `certified`: leave the sharper rule out."""
        ball = self.certified.enclosure(epsilon)
        kind = "δ(ε) = v" if self.certified.exact else "δ(ε) ≤ v"
        text = f"{kind} with v in {ball.ball.str(12)}, by ball arithmetic at {BITS} bits or more"
        if not certified and self.sharper is not None and self.rule(epsilon) == self.sharper.name:
            text += f"; {self.sharper.name} gives {self.delta(epsilon):.6g} (pessimistic, round-off not enclosed)"
        return text

    def epsilon(self, delta: Exact) -> float:
        """The smallest binary64 ε that bisection finds with a bound δ(ε) ≤ δ; infinite if none is found below 2**20.

        With the sharper rule, to four digits (it costs a convolution a step); without it to the last one or two.
        """
        target = Fraction(delta)
        high = self.certified_epsilon(delta)
        if self.sharper is None or high == 0:
            return high
        loss = self.sharper
        return _bisect(lambda e: Fraction(loss.delta(e)) <= target, high, 14)

    def certified_epsilon(self, delta: Exact) -> float:
        """The same by the rule on balls alone: quick, and proved."""
        target = Fraction(delta)
        return _bisect(lambda e: self.certified.upper(e) <= target, 2.0**20, 54)

    def verdict(self, epsilon: Exact, delta: Exact) -> ProfileVerdict:
        """Whether δ(ε) ≤ δ: private, violated (only where the rule is exact), or not certified."""
        target, e = Fraction(delta), Fraction(epsilon)
        if self.certified.upper(e) <= target or self.upper(e) <= target:
            return "private"
        if self.certified.exact and _certainly_above(self.certified, e, target):
            return "violated"
        return "not certified"

    @cached_property
    def exact(self) -> bool:
        """Whether the certified rule is attained."""
        return self.certified.exact


def scientific(bound: Fraction, digits: int = 4) -> str:
    """A non-negative rational rounded *up* to some digits, as text: what binary64 cannot hold is shown too."""
    if bound <= 0:
        return "0"
    exponent = math.floor((bound.numerator.bit_length() - bound.denominator.bit_length()) * math.log10(2)) - 1
    while bound >= Fraction(10) ** (exponent + 1):
        exponent += 1
    mantissa = math.ceil(bound / Fraction(10) ** (exponent - digits + 1))
    if mantissa == 10**digits:
        mantissa, exponent = mantissa // 10, exponent + 1
    text = f"{mantissa // 10 ** (digits - 1)}.{mantissa % 10 ** (digits - 1):0{digits - 1}d}"
    return f"{text}e{exponent}"


def _float_above(bound: Fraction) -> float:
    nearest = float(bound)
    return nearest if Fraction(nearest) >= bound else math.nextafter(nearest, math.inf)


def _bisect(admissible: Callable[[float], bool], high: float, steps: int) -> float:
    """The smallest admissible ε found, to `steps` bits: from some point on all are; inf if `high` is not, 0 if 0 is."""
    if admissible(0.0):
        return 0.0
    found = min(1.0, high)
    while not admissible(found):
        if found >= high:
            return math.inf
        found = min(2 * found, high)
    while found > SMALLEST_EPSILON and admissible(found / 2):
        found /= 2
    low = found / 2
    for _ in range(steps):
        middle = (low + found) / 2
        low, found = (low, middle) if admissible(middle) else (middle, found)
    return found


def _certainly_above(rule: Rule, epsilon: Fraction, target: Fraction) -> bool:
    try:
        return certify(lambda K: K.lt(K(target), rule.body(K, epsilon)), bits=BITS, cap=4096).value
    except Undecided:
        return False
