"""Tests of the picture of an audit."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from audit.auditor.api import audit_dp
from audit.auditor.terms.claim import GDP, RDP, ZCDP, Claim, Epsilon
from audit.auditor.terms.picture import COLOURS
from audit.auditor.terms.result import AuditResult
from audit.auditor.test.confidence import Selection
from audit.auditor.test.exact import Counted
from audit.report.palette import PALETTE


def result(claim: Claim) -> AuditResult:
    return audit_dp(
        lambda d, size, rng: d[0] + rng.normal(size=size), [0.0], [1.0], claim=claim, samples=4000, lints=False
    )


@pytest.mark.parametrize("claim", [Epsilon(1.0, 1e-3), GDP(0.4), ZCDP(0.05), RDP(4, 0.2)], ids=str)
def test_the_page_is_whole_and_asks_for_nothing(claim: Claim, tmp_path: Path) -> None:
    found = result(claim)
    found.write_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=|://|<script", text)
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == 3
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert text.count("<polyline") == 4 + 1 + 2  # the claim's and the refuted one, twice; the measured one; two sides
    assert text.count("<polygon") >= 1 + 1  # the band, the event
    assert "VIOLATED" in text


def test_the_curves_are_the_trade_off_and_the_profile() -> None:
    curve, profile = Counted((Selection(500, 400, 1000, sides=2),), 0.05).figures(GDP(1.0), 1.2)
    (_, _, claimed), (_, _, refuted) = curve.curves
    for (a, b), (c, d) in zip(claimed, refuted, strict=True):
        assert b == pytest.approx(stats.norm.cdf(stats.norm.ppf(1 - a) - 1.0), abs=1e-6)
        assert d == pytest.approx(stats.norm.cdf(stats.norm.ppf(1 - c) - 1.2), abs=1e-6)
    epsilon, delta = profile.curves[0][2][40]
    exact = stats.norm.cdf(0.5 - epsilon) - np.exp(epsilon) * stats.norm.cdf(-0.5 - epsilon)
    assert exact <= delta <= exact * 1.05 + 1e-8
    assert curve.dots == [pytest.approx((0.1, 0.6))]


def test_a_hostile_message_stays_text() -> None:
    found = result(GDP(2.0))
    found.event = "<script>alert(1)</script>"
    assert "<script" not in found.to_html()
    assert "<script" not in found._repr_html_()


def test_what_was_not_counted_cannot_be_drawn() -> None:
    untested = audit_dp(lambda d, rng: 1, [0.0], [1.0], epsilon=1.0, samples=100)
    with pytest.raises(ValueError, match="nothing to draw"):
        untested.plot()
    assert "ERROR" in untested.to_html()


def test_matplotlib_draws_the_same() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    figure = result(GDP(0.4)).plot()
    assert [len(axis.lines) for axis in figure.axes] == [3 + 1, 2 + 1, 2 + 1]  # the curves, and the dots


def test_the_colours_are_those_of_the_report() -> None:
    assert {name: PALETTE[name] for name in COLOURS} == COLOURS


def test_a_notebook_shows_the_paragraph_and_the_pictures() -> None:
    found = result(GDP(0.4))
    shown = found._repr_html_()
    assert "VIOLATED" in shown
    assert shown.count("<svg") == 3
    assert "var(--red, #b42318)" in shown
    untested = audit_dp(lambda d, rng: 1, [0.0], [1.0], epsilon=1.0, samples=100)
    assert "<svg" not in untested._repr_html_()
