"""The inventory: what the paper states (`paper.toml`), what is wrong in it (`errata.toml`), what each line is worth.

Three kinds of file, one loader. `load()` reads and validates all of them: unknown ids, unknown fields, missing
fields, broken numbering, circular uses, a line verdict without a check are refused with one `InventoryError` that
names the file, the entry and the condition. Everything is an immutable record; what code and tests add (links,
checks, verdicts) lives in `audit.trace`.

An id names a section, statement, algorithm, equation or table of the paper by its TeX label. `Alg:gll_oracle:6` is
line 6 of that algorithm, `table:results:2` a row of the table, and whatever follows a slash
(`sec:Preliminaries/dual-norm`) is a place inside the thing before it.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

HERE = Path(__file__).parent
PAPER, ERRATA, LINES = HERE / "paper.toml", HERE / "errata.toml", HERE / "lines"

SEVERITIES = ("privacy", "rate", "accuracy", "edge", "proof", "condition", "misprint", "loose")
"""How grave an erratum is, gravest first; the head of `errata.toml` says what each means."""
FALSE = SEVERITIES[:3]
"""A printed statement or algorithm is false: what it promises about privacy, its rate, or anything else."""
FALSIFYING = SEVERITIES[:4]
"""The severities of which some statement is false, be it at an edge only."""
PROOF = "/proof"
"""How the place inside a statement that is its proof is named."""
COST_KINDS = ("free", "free in range", "paid")
"""What the correction of an erratum costs: nothing; nothing in a range that `cost` states; something."""
LINE_VERDICTS = (
    "prose", "definition", "cited", "searched", "holds", "loose", "misprint", "conditional", "unproved", "edge", "false"
)  # fmt: skip
"""What a stretch of the text can be worth: the words of the verdicts on statements (`audit.checks.framework`), and two
for where nothing is claimed. The later one prevails.
"""
UNCHECKED = LINE_VERDICTS[:3]
"""Line verdicts that need no check: nothing is claimed, or the claim is somebody else's."""
DERIVED = ("misprint", "unproved", "edge", "false")
"""Line verdicts that no file gives: they follow from the errata that the line names."""

Lines: TypeAlias = tuple[int, int]


class InventoryError(ValueError):
    """A file of the inventory breaks its own rules."""


@dataclass(frozen=True)
class Paper:
    """The file that was checked."""

    title: str
    authors: tuple[str, ...]
    arxiv: str
    tex_lines: int
    sha256: str
    hash: str
    page_starts: tuple[int, ...] = ()
    """The first TeX line of each page, as pdfLaTeX sets the file; empty if that is not known."""

    def page(self, line: int) -> int:
        """The page on which a line of the TeX file is set; 0 if that is not known."""
        return bisect_right(self.page_starts, line)


@dataclass(frozen=True)
class Section:
    """A heading; `label` is False where the id is ours."""

    id: str
    number: str
    title: str
    tex: Lines
    hash: str
    label: bool = True

    @property
    def name(self) -> str:
        """What the paper calls it: "Section 3.1", "Appendix B.2"; parts without a number go by their title."""
        if self.number in ("", "0"):
            return self.title
        return f"{'Appendix' if self.number[0].isalpha() else 'Section'} {self.number}"


@dataclass(frozen=True)
class Statement:
    """A theorem, lemma, proposition, corollary, definition or remark on the common counter."""

    id: str
    kind: str
    number: int
    section: str
    title: str
    uses: tuple[str, ...]
    tex: Lines
    hash: str
    proof: str = ""
    """The hash of the proof; empty where the paper gives none."""
    cited: bool = False
    """Whether the paper takes it from elsewhere."""
    label: bool = True

    @property
    def name(self) -> str:
        """What the paper prints: "Lemma 5"."""
        return f"{self.kind.capitalize()} {self.number}"


@dataclass(frozen=True)
class AlgorithmLine:
    """A numbered line of an algorithm, in our words."""

    about: str
    tex: Lines
    hash: str
    label: str = ""


