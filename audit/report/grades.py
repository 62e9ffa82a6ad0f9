"""The words and colours for the grades of verdicts, the same in the terminal, on the page and in the graph."""

from __future__ import annotations

from audit.checks.scale import Grade

GRADE_WORDS: dict[Grade, str] = {
    "holds": "hold",
    "loose": "hold, loose",
    "misprint": "hold after a misprint is corrected",
    "conditional": "hold under a condition",
    "unproved": "true, but not by the printed proof",
    "edge": "false only at the edge",
    "false": "false as printed",
    "searched": "no violation found",
    "cited": "cited",
    "unexpected": "not as recorded",
    "unchecked": "without a check",
}
"""After a count: "12 hold, 3 false as printed"."""

GRADE_BADGES: dict[Grade, str] = {
    "holds": "holds",
    "loose": "holds, loose",
    "misprint": "holds, misprint",
    "conditional": "conditional",
    "unproved": "true, not so proved",
    "edge": "false at the edge",
    "false": "false",
    "searched": "no violation found",
    "cited": "cited",
    "unexpected": "not as recorded",
    "unchecked": "no check",
}
"""On a badge."""

GRADE_MEANINGS: dict[Grade, str] = {
    "holds": "a rigorous check (proved, enclosed or exact) ran and the claim held",
    "loose": "it holds, and a better constant is known",
    "misprint": "it holds once a slip is corrected, which the text has right elsewhere or its context mends",
    "conditional": "it holds under a hypothesis that the statement leaves out; some the paper states elsewhere",
    "unproved": "it holds, and a printed step of its proof does not: shown by a counterexample that ran",
    "edge": "false in a corner of its parameters only, shown by a counterexample that ran",
    "false": "false as printed in what it promises of privacy, of its rate, or else, in a stated regime, shown by a"
    " counterexample that ran; the verdict says what stands when that is corrected",
    "searched": "a search or a statistical test found no violation: evidence, not proof",
    "cited": "taken from elsewhere by the paper; no check of ours",
    "unexpected": "a check failed, or came out otherwise than the project records",
    "unchecked": "no check ran, or none but of an erratum",
}

GRADE_COLOURS: dict[Grade, str] = {
    "holds": "green",
    "loose": "teal",
    "misprint": "teal",
    "conditional": "amber",
    "unproved": "amber",
    "edge": "red",
    "false": "red",
    "searched": "blue",
    "cited": "grey",
    "unexpected": "pink",
    "unchecked": "grey",
}
"""On the page and in the graph: names of `palette.PALETTE`."""

GRADE_STYLES: dict[Grade, str] = {
    "holds": "green",
    "loose": "cyan",
    "misprint": "cyan",
    "conditional": "yellow",
    "unproved": "yellow",
    "edge": "red",
    "false": "bold red",
    "searched": "blue",
    "cited": "dim",
    "unexpected": "bold white on red",
    "unchecked": "dim",
}
"""In the terminal."""

SEVERITY_WORDS: dict[str, str] = {
    "privacy": "false: privacy",
    "rate": "false: rate",
    "accuracy": "false: accuracy",
    "edge": "false at the edge",
    "proof": "proof fails",
    "condition": "condition left out",
    "misprint": "misprint",
    "loose": "loose",
}
"""What an erratum of this severity is called."""

SEVERITY_STYLES: dict[str, str] = {
    "privacy": "bold red",
    "rate": "bold red",
    "accuracy": "bold red",
    "edge": "red",
    "proof": "yellow",
    "condition": "yellow",
    "misprint": "dim",
    "loose": "dim",
}
"""In the terminal."""
