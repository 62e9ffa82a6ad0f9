"""Steps of the proofs of Section 5 and Appendix B: weak convexity, the proximal map, the solver, Theorem 20.

The proofs are written out in `reference/weakly_convex/`. Norms and inner products enter as real variables with the
inequalities that hold in every norm. A limit t → 0 is proved without limits: for every e > 0, at a t that is small
enough for e, the inequality holds with slack e.
"""

from __future__ import annotations

from fractions import Fraction

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
from audit.checks.proofs.terms import Symbolic, absolute, maximum, real, reals
from reference.weakly_convex import prox
from reference.weakly_convex import proximal_guided as guided

F, S = Fraction, Symbolic()
WEAK, WEAK_EQ, REGULAR = "defn:weak_convexity", "eqn:wk_cvx", "defn:regular_subdifferential"
DIRECTIONS, LOWER, LOWER_EQ = "prop:loc_subdiff", "prop:wk_cvx_subdifferential", "eqn:subgrad_weak_cvx"
SMOOTH, SUM, DISTANCE, OPTIMAL = (
    "cor:smooth_implies_wk_cvx",
    "thm:sum_subdiff",
    "prop:dist_directional",
    "prop:opt_cond_wk_cvx",
)
GAP, CONE, CONSEQUENCES = "eqn:stat_gap_wk_cvx", "app:weakcnvx", ("eqn:PNS_conseq", "sec:PNS_conseq")
REGULARISED, PROX, PROBLEM, CONDITION = "prop:reg_wk_cvx", "eqn:prox_map", "eqn:Moreau", "eqn:opt_cond_prox_type"
ESTIMATE, CLOSE = "lem:prox_estimate", "eqn:close_near_stationary"
NEAR = ("def:prox_near_stat", "eqn:prox_near_stat")
SUBPROBLEM, PROGRESS, SOLVED, RATE = (
    "eqn:proximal_weak_cvx_step",
    "eqn:dist_prox_risk",
    "eqn:guarantee_Asc",
    "eqn:CTNSP_DP_prox",
)
CITED, OURS, THEOREM, REMARK, TABLE = (
    "thm:sc_dp_sco",
    "own:prox_solver",
    "thm:nsmth_ncnvx",
    "rem:nsmth_ncnvx",
    "table:results",
)
SOLVER = (OURS, SOLVED)
PRINTED_PROOF = f"{THEOREM}/proof"
TIGHT = F(99, 100)
"""What a bound that is attained is sharpened by."""


def steps() -> list[ProofStep]:
    """All steps: Appendix B, then Section 5."""
    return [
        *weak_convexity(),
        *subgradients(),
        *rules(),
        *regularisation(),
        *proximal_points(),
        *near_stationarity(),
        *geometry(),
        *mirror_step(),
        *phase(),
        *population(),
        *solver_privacy(),
        *assembly(),
        *rates(),
    ]


# --------------------------------------------------------------------------------- (9), Definitions 22 and 23


def weak_convexity() -> list[ProofStep]:
    """What the definition says in an inner product norm, and in one dimension along a chord."""
    w, v, lam, rho, c, fw, fv, fm, q = reals("w v lam rho c fw fv fm q")
    return [
        step(
            "weak.chord",
            (WEAK, WEAK_EQ),
            "λ‖w‖² + (1−λ)‖v‖² − ‖λw + (1−λ)v‖² = λ(1−λ)‖w − v‖² in an inner product norm (here coordinate by"
            " coordinate): there ρ-weakly convex means that f + (ρ/2)‖·‖² is convex",
            Identity(
                "all", lam * w**2 + (1 - lam) * v**2 - (lam * w + (1 - lam) * v) ** 2, lam * (1 - lam) * (w - v) ** 2
            ),
        ),
        step(
            "weak.larger",
            (WEAK, WEAK_EQ),
            "a ρ-weakly convex function is c-weakly convex for every c ≥ ρ, in every norm",
            Smt(
                "0 ≤ λ ≤ 1, q = ‖w − v‖²",
                (c >= rho, lam >= 0, lam <= 1, q >= 0, fm <= lam * fw + (1 - lam) * fv + rho * lam * (1 - lam) * q / 2),
                fm <= lam * fw + (1 - lam) * fv + c * lam * (1 - lam) * q / 2,
                mutant=fm <= lam * fw + (1 - lam) * fv + F(9, 10) * c * lam * (1 - lam) * q / 2,
            ),
        ),
    ]


def subgradients() -> list[ProofStep]:
    """Propositions 24 and 25, Corollary 26, equation (19)."""
    f0, f1, fv, fw, fm, g, s, e, t, rho, q = reals("f0 f1 fv fw fm g s e t rho q")
    size, slope, L, near, G, eps, ge, gc = reals("size slope L near G eps ge gc")
    lam, d, L1, x, first, moved = reals("lam d L1 x first moved")
    return [
        step(
            "subgradient.local",
            (REGULAR, LOWER),
            "a quadratic lower bound at w with slope g makes g a subgradient: the quotient is at least −e near w",
            Smt(
                "every e > 0, s = ‖v − w‖ ≤ 2e/ρ",
                (rho >= 0, s > 0, e > 0, rho * s <= 2 * e, f1 >= f0 + g - rho / 2 * s * s),
                -e * s <= f1 - f0 - g,
                mutant=-e * s / 2 <= f1 - f0 - g,
            ),
        ),
        step(
            "subgradient.directions-in",
            (DIRECTIONS, f"{DIRECTIONS}/proof"),
            "⊆: along v = w + εc the quotient of Definition 23, times ‖c‖, gives (f(v) − f(w))/ε ≥ ⟨g, c⟩ − e‖c‖",
            Smt(
                "every e > 0, ε > 0 small enough for it",
                (eps > 0, size > 0, e > 0, f1 - f0 - eps * gc >= -e * (eps * size)),
                gc - e * size <= (f1 - f0) / eps,
                mutant=gc - e * size / 2 <= (f1 - f0) / eps,
            ),
        ),
        step(
            "subgradient.directions-out",
            (DIRECTIONS, f"{DIRECTIONS}/proof"),
            "⊇: v − w = εc with c near a direction e: f(v) − f(w) − ⟨g, v − w⟩ ≥ −(slack + (L0 + ‖g‖_*)‖c − e‖)ε",
            Smt(
                "ε > 0, near = ‖c − e‖, slope = f'(w; e), G = ‖g‖_*; f(w + εe) ≥ f(w) + ε(slope − slack)",
                (
                    eps > 0,
                    near >= 0,
                    L >= 0,
                    G >= 0,
                    e > 0,
                    moved >= f0 + eps * (slope - e),
                    f1 >= moved - L * eps * near,
                    slope >= ge,
                    gc <= ge + G * near,
                ),
                -(e + (L + G) * near) * eps <= f1 - f0 - eps * gc,
                mutant=-(e + L * near) * eps <= f1 - f0 - eps * gc,
            ),
        ),
        step(
            "subgradient.compact",
            (DIRECTIONS, f"{DIRECTIONS}/proof"),
            "the directions (v − w)/‖v − w‖ have accumulation points; along each the last step tends to 0",
            OnPaper("compactness of the unit sphere"),
        ),
        step(
            "subgradient.lower",
            (LOWER, LOWER_EQ),
            "⇒: f(v) ≥ f(w) + ⟨g, v − w⟩ − (ρ/2)‖v − w‖²: the chord from w towards v, divided by t → 0",
            Smt(
                "every e > 0; f(w + t(v−w)) ≥ f(w) + t⟨g, v−w⟩ − te, 0 < t ≤ 1, s = ⟨g, v−w⟩, q = ‖v−w‖²",
                (
                    rho >= 0,
                    q >= 0,
                    e > 0,
                    t > 0,
                    t <= 1,
                    fm >= fw + t * s - t * e,
                    fm <= t * fv + (1 - t) * fw + rho * t * (1 - t) * q / 2,
                ),
                fw + s - rho / 2 * q - e <= fv,
                mutant=fw + s - F(9, 10) * rho / 2 * q - e <= fv,
            ),
        ),
        step(
            "subgradient.weights",
            LOWER,
            "⇐: λ(1−λ)² + (1−λ)λ² = λ(1−λ), and the first-order terms cancel",
            Parts(
                "0 ≤ λ ≤ 1",
                {
                    "squares": Identity("", lam * (1 - lam) ** 2 + (1 - lam) * lam**2, lam * (1 - lam)),
                    "linear": Identity("", lam * (fm + (1 - lam) * d) + (1 - lam) * (fm - lam * d), fm),
                },
                "identity",
            ),
        ),
        step(
            "subgradient.chord",
            LOWER,
            "⇐: the lower bound at the point between, weighted, is weak convexity",
            Smt(
                "0 ≤ λ ≤ 1, s = ⟨g, v − w⟩, q = ‖v − w‖²",
                (
                    rho >= 0,
                    q >= 0,
                    lam >= 0,
                    lam <= 1,
                    fv >= fm + (1 - lam) * s - rho / 2 * (1 - lam) ** 2 * q,
                    fw >= fm - lam * s - rho / 2 * lam**2 * q,
                ),
                fm <= lam * fv + (1 - lam) * fw + rho * lam * (1 - lam) * q / 2,
                mutant=fm <= lam * fv + (1 - lam) * fw + F(9, 10) * rho * lam * (1 - lam) * q / 2,
            ),
        ),
        step(
            "smooth.slope",
            (SMOOTH, f"{SMOOTH}/proof"),
            "along the segment φ(s) − φ(0) − sφ'(0) + L1s²q/2 has a derivative ≥ 0, φ'(s) ≥ φ'(0) − L1·s·q",
            Smt(
                "s ≥ 0, d = ‖v − w‖, q = d²; |φ'(s) − φ'(0)| ≤ L1(sd)d",
                (s >= 0, d >= 0, L1 >= 0, q.equals(d * d), absolute(x - first) <= L1 * (s * d) * d),
                first - L1 * s * q <= x,
                mutant=first - F(9, 10) * L1 * s * q <= x,
            ),
        ),
        step(
            "smooth.integral",
            (SMOOTH, f"{SMOOTH}/proof"),
            "so at s = 1 f(v) ≥ f(w) + ⟨∇f(w), v − w⟩ − (L1/2)‖v − w‖²; then subgradient.chord with g = ∇f",
            OnPaper("a function with derivative ≥ 0 does not fall"),
        ),
    ]


