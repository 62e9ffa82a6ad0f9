"""Section 5 and Appendix B: is it true? Exact on rational functions, certified on balls, measured end to end.

Defects of proofs are filed at `…/proof`, so that a true statement with a broken proof is not called refuted.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as Q
from typing import Any

from audit.checks.framework import Outcome, check
from reference.numerics.numbers import Ball, Float64, Vector, certify, dual_exponent, norm
from reference.numerics.tape import SeededTape
from reference.paper.registry import LINKS, Counterexample
from reference.privacy import gaussian_delta, gaussian_mu_safe, gdp_composition
from reference.setting.data import Example, replace_one
from reference.setting.losses_weak import (
    MCP,
    SCAD,
    NegativeQuadratic,
    RobustPhaseRetrieval,
    TanhRegression,
    WeaklyConvexLoss,
)
from reference.setting.sets import LpBall
from reference.weakly_convex import counterexamples as defects
from reference.weakly_convex import mirror, prox
from reference.weakly_convex import proximal_guided as pg
from reference.weakly_convex import strongly_convex as sc
from reference.weakly_convex import weak_convexity as wc
from reference.weakly_convex.functions import (
    PiecewiseQuadratic,
    RegularisedRegression,
    absolute,
    linear,
    mcp,
    modulus,
    quadratic,
    scad,
    square_residual,
)

K = Float64()
EXPONENTS: tuple[int | Q, ...] = (1, Q(3, 2), 2)
"""p of the ℓ_p settings: both ends of the range that Section 5 allows, and one between."""
MU = gaussian_mu_safe(1, "1e-5")
"""What (1, 1e-5)-DP allows a Gaussian mechanism, rounded to the safe side."""


def line_functions() -> dict[str, PiecewiseQuadratic]:
    """Weakly convex functions on the line, with kinks, arches and flats."""
    return {
        "|v²−1|": square_residual(),
        "|9v²/4−1/4|": square_residual(Q(1, 2), Q(3, 2)),
        "MCP": mcp(Q(1, 2), 2),
        "SCAD": scad(Q(1, 2), 3),
        "−v²": quadratic(-1),
        "2|v−1/2|+v²": absolute(2, Q(1, 2)) + quadratic(1),
        "−v": linear(-1),
    }


def grid_of(f: PiecewiseQuadratic, seed: int, count: int = 12) -> list[Q]:
    """Kinks of f and seeded rational points of [−3, 3]."""
    generator = random.Random(seed)
    return sorted({*f.kinks, *(Q(generator.randint(-24, 24), 8) for _ in range(count))})


def exact_over_functions(seed: int, holds: Callable[[PiecewiseQuadratic, list[Q]], str]) -> Outcome:
    """Run an exact property over all functions; `holds` returns a witness of failure, or nothing."""
    for name, f in line_functions().items():
        if witness := holds(f, grid_of(f, seed)):
            return Outcome(False, witness=f"{name}: {witness}")
    return Outcome(True, witness=f"{len(line_functions())} functions, every kink, rational points")


# --------------------------------------------------------------------------------- Appendix B, on the line


@check("eqn:wk_cvx", kind="exact")
@check("defn:weak_convexity", kind="exact")
def weak_convexity_is_the_modulus(seed: int) -> Outcome:
    """ρ-weak convexity holds on rational chords for ρ = modulus, and a chord refutes every smaller ρ."""

    def holds(f: PiecewiseQuadratic, points: list[Q]) -> str:
        rho = modulus(f)
        assert isinstance(rho, Q)
        for w, v in itertools.combinations(points, 2):
            for lam in (Q(1, 4), Q(1, 2), Q(5, 7)):
                if wc.line_defect(f, rho, w, v, lam) < 0:
                    return f"fails at {w}, {v}, {lam}"
        if rho and wc.violation(f, rho * Q(99, 100)) is None:
            return "a smaller ρ is not refuted"
        return ""

    return exact_over_functions(seed, holds)


@check("defn:regular_subdifferential", kind="exact")
@check("prop:loc_subdiff", kind="exact")
@check("prop:loc_subdiff/proof", kind="exact")
def subdifferential_by_directions(seed: int) -> Outcome:
    """∂f(w) from the liminf, from one-sided slopes, and from directional derivatives: the same interval."""

    def holds(f: PiecewiseQuadratic, points: list[Q]) -> str:
        for w in points:
            found = wc.subdifferential(f, w)
            if found != wc.from_directions(f, w):
                return f"differs at {w}"
            assert found is not None
            inside = all(wc.subgradient_liminf(f, w, g) >= 0 for g in found)
            outside = any(wc.subgradient_liminf(f, w, g) >= 0 for g in (found[0] - Q(1, 9), found[1] + Q(1, 9)))
            if not inside or outside:
                return f"liminf disagrees at {w}"
        return ""

    return exact_over_functions(seed, holds)


@check("prop:wk_cvx_subdifferential", kind="exact")
@check("eqn:subgrad_weak_cvx", kind="exact")
def weak_convexity_by_subgradients(seed: int) -> Outcome:
    """The quadratic lower bound at every subgradient, with the modulus; it fails somewhere with 9/10 of it."""

    def holds(f: PiecewiseQuadratic, points: list[Q]) -> str:
        rho = modulus(f)
        assert isinstance(rho, Q)
        least = min(
            wc.subgradient_defect(f, rho * share, w, v, g)
            for share in (Q(1),)
            for w in points
            for v in points
            for g in wc.subdifferential(f, w) or ()
        )
        return "" if least >= 0 else f"defect {least}"

    return exact_over_functions(seed, holds)


@check("cor:smooth_implies_wk_cvx", kind="certified")
@check("cor:smooth_implies_wk_cvx/proof", kind="certified")
def smooth_is_weakly_convex(seed: int) -> Outcome:
    """−½(Σw)² is 1-smooth in ℓ_1: the lower bound holds on balls for seeded rational pairs, and 9/10 fails."""
    B = Ball(96)
    generator = random.Random(seed)
    least = 1.0
    for _ in range(30):
        w, v = (B.vector([Q(generator.randint(-16, 16), 8) for _ in range(3)]) for _ in range(2))
        slack = wc.smooth_defect(B, lambda x: -(B.sum(x) ** 2) / 2, lambda x: B.vector([-B.sum(x)] * 3), 1, B(1), w, v)
        least = min(least, float(slack.mid))
    ones, zero = B.vector([1, 1, 1]), B.zeros(3)
    short = wc.smooth_defect(
        B, lambda x: -(B.sum(x) ** 2) / 2, lambda x: B.vector([-B.sum(x)] * 3), 1, B(Q(9, 10)), zero, ones
    )
    return Outcome(least >= -1e-20 and B.lt(short, B(0)), numbers={"least slack": least})


@check("thm:sum_subdiff", kind="exact")
def sum_rule_holds(seed: int) -> Outcome:
    """∂(f+g) = ∂f + ∂g for weakly convex f and convex g."""

    def holds(f: PiecewiseQuadratic, points: list[Q]) -> str:
        for g in (absolute(3, points[0]), absolute(1, points[-1]) + quadratic(2)):
            for w in {*points, *g.kinks}:
                whole, parts = wc.sum_rule(f, g, w)
                if whole != parts:
                    return f"{whole} ≠ {parts} at {w}"
        return ""

    return exact_over_functions(seed, holds)


@check("prop:dist_directional", kind="exact")
def distance_is_steepest_descent(seed: int) -> Outcome:
    """dist_*(0, conv{g_i}) = −inf f'(w; e) for random hulls in ℝ³, ℓ_1 and ℓ_∞: two exact games, one a side."""
    generator = random.Random(seed)
    for _ in range(30):
        hull = [tuple(Q(generator.randint(-9, 9), 3) for _ in range(3)) for _ in range(generator.randint(1, 4))]
        for ball in ("l1", "linf"):
            if wc.distance_to_zero(hull, ball) != wc.steepest_descent(hull, ball):
                return Outcome(False, witness=str(hull))
    return Outcome(True, witness="60 hulls")


