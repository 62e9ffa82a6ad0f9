"""Figures as inline SVG: a small drawer that gives the same bytes for the same data on every machine.

Text stays text, colours are CSS classes (so that dark, light and print restyle them), series differ by dash and
marker as well as by colour, and every figure carries a title and a description.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audit.checks.framework import Figure, Role
from audit.runtime.markup import Html, join, tag

WIDTH, LEFT, RIGHT, TOP, PLOT = 400.0, 50.0, 12.0, 28.0, 190.0
"""The size of a figure, in its own units: plot height, and margins for ticks and labels."""

MOST_POINTS = 400
"""Points of a series that are drawn; a longer one keeps the lowest and highest of each stretch."""

Point = tuple[float, float]


def number(value: float) -> str:
    """A number for people: four figures, no exponent where it can be avoided."""
    if not math.isfinite(value):
        return str(value)
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    mantissa, exponent = f"{value:.3e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    power = f"10{_superscript(int(exponent))}"
    return power if mantissa == "1" else f"{mantissa}·{power}"


def readable(text: str) -> str:
    """A text in which 1e-6 is 10⁻⁶."""
    return _POWER.sub(lambda found: number(float(found[0])), text)


_POWER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d{1,3}(?!\w)")


def _superscript(value: int) -> str:
    return str(value).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _c(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")


# ------------------------------------------------------------------------------------------------- axes


@dataclass(frozen=True)
class Axis:
    """A linear or logarithmic scale from data to pixels."""

    low: float
    high: float
    log: bool
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The position of a value."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        return self.start + (self.end - self.start) * (at - low) / (high - low)

    def shows(self, value: float) -> bool:
        """Whether a value has a place on the axis."""
        return math.isfinite(value) and (value > 0 or not self.log)

    def ticks(self) -> list[float]:
        """Where the labels go: powers of ten, or multiples of 1, 2 or 5."""
        return _log_ticks(self.low, self.high) if self.log else _linear_ticks(self.low, self.high)


def axis(values: Sequence[float], log: bool, start: float, end: float, zero: bool = False) -> Axis:
    """The scale that holds these values; `zero` makes it start at 0 where it is linear."""
    shown = [v for v in values if math.isfinite(v) and (v > 0 or not log)] or ([0.1, 1.0] if log else [0.0, 1.0])
    low, high = min(shown), max(shown)
    if log:
        first, last = math.log10(low), math.log10(high)
        room = 0.04 * (last - first) or 0.3
        return Axis(10.0 ** max(first - room, -307), 10.0 ** min(last + room, 308), True, start, end)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    room = 0.04 * (high - low) or abs(high) * 0.5 or 1.0
    return Axis(
        low if zero and low == 0 else low - room, high if zero and high == 0 else high + room, False, start, end
    )


def _log_ticks(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) < 2:
        return [m * 10.0**e for e in range(first - 1, last + 2) for m in (1, 2, 5) if low <= m * 10.0**e <= high]
    step = math.ceil(len(powers) / 6)
    return [10.0**e for e in powers[::step]]


def _linear_ticks(low: float, high: float) -> list[float]:
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


# ------------------------------------------------------------------------------------------------- looks


@dataclass(frozen=True)
class Look:
    """How a series is drawn."""

    colour: str
    dash: str
    marker: bool


_COLOURS: dict[Role, str] = {
    "printed": "red",
    "corrected": "green",
    "tight": "purple",
    "measured": "orange",
    "certified": "blue",
    "claimed": "ink",
}
"""The colour of a role; of a series with several, the first of them in this order."""
_CYCLE = ("blue", "orange", "green", "purple", "red", "ink", "teal")
"""Colours of series without a role, by their place."""
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
"""Full, and three kinds of dashes, in the figure's units; what is only claimed has the first."""


def looks(figure: Figure) -> list[Look]:
    """A look for each series: by its roles, and never the same twice."""
    taken: set[tuple[str, str]] = set()
    found = []
    for i, name in enumerate(figure.series):
        roles = figure.roles.get(name, ())
        wanted = next((colour for role, colour in _COLOURS.items() if role in roles), _CYCLE[i % len(_CYCLE)])
        dashed = _DASHES[1] if "claimed" in roles else ""
        options = [(wanted, dashed), *((c, d) for d in _DASHES for c in (wanted, *_CYCLE))]
        colour, dash = next((o for o in options if o not in taken), options[0])
        taken.add((colour, dash))
        found.append(Look(colour, dash, marker="measured" in roles))
    return found


# ------------------------------------------------------------------------------------------------ drawing


def draw(figure: Figure, id: str) -> Html:
    """The figure as an `svg` element whose ids start with `id`."""
    single = figure.kind == "bar" and all(len(points) == 1 for points in figure.series.values())
    body, height = _single_bars(figure) if single else _plot(figure)
    return tag(
        "svg",
        tag("title", figure.title, id=f"{id}-title"),
        tag("desc", describe(figure), id=f"{id}-desc"),
        body,
        viewBox=f"0 0 {_c(WIDTH)} {_c(height)}",
        role="img",
        aria_labelledby=f"{id}-title {id}-desc",
        class_="plot",
    )


