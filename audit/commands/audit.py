"""`dpso audit`: run the checks of all statements and say what holds."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from audit import run as job
from audit.errors import InputError
from audit.statements.framework import Check, Level, Result, by_statement, verdict

HELP = "check every statement of the paper and report what holds, how tightly, and what repairs it"
EXAMPLE = "dpso audit --level quick --only lem:oracle --out dpso-out"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--level", choices=get_args(Level), default="quick", help="how long to look (default quick)")
    parser.add_argument("--only", metavar="ID", nargs="+", default=[], help="statements, errata or checks")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path("dpso-out"), help="where report.json goes")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="the seed of the run (default 0)")
    parser.add_argument("--workers", metavar="N", type=int, default=os.cpu_count() or 1, help="processes (default all)")
    parser.add_argument("--resume", action="store_true", help="continue the run in --out")


def run(args: argparse.Namespace) -> int:
    """Run the main job; exit 0 if every verdict is the recorded one."""
    if args.workers < 1:
        raise InputError(f"--workers {args.workers}: must be at least 1")
    checks = job.plan(args.level, args.only)
    if not checks:
        raise InputError(f"--level {args.level}: no check to run; try --level deep")
    path = job.report_path(args.out)
    names = [c.name for c in checks]
    report = job.load(path, args.level, args.seed, names) if args.resume else job.Report(args.level, args.seed, names)
    console = Console(stderr=True)
    try:
        _run_with_progress(checks, report, args.workers, path, console)
    except KeyboardInterrupt:
        job.save(report, path)
        console.print(f"interrupted: {len(report.results)} of {len(names)} checks are in {escape(str(path))};"
                      " continue with --resume")
        return 130
    job.save(report, path)
    if args.json:
        json.dump(report.to_json(), sys.stdout, indent=1)
        print()
    else:
        _print_summary(report, Console())
        print(f"written: {path}")
    return 1 if report.unexpected else 0


def _run_with_progress(checks: list[Check], report: job.Report, workers: int, path: Path, console: Console) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("checking", total=len(checks), completed=len(report.results))

        def done(result: Result) -> None:
            progress.update(task, advance=1, description=escape(result.statement[:30].ljust(30)))

        job.run(checks, report, workers, lambda r: job.save(r, path), done)


def _print_summary(report: job.Report, console: Console) -> None:
    table = Table(title=f"dpso audit, level {report.level}, seed {report.seed}")
    table.add_column("statement", no_wrap=True)
    table.add_column("checks", justify="right")
    table.add_column("verdict")
    for statement, results in by_statement(report.ordered()).items():
        table.add_row(escape(statement), str(len(results)), escape(verdict(results)))
    console.print(table)
    for result in report.unexpected:
        found = result.error or ("holds" if result.holds else "does not hold")
        console.print(f"not as recorded: {escape(result.name)} ({escape(result.statement)}): {escape(found)}")
    console.print(f"{len(report.results)} checks, {len(report.unexpected)} not as recorded")