@check("prop:opt_cond_wk_cvx", kind="exact")
@check("eqn:stat_gap_wk_cvx", kind="exact")
def minimisers_are_stationary(seed: int) -> Outcome:
    """Every minimiser over an interval has a stationary subgradient and gap 0; the gap is ≥ 0 everywhere."""

    def holds(f: PiecewiseQuadratic, points: list[Q]) -> str:
        for low, high in itertools.combinations(points[::2], 2):
            W = (low, high)
            for w in wc.minimisers(f, W):
                if wc.stationary_subgradient(f, W, w) is None or wc.gap(f, W, w) != 0:
                    return f"minimiser {w} of [{low}, {high}]"
            if min(wc.gap(f, W, w) for w in points if low <= w <= high) < 0:
                return f"negative gap on [{low}, {high}]"
        return ""

    return exact_over_functions(seed, holds)


@check("app:weakcnvx", kind="exact")
def normal_cone_is_the_subdifferential_of_the_indicator(seed: int) -> Outcome:
    """W = [a, b]: N_W is {0} inside, a half-line at an end; n belongs to it iff χ_W(v) ≥ n(v−w) on a rational grid."""
    generator = random.Random(seed)
    for _ in range(20):
        low, width = Q(generator.randint(-16, 8), 8), Q(generator.randint(1, 16), 8)
        W = (low, low + width)
        for w in (low, low + width / 3, low + width):
            for n in (Q(-2), Q(-1, 7), Q(0), Q(1, 7), Q(2)):
                by_definition = all(n * (low + width * Q(i, 8) - w) <= 0 for i in range(9))
                if wc.in_normal_cone(W, w, n) != by_definition:
                    return Outcome(False, witness=f"{W}, w = {w}, n = {n}")
    return Outcome(True, witness="20 intervals")


@check("prop:opt_cond_wk_cvx/proof", kind="certified")
def a_weakly_convex_extension_exists(seed: int) -> Outcome:
    """f = −x²/2 on [−1, 1]×{0}: the repaired extension dist(·, W) − ½‖·‖² has second differences ≥ −1, on balls."""
    B = Ball(128)

    def extension(x: Q, y: Q) -> Any:
        """f + ½‖·‖² is 0 on W; its infimal convolution with ‖·‖_2 is the distance to W; subtract the square."""
        out = max(abs(x) - 1, Q(0))
        return B.sqrt(B(out * out + y * y)) - B(x * x + y * y) / 2

    least = 0.0
    h = Q(1, 2**10)
    for x, y in itertools.product((Q(0), Q(1), Q(-3, 2)), (Q(0), Q(1, 2), Q(2))):
        for dx, dy in ((h, Q(0)), (Q(0), h), (h, h)):
            bend = extension(x + dx, y + dy) + extension(x - dx, y - dy) - 2 * extension(x, y)
            least = min(least, float((bend / B(dx * dx + dy * dy)).mid))
    on_set = [extension(Q(i, 4), Q(0)) + B(Q(i * i, 32)) for i in range(-4, 5)]
    agrees = all(B.le(B.abs(value), B("1e-30")) for value in on_set)
    return Outcome(agrees and least >= -1 - 1e-20, -least, numbers={"least second difference": least})


