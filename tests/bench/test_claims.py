"""Tests of the benchmark of claims: its ideal, its laws, and that it runs."""

from __future__ import annotations

import numpy as np
import pytest

from audit.auditor.terms.claim import GDP, Claim, Epsilon
from audit.auditor.test.exact import allowed_rate
from bench import claims


@pytest.mark.parametrize("name", claims.MECHANISMS)
def test_the_events_have_the_masses_that_the_law_says(name: str) -> None:
    """The best event for μ, counted in 200 000 draws a side: within six standard errors of the law."""
    p, q = claims.tails(name)
    at = int(np.argmin(np.abs(p + q - 1)))
    rng = np.random.default_rng(5)
    found = []
    for side, share in ((1, p[at]), (0, q[at])):
        outputs = np.asarray(claims.MECHANISMS[name]([side], 200_000, rng), dtype=float)
        if name == "DP-SGD, 10 steps":  # ten moves of 1 under noise of deviation 10: N(0, 1) and N(1, 1) in tenths
            outputs = outputs[:, 0] / claims.STEPS
        limit = {
            "randomised response": 0.5,
            "discrete Gaussian": at - 12 * claims.DISCRETE + claims.DISCRETE - 0.5,
        }.get(name, float(claims.GRID[min(at, len(claims.GRID) - 1)]))
        found.append(abs(float((outputs >= limit).mean()) - share))
    assert all(gap < 6 * 0.5 / np.sqrt(200_000) for gap in found)


def test_the_ideal_is_below_the_truth_and_near_it() -> None:
    assert 0.95 < claims.ideal(GDP(0.01), "Gaussian") < 1.0
    assert 0.95 < claims.ideal(Epsilon(0.01), "Laplace") < 1.0
    assert claims.ideal(GDP(0.01), "Gaussian", samples=1000) < claims.ideal(GDP(0.01), "Gaussian")


def test_the_parts_run_and_render() -> None:
    said: list[str] = []
    text = claims.render(claims.run(said.append, ["rejection", "one_run"], seeds=1, canaries=(100, 400)))
    assert "refuted after" in text
    assert "| one run, true: 1; canaries | 100 | 400 |" in text
    assert said


@pytest.mark.parametrize("claim", claims.USED_UP, ids=str)
def test_the_coin_uses_its_claim_up(claim: Claim) -> None:
    """Its two probabilities are allowed, and a share of 1e-6 more would not be."""
    outputs = claims.coin(claim)([1], 200_000, np.random.default_rng(1))
    p = float(outputs.mean())
    rate = float(allowed_rate(claim, np.array(claims.MASS)))
    assert abs(p - claims.MASS * rate) < 6 * 0.5 / np.sqrt(200_000)
    for more, allowed in ((-1e-6, True), (1e-6, False)):
        pair = claims.MASS * (rate + more), claims.MASS * (1 - rate - more)
        assert (claim.value(np.array(pair[0]), np.array(pair[1])) <= claim.number) == allowed


def test_a_claim_that_is_too_small_is_refuted_in_every_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts of false alarms could be something else than small."""
    original = claims.coin
    monkeypatch.setattr(claims, "coin", lambda _: original(GDP(3.0)))
    assert all(refuted(GDP(1.0), 1) for refuted in claims.MODES.values())
    assert claims._one_run(GDP(0.2), claims.ONE_RUN[GDP(1.0)], 200, 1, 1 - claims.LEVEL).violated
