"""Steps of the proofs of Section 3: Moreau smoothing, the oracle, Phased SGD, noisy Frank–Wolfe.

The proofs are written out in `reference/convex/`. Bounds are taken from the functions there that compute them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from audit.checks.proofs.steps import (
    Cover,
    Exponents,
    Identity,
    Induction,
    OnPaper,
    Parts,
    Powers,
    ProofStep,
    Quoted,
    Smt,
    step,
)
from audit.checks.proofs.terms import Formula, Symbolic, Term, absolute, both, maximum, minimum, real, reals, term
from reference.convex import drift, moreau, phased_sgd
from reference.convex.noisy_frank_wolfe import noise_peak
from reference.convex.oracle import OracleParameters

F, S = Fraction, Symbolic()
MOREAU, SMOOTHED, ORACLE = "lem:moreau", "lem:f_smoothness", "lem:oracle"
BODY = "Alg:phased"
"""Algorithm 2 itself, whose claim is its privacy."""
PHASED, FREE, PHASE, WOLFE = "thm:l2_glm", "thm:l2_glm_unconstrained", "lem:phase_bound", "thm:l1_glm"
TIGHT = F(99, 100)
"""What a bound that is attained is sharpened by."""


def steps() -> list[ProofStep]:
    """All steps, in the order of the section."""
    return [
        *smoothing(),
        *smoothed_losses(),
        *oracle(),
        *sensitivities(),
        *printed_noise(),
        *phases(),
        *risk(),
        *unconstrained(),
        *frank_wolfe(),
    ]


# ------------------------------------------------------------------------------------------------ Lemma 3


def smoothing() -> list[ProofStep]:
    """The Moreau envelope of a convex Lipschitz loss; u is the proximal point of m, v and n another pair."""
    L, b, m, u, n, v, lm, lu, lv, t, e, g = reals("L b m u n v lm lu lv t e g")
    at_u, at_v = lu + b / 2 * (u - m) ** 2, lv + b / 2 * (v - m) ** 2
    optimal = lv - lu >= b * (m - u) * (v - u)
    optimal_too = lu - lv >= b * (n - v) * (u - v)
    return [
        step(
            "moreau.exists",
            (MOREAU, "eqn:Moreau"),
            "the minimiser over a closed interval exists and is unique: strong convexity",
            OnPaper("a strongly convex, continuous function on a closed set"),
        ),
        step(
            "moreau.optimality",
            MOREAU,
            "at the proximal point ℓ(v) ≥ ℓ(u) + β(m − u)(v − u) for all v in M (compare with u + t(v − u), t → 0)",
            Smt(
                "ℓ convex, β > 0; every e > 0 has such a t",
                (
                    b > 0,
                    e > 0,
                    t > 0,
                    t <= 1,
                    t * b * (v - u) ** 2 <= 2 * e,
                    at_u <= (1 - t) * lu + t * lv + b / 2 * (u + t * (v - u) - m) ** 2,
                ),
                b * (m - u) * (v - u) - e <= lv - lu,
                mutant=b * (m - u) * (v - u) - e / 2 <= lv - lu,
            ),
        ),
        step(
            "moreau.radius",
            (MOREAU, ORACLE),
            "|m − prox(m)| ≤ L0/β: the optimality inequality at v = m against the Lipschitz constant",
            Smt(
                "L0, β > 0, m in M",
                (L > 0, b > 0, lm - lu >= b * (m - u) * (m - u), lm - lu <= L * absolute(m - u)),
                absolute(m - u) <= moreau.prox_radius(S, L, b),
                TIGHT,
            ),
        ),
        step(
            "moreau.lipschitz",
            (MOREAU, SMOOTHED),
            "the derivative β(m − prox(m)) is at most L0 in modulus",
            Smt(
                "L0, β > 0, m in M",
                (L > 0, b > 0, lm - lu >= b * (m - u) * (m - u), lm - lu <= L * absolute(m - u)),
                absolute(b * (m - u)) <= moreau.envelope_lipschitz(S, L),
                TIGHT,
            ),
        ),
        step(
            "moreau.gap",
            (MOREAU, SMOOTHED),
            "ℓ(m) − ℓ_β(m) ≤ L0²/(2β)",
            Smt(
                "L0, β > 0, m in M",
                (L > 0, b > 0, lm - lu <= L * absolute(m - u)),
                lm - (lu + b / 2 * (m - u) ** 2) <= moreau.envelope_gap(S, L, b),
                TIGHT,
            ),
        ),
        step(
            "moreau.below",
            (MOREAU, SMOOTHED),
            "ℓ_β ≤ ℓ on M: with v = m as candidate the minimum is at most ℓ(m)",
            Smt("β > 0", (b > 0, v.equals(m), at_u <= at_v), at_u <= lv, mutant=at_u + F(1, 100) <= lv),
        ),
        step(
            "moreau.touching",
            MOREAU,
            "the proximal point of m as a candidate at n: ℓ_β(n) ≤ ℓ_β(m) + β(m − u)(n − m) + (β/2)(n − m)²",
            Identity(
                "all m, n, u",
                b / 2 * (u - n) ** 2,
                b / 2 * (u - m) ** 2 + b * (m - u) * (n - m) + b / 2 * (n - m) ** 2,
            ),
        ),
        step(
            "moreau.support",
            MOREAU,
            "ℓ_β(n) ≥ ℓ_β(m) + β(m − u)(n − m): ℓ_β is convex, and with `touching` differentiable with that slope",
            Smt(
                "ℓ convex, β > 0",
                (b > 0, optimal),
                at_u + b * (m - u) * (n - m) <= lv + b / 2 * (v - n) ** 2,
                mutant=at_u + b * (m - u) * (n - m) + F(1, 100) <= lv + b / 2 * (v - n) ** 2,
            ),
        ),
        step(
            "moreau.contraction",
            MOREAU,
            "the proximal map is monotone and does not expand: the two optimality inequalities added",
            Parts(
                "ℓ convex, β > 0",
                {
                    "square": Smt("", (b > 0, optimal, optimal_too), (u - v) ** 2 <= (u - v) * (m - n), TIGHT),
                    "modulus": Smt("", (b > 0, optimal, optimal_too), absolute(u - v) <= absolute(m - n), TIGHT),
                },
                "smt",
            ),
        ),
        step(
            "moreau.smooth",
            MOREAU,
            "the derivative is monotone and β-Lipschitz",
            Parts(
                "ℓ convex, β > 0",
                {
                    "monotone": Smt(
                        "",
                        (b > 0, optimal, optimal_too, g.equals(b * (m - u) - b * (n - v))),
                        0 * g <= g * (m - n),
                        mutant=F(1, 100) * b * (m - n) ** 2 <= g * (m - n),
                    ),
                    "smooth": Smt(
                        "",
                        (b > 0, optimal, optimal_too),
                        absolute(b * (m - u) - b * (n - v)) <= b * absolute(m - n),
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "moreau.printed",
            MOREAU,
            "the printed constant 2L0 is above the true one",
            Smt(
                "L0 > 0",
                (L > 0,),
                moreau.envelope_lipschitz(S, L) <= moreau.envelope_lipschitz_printed(S, L),
                F(49, 100),
            ),
            "printed",
        ),
    ]


def smoothed_losses() -> list[ProofStep]:
    """Lemma 4 and Definition 2: through the inner product."""
    L, b, R, x, s, d, g, h, f = reals("L b R x s d g h f")
    hoelder = both(absolute(s) <= x * d, x >= 0, d >= 0, x <= R)
    return [
        step(
            "glm.hoelder",
            ("def:glm", SMOOTHED),
            "|⟨x, v − w⟩| ≤ ‖x‖_*·‖v − w‖: the definition of the dual norm",
            OnPaper("the definition of the dual norm"),
        ),
        step(
            "glm.lipschitz",
            ("def:glm", SMOOTHED),
            "a loss of ⟨w, x⟩ that is L0-Lipschitz on the line is L0R-Lipschitz in w",
            Smt(
                "L0, R > 0, any norm", (L > 0, hoelder, absolute(f) <= L * absolute(s)), absolute(f) <= L * R * d, TIGHT
            ),
        ),
        step(
            "glm.gradient",
            SMOOTHED,
            "the gradient ℓ_β'(⟨w, x⟩)x has dual norm at most L0R",
            Smt(
                "L0, R > 0, any norm",
                (L > 0, x >= 0, x <= R, absolute(g) <= L),
                absolute(g) * x <= moreau.smoothed_lipschitz(S, L, R),
                TIGHT,
            ),
        ),
        step(
            "glm.smooth",
            SMOOTHED,
            "gradients at two points differ by at most β‖x‖_*²·‖v − w‖",
            Smt(
                "β > 0, any norm",
                (b > 0, hoelder, absolute(g - h) <= b * absolute(s)),
                absolute(g - h) * x <= moreau.smoothed_smoothness(S, b, x) * d,
                TIGHT,
            ),
        ),
        step(
            "glm.printed",
            SMOOTHED,
            "the printed 2L0R and 2L0²/β are above the true constants (by 2 and by 4)",
            Parts(
                "L0, β, R > 0",
                {
                    "slope": Smt(
                        "",
                        (L > 0, R > 0),
                        moreau.smoothed_lipschitz(S, L, R) <= moreau.smoothed_lipschitz_printed(S, L, R),
                        F(49, 100),
                    ),
                    "gap": Smt(
                        "",
                        (L > 0, b > 0),
                        moreau.smoothing_error(S, L, b) <= moreau.smoothing_error_printed(S, L, b),
                        F(24, 100),
                    ),
                },
                "smt",
            ),
            "printed",
        ),
    ]


# ------------------------------------------------------------------------------------------------ Lemma 5


def oracle() -> list[ProofStep]:
    """The corrected search: the sign of one subgradient, bisection, the error; and the search by values."""
    b, u, s, hu, hs, g, low, high, width, power = reals("b u s hu hs g low high width power")
    L, R, a, m = reals("L R a m")
    q1, q2, h1, h2 = reals("q1 q2 h1 h2")
    strong = hs >= hu + g * (s - u) + b / 2 * (s - u) ** 2
    r, c = reals("r c")
    return [
        step(
            "oracle.sign",
            ORACLE,
            "the sign of a subgradient of h at u tells on which side of u the minimiser s lies",
            Parts(
                "h β-strongly convex, s its minimiser",
                {
                    "right": Smt("", (b > 0, strong, hs <= hu, g >= 0), s <= u, mutant=s + F(1, 100) <= u),
                    "left": Smt("", (b > 0, strong, hs <= hu, g < 0), u <= s, mutant=u + 1 <= s),
                },
                "smt",
            ),
        ),
        step(
            "oracle.kept",
            ORACLE,
            "halving by that sign keeps the minimiser in the interval and halves its width",
            Parts(
                "low ≤ s ≤ high",
                {
                    "kept": Smt(
                        "",
                        (low <= s, s <= high, u.equals((low + high) / 2), s <= u),
                        s - low <= (high - low) / 2,
                        TIGHT,
                    ),
                    "halved": Identity("", (low + high) / 2 - low, (high - low) / 2),
                },
                "smt",
            ),
        ),
        step(
            "oracle.width",
            ORACLE,
            "after T halvings the width is 2(L0/β)·2^{−T}",
            Induction(
                "T ≥ 0, power = 2^T",
                Smt("T = 0", (power.equals(1), width.equals(2 * r), r > 0), width * power <= 2 * r, TIGHT),
                Smt("T to T + 1", (power > 0, r > 0, width * power <= 2 * r), width / 2 * (2 * power) <= 2 * r, TIGHT),
            ),
        ),
        step(
            "oracle.error",
            ORACLE,
            "the middle errs by at most (L0/β)2^{−T}, hence the gradient by L0R·2^{−T} ≤ α once 2^T ≥ L0R/α",
            Smt(
                "L0, R, β, α > 0",
                (
                    L > 0,
                    R > 0,
                    b > 0,
                    a > 0,
                    power >= L * R / a,
                    absolute(u - s) * power <= moreau.prox_radius(S, L, b),
                ),
                absolute(b * (m - u) - b * (m - s)) * R <= a,
                TIGHT,
            ),
        ),
        step(
            "oracle.count",
            ORACLE,
            "T subgradients a call, T = ⌈log2(L0R/α)⌉: the loop asks once a step",
            OnPaper("reference/convex/oracle.py, oracle: one call of `subgradient` in the loop"),
        ),
        step(
            "oracle.values",
            ORACLE,
            "by values: h(q1) ≥ h(q2) at the quarter points leaves no minimiser left of q1",
            Smt(
                "h strictly convex, q1 < q2; a minimiser s < q1 would lie on a chord above",
                (
                    s < q1,
                    q1 < q2,
                    hs <= h1,
                    h1 * (q2 - s) < hs * (q2 - q1) + h2 * (q1 - s),
                ),
                h1 < h2,
                mutant=h1 + 1 < h2,
            ),
        ),
        step(
            "oracle.height",
            ORACLE,
            "h rises by at most 9L0²/(2β) over [m ± 2L0/β]",
            Smt(
                "L0, β > 0",
                (L > 0, b > 0, r.equals(2 * L / b), c >= 0, c * b <= L),
                L * (r + c) + b * r * r / 2 - b * c * c / 2 <= moreau.search_height(S, L, b),
                TIGHT,
            ),
        ),
        step(
            "oracle.printed-blind",
            "E3.1",
            "as printed the values at the midpoints rise: the next midpoint is the quarter point with the larger value,"
            " which is above the middle by strict convexity; so the first midpoint is returned, whatever the loss",
            Smt(
                "g strictly convex",
                (2 * hu < h1 + h2,),
                hu < maximum(h1, h2),
                mutant=hu + 1 < maximum(h1, h2),
            ),
            "printed",
        ),
    ]


# ------------------------------------------------------------------------------- privacy of Phased SGD


def sensitivities() -> list[ProofStep]:
    """How far one record moves a phase."""
    D2, s, C, x2, eta, b, R, q, j = reals("D2 s C x2 eta b R q j")
    L, a, T, N, G, h = reals("L a T N G h")
    p = OracleParameters(b, a, L, R)
    positive = (eta > 0, b > 0, L > 0, R > 0, a > 0)
    squared = D2 - 2 * eta * s * C + eta * eta * x2 * C * C
    return [
        step(
            "sensitivity.first",
            (PHASED, FREE, BODY),
            "at the step of the replaced record the iterates part by at most 2ηL0R, and projections do not expand",
            Parts(
                "η, L0, R > 0; any closed convex W",
                {
                    "apart": Smt(
                        "s, N the lengths of the two steps, h the distance after them from one point",
                        (*positive, s >= 0, N >= 0, s <= eta * (L * R), eta * (L * R) >= N, h <= s + N),
                        h <= drift.iterate_bound(S, eta, 1, p),
                        TIGHT,
                    ),
                    "projection": Smt(
                        "u, v projected to p, q: s = ‖p − q‖, N = ‖u − v‖, C = ⟨u − p, q − p⟩ ≤ 0, G = ⟨v − q, p − q⟩"
                        " ≤ 0, ⟨u − v, p − q⟩ = s² − C − G ≤ N·s",
                        (s >= 0, N >= 0, C <= 0, G <= 0, s * s - C - G <= N * s),
                        s <= N,
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "sensitivity.contraction",
            (PHASED, FREE, BODY),
            "a gradient step of a convex βR²-smooth loss of ⟨w, x⟩ does not expand while ηβR² ≤ 2",
            Smt(
                "0 ≤ C·s, |C| ≤ β|s| (monotone and β-Lipschitz), ‖x‖ ≤ R",
                (*positive, x2 >= 0, x2 <= R * R, eta * b * R * R <= 2, C * s >= 0, b * s * C >= C * C),
                squared <= D2,
                mutant=squared <= D2 - eta * s * C / 100,
            ),
        ),
        step(
            "sensitivity.drift",
            (PHASED, FREE, BODY),
            "with oracle errors of at most α each step adds 2ηα: after T steps 2η(L0R + α(T − 1))",
            Induction(
                "T ≥ 1",
                Smt(
                    "T = 1",
                    (*positive, 2 * eta * L * R >= N),
                    drift.iterate_bound(S, eta, 1, p) >= N,
                    TIGHT,
                ),
                Smt(
                    "T to T + 1",
                    (*positive, T >= 1, drift.iterate_bound(S, eta, T, p) >= N),  # type: ignore[arg-type]
                    N + 2 * eta * a <= drift.iterate_bound(S, eta, T + 1, p),  # type: ignore[arg-type]
                    TIGHT,
                ),
            ),
        ),
        step(
            "sensitivity.average",
            (PHASED, FREE, BODY),
            "the average of u_1, …, u_T moves by at most 2η(L0R + α(T − 1)/2): the sum, one iterate more",
            Induction(
                "T ≥ 1",
                Identity("T = 1", drift.iterate_bound(S, eta, 1, p), drift.average_bound(S, eta, 1, p)),
                Identity(
                    "T to T + 1",
                    T * drift.average_bound(S, eta, T, p) + drift.iterate_bound(S, eta, T + 1, p),  # type: ignore[arg-type]
                    (T + 1) * drift.average_bound(S, eta, T + 1, p),  # type: ignore[arg-type]
                ),
            ),
        ),
        step(
            "sensitivity.quadrature",
            PHASED,
            "the corrected oracle: cells j ≥ 1 apart (width q) let ‖Δ‖² grow by at most (ηqR)² a step when ηβR² ≤ 1",
            Smt(
                "j = 1 or j ≥ 2, C = jq, s ≥ (j − 1)q/β, ‖x‖ ≤ R",
                (
                    *positive,
                    q > 0,
                    x2 >= 0,
                    x2 <= R * R,
                    eta * b * R * R <= 1,
                    Formula("or", (j.equals(1), j >= 2)),
                    s >= 0,
                    s * b >= (j - 1) * q,
                    C.equals(j * q),
                ),
                squared <= D2 + (eta * q * R) ** 2,
                mutant=squared <= D2 + F(9, 10) * (eta * q * R) ** 2,
            ),
            "tight",
        ),
        step(
            "sensitivity.quadrature-sum",
            PHASED,
            "so after T steps ‖Δ‖² ≤ 4η²((L0R − a)² + a²(T − 1)), a = qR/2",
            Induction(
                "T ≥ 1",
                Smt(
                    "T = 1",
                    (eta > 0, G > 0, h >= 0, h <= G, N >= 0, 2 * eta * (G - h) >= N),
                    4 * eta * eta * (G - h) ** 2 >= N * N,
                    TIGHT,
                ),
                Smt(
                    "T to T + 1",
                    (eta > 0, T >= 1, 4 * eta * eta * ((G - h) ** 2 + h * h * (T - 1)) >= D2, h > 0),
                    D2 + (2 * eta * h) ** 2 <= 4 * eta * eta * ((G - h) ** 2 + h * h * T),
                    TIGHT,
                ),
            ),
            "tight",
        ),
    ]


def printed_noise() -> list[ProofStep]:
    """σ_k = 4L0Rη_k/ρ is private: the drift's share, and the Gaussian profile over all (ε, δ) with ε ≤ √ln(1/δ)."""
    n, log, r, c = reals("n log r c")
    m, rest, pop, total = reals("m rest pop total")
    return [
        step(
            "noise.share",
            (PHASED, FREE, BODY),
            "the drift's share α(T_k − 1)/(L0R) ≤ (⌊n/2⌋ − 1)/(n ln n) is at most 0.187",
            Parts(
                "every n ≥ 2",
                {
                    "below-15": Cover("2 ≤ n ≤ 14, each", {}, _shares, TIGHT),
                    "logarithm": Cover("n = 15", {}, _log_15, F(98, 100)),
                    "beyond": Smt(
                        "n ≥ 15, where ln n ≥ ln 15 ≥ 500/187",
                        (n >= 15, log >= F(500, 187)),
                        n / 2 - 1 <= F(187, 1000) * n * log,
                        F(8, 10),
                    ),
                },
            ),
        ),
        step(
            "noise.profile",
            (PHASED, FREE, BODY),
            "so μ ≤ 0.2968·ε/√L, and δ_G(ε, μ) ≤ δ for every δ and every ε ≤ √L, L = ln(1/δ)",
            Parts(
                "0 ≤ ε ≤ √L, 0 < L",
                {
                    "box": Cover(
                        "0 ≤ ε/√L ≤ 1, 0 ≤ √L ≤ 6",
                        {"t": (F(0), F(1)), "r": (F(0), F(6))},
                        _printed_profile,
                        F(11, 100),
                        parts=16,
                    ),
                    "tail": Smt(
                        "√L ≥ 6: Φ(−x) ≤ e^{−x²/2} at x = r/c − c/2, and x²/2 ≥ r²",
                        (r >= 6, c.equals(F(2968, 10000))),
                        2 * r * r <= (r / c - c / 2) ** 2,
                        F(17, 100),
                    ),
                },
            ),
        ),
        step(
            "noise.curvature",
            (PHASED, FREE, BODY),
            "with β = √n·L0/(RD) the steps of every phase have η_kβR² ≤ 1/12",
            _curvature(),
        ),
        step(
            "noise.disjoint",
            (PHASED, FREE, BODY),
            "the phases use n − popcount(n) records: Σ_k⌊n/2^k⌋, from ⌊n/2⌋ = m to n = 2m + rest",
            Induction(
                "every n ≥ 1",
                Identity("n = 1: no phase, popcount 1 (both sides plus 1)", term(0) + 1, (term(1) - 1) + 1),
                Smt(
                    "m to 2m + rest, rest in {0, 1}",
                    (m >= 1, Formula("or", (rest.equals(0), rest.equals(1))), total.equals(m - pop)),
                    (m + total).equals((2 * m + rest) - (pop + rest)),
                    F(9, 10),
                ),
            ),
        ),
        step(
            "noise.release",
            (PHASED, FREE, BODY),
            "a record is read in one phase, which releases one Gaussian vector given the past; then post-processing",
            OnPaper("reference/convex/phased_sgd.py, the paragraph on privacy"),
        ),
    ]