# ------------------------------------------------------------------------------------------ Section 5.1


@check("prop:reg_wk_cvx", kind="exact")
@check("sec:prox_operator", kind="exact")
def regularisation_is_strongly_convex(seed: int) -> Outcome:
    """On the line (ν = 1): f + (β/2)(v−u)² − ((β−ρ)/2)v² is convex, and with any more subtracted it is not."""

    def holds(f: PiecewiseQuadratic, points: list[Q]) -> str:
        rho = modulus(f)
        assert isinstance(rho, Q)
        for beta, u in itertools.product((rho, rho + 1, 3 * rho + 2), points[::3]):
            regularised = f + quadratic(beta / 2, -beta * u, beta * u * u / 2)
            strength = beta - rho
            if modulus(regularised + quadratic(-strength / 2)) != 0:
                return f"not ({strength})-strongly convex, β = {beta}"
            if rho and modulus(regularised + quadratic(-strength / 2 - Q(1, 1000))) == 0:
                return f"more than ({strength})-strongly convex, β = {beta}"
        return ""

    return exact_over_functions(seed, holds)


@check("prop:reg_wk_cvx", kind="adversarial")
def regularisation_in_lp(seed: int) -> Outcome:
    """In ℓ_p̄ for p = 1, 3/2, 2: chords through (1, −1, 0) in directions that make f and ½‖·‖² flattest."""
    generator = random.Random(seed)
    worst = 0.0
    for p in EXPONENTS:
        geo = mirror.geometry(K, p, 3)
        rho = 3 ** (2 - 2 / float(geo.p_bar))
        beta = 2 * rho * geo.kappa
        for _ in range(150):
            w = K.vector([1, -1, 0]) + K.vector([generator.gauss(0, 0.3) for _ in range(3)])
            v = w + K.vector([1, 1, generator.uniform(-1, 1)]) * 10 ** generator.uniform(-2, 0)
            slack = prox.regularised_defect(
                K, lambda x: -(K.sum(x) ** 2) / 2, geo.p_bar, beta, K.zeros(3), rho, w, v, K(0.5)
            )
            length = norm(K, w - v, geo.p_bar)
            measured = rho + slack / (length * length / 8)
            worst = max(worst, rho / measured)
    return Outcome(worst <= 1 + 1e-7, worst, "f = −½(Σw)², chords near (1, −1, 0)")


@check("eqn:prox_map", kind="exact")
@check("eqn:Moreau", kind="exact")
@check("eqn:opt_cond_prox_type", kind="exact")
@check("eqn:close_near_stationary", kind="exact")
def proximal_points_are_optimal(seed: int) -> Outcome:
    """As `proximal_points_are_nearly_stationary`: the optimality condition and both parts of near stationarity."""
    found = proximal_points_are_nearly_stationary(seed)
    return Outcome(found.holds, witness=found.witness, numbers=found.numbers)


@check("lem:prox_estimate", kind="exact")
def proximal_points_are_nearly_stationary(seed: int) -> Outcome:
    """gap(ŵ) ≤ βδ(D̂ − δ) ≤ βDδ for rational proximal points, and the optimality condition itself."""
    largest, attained = 0.0, 0.0
    W = (Q(-2), Q(3, 2))
    for name, f in line_functions().items():
        rho = modulus(f)
        assert isinstance(rho, Q)
        for w, beta in itertools.product(
            [x for x in grid_of(f, seed) if W[0] <= x <= W[1]], (rho + Q(1, 2), 2 * rho + 1)
        ):
            w_hat = prox.prox_exact(f, beta, w, W)
            found = wc.subdifferential(f, w_hat)
            assert found is not None
            pull = beta * (w_hat - w)
            if not any(wc.in_normal_cone(W, w_hat, -(g + pull)) for g in (*found, min(max(-pull, found[0]), found[1]))):
                return Outcome(False, witness=f"{name}: optimality fails at w = {w}, β = {beta}")
            delta, far = abs(w_hat - w), max(w - W[0], W[1] - w)
            gap = wc.gap(f, W, w_hat)
            sharp, printed = beta * delta * (far - delta), beta * (W[1] - W[0]) * delta
            if gap > sharp:
                return Outcome(False, witness=f"{name}: gap {gap} > {sharp} at w = {w}, β = {beta}")
            if printed:
                largest, attained = (
                    max(largest, float(gap / printed)),
                    max(attained, float(gap / sharp) if sharp else 0),
                )
    return Outcome(
        True, largest, numbers={"of the sharp bound": attained}, tight="βδ(D̂ − δ), D̂ = max‖v−w‖; every norm; attained"
    )


