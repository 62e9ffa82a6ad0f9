"""What is wrong as printed in Section 5, Appendix B and their row of Table 1, run.

Each function takes nothing, computes both sides of what the text says, and reports whether the printed text failed.
The entries are in `errata.toml`.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

from reference.numerics.numbers import Ball, Float64, Real, norm
from reference.numerics.tape import SeededTape, ZeroTape
from reference.paper.inventory import load
from reference.paper.registry import Counterexample, agree, at_least, counterexample
from reference.privacy import gaussian_delta, gaussian_mu_safe
from reference.setting.data import Example, replace_one
from reference.setting.losses_weak import RobustPhaseRetrieval, SquareResidual
from reference.setting.sets import Box
from reference.weakly_convex import weak_convexity as wc
from reference.weakly_convex.functions import absolute, inner, linear, quadratic, square_residual
from reference.weakly_convex.hypotheses import at_least_one, quadratic_on_a_ball, theorem_20
from reference.weakly_convex.mirror import geometry, half_square, p_bar_printed
from reference.weakly_convex.prox import prox_line
from reference.weakly_convex.proximal_guided import (
    GuidedParameters,
    beta_printed,
    check_rounds,
    cited_running_time,
    condition_printed,
    exact_quotient,
    guarantee,
    printed_rate,
    proximally_guided,
    proximally_guided_printed,
    rounds_printed,
    table_rate,
)
from reference.weakly_convex.strongly_convex import (
    Phase,
    cited_rate,
    excess_bound,
    noise_scale,
    plan_solver,
    printed_kappas,
)

HALF = Fraction(1, 2)
"""One half, exactly: float literals do not enter."""


# ------------------------------------------------------------------------------------------- Section 5


@counterexample("E5.1")
def p_bar_in_low_dimension() -> Counterexample:
    """d = 2, p = 2: p̄ = 2.44 > 2, and the subproblem of line 4 has two minimisers; at d = 1 there is no p̄.

    f(w) = −½‖w‖² − w_1/5 on the Euclidean unit ball, w_r = 0, β = 2ρκ with κ = 1 (at least 1, as Section 4 asks). On
    the axis w_2 = 0 the subproblem is ((β−1)/2)w_1² − w_1/5, at least −1/(50(β−1)); a point off the axis is below that,
    and its mirror image has the same value.
    """
    K = Ball(128)
    p_bar = p_bar_printed(K, 2, 2)
    at = GuidedParameters(2, 2, Fraction(6, 5), 1, 2, 1000, 1, "1e-5")
    kappa = K.max(K(1), printed_kappas(K, at.p, at.d)[0])
    beta = 2 * K(at.rho) * kappa
    off = {sign: _bent_subproblem(K, beta, p_bar, Fraction(1, 5), Fraction(sign, 25)) for sign in (1, -1)}
    axis = -1 / (50 * (beta - 1))
    fails_at_one = _refused(lambda: p_bar_printed(K, 2, 1))
    shown = K.lt(K(2), p_bar) and fails_at_one and K.lt(off[1], axis) and K.lt(off[-1], axis)
    return Counterexample(
        shown,
        f"p̄ = {K.to_float(p_bar):.4f} at d = 2 (no value at d = 1). f = −½‖w‖²−w_1/5 in ℓ_2, w_r = 0, β = 2ρκ = "
        f"{K.to_float(beta):.3f}: the subproblem is {K.to_float(off[1]):.5f} at (1/5, ±1/25) and at least "
        f"{K.to_float(axis):.5f} on the axis between them: two minimisers",
        {"p_bar": K.to_float(p_bar), "off_the_axis": K.to_float(off[1]), "on_the_axis": K.to_float(axis)},
        (
            *(h for h in theorem_20(at) if h.text != "κ ≥ 1"),
            at_least_one(kappa),
            *quadratic_on_a_ball(2, 2, at, Fraction(1), Fraction(1, 5)),
        ),
        "exact",
        "algorithm",
    )


def _bent_subproblem(K: Ball, beta: Real, p_bar: Real, x: Fraction, y: Fraction) -> Real:
    """−½‖w‖² − w_1/5 + (β/2)‖w‖²_p̄ at w = (x, y)."""
    power = K.power(K(abs(x)), p_bar) + K.power(K(abs(y)), p_bar)
    return K(-(x * x + y * y) / 2 - x / 5) + beta / 2 * K.power(power, 2 / p_bar)


@counterexample("E5.2")
def beta_for_p_one() -> Counterexample:
    """p = 1, d = 4, f = −½(Σw)², W the unit ℓ_1 ball, w_r = 0: with β = 2ρκ the subproblem has two minimisers.

    F_r(v) ≤ F_r(¼·1) < 0 makes (Σv)² ≥ 2|F_r(¼·1)|, so every proximal point v of 0 has ‖v‖_p̄ ≥ ‖v‖_1/C ≥ |Σv|/C. A
    solver that keeps Theorem 19 and returns w_r where the problem is not convex stays at w_1 = 0 for every n: the
    measured distance is at least that, whichever proximal point is meant, while ϑ falls to 0.
    """
    K = Ball(128)
    geo = geometry(K, 1, 4)
    at = GuidedParameters(1, 4, 1, 1, 2, 1000, 1, "1e-5")
    beta = beta_printed(K, at)

    def risk(t: Fraction) -> Real:
        w = K.vector([t] * 4)
        return -((4 * K(t)) ** 2) / 2 + beta * half_square(K, geo, w)

    ends, middle = risk(Fraction(1, 4)), risk(Fraction(0))
    stays = K.sqrt(K.max(K(0), -2 * ends)) / geo.C
    shown = K.lt(ends, middle) and K.lt(K(2), geo.C * geo.C) and K.lt(K(Fraction(1, 5)), stays)
    return Counterexample(
        shown,
        f"F_r(±¼·1) = {K.to_float(ends):.4f} < 0 = F_r(0): not convex, and 0 has two proximal points or more, all at "
        f"least {at_least(K.to_float(stays))} away. C² = {K.to_float(geo.C * geo.C):.3f} > 2, so β = 2ρκ is below ρ̃κ",
        {
            "F_r": K.to_float(ends),
            "C_squared": K.to_float(geo.C * geo.C),
            "beta": K.to_float(beta),
            "distance": K.to_float(stays),
        },
        (*theorem_20(at), *quadratic_on_a_ball(1, 4, at, Fraction(1), Fraction(0))),
        "lower",
        "statement",
    )


@counterexample("E5.3")
def lipschitz_constant_of_the_subproblem() -> Counterexample:
    """L0 = 1, ρ = D = 10, p = 2, d = 3: F_r has slope L0 + βD = 201 on W, and the cited bound uses L0² in place of its
    square.
    """
    L0, rho, D = Fraction(1), Fraction(10), Fraction(10)
    beta = 2 * rho
    subproblem = linear(L0) + quadratic(beta / 2)
    slope = subproblem.slopes(D)[0]
    ratio = (slope / L0) ** 2
    return Counterexample(
        slope > L0,
        f"f(w) = w_1 on the ball of diameter {D} in ℝ³, w_r at its lowest point: the slope of F_r at the highest is "
        f"{slope}; the excess risk that the cited theorem gives scales with its square, {ratio} times what is printed",
        {"slope": float(slope), "squared_ratio": float(ratio)},
    )


@counterexample("E5.4")
def weak_convexity_of_the_mean_only() -> Counterexample:
    """f(w, z) = z·w², z = ±1 with equal probability: F_D = 0 is convex, a batch's subproblem is not."""
    rho = Fraction(1, 2)
    mean = quadratic(0)
    batch = quadratic(-1) + quadratic(rho)  # every z = −1; β = 2ρ
    found = wc.violation(batch, 0)
    shown = wc.violation(mean, rho) is None and found is not None
    return Counterexample(
        shown,
        "F_D = 0 is ρ-weakly convex for every ρ, but on a batch of z = −1 the regularised empirical risk (ρ "
        "= ½, β = 1) is "
        f"concave: defect {found.defect if found else 0} at λ = ½",
        {"defect": float(found.defect) if found else 0},
    )


