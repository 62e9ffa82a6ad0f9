"""Figures with their captions and numbers, and the galleries by topic."""

from __future__ import annotations

from audit.checks.framework import Topic
from audit.report import svg
from audit.report.common import Frugal
from audit.report.model import Page, Picture, slug
from audit.report.prose import formula
from audit.runtime.markup import Html, join, tag


def picture(picture: Picture, frugal: Frugal, copy: bool = False) -> Html:
    """A figure; a copy of one that stands in a gallery has another id and leaves the numbers there."""
    figure = picture.figure
    id = f"{picture.slug}-copy" if copy else picture.slug
    data = None
    if frugal.tables and not copy and sum(len(points) for points in figure.series.values()) <= svg.MOST_POINTS:
        data = tag("details", tag("summary", "Numbers"), tag("div", svg.data_table(figure), class_="scroll"))
    caption = tag("figcaption", tag("b", figure.title), tag("span", formula(figure.note)) if figure.note else None)
    source = tag(
        "p",
        "From ",
        tag("a", picture.result.name, href=f"#c-{slug(picture.result.name)}"),
        f", {picture.result.kind}",
        class_="fine",
    )
    return tag("figure", caption, svg.draw(figure, id), None if copy else source, data, id=id)


def gallery(topic: Topic, intro: str, model: Page, frugal: Frugal) -> Html:
    """The figures of a topic; nothing where there is none."""
    pictures = model.of_topic(topic)
    if not pictures:
        return Html("")
    return join([tag("p", intro, class_="fine"), tag("div", *(picture(p, frugal) for p in pictures), class_="gallery")])
