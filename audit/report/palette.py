"""The colours of everything that is drawn: the page, its graph, figures in files. Each has a light and a dark form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from audit.runtime.markup import Html

PALETTE: dict[str, tuple[str, str]] = {
    "ground": ("#fcfcfa", "#15171b"),
    "raised": ("#ffffff", "#1c1f25"),
    "sunken": ("#f3f2ee", "#101216"),
    "ink": ("#1b1d22", "#e7e6e1"),
    "soft": ("#5d6069", "#a3a6ad"),
    "rule": ("#dfddd6", "#31353d"),
    "accent": ("#1f4fb4", "#8ab4ff"),
    "green": ("#17754a", "#5fc98b"),
    "teal": ("#0b7285", "#4fc3d0"),
    "amber": ("#8a5a00", "#e3b341"),
    "red": ("#b42318", "#ff8a7a"),
    "blue": ("#2456c4", "#82aaff"),
    "orange": ("#c2570c", "#ffab5e"),
    "purple": ("#7a3db8", "#c79bf2"),
    "grey": ("#5f646c", "#9aa0a8"),
    "pink": ("#a8107a", "#ff7ac6"),
}
"""Light, dark. On `ground` text has a contrast of 4.5 at least, and orange, which only draws lines, of 3 (WCAG AA)."""

LIGHT, DARK = 0, 1
"""The place of a scheme's colour in a pair."""


def colours(scheme: int, palette: Mapping[str, tuple[str, str]] = PALETTE) -> dict[str, str]:
    """The colours of one scheme, by name."""
    return {name: pair[scheme] for name, pair in palette.items()}


def variables(scheme: int) -> str:
    """The colours as CSS variables, for a page."""
    return " ".join(f"--{name}: {colour};" for name, colour in colours(scheme).items())


def mixed(colour: str, share: float, ground: str) -> str:
    """A share of one colour in another, as CSS `color-mix(in srgb, …)` has it; for viewers that do not know that."""
    pairs = [(int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


def standalone(
    drawing: Html, rules: Callable[[Mapping[str, str]], str], palette: Mapping[str, tuple[str, str]] = PALETTE
) -> str:
    """An `svg` element of a page as a file of its own, as large as its `viewBox`.

    Args:
        drawing: the element, whose classes the page's style sheet would colour.
        rules: the style sheet that takes that one's place, from the colours of a scheme: plain ones, so that every
            viewer of SVG understands it. It is written twice, for light and for dark.
        palette: other colours than those of the page.
    """
    light, dark = (rules(colours(scheme, palette)) for scheme in (LIGHT, DARK))
    style = f"<style>{light}@media (prefers-color-scheme:dark){{{dark}}}</style>"
    end = drawing.index(">") + 1
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawing[:end])
    assert box is not None
    size = f'xmlns="http://www.w3.org/2000/svg" width="{box[1]}" height="{box[2]}"'
    head = drawing[:end].replace("<svg", f"<svg {size}", 1)
    return f'{head}\n{style}\n<rect class="ground" width="100%" height="100%"/>\n{drawing[end:]}\n'
