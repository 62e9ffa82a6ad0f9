"""What depends on what: statements and algorithms from left to right, coloured by verdict; always the same bytes.

One drawing for two places: in the page, where the style sheet colours it and every node is a link (`draw`), and as a
file of its own (`document`, `dpso trace --graph`), with plain colours and a legend.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from audit.checks.scale import GRADES, Grade
from audit.report.grades import GRADE_BADGES, GRADE_COLOURS
from audit.report.palette import mixed, standalone
from audit.runtime.markup import Html, join, tag
from reference.paper.inventory import Inventory

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 150, 34, 62, 10, 8
"""Pixels: a node, the gaps between columns and between rows, the margin."""
LETTERS = 25
"""Of an id, as many as a node is wide at nine pixels of fixed width (0.6 of that a letter)."""
SWEEPS = 8
"""How often the columns are sorted by their neighbours, to and fro; the paper's graph is still after six."""
LEGEND = 24
"""Pixels a row of the legend."""

Spot = tuple[int, int]


@dataclass(frozen=True)
class Node:
    """What is shown of a statement or an algorithm."""

    id: str
    name: str
    about: str
    """Title and verdict, for the pointer."""
    grade: Grade
    is_algorithm: bool = False
    link: str = ""
    """Where it leads; nowhere if empty."""
    slug: str = ""
    """How the page's script knows it and its lines."""


def edges(inventory: Inventory) -> dict[str, tuple[str, ...]]:
    """What each statement and algorithm uses, equations replaced by what they use."""
    nodes = [s.id for s in inventory.statements] + [a.id for a in inventory.algorithms]

    def targets(id: str) -> list[str]:
        found: list[str] = []
        for other in inventory.uses(id):
            found += [other] if other in nodes else targets(other)
        return found

    return {id: tuple(t for t in dict.fromkeys(targets(id)) if t != id) for id in nodes}