@counterexample("E5.5")
def kappa_vanishes_on_the_line() -> Counterexample:
    """κ = min{1/(p−1), log d} is 0 at d = 1: Theorem 19 then promises excess risk 0, which no algorithm has."""
    K = Float64()
    n = 10
    claimed = cited_rate(K, 2, 1, n, 1, "1e-5")
    two = printed_kappas(K, 2, 2)[0]
    # f(w, z) = ½(w − z)² on [0, 1]: whatever w is returned, ½(w − ½)² + ½(w − ¾)² ≥ (¼)²/4.
    unavoidable = _two_coins(n) * Fraction(1, 16) / 4
    shown = claimed == 0 and unavoidable > 0 and two < 1
    return Counterexample(
        shown,
        f"at d = 1 the claimed excess risk is {claimed:g}·L0²/λ for n = {n}; for squares and coin flips of "
        "bias ½ or ¾ no "
        f"algorithm is below {float(unavoidable):.1e} on both. At d = 2, p = 2: κ = {two:.4f} < 1 = 1/(p−1)",
        {"claimed": claimed, "unavoidable": float(unavoidable), "kappa_d2": two},
    )


def _two_coins(n: int) -> Fraction:
    """Half the probability of n ones under the fairer of two coins, ½ and ¾.

    Where the data are all ones both coins are possible, and one answer w has to serve both: the larger of the two
    expected losses is at least this times min_w (loss under the one + loss under the other).
    """
    return Fraction(1, 2**n) / 2


@counterexample("E5.6")
def batches_that_are_not_disjoint() -> Counterexample:
    """Line 3 subtracts S_r from S, not the S_l: read literally nothing earlier is excluded, and rounds share
    records.
    """
    K, R = Ball(96), 16
    mu = gaussian_mu_safe(1, "1e-5")
    delta = gaussian_delta(K, 1, K.sqrt(K(R)) * K(mu))
    shown = K.lt(K("1e-5"), delta)
    return Counterexample(
        shown,
        f"a record that all {R} rounds may use has δ(1) = {K.to_float(delta):.3f} in place of 1e-5 (R-fold "
        "composition of "
        "exact Gaussian releases)",
        {"rounds": R, "delta": K.to_float(delta)},
    )


