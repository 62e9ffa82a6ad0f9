"""Write docs/conformance.md, which client agrees with which vectors, and how many slips these find.

`python -m docs.make_conformance [--check] [--slips]`

Every client of this repository is run on every vector file. With --check nothing is written: exit code 1 if a row that
can be run here differs from the page. A client whose toolchain is missing is named, and its rows stay as they are, as
do the counts of slips without --slips (a minute; `tests/audit/crosscheck/test_diagnose.py` compares them in every run).
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from audit.crosscheck.clients import Client, ExecClient, PythonClient
from audit.crosscheck.compare import CrosscheckReport, crosscheck
from reference import vectors
from reference.paper.algorithms import ALGORITHMS, EDITIONS, Algorithm

ROOT = Path(__file__).parent.parent
PAGE = Path(__file__).parent / "conformance.md"
PATIENCE = 60.0
"""Seconds that a client may take for a case."""
EVERY = tuple(algorithm.name for algorithm in ALGORITHMS)


@dataclass(frozen=True)
class Implementation:
    """A program of this repository that answers cases: where it is, what it needs, how it is started."""

    path: str
    language: str
    tool: str
    algorithms: tuple[str, ...]
    start: Callable[[Path, Path], Client]
    """From the file and a folder for what is compiled."""

    @property
    def missing(self) -> str:
        """The tool that is not at hand; "" if it is. One that cannot say its version (a link to nothing) is not."""
        return "" if not self.tool or _works(self.tool) else self.tool


@cache
def _works(tool: str) -> bool:
    return bool(shutil.which(tool)) and subprocess.run([tool, "--version"], capture_output=True).returncode == 0


def _python(name: str) -> Callable[[Path, Path], Client]:
    def start(path: Path, folder: Path) -> Client:
        spec = importlib.util.spec_from_file_location(f"conformance_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return PythonClient(getattr(module, name), path.stem, PATIENCE)

    return start


def _node(path: Path, folder: Path) -> Client:
    return ExecClient(shlex.join(["node", str(path)]), PATIENCE)


def _compiled(*command: str) -> Callable[[Path, Path], Client]:
    """`IN` and `OUT` stand for the source and the program."""

    def start(path: Path, folder: Path) -> Client:
        program = folder / path.stem
        words = [{"IN": str(path), "OUT": str(program)}.get(word, word) for word in command]
        subprocess.run(words, check=True, capture_output=True)
        return ExecClient(str(program), PATIENCE)

    return start


CLIENTS = (
    Implementation("reference/vectors/execute.py", "Python, the reference", "", EVERY, _python("float64")),
    Implementation("audit/engine/client.py", "Python, numpy", "", EVERY, _python("run")),
    Implementation("tests/helpers/spec_client.py", "Python", "", EVERY, _python("run")),
    Implementation("examples/crosscheck/all_six.js", "JavaScript", "node", EVERY, _node),
    Implementation(
        "examples/crosscheck/all_six.rs",
        "Rust",
        "rustc",
        EVERY,
        _compiled("rustc", "--edition", "2021", "-C", "opt-level=1", "-o", "OUT", "IN"),
    ),
    Implementation(
        "examples/crosscheck/oracle.c", "C", "cc", ("gll-oracle",), _compiled("cc", "-O2", "-o", "OUT", "IN", "-lm")
    ),
    Implementation("examples/crosscheck/frank_wolfe.js", "JavaScript", "node", ("noisy-frank-wolfe",), _node),
    Implementation("examples/crosscheck/estimator.py", "Python, numpy", "", ("phased-sgd",), _python("run")),
)

HEAD = """# Conformance: which client agrees with which test vectors

Each entry: cases that agree, of those offered ({version} of the vectors). "outputs": no trace was compared. A number in
brackets: so many quantities were not. Not offered (a loss, a set, a variant): not counted. Written by
`python -m docs.make_conformance`; the tests run every client whose toolchain is at hand and compare.

| client | language | algorithm | printed | corrected | tight |
|---|---|---|---|---|---|
"""

SLIPS = """
## How many slips the vectors find

Each slip is one change of a correct program: a constant, a sign, an index, a projection left out. It is run twice,
with its trace and with outputs alone; "declared unchecked" says that the outputs agree, and that the summary lists the
line of the slip as not compared. The catalogue changes the reference, and the vectors were chosen with it at hand; the
slips by hand are in the client of the specification, and were written afterwards. Written by
`python -m docs.make_conformance --slips`.

| slips | number | found with trace | at their line | found by outputs alone | else declared unchecked | neither |
|---|---|---|---|---|---|---|
"""


def slip_rows() -> list[str]:
    """The counts of slips, as they are measured now; from a checkout only."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    figures = importlib.import_module("mutants.figures")
    return [figures.row("catalogue", list(figures.catalogued())), figures.row("by hand", list(figures.by_hand()))]


def rows(client: Implementation) -> Iterator[str]:
    """The lines of the table, as they are measured now."""
    with tempfile.TemporaryDirectory() as folder, closing(client.start(ROOT / client.path, Path(folder))) as answering:
        for algorithm in (a for a in ALGORITHMS if a.name in client.algorithms):
            entries = " | ".join(_entry(answering, algorithm, variant) for variant in EDITIONS)
            yield f"| [{Path(client.path).name}](../{client.path}) | {client.language} | {algorithm.name} | {entries} |"


def _entry(client: Any, algorithm: Algorithm, variant: str) -> str:
    if variant not in algorithm.editions:
        return "–"
    verdicts = tuple(crosscheck(client, algorithm.label, variant))
    report = CrosscheckReport(algorithm.label, variant, client.name, verdicts)
    offered = len(verdicts) - report.skipped
    if not offered:
        return "–"
    told = f"{offered - len(report.failed)} of {offered}"
    due = {quantity for verdict in verdicts for quantity in verdict.due}
    if report.unchecked:
        told += " outputs" if len(report.unchecked) >= len(due) - 1 else f" [{len(report.unchecked)}]"
    return told


def page(measured: Mapping[str, list[str]], slips: list[str]) -> str:
    """The page, from the rows of each client and the counts of slips."""
    head = HEAD.format(version=f"version {vectors.VERSION}")
    table = "".join(f"{row}\n" for client in CLIENTS for row in measured[client.path])
    return head + table + SLIPS + "".join(f"{row}\n" for row in slips)


def written_slips() -> list[str]:
    """The counts of slips on the page."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return re.findall(r"^\| (?:catalogue|by hand) \| .*$", text, re.MULTILINE)


def written(client: Implementation) -> list[str]:
    """The rows of a client on the page."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return re.findall(rf"^\| \[[^\]]+\]\(\.\./{re.escape(client.path)}\) .*$", text, re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Write or compare."""
    measured = {}
    for client in CLIENTS:
        if client.missing:
            print(f"{client.path} is not run: no {client.missing} here", file=sys.stderr)
        measured[client.path] = written(client) if client.missing else list(rows(client))
    text = page(measured, slip_rows() if "--slips" in arguments else written_slips())
    if "--check" not in arguments:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text
    if stale:
        print("docs/conformance.md is stale: python -m docs.make_conformance", file=sys.stderr)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
