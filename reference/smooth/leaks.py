"""How much printed Algorithm 5 gives away, for each reading of its batches.

| batches | what is seen | here |
|---|---|---|
| fixed by index | everything released | `noisy_sfw.transcript_delta`, exact |
| random, published | everything released | `random_batches_delta`, an upper bound; `interval_delta`, a lower bound |
| random, secret | everything released | `random_batches_delta` again; `interval_delta(…, published=False)` |
| random, secret: as printed | ŵ alone | `output_delta`, a lower bound |

The algorithm draws its batches at random, does not publish them, and puts out one iterate. So the last row is the
mechanism that Theorem 13 is about, and only a lower bound in the last row refutes it. All bounds are for finite b.

**Upper bound.** Fix the assignment of the records to the batches: the record that differs is in at most one batch, and
the transcript is a Gaussian release with that batch's μ (`batch_mus`), or tells nothing. Averaging over the
assignment, hockey-stick divergences are jointly convex: δ(ε) ≤ Σ_k p_k·δ_G(ε, μ_k), p_k = |B_k|/n the probability that
the record is in batch k. Publishing the assignment does not change this bound, keeping it secret can only help.

**Lower bound from the transcript** (R = 2, W = [−½, ½], L0 = 1, L1 = 2). The start is ½, all records are w² but one,
which is w² in one dataset and −w² in the other. Unless the noise of the first or the second step outweighs the mean
gradient, w_1^0 = −½ and w_1^1 = ½ exactly, whatever the assignment. So each released vector is Gaussian, with the same
means in both datasets except in the record's batch, where they are μ_k deviations apart. Published: the batch is known,
and the best event is that of a Gaussian release. Secret: one dataset gives standard Gaussian statistics y_k, the other
moves one of them, y_k with probability p_k; the event "some y_k exceeds its threshold" has products of normal
distribution functions as probabilities.

**Lower bound from the output alone** (R = 3, d = 3). W = {w_1² + w_2² ≤ ρ², |w_3| ≤ h}, ρ² + h² = ¼, so D = 1. All
records but one are *clocks*, w_1·ψ(w_3) + c·w_2 + m·w_3²/2, that one is ±2w_1w_2 (L0 = 1, L1 = 2). The third coordinate
of v_r^t is ±h, exactly, as long as no noise outweighs m·w_3: so ψ(w_3) is exact in every batch, and w_3 turns the first
coordinate round between w_2^0 and w_2^1. With probability 1/7, ŵ = w_2^2, whose first two coordinates are −ρs, s =
(1−η)u_0 + η·u_1, η = η_{2,1}, u_0 and u_1 the directions of A = ∇̃_2^0 and B = ∇̃_2^1 in these coordinates. Without
noise A and B are Ā = (ψ_A, c) and B̄ = (ψ_B, c), ψ_A and ψ_B of opposite sign; q and o are the unit vectors orthogonal
to them. The tilt c makes q and o independent, so there is a vector ℓ with η⟨ℓ, o⟩ = |B̄| and ⟨ℓ, q⟩ = −⟨o, q⟩|Ā|, and

    ⟨ℓ, s − s̄⟩ = ⟨B, o⟩ − (1−η)⟨o, q⟩⟨A, q⟩ up to terms of the second order
               = (1−η)⟨o, ū_0⟩⟨N_0 + e, ū_0⟩ + (1−η)⟨N̂, o⟩ + η⟨N, o⟩ + [the record is in batch (2, 1)]·(2/b)⟨±X − Y, o⟩,

with X = x(w_2^1) − (1−η)x(w_2^0) for the record's gradient x(w) = 2(w_2, w_1), Y the same for the clock's, and e ≠ 0,
|e| ≤ 2/b, only if the record is in batch (2, 0). This is a Gaussian variable whose mean is one of three numbers. The
remainder is bounded: sin a = ⟨A, q⟩/|A| and 1 − cos a ≤ sin²a for the angle a of u_0 to ū_0, the same for u_1, and |A −
Ā|, |B − B̄| ≤ M unless one of the 27 unit Gaussians drawn until w_2^3 exceeds G. M is of the order G√L/(bε), and b is as
large as one likes. Iterates other than w_2^2 stay away from w̄_2^2 (`Decoder.radius`). ∎
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from reference.numerics.numbers import Exact, Numbers, Real, Vector, certify
from reference.numerics.preconditions import require, whole
from reference.numerics.tape import ZeroTape
from reference.paper.events import Trace
from reference.paper.registry import claims
from reference.privacy import gaussian_delta, log_inverse
from reference.setting import Example
from reference.smooth.calibration import printed_pair_mu
from reference.smooth.noisy_sfw import noisy_sfw_printed
from reference.smooth.poly_sfw import StepSizes
from reference.smooth.rounds import samples_bound_printed

# ------------------------------------------------------------------- random batches, everything released

GROUPED_FROM = 32
"""From this step on, steps are taken together in groups that double; the first step of a group bounds the rest."""


def batch_shares(R: int, b: int, n: int | None = None) -> tuple[tuple[int, Fraction], ...]:
    """(t, probability that a given record is in a batch of step t, of any round), steps grouped as said above.

    Batches have ⌊b/(t+1)⌋ records. Without n, for the least n, where every record is used: that is the worst n.
    """
    sizes = {t: (R - t.bit_length()) * (b // (t + 1)) for t in range(2 ** (whole("R", R) - 1))}  # rounds with 2^r > t
    used = sum(sizes.values())
    n = used if n is None else n
    require(n >= used, "n", n, f"be at least {used}", "the batches are disjoint")
    grouped: dict[int, int] = {}
    for t, size in sizes.items():
        first = t if t < GROUPED_FROM else 1 << (t.bit_length() - 1)
        grouped[first] = grouped.get(first, 0) + size
    return tuple((t, Fraction(size, n)) for t, size in grouped.items())


@claims("thm:privacy-noisySFW", "printed")
def random_batches_delta(
    K: Numbers, at: Exact, epsilon: Exact, delta: Exact, R: int, b: int, n: int | None = None
) -> Real:
    """Σ_k p_k·δ_G(at, μ_k): a bound on δ(at) of printed Algorithm 5 run with (ε, δ), batches random, published or not.

    Everything that is released inside may be published too.
    """
    total = K(0)
    for t, share in batch_shares(R, b, n):
        mu = printed_pair_mu(K, t, epsilon, delta) if t else K(epsilon) / (2 * K.sqrt(log_inverse(K, delta)))
        total = total + K(share) * gaussian_delta(K, at, mu)
    return total


def private_up_to(delta: Exact, R: int, b: int, n: int | None = None, digits: int = 3) -> Fraction:
    """An ε, within 10^{−digits} of the largest, at which `random_batches_delta` certifies (ε, δ)-DP.

    Every term of the sum increases in ε (the text of `noisy_sfw` shows it for μ proportional to ε), so there is one
    crossing: printed Algorithm 5 with random batches is private for all smaller ε too.
    """

    def private(epsilon: Fraction) -> bool:
        target = Fraction(delta)
        return certify(lambda B: B.le(random_batches_delta(B, epsilon, epsilon, delta, R, b, n), B(target))).value

    low, high = Fraction(0), Fraction(1)
    while private(high):
        low, high = high, 2 * high
    while high - low > Fraction(1, 10**digits):
        middle = (low + high) / 2
        low, high = (middle, high) if private(middle) else (low, middle)
    return low


def interval_delta(K: Numbers, epsilon: Exact, delta: Exact, b: int, *, published: bool) -> Real:
    """A lower bound on δ(ε) of all that printed Algorithm 5 releases, R = 2, n = bR², b even: second part above.

    Secret batches: the threshold of batch k is where p_k·e^{μ_k·y − μ_k²/2} + 1 − p_k = e^ε.
    """
    e, root_log = K(epsilon), K.sqrt(log_inverse(K, delta))
    single, pair = e / (2 * root_log), printed_pair_mu(K, 1, epsilon, delta)
    batches = ((single, Fraction(1, 4)), (single, Fraction(1, 4)), (pair, Fraction(1, 8)))
    noise = 4 * root_log / (b * e)
    tail = (1 + K.exp(e)) * 2 * K.normal_cdf(-(1 - K(Fraction(2, b))) / noise)
    if published:
        return K.sum(K(share) * gaussian_delta(K, epsilon, mu) for mu, share in batches) - tail
    thresholds = [K.log(K.expm1(e) / K(share) + 1) / mu + mu / 2 for mu, share in batches]
    below = [K.normal_cdf(t) for t in thresholds]
    quiet = below[0] * below[1] * below[2]
    told = sum(share for _, share in batches)
    seen = K(told)
    for (mu, share), t, q in zip(batches, thresholds, below, strict=True):
        seen = seen - K(share) * K.normal_cdf(t - mu) * quiet / q
    return seen + (K(1 - told) - K.exp(e)) * (1 - quiet) - tail


def violated_at(delta: Exact, b: int, *, published: bool, step: Exact = Fraction(1, 100), most: int = 100) -> Fraction:
    """The least multiple of `step` at which `interval_delta` exceeds δ, certified; an error if none to `most` does."""

    def violated(epsilon: Fraction) -> bool:
        target = Fraction(delta)
        return certify(lambda B: B.lt(B(target), interval_delta(B, epsilon, delta, b, published=published))).value

    epsilon = Fraction(step)
    while not violated(epsilon):
        epsilon += Fraction(step)
        require(epsilon <= most, "delta", delta, f"be exceeded at some epsilon up to {most}", "search further")
    return epsilon


# --------------------------------------------------------------------------- secret batches, ŵ alone


@dataclass(frozen=True)
class Cylinder:
    """{w ∈ ℝ³: w_1² + w_2² ≤ ρ², |w_3| ≤ h} with (ρ, h) = (760, 39)/1522, so that its diameter is 1."""

    rho: Fraction = Fraction(760, 1522)
    height: Fraction = Fraction(39, 1522)
    dim: int = 3

    def centre(self, K: Numbers) -> Vector:
        """0."""
        return K.zeros(3)

    def contains(self, K: Numbers, w: Vector, slack: Exact = 0) -> bool:
        """Whether w ∈ W, up to `slack` in each inequality."""
        disc = K.le(w[0] * w[0] + w[1] * w[1], K(self.rho**2 + Fraction(slack)))
        return disc and K.le(K.abs(w[2]), K(self.height + Fraction(slack)))

    def diameter(self, K: Numbers, p: Any) -> Real:
        """2√(ρ² + h²) = 1 in ℓ_2."""
        require(p == 2, "p", p, "be 2", "this set is for the Euclidean instance")
        return 2 * K.sqrt(K(self.rho**2 + self.height**2))

    def norm_bound(self, K: Numbers, p: Any) -> Real:
        """Half of that: the set is symmetric."""
        return self.diameter(K, p) / 2

    def linear_minimiser(self, K: Numbers, g: Vector) -> Vector:
        """−ρ(g_1, g_2)/|(g_1, g_2)|, −h·sgn g_3."""
        size = K.sqrt(g[0] * g[0] + g[1] * g[1])
        return K.vector([-K(self.rho) * g[0] / size, -K(self.rho) * g[1] / size, -K(self.height) * K.sign(g[2])])


@dataclass(frozen=True)
class Clock:
    """With y = 0: w_1·ψ(w_3) + tilt·w_2 + curvature·w_3²/2, ψ(x) = ψ_0 + ψ_1x + ψ_2x². Else: 2·share·y·w_1w_2.

    On `Cylinder`, `L0` = 1 and `L1` = 2 bound gradients and Hessians in ℓ_2: `within` decides that.
    """

    psi: tuple[Fraction, Fraction, Fraction]
    tilt: Fraction
    curvature: Fraction
    share: Fraction = Fraction(1)
    L0: Fraction = Fraction(1)
    L1: Fraction = Fraction(2)
    p: int = 2

    def gradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """∇f(w, z)."""
        if z.y != 0:
            scale = K(2 * self.share * Fraction(z.y))
            return K.vector([scale * w[1], scale * w[0], K(0)])
        first, slope, bend = (K(x) for x in self.psi)
        psi, change = first + slope * w[2] + bend * w[2] * w[2], slope + 2 * bend * w[2]
        return K.vector([psi, K(self.tilt), w[0] * change + K(self.curvature) * w[2]])

    def within(self, W: Cylinder) -> bool:
        """Whether all gradients on W are at most L0 and all Hessians at most L1, by crude bounds."""
        h, (first, slope, bend) = W.height, (abs(x) for x in self.psi)
        change = slope + 2 * bend * h
        size = first + slope * h + bend * h * h + self.tilt + W.rho * change + self.curvature * h
        turn = change + 2 * bend * W.rho + self.curvature  # the Hessian: ψ' off the diagonal, the rest on it
        saddle = 2 * self.share
        return max(size, saddle * W.rho) <= self.L0 and max(turn, saddle) <= self.L1


@dataclass(frozen=True)
class OutputInstance:
    """Step sizes, the clock that suits them, and the start: what the bound on ŵ alone is made of."""

    eta: StepSizes
    loss: Clock
    W: Cylinder = Cylinder()

    def start(self, K: Numbers) -> Vector:
        """(ρ, 0, h), a point of W."""
        return K.vector([self.W.rho, 0, self.W.height])


def falling_steps(later: Exact) -> OutputInstance:
    """η_{r,0} = 1, η_{r,t} = `later` (small) from t = 1 on: step sizes that Theorem 13 does not exclude.

    The clock is ψ(w_3) = w_3/20, so that the first coordinate turns round with the third; the tilt is later/2 in
    angle, so that the noise of A, which ŵ tells only in part, adds less than that of Δ̃.
    """
    height = Cylinder().height
    clock = Clock((Fraction(0), Fraction(1, 20), Fraction(0)), height * Fraction(later) / 40, Fraction(19, 10))
    return OutputInstance(lambda K, t: K(1) if t == 0 else K(Fraction(later)), clock)


@dataclass(frozen=True)
class Decoder:
    """The numbers of the module's third part, computed from a run of the algorithm without noise."""

    K: Numbers
    instance: OutputInstance
    epsilon: Exact
    delta: Exact
    estimates: dict[tuple[int, int], Vector] = field(init=False, repr=False)
    iterates: tuple[Vector, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Run the algorithm on clocks alone; b = 12 here, the path does not depend on b."""
        trace, clocks = Trace(), (Example((0,), 0),) * 55
        run = noisy_sfw_printed(
            self.K,
            self.instance.loss,
            self.instance.W,
            clocks,
            3,
            12,
            self.epsilon,
            self.delta,
            ZeroTape(),
            start=self.instance.start(self.K),
            eta=self.instance.eta,
            exact_budget=True,
            trace=trace,
        )
        found = {event.indices: event.value for event in trace if event.name == "noisy_grad"}
        object.__setattr__(self, "estimates", found)
        object.__setattr__(self, "iterates", run.iterates)

    @cached_property
    def step(self) -> Real:
        """η = η_{2,1}."""
        return self.instance.eta(self.K, 1)

    @cached_property
    def frames(self) -> tuple[tuple[Real, Vector, Vector], tuple[Real, Vector, Vector]]:
        """(|Ā|, ū_0, q) and (|B̄|, ū_1, o); o points so that ⟨X, o⟩ > 0."""
        (size_a, u_a, q), (size_b, u_b, o) = (self._frame(self.estimates[2, t]) for t in (0, 1))
        if self.K.lt(self._jump(self._saddle) @ o, self.K(0)):
            o = -o
        return (size_a, u_a, q), (size_b, u_b, o)

    def _frame(self, estimate: Vector) -> tuple[Real, Vector, Vector]:
        x, y = estimate[0], estimate[1]
        size = self.K.sqrt(x * x + y * y)
        return size, self.K.vector([x / size, y / size]), self.K.vector([-y / size, x / size])

    def _saddle(self, w: Vector) -> Vector:
        share = 2 * self.K(self.instance.loss.share)
        return self.K.vector([share * w[1], share * w[0]])

    def _clock(self, w: Vector) -> Vector:
        g = self.instance.loss.gradient(self.K, w, Example((0,), 0))
        return self.K.vector([g[0], g[1]])

    def _jump(self, gradient: Any) -> Vector:
        """gradient(w_2^1) − (1−η)·gradient(w_2^0): X or Y."""
        before, after = self.iterates[3], self.iterates[4]
        jump: Vector = gradient(after) - gradient(before) * (1 - self.step)
        return jump

    @cached_property
    def means(self) -> tuple[Real, Real]:
        """b times the mean of the statistic when the record is in batch (2, 1): for + and for −."""
        o = self.frames[1][2]
        signal, common = 2 * (self._jump(self._saddle) @ o), 2 * (self._jump(self._clock) @ o)
        return signal - common, -signal - common

    @cached_property
    def covector(self) -> Vector:
        """ℓ: the statistic is ⟨ℓ, s − s̄⟩."""
        (size_a, _, q), (size_b, _, o) = self.frames
        along_o, along_q = size_b / self.step, -(o @ q) * size_a
        determinant = o[0] * q[1] - o[1] * q[0]
        return self.K.vector(
            [(along_o * q[1] - along_q * o[1]) / determinant, (along_q * o[0] - along_o * q[0]) / determinant]
        )

    def statistic(self, output: Vector) -> Real:
        """⟨ℓ, s − s̄⟩ of an output near w̄_2^2."""
        moved = (output - self.iterates[5]) / (-self.K(self.instance.W.rho))
        return self.covector @ self.K.vector([moved[0], moved[1]])

    @cached_property
    def unit(self) -> Real:
        """b times the deviation of N_2^0: 4√L/ε."""
        return 4 * self.K.sqrt(log_inverse(self.K, self.delta)) / self.K(self.epsilon)

    @cached_property
    def deviation(self) -> Real:
        """b times the deviation of the statistic."""
        (_, u_a, _), (_, _, o) = self.frames
        keep = 1 - self.step
        start, variation, fresh = keep * (o @ u_a), keep * 4 * self.step, 2 * self.step
        return self.unit * self.K.sqrt(start * start + variation * variation + fresh * fresh)

    @cached_property
    def drift(self) -> Real:
        """b times the largest mean when the record is elsewhere: (1−η)|⟨o, ū_0⟩|·2, from batch (2, 0)."""
        return 2 * (1 - self.step) * self.K.abs(self.frames[1][2] @ self.frames[0][1])

    def reach(self, b: int, gaussians: Exact) -> Real:
        """M: how far an estimate is from where it is without noise, in any coordinate, if no unit Gaussian exceeds G.

        The noises of a round add up to at most 1 + 4 + 2 + 6 + 3 units a coordinate, the record adds at most 16/b;
        times 3/2 for two coordinates.
        """
        return (24 * self.K(gaussians) * self.unit + 24) / b

    def slack(self, M: Real, b: int) -> Real:
        """How far the statistic is from the Gaussian variable at most."""
        K, (size_a, _, q), (size_b, _, o) = self.K, *self.frames
        sine_a, sine_b = M / (size_a - M), M / (size_b - M)
        length = K.sqrt(self.covector @ self.covector)
        bends = length * ((1 - self.step) * sine_a * sine_a + self.step * sine_b * sine_b)
        lengths = M * ((1 - self.step) * K.abs(o @ q) * sine_a + sine_b)
        return bends + lengths + 8 * self._shift(M) / b

    def _shift(self, M: Real) -> Real:
        """How far an iterate is from where it is without noise: directions turn by at most 2M over a length."""
        K = self.K
        least = K(1)
        for estimate in self.estimates.values():
            least = K.min(least, self._frame(estimate)[0])
        return 2 * M / (least - M)

    def undisturbed(self, M: Real) -> bool:
        """Whether noise below M turns no third coordinate, and leaves every other iterate away from w̄_2^2."""
        K, shift = self.K, self._shift(M)
        far = True
        for estimate in self.estimates.values():
            far = far and K.lt(2 * M + 2 * shift, K.abs(estimate[2]))
        here = self.iterates[5]
        for i, other in enumerate(self.iterates):
            gap = other - here
            far = far and (i == 5 or K.lt(4 * shift * shift, (gap @ gap) / 4))
        return far


@claims("thm:privacy-noisySFW", "printed")
def output_delta(
    K: Numbers,
    instance: OutputInstance,
    epsilon: Exact,
    delta: Exact,
    b: int,
    threshold: Exact,
    gaussians: Exact,
    n: int | None = None,
) -> Real:
    """A lower bound on δ(ε) of ŵ alone, secret random batches, R = 3, n = bR² unless given: the module's third part.

    The event is "ŵ is near w̄_2^2 and the statistic is at least `threshold`/b"; a bound holds for every threshold and
    every G = `gaussians`.
    """
    n = samples_bound_printed(3, b) if n is None else n
    require(b % 12 == 0, "b", b, "be a multiple of 12", "so that all batches b/(t+1) are whole")
    found = Decoder(K, instance, epsilon, delta)
    M = found.reach(b, gaussians)
    require(found.undisturbed(M), "b", b, "be larger", "the noise may turn a coordinate")
    share, slack, e = Fraction(b, 2 * n), b * found.slack(M, b), K.exp(K(epsilon))

    def above(mean: Real) -> Real:
        return K.normal_cdf((mean - K(threshold)) / found.deviation)

    plus, minus = found.means
    gain = K(share) * above(plus - slack)
    loss = K(share) * above(minus + slack) + K(1 - share) * above(found.drift + slack)
    tail = 2 * 27 * K.normal_cdf(-K(gaussians))
    return (gain - e * loss) / 7 - (1 + e) * tail


__all__ = [
    "Clock",
    "Cylinder",
    "Decoder",
    "OutputInstance",
    "batch_shares",
    "falling_steps",
    "interval_delta",
    "output_delta",
    "private_up_to",
    "random_batches_delta",
    "violated_at",
]
