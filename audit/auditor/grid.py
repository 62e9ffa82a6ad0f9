"""Hyper-parameters × neighbours at one error level.

    result = audit_grid(make, {"epsilon": [0.5, 1.0], "batch": [1, 4]}, neighbour_pairs())
    print(result)
    result.write_html("grid.html")

Every cell is an audit of its own at level α/m, m cells in all: with probability 1 − α no correct cell is called
violated and every lower bound holds (Bonferroni). The claim of a cell is `epsilon=`, `rho=`, `mu=` or `claim=`, or its
own parameter "epsilon", "rho" or "mu".
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from audit.auditor.api import audit_dp, quiet
from audit.auditor.search.pairs import NamedPair
from audit.auditor.terms.claim import SYMBOLS, Claim, claimed
from audit.auditor.terms.options import Budget, Code, Execution, GridKeywords, gathered
from audit.auditor.terms.result import AuditResult, Finding
from audit.runtime.markup import Html, tag
from audit.runtime.notebook import progress_line

GRID_SAMPLES = 500
"""Draws a side and cell, unless said: chosen for speed; a grid has many cells."""


@dataclass(frozen=True)
class Cell:
    """One audit of the grid: its hyper-parameters, the name of its pair, and its result."""

    parameters: dict[str, Any]
    pair: str
    result: AuditResult

    @property
    def text(self) -> str:
        """The bound with a mark, one for each verdict (`MARKS`); an asterisk for findings."""
        r = self.result
        star = "*" if noted(r) else ""
        if r.verdict == "error":
            return f"! error{star}"
        return f"{MARKS[r.verdict]} {r.lower:.2f}{star}"


MARKS = {"violated": "✗", "suspect": "?", "inconclusive": "~", "consistent": "·", "error": "!"}
WORST_FIRST = ("violated", "suspect", "inconclusive", "consistent", "error")

NOTES = frozenset({"global-state", "warns", "not-neighbours", "repeated-floats"})
"""Findings that are remarks, not suspicions."""


def noted(result: AuditResult) -> list[Finding]:
    """The findings that deserve a look."""
    return [f for f in result.findings if f.kind not in NOTES]


@dataclass
class GridResult:
    """All cells, at one error level. Prints as a matrix.

    Attributes:
        cells: the audits, row by row; each has `parameters`, `pair` (its name) and `result`, an `AuditResult`.
        confidence: of all cells together.
        seconds: how long it took.
        rows: the headings of the rows, one a combination of parameters.
        columns: the headings of the columns, the names of the pairs.

    >>> from dpso import audit_grid
    >>> def laplace(b):
    ...     return lambda data, size, rng: data[0] + rng.laplace(scale=b, size=size)
    >>> result = audit_grid(laplace, {"b": [0.2, 2.0]}, {"far": ([0.0], [1.0])}, epsilon=1.0, samples=2000)
    >>> result.verdict, result.rows, result.cell("b=2", "far").result.verdict
    ('violated', ['b=0.2', 'b=2'], 'consistent')
    """

    cells: list[Cell]
    confidence: float
    seconds: float
    rows: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The worst that a cell says; "error" only if no cell could be tested."""
        seen = {c.result.verdict for c in self.cells}
        return next(v for v in WORST_FIRST if v in seen)

    @property
    def violations(self) -> list[Cell]:
        """The cells that refute their claim."""
        return [c for c in self.cells if c.result.violated]

    @property
    def findings(self) -> list[tuple[Finding, int]]:
        """Each kind of finding once, with the number of cells that show it."""
        first: dict[str, Finding] = {}
        count: dict[str, int] = {}
        for cell in self.cells:
            for finding in cell.result.findings:
                first.setdefault(finding.kind, finding)
                count[finding.kind] = count.get(finding.kind, 0) + 1
        return [(first[k], count[k]) for k in first]

    def cell(self, row: str, column: str) -> Cell:
        """The cell at these headings."""
        return self.cells[self.rows.index(row) * len(self.columns) + self.columns.index(column)]

    def __str__(self) -> str:
        broken = len(self.violations)
        head = (
            f"{self.verdict.upper()}: {broken} of {len(self.cells)} cells refute their claim, at"
            f" {100 * self.confidence:g} % confidence for all cells together ({self.seconds:.2g} s)"
        )
        table = [["", *self.columns]]
        table += [[row, *(self.cell(row, column).text for column in self.columns)] for row in self.rows]
        widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
        lines = ["  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)).rstrip() for line in table]
        key = (
            "✗ violated, ? suspect, ~ inconclusive, · consistent, ! could not be tested; the number is the lower bound;"
            " * see the findings"
        )
        found = [f"  noticed in {count} cells: {finding}" for finding, count in self.findings]
        return "\n".join([head, *lines, key, *found])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        cells = [{"parameters": c.parameters, "pair": c.pair, "result": c.result.to_dict()} for c in self.cells]
        return {"verdict": self.verdict, "confidence": self.confidence, "seconds": self.seconds, "cells": cells}

    def _table(self) -> Html:
        """The heat map."""
        head = tag("tr", tag("th", ""), *(tag("th", c, scope="col") for c in self.columns))
        body = [
            tag("tr", tag("th", row, scope="row"), *(_heat(self.cell(row, column)) for column in self.columns))
            for row in self.rows
        ]
        return tag("table", head, *body, class_="dp-grid")

    def _repr_html_(self) -> str:
        """In a notebook: the verdict and the heat map."""
        return f"{tag('style', Html(_CELLS))}{tag('p', str(self).splitlines()[0])}{self._table()}"

    def to_html(self) -> str:
        """A page with a heat map: the redder a cell, the further its bound is above its claim."""
        found = [tag("li", f"{finding} (in {count} cells)") for finding, count in self.findings]
        page = tag(
            "html",
            tag("head", tag("meta", charset="utf-8"), tag("title", "DP audit grid"), tag("style", Html(_STYLE))),
            tag(
                "body",
                tag("h1", "DP audit grid"),
                tag("p", str(self).splitlines()[0]),
                self._table(),
                tag("p", "The number is the lower bound, in the currency of its claim; the colour compares the two."),
                tag("ul", *found) if found else "",
            ),
            lang="en",
        )
        return f"<!doctype html>\n{page}\n"

    def write_html(self, path: str | Path) -> None:
        """Write the heat map."""
        Path(path).write_text(self.to_html(), encoding="utf-8")


_CELLS = (
    ".dp-grid{border-collapse:collapse}.dp-grid th{font-weight:600;text-align:left;padding:.3rem .6rem}"
    ".dp-grid td{padding:.3rem .6rem;text-align:right;border:1px solid #fff;font-variant-numeric:tabular-nums;"
    "color:#111}.dp-grid td.error{background:#ccc}.dp-grid td.violated{font-weight:700}"
)
_STYLE = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;max-width:70rem}" + _CELLS


