"""Noise that is exactly what it says: discrete Laplace and Gaussian over the rationals, from fair bits.

The samplers are those of Canonne, Kamath and Steinke ("The Discrete Gaussian for Differential Privacy", 2020):
integer arithmetic and coin flips only, no floating point, no approximation. A source of randomness is any object with
`getrandbits(k)`, such as `random.Random(seed)` (reproducible) or `random.SystemRandom()` (for real releases).

==============================  ==================================================================
discrete Laplace, scale c       P(x) = (e^{1/c} − 1)/(e^{1/c} + 1) · e^{−|x|/c} on the integers
discrete Gaussian, variance v   P(x) ∝ e^{−x²/(2v)} on the integers
discrete exponential, scale c   P(x) = (1 − e^{−1/c})·e^{−x/c} on 0, 1, 2, …
==============================  ==================================================================

`DiscreteTape` serves unit draws on the grid of 2**-20: multiples of 1/G, G = 2**20, with laws at scale G (Laplace,
exponential) and variance G² (normal), divided by G.

**What is guaranteed.** Integer-valued queries with sensitivity m: noise from the discrete Laplace law of scale c
gives m/c-DP (`laplace_epsilon`), from the discrete Gaussian of variance v m²/(2v)-zCDP (`gaussian_rho`): the
constants of the continuous laws, proved on the integers (for Laplace, |x| changes by at most m; for the Gaussian see
the paper cited).

**What has to be on the grid.** A released sum q + s·noise hides its low bits only if q lies on the grid of s·noise,
whatever the data. `on_noise_grid` rounds q to a multiple of s/G; that moves it by at most s/(2G), so the sensitivity
grows by at most one grid step, that of a vector in ℝ^d by at most √d steps in ℓ_2 (`grid_sensitivity`). Exact noise
added to a q that was not rounded tells q apart as surely as binary64 noise does. That holds for Algorithms 2, 5 and 6,
which add noise to vectors: with this tape and without rounding their guarantees are not what `privacy` says.

**A selection** (report-noisy-min, Algorithms 3 and 4) releases no sum and may keep its scores off the grid, but the
grid costs it up to one step: scores whose range changes by r give a loss of at most (⌊rG/s⌋ + 1)/G, not r/s
(`selection_epsilon`). *Proof.* As in `privacy.noisy_min_epsilon`: given the other noises a candidate wins iff its own
noise is below a threshold τ, or on it if the lowest index is its own, and τ moves by at most r. So the noises that
win before and after differ by the grid points of an interval of length r, ends included: at most ⌊rG/s⌋ + 1 of them.
One grid point more multiplies P(noise ≤ point) by at most e^{1/G}, for discrete Laplace and for subtracted discrete
exponential noise. ∎ Attained: a tiny r that moves one score over a grid line costs a whole step, e^{1/G}, where r/s
is next to nothing. Over T steps that is up to T·2^{−20}: take the scale r/(ε − 1/G) in place of r/ε
(`selection_scale`) where it matters.

**What binary64 noise does instead.** Its support depends on q: of the outputs of the textbook binary64 Laplace sampler
for q = 0 at scale 1, six in ten cannot come from q = 1 (a test decides it for each), each of them a proof of which
dataset was used, where ε = 1 was meant.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Protocol

from reference.numerics.numbers import Exact, Numbers, Real
from reference.numerics.preconditions import exact, positive, require, whole
from reference.numerics.tape import GRID, Draw, Tape, TapeError, Values


class BitSource(Protocol):
    """Fair coins."""

    def getrandbits(self, k: int, /) -> int:
        """k fair bits as an integer below 2**k."""


# ----------------------------------------------------------------------------------- coins, exactly


def uniform_below(source: BitSource, n: int) -> int:
    """A uniform integer in range(n): draw bits, reject what is too large."""
    bits = (whole("n", n) - 1).bit_length()
    while True:
        value = source.getrandbits(bits) if bits else 0
        if value < n:
            return value


def bernoulli(source: BitSource, p: Fraction) -> bool:
    """True with probability p, a rational in [0, 1]."""
    require(0 <= p <= 1, "p", p, "lie in [0, 1]")
    return uniform_below(source, p.denominator) < p.numerator


def bernoulli_exp(source: BitSource, gamma: Fraction) -> bool:
    """True with probability e^{−γ}, γ ≥ 0 rational.

    For γ ≤ 1 draw coins with probabilities γ/1, γ/2, γ/3, … until one fails; the number of the failing one is odd with
    probability Σ (−γ)^k/k! = e^{−γ}. A larger γ is split into ones and a rest.
    """
    require(gamma >= 0, "gamma", gamma, "be at least 0")
    while gamma > 1:
        if not bernoulli_exp(source, Fraction(1)):
            return False
        gamma -= 1
    k = 1
    while bernoulli(source, gamma / k):
        k += 1
    return k % 2 == 1


# --------------------------------------------------------------------------------- the three laws


def discrete_exponential(source: BitSource, scale: int) -> int:
    """x ≥ 0 with P(x) ∝ e^{−x/scale}: the remainder by rejection, the quotient by counting successes of e^{−1}."""
    whole("scale", scale)
    while True:
        remainder = uniform_below(source, scale)
        if bernoulli_exp(source, Fraction(remainder, scale)):
            break
    quotient = 0
    while bernoulli_exp(source, Fraction(1)):
        quotient += 1
    return remainder + scale * quotient


def discrete_laplace(source: BitSource, scale: Exact) -> int:
    """An integer x with P(x) ∝ e^{−|x|/scale}, scale > 0 rational: for t/s, ⌊X/s⌋ with X of scale t, and a sign."""
    c = positive("scale", scale)
    while True:
        size = discrete_exponential(source, c.numerator) // c.denominator
        negative = bool(source.getrandbits(1))
        if size or not negative:  # −0 is rejected, so that 0 is not counted twice
            return -size if negative else size


def discrete_gaussian(source: BitSource, variance: Exact) -> int:
    """An integer x with P(x) ∝ e^{−x²/(2v)}, v > 0 rational: discrete Laplace of scale ⌊√v⌋ + 1, accepted by a coin."""
    v = positive("variance", variance)
    t = math.isqrt(v.numerator // v.denominator) + 1
    while True:
        x = discrete_laplace(source, t)
        if bernoulli_exp(source, (abs(x) - v / t) ** 2 / (2 * v)):
            return x


# -------------------------------------------------------------------------------------- what they give


def laplace_epsilon(K: Numbers, sensitivity: int, scale: Exact) -> Real:
    """m/c: the pure-DP constant of an integer query of sensitivity m with discrete Laplace noise of scale c."""
    return K(whole("sensitivity", sensitivity, 0)) / K(positive("scale", scale))


def gaussian_rho(K: Numbers, sensitivity: int, variance: Exact) -> Real:
    """m²/(2v): the zCDP constant of an integer query of sensitivity m with discrete Gaussian noise of variance v.

    Also of a vector of integers of ℓ_2 sensitivity m with independent noise in its entries: Σk_j²/(2v) ≤ m²/(2v).
    """
    return K(whole("sensitivity", sensitivity, 0) ** 2) / (2 * K(positive("variance", variance)))


def on_noise_grid(q: Exact, scale: Exact) -> int:
    """The multiple of scale/G nearest to q (halves upwards), as an integer: what noise of the tape may be added to."""
    return math.floor(exact("q", q) * GRID / positive("scale", scale) + Fraction(1, 2))


def grid_sensitivity(sensitivity: Exact, scale: Exact, dim: int = 1) -> int:
    """How many grid steps `on_noise_grid`, entry by entry, can move in ℓ_2 when the query moves by at most Δ in ℓ_2.

    With Δ' = ΔG/scale: ⌊Δ'⌋ + 1 for a number, ⌈Δ' + √d⌉ for a vector of dimension d. Rounding changes every entry of
    the difference by less than one step, hence its length by less than √d. Attained for a square d: a tiny move that
    takes every entry over a grid line is √d steps long.
    """
    steps = exact("sensitivity", sensitivity) * GRID / positive("scale", scale)
    if whole("dim", dim) == 1:
        return math.floor(steps) + 1
    a, b = steps.numerator, steps.denominator
    root = math.isqrt(dim * b * b - 1) + 1  # ⌈b√d⌉
    return -(-(a + root) // b)


def selection_epsilon(score_range: Exact, scale: Exact) -> Fraction:
    """(⌊rG/s⌋ + 1)/G, or 0 for r = 0: the pure-DP constant of report-noisy-min with the grid's Laplace or exponential
    noise.
    """
    r = exact("score_range", score_range)
    require(r >= 0, "score_range", score_range, "be at least 0")
    return Fraction(math.floor(r * GRID / positive("scale", scale)) + 1, GRID) if r else Fraction(0)


def selection_scale(score_range: Exact, epsilon: Exact) -> Fraction:
    """r/(ε − 1/G): on the grid this scale makes a selection ε-DP, as r/ε does off it. Refused for ε ≤ 1/G."""
    e = positive("epsilon", epsilon)
    require(e * GRID > 1, "epsilon", epsilon, f"exceed 1/{GRID}", "the grid is too coarse for such a step; take fewer")
    return positive("score_range", score_range) / (e - Fraction(1, GRID))


class DiscreteTape(Tape):
    """A live tape with exact laws on the grid of 2**-20, in the order of reading (not keyed: it is for real releases).

    Normal, Laplace and exponential draws, permutations and indices. Gumbel noise has no exact sampler of this kind;
    subtracted exponential noise has the same pure-DP guarantee in report-noisy-min (`selection_epsilon` on this grid).

    Every algorithm takes it as its tape. For a release give it `random.SystemRandom()`; a seed is for examples:

    >>> from random import Random
    >>> from reference.convex.noisy_frank_wolfe import frank_wolfe_parameters, noisy_frank_wolfe
    >>> from reference.numerics.numbers import Float64
    >>> from reference.setting import GLL, Absolute, Example, l1_ball
    >>> K, data = Float64(), [Example((i % 3 / 4, 0.5), 1) for i in range(8)]
    >>> p = frank_wolfe_parameters(K, 8, GLL(Absolute, 1, 1, p=1), l1_ball(2, 1), epsilon=8, delta="1e-6", T=4)
    >>> noisy_frank_wolfe(K, data, p, DiscreteTape(Random(0))).chosen
    (1, 1, 2, 3)
    """

    def __init__(self, source: BitSource):
        self._source = source

    def read(self, draw: Draw) -> Values:
        """The values of one draw."""
        if draw.kind == "permutation":
            return self._permutation(draw.dim)
        if draw.kind == "index":
            return (uniform_below(self._source, draw.dim),)
        return tuple(self._unit(draw) / GRID for _ in range(draw.dim))

    def _unit(self, draw: Draw) -> int:
        if draw.kind == "normal":
            return discrete_gaussian(self._source, GRID**2)
        if draw.kind == "laplace":
            return discrete_laplace(self._source, GRID)
        if draw.kind == "exponential":
            return discrete_exponential(self._source, GRID)
        raise TapeError(f"{draw.key}: {draw.kind} noise has no exact sampler on a grid; use laplace or exponential")

    def _permutation(self, n: int) -> tuple[int, ...]:
        """Fisher–Yates with exact uniforms."""
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = uniform_below(self._source, i + 1)
            order[i], order[j] = order[j], order[i]
        return tuple(order)


# --------------------------------------------------------------- the textbook binary64 sampler, for contrast