@dataclass(frozen=True)
class PrintedAlgorithm:
    """An algorithm and its numbered lines."""

    id: str
    number: int
    section: str
    title: str
    uses: tuple[str, ...]
    tex: Lines
    hash: str
    lines: tuple[AlgorithmLine, ...]

    @property
    def name(self) -> str:
        """What the paper prints: "Algorithm 1"."""
        return f"Algorithm {self.number}"


@dataclass(frozen=True)
class Equation:
    """A labelled display; `inside` is the statement or algorithm that holds it."""

    id: str
    number: int
    section: str
    title: str
    tex: Lines
    hash: str
    inside: str = ""
    uses: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the paper prints: "(16)"."""
        return f"({self.number})"


@dataclass(frozen=True)
class Row:
    """A row of a table and the statement that the paper names for it."""

    about: str
    cites: str


@dataclass(frozen=True)
class PrintedTable:
    """A table and its rows."""

    id: str
    number: int
    section: str
    title: str
    tex: Lines
    hash: str
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """What the paper prints: "Table 1"."""
        return f"Table {self.number}"


@dataclass(frozen=True)
class OwnStatement:
    """A statement of ours, proved in the code, that stands beside something which the paper only cites.

    The paper does not make it: it has no number and no hash, and no verdict on it is one on the paper. `tex` is where
    what it stands beside is.
    """

    id: str
    beside: str
    section: str
    name: str
    title: str
    proof: str
    """The file whose docstring proves it."""
    uses: tuple[str, ...]
    tex: Lines
    label: bool = False


@dataclass(frozen=True)
class Erratum:
    """A defect of the printed text and its correction."""

    id: str
    title: str
    where: tuple[str, ...]
    lines: tuple[int, ...]
    tex: Lines
    severity: str
    printed: str
    corrected: str
    cost: str
    cost_kind: str
    affects: str
    regime: str = ""
    """Where a false statement is false, or the condition that is left out."""
    stated: str = ""
    """Where the paper itself states the condition, or has it right; empty if it does not."""
    falsifies: tuple[str, ...] = ()
    """The places, of those in `where`, that are false as printed."""

    @property
    def home(self) -> str:
        """The place under which its counterexample is filed: the first that is false, or else the first it names."""
        return (self.falsifies or self.where)[0]

    def lines_of(self, algorithm: str) -> tuple[int, ...]:
        """The numbered lines of an algorithm that it concerns.

        `lines` counts for every algorithm named in `where`; one that is named by its lines (`alg:nSFW:10`) has these.
        """
        named = [place.rpartition(":") for place in self.where]
        own = tuple(int(number) for owner, _, number in named if owner == algorithm and number.isdecimal())
        return own or (self.lines if algorithm in self.where else ())


def erratum_order(id: str) -> tuple[str, int]:
    """The order in which errata are listed, by id: E4.6 comes before E4.10."""
    section, _, number = id.partition(".")
    return section, int(number) if number.isdecimal() else 0


@dataclass(frozen=True)
class Line:
    """What a stretch of the paper's text is worth, and by which checks."""

    id: str
    tex: Lines
    about: str
    verdict: str = ""
    """In a file: what it is worth once the errata that it names are corrected. As loaded: what it is worth."""
    check: tuple[str, ...] = ()
    tight: str = ""
    note: str = ""
    file: str = ""

    @property
    def owner(self) -> str:
        """The statement, algorithm, section or equation that the line belongs to."""
        return self.id.partition("/")[0]


def line_verdict(line: Line, errata: Mapping[str, Erratum]) -> str:
    """What a line is worth: what its file says of it, and what follows from the errata that it names in `check`.

    An erratum of which a statement is false makes false (or false at the edge) the lines that it is about, and those of
    the statements that it falsifies; a step of a proof that names it does not hold as printed; a line elsewhere holds
    if it is corrected. The gravest word prevails.
    """
    named = [errata[id] for id in line.check if id in errata]
    words = [line.verdict or "holds", *(_bears(erratum, line) for erratum in named)]
    return max(words, key=LINE_VERDICTS.index)


