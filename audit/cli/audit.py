"""`dpso audit`: run the checks of all statements and say what holds."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any, get_args

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from audit.checks import job, resolution, results
from audit.checks.framework import Check, CheckResult, Level
from audit.checks.scale import GRADES, Grade
from audit.report import PageExtras, compare, write_html
from audit.report.grades import GRADE_STYLES, GRADE_WORDS
from audit.report.model import paper_order
from audit.runtime.errors import InputError, one_line
from audit.runtime.interrupts import INTERRUPTED, interruptible
from audit.runtime.store import Store
from audit.trace import paper_copy

HELP = "check every statement of the paper and report what holds, how tightly, and what repairs it"
EXAMPLE = "dpso audit --level quick --only lem:oracle --out dpso-out"

SAVE_EVERY = 2.0
"""Seconds between two writes of report.json, for who looks at it while the run goes on."""

WEIGHTS: dict[Level, int] = {"quick": 1, "standard": 8, "deep": 200}
"""How long a check of a level takes, roughly and relatively: for the time left before any has been timed."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--level", choices=get_args(Level), default="quick", help="how long to look (default quick)")
    parser.add_argument("--only", metavar="ID", nargs="+", default=[], help="statements, errata or checks")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("dpso-out"),
        help="where report.json and report.html go (default dpso-out)",
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="the seed of the run (default 0)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", metavar="N", type=int, default=os.cpu_count() or 1, help="processes (default all)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:PORT, or local")
    parser.add_argument("--resume", action="store_true", help="continue the run in --out")
    parser.add_argument("--record", action="store_true", help="make these verdicts the recorded ones")
    parser.add_argument(
        "--paper", metavar="FILE.tex", type=Path, help="show your copy of the text beside each statement"
    )
    parser.add_argument("--compare", metavar="OLD.json", type=Path, help="say what changed since another report.json")
    parser.add_argument(
        "--resolution", action="store_true", help="measure and record how little each check would notice (minutes)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the main job; exit 0 if every verdict is the recorded one."""
    _check_options(args)
    checks = job.plan(args.level, args.only)
    if not checks:
        raise InputError(f"--level {args.level}: no check to run; try --level deep")
    if args.resolution:
        return _resolution(checks, args)
    report = job.new_report(args.level, args.seed, checks, args.only)
    old = compare.read(args.compare) if args.compare else None  # before the run, which may have its place
    copy = paper_copy.excerpts(results.inventory(), args.paper) if args.paper else {}
    with job.kept_in(args.out, report, args.resume) as store:
        return _run_in(store, checks, report, args, old, PageExtras(copy, _made()))


def _resolution(checks: list[Check], args: argparse.Namespace) -> int:
    """Measure what each check would notice, record it, and say it."""
    found = resolution.measure(checks, args.seed, lambda text: print(text, file=sys.stderr, flush=True))
    resolution.write_record({**resolution.read_record(), **found}, args.seed)
    for name in found:
        print(f"{name}: {resolution.words(name)}")
    return 0


def _made() -> str:
    """By what a page is made, when, and on what."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"dpso {metadata.version('dpso')}, {date.today().isoformat()}, {machine}"


def _run_in(
    store: Store,
    checks: list[Check],
    report: results.Report,
    args: argparse.Namespace,
    old: dict[str, Any] | None,
    extras: PageExtras,
) -> int:
    """Run the checks that the report lacks, keep report.json up to date, and conclude."""
    path = args.out / "report.json"
    console = Console(stderr=True)
    interrupted = False
    with interruptible():
        try:
            job.save(report, path)
            _run_with_progress(checks, report, args, store, console)
        except KeyboardInterrupt:
            interrupted = True
        except InputError:
            job.save(report, path)
            raise
        job.save(report, path)
        changed = None if old is None else compare.changes(old, report.to_json())
        page = write_html(report, path.with_name("report.html"), replace(extras, changed=changed))
        if interrupted:  # said in here, where pressing again is without effect
            console.print(
                f"interrupted: {len(report.results)} of {len(report.planned)} checks are in {one_line(str(path))};"
                " continue with --resume",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
    if interrupted:
        return INTERRUPTED
    return _conclude(report, args, [path, page], changed)


def _check_options(args: argparse.Namespace) -> None:
    if args.workers < 1:
        raise InputError(f"--workers {args.workers}: must be at least 1")
    if args.record and args.only:
        raise InputError("--record: only a run of all statements is recorded; drop --only")


def _conclude(
    report: results.Report, args: argparse.Namespace, files: list[Path], changed: list[compare.Change] | None
) -> int:
    """Print the outcome, record it if asked to, and say by the exit code whether it is the recorded one."""
    differences = [] if args.record else report.differences(results.read_record())
    if args.json:
        extra = {"differences": [vars(d) for d in differences]}
        since = {} if changed is None else {"changes": [change.to_json() for change in changed]}
        print(json.dumps(report.to_json() | extra | since, indent=1, allow_nan=False))
    else:
        _print_summary(report, differences, Console())
        if changed is not None:
            print(f"changed since {one_line(str(args.compare))}: {len(changed) or 'nothing'}")
            print("".join(f"  {one_line(str(change))}\n" for change in changed), end="")
        print("written: " + ", ".join(one_line(str(file)) for file in files))
    if args.record and not report.unexpected:
        results.write_record(report)
        print(f"recorded: {results.RECORD}", file=sys.stderr)
    return 1 if report.unexpected or differences else 0


# --------------------------------------------------------------------------------------------- progress


def _run_with_progress(
    checks: list[Check], report: results.Report, args: argparse.Namespace, store: Store, console: Console
) -> None:
    weights = {c.name: WEIGHTS[c.level] for c in checks}
    running: dict[str, str] = {}
    saved = time.monotonic()
    columns = (
        TextColumn("{task.fields[count]}"),
        BarColumn(bar_width=24),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[busy]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        behind = sum(weights[r.name] for r in report.results)
        task = progress.add_task("", total=sum(weights.values()), completed=behind, count="", busy="")

        def show(advance: int = 0) -> None:
            count = f"{len(report.results)}/{len(checks)} checks"
            progress.update(task, advance=advance, count=count, busy=one_line(" ".join(running.values()))[:32])

        def started(check: Check) -> None:
            running[check.name] = check.statement
            show()

        def done(result: CheckResult) -> None:
            nonlocal saved
            store.put(result.name, result.to_json())
            running.pop(result.name, None)
            show(weights[result.name])
            if time.monotonic() - saved > SAVE_EVERY:
                job.save(report, args.out / "report.json")
                saved = time.monotonic()

        job.run(checks, report, job.pool(args.workers, args.scheduler), done, started)


# ---------------------------------------------------------------------------------------------- summary


def verdict_table(rows: Iterable[tuple[str, int, str, Grade]], title: str | None = None) -> Table:
    """Statements, how many checks bear on each, and the verdicts in words."""
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("statement", overflow="fold", max_width=30)
    table.add_column("checks", justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for id, checks, text, grade in rows:
        table.add_row(Text(one_line(id)), str(checks), Text(one_line(text), style=GRADE_STYLES[grade]))
    return table


def tally_line(counts: Counter[Grade]) -> str:
    """The verdicts on the numbered statements, counted; nothing if none of these is there."""
    said = "; ".join(f"{counts[g]} {GRADE_WORDS[g]}" for g in GRADES if counts[g])
    return f"of {counts.total()} numbered statements: {said}" if said else ""


def _print_summary(report: results.Report, differences: list[results.Difference], console: Console) -> None:
    standings = report.standings()
    shown = [id for id, s in standings.items() if s.ran and len(results.held_by(id)) == 1]
    listed = [(id, standings[id]) for id in paper_order(shown, results.inventory())]
    rows = [(id, s.ran, s.text, s.verdict.grade) for id, s in listed]
    console.print(verdict_table(rows, f"dpso audit, level {report.level}, seed {report.seed}"))
    if said := tally_line(results.tally({id: s.verdict.grade for id, s in listed})):
        console.print(said, highlight=False)
    for result in report.unexpected:
        found = result.error or ("holds" if result.holds else "does not hold")
        _say(console, f"not as recorded: {result.name} ({result.statement}): {found}")
    for difference in differences:
        _say(
            console,
            f"not the recorded verdict: {difference.statement}: {difference.found}; recorded: {difference.recorded}",
        )
    seconds = sum(r.seconds for r in report.results)
    _say(
        console,
        f"{len(report.results)} checks in {seconds:.0f} s of computing, {len(report.unexpected)} not as recorded",
    )


def _say(console: Console, text: str) -> None:
    console.print(one_line(text), markup=False, highlight=False)