def _heat(cell: Cell) -> Html:
    """A coloured cell: white at 0, yellow at the claim, red at three times the claim and above."""
    r = cell.result
    title = str(r)
    if r.verdict == "error":
        return tag("td", cell.text, class_="error", title=title)
    ratio = min(3.0, max(0.0, r.lower) / max(r.claim.number, 1e-9))
    low, high, share = (
        ((255, 255, 255), (255, 240, 150), ratio) if ratio <= 1 else ((255, 240, 150), (230, 70, 50), (ratio - 1) / 2)
    )
    colour = ",".join(str(round(a + share * (b - a))) for a, b in zip(low, high, strict=True))
    return tag("td", cell.text, class_=r.verdict, title=title, style=f"background:rgb({colour})")


def audit_grid(
    make: Callable[..., Any],
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    pairs: Sequence[Any] | Mapping[str, tuple[Any, Any]],
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    mu: float | None = None,
    claim: Claim | Callable[..., Claim] | None = None,
    neighbours: str | None = None,
    budget: Budget | None = None,
    code: Code | None = None,
    execution: Execution | None = None,
    **keywords: Unpack[GridKeywords],
) -> GridResult:
    """Audit `make(**parameters)` for every combination of hyper-parameters and every pair, at one error level.

    Args:
        make: a function of the hyper-parameters that returns a mechanism.
        grid: maps each parameter to its values (all combinations are tried), or lists the combinations.
        pairs: `NamedPair`s (see `neighbour_pairs`), (dataset, neighbour) tuples, or a dict of named ones.
        epsilon: the ε that every cell claims; without it, the parameter "epsilon" of the cell.
        delta: the δ that every cell claims.
        rho: the ρ of zCDP that every cell claims instead; without it, the parameter "rho" of the cell.
        mu: the μ of Gaussian DP that every cell claims instead; without it, the parameter "mu".
        claim: any claim instead, or a function that makes one of the cell's parameters, as `make` is one.
        neighbours: how the datasets of a pair should differ; without it, as each pair says of itself.
        budget: as for `audit_dp`; samples (500 unless said) counts draws a side and cell, seconds are shared by all
            cells, and confidence holds for all cells together.
        code: as for `audit_dp`.
        execution: as for `audit_dp`; each cell has a seed of its own and, under `out`, a folder of its own.
        **keywords: each field of the three may be given as a keyword of its own: `samples=1000`, `seed=1`.

    Returns:
        A `GridResult`, which prints as a matrix.

    Raises:
        ValueError: an argument is not what it should be; the message names it, the condition and the remedy.
        TypeError: a keyword is unknown.

    >>> def laplace(epsilon, clip):
    ...     return lambda data, size, rng: min(data[0], clip) + rng.laplace(scale=1 / epsilon, size=size)
    >>> result = audit_grid(laplace, {"epsilon": [0.5, 1.0], "clip": [1, 9]}, [([0.0], [9.0])], samples=2000)
    >>> result.verdict, [cell.parameters for cell in result.violations]
    ('violated', [{'epsilon': 0.5, 'clip': 9}, {'epsilon': 1.0, 'clip': 9}])
    """
    started = time.monotonic()
    options = gathered("audit_grid", budget, code, execution, keywords, ("make", "grid", "pairs", "neighbours"))
    spend, where = options.budget, options.execution
    combinations, named = _combinations(grid), _named(pairs)
    claims = [_claim(parameters, claim, epsilon, delta, rho, mu) for parameters in combinations]
    if not 0 < spend.confidence < 1:
        raise ValueError(f"confidence = {spend.confidence!r} must be strictly between 0 and 1, e.g. 0.95")
    total = len(combinations) * len(named)
    share = replace(
        spend,
        samples=GRID_SAMPLES if spend.samples is None and spend.seconds is None else spend.samples,
        seconds=None if spend.seconds is None else spend.seconds / total,
        confidence=1 - (1 - spend.confidence) / total,
    )
    line = None if where.progress is not None else progress_line()
    say = where.progress or line or quiet
    cells = []
    cases = itertools.product(zip(combinations, claims, strict=True), named)
    for number, ((parameters, made), pair) in enumerate(cases):
        result = audit_dp(
            make(**parameters),
            pair.dataset,
            pair.neighbour,
            claim=made,
            neighbours=pair.relation if neighbours is None else neighbours,
            budget=share,
            code=options.code,
            execution=_of_cell(where, number),
        )
        cells.append(Cell(parameters, pair.name, result))
        say(f"{number + 1} of {total}: {_row(parameters)} | {pair.name}: {cells[-1].text}")
    if line is not None:
        line("")
    rows, columns = [_row(p) for p in combinations], [p.name for p in named]
    return GridResult(cells, spend.confidence, time.monotonic() - started, rows, columns)


