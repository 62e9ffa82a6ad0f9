"""Section 4, errata E4.n, and the rows of Table 1 and the introduction that speak of it (E1.10 on): each shown by
running something.

Every function takes no argument, runs in seconds and computes `shown`. Instances that several errata share stand
first: `Field`, a loss whose records are linear functionals or saddles, and `output_level_delta`, the failure of
printed Algorithm 5 in its *output* alone with fixed batches; `leaks` has the one with random batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from reference.numerics.numbers import INF, Ball, Exact, Float64, Numbers, Real, Vector
from reference.numerics.preconditions import PreconditionError
from reference.numerics.tape import ZeroTape
from reference.paper.events import Trace
from reference.paper.inventory import load
from reference.paper.registry import Counterexample, Hypothesis, agree, at_least, counterexample
from reference.privacy import (
    advanced_composition,
    dp_delta,
    gaussian_delta,
    kov_epsilon,
    log_inverse,
    noisy_min_law,
)
from reference.privacy.hypotheses import privacy_range
from reference.setting import Box, Example, L2Ball, Polytope, SignedQuadratic, Simplex, box_polytope
from reference.smooth.bounds import (
    ROUND_CONSTANTS,
    averaged_constant,
    choice_argument,
    gap_at_choice,
    gap_at_choice_printed,
    gradient_error_printed,
    noisy_gradient_error_printed,
    noisy_rate_printed,
    rate_printed,
)
from reference.smooth.calibration import (
    corrected_pair_mu,
    laplace_scale_printed,
    printed_pair_mu,
)
from reference.smooth.floors import gap_floor, step_floor
from reference.smooth.hypotheses import (
    choices_of_theorem_11,
    choices_of_theorem_14,
    rounds_and_batches,
    setting_of_a_cylinder,
    step_sizes,
)
from reference.smooth.leaks import falling_steps, output_delta, private_up_to, violated_at
from reference.smooth.noisy_sfw import (
    corrected_transcript_delta,
    failure_threshold,
    noisy_sfw_printed,
    noisy_sfw_with,
    transcript_delta,
)
from reference.smooth.parameters import noisy_parameters, poly_parameters
from reference.smooth.poly_sfw import poly_sfw_printed
from reference.smooth.regular_spaces import (
    confluent,
    exponential_share,
    kappa_printed,
    kappa_provable,
    refuted_dimensions,
    sign_lower_bound,
    sign_lower_bound_lq,
)
from reference.smooth.rounds import iterate_count, stationarity_gap
from reference.smooth.sensitivity import step_size

_K = Float64()


@dataclass(frozen=True)
class Field:
    """f(w, (x, 0)) = ⟨x, w⟩, and f(w, (x, ±1)) = ±curvature·w_1·w_2 (d = 2) or ±(curvature/2)w² (d = 1)."""

    L0: Fraction = Fraction(1)
    L1: Fraction = Fraction(2)
    p: Any = 2

    def gradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """∇f(w, z)."""
        if z.y == 0:
            return K.vector(z.x)
        slope = w if len(w) == 1 else K.vector([w[1], w[0]])
        g: Vector = slope * (K(z.y) * K(self.L1))
        return g


# ------------------------------------------------------------------- E4.1 to E4.7: privacy


PAIR: tuple[int, Fraction] = (3, Fraction(1, 10**6))
"""(ε, δ) at which the releases of one step are measured: ε ≤ √log(1/δ) = 3.72."""


def pair_instance(errata: frozenset[str] = frozenset(), eta: Any = step_size) -> tuple[Real, Real, Real]:
    """Measured on two neighbouring runs: how far Δ_1^1 and g_1^1 move, and μ of the pair, at (ε, δ) = (3, 1e-6).

    d = 1, W = [−1/2, 1/2], f = ±w², L0 = 1, L1 = 2, D = 1, b = 2, R = 2. Without noise the run goes to w_1^0 = −1/2
    and jumps to w_1^1 = 1/2, since η_{1,0} = 1; the record that differs is the only one of batch (1, 1). The three
    earlier steps are equal.
    """
    loss, W = Field(), Box([Fraction(-1, 2)], [Fraction(1, 2)])
    push, pull = Example((1,)), Example((-1,))
    common = (push, push, pull, pull)
    runs = []
    for last in (Example((0,), 1), Example((0,), -1)):
        trace = Trace()
        noisy_sfw_with(set(errata))(
            _K, loss, W, (*common, last), 2, 2, *PAIR, ZeroTape(), eta=eta, exact_budget=True, trace=trace
        )
        found = {(e.name, e.indices): e.value for e in trace}
        runs.append(found)
    first, second = runs
    moves = [abs(first[name, (1, 1)][0] - second[name, (1, 1)][0]) for name in ("Delta", "g")]
    ratios = [moves[0] / first["sigma_hat", (1, 1)], moves[1] / first["sigma", (1, 1)]]
    return moves[0], moves[1], _K.sqrt(ratios[0] ** 2 + ratios[1] ** 2)


LARGE_BATCH = 12 * 10**24
"""b of the exhibits on the output alone: so large that the noise is small, and a multiple of 12."""
SECRET_ROUNDS = 3
"""R of these exhibits."""
SECRET_RECORDS = LARGE_BATCH * SECRET_ROUNDS**2
"""n of these exhibits: bR², the least that the remark on R and b allows; a record is in a batch the more rarely the
larger n is, so a smaller n would show more than is fair."""


def secret_output_delta(K: Numbers, epsilon: Exact, delta: Exact, later: Exact) -> Real:
    """A lower bound on δ(ε) of ŵ alone: printed Algorithm 5, R = 3, n = bR², secret batches, η_t = `later`, t ≥ 1."""
    return output_delta(K, falling_steps(later), epsilon, delta, LARGE_BATCH, Fraction(13, 5), 12, n=SECRET_RECORDS)


def secret_output_hypotheses(epsilon: Exact, delta: Exact, later: Exact) -> tuple[Hypothesis, ...]:
    """What `secret_output_delta` has to meet: all that the paper asks for, wherever it does."""
    instance = falling_steps(later)
    return (
        *privacy_range(epsilon, delta),
        *rounds_and_batches(SECRET_RECORDS, SECRET_ROUNDS, LARGE_BATCH),
        *step_sizes(instance.eta, SECRET_ROUNDS),
        *setting_of_a_cylinder(instance.W, instance.loss, 1),
    )


@counterexample("E4.1")
def noise_for_the_wrong_step() -> Counterexample:
    """The printed σ̂ is made for D·η_t, the move is D·η_{t−1}: the pair of t = 1, which the proof speaks of, is not (3,
    1e-6)-DP. By the output alone, with secret random batches: short later steps break (1, 1e-6).

    With η_t = 1/√(t+1) it depends on what is seen. Everything released: (ε, 1e-6) is broken from 1.24 on if batches are
    fixed by index, from 3.47 on if they are random and published (R = 2, n = bR²), from 9.77 on if they stay secret.
    """
    variation, fresh, mu = pair_instance()
    exact, predicted = gaussian_delta(_K, PAIR[0], mu), transcript_delta(_K, *PAIR)
    _, _, repaired_mu = pair_instance(frozenset({"E4.1"}))
    repaired = gaussian_delta(_K, PAIR[0], repaired_mu)
    B = Ball(256)
    fixed, alone = output_level_delta(B, 8, "1e-6", 10**9), secret_output_delta(B, 1, "1e-6", Fraction(1, 100))
    target = B(Fraction(1, 10**6))
    pair = agree(mu, printed_pair_mu(_K, 1, *PAIR)) and exact > PAIR[1] >= repaired
    shown = pair and B.lt(target, fixed) and B.lt(target, alone)
    published = violated_at("1e-6", 10**9, published=True)
    return Counterexample(
        shown,
        f"ŵ alone, η = (1, 1/100, …): δ(1) ≥ {at_least(B.to_float(alone))} instead of 1e-6; what step (1, 1) releases"
        f" inside, η = (1, 1/√2), batches fixed by index: δ(3) = {exact:.3g} instead of 1e-6, with η_{{t−1}}"
        f" {repaired:.2g}",
        {
            "output_delta_at_1_1e-6": B.to_float(alone),
            "delta_at_3": exact,
            "predicted": predicted,
            "repaired": repaired,
            "mu": mu,
            "move_of_Delta": variation,
            "move_of_g": fresh,
            "fixed_fails_from_1e-6": float(failure_threshold("1e-6", digits=4)[1]),
            "published_fails_from_1e-6": float(published),
            "published_private_to_1e-6": float(private_up_to("1e-6", 2, 10**6, 4 * 10**6)),
            "secret_fails_from_1e-6": float(violated_at("1e-6", 10**9, published=False)),
            "fixed_output_delta_at_8_1e-6": B.to_float(fixed),
        },
        secret_output_hypotheses(1, "1e-6", Fraction(1, 100)),
        "lower",
        "output",
    )


def output_level_delta(K: Numbers, epsilon: Exact, delta: Exact, b: int) -> Real:
    """A lower bound on δ(ε) of ŵ *alone* for printed Algorithm 5 with R = 3, rigorous for finite b; batches fixed by
    index.

    W is the disc of radius 1/2, L0 = 1, L1 = 2, D = 1. All records but one are linear: −w_1 in rounds 0 and 1, so
    that w_2^0 is near e_1/2; w_1 in batch (2, 0), so that w_2^1 = v_2^0 is near −e_1/2; ⟨h, w⟩ with h = (399, 40)/401
    in batch (2, 1), where the record that differs is ±2w_1w_2: its gradient is near ±e_2 at w_2^0 and ∓e_2 at w_2^1.
    With η = 1/√2, what it adds to the estimate is ∓(2/b)(2−η)e_2.

    With probability 1/7, ŵ = w_2^2 = −[(1−η)u_0 + ηu_1]/2, where u_0, u_1 are the directions of A = ∇̃_2^0 and B =
    ∇̃_2^1. Two unit vectors with known weights are determined by their sum up to a reflection, and h turns u_1 to one
    side: both are known. Directions give B's component along o ⟂ E B and A_2, up to second order in the noise. Z =
    B·o − (1−η)(o_2)A_2 is Gaussian with the two means c ± (2/b)(2−η)o_2 and variance (1−η)²σ̂² + η²σ² +
    ((1−η)σ_0·o_1)². Unless one of the 14 unit Gaussians that matter exceeds 12, A and B are within M = 192√L/(bε) +
    3/b of their means and the statistic read off from ŵ is within 5M² of Z: it is B·o/(1+ξ) − (1−η)o_2·A_2/A_1 with
    |ξ| ≤ M/0.99. The tests decode it.
    """
    root_log, e = K.sqrt(log_inverse(K, delta)), K(epsilon)
    eta = 1 / K.sqrt(K(2))
    unit = 4 * root_log / (b * e)
    mean = (1 - eta + eta * K(Fraction(399, 401)), eta * K(Fraction(40, 401)))
    size = K.sqrt(mean[0] * mean[0] + mean[1] * mean[1])
    cosine, sine = mean[0] / size, mean[1] / size
    variation, fresh, start = (1 - eta) * 4 * eta * unit, eta * 2 * unit, (1 - eta) * unit * sine
    deviation = K.sqrt(variation * variation + fresh * fresh + start * start)
    mu = 4 * (2 - eta) * cosine / (b * deviation)
    bound = 48 * unit + K(Fraction(3, b))
    slack = 5 * bound * bound / deviation
    tail = 40 * K.normal_cdf(K(-12))
    gain = K.normal_cdf(mu / 2 - e / mu - slack) - K.exp(e) * K.normal_cdf(-e / mu - mu / 2 + slack)
    return gain / 7 - (1 + K.exp(e)) * tail


def random_batch_delta(K: Numbers, epsilon: Exact, delta: Exact, threshold: Exact) -> Real:
    """P(E) − e^ε·P'(E) for ŵ alone when batches are *random*, R = 2, n = 5b/2, as b → ∞; a lower bound on δ(ε) for
    every threshold.

    All records but one are w_1, that one is ±w_2, W is a disc. It is in batch (0, 0) with probability 2/5; ŵ = w_1^0
    = v_0^0 has probability 1/3 and then tells A_2, Gaussian with mean ±μ/2 in units of its deviation, μ = ε/(2√L), or
    0 if the record is elsewhere.
    """
    mu, tau = K(epsilon) / (2 * K.sqrt(log_inverse(K, delta))), K(threshold)
    inside, outside = K(Fraction(2, 5)), K(Fraction(3, 5)) * K.normal_cdf(-tau)
    with_plus = inside * K.normal_cdf(mu / 2 - tau) + outside
    with_minus = inside * K.normal_cdf(-mu / 2 - tau) + outside
    return (with_plus - K.exp(K(epsilon)) * with_minus) / 3


def sixteen_over_target(K: Numbers, delta: Exact) -> Real:
    """δ_G(ε, ε/√(2L))/δ at ε = √L: what two releases with η_{t−1} and the constant 16 give away, over δ."""
    root_log = K.sqrt(log_inverse(K, delta))
    return gaussian_delta(K, root_log, 1 / K.sqrt(K(2))) / K(Fraction(delta))


@counterexample("E4.2")
def constant_sixteen_runs_out() -> Counterexample:
    """With η_{t−1} in place the two releases of a step are ε/√(2L)-GDP: too much for (7, 0.01), and for (9, 1e-6).

    For ε ≤ √L, which the paper asks for in Algorithm 2, it is enough down to δ = 1e-95 (5.6 per cent of δ at 1e-6), and
    not at δ = 1e-100. Random batches do not save the theorem for all ε: at (200, 0.01) the output alone violates it.
    """
    values = {f"({e}, {d})": corrected_transcript_delta(_K, e, d) for e, d in ((7, "0.01"), (9, "1e-6"))}
    shown = values["(7, 0.01)"] > Fraction(1, 100) and values["(9, 1e-6)"] > Fraction(1, 10**6)
    predicted = agree(pair_instance(frozenset({"E4.1"}))[2], corrected_pair_mu(_K, *PAIR))
    targets = ("0.01", "1e-6")
    limits = {f"enough_up_to_at_{d}": float(failure_threshold(d, corrected=True, digits=4)[0]) for d in targets}
    B = Ball(1024)
    random = random_batch_delta(B, 200, "0.01", 21)
    ratios = {d: sixteen_over_target(B, d) for d in ("1e-6", "1e-95", "1e-100")}
    inside = [B.lt(ratios[d], B(1)) for d in ratios] == [True, True, False]
    shown = shown and predicted and inside and B.lt(B(Fraction(1, 100)), random)
    return Counterexample(
        shown,
        f"δ(7) = {values['(7, 0.01)']:.4f} at target 0.01",
        values
        | limits
        | {f"share_at_root_log_{d}": B.to_float(x) for d, x in ratios.items()}
        | {"random_batches_output_at_(200, 0.01)": B.to_float(random)},
    )


@counterexample("E4.3")
def any_step_sizes() -> Counterexample:
    """Theorem 13 names no step sizes. With η_{r,0} = 1 and η_{r,t} = 1/100 the noise of Δ̃ is a hundredth of what the
    move needs, and ŵ alone tells: δ(1) ≥ 0.0077 at (1, 1e-6), with secret random batches and n = bR².
    """
    B = Ball(256)
    alone = {e: secret_output_delta(B, Fraction(e), "1e-6", Fraction(e) / 100) for e in ("0.1", "1", "3")}
    shown = all(B.lt(B(Fraction(7, 1000)), value) for value in alone.values())
    _, _, mu = pair_instance(eta=lambda K, t: K(1) if t == 0 else K(Fraction(1, 100)))
    exact = gaussian_delta(_K, PAIR[0], mu)
    _, _, repaired = pair_instance(frozenset({"E4.1"}), lambda K, t: K(1) if t == 0 else K(Fraction(1, 100)))
    fine = gaussian_delta(_K, PAIR[0], repaired)
    return Counterexample(
        shown and exact > Fraction(1, 2) and fine <= PAIR[1],
        f"ŵ alone: δ(1) ≥ {at_least(B.to_float(alone['1']))} instead of 1e-6; what a step releases inside, batches"
        f" fixed by index: δ(3) = {exact:.4f} instead of 1e-6",
        {f"output_delta_at_{e}_1e-6": B.to_float(value) for e, value in alone.items()}
        | {"delta_at_3": exact, "mu": mu, "with_the_previous_step": fine},
        tuple(h for e in alone for h in secret_output_hypotheses(e, "1e-6", Fraction(e) / 100)),
        "lower",
        "output",
    )


@counterexample("E4.4")
def batches_from_the_whole_sample() -> Counterexample:
    """Taken literally, "from S" with b = n: the first batch of each of 8 rounds is all of S, so a record is used 8
    times.
    """
    one = _K(1) / (2 * _K.sqrt(log_inverse(_K, "1e-6")))
    exact = gaussian_delta(_K, 1, one * _K.sqrt(_K(8)))
    once = gaussian_delta(_K, 1, one)
    target = Fraction(1, 10**6)
    return Counterexample(
        exact > target >= once,
        f"δ(1) = {exact:.2e} instead of 1e-6",
        {"delta_with_8_uses": exact, "delta_with_1_use": once},
    )


def floor_bias(T: int, b: int) -> tuple[int, Real, Real]:
    """The worst step of a round with ⌊b/(t+1)⌋ records of weight (t+1)/b when all gradients are 1: t, |E ∇^t − ∇F|,
    Lemma 12's bound.

    Nothing is random, L1 = 0 and J = 2; the error is pure bias.
    """
    error = _K(0)
    worst = (0, _K(0), _K(1))
    for t in range(1, T):
        eta, share = step_size(_K, t), _K(Fraction((t + 1) * (b // (t + 1)), b))
        error = (1 - eta) * error + eta * (1 - share)
        bound = gradient_error_printed(_K, t, b, 2, (1, 0, 1))
        if error * worst[2] > worst[1] * bound:
            worst = (t, error, bound)
    return worst


@counterexample("E4.5")
def batches_are_not_whole() -> Counterexample:
    """b/(t+1) is no integer, and the text does not say how to round. Down with weight (t+1)/b the weights do not sum to
    1: b = 10240, T = 4096 breaks Lemma 12. Down with a mean, a record weighs up to twice what the noise is made for.
    """
    t, error, bound = floor_bias(4096, 10240)
    weight, made_for = Fraction(1, 63 // 32), Fraction(32, 63)  # b = 63, t = 31
    return Counterexample(
        error > bound and weight > made_for,
        f"error {error:.3f} with equal gradients at t = {t}, claimed {bound:.3f}",
        {"t": t, "error": error, "claimed": bound, "weight_over_noise": float(weight / made_for)},
    )


@counterexample("E4.6")
def composition_does_not_give_epsilon() -> Counterexample:
    """Advanced composition of 2^r steps at ε·2^{−r/2}/√L gives more than √2·ε; even optimal composition gives more
    than ε.
    """
    r, root_log = 6, _K.sqrt(log_inverse(_K, "1e-6"))
    step = _K(1) / (8 * root_log)
    printed, _ = advanced_composition(_K, step, 0, 2**r, "1e-6")
    best = kov_epsilon(_K, "1e-6", step, 2**r)
    return Counterexample(
        printed > _K.sqrt(_K(2)) and best > 1,
        f"ε' = {printed:.3f}, at best {best:.3f}, claimed 1",
        {"advanced_composition": printed, "optimal_composition": best},
    )


@counterexample("E4.7")
def delta_above_one_over_e() -> Counterexample:
    """For δ > 1/e the scale has √log(1/δ) < 1. δ = 0.9, ε = 10: δ(10) of the first vertex is 0.98, of ŵ 0.95 at R =
    5, if batches are fixed. With ε ≤ √log(1/δ), as Algorithm 2 asks, nothing is wrong (`calibration`).

    W = [−1/2, 1/2], batches fixed by index. The record that differs is ±w, in the first batch; the others are
    −w²/200, with gradient 0 at the start 0 and away from it later. As b grows the noise vanishes against the others'
    gradient but not against one record's, so the sign of v_0^0 decides all later iterates, 30 of 31. The scores of
    the two vertices differ by ±1/b, and s_0 is proportional to 1/b.
    """
    s = laplace_scale_printed(_K, 0, 1, 1, Fraction(1, 100), 1, 10, "0.9")
    half = _K(1) / 2
    p, q = noisy_min_law(_K, [-half, half], s), noisy_min_law(_K, [half, -half], s)
    exact = dp_delta(_K, p, q, 10)
    output = exact * 30 / 31
    nine = Fraction(9, 10)
    worst = max(_randomised_response(Fraction(i, 20), Fraction(j, 20)) for i in range(1, 21) for j in range(1, 21))
    return Counterexample(
        exact > nine and output > nine and worst < 1,
        f"δ(10) = {exact:.3f} (vertex), {output:.3f} (output), batches fixed",
        {"vertex": exact, "output_limit": output, "largest_share_for_small_epsilon": worst},
    )


def _randomised_response(log: Fraction, share: Fraction) -> Real:
    """δ(ε)/δ of the worst (ε/√L)-DP mechanism at L = `log` ≤ 1, ε = `share`·√L."""
    pure = _K(share)
    return (_K.exp(pure) - _K.exp(pure * _K.sqrt(_K(log)))) / (1 + _K.exp(pure)) * _K.exp(_K(log))


# ------------------------------------------------------------ E4.8 to E4.10: the proof of Theorem 10


def _first_gradients(W: Any, records: tuple[Example, Example]) -> list[Vector]:
    found = []
    for z in records:
        trace = Trace()
        loss = Field(L1=Fraction(0), p=1)
        poly_sfw_printed(_K, loss, W, (z,), 1, 1, 1, "0.01", ZeroTape(), exact_budget=True, trace=trace)
        found.append(trace.values("grad")[0])
    return found


@counterexample("E4.8")
def replacing_a_record_moves_twice_as_far() -> Counterexample:
    """Gradients +L0 and −L0 are 2L0 apart: ∇_r^0 moves by 2L0/b, not L0/b."""
    one, other = _first_gradients(Polytope([[0], [1]]), (Example((1,)), Example((-1,))))
    moved = abs(one[0] - other[0])
    return Counterexample(moved > 1, f"moved by {moved} with L0 = b = 1", {"moved": moved, "claimed": 1})


@counterexample("E4.9")
def vertices_are_not_short() -> Counterexample:
    """⟨v, ∇⟩ has sensitivity ‖v‖‖∇ − ∇'‖_*, and ‖v‖ ≤ D needs 0 ∈ W. W = [100, 101]: 202 instead of 1. (Its *range*
    is 2, which is enough.)
    """
    W = Polytope([[100], [101]])
    one, other = _first_gradients(W, (Example((1,)), Example((-1,))))
    changes = [v @ (one - other) for v in W.vertices(_K)]
    return Counterexample(
        max(changes) > 1 and max(changes) - min(changes) <= 2,
        f"sensitivity {max(changes)}",
        {"sensitivity": max(changes), "claimed": 1, "range": max(changes) - min(changes)},
    )


@counterexample("E4.10")
def move_of_the_previous_step() -> Counterexample:
    """‖w^k − w^{k−1}‖ is D·η_{k−1}, not D·η_k: at k = 1 Δ moves by 4L1·D/b, more than twice the printed √2·L1·D/b."""
    moved, _, _ = pair_instance()
    claimed = 2 * _K.sqrt(_K(2)) * 2 / 2
    return Counterexample(
        moved > claimed,
        f"Δ moved by {moved}, claimed (doubled for replace-one) {claimed:.3f}",
        {"moved": moved, "claimed_doubled": claimed},
    )


# --------------------------------------------------------------- E4.11 to E4.15: gradient-error lemmas


def regular_spaces_hypotheses(dimensions: tuple[int, ...]) -> tuple[Hypothesis, ...]:
    """Whether 2 log d is what the printed minimum says for ℓ_∞^d, and admissible as a κ."""
    B = Ball(64)
    enough = all(B.le(B(1), kappa_printed(B, d, INF)) for d in dimensions)
    return (Hypothesis("κ = 2 log d ≥ 1", enough, "line 674"),)


@counterexample("E4.11")
def logarithmic_regularity_fails() -> Counterexample:
    """κ = 2 ln d is too small for ℓ_∞^d at d = 2, 3, 4 (a sum of signs needs 2, 7/3, 3) and for every d ≥ 44 (a stopped
    Brownian motion, `regular_spaces`); and for ℓ_4^2, the dual of p = 4/3.
    """
    needed = {2: sign_lower_bound(2, 2), 3: sign_lower_bound(3, 3), 4: sign_lower_bound(4, 3)}
    printed = {d: kappa_printed(_K, d, INF) for d in needed}
    lq, lq_printed = sign_lower_bound_lq(_K, 4), kappa_printed(_K, 2, 4)
    single, first, _ = refuted_dimensions()
    shown = all(_K(needed[d]) > printed[d] for d in needed) and lq > lq_printed and (single, first) == ((2, 3, 4), 44)
    numbers = {f"needed_{d}": float(needed[d]) for d in needed} | {f"printed_{d}": printed[d] for d in needed}
    met = regular_spaces_hypotheses((*needed, first))
    return Counterexample(
        shown,
        f"E‖Σξ‖² exceeds κ·ΣE‖ξ‖² with the printed κ at d = 2, 3, 4 and for every d ≥ {first}",
        numbers
        | {
            "every_d_from": first,
            "needed_l4": lq,
            "printed_l4": lq_printed,
            "provable_1000": kappa_provable(_K, 1000, INF).kappa,
            "printed_1000": kappa_printed(_K, 1000, INF),
        },
        met,
        "lower",
        "statement",
    )


@counterexample("E4.31")
def polyhedral_regularity_fails() -> Counterexample:
    """The dual of ℓ_1^d, whose unit ball has 2d vertices, is ℓ_∞^d: 2 ln(2d) is too small for it from 2d = 10^6 on."""
    B = Ball(256)
    _, _, vertices = refuted_dimensions()
    share = exponential_share(B, B.log(B(vertices)))
    below, above = (confluent(B, d, B.log(B(2 * d))) for d in (4 * 10**5, 5 * 10**5))
    shown = B.lt(share, B(Fraction(1, 2))) and B.lt(below, B(0)) and B.lt(B(0), above)
    return Counterexample(
        shown and vertices == 10**6,
        f"M(−1/d, 1/2, ln|V|) = {B.to_float(above):.5f} > 0 at |V| = 2d = 1e6",
        {"vertices": vertices, "confluent": B.to_float(above), "share": B.to_float(share)},
        (
            Hypothesis("the unit ball is conv(V), V = −V", vertices % 2 == 0, "line 683"),
            *regular_spaces_hypotheses((vertices // 2,)),
        ),
        "lower",
        "statement",
    )


@counterexample("E4.12")
def dimension_one() -> Counterexample:
    """At d = 1 the printed κ is 0 (regular spaces have κ ≥ 1): Lemma 15 claims a noisy estimate without error, R is
    infinite.
    """
    claimed = noisy_gradient_error_printed(_K, 0, 100, 1, 2, (1, 1, 1), 1, "0.01")
    sigma = 4 * _K.sqrt(log_inverse(_K, "0.01")) / 100
    actual = sigma * _K.sqrt(2 / _K.pi)
    return Counterexample(
        actual > claimed,
        f"E|error| ≥ {at_least(actual)} from the noise alone, claimed {claimed}",
        {"actual": actual, "claimed": claimed, "kappa_printed": kappa_printed(_K, 1, 2)},
    )


@counterexample("E4.13")
def centring_costs_a_factor_four() -> Counterexample:
    """‖X‖ ≤ c gives E‖X − EX‖² ≤ 4c², not 2c². X = (1, …, 1) − 2e_j, j uniform, in ℓ_∞: (2 − 2/d)² = 2.25 at d = 4, →
    4.
    """
    values = {}
    for d in (4, 10, 100):
        mean = Fraction(d - 2, d)
        values[d] = max(abs(-1 - mean), abs(1 - mean)) ** 2
    return Counterexample(
        values[4] > 2, "E‖X − EX‖² = 2.25, 3.24, 3.9204 with ‖X‖ = 1", {f"d_{d}": float(v) for d, v in values.items()}
    )


@counterexample("E4.14")
def exponent_of_statement_and_proof() -> Counterexample:
    """The lemmas state (1−1/√(t+1))^{t+1}, the proofs end with exponent t: at t = 0 the first term is 0 in one and
    4L0√(ln J/b) in the other.
    """
    pairs = {
        t: (gradient_error_printed(_K, t, 100, 2, (1, 0, 1)), gradient_error_printed(_K, t, 100, 2, (1, 0, 1), 0))
        for t in (0, 1, 10)
    }
    shown = all(stated < proved for stated, proved in pairs.values())
    return Counterexample(
        shown,
        f"t = 0: stated {pairs[0][0]:.4f}, proved {pairs[0][1]:.4f}",
        {"stated_0": pairs[0][0], "proved_0": pairs[0][1], "stated_1": pairs[1][0], "proved_1": pairs[1][1]},
    )


@counterexample("E4.15")
def recursion_holds_in_the_mean_only() -> Counterexample:
    """γ_t conditions on Q_{t−1}, which knows e_{t−1}: the recursion has ‖e_{t−1}‖², not γ_{t−1} = E[‖e_{t−1}‖² |
    Q_{t−2}].

    d = 1, f = zw, z uniform on {−1, 0, 1}, b = 2: e_0 is a mean of two z. On {e_0 = 1} E[e_1² | Q_0] exceeds
    (1−η)²γ_0 + η²E z².
    """
    eta = step_size(_K, 1)
    spread = _K(Fraction(2, 3))
    gamma0 = spread / 2
    left = (1 - eta) ** 2 * 1 + eta**2 * spread
    right = (1 - eta) ** 2 * gamma0 + eta**2 * spread
    probability = Fraction(1, 9)
    return Counterexample(
        left > right and probability > 0,
        f"{left:.4f} > {right:.4f} with probability 1/9",
        {"left": left, "right": right, "probability": float(probability)},
    )


# ------------------------------------------------------------ E4.16 to E4.23: convergence proofs


@counterexample("E4.16")
def nothing_is_convex_here() -> Counterexample:
    """The descent step invokes convexity of F_D. F = −w²/2 on [−1, 1] is smooth, not convex, and the step holds for
    it.
    """
    loss = SignedQuadratic(R=1, B=1, p=2)
    z = Example((1,), -1)

    def value(x: Any) -> Real:
        return loss.value(_K, _K.vector([x]), z)

    midpoint_gap = value(0) - (value(-1) + value(1)) / 2
    violated = 0
    for i in range(-4, 5):
        for j in range(-4, 5):
            x, y = _K(Fraction(i, 4)), _K(Fraction(j, 4))
            slope = loss.gradient(_K, _K.vector([x]), z)[0]
            violated += value(y) > value(x) + slope * (y - x) + (y - x) ** 2 / 2 + Fraction(1, 10**12)
    return Counterexample(
        midpoint_gap > 0 and violated == 0,
        f"F(0) exceeds the mean of F(±1) by {midpoint_gap}",
        {"midpoint_gap": midpoint_gap, "smoothness_violations": violated},
    )


@counterexample("E4.17")
def sign_of_the_gap_term() -> Counterexample:
    """The "=" of the descent chain: ⟨∇F−∇̂, v−w⟩ + ⟨∇̂, v*−w⟩ is ⟨∇F−∇̂, v−v*⟩ *plus* ⟨∇F, v*−w⟩; with the printed
    minus it differs.
    """
    true, estimate = _K.vector([2, 1]), _K.vector([1, 3])
    w, v, best = _K.vector([0, 0]), _K.vector([1, -1]), _K.vector([-1, -1])
    left = (true - estimate) @ (v - w) + estimate @ (best - w)
    common = (true - estimate) @ (v - best)
    printed, corrected = common - true @ (best - w), common + true @ (best - w)
    shown = abs(left - corrected) < Fraction(1, 10**12) and abs(left - printed) > 1
    return Counterexample(
        shown,
        f"left {left}, printed {printed}, with plus {corrected}",
        {"left": left, "printed": printed, "corrected": corrected},
    )


@counterexample("E4.18")
def descent_without_descent() -> Counterexample:
    """Printed: F(w^t) ≤ F(w^t) + ηD‖∇F−∇̂‖ − η·Gap + L1·D²η²/2. Exact gradient, f = w on [0, 1] at w = 1, L1 = 0: 1 ≤
    1 − η is false.
    """
    K = _K
    W = Box([0], [1])
    gap = stationarity_gap(K, W, K.vector([1]), K.vector([1]))
    eta = step_size(K, 3)
    right = 1 - eta * gap
    return Counterexample(right < 1, f"1 ≤ {right} would have to hold", {"left": 1, "right": right})


@counterexample("E4.19")
def one_iterate_fewer() -> Counterexample:
    """There are 2^R − 1 iterates, not 2^R. The displayed bound on the average is true all the same, for every R.

    Up to R = 6 its first term, 9·2^{−R/2}·D(L0+L1·D), is above L0·D, which no gap exceeds; from R = 7 on the constants
    9, 12, 6, 2 are enough for 2^R − 1 as well (checked to R = 60; the quotients fall). Before that the 6 alone is not.
    """
    B = Ball(128)
    coefficient, exponent, claimed = ROUND_CONSTANTS["6"]
    failing = [R for R in range(1, 61) if B.lt(B(claimed), averaged_constant(B, coefficient, exponent, R))]
    trivial = all(B.lt(B(1), 9 * B.power(B(2), Fraction(-R, 2))) for R in range(1, 7))
    rest = all(
        B.lt(averaged_constant(B, *ROUND_CONSTANTS[name][:2], R), B(ROUND_CONSTANTS[name][2]))
        for name in ("9", "12", "6", "2")
        for R in range(7, 61)
    )
    largest = B.to_float(averaged_constant(B, coefficient, exponent, 1))
    return Counterexample(
        iterate_count(4) == 15 and failing == [1, 2, 3] and trivial and rest,
        f"15 iterates at R = 4; 6 would be {largest:.3f} at R = 1, where the bound is trivial",
        {"iterates_at_R_4": iterate_count(4), "at_R_1": largest, "failing": ",".join(map(str, failing))},
    )


@counterexample("E4.20")
def remark_on_sample_size() -> Counterexample:
    """Σ_{r=0}^{R}(r ln 2 + 1) < R² is false for R = 1, 2; and Theorem 11's R and b break b ≥ 2^R at ε = n."""
    sums = {R: _K.sum(r * _K.log(_K(2)) + 1 for r in range(R + 1)) for R in (1, 2, 3)}
    n = 10**6
    power = _K.power(choice_argument(_K, n, 10, n, "1e-6"), Fraction(2, 3))
    b = n / _K.log(_K(n)) ** 2
    shown = sums[1] > 1 and sums[2] > 4 and sums[3] < 9 and power > b
    return Counterexample(
        shown,
        f"{sums[1]:.2f} > 1, {sums[2]:.2f} > 4",
        {"R_1": sums[1], "R_2": sums[2], "R_3": sums[3], "two_to_the_R_at_large_epsilon": power, "b": b},
    )