@counterexample("E5.7")
def batch_size_is_no_integer() -> Counterexample:
    """n/R is not an integer for most R: n = 1001, and the printed R of a usual setting."""
    K = Float64()
    at = GuidedParameters(2, 5, 1, 1, 1, 1001, 1, "1e-5")
    R = rounds_printed(K, at)
    refused = _refused(lambda: exact_quotient(at.n, R))
    return Counterexample(
        refused, f"n = {at.n}, R = {R}: n/R = {at.n / R:.3f} records a batch", {"R": R, "quotient": at.n / R}
    )


@counterexample("E5.8")
def the_last_round_is_wasted() -> Counterexample:
    """w_{R+1} is computed and never output; with R = 1 the output does not depend on the data at all."""
    K = Float64()
    loss, W = RobustPhaseRetrieval(1, 2), Box([-1] * 3, [1] * 3)
    data = tuple(Example((1, 0, 0), y) for y in (0, 1, 1, 1))
    start = K.vector([HALF, 0, 0])
    run = proximally_guided_printed(K, loss, W, data, rounds=1, plan=(Phase(4, 2),), mu=1, tape=ZeroTape(), start=start)
    mu = gaussian_mu_safe(1, "1e-5")
    geo = geometry(K, 2, 5)
    halved = [excess_bound(K, geo, plan_solver(geo, n, mu), mu) for n in (2000, 4000)]
    shown = run.w[0] == HALF and run.iterates[1][0] != HALF and halved[1] < halved[0]
    return Counterexample(
        shown,
        f"R = 1 returns w_1 = {run.w[0]} after a call that moved to {run.iterates[1][0]:.4f}; at R = 2 a "
        "single call on all "
        f"4000 points instead of two on 2000 brings the excess bound from {halved[0]:.4f} to {halved[1]:.4f}",
        {"excess_two_calls": halved[0], "excess_one_call": halved[1]},
    )


@counterexample("E5.9")
def zero_rounds() -> Counterexample:
    """The printed R is 0 for small nρD/L0, although nd ≥ ρD/L0 holds; the printed rate says nothing there.

    Both terms of the rate are √(L0·D/(ρx)) for the two numbers x whose minimum is rounded down, so if one is below 1
    the rate exceeds √(L0·D/ρ), hence min{L0/ρ, D}, and ‖prox(w)−w‖ ≤ min{L0/β, D} for every w.
    """
    K = Ball(96)
    at = GuidedParameters(2, 3, 1, "0.01", 1, 10, 1, "1e-5")
    R = rounds_printed(K, at)
    rate = printed_rate(K, at)
    shown = R == 0 and condition_printed(K, at) and _refused(lambda: check_rounds(R, at.n)) and K.lt(K(at.D), rate)
    return Counterexample(
        shown,
        f"n = {at.n}, d = {at.d}, ρD/L0 = 0.01: R = {R}, there is nothing to output (and the rate is "
        f"{K.to_float(rate):.1f}, above the diameter {at.D}: any point of W would do)",
        {"R": R, "rate": K.to_float(rate)},
    )


@counterexample("E5.10")
def more_rounds_than_records() -> Counterexample:
    """nd ≥ ρD/L0 does not give R ≤ n: ε² ≤ κ̃κ²log(1/δ) is needed as well.

    With ε ≤ √log(1/δ), which Algorithm 2 asks for, and κ ≥ 1: R³ ≤ n²ρD/(L0·d) ≤ n³.
    """
    K = Ball(96)
    at = GuidedParameters(2, 100, 1, 1000, 1, 10, 10, "0.01")
    within = replace(at, epsilon=2)
    R, R_within = rounds_printed(K, at), rounds_printed(K, within)
    shown = condition_printed(K, at) and at.n < R and R_within <= at.n
    return Counterexample(
        shown,
        f"n = {at.n}, d = {at.d}, ρD/L0 = 1000 = nd, (ε, δ) = (10, 0.01): R = {R} > n; with ε = 2 ≤ √log(1/δ) it is "
        f"{R_within}",
        {"R": R, "n": at.n, "R_within": R_within},
    )


@counterexample("E5.11")
def equality_that_is_an_inequality() -> Counterexample:
    """F_r(ŵ_r) = F_D(w_r) − (ρ/2)‖ŵ_r−w_r‖² is printed; the line before gives only ≤."""
    f, beta, w = square_residual(), Fraction(4), Fraction(1, 4)
    w_hat = Fraction(1, 2)  # βw/(β−2)
    left = f(w_hat) + beta * (w_hat - w) ** 2 / 2
    right = f(w) - Fraction(2, 2) * (w_hat - w) ** 2
    tail = linear(1)
    tight = tail(Fraction(-1, 4)) + beta * Fraction(1, 16) / 2, tail(Fraction(0)) - Fraction(1, 16)
    shown = left <= right and tight[0] < tight[1]
    return Counterexample(
        shown,
        f"f(v) = v, ρ = 2, β = 4, w = 0, ŵ = −1/4: {tight[0]} < {tight[1]} (and {left} ≤ {right} for |v²−1| "
        "at w = 1/4)",
        {"left": float(tight[0]), "right": float(tight[1])},
    )


