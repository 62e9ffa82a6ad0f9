"""Steps of the proofs of Section 4: regular spaces, influence of a record, gradient errors, descent, sums over rounds.

The proofs are written out in `reference/smooth/`; Facts 1 to 4 are those of `sensitivity`. η_t = 1/√(t+1), P_{k,t} the
product of 1 − η_j over k < j ≤ t, c_k what one record of batch k adds at most. Whole numbers are real variables here:
what is proved for all reals from 1 on is proved for them.
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
    Proof,
    ProofStep,
    Quoted,
    Smt,
    step,
)
from audit.checks.proofs.terms import Symbolic, maximum, real, reals, term
from reference.smooth.bounds import ROUND_CONSTANTS
from reference.smooth.sensitivity import record_bound

F = Fraction
REGULAR, EQUIVALENT, SPACES = "eqn:k_smooth", "eqn:k_equiv_norm", "sec:smooth-ncnvx"
UNRAVELLED, PRIVATE, NOISY = "eqn:unravel_recur_polySFW", "thm:privacy-polySFW", "thm:privacy-noisySFW"
ERROR, NOISY_ERROR = "lem:grad-error-polySFW", "lem:grad-error-noisySFW"
SOLVED, RECURSION, NOISY_SOLVED = "eqn:recur_gamma_polySFW", "eqn:recur1", "eqn:recur_gamma_noisySFW"
GAP, NOISY_GAP = "thm:convergence-polySFW", "thm:convergence-noisySFW"
BOTH = (GAP, NOISY_GAP)
TIGHT = F(99, 100)
"""What a bound that is attained is sharpened by."""


def steps() -> list[ProofStep]:
    """All steps, in the order of the section."""
    return [
        *stationarity(),
        *regular_spaces(),
        *unravelled(),
        *influence(),
        *noisy_privacy(),
        *variances(),
        *recursions(),
        *gradient_error(),
        *noisy_gradient_error(),
        *descent(),
        *rounds(),
        *choices(),
    ]


# --------------------------------------------------------------------------------------- (1), (3) and (4)


def stationarity() -> list[ProofStep]:
    """The stationarity gap of equation (1)."""
    gap, at_w, at_v = reals("gap at_w at_v")
    return [
        step(
            "gap.nonnegative",
            "eqn:st-gap",
            "the gap is at least 0 on W: v = w is a candidate",
            Smt(
                "gap ≥ ⟨∇F, w − v⟩ for all v, w among them",
                (gap >= at_w - at_v, at_v.equals(at_w)),
                gap >= 0 * gap,
                mutant=gap >= F(1, 100),
            ),
        ),
        step(
            "gap.attained",
            "eqn:st-gap",
            "the maximum is attained: W is closed and bounded, ⟨∇F, w − ·⟩ continuous",
            OnPaper("compactness"),
        ),
        step(
            "gap.stationary",
            "eqn:st-gap",
            "if the gap is 0 then ⟨∇F, v − w⟩ ≥ 0 for all v in W",
            Smt("gap = 0", (gap >= at_w - at_v, gap.equals(0)), at_w <= at_v, mutant=at_w + F(1, 100) <= at_v),
        ),
    ]


def regular_spaces() -> list[ProofStep]:
    """‖·‖_ρ² is 2(ρ−1)-smooth for ρ ≥ 2, and what κ follows for ℓ_q^d."""
    rho, A, B, Y, r, nq, n, L = reals("rho A B Y r nq n L")
    return [
        step(
            "regular.derivative",
            REGULAR,
            "half the second derivative of ‖x + ty‖_ρ² is N^{2−2ρ}(2−ρ)A² + (ρ−1)N^{2−ρ}B with A = Σ|x|^{ρ−1}sgn(x)y,"
            " B = Σ|x|^{ρ−2}y², N = ‖x‖_ρ",
            OnPaper("two derivatives of a power of a sum"),
        ),
        step(
            "regular.hoelder",
            REGULAR,
            "B ≤ N^{ρ−2}‖y‖_ρ²",
            OnPaper("Hölder's inequality with the exponents ρ/(ρ−2) and ρ/2"),
        ),
        step(
            "regular.curvature",
            REGULAR,
            "so half the second derivative is at most (ρ−1)‖y‖_ρ²",
            Smt(
                "ρ ≥ 2, N = 1 (both sides are homogeneous of degree 0 in x), B ≤ Y = ‖y‖_ρ²",
                (rho >= 2, B <= Y, B >= 0),
                (2 - rho) * A * A + (rho - 1) * B <= (rho - 1) * Y,
                TIGHT,
            ),
        ),
        step(
            "regular.taylor",
            REGULAR,
            "(3) with κ_+ = ρ − 1: Taylor along the segment (through 0 by continuity)",
            OnPaper("Taylor's formula with the bound of the last step"),
        ),
        step(
            "regular.means",
            EQUIVALENT,
            "‖x‖_q ≤ ‖x‖_ρ ≤ d^{1/ρ−1/q}‖x‖_q for 2 ≤ ρ ≤ q",
            OnPaper("norms fall, means rise with the exponent"),
        ),
        step(
            "regular.equivalence",
            EQUIVALENT,
            "(4) with κ = (ρ−1)r², κ_+ = ρ − 1, r = d^{1/ρ−1/q}, and 1 ≤ κ_+ ≤ κ",
            Parts(
                "ρ ≥ 2, r ≥ 1",
                {
                    "left": Smt("", (nq >= 0, n >= nq), nq * nq <= n * n, TIGHT),
                    "right": Smt(
                        "",
                        (rho >= 2, r >= 1, n >= 0, nq >= 0, n <= r * nq),
                        n * n <= (rho - 1) * r * r / (rho - 1) * (nq * nq),
                        TIGHT,
                    ),
                    "least": Smt("", (rho >= 2,), rho - 1 >= 1, TIGHT),
                    "order": Smt("", (rho >= 2, r >= 1), rho - 1 <= (rho - 1) * r * r, TIGHT),
                },
                "smt",
            ),
        ),
        step(
            "regular.best",
            EQUIVALENT,
            "the best ρ: (ln((ρ−1)d^{2/ρ}))' = 1/(ρ−1) − 2 ln d/ρ² vanishes where ρ² = 2 ln d·(ρ−1), L = ln d",
            Identity("ρ > 1", 1 / (rho - 1) - 2 * L / rho**2, (rho**2 - 2 * L * (rho - 1)) / (rho**2 * (rho - 1))),
            "tight",
        ),
        step(
            "regular.printed-fails",
            "E4.11",
            "2 ln 2 < 2, the second moment of ε_1(1, 1) + ε_2(1, −1) in ℓ_∞² over the sum of the squares, 4/2",
            Cover("d = 2", {}, _two_log_two, F(1, 2)),
            "printed",
        ),
    ]


def _two_log_two(K: Any) -> tuple[Any, Any]:
    return 2 * K.log(K(2)), K(2)


# ------------------------------------------------------------------------------------------ equation (5)


def unravelled() -> list[ProofStep]:
    """The recursive estimate written out: a_t^{(k)} = (1−η_k)P_{k,t}, c_t^{(k)} = η_kP_{k,t}."""
    e, P, start, rest, change, g = reals("e P start rest change g")
    return [
        step(
            "unravel.start",
            UNRAVELLED,
            "t = 1: (1−η_1)(∇^0 + Δ^1) + η_1g^1 has the coefficients a^{(1)} = 1 − η_1 of ∇^0 and Δ^1, c^{(1)} = η_1",
            Identity("all", (1 - e) * (start + change) + e * g, (1 - e) * start + (1 - e) * change + e * g),
        ),
        step(
            "unravel.step",
            UNRAVELLED,
            "one step more multiplies every earlier coefficient by 1 − η, gives Δ the factor 1 − η and g the factor η",
            Identity(
                "t to t + 1; `rest` the terms of the earlier batches",
                (1 - e) * ((P * start + rest) + change) + e * g,
                (P * (1 - e)) * start + (1 - e) * rest + (1 - e) * change + e * g,
            ),
        ),
        step(
            "unravel.below-one",
            UNRAVELLED,
            "all coefficients are below 1: η_k is in (0, 1) for k ≥ 1 and products of 1 − η_j lie in [0, 1]",
            Parts(
                "0 < η < 1, 0 ≤ P ≤ 1",
                {
                    "a": Smt("", (e > 0, e < 1, P >= 0, P <= 1), (1 - e) * P < 1, TIGHT),
                    "c": Smt("", (e > 0, e < 1, P >= 0, P <= 1), e * P < 1, TIGHT),
                    "products": Smt("", (e > 0, e < 1, P >= 0, P <= 1), (1 - e) * P <= P, mutant=(1 - e) * P < P / 2),
                },
                "smt",
            ),
        ),
    ]


# ------------------------------------------------------------------------------------- Theorem 10, Facts 1-3


def influence() -> list[ProofStep]:
    """How far one record moves the estimate, the sum over a round, and the privacy of the printed noise."""
    k, L0, L1, D, u, v, move, e, b, c, m, y = reals("k L0 L1 D u v move e b c m y")
    T, x, V, total, squares, g, gg, dd, h, root_L, eps, A, q, s = reals(
        "T x V total squares g gg dd h root_L eps A q s"
    )
    fine = Symbolic()
    bound = record_bound(fine, k, L0, L1, D)  # type: ignore[arg-type]
    root, before = real("root1"), real("root2")
    positive = (L0 > 0, L1 >= 0, D > 0)
    return [
        step(
            "influence.record",
            (PRIVATE, NOISY),
            "one record of batch k adds at most c_k: the triangle inequality, ‖a − a⁻‖ ≤ min{L1·D·η_{k−1}, 2L0}",
            Parts(
                "k ≥ 1, L0, D > 0, L1 ≥ 0; u = ‖a − a⁻‖_*, v = ‖a‖_*, move = ‖w_k − w_{k−1}‖",
                {
                    "move": Smt(
                        "‖w_k − w_{k−1}‖ = η_{k−1}‖v − w‖ ≤ D·η_{k−1}",
                        (L1 >= 0, before > 0, D > 0, move * before <= D, u <= L1 * move),
                        u <= L1 * D * (1 / before),
                        TIGHT,
                        at={"L1": F(1), "root2": F(1), "D": F(1), "move": F(1), "u": F(1)},
                    ),
                    "record": Smt(
                        "X = (1 − η)(a − a⁻) + ηa",
                        (
                            *positive,
                            root >= 1,
                            before > 0,
                            u <= L1 * D * (1 / before),
                            u <= 2 * L0,
                            v <= L0,
                            g <= (1 - 1 / root) * u + 1 / root * v,
                        ),
                        g <= bound,
                        TIGHT,
                        at={"L0": F(1), "L1": F(1), "D": F(1), "root1": F(1), "root2": F(1), "u": F(1), "v": F(1)}
                        | {"g": F(1)},
                    ),
                },
                "smt",
            ),
        ),
        step(
            "influence.coarse",
            PRIVATE,
            "c_k ≤ (L0 + L1·D)/√(k+1): (1−η_k)/√k ≤ 1/√(k+1), because √(k+1) ≤ 1 + √k",
            Smt(
                "k ≥ 1, a = √k, y = √(k+1)",
                (*positive, x >= 1, y > 0, (y * y).equals(x * x + 1), c <= (1 - 1 / y) * (L1 * D / x) + L0 / y),
                c <= (L0 + L1 * D) / y,
                F(6, 10),
            ),
        ),
        step(
            "influence.batch",
            PRIVATE,
            "with at least b/(k+1) records in a batch, replace-one moves the estimate by at most 2√(k+1)(L0 + L1·D)/b",
            Smt(
                "b > 0, y = √(k+1), m the size of the batch, A = L0 + L1·D",
                (b > 0, y >= 1, m * y * y >= b, A > 0, c >= 0, c <= A / y, g <= 2 * c / m),
                g <= 2 * y * A / b,
                TIGHT,
            ),
        ),
        step(
            "influence.decay",
            (PRIVATE, UNRAVELLED),
            "afterwards both runs add the same batches at the same points: the difference is multiplied by 1 − η",
            Identity(
                "all",
                ((1 - e) * (g + dd) + e * h) - ((1 - e) * (gg + dd) + e * h),
                (1 - e) * (g - gg),
            ),
        ),
        step(
            "influence.sum",
            PRIVATE,
            "Fact 2: √(k+1)·Σ_{t≥k}P_{k,t} ≤ T, backwards in k",
            Induction(
                "0 ≤ k < T, any T ≥ 1; x = 1/√(k+2), y = 1/√(k+1)",
                Smt("k = T − 1, s = √T", (s >= 1,), s <= s * s, TIGHT),
                Smt(
                    "k + 1 to k",
                    (x > 0, x <= 1, y >= x, T * x * x >= 1, total <= T * x),
                    1 + (1 - x) * total <= T * y,
                    TIGHT,
                ),
            ),
        ),
        step(
            "influence.squares",
            PRIVATE,
            "Fact 3: (k+1)·Σ_{t≥k}P_{k,t}² ≤ V = max{T, T^{3/2}/2}, backwards in k",
            Induction(
                "0 ≤ k < T, any T ≥ 1; x = 1/√(k+2), s = √T",
                Smt("k = T − 1", (s >= 1, V.equals(maximum(s * s, s**3 / 2))), s * s <= V, TIGHT),
                Smt(
                    "k + 1 to k; x ≥ 1/s, x² ≤ 1/2, k + 1 = 1/x² − 1",
                    (x > 0, 2 * x * x <= 1, s * x >= 1, s**3 / 2 <= V, squares >= 0, squares <= V * x * x),
                    (1 - x * x) * (1 + (1 - x) ** 2 * squares) <= V * x * x,
                    F(9, 10),
                ),
            ),
            "tight",
        ),
        step(
            "influence.range",
            PRIVATE,
            "the scores of two vertices move against each other by at most D times the dual norm",
            Smt("any norm", (dd >= 0, dd <= D, g >= 0, g <= u, h <= g * dd), h <= D * u, TIGHT),
        ),
        step(
            "influence.losses",
            PRIVATE,
            "with the printed s_r the losses of a record's steps sum to at most ε/√L",
            Smt(
                "D, A, b, ε, L > 0, T = 2^r; q = √(k+1)ΣP ≤ T",
                (
                    D > 0,
                    A > 0,
                    b > 0,
                    eps > 0,
                    root_L > 0,
                    T >= 1,
                    q >= 0,
                    q <= T,
                    s.equals(2 * D * A * T * root_L / (b * eps)),
                ),
                D * (2 * A / b) * q / s <= eps / root_L,
                TIGHT,
                at={"D": F(1), "A": F(1), "b": F(1), "eps": F(1), "root_L": F(1), "T": F(1), "q": F(1), "s": F(2)},
            ),
        ),
        step(
            "influence.enough",
            PRIVATE,
            "with max{√L, 1} for √L that is at most ε, for every δ",
            Smt("ε, L > 0", (eps > 0, root_L > 0), eps / maximum(root_L, 1) <= eps, TIGHT),
        ),
        step(
            "influence.worst",
            PRIVATE,
            "an ε0-DP mechanism has δ(ε) at most that of randomised response, (e^{ε0} − e^ε)/(1 + e^{ε0})",
            Quoted("Kairouz, Oh and Viswanath (2015), Theorem 2.5"),
            "printed",
        ),
        step(
            "influence.small-epsilon",
            PRIVATE,
            "the printed scale is enough for ε ≤ √L too if δ > 1/e: there ε0 = ε/√L ≤ 1 and δ(ε) < e^{−L}",
            Cover("0 ≤ ε0 ≤ 1, 0 ≤ √L ≤ 1", {"t": (F(0), F(1)), "r": (F(0), F(1))}, _randomised_response, F(4, 10)),
            "printed",
        ),
        step(
            "influence.transcript",
            PRIVATE,
            "the law of the transcript is the product of its conditional laws: losses add up, rounds without the record"
            " have none; averaging over the assignment of records to batches and choosing ŵ lose nothing",
            OnPaper("reference/smooth/calibration.py, improvement A"),
        ),
    ]


def _randomised_response(K: Any, t: Any, r: Any) -> tuple[Any, Any]:
    """(e^{ε0} − e^ε)/(1 + e^{ε0}) and δ at ε0 = t, ε = t·r, δ = e^{−r²}."""
    return (K.exp(t) - K.exp(t * r)) / (1 + K.exp(t)), K.exp(-r * r)


# ------------------------------------------------------------------------------------------ Theorem 13


def noisy_privacy() -> list[ProofStep]:
    """Gaussian releases of Algorithm 5: sensitivities, deviations, the constant 16."""
    a, L0, L1, D, t1, f, b, root_L, eps, u, v, k = reals("a L0 L1 D t1 f b root_L eps u v k")
    c, t, x, M = reals("c t x M")
    sd, sd_move, before = 4 * L0 * t1 * f * root_L / (b * eps), 4 * L1 * D * t1 * f * root_L / (b * eps), real("before")
    positive = (L0 > 0, L1 > 0, D > 0, t1 >= 1, f > 0, b > 0, root_L > 0, eps > 0)
    return [
        step(
            "noisy.dimension",
            NOISY,
            "‖x‖_2 ≤ d^{1/2−1/q}‖x‖_q for q ≥ 2, and 1/2 − 1/q = 1/p − 1/2 (a = 1/p)",
            Identity("1/q = 1 − 1/p", F(1, 2) - (1 - a), a - F(1, 2)),
        ),
        step(
            "noisy.means",
            NOISY,
            "‖x‖_2 ≤ d^{1/2−1/q}‖x‖_q itself",
            OnPaper("means rise with the exponent"),
        ),
        step(
            "noisy.gradient",
            NOISY,
            "replacing a record moves g̃ by at most 2L0(t+1)/b in ‖·‖_q: sensitivity over deviation is ε/(2√L)",
            Smt(
                "all parameters positive; f = d^{1/p−1/2}",
                (*positive, u >= 0, u <= 2 * L0 * t1 / b, v <= f * u),
                v / sd <= eps / (2 * root_L),
                TIGHT,
                at={
                    "L0": F(1),
                    "L1": F(1),
                    "D": F(1),
                    "t1": F(1),
                    "f": F(1),
                    "b": F(1),
                    "root_L": F(1),
                    "eps": F(1),
                    "u": F(2),
                    "v": F(2),
                },
            ),
        ),
        step(
            "noisy.variation",
            NOISY,
            "it moves Δ̃ by at most 2L1·D·η_{t−1}(t+1)/b: with η_{t−1} in σ̂ (E4.1) the quotient is the same",
            Smt(
                "all parameters positive; `before` = η_{t−1}",
                (*positive, before > 0, u >= 0, u <= 2 * L1 * (D * before) * t1 / b, v <= f * u),
                v / (sd_move * before) <= eps / (2 * root_L),
                TIGHT,
                at={
                    "L0": F(1),
                    "L1": F(1),
                    "D": F(1),
                    "t1": F(1),
                    "f": F(1),
                    "b": F(1),
                    "root_L": F(1),
                    "eps": F(1),
                    "before": F(1),
                    "u": F(2),
                    "v": F(2),
                },
            ),
        ),
        step(
            "noisy.printed-variation",
            "E4.1",
            "with the printed η_t in σ̂ the quotient is √((t+1)/t) times that: η_{t−1}²/η_t² = (1/t)/(1/(t+1))",
            Identity(
                "t = k > 0, the squares",
                ((2 * L1 * D * t1 / b) * f / sd_move) ** 2 * ((1 / k) / (1 / (k + 1))),
                (eps / (2 * root_L)) ** 2 * ((k + 1) / k),
            ),
            "printed",
        ),
        step(
            "noisy.pair",
            NOISY,
            "the two releases of a step together are (ε/√(2L))-GDP: the squares add",
            Identity("all", (eps / (2 * root_L)) ** 2 + (eps / (2 * root_L)) ** 2, eps**2 / (2 * root_L**2)),
        ),
        step(
            "noisy.box",
            NOISY,
            "the constant 16 needs no stretch for ε ≤ √L, L ≤ 64: δ_G(ε, ε/√(2L)) < δ, δ = e^{−L}",
            Cover("0 ≤ ε/√L ≤ 1, 0 ≤ √L ≤ 8", {"t": (F(0), F(1)), "r": (F(0), F(8))}, _pair_profile, F(1, 5), parts=16),
        ),
        step(
            "noisy.edge",
            NOISY,
            "nor for L from 64 to 218.77 (δ down to 1e-95): δ_G grows along ε = t√L, μ = ct, its derivative in t is"
            " φ(√L/c − ct/2)(c − √L·M), M < 1/x Mills' ratio at x = √L/c + ct/2; so t = 1 is the worst",
            Parts(
                "0 ≤ ε/√L ≤ 1, 8 ≤ √L ≤ 14.791; c ≥ 1/√2",
                {
                    "grows": Smt(
                        "a = √L, c > 0, 0 ≤ t, Mills' ratio at x is below 1/x",
                        (a > 0, c > 0, t >= 0, x >= a / c + c * t / 2, M > 0, M * x < 1),
                        a * M < c,
                        TIGHT,
                    ),
                    "worst": Cover("8 ≤ √L ≤ 14.791", {"r": (F(8), F(14791, 1000))}, _pair_at_root, F(9, 10)),
                },
            ),
        ),
        step(
            "noisy.disjoint",
            NOISY,
            "a record is in one batch; what was released before has the same law, what follows is post-processing",
            OnPaper("disjoint batches that do not look at the data (E4.4); closure under post-processing"),
        ),
    ]


SQRT_HALF = F(70711, 100000)
"""Above 1/√2: δ_G grows with μ, so the profile at this μ bounds that of the pair."""


def _pair_profile(K: Any, t: Any, r: Any) -> tuple[Any, Any]:
    """δ_G(ε, μ) and δ at ε = t·r, μ = c·t ≥ ε/√(2L), δ = e^{−r²}; ε/μ = r/c."""
    mu, epsilon, ratio = SQRT_HALF * t, t * r, r / SQRT_HALF
    delta = K.normal_cdf(mu / 2 - ratio) - K.exp(epsilon) * K.normal_cdf(-mu / 2 - ratio)
    return delta, K.exp(-r * r)


def _pair_at_root(K: Any, r: Any) -> tuple[Any, Any]:
    """The same at ε = √L."""
    return _pair_profile(K, K(1), r)


# ---------------------------------------------------------------------------- Fact 4 and V_t, every t and J


def variances() -> list[ProofStep]:
    """The variance of the estimate: its recursion, Fact 4, and the closed form."""
    V, e, c, m, b, A, L0, P, S, x, q, h = reals("V e c m b A L0 P S x q h")
    keep, start, g = reals("keep start g")
    of = (ERROR, NOISY_ERROR)
    root_2, is_root = real("root_2"), (real("root_2") > 0, (real("root_2") * real("root_2")).equals(2))
    return [
        step(
            "variance.recursion",
            of,
            "V_t = (1−η)²V_{t−1} + c_t²/m_t keeps V_t ≤ (P²L0² + (L0 + L1·D)²S_t)/b, S_t = (1−η)²S_{t−1} + 1",
            Induction(
                "t ≥ 0, b, L0 > 0; η = 1/√(t+1), A = L0 + L1·D, at least b/(t+1) records; start = P²L0²",
                Smt("t = 0: c_0 = L0, m_0 ≥ b", (b > 0, L0 > 0, m >= b, V.equals(L0**2 / m)), L0**2 / b >= V, TIGHT),
                Parts(
                    "t − 1 to t",
                    {
                        "record": Smt(
                            "c_t ≤ A·η, m_t ≥ bη²: b·c_t²/m_t ≤ A²",
                            (b > 0, A > 0, e > 0, m >= b * e * e, c >= 0, c <= A * e),
                            c * c * b <= A * A * m,
                            TIGHT,
                        ),
                        "sum": Smt(
                            "keep = (1−η)², V in units of 1/b, g = b·c_t²/m_t",
                            (keep >= 0, keep <= 1, A >= 0, S >= 0, start + A * A * S >= V, g <= A * A),
                            keep * V + g <= keep * start + A * A * (keep * S + 1),
                            TIGHT,
                        ),
                    },
                    "smt",
                ),
            ),
        ),
        step(
            "variance.fact-4",
            of,
            "Fact 4: S_t ≤ √((t+1)/2) for all t ≥ 1, with equality at t = 1",
            Induction(
                "t ≥ 1; x = 1/√(t+1), √(t/2) = √(1−x²)/(√2·x)",
                Smt("t = 1: S_1 = 1 (η_1 in front of S_0 = 0)", (S.equals(1),), S <= 1, TIGHT),
                Smt(
                    "t − 1 to t, t ≥ 2",
                    (x > 0, 3 * x * x <= 1, q >= 0, (q * q).equals(1 - x * x), *is_root, S >= 0, S * root_2 * x <= q),
                    (1 + (1 - x) ** 2 * S) * root_2 * x <= 1 + 0 * x,
                    F(9, 10),
                ),
            ),
        ),
        step(
            "variance.root",
            of,
            "√(P²L0² + A²S) ≤ P·L0 + A√S",
            Smt(
                "P, L0, A, √S ≥ 0",
                (P >= 0, L0 >= 0, A >= 0, h >= 0, q >= 0, (q * q).equals((P * L0) ** 2 + (A * h) ** 2)),
                q <= P * L0 + A * h,
                F(8, 10),
            ),
        ),
    ]


def recursions() -> list[ProofStep]:
    """Equations (6), (7), (8): the recursions of the paper's own proofs, with 4c² for the centred moment (E4.13)."""
    z, a, n, g, m, e, t1, k, kp, b, L0, L1, D = reals("z a n g m e t1 k kp b L0 L1 D")
    q, Q, x, gamma, C, total, keep, start = reals("q Q x gamma C total keep start")
    tilde, dim, L, eps, p = reals("tilde dim L eps p")
    noise = 32 * k * tilde / kp * t1 * t1 * dim * L / (b * b * eps * eps)
    data = k * t1 / b
    geometric = [
        step(
            "recursion.sum",
            (SOLVED, NOISY_SOLVED),
            "Σ_{j<t}q^j = (1 − q^t)/(1 − q), Q = q^t",
            Induction(
                "q ≠ 1",
                Identity("t = 1", (1 - q) / (1 - q), term(1)),
                Identity("t to t + 1", (1 - Q) / (1 - q) + Q, (1 - Q * q) / (1 - q)),
            ),
        ),
        step(
            "recursion.bound",
            (SOLVED, NOISY_SOLVED),
            "with q = (1 − x)², x = 1/√(t+1), that is at most 1/(1 − q) ≤ 1/x = √(t+1)",
            Smt(
                "0 < x ≤ 1, 0 ≤ Q ≤ 1",
                (x > 0, x <= 1, Q >= 0, Q <= 1, q.equals((1 - x) ** 2)),
                (1 - Q) / (1 - q) <= 1 / x,
                F(99, 100),
            ),
        ),
        step(
            "recursion.solved",
            (SOLVED, NOISY_SOLVED),
            "γ_j ≤ (1−η_j)²γ_{j−1} + C for j ≤ t gives γ_t ≤ γ_0q^t + C·Σ_{j<t}q^j, as (1−η_j)² ≤ q",
            Induction(
                "C, γ ≥ 0, keep = (1−η_j)² ≤ q ≤ 1, Q = q^j",
                Smt("j = 0", (gamma.equals(start),), gamma <= start, mutant=gamma < start),
                Smt(
                    "j to j + 1",
                    (
                        C >= 0,
                        start >= 0,
                        gamma >= 0,
                        keep >= 0,
                        keep <= q,
                        q <= 1,
                        Q >= 0,
                        total >= 0,
                        gamma <= start * Q + C * total,
                    ),
                    keep * gamma + C <= start * (Q * q) + C * (1 + q * total),
                    TIGHT,
                ),
            ),
        ),
    ]
    return [
        step(
            "recursion.smooth",
            (SOLVED, RECURSION, NOISY_SOLVED),
            "(3) along the recursion: given the past the new part of the error has mean 0, so the linear term vanishes",
            OnPaper("the expectation of (3); fresh batches"),
        ),
        step(
            "recursion.two",
            SOLVED,
            "‖(1−η)a + ηg‖² ≤ 2(1−η)²‖a‖² + 2η²‖g‖²",
            Smt(
                "0 ≤ η ≤ 1",
                (e >= 0, e <= 1, a >= 0, g >= 0, z >= 0, z <= (1 - e) * a + e * g),
                z * z <= 2 * (1 - e) ** 2 * a * a + 2 * e * e * g * g,
                TIGHT,
            ),
        ),
        step(
            "recursion.constants",
            SOLVED,
            "2κ_+(1−η)²·M(L1·Dη)²(t+1)/b + 2κ_+η²·M·L0²(t+1)/b ≤ 2Mκ_+(L0² + L1²D²)/b: 8 for M = 4 ln J as printed",
            Smt(
                "η²(t+1) = 1, 0 < η ≤ 1, all else ≥ 0; M is 8 ln J once E4.13 is corrected",
                (e > 0, e <= 1, (e * e * t1).equals(1), b > 0, kp >= 0, m >= 0, L0 >= 0, L1 >= 0, D >= 0),
                2 * kp * (1 - e) ** 2 * m * (L1 * D * e) ** 2 * t1 / b + 2 * kp * e * e * m * L0**2 * t1 / b
                <= 2 * m * kp * (L0**2 + L1**2 * D**2) / b,
                TIGHT,
                at={"e": F(1), "t1": F(1), "b": F(1), "kp": F(1), "m": F(1), "L0": F(1), "L1": F(0), "D": F(0)},
            ),
        ),
        step(
            "recursion.four",
            RECURSION,
            "(7): ‖(1−η)(a + n) + η(g + m)‖² ≤ 4(1−η)²(‖a‖² + ‖n‖²) + 4η²(‖g‖² + ‖m‖²)",
            Smt(
                "0 ≤ η ≤ 1, norms",
                (e >= 0, e <= 1, a >= 0, n >= 0, g >= 0, m >= 0, z >= 0, z <= (1 - e) * (a + n) + e * (g + m)),
                z * z <= 4 * (1 - e) ** 2 * (a * a + n * n) + 4 * e * e * (g * g + m * m),
                TIGHT,
                at={"e": F(1, 2), "a": F(1), "n": F(1), "g": F(1), "m": F(1), "z": F(2)},
            ),
        ),
        step(
            "recursion.powers",
            (RECURSION, NOISY_SOLVED),
            "the dimension: d^{2/q}·d^{2/p−1} = d, by 2/q + 2/p − 1 = 1 (p = 1/p here)",
            Identity("1/q = 1 − 1/p", 2 * (1 - p) + 2 * p - 1, term(1)),
        ),
        step(
            "recursion.noisy-constants",
            (RECURSION, NOISY_SOLVED),
            "from (7): 4κ_+·2κ = 8κκ_+ before (L0² + L1²D²)/b, 4κ_+·32κκ̃/κ_+ = 128κκ̃ before the noise",
            Smt(
                "η²(t+1) = 1, 0 < η ≤ 1, all else positive; 2κ as printed (4κ once E4.13 is corrected)",
                (
                    e > 0,
                    e <= 1,
                    (e * e * t1).equals(1),
                    b > 0,
                    k > 0,
                    kp > 0,
                    tilde > 0,
                    dim > 0,
                    L > 0,
                    eps > 0,
                    L0 >= 0,
                    L1 >= 0,
                    D >= 0,
                ),
                4 * kp * (1 - e) ** 2 * (2 * data * (L1 * D * e) ** 2 + noise * (L1 * D * e) ** 2)
                + 4 * kp * e * e * (2 * data * L0**2 + noise * L0**2)
                <= (8 * k * kp / b + 128 * k * tilde * t1 * dim * L / (b * b * eps * eps)) * (L0**2 + L1**2 * D**2),
                TIGHT,
                at={
                    "e": F(1),
                    "t1": F(1),
                    "b": F(1),
                    "k": F(1),
                    "kp": F(1),
                    "tilde": F(1),
                    "dim": F(1),
                    "L": F(1),
                    "eps": F(1),
                    "L0": F(1),
                    "L1": F(0),
                    "D": F(0),
                },
            ),
        ),
        step(
            "recursion.factor",
            NOISY_SOLVED,
            "the factor k + 1 ≤ t + 1 of the noise is taken out of the sum",
            Smt("k ≤ t, C ≥ 0", (C >= 0, x >= 1, t1 >= x), C * x <= C * t1, TIGHT),
        ),
        *geometric,
    ]