# ------------------------------------------------------------------------------- Theorem 27, Propositions 28, 29


def rules() -> list[ProofStep]:
    """Sum rule, distance, stationarity, normal cone, gap."""
    c, vv, vw, ww, slope, ge, G, e, f1, f0, s = reals("c vv vw ww slope ge G e f1 f0 s")
    n, g, at_w, at_v, gap, least = reals("n g at_w at_v gap least")
    return [
        step(
            "sum.shift",
            SUM,
            "(c/2)‖v‖² − (c/2)‖w‖² − c⟨w, v − w⟩ = (c/2)‖v − w‖²: adding a square moves ∂f(w) by cw exactly",
            Identity("inner products vv, vw, ww", c / 2 * vv - c / 2 * ww - c * (vw - ww), c / 2 * (vv - 2 * vw + ww)),
        ),
        step(
            "sum.negligible",
            SUM,
            "the square's remainder is o(‖v − w‖), so it changes no liminf of Definition 23",
            Smt(
                "every e > 0, s = ‖v−w‖_2 ≤ 2e/c", (c > 0, e > 0, s > 0, c * s <= 2 * e), c / 2 * s * s <= e * s, TIGHT
            ),
        ),
        step(
            "sum.convex",
            SUM,
            "the sum rule of convex functions, one finite and continuous; norms on ℝ^d are equivalent",
            Quoted("Rockafellar (1970), Theorem 23.8"),
        ),
        step(
            "distance.below",
            DISTANCE,
            "every g in ∂φ(w) has φ'(w; e) ≥ ⟨g, e⟩ ≥ −‖g‖_* for ‖e‖ ≤ 1: −inf φ'(w; e) ≤ dist_*(0, ∂φ(w))",
            Smt("G = ‖g‖_*", (slope >= ge, ge >= -G, G >= 0), -slope <= G, TIGHT),
        ),
        step(
            "distance.above",
            DISTANCE,
            "the other inequality: φ'(w; ·) is the support function of ∂φ(w), and min over g, max over e interchange",
            Quoted("Rockafellar and Wets (1998), Proposition 8.32"),
        ),
        step(
            "stationary.zero",
            OPTIMAL,
            "0 ∈ ∂(f + χ_W)(w*) straight from Definition 23: at a minimiser the quotient is at least 0",
            Smt("s = ‖v − w*‖ > 0", (s > 0, f1 >= f0), 0 * s <= (f1 - f0) / s, mutant=F(1, 100) <= (f1 - f0) / s),
        ),
        step(
            "stationary.sign",
            (OPTIMAL, CONDITION),
            "by the sum rule 0 = g + n with g ∈ ∂f(w*), n ∈ N_W(w*): ⟨g, v − w*⟩ = −⟨n, v − w*⟩ ≥ 0 for v in W",
            Smt("g, n: the products with v − w*", ((g + n).equals(0), n <= 0), 0 * g <= g, mutant=F(1, 100) <= g),
        ),
        step(
            "stationary.extension",
            OPTIMAL,
            "f on W has a weakly convex extension to E: a convex one of f + (c/2)‖· − w*‖², by infimal convolution",
            OnPaper("reference/weakly_convex/weak_convexity.py (EB.6: the Lipschitz extension will not do)"),
        ),
        step(
            "cone.indicator",
            CONE,
            "n is a subgradient of χ_W at w iff ⟨n, v − w⟩ ≤ 0 on W (outside W the indicator is infinite)",
            Parts(
                "v in W: χ_W(v) = χ_W(w) = 0",
                {
                    "if": Smt("", (f1.equals(0), f0.equals(0), n <= 0), f0 + n <= f1, mutant=f0 + n <= f1 - F(1, 100)),
                    "only if": Smt("", (f1.equals(0), f0.equals(0), f0 + n <= f1), n <= f1, mutant=n <= f1 - F(1, 100)),
                },
                "smt",
            ),
        ),
        step(
            "gap.sign",
            GAP,
            "with ⟨g, w − v⟩ the gap of w in W is at least 0 (v = w), and 0 at a minimiser, where ⟨g, w* − v⟩ ≤ 0",
            Parts(
                "w in W",
                {
                    "at least": Smt(
                        "", (gap >= at_w - at_v, at_v.equals(at_w)), 0 * gap <= gap, mutant=F(1, 100) <= gap
                    ),
                    "minimiser": Smt(
                        "", (at_w - at_v <= 0, gap.equals(at_w - at_v)), gap <= 0 * gap, mutant=gap <= -1 + 0 * gap
                    ),
                },
                "smt",
            ),
        ),
        step(
            "gap.extension",
            GAP,
            "the gap is that of every weakly convex extension: adding n ∈ N_W(w) to g only raises sup⟨g, w − v⟩",
            Smt(
                "n = ⟨n, v − w⟩ ≤ 0, g = ⟨g, w − v⟩",
                (n <= 0, least <= g),
                least <= g - n,
                mutant=least <= g - n - F(1, 100),
            ),
        ),
    ]