@counterexample("E5.12")
def prox_in_the_l1_norm() -> Counterexample:
    """With ‖·‖_p in place of ‖·‖_p̄ the proximal point is not unique at p = 1 (d = 3, ρ = 1/log 3, so that β = 2)."""
    K, beta = Ball(96), 2
    risk = {
        name: -K.sum(w) + K(beta) * norm(K, w, 1) ** 2 / 2
        for name, w in {
            "e1": K.vector([HALF, 0, 0]),
            "e2": K.vector([0, HALF, 0]),
            "between": K.vector([HALF / 2, HALF / 2, 0]),
            "origin": K.zeros(3),
        }.items()
    }
    least = K(Fraction(-1, 4))  # of −s + s², s = ‖v‖_1, and the sum of the entries is at most s
    equal = all(K.le(risk[name], least) and K.le(least, risk[name]) for name in ("e1", "e2", "between"))
    shown = equal and K.lt(risk["e1"], risk["origin"])
    return Counterexample(
        shown,
        "f(v) = −v_1−v_2−v_3, β = 2, w = 0: every v ≥ 0 with v_1+v_2+v_3 = ½ minimises f + ‖v‖_1² (value "
        f"{K.to_float(risk['e1'])}); Definition 18 has no value in ‖·‖_1",
        {"value": K.to_float(risk["e1"])},
    )


@counterexample("E5.13")
def weakly_convex_is_not_weakly_smooth() -> Counterexample:
    """'Weakly smooth' is printed for weakly convex: |v²−1| is 2-weakly convex, and its slope jumps."""
    f = square_residual()
    left, right = f.slopes(1)
    shown = wc.violation(f, 2) is None and right - left == 4
    return Counterexample(
        shown,
        f"|v²−1| is 2-weakly convex; at v = 1 its slope jumps from {left} to {right}",
        {"jump": float(right - left)},
    )


@counterexample("E5.14")
def batches_that_look_at_the_data() -> Counterexample:
    """'Extract' leaves open how: batches cut from sorted records change in every round when one record does."""
    R, size = 8, 4
    data = list(range(R * size))
    other = [10**6, *data[1:]]
    by_position = _changed_batches(data, other, R, size)
    by_value = _changed_batches(sorted(data), sorted(other), R, size)
    K = Ball(96)
    mu = gaussian_mu_safe(1, "1e-5")
    delta = gaussian_delta(K, 1, K.sqrt(K(by_value)) * K(mu))
    shown = by_position == 1 and by_value == R and K.lt(K("1e-5"), delta)
    return Counterexample(
        shown,
        f"one record replaced: {by_position} of {R} batches change when cut by position, {by_value} when cut "
        "from the sorted "
        f"data; composed, δ(1) = {K.to_float(delta):.3f} in place of 1e-5",
        {"by_position": by_position, "by_value": by_value, "delta": K.to_float(delta)},
    )


def _changed_batches(data: list[int], other: list[int], R: int, size: int) -> int:
    cuts = [slice(r * size, (r + 1) * size) for r in range(R)]
    return sum(data[cut] != other[cut] for cut in cuts)


@counterexample("E5.15")
def no_time_on_the_line() -> Counterexample:
    """The printed number of gradients contains √(log d): none at d = 1, where no data means a constant error."""
    K = Float64()
    time = cited_running_time(K, 1000, 1, 1)
    # Without a gradient the output is the same for all distributions: z = 0 and z = 1, f = ½(w−z)² on [0, 1].
    blind = Fraction(1, 2) * Fraction(1, 4)
    twice = K.log(K.log(K(2)))
    return Counterexample(
        time == 0 and blind > 0 and twice < 0,
        f"min{{n^1.5·√(log d), n²ε/√d}} = {time:g} at n = 1000, d = 1; an output that uses no gradient has excess "
        f"{float(blind):g} on ½(w−z)² with z = 0 or with z = 1; log log 2 = {twice:.3f}",
        {"time": time, "blind": float(blind), "log_log_2": twice},
    )


@counterexample("E5.16")
def the_prox_without_its_parameter() -> Counterexample:
    """The last displays write prox_{F_D} without β (and ‖·‖, F without their indices): the mapping depends on it."""
    K = Ball(96)
    loss = SquareResidual(1, 2)
    near, far = prox_line(K, loss, 6, HALF), prox_line(K, loss, 3, HALF)
    shown = K.lt(near, far)
    return Counterexample(
        shown,
        f"|v²−1| at w = ½: prox is {K.to_float(near):.4f} for β = 6 and {K.to_float(far):.4f} for β = 3",
        {"beta6": K.to_float(near), "beta3": K.to_float(far)},
    )


