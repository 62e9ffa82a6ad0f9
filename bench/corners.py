"""An attack on our own noise: releases of neighbours, as the number system computes them, against the noise of the run.

A trial takes one algorithm in one number system, printed, corrected or tight, at a corner: sets far from the origin,
late phases, many records, long features, small batches. It computes what would be released of two datasets that differ
in one record, given the same past, and measures in exact numbers how far apart that is. `Trial.spent` is that distance
in units of what the noise covers for the claimed (ε,δ): above 1 the claim is false. A trial may also be refused, by a
run that says that its noise does not do. The control is the same search with noise that knows nothing of rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np

from audit import engine as fast
from audit.engine import convex as fast_convex
from audit.engine import sets as fast_sets
from audit.engine import smooth as fast_smooth
from audit.engine import weakly_convex as fast_weakly_convex
from audit.engine.arrays import floats, matrix
from reference.convex import noisy_frank_wolfe as nfw
from reference.convex import phased_sgd as phased
from reference.convex.drift import average_bound
from reference.convex.moreau import REAL_LINE, Interval
from reference.convex.oracle import Counter, OracleParameters, closed_form_oracle, oracle
from reference.convex.phased_noise import TIGHT_ROOM, mu_star, quadrature_sigma, tight_sigma
from reference.numerics.numbers import MP, Float64, Numbers, Real, Vector, _as_fraction, norm
from reference.numerics.tape import Draw
from reference.privacy import SelectionNoise, gaussian_delta, gaussian_mu, kov_epsilon0, zcdp_rho
from reference.setting.data import Example
from reference.setting.losses import GLL, Absolute, EpsilonInsensitive, Huber, Quantile
from reference.setting.losses_smooth import GemanMcClure, Sigmoid, SignedQuadratic, SquaredTanh
from reference.setting.losses_weak import RobustPhaseRetrieval, TanhRegression
from reference.setting.sets import Box, L2Ball, LpBall, Simplex, WholeSpace, box_polytope, l1_ball
from reference.smooth.calibration import (
    ZCDP_DIVISOR,
    dimension_factor,
    gaussian_stretch,
    laplace_scale,
    tight_deviation,
    tight_scale,
)
from reference.smooth.poly_sfw import recursive_estimate
from reference.smooth.rounding import mean_share, pair_share, release_reserve, require_scale, round_reserve
from reference.smooth.rounds import Gradients
from reference.smooth.sensitivity import batch_sizes, record_bound, step_size
from reference.weakly_convex.strongly_convex import BatchGradient, noise_scale

EXACT = MP(60)
SYSTEMS: tuple[Numbers, ...] = (Float64(), Float64(), MP(15), MP(20))
TARGETS: tuple[tuple[Any, Any], ...] = ((1, "1e-6"), (Fraction(1, 10), "1e-10"), (3, "1e-5"))
FAR = (0, 0, 1, Fraction(1, 3), 2**10, 2**21, Fraction(2**30 + 1, 3), 2**40, 2**46, 2**50)
"""Where sets lie."""


@dataclass(frozen=True)
class Trial:
    """One release of one pair: what it spends of the claim, or that the run was refused."""

    algorithm: int
    name: str
    spent: float
    refused: bool = False


def _exact(x: Any) -> Fraction:
    """The value of a computed number; below 2^{−4000} (e^{−2^40}, with mpmath) it is 0."""
    return Fraction(0) if abs(x) < _TINY else _as_fraction(x)


_TINY = EXACT(Fraction(1, 2**4000))


def distance(a: Vector, b: Vector) -> Real:
    """‖a − b‖_2 of computed vectors, in exact numbers."""
    return norm(EXACT, EXACT.vector([_exact(x) - _exact(y) for x, y in zip(a, b, strict=True)]), 2)


@cache
def mu_of(epsilon: Any, delta: Any) -> Real:
    """μ*(ε,δ)."""
    return gaussian_mu(EXACT, epsilon, delta)


@cache
def rho_of(epsilon: Any, delta: Any) -> Real:
    """ρ*(ε,δ)."""
    return zcdp_rho(EXACT, epsilon, delta)


@cache
def loss_of(epsilon: Any, delta: Any, T: int) -> Real:
    """ε0*(ε,δ,T)."""
    return kov_epsilon0(EXACT, epsilon, delta, T)


def gaussian_share(moved: Real, sigma: Real, epsilon: Any, delta: Any) -> float:
    """(moved/σ)/μ*(ε,δ)."""
    wide = EXACT(_exact(sigma))
    if moved == 0:
        return 0.0
    return float(moved / wide / mu_of(epsilon, delta)) if wide > 0 else math.inf


def spread(a: Sequence[Real], b: Sequence[Real]) -> Real:
    """The range of the changes of computed scores, in exact numbers."""
    changes = [_exact(x) - _exact(y) for x, y in zip(a, b, strict=True)]
    return EXACT(max(changes) - min(changes))


def direction(rng: Random, d: int, length: float) -> tuple[float, ...]:
    """A random direction, along an axis half of the time."""
    if rng.random() < 0.5:
        j, sign = rng.randrange(d), rng.choice((-1, 1))
        return tuple(sign * length if i == j else 0 for i in range(d))
    g = [rng.gauss(0, 1) for _ in range(d)]
    return tuple(length * (1 - 2**-50) * x / math.hypot(*g) for x in g)


# ------------------------------------------------------------------------------------------ Algorithm 2


def phased_trial(rng: Random, reserve: bool = True) -> Trial:
    """One phase of Algorithm 2 from a start that rounding dislikes; without `reserve` the noise ignores rounding."""
    K, (epsilon, delta) = rng.choice(SYSTEMS), rng.choice(TARGETS)
    d, far = rng.choice((1, 2, 3, 10)), rng.choice(FAR)
    W: Any = rng.choice(
        (
            Box([far] * d, [far + 1] * d),
            L2Ball([far] * d, Fraction(1, 2)),
            LpBall([far] * d, 1, math.inf),
            l1_ball(d) if d > 1 else Box([far], [far + 1]),
            Simplex(max(d, 2)),
            WholeSpace(d),
        )
    )
    n, R = rng.choice((2, 3, 16, 100, 4096, 2**14, 2**16, 2**18, 2**20)), rng.choice((1, 1, 1000, Fraction(1, 1000)))
    rule = rng.choice((tight_sigma, quadrature_sigma, phased.sigma_printed)) if reserve else tight_sigma
    call = oracle if rule is quadrature_sigma else rng.choice((oracle, closed_form_oracle))
    gll = GLL(rng.choice((Absolute, lambda y: Quantile(y, Fraction(1, 4)))), 1, R)
    name = f"{K} {W} n={n} R={R} {getattr(rule, '__name__', rule)} {call.__name__} ({epsilon}, {delta})"
    given: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "average": rng.choice(("last", "first"))}
    if isinstance(W, WholeSpace):
        given["start"] = [far] * d
    try:
        p = phased.phased_parameters(K, n, gll, W, oracle=call, sigma=rule, **given)
    except ValueError:
        return Trial(2, name, 0.0, refused=True)
    return _late_phase(rng, p, name, (epsilon, delta), reserve)


def _late_phase(
    rng: Random, p: phased.PhasedParameters, name: str, target: tuple[Any, Any], reserve: bool = True
) -> Trial:
    """A phase of at most 64 steps of this run, six times."""
    K, lengths = p.K, phased.phase_lengths(p.n)
    k = rng.choice([k for k, T in enumerate(lengths, 1) if T <= 64])
    T, eta = lengths[k - 1], phased.step_size(K, p) / 4**k
    sigma = p.sigma(K, phased.privacy_rate(K, p), eta, T, p)
    if not reserve:
        sigma = average_bound(K, eta, T, p.smoothing, p.average) / mu_star(K, p) * K(TIGHT_ROOM)
    worst = max(_phase_spent(rng, K, p, eta, T, sigma, target) for _ in range(6))
    return Trial(2, f"{name} phase {k}, T={T}", worst)


def given_trial(rng: Random) -> Trial:
    """The same with β, α, M, the step size and the loss as somebody may give them, up to where they are refused."""
    K, target = rng.choice(SYSTEMS), rng.choice(TARGETS)
    d, far, n = rng.choice((1, 2, 3, 10)), rng.choice(FAR), rng.choice((2, 3, 16, 100, 4096, 2**16))
    R, L0 = rng.choice((1, 1000, Fraction(1, 1000))), rng.choice((1, 1, 7))
    W: Any = rng.choice((Box([far] * d, [far + 1] * d), L2Ball([far] * d, Fraction(1, 2)), Simplex(max(d, 2))))
    rule, call = rng.choice(((tight_sigma, oracle), (tight_sigma, closed_form_oracle), (quadrature_sigma, oracle)))
    family = rng.choice((Absolute, lambda y: Huber(y, 1), lambda y: EpsilonInsensitive(y, Fraction(1, 8))))
    given: dict[str, Any] = {"epsilon": target[0], "delta": target[1], "average": rng.choice(("last", "first"))}
    given |= {"sigma": rule, "oracle": call}
    name = f"{K} {W} n={n} R={R} L0={L0} {rule.__name__} {call.__name__} {target}"
    try:
        p = phased.phased_parameters(K, n, GLL(family, L0, R), W, **given)
        eta = phased.step_size(K, p) / 4 * R * R
        given["beta"] = rng.choice((p.smoothing.beta, K(Fraction(99, 100)) / eta, K(Fraction(199, 100)) / eta))
        given["alpha"] = rng.choice((p.smoothing.alpha, "1e-30", K(Fraction(2, 5)) * L0 * R))
        reach = math.ceil(2 * R * (K.to_float(W.norm_bound(K, 2)) + 1))
        given["M"] = rng.choice((REAL_LINE, REAL_LINE, Interval(-reach, reach)))
        p = phased.phased_parameters(K, n, GLL(family, L0, R), W, **given)
        p = replace(p, stretch=rng.choice((1, K(Fraction(1, 7)), K(Fraction(3, 2)))))
    except ValueError:
        return Trial(2, name, 0.0, refused=True)
    return _late_phase(rng, p, f"{name} {p.smoothing} stretch={p.stretch}", target)


def _phase_spent(
    rng: Random, K: Numbers, p: phased.PhasedParameters, eta: Real, T: int, sigma: Real, target: tuple[Any, Any]
) -> float:
    q, d = replace(p.smoothing, count=Counter()), p.W.dim
    middle = p.start
    u_0 = p.W.project(K, middle + K.vector([rng.uniform(-1, 1) * rng.choice((1, 2.0**-20)) for _ in range(d)]))
    reach = float(p.smoothing.R)
    x, far = direction(rng, d, reach), 2**90
    rest = []
    for _ in range(T - 1):
        kind = rng.random()
        y = far * rng.choice((-1, 1)) if kind < 0.6 else rng.uniform(-2, 2)
        features = direction(rng, d, reach * rng.choice((1, rng.random())))
        rest.append(Example(features if kind < 0.9 else (0,) * d, y))
    ends = []
    for y in (far, -far):
        points = phased.checked_points(K, p.gll, [Example(x, y), *rest], p.W, p.start)
        ends.append(phased.psgd(K, points, T, eta, u_0, p, q)[0])
    return gaussian_share(distance(*ends), sigma, *target)


class _Still(fast.BatchTape):
    """No noise."""

    trials = 1

    def read(self, draw: Draw) -> Any:
        return np.zeros((1, draw.dim))


def engine_trial(rng: Random) -> Trial:
    """The last phase of Algorithm 2 in the fast engine: the phases before it see the same records."""
    K, (epsilon, delta) = Float64(), rng.choice(TARGETS)
    d, far, n = rng.choice((1, 2, 10)), rng.choice(FAR), rng.choice((2, 4, 16, 64, 256))
    W: Any = rng.choice((Box([far] * d, [far + 1] * d), L2Ball([far] * d, Fraction(1, 2)), Simplex(max(d, 2))))
    rule = rng.choice((tight_sigma, phased.sigma_printed))
    name = f"fast {W} n={n} {rule.__name__} ({epsilon}, {delta})"
    try:
        p = phased.phased_parameters(K, n, GLL(Absolute, 1, 1), W, epsilon=epsilon, delta=delta, sigma=rule)
    except ValueError:
        return Trial(2, name, 0.0, refused=True)
    before = [Example(direction(rng, W.dim, 1), rng.uniform(-2, 2)) for _ in range(n - 2)]
    x, k = direction(rng, W.dim, 1), len(phased.phase_lengths(n))
    ends = [fast.phased_sgd([*before, Example(x, y), Example(x, y)], p, _Still())[0] for y in (2**90, -(2**90))]
    sigma = p.sigma(K, phased.privacy_rate(K, p), phased.step_size(K, p) / 4**k, 1, p)
    moved = distance(*(K.vector(end.tolist()) for end in ends))
    return Trial(2, name, gaussian_share(moved, sigma, epsilon, delta))


# ------------------------------------------------------------------------------------------ Algorithm 3


def frank_wolfe_trial(rng: Random, reserve: bool = True, engine: bool = False) -> Trial:
    """The scores of one step of Algorithm 3, for the scale of the run; as the reference or the engine computes them."""
    K, (epsilon, delta) = Float64() if engine else rng.choice(SYSTEMS), rng.choice(TARGETS)
    d, far, n, T = rng.choice((1, 2, 3)), rng.choice(FAR), rng.choice((2, 3, 8, 64)), rng.choice((1, 4, 100))
    n = rng.choice((n, 512)) if isinstance(K, Float64) else n
    W: Any = rng.choice((box_polytope([far] * d, [far + 1] * d), l1_ball(d), Simplex(max(d, 2))))
    noise, rule = rng.choice(("laplace", "gumbel")), rng.choice((nfw.scale_tight, nfw.scale_printed))
    call = oracle if engine else rng.choice((oracle, closed_form_oracle))
    name = f"{'fast' if engine else K} {W} n={n} T={T} {noise} {rule.__name__} {call.__name__} ({epsilon}, {delta})"
    given: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "T": T, "noise": noise, "oracle": call}
    try:
        p = nfw.frank_wolfe_parameters(K, n, GLL(Absolute, 1, 1, 1), W, scale=rule, **given)
    except ValueError:
        return Trial(3, name, 0.0, refused=True)
    s = p.s if reserve else nfw.score_range(K, p) * K(TIGHT_ROOM) / K(kov_epsilon0(K, epsilon, delta, T))
    allowed = loss_of(epsilon, delta, T)
    if noise == "gumbel":
        allowed = EXACT.max(allowed, EXACT.sqrt(8 * rho_of(epsilon, delta) / T))
    q, vertices, worst = replace(p.smoothing, count=Counter()), W.vertices(K), EXACT(0)
    for _ in range(3):
        w = vertices[rng.randrange(len(vertices))]
        other = Example(tuple(rng.choice((-1, 1, rng.random())) for _ in range(W.dim)), rng.uniform(-2, 2))
        filler = other if rng.random() < 0.5 else Example((1,) * W.dim, 2**90)
        rest = [other, *[filler] * (n - 2)][: n - 1]
        x, place = tuple(rng.choice((-1, 1)) for _ in range(W.dim)), rng.randrange(n)
        found = []
        for y in (2**90, -(2**90)):
            data = [*rest[:place], Example(x, y), *rest[place:]]
            points = phased.checked_points(K, p.gll, data, W, p.start)
            if engine:
                found.append(_fast_scores(points, w, q, W))
                continue
            gradient = nfw.mean_gradient(K, points, w, p.oracle, q)
            found.append([v @ gradient for v in vertices])
        worst = EXACT.max(worst, spread(*found))
    return Trial(3, name, float(worst / EXACT(_exact(s)) / allowed))


def _fast_scores(points: Sequence[Any], w: Vector, q: OracleParameters, W: Any) -> list[float]:
    """⟨v, ∇⟩ for all vertices, as lines 5 to 7 of the engine compute them."""
    X, table = matrix(x for x, _ in points), fast_convex.LossTable.of([ell for _, ell in points])
    gradient = fast.oracle(table, floats(w)[None] @ X.T, q) @ X / len(X)
    scores: list[float] = (gradient @ fast_sets.vertices(W).T)[0].tolist()
    return scores


# ------------------------------------------------------------------------------------- Algorithms 4, 5


def _smooth(rng: Random, p: Any) -> tuple[Any, Callable[[], Example], tuple[Example, Example]]:
    """A loss, ordinary records, and a pair of extreme ones."""
    loss = rng.choice((SquaredTanh(1, p), Sigmoid(1, p), GemanMcClure(1, Fraction(1, 2), p)))

    def ordinary() -> Example:
        return Example(tuple(rng.uniform(-0.5, 0.5) for _ in range(2)), rng.choice((-1, 1)))

    length = 1 if p == 1 else math.sqrt(0.5) * (1 - 2**-50)  # (1, −1): the prediction stays small wherever W lies
    x = (length, -length) if rng.random() < 0.8 else (1, 0)
    y = Fraction(2, 7) if isinstance(loss, GemanMcClure) else 1
    return loss, ordinary, (Example(x, y), Example(x if rng.random() < 0.8 else tuple(-v for v in x), -y))


def _path(rng: Random, K: Numbers, W: Any, vertices: Sequence[Vector], steps: int) -> list[Vector]:
    w = vertices[rng.randrange(len(vertices))] * K(0.5) + vertices[rng.randrange(len(vertices))] * K(0.5)
    path = [w]
    for t in range(steps - 1):
        eta = step_size(K, t)
        path.append(path[-1] * (1 - eta) + vertices[rng.randrange(len(vertices))] * eta)
    return path


def poly_trial(rng: Random, reserve: bool = True, engine: bool = False) -> Trial:
    """One round of Algorithm 4 along a fixed path: what all its steps reveal of the record that differs."""
    K, (epsilon, delta) = Float64() if engine else rng.choice(SYSTEMS), rng.choice(TARGETS)
    far, b, r = rng.choice(FAR), rng.choice((2, 4, 32)), rng.choice((0, 1, 2, 3))
    T, variant = 2**r, rng.choice(("corrected", "tight"))
    noise: SelectionNoise = rng.choice(("laplace", "gumbel"))
    W: Any = rng.choice((box_polytope([far] * 2, [far + 1] * 2), l1_ball(2), Simplex(2)))
    loss, ordinary, pair = _smooth(rng, 1)
    name, D = (
        f"{'fast' if engine else K} {W} {loss} b={b} T={T} {variant} {noise} ({epsilon}, {delta})",
        W.diameter(K, 1),
    )
    sizes, noise = batch_sizes(b, T), noise if variant == "tight" else "laplace"
    given = (b, loss.L0, loss.L1, D, epsilon, delta)
    try:
        if variant == "tight" or not reserve:
            kept = (round_reserve(K, loss, W, D, sizes),) if reserve else ()
            s = tight_scale(K, T, *given, noise, *kept)
        else:
            s = laplace_scale(K, r, *given)
            require_scale(K, loss, W, D, s, r, b, epsilon, delta)
    except ValueError:
        return Trial(4, name, 0.0, refused=True)
    root = EXACT.sqrt(ZCDP_DIVISOR[noise] * rho_of(epsilon, delta))
    worst, vertices = 0.0, W.vertices(K)
    for _ in range(3):
        path, k = _path(rng, K, W, vertices, T), rng.randrange(T)
        batches = [[ordinary() for _ in range(m)] for m in sizes]
        losses = _trajectory(K, loss, batches, k, pair, path, W, s, engine)
        spent = min(sum(losses) / EXACT(epsilon), EXACT.sqrt(sum(x * x for x in losses)) / root)
        worst = max(worst, float(spent))
    return Trial(4, name, worst)


def _trajectory(
    K: Numbers,
    loss: Any,
    batches: list[list[Example]],
    k: int,
    pair: tuple[Example, Example],
    path: Sequence[Vector],
    W: Any,
    s: Real,
    engine: bool,
) -> list[Real]:
    """The range of the changes of scores over s, step by step."""
    scores: list[list[Any]] = []
    vertices = W.vertices(K)
    for z in pair:
        estimate, rows = path[0] * 0, []
        for t, batch in enumerate(batches):
            records = [z, *batch[1:]] if t == k else batch
            before = path[t - 1] if t else path[0]
            if engine:
                estimate = _fast_estimate(loss, records, path[t], before, estimate, t)
                rows.append((floats(estimate)[None] @ fast_sets.vertices(W).T)[0].tolist())
                continue
            estimate = recursive_estimate(K, Gradients(K, loss), records, path[t], before, estimate, t)
            rows.append([v @ estimate for v in vertices])
        scores.append(rows)
    return [spread(one, two) / EXACT(_exact(s)) for one, two in zip(*scores, strict=True)]


def _fast_estimate(loss: Any, batch: list[Example], w: Vector, before: Vector, estimate: Vector, t: int) -> Vector:
    """The recursion of Algorithms 4 and 5 as the engine computes it, for one trial."""
    records = fast_smooth.Records(loss, batch, len(w), np.arange(len(batch))[None])
    at, previous, old = (floats(v)[None] for v in (w, before, estimate))
    return Float64().vector(fast_smooth._recursive(records, len(batch), at, previous, old, t)[0].tolist())


def _fast_mean(loss: Any, batch: list[Example], w: Vector) -> Vector:
    """The mean gradient of lines 4 and 11 of Algorithm 5 as the engine computes it."""
    records = fast_smooth.Records(loss, batch, len(w), np.arange(len(batch))[None])
    total = records.total(floats(w)[None], records.take(len(batch)))
    return Float64().vector((total / len(batch))[0].tolist())


def noisy_trial(rng: Random, reserve: bool = True, engine: bool = False) -> Trial:
    """One step of Algorithm 5: the tight release, or the pair of the corrected text, from a shared noisy past."""
    K, (epsilon, delta) = Float64() if engine else rng.choice(SYSTEMS), rng.choice((*TARGETS, (12, "1e-6")))
    far, b, t = rng.choice(FAR), rng.choice((2, 16, 128)), rng.choice((0, 1, 2, 5))
    width = rng.choice((1, 1, Fraction(rng.choice((1, 2, 8)) * math.ulp(far or 1))))  # or a few numbers of binary64
    W: Any = rng.choice((Box([far] * 2, [far + width] * 2), L2Ball([far] * 2, width / Fraction(2))))
    loss, ordinary, pair = _smooth(rng, 2)
    if rng.random() < 0.3:  # its gradient varies by L1 times the move, exactly
        loss = SignedQuadratic(1, math.ceil(K.to_float(W.norm_bound(K, 2))) + 1)
    variant, D, d = rng.choice(("corrected", "tight")), W.diameter(K, 2), 2
    name = f"{'fast' if engine else K} {W} {loss} b={b} t={t} {variant} ({epsilon}, {delta})"
    size, move = -(-b // (t + 1)), step_size(K, max(t - 1, 0)) if t else K(0)
    factor, worst = dimension_factor(K, d, 2), 0.0
    for _ in range(3):
        corner = K.vector([far + width * Fraction(rng.choice((0, 0.5, rng.random()))) for _ in range(2)])
        before, towards = W.project(K, corner), K.vector([rng.gauss(0, 1), rng.gauss(0, 1)])
        if rng.random() < 0.5:  # as far as W allows, along the features of the pair
            before, towards = W.linear_minimiser(K, K.vector([1, -1])), K.vector([-1, 1])
        w = before * (1 - move) + W.linear_minimiser(K, towards) * move
        past = K.vector([rng.gauss(0, 1) * rng.choice((1, 1000)) for _ in range(2)])
        past = past if t else past * 0
        batch, made = [ordinary() for _ in range(size)], Gradients(K, loss)
        batches = [[z, *batch[1:]] for z in pair]
        if variant == "tight":
            bound = record_bound(K, t, loss.L0, loss.L1, D)
            bound = bound + release_reserve(K, loss, W, size, norm(K, past, 2)) if reserve else bound
            sigma = tight_deviation(K, size, bound, d, 2, gaussian_mu(K, epsilon, delta))
            if engine:
                ends = [_fast_estimate(loss, records, w, before, past, t) for records in batches]
            else:
                ends = [recursive_estimate(K, made, records, w, before, past, t) for records in batches]
            worst = max(worst, gaussian_share(distance(*ends), sigma, epsilon, delta))
            continue
        unit = 4 * factor * K.sqrt(-K.log(K(delta))) / (b * K(epsilon))
        share = (mean_share(K, loss, W, b) if t == 0 else pair_share(K, loss, W, D, b, t + 1)) if reserve else K(0)
        sigma = unit * K(loss.L0) * (t + 1) * gaussian_stretch(K, epsilon, delta, 1 if t == 0 else 2, share)
        hat = sigma * K(loss.L1) * D * move / K(loss.L0)
        now, old = (
            [_fast_mean(loss, records, x) if engine else made.total(x, records) / size for records in batches]
            for x in (w, before)
        )
        spent = gaussian_share(distance(*now), sigma, epsilon, delta) ** 2
        if t:
            spent += gaussian_share(distance(now[0] - old[0], now[1] - old[1]), hat, epsilon, delta) ** 2
        worst = max(worst, math.sqrt(spent))
    return Trial(5, name, worst)


# ------------------------------------------------------------------------------------------ Algorithm 6


def guided_trial(rng: Random, engine: bool = False) -> Trial:
    """The clipped mean gradient of Algorithm 6, T releases of it, in any ℓ_p."""
    K, p = Float64() if engine else rng.choice(SYSTEMS), rng.choice((1, Fraction(11, 10), Fraction(3, 2), 2))
    d, n, T, far = rng.choice((1, 2, 3, 10)), rng.choice((1, 2, 7, 64)), rng.choice((1, 9)), rng.choice(FAR)
    loss = rng.choice((TanhRegression(Fraction(1), p), RobustPhaseRetrieval(1, 2, p)))
    mu = Fraction(1, 2)
    sigma = noise_scale(K, Fraction(p), d, loss.L0, n, T, mu)
    name, worst = f"{'fast' if engine else K} {loss} p={p} d={d} n={n} T={T} at {far}", EXACT(0)
    for _ in range(4):
        w = K.vector([far + rng.random() for _ in range(d)])
        x = tuple(rng.choice((-1, 1)) * float(d) ** -float(1 - 1 / Fraction(p)) * (1 - 2**-40) for _ in range(d))
        rest = [Example(tuple(v * rng.random() for v in x), rng.choice((0, 1))) for _ in range(n - 1)]
        pair = (Example(x, rng.choice((0, 1))), Example(tuple(-v for v in x), rng.choice((-1, 1))))
        admitted = [[loss.admit(z, d) for z in (one, *rest)] for one in pair]
        if engine:
            means = [fast_weakly_convex.ClippedMean(loss, records, float(loss.L0)) for records in admitted]
            ends = [K.vector(mean(floats(w)[None])[0].tolist()) for mean in means]
        else:
            ends = [BatchGradient(K, loss, records, K(loss.L0), p)(w) for records in admitted]
        worst = EXACT.max(worst, distance(*ends))
    return Trial(6, name, float(worst * EXACT.sqrt(EXACT(T)) / EXACT(_exact(sigma)) / EXACT(mu)))


# ----------------------------------------------------------------------------------------------- the search

ATTACKS: dict[str, Callable[[Random], Trial]] = {
    "2": phased_trial,
    "2, given parameters": given_trial,
    "2, fast engine": engine_trial,
    "3": frank_wolfe_trial,
    "3, fast engine": lambda rng: frank_wolfe_trial(rng, engine=True),
    "4": poly_trial,
    "4, fast engine": lambda rng: poly_trial(rng, engine=True),
    "5": noisy_trial,
    "5, fast engine": lambda rng: noisy_trial(rng, engine=True),
    "6": guided_trial,
    "6, fast engine": lambda rng: guided_trial(rng, engine=True),
}
CONTROLS: dict[str, Callable[[Random], Trial]] = {
    "2": lambda rng: phased_trial(rng, reserve=False),
    "3": lambda rng: frank_wolfe_trial(rng, reserve=False),
    "4": lambda rng: poly_trial(rng, reserve=False),
    "5": lambda rng: noisy_trial(rng, reserve=False),
}
"""The same with noise that knows nothing of rounding: here the attack succeeds."""


def attack(one: Callable[[Random], Trial], seed: int, trials: int) -> Iterator[Trial]:
    """`trials` of them; each has its own seed, so that one can be looked at again."""
    for i in range(trials):
        yield one(Random(f"{seed}|{i}"))


def delta_spent(trial: Trial, epsilon: Any, delta: Any) -> float:
    """The exact δ(ε) of a Gaussian release that spends this share of μ*."""
    return float(gaussian_delta(EXACT, epsilon, EXACT(trial.spent) * mu_of(epsilon, delta)))
