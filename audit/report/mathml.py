"""TeX to MathML, when the page is made: browsers typeset it without a script and without a network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from functools import lru_cache
from xml.etree import ElementTree

from audit.runtime.markup import Html, escape, join, tag

THIN = '<mspace width="0.15em"></mspace>'
"""The space beside the name of a function."""
_NAMED = r"<mi>(?:log|ln|exp|tanh)</mi>"
_SCRIPTED = rf"<(m(?:sub|sup))>{_NAMED}<m[ni]>[^<]*</m[ni]></m(?:sub|sup)>"
_BEFORE = re.compile(rf"(</m(?:n|sub|sup|subsup|row|sqrt|frac)>|[^⌈⌊]</mi>)(?=(?:<m(?:sub|sup)>)?{_NAMED})")
_AFTER = re.compile(rf"(?:{_SCRIPTED}|(?<!<msub>)(?<!<msup>){_NAMED})(?!<mo)")
"""Where that space goes: before the name, and after it or its index, not between the two."""
KEPT = ("<", ">", "&", '"')
"""Characters that stay references in the markup."""


@lru_cache(maxsize=4096)
def mathml(tex: str, display: bool = False) -> Html:
    r"""A formula as a `math` element. `\boxed{…}` becomes the class `diff`: what differs between two editions."""
    from latex2mathml.converter import convert

    text = re.sub(r"\\mathrm\{(\w{2,})\}", r"\\text{\1}", tex).replace(r"\arg", r"\text{arg}\,")
    made = convert(text)
    if "\\" in made:
        raise ValueError(f"latex2mathml does not know a command of {tex!r}: {made}")
    made = re.sub(r'^<math xmlns="[^"]*" display="inline">', "", made).removesuffix("</math>")
    made = made.replace('<menclose notation="box">', '<mrow class="diff">').replace("</menclose>", "</mrow>")
    made = made.replace("<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>')
    made = re.sub(r"<(mspace|mprescripts)([^>]*?) ?/>", r"<\1\2></\1>", made)
    made = re.sub(r"&#x[0-9A-F]+;", _shorter, made)
    made = _AFTER.sub(rf"\g<0>{THIN}", _BEFORE.sub(rf"\1{THIN}", made))
    return tag("math", Html(made), display="block" if display else None)


def _shorter(reference: re.Match[str]) -> str:
    """A character reference as its character, unless that is invisible or would be markup."""
    character = html.unescape(reference[0])
    return character if character.isprintable() and character not in KEPT else reference[0]


SCRIPTS = ("msub", "msup", "msubsup")


def width(element: ElementTree.Element) -> float:
    """About how many letters wide a formula is: of a fraction the wider part, indices and powers at two thirds."""
    parts = [width(part) for part in element]
    if element.tag == "mfrac":
        return max(parts)
    if element.tag in SCRIPTS:
        return parts[0] + max(parts[1:]) * 2 / 3
    return sum(parts) + len((element.text or "").strip()) * (1.6 if element.tag == "mo" else 1.0)


def widest(lines: Iterable[str]) -> float:
    """The width of the widest formula of some lines; 0 without one."""
    made = (ElementTree.fromstring(f"<p>{line(text)}</p>") for text in lines)
    return max((width(formula) for element in made for formula in element.iter("math")), default=0.0)


def line(text: str) -> Html:
    """A line of text with formulas between dollar signs; one that is a single formula is displayed."""
    parts = text.split("$")
    if len(parts) == 3 and not parts[0].strip() and not parts[2].strip():
        return mathml(parts[1], display=True)
    return join(mathml(part) if i % 2 else escape(part) for i, part in enumerate(parts))