@counterexample("E5.17")
def a_start_that_looks_at_the_data() -> Counterexample:
    """w_1 is output with probability 1/R: chosen by a record, it gives that record away, whatever ε is."""
    K, R = Float64(), 4
    loss, W = RobustPhaseRetrieval(1, 2), Box([-1] * 3, [1] * 3)
    data = tuple(Example((1, 0, 0), Fraction(i % 3, 2)) for i in range(12))
    other = replace_one(data, 0, Example((0, 1, 0), 0))
    starts = [K.vector(S[0].x) * K(HALF) for S in (data, other)]
    tape = SeededTape(_first_index(R))
    runs = [
        proximally_guided(K, loss, W, S, rounds=R, plan=(Phase(4, 2),), mu=1, tape=tape, start=start)
        for S, start in zip((data, other), starts, strict=True)
    ]
    shown = all(run.index == 1 and list(run.w) == list(start) for run, start in zip(runs, starts, strict=True))
    return Counterexample(
        shown and list(starts[0]) != list(starts[1]),
        f"w_1 = half the first record, R = {R}: the output is w_1 with probability 1/{R}, and the neighbour never has "
        f"that output: δ ≥ {1 / R} at every ε",
        {"rounds": R, "delta": 1 / R},
    )


def _first_index(R: int) -> int:
    """The first seed whose tape draws the index 1 of R (the probability of that is 1/R)."""
    return next(seed for seed in itertools.count() if SeededTape(seed).index("r", dim=R) == 0)


@counterexample("E5.18")
def inputs_that_are_not_named() -> Counterexample:
    """S, R and β are the inputs named; the noise of A_sc depends on (ε, δ) and L0, its steps on ρ and W."""
    K = Float64()
    scales = [noise_scale(K, 2, 5, 1, 100, 10, gaussian_mu_safe(epsilon, "1e-5")) for epsilon in (1, 2)]
    shown = scales[1] < scales[0]
    return Counterexample(
        shown,
        f"the same S, R and β: a call on 100 records needs noise of scale {scales[0]:.4f} for ε = 1 and "
        f"{scales[1]:.4f} for ε = 2 (δ = 1e-5, L0 = 1, 10 steps)",
        {"sigma_1": scales[0], "sigma_2": scales[1]},
    )


@counterexample("E5.19")
def rates_for_a_large_epsilon() -> Counterexample:
    """For ε far above log(1/δ) no private algorithm has the noise terms of Theorems 19 and 20.

    p = 2, records x ∈ {±1}^d/√d, W the unit ball, f(w, x) = ½‖w−x‖² (1-strongly convex, 2-Lipschitz), mean P/√d with P
    uniform on [−1, 1]^d. Let a = √d·A(S). Fingerprinting: g_j(P) = E[a_j | P] is a polynomial in P_j with
    (1−P_j²)∂_jg_j = E[a_jΣ_i(X_ij−P_j) | P]; integrate by parts over P_j: EΣ_i⟨a−P, X_i−P⟩ = 2E⟨P, a⟩ ≥ d/3 − E‖a−P‖².
    Privacy: compare with the same run where record i is replaced by a fresh one; there ⟨a−P, X_i−P⟩ is sub-Gaussian
    with variance factor ‖a−P‖² ≤ 4d, and it is at most 4d always, so that E⟨a−P, X_i−P⟩ is at most
    ∫_0^{4d} min{1, e^ε·e^{−t²/8d} + δ}dt ≤ 4dδ + √(8dε) + √(2πd). If E‖a−P‖² ≤ d/6 and δ ≤ 1/(48n), then d/12 ≤
    n√d(√(8ε) + √(2π)). So for √d > 12n(√(8ε) + √(2π)) the excess risk ½E‖A−P/√d‖² is above 1/12 for some P, and
    E‖prox^β(A)−A‖ = E‖A−P/√d‖/(1+β) ≥ (1/6)/(2·3) for ρ = 1, β = 2.
    """
    K = Float64()
    n = 10**30
    epsilon, delta = n, Fraction(1, 48 * n)
    root = 12 * n * (K.sqrt(K(8 * epsilon)) + K.sqrt(2 * K.pi))
    d = K.floor(root * root * K(Fraction(1001, 1000)))
    claimed = 4 * cited_rate(K, 2, d, n, epsilon, delta)
    at = GuidedParameters(2, d, 2, 1, 2, n, epsilon, delta)
    theta = printed_rate(K, at)
    needed = Fraction(4, 36)
    shown = claimed < Fraction(1, 12 * 1000) and 100 * theta < needed and condition_printed(K, at)
    return Counterexample(
        shown,
        f"p = 2, n = ε = 10³⁰, δ = 1/(48n), d = {d:.3g}: every (ε, δ)-DP algorithm has excess risk above 1/12 on one "
        f"of the problems, where Theorem 19 claims {claimed:.2g} times a constant; Theorem 20 claims ϑ = {theta:.2g} "
        f"times a constant where {float(needed):.2g} is unavoidable. Both ratios grow without bound with n = ε",
        {"claimed": claimed, "excess": 1 / 12, "theta": theta, "theta_needed": float(needed)},
    )