@counterexample("E4.21")
def base_of_the_logarithm() -> Counterexample:
    """The proof has 2^{−R/2} = x^{−1/3}, so log2 in R; with the natural logarithm 2^{−R/2} = x^{−0.231}, and the gap on
    a loss without data is at least of that order. And R is neither integer nor ≥ 1.
    """
    x = choice_argument(_K, 10**9, 200, 1, "1e-6")
    natural = _K.power(_K(2), -_K.log(x) / 3)
    needed = _K.power(x, Fraction(-1, 3))
    small = choice_argument(_K, 1000, 200, 1, "1e-6")
    B = Ball(256)
    large = choice_argument(B, 10**30, 2, 1, "1e-6")
    floor = step_floor(B, B.floor(B.log(large) * 2 / 3)) / rate_printed(B, 10**30, 2, (Fraction(1, 2), 1, 1), 1, "1e-6")
    return Counterexample(
        natural > needed * 2 and small < 1 and B.lt(B(50), floor),
        f"2^(−R/2) = {natural:.4f}, needed {needed:.4f}",
        {
            "natural": natural,
            "needed": needed,
            "argument_at_n_1000": small,
            "gap_over_rate_with_natural_logarithms_1e30": B.to_float(floor),
        },
    )


def _third_over_rate(epsilon: int) -> Real:
    """The computed third term of Theorem 11's last display over its rate, at n = 10^6, J = 200, δ = 1e-6."""
    args: tuple[Any, ...] = (10**6, 200, (1, 0, 1), epsilon, "1e-6")
    return gap_at_choice(_K, *args)[2] / rate_printed(_K, *args)


