"""What each exhibit of an erratum must notice: the corrected text in the place of the printed one.

An exhibit shows a defect. With the defect mended, by the change that stands here under the erratum's id, there must be
nothing left to show; otherwise the exhibit shows something else than what it says, or nothing. Mostly the change is an
edit of the exhibit's own line that states the printed formula, or the corrected function for the printed one.
"""

from __future__ import annotations

from fractions import Fraction as Q
from typing import Any

from audit.checks.mutants import Mutant, Mutants, edited, replaced, scaled
from reference.numerics.numbers import Numbers, Real
from reference.smooth.regular_spaces import kappa_provable
from reference.weakly_convex.mirror import geometry

CONVEX = "reference.convex.counterexamples"
SMOOTH = "reference.smooth.counterexamples"
WEAK = "reference.weakly_convex.counterexamples"


# ------------------------------------------------------------------------- corrected parts, with the printed signature


def provable_kappa(K: Numbers, d: int, q: Any) -> Real:
    """κ that is proved, in the place of min{q − 1, 2 ln d}."""
    return kappa_provable(K, d, q).kappa


def beta_in_the_norm_of_p_bar(K: Numbers, at: Any) -> Real:
    """2κC²ρ in the place of 2κρ."""
    geo = geometry(K, at.p, at.d)
    return 2 * geo.kappa * geo.C * geo.C * K(at.rho)


def kappas_for_every_d(K: Numbers, p: Any, d: int) -> tuple[Real, Real]:
    """(κ, κ̃) with max{1, log d} for log d."""
    return geometry(K, p, d).kappa, K(1) if p == 2 else 1 + K.log(K(d))


def p_bar_for_every_d(K: Numbers, p: Any, d: int) -> Real:
    """p̄ with max{1, log d} for log d."""
    return K(geometry(K, p, d).p_bar)


def iterates_as_divided_by(R: int) -> int:
    """2^R, by which the proofs divide."""
    return int(2**R)


# ------------------------------------------------------------------------------------------------------- the table


SECTION_2: dict[str, Mutant] = {
    "E2.1": edited("reference.privacy.counterexamples.dual_norm_of_another_product", "4 * unit[0]", "unit[0] / 2"),
    "E2.2": edited(
        "reference.privacy.counterexamples.two_neighbour_relations", "laplace_delta(K, 1, 2)", "laplace_delta(K, 1, 1)"
    ),
    "E2.3": edited(
        "reference.privacy.counterexamples.excess_risk_without_a_minimiser",
        "K.log1p(K.exp(K(-w)))",
        "K.abs(K(w - 50))",
    ),
    "E2.4": edited(
        "reference.privacy.counterexamples.risk_that_is_infinite", "K.log1p(K(M) * K(M)) / K.pi", "1 - 1 / K(M)"
    ),
}