@counterexample("E5.20")
def no_curvature_at_all() -> Counterexample:
    """ρ = 0 (a convex risk) with nd ≥ ρD/L0: β = 2ρκ and R are 0, and the rate grows without bound as ρ falls to 0."""
    K = Float64()
    at = GuidedParameters(2, 3, 1, Fraction(0), 1, 1000, 1, "1e-5")
    beta, R = beta_printed(K, at), rounds_printed(K, at)
    near, nearer = (printed_rate(K, replace(at, rho=Fraction(1, 10**k))) for k in (6, 12))
    shown = condition_printed(K, at) and beta == 0 and R == 0 and 1000 * near < nearer
    return Counterexample(
        shown,
        f"ρ = 0: β = {beta:g}, R = {R} at n = {at.n}; ϑ is {near:.2g} at ρ = 1e-6 and {nearer:.2g} at ρ = 1e-12",
        {"beta": beta, "R": R, "n": at.n, "rate_1e-6": near, "rate_1e-12": nearer},
    )


# ------------------------------------------------------------------------------------------ Appendix B


@counterexample("EB.1")
def normal_cone_inside_the_set() -> Counterexample:
    """Printed: N_W(w) ⊂ W. For W = [1, 2] the printed cone at 1 is empty, although 0 is in every normal cone."""
    W = (Fraction(1), Fraction(2))
    grid = [Fraction(i, 8) for i in range(-32, 33)]
    printed = [n for n in grid if wc.in_normal_cone_printed(W, 1, n)]
    correct = [n for n in grid if wc.in_normal_cone(W, 1, n)]
    shown = not printed and Fraction(0) in correct and min(correct) == grid[0]
    return Counterexample(
        shown,
        f"of {len(grid)} grid points in [−4, 4] the printed cone has {len(printed)}, N_W(1) = (−∞, 0] {len(correct)}",
    )


@counterexample("EB.2")
def two_sided_directional_derivative() -> Counterexample:
    """With ε → 0 from both sides |v| has f'(0; 1) = −1, and Proposition 24 makes its subdifferential at 0 empty."""
    f = absolute()
    printed = wc.directional_derivative_printed(f, 0, 1)
    found = wc.from_directions(f, 0, wc.directional_derivative_printed)
    shown = printed == -1 and found is None and wc.subdifferential(f, 0) == (Fraction(-1), Fraction(1))
    return Counterexample(
        shown,
        f"|v| at 0: printed f'(0; 1) = {printed}, one-sided {wc.directional_derivative(f, 0, 1)}; the set of "
        "Proposition 24 is "
        f"{found} in place of [−1, 1]",
        {"printed": float(printed)},
    )


@counterexample("EB.3")
def a_norm_is_missing() -> Counterexample:
    """Proof of Proposition 24, third display line: the remainder is a vector; its entries have both signs."""
    K = Ball(96)
    v, e = K.vector([Fraction(3, 5), Fraction(4, 5)]), K.vector([Fraction(4, 5), Fraction(3, 5)])
    remainder = v - e
    shown = K.lt(remainder[0], K(0)) and K.lt(K(0), remainder[1]) and K.lt(K(0), norm(K, remainder, 2))
    return Counterexample(
        shown,
        f"(v−w)/‖v−w‖ − e = ({K.to_float(remainder[0])}, {K.to_float(remainder[1])}) is subtracted from a "
        "number; its norm "
        f"{K.to_float(norm(K, remainder, 2)):.4f} is meant",
    )


@counterexample("EB.4")
def the_characterisation_outside_the_set() -> Counterexample:
    """Proposition 25 asks for all w, v ∈ E although f lives on W: what it then says depends on how f is continued."""
    flat, falls = quadratic(0), absolute(-HALF, 1) + linear(-HALF, HALF)  # 0; 0 up to 1, then 1 − v
    same = all(flat(Fraction(i, 4)) == falls(Fraction(i, 4)) for i in range(-4, 5))
    found = wc.subdifferential(falls, 2)
    defect = wc.subgradient_defect(falls, Fraction(0), Fraction(2), Fraction(0), found[0]) if found else Fraction(0)
    shown = same and defect < 0 and wc.violation(flat, 0) is None
    return Counterexample(
        shown,
        "f = 0 on W = [−1, 1] has no value at w = 2. Continued by 0 it keeps the inequality there (ρ = 0), continued "
        f"by 1 − v it fails by {-defect} (w = 2, g = −1, v = 0): W is meant, or W = E",
        {"defect": float(defect)},
    )


@counterexample("EB.5")
def gap_with_the_wrong_sign() -> Counterexample:
    """f(v) = v on [0, 1]: the printed gap at the minimiser is 1, not 0."""
    f, W = linear(1), (Fraction(0), Fraction(1))
    printed, right = wc.gap_printed(f, W, 0), wc.gap(f, W, 0)
    shown = printed == 1 and right == 0 and wc.minimisers(f, W) == [0]
    return Counterexample(
        shown, f"at the minimiser 0: printed gap {printed}, with w−v {right}", {"printed": float(printed)}
    )