def floor_over_rate(K: Numbers, n: int, epsilon: int, J: int = 2) -> Real:
    """What Algorithm 4 cannot beat over the rate of Theorem 11, at its R and b (checked), δ = 1e-6, L0 = D = 1."""
    plan = poly_parameters(n, J, epsilon, "1e-6")
    return gap_floor(K, plan.R, plan.b) / rate_printed(K, n, J, (1, 0, 1), epsilon, "1e-6")


LARGE_EPSILON = {10**60: 15848931, 10**80: 199526231}
"""By n: an ε far above √log(1/δ) at which Theorem 11's R and b still meet b ≥ 2^R and bR² ≤ n (J = 2, δ = 1e-6)."""


def large_epsilon_hypotheses(J: int) -> tuple[Hypothesis, ...]:
    """What these instances meet: all that the paper asks for but ε ≤ √log(1/δ), which they show to be needed."""
    return tuple(h for n, e in LARGE_EPSILON.items() for h in choices_of_theorem_11(n, J, e, "1e-6"))


@counterexample("E4.22")
def third_term_lost_a_logarithm() -> Counterexample:
    """6(log J/√b)2^{R/4} at the chosen R and b is log n times what is printed. With it, Theorem 11 needs ε =
    O(√log(1/δ)); and it does need it: a lower bound on the gap outgrows the rate like √ε (`floors`).
    """
    args: tuple[Any, ...] = (10**6, 200, (1, 0, 1), 1, "1e-6")
    printed, computed = gap_at_choice_printed(_K, *args)[2], gap_at_choice(_K, *args)[2]
    ratio = computed / printed
    ratios = [_third_over_rate(e) for e in (1, 100, 10**4)]
    log_n = _K.log(_K(10**6))
    B = Ball(512)
    floors = [floor_over_rate(B, n, e) for n, e in LARGE_EPSILON.items()]
    lost = agree(ratio, log_n) and ratios[0] * 9 < ratios[1] and ratios[1] * 9 < ratios[2]
    outgrown = B.lt(B(26), floors[0]) and B.lt(B(92), floors[1])
    first, second = (B.to_float(x) for x in floors)
    return Counterexample(
        lost and outgrown,
        f"computed/printed = {ratio:.4f} = ln n; gap over rate at least {at_least(first)} at n = 1e60, ε = 1.6e7",
        {
            "ratio": ratio,
            "log_n": log_n,
            "third_over_rate_1": ratios[0],
            "third_over_rate_100": ratios[1],
            "floor_over_rate_1e60": first,
            "floor_over_rate_1e80": second,
        },
        large_epsilon_hypotheses(2),
        "lower",
        "statement",
    )


