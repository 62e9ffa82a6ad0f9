"""A reader's copy of the paper against the inventory: what changed, what is new, what is missing."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audit.runtime.errors import InputError
from reference.paper.inventory import Equation, Inventory, PrintedTable, Statement
from reference.paper.tex import Piece, TexError, TexPaper, TexStatement, read, strip

LIMIT = 8_000_000
"""Bytes: no TeX source of one paper is larger."""


@dataclass(frozen=True)
class Comparison:
    """How a copy differs from the text that was checked."""

    found: int
    """Labels of the checked text that the copy has."""
    total: int
    """Labels of the checked text."""
    changed: list[str] = field(default_factory=list)
    """Statements, proofs, algorithms, equations, tables and sections whose text differs."""
    missing: list[str] = field(default_factory=list)
    unknown_labels: list[str] = field(default_factory=list)
    uncovered_lines: list[str] = field(default_factory=list)
    renumbered: list[str] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        """Whether nothing differs, comments and white space aside."""
        return not (self.changed or self.missing or self.unknown_labels or self.uncovered_lines or self.renumbered)

    @property
    def paragraphs(self) -> dict[str, list[str]]:
        """The differences by heading, empty ones left out."""
        all_of_them = {
            "changed": self.changed,
            "missing": self.missing,
            "unknown labels": self.unknown_labels,
            "uncovered algorithm lines": self.uncovered_lines,
            "other number": self.renumbered,
        }
        return {name: entries for name, entries in all_of_them.items() if entries}


def load_tex(path: Path) -> str:
    """The text of a TeX file; whatever cannot be one is refused."""
    try:
        info = path.stat()
        if not stat.S_ISREG(info.st_mode):
            raise InputError(f"--paper {path}: is no regular file: give the paper's TeX file")
        if info.st_size > LIMIT:
            raise InputError(f"--paper {path}: has {info.st_size} bytes, over {LIMIT}: give the paper's TeX file")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"--paper {path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InputError(f"--paper {path}: is not UTF-8 text: give the paper's TeX file") from None
    except ValueError as error:
        raise InputError(f"--paper {path}: cannot be read ({error})") from None
    if "\0" in text:
        raise InputError(f"--paper {path}: is a binary file: give the paper's TeX file")
    return text


def compare_file(inventory: Inventory, path: Path) -> Comparison:
    """Compare a reader's copy with the inventory; a file that is not this paper is refused."""
    try:
        paper = read(load_tex(path))
    except TexError as error:
        raise InputError(f"--paper {path}: cannot be read as TeX ({error})") from None
    comparison = compare(inventory, paper)
    if 2 * comparison.found < comparison.total:
        known = f"{comparison.found} of its {comparison.total} labels are there"
        raise InputError(f"--paper {path}: is not this paper (arXiv {inventory.paper.arxiv}): {known}")
    return comparison


def compare(inventory: Inventory, paper: TexPaper) -> Comparison:
    """Everything in which a read paper differs from the inventory."""
    labelled = _labels(inventory)
    result = Comparison(
        unknown_labels=[f"{label} (line {line})" for label, line in paper.labels.items() if label not in labelled],
        found=sum(label in paper.labels for label in labelled),
        total=len(labelled),
    )
    _compare_statements(inventory, paper, result)
    _compare_algorithms(inventory, paper, result)
    _compare_pieces(inventory.equations, paper.equations, result)
    _compare_pieces(inventory.tables, paper.tables, result)
    _compare_sections(inventory, paper, result)
    if result.identical and paper.text != inventory.paper.hash:
        result.changed.append("the preamble or the list of references")
    return result


def _labels(inventory: Inventory) -> set[str]:
    """Every label that the checked text has."""
    entries = {e.id for e in inventory.entries.values() if getattr(e, "label", True)}
    steps = {line.label for a in inventory.algorithms for line in a.lines if line.label}
    return entries | steps


# ------------------------------------------------------------------------------------------ piece by piece


def _compare_statements(inventory: Inventory, paper: TexPaper, result: Comparison) -> None:
    for statement in inventory.statements:
        copy = _copy_of(statement, paper.statements)
        if copy is None:
            result.missing.append(f"{statement.id} ({statement.name})")
            continue
        if copy.hash != statement.hash or copy.kind != statement.kind:
            result.changed.append(f"{statement.id} ({statement.name})")
        if copy.proof != statement.proof:
            result.changed.append(f"{statement.id}/proof ({statement.name})")
        if copy.number != str(statement.number):
            result.renumbered.append(f"{statement.id}: {statement.number} → {copy.number}")
    _report_new(result, paper.statements, len(inventory.statements), "statement")


def _copy_of(statement: Statement, copies: Sequence[TexStatement]) -> TexStatement | None:
    """The statement with this label; one without a label by its text, else by its number and kind."""
    if statement.label:
        return next((c for c in copies if c.label == statement.id), None)
    bare = [c for c in copies if not c.label]
    same = [c for c in bare if c.hash == statement.hash]
    near = [c for c in bare if c.number == str(statement.number) and c.kind == statement.kind]
    return next(iter(same + near), None)