def _bears(erratum: Erratum, line: Line) -> str:
    """What an erratum makes of a line that names it."""
    if erratum.severity not in FALSIFYING:
        return {"proof": "unproved", "condition": "conditional"}.get(erratum.severity, erratum.severity)
    if PROOF in line.id:
        return "unproved"
    here = line.tex[0] <= erratum.tex[1] and erratum.tex[0] <= line.tex[1]
    if not here and line.owner not in erratum.falsifies:
        return "conditional"
    return "edge" if erratum.severity == "edge" else "false"


Numbered: TypeAlias = Statement | PrintedAlgorithm | Equation | PrintedTable
Entry: TypeAlias = Section | Statement | PrintedAlgorithm | Equation | PrintedTable | OwnStatement
_T = TypeVar("_T")


@dataclass(frozen=True)
class Inventory:
    """Everything the files hold."""

    paper: Paper
    sections: tuple[Section, ...]
    statements: tuple[Statement, ...]
    algorithms: tuple[PrintedAlgorithm, ...]
    equations: tuple[Equation, ...]
    tables: tuple[PrintedTable, ...]
    own: tuple[OwnStatement, ...] = ()
    """What we state ourselves."""
    errata: tuple[Erratum, ...] = ()
    lines: tuple[Line, ...] = ()
    entries: Mapping[str, Entry] = field(init=False, repr=False, compare=False)
    """Everything that has an id, by id, in the paper's order of kinds."""
    _errata: Mapping[str, Erratum] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index the entries; an id that is used twice is refused."""
        groups: tuple[tuple[Entry, ...], ...]
        groups = (self.sections, self.statements, self.algorithms, self.equations, self.tables, self.own)
        index: dict[str, Entry] = {}
        for entry in (e for group in groups for e in group):
            _require(entry.id not in index, "paper.toml", entry.id, "is there twice: an id names one thing")
            index[entry.id] = entry
        object.__setattr__(self, "entries", index)
        object.__setattr__(self, "_errata", {erratum.id: erratum for erratum in self.errata})

    def find(self, id: str) -> Entry | None:
        """What an id names: the entry, or the entry that holds the line, row or place it points to."""
        head = id.partition("/")[0]
        if head in self.entries:
            return self.entries[head]
        owner, _, number = head.rpartition(":")
        entry = self.entries.get(owner)
        parts: tuple[object, ...] = ()
        if isinstance(entry, PrintedAlgorithm):
            parts = entry.lines
        elif isinstance(entry, PrintedTable):
            parts = entry.rows
        is_part = re.fullmatch(r"[1-9]\d{0,3}", number) is not None and int(number) <= len(parts)
        return entry if is_part else None

    def places_of(self, id: str) -> tuple[str, ...]:
        """An id, and the statement, algorithm or table that it is a place of, if it is one."""
        entry = self.find(id)
        return (id,) if entry is None or entry.id == id else (id, entry.id)

    def erratum(self, id: str) -> Erratum | None:
        """The erratum of this id."""
        return self._errata.get(id)

    def uses(self, id: str) -> tuple[str, ...]:
        """What an entry uses."""
        return getattr(self.entries[id], "uses", ())

    def used_by(self, id: str) -> tuple[str, ...]:
        """Which entries use this one."""
        return tuple(other for other in self.entries if id in self.uses(other))

    def errata_of(self, id: str) -> tuple[Erratum, ...]:
        """The errata that concern an entry or a place inside it."""
        return tuple(e for e in self.errata if any(self._owner(place) == id for place in e.where))

    def _owner(self, place: str) -> str:
        entry = self.find(place)
        return entry.id if entry else ""

    def line_entries(self, first: int, last: int) -> tuple[Line, ...]:
        """The line verdicts that touch these lines of the TeX file."""
        return tuple(line for line in self.lines if line.tex[0] <= last and first <= line.tex[1])


# --------------------------------------------------------------------------------------------- reading


@lru_cache(maxsize=1)
def load() -> Inventory:
    """The project's inventory, validated."""
    return read(PAPER, ERRATA, sorted(LINES.glob("*.toml")))