@counterexample("E4.23")
def fourth_term_at_two_vertices() -> Counterexample:
    """2(log J·√L/(bε))2^R has log^{−1/3}J, printed log^{2/3}J: larger for J ≥ 3, but too small at J = 2."""
    terms = {
        J: (
            gap_at_choice(_K, 10**6, J, (1, 0, 1), 1, "1e-6")[3],
            gap_at_choice_printed(_K, 10**6, J, (1, 0, 1), 1, "1e-6")[3],
        )
        for J in (2, 3, 200)
    }
    shown = terms[2][0] > terms[2][1] and terms[3][0] < terms[3][1]
    return Counterexample(
        shown,
        f"J = 2: {terms[2][0]:.4f} > {terms[2][1]:.4f}",
        {
            "computed_2": terms[2][0],
            "printed_2": terms[2][1],
            "computed_200": terms[200][0],
            "printed_200": terms[200][1],
        },
    )


# ----------------------------------------------------- E4.24 to E4.27: Lemma 15, Theorems 13 and 14


@counterexample("E4.24")
def largest_of_few_gaussians() -> Counterexample:
    """E max_j g_j² ≤ 2 ln d is false for d = 1 (1 > 0) and d = 2 (1 + 2/π > 1.386). The next line, with κ̃ = 1 + ln
    d, is true.
    """
    two = 1 + 2 / _K.pi
    bounds = {d: 2 * _K.log(_K(d)) for d in (1, 2)}
    return Counterexample(
        bounds[1] < 1 and two > bounds[2],
        f"d = 2: {two:.4f} > {bounds[2]:.4f}",
        {"exact_1": 1, "claimed_1": bounds[1], "exact_2": two, "claimed_2": bounds[2]},
    )


