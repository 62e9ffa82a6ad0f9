"""Draw the figures of docs/tour.md: python docs/make_tour.py [--check]

Writes docs/figures/*.svg, the same bytes on every machine (no dates, no random ids, rounded coordinates); with --check
it compares instead and leaves with 1 if a figure is stale. The data are in `audit.trace.prose`, the drawing in
`audit.report.svg`. The numbers of the text are checked by `dpso trace --check`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from audit.report import svg
from audit.trace.prose import FIGURES

FOLDER = Path(__file__).parent / "figures"
PALETTE = {
    "ground": ("#ffffff", "#0d1117"),
    "ink": ("#1b1d22", "#e7e6e1"),
    "soft": ("#5d6069", "#a3a6ad"),
    "rule": ("#dfddd6", "#31353d"),
    "red": ("#b42318", "#ff8a7a"),
    "green": ("#17754a", "#5fc98b"),
    "blue": ("#2456c4", "#82aaff"),
    "orange": ("#c2570c", "#ffab5e"),
    "purple": ("#7a3db8", "#c79bf2"),
    "teal": ("#0b7285", "#4fc3d0"),
}
"""Light and dark, as in the report."""
HUES = ("red", "green", "blue", "orange", "purple", "teal", "ink")


def style() -> str:
    """The style sheet of a figure: plain colours, so that every viewer of SVG understands it, and dark ones."""
    dark = "".join(_rules(1))
    return f"<style>{''.join(_rules(0))}@media (prefers-color-scheme:dark){{{dark}}}</style>"


def _rules(scheme: int) -> list[str]:
    colour = {name: pair[scheme] for name, pair in PALETTE.items()}
    rules = [
        f"text{{fill:{colour['soft']};font:11.5px system-ui,'DejaVu Sans',sans-serif}}",
        f".label,.legend,.value{{fill:{colour['ink']};font-size:12px}}",
        f".ground{{fill:{colour['ground']}}}.grid{{stroke:{colour['rule']}}}.axis{{stroke:{colour['soft']}}}",
    ]
    for hue in HUES:
        rules.append(f".curve.{hue}{{fill:none;stroke:{colour[hue]};stroke-width:2;stroke-linejoin:round}}")
        rules.append(f".dot.{hue}{{fill:{colour['ground']};stroke:{colour[hue]};stroke-width:1.8}}")
        rules.append(f".bar.{hue}{{fill:{colour[hue]};fill-opacity:.82}}")
    return rules


def draw(name: str) -> str:
    """The figure as the text of an SVG file."""
    drawn = str(svg.draw(FIGURES[name](), name))
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)
    assert box is not None
    head, body = drawn[: drawn.index(">") + 1], drawn[drawn.index(">") + 1 :]
    head = head.replace("<svg", f'<svg xmlns="http://www.w3.org/2000/svg" width="{box[1]}" height="{box[2]}"', 1)
    return f'{head}\n{style()}\n<rect class="ground" width="100%" height="100%"/>\n{body}\n'


def main() -> int:
    """Write, or compare."""
    stale = []
    for name in FIGURES:
        file, text = FOLDER / f"{name}.svg", draw(name)
        if "--check" not in sys.argv[1:]:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(file.name)
    print(f"stale: {', '.join(stale)}" if stale else f"{len(FIGURES)} figures in {FOLDER.name}/")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
