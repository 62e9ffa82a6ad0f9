"""Steps of the proofs about rounding: how errors add up in Algorithms 2 to 6 as they are computed.

The proofs are written out in `reference/numerics/rounding.py`, `reference/convex/rounding.py` and
`reference/smooth/rounding.py`.
"""

from __future__ import annotations

from fractions import Fraction

from audit.checks.proofs.steps import Identity, Induction, OnPaper, Parts, ProofStep, Smt, step
from audit.checks.proofs.terms import absolute, reals

F = Fraction
PHASED, WOLFE = "thm:l2_glm", "thm:l1_glm"
POLY, NOISY, GUIDED = "thm:privacy-polySFW", "thm:privacy-noisySFW", "own:prox_solver"
TIGHT = F(99, 100)
"""What a bound that is attained is sharpened by."""


def steps() -> list[ProofStep]:
    """All steps: sums, Algorithm 2, selections, Section 4."""
    return [*sums(), *phases(), *selections(), *recursions()]


def sums() -> list[ProofStep]:
    """γ_k = ku/(1 − ku): k roundings in a row, and the clipped mean of Algorithm 6."""
    u, k, g, t, m = reals("u k g t m")
    inside = (u > 0, k >= 1, 2 * (k + 1) * u <= 1)
    return [
        step(
            "rounding.gamma",
            (PHASED, WOLFE, POLY, NOISY, GUIDED),
            "one more rounding takes a factor 1 + θ, |θ| ≤ γ_k, to one with γ_{k+1}",
            Smt(
                "0 < u, 2(k + 1)u ≤ 1",
                (*inside, g * (1 - k * u) <= k * u, g >= 0, absolute(t) <= u),
                absolute((1 + g) * (1 + t) - 1) * (1 - (k + 1) * u) <= (k + 1) * u,
                TIGHT,
                at={"u": F(1, 10**6), "k": F(1), "g": F(1, 10**6), "t": F(1, 10**6)},
            ),
            "tight",
        ),
        step(
            "rounding.mean",
            GUIDED,
            "the mean of m vectors of length at most 1 errs by at most γ_m + u ≤ (m + 4)u where m(m + 2)u ≤ 1",
            Smt(
                "u > 0, m ≥ 1, m(m + 2)u ≤ 1",
                (u > 0, m >= 1, m * (m + 2) * u <= 1, m * u <= F(1, 2), g * (1 - m * u) <= m * u),
                g + u <= (m + 4) * u,
                F(1, 2),
            ),
            "tight",
        ),
    ]


