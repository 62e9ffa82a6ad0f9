"""Doctests of docstrings as blocks of code on the documentation site: an extension of griffe, which reads them."""

from __future__ import annotations

import re
from typing import Any

import griffe

_DOCTEST = re.compile(r"^([ \t]*)>>> .*(?:\n[ \t]*\S.*)*", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with each doctest, up to the next empty line, between fences."""
    return _DOCTEST.sub(lambda match: f"{match[1]}```pycon\n{match[0]}\n{match[1]}```", text)


class Fences(griffe.Extension):  # type: ignore[misc]  # the type checker does not follow griffe
    """What griffe calls for each object that it reads."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put the doctests of its docstring between fences."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
