"""The graph of what leans on what: complete, in layers, in the colours of the grades; one drawing for page and file."""

from __future__ import annotations

import re

import pytest

from audit.checks.scale import GRADES, Grade
from audit.report import graph
from audit.report.grades import GRADE_BADGES, GRADE_COLOURS
from audit.report.graph import Node
from audit.report.palette import DARK, LIGHT, PALETTE, colours, mixed
from reference.paper.inventory import PrintedAlgorithm, load


def nodes(grade: Grade = "holds", link: str = "") -> dict[str, Node]:
    inventory = load()
    entries = (*inventory.statements, *inventory.algorithms)
    return {e.id: Node(e.id, e.name, e.title, grade, isinstance(e, PrintedAlgorithm), link) for e in entries}


def test_the_graph_is_deterministic_complete_and_does_not_overlap() -> None:
    drawn = graph.document(load(), nodes())
    assert drawn == graph.document(load(), nodes())
    assert all(f"({id}): " in drawn for id in nodes())
    spots = [(int(x), int(y)) for x, y in re.findall(rf'<rect x="(\d+)" y="(\d+)" width="{graph.WIDTH}"', drawn)]
    assert len(spots) == 35
    for i, (x, y) in enumerate(spots):
        for other_x, other_y in spots[:i]:
            assert abs(x - other_x) >= graph.WIDTH or abs(y - other_y) >= graph.HEIGHT


def test_lines_lead_back_and_pass_through_equations() -> None:
    uses = graph.edges(load())
    depth = {id: n for n, column in enumerate(graph.layers(uses)) for id in column}
    assert sorted(depth) == sorted(uses)
    assert all(depth[other] < depth[id] for id in uses for other in uses[id])
    assert "defn:weak_convexity" in uses["prop:reg_wk_cvx"], "by way of equation (9)"
    assert "alg:polySFW" in uses["lem:grad-error-polySFW"]


def test_more_sweeps_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    uses = graph.edges(load())
    drawn = graph.layers(uses)
    monkeypatch.setattr(graph, "SWEEPS", 6)
    assert graph.layers(uses) == drawn


@pytest.mark.parametrize("grade", GRADES)
def test_a_grade_has_its_colour_and_its_place_in_the_legend(grade: Grade) -> None:
    drawn = graph.document(load(), nodes(grade))
    assert drawn.count(f'class="node g-{grade}"') == 36, "35 nodes and the legend"
    assert f">{GRADE_BADGES[grade]}</text>" in drawn
    for scheme in (LIGHT, DARK):
        assert (
            f".g-{grade} rect{{fill:{mixed(colours(scheme)[GRADE_COLOURS[grade]], 0.13, colours(scheme)['raised'])}"
            in drawn
        )
    others = [other for other in GRADES if other != grade]
    assert not any(f'class="node g-{other}"' in drawn for other in others)


def test_in_a_page_nodes_are_links_and_there_is_no_legend() -> None:
    drawn = graph.draw(load(), nodes(link="#x"))
    assert drawn.count('<a href="#x"') == 35
    assert "<style>" not in drawn
    assert drawn.count("<rect") == 35


def test_only_algorithms_are_round() -> None:
    drawn = graph.draw(load(), nodes())
    assert drawn.count(f'rx="{graph.HEIGHT // 2}"') == len(load().algorithms)


def test_mixing_is_what_css_does() -> None:
    assert mixed("#ff0000", 0.5, "#0000ff") == "#800080"
    assert mixed("#123456", 1.0, "#ffffff") == "#123456"


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
@pytest.mark.parametrize("name", sorted(set(PALETTE) - {"ground", "raised", "sunken", "rule"}))
def test_text_can_be_read_on_the_ground(name: str, scheme: int) -> None:
    light, dark = sorted((luminance(colours(scheme)[n]) for n in (name, "ground")), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= (3 if name == "orange" else 4.5)
