"""What is wrong as printed in Section 5, Appendix B and their row of Table 1, run.

Each function takes nothing, computes both sides of what the text says, and reports whether the printed text failed.
The entries are in `errata.toml`.
"""

from __future__ import annotations

from fractions import Fraction

from reference.numerics.numbers import Ball, Float64, Real, norm
from reference.numerics.tape import ZeroTape
from reference.paper.inventory import load
from reference.paper.registry import Counterexample, counterexample
from reference.privacy import gaussian_delta, gaussian_mu_safe
from reference.setting.data import Example
from reference.setting.losses_weak import RobustPhaseRetrieval, SquareResidual
from reference.setting.sets import Box
from reference.weakly_convex import weak_convexity as wc
from reference.weakly_convex.functions import absolute, inner, linear, quadratic, square_residual
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
    printed_geometry,
    proximally_guided_printed,
    rounds_printed,
    table_rate,
)
from reference.weakly_convex.strongly_convex import Phase, cited_rate, excess_bound, plan_solver, printed_kappas

HALF = Fraction(1, 2)
"""One half, exactly: float literals do not enter."""


# ------------------------------------------------------------------------------------------- Section 5


@counterexample("E5.1")
def p_bar_in_low_dimension() -> Counterexample:
    """At d = 2 the printed p̄ exceeds 2, and ½‖·‖²_p̄ is then strongly convex with no positive constant."""
    K = Ball(128)
    p_bar = p_bar_printed(K, 1, 2)
    geo = printed_geometry(Float64(), 1, 2)
    nu = _flattest_direction(geo.p_bar)
    fails_at_one = _refused(lambda: p_bar_printed(K, 1, 1))
    shown = K.lt(K(2), p_bar) and fails_at_one and nu < Fraction(1, 100)
    return Counterexample(
        shown,
        f"p̄ = {K.to_float(p_bar):.4f} at d = 2 (no value at d = 1); at x = (1, 0) in the direction (0, 1) "
        "the curvature of "
        f"½‖·‖²_p̄ is {float(nu):.1e} of ‖(0, 1)‖²: no proximal subproblem is strongly convex",
        {"p_bar": K.to_float(p_bar), "curvature": float(nu)},
    )


def _flattest_direction(p_bar: Real) -> Real:
    """The second difference of ½‖·‖²_p̄ at (1, 0) in the direction (0, t), t = 2^{-20}, over t²."""
    K = Float64()
    t = K(Fraction(1, 2**20))

    def half(y: Real) -> Real:
        length = K.power(1 + K.power(K.abs(y), p_bar), 1 / p_bar)
        return (length - 1) * (length + 1) / 2

    return 2 * half(t) / (t * t)


@counterexample("E5.2")
def beta_for_p_one() -> Counterexample:
    """p = 1, d = 4, f = −½(Σw)², W the unit ℓ_1 ball, w_r = 0: with β = 2ρκ the subproblem has two minimisers."""
    K = Ball(128)
    geo = geometry(K, 1, 4)
    at = GuidedParameters(1, 4, 1, 1, 2, 1000, 1, "1e-5")
    beta = beta_printed(K, at)

    def risk(t: Fraction) -> Real:
        w = K.vector([t] * 4)
        return -((4 * K(t)) ** 2) / 2 + beta * half_square(K, geo, w)

    ends, middle = risk(Fraction(1, 4)), risk(Fraction(0))
    shown = K.lt(ends, middle) and K.lt(K(2), geo.C * geo.C)
    return Counterexample(
        shown,
        f"F_r(±¼·1) = {K.to_float(ends):.4f} < 0 = F_r(0): not convex. C² = {K.to_float(geo.C * geo.C):.3f} > 2, so "
        "β = 2ρκ is below ρ̃κ",
        {"F_r": K.to_float(ends), "C_squared": K.to_float(geo.C * geo.C), "beta": K.to_float(beta)},
    )


