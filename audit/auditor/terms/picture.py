"""A picture of an audit: what the claim allows, what the draws rule out, and what was seen.

Drawings, as data: the *trade-off curve* (type I error against type II error of the best test of "which dataset?";
the lower, the less private), the *profile* δ(ε), and the outputs of both sides with the tested event shaded. The
claim's curve is the boundary of the pairs that it allows; a mechanism whose curve is nowhere below the refuted one
(that of the lower bound) is ruled out at the confidence; the grey curve is that of the learned score's events, with its
confidence band (`audit.auditor.test.sketch`); the dots are the tested selections as they were counted. Drawn as SVG on
a page of its own, or with matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from audit.runtime.markup import Html, tag

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 310, 66, 18, 10, 46
"""Size of a figure, and room for its axes."""

COLOURS: dict[str, tuple[str, str]] = {
    "ground": ("#fcfcfa", "#15171b"),
    "ink": ("#1b1d22", "#e7e6e1"),
    "soft": ("#5d6069", "#a3a6ad"),
    "rule": ("#dfddd6", "#31353d"),
    "green": ("#17754a", "#5fc98b"),
    "amber": ("#8a5a00", "#e3b341"),
    "red": ("#b42318", "#ff8a7a"),
    "blue": ("#2456c4", "#82aaff"),
    "orange": ("#c2570c", "#ffab5e"),
    "grey": ("#5f646c", "#9aa0a8"),
}
"""Light, dark: those of report.html that are used here (a test compares them with its palette)."""


def colour(name: str) -> str:
    """A colour as CSS: the page's, and the light one where there is no page around."""
    return f"var(--{name}, {COLOURS[name][0]})"