def phases() -> list[ProofStep]:
    """Algorithm 2: how rounding errors of steps, oracles and means add up."""
    eta, G, a, rho, R, r, t, T, moved = reals("eta G a rho R r t T moved")
    first = 2 * eta * (G + rho * R) + 2 * r
    then = 2 * eta * (a + rho * R) + 2 * r
    bound = 2 * eta * (G + a * (t - 1) + rho * R * t) + 2 * r * t
    after = 2 * eta * (G + a * t + rho * R * (t + 1)) + 2 * r * (t + 1)
    lam, q, beta, j, s, x = reals("lambda q beta j s x")
    growth = j * (lam * j - 2 * (j - 1) + 4 * x)
    most = lam + 8 * x + 36 * x * x
    y, big, step_, more = reals("y A c e")
    return [
        step(
            "rounding.steps",
            PHASED,
            "computed neighbours are at most 2η(G + α(t − 1) + ρRt) + 2rt apart after t steps",
            Induction(
                "η, G, α, ρ, R, r ≥ 0",
                Smt(
                    "t = 1", (eta > 0, G > 0, rho > 0, R > 0, r > 0, t.equals(1), moved <= first), moved <= bound, TIGHT
                ),
                Smt(
                    "t ≥ 1",
                    (eta > 0, G > 0, a > 0, rho > 0, R > 0, r > 0, t >= 1, moved <= bound + then),
                    moved <= after,
                    TIGHT,
                ),
            ),
            "tight",
        ),
        step(
            "rounding.average",
            PHASED,
            "the mean of ρRt·2η + 2rt over t = 1..T is ηρR(T + 1) + r(T + 1); over t = 0..T − 1 the same with T − 1",
            Parts(
                "all T ≠ 0",
                {
                    "last": Identity(
                        "T ≠ 0", (2 * eta * rho * R + 2 * r) * (T * (T + 1) / 2) / T, (eta * rho * R + r) * (T + 1)
                    ),
                    "first": Identity(
                        "T ≠ 0", (2 * eta * rho * R + 2 * r) * (T * (T - 1) / 2) / T, (eta * rho * R + r) * (T - 1)
                    ),
                },
                "identity",
            ),
            "tight",
        ),
        step(
            "rounding.cells",
            PHASED,
            "derivatives j cells apart, predictions s ≥ ((j − 1)q − 2ρ)/β: growth (ηq²/β)·j(λj − 2(j − 1) + 4ρ/q)",
            Smt(
                "η, q, β, ρ > 0, j ≥ 0, λ = ηβR²",
                (eta > 0, q > 0, beta > 0, rho > 0, j >= 0, R > 0, s * beta >= (j - 1) * q - 2 * rho),
                (R * R * eta * beta * j * j * q * q - 2 * s * beta * j * q)
                <= j * (R * R * eta * beta * j * q * q - 2 * (j - 1) * q * q + 4 * rho * q),
                TIGHT,
                at={n: F(v) for n, v in {"eta": 1, "q": 1, "beta": 1, "rho": 1, "j": 1, "R": 1, "s": -2}.items()},
            ),
            "tight",
        ),
        step(
            "rounding.growth",
            PHASED,
            "j(λj − 2(j − 1) + 4x) ≤ λ + 8x + 36x² for j = 0, 1, 2, … and λ ≤ 1",
            Parts(
                "0 ≤ λ ≤ 1, x ≥ 0",
                {
                    "none": Smt(
                        "j = 0",
                        (j.equals(0), lam > 0, lam <= 1, x >= 0),
                        growth <= most,
                        mutant=growth + lam + F(1, 9) <= most,
                    ),
                    "one": Smt("j = 1", (j.equals(1), lam > 0, lam <= 1, x >= 0), growth <= most, TIGHT),
                    "two": Smt("j = 2", (j.equals(2), lam > 0, lam <= 1, x >= 0), growth <= most, F(1, 3)),
                    "more": Smt("j ≥ 3", (j >= 3, lam > 0, lam <= 1, x >= 0), growth <= most, F(1, 10)),
                },
                "smt",
            ),
            "tight",
        ),
        step(
            "rounding.quadrature",
            PHASED,
            "√(y² + A) + c grows by one step to at most √(y² + 2A) + 2c: errors stay outside the root",
            Smt(
                "y, A, c ≥ 0; w = √(y² + A), v = √(y² + 2A)",
                (
                    y >= 0,
                    big >= 0,
                    step_ >= 0,
                    s >= 0,
                    x >= 0,
                    more >= 0,
                    (s * s).equals(y * y + big),
                    (x * x).equals(y * y + 2 * big),
                    (more * more).equals((s + step_) * (s + step_) + big),
                ),
                more <= x + step_,
                TIGHT,
                at={n: F(v) for n, v in {"y": 1, "A": 0, "c": 0, "s": 1, "x": 1, "e": 1}.items()},
            ),
            "tight",
        ),
        step(
            "rounding.oracle",
            PHASED,
            "a computed test is the exact test of a prediction or a slope that is near; the final cell misses by ρ/L0",
            OnPaper("reference/convex/rounding.py: the oracle as it is computed"),
            "tight",
        ),
        step(
            "rounding.projections",
            PHASED,
            "how far a computed projection is from the exact one: boxes, balls, simplices, segments",
            OnPaper("reference/convex/rounding.py: projections (for segments a sketch, and a test of the constant)"),
            "tight",
        ),
    ]