@counterexample("E5.3")
def lipschitz_constant_of_the_subproblem() -> Counterexample:
    """L0 = 1, ρ = D = 10, p = 2: F_r has slope L0 + βD = 201 on W, and the cited bound uses L0² in place of its
    square.
    """
    L0, rho, D = Fraction(1), Fraction(10), Fraction(10)
    beta = 2 * rho
    subproblem = linear(L0) + quadratic(beta / 2)
    slope = subproblem.slopes(D)[0]
    ratio = (slope / L0) ** 2
    return Counterexample(
        slope > L0,
        f"f(w) = w on [0, {D}], w_r = 0: F_r'({D}) = {slope}; the excess risk that the cited theorem gives "
        "scales with its "
        f"square, {ratio} times what is printed",
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
    """κ = min{1/(p−1), log d} is 0 at d = 1: Theorem 19 then promises excess risk 0."""
    K = Float64()
    claimed = cited_rate(K, 2, 1, 10, 1, "1e-5")
    two = printed_kappas(K, 2, 2)[0]
    # f(w, z) = ½(w − z)², z ∈ {0, 1} with P(z = 1) = ½ or ¾: ten ones have probability ≥ 2^{-10} under both, and
    # whatever is then returned has ½(w − ½)² + ½(w − ¾)² ≥ (¼)²/4: the larger expected excess is at least half of it.
    unavoidable = Fraction(1, 2**10) * Fraction(1, 16) / 4 / 2
    shown = claimed == 0 and unavoidable > 0 and two < 1
    return Counterexample(
        shown,
        f"at d = 1 the claimed excess risk is {claimed:g}·L0²/λ for n = 10; for squares and coin flips of "
        "bias ½ or ¾ no "
        f"algorithm is below {float(unavoidable):.1e} on both. At d = 2, p = 2: κ = {two:.4f} < 1 = 1/(p−1)",
        {"claimed": claimed, "unavoidable": float(unavoidable), "kappa_d2": two},
    )


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
    loss, W = RobustPhaseRetrieval(1, 1), Box([-1] * 3, [1] * 3)
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
    """The printed R is 0 for small ρD/L0, although nd ≥ ρD/L0 holds."""
    K = Ball(96)
    at = GuidedParameters(2, 3, 1, "0.01", 1, 10, 1, "1e-5")
    R = rounds_printed(K, at)
    shown = R == 0 and condition_printed(K, at) and _refused(lambda: check_rounds(R, at.n))
    return Counterexample(shown, f"n = {at.n}, d = {at.d}, ρD/L0 = 0.01: R = {R}, there is nothing to output", {"R": R})


@counterexample("E5.10")
def more_rounds_than_records() -> Counterexample:
    """nd ≥ ρD/L0 does not give R ≤ n: ε² ≤ κ̃κ²log(1/δ) is needed as well."""
    K = Ball(96)
    at = GuidedParameters(2, 100, 1, 1000, 1, 10, 10, "0.01")
    R = rounds_printed(K, at)
    shown = condition_printed(K, at) and at.n < R
    return Counterexample(
        shown, f"n = {at.n}, d = {at.d}, ρD/L0 = 1000 = nd, (ε, δ) = (10, 0.01): R = {R} > n", {"R": R, "n": at.n}
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
    """With ‖·‖_p in place of ‖·‖_p̄ the proximal point is not unique at p = 1."""
    K, beta = Ball(96), 2
    risk = {
        name: -K.sum(w) + K(beta) * norm(K, w, 1) ** 2 / 2
        for name, w in {"e1": K.vector([HALF, 0]), "e2": K.vector([0, HALF]), "origin": K.vector([0, 0])}.items()
    }
    equal = K.le(risk["e1"], risk["e2"]) and K.le(risk["e2"], risk["e1"])
    shown = equal and K.lt(risk["e1"], risk["origin"])
    return Counterexample(
        shown,
        "f(v) = −v_1−v_2, β = 2, w = 0: every v ≥ 0 with v_1+v_2 = ½ minimises f + ‖v‖_1² (value "
        f"{K.to_float(risk['e1'])}); Definition 18 has no value",
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
    """The printed running time contains √(log d): it is 0 at d = 1, where every algorithm must read its data."""
    K = Float64()
    time = cited_running_time(K, 1000, 1, 1)
    return Counterexample(time == 0, f"min{{n^1.5·√(log d), n²ε/√d}} = {time:g} at n = 1000, d = 1", {"time": time})


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
    """Proposition 25 asks for all w, v ∈ E although f is weakly convex on W only."""
    outside = absolute(-HALF, 1) + linear(-HALF, HALF)  # 0 up to 1, then 1 − v
    inside = [outside(Fraction(i, 4)) for i in range(-4, 5)]
    found = wc.subdifferential(outside, 2)
    defect = wc.subgradient_defect(outside, Fraction(0), Fraction(2), Fraction(0), found[0]) if found else Fraction(0)
    shown = set(inside) == {Fraction(0)} and defect < 0
    return Counterexample(
        shown,
        "f = 0 on W = [−1, 1] (convex), 1 − v beyond: at w = 2, g = −1, v = 0 the inequality with ρ = 0 "
        f"fails by {-defect}",
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
        shown, f"steepest descent {slope}, dual distance {dual}, distance in ‖·‖_1 {same}", {"dual": 1, "same_norm": 2}
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
    """Corollary 26 applies Proposition 25, which asks for a Lipschitz f; v²/2 is 1-smooth on ℝ and not Lipschitz."""
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
        f"v²/2 has slopes {[int(s) for s in slopes]} at 10, 10³, 10⁶. The corollary itself holds (−v²/2 is "
        "1-weakly convex, and "
        "not less): Proposition 25 does not need the hypothesis in this direction",
    )


# ------------------------------------------------------------------------- Table 1, abstract, introduction


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
    """With κ = min{1/(p−1), log d} the row is 0 at d = 1, n = 1."""
    K = Float64()
    row = table_rate(K, 2, 1, 1, 1)
    return Counterexample(
        row == 0, f"the row at d = 1, n = 1 is {row:g}: an exact stationary point from one record", {"row": row}
    )


def _refused(call: object) -> bool:
    """Whether a call raises ValueError."""
    assert callable(call)
    try:
        call()
    except ValueError:
        return True
    return False