@dataclass(frozen=True)
class Drawing:
    """Curves (name, colour, points), dots and shaded areas over one pair of axes."""

    title: str
    x: str
    y: str
    curves: tuple[tuple[str, str, Points], ...]
    dots: Points
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    areas: tuple[tuple[str, str, Points], ...] = ()
    """Shaded polygons (name, colour, corners) behind the curves."""

    def svg(self) -> Html:
        """As an SVG element."""
        parts = [
            tag("rect", x=LEFT, y=TOP, width=WIDE, height=HIGH, style=f"fill:none;stroke:{colour('rule')}"),
            *(self._line("polygon", name, f"fill:{colour(c)};fill-opacity:.18", p) for name, c, p in self.areas),
            *(self._line("polyline", name, f"fill:none;stroke:{colour(c)}", p) for name, c, p in self.curves),
        ]
        for dot in self.dots:
            a, b = self._place(dot)
            parts.append(tag("circle", cx=f"{a:.2f}", cy=f"{b:.2f}", r=3.5, style=f"fill:{colour('ink')}"))
        for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
            x, y = (low + share * (high - low) for low, high in (self.x_range, self.y_range))
            a, b = self._place((x, y))
            parts.append(_text(f"{x:.3g}", a, HEIGHT - BOTTOM + 16, anchor))
            parts.append(_text(f"{y:.3g}", LEFT - 6, b + 4, "end"))
        parts.append(_text(self.x, LEFT + WIDE / 2, HEIGHT - 8, "middle", "ink"))
        parts.append(_text(self.y, 14, TOP + HIGH / 2, "middle", "ink", upright=True))
        for row, (name, c, _) in enumerate(self.curves):
            parts.append(_text(name, WIDTH - RIGHT - 8, TOP + 18 + 16 * row, "end", c))
        label = f"{self.title}: {self.y} against {self.x}"
        return tag("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, role="img", aria_label=label)

    def _line(self, kind: str, name: str, style: str, points: Points) -> Html:
        path = " ".join(f"{a:.2f},{b:.2f}" for a, b in map(self._place, points))
        return tag(kind, tag("title", name), points=path, style=style, stroke_width=2)

    def _place(self, point: tuple[float, float]) -> tuple[float, float]:
        """Where a point stands in the figure; what is outside is put on the edge."""
        found = []
        for value, (low, high), size in zip(point, (self.x_range, self.y_range), (WIDE, HIGH), strict=True):
            found.append(min(max((value - low) / (high - low), 0.0), 1.0) * size)
        return LEFT + found[0], HEIGHT - BOTTOM - found[1]


WIDE, HIGH = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
"""The room between the axes."""


def _text(words: str, x: float, y: float, anchor: str, name: str = "soft", *, upright: bool = False) -> Html:
    """Words in a figure."""
    turn = {"transform": f"rotate(-90 {x:.0f} {y:.0f})"} if upright else {}
    style = f"fill:{colour(name)};font:12px system-ui,sans-serif"
    return tag("text", words, x=f"{x:.0f}", y=f"{y:.0f}", text_anchor=anchor, style=style, **turn)


def page(title: str, paragraph: str, findings: Sequence[str], figures: Sequence[Drawing]) -> str:
    """One self-contained page."""
    body = [
        tag("p", "dpso: audit of a mechanism", class_="kicker"),
        tag("h1", title),
        tag("p", paragraph),
        *[tag("figure", figure.svg(), tag("figcaption", figure.title)) for figure in figures],
        tag("h2", "Noticed") if findings else "",
        tag("ul", *[tag("li", finding) for finding in findings]) if findings else "",
    ]
    head = tag("head", tag("meta", charset="utf-8"), tag("title", title), tag("style", Html(_STYLE)))
    return f"<!doctype html>\n{tag('html', head, tag('body', *body), lang='en')}\n"


def _variables(scheme: int) -> str:
    return "".join(f"--{name}:{pair[scheme]};" for name, pair in COLOURS.items())


_SERIF = '"Iowan Old Style","Palatino Linotype",Palatino,"Book Antiqua",Georgia,"DejaVu Serif",serif'
_STYLE = (
    f":root{{color-scheme:light dark;{_variables(0)}}}@media(prefers-color-scheme:dark){{:root{{{_variables(1)}}}}}"
    "body{margin:2rem auto;max-width:60rem;padding:0 1.25rem;background:var(--ground);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    f"h1,h2{{font-family:{_SERIF};font-weight:600;line-height:1.2}}"
    "h1{font-size:1.7rem}h2{font-size:1.3rem;padding-top:1rem;border-top:2px solid var(--ink)}"
    ".kicker{font:600 .85rem ui-monospace,monospace;color:var(--soft);margin:0}li,p{overflow-wrap:anywhere}"
    "figure{display:inline-block;vertical-align:top;max-width:100%;margin:0 1rem 1rem 0}"
    "figure svg{max-width:100%;height:auto}figcaption{font-weight:600;max-width:26rem}"
)


def draw(figures: Sequence[Drawing]) -> Any:
    """With matplotlib: a figure with one panel each."""
    try:
        pyplot = import_module("matplotlib.pyplot")
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install matplotlib, or use write_html(path)") from None
    made, axes = pyplot.subplots(1, len(figures), figsize=(5.2 * len(figures), 4), squeeze=False, layout="constrained")
    for figure, axis in zip(figures, axes[0], strict=True):
        for _, name, corners in figure.areas:
            x, y = [p[0] for p in corners], [p[1] for p in corners]
            axis.fill(x, y, color=COLOURS[name][0], alpha=0.18, linewidth=0)
        for label, name, points in figure.curves:
            axis.plot([p[0] for p in points], [p[1] for p in points], color=COLOURS[name][0], label=label)
        axis.plot([p[0] for p in figure.dots], [p[1] for p in figure.dots], "o", color=COLOURS["ink"][0])
        axis.set(title=figure.title, xlabel=figure.x, ylabel=figure.y, xlim=figure.x_range, ylim=figure.y_range)
        axis.legend()
    if "inline" in pyplot.get_backend():  # a notebook shows the figure that is returned, and would show this one too
        pyplot.close(made)
    return made