def selections() -> list[ProofStep]:
    """The least of noisy scores, rounded: e bounds a noisy score's error, its scale is s."""
    u, q, b, t1, t2, e, s, d, p, p2 = reals("u q b t1 t2 e s d p p2")
    value, computed = q + b, (q + b * (1 + t1)) * (1 + t2)
    return [
        step(
            "rounding.noisy_score",
            (WOLFE, POLY),
            "score plus noise, both products rounded, errs by at most u(1 + u)(|q| + 2|b|)",
            Smt(
                "0 < u ≤ 1",
                (u > 0, u <= 1, absolute(t1) <= u, absolute(t2) <= u),
                absolute(computed - value) <= u * (1 + u) * (absolute(q) + 2 * absolute(b)),
                TIGHT,
                at={"u": F(1, 10**6), "t1": F(1, 10**6), "t2": F(1, 10**6), "q": F(0), "b": F(1)},
            ),
            "tight",
        ),
        step(
            "rounding.noisy_order",
            (WOLFE, POLY),
            "two noisy scores that err by at most e each: a computed order holds for exact ones up to 2e",
            Smt(
                "e > 0; q, b exact, t1, t2 their errors",
                (e > 0, absolute(t1) <= e, absolute(t2) <= e, q + t1 <= b + t2),
                q <= b + 2 * e,
                TIGHT,
                at={"e": F(1), "t1": F(-1), "t2": F(1), "q": F(2), "b": F(0)},
            ),
            "tight",
        ),
        step(
            "rounding.log_ratio",
            (WOLFE, POLY),
            "logarithms of both probabilities within 2e/s of exact ones: their difference changes by at most 4e/s",
            Smt(
                "e, s > 0; d the exact difference",
                (e > 0, s > 0, absolute(p) <= 2 * e / s, absolute(p2) <= 2 * e / s),
                absolute((d + p - p2) - d) <= 4 * e / s,
                TIGHT,
            ),
            "tight",
        ),
        step(
            "rounding.least",
            (WOLFE, POLY),
            "who wins as computed wins with a score lower by 2e; one score moved by 2e changes ln P by at most 2e/s",
            OnPaper("reference/numerics/rounding.py: the least of noisy scores"),
            "tight",
        ),
    ]


def recursions() -> list[ProofStep]:
    """Section 4: the errors of all steps of a round, w the root of t + 1."""
    z, w, c, P, eta, L0, L1, D, E = reals("z w c P eta L0 L1 D E")
    return [
        step(
            "rounding.recursion",
            (POLY, NOISY),
            "Z_t = 1 + (1 − η_t)Z_{t−1} ≤ √(t + 1): errors of a round add up to at most √T times the error of a step",
            Induction(
                "w = √(t + 1), z = Z_{t−1} ≤ √t",
                Smt("t = 0: Z_0 = 1", (w.equals(1), z.equals(1)), z <= w, TIGHT),
                Smt(
                    "t ≥ 1",
                    (w >= 1, z >= 0, z * z <= w * w - 1),
                    1 + (1 - 1 / w) * z <= w,
                    TIGHT,
                    at={"w": F(1), "z": F(0)},
                ),
            ),
            "tight",
        ),
        step(
            "rounding.estimate",
            POLY,
            "‖∇^t‖ ≤ 2L0 + L1·D: c = P·L0 + (1 − P)(L0 + L1·D), P the product of the factors 1 − η",
            Smt(
                "0 ≤ P ≤ 1, L0, L1, D ≥ 0",
                (P >= 0, P <= 1, L0 >= 0, L1 >= 0, D >= 0, c <= P * L0 + (1 - P) * (L0 + L1 * D)),
                c <= 2 * L0 + L1 * D,
                TIGHT,
                at={"P": F(0), "L0": F(0), "L1": F(1), "D": F(1), "c": F(1)},
            ),
            "tight",
        ),
        step(
            "rounding.weights",
            POLY,
            "Σ_kη_kP_{k,t} = 1 − P_{0,t}: one step takes E to (1 − η)E + η",
            Identity("all η, E", (1 - eta) * (1 - E) + eta, 1 - (1 - eta) * E),
            "tight",
        ),
    ]