def gradient_error() -> list[ProofStep]:
    """Lemma 12 by Hoeffding's lemma: no regularity is used, and the printed bound follows for all t and J."""
    mean, square, ln, v, r, c, P, u, h, L0, A = reals("mean square ln v r c P u h L0 A")
    exact = (r > 0, (r * r).equals(2), h > 0, (h**4).equals(F(1, 2)))
    return [
        step(
            "error.range",
            ERROR,
            "⟨v, X⟩ lies in [−c_t, c_t] for every vertex v of the unit ball, so its centred moment is subgaussian:"
            " a variable in an interval of length 2c has variance at most c²",
            Smt(
                "every law on [−c, c], through its first two moments",
                (c > 0, c * c - square >= 0),
                square - mean * mean <= c * c,
                TIGHT,
            ),
        ),
        step(
            "error.hoeffding",
            ERROR,
            "E exp(λ⟨v, e_t⟩) ≤ exp(λ²V_t/2): Hoeffding's lemma for each record, conditioned step by step",
            Quoted("Hoeffding (1963), lemma 1; its second derivative is the variance under a tilted law"),
        ),
        step(
            "error.union",
            ERROR,
            "E max over J vertices ≤ (ln J)/λ + λV/2: Jensen, and the sum bounds the maximum",
            OnPaper("Jensen's inequality for the exponential"),
        ),
        step(
            "error.best",
            (ERROR, NOISY_ERROR),
            "at λ = √(2 ln J/V) that is √(2 ln J·V), l = √(2 ln J), v = √V; J = 2d for the largest of d Gaussians",
            Identity("ln J, V > 0", ln * ln / 2 / (ln / v) + (ln / v) * v * v / 2, ln * v),
        ),
        step(
            "error.log",
            ERROR,
            "69/100 < ln 2 ≤ ln J",
            Cover("J ≥ 2: ln increases", {}, _log_2_from_below, F(99, 100)),
        ),
        step(
            "error.start",
            ERROR,
            "t = 0: √(2 ln J)·L0 ≤ 4 ln J·(L0 + L1·D), c = √ln J, A = L0 + L1·D",
            Smt(
                "J ≥ 2",
                (*exact[:2], c > 0, c * c >= F(69, 100), L0 >= 0, A >= L0),
                r * c * L0 <= 4 * c * c * A,
                F(4, 10),
            ),
        ),
        step(
            "error.printed",
            ERROR,
            "t ≥ 1: √(2 ln J)(P·L0 + A((t+1)/2)^{1/4}) ≤ 4 ln J·A(t+1)^{1/4}: below the printed second term alone",
            Smt(
                "J ≥ 2, u = (t+1)^{1/4} ≥ 1, 0 ≤ P ≤ 1, A ≥ L0 ≥ 0; h = 2^{−1/4}",
                (*exact, c > 0, c * c >= F(69, 100), u >= 1, P >= 0, P <= 1, L0 >= 0, A >= L0),
                r * c * (P * L0 + A * h * u) <= 4 * c * c * A * u,
                F(7, 10),
            ),
        ),
    ]


