"""What `dpso prove` does once its options are read: it loads the steps, which need the extra `paper`."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from audit.checks.evidence import METHODS
from audit.checks.proofs import ledger, solvers
from audit.checks.proofs.steps import MEANINGS, ProofStep, StepReplay, StepStatus
from audit.runtime.errors import InputError, one_line
from audit.runtime.files import write_atomically
from audit.runtime.suggest import LOOSELY, did_you_mean

STYLES: dict[StepStatus, str] = {"proved": "green", "paper": "dim", "cited": "dim", "missing": "yellow"}
FALSE: tuple[StepStatus, ...] = ("refuted", "vacuous", "dull")
"""What exits 1: the step is false, says nothing, or cannot fail."""
OPEN: tuple[StepStatus, ...] = ("unknown", "missing")
"""What exits 3: the step was not decided."""


def replay(args: argparse.Namespace) -> int:
    """Replay and show; exit 0 if every step by machine is proved, 1 if one is false, 3 if one is open."""
    chosen = _chosen(args.id)
    if args.record and args.id:
        raise InputError("--record: only a replay of all steps is recorded; drop the ID")
    if args.export is not None:
        _export(chosen, args.export)
    replays = _replays(chosen, Console(stderr=True))
    if args.record:
        ledger.write_record(replays)
    if args.json:
        print(json.dumps(_to_json(chosen, replays), indent=1, ensure_ascii=False))
    else:
        _show(chosen, replays, Console())
    found = {r.status for r in replays.values()}
    return 1 if found & set(FALSE) else 3 if found & set(OPEN) else 0


def _chosen(id: str | None) -> list[ProofStep]:
    if id is None:
        return list(ledger.steps())
    found = [one for one in ledger.steps() if id == one.id or id in one.of]
    if not found:
        known = [*ledger.statements(), *(one.id for one in ledger.steps())]
        raise InputError(f"{id!r} has no step of a proof{did_you_mean(id, known, LOOSELY)} (dpso prove lists them)")
    return found


def _replays(chosen: list[ProofStep], console: Console) -> dict[str, StepReplay]:
    if not console.is_terminal:
        return {one.id: one.proof.replay() for one in chosen}
    found: dict[str, StepReplay] = {}
    with console.status("replaying") as status:
        for i, one in enumerate(chosen, start=1):
            status.update(f"replaying {one.id} ({i} of {len(chosen)})")
            found[one.id] = one.proof.replay()
    return found


def _export(chosen: list[ProofStep], folder: Path) -> None:
    """Write the SMT-LIB files of the chosen steps."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--export {folder}: {error.strerror}; name a folder that can be written") from None
    for one in chosen:
        for name, text in one.files():
            write_atomically(folder / name, text)


def _to_json(chosen: list[ProofStep], replays: dict[str, StepReplay]) -> dict[str, Any]:
    record = ledger.read_record()
    return {
        "solver": solvers.version(),
        "needs": solvers.missing(),
        "second solver": solvers.version("cvc5"),
        "second needs": solvers.missing("cvc5"),
        "counts": dict(Counter(r.status for r in replays.values())),
        "steps": [
            {
                "id": one.id,
                "of": list(one.of),
                "edition": one.edition,
                "says": one.says,
                "method": one.proof.method,
                "domain": one.proof.domain,
                "status": replays[one.id].status,
                "detail": replays[one.id].detail,
                "mutant": replays[one.id].mutant,
                "opinions": list(replays[one.id].opinions),
                "recorded": ledger.recorded(one, record),
            }
            for one in chosen
        ],
    }


def _show(chosen: list[ProofStep], replays: dict[str, StepReplay], console: Console) -> None:
    record = ledger.read_record()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("step", no_wrap=True)
    table.add_column("status", no_wrap=True)
    table.add_column("what it says", overflow="fold")
    for one in chosen:
        found = replays[one.id]
        status = _status(one, found, record)
        table.add_row(Text(one.id), Text(status, style=STYLES.get(found.status, "bold red")), Text(_says(one, found)))
    console.print(table)
    console.print(_summary(replays), highlight=False)
    console.print(Text(_second(replays)))
    if needed := solvers.missing():
        recorded = f" (recorded: with {record['solver']})" if record["solver"] else ""
        console.print(Text(f"not replayed: dpso prove {needed}{recorded}"))


def _status(one: ProofStep, found: StepReplay, record: dict[str, Any]) -> str:
    if found.status == "missing" and (was := ledger.recorded(one, record)):
        return f"{was} (recorded)"
    return f"{found.status}, {one.proof.method}" if one.proof.method in METHODS else found.status


def _says(one: ProofStep, found: StepReplay) -> str:
    parts = [one.says]
    if one.proof.domain:
        parts.append(f"for {one.proof.domain}")
    if found.status in (*FALSE, *OPEN):
        parts.append(f"{MEANINGS[found.status]} {found.detail}")
    elif one.by_machine:
        parts.append(f"mutant: {found.mutant}")
    else:
        parts.append(found.detail)
    return one_line(" – ".join(parts))


def _second(replays: dict[str, StepReplay]) -> str:
    """What the second solver said of the questions that the first decided."""
    said = Counter(one.rpartition(" ")[2] for r in replays.values() for one in r.opinions)
    if said:
        undecided = f", {said['unknown']} undecided" if said["unknown"] else ""
        agrees = f"agrees on {said['unsat']} of {said.total()} questions"
        return f"second opinion, {solvers.version('cvc5')}: {agrees}{undecided}"
    needed = solvers.missing("cvc5")
    return f"no second opinion: it {needed}" if needed else ""


def _summary(replays: dict[str, StepReplay]) -> str:
    counts = Counter(r.status for r in replays.values())
    said = [f"{counts[status]} {status}" for status in MEANINGS if counts[status]]
    return f"{len(replays)} steps: {', '.join(said)}"