def embedding_dimension(n: int, epsilon: Exact, delta: Exact) -> int:
    """The d' of the embedding for p < 2: the largest with d'(1 + ln d') ≤ n^{1/3}ε²/(L·ln^{2/3}n)."""
    e = _K(epsilon)
    limit = _K.power(_K(n), Fraction(1, 3)) * e * e / (log_inverse(_K, delta) * _K.power(_K.log(_K(n)), Fraction(2, 3)))
    d = 1
    while (d + 1) * (1 + _K.log(_K(d + 1))) <= limit:
        d += 1
    return d


@counterexample("E4.25")
def embedding_changes_kappa() -> Counterexample:
    """In d' dimensions κ is min(1/(p−1), 2 ln d'), not min(1/(p−1), 2 ln d): d = 2, p = 1.001, n = 10^12, ε = 4 loses
    a factor of 3.9.
    """
    wide = embedding_dimension(10**12, 4, "1e-6")
    q = Fraction(1001)
    small, large = kappa_printed(_K, 2, q), kappa_printed(_K, wide, q)
    factor = _K.power(large / small, Fraction(2, 3))
    return Counterexample(
        factor > 3,
        f"κ grows from {small:.2f} to {large:.2f}: the bound by {factor:.2f}",
        {"dimension": wide, "kappa": small, "kappa_embedded": large, "factor": factor},
    )