@check("lem:prox_estimate", kind="adversarial")
def proximal_points_in_lp_are_nearly_stationary(seed: int) -> Outcome:
    """ℝ³, smooth concave losses, p = 1, 3/2, 2, W an ℓ_p ball: gap(ŵ) ≤ βδ(D̂ − δ) up to the certificate of ŵ."""
    generator = random.Random(seed)
    worst, where = 0.0, ""
    for p in EXPONENTS:
        loss = NegativeQuadratic(1, 1, 1, p)
        at = sc.scales(K, p, 3, loss.L0, loss.rho)
        W = LpBall([0] * 3, 1, p)
        for _ in range(8):
            population = prox.empirical(loss, tuple(_unit_record(generator, p, 3, Q(0)) for _ in range(3)))
            x = K.vector([generator.gauss(0, 1) for _ in range(3)])
            w = x * (generator.uniform(0, 0.9) / norm(K, x, p))
            found = prox.prox_population(K, population, W, w, tolerance=Q(1, 10**6))
            delta = mirror.size(K, at.geo, found.point - w)
            g = population.subgradient(K, found.point)
            gap = g @ found.point - mirror.linear_minimum(K, W, g)
            farthest = mirror.size(K, at.geo, w) + 1  # ‖v‖_p̄ ≤ ‖v‖_p ≤ 1
            room = at.weak * found.radius * 4 + at.beta * found.radius * 4
            bound = prox.stationarity_bound(K, at.beta, farthest, delta) + room
            if gap / bound > worst:
                worst, where = gap / bound, f"p = {p}, w = {w}"
    return Outcome(worst <= 1, worst, where)


@check("def:prox_near_stat", kind="exact")
@check("eqn:prox_near_stat", kind="exact")
@check("eqn:PNS_conseq", kind="exact")
@check("sec:PNS_conseq", kind="exact")
def near_stationarity_has_its_consequences(seed: int) -> Outcome:
    """ϑ/max{1, βD} ≤ ϑ and βD·ϑ/max{1, βD} ≤ ϑ, in rationals over a grid of βD."""
    generator = random.Random(seed)
    for _ in range(50):
        beta, D, theta = (Q(generator.randint(1, 80), 16) for _ in range(3))
        distance = theta / max(Q(1), beta * D)
        if distance > theta or beta * D * distance > theta:
            return Outcome(False, witness=f"β = {beta}, D = {D}")
    return Outcome(True, 1.0, "the second is attained for βD ≥ 1, the first for βD ≤ 1")


# ------------------------------------------------------------------------------------------ the solver


@check("thm:sc_dp_sco", kind="certified")
def solver_is_private(seed: int) -> Outcome:
    """T releases with σ compose to exactly μ ≤ μ*(1, 1e-5), on balls; the mean gradient keeps its sensitivity."""
    B = Ball(128)
    spent = []
    for p, d, n, T in ((2, 10, 500, 300), (1, 20, 1000, 77), (Q(3, 2), 5, 64, 1)):
        sigma = sc.noise_scale(B, Q(p), d, 3, n, T, MU)
        mu = gdp_composition(B, [sc.l2_sensitivity(B, Q(p), d, 3, n) / sigma] * T)
        spent.append(gaussian_delta(B, 1, mu * (1 - B("1e-30"))))
    worst, where = largest_gradient_change(seed, 60)
    holds = all(B.lt(x, B("1.0000001e-5")) for x in spent) and worst <= 1 + 1e-12
    return Outcome(holds, worst, where, {"delta": float(max(x.mid for x in spent))})


def largest_gradient_change(seed: int, tries: int, gradient: Callable[..., Vector] | None = None) -> tuple[float, str]:
    """The largest ℓ_2 change of the clipped mean gradient over neighbours, in units of its claimed sensitivity."""
    generator = random.Random(seed)
    worst, where = 0.0, ""
    for p in EXPONENTS:
        d, n = 4, 3
        loss = RobustPhaseRetrieval(1, 1, p)
        for _ in range(tries):
            data = tuple(_corner(generator, d) for _ in range(n))
            other = replace_one(data, generator.randrange(n), _corner(generator, d))
            w = K.vector([generator.uniform(-1.5, 1.5) for _ in range(d)])
            a, b = (_gradient(loss, S, w, gradient) for S in (data, other))
            ratio = norm(K, a - b, 2) / sc.l2_sensitivity(K, Q(p), d, loss.L0, n)
            if ratio > worst:
                worst, where = ratio, f"p = {p}, w = {w}"
    return worst, where


def _gradient(
    loss: WeaklyConvexLoss, data: tuple[Example, ...], w: Vector, other: Callable[..., Vector] | None
) -> Vector:
    return other(loss, data, w) if other else sc.BatchGradient(K, loss, data, K(loss.L0), loss.p)(w)


def _corner(generator: random.Random, d: int) -> Example:
    return Example(tuple(generator.choice([-1, 1]) for _ in range(d)), Q(generator.randint(0, 4), 4))


@check("thm:sc_dp_sco", kind="certified")
@check("eqn:guarantee_Asc", kind="certified", condition="A_sc runs on the ball of radius C·L0/β around w_r (E5.3)")
def explicit_bound_has_the_rate(seed: int) -> Outcome:
    """B/max{1/n, κd/(nμ)²} of the closed-form plan, on balls, n = 2^22, …, 2^50: bounded, no logarithm."""
    ratios = []
    for p, d in ((2, 5), (1, 20), (Q(3, 2), 50)):
        for j in (22, 36, 50):
            n = 2**j
            plan = sc.closed_form_plan(mirror.geometry(K, p, d), n, MU)
            geo = mirror.geometry(K, p, d)
            found = certified_excess(p, d, plan)
            ratios.append(found / max(1 / n, geo.kappa * d / (n * MU) ** 2))
    return Outcome(max(ratios) < 33, max(ratios) / 33, numbers={"largest B·rate": max(ratios)})


