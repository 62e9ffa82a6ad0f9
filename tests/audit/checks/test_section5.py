"""The checks of Section 5 and Appendix B come out as recorded, and catch the mutants they are there for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as Q
from typing import Any

import pytest
from not_weakly_convex import min_abs_one

from audit.checks import section5
from audit.checks.framework import MARK, Check, collect, run_one, select
from reference.numerics.numbers import Float64
from reference.paper.inventory import load
from reference.weakly_convex import mirror, prox
from reference.weakly_convex import proximal_guided as pg
from reference.weakly_convex import strongly_convex as sc
from reference.weakly_convex import weak_convexity as wc
from reference.weakly_convex.functions import PiecewiseQuadratic

K = Float64()


def checks() -> list[Check]:
    found = [c for value in vars(section5).values() for c in getattr(value, MARK, ())]
    return select(list(dict.fromkeys(found)), "quick")


@pytest.mark.night  # by day `test_recorded` runs them with the recorded seed
@pytest.mark.parametrize("one", checks(), ids=lambda c: f"{c.name}-{c.statement}")
def test_comes_out_as_recorded_with_another_seed(one: Check) -> None:
    result = run_one(one, seed=1)
    assert result.error == ""
    assert result.as_recorded, (result.witness, result.ratio)


def test_every_statement_algorithm_and_equation_has_a_check() -> None:
    entries = (*load().statements, *load().algorithms, *load().equations)
    ours = {e.id for e in entries if 1090 <= e.tex[0] <= 1282 or e.tex[0] >= 1568}
    assert len(ours) == 14 + 1 + 13
    assert ours <= {c.statement for c in collect()}


def test_the_statement_of_ours_has_checks() -> None:
    assert "own:prox_solver" in {c.statement for c in checks()}


# ------------------------------------------------------------------------------------------------ mutants


def test_a_ball_that_is_too_small_is_caught() -> None:
    assert not section5.same_on_the_ball(1, Q(9, 10)).holds


def test_twice_the_gradients_are_caught() -> None:
    def twice(at: pg.GuidedParameters, mu: Any, R: int) -> int:
        return 2 * pg.guided_gradients(at, mu, R)

    assert not section5.gradients_against_the_cited_time(twice).holds


def test_a_plan_that_takes_twice_the_steps_is_caught() -> None:
    def longer(geo: mirror.Geometry, n: int, mu: Q) -> sc.Plan:
        return tuple(replace(phase, T=2 * phase.T) for phase in sc.closed_form_plan(geo, n, mu))

    assert not section5.gradient_count(longer).holds


def test_a_concave_kink_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = section5.line_functions() | {"min(|v|, 1)": min_abs_one()}
    monkeypatch.setattr(section5, "line_functions", lambda: functions)
    monkeypatch.setattr(section5, "modulus", lambda f: Q(3))
    assert not section5.weak_convexity_is_the_modulus(1).holds


def test_a_wrong_directional_derivative_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = wc.from_directions

    def printed(f: PiecewiseQuadratic, w: Any) -> Any:
        return honest(f, w, wc.directional_derivative_printed)

    monkeypatch.setattr(wc, "from_directions", printed)
    assert not section5.subdifferential_by_directions(1).holds


def test_a_wrong_sign_of_the_gap_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wc, "gap", wc.gap_printed)
    assert not section5.minimisers_are_stationary(1).holds


def test_a_proximal_point_that_is_off_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = prox.prox_exact
    monkeypatch.setattr(prox, "prox_exact", lambda f, beta, w, W: min(honest(f, beta, w, W) + Q(1, 8), W[1]))
    assert not section5.proximal_points_are_nearly_stationary(1).holds


def test_the_distance_in_the_same_norm_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = wc.distance_to_zero
    swapped = {"l1": "linf", "linf": "l1"}
    monkeypatch.setattr(wc, "distance_to_zero", lambda hull, ball: honest(hull, swapped[ball]))
    assert not section5.distance_is_steepest_descent(1).holds


def test_a_gradient_without_clip_is_caught() -> None:
    def unclipped(loss: Any, data: Any, w: Any) -> Any:
        return sc.BatchGradient(K, loss, data, K(10**9), loss.p)(w)

    assert section5.largest_gradient_change(1, 60, unclipped)[0] > 1.5
    assert 0.5 < section5.largest_gradient_change(1, 60)[0] <= 1 + 1e-12


def test_noise_for_the_wrong_number_of_steps_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sc.noise_scale
    monkeypatch.setattr(sc, "noise_scale", lambda K, p, d, L, n, T, mu: honest(K, p, d, L, n, max(1, T - 1), mu))
    assert not section5.solver_is_private(1).holds


def test_a_plan_with_too_few_phases_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = sc.closed_form_plan
    monkeypatch.setattr(sc, "closed_form_plan", lambda geo, n, mu: honest(geo, n, mu)[:-2])
    assert not section5.explicit_bound_has_the_rate(1).holds


def test_a_sloppy_step_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = mirror.constrained_step

    def sloppy(*args: Any) -> mirror.Step:
        found = honest(*args)
        u = found.u * 0.999
        number, geo, W, w, theta, A, radius = args
        return replace(found, u=u, gap=mirror.step_gap(number, geo, W, w, u, theta, A, A, radius))

    monkeypatch.setattr(mirror, "constrained_step", sloppy)
    assert not section5.mirror_steps_are_certified(1).holds


def test_a_solver_that_climbs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign slip in the gradient: the phase bound or the certified distance shows it."""
    honest = sc.BatchGradient.__call__
    monkeypatch.setattr(sc.BatchGradient, "__call__", lambda self, w: honest(self, w) * -1)
    assert section5.phase_ratio(1, 2, 600, runs=1, mu=1e6, name="tanh regression") > 1
    assert not section5.phases_keep_their_bound(1).holds


def test_a_bound_that_is_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lemma 17 with a sixteenth of β, and A_sc with a bound 1e6 times too small: both checks say so."""
    honest = prox.stationarity_bound
    monkeypatch.setattr(prox, "stationarity_bound", lambda K, beta, far, delta: honest(K, beta / 16, far, delta))
    assert not section5.proximal_points_in_lp_are_nearly_stationary(1).holds
    honest_excess = sc.excess_bound
    monkeypatch.setattr(sc, "excess_bound", lambda *args: honest_excess(*args) / 10**6)
    assert section5.excess_ratio(1, "tanh regression", 2, n=300, steps=20, runs=1) > 1


def test_a_record_that_leaks_into_earlier_rounds_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from reference.weakly_convex import proximal_guided as pg

    honest = pg.solve

    def leaky(
        K: Any, at: Any, loss: Any, batch: Any, W: Any, w: Any, plan: Any, mu: Any, tape: Any, **rest: Any
    ) -> Any:
        return honest(K, at, loss, LEAK["data"], W, w, plan, mu, tape, **rest)

    LEAK: dict[str, Any] = {}
    original = pg.proximally_guided

    def remember(K: Any, loss: Any, W: Any, dataset: Any, **rest: Any) -> Any:
        LEAK["data"] = tuple(reversed(dataset))
        return original(K, loss, W, dataset, **rest)

    monkeypatch.setattr(pg, "solve", leaky)
    monkeypatch.setattr(pg, "proximally_guided", remember)
    assert not section5.a_record_touches_one_round(1).holds


def test_seeds_change_what_is_tried() -> None:
    f = section5.line_functions()["MCP"]
    assert section5.grid_of(f, 1) != section5.grid_of(f, 2)