SECTION_3: dict[str, Mutant] = {
    "E3.1": replaced("reference.convex.oracle.oracle_printed", "reference.convex.oracle.oracle"),
    "E3.2": edited(f"{CONVEX}.square_without_half_beta", '{"E3.1", "E3.3"}', '{"E3.1", "E3.2", "E3.3"}'),
    "E3.3": edited(f"{CONVEX}.halving_by_quarter_points", "edition(oracle_printed, oracle, UNSOUND)", "oracle"),
    "E3.4": edited(
        f"{CONVEX}.values_stall_in_binary64",
        '("best midpoint by value", by_value)',
        '("best midpoint by value", oracle)',
    ),
    "E3.5": edited(
        f"{CONVEX}.steps_for_coarse_accuracy",
        "math.ceil(math.log2(Fraction(16, a * a)))",
        "max(0, math.ceil(-math.log2(a)))",
    ),
    "E3.6": edited(
        f"{CONVEX}.losses_that_are_not_convex", "PiecewiseLinear([0], [1, -1])", "PiecewiseLinear([0], [-1, 1])"
    ),
    "E3.7": edited(
        f"{CONVEX}.minimiser_over_the_line", "(Interval(), Interval(0, 1))", "(Interval(0, 1), Interval(0, 1))"
    ),
    "E3.8": edited(
        f"{CONVEX}.predictions_outside_M", "K, M = Float64(), Interval(0, 1)", "K, M = Float64(), Interval()"
    ),
    "E3.9": replaced("reference.convex.moreau.smoothing_error_printed", "reference.convex.moreau.envelope_gap"),
    "E3.10": scaled("reference.convex.phased_sgd.theorem_beta_printed", Q(1, 48)),
    "E3.11": edited(f"{CONVEX}.phases_that_share_a_point", "s + n // 2**k + 1)", "s + n // 2**k)"),
    "E3.12": replaced("reference.convex.phased_sgd.psgd_printed", "reference.convex.phased_sgd.psgd"),
    "E3.13": edited(f"{CONVEX}.sensitivity_from_a_norm", "2 * (2 + Fraction(1, n))", "2 * Fraction(1)"),
    "E3.14": edited(f"{CONVEX}.phases_of_fractional_length", "Fraction(n, 2**k)", "Fraction(n // 2**k)"),
    "E3.15": replaced("reference.convex.phased_sgd.phased_sgd_printed", "reference.convex.phased_sgd.phased_sgd"),
    "E3.16": edited(f"{CONVEX}.telescoping_to_the_wrong_point", "final, inner[-1]", "final, final"),
    "E3.17": edited(
        f"{CONVEX}.the_first_phase_is_lost",
        "2 * len(run.phases) * p.smoothing.alpha",
        "2 * len(run.phases) * p.smoothing.alpha + 1 / (2 * run.phases[0].eta * run.phases[0].T)",
    ),
    "E3.18": edited(f"{CONVEX}.oracle_error_of_all_phases", "left * n / 2)", "left * n * K.log(K(2)) / 2)"),
    "E3.19": edited(f"{CONVEX}.minimum_for_minimiser", "Fraction(0), Fraction(3, 4)", "Fraction(3, 4), Fraction(3, 4)"),
    "E3.20": edited(
        f"{CONVEX}.rate_without_n", "printed, proved = 1 / _rho(K)", "printed, proved = 1 / (_rho(K) * 10**6)"
    ),
    "E3.21": edited(f"{CONVEX}.eigenbasis_of_the_whole_space", "span_norm(K, e2, full)", "span_norm(K, e2, span)"),
    "E3.22": edited(f"{CONVEX}.one_draw_for_n", "rank([a, b])", "rank([a])"),
    "E3.23": replaced(f"{CONVEX}.Logistic", "reference.setting.losses_convex.Absolute", "a loss with a minimiser"),
    "E3.24": edited(f"{CONVEX}.square_of_a_sum", "- 4 - a * a", "- 4 - 4 * a - a * a"),
    "E3.25": edited(f"{CONVEX}.potential_off_by_one", "0, u_1 * u_1", "u_1 * u_1, u_1 * u_1"),
    "E3.26": edited(
        f"{CONVEX}.equality_that_is_an_inequality",
        "3 * a * T + K(Fraction(5, 2))",
        "a * (2 + a) * T + (a * a + 4) / 2",
    ),
    "E3.27": edited(f"{CONVEX}.step_size_of_a_phase", "1 / math.sqrt(n)) / 3", "1 / math.sqrt(n)) / 12"),
    "E3.28": edited(
        f"{CONVEX}.noise_is_not_below_one_over_root_n", "sigma * math.sqrt(n)", "sigma * math.sqrt(n) * _rho(K)"
    ),
    "E3.29": edited(f"{CONVEX}.powers_of_four", "4 * n**2 * math.isqrt(n)", "n**2 * math.isqrt(n) // 4"),
    "E3.30": edited(
        f"{CONVEX}.first_step_size",
        "(_rho(K) / (12 * math.sqrt(n)))",
        "(min(_rho(K), 1 / math.sqrt(n)) / 12)",
    ),
    "E3.31": edited(
        f"{CONVEX}.sum_over_phases_and_two_logarithms",
        "3 * (K_ - 1) / root.log(root(n))",
        "3 * (K_ - 1) / floor_log2(n)",
    ),
    "E3.32": edited(
        f"{CONVEX}.steps_that_are_no_number_of_steps",
        "n / (math.log(10) * math.log(n) * math.sqrt(L)) for",
        "max(1, n // (math.log(10) * math.log(n) * math.sqrt(L))) for",
    ),
    "E3.33": edited(
        f"{CONVEX}.accuracy_without_its_unit",
        "nfw.theorem_alpha_printed(K, 10)",
        "nfw.theorem_alpha(K, 10, 1, Fraction(1, 1000))",
    ),
    "E3.34": replaced(
        "reference.convex.noisy_frank_wolfe.noisy_frank_wolfe_printed",
        "reference.convex.noisy_frank_wolfe.noisy_frank_wolfe",
    ),
    "E3.35": edited(f"{CONVEX}.frank_wolfe_at_large_epsilon", "Fraction(p.s))", "100 * Fraction(p.s))"),
    "E3.36": edited(f"{CONVEX}.logarithm_of_the_number_of_steps", "math.sqrt(8 * T", "math.sqrt(72 * T"),
    "E3.37": edited(f"{CONVEX}.logarithm_of_dimension_one", "math.log(1) == 0", "math.log(2) == 0"),
    "E3.38": edited(f"{CONVEX}.a_theorem_called_lemma", 'entries["thm:l2_glm"]', 'entries["lem:oracle"]'),
    "E3.39": edited(f"{CONVEX}.sensitivity_of_the_mean_gradient", "2 * (2 + 1), 3, 2", "2 * 1, 3, 2"),
    "E3.40": edited(f"{CONVEX}.one_record", "1 * math.log(1), floor_log2(1)", "2 * math.log(2), floor_log2(2)"),
    "E1.1": edited(f"{CONVEX}.rate_that_falls_with_epsilon", "(n * epsilon)", "n"),
    "E1.2": edited(f"{CONVEX}.rate_at_dimension_one", "math.log(d) == 0", "math.log(2 * d) == 0"),
    "E1.3": edited(f"{CONVEX}.vertices_not_dimensions", "box_polytope([0] * d, [Fraction(1, d)] * d).J", "2 * d"),
    "E3.41": edited(f"{CONVEX}.inputs_that_are_used_and_not_named", "for beta in (2, 4)", "for beta in (4, 4)"),
    "E3.42": edited(
        f"{CONVEX}.a_start_that_looks_at_the_data",
        "(Fraction(1, 4), Fraction(3, 4))",
        "(Fraction(1, 4), Fraction(1, 4) + Fraction(1, 50))",
    ),
    "E3.43": edited(
        f"{CONVEX}.small_diameter_floor", "return (K(Fraction(2, 5)) -", "return (K(Fraction(2, 5)) / K.sqrt(K(n)) -"
    ),
    "E3.44": edited(f"{CONVEX}.time_in_values_of_the_loss", "oracle_printed(K, K.v", "oracle(K, K.v"),
    "E3.45": edited(f"{CONVEX}.a_set_away_from_the_origin", "K.vector([0, 0])", "K.vector([100, 0])"),
    "E3.46": edited(f"{CONVEX}.a_loss_for_every_real_label", "asked = Fraction(1, 2)", "asked = Fraction(1)"),
    "E3.47": edited(
        f"{CONVEX}.a_heading_that_says_linear", "theorem_alpha(K, n, 1, 1)", "theorem_alpha(K, 2**6, 1, 1)"
    ),
}