def describe(figure: Figure) -> str:
    """The figure in words, for those who do not see it."""
    parts = []
    for name, points in figure.series.items():
        ys = [y for _, y in points if math.isfinite(y)]
        if len(points) == 1:
            parts.append(f"{name}: {number(points[0][1])}")
        elif ys:
            parts.append(f"{name}: {len(points)} points, from {number(min(ys))} to {number(max(ys))}")
    return f"{figure.y_label} against {figure.x_label}. " + "; ".join(parts) + "."


def _plot(figure: Figure) -> tuple[Html, float]:
    series = {name: thin(sorted(points)) for name, points in figure.series.items()}
    bars = figure.kind == "bar"
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    bottom = TOP + PLOT
    inset = 24.0 if bars else 0.0
    across = axis(xs, figure.x_log, LEFT + inset, WIDTH - RIGHT - inset)
    up = axis(ys, figure.y_log, bottom, TOP, zero=bars)
    styles = looks(figure)
    draw_series = _grouped_bars if bars else _band if figure.kind == "band" else _lines
    legend, height = _legend(series, styles, bottom + 48, bars)
    missing = sum(not (across.shows(x) and up.shows(y)) for points in series.values() for x, y in points)
    note = (
        _text(LEFT, height + 8, f"{missing} points lie outside the scale and are not drawn", "note")
        if missing
        else None
    )
    return join([_axes(figure, across, up, bottom), draw_series(series, styles, across, up), legend, note]), (
        height + (14 if missing else 0)
    )


def thin(points: Sequence[Point]) -> list[Point]:
    """At most `MOST_POINTS` points: of each stretch the lowest and the highest, so that no spike is lost."""
    if len(points) <= MOST_POINTS:
        return list(points)
    stretches = MOST_POINTS // 2
    kept: list[Point] = []
    for i in range(stretches):
        part = points[i * len(points) // stretches : (i + 1) * len(points) // stretches]
        kept.extend(sorted({min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])}))
    return kept


MOST_LETTERS = 54
"""Letters of a label: at 6.6 units each, beside the 34 of a legend's line, they fill a figure's width."""


def fitting(text: str) -> str:
    """As much of a label as has a place in the figure; the description has it whole."""
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def _text(x: float, y: float, text: str, class_: str, anchor: str | None = None) -> Html:
    return tag("text", fitting(readable(text)), x=_c(x), y=_c(y), class_=class_, text_anchor=anchor)


UNITS = {"n": "n, records", "d": "d, dimensions", "J": "J, vertices", "T": "T, steps"}
"""What is counted along an axis that a letter names."""


def _axes(figure: Figure, across: Axis, up: Axis, bottom: float) -> Html:
    right = WIDTH - RIGHT
    parts: list[Html] = []
    for value in up.ticks():
        y = up(value)
        parts.append(tag("line", x1=_c(LEFT), x2=_c(right), y1=_c(y), y2=_c(y), class_="grid"))
        parts.append(_text(LEFT - 6, y + 4, number(value), "tick", "end"))
    for value in across.ticks():
        x = across(value)
        parts.append(tag("line", x1=_c(x), x2=_c(x), y1=_c(bottom), y2=_c(bottom + 4), class_="axis"))
        parts.append(_text(x, bottom + 17, number(value), "tick", "middle"))
    parts.append(tag("line", x1=_c(LEFT), x2=_c(right), y1=_c(bottom), y2=_c(bottom), class_="axis"))
    parts.append(_text(4, 14, figure.y_label, "label"))
    parts.append(_text(right, bottom + 33, UNITS.get(figure.x_label, figure.x_label), "label", "end"))
    return join(parts)


_Series = dict[str, list[Point]]


def _visible(points: Sequence[Point], across: Axis, up: Axis) -> list[Point]:
    return [(across(x), up(y)) for x, y in points if across.shows(x) and up.shows(y)]


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{_c(x)} {_c(y)}" for x, y in points)


def _lines(series: _Series, styles: Sequence[Look], across: Axis, up: Axis) -> Html:
    """Curves and dots; a curve that a later one covers is drawn broader, so that both are seen."""
    parts = []
    drawn = [_visible(points, across, up) for points in series.values()]
    for i, ((name, points), look) in enumerate(zip(series.items(), styles, strict=True)):
        visible = drawn[i]
        if len(visible) > 1:
            under = " under" if _path(visible) in map(_path, drawn[i + 1 :]) else ""
            parts.append(
                tag(
                    "path",
                    tag("title", name),
                    d=_path(visible),
                    class_=f"curve {look.colour}{under}",
                    stroke_dasharray=look.dash or None,
                )
            )
        if look.marker or len(visible) == 1:
            parts.extend(tag("circle", cx=_c(x), cy=_c(y), r=3, class_=f"dot {look.colour}") for x, y in visible[:60])
        parts.extend(_tips(name, points, across, up))
    return join(parts)


