"""Progress in a notebook: one line below the cell, which the next message overwrites."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def progress_line() -> Callable[[str], None] | None:
    """What shows a message below the running cell, an empty one to wipe it; None where no notebook is running."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    shown: list[Any] = []

    def say(text: str) -> None:
        words = {"text/plain": text}
        if shown:
            shown[0].update(words, raw=True)
        elif text:
            shown.append(import_module("IPython.display").display(words, raw=True, display_id=True))

    return say