def _report_new(result: Comparison, copies: Sequence[Piece], known: int, what: str) -> None:
    if len(copies) > known:
        result.changed.append(f"{len(copies) - known} more {what}s than the {known} of the inventory")


def _compare_algorithms(inventory: Inventory, paper: TexPaper, result: Comparison) -> None:
    copies = {copy.label: copy for copy in paper.algorithms}
    for algorithm in inventory.algorithms:
        copy = copies.get(algorithm.id)
        if copy is None:
            result.missing.append(f"{algorithm.id} ({algorithm.name})")
            continue
        for number, (line, other) in enumerate(zip(algorithm.lines, copy.lines, strict=False), start=1):
            if line.hash != other.hash:
                result.changed.append(f"{algorithm.id}:{number} (line {other.tex[0]})")
        for extra in copy.lines[len(algorithm.lines) :]:
            result.uncovered_lines.append(f"{algorithm.id}:{extra.number} (line {extra.tex[0]})")
        for number in range(len(copy.lines) + 1, len(algorithm.lines) + 1):
            result.missing.append(f"{algorithm.id}:{number}")
        if copy.hash != algorithm.hash:
            result.changed.append(f"{algorithm.id} ({algorithm.name})")
    for copy in paper.algorithms:
        if copy.label not in inventory.entries:
            result.uncovered_lines.extend(f"{copy.label or 'an algorithm'}:{line.number}" for line in copy.lines)


def _compare_pieces(entries: Sequence[Equation | PrintedTable], copies: Sequence[Piece], result: Comparison) -> None:
    by_label = {copy.label: copy for copy in copies}
    for entry in entries:
        copy = by_label.get(entry.id)
        if copy is None:
            result.missing.append(f"{entry.id} ({entry.name})")
            continue
        if copy.hash != entry.hash:
            result.changed.append(f"{entry.id} ({entry.name})")
        if copy.number != str(entry.number):
            result.renumbered.append(f"{entry.id}: {entry.number} → {copy.number}")


def _compare_sections(inventory: Inventory, paper: TexPaper, result: Comparison) -> None:
    """Name the innermost sections whose text differs, so that a change outside the statements shows too."""
    copies = {copy.number: copy for copy in paper.sections}
    differing = [s for s in inventory.sections if s.number not in copies or copies[s.number].hash != s.hash]
    for section in differing:
        if any(_is_inside(other.number, section.number) for other in differing):
            continue
        result.changed.append(f"{section.id} (text of {section.name})")


def _is_inside(inner: str, outer: str) -> bool:
    return inner.startswith(f"{outer}.") and bool(outer)


def text_lines(text: str) -> list[int]:
    """The numbers of the lines that say something: from the abstract on, blank lines and references aside."""
    found, inside = [], False
    for number, line in enumerate(strip(text).splitlines(), start=1):
        inside = inside or r"\begin{abstract}" in line
        if r"\bibliographystyle" in line or r"\end{document}" in line:
            inside = False
        if inside and line.strip():
            found.append(number)
        inside = inside or r"\appendix" in line
    return found


def unjudged(inventory: Inventory, text: str) -> list[int]:
    """The lines of the checked text that no line verdict covers."""
    judged = {n for line in inventory.lines for n in range(line.tex[0], line.tex[1] + 1)}
    return [n for n in text_lines(text) if n not in judged]


def ranges(numbers: Sequence[int]) -> str:
    """Numbers as ranges: 3–5, 8."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


def summary(comparison: Comparison, path: Path, without_verdict: Sequence[int]) -> Iterator[str]:
    """The comparison as lines of text; for the checked text also which of its lines have no verdict yet."""
    if comparison.identical:
        yield f"{path}: the text that was checked; {comparison.total} labels, 0 unknown; 0 uncovered algorithm lines"
        if without_verdict:
            yield f"lines without a verdict: {len(without_verdict)} ({ranges(without_verdict)})"
        return
    for heading, entries in comparison.paragraphs.items():
        yield f"{heading}: {len(entries)}"
        yield from (f"  {entry}" for entry in entries)


# ------------------------------------------------------------------------------------------------ excerpts


@dataclass(frozen=True)
class Excerpt:
    """What a reader's copy prints for one entry."""

    tex: tuple[int, int]
    text: str
    as_checked: bool
    """Whether it is the text that was checked, comments and white space aside."""


def excerpts(inventory: Inventory, path: Path) -> dict[str, Excerpt]:
    """What a reader's copy prints for each statement, algorithm, equation and table; the file is not kept."""
    compare_file(inventory, path)  # refuses what is not this paper
    text = load_tex(path)
    paper, lines = read(text), text.splitlines()
    pieces: tuple[Piece, ...] = (*paper.statements, *paper.algorithms, *paper.equations, *paper.tables)
    by_label = {piece.label: piece for piece in pieces if piece.label}
    found = {}
    for id, entry in inventory.entries.items():
        piece = _copy_of(entry, paper.statements) if isinstance(entry, Statement) else by_label.get(id)
        if piece is not None and hasattr(entry, "hash"):
            first, last = piece.tex
            own = "\n".join(lines[first - 1 : last])
            found[id] = Excerpt(piece.tex, own, piece.hash == entry.hash)
    return found
