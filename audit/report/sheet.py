"""The sheet for the authors: what is wrong as printed, on a few pages, in Markdown, TeX or JSON.

False statements come first, then proofs that fail of statements that hold, then conditions, then misprints. Each entry
says where it is (theorem, line, page), what is printed, what it should be, what shows it, and the command that replays
that; misprints in one sentence. Exhibits are the recorded ones (`audit/checks/verdicts.json`); whoever makes a sheet
runs what is not recorded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from audit.report.grades import SEVERITY_WORDS
from reference.paper.inventory import (
    PROOF,
    Equation,
    Erratum,
    Inventory,
    PrintedAlgorithm,
    PrintedTable,
    Section,
    Statement,
)
from reference.paper.registry import Counterexample

PARTS: Mapping[str, tuple[str, ...]] = {
    "False as printed": ("privacy", "rate", "accuracy", "edge"),
    "True, but not by the printed proof": ("proof",),
    "True under a condition that the statement leaves out": ("condition",),
    "Misprints, and bounds with room": ("misprint", "loose"),
}
"""The parts of the sheet and the severities that each holds."""
BRIEF = ("misprint", "loose")
"""Severities whose entries are short: what is printed, what is meant, and one exhibit."""

RULE = (
    "A condition or convention that the paper states anywhere applies everywhere; what the text itself puts right"
    " elsewhere is a misprint; the mechanism that is refuted is the one that is printed, with its random and secret"
    " batches, by its output; a counterexample meets every hypothesis of the statement; falsity needs a lower bound."
)
"""The rule of fair reading, in short; the head of `errata.toml` has it in full."""


@dataclass(frozen=True)
class SheetEntry:
    """One erratum as the sheet has it."""

    id: str
    severity: str
    place: str
    """Theorem and equation numbers, algorithm lines, pages where they are known, and the lines of the TeX file."""
    title: str
    regime: str
    stated: str
    printed: str
    corrected: str
    exhibit: str
    meets: str
    """The hypotheses that the exhibit meets, of an erratum that makes something false."""
    replay: str


@dataclass(frozen=True)
class Sheet:
    """Everything on it."""

    title: str
    authors: tuple[str, ...]
    checked: str
    by: str
    rule: str
    parts: Mapping[str, tuple[SheetEntry, ...]]

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)


def unshown(known: Inventory, record: Mapping[str, Any]) -> list[Erratum]:
    """The errata of which no exhibit is recorded: their counterexamples take longer."""
    shown = {one["name"] for one in record.get("results", ())}
    return [e for e in known.errata if f"defects.{e.id.replace('.', '_')}" not in shown]


def sheet(
    known: Inventory, record: Mapping[str, Any], version: str, day: str, more: Mapping[str, Counterexample]
) -> Sheet:
    """The sheet of an inventory, with the recorded exhibits, and `more` of those that are not recorded."""
    shown = {one["name"].rpartition(".")[2].replace("_", "."): one for one in record.get("results", ())}
    for id, found in more.items():
        met = "; ".join(dict.fromkeys(hypothesis.text for hypothesis in found.hypotheses))
        shown[id] = {"witness": found.summary, "note": met}
    parts = {
        title: tuple(_entry(e, known, shown.get(e.id, {})) for s in severities for e in known.errata if e.severity == s)
        for title, severities in PARTS.items()
    }
    paper = known.paper
    pages = "pages are those that pdfLaTeX makes of it, " if paper.page_starts else ""
    checked = (
        f"Checked: the TeX source of arXiv {paper.arxiv} with SHA-256 {paper.sha256} ({paper.tex_lines} lines; it"
        f" carries no date): {pages}TeX lines are lines of that file. Later versions of the paper may differ."
    )
    by = f"Made with {version} on {day}. A command replays each exhibit."
    return Sheet(paper.title, paper.authors, checked, by, RULE, parts)


def _entry(erratum: Erratum, known: Inventory, shown: Mapping[str, Any]) -> SheetEntry:
    return SheetEntry(
        erratum.id,
        erratum.severity,
        place_of(erratum, known),
        erratum.title,
        erratum.regime,
        erratum.stated,
        erratum.printed,
        erratum.corrected,
        shown.get("witness", ""),
        shown.get("note", "").removeprefix("meets: "),
        f"dpso errata {erratum.id} --run",
    )


def place_of(erratum: Erratum, known: Inventory) -> str:
    """Where it is, in the paper's own names: "Theorem 13; Algorithm 5, line 9; page 22, TeX line 911"."""
    names = dict.fromkeys(_name(place, erratum, known) for place in erratum.where)
    pages = [page for page in map(known.paper.page, erratum.tex) if page]
    where = [*([_from_to("page", *pages)] if pages else []), f"TeX {_from_to('line', *erratum.tex)}"]
    return f"{'; '.join(names)}; {', '.join(where)}"


def _from_to(what: str, first: int, last: int) -> str:
    """A place or a range of places: "line 7", or "lines 7–9" from 7 to 9."""
    return f"{what} {first}" if first == last else f"{what}s {first}–{last}"


