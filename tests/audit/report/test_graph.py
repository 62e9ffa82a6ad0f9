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


# ------------------------------------------------------------------------------------------- a small graph by hand


USES: dict[str, tuple[str, ...]] = {
    "a": (),
    "b": (),
    "c": ("a", "b"),
    "d": ("b",),
    "e": ("c", "a"),
    "a-very-long-name-of-a-statement": ("d",),
}


def test_columns_are_the_longest_paths_and_rows_lie_beside_their_neighbours() -> None:
    assert graph.layers(USES) == [["a", "b"], ["c", "d"], ["e", "a-very-long-name-of-a-statement"]]
    assert graph.layers({}) == []
    crossed = {"a": (), "b": (), "c": (), "x": ("c",), "y": ("b",), "z": ("a",)}
    first, second = graph.layers(crossed)
    assert [first.index({"x": "c", "y": "b", "z": "a"}[id]) for id in second] == [0, 1, 2]
    uneven = {"a": (), "b": (), "c": (), "d": (), "p": ("d", "c"), "q": ("a",)}
    assert graph.layers(uneven) == [["a", "b", "c", "d"], ["q", "p"]]


def test_nodes_stand_in_columns_that_are_centred() -> None:
    across, down = graph.WIDTH + graph.ACROSS, graph.HEIGHT + graph.DOWN
    layout = graph._layout({"a": (), "b": (), "c": (), "x": ("a", "b"), "t": ("x",)})
    assert layout.spots == {
        "a": (8, 8),
        "b": (8, 8 + down),
        "c": (8, 8 + 2 * down),
        "x": (8 + across, 8 + down),
        "t": (8 + 2 * across, 8 + down),
    }
    assert (layout.width, layout.height) == (16 + 3 * 150 + 2 * 62, 16 + 3 * 34 + 2 * 10)
    assert graph._layout({"a": (), "b": (), "x": ("a",)}).spots["x"] == (8 + across, 8 + down // 2)


def small(link: str = "") -> dict[str, Node]:
    made = {id: Node(id, id.upper()[:1], "about", "holds", id == "d", link, id[:1] if link else "") for id in USES}
    return made | {"e": Node("e", "E", "about", "false", slug="e" if link else "")}


def test_a_line_leads_from_the_right_of_what_is_used_to_the_left_of_what_uses_it() -> None:
    drawn = str(graph._edge((8, 8), (220, 52), small("#")["c"], small("#")["a"]))
    assert drawn == '<path d="M158 25C189 25 189 69 220 69" class="edge" data-ends="c a"></path>'
    near = str(graph._edge((8, 8), (170, 8), small()["c"], small()["a"]))
    assert near == '<path d="M158 25C182 25 146 25 170 25" class="edge"></path>'


def test_a_node_has_its_name_its_id_and_its_place() -> None:
    assert str(graph._node(small()["d"], (8, 50))) == (
        '<g class="node g-holds"><title>D (d): about</title><rect x="8" y="50" width="150" height="34" rx="17"></rect>'
        '<text x="83" y="65" text-anchor="middle" class="name">D</text>'
        '<text x="83" y="78" text-anchor="middle" class="id">d</text></g>'
    )
    long = str(graph._node(small("#x")["a-very-long-name-of-a-statement"], (8, 50)))
    assert long.startswith('<a href="#x" data-node="a" class="node g-holds">')
    assert 'class="id">a-very-long-name-of-a-st…</text>' in long
    exact = Node("i" * 25, "I", "", "holds")
    assert f'class="id">{"i" * 25}</text>' in str(graph._node(exact, (0, 0)))
    assert 'rx="5"' in long


def test_the_legend_has_a_row_for_each_that_does_not_fit_beside_the_others() -> None:
    drawn = graph.document(load(), nodes() | {id: nodes("false")[id] for id in list(nodes())[:1]})
    uses = graph.edges(load())
    plain = graph._layout(uses)
    assert f'viewBox="0 0 {plain.width} {plain.height + graph.LEGEND}"' in drawn
    boxes = re.findall(r'<rect x="(\d+)" y="(\d+)" width="18" height="14" rx="3">', drawn)
    assert boxes == [("8", str(plain.height)), (str(8 + graph.WIDTH + graph.ACROSS), str(plain.height))]
    texts = re.findall(r'<text x="(\d+)" y="(\d+)" class="name">', drawn)
    assert texts == [(str(int(x) + 26), str(int(y) + 11)) for x, y in boxes]
