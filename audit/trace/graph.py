"""What leans on what, as an SVG: statements and algorithms in layers, coloured by verdict; always the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from audit.trace.coverage import NO_CHECK, NOT_RECORDED, TESTS_ONLY, Trace
from reference.paper.inventory import Algorithm, Statement

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 172, 44, 16, 64, 20

COLOURS = {
    "refuted as printed →": ("#f4b6a6", "refuted as printed, corrected"),
    "refuted as printed (": ("#e2574c", "refuted, correction not checked"),
    "holds only if": ("#f7dc8b", "holds only under a condition"),
    "holds, loose": ("#cfe8b9", "holds, loose constant"),
    "holds": ("#9fd49a", "holds"),
    "no violation": ("#bcd8ee", "no violation found"),
    "cited": ("#d9d9e8", "cited"),
    "UNEXPECTED": ("#e58ad0", "not as recorded"),
    TESTS_ONLY: ("#e6f0f7", "tests only"),
    NOT_RECORDED: ("#eeeeee", "checked, not recorded"),
    NO_CHECK: ("#ffffff", "no check yet"),
}


def colour(verdict: str) -> str:
    """The fill of a verdict: the first key that it starts with."""
    return next(fill for start, (fill, _) in COLOURS.items() if verdict.startswith(start))


def edges(trace: Trace) -> dict[str, tuple[str, ...]]:
    """What each statement and algorithm leans on, equations replaced by what they lean on."""
    inventory = trace.inventory
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
    for sweep in range(8):
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


def svg(trace: Trace) -> str:
    """The graph as one SVG document."""
    uses = edges(trace)
    rows = layers(uses)
    columns = max(map(len, rows))
    width = 2 * MARGIN + columns * (WIDTH + GAP_X) - GAP_X
    spot = {
        id: (MARGIN + (width - 2 * MARGIN - len(row) * (WIDTH + GAP_X) + GAP_X) // 2 + i * (WIDTH + GAP_X), _y(n))
        for n, row in enumerate(rows)
        for i, id in enumerate(row)
    }
    height = _y(len(rows)) + 30 * ((len(COLOURS) + 3) // 4)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        "<title>What leans on what: an arrow goes from a statement to what it uses</title>",
        f'<rect width="{width}" height="{height}" fill="#fcfcfa"/>',
        *(_edge(spot[id], spot[other]) for id in uses for other in uses[id]),
        *(_node(trace, id, spot[id]) for id in uses),
        *_legend(_y(len(rows))),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _y(layer: int) -> int:
    return MARGIN + layer * (HEIGHT + GAP_Y)


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1, x2, y2 = start[0] + WIDTH // 2, start[1], end[0] + WIDTH // 2, end[1] + HEIGHT
    bend = (y1 - y2) // 2
    path = f"M{x1} {y1} C{x1} {y1 - bend} {x2} {y2 + bend} {x2} {y2}"
    return f'<path d="{path}" fill="none" stroke="#8a8a8a" stroke-opacity="0.7"/>'


def _node(trace: Trace, id: str, spot: tuple[int, int]) -> str:
    entry = trace.inventory.entries[id]
    assert isinstance(entry, Statement | Algorithm)
    verdict = trace.verdict(id)
    x, y = spot
    dashes = ' stroke-dasharray="4 3"' if verdict == NO_CHECK else ""
    radius = 14 if isinstance(entry, Algorithm) else 3
    return (
        f"<g><title>{escape(f'{entry.name}: {entry.title} — {verdict}')}</title>"
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="{radius}" fill="{colour(verdict)}" '
        f'stroke="#444"{dashes}/>'
        f'<text x="{x + WIDTH // 2}" y="{y + 18}" text-anchor="middle" font-weight="bold">{escape(entry.name)}</text>'
        f'<text x="{x + WIDTH // 2}" y="{y + 34}" text-anchor="middle" font-size="10">{escape(id)}</text></g>'
    )


def _legend(top: int) -> list[str]:
    parts = []
    for i, (fill, name) in enumerate(COLOURS.values()):
        x, y = MARGIN + (i % 4) * 210, top + (i // 4) * 30
        parts.append(f'<rect x="{x}" y="{y}" width="18" height="18" fill="{fill}" stroke="#444"/>')
        parts.append(f'<text x="{x + 26}" y="{y + 13}">{escape(name)}</text>')
    return parts