def _name(place: str, erratum: Erratum, known: Inventory) -> str:
    entry = known.find(place)
    if isinstance(entry, PrintedAlgorithm):
        lines = erratum.lines_of(entry.id)
        return entry.name + (f", line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}" if lines else "")
    if isinstance(entry, PrintedTable):
        row = place.removeprefix(entry.id).removeprefix(":")
        return f"{entry.name}, row {row}" if row.isdecimal() else entry.name
    if isinstance(entry, Equation):
        return f"equation {entry.name}"
    if isinstance(entry, Section | Statement):
        return f"{entry.name}, proof" if place.endswith(PROOF) else entry.name
    return place


# ------------------------------------------------------------------------------------------------ Markdown


def markdown(one: Sheet) -> str:
    """The sheet as Markdown."""
    lines = [f"# Errata: {one.title}", "", f"{', '.join(one.authors)}.", "", one.checked, "", one.by, "", one.rule]
    for title, entries in one.parts.items():
        if entries:
            lines += ["", f"## {title} ({len(entries)})", ""]
            lines += [_brief_markdown(e) if e.severity in BRIEF else _full_markdown(e) for e in entries]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Text that Markdown leaves alone: its own marks escaped."""
    return re.sub(r"([\\`*_\[\]<>|~])", r"\\\1", text)


def _facts(entry: SheetEntry) -> Iterator[tuple[str, str]]:
    """What is said of an entry, in order; what there is nothing of is left out."""
    where = "Condition" if entry.severity == "condition" else "Where"
    ours = "Instead" if entry.severity == "proof" else "Should be"
    facts = (
        ("Printed", entry.printed),
        (ours, entry.corrected),
        (where, entry.regime),
        ("The paper states it", entry.stated),
        ("Exhibit", entry.exhibit),
        ("It meets", entry.meets),
    )
    return ((name, text) for name, text in facts if text)


def _full_markdown(entry: SheetEntry) -> str:
    head = f"* **{entry.id}** ({SEVERITY_WORDS[entry.severity]}) **{_plain(entry.title)}.** {_plain(entry.place)}."
    facts = " ".join(f"*{name}:* {_plain(text)}." for name, text in _facts(entry))
    return f"{head} {facts} `{entry.replay}`"


def _brief_markdown(entry: SheetEntry) -> str:
    right = f" ({_plain(entry.stated)})" if entry.stated else ""
    change = f"{_plain(entry.printed)} → {_plain(entry.corrected)}{right}"
    return f"* **{entry.id}** {_plain(entry.place)}: {change}. *Exhibit:* {_plain(entry.exhibit)}. `{entry.replay}`"


# ----------------------------------------------------------------------------------------------------- TeX

HEAD = r"""\documentclass[10pt,twocolumn]{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,margin=15mm]{geometry}
\usepackage{amssymb}
\setlength{\parindent}{0pt}\setlength{\parskip}{1.5pt}\setlength{\emergencystretch}{3em}
\pagestyle{plain}\sloppy
\begin{document}
"""


def tex(one: Sheet) -> str:
    """The sheet as a LaTeX document that pdflatex compiles."""
    lines = [HEAD + rf"{{\large\textbf{{Errata: {texed(one.title)}}}}}", "", texed(", ".join(one.authors)), ""]
    lines += [r"\footnotesize", ""]
    lines += [texed(re.sub(r"([0-9a-f]{32})([0-9a-f]{32})", r"\1 \2", one.checked)), "", texed(one.by), ""]
    lines += [texed(one.rule)]
    for title, entries in one.parts.items():
        if entries:
            lines += ["", rf"\vspace{{3pt}}{{\small\textbf{{{texed(title)} ({len(entries)})}}}}"]
            lines += [line for e in entries for line in ("", _brief_tex(e) if e.severity in BRIEF else _full_tex(e))]
    return "\n".join([*lines, r"\end{document}", ""])


def _full_tex(entry: SheetEntry) -> str:
    head = rf"\textbf{{{entry.id}}} ({texed(SEVERITY_WORDS[entry.severity])}) \textbf{{{texed(entry.title)}.}}"
    facts = " ".join(rf"\emph{{{name}:}} {texed(text)}." for name, text in _facts(entry))
    return rf"{head} {texed(entry.place)}. {facts} \texttt{{{texed(entry.replay)}}}"


def _brief_tex(entry: SheetEntry) -> str:
    right = f" ({texed(entry.stated)})" if entry.stated else ""
    change = rf"{texed(entry.printed)} $\to$ {texed(entry.corrected)}{right}"
    exhibit = rf"\emph{{Exhibit:}} {texed(entry.exhibit)}"
    return rf"\textbf{{{entry.id}}} {texed(entry.place)}: {change}. {exhibit}. \texttt{{{texed(entry.replay)}}}"


_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "υ": "upsilon", "φ": "varphi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta",
    "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
    "ϑ": "vartheta", "ϕ": "phi",
}  # fmt: skip
_SIGNS = {
    "−": "-", "‖": r"\|", "√": r"\surd", "²": "^2", "³": "^3", "⁰": "^0", "⁴": "^4", "⁵": "^5", "⁶": "^6", "⁷": "^7",
    "⁸": "^8", "⁹": "^9", "¹": "^1", "⁻": "^{-}", "≤": r"\le", "≥": r"\ge", "·": r"\cdot", "×": r"\times",
    "ℓ": r"\ell", "ℝ": r"\mathbb{R}", "𝔼": r"\mathbb{E}", "ℕ": r"\mathbb{N}", "𝒱": r"\mathcal{V}", "𝒴": r"\mathcal{Y}",
    "∇": r"\nabla",
    "∈": r"\in", "∉": r"\notin", "→": r"\to", "←": r"\leftarrow", "↓": r"\downarrow", "⟨": r"\langle",
    "⟩": r"\rangle", "∂": r"\partial", "⌊": r"\lfloor", "⌋": r"\rfloor", "⌈": r"\lceil", "⌉": r"\rceil",
    "∞": r"\infty", "±": r"\pm", "∪": r"\cup", "∩": r"\cap", "∝": r"\propto", "½": r"\frac12", "¼": r"\frac14",
    "¾": r"\frac34", "≠": r"\ne", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "⊂": r"\subset", "⊆": r"\subseteq",
    "⊇": r"\supseteq", "∑": r"\sum", "∫": r"\int", "≫": r"\gg", "≪": r"\ll", "∧": r"\wedge", "∨": r"\vee",
    "ᵀ": r"^{\top}", "∖": r"\setminus", "∅": r"\emptyset", "⇒": r"\Rightarrow", "⇔": r"\Leftrightarrow",
    "∀": r"\forall", "∃": r"\exists", "∣": r"\mid", "∥": r"\|", "⊥": r"\perp", "′": "'", "ı": r"\imath", "≻": r"\succ",
}  # fmt: skip
_PLAIN = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "{": r"\{", "}": r"\}", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}", "–": "--", "…": r"\dots{}", "’": "'", "“": "``", "”": "''", '"': "''", "\u00a0": "~",
}  # fmt: skip
_ACCENTS = {"\u0303": "tilde", "\u0304": "bar", "\u0302": "hat", "\u0305": "bar", "\u0307": "dot"}
_LETTERS = {"\u0301": r"\'", "\u0300": r"\`", "\u0308": r"\"", "\u0327": r"\c "}

_LETTER = r"[A-Za-z0-9*∞\u0370-\u03ff][\u0300-\u036f]?"
"""A letter or digit with its accent, as NFD writes it."""
_LOW = re.compile(rf"_(\{{[^{{}}]*\}}|\+|[a-z0-9](?=[A-Z])|(?:{_LETTER}){{1,2}}(?![A-Za-z0-9_\u0300-\u036f]))")
"""An index: in braces, +, one small letter or digit before a capital (η_kL0), or up to two letters."""
_HIGH = re.compile(rf"\^(\{{[^{{}}]*\}}|[−-]?(?:{_LETTER})+|\([^()]*\))")


def texed(text: str) -> str:
    """A text as LaTeX: symbols as mathematics, indices low and powers high, everything else escaped."""
    return _pieces(unicodedata.normalize("NFD", text))


def _pieces(text: str) -> str:
    """Scripts first, then the characters between them."""
    found = min((m for m in (_LOW.search(text), _HIGH.search(text)) if m), key=lambda m: m.start(), default=None)
    if found is None:
        return _characters(text)
    mark = found[0][0]
    inner = found[1][1:-1] if found[1].startswith("{") else found[1]
    low = rf"\ensuremath{{{mark}{{\mathrm{{{_pieces(inner)}}}}}}}"
    return _characters(text[: found.start()]) + low + _pieces(text[found.end() :])


def _characters(text: str) -> str:
    written: list[str] = []
    for character in text:
        if character in _ACCENTS or character in _LETTERS:
            base = written.pop() if written else "{}"
            written.append(_accented(base, character))
        else:
            written.append(_character(character))
    return "".join(written)


def _accented(base: str, mark: str) -> str:
    if mark in _ACCENTS:
        return rf"\ensuremath{{\{_ACCENTS[mark]}{{{base}}}}}"
    return f"{_LETTERS[mark]}{{{base}}}"


def _character(character: str) -> str:
    if character in _GREEK:
        return rf"\ensuremath{{\{_GREEK[character]}}}"
    if character in _SIGNS:
        return rf"\ensuremath{{{_SIGNS[character]}}}"
    if character in _PLAIN:
        return _PLAIN[character]
    if ord(character) < 127:
        return character
    return f"[U+{ord(character):04X}]"


FORMATS: Mapping[str, Callable[[Sheet], str]] = {"markdown": markdown, "tex": tex}
"""What prints a sheet, by the name of its format."""

__all__ = ["FORMATS", "Sheet", "SheetEntry", "markdown", "place_of", "sheet", "tex", "texed", "unshown"]