@counterexample("EB.6")
def lipschitz_extension_loses_weak_convexity() -> Counterexample:
    """f(x) = −x²/2 on W = [−1, 1]×{0}: the Lipschitz extension has a concave kink above W, at (0, 2)."""
    K = Ball(128)

    def extension(t: Fraction) -> Real:
        """min_{|y|≤1} −y²/2 + √((t−y)²+4), L = 1, for small t: attained at y = ±1 (compared with a grid below)."""
        ends = [K(Fraction(-1, 2)) + K.sqrt((K(t) - y) * (K(t) - y) + 4) for y in (-1, 1)]
        return K.min(ends[0], ends[1])

    interior = min(K.to_float(-K(y * y) / 2 + K.sqrt(K(y * y) + 4)) for y in (Fraction(i, 64) for i in range(-63, 64)))
    quotients = []
    for power in (3, 6, 9):
        t = Fraction(1, 2**power)
        quotients.append((2 * extension(Fraction(0)) - extension(t) - extension(-t)) / K(t * t))
    shown = K.lt(quotients[0], quotients[1]) and K.lt(quotients[1], quotients[2]) and K.lt(K(100), quotients[2])
    shown = shown and K.to_float(extension(Fraction(0))) < interior
    return Counterexample(
        shown,
        "second difference quotients at (0, 2), t = 1/8, 1/64, 1/512: −"
        + ", −".join(f"{K.to_float(q):.1f}" for q in quotients)
        + ": no ρ bounds them",
        {"quotient": K.to_float(quotients[2])},
    )


@counterexample("EB.7")
def the_proof_cites_itself() -> Counterexample:
    """The proof of Proposition 29 applies Proposition 29; Proposition 28 is meant, and 'Proposition' 27 is a
    theorem.
    """
    inventory = load()
    cited, meant = inventory.entries["prop:opt_cond_wk_cvx"], inventory.entries["prop:dist_directional"]
    rule = inventory.entries["thm:sum_subdiff"]
    kinds = [getattr(entry, "kind", "") for entry in (cited, meant, rule)]
    numbers = [getattr(entry, "number", 0) for entry in (cited, meant, rule)]
    shown = kinds == ["proposition", "proposition", "theorem"] and numbers == [29, 28, 27]
    return Counterexample(
        shown,
        f"cited {kinds[0]} {numbers[0]} inside its own proof, meant {numbers[1]}; number {numbers[2]} is a {kinds[2]}",
    )


@counterexample("EB.8")
def distance_in_the_dual_norm() -> Counterexample:
    """f = v_1 + v_2 in ℓ_1: −inf over ‖e‖_1 ≤ 1 is 1 = ‖g‖_∞; the distance in ‖·‖_1 is 2."""
    g = ((Fraction(1), Fraction(1)),)
    slope = wc.steepest_descent(g, "l1")
    dual, same = wc.distance_to_zero(g, "l1"), wc.distance_to_zero(g, "linf")
    shown = slope == dual == 1 and same == 2
    return Counterexample(
        shown,
        f"φ = v_1+v_2 in ℓ_1: steepest descent {slope}, distance in the dual norm {dual}; in ‖·‖_1 it would be {same}",
        {"dual": 1, "same_norm": 2},
    )


@counterexample("EB.9")
def an_algorithm_with_real_output() -> Counterexample:
    """B: Z^n → ℝ is printed, and then ⟨g, B(S) − v⟩ with v ∈ W ⊂ ℝ^d."""
    shown = _refused(lambda: inner((Fraction(1), Fraction(1)), (Fraction(1),)))
    return Counterexample(
        shown, "in ℝ² the inner product of a subgradient with a number is not defined; B: Z^n → W is meant"
    )


@counterexample("EB.10")
def smooth_need_not_be_lipschitz() -> Counterexample:
    """Corollary 26 applies Proposition 25, which asks for a Lipschitz f; v²/2 is 1-smooth on ℝ and not Lipschitz.

    On a set of diameter D, which Section 2 asks for, an L1-smooth f has slopes within L1·D of each other.
    """
    f = quadratic(HALF)
    slopes = [f.slopes(10**k)[0] for k in (1, 3, 6)]
    bent = quadratic(-HALF)
    shown = (
        slopes == [10, 1000, 10**6]
        and wc.violation(bent, 1) is None
        and wc.violation(bent, Fraction(9, 10)) is not None
    )
    return Counterexample(
        shown,
        f"v²/2 has slopes {[int(s) for s in slopes]} at 10, 10³, 10⁶: no Lipschitz constant on ℝ; on a bounded W there "
        "is one. The corollary itself holds either way (−v²/2 is 1-weakly convex, and not less): Proposition 25 does "
        "not need the hypothesis in this direction",
    )


@counterexample("EB.11")
def a_subdifferential_that_depends_on_the_extension() -> Counterexample:
    """Definition 23 is for f on E, F_D lives on W: f = 0 on [0, 1] continued by 0 or by −v has ∂f(0) = {0} or [−1, 0].

    The gap does not depend on it, as long as the extension is weakly convex and Lipschitz.
    """
    W, w = (Fraction(0), Fraction(1)), Fraction(0)
    flat, rises = quadratic(0), absolute(HALF) + linear(-HALF)  # 0, and max(0, −v)
    sets = [wc.subdifferential(f, w) for f in (flat, rises)]
    gaps = [wc.gap(f, W, w) for f in (flat, rises)]
    shown = sets[0] != sets[1] and gaps[0] == gaps[1] == 0
    ends = [f"[{', '.join(map(str, found))}]" for found in sets if found]
    return Counterexample(shown, f"∂f(0) = {' or '.join(ends)}, the gap is {gaps[0]} for both", {"gap": 0})