def _log_2_from_below(K: Any) -> tuple[Any, Any]:
    return K(F(69, 100)), K.log(K(2))


def noisy_gradient_error() -> list[ProofStep]:
    """Lemma 15: a regular dual for the data, one Gaussian for the noise, and the printed bound for all t and d ≥ 2."""
    q, L, s, P, u, h, m, e, e1 = reals("q L s P u h m e e1")
    x, mean, c, U, W, t1, L0, M = reals("x mean c U W t1 L0 M")
    number = real("number")
    quarter = (h > 0, (h**4).equals(F(1, 2)))
    return [
        step(
            "noisy-error.centred",
            NOISY_ERROR,
            "‖X − EX‖² ≤ 4c² for ‖X‖ ≤ c (E4.13)",
            Smt("any norm", (c >= 0, x >= 0, mean >= 0, x <= c + mean, mean <= c), x * x <= 4 * c * c, TIGHT),
        ),
        step(
            "noisy-error.added",
            NOISY_ERROR,
            "E‖e_t‖² ≤ 4κV_t for the data's part: records added one at a time with (3), the linear term has mean 0",
            OnPaper("reference/smooth/bounds.py, improvement B"),
        ),
        step(
            "noisy-error.kappa",
            NOISY_ERROR,
            "the provable κ is at most e times the printed min{q−1, 2 ln d}, which is at least 1 for d ≥ 2",
            Parts(
                "d ≥ 2, q ≥ 2, number = e, L = ln d",
                {
                    "q−1 the smaller, ρ = q": Smt(
                        "",
                        (number >= 1, q >= 2),
                        q - 1 <= number * (q - 1),
                        mutant=q - 1 <= number * (q - 1) / 2,
                        at={"number": F(1), "q": F(2)},
                    ),
                    "2 ln d the smaller, ρ = 2 ln d ≥ 2": Smt(
                        "d ≥ 3: (ρ−1)d^{2/ρ} = (2L−1)e",
                        (number > 0, L >= 1),
                        (2 * L - 1) * number <= number * (2 * L),
                        F(1, 2),
                    ),
                    "d = 2, ρ = 2": Cover("2 ≤ e·2 ln 2", {}, _e_two_log_two, F(1, 2)),
                    "q−1 at least 1": Smt("", (q >= 2,), q - 1 >= 1, TIGHT),
                    "2 ln d at least 1": Cover("d = 2, ln increases", {}, _two_log_two_from_below, F(1, 2)),
                    "√κ ≤ κ": Smt("", (s >= 1,), s <= s * s, TIGHT),
                },
            ),
        ),
        step(
            "noisy-error.data",
            NOISY_ERROR,
            "2√e·(P + ((t+1)/2)^{1/4}) ≤ 16(t+1)^{1/4}: the printed second term covers the data's part",
            Parts(
                "t ≥ 0, u = (t+1)^{1/4}, 0 ≤ P ≤ 1",
                {
                    "e": Cover("e < 2.7183", {}, _e_from_above, F(9999, 10000)),
                    "units": Smt(
                        "s = √e",
                        (*quarter, s > 0, s * s <= F(27183, 10000), u >= 1, P >= 0, P <= 1),
                        2 * s * (P + h * u) <= 16 * u,
                        F(1, 3),
                    ),
                },
            ),
        ),
        step(
            "noisy-error.deviation",
            NOISY_ERROR,
            "a step's joint deviation is at most unit·√(t+1)(L0 + L1·D): (1−η_t)η_{t−1} ≤ η_t, M = L1·D",
            Parts(
                "t ≥ 1, x = √t, e = √(t+1); s the deviation over unit·(t+1)",
                {
                    "factor": Smt(
                        "", (x >= 1, e > 0, (e * e).equals(x * x + 1)), (1 - 1 / e) * (1 / x) <= 1 / e, F(6, 10)
                    ),
                    "sum": Smt(
                        "c = (1−η_t)η_{t−1}, h = η_t",
                        (h > 0, c >= 0, c <= h, L0 >= 0, M >= 0, s >= 0, s * s <= (c * M) ** 2 + (h * L0) ** 2),
                        s <= h * (L0 + M),
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "noisy-error.weights",
            NOISY_ERROR,
            "Σ_k(k+1)P_{k,t}² ≤ (t+1)(P_{0,t}² + S_t)",
            Induction(
                "t ≥ 0; U = P² + S",
                Smt("t = 0", (W.equals(1), U.equals(1), t1.equals(1)), t1 * U >= W, TIGHT),
                Smt(
                    "t − 1 to t",
                    (U >= 0, W >= 0, t1 >= 2, e1 >= 0, e1 <= 1, (t1 - 1) * U >= W),
                    e1**2 * W + t1 <= t1 * (e1**2 * U + 1),
                    TIGHT,
                ),
            ),
        ),
        step(
            "noisy-error.noise",
            NOISY_ERROR,
            "4√2·√((t+1)(P² + √((t+1)/2))) ≤ 16(t+1)^{3/4}: the printed noise term covers the noise's part (squared)",
            Smt(
                "t ≥ 0, u = (t+1)^{1/4}, 0 ≤ P ≤ 1, m = 1/√2",
                (u >= 1, P >= 0, P <= 1, m > 0, (2 * m * m).equals(1)),
                32 * u**4 * (P * P + m * u * u) <= 256 * u**6,
                F(1, 5),
            ),
        ),
        step(
            "noisy-error.gaussian",
            NOISY_ERROR,
            "E‖g‖_q ≤ d^{1/q}√(2 ln(2d)) ≤ d^{1/q}√(2κ̃), κ̃ = 1 + ln d, as ln 2 < 1",
            Parts(
                "d ≥ 1",
                {
                    "ln 2": Cover("ln 2 < 1", {}, _log_2_below_1, F(1, 2)),
                    "sum": Smt("x = ln 2, L = ln d", (x > 0, x < 1, L >= 0), x + L <= 1 + L, F(1, 2)),
                },
            ),
        ),
        step(
            "noisy-error.linear",
            NOISY_ERROR,
            "the noise of all steps is one Gaussian vector; the two parts add by the triangle inequality",
            OnPaper("reference/smooth/bounds.py, noisy_gradient_errors"),
        ),
    ]


def _e_two_log_two(K: Any) -> tuple[Any, Any]:
    return K(2), K.exp(K(1)) * 2 * K.log(K(2))


def _two_log_two_from_below(K: Any) -> tuple[Any, Any]:
    return K(1), 2 * K.log(K(2))


def _e_from_above(K: Any) -> tuple[Any, Any]:
    return K.exp(K(1)), K(F(27183, 10000))


def _log_2_below_1(K: Any) -> tuple[Any, Any]:
    return K.log(K(2)), K(1)


# ------------------------------------------------------------------------------------ Theorems 11 and 14


def descent() -> list[ProofStep]:
    """One round: the descent chain, Abel summation, the sums over the steps."""
    F0, F1, eta, L1, D, gap, err, a, move = reals("F0 F1 eta L1 D gap err a move")
    fv, fw, fs, gv, gs, qv, qs, uv, us = reals("fv fw fs gv gs qv qs uv us")
    G, x, y, u, v, fT, fN, L0, X, q, Q = reals("G x y u v fT fN L0 X q Q")
    return [
        step(
            "descent.split",
            BOTH,
            "⟨∇F, v − w⟩ = ⟨∇F − ∇̂, v − v*⟩ + ⟨∇̂, v − v*⟩ + ⟨∇F, v* − w⟩, in the products with v, w, v* (E4.17)",
            Identity("all", fv - fw, ((fv - gv) - (fs - gs)) + (gv - gs) + (fs - fw)),
        ),
        step(
            "descent.step",
            BOTH,
            "Gap(w_t) ≤ (F(w_t) − F(w_{t+1}))/η + L1·D²η/2 + D‖∇̂ − ∇F‖_* + α: smoothness alone, no convexity (E4.16)",
            Smt(
                "η, D, L1 > 0; move = ‖v − w‖ ≤ D, err = ‖∇̂ − ∇F‖_*",
                (
                    eta > 0,
                    L1 > 0,
                    D > 0,
                    move >= 0,
                    move <= D,
                    err >= 0,
                    F0 + eta * x + L1 * (eta * move) ** 2 / 2 >= F1,
                    x <= err * D + a - gap,
                ),
                gap <= (F0 - F1) / eta + L1 * D * D * eta / 2 + D * err + a,
                mutant=gap <= (F0 - F1) / eta + F(49, 100) * L1 * D * D * eta + D * err + a,
            ),
        ),
        step(
            "descent.errors",
            BOTH,
            "the mean error of the estimate is what Lemma 12 and Lemma 15 bound, step by step; expectations are linear",
            OnPaper("Lemmas 12 and 15, which have ledgers of their own"),
        ),
        step(
            "descent.chosen",
            GAP,
            "α = ⟨v, ∇̂⟩ − min ≤ u(v*) − u(v): v has the smallest noisy score; so E α is at most s times the mean of"
            " the largest of J symmetric draws",
            Smt("", (qv + uv <= qs + us,), qv - qs <= us - uv, mutant=qv - qs <= us - uv - F(1, 100)),
        ),
        step(
            "descent.laplace",
            GAP,
            "that mean is Σ_{j≤J}(1−2^{−j})/j − 2^{−J}/J",
            OnPaper("reference/smooth/bounds.py, laplace_excess: two integrals"),
        ),
        step(
            "descent.abel",
            BOTH,
            "Γ = Σ√(t+1)(F_t − F_{t+1}) = Σ_{t<T}(√(t+1) − √t)(F_t − F_T), x = √T, y = √(T+1)",
            Identity(
                "T to T + 1 (both sides start at 0): what is added, Σ_{t<T}(√(t+1) − √t) = √T",
                G + y * (fT - fN),
                G + x * (fT - fN) + (y - x) * (fT - fN),
            ),
        ),
        step(
            "descent.range",
            BOTH,
            "so Γ ≤ √T·L0·D ≤ 3L0·D·√T: weights √(t+1) − √t ≥ 0 that sum to √T, and F_t − F_T ≤ L0·D",
            Induction(
                "T ≥ 0, X = L0·D",
                Smt("T = 0", (G.equals(0), x.equals(0), X > 0), x * X >= G, mutant=x * X > G),
                Smt("T to T + 1", (x >= 0, y >= x, X > 0, fT <= X, x * X >= G), G + (y - x) * fT <= y * X, TIGHT),
            ),
        ),
        step(
            "descent.steps",
            BOTH,
            "Σ_{t≤T}1/√t ≤ 2√T",
            Induction(
                "T ≥ 1, x = √T, y = √(T+1)",
                Smt("T = 1", (G.equals(1), x.equals(1)), 2 * x >= G, F(49, 100)),
                Smt("T to T + 1", (x >= 1, y > 0, (y * y).equals(x * x + 1), 2 * x >= G), G + 1 / y <= 2 * y, F(9, 10)),
            ),
        ),
        step(
            "descent.powers",
            BOTH,
            "Σ_{t≤T}t^{1/4} ≤ T^{5/4} and Σ_{t≤T}t^{3/4} ≤ T^{7/4} (the displays allow twice that)",
            Parts(
                "T ≥ 1, u = T^{1/4}, v = (T+1)^{1/4}: one term more",
                {
                    "quarter": Smt(
                        "",
                        (u >= 1, v >= u, (v**4).equals(u**4 + 1), u**5 >= G),
                        G + v <= v**5,
                        F(9, 10),
                    ),
                    "three": Smt(
                        "",
                        (u >= 1, v >= u, (v**4).equals(u**4 + 1), u**7 >= G),
                        G + v**3 <= v**7,
                        F(9, 10),
                    ),
                    "T = 1": Smt("", (G.equals(1), u.equals(1)), u**5 >= G, TIGHT),
                },
                "induction",
            ),
        ),
        step(
            "descent.geometric",
            BOTH,
            "Σ_{t<T}(1 − T^{−1/2})^t ≤ √T, and (1−η_t)^t ≤ (1 − T^{−1/2})^t as t + 1 ≤ T",
            Parts(
                "T ≥ 1, x = √T, Q = (1 − 1/x)^T",
                {
                    "sum": Smt("", (x >= 1, Q >= 0, q.equals(1 - 1 / x)), (1 - Q) / (1 - q) <= x, TIGHT),
                    "closed": Identity("", (1 - Q) / (1 - q) + Q, (1 - Q * q) / (1 - q)),
                    "base": Smt("", (x >= 1, y >= 1, x >= y), 1 - 1 / y <= 1 - 1 / x, TIGHT),
                },
                "induction",
            ),
        ),
        step(
            "descent.constants",
            BOTH,
            "a round's first term: Γ + L1·D²√T ≤ 3D(L0 + L1·D)√T",
            Smt(
                "L0, L1 ≥ 0, D > 0, x = √T ≥ 1",
                (L0 >= 0, L1 >= 0, D > 0, x >= 1, 3 * L0 * D * x >= G),
                G + L1 * D * D * x <= 3 * D * (L0 + L1 * D) * x,
                F(9, 10),
                at={"L0": F(1), "L1": F(0), "D": F(1), "x": F(1), "G": F(3)},
            ),
        ),
    ]


ROOTS = {F(1, 2): (2, 2), F(5, 4): (4, 32), F(2): (1, 4), F(7, 4): (4, 128)}
"""a → (k, m) with (2^a)^k = m: what makes 2^a a variable of exact arithmetic."""


def rounds() -> list[ProofStep]:
    """The sums over rounds, for all R, and the averages over 2^R − 1 iterates."""
    of = {
        "9": BOTH,
        "12": (GAP,),
        "6": (GAP,),
        "2": (GAP,),
        "24": (NOISY_GAP,),
        "48": (NOISY_GAP,),
        "24'": (NOISY_GAP,),
    }
    names = {"24'": "24-noise"}
    found = [
        step(
            f"rounds.{names.get(name, name)}",
            of[name],
            f"Σ_{{r<R}} {c}·2^{{{a}r}} ≤ {claimed}·2^{{{a}R}} for every R ≥ 1",
            _round_sum(c, a, claimed),
        )
        for name, (c, a, claimed) in ROUND_CONSTANTS.items()
    ]
    z, C, b, R, ln2, extra, used = reals("z C b R ln2 extra used")
    return [
        *found,
        step(
            "rounds.averages",
            BOTH,
            "over the 2^R − 1 iterates the sums are at most C·2^{(a−1)R}(2^R − 1), C = 9, 12, 24; 6.73, 27; 2; 24",
            Parts(
                "R ≥ 1, z = 2^{R/4}; closed forms c(2^{aR} − 1)/(2^a − 1); 3/9 = 4/12 = 8/24, 8/6.73 = 32/26.92",
                {
                    "a = 1/2": Smt(
                        "1/(√2 − 1) = √2 + 1 ≤ 2.4143; (z² − 1)/(z⁴ − 1) = 1/(z² + 1)",
                        (z > 1, z**4 >= 2, C.equals(3 * F(24143, 10000))),
                        C * (z**2 - 1) * z**2 <= 9 * (z**4 - 1),
                        F(5, 10),
                    ),
                    "a = 5/4": Smt(
                        "1/(2^{5/4} − 1) ≤ 0.7255",
                        (z > 1, z**4 >= 2, C.equals(8 * F(7255, 10000))),
                        C * (z**5 - 1) <= F(673, 100) * z * (z**4 - 1),
                        F(99, 100),
                    ),
                    "a = 2": Smt(
                        "1/(4 − 1)", (z > 1, z**4 >= 2), F(4, 3) * (z**8 - 1) <= 2 * z**4 * (z**4 - 1), F(99, 100)
                    ),
                    "a = 7/4": Smt(
                        "1/(2^{7/4} − 1) ≤ 0.4231",
                        (z > 1, z**4 >= 2),
                        32 * F(4231, 10000) * (z**7 - 1) <= 24 * z**3 * (z**4 - 1),
                        F(75, 100),
                    ),
                    "2^{7/4}": Smt("", (z > 0, (z**4).equals(128)), F(4231, 10000) * (z - 1) >= 1, F(999, 1000)),
                    "√2": Smt("", (z > 0, (z * z).equals(2)), F(24143, 10000) * (z - 1) >= 1, F(999, 1000)),
                    "2^{5/4}": Smt("", (z > 0, (z**4).equals(32)), F(7255, 10000) * (z - 1) >= 1, F(999, 1000)),
                },
                "smt",
            ),
        ),
        step(
            "rounds.section",
            "sec:polySFW",
            "the rest of the section: its statements",
            OnPaper("Theorems 10 and 11, Lemma 12 and the equations have ledgers of their own"),
        ),
        step(
            "rounds.samples",
            ("sec:polySFW", *BOTH),
            "ΣΣ⌈b/(t+1)⌉ ≤ bR² for b ≥ 2^{R−1}, R ≥ 3: H_T ≤ 1 + ln T, a ceiling costs less than 1 a batch",
            Parts(
                "R ≥ 3, b > 0; the batches number 2^R − 1 ≤ 2b; R = 1, 2 by hand: b and 2b + ⌈b/2⌉",
                {
                    "ln 2": Cover("ln 2 < 0.6932", {}, _log_2_from_above, F(99, 100)),
                    "sum": Smt(
                        "Σ_{r<R}(1 + r ln 2)b = b(R + R(R−1)/2·ln 2)",
                        (
                            R >= 3,
                            b > 0,
                            ln2 > 0,
                            ln2 <= F(6932, 10000),
                            extra <= 2 * b,
                            used <= b * (R + ln2 * R * (R - 1) / 2) + extra,
                        ),
                        used <= b * R * R,
                        F(7, 10),
                    ),
                    "R = 2": Smt("⌈b/2⌉ ≤ b", (b >= 1, extra <= b, used <= 2 * b + extra), used <= 4 * b, F(7, 10)),
                },
            ),
        ),
    ]


def _round_sum(c: int, a: Fraction, claimed: int) -> Proof:
    """Σ_{r<R+1} = Σ_{r<R} + c·y ≤ C·x·y with x = 2^a, y = x^R."""
    x, y, total = reals("x y total")
    k, m = ROOTS[a]
    exact = (x > 0, (x**k).equals(m))
    return Induction(
        f"R ≥ 0, x = 2^{{{a}}} exactly, y = x^R",
        Smt("R = 0", (total.equals(0), y.equals(1)), total <= claimed * y, mutant=total <= claimed * y - claimed - 1),
        Smt("R to R + 1", (*exact, y >= 1, total <= claimed * y), total + c * y <= claimed * (x * y), F(6, 10)),
    )


def _log_2_from_above(K: Any) -> tuple[Any, Any]:
    return K.log(K(2)), K(F(6932, 10000))


def choices() -> list[ProofStep]:
    """R and b put in: the exponents of Theorems 11 and 14, and the conditions under which the rate dominates."""
    half, x, e, rL, ratio = reals("half x e rL ratio")
    return [
        step(
            "choice.polyhedral",
            GAP,
            "2^R = (nε/(ln²J·ln²n·√L))^{2/3}, b = n/ln²n: the four terms' exponents, and that of the rate",
            _polyhedral(),
        ),
        step(
            "choice.third",
            GAP,
            "the third term is (ε/√L)^{1/2} times the rate (E4.22): below it for ε ≤ √L",
            Parts(
                "ε ≤ √L",
                {
                    "exponents": _third(),
                    "at most": Smt(
                        "half² = ε/√L",
                        (half >= 0, e > 0, rL > 0, (half * half).equals(e / rL), e <= rL),
                        half <= 1,
                        TIGHT,
                        at={"half": F(1), "e": F(1), "rL": F(1)},
                    ),
                },
                "exponents",
            ),
        ),
        step(
            "choice.noisy",
            NOISY_GAP,
            "2^R = (nε/(√(dκ̃L)κ^{5/3}ln²n))^{4/5}, b = n/ln²n: the exponents of the four terms",
            _noisy(),
        ),
        step(
            "choice.balance",
            NOISY_GAP,
            "where dκ̃ = n^{1/3}ε²/(L·ln^{2/3}n) the third term is n^{−1/3}ln^{2/3}n: the printed rate's first term",
            _noisy_balance(),
        ),
        step(
            "choice.smaller",
            NOISY_GAP,
            "with R the smaller of the two balances (E4.30), 2^R = (b/κ)^{2/3}, and the proved √(κ/b) for the data both"
            " terms are κ^{1/3}(ln²n/n)^{1/3}, below the printed κ^{2/3} (κ ≥ 1)",
            _smaller(),
        ),
        step(
            "choice.whole",
            BOTH,
            "R rounded down to a whole number (log2, E4.21) costs a factor of at most 2 in 2^R: 2^{−R/2} grows by √2",
            Smt("2^R ≥ x/2", (x > 0, ratio >= x / 2), 1 / ratio <= 2 / x, TIGHT),
        ),
    ]


def _polyhedral() -> Exponents:
    """n, ε, L = ln(1/δ), J = ln J, l = ln n."""
    power = (Powers.of(n=1, epsilon=1, J=-2, l=-2, L=F(-1, 2))) ** F(2, 3)
    b = Powers.of(n=1, l=-2)
    rate = Powers.of(J=F(2, 3), l=F(2, 3), L=F(1, 6), n=F(-1, 3), epsilon=F(-1, 3))
    return Exponents(
        "exponents of n, ε, ln(1/δ), ln J, ln n, without constants",
        (
            (power ** F(-1, 2), rate),
            (Powers.of(J=F(1, 2)) / b ** F(1, 2) * power ** F(-1, 2), Powers.of(J=F(1, 2), l=1, n=F(-1, 2)) * rate),
            (
                Powers.of(J=1) / b ** F(1, 2) * power ** F(1, 4),
                Powers.of(epsilon=F(1, 6), l=F(2, 3), L=F(-1, 12), J=F(2, 3), n=F(-1, 3)),
            ),
            (Powers.of(J=1, L=F(1, 2), epsilon=-1) / b * power, rate / Powers.of(J=1)),
        ),
    )


def _third() -> Exponents:
    rate = Powers.of(J=F(2, 3), l=F(2, 3), L=F(1, 6), n=F(-1, 3), epsilon=F(-1, 3))
    third = Powers.of(epsilon=F(1, 6), l=F(2, 3), L=F(-1, 12), J=F(2, 3), n=F(-1, 3))
    return Exponents("", ((third / rate, Powers.of(epsilon=F(1, 2), L=F(-1, 4))),))


def _noisy() -> Exponents:
    """k = κ, d stands for dκ̃·ln(1/δ), l = ln n."""
    power = Powers.of(n=1, epsilon=1, d=F(-1, 2), k=F(-5, 3), l=-2) ** F(4, 5)
    b = Powers.of(n=1, l=-2)
    rate = Powers.of(d=F(1, 5), l=F(4, 5), n=F(-2, 5), epsilon=F(-2, 5))
    noise = Powers.of(d=F(1, 2), k=F(1, 2), epsilon=-1) / b
    two_thirds = Powers.of(k=F(2, 3))
    return Exponents(
        "exponents of n, ε, dκ̃·ln(1/δ), κ, ln n, without constants",
        (
            (power ** F(-1, 2), two_thirds * rate),
            (Powers.of(k=F(1, 2)) / b ** F(1, 2) * power ** F(-1, 2), Powers.of(k=F(7, 6), l=1, n=F(-1, 2)) * rate),
            (noise * power ** F(-1, 2), two_thirds * noise * rate),
            (
                Powers.of(k=1) / b ** F(1, 2) * power ** F(1, 4),
                two_thirds * Powers.of(epsilon=F(1, 5), l=F(3, 5), n=F(-3, 10), d=F(-1, 10)),
            ),
            (noise * power ** F(3, 4), rate / Powers.of(k=F(1, 2))),
        ),
    )


def _noisy_balance() -> Exponents:
    dimension = Powers.of(n=F(1, 3), epsilon=2, l=F(-2, 3))
    third = Powers.of(epsilon=F(1, 5), l=F(3, 5), n=F(-3, 10)) * dimension ** F(-1, 10)
    return Exponents("exponents of n, ε, ln n", ((third, Powers.of(n=F(-1, 3), l=F(2, 3))),))


def _smaller() -> Exponents:
    b = Powers.of(n=1, l=-2)
    power = (b / Powers.of(k=1)) ** F(2, 3)
    return Exponents(
        "exponents of n, κ, ln n",
        (
            (power ** F(-1, 2), Powers.of(k=F(1, 3), l=F(2, 3), n=F(-1, 3))),
            ((Powers.of(k=1) / b) ** F(1, 2) * power ** F(1, 4), Powers.of(k=F(1, 3), l=F(2, 3), n=F(-1, 3))),
        ),
    )
