"""Algorithm 5: private noisy stochastic Frank–Wolfe for ℓ_p, 1 < p ≤ 2 (nSFW), as printed, corrected, and tight.

| paper | here |
|---|---|
| p, D | `loss.p`, `D` (the ℓ_p diameter of W) |
| σ_{r,t}, σ̂_{r,t} | `sigma`, `sigma_hat` (standard deviations) |
| Δ_r^t, g_r^t | `variation`, `fresh` |
| N_r^t, N̂_r^t | `sigma`·draws `N[r,t]`, `sigma_hat`·draws `hatN[r,t]` |
| Δ̃_r^t, g̃_r^t, ∇̃_r^t | `noisy_variation`, `noisy_fresh`, `estimate` |
| the rest | as in `poly_sfw` |

**As printed it is not (ε,δ)-DP** (E4.1). σ̂_{r,t} is made for a move of D·η_{r,t}, but w_r^t − w_r^{t−1} is as long
as D·η_{r,t−1}. The pair (Δ̃_r^t, g̃_r^t) is a Gaussian release with μ² = (ε²/4L)(2 + 1/t), L = log(1/δ), and this is
attained: `failure_threshold` gives the ε from which it fails, `transcript_delta` the exact δ(ε). The fix is
η_{r,t−1}. Then μ² = ε²/(2L), enough up to a threshold in ε (6.25 at δ = 1e-2, 8.34 at 1e-6); beyond it the standard
deviations must grow (E4.2). Both thresholds are one-sided: with μ = cε, dδ_G(ε, cε)/dε = e^ε[cφ(a) − Φ(−a)] with a =
1/c + cε/2 ≥ 1/c, and Φ(−a) < φ(a)/a ≤ cφ(a), so δ_G(ε, cε) increases in ε: it meets δ once.

The tight variant (improvement E) releases X_t = (1−η_t)Δ_t + η_t·g_t with one Gaussian: see `calibration`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from reference.numerics.numbers import Ball, Exact, Numbers, Real, Vector, norm
from reference.numerics.preconditions import require
from reference.numerics.rounding import require_range
from reference.numerics.tape import Draw, Tape, reading
from reference.paper.editions import edition
from reference.paper.events import Trace, mark
from reference.paper.registry import claims, implements
from reference.privacy import gaussian_delta, gaussian_mu, log_inverse
from reference.setting.data import admitted
from reference.setting.sets import WholeSpace
from reference.smooth.calibration import (
    corrected_pair_mu,
    dimension_factor,
    gaussian_stretch,
    printed_pair_mu,
    tight_deviation,
)
from reference.smooth.poly_sfw import StepSizes, check_one_round, recursive_estimate
from reference.smooth.rounding import fixed_steps, mean_share, pair_share, release_reserve
from reference.smooth.rounds import (
    Batches,
    Gradients,
    SFWRun,
    check_privacy,
    check_rounds,
    checked_setting,
    common_draws,
    iterate_count,
    output_index,
    round_draws,
)
from reference.smooth.sensitivity import record_bound, step_size


def draws(n: int, R: int, d: int) -> tuple[Draw, ...]:
    """What Algorithm 5 reads: the permutation, N_r^t for every step, N̂_r^t for t ≥ 1, the output index."""
    return tuple(common_draws(n, R) + round_draws("normal", "N", d, R) + round_draws("normal", "hatN", d, R, 1))


def _prepare(K: Numbers, loss: Any, W: Any, D: Exact | Real | None, start: Vector | None) -> tuple[Real, Real]:
    """The diameter and d^{1/p−1/2}; refuses p outside (1, 2]."""
    p = loss.p
    ok = isinstance(p, (int, float, Fraction)) and 1 < p <= 2
    require(ok, "p", p, "lie in (1, 2]", "Algorithm 5 is for these p; for p = 1 use Algorithm 4")
    remedy = "⟨v, g⟩ has no minimum on it: use a bounded set"
    require(not isinstance(W, WholeSpace), "W", W, "be bounded", remedy)
    require_range(K, "L0", K(loss.L0))
    return checked_setting(K, loss, W, D, start), dimension_factor(K, W.dim, p)


@implements("alg:nSFW", "printed")
def noisy_sfw_printed(
    K: Numbers,
    loss: Any,
    W: Any,
    dataset: Sequence[Any],
    R: int,
    b: int,
    epsilon: Exact,
    delta: Exact,
    tape: Tape,
    *,
    start: Vector | None = None,
    D: Exact | Real | None = None,
    eta: StepSizes = step_size,
    exact_budget: bool = False,
    trace: Trace | None = None,
) -> SFWRun:
    """Algorithm 5 as printed. Not (ε,δ)-DP: see the module's text."""
    check_rounds(len(dataset), R, b, exact_budget)
    check_privacy(epsilon, delta)
    (D, factor), L0, L1 = _prepare(K, loss, W, D, start), K(loss.L0), K(loss.L1)
    eta = fixed_steps(K, eta, 2 ** (R - 1))
    gradients, iterates, d = Gradients(K, loss), [], W.dim
    unit = 4 * factor * K.sqrt(log_inverse(K, delta)) / (b * K(epsilon))
    w = W.centre(K) if start is None else start  # L1
    mark(trace, 1, "w", w, 0, 0)
    with reading(tape, draws(len(dataset), R, d)) as noise:
        batches = Batches(admitted(loss, dataset, W.dim), noise.permutation("pi", dim=len(dataset)))
        for r in range(R):  # L2
            sigma = unit * L0  # L3
            mark(trace, 3, "sigma", sigma, r, 0)
            batch = batches.take(b)  # L4
            mark(trace, 4, "batch", batches.last, r, 0)
            estimate = gradients.total(w, batch) / b + K.vector(noise.normal("N", r, 0, dim=d)) * sigma  # L5
            mark(trace, 5, "noisy_grad", estimate, r, 0)
            vertex = W.linear_minimiser(K, estimate)  # L6
            mark(trace, 6, "v", vertex, r, 0)
            iterates.append(w)
            previous, w = w, w * (1 - eta(K, 0)) + vertex * eta(K, 0)  # L7
            mark(trace, 7, "w", w, r, 1)
            for t in range(1, 2**r):  # L8
                move = eta(K, t)  # L9 [E4.1]
                sigma, sigma_hat = unit * L0 * (t + 1), unit * L1 * D * move * (t + 1)  # L9
                mark(trace, 9, "sigma", sigma, r, t)
                mark(trace, 9, "sigma_hat", sigma_hat, r, t)
                batch = batches.take(b // (t + 1))  # L10 [E4.5]
                weight = K(t + 1) / b  # L10 [E4.5]
                mark(trace, 10, "batch", batches.last, r, t)
                now, before = gradients.total(w, batch), gradients.total(previous, batch)
                variation, fresh = (now - before) * weight, now * weight  # L11
                mark(trace, 11, "Delta", variation, r, t)
                mark(trace, 11, "g", fresh, r, t)
                noisy_variation = variation + K.vector(noise.normal("hatN", r, t, dim=d)) * sigma_hat  # L12
                mark(trace, 12, "noisy_Delta", noisy_variation, r, t)
                noisy_fresh = fresh + K.vector(noise.normal("N", r, t, dim=d)) * sigma  # L13
                mark(trace, 13, "noisy_g", noisy_fresh, r, t)
                estimate = (estimate + noisy_variation) * (1 - eta(K, t)) + noisy_fresh * eta(K, t)  # L14
                mark(trace, 14, "noisy_grad", estimate, r, t)
                vertex = W.linear_minimiser(K, estimate)  # L15
                mark(trace, 15, "v", vertex, r, t)
                iterates.append(w)
                previous, w = w, w * (1 - eta(K, t)) + vertex * eta(K, t)  # L16
                mark(trace, 16, "w", w, r, t + 1)
            mark(trace, 17, "w", w, r + 1, 0)  # L17
        chosen = noise.index("hat", dim=iterate_count(R))  # L18
    mark(trace, 18, "output", iterates[chosen], *output_index(chosen))
    return SFWRun(iterates[chosen], output_index(chosen), tuple(iterates), gradients.evaluations, batches.used, trace)


@implements("alg:nSFW")
def noisy_sfw(
    K: Numbers,
    loss: Any,
    W: Any,
    dataset: Sequence[Any],
    R: int,
    b: int,
    epsilon: Exact,
    delta: Exact,
    tape: Tape,
    *,
    start: Vector | None = None,
    D: Exact | Real | None = None,
    eta: StepSizes = step_size,
    exact_budget: bool = False,
    trace: Trace | None = None,
) -> SFWRun:
    """Algorithm 5, corrected: (ε,δ)-DP for any step sizes in [0, 1].

    Args:
        K: the number system.
        loss: a smooth loss with L0, L1 and p.
        W: a bounded set with a linear minimiser.
        dataset: n ≥ bR² records (with `exact_budget`: what the batches need).
        R: the number of rounds; round r has 2^r steps.
        b: the size of the first batch of a round, at least 2^(R−1).
        epsilon: ε > 0.
        delta: 0 < δ < 1.
        tape: the permutation of the records, the noise, the index of the output.
        start: w_0, the centre of W unless given.
        D: the diameter of W unless given.
        eta: the step sizes, 1/√(t+1).
        exact_budget: count the records that the batches need instead of bR².
        trace: where the steps are noted, if given.

    Returns:
        The output, its place (r, t), all iterates, and what it cost.

    >>> from reference.numerics.numbers import Float64
    >>> from reference.numerics.tape import SeededTape
    >>> from reference.setting import Example, L2Ball, SquaredTanh
    >>> K, data = Float64(), [Example((i % 3 / 4, 0.5), 1) for i in range(12)]
    >>> found = noisy_sfw(K, SquaredTanh(R=1), L2Ball((0, 0), 1), data, 2, 3, 8, "1e-6", SeededTape(0))
    >>> [round(v, 3) for v in found.output], found.index, found.samples_used
    ([0.918, 0.396], (1, 0), 8)
    """
    check_rounds(len(dataset), R, b, exact_budget)
    check_privacy(epsilon, delta)
    (D, factor), L0, L1 = _prepare(K, loss, W, D, start), K(loss.L0), K(loss.L1)
    eta = fixed_steps(K, eta, 2 ** (R - 1))
    gradients, iterates, d = Gradients(K, loss), [], W.dim
    unit = 4 * factor * K.sqrt(log_inverse(K, delta)) / (b * K(epsilon))
    w = W.centre(K) if start is None else start  # L1
    mark(trace, 1, "w", w, 0, 0)
    with reading(tape, draws(len(dataset), R, d)) as noise:
        batches = Batches(admitted(loss, dataset, W.dim), noise.permutation("pi", dim=len(dataset)))
        for r in range(R):  # L2
            sigma = unit * L0  # L3
            sigma = sigma * gaussian_stretch(K, epsilon, delta, 1, mean_share(K, loss, W, b))  # L3 [E4.2]
            mark(trace, 3, "sigma", sigma, r, 0)
            batch = batches.take(b)  # L4
            mark(trace, 4, "batch", batches.last, r, 0)
            estimate = gradients.total(w, batch) / b + K.vector(noise.normal("N", r, 0, dim=d)) * sigma  # L5
            mark(trace, 5, "noisy_grad", estimate, r, 0)
            vertex = W.linear_minimiser(K, estimate)  # L6
            mark(trace, 6, "v", vertex, r, 0)
            iterates.append(w)
            previous, w = w, w * (1 - eta(K, 0)) + vertex * eta(K, 0)  # L7
            mark(trace, 7, "w", w, r, 1)
            share = pair_share(K, loss, W, D, b, 2**r, eta)  # [E4.2]
            stretch = gaussian_stretch(K, epsilon, delta, 2, share)  # [E4.2] for L9
            for t in range(1, 2**r):  # L8
                move = eta(K, t - 1)  # L9 [E4.1]
                sigma, sigma_hat = unit * L0 * (t + 1), unit * L1 * D * move * (t + 1)  # L9
                sigma, sigma_hat = sigma * stretch, sigma_hat * stretch  # L9 [E4.2]
                mark(trace, 9, "sigma", sigma, r, t)
                mark(trace, 9, "sigma_hat", sigma_hat, r, t)
                batch = batches.take(-(-b // (t + 1)))  # L10 [E4.5]
                weight = 1 / K(len(batch))  # L10 [E4.5]
                mark(trace, 10, "batch", batches.last, r, t)
                now, before = gradients.total(w, batch), gradients.total(previous, batch)
                variation, fresh = (now - before) * weight, now * weight  # L11
                mark(trace, 11, "Delta", variation, r, t)
                mark(trace, 11, "g", fresh, r, t)
                noisy_variation = variation + K.vector(noise.normal("hatN", r, t, dim=d)) * sigma_hat  # L12
                mark(trace, 12, "noisy_Delta", noisy_variation, r, t)
                noisy_fresh = fresh + K.vector(noise.normal("N", r, t, dim=d)) * sigma  # L13
                mark(trace, 13, "noisy_g", noisy_fresh, r, t)
                estimate = (estimate + noisy_variation) * (1 - eta(K, t)) + noisy_fresh * eta(K, t)  # L14
                mark(trace, 14, "noisy_grad", estimate, r, t)
                vertex = W.linear_minimiser(K, estimate)  # L15
                mark(trace, 15, "v", vertex, r, t)
                iterates.append(w)
                previous, w = w, w * (1 - eta(K, t)) + vertex * eta(K, t)  # L16
                mark(trace, 16, "w", w, r, t + 1)
            mark(trace, 17, "w", w, r + 1, 0)  # L17
        chosen = noise.index("hat", dim=iterate_count(R))  # L18
    mark(trace, 18, "output", iterates[chosen], *output_index(chosen))
    return SFWRun(iterates[chosen], output_index(chosen), tuple(iterates), gradients.evaluations, batches.used, trace)


def noisy_sfw_with(errata: set[str]) -> Callable[..., SFWRun]:
    """Algorithm 5 with exactly these of its errata (E4.1, E4.2, E4.5) applied."""
    return edition(noisy_sfw_printed, noisy_sfw, errata)


# ------------------------------------------------------------------------------------- the tight variant


def tight_draws(n: int, T: int, d: int) -> tuple[Draw, ...]:
    """The permutation, one Gaussian vector for each of the T − 1 steps, the output index among T iterates."""
    own = [Draw("N", (t,), "normal", d) for t in range(T - 1)]
    return (Draw("pi", (), "permutation", n), Draw("hat", (), "index", T), *own)


@implements("alg:nSFW", "tight")
def noisy_sfw_tight(
    K: Numbers,
    loss: Any,
    W: Any,
    dataset: Sequence[Any],
    T: int,
    b: int,
    epsilon: Exact,
    delta: Exact,
    tape: Tape,
    *,
    adaptive: bool = True,
    start: Vector | None = None,
    D: Exact | Real | None = None,
    trace: Trace | None = None,
) -> SFWRun:
    """One round of T iterates; one Gaussian a step, made for the actual move ‖w_t − w_{t−1}‖_p if `adaptive`, else
    for D·η_{t−1}.
    """
    check_privacy(epsilon, delta)
    sizes = check_one_round(len(dataset), T, b)
    D, _ = _prepare(K, loss, W, D, start)
    mu, d = gaussian_mu(K, epsilon, delta), W.dim
    gradients, w = Gradients(K, loss), W.centre(K) if start is None else start
    iterates = [w]
    mark(trace, 1, "w", w, 0, 0)
    with reading(tape, tight_draws(len(dataset), T, d)) as source:
        batches = Batches(admitted(loss, dataset, W.dim), source.permutation("pi", dim=len(dataset)))
        estimate = previous = w * 0
        for t, size in enumerate(sizes):
            bound = _move_bound(K, loss, w - previous, t) if adaptive else record_bound(K, t, loss.L0, loss.L1, D)
            bound = bound + release_reserve(K, loss, W, size, norm(K, estimate, 2))
            sigma = tight_deviation(K, size, bound, d, loss.p, mu)
            mark(trace, 9, "sigma", sigma, 0, t)
            estimate = recursive_estimate(K, gradients, batches.take(size), w, previous, estimate, t)
            mark(trace, 10, "batch", batches.last, 0, t)
            estimate = estimate + K.vector(source.normal("N", t, dim=d)) * sigma
            mark(trace, 14, "noisy_grad", estimate, 0, t)
            previous, w = w, w * (1 - step_size(K, t)) + W.linear_minimiser(K, estimate) * step_size(K, t)
            mark(trace, 16, "w", w, 0, t + 1)
            iterates.append(w)
        chosen = source.index("hat", dim=T)
    mark(trace, 18, "output", iterates[chosen], 0, chosen)
    return SFWRun(iterates[chosen], (0, chosen), tuple(iterates), gradients.evaluations, batches.used, trace)


def _move_bound(K: Numbers, loss: Any, move: Vector, t: int) -> Real:
    """(1−η_t)·min{L1‖w_t − w_{t−1}‖_p, 2L0} + η_t·L0, or L0 at t = 0: c_t with the actual move."""
    if t == 0:
        return K(loss.L0)
    eta = step_size(K, t)
    return (1 - eta) * K.min(K(loss.L1) * norm(K, move, loss.p), 2 * K(loss.L0)) + eta * K(loss.L0)


# ------------------------------------------------------- where the printed algorithm fails, as functions


@claims("thm:privacy-noisySFW", "printed")
def transcript_delta(K: Numbers, epsilon: Exact, delta: Exact, t: int = 1) -> Real:
    """The exact δ(ε) of the releases (Δ̃_r^t, g̃_r^t) of printed Algorithm 5, run with parameters (ε, δ). Above δ it
    is not (ε,δ)-DP.

    Attained at t = 1, d = 1, by f = ±(L0/D)w² on [−D/2, D/2]: see `counterexamples`. It decreases in t.
    """
    return gaussian_delta(K, epsilon, printed_pair_mu(K, t, epsilon, delta))


@claims("thm:privacy-noisySFW")
def corrected_transcript_delta(K: Numbers, epsilon: Exact, delta: Exact) -> Real:
    """The same with η_{t−1} (E4.1) but the constant 16 kept: at most δ up to `failure_threshold(…,
    releases="corrected")`.
    """
    return gaussian_delta(K, epsilon, corrected_pair_mu(K, epsilon, delta))


def failure_threshold(delta: Exact, t: int = 1, corrected: bool = False, digits: int = 6) -> tuple[Fraction, Fraction]:
    """Two rationals around the ε from which the pair of step t violates (ε,δ)-DP, 10^{−digits} apart; on balls.

    Below it does not, above it does (the module's text says why there is one crossing). `corrected`: with η_{t−1}.
    """
    K = Ball(128)
    target = K(_exact(delta))

    def over(epsilon: Fraction) -> bool:
        value = corrected_transcript_delta(K, epsilon, delta) if corrected else transcript_delta(K, epsilon, delta, t)
        return K.lt(target, value)

    low, high = Fraction(0), Fraction(1)
    while not over(high):
        low, high = high, 2 * high
    while high - low > Fraction(1, 10**digits):
        middle = (low + high) / 2
        low, high = (low, middle) if over(middle) else (middle, high)
    return low, high


def _exact(x: Exact) -> Fraction:
    return Fraction(x)