@counterexample("EB.12")
def a_distance_that_is_not_attained() -> Counterexample:
    """dist(0, A + B) = 0 does not put 0 into A + B: A = {xy ≥ 1, x > 0}, B = {0}×(−∞, 0], both closed and convex.

    (t, 1/t) + (0, −1/t) = (t, 0) for every t > 0, and every sum has x > 0. With a bounded A, as ∂f(w*) of a Lipschitz f
    is, the sum is closed.
    """
    nearest = []
    for k in (1, 10, 100):
        t = Fraction(1, 2**k)
        (x, y), down = (t, 1 / t), -1 / t
        nearest.append((x, y + down))
    in_A = all(x > 0 for x, _ in nearest)
    shown = in_A and all(y == 0 for _, y in nearest) and nearest[-1][0] < Fraction(1, 10**30)
    return Counterexample(
        shown,
        f"A + B holds (t, 0) down to t = {float(nearest[-1][0]):.1e}, and not (0, 0)",
        {"distance": float(nearest[-1][0])},
    )


@counterexample("EB.13")
def a_gap_for_its_expectation() -> Counterexample:
    """f(v) = v on [0, 1], B = 0 or 1 with equal probability: Gap_f(B) is 0 or 1, its expectation ½."""
    f, W, outputs = linear(1), (Fraction(0), Fraction(1)), (Fraction(0), Fraction(1))
    gaps = [wc.gap(f, W, output) for output in outputs]
    mean = sum(gaps, Fraction(0)) / len(gaps)
    shown = all(gap != mean for gap in gaps)
    return Counterexample(
        shown, f"Gap_f(B) is {' or '.join(map(str, gaps))}, E Gap_f(B) = {mean}", {"mean": float(mean)}
    )


# ------------------------------------------------------------------------- Table 1, abstract, introduction


@counterexample("E1.22")
def a_match_that_needs_a_constant_epsilon() -> Counterexample:
    """d = √n: the rate is of the order n^{−1/4} for ε = Θ(1), and of the order n^{−1/6} for ε = n^{−1/4}."""
    K = Float64()
    ratios: dict[int, list[float]] = {8: [], 16: []}
    for j, found in ratios.items():
        n = 10**j
        for epsilon in (Fraction(1), Fraction(1, 10 ** (j // 4))):
            found.append(table_rate(K, 2, 10 ** (j // 2), n, epsilon) / K.power(K(n), Fraction(-1, 4)))
    constant, small = zip(*ratios.values(), strict=True)
    shown = agree(constant[1], constant[0]) and small[1] > 2 * small[0]
    summary = f"rate over n^(−1/4) at n = 1e8, 1e16: {constant[0]:.1f}, {constant[1]:.1f} for ε = 1, "
    summary += f"{small[0]:.1f}, {small[1]:.1f} for ε = n^(−1/4)"
    return Counterexample(shown, summary, {"small_1e8": small[0], "small_1e16": small[1]})


@counterexample("E1.20")
def the_abstract_leaves_out_p_one() -> Counterexample:
    """The abstract extends the non-convex results to 1 < p ≤ 2; Theorem 20 and Table 1 cover p = 1 as well."""
    K = Float64()
    mu = gaussian_mu_safe(1, "1e-5")
    found = guarantee(K, GuidedParameters(1, 20, 1, 1, 1, 10**6, 1, "1e-5"), mu, 90)
    row = table_rate(K, 1, 20, 10**6, 1)
    return Counterexample(
        found.informative and row > 0,
        f"p = 1, d = 20, n = 10⁶: the corrected theorem gives {found.distance:.4f} < {found.a_priori:.4f} (a "
        "priori); the "
        f"table's row is {row:.3f}",
        {"bound": found.distance, "a_priori": found.a_priori},
    )


@counterexample("E1.21")
def the_row_of_table_one_on_the_line() -> Counterexample:
    """With κ = min{1/(p−1), log d} the row is 0 at d = 1 for every n: no algorithm has that.

    f(w, z) = ¼(w−z)² on [−1, 1] with z ∈ {0, 1} (1-Lipschitz, convex), P(z = 1) = ½ or ¾. The proximal point of w is at
    distance |w−m|/(1+2β) from it, m the mean, and |w−½| + |w−¾| ≥ ¼; β = 2 is that of the corrected κ = 1, ρ = 1 (the
    printed β is 0, and leaves the full distance).
    """
    K, n = Float64(), 10
    row = table_rate(K, 2, 1, n, 1)
    unavoidable = _two_coins(n) * Fraction(1, 4) / 5
    return Counterexample(
        row == 0 and unavoidable > 0,
        f"the row at d = 1, n = {n} is {row:g}; for ¼(w−z)² and coin flips of bias ½ or ¾ no algorithm is closer to "
        f"its proximal point than {float(unavoidable):.1e} on both",
        {"row": row, "unavoidable": float(unavoidable)},
    )


def _refused(call: object) -> bool:
    """Whether a call raises ValueError."""
    assert callable(call)
    try:
        call()
    except ValueError:
        return True
    return False