# --------------------------------------------------------------------------------- Proposition 16, Lemma 17


def regularisation() -> list[ProofStep]:
    """Proposition 16."""
    lam, beta, nu, rho, q, nm, nw, nv, fm, fw, fv = reals("lam beta nu rho q nm nw nv fm fw fv")
    strength = prox.strong_convexity(S, nu, beta, rho)
    return [
        step(
            "regularised.section",
            "sec:prox_operator",
            "the rest of the section: its statements",
            OnPaper("Proposition 16, Lemma 17, Definition 18 and the equations have ledgers of their own"),
        ),
        step(
            "regularised.sum",
            (REGULARISED, "sec:prox_operator"),
            "the two chords added (at w − u and v − u, w − v apart): f + (β/2)‖· − u‖² is (νβ − ρ)-strongly convex",
            Smt(
                "0 ≤ λ ≤ 1, β ≥ 0; nm, nw, nv = ½‖·−u‖² at the three points, q = ‖w − v‖²",
                (
                    lam >= 0,
                    lam <= 1,
                    beta >= 0,
                    q >= 0,
                    nm <= lam * nw + (1 - lam) * nv - nu * lam * (1 - lam) * q / 2,
                    fm <= lam * fw + (1 - lam) * fv + rho * lam * (1 - lam) * q / 2,
                ),
                fm + beta * nm
                <= lam * (fw + beta * nw) + (1 - lam) * (fv + beta * nv) - strength * lam * (1 - lam) * q / 2,
                mutant=fm + beta * nm
                <= lam * (fw + beta * nw)
                + (1 - lam) * (fv + beta * nv)
                - (strength + F(1, 100)) * lam * (1 - lam) * q / 2,
            ),
        ),
    ]


