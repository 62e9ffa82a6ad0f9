"""The words and colours for the grades of verdicts, the same in the terminal, on the page and in the graph."""

from __future__ import annotations

from audit.checks.framework import Grade

GRADE_WORDS: dict[Grade, str] = {
    "holds": "hold",
    "loose": "hold, loose",
    "conditional": "hold under a condition",
    "refuted": "refuted as printed, corrected",
    "unrepaired": "refuted, correction unchecked",
    "searched": "no violation found",
    "cited": "cited",
    "unexpected": "not as recorded",
    "unchecked": "without a check",
}
"""After a count: "12 hold, 3 refuted as printed"."""

GRADE_BADGES: dict[Grade, str] = {
    "holds": "holds",
    "loose": "holds, loose",
    "conditional": "conditional",
    "refuted": "refuted → corrected",
    "unrepaired": "refuted",
    "searched": "no violation found",
    "cited": "cited",
    "unexpected": "not as recorded",
    "unchecked": "no check",
}
"""On a badge."""

GRADE_MEANINGS: dict[Grade, str] = {
    "holds": "an exact or certified check ran and the claim held",
    "loose": "it holds, and a better constant is known",
    "conditional": "it holds under a hypothesis that the paper does not state",
    "refuted": "false as printed, shown by a counterexample that ran; the corrected text was checked",
    "unrepaired": "false as printed, shown by a counterexample that ran; no check of a correction ran",
    "searched": "a search or a statistical test found no violation: evidence, not proof",
    "cited": "taken from elsewhere by the paper; no check of ours",
    "unexpected": "a check failed, or came out otherwise than the project records",
    "unchecked": "no check ran, or none but of a slip of the pen",
}

GRADE_COLOURS: dict[Grade, str] = {
    "holds": "green",
    "loose": "teal",
    "conditional": "amber",
    "refuted": "red",
    "unrepaired": "red",
    "searched": "blue",
    "cited": "grey",
    "unexpected": "pink",
    "unchecked": "grey",
}
"""On the page and in the graph: names of `palette.PALETTE`."""

GRADE_STYLES: dict[Grade, str] = {
    "holds": "green",
    "loose": "cyan",
    "conditional": "yellow",
    "refuted": "red",
    "unrepaired": "bold red",
    "searched": "blue",
    "cited": "dim",
    "unexpected": "bold white on red",
    "unchecked": "dim",
}
"""In the terminal."""