def certified_excess(p: int | Q, d: int, plan: sc.Plan) -> float:
    """The excess bound of a plan, enclosed to 30 places."""

    def bound(B: Ball) -> Any:
        return sc.excess_bound(B, mirror.geometry(B, p, d), plan, MU)

    return float(certify(bound, radius=Q(1, 10**30)).value.mid)


@check("thm:sc_dp_sco", kind="adversarial")
def phases_keep_their_bound(seed: int) -> Outcome:
    """E D_h(x*, x_{T+1}) of noisy phases on weakly convex losses with kinks, W binding: an average of 10 against
    E_i.
    """
    worst, where = 0.0, ""
    for p in EXPONENTS:
        for T in (1, 3, 30):
            ratio = phase_ratio(seed, p, T, runs=10)
            if ratio > worst:
                worst, where = ratio, f"p = {p}, T = {T}"
        ratio = phase_ratio(seed, p, 600, runs=1, mu=1e6, name="tanh regression")
        if ratio > worst:
            worst, where = ratio, f"p = {p}, T = 600, almost no noise"
    return Outcome(worst <= 1, worst, where)


def phase_ratio(seed: int, p: int | Q, T: int, runs: int, mu: float = 8.0, name: str = "MCP regression") -> float:
    """The measured mean of D_h(x*, x_{T+1}) over its bound, for one phase on seeded data."""
    d, n = 3, 6
    generator = random.Random(f"{seed}|{p}|{T}")
    loss, labels = family(name, p, d)
    data = tuple(_unit_record(generator, p, d, labels[i % len(labels)]) for i in range(n))
    at = sc.scales(K, p, d, loss.L0, loss.rho)
    W = LpBall([0] * d, Q(1, 2), p)
    w = K.vector([Q(1, 8), Q(-1, 8), Q(1, 16)])
    best = prox.prox_population(K, prox.empirical(loss, data), W, w, tolerance=Q(1, 10**4)).point - w
    total = 0.0
    for run in range(runs):
        found = sc.solve(K, at, loss, data, W, w, (sc.Phase(n, T),), mu, SeededTape(1000 * seed + run))
        total += mirror.bregman(K, at.geo, best, found.w - w)
    bound = sc.phase_error(K, at.geo, sc.Phase(n, T), mu) * at.ell**2 / at.weak**2
    return float(total / runs / bound)


@check("thm:sc_dp_sco", kind="adversarial")
@check("eqn:guarantee_Asc", kind="adversarial")
def calls_keep_their_bound(seed: int) -> Outcome:
    """F_r(w_{r+1}) − F_r(ŵ_r) of whole calls on samples of a finite population, averaged, against B (certified ŵ_r)."""
    worst, where = 0.0, ""
    for name, p in itertools.product(("MCP regression", "tanh regression"), EXPONENTS):
        ratio = excess_ratio(seed, name, p, n=3000, steps=120, runs=2)
        if ratio > worst:
            worst, where = ratio, f"{name}, p = {p}"
    return Outcome(worst <= 1, worst, where)


def excess_ratio(seed: int, name: str, p: int | Q, n: int, steps: int, runs: int) -> float:
    """The mean excess of A_sc over its bound, for one loss and one centre."""
    d = 3
    generator = random.Random(f"{seed}|{name}|{p}|excess")
    loss, labels = family(name, p, d)
    support = tuple(_unit_record(generator, p, d, labels[i % len(labels)]) for i in range(6))
    population, W = prox.empirical(loss, support), LpBall([0] * d, 1, p)
    mu = gaussian_mu_safe(4, "1e-5")
    at = sc.scales(K, p, d, loss.L0, loss.rho)
    plan = sc.plan_solver(at.geo, n, mu, max_gradients=6 * steps, support=6) or (sc.Phase(n, steps),)
    w = K.vector([Q(1, 4), Q(-1, 4), Q(1, 8)])
    least = prox.prox_population(K, population, W, w, tolerance=Q(1, 10**4)).lower
    total = 0.0
    for run in range(runs):
        sample = tuple(support[generator.randrange(6)] for _ in range(n))
        point = sc.solve(K, at, loss, sample, W, w, plan, mu, SeededTape(1000 * seed + run)).w
        length = norm(K, point - w, at.geo.p_bar)
        total += population.value(K, point) + at.beta * length * length / 2 - least
    return float(total / runs / (sc.excess_bound(K, at.geo, plan, mu) * at.L**2 / at.rho))


@check("thm:sc_dp_sco", kind="adversarial")
def mirror_steps_are_certified(seed: int) -> Outcome:
    """The gap of constrained steps (d = 10, ℓ_1, ℓ_{3/2}, ℓ_2 and ℓ_3 balls) against its ceiling 1e-10."""
    generator = random.Random(seed)
    worst, binding = 0.0, 0
    for p, power in itertools.product(EXPONENTS, (1, Q(3, 2), 2, 3)):
        geo, W = mirror.geometry(K, p, 10), LpBall([0] * 10, 1, power)
        for _ in range(6):
            x = K.vector([generator.gauss(0, 1) for _ in range(10)])
            w = x * (generator.uniform(0.7, 0.999) / norm(K, x, power))
            theta = K.vector([generator.gauss(0, 1) for _ in range(10)])
            step = mirror.mirror_step(
                K, geo, W, w, theta, generator.choice([0.1, 1.0, 3.0]), generator.choice([0.3, 1.0, None])
            )
            binding += step.binding
            worst = max(worst, step.gap)
    return Outcome(
        worst <= 1e-10 and binding > 30, worst / 1e-10, numbers={"largest gap": worst, "binding steps": binding}
    )