SMALL_DIMENSION = {10**200: 2 * 10**41, 10**400: 14 * 10**92, 10**1000: 18 * 10**251}
"""By n: a d of the order n^{1/4} at which Theorem 14's R and b meet b ≥ 2^R and bR² ≤ n (p = 2, (1, 1e-6))."""


def noisy_floor_over_rate(K: Numbers, n: int, d: int) -> Real:
    """What Algorithm 5 cannot beat over the rate of Theorem 14, at its R and b (checked), p = 2, (1, 1e-6).

    W is a box with sides 1 and d − 1 times 1/√(d−1), so D = √2; the loss is z·w_1, L0 = 1.
    """
    plan = noisy_parameters(n, d, 2, 1, "1e-6")
    return gap_floor(K, plan.R, plan.b) / noisy_rate_printed(K, n, d, 2, (1, 0, K.sqrt(K(2))), 1, "1e-6")


@counterexample("E4.30")
def rounds_of_the_statement() -> Counterexample:
    """(1, 1e-6): at the R of Theorem 14 a lower bound on the gap outgrows the promised rate, with bR² ≤ n: like
    n^{0.0065} for d of the order n^{0.27}, like n^{1/30} for a fixed d (where only the batches fit).
    """
    B = Ball(8192)
    ratios = {n: noisy_floor_over_rate(B, n, d) for n, d in SMALL_DIMENSION.items()}
    one, ten, large = ratios.values()
    shown = B.lt(B(1), one) and B.lt(B(30), ten) and B.lt(B(10**5), large)
    numbers = {f"n_1e{len(str(n)) - 1}": B.to_float(x) for n, x in ratios.items()}
    found = ", ".join(at_least(x) for x in numbers.values())
    met = tuple(h for n, d in SMALL_DIMENSION.items() for h in choices_of_theorem_14(n, d, 2, 1, "1e-6"))
    summary = f"gap over rate at least {found} at n = 1e200, 1e400, 1e1000"
    return Counterexample(shown, summary, numbers, met, "lower", "statement")


