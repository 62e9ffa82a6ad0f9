"""README.md, made from `docs/README.template.md`: the same text without the comment marks of quoted numbers.

The template marks its numbers as every other page does (`docs.markers`); a README is also read in a terminal and on a
package index, where marks would show. `dpso trace --write` makes it anew, `dpso trace --check` and the tests compare.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

TEMPLATE = Path("docs") / "README.template.md"
WIDTH = 124
_MARK = re.compile(r"<!--.*?-->", re.DOTALL)
_NONE = re.compile(r"(?<=, )(?:for )?0 [^,.]*, ")
"""Part of a list that counts nothing: "0 are false at an edge only, "."""


def plain(text: str) -> str:
    """A page without its comment marks; a paragraph that had some is folded anew, without what counts nothing."""
    return "\n\n".join(_folded(part) for part in text.split("\n\n"))


def _folded(part: str) -> str:
    bare = _MARK.sub("", part)
    if bare == part or bare.startswith(("|", "#", "-", "`", "\n")):
        return bare
    words = _NONE.sub("", " ".join(bare.split()))
    return textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n" * bare.endswith("\n")


def made(root: Path) -> str | None:
    """What README.md of a checkout should be; None where there is no template."""
    template = root / TEMPLATE
    return plain(template.read_text(encoding="utf-8")) if template.is_file() else None


def problem(root: Path) -> str:
    """Empty if README.md is what the template gives."""
    path, expected = root / "README.md", made(root)
    if expected is None or (path.is_file() and path.read_text(encoding="utf-8") == expected):
        return ""
    return f"README.md is not what {TEMPLATE.as_posix()} gives: edit the template, then dpso trace --write"