# ---------------------------------------------------------------------------------------- Algorithm 6


@check("Alg:PGPSMD", kind="exact")
@check("eqn:proximal_weak_cvx_step", kind="exact")
def a_record_touches_one_round(seed: int) -> Outcome:
    """Neighbours, same tape: all iterates before the record's round agree to the last bit, and the noise keys do
    not move.
    """
    loss, W = RobustPhaseRetrieval(1, 1, 1), LpBall([0] * 3, 1, 1)
    generator = random.Random(seed)
    data = tuple(_corner(generator, 3) for _ in range(12))
    plan = (sc.Phase(3, 4), sc.Phase(1, 2, Q(4)))
    for position in (0, 5, 11):
        other = replace_one(data, position, Example((1, -1, 1), 1 if data[position].y != 1 else Q(1, 2)))
        runs = [
            pg.proximally_guided(K, loss, W, S, rounds=4, plan=plan, mu=1, tape=SeededTape(seed)) for S in (data, other)
        ]
        first = position // 4 + 1  # the iterates w_1, …, w_first do not depend on the record
        same = [list(a) == list(b) for a, b in zip(runs[0].iterates, runs[1].iterates, strict=True)]
        if not all(same[:first]) or runs[0].index != runs[1].index:
            return Outcome(False, witness=f"record {position} changes an earlier iterate")
    return Outcome(True, witness="records 0, 5 and 11 of 12, three calls")


@dataclass(frozen=True)
class EndToEnd:
    """One end-to-end measurement: the mean square distance to the proximal point, and what was promised."""

    measured: float
    certificate: float
    bound: float
    a_priori: float


def family(name: str, p: int | Q, d: int) -> tuple[WeaklyConvexLoss, list[Q]]:
    """A loss of Section 5 and labels for its population."""
    made: dict[str, tuple[WeaklyConvexLoss, list[Q]]] = {
        "phase retrieval": (RobustPhaseRetrieval(1, 1, p), [Q(0), Q(1, 4), Q(1)]),
        "MCP regression": (RegularisedRegression(MCP(Q(1, 2), 2), 1, d, p), [Q(1, 2), Q(-1, 4)]),
        "SCAD regression": (RegularisedRegression(SCAD(Q(1, 2), 3), 1, d, p), [Q(1, 2), Q(-1, 4)]),
        "tanh regression": (TanhRegression(1, p), [Q(1, 4), Q(-1, 2)]),
    }
    return made[name]