def read(paper: Path, errata: Path, lines: Iterable[Path] = ()) -> Inventory:
    """Read and validate an inventory from its files."""
    data = _toml(paper, ("paper", "section", "statement", "algorithm", "equation", "table", "own"))
    known = _errata(errata)
    by_id = {erratum.id: erratum for erratum in known}
    inventory = Inventory(
        paper=_record(Paper, data.get("paper", {}), paper.name),
        sections=_records(Section, data, "section", paper.name),
        statements=_records(Statement, data, "statement", paper.name),
        algorithms=_records(PrintedAlgorithm, data, "algorithm", paper.name),
        equations=_records(Equation, data, "equation", paper.name),
        tables=_records(PrintedTable, data, "table", paper.name),
        own=_records(OwnStatement, data, "own", paper.name),
        errata=known,
        lines=tuple(line for path in lines for line in _lines(path, by_id)),
    )
    _validate(inventory)
    return inventory


def _errata(path: Path) -> tuple[Erratum, ...]:
    found = _records(Erratum, _toml(path, ("erratum",)), "erratum", path.name)
    return tuple(sorted(found, key=lambda erratum: erratum_order(erratum.id)))


def _lines(path: Path, errata: Mapping[str, Erratum]) -> Iterator[Line]:
    for entry in _toml(path, ("line",)).get("line", ()):
        line = _record(Line, {**entry, "file": path.name}, path.name)
        _check_base(line, errata)
        yield replace(line, verdict=line_verdict(line, errata))


def _check_base(line: Line, errata: Mapping[str, Erratum]) -> None:
    """The verdict that a file gives is one that a file may give, and is not left open where nothing decides it."""
    allowed = [word for word in LINE_VERDICTS if word not in DERIVED]
    problem = f"has verdict {line.verdict!r}, which only an erratum gives: name it in check, and leave the verdict out"
    _require(line.verdict not in DERIVED, line.file, line.id, problem)
    problem = f"has verdict {line.verdict!r}, it must be one of {', '.join(allowed)}"
    _require(line.verdict in ("", *allowed), line.file, line.id, problem)
    decided = bool(line.verdict) or any(id in errata for id in line.check)
    _require(decided, line.file, line.id, "has no verdict, and names no erratum that gives one")
    known = line.verdict != "conditional" or line.note
    _require(bool(known), line.file, line.id, "is conditional: say in a note under which condition")


def _toml(path: Path, known: tuple[str, ...]) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InventoryError(f"{path.name}: {error}") from None
    unknown = sorted(set(data) - set(known))
    _require(not unknown, path.name, ", ".join(unknown), f"is no table of this file: it has {', '.join(known)}")
    return data


def _records(kind: type[_T], data: Mapping[str, Any], name: str, file: str) -> tuple[_T, ...]:
    return tuple(_record(kind, entry, file) for entry in data.get(name, ()))


_NESTED: dict[str, dict[str, type]] = {"PrintedAlgorithm": {"lines": AlgorithmLine}, "PrintedTable": {"rows": Row}}


def _record(kind: type[_T], entry: Mapping[str, Any], file: str) -> _T:
    """A dataclass from a TOML table: every field known, every required one there, each of its type."""
    title = str(entry.get("id", entry.get("about", kind.__name__)))
    known = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    for name in entry:
        _require(name in known, file, title, f"has an unknown field {name!r}: known are {', '.join(known)}")
    for name, spec in known.items():
        optional = spec.default is not MISSING or not spec.init
        _require(optional or name in entry, file, title, f"lacks the field {name!r}")
    values = {}
    for name, value in entry.items():
        part = _NESTED.get(kind.__name__, {}).get(name)
        values[name] = (
            tuple(_record(part, v, file) for v in value)
            if part
            else _typed(value, str(known[name].type), file, f"{title}.{name}")
        )
    return kind(**values)