SECTION_4: dict[str, Mutant] = {
    "E4.1": edited(f"{SMOOTH}.pair_instance", "noisy_sfw_with(set(errata))", 'noisy_sfw_with({"E4.1", *errata})'),
    "E4.2": edited(f"{SMOOTH}.constant_sixteen_runs_out", "corrected_transcript_delta(_K, e, d)", "_K(Fraction(d))"),
    "E4.3": edited(
        f"{SMOOTH}.any_step_sizes", "pair_instance(eta=lambda", 'pair_instance(frozenset({"E4.1"}), eta=lambda'
    ),
    "E4.4": edited(f"{SMOOTH}.batches_from_the_whole_sample", "one * _K.sqrt(_K(8))", "one"),
    "E4.5": edited(f"{SMOOTH}.floor_bias", "Fraction((t + 1) * (b // (t + 1)), b)", "Fraction(1)"),
    "E4.6": edited(f"{SMOOTH}.composition_does_not_give_epsilon", "_K(1) / (8 * root_log)", "_K(1) / (16 * root_log)"),
    "E4.7": edited(f"{SMOOTH}.delta_above_one_over_e", '1, 10, "0.9")', '1, 10, "0.3")'),
    "E4.8": edited(f"{SMOOTH}.replacing_a_record_moves_twice_as_far", "moved > 1,", "moved > 2,"),
    "E4.9": edited(f"{SMOOTH}.vertices_are_not_short", "max(changes) > 1 and", "max(changes) - min(changes) > 2 and"),
    "E4.10": edited(f"{SMOOTH}.move_of_the_previous_step", "2 * _K.sqrt(_K(2)) * 2 / 2", "2 * _K(2) * 2 / 2"),
    "E4.11": replaced("reference.smooth.regular_spaces.kappa_printed", provable_kappa),
    "E4.31": edited(f"{SMOOTH}.polyhedral_regularity_fails", "B.log(B(2 * d))", "2 * B.log(B(2 * d))"),
    "E4.12": replaced("reference.smooth.regular_spaces.kappa_printed", provable_kappa),
    "E4.13": edited(f"{SMOOTH}.centring_costs_a_factor_four", "values[4] > 2", "values[4] > 4"),
    "E4.14": edited(f"{SMOOTH}.exponent_of_statement_and_proof", "(1, 0, 1), 0)", "(1, 0, 1))"),
    "E4.15": edited(
        f"{SMOOTH}.recursion_holds_in_the_mean_only", "(1 - eta) ** 2 * gamma0 + eta", "(1 - eta) ** 2 * 1 + eta"
    ),
    "E4.16": edited(f"{SMOOTH}.nothing_is_convex_here", "Example((1,), -1)", "Example((1,), 1)"),
    "E4.17": edited(
        f"{SMOOTH}.sign_of_the_gap_term", "common - true @ (best - w), common", "common + true @ (best - w), common"
    ),
    "E4.18": edited(f"{SMOOTH}.descent_without_descent", "right < 1,", "right < 1 - eta,"),
    "E4.19": replaced("reference.smooth.rounds.iterate_count", iterates_as_divided_by),
    "E4.20": edited(f"{SMOOTH}.remark_on_sample_size", "for r in range(R + 1)", "for r in range(R)"),
    "E4.21": edited(f"{SMOOTH}.base_of_the_logarithm", "-_K.log(x) / 3", "-_K.log(x) / _K.log(_K(2)) / 3"),
    "E4.22": replaced("reference.smooth.bounds.gap_at_choice_printed", "reference.smooth.bounds.gap_at_choice"),
    "E4.23": replaced("reference.smooth.bounds.gap_at_choice_printed", "reference.smooth.bounds.gap_at_choice"),
    "E4.24": edited(f"{SMOOTH}.largest_of_few_gaussians", "2 * _K.log(_K(d))", "2 * (1 + _K.log(_K(d)))"),
    "E4.25": edited(f"{SMOOTH}.embedding_changes_kappa", "kappa_printed(_K, wide, q)", "kappa_printed(_K, 2, q)"),
    "E4.26": edited(f"{SMOOTH}.two_norms_mixed", "2 * space.kappa * space.equivalence(),", "2 * space.kappa,"),
    "E4.27": edited(f"{SMOOTH}.distance_of_noisy_vectors", "sigma = 4 *", "sigma = _K(1) / 4 *"),
    "E4.28": edited(f"{SMOOTH}.wrong_reason", "_K(2), _K(1)", "_K(1), _K(1)"),
    "E4.29": edited(f"{SMOOTH}.Constant.gradient", "self.height * Fraction(z.y)", "Fraction(0)"),
    "E4.30": scaled("reference.smooth.floors.gap_floor", Q(1, 2)),
    "E1.10": edited(
        f"{SMOOTH}.row_names_the_privacy_theorem",
        "(row,) = [r for",
        '(row,) = [type(r)(**(vars(r) | {"cites": "thm:convergence-noisySFW"})) for',
    ),
    "E1.11": edited(f"{SMOOTH}.table_kappa", "K.log(K(d))", "2 * K.log(K(d))"),
    "E1.12": edited(
        f"{SMOOTH}.rate_without_its_condition",
        "_K.log(_K(200)) ** 2 / n,",
        "_K.log(_K(200)) ** 2 * _K.log(_K(n)) ** 3 / n,",
    ),
    "E1.13": edited(f"{SMOOTH}.p_equal_to_one", "Field(p=1)", "Field(p=2)"),
    "E1.14": edited(f"{SMOOTH}.vertices_in_the_smooth_rate", "box_polytope([0] * d, [1] * d).J", "len(range(d))"),
    "E4.33": edited(f"{SMOOTH}.one_draw_for_all_vertices", "[(u, u)", "[(u, -u)"),
    "E4.32": edited(f"{SMOOTH}.constants_in_another_norm", "_K.vector([2, 0])", "_K.vector([1, 0])"),
}