@counterexample("E4.26")
def two_norms_mixed() -> Counterexample:
    """(2κ/b²)ΣE‖·‖_+² ≤ 4κL0²/b needs ‖·‖_* in place of ‖·‖_+ (and 8): ±(1, …, 1) in ℓ_∞^10 has ‖·‖_+² = κ/κ_+ =
    4.33.
    """
    space = kappa_provable(_K, 10, INF)
    left, right = 2 * space.kappa * space.equivalence(), 4 * space.kappa
    return Counterexample(left > right, f"{left:.1f} > {right:.1f} (b = L0 = 1)", {"left": left, "right": right})


@counterexample("E4.27")
def distance_of_noisy_vectors() -> Counterexample:
    """The privacy proof bounds ‖∇̃ − ∇̃'‖, distances of *noisy* vectors, by L0/b: that fails with probability > 0.8;
    the noiseless ones are meant.
    """
    sigma = 4 * _K.sqrt(log_inverse(_K, "1e-6"))
    spread = sigma * _K.sqrt(_K(2))
    within = _K.normal_cdf(-1 / spread) - _K.normal_cdf(-3 / spread)
    return Counterexample(within < Fraction(1, 5), f"P(distance ≤ L0/b) = {within:.3f}", {"probability_within": within})


@counterexample("E4.28")
def wrong_reason() -> Counterexample:
    """κ_+‖·‖_+² ≤ κ‖·‖_*² does not follow from κ_+ ≤ κ, as is said, but from (4): ‖·‖_+ = 2|·| on ℝ has κ_+ = κ = 1,
    and 4 > 1.
    """
    kappa_plus = kappa = _K(1)
    plus, own = _K(2), _K(1)
    left, right = kappa_plus * plus * plus, kappa * own * own
    return Counterexample(
        kappa_plus <= kappa and left > right, f"κ_+‖1‖_+² = {left}, κ‖1‖² = {right}", {"left": left, "right": right}
    )


@dataclass(frozen=True)
class Constant:
    """f(w, z) = ±height·(w_1 + … + w_d): constant on the simplex, so 0-Lipschitz there, with gradient ±height·(1, …,
    1).
    """

    height: int = 100
    L0: Fraction = Fraction(1)
    L1: Fraction = Fraction(0)
    p: Any = 1

    def value(self, K: Numbers, w: Vector, z: Example) -> Real:
        """f(w, z)."""
        return K.sum(w) * self.height * K(z.y)

    def gradient(self, K: Numbers, w: Vector, z: Example) -> Vector:
        """∇f(w, z)."""
        return K.vector([self.height * Fraction(z.y)] * len(w))


@counterexample("E4.29")
def flat_sets() -> Counterexample:
    """On the simplex "L0-Lipschitz" says nothing of ‖∇f‖_*: f = ±100(w_1 + w_2) is constant there, its gradient is
    ±100.

    Four records with fair signs: E‖∇_0^0 − ∇F‖_∞ = 100·E|mean of four signs| = 37.5, and Lemma 12 (L0 = 1, J = 4)
    claims 2.77. In Algorithm 5 the released g̃ would tell the sign through noise made for L0.
    """
    loss, W = Constant(), Simplex(2)
    corners = [loss.value(_K, v, Example((0,), 1)) for v in W.vertices(_K)]
    spread = max(corners) - min(corners)
    error = _K(0)
    for signs in product((1, -1), repeat=4):
        gradients = [loss.gradient(_K, W.centre(_K), Example((0,), y)) for y in signs]
        error = error + _K.abs(_K.sum(g[0] for g in gradients)) / 4 / 16
    claimed = gradient_error_printed(_K, 0, 4, 4, (1, 0, 1))
    return Counterexample(
        spread <= 1 and error > claimed,
        f"E‖error‖ = {error}, claimed {claimed:.3f}",
        {"variation_on_W": spread, "error": error, "claimed": claimed},
    )


