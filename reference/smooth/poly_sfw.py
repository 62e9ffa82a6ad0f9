"""Algorithm 4: private polyhedral stochastic Frank–Wolfe (polySFW), as printed, corrected, and tight.

| paper | here |
|---|---|
| S = (z_1, …, z_n) | `dataset` |
| W, V = (v_1, …, v_J), J, D | `W`, `W.vertices(K)`, `W.J`, `D` (the ‖·‖-diameter; ℓ_{loss.p} unless given) |
| L_0, L_1 | `loss.L0`, `loss.L1` |
| R, b, η_{r,t} | `R`, `b`, `eta(K, t)` |
| s_r | `s` |
| B_r^t | `batch` (disjoint slices of one permutation `pi`) |
| ∇_r^t, Δ_r^t | `estimate`, `variation` |
| u_r^t(v) ~ Lap(s_r) | `s` times the unit draws `u[r,t]` |
| v_r^t, w_r^t | `vertex`, `w` |
| ŵ | `SFWRun.output`, chosen by the draw `hat` |

Two errata act on the body: E4.5 (batches of b/(t+1) records are no integer; rounded down with weight (t+1)/b the
estimate is biased) and E4.7 (log(1/δ) below 1). Theorem 10 is then true as it stands, but not by its proof: see
`calibration`.

The tight variant runs one round: T iterates, T − 1 steps (the last step of a round that nothing follows is never
looked at), with the scale of `calibration.tight_scale`, Laplace or Gumbel noise, pure or approximate DP. Why one
round is enough (improvement D): restarting buys nothing, because the telescoped sum Γ of the proof is at most √T·L0·D
from any start (`bounds.telescoped_bound`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from reference.numerics.numbers import Exact, Numbers, Real, Vector
from reference.numerics.preconditions import require, whole
from reference.numerics.tape import Draw, Tape, reading
from reference.paper.events import Trace, mark
from reference.paper.registry import implements
from reference.privacy import SELECTION_NOISES, SelectionNoise, log_inverse
from reference.setting.data import admitted
from reference.smooth.calibration import laplace_scale, tight_scale
from reference.smooth.rounding import fixed_steps, require_scale, round_reserve
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
from reference.smooth.sensitivity import batch_sizes, step_size

StepSizes: TypeAlias = Callable[[Numbers, int], Real]


def draws(n: int, R: int, J: int) -> tuple[Draw, ...]:
    """What Algorithm 4 reads: the permutation, J Laplace variables a step, the output index."""
    return tuple(common_draws(n, R) + round_draws("laplace", "u", J, R))


def _prepare(
    K: Numbers, loss: Any, W: Any, D: Exact | Real | None, start: Vector | None
) -> tuple[tuple[Vector, ...], Real]:
    """The vertices and the diameter; refuses a set without vertices or with one."""
    require(hasattr(W, "vertices"), "W", W, "be a polytope with listed vertices", "Algorithm 4 minimises over vertices")
    require(W.J >= 2, "J", W.J, "be at least 2", "log J must be positive; with one vertex there is nothing to choose")
    return W.vertices(K), checked_setting(K, loss, W, D, start)


def require_round_proofs(
    K: Numbers, loss: Any, W: Any, D: Real, R: int, b: int, epsilon: Exact, delta: Exact, eta: StepSizes = step_size
) -> None:
    """Refuse, before the data are looked at, rounds that the scales of the corrected text do not make (ε,δ)-DP.

    The printed scales are the same for δ ≤ 1/e, and batches of b/(t+1) records no larger than the rounded ones.
    """
    for r in range(R):
        require_scale(
            K, loss, W, D, laplace_scale(K, r, b, loss.L0, loss.L1, D, epsilon, delta), r, b, epsilon, delta, eta
        )


def noisy_vertex(K: Numbers, vertices: Sequence[Vector], estimate: Vector, s: Real, unit: Sequence[float]) -> int:
    """argmin_v ⟨v, ∇⟩ + s·u(v); ties go to the lowest index."""
    return K.argmin([v @ estimate + s * K(x) for v, x in zip(vertices, unit, strict=True)])


@implements("alg:polySFW", "printed")
def poly_sfw_printed(
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
    """Algorithm 4 as printed (⌊b/(t+1)⌋ records, weight (t+1)/b; √log(1/δ) for every δ)."""
    check_rounds(len(dataset), R, b, exact_budget)
    check_privacy(epsilon, delta)
    (vertices, D), L0, L1 = _prepare(K, loss, W, D, start), K(loss.L0), K(loss.L1)
    eta = fixed_steps(K, eta, 2 ** (R - 1))
    require_round_proofs(K, loss, W, D, R, b, epsilon, delta, eta)
    gradients, iterates = Gradients(K, loss), []
    w = W.centre(K) if start is None else start  # L1
    mark(trace, 1, "w", w, 0, 0)
    with reading(tape, draws(len(dataset), R, len(vertices))) as noise:
        batches = Batches(admitted(loss, dataset, W.dim), noise.permutation("pi", dim=len(dataset)))
        for r in range(R):  # L2
            root_log = K.sqrt(log_inverse(K, delta))  # L3 [E4.7]
            s = 2 * D * (L0 + L1 * D) * 2**r * root_log / (b * K(epsilon))  # L3
            mark(trace, 3, "s", s, r)
            batch = batches.take(b)  # L4
            mark(trace, 4, "batch", batches.last, r, 0)
            estimate = gradients.total(w, batch) / b  # L5
            mark(trace, 5, "grad", estimate, r, 0)
            vertex = noisy_vertex(K, vertices, estimate, s, noise.laplace("u", r, 0, dim=len(vertices)))  # L6
            mark(trace, 6, "v", vertex, r, 0)
            iterates.append(w)
            previous, w = w, w * (1 - eta(K, 0)) + vertices[vertex] * eta(K, 0)  # L7
            mark(trace, 7, "w", w, r, 1)
            for t in range(1, 2**r):  # L8
                batch = batches.take(b // (t + 1))  # L9 [E4.5]
                weight = K(t + 1) / b  # L9 [E4.5]
                mark(trace, 9, "batch", batches.last, r, t)
                now, before = gradients.total(w, batch), gradients.total(previous, batch)
                variation = (now - before) * weight  # L10
                mark(trace, 10, "Delta", variation, r, t)
                estimate = (estimate + variation) * (1 - eta(K, t)) + now * (eta(K, t) * weight)  # L11
                mark(trace, 11, "grad", estimate, r, t)
                vertex = noisy_vertex(K, vertices, estimate, s, noise.laplace("u", r, t, dim=len(vertices)))  # L12
                mark(trace, 12, "v", vertex, r, t)
                iterates.append(w)
                previous, w = w, w * (1 - eta(K, t)) + vertices[vertex] * eta(K, t)  # L13
                mark(trace, 13, "w", w, r, t + 1)
            mark(trace, 14, "w", w, r + 1, 0)  # L14
        chosen = noise.index("hat", dim=iterate_count(R))  # L15
    mark(trace, 15, "output", iterates[chosen], *output_index(chosen))
    return SFWRun(iterates[chosen], output_index(chosen), tuple(iterates), gradients.evaluations, batches.used, trace)


@implements("alg:polySFW")
def poly_sfw(
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
    """Algorithm 4, corrected: ⌈b/(t+1)⌉ records with weight 1/|B|, and max(√log(1/δ), 1). (ε,δ)-DP for η_t =
    1/√(t+1); for other steps, or numbers too coarse for W, it is refused where the scales do not do.

    Args:
        K: the number system.
        loss: a smooth loss with L0, L1 and p.
        W: a polytope that lists its J ≥ 2 vertices.
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
    >>> from reference.setting import Example, SquaredTanh, l1_ball
    >>> K, data = Float64(), [Example((i % 3 / 4, 0.5), 1) for i in range(12)]
    >>> found = poly_sfw(K, SquaredTanh(R=1, p=1), l1_ball(2, 1), data, 2, 3, 8, "1e-6", SeededTape(0))
    >>> [round(v, 3) for v in found.output], found.index, found.samples_used
    ([0.0, 1.0], (1, 0), 8)
    """
    check_rounds(len(dataset), R, b, exact_budget)
    check_privacy(epsilon, delta)
    (vertices, D), L0, L1 = _prepare(K, loss, W, D, start), K(loss.L0), K(loss.L1)
    eta = fixed_steps(K, eta, 2 ** (R - 1))
    require_round_proofs(K, loss, W, D, R, b, epsilon, delta, eta)
    gradients, iterates = Gradients(K, loss), []
    w = W.centre(K) if start is None else start  # L1
    mark(trace, 1, "w", w, 0, 0)
    with reading(tape, draws(len(dataset), R, len(vertices))) as noise:
        batches = Batches(admitted(loss, dataset, W.dim), noise.permutation("pi", dim=len(dataset)))
        for r in range(R):  # L2
            root_log = K.max(K.sqrt(log_inverse(K, delta)), K(1))  # L3 [E4.7]
            s = 2 * D * (L0 + L1 * D) * 2**r * root_log / (b * K(epsilon))  # L3
            mark(trace, 3, "s", s, r)
            batch = batches.take(b)  # L4
            mark(trace, 4, "batch", batches.last, r, 0)
            estimate = gradients.total(w, batch) / b  # L5
            mark(trace, 5, "grad", estimate, r, 0)
            vertex = noisy_vertex(K, vertices, estimate, s, noise.laplace("u", r, 0, dim=len(vertices)))  # L6
            mark(trace, 6, "v", vertex, r, 0)
            iterates.append(w)
            previous, w = w, w * (1 - eta(K, 0)) + vertices[vertex] * eta(K, 0)  # L7
            mark(trace, 7, "w", w, r, 1)
            for t in range(1, 2**r):  # L8
                batch = batches.take(-(-b // (t + 1)))  # L9 [E4.5]
                weight = 1 / K(len(batch))  # L9 [E4.5]
                mark(trace, 9, "batch", batches.last, r, t)
                now, before = gradients.total(w, batch), gradients.total(previous, batch)
                variation = (now - before) * weight  # L10
                mark(trace, 10, "Delta", variation, r, t)
                estimate = (estimate + variation) * (1 - eta(K, t)) + now * (eta(K, t) * weight)  # L11
                mark(trace, 11, "grad", estimate, r, t)
                vertex = noisy_vertex(K, vertices, estimate, s, noise.laplace("u", r, t, dim=len(vertices)))  # L12
                mark(trace, 12, "v", vertex, r, t)
                iterates.append(w)
                previous, w = w, w * (1 - eta(K, t)) + vertices[vertex] * eta(K, t)  # L13
                mark(trace, 13, "w", w, r, t + 1)
            mark(trace, 14, "w", w, r + 1, 0)  # L14
        chosen = noise.index("hat", dim=iterate_count(R))  # L15
    mark(trace, 15, "output", iterates[chosen], *output_index(chosen))
    return SFWRun(iterates[chosen], output_index(chosen), tuple(iterates), gradients.evaluations, batches.used, trace)


# ------------------------------------------------------------------------------------- the tight variant


def tight_draws(n: int, T: int, J: int, noise: SelectionNoise) -> tuple[Draw, ...]:
    """The permutation, J variables for each of the T − 1 steps, the output index among T iterates."""
    own = [Draw("u", (t,), noise, J) for t in range(T - 1)]
    return (Draw("pi", (), "permutation", n), Draw("hat", (), "index", T), *own)


def check_one_round(n: int, T: int, b: int) -> tuple[int, ...]:
    """The batch sizes ⌈b/(t+1)⌉ of the T − 1 steps of one round; refuses what n records cannot feed."""
    whole("T", T, 2)
    whole("b", b)
    sizes = batch_sizes(b, T - 1)
    total = sum(sizes)
    require(total <= n, "n", n, f"be at least {total}", f"T = {T}, b = {b} read {total} records; lower b or T")
    return sizes


@implements("alg:polySFW", "tight")
def poly_sfw_tight(
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
    noise: SelectionNoise = "gumbel",
    start: Vector | None = None,
    D: Exact | Real | None = None,
    trace: Trace | None = None,
) -> SFWRun:
    """One round of T iterates: scale `tight_scale`, Gumbel (subtracted) or Laplace noise, δ = 0 for pure ε-DP."""
    require(noise in SELECTION_NOISES, "noise", noise, f"be one of {', '.join(SELECTION_NOISES)}")
    check_privacy(epsilon, delta or Fraction(1, 2))  # δ = 0 asks for pure DP
    sizes = check_one_round(len(dataset), T, b)
    vertices, D = _prepare(K, loss, W, D, start)
    reserve = round_reserve(K, loss, W, D, sizes)
    s = tight_scale(K, T - 1, b, loss.L0, loss.L1, D, epsilon, delta, noise, reserve)
    signed = -s if noise == "gumbel" else s  # argmin: the noise must have the Lipschitz tail below
    mark(trace, 3, "s", s, 0)
    gradients, w = Gradients(K, loss), W.centre(K) if start is None else start
    iterates = [w]
    mark(trace, 1, "w", w, 0, 0)
    with reading(tape, tight_draws(len(dataset), T, len(vertices), noise)) as source:
        batches = Batches(admitted(loss, dataset, W.dim), source.permutation("pi", dim=len(dataset)))
        estimate = previous = w * 0
        for t, size in enumerate(sizes):
            estimate = recursive_estimate(K, gradients, batches.take(size), w, previous, estimate, t)
            mark(trace, 9, "batch", batches.last, 0, t)
            mark(trace, 11, "grad", estimate, 0, t)
            unit = (
                source.gumbel("u", t, dim=len(vertices))
                if noise == "gumbel"
                else source.laplace("u", t, dim=len(vertices))
            )
            vertex = noisy_vertex(K, vertices, estimate, signed, unit)
            mark(trace, 12, "v", vertex, 0, t)
            previous, w = w, w * (1 - step_size(K, t)) + vertices[vertex] * step_size(K, t)
            mark(trace, 13, "w", w, 0, t + 1)
            iterates.append(w)
        chosen = source.index("hat", dim=T)
    mark(trace, 15, "output", iterates[chosen], 0, chosen)
    return SFWRun(iterates[chosen], (0, chosen), tuple(iterates), gradients.evaluations, batches.used, trace)


def recursive_estimate(
    K: Numbers, gradients: Gradients, batch: Sequence[Any], w: Vector, previous: Vector, estimate: Vector, t: int
) -> Vector:
    """(1−η_t)·∇^{t−1} + X_t with X_t the batch mean of ∇f(w_t, z) − (1−η_t)∇f(w_{t−1}, z); at t = 0 the mean
    gradient.
    """
    now: Vector = gradients.total(w, batch) / len(batch)
    if t == 0:
        return now
    before = gradients.total(previous, batch) / len(batch)
    mixed: Vector = (estimate - before) * (1 - step_size(K, t)) + now
    return mixed
