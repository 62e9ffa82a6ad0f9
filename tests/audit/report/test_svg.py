"""Figures as they were drawn before: every coordinate, class and word of a few that have everything in them.

`python tests/audit/report/test_svg.py` draws them anew; whoever does that looks at them, and reads the difference.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

from audit.checks.framework import Figure
from audit.report import svg

DRAWN = Path(__file__).with_name("drawn.json")
"""By figure, its elements line by line."""

CURVE = [(x / 4, x * x / 5 - 1.0) for x in range(9)]
FIGURES = {
    "curves, one under another, one measured, one point": Figure(
        "Curves",
        "n",
        "error at 1e-6",
        {
            "upper": CURVE,
            "the same again": CURVE,
            "measured": [(0.1, 0.3), (1.9, -0.4)],
            "claimed by somebody who has a long name for it": [(0.0, 2.0), (2.0, 1.0)],
            "a point": [(1.0, 1.5)],
        },
        roles={"measured": ["measured"], "claimed by somebody who has a long name for it": ["claimed"]},
    ),
    "logarithmic, with points outside": Figure(
        "Decades",
        "ε",
        "δ",
        {"a": [(1e-3, 1e-9), (0.1, 1e-4), (10.0, 0.3), (20.0, 0.0)], "b": [(0.0, 1.0), (1.0, math.inf)]},
        x_log=True,
        y_log=True,
    ),
    "a band and its middle": Figure(
        "Band",
        "T",
        "risk",
        {"low": [(1, 1.0), (2, 0.8), (4, 0.5)], "high": [(1, 2.0), (2, 1.9), (4, 1.1)], "mean": [(1, 1.5), (4, 0.75)]},
        kind="band",
    ),
    "groups of bars": Figure(
        "Groups", "round", "s", {"a": [(1, 1.0), (2, -2.0), (4, 3.0)], "b": [(1, 3.0), (2, 6.0)]}, kind="bar"
    ),
    "groups of bars on decades": Figure(
        "Groups", "round", "s", {"a": [(1, 1.0), (2, 20.0)], "b": [(1, 300.0), (2, 0.0)]}, y_log=True, kind="bar"
    ),
    "single bars": Figure(
        "Single", "", "σ", {"printed": [(0, 4.0)], "tight": [(0, -1.0)], "none": [(0, math.inf)]}, kind="bar"
    ),
    "single bars on decades": Figure(
        "Single", "", "σ", {"printed": [(0, 4e3)], "tight": [(0, 2.0)], "none": [(0, 0.0)]}, y_log=True, kind="bar"
    ),
    "a legend of many rows": Figure(
        "Legend", "x", "y", {f"series number {i} of many": [(0.0, float(i)), (1.0, 2.0 * i)] for i in range(9)}
    ),
}


def lines_of(figure: Figure) -> list[str]:
    """The drawing, an element a line."""
    return str(svg.draw(figure, "f")).replace("><", ">\n<").splitlines()


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_drawn_as_it_was(name: str) -> None:
    assert lines_of(FIGURES[name]) == json.loads(DRAWN.read_text(encoding="utf-8"))[name]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1e-3, "0.001"),
        (9.99e-4, "9.99·10⁻⁴"),
        (1e-4, "10⁻⁴"),
        (9999.4, "9999"),
        (12345.4, "12345"),
        (99999.4, "99999"),
        (1e5, "10⁵"),
        (-2.5e-9, "-2.5·10⁻⁹"),
        (1.23456, "1.235"),
        (2e10, "2·10¹⁰"),
        (math.inf, "inf"),
    ],
)
def test_numbers_for_people(value: float, text: str) -> None:
    assert svg.number(value) == text


@pytest.mark.parametrize(
    ("low", "high", "log", "ticks"),
    [
        (0.0, 1.0, False, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-1.0, 2.2, False, [-1, 0, 1, 2]),
        (0.0, 23.0, False, [0, 5, 10, 15, 20]),
        (0.0, 50.0, False, [0, 10, 20, 30, 40, 50]),
        (0.1, 0.45, False, [0.1, 0.2, 0.3, 0.4]),
        (1e-3, 10.0, True, [1e-3, 1e-2, 1e-1, 1, 10]),
        (1e-9, 1.0, True, [1e-9, 1e-7, 1e-5, 1e-3, 1e-1]),
        (1e-12, 1.0, True, [1e-12, 1e-9, 1e-6, 1e-3, 1]),
        (2.0, 30.0, True, [2, 5, 10, 20]),
        (0.2, 0.9, True, [0.2, 0.5]),
        (1.0, 10.0, True, [1, 10]),
        (1e-5, 1.0, True, [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]),
    ],
)
def test_ticks(low: float, high: float, log: bool, ticks: list[float]) -> None:
    assert svg.Axis(low, high, log, 0.0, 1.0).ticks() == pytest.approx(ticks, abs=1e-12)


@pytest.mark.parametrize(
    ("values", "log", "zero", "ends"),
    [
        ([1.0, 3.0], False, False, (0.92, 3.08)),
        ([1.0, 3.0], False, True, (0.0, 3.12)),
        ([-1.0, -3.0], False, True, (-3.12, 0.0)),
        ([-1.0, 3.0], False, True, (-1.16, 3.16)),
        ([2.0], False, False, (1.0, 3.0)),
        ([0.0], False, False, (-1.0, 1.0)),
        ([], False, False, (-0.04, 1.04)),
        ([1.0, 100.0, 0.0], True, False, (10**-0.08, 10**2.08)),
        ([10.0], True, True, (10**0.7, 10**1.3)),
        ([], True, False, (10**-1.04, 10**0.04)),
        ([1e-300, 1e300], True, False, (1e-307, 1e308)),
    ],
)
def test_an_axis_has_a_little_room(values: list[float], log: bool, zero: bool, ends: tuple[float, float]) -> None:
    axis = svg.axis(values, log, 20.0, 120.0, zero)
    assert (axis.low, axis.high) == pytest.approx(ends, rel=1e-9)
    assert [axis(axis.low), axis(axis.high)] == [20.0, 120.0]


def test_of_many_points_the_extremes_of_each_stretch_are_kept() -> None:
    assert len(svg.thin([(float(x), 0.0) for x in range(400)])) == 400
    points = [(float(x), math.sin(x)) for x in range(1000)]
    kept = svg.thin(points)
    expected: list[tuple[float, float]] = []
    for i in range(200):
        part = points[5 * i : 5 * i + 5]
        expected += sorted([min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])])
    assert kept == expected


def test_labels_end_where_the_figure_does() -> None:
    assert svg.fitting("x" * 54) == "x" * 54
    assert svg.fitting("x" * 55) == "x" * 53 + "…"
    assert svg.MOST_LETTERS * 6.6 + 34 <= svg.WIDTH


def test_points_say_their_values_unless_there_are_too_many() -> None:
    for count, said in ((40, 40), (41, 0)):
        drawing = svg.draw(Figure("t", "x", "y", {"a": [(float(x), 1.0 * x) for x in range(count)]}), "f")
        assert drawing.count('class="tip"') == said
    dots = svg.draw(
        Figure("t", "x", "y", {"a": [(float(x), 1.0 * x) for x in range(70)]}, roles={"a": ["measured"]}), "f"
    )
    assert dots.count('class="dot') == 60 + 1  # and the one in the legend


def test_a_table_has_every_number() -> None:
    table = svg.data_table(Figure("t", "", "", {"a": [(1.0, 2.0)], "b": [(3.0, 1e-9), (4.0, 5.0)]}))
    assert str(table) == (
        '<table class="data"><thead><tr><th scope="col">series</th><th scope="col">at</th><th scope="col">value</th>'
        "</tr></thead><tbody><tr><td>a</td><td>1</td><td>2</td></tr><tr><td>b</td><td>3</td><td>10⁻⁹</td></tr>"
        "<tr><td>b</td><td>4</td><td>5</td></tr></tbody></table>"
    )


if __name__ == "__main__":
    DRAWN.write_text(
        json.dumps({name: lines_of(figure) for name, figure in FIGURES.items()}, ensure_ascii=False, indent=1) + "\n",
        encoding="utf-8",
    )
    sys.stdout.write(f"{DRAWN}\n")