_CHECKS: dict[str, Callable[[Any], bool]] = {
    "str": lambda v: isinstance(v, str),
    "bool": lambda v: isinstance(v, bool),
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "tuple[str, ...]": lambda v: isinstance(v, list) and all(isinstance(x, str) for x in v),
    "tuple[int, ...]": lambda v: isinstance(v, list) and all(isinstance(x, int) for x in v),
    "Lines": lambda v: isinstance(v, list) and len(v) == 2 and all(isinstance(x, int) for x in v),
}


def _typed(value: Any, kind: str, file: str, name: str) -> Any:
    _require(_CHECKS[kind](value), file, name, f"is {value!r}, it must be of type {kind}")
    return tuple(value) if isinstance(value, list) else value


# ------------------------------------------------------------------------------------------ validation


def _require(ok: bool, file: str, name: str, problem: str) -> None:
    if not ok:
        raise InventoryError(f"{file}: {name} {problem}")


def _validate(inventory: Inventory) -> None:
    _check_numbering(inventory)
    _check_uses(inventory)
    _check_places(inventory)
    _check_errata(inventory)
    _check_lines(inventory)


def _check_numbering(inventory: Inventory) -> None:
    """Counters run from 1 without gaps, in the order of the text; sections exist; hashes are hashes."""
    groups: list[Sequence[Numbered]]
    groups = [inventory.statements, inventory.algorithms, inventory.equations, inventory.tables]
    sections = {s.number for s in inventory.sections}
    for group in groups:
        for expected, entry in enumerate(group, start=1):
            _require(entry.number == expected, "paper.toml", entry.id, f"is number {entry.number}, not {expected}")
            _require(entry.section in sections, "paper.toml", entry.id, f"is in no section {entry.section!r}")
        starts = [numbered.tex[0] for numbered in group]
        _require(starts == sorted(starts), "paper.toml", "entries", "must come in the order of the text")
    for any_entry in inventory.entries.values():
        if isinstance(any_entry, OwnStatement):
            _check_own(inventory, any_entry)
            continue
        ok = re.fullmatch(r"[0-9a-f]{16}", any_entry.hash) is not None
        problem = f"has hash {any_entry.hash!r}, it must be 16 hexadecimal digits"
        _require(ok, "paper.toml", any_entry.id, problem)


def _check_own(inventory: Inventory, own: OwnStatement) -> None:
    """A statement of ours is recognised by its id, and stands where what it stands beside stands."""
    _require(own.id.startswith("own:"), "paper.toml", own.id, "is a statement of ours: its id must begin with own:")
    known = inventory.entries.get(own.beside)
    _require(known is not None, "paper.toml", own.id, f"stands beside {own.beside!r}, which is no entry")
    _require(known is not None and known.tex == own.tex, "paper.toml", own.id, f"must have the tex of {own.beside}")


def _check_uses(inventory: Inventory) -> None:
    """What is used exists, and nothing depends on itself, however indirectly."""
    done: set[str] = set()

    def visit(id: str, path: tuple[str, ...]) -> None:
        _require(id not in path, "paper.toml", id, f"depends on itself: {' → '.join([*path, id])}")
        if id in done:
            return
        for other in inventory.uses(id):
            _require(other in inventory.entries, "paper.toml", id, f"uses {other!r}, which is no entry")
            visit(other, (*path, id))
        done.add(id)

    for id in inventory.entries:
        visit(id, ())