MOST_TIPS = 40
"""Points of a series that say their values under the pointer."""


def _tips(name: str, points: Sequence[Point], across: Axis, up: Axis) -> Iterator[Html]:
    """The values of points, for the pointer; the table below the figure has them for everybody."""
    shown = [(x, y) for x, y in points if across.shows(x) and up.shows(y)]
    if len(shown) <= MOST_TIPS:
        for x, y in shown:
            said = tag("title", f"{name}: {number(x)}, {number(y)}")
            yield tag("circle", said, cx=_c(across(x)), cy=_c(up(y)), r=7, fill_opacity=0, class_="tip")


def _band(series: _Series, styles: Sequence[Look], across: Axis, up: Axis) -> Html:
    lower, upper = (_visible(points, across, up) for points in list(series.values())[:2])
    area = tag("path", d=_path([*lower, *reversed(upper)]) + "Z", class_=f"area {styles[0].colour}")
    return join([area if lower and upper else None, _lines(series, styles, across, up)])


def _grouped_bars(series: _Series, styles: Sequence[Look], across: Axis, up: Axis) -> Html:
    xs = sorted({across(x) for points in series.values() for x, _ in points if across.shows(x)})
    gap = min((b - a for a, b in itertools.pairwise(xs)), default=60.0)
    width = min(0.8 * gap, 48.0) / len(series)
    floor = up(up.low) if up.log else up(0.0)
    parts = []
    for i, ((name, points), look) in enumerate(zip(series.items(), styles, strict=True)):
        seen = [(x, y) for x, y in points if across.shows(x) and up.shows(y)]
        for (_, value), (x, y) in zip(seen, _visible(points, across, up), strict=True):
            left = x + (i - len(series) / 2) * width
            parts.append(
                tag(
                    "rect",
                    tag("title", f"{name}: {number(value)}"),
                    x=_c(left),
                    y=_c(min(y, floor)),
                    width=_c(max(width - 1, 1)),
                    height=_c(abs(floor - y)),
                    class_=f"bar {look.colour}",
                )
            )
    return join(parts)


def _single_bars(figure: Figure) -> tuple[Html, float]:
    """One horizontal bar a series, its name above it and its value at its end."""
    values = [points[0][1] for points in figure.series.values()]
    along = axis(values, figure.y_log, LEFT - 40, WIDTH - 90, zero=True)
    floor = along(along.low) if along.log else along(0.0)
    parts = [_text(4, 14, figure.y_label, "label")]
    y = TOP
    for (name, ((_, value),)), look in zip(figure.series.items(), looks(figure), strict=True):
        parts.append(_text(LEFT - 40, y + 10, name, "tick"))
        if along.shows(value):
            end = along(value)
            parts.append(
                tag(
                    "rect",
                    x=_c(min(floor, end)),
                    y=_c(y + 15),
                    width=_c(max(abs(end - floor), 1)),
                    height=14,
                    class_=f"bar {look.colour}",
                )
            )
            parts.append(_text(max(floor, end) + 5, y + 26, number(value), "value"))
        else:
            parts.append(_text(floor, y + 26, number(value), "value"))
        y += 38
    return join(parts), y + 4


def _legend(series: _Series, styles: Sequence[Look], y: float, bars: bool) -> tuple[Html, float]:
    """The names of the series below the plot, as many a row as fit."""
    parts: list[Html] = []
    x = 8.0
    for (name, points), look in zip(series.items(), styles, strict=True):
        width = 40 + 6.9 * len(fitting(name))
        if x > 8 and x + width > WIDTH:
            x, y = 8.0, y + 18
        if bars:
            parts.append(tag("rect", x=_c(x + 4), y=_c(y - 6), width=12, height=12, class_=f"bar {look.colour}"))
        else:
            parts.extend(_sample(look, len(points) == 1, x, y))
        parts.append(_text(x + 27, y + 4, name, "legend"))
        x += width
    return join(parts), y + 14


def _sample(look: Look, single: bool, x: float, y: float) -> Iterator[Html]:
    """A piece of a line and its marker, as `_lines` draws them: a single point has no line."""
    if not single:
        yield tag(
            "line",
            x1=_c(x),
            x2=_c(x + 22),
            y1=_c(y),
            y2=_c(y),
            class_=f"curve {look.colour}",
            stroke_dasharray=look.dash or None,
        )
    if look.marker or single:
        yield tag("circle", cx=_c(x + 11), cy=_c(y), r=3, class_=f"dot {look.colour}")


def data_table(figure: Figure) -> Html:
    """The numbers behind a figure."""
    rows = [
        tag("tr", tag("td", name), tag("td", number(x)), tag("td", number(y)))
        for name, points in figure.series.items()
        for x, y in points
    ]
    head = tag(
        "tr", *(tag("th", text, scope="col") for text in ("series", figure.x_label or "at", figure.y_label or "value"))
    )
    return tag("table", tag("thead", head), tag("tbody", *rows), class_="data")
