"""`dpso crosscheck`: run an implementation on the test vectors; the first line of the paper where it differs."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.runtime.errors import InputError, one_line, wrapped
from audit.runtime.extras import remedy

if TYPE_CHECKING:
    from rich.console import Console

    from audit.crosscheck.clients import Client
    from audit.crosscheck.compare import CaseVerdict, CrosscheckReport

HELP = "run your implementation on the test vectors: the first line of the paper where it differs"
WIDEST = 80
"""Characters of a note in the table; the first difference is shown in full, and --json has everything."""
EXAMPLE = "dpso crosscheck phased-sgd --python reference.vectors.execute:float64"
OPEN = 3
"""Exit code: every answer agrees, and not everything was compared."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    from audit.cli.algorithms import HELP as ALGORITHM
    from reference.paper.algorithms import EDITIONS

    parser.add_argument("algorithm", metavar="ALGORITHM", help=ALGORITHM)
    client = parser.add_mutually_exclusive_group(required=True)
    client.add_argument("--python", metavar="MODULE:CALLABLE", help="called with each case, returns the reply")
    client.add_argument("--exec", dest="command_line", metavar="CMD", help="a command that answers JSON lines")
    parser.add_argument(
        "--variant",
        default="corrected",
        choices=EDITIONS,
        help="against which edition (default corrected)",
    )
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="only this case (may be repeated)")
    parser.add_argument(
        "--outputs-only",
        action="store_true",
        help="agreeing outputs are enough: exit 0 although the lines that no trace covered are unchecked",
    )
    parser.add_argument("--vectors", metavar="DIR", help="vectors of this folder (NAME-VARIANT.json) instead of ours")
    parser.add_argument("--junit", metavar="FILE", help="write the cases as a JUnit report, too")
    parser.add_argument("--timeout", type=float, default=10.0, metavar="S", help="seconds a case (default 10)")


def run(args: argparse.Namespace) -> int:
    """Print the first difference and a table of all cases; exit 1 if one fails, 3 if not all was compared."""
    from audit.crosscheck.compare import CrosscheckReport, crosscheck

    label, document = _checked(args)
    client = _client(args)
    verdicts = []
    try:
        for verdict in crosscheck(client, label, args.variant, args.case, document):
            verdicts.append(verdict)
            if sys.stderr.isatty():
                print(f"\r{len(verdicts)} cases", end="", file=sys.stderr, flush=True)
    finally:
        client.close()
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr)
    report = _diagnosed(CrosscheckReport(label, args.variant, client.name, tuple(verdicts)), document)
    if args.json:
        print(json.dumps(report.to_json(), indent=1, ensure_ascii=False, allow_nan=False))
    else:
        _show(report)
    if args.junit:
        _write_junit(report, args.junit)
    if report.failed:
        return 1
    return OPEN if not report.agrees or (report.unchecked and not args.outputs_only) else 0


def _diagnosed(report: CrosscheckReport, document: dict[str, Any]) -> CrosscheckReport:
    """The report with the likely bug; without it where the reference cannot run (the base install has no balls)."""
    try:
        from audit.crosscheck.diagnose import diagnosed
    except ModuleNotFoundError as error:
        if remedy(error) is None:
            raise
        return report
    return diagnosed(report, document)