def _check_places(inventory: Inventory) -> None:
    """Line ranges lie in the file; references from equations and rows exist."""
    last = inventory.paper.tex_lines
    located: list[tuple[str, str, Lines]] = [("paper.toml", e.id, e.tex) for e in inventory.entries.values()]
    located += [("errata.toml", e.id, e.tex) for e in inventory.errata]
    located += [(line.file, line.id, line.tex) for line in inventory.lines]
    for file, id, (start, end) in located:
        _require(1 <= start <= end <= last, file, id, f"has tex = [{start}, {end}]: the file has {last} lines")
    for equation in inventory.equations:
        known = not equation.inside or equation.inside in inventory.entries
        _require(known, "paper.toml", equation.id, f"is inside {equation.inside!r}, which is no entry")
    for table in inventory.tables:
        for row in table.rows:
            _require(row.cites in inventory.entries, "paper.toml", table.id, f"cites {row.cites!r}: no entry")


def _check_errata(inventory: Inventory) -> None:
    seen: set[str] = set()
    for erratum in inventory.errata:
        ok = re.fullmatch(r"E[1-5B]\.[1-9]\d*", erratum.id) is not None
        _require(ok, "errata.toml", erratum.id, "is no id: E, section 1 to 5 or B, a dot, a number")
        _require(erratum.id not in seen, "errata.toml", erratum.id, "is there twice")
        seen.add(erratum.id)
        allowed = f"must be one of {', '.join(SEVERITIES)}"
        _require(erratum.severity in SEVERITIES, "errata.toml", erratum.id, f"severity {allowed}")
        allowed = f"must be one of {', '.join(COST_KINDS)}"
        _require(erratum.cost_kind in COST_KINDS, "errata.toml", erratum.id, f"cost_kind {allowed}")
        _require(bool(erratum.where), "errata.toml", erratum.id, "must say where it is")
        for place in erratum.where:
            _require(inventory.find(place) is not None, "errata.toml", erratum.id, f"is at unknown {place!r}")
        _check_severity(erratum)
        _check_erratum_lines(inventory, erratum)


def _check_severity(erratum: Erratum) -> None:
    """The fields that a severity asks for are there, and those that it has no use for are not."""

    def require(ok: bool, problem: str) -> None:
        _require(ok, "errata.toml", erratum.id, f"is of severity {erratum.severity}: {problem}")

    if erratum.severity in FALSIFYING:
        require(bool(erratum.falsifies), "falsifies must name what is false")
    else:
        require(not erratum.falsifies, f"falsifies must be empty, it is {', '.join(erratum.falsifies)}")
    strangers = [place for place in erratum.falsifies if place not in erratum.where]
    require(not strangers, f"falsifies names {', '.join(strangers)}, which where does not")
    asked = erratum.severity in (*FALSIFYING, "condition")
    require(bool(erratum.regime) == asked, "regime must say where, or under which condition" if asked else "no regime")
    may = erratum.severity in ("condition", "misprint") or not erratum.stated
    require(may, "stated is for a condition or a misprint")


def _check_erratum_lines(inventory: Inventory, erratum: Erratum) -> None:
    """Line numbers need an algorithm that has them."""
    found = [inventory.find(place) for place in erratum.where]
    counts = [len(a.lines) for a in found if isinstance(a, PrintedAlgorithm)]
    for number in erratum.lines:
        ok = any(1 <= number <= count for count in counts)
        _require(ok, "errata.toml", erratum.id, f"names line {number}, which no algorithm it names has")


def _check_lines(inventory: Inventory) -> None:
    seen: set[str] = set()
    for line in inventory.lines:
        _require(line.id not in seen, line.file, line.id, "is there twice")
        seen.add(line.id)
        _require(inventory.find(line.id) is not None, line.file, line.id, "belongs to no entry of paper.toml")
        _require(bool(line.check) or line.verdict in UNCHECKED, line.file, line.id, "claims a verdict without check")
        known = line.tight or line.note or line.verdict != "loose" or any(inventory.erratum(id) for id in line.check)
        _require(bool(known), line.file, line.id, "is loose: give the tight constant, or say in a note why not")
