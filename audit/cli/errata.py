"""`dpso errata`: what the paper gets wrong, and the counterexamples that show it, live."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib import metadata

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from audit.checks.framework import plain
from audit.checks.results import inventory, read_record
from audit.report.grades import SEVERITY_STYLES, SEVERITY_WORDS
from audit.report.sheet import FORMATS, sheet, unshown
from audit.runtime.errors import InputError, one_line
from audit.runtime.suggest import LOOSELY, did_you_mean
from audit.trace.links import CodeLink, code_links
from reference.paper.inventory import Erratum
from reference.paper.registry import Counterexample

HELP = "list what the paper gets wrong; show one defect in full; replay its counterexample; print a sheet"
EXAMPLE = "dpso errata E3.1 --run"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", nargs="?", help="an erratum, such as E3.1 (default: all of them)")
    parser.add_argument("--run", action="store_true", dest="replay", help="run the counterexample and show the numbers")
    formats = [*FORMATS, "json"]
    parser.add_argument(
        "--format", choices=formats, help="all of them as a sheet for the authors, false statements first"
    )


def run(args: argparse.Namespace) -> int:
    """List, show or replay, or print the sheet; exit 1 if a counterexample does not reproduce."""
    if args.format:
        return _sheet(args)
    chosen = _chosen(args.id)
    replays = replay_all(chosen, Console(stderr=True)) if args.replay else {}
    if args.json:
        print(
            json.dumps([_to_json(e, replays.get(e.id)) for e in chosen], indent=1, ensure_ascii=False, allow_nan=False)
        )
    elif args.id:
        _show(chosen[0], Console())
        _show_replay(replays, Console())
    elif args.replay:
        _show_replay(replays, Console())
    else:
        _list(chosen, Console())
    return 0 if all(replay.shown for replay in replays.values()) else 1


def _sheet(args: argparse.Namespace) -> int:
    if args.id or args.replay or args.json:
        raise InputError(f"--format {args.format} prints the sheet of all errata: drop ID, --run and --json")
    known, record = inventory(), read_record()
    found = replay_all(unshown(known, record), Console(stderr=True))
    more = {id: replayed.runs[0][1] for id, replayed in found.items() if replayed.shown}
    made = sheet(known, record, f"dpso {metadata.version('dpso')}", date.today().isoformat(), more)
    if args.format == "json":
        print(json.dumps(made.to_json(), indent=1, ensure_ascii=False))
    else:
        print(FORMATS[args.format](made), end="")
    return 0 if len(more) == len(found) else 1


def _chosen(id: str | None) -> list[Erratum]:
    errata = list(inventory().errata)
    if id is None:
        return errata
    found = [e for e in errata if e.id.casefold() == id.casefold()]
    if not found:
        known = [e.id for e in errata]
        hint = did_you_mean(id, known, LOOSELY) or (" (dpso errata lists them)" if known else " (none is listed)")
        raise InputError(f"unknown erratum {id!r}{hint}")
    return found


# ----------------------------------------------------------------------------------------------- replay


@dataclass(frozen=True)
class Replay:
    """What running the counterexamples of one erratum gave."""

    shown: bool
    runs: tuple[tuple[str, Counterexample], ...] = ()
    error: str = ""
    seconds: float = field(default=0.0, compare=False)


def counterexamples() -> dict[str, list[CodeLink]]:
    """The functions marked `@counterexample`, by erratum."""
    found: dict[str, list[CodeLink]] = {}
    for link in code_links():
        if link.kind == "counterexample":
            found.setdefault(link.id, []).append(link)
    return found


def replay(erratum: str, links: Iterable[CodeLink]) -> Replay:
    """Run the counterexamples of an erratum: it is shown if there is one, and each shows it."""
    start = time.perf_counter()
    runs: list[tuple[str, Counterexample]] = []
    for link in links:
        try:
            runs.append((link.code, link.target()))
        except Exception as error:  # noqa: BLE001 - a counterexample that fails does not reproduce
            reason = f"{link.code} failed: {type(error).__name__}: {error}"
            return Replay(False, tuple(runs), reason, time.perf_counter() - start)
    if not runs:
        return Replay(False, error=f"{erratum} has no counterexample that runs")
    shown = all(found.shown for _, found in runs)
    return Replay(shown, tuple(runs), seconds=time.perf_counter() - start)


def replay_all(errata: list[Erratum], console: Console) -> dict[str, Replay]:
    """Replay several errata, saying on the terminal which one runs."""
    if not console.is_terminal:
        links = counterexamples()
        return {e.id: replay(e.id, links.get(e.id, [])) for e in errata}
    found: dict[str, Replay] = {}
    with console.status("looking for counterexamples") as status:
        links = counterexamples()
        for i, erratum in enumerate(errata, start=1):
            status.update(f"replaying {one_line(erratum.id)} ({i} of {len(errata)})")
            found[erratum.id] = replay(erratum.id, links.get(erratum.id, []))
    return found


# ------------------------------------------------------------------------------------------------ output


def _to_json(erratum: Erratum, found: Replay | None) -> dict[str, object]:
    data: dict[str, object] = asdict(erratum)
    if found is not None:
        data["replay"] = {
            "shown": found.shown,
            "error": found.error,
            "seconds": round(found.seconds, 3),
            "runs": [
                {
                    "code": code,
                    "shown": bool(run.shown),
                    "summary": run.summary,
                    "numbers": _numbers(run.numbers),
                    "hypotheses": [asdict(hypothesis) for hypothesis in dict.fromkeys(run.hypotheses)],
                    "bound": run.bound,
                    "against": run.against,
                }
                for code, run in found.runs
            ],
        }
    return data


def _numbers(numbers: Mapping[str, object]) -> dict[str, float | int | str]:
    return {str(name): plain(value) for name, value in numbers.items()}


def _list(errata: list[Erratum], console: Console) -> None:
    if not errata:
        print("no erratum is listed")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("severity", no_wrap=True)
    table.add_column("where", overflow="fold", max_width=24)
    table.add_column("title", overflow="fold")
    for erratum in errata:
        severity = Text(erratum.severity, style=SEVERITY_STYLES[erratum.severity])
        table.add_row(Text(erratum.id), severity, Text(_where(erratum)), Text(one_line(erratum.title)))
    console.print(table)
    console.print(f"{len(errata)} errata; dpso errata ID shows one, --run replays its counterexample", highlight=False)


def _where(erratum: Erratum) -> str:
    lines = f" L{','.join(map(str, erratum.lines))}" if erratum.lines else ""
    return one_line(", ".join(erratum.where)) + lines


def _show(erratum: Erratum, console: Console) -> None:
    title = Text.assemble(
        (erratum.id, "bold"),
        " ",
        (SEVERITY_WORDS[erratum.severity], SEVERITY_STYLES[erratum.severity]),
        f"  {erratum.title}",
    )
    console.print(title)
    first, last = erratum.tex
    place = f"{_where(erratum)} (TeX line{f' {first}' if first == last else f's {first} to {last}'})"
    for name, text in (
        ("where", place),
        ("condition" if erratum.severity == "condition" else "regime", erratum.regime),
        ("falsifies", one_line(", ".join(erratum.falsifies))),
        ("stated", erratum.stated),
        ("printed", erratum.printed),
        ("corrected", erratum.corrected),
        ("cost", erratum.cost),
        ("affects", erratum.affects),
    ):
        if not text:
            continue
        table = Table.grid(padding=(0, 1))
        table.add_column(width=9, style="dim")
        table.add_column(overflow="fold")
        table.add_row(name, Text(one_line(text)))
        console.print(table)


def _show_replay(replays: Mapping[str, Replay], console: Console) -> None:
    for id, found in replays.items():
        word, style = ("shown", "green") if found.shown else ("NOT REPRODUCED", "bold red")
        console.print(Text.assemble((id, "bold"), " ", (word, style), f" in {found.seconds:.1f} s"))
        for code, one in found.runs:
            console.print(Padding(Text(f"{one_line(code)}: {one_line(one.summary)}"), (0, 0, 0, 2)))
            for name, value in _numbers(one.numbers).items():
                console.print(Text(one_line(f"    {name} = {f'{value:.6g}' if isinstance(value, float) else value}")))
            for hypothesis in dict.fromkeys(one.hypotheses):
                word = "meets" if hypothesis.holds else "DOES NOT MEET"
                stated = f" ({hypothesis.stated})" if hypothesis.stated else ""
                console.print(Text(one_line(f"    {word}: {hypothesis.text}{stated}")))
        if found.error:
            console.print(Text(f"  {one_line(found.error)}"))
    failed = [id for id, found in replays.items() if not found.shown]
    if failed:
        print(f"not reproduced: {', '.join(failed)}", file=sys.stderr)