def _shares(K: Any) -> tuple[Any, Any]:
    """The largest (⌊n/2⌋ − 1)/(n ln n), 2 ≤ n ≤ 14, and 0.187."""
    worst = K(0)
    for n in range(2, 15):
        worst = K.max(worst, (n // 2 - 1) / (n * K.log(K(n))))
    return worst, K(F(187, 1000))


def _log_15(K: Any) -> tuple[Any, Any]:
    """500/187 and ln 15."""
    return K(F(500, 187)), K.log(K(15))


PRINTED_MU = F(2968, 10000)
"""(1 + 0.187)·2/(4·2): Δ_k/σ_k over ε/√L."""


def _printed_profile(K: Any, t: Any, r: Any) -> tuple[Any, Any]:
    """δ_G(ε, μ) and δ at ε = t·r, μ = c·t, δ = e^{−r²}; ε/μ = r/c."""
    mu, epsilon, ratio = PRINTED_MU * t, t * r, r / PRINTED_MU
    delta = K.normal_cdf(mu / 2 - ratio) - K.exp(epsilon) * K.normal_cdf(-mu / 2 - ratio)
    return delta, K.exp(-r * r)


def _curvature() -> Smt:
    """η ≤ D/(3G√n) and the theorem's β: η_1βR² = (η/4)βR²."""
    n, L, R, D, eta = reals("n L R D eta")
    system = Symbolic()
    beta = phased_sgd.theorem_beta(system, n, L, R, D)  # type: ignore[arg-type]
    root = Term("var", (), "root1")
    return Smt(
        "n ≥ 2, L0, R, D > 0",
        (n >= 2, L > 0, R > 0, D > 0, eta > 0, *system.facts, eta * 3 * L * R * root <= D),
        eta / 4 * beta * R * R <= F(1, 12),
        TIGHT,
        at={"n": F(4), "L": F(1), "R": F(1), "D": F(1), "eta": F(1, 6), "root1": F(2)},
    )


# -------------------------------------------------------------------------------------- Lemma 8 and the risk


def phases() -> list[ProofStep]:
    """One phase of projected SGD."""
    D0, D1, eta, G, a, f, away, inner, T, total, start = reals("D0 D1 eta G a f away inner T total start")
    alpha, x, d = reals("alpha x d")
    descent = D0 - 2 * eta * inner + eta * eta * G * G >= D1
    return [
        step(
            "phase.step",
            (PHASE, PHASED, FREE, "eq:un_ex_risk"),
            "one step: F(u) − F(w) ≤ (‖u − w‖² − ‖u⁺ − w‖²)/(2η) + ηG²/2 + α‖u − w‖",
            Smt(
                "η, G > 0, α ≥ 0; projections do not expand, convexity, oracle error at most α",
                (eta > 0, G > 0, a >= 0, away >= 0, descent, inner >= f - a * away),
                f <= (D0 - D1) / (2 * eta) + eta * G * G / 2 + a * away,
                mutant=f <= (D0 - D1) / (2 * eta) + F(49, 100) * eta * G * G + a * away,
            ),
        ),
        step(
            "phase.sum",
            (PHASE, PHASED, FREE, "eq:un_ex_risk"),
            "T steps telescope: Σ(F(u_t) − F(w)) ≤ (‖u_0 − w‖² − ‖u_T − w‖²)/(2η) + TηG²/2 + αΣ‖u_t − w‖",
            Induction(
                "T ≥ 0",
                Smt(
                    "T = 0",
                    (eta > 0, total.equals(0), D0.equals(start)),
                    total <= (start - D0) / (2 * eta),
                    mutant=total <= (start - D0) / (2 * eta) - F(1, 100),
                ),
                Smt(
                    "T to T + 1",
                    (
                        eta > 0,
                        a >= 0,
                        total <= (start - D0) / (2 * eta) + T * eta * G * G / 2 + a * d,
                        f <= (D0 - D1) / (2 * eta) + eta * G * G / 2 + a * away,
                    ),
                    total + f <= (start - D1) / (2 * eta) + (T + 1) * eta * G * G / 2 + a * (d + away),
                    mutant=total + f <= (start - D1) / (2 * eta) + T * eta * G * G / 2 + a * (d + away),
                ),
            ),
        ),
        step(
            "phase.jensen",
            (PHASE, PHASED, FREE, "eq:un_ex_risk"),
            "the average does no worse than the mean of the values; fresh records make F the expectation of f",
            OnPaper("Jensen, and records that the phase has not used"),
        ),
        step(
            "phase.last",
            (PHASE, PHASED, FREE, "eq:un_ex_risk"),
            "averaging u_1, …, u_T instead of u_0, …, u_{T−1} costs at most ηG² (F(u_T) − F(u_0) ≤ G·ηGT, over T)",
            Smt(
                "T ≥ 1, G, η > 0",
                (T >= 1, G > 0, eta > 0, d >= 0, d <= eta * G * T, f <= G * d),
                f / T <= eta * G * G,
                TIGHT,
            ),
        ),
        step(
            "phase.drift",
            (PHASE, PHASED, FREE, "eq:un_ex_risk"),
            "the distances: ‖u_t − w‖ ≤ ‖u_0 − w‖ + ηGt has mean ‖u_0 − w‖ + ηG(T − 1)/2 over t < T",
            Induction(
                "T ≥ 1",
                Identity("T = 1", d, d + eta * G * (term(1) - 1) / 2),
                Identity(
                    "T to T + 1",
                    T * (d + eta * G * (T - 1) / 2) + d + eta * G * T,
                    (T + 1) * (d + eta * G * T / 2),
                ),
            ),
        ),
        step(
            "phase.printed",
            PHASE,
            "the bound with constants is below the printed one, with 5/2 for 3/2 and (‖·‖ + 1)/(√n ln n) for the drift",
            Smt(
                "G, α > 0, x = √n ≥ 1, 3ηGx ≤ 1, T ≤ n; α√n stands for L0R/(√n ln n)",
                (G > 0, alpha > 0, x >= 1, eta > 0, 3 * eta * G * x <= 1, T >= 1, x * x >= T, d >= 0),
                3 * eta * G * G / 2 + alpha * (d + eta * G * (T - 1) / 2) <= 5 * eta * G * G / 2 + alpha * x * (d + 1),
                F(58, 100),
            ),
            "printed",
        ),
    ]


def risk() -> list[ProofStep]:
    """Theorem 6 from its phases: geometric sums, the step size, and the constants 100/3 and 38/3."""
    G, D, rho, rd, rn, eta, P, s = reals("G D rho rd rn eta P s")
    a, b = rd / (rho * rn * rn), 1 / rn
    size = D / (3 * G) * minimum(rho / rd, 1 / rn)
    positive = (G > 0, D > 0, rho > 0, rd >= 1, rn >= 1)
    at = {"G": F(1), "D": F(1), "rho": F(1), "rd": F(2), "rn": F(2), "eta": F(1, 6), "P": F(4)}
    sigma = 4 * G * (4 * eta / (P * P)) / rho
    share, L, R = reals("share L R")
    A, B, x, y = reals("A B x y")
    return [
        step(
            "risk.first",
            PHASED,
            "the first phase: 4D²/(ηn) = 12GD·max(a, b) with the printed step size, a = √d/(ρn), b = 1/√n",
            Smt(
                "G, D, ρ > 0, d, n ≥ 1",
                (*positive, eta.equals(size)),
                (4 * D * D / (eta * rn * rn)).equals(12 * G * D * maximum(a, b)),
                TIGHT,
                at=at,
            ),
        ),
        step(
            "risk.noise",
            PHASED,
            "phase k ≥ 2 starts σ_{k−1}√d away: dσ²/(2η_kT_k) = 128dG²η·2^{−k}/(ρ²n), P = 2^k",
            Identity(
                "all k ≥ 2",
                rd * rd * sigma * sigma / (2 * (eta / (P * P)) * (rn * rn / P)),
                128 * rd * rd * G * G * eta / (P * rho * rho * rn * rn),
            ),
        ),
        step(
            "risk.geometric",
            (PHASED, FREE, "eq:un_ex_risk"),
            "Σ_{k=2}^{K}2^{−k} = 1/2 − 2^{−K} ≤ 1/2 and Σ_{k≤K}4^{−k} = (1 − 4^{−K})/3 ≤ 1/3",
            Parts(
                "K ≥ 1, P = 2^K",
                {
                    "halves": Identity("K to K + 1", F(1, 2) - 1 / P + 1 / (2 * P), F(1, 2) - 1 / (2 * P)),
                    "quarters": Identity(
                        "K to K + 1",
                        (1 - 1 / (P * P)) / 3 + 1 / (4 * P * P),
                        (1 - 1 / (4 * P * P)) / 3,
                    ),
                    "at-most": Smt("", (P >= 2,), F(1, 2) - 1 / P + (1 - 1 / (P * P)) / 3 <= F(5, 6) + 0 * P, TIGHT),
                },
                "induction",
            ),
        ),
        step(
            "risk.noises",
            PHASED,
            "together at most 64dG²η/(ρ²n) ≤ (64/3)GD·a",
            Smt(
                "η ≤ Dρ/(3G√d)",
                (*positive, eta > 0, eta * 3 * G * rd <= D * rho),
                64 * rd * rd * G * G * eta / (rho * rho * rn * rn) <= F(64, 3) * G * D * a,
                TIGHT,
            ),
        ),
        step(
            "risk.steps",
            PHASED,
            "the steps of all phases: (3/2)G²Σ_kη_k ≤ ηG²/2 ≤ GD·b/6",
            Smt(
                "η ≤ D/(3G√n), Σ4^{−k} ≤ 1/3",
                (*positive, eta > 0, eta * 3 * G * rn <= D, share >= 0, share <= F(1, 3)),
                F(3, 2) * G * G * eta * share <= G * D * b / 6,
                TIGHT,
            ),
        ),
        step(
            "risk.smoothing",
            PHASED,
            "the smoothing costs L0²/(2β) = GD·b/2 at β = √n·L0/(RD)",
            Identity("all", moreau.smoothing_error(S, L, rn * L / (R * D)), L * R * D / (2 * rn)),
        ),
        step(
            "risk.last",
            PHASED,
            "the last noise: G√d·σ_K ≤ (4/3)GD/n², as η_K = η/n²",
            Smt(
                "η ≤ Dρ/(3G√d)",
                (*positive, eta > 0, eta * 3 * G * rd <= D * rho),
                G * rd * (4 * G * (eta / rn**4) / rho) <= F(4, 3) * G * D / rn**4,
                TIGHT,
            ),
        ),
        step(
            "risk.total",
            PHASED,
            "12max(a, b) + (64/3)a + (1/6 + 1/2)b ≤ (100/3)a + (38/3)b",
            Smt(
                "a, b ≥ 0",
                (A >= 0, B >= 0),
                12 * maximum(A, B) + F(64, 3) * A + F(2, 3) * B <= F(100, 3) * A + F(38, 3) * B,
                TIGHT,
            ),
        ),
        step(
            "risk.tuned",
            PHASED,
            "the best step size: A/η + Bη ≥ 2√(AB), with equality at η = √(A/B) (x² = A, y² = B)",
            Parts(
                "A, B > 0",
                {
                    "least": Smt("", (x > 0, y > 0, eta > 0), 2 * x * y <= x * x / eta + y * y * eta, TIGHT),
                    "attained": Identity("", x * x / (x / y) + y * y * (x / y), 2 * x * y),
                },
                "smt",
            ),
            "tight",
        ),
        step(
            "risk.tuned-curvature",
            PHASED,
            "at that step size η_1βR² ≤ 1/(2√c): η ≤ 2D/(G√(cn)), s = √c",
            Smt(
                "c, n > 0",
                (G > 0, D > 0, rn > 0, s > 0, L > 0, R > 0, G.equals(L * R), eta > 0, eta * G * s * rn <= 2 * D),
                eta / 4 * (rn * L / (R * D)) * R * R <= 1 / (2 * s),
                TIGHT,
                at={"G": F(1), "D": F(1), "rn": F(1), "s": F(1), "L": F(1), "R": F(1), "eta": F(2)},
            ),
            "tight",
        ),
        step(
            "risk.rate",
            PHASED,
            "with ρ = ε/(2√ln(1/δ)) the two terms are the Table's √(d ln(1/δ))/(nε) and 1/√n",
            Exponents(
                "exponents of n, d, ε, ln(1/δ)",
                (
                    (
                        Powers.of(d=F(1, 2)) / (Powers.of(epsilon=1, L=F(-1, 2)) * Powers.of(n=1)),
                        Powers.of(d=F(1, 2), L=F(1, 2), n=-1, epsilon=-1),
                    ),
                ),
            ),
        ),
    ]


def unconstrained() -> list[ProofStep]:
    """Theorem 7: the rank instead of the dimension."""
    rho, rn, eta, P, G, ratio, logs = reals("rho rn eta P G ratio logs")
    root_theta = real("root_theta")
    low = minimum(rho / root_theta, 1 / rn)
    return [
        step(
            "free.sigma",
            FREE,
            "σ_k = (4/3)4^{−k}·min{1/√θ, 1/(ρ√n)}, P = 4^k",
            Smt(
                "ρ, G > 0, θ, n ≥ 1",
                (rho > 0, root_theta >= 1, rn >= 1, G > 0, P > 0, eta.equals(low / (3 * G))),
                (4 * G * (eta / P) / rho).equals(F(4, 3) / P * minimum(1 / root_theta, 1 / (rho * rn))),
                TIGHT,
                at={"rho": F(1), "root_theta": F(2), "rn": F(2), "G": F(1), "P": F(4), "eta": F(1, 6)},
            ),
        ),
        step(
            "free.last",
            FREE,
            "4^{K−1}√n = n^{5/2}/4 at K = log2 n",
            Exponents("n = 2^K: 4^K = n²", ((Powers.of(n=2) * Powers.of(n=F(1, 2)), Powers.of(n=F(5, 2))),)),
        ),
        step(
            "free.drift",
            (FREE, "eq:un_ex_risk"),
            "the drift over phases 1, …, K − 1: Σ(√θσ_k + 1)/ln n ≤ (4/9 + log2 n − 1)/ln n ≤ 1.45",
            Parts(
                "n ≥ 2",
                {
                    "logarithm": Cover("1/ln 2", {}, _inverse_log_2, TIGHT),
                    "sum": Smt(
                        "logs = ln n, log2 n = logs·ratio with ratio = 1/ln 2",
                        (logs > 0, ratio > 0, ratio <= F(14427, 10000)),
                        (F(4, 9) + logs * ratio - 1) / logs <= F(145, 100),
                        F(98, 100),
                    ),
                },
            ),
        ),
        step(
            "free.dimension",
            FREE,
            "the last noise does not see the dimension: E|⟨ξ, x⟩| = √(2/π)σ‖x‖; steps stay in the span of the features",
            OnPaper("reference/convex/phased_sgd.py, the paragraph on Theorem 7"),
        ),
    ]


def _inverse_log_2(K: Any) -> tuple[Any, Any]:
    """1/ln 2 and 1.4427."""
    return 1 / K.log(K(2)), K(F(14427, 10000))


# ------------------------------------------------------------------------------------------------ Theorem 9


def frank_wolfe() -> list[ProofStep]:
    """Noisy Frank–Wolfe: range, composition, weights, recursion, the noise of the selection."""
    D, L, R, n, g, eps, L1d, T, e0, y = reals("D L R n g eps ld T e0 y")
    h, mu, gamma, a, C, t, H, w, x = reals("h mu gamma a C t H w x")
    root8 = real("root8")
    return [
        step(
            "wolfe.range",
            WOLFE,
            "replacing a record moves the scores ⟨v, ∇⟩ against each other by at most D·2L0R/n",
            Smt(
                "‖v − v'‖_1 ≤ D, ‖∇ − ∇'‖_∞ ≤ 2L0R/n",
                (D > 0, L > 0, R > 0, n >= 1, g >= 0, g <= 2 * L * R / n, h >= 0, h <= D),
                g * h <= 2 * D * L * R / n,
                TIGHT,
            ),
        ),
        step(
            "wolfe.scale",
            WOLFE,
            "the printed scale makes a step (2/3)ε/√(8TL)-DP (root8 = √(8TL))",
            Identity(
                "all",
                (2 * D * L * R / n) / (3 * L * R * D * root8 / (n * eps)),
                F(2, 3) * eps / root8,
            ),
        ),
        step(
            "wolfe.composition",
            WOLFE,
            "at ε0 = ε/√(8TL) Lemma 1 spends ε/2 on the deviation, at most ε/2 on the mean if ε(e^{ε0} − 1)/ε0 ≤ 4L",
            Parts(
                "ε, T, L > 0, y = e^{ε0} − 1",
                {
                    "deviation": Smt(
                        "",
                        (
                            eps > 0,
                            T > 0,
                            L1d > 0,
                            e0 > 0,
                            (e0 * e0 * 8 * T * L1d).equals(eps * eps),
                            w >= 0,
                            (w * w).equals(2 * T * L1d),
                        ),
                        (e0 * w).equals(eps / 2),
                        TIGHT,
                        at={"eps": F(2), "T": F(1, 2), "ld": F(1), "e0": F(1), "w": F(1)},
                    ),
                    "mean": Smt(
                        "",
                        (
                            eps > 0,
                            T > 0,
                            L1d > 0,
                            e0 > 0,
                            y > 0,
                            (e0 * e0 * 8 * T * L1d).equals(eps * eps),
                            eps * y <= 4 * L1d * e0,
                        ),
                        T * e0 * y <= eps / 2,
                        TIGHT,
                        at={"eps": F(2), "T": F(1, 2), "ld": F(1), "e0": F(1), "y": F(2)},
                    ),
                },
                "smt",
            ),
        ),
        step(
            "wolfe.descent",
            WOLFE,
            "one step: h⁺ ≤ (1 − μ)h + μ(γ + αD) + μ²C/2 from smoothness, convexity and the error of the selection",
            Smt(
                "0 ≤ μ ≤ 1; inner = ⟨∇F, ṽ − w⟩ ≤ −h + γ + αD",
                (mu >= 0, mu <= 1, a >= 0, D >= 0, C >= 0, h + mu * x + mu * mu * C / 2 >= H, x <= -h + gamma + a * D),
                (1 - mu) * h + mu * (gamma + a * D) + mu * mu * C / 2 >= H,
                mutant=(1 - mu) * h + mu * (gamma + a * D) + F(99, 200) * mu * mu * C >= H,
            ),
        ),
        step(
            "wolfe.products",
            WOLFE,
            "∏_{j=t+1}^{T}(1 − 3/(j + 2)) = t(t+1)(t+2)/(T(T+1)(T+2)): one factor more",
            Induction(
                "T ≥ t ≥ 1",
                Identity("T = t", t * (t + 1) * (t + 2) / (t * (t + 1) * (t + 2)), term(1)),
                Identity(
                    "T to T + 1",
                    t * (t + 1) * (t + 2) / (T * (T + 1) * (T + 2)) * (1 - 3 / (T + 3)),
                    t * (t + 1) * (t + 2) / ((T + 1) * (T + 2) * (T + 3)),
                ),
            ),
        ),
        step(
            "wolfe.weights",
            WOLFE,
            "the weights 3t(t+1)/(T(T+1)(T+2)) sum to 1: Σt(t+1) = T(T+1)(T+2)/3",
            Induction(
                "T ≥ 1",
                Identity("T = 1", term(1) * 2, term(1) * 2 * 3 / 3),
                Identity(
                    "T to T + 1",
                    T * (T + 1) * (T + 2) / 3 + (T + 1) * (T + 2),
                    (T + 1) * (T + 2) * (T + 3) / 3,
                ),
            ),
        ),
        step(
            "wolfe.curvature",
            WOLFE,
            "Σ9t(t+1)/((t+2)·2T(T+1)(T+2)) ≤ 9/(4(T+2)): t(t+1)/(t+2) ≤ t, and Σt = T(T+1)/2",
            Parts(
                "T ≥ 1",
                {
                    "term": Smt("t ≥ 1", (t >= 1,), t * (t + 1) / (t + 2) <= t, TIGHT),
                    "sum": Identity("", F(9, 2) * (T * (T + 1) / 2) / (T * (T + 1) * (T + 2)), F(9, 4) / (T + 2)),
                },
                "smt",
            ),
        ),
        *selection_noise(),
        step(
            "wolfe.generalisation",
            WOLFE,
            "E sup(F_D − F_S) ≤ 2L0·Rad, Rad ≤ rR√(2 ln min{2d, J}/n): symmetrisation, contraction, Massart",
            Quoted("Shalev-Shwartz and Ben-David (2014), Lemmas 26.2, 26.8 and 26.9"),
        ),
        step(
            "wolfe.rate",
            WOLFE,
            "at T = nε/(ln J ln n √L) curvature β/T, noise s·ln J, smoothing 1/β balance to L^{1/4}√(ln J ln n/(nε))",
            _wolfe_rate(),
        ),
    ]


def selection_noise() -> list[ProofStep]:
    """E max of J unit Laplace draws is at most ln J from J = 4 on, and at most 2 ln J for all J."""
    J, P, x = reals("J P x")
    of = (WOLFE, "thm:convergence-polySFW")
    return [
        step(
            "peak.increment",
            of,
            "2^{1−J}(J + 1) ≤ J: the increment 1/(J+1) + 2^{−J}/(J(J+1)) is at most 1/(J+1) + 1/(2(J+1)²), P = 2^{J−1}",
            Parts(
                "J ≥ 2",
                {
                    "difference": Identity(
                        "one term more of Σ(1 − 2^{−j})/j − 2^{−J}/J, x = 2^{−J}",
                        (1 - x / 2) / (J + 1) - x / 2 / (J + 1) + x / J,
                        1 / (J + 1) + x / (J * (J + 1)),
                    ),
                    "base": Smt("J = 2", (J.equals(2), P.equals(2)), J + 1 <= P * J, F(3, 4) - F(1, 100)),
                    "next": Smt("J to J + 1", (J >= 2, P >= 2, J + 1 <= P * J), J + 2 <= 2 * P * (J + 1), F(33, 100)),
                    "increment": Smt(
                        "",
                        (J >= 2, P >= 2, J + 1 <= P * J),
                        1 / (J + 1) + 1 / (2 * P * J * (J + 1)) <= 1 / (J + 1) + 1 / (2 * (J + 1) * (J + 1)),
                        F(97, 100),
                    ),
                },
                "induction",
            ),
        ),
        step(
            "peak.logarithm",
            of,
            "x + x²/2 ≤ −ln(1 − x) at x = 1/(J + 1), where the right side is ln(1 + 1/J): the difference has derivative"
            " x²/(1 − x) ≥ 0 and is 0 at 0",
            Parts(
                "0 ≤ x ≤ 1/3",
                {
                    "derivative": Identity("", 1 / (1 - x) - 1 - x, x * x / (1 - x)),
                    "inside": Cover("1/50 ≤ x ≤ 1/3", {"x": (F(1, 50), F(1, 3))}, _series, F(99, 100)),
                },
                "cover",
            ),
        ),
        step(
            "peak.start",
            of,
            "at J = 4 the mean is at most ln 4, at J = 2 and 3 at most 2 ln J",
            Parts(
                "J = 2, 3, 4",
                {
                    "4": Cover("J = 4", {}, _peak_4, TIGHT),
                    "3": Cover("J = 3", {}, _peak_3, F(1, 2)),
                    "2": Cover("J = 2", {}, _peak_2, F(1, 2)),
                },
            ),
        ),
    ]


def _series(K: Any, x: Any) -> tuple[Any, Any]:
    return x + x * x / 2, -K.log1p(-x)


def _peak_4(K: Any) -> tuple[Any, Any]:
    return noise_peak(K, 4), K.log(K(4))


def _peak_3(K: Any) -> tuple[Any, Any]:
    return noise_peak(K, 3), 2 * K.log(K(3))


def _peak_2(K: Any) -> tuple[Any, Any]:
    return noise_peak(K, 2), 2 * K.log(K(2))


def _wolfe_rate() -> Exponents:
    """n, ε, L = ln(1/δ), J = ln J, l = ln n."""
    steps_ = Powers.of(n=1, epsilon=1, J=-1, l=-1, L=F(-1, 2))
    beta = Powers.of(n=F(1, 2), epsilon=F(1, 2), L=F(-1, 4), J=F(-1, 2), l=F(-1, 2))
    rate = Powers.of(L=F(1, 4), J=F(1, 2), l=F(1, 2), n=F(-1, 2), epsilon=F(-1, 2))
    scale = steps_ ** F(1, 2) * Powers.of(L=F(1, 2), n=-1, epsilon=-1)
    noise = scale * Powers.of(J=1)
    return Exponents(
        "exponents of n, ε, ln(1/δ), ln J, ln n; the noise is smaller by ln n",
        ((beta / steps_, rate), (beta ** F(-1), rate), (noise * Powers.of(l=1), rate)),
    )