def _of_cell(where: Execution, number: int) -> Execution:
    """Where one cell runs: on a seed and in a folder of its own, its progress told by the grid alone."""
    return replace(
        where,
        seed=None if where.seed is None else where.seed + number,
        out=None if where.out is None else Path(where.out) / f"cell-{number}",
        progress=quiet,
    )


def _combinations(grid: Any) -> list[dict[str, Any]]:
    if isinstance(grid, Mapping):
        values = [list(v) if isinstance(v, Sequence) and not isinstance(v, str) else [v] for v in grid.values()]
        out = [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*values)]
    else:
        out = [dict(p) for p in grid]
    if not out:
        raise ValueError(f"grid = {grid!r} has no combinations: give each parameter at least one value")
    return out


def _named(pairs: Any) -> list[NamedPair]:
    if isinstance(pairs, Mapping):
        out = [NamedPair(str(k), *v) for k, v in pairs.items()]
    else:
        out = [p if isinstance(p, NamedPair) else NamedPair(f"pair {i}", *p) for i, p in enumerate(pairs)]
    if not out:
        raise ValueError("pairs = [] must hold at least one pair")
    if len({p.name for p in out}) < len(out):
        raise ValueError(f"pairs = {[p.name for p in out]} must have different names")
    return out


def _claim(
    parameters: dict[str, Any],
    claim: Claim | Callable[..., Claim] | None,
    epsilon: float | None,
    delta: float,
    rho: float | None,
    mu: float | None,
) -> Claim:
    """What a cell claims: what is said for all, or its own parameter."""
    if all(said is None for said in (claim, epsilon, rho, mu)):
        own = [name for name in SYMBOLS if parameters.get(name) is not None]
        if not own:
            raise ValueError(
                'epsilon = None: say what is claimed with epsilon=, rho=, mu= or claim=, or make "epsilon" one of the'
                " parameters of the grid"
            )
        epsilon, rho, mu = (parameters.get(name) for name in SYMBOLS)
    made: Any = claim
    if callable(made) and not isinstance(made, type):
        made = made(**parameters)
    return claimed(made, epsilon, delta, rho, mu)


def _row(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in parameters.items()) or "default"