@counterexample("E4.32")
def constants_in_another_norm() -> Counterexample:
    """Lipschitz "in the respective ℓ_p norm", and a polyhedral norm in Section 4.1: in ‖x‖ = ‖x‖_1/2 the slope of w_1
    is 2, in ℓ_1 it is 1, and the noise of Algorithm 4 is made for L0.
    """
    unit = _K.vector([2, 0])  # ‖unit‖ = 1
    slope, claimed = abs(unit[0]), Fraction(1)
    return Counterexample(slope > claimed, f"slope {slope} in ‖·‖, 1 in ℓ_1", {"slope": slope, "in_l1": 1})


@counterexample("E4.33")
def one_draw_for_all_vertices() -> Counterexample:
    """Not said: the u(v) are independent. One draw for all vertices cancels: neighbours with the scores (−1/2, 1/2) and
    (1/2, −1/2) choose different vertices for certain. With independent draws of scale 2 the choice is 1-DP.
    """
    half = Fraction(1, 2)
    scores = ((-half, half), (half, -half))
    draws = [(u, u) for u in range(-3, 4)]
    chosen = [{min((0, 1), key=lambda v: q[v] + u[v]) for u in draws} for q in scores]
    p, q = (noisy_min_law(_K, values, 2) for values in scores)
    independent = dp_delta(_K, p, q, 1)
    shown = chosen[0].isdisjoint(chosen[1]) and independent < Fraction(1, 10**9)
    return Counterexample(
        shown,
        f"one draw for both vertices: chosen {chosen[0]} and {chosen[1]}, δ = 1 at every ε; two draws: δ(1) = 0",
        {"independent": independent},
    )


# ------------------------------------------------------------------ Table 1, abstract, introduction


@counterexample("E1.10")
def row_names_the_privacy_theorem() -> Counterexample:
    """The row of the smooth ℓ_p rate refers to the privacy theorem; the rate is in the convergence theorem."""
    inventory = load()
    (row,) = [r for t in inventory.tables if t.id == "table:results" for r in t.rows if "1 < p ≤ 2" in r.about]
    right = "thm:convergence-noisySFW"
    known = inventory.find(right) is not None
    return Counterexample(
        row.cites != right and known,
        f"cites {row.cites}, the rate is in {right}",
        {"cites": row.cites, "rate_is_in": right},
    )


def table_kappa(K: Numbers, d: int, p: Fraction) -> Real:
    """κ = min{1/(p−1), ln d} of Table 1's caption."""
    return K.min(1 / K(p - 1), K.log(K(d)))


@counterexample("E1.11")
def two_kappas() -> Counterexample:
    """Table 1 has log d where Theorem 14 has 2 log d; and at p = 2 the Table's κ is 0 for d = 1 and 0.69 for d = 2,
    where 1 is meant.
    """
    p = Fraction(21, 20)
    table, theorem = table_kappa(_K, 100, p), kappa_printed(_K, 100, p / (p - 1))
    euclidean = [table_kappa(_K, d, Fraction(2)) for d in (1, 2)]
    shown = agree(theorem, 2 * table) and euclidean[0] < 1 and euclidean[1] < 1
    return Counterexample(
        shown,
        f"d = 100, p = 1.05: {table:.3f} and {theorem:.3f}",
        {"table": table, "theorem": theorem, "table_p2_d1": euclidean[0], "table_p2_d2": euclidean[1]},
    )


@counterexample("E1.12")
def rate_without_its_condition() -> Counterexample:
    """(log²d/(nε))^{1/3} for every ε would fall without end as ε grows; what Algorithm 4 cannot beat does not
    (`floors`, J = 4, the ℓ_1 ball of the plane). It holds for ε = O(√log(1/δ)).

    The introduction's "O" also hides log^{2/3}n·log^{1/6}(1/δ): the ratio to Theorem 11 grows with n.
    """
    B = Ball(512)
    floors = [floor_over_rate(B, n, e, 4) for n, e in LARGE_EPSILON.items()]
    hidden = [
        rate_printed(_K, n, 200, (1, 0, 1), 1, "1e-6") / _K.power(_K.log(_K(200)) ** 2 / n, Fraction(1, 3))
        for n in (10**3, 10**6, 10**9)
    ]
    shown = B.lt(B(14), floors[0]) and B.lt(B(49), floors[1]) and hidden[0] < hidden[1] < hidden[2]
    first, second = (B.to_float(x) for x in floors)
    return Counterexample(
        shown,
        f"gap over rate at least {at_least(first)} at n = 1e60, ε = 1.6e7 and {at_least(second)} at n = 1e80, ε = 2e8",
        {
            "floor_over_rate_1e60": first,
            "floor_over_rate_1e80": second,
            "hidden_1e3": hidden[0],
            "hidden_1e9": hidden[2],
        },
        large_epsilon_hypotheses(4),
        "lower",
        "statement",
    )


@counterexample("E1.13")
def p_equal_to_one() -> Counterexample:
    """The introduction claims the ℓ_p rate for 1 ≤ p ≤ 2; Algorithm 5 and Theorem 14 are for 1 < p ≤ 2, and p = 1 is
    refused.
    """
    try:
        noisy_sfw_printed(_K, Field(p=1), L2Ball([0, 0], 1), (Example((1, 0)),), 1, 1, 1, "0.01", ZeroTape())
    except PreconditionError as error:
        return Counterexample(error.parameter == "p", str(error), {"p": 1})
    return Counterexample(False, "p = 1 was accepted", {"p": 1})


@counterexample("E1.14")
def vertices_in_the_smooth_rate() -> Counterexample:
    """A box in ℝ^d is polyhedral and has 2^d vertices: Theorem 11's rate grows like d^{2/3}, not like log^{2/3}d."""
    rates, logs = {}, {}
    for d in (4, 9):
        J = box_polytope([0] * d, [1] * d).J
        rates[d] = rate_printed(_K, 10**6, J, (1, 0, 1), 1, "1e-6")
        logs[d] = _K.power(_K.log(_K(d)), Fraction(2, 3))
    grown, said = rates[9] / rates[4], logs[9] / logs[4]
    return Counterexample(
        grown > said * Fraction(6, 5),
        f"boxes in ℝ⁴ and ℝ⁹: Theorem 11's rate grows {grown:.3f}-fold, log^{{2/3}}d {said:.3f}-fold",
        {"grown": grown, "said": said},
    )