SECTION_5: dict[str, Mutant] = {
    "E5.1": replaced("reference.weakly_convex.mirror.p_bar_printed", p_bar_for_every_d),
    "E5.2": replaced("reference.weakly_convex.proximal_guided.beta_printed", beta_in_the_norm_of_p_bar),
    "E5.3": edited(
        f"{WEAK}.lipschitz_constant_of_the_subproblem",
        "subproblem.slopes(D)[0]",
        "subproblem.slopes(L0 / beta)[0] / 2",
    ),
    "E5.4": edited(
        f"{WEAK}.weak_convexity_of_the_mean_only", "quadratic(-1) + quadratic(rho)", "quadratic(-1) + quadratic(2)"
    ),
    "E5.5": replaced("reference.weakly_convex.strongly_convex.printed_kappas", kappas_for_every_d),
    "E5.6": edited(f"{WEAK}.batches_that_are_not_disjoint", "K.sqrt(K(R)) * K(mu)", "K(mu)"),
    "E5.7": edited(f"{WEAK}.batch_size_is_no_integer", "exact_quotient(at.n, R)", "at.n // R"),
    "E5.8": edited(f"{WEAK}.the_last_round_is_wasted", "for n in (2000, 4000)", "for n in (4000, 4000)"),
    "E5.9": edited(
        "reference.weakly_convex.proximal_guided.rounds_printed",
        "K.floor(rounds_real(K, at))",
        "max(1, min(at.n, K.floor(rounds_real(K, at))))",
    ),
    "E5.10": edited(
        "reference.weakly_convex.proximal_guided.rounds_printed",
        "K.floor(rounds_real(K, at))",
        "max(1, min(at.n, K.floor(rounds_real(K, at))))",
    ),
    "E5.11": edited(
        f"{WEAK}.equality_that_is_an_inequality",
        "tail(Fraction(0)) - Fraction(1, 16)",
        "tail(Fraction(0)) - beta * Fraction(1, 16) / 2",
    ),
    "E5.12": edited(f"{WEAK}.prox_in_the_l1_norm", "norm(K, w, 1)", "norm(K, w, 2)"),
    "E5.13": edited(f"{WEAK}.weakly_convex_is_not_weakly_smooth", "f = square_residual()", "f = quadratic(1)"),
    "E5.14": edited(f"{WEAK}.batches_that_look_at_the_data", "sorted(data), sorted(other)", "data, other"),
    "E5.15": edited(
        "reference.weakly_convex.proximal_guided.cited_running_time",
        "K.log(K(d)) if d > 1 else K(0)",
        "1 + K.log(K(d))",
    ),
    "E5.16": edited(
        f"{WEAK}.the_prox_without_its_parameter", "prox_line(K, loss, 3, HALF)", "prox_line(K, loss, 6, HALF)"
    ),
    "E5.17": edited(f"{WEAK}.a_start_that_looks_at_the_data", "K.vector(S[0].x) * K(HALF)", "K.vector([HALF, 0, 0])"),
    "E5.18": edited(f"{WEAK}.inputs_that_are_not_named", "for epsilon in (1, 2)", "for epsilon in (1, 1)"),
    "E5.19": edited(f"{WEAK}.rates_for_a_large_epsilon", "epsilon, delta = n,", "epsilon, delta = 1,"),
    "E5.20": edited(f"{WEAK}.no_curvature_at_all", "Fraction(0), 1, 1000", "Fraction(1), 1, 1000"),
    "EB.1": replaced(
        "reference.weakly_convex.weak_convexity.in_normal_cone_printed",
        "reference.weakly_convex.weak_convexity.in_normal_cone",
    ),
    "EB.2": replaced(
        "reference.weakly_convex.weak_convexity.directional_derivative_printed",
        "reference.weakly_convex.weak_convexity.directional_derivative",
    ),
    "EB.3": edited(f"{WEAK}.a_norm_is_missing", "remainder = v - e", "remainder = K.vector([norm(K, v - e, 2)] * 2)"),
    "EB.4": edited(
        f"{WEAK}.the_characterisation_outside_the_set", "absolute(-HALF, 1) + linear(-HALF, HALF)", "quadratic(0)"
    ),
    "EB.5": replaced(
        "reference.weakly_convex.weak_convexity.gap_printed", "reference.weakly_convex.weak_convexity.gap"
    ),
    "EB.6": edited(
        f"{WEAK}.lipschitz_extension_loses_weak_convexity",
        "return K.min(ends[0], ends[1])",
        "return K(2) - K(t * t + 4) / 2",
    ),
    "EB.7": edited(
        f"{WEAK}.the_proof_cites_itself",
        'inventory.entries["prop:opt_cond_wk_cvx"]',
        'inventory.entries["prop:dist_directional"]',
    ),
    "EB.8": edited(f"{WEAK}.distance_in_the_dual_norm", '(g, "linf")', '(g, "l1")'),
    "EB.9": edited(f"{WEAK}.an_algorithm_with_real_output", "(Fraction(1),)))", "(Fraction(1), Fraction(1))))"),
    "EB.10": edited(f"{WEAK}.smooth_need_not_be_lipschitz", "f = quadratic(HALF)", "f = linear(1)"),
    "EB.12": edited(f"{WEAK}.a_distance_that_is_not_attained", "Fraction(1, 2**k)", "Fraction(1, 2)"),
    "EB.13": edited(
        f"{WEAK}.a_gap_for_its_expectation", "(Fraction(0), Fraction(1))\n    gaps", "(Fraction(1),) * 2\n    gaps"
    ),
    "E1.20": edited(f"{WEAK}.the_abstract_leaves_out_p_one", '10**6, 1, "1e-5"), mu', '10**3, 1, "1e-5"), mu'),
    "E1.21": replaced("reference.weakly_convex.strongly_convex.printed_kappas", kappas_for_every_d),
    "EB.11": edited(
        f"{WEAK}.a_subdifferential_that_depends_on_the_extension", "absolute(HALF) + linear(-HALF)", "quadratic(0)"
    ),
    "E1.22": edited(
        f"{WEAK}.a_match_that_needs_a_constant_epsilon", "(Fraction(1), Fraction(1, 10 ** (j // 4)))", "(1, 1)"
    ),
}

MENDED = SECTION_2 | SECTION_3 | SECTION_4 | SECTION_5


def mended(erratum: str) -> Mutants:
    """What the exhibit of an erratum must notice."""
    if erratum not in MENDED:
        raise ValueError(f"{erratum}: audit/checks/mended.py must say how its exhibit reads with the defect mended")
    return (MENDED[erratum],)
