"""HTML that cannot be broken out of: whatever is not `Html` is escaped where it enters the page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

VOID = frozenset({"br", "hr", "input", "link", "meta", "wbr"})

_INVISIBLE = "\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
"""Characters that change the order of a line or hide in it."""
_HARMFUL = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_INVISIBLE}]")
"""These, and those that control something; a new line and a tab do no harm."""


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(text: object) -> Html:
    """Text as markup: special characters escaped, control and direction characters made visible."""
    if isinstance(text, Html):
        return text
    return Html(html.escape(_HARMFUL.sub("\N{REPLACEMENT CHARACTER}", str(text)), quote=True))


def breakable(name: str) -> Html:
    """A name of code that may be broken after its signs."""
    return Html(re.sub(r"(?<=[:_.\[])(?=[A-Za-z])", "<wbr>", escape(name)))


def tag(element: str, /, *children: object, **attributes: object) -> Html:
    """An element. `class_` is class, `data_x` is data-x; None and False leave an attribute out, True its value."""
    written = []
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is True:
            written.append(f" {key}")
        elif value is not None and value is not False:
            written.append(f' {key}="{escape(value)}"')
    if element in VOID:
        return Html(f"<{element}{''.join(written)}>")
    return Html(f"<{element}{''.join(written)}>{join(children)}</{element}>")


def join(parts: Iterable[object], between: str = "") -> Html:
    """Parts one after another; None leaves a part out."""
    return Html(escape(between).join(escape(part) for part in parts if part is not None))