def _checked(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The label of the algorithm, and its vectors."""
    if not args.timeout > 0:
        raise InputError(f"--timeout {args.timeout:g} must be positive")
    label, document = _foreign(args) if args.vectors else _own(args)
    known = [case["id"] for case in document["cases"]]
    for id in args.case:
        if id not in known:
            raise InputError(f"--case {id} is unknown (dpso vectors list {label} lists the ids)")
    return label, document


def _own(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    from audit.cli.algorithms import label_of
    from reference import vectors
    from reference.paper.algorithms import BY_LABEL

    label = label_of(args.algorithm)
    variants = BY_LABEL[label].editions
    if args.variant not in variants:
        raise InputError(f"--variant {args.variant}: {label} has {' and '.join(variants)} only")
    return label, vectors.load(label, args.variant)


def _foreign(args: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """Vectors of the same format from a folder, of whatever algorithm."""
    from audit.cli.algorithms import label_of
    from reference import vectors
    from reference.paper.algorithms import BY_LABEL

    name = args.algorithm
    if not (Path(args.vectors) / f"{name}-{args.variant}.json").exists():
        with contextlib.suppress(InputError):
            name = BY_LABEL[label_of(name)].name
    place = Path(args.vectors) / f"{name}-{args.variant}.json"
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"--vectors {args.vectors}: cannot read {place.name}: {one_line(str(error))}") from None
    fault = vectors.misshapen(document)
    if fault:
        raise InputError(f"--vectors {args.vectors}: {place.name} {fault}")
    return str(document["algorithm"]), document


def _write_junit(report: CrosscheckReport, place: str) -> None:
    from audit.crosscheck.junit import junit

    try:
        Path(place).write_text(junit(report), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--junit {place}: {error.strerror or error}") from None


def _client(args: argparse.Namespace) -> Client:
    from audit.crosscheck.clients import ExecClient, python_client

    if args.python is not None:
        return python_client(args.python, args.timeout)
    return ExecClient(args.command_line, args.timeout)


def _show(report: CrosscheckReport) -> None:
    """The first divergence, the table, the count."""
    from rich.console import Console

    console = Console()
    if report.failed:
        _show_first(report.failed[0], console)
    if _silent(report):
        console.print(f"the client ended in all {len(report.verdicts)} cases: none was answered", highlight=False)
    else:
        _show_table(report, console)
    offered = len(report.verdicts) - report.skipped
    summary = f"{report.algorithm}, {report.variant}: {offered - len(report.failed)} of {offered} cases agree"
    summary += f", {report.skipped} are not offered" if report.skipped else ""
    if not report.failed and not report.agrees:
        summary += "; no output was compared, which is no agreement"
    console.print(wrapped(summary), highlight=False, soft_wrap=True)
    if report.agrees and report.unchecked:
        console.print(wrapped(_open(report)), highlight=False, soft_wrap=True)


def _open(report: CrosscheckReport) -> str:
    """What agreement says nothing about: lines and quantities that no reply covered."""
    lines: dict[int, list[str]] = {}
    for line, name in report.unchecked:
        lines.setdefault(line, []).append(name)
    told = "; ".join(f"{line if line else 'before line 1'}: {', '.join(names)}" for line, names in lines.items())
    outputs = f"{report.outputs} output{'s agree' if report.outputs != 1 else ' agrees'}"
    return f"{outputs}; unchecked, by line ({told}): send a trace, or accept that with --outputs-only"


def _silent(report: CrosscheckReport) -> bool:
    """Whether the client ended in every case, before or after the question: it does not start, say."""
    return all(verdict.ended for verdict in report.verdicts)


def _show_table(report: CrosscheckReport, console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("case", "verdict", "line", "what"):
        table.add_column(heading, overflow="fold")
    for verdict in report.verdicts:
        style = {"pass": "green", "skip": "dim"}.get(verdict.status, "bold red")
        found = verdict.divergence
        what = one_line(found.quantity if found else verdict.note)
        what = what if len(what) <= WIDEST else f"{what[: WIDEST - 1]}…"
        line = f"L{found.line}" if found else ""
        slug = verdict.id.partition(f"-{report.variant}-")[2]
        table.add_row(Text(slug), Text(verdict.status, style=style), line, Text(what))
    console.print(table)


def _show_first(verdict: CaseVerdict, console: Console) -> None:
    """The first case that does not pass, in full."""
    lines = [f"first {'failure' if verdict.status == 'error' else 'difference'}: {verdict.id}"]
    if found := verdict.divergence:
        where = f"line {found.line} of the paper's algorithm" if found.line else "before line 1 (theorem's parameters)"
        lines += [
            f"  where      {where}, quantity {found.quantity}",
            f"  expected   {found.expected}",
            f"  got        {found.got}",
        ]
        if found.difference is not None:
            lines.append(f"  difference {found.difference:.3g} = {found.ulps:.3g} ulps (allowed {found.tolerance:.2g})")
    if verdict.note:
        lines.append(f"  note       {verdict.note}")
    if found:
        known = {name: flag for name, flag in verdict.flags.items() if flag.line == found.line}
        lines += [f"  known here {name}: {flag}" for name, flag in known.items()]
    lines += [f"  likely     {bug}" for bug in verdict.likely]
    if found and found.difference is not None and not verdict.likely:
        lines.append("  likely     no catalogued bug gives these numbers")
    for line in lines:
        console.print(wrapped(one_line(line)), highlight=False, markup=False, soft_wrap=True)