def proximal_points() -> list[ProofStep]:
    """(10) to (12) and Lemma 17."""
    c, q, m, mid, b, d, gv, hv, hw, nv, far, D = reals("c q m mid b d gv hv hw nv far D")
    inner = real("inner")
    return [
        step(
            "prox.unique",
            (PROX, PROBLEM, ESTIMATE),
            "a strongly convex function has at most one minimiser: the point between two would be lower",
            Smt(
                "modulus c > 0, q = ‖u − v‖², m the common minimum",
                (c > 0, q >= 0, mid >= m, mid <= m - c * q / 8),
                q <= 0 * q,
                mutant=q < 0,
            ),
        ),
        step(
            "prox.exists",
            (PROX, PROBLEM, ESTIMATE),
            "and it has one on a closed convex set",
            OnPaper("continuity and coercivity in finite dimension"),
        ),
        step(
            "prox.condition",
            (CONDITION, ESTIMATE),
            "the sum rule and the stationarity of Proposition 29 for f + (β/2)‖· − w‖²: its second part has the"
            " subgradients β‖ŵ − w‖h, h in ∂‖·‖(ŵ − w)",
            OnPaper("Theorem 27, Proposition 29 and the chain rule of convex functions"),
        ),
        step(
            "prox.slope",
            (ESTIMATE, CONDITION),
            "h in ∂‖·‖(z), z = ŵ − w: ‖h‖_* ≤ 1 and ⟨h, z⟩ = δ, from the subgradient inequality at z + u, 0 and 2z",
            Parts(
                "any norm",
                {
                    "product": Smt(
                        "inner = ⟨h, z⟩, d = ‖z‖",
                        (d >= 0, d - inner <= 0, d + inner <= 2 * d),
                        inner.equals(d),
                        mutant=inner.equals(2 * d),
                    ),
                    "norm": Smt(
                        "hv = ⟨h, u⟩, nv = ‖u‖, far = ‖z + u‖ ≥ ‖z‖ + ⟨h, u⟩",
                        (d >= 0, nv >= 0, far <= d + nv, d + hv <= far),
                        hv <= nv,
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "prox.sharp",
            ESTIMATE,
            "⟨g, ŵ − v⟩ ≤ βδ(‖v − w‖ − δ), in every norm",
            Smt(
                "gv = ⟨g, ŵ − v⟩, hv = ⟨h, v − w⟩ ≤ ‖v − w‖, hw = ⟨h, ŵ − w⟩ = δ",
                (b > 0, d >= 0, -gv + b * d * (hv - hw) >= 0, hv <= nv, hw.equals(d)),
                gv <= prox.stationarity_bound(S, b, nv, d),
                mutant=gv <= prox.stationarity_bound(S, b, nv, d) - b * d * d / 100,
            ),
        ),
        step(
            "prox.printed",
            ESTIMATE,
            "βδ(D̂ − δ) ≤ βDδ for D̂ ≤ D: Lemma 17 as printed",
            Smt(
                "β, δ ≥ 0, D̂ ≤ D",
                (b >= 0, d >= 0, far <= D),
                prox.stationarity_bound(S, b, far, d) <= prox.stationarity_bound_printed(S, b, D, d),
                TIGHT,
            ),
            "printed",
        ),
    ]


def near_stationarity() -> list[ProofStep]:
    """Definition 18 and its consequences."""
    theta, b, D, d, gap = reals("theta b D d gap")
    allowed = prox.distance_allowed(S, theta, b, D)
    close, small = prox.consequences(S, theta, b, D)
    domain = "ϑ ≥ 0, β, D > 0"
    positive = (theta >= 0, b > 0, D > 0)
    of = (*NEAR, *CONSEQUENCES, CLOSE)
    return [
        step(
            "near.distance",
            of,
            "E‖prox − A(S)‖ ≤ ϑ/max{1, βD} ≤ ϑ",
            Parts(
                domain,
                {
                    "allowed": Smt("", (*positive, d <= allowed), d <= theta, TIGHT),
                    "claimed": Smt("", positive, close <= theta, TIGHT),
                },
                "smt",
            ),
        ),
        step(
            "near.gap",
            of,
            "E gap(prox) ≤ E βD‖prox − A(S)‖ ≤ βD·ϑ/max{1, βD} ≤ ϑ, by Lemma 17",
            Parts(
                domain,
                {
                    "allowed": Smt("", (*positive, d <= allowed, gap <= b * D * d), gap <= theta, TIGHT),
                    "claimed": Smt("", positive, small <= theta, TIGHT),
                },
                "smt",
            ),
        ),
        step(
            "near.normalised",
            NEAR,
            "the smallest ϑ that a distance allows, distance·max{1, βD}, gives back the distance",
            Smt(
                "β, D > 0, d ≥ 0",
                (b > 0, D > 0, d >= 0),
                prox.distance_allowed(S, prox.near_stationarity_of(S, d, b, D), b, D).equals(d),
                TIGHT,
            ),
        ),
        step(
            "near.expectation",
            (*CONSEQUENCES, *NEAR),
            "the same under the expectation over sample and algorithm: both bounds are linear in the distance",
            OnPaper("monotonicity and linearity of the expectation"),
        ),
    ]


# ------------------------------------------------------------------------------------- geometry of ℓ_p̄


def geometry() -> list[ProofStep]:
    """The norm ‖·‖_p̄: constants at p = 1, relative strong convexity, the radius."""
    x, lam, f0, f1, fm, h0, h1, hm, q, rho, k, b = reals("x lam f0 f1 fm h0 h1 hm q rho k b")
    g0, gt, t, e, d, L, u, v, ip, r = reals("g0 gt t e d L u v ip r")
    return [
        step(
            "geometry.exponent",
            (THEOREM, OURS),
            "at p = 1, C = d^{1−1/p̄} = e^{x/(x+1)} with x = ln d and p̄ = 1 + 1/x",
            Identity("x > 0", x * (1 - 1 / (1 + 1 / x)), x / (x + 1)),
        ),
        step(
            "geometry.constant",
            (THEOREM, "E5.2"),
            "so C < e and C² > 2 for every d ≥ 3: x/(x+1) < 1, and 2x/(x+1) ≥ 1 > ln 2 as x ≥ ln 3 > 1",
            Parts(
                "d ≥ 3",
                {
                    "above": Smt("x > 0", (x > 0,), x / (x + 1) < 1, F(9, 10)),
                    "below": Smt("x ≥ 1", (x >= 1,), 2 * x / (x + 1) >= 1, TIGHT),
                    "ln 2 < 1": Cover("", {}, lambda K: (K.log(K(2)), K(1)), F(1, 2)),
                    "1 < ln 3": Cover("", {}, lambda K: (K(1), K.log(K(3))), F(9, 10)),
                },
            ),
        ),
        step(
            "geometry.strong",
            (THEOREM, OURS),
            "½‖·‖_p² is (p−1)-strongly convex in ‖·‖_p, 1 < p ≤ 2",
            Quoted("Ball, Carlen and Lieb (1994)"),
        ),
        step(
            "geometry.relative",
            OURS,
            "h is 1-strongly convex, f is ρ̃-weakly convex: f + ρ̃h is convex, for every record",
            Smt(
                "0 ≤ λ ≤ 1, q = ‖w − v‖²",
                (
                    lam >= 0,
                    lam <= 1,
                    q >= 0,
                    rho >= 0,
                    fm <= lam * f0 + (1 - lam) * f1 + rho * lam * (1 - lam) * q / 2,
                    hm <= lam * h0 + (1 - lam) * h1 - lam * (1 - lam) * q / 2,
                ),
                fm + rho * hm <= lam * (f0 + rho * h0) + (1 - lam) * (f1 + rho * h1),
                mutant=fm + F(9, 10) * rho * hm
                <= lam * (f0 + F(9, 10) * rho * h0) + (1 - lam) * (f1 + F(9, 10) * rho * h1),
            ),
        ),
        step(
            "geometry.beta",
            (OURS, THEOREM),
            "(β/2)‖·‖² = 2ρ̃h at β = 2κρ̃, h = (κ/2)‖·‖²",
            Identity("all", 2 * k * rho / 2 * q, 2 * rho * (k / 2 * q)),
        ),
        step(
            "geometry.radius",
            (SUBPROBLEM, *SOLVER, THEOREM),
            "the subproblem's minimiser is within ℓ/β of w_r: βδ² ≤ ℓδ + e, for every e > 0",
            Smt(
                "ℓ, β > 0; v_t = ŵ + t(w − ŵ), βtδ² ≤ 2e, g0 = G(ŵ), gt = G(v_t)",
                (
                    b > 0,
                    L > 0,
                    d >= 0,
                    e > 0,
                    t > 0,
                    t <= 1,
                    b * t * d * d <= 2 * e,
                    g0 + b / 2 * d * d <= gt + b / 2 * (1 - t) ** 2 * d * d,
                    gt <= g0 + L * t * d,
                ),
                b * d * d <= L * d + e,
                mutant=b * d * d <= L * d + e / 2,
            ),
        ),
        step(
            "geometry.restricted",
            SUBPROBLEM,
            "so over W and over W ∩ B(w_r, ℓ/β) the minimisers are the same",
            OnPaper("the minimiser over W is unique and lies in the smaller set"),
        ),
        step(
            "geometry.lipschitz",
            (OURS, THEOREM),
            "on the ball the regulariser's slope β‖u‖ is at most ℓ: F_r is 2ℓ-Lipschitz, f + ρ̃h (3/2)ℓ-Lipschitz",
            Parts(
                "ℓ, β, ρ̃ > 0, κ ≥ 1, ‖u‖ ≤ ℓ/β, β = 2κρ̃",
                {
                    "F_r": Smt("", (b > 0, L > 0, u >= 0, u * b <= L), L + b * u <= 2 * L, TIGHT),
                    "f + ρ̃h": Smt(
                        "",
                        (rho > 0, k >= 1, L > 0, u >= 0, b.equals(2 * k * rho), u * b <= L),
                        L + rho * k * u <= F(3, 2) * L,
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "geometry.diameter",
            SOLVER,
            "X has D_h-diameter at most 2κR0²: D_h(x, y) = (κ/2)(‖x‖² + ‖y‖²) − κ⟨x, ∇½‖y‖²⟩, |⟨·,·⟩| ≤ ‖x‖‖y‖",
            Smt(
                "‖x‖, ‖y‖ ≤ R0, in units of κ",
                (u >= 0, u <= r, v >= 0, v <= r, -ip <= u * v),
                u * u / 2 + v * v / 2 - ip <= 2 * r * r,
                TIGHT,
            ),
        ),
    ]


# ------------------------------------------------------------------------------------------- A_sc, a step


def mirror_step() -> list[ProofStep]:
    """One step of a phase: (A), (B), the maxima over its length, the first step, inexact steps."""
    p0, p1, ps, ixs, ix1, noise, s, D0, D1, Ds, hs, h1 = reals("p0 p1 ps ixs ix1 noise s D0 D1 Ds hs h1")
    A, B, rho, lD1, lDs, L, w = reals("A B rho lD1 lDs L w")
    f0, f1, fs, gxs, gx1, kxs, kx1, N, c, Lam, nu, e, eta, h0 = reals("f0 f1 fs gxs gx1 kxs kx1 N c Lam nu e eta h0")
    a, O1, Ov, slope, linear, k, x1, x2 = reals("a O1 Ov slope linear k x1 x2")
    return [
        step(
            "step.optimal",
            SOLVER,
            "O_k is (Λ(k+1)/2)h plus an affine function, so O_k(v) ≥ O_k(x_{k+1}) + (Λ(k+1)/2)D_h(v, x_{k+1}) on X",
            Parts(
                "x the minimiser, v in X",
                {
                    "coefficient": Identity("ρ̃ + λ + Λ(k−1)/2, Λ = ρ̃ + λ", Lam + Lam * (k - 1) / 2, Lam * (k + 1) / 2),
                    "first order": Smt(
                        "O = a·h + θ; slope = ⟨∇h(x), v − x⟩, linear = θ(v) − θ(x); ⟨∇O(x), v − x⟩ ≥ 0",
                        (
                            a > 0,
                            a * slope + linear >= 0,
                            O1.equals(a * h1),
                            Ov.equals(a * hs + linear),
                            Ds.equals(hs - h1 - slope),
                        ),
                        O1 + a * Ds <= Ov,
                        mutant=O1 + F(101, 100) * a * Ds <= Ov,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "step.A",
            SOLVER,
            "(A): Φ(x_{k+1}) − Φ* ≤ 3ℓs + noise − (Λ(k−1)/2)s²/2 + (Λ(k−1)/2)D_k − (Λ(k+1)/2)D_{k+1}",
            Smt(
                "ψ = f_S + ρ̃h convex with slopes ≤ w = (3/2)ℓ; A = Λ(k−1)/2, B = Λ(k+1)/2, Ds = D_h(x_{k+1}, x_k)",
                (
                    A >= 0,
                    s >= 0,
                    Ds >= s * s / 2,
                    ps >= p0 + ixs,
                    ix1 <= w * s,
                    p1 - p0 <= w * s,
                    ixs + ix1 + noise + rho * hs + lDs + A * D0 >= rho * h1 + lD1 + A * Ds + B * D1,
                ),
                (p1 + rho * h1 + lD1) - (ps + rho * hs + lDs) <= 2 * w * s + noise - A * s * s / 2 + A * D0 - B * D1,
                mutant=(p1 + rho * h1 + lD1) - (ps + rho * hs + lDs)
                <= F(19, 10) * w * s + noise - A * s * s / 2 + A * D0 - B * D1,
            ),
        ),
        step(
            "step.B",
            SOLVER,
            "(B): with 2ℓ for 3ℓ and Λ(k−1)/2 − ρ̃ before s²/2: only f_S is linearised, D_k's ρ̃ cancels",
            Smt(
                "f_S ℓ-Lipschitz, f_S + ρ̃h convex; kxs, kx1 = ⟨∇h(x_k), ·⟩ at x* − x_k and x_k − x_{k+1}",
                (
                    rho <= A,
                    rho >= 0,
                    s >= 0,
                    Ds >= s * s / 2,
                    L >= 0,
                    fs >= f0 + gxs - rho * D0,
                    gx1 <= L * s,
                    f1 - f0 <= L * s,
                    D0.equals(hs - h0 - kxs),
                    Ds.equals(h1 - h0 + kx1),
                    gxs + gx1 + rho * (kxs + kx1) + noise + rho * hs + lDs + A * D0 >= rho * h1 + lD1 + A * Ds + B * D1,
                ),
                (f1 + 2 * rho * h1 + lD1) - (fs + 2 * rho * hs + lDs)
                <= 2 * L * s + noise - (A - rho) * s * s / 2 + A * D0 - B * D1,
                mutant=(f1 + 2 * rho * h1 + lD1) - (fs + 2 * rho * hs + lDs)
                <= F(19, 10) * L * s + noise - (A - rho) * s * s / 2 + A * D0 - B * D1,
            ),
        ),
        step(
            "step.maximum",
            SOLVER,
            "k ≥ 2: (3ℓ + N)s − cs²/4 ≤ (3ℓ + N)²/c with c = Λ(k−1), and the same with 2ℓ and c = Λ(k−1) − 2ρ̃",
            Smt(
                "ℓ, N, s ≥ 0, c > 0; L stands for 3ℓ or 2ℓ",
                (L >= 0, N >= 0, c > 0, s >= 0),
                (L + N) * s - c * s * s / 4 <= (L + N) ** 2 / c,
                TIGHT,
            ),
        ),
        step(
            "step.mean",
            SOLVER,
            "E(L + N)² ≤ (L + ν)²: the mean of N is at most ν = √(E N²)",
            Smt(
                "L ≥ 0; N = E‖N‖, ν ≥ 0",
                (L >= 0, nu >= 0, N >= 0, nu * nu >= N * N),
                L * L + 2 * L * N + nu * nu <= (L + nu) ** 2,
                TIGHT,
            ),
        ),
        step(
            "step.first",
            SOLVER,
            "k = 1, where there is no s² term: Λs² ≤ (2ℓ + N)s, so 3ℓs + N²/Λ has mean at most b_1 = (3ℓ(2ℓ+ν) + ν²)/Λ",
            Parts(
                "Λ > 0, ℓ, N, s ≥ 0",
                {
                    "length": Smt(
                        "O_1's two strong-convexity gaps of Λs²/2; ‖∇O_1(x_1)‖_* ≤ 2ℓ + N",
                        (
                            Lam > 0,
                            L >= 0,
                            N >= 0,
                            s >= 0,
                            x1 >= x2 + Lam * s * s / 2,
                            x2 >= x1 - (2 * L + N) * s + Lam * s * s / 2,
                        ),
                        Lam * s * s <= (2 * L + N) * s,
                        TIGHT,
                    ),
                    "slope": Smt(
                        "",
                        (Lam > 0, L >= 0, N >= 0, s >= 0, Lam * s * s <= (2 * L + N) * s),
                        3 * L * s * Lam <= 3 * L * (2 * L + N),
                        TIGHT,
                    ),
                    "mean": Smt(
                        "N, s stand for their means, E N ≤ ν",
                        (Lam > 0, L >= 0, N >= 0, nu >= 0, nu >= N, s >= 0, s * Lam <= 2 * L + N),
                        3 * L * s + nu * nu / Lam <= (3 * L * (2 * L + nu) + nu * nu) / Lam,
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "step.noise-free",
            SOLVER,
            "⟨N, x̂ − x_{k+1}⟩ ≤ ‖N‖²·2/(Λ(k+1)): two minimisers of strongly convex functions that differ by ⟨N, ·⟩",
            Parts(
                "c = Λ(k+1)/2, s = ‖x̂ − x_{k+1}‖",
                {
                    "gaps": Smt(
                        "O1, Ov without noise at x_{k+1}, x̂; x1, x2 = ⟨N, ·⟩ there",
                        (c > 0, s >= 0, Ov + c * s * s / 2 <= O1, Ov + x2 >= O1 + x1 + c * s * s / 2),
                        c * s * s <= x2 - x1,
                        TIGHT,
                    ),
                    "product": Smt(
                        "w = ⟨N, x̂ − x_{k+1}⟩ ≤ ‖N‖_*·s",
                        (c > 0, s >= 0, N >= 0, c * s * s <= w, w <= N * s),
                        w <= N * N / c,
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "step.unbiased",
            SOLVER,
            "E⟨N_k, x* − x_k⟩ = 0 and E⟨N_k, x* − x̂⟩ = 0: x*, x_k, x̂ do not depend on N_k",
            OnPaper("fresh noise with mean 0"),
        ),
        step(
            "step.inexact",
            SOLVER,
            "inexact steps: N·x ≤ ηN²/c + e/(4η) where cx² ≤ e",
            Smt(
                "η, c > 0, N, x, e ≥ 0",
                (eta > 0, e >= 0, c > 0, N >= 0, s >= 0, c * s * s <= e),
                N * s * 4 * eta * c <= 4 * eta * eta * N * N + e * c,
                TIGHT,
            ),
        ),
    ]


def phase() -> list[ProofStep]:
    """A phase: telescoping, the noise's second moment."""
    k, Lam, T, total, D, b, gained = reals("k Lam T total D b gained")
    m, dim, C2, L, n, mu, sig, a = reals("m dim C2 L n mu sig a")
    return [
        step(
            "phase-sc.telescope",
            SOLVER,
            "multiplied by k, step k's k(k−1)Λ/2·D_k is what step k−1 left: (k−1)((k−1)+1)Λ/2",
            Identity("k ≥ 2", k * (Lam * (k - 1) / 2), (k - 1) * (Lam * ((k - 1) + 1) / 2)),
        ),
        step(
            "phase-sc.sum",
            SOLVER,
            "T steps: (ΛT(T+1)/2)·D_{T+1} ≤ Σ_{k≤T}k·b_k",
            Induction(
                "T ≥ 0, D = D_{T+1}, gained = Φ(x_{k+1}) − Φ* ≥ 0",
                Smt(
                    "T = 0",
                    (T.equals(0), total.equals(0), D >= 0),
                    Lam * T * (T + 1) / 2 * D <= total,
                    mutant=Lam * T * (T + 1) / 2 * D < total,
                ),
                Smt(
                    "T to T + 1, k = T + 1",
                    (
                        T >= 0,
                        Lam > 0,
                        Lam * T * (T + 1) / 2 * D <= total,
                        gained >= 0,
                        gained <= b + Lam * T / 2 * D - Lam * (T + 2) / 2 * a,
                    ),
                    Lam * (T + 1) * (T + 2) / 2 * a <= total + (T + 1) * b,
                    mutant=Lam * (T + 1) * (T + 2) / 2 * a <= total + F(9, 10) * (T + 1) * b,
                ),
            ),
        ),
        step(
            "phase-sc.noise",
            SOLVER,
            "E‖N‖² ≤ T·4m·d·ℓ²/(nμ)²: d^{2/q̄}σ²m with σ = (2L0·d^{1/p−1/2}/n)√T/μ, d^{2/q̄+2/p−1} = d·C²",
            Parts(
                "ℓ² = C²L0²; exponents 2/q̄ + 2/p − 1 = 1 + 2(1/p − 1/p̄)",
                {
                    "exponents": Identity("1/q̄ = 1 − 1/p̄; k = 1/p, b = 1/p̄", 2 * (1 - b) + 2 * k - 1, 1 + 2 * (k - b)),
                    "constant": Identity(
                        "sig = d^{2/p−1}, m·d^{2/q̄}·sig = m·d·C²",
                        m * (dim * C2 / sig) * (4 * L * L * sig / (n * n)) * T / (mu * mu),
                        T * (4 * m * dim * (C2 * L * L) / (n * mu) ** 2),
                    ),
                },
                "identity",
            ),
        ),
        step(
            "phase-sc.moment",
            SOLVER,
            "E‖g‖_q² ≤ d^{2/q}m_q, m_q = (E|g|^q)^{2/q}: Jensen; and m_q ≤ q − 1",
            Quoted("Nelson (1973), hypercontractivity, for m_q ≤ q − 1"),
        ),
    ]


def population() -> list[ProofStep]:
    """From the sample to the population, and the phases together."""
    Lam, L, n, d, f1, f2, f3, f4, E, lam, c = reals("Lam L n d f1 f2 f3 f4 E lam c")
    b, e, s, P, rho, y = reals("b e s P rho y")
    return [
        step(
            "solver.stability",
            SOLVER,
            "replacing one of n points moves the minimiser by at most 2ℓ/(Λn): the two strong-convexity gaps added",
            Parts(
                "Λ, ℓ > 0, n ≥ 1; f1, f2 the old record's loss at the new and old minimiser, f3, f4 the new one's at"
                " the old and the new; d their distance",
                {
                    "gaps": Smt(
                        "P, E what the two objectives share, at the new and the old minimiser",
                        (
                            Lam > 0,
                            n >= 1,
                            P + f1 / n >= E + f2 / n + Lam * d * d / 2,
                            E + f3 / n >= P + f4 / n + Lam * d * d / 2,
                        ),
                        Lam * d * d <= (f1 - f2 + f3 - f4) / n,
                        TIGHT,
                    ),
                    "distance": Smt(
                        "",
                        (
                            Lam > 0,
                            L > 0,
                            n >= 1,
                            d > 0,
                            f1 - f2 <= L * d,
                            f3 - f4 <= L * d,
                            Lam * d * d <= (f1 - f2 + f3 - f4) / n,
                        ),
                        d <= 2 * L / (Lam * n),
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        step(
            "solver.generalisation",
            SOLVER,
            "so E[F_D(x*) − f_S(x*)] ≤ ℓ·2ℓ/(Λn): the symmetry of the sample",
            Smt(
                "ℓ, Λ > 0, n ≥ 1",
                (Lam > 0, L > 0, n >= 1, d >= 0, d <= 2 * L / (Lam * n), s <= L * d),
                s <= 2 * L * L / (Lam * n),
                TIGHT,
            ),
        ),
        step(
            "solver.symmetry",
            SOLVER,
            "E F_D(x*(S)) = E f(x*(S'), z_1): a fresh record in place of the first",
            OnPaper("exchangeability of independent records"),
        ),
        step(
            "solver.chain",
            SOLVER,
            "phases i ≥ 2 compare with x*_{i−1}: F_r(x*_i) ≤ F_r(x*_{i−1}) + λ_i·E_{i−1} + 2ℓ²/(Λ_i·n_i)",
            Smt(
                "f1, f2 = F_r(x*_i), F_r(x*_{i−1}); d, e = D_h(x*_i, x_{i−1}), D_h(x*_{i−1}, x_{i−1}) ≤ E; λ ≥ 0",
                (lam >= 0, d >= 0, e <= E, f1 + lam * d <= f2 + lam * e + c),
                f1 <= f2 + lam * E + c,
                mutant=f1 <= f2 + lam * E + F(9, 10) * c,
            ),
        ),
        step(
            "solver.last",
            SOLVER,
            "F_r(x_K) − F_r(x*_K) ≤ 2ℓ‖x_K − x*_K‖ ≤ 2ℓ√(2D_h), h being 1-strongly convex",
            Smt(
                "y = √(2D_h), s²/2 ≤ D_h",
                (L > 0, s >= 0, y >= 0, (y * y).equals(2 * E), s * s / 2 <= E, f1 <= 2 * L * s),
                f1 <= 2 * L * y,
                TIGHT,
                at={"L": F(1), "s": F(1), "y": F(1), "E": F(1, 2), "f1": F(2)},
            ),
        ),
        step(
            "solver.nothing",
            SOLVER,
            "returning w_r costs at most ℓδ − βδ²/2 ≤ ℓ²/(2β); any point of X at most 2ℓ²/β",
            Parts(
                "ℓ, β > 0",
                {
                    "w_r": Smt("", (b > 0, L > 0, d >= 0), L * d - b * d * d / 2 <= L * L / (2 * b), TIGHT),
                    "any": Smt(
                        "s ≤ ℓ/β",
                        (b > 0, L > 0, s >= 0, s * b <= L),
                        L * s + b * s * s / 2 + L * L / (2 * b) <= 2 * L * L / b,
                        TIGHT,
                    ),
                },
                "smt",
            ),
        ),
        *geometric_phases(),
        step(
            "solver.cancel",
            SOLVER,
            "ℓ²/ρ̃ = L0²/ρ: C cancels",
            Identity("C, ρ > 0", (c * L) ** 2 / (c * c * rho), L * L / rho),
        ),
        step(
            "cited.solver",
            (CITED, PRINTED_PROOF),
            "the existence of A_sc with this rate and running time",
            Quoted(
                "Asi, Feldman, Koren and Talwar (2021), Theorem 8, for ℓ_1; the extension is asserted there and here"
            ),
        ),
    ]


def geometric_phases() -> list[ProofStep]:
    """Why the phases add up without a logarithm: n_i = n/2^i, λ_i = 8^{i−1}ρ̃, T_i = ⌈8/a_i⌉."""
    n, m, c, P, a, s, q = reals("n m c P a s q")
    half, eighth = Powers.of(P=1), Powers.of(P=3)
    of = (*SOLVER, THEOREM, RATE)
    return [
        step(
            "solver.shares",
            of,
            "a_i = max{1/n_i, c/n_i²} ≤ 4^{i+1}·max{1/n, c/n²}, c = κd/μ²: n_i ≥ n/P with P = 2^{i+1}",
            Smt(
                "c > 0, n, P ≥ 1, n_i = m > 0",
                (c > 0, n >= 1, P >= 1, m > 0, m * P >= n, a.equals(maximum(1 / n, c / (n * n)))),
                maximum(1 / m, c / (m * m)) <= P * P * a,
                TIGHT,
                at={"c": F(1), "n": F(1), "P": F(1), "m": F(1), "a": F(1)},
            ),
        ),
        step(
            "solver.exponents",
            of,
            "λ_i·E_{i−1} falls like 2^{−i} (4^i from a_i, 8^i from λ_i, 64^{−i} from Λ²), ℓ²/(Λ_i·n_i) like 4^{−i},"
            " √E_K like 4^{−K}",
            Exponents(
                "exponents of P = 2^i, constants aside",
                (
                    (eighth * half**2 / eighth**2, half**-1),
                    (half / eighth, half**-2),
                    ((half**2) ** F(1, 2) / eighth, half**-2),
                ),
            ),
        ),
        step(
            "solver.enough",
            of,
            "√a/4^K ≤ a once 4^K ≥ 1/√a: the last phase costs O(a) too, s = √a, q = 4^K",
            Smt("a > 0", (s > 0, q > 0, q * s >= 1), s / q <= s * s, TIGHT),
        ),
        step(
            "solver.rate",
            of,
            "so B = O((L0²/ρ)(1/n + κd/(nμ)²)) without a logarithm: the terms of the phases fall geometrically",
            OnPaper("reference/weakly_convex/strongly_convex.py, the last paragraph on the population"),
        ),
    ]


def solver_privacy() -> list[ProofStep]:
    """The solver's releases."""
    L, n, f, mu, u, v, root_T = reals("L n f mu u v root_T")
    return [
        step(
            "solver.sensitivity",
            (OURS, THEOREM),
            "a clipped mean gradient moves by at most 2L0/n in ‖·‖_q, 2L0·d^{1/p−1/2}/n in ‖·‖_2: with σ the release is"
            " μ/√T-GDP",
            Smt(
                "L0, n, μ, T > 0, f = d^{1/p−1/2}",
                (L > 0, n >= 1, f > 0, mu > 0, root_T > 0, u >= 0, u <= 2 * L / n, v <= f * u),
                v / (2 * L * f / n * root_T / mu) <= mu / root_T,
                TIGHT,
                at={"L": F(1), "n": F(1), "f": F(1), "mu": F(1), "root_T": F(1), "u": F(2), "v": F(2)},
            ),
        ),
        step(
            "solver.composition",
            (OURS, THEOREM),
            "T of them compose to μ: T(μ/√T)² = μ²",
            Identity("T = root_T²", root_T * root_T * (mu / root_T) ** 2, mu * mu),
        ),
        step(
            "solver.parallel",
            (OURS, THEOREM),
            "a record is in one phase of one round; what comes before has the same law, what comes after is"
            " post-processing",
            OnPaper("reference/weakly_convex/strongly_convex.py, Privacy"),
        ),
    ]


# --------------------------------------------------------------------------------------------- Theorem 20


def assembly() -> list[ProofStep]:
    """(18), the sum over rounds, Jensen."""
    b, rho, d, e, t, Fh, Fw, Ft, k = reals("b rho d e t Fh Fw Ft k")
    start, now, nxt, least, B, total, R, Fr, squares, Delta, progress = reals(
        "start now nxt least B total R Fr squares Delta progress"
    )
    x, y, bD = reals("x y bD")
    return [
        step(
            "progress.sharp",
            (PROGRESS, THEOREM),
            "F_r(w) − F_r(ŵ) ≥ ((β−ρ̃)/2)δ² in every norm: on the segment the regulariser is (β/2)(1−t)²δ²; t → 0",
            Smt(
                "β, ρ̃ > 0, δ = ‖ŵ − w‖; every e > 0, t with (β + ρ̃)tδ² ≤ 2e",
                (
                    b > 0,
                    rho > 0,
                    d >= 0,
                    e > 0,
                    t > 0,
                    t <= 1,
                    (b + rho) * t * d * d <= 2 * e,
                    Ft <= (1 - t) * Fh + t * Fw + rho / 2 * t * (1 - t) * d * d,
                    Fh + b / 2 * d * d <= Ft + b / 2 * (1 - t) ** 2 * d * d,
                ),
                guided.progress_factor(S, b, rho) * d * d - e <= Fw - (Fh + b / 2 * d * d),
                mutant=F(11, 10) * guided.progress_factor(S, b, rho) * d * d - e <= Fw - (Fh + b / 2 * d * d),
            ),
        ),
        step(
            "progress.printed",
            PROGRESS,
            "at β = 2κρ, κ ≥ 1, that is at least the printed ρ/2",
            Smt(
                "ρ > 0, κ ≥ 1",
                (rho > 0, k >= 1),
                guided.progress_factor_printed(S, rho) <= guided.progress_factor(S, 2 * k * rho, rho),  # type: ignore[arg-type]
                TIGHT,
            ),
            "printed",
        ),
        step(
            "rounds-sc.one",
            (THEOREM, PRINTED_PROOF, RATE),
            "F_r(w_r) − F_r(ŵ_r) ≤ F_D(w_r) − F_D(w_{r+1}) + B: F_r(w_r) = F_D(w_r), F_r(w_{r+1}) ≥ F_D(w_{r+1})",
            Smt(
                "Fr = F_r(ŵ_r), y = F_r(w_{r+1})",
                (y >= nxt, y <= Fr + B),
                now - Fr <= now - nxt + B,
                mutant=now - Fr <= now - nxt + B - F(1, 100),
            ),
        ),
        step(
            "rounds-sc.sum",
            (THEOREM, PRINTED_PROOF, RATE),
            "R − 1 rounds telescope, the last costs F_D(w_R) − min F_D: Σ ≤ Δ_F + (R − 1)B",
            Induction(
                "R ≥ 1, `total` the sum over r < R, F_D(w_R) = now",
                Smt(
                    "R = 1: no call, F_1(ŵ_1) ≥ min F_D",
                    (Fr >= least, Delta.equals(now - least)),
                    now - Fr <= Delta,
                    mutant=now - Fr <= Delta - F(1, 100),
                ),
                Smt(
                    "R to R + 1",
                    (R >= 1, total <= start - now + (R - 1) * B, x <= now - nxt + B),
                    total + x <= start - nxt + R * B,
                    mutant=total + x <= start - nxt + (R - 1) * B,
                ),
            ),
        ),
        step(
            "rounds-sc.distance",
            (THEOREM, PRINTED_PROOF, RATE),
            "E‖prox(w̄) − w̄‖² ≤ (Δ_F/R + B(R−1)/R)/((β−ρ̃)/2): the output is uniform over w_1, …, w_R",
            Smt(
                "β > ρ̃ > 0, R ≥ 1",
                (b > rho, rho > 0, R >= 1, progress.equals((b - rho) / 2), progress * squares <= Delta + (R - 1) * B),
                squares / R <= (Delta / R + B * (R - 1) / R) / progress,
                TIGHT,
                at={"b": F(3), "rho": F(1), "R": F(1), "progress": F(1), "squares": F(1), "Delta": F(1), "B": F(0)},
            ),
        ),
        step(
            "rounds-sc.jensen",
            (THEOREM, PRINTED_PROOF, RATE),
            "ϑ = max{1, βD}·√(that): (E d)² ≤ E d²",
            Smt(
                "x = E d, squares = E d², y = √squares, bD = max{1, βD}",
                (x >= 0, y >= 0, (y * y).equals(squares), x * x <= squares, bD >= 1),
                bD * x <= bD * y,
                TIGHT,
                at={"x": F(1), "y": F(1), "squares": F(1), "bD": F(1)},
            ),
        ),
        step(
            "rounds-sc.floor",
            (THEOREM, RATE),
            "R = max{1, ⌊R*⌋} costs a factor 2: 1/R ≤ 2/R* for R* ≥ 1; for R* < 1, L0D/1 ≤ L0D/R*",
            Parts(
                "R* > 0",
                {
                    "above 1": Smt("⌊R*⌋ ≥ R*/2", (x >= 1, x / 2 <= R), 2 / x >= 1 / R, TIGHT),
                    "below 1": Smt("", (x > 0, x < 1), 1 / x >= 1, TIGHT),
                },
                "smt",
            ),
        ),
    ]


def rates() -> list[ProofStep]:
    """Exponents of (16), the remark, the table, the condition R ≤ n."""
    n, d, eps, kt, ka, L, D, rho, lg, R = reals("n d eps kt ka L D rho lg R")
    x, A, B, a, b, low, high = reals("x A B a b low high")
    return [
        step(
            "rate.balance",
            (THEOREM, RATE, PRINTED_PROOF),
            "R balances Δ_F/R with each of the two terms of B, and the square roots are the printed ϑ",
            _balance(),
        ),
        step(
            "rate.count",
            (THEOREM, "E5.10"),
            "nd ≥ ρD/L0 gives R ≤ n where ε² ≤ κ̃κ²L: by the second term of the minimum, cubed",
            Smt(
                "all positive; kt = κ̃, lg = L",
                (
                    n > 0,
                    d > 0,
                    eps > 0,
                    kt > 0,
                    ka > 0,
                    L > 0,
                    D > 0,
                    rho > 0,
                    lg > 0,
                    R > 0,
                    n * d * L >= rho * D,
                    eps * eps <= kt * ka * ka * lg,
                    R**3 * (kt * ka * ka * L * d * lg) <= D * n * n * eps * eps * rho,
                ),
                n**3 >= R**3,
                TIGHT,
                at={v: F(1) for v in ("n", "d", "eps", "kt", "ka", "L", "D", "rho", "lg", "R")},
            ),
        ),
        step(
            "remark.two",
            REMARK,
            "at p = 2 and d ≥ 3 κ = κ̃ = 1: the theorem's bound is the remark's",
            OnPaper("substitution"),
        ),
        step(
            "remark.one",
            REMARK,
            "at p = 1 κ = x, κ̃ = 1 + x, x = ln d ≥ 1: ((1 + x)/x)^{1/6} ≤ 2^{1/6} is what the remark leaves out",
            Parts(
                "d ≥ 3",
                {
                    "ratio": Smt("", (x >= 1,), (1 + x) / x <= 2, TIGHT),
                    "ln 3": Cover("x ≥ ln 3 > 1", {}, lambda K: (K(1), K.log(K(3))), F(9, 10)),
                    "powers": Exponents(
                        "(κ̃κ²)^{1/6} with κ̃ replaced by κ is κ^{1/2}",
                        ((Powers.of(k=F(1, 6)) * Powers.of(k=F(1, 3)), Powers.of(k=F(1, 2))),),
                    ),
                },
                "exponents",
            ),
        ),
        step(
            "table.row",
            f"{TABLE}:5",
            "the unit ball's row is the theorem within [4·2^{1/4}, 4·2^{1/3}]: D = 2, L0 = ρ = 1, log(1/δ) left out",
            Parts(
                "κ ≥ 1/4 (max{1, 4κ} = 4κ), all n, d, ε",
                {
                    "powers": _row(),
                    "mean": Smt(
                        "(aA + bB)/(A + B) lies in [a, b] for A, B > 0",
                        (A > 0, B > 0, low > 0, low <= a, a <= high, low <= b, b <= high),
                        (a * A + b * B) / (A + B) <= high,
                        TIGHT,
                    ),
                    "least": Smt(
                        "", (A > 0, B > 0, low > 0, low <= a, low <= b), low <= (a * A + b * B) / (A + B), TIGHT
                    ),
                    "maximum": Smt("", (x >= F(1, 4),), maximum(1, 4 * x).equals(4 * x), TIGHT),
                },
                "exponents",
            ),
        ),
        step(
            "abstract.others",
            "abstract",
            "the other rates are those of Theorems 6, 7, 9, 11 and 14",
            OnPaper("they have ledgers of their own"),
        ),
        step(
            "abstract.rate",
            "abstract",
            "at p = 2 and d = √n both terms of (16) are n^{−1/4}",
            Exponents(
                "exponents of n, ε aside",
                ((Powers.of(n=F(-1, 3)) * Powers.of(n=F(1, 2)) ** F(1, 6), Powers.of(n=F(-1, 4))),),
            ),
        ),
    ]


def _first() -> Powers:
    """(L0³D/(nρ))^{1/4}."""
    return Powers.of(L=F(3, 4), D=F(1, 4), n=F(-1, 4), rho=F(-1, 4))


def _second() -> Powers:
    """(L0²D)^{1/3}(d·log(1/δ)/((nε)²ρ))^{1/6}."""
    return Powers.of(L=F(2, 3), D=F(1, 3), d=F(1, 6), l=F(1, 6), n=F(-1, 3), epsilon=F(-1, 3), rho=F(-1, 6))


def _theta() -> tuple[Powers, Powers]:
    """The two terms of (16) after 1/√ρ; k = κ, t = κ̃."""
    k, kt = Powers.of(k=1), Powers.of(t=1)
    return _first() * k ** F(1, 4), _second() * (kt * k**2) ** F(1, 6)


def _balance() -> Exponents:
    """Δ_F/R = L0D/R against B = (L0²/ρ)(κR/n + κ̃κ²d·l·R²/(nε)²); E‖·‖² is that over ρ."""
    one = Powers.of(n=F(1, 2), D=F(1, 2), rho=F(1, 2), k=F(-1, 2), L=F(-1, 2))
    two = Powers.of(t=F(-1, 3), k=F(-2, 3)) * Powers.of(D=1, n=2, epsilon=2, rho=1, L=-1, d=-1, l=-1) ** F(1, 3)
    gap = Powers.of(L=1, D=1)
    sampling = Powers.of(L=2, rho=-1, k=1, n=-1)
    privacy = Powers.of(L=2, rho=-1, t=1, k=2, d=1, l=1, n=-2, epsilon=-2)
    first, second = _theta()
    return Exponents(
        "exponents of n, d, ε, κ, κ̃, L0, D, ρ, log(1/δ), without constants",
        (
            (gap / one, sampling * one),
            (gap / two, privacy * two**2),
            (gap / one, first**2),
            (gap / two, second**2),
        ),
    )


def _row() -> Exponents:
    first, second = _theta()
    return Exponents(
        "exponents of n, d, ε, κ, κ̃: 4κ times the two terms, 2 = D, against the row",
        (
            (Powers.of(k=1) * first, Powers.of(k=F(5, 4), n=F(-1, 4)) * Powers.of(L=F(3, 4), D=F(1, 4), rho=F(-1, 4))),
            (
                Powers.of(k=1) * second,
                Powers.of(k=F(4, 3), d=F(1, 6), t=F(1, 6), n=F(-1, 3), epsilon=F(-1, 3))
                * Powers.of(L=F(2, 3), D=F(1, 3), l=F(1, 6), rho=F(-1, 6)),
            ),
        ),
    )
