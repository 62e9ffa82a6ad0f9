"""The statement graph of the page: what leans on what, from left to right, coloured by verdict, every node a link."""

from __future__ import annotations

from audit.report.model import Entry, Page, slug
from audit.runtime.markup import Html, join, tag
from audit.trace.coverage import Trace
from audit.trace.graph import edges, layers

WIDTH, HEIGHT, ACROSS, DOWN, MARGIN = 150, 34, 62, 10, 8


def draw(page: Page) -> Html:
    """The graph as an `svg` element."""
    uses = edges(Trace(inventory=page.inventory, code=(), tests=(), nodes=frozenset(), checks=()))
    columns = layers(uses)
    tallest = max(map(len, columns))
    spot = {
        id: (
            MARGIN + n * (WIDTH + ACROSS),
            MARGIN + (tallest - len(column)) * (HEIGHT + DOWN) // 2 + i * (HEIGHT + DOWN),
        )
        for n, column in enumerate(columns)
        for i, id in enumerate(column)
    }
    width = 2 * MARGIN + len(columns) * (WIDTH + ACROSS) - ACROSS
    height = 2 * MARGIN + tallest * (HEIGHT + DOWN) - DOWN
    entries = {e.id: e for e in page.entries}
    return tag(
        "svg",
        tag("title", "What leans on what", id="graph-title"),
        tag(
            "desc",
            "Statements and algorithms of the paper. A line joins a statement, on the right, to what its proof"
            " uses, on the left. The colour is the verdict.",
            id="graph-desc",
        ),
        *(_edge(spot[other], spot[id], id, other) for id in uses for other in uses[id]),
        *(_node(entries[id], spot[id]) for id in uses),
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="group",
        aria_labelledby="graph-title graph-desc",
        class_="graph",
    )


def _edge(start: tuple[int, int], end: tuple[int, int], user: str, used: str) -> Html:
    x1, y1, x2, y2 = start[0] + WIDTH, start[1] + HEIGHT // 2, end[0], end[1] + HEIGHT // 2
    bend = max((x2 - x1) // 2, 24)
    return tag(
        "path",
        d=f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}",
        class_="edge",
        data_ends=f"{slug(user)} {slug(used)}",
    )


def _node(entry: Entry, spot: tuple[int, int]) -> Html:
    x, y = spot
    rounded = HEIGHT // 2 if entry.name.startswith("Algorithm") else 5
    shape = tag("rect", x=x, y=y, width=WIDTH, height=HEIGHT, rx=rounded)
    name = tag("text", entry.name, x=x + WIDTH // 2, y=y + 15, text_anchor="middle", class_="name")
    id = tag("text", _short(entry.id), x=x + WIDTH // 2, y=y + 28, text_anchor="middle", class_="id")
    title = tag("title", f"{entry.name}: {entry.title}. {entry.standing.text}")
    return tag(
        "a",
        join([title, shape, name, id]),
        href=f"#d-{slug(entry.id)}",
        data_node=slug(entry.id),
        class_=f"node g-{entry.standing.verdict.grade}",
    )


def _short(id: str) -> str:
    return id if len(id) <= 25 else f"{id[:24]}…"