def layers(uses: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Nodes by the longest path below them, each layer ordered by where its neighbours stand."""
    depth: dict[str, int] = {}

    def deep(id: str) -> int:
        if id not in depth:
            depth[id] = 1 + max((deep(other) for other in uses[id]), default=-1)
        return depth[id]

    rows: list[list[str]] = [[] for _ in range(1 + max(map(deep, uses), default=-1))]
    for id in uses:
        rows[depth[id]].append(id)
    used_by: dict[str, list[str]] = {id: [other for other in uses if id in uses[other]] for id in uses}
    for sweep in range(SWEEPS):
        neighbours = uses if sweep % 2 == 0 else used_by
        _reorder(rows, neighbours)
    return rows


def _reorder(rows: list[list[str]], neighbours: Mapping[str, Sequence[str]]) -> None:
    """Sort each row by the mean place of its neighbours, in hundredths of a row; ties keep their order."""
    place = {id: (100 * i) // len(row) for row in rows for i, id in enumerate(row)}
    for row in rows:
        means = {
            id: sum(place[o] for o in neighbours[id]) // len(neighbours[id]) if neighbours[id] else place[id]
            for id in row
        }
        row.sort(key=means.__getitem__)
        place.update({id: (100 * i) // len(row) for i, id in enumerate(row)})


@dataclass(frozen=True)
class _Layout:
    """Where each node stands, and the size of the whole."""

    spots: Mapping[str, Spot]
    width: int
    height: int


def _layout(uses: Mapping[str, Sequence[str]]) -> _Layout:
    columns = layers(uses)
    tallest = max(map(len, columns))
    spots = {
        id: (
            MARGIN + n * (WIDTH + ACROSS),
            MARGIN + (tallest - len(column)) * (HEIGHT + DOWN) // 2 + i * (HEIGHT + DOWN),
        )
        for n, column in enumerate(columns)
        for i, id in enumerate(column)
    }
    width = 2 * MARGIN + len(columns) * (WIDTH + ACROSS) - ACROSS
    return _Layout(spots, width, 2 * MARGIN + tallest * (HEIGHT + DOWN) - DOWN)


def draw(inventory: Inventory, nodes: Mapping[str, Node]) -> Html:
    """The graph as an `svg` element of a page."""
    uses = edges(inventory)
    layout = _layout(uses)
    return _svg(uses, nodes, layout, [], width=layout.width, height=layout.height)


def document(inventory: Inventory, nodes: Mapping[str, Node]) -> str:
    """The graph as an SVG file, with a legend of the verdicts that occur."""
    uses = edges(inventory)
    plain = _layout(uses)
    occurring = [grade for grade in GRADES if any(nodes[id].grade == grade for id in uses)]
    a_row = plain.width // (WIDTH + ACROSS)
    rows = -(-len(occurring) // a_row)
    layout = _Layout(plain.spots, plain.width, plain.height + rows * LEGEND)
    legend = [
        _legend(grade, (MARGIN + (i % a_row) * (WIDTH + ACROSS), plain.height + i // a_row * LEGEND))
        for i, grade in enumerate(occurring)
    ]
    return standalone(_svg(uses, nodes, layout, legend), _rules)


def _svg(
    uses: Mapping[str, Sequence[str]], nodes: Mapping[str, Node], layout: _Layout, more: Sequence[Html], **size: int
) -> Html:
    spots = layout.spots
    return tag(
        "svg",
        tag("title", "What depends on what", id="graph-title"),
        tag(
            "desc",
            "Statements and algorithms of the paper. A line joins a statement, on the right, to what its proof"
            " uses, on the left. The colour is the verdict.",
            id="graph-desc",
        ),
        *(_edge(spots[other], spots[id], nodes[id], nodes[other]) for id in uses for other in uses[id]),
        *(_node(nodes[id], spots[id]) for id in uses),
        *more,
        viewBox=f"0 0 {layout.width} {layout.height}",
        **size,
        role="group",
        aria_labelledby="graph-title graph-desc",
        class_="graph",
    )


def _edge(start: Spot, end: Spot, user: Node, used: Node) -> Html:
    x1, y1, x2, y2 = start[0] + WIDTH, start[1] + HEIGHT // 2, end[0], end[1] + HEIGHT // 2
    bend = max((x2 - x1) // 2, 24)
    ends = f"{user.slug} {used.slug}" if user.slug else None
    return tag("path", d=f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}", class_="edge", data_ends=ends)


def _node(node: Node, spot: Spot) -> Html:
    x, y = spot
    rounded = HEIGHT // 2 if node.is_algorithm else 5
    short = node.id if len(node.id) <= LETTERS else f"{node.id[: LETTERS - 1]}…"
    content = [
        tag("title", f"{node.name} ({node.id}): {node.about}"),
        tag("rect", x=x, y=y, width=WIDTH, height=HEIGHT, rx=rounded),
        tag("text", node.name, x=x + WIDTH // 2, y=y + 15, text_anchor="middle", class_="name"),
        tag("text", short, x=x + WIDTH // 2, y=y + 28, text_anchor="middle", class_="id"),
    ]
    class_ = f"node g-{node.grade}"
    if not node.link:
        return tag("g", join(content), class_=class_)
    return tag("a", join(content), href=node.link, data_node=node.slug, class_=class_)


def _legend(grade: Grade, spot: Spot) -> Html:
    x, y = spot
    box = tag("rect", x=x, y=y, width=18, height=14, rx=3)
    return tag("g", box, tag("text", GRADE_BADGES[grade], x=x + 26, y=y + 11, class_="name"), class_=f"node g-{grade}")


def _rules(colour: Mapping[str, str]) -> str:
    """The style of a file, as the page's style sheet has it."""
    rules = [
        f".ground{{fill:{colour['ground']}}}.edge{{fill:none;stroke:{colour['soft']};stroke-opacity:.38}}",
        f"text{{fill:{colour['ink']}}}.name{{font:600 12px system-ui,'DejaVu Sans',sans-serif}}",
        f".id{{font:9px monospace;fill:{colour['soft']}}}",
    ]
    for grade, name in GRADE_COLOURS.items():
        fill = mixed(colour[name], 0.13, colour["raised"])
        rules.append(f".g-{grade} rect{{fill:{fill};stroke:{colour[name]};stroke-width:1.3}}")
    rules.append(f".g-unchecked rect{{stroke-dasharray:4 3;fill:{colour['ground']}}}")
    rules.append(".g-unexpected rect{stroke-width:3}.g-false rect{stroke-width:2.2}")
    return "".join(rules)