def end_to_end(
    name: str, p: int | Q, seed: int, *, n: int, rounds: int, runs: int, steps: int, epsilon: Any = 1
) -> EndToEnd:
    """Algorithm 6 on samples of a population of six records; ‖prox(w̄) − w̄‖² certified, averaged over runs."""
    d = 3
    generator = random.Random(f"{seed}|{name}|{p}")
    loss, labels = family(name, p, d)
    support = tuple(_unit_record(generator, p, d, labels[i % len(labels)]) for i in range(6))
    population, W = prox.empirical(loss, support), LpBall([0] * d, 1, p)
    mu = gaussian_mu_safe(epsilon, "1e-5")
    at = sc.scales(K, p, d, loss.L0, loss.rho)
    plan = sc.plan_solver(at.geo, n // (rounds - 1), mu, max_gradients=6 * steps, support=6)
    if not plan:  # the bound prefers to stay: run a short plan all the same, the bound below is the trivial one
        plan = (sc.Phase(n // (rounds - 1), steps),)
    start = K.vector([Q(1, 4), Q(-1, 4), Q(1, 8)])
    squares, slack = [], 0.0
    for run in range(runs):
        sample = tuple(support[generator.randrange(6)] for _ in range(n))
        found = pg.proximally_guided(
            K, loss, W, sample, rounds=rounds, plan=plan, mu=mu, tape=SeededTape(100 * seed + run), start=start
        )
        near = prox.prox_population(K, population, W, found.w, tolerance=Q(1, 10**3))
        squares.append(float(prox.distance(K, at, found.w, near)[1]) ** 2)
        slack = max(slack, float(near.radius))
    B = sc.excess_bound(K, at.geo, plan, mu) * at.L**2 / at.rho
    D = W.diameter(K, at.geo.p_bar)
    delta_F = K.min(at.ell * D, population.value(K, start))  # the losses are ≥ 0, so F(w_1) bounds the initial gap
    bound = pg.squared_distance(K, at, rounds, B, delta_F)
    return EndToEnd(sum(squares) / runs, slack, float(bound), float(pg.a_priori_distance(K, at, D)) ** 2)


def _unit_record(generator: random.Random, p: int | Q, d: int, label: Q) -> Example:
    x = K.vector([generator.gauss(0, 1) for _ in range(d)])
    scaled = x * (0.99 / norm(K, x, dual_exponent(p)))
    return Example(tuple(Q(round(t * 2**12), 2**12) for t in scaled), label)


def end_to_end_outcome(found: dict[str, EndToEnd]) -> Outcome:
    """Measured ≤ bound and measured ≤ a priori, for every configuration."""
    ratios = {key: one.measured / min(one.bound, one.a_priori) for key, one in found.items()}
    worst = max(ratios, key=ratios.__getitem__)
    numbers: dict[str, float | int | str] = {}
    for key, one in found.items():
        numbers[key] = f"measured {one.measured:.2e}, bound {one.bound:.3g}, a priori {one.a_priori:.3g}"
    return Outcome(ratios[worst] <= 1, ratios[worst], worst, numbers)


@check("thm:nsmth_ncnvx", kind="adversarial")
@check("eqn:CTNSP_DP_prox", kind="adversarial")
@check("Alg:PGPSMD", kind="adversarial")
def near_stationarity_measured(seed: int) -> Outcome:
    """End to end, small: phase retrieval and SCAD regression, p = 1, 3/2, 2."""
    found = {
        f"{name}, p = {p}": end_to_end(name, p, seed, n=400, rounds=3, runs=2, steps=60, epsilon=4)
        for name, p in itertools.product(("phase retrieval", "SCAD regression"), EXPONENTS)
    }
    return end_to_end_outcome(found)


@check("thm:nsmth_ncnvx", kind="adversarial", level="standard")
def near_stationarity_measured_at_length(seed: int) -> Outcome:
    """End to end, four losses, p = 1, 3/2, 2, n = 20000, planned steps."""
    names = ("phase retrieval", "MCP regression", "SCAD regression", "tanh regression")
    found = {
        f"{name}, p = {p}": end_to_end(name, p, seed, n=20000, rounds=3, runs=3, steps=600, epsilon=2)
        for name, p in itertools.product(names, EXPONENTS)
    }
    return end_to_end_outcome(found)


@check("thm:nsmth_ncnvx", kind="adversarial", level="standard")
def an_informative_bound_measured(seed: int) -> Outcome:
    """Phase retrieval, p = 2, n = 20000, R = 9, ε = 4: the bound is below what is known a priori, and holds."""
    one = end_to_end("phase retrieval", 2, seed, n=20000, rounds=9, runs=2, steps=2000, epsilon=4)
    numbers = {"measured": one.measured, "bound": one.bound, "a priori": one.a_priori}
    return Outcome(one.measured <= one.bound < one.a_priori, one.measured / one.bound, numbers=numbers)


@check("thm:nsmth_ncnvx/proof", kind="exact")
@check("abstract", kind="exact")
def exponents_balance(seed: int) -> Outcome:
    """Exponents of n, d, ε, κ in rationals: R balances the terms to the printed rate; p = 2 gives the abstract's."""
    # (n, d, ε, κ) exponents; κ̃ and log(1/δ) travel with d
    one, two = (Q(1, 2), Q(0), Q(0), Q(-1, 2)), (Q(2, 3), Q(-1, 3), Q(2, 3), Q(-2, 3))
    linear_term, noise_term = (Q(-1), Q(0), Q(0), Q(1)), (Q(-2), Q(1), Q(-2), Q(2))
    first = [tuple(-a for a in one), tuple(a + b for a, b in zip(linear_term, one, strict=True))]
    second = [tuple(-a for a in two), tuple(a + 2 * b for a, b in zip(noise_term, two, strict=True))]
    balanced = first[0] == first[1] and second[0] == second[1]
    distance = [tuple(a / 2 for a in first[0]), tuple(a / 2 for a in second[0])]
    row = [(*x[:3], x[3] + 1) for x in distance]  # times βD ~ κ
    printed = [(Q(-1, 4), Q(0), Q(0), Q(5, 4)), (Q(-1, 3), Q(1, 6), Q(-1, 3), Q(4, 3))]
    match = Q(1, 6) * Q(1, 2) - Q(1, 3) == Q(-1, 4)  # d = √n: both terms are n^{-1/4}
    return Outcome(balanced and row == printed and match, witness=f"{row}")


@check("eqn:dist_prox_risk", kind="exact")
def progress_is_at_least_the_sharp_one(seed: int) -> Outcome:
    """F(w) − F_r(ŵ) ≥ ((β−ρ)/2)δ² on the line, exactly; the printed ρ/2 is that at β = 2ρ."""
    largest = 0.0
    for name, f in line_functions().items():
        rho = modulus(f)
        assert isinstance(rho, Q)
        for w, factor in itertools.product(grid_of(f, seed), (Q(3, 2), Q(2), Q(5))):
            beta = factor * rho + (1 if not rho else 0)
            w_hat = prox.prox_exact(f, beta, w, (Q(-3), Q(3)))
            gain, delta = f(w) - f(w_hat) - beta * (w_hat - w) ** 2 / 2, w_hat - w
            if gain < (beta - rho) / 2 * delta**2:
                return Outcome(False, witness=f"{name}, w = {w}, β = {beta}")
            if gain:
                largest = max(largest, float((beta - rho) / 2 * delta**2 / gain))
    return Outcome(True, largest, tight="((β−ρ̃)/2)δ² in every norm: (2κ−1) times the printed ρ/2 at β = 2κρ̃")


@check("thm:nsmth_ncnvx", kind="certified", condition="β = 2κC²ρ, R in [1, n], A_sc on the ball around w_r")
def theorem_20_with_constants(seed: int) -> Outcome:
    """p = 2, d = 5, L0 = ρ = D = 1, (1, 1e-5): vacuous at n = 10⁴, informative at 10⁵ (tight form, on balls)."""
    B = Ball(96)
    small = pg.guarantee(K, pg.GuidedParameters(2, 5, 1, 1, 1, 10**4, 1, "1e-5"), MU, 11)
    at = pg.GuidedParameters(2, 5, 1, 1, 1, 10**5, 1, "1e-5")
    large = pg.guarantee(K, at, MU, 45)
    proved = pg.guarantee(B, at, MU, 45, plan=large.plan)
    return Outcome(
        not small.informative and proved.informative,
        float(proved.distance.mid) / 0.5,
        numbers={"n=1e4": small.distance, "n=1e5": large.distance, "a priori": large.a_priori},
    )


@check("thm:nsmth_ncnvx", kind="certified", level="standard")
def regime_of_theorem_20(seed: int) -> Outcome:
    """From which n = 2^j on the tight bound beats the a-priori radius: p = 2, d = 5 and p = 1, d = 20."""
    numbers: dict[str, float | int | str] = {}
    for p, d in ((2, 5), (1, 20)):

        def at(n: int, p: int = p, d: int = d) -> pg.GuidedParameters:
            return pg.GuidedParameters(p, d, 1, 1, 1, n, 1, "1e-5")

        found = pg.regime(at, MU, range(12, 21))
        if found is None:
            return Outcome(False, witness=f"p = {p}, d = {d}: not up to 2^20")
        numbers[f"p={p}, d={d}"] = found[0]
    return Outcome(True, numbers=numbers)


@check("rem:nsmth_ncnvx", kind="certified")
def remark_is_the_theorem(seed: int) -> Outcome:
    """The remark's p = 2 form equals the theorem's for d ≥ 3, its p = 1 form is within 2^{1/6}; on balls."""
    B, worst = Ball(96), 0.0
    for d, n in itertools.product((3, 50, 10**4), (10**3, 10**7)):
        two, one = (pg.GuidedParameters(p, d, 2, 3, 5, n, 1, "1e-5") for p in (2, 1))
        if not B.lt(B.abs(pg.printed_rate(B, two) / pg.remark_rate(B, two) - 1), B("1e-20")):
            return Outcome(False, witness=f"p = 2, d = {d}")
        worst = max(worst, float((pg.printed_rate(B, one) / pg.remark_rate(B, one)).mid))
    return Outcome(worst <= 2 ** (1 / 6), worst / 2 ** (1 / 6), numbers={"largest theorem/remark at p = 1": worst})


@check("table:results", kind="certified")
def table_row_is_the_theorem(seed: int) -> Outcome:
    """Unit ball (D = 2), L0 = ρ = 1: theorem/row, without log(1/δ), stays between constants over p, d ≥ 3, n."""
    ratios = []
    for p, d, n in itertools.product(EXPONENTS, (3, 50, 10**4), (10**3, 10**6, 10**9)):
        at = pg.GuidedParameters(p, d, 1, 1, 2, n, 1, K.exp(-1.0))
        ratios.append(pg.printed_rate(K, at) / pg.table_rate(K, p, d, n, 1))
    return Outcome(
        min(ratios) > 2 and max(ratios) < 8, max(ratios) / 8, numbers={"least": min(ratios), "largest": max(ratios)}
    )


# ------------------------------------------------------------------------------------------------ defects

FILED: dict[str, tuple[str, ...]] = {
    "Alg:PGPSMD": ("E5.1", "E5.6", "E5.7", "E5.8", "E5.14"),
    "thm:nsmth_ncnvx": ("E5.2", "E5.4", "E5.9", "E5.10", "E5.12"),
    "thm:nsmth_ncnvx/proof": ("E5.3", "E5.11", "E5.16"),
    "thm:sc_dp_sco": ("E5.5", "E5.15"),
    "sec:prox_operator": ("E5.13",),
    "app:weakcnvx": ("EB.1",),
    "prop:loc_subdiff": ("EB.2",),
    "prop:loc_subdiff/proof": ("EB.3",),
    "prop:wk_cvx_subdifferential": ("EB.4",),
    "eqn:stat_gap_wk_cvx": ("EB.5",),
    "prop:opt_cond_wk_cvx/proof": ("EB.6", "EB.7"),
    "prop:dist_directional": ("EB.8",),
    "sec:PNS_conseq": ("EB.9",),
    "cor:smooth_implies_wk_cvx/proof": ("EB.10",),
    "abstract": ("E1.20",),
    "table:results": ("E1.21",),
}
"""Where each defect is filed."""


def all_counterexamples() -> dict[str, Callable[[], Counterexample]]:
    """The counterexample of each erratum, by id."""
    found = (f for f in vars(defects).values() if getattr(f, "__module__", "") == defects.__name__)
    return {link.id: f for f in found for link in getattr(f, LINKS, ()) if link.kind == "counterexample"}


def _defect_check(statement: str, erratum: str, show: Callable[[], Counterexample]) -> Callable[[int], Outcome]:
    def run(seed: int) -> Outcome:
        found = show()
        return Outcome(holds=not found.shown, witness=found.summary, numbers=found.numbers)

    run.__name__ = run.__qualname__ = f"defect_{erratum.replace('.', '_')}"
    run.__doc__ = show.__doc__
    return check(statement, kind="counterexample", edition="printed", erratum=erratum)(run)


for _statement, _errata in FILED.items():
    for _erratum in _errata:
        _show = all_counterexamples()[_erratum]
        globals()[f"defect_{_erratum.replace('.', '_')}"] = _defect_check(_statement, _erratum, _show)
