"""`dpso test`: is a mechanism as private as it claims, on these neighbours?"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.runtime.errors import InputError, wrapped
from audit.runtime.files import parse_json, read_json, read_text
from audit.runtime.interrupts import interruptible
from audit.runtime.loading import load_callable
from audit.runtime.pool import PATIENCE, Pool

if TYPE_CHECKING:
    from audit.auditor.terms.result import AuditResult

HELP = "is a mechanism (Python, or any command) (ε,δ)-DP? look for a violation on neighbours"
EXAMPLE = """dpso test bench.zoo.additive:noisy_sum --epsilon 1 --data '{"dataset": [0], "neighbour": [1]}'"""

CONFIDENCE = 0.999
"""The default of `audit_dp`, without loading it."""
MANY = 5_000_000
"""From so many samples on all cores draw, unless --workers says otherwise: starting processes takes a second."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_target(parser)
    parser.add_argument(
        "--data",
        metavar="PAIR.json",
        help='a file with {"dataset": …, "neighbour": …}, {"pairs": […]} or {"space": …}, or that text itself; two'
        " files A,B (npy, npz, csv); or module:pair, a pair in Python",
    )
    parser.add_argument(
        "--outputs",
        nargs=2,
        metavar=("A", "B"),
        help="instead of a mechanism: outputs on both sides, one a run (npy, csv, jsonl, parquet)",
    )
    add_claim(parser)
    parser.add_argument("--samples", type=count, metavar="N", help="draws a side (default 100000); 1e6 is understood")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop drawing after about this time")
    parser.add_argument(
        "--confidence", type=float, metavar="C", default=CONFIDENCE, help=f"of the whole audit (default {CONFIDENCE})"
    )
    parser.add_argument("--seed", type=count, metavar="N", default=0, help="makes the run repeatable (default 0)")
    parser.add_argument(
        "--anytime", action="store_true", help="bet draw by draw; stop at the first proof of a violation"
    )
    parser.add_argument(
        "--neighbours",
        choices=["replace-one", "add-remove", "any"],
        default="replace-one",
        help="how the datasets of a pair differ (default replace-one)",
    )
    parser.add_argument("--release", metavar="NAME", help="attribute, key or index of what is published")
    parser.add_argument(
        "--floats", choices=["values", "bits"], default="values", help="count the lowest bits of floats, too?"
    )
    parser.add_argument("--timeout", type=float, metavar="S", default=60.0, help="seconds a call may take (default 60)")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--workers", metavar="N", type=int, help=f"processes (default 1; all cores from {MANY} samples)")
    where.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler, tcp://HOST:PORT, or local")
    parser.add_argument("--out", metavar="DIR", type=Path, help="keep finished work and the result in this folder")
    parser.add_argument("--resume", action="store_true", help="continue the run in --out")
    parser.add_argument(
        "--patience", metavar="S", type=float, default=PATIENCE, help="seconds until silent workers are replaced"
    )
    parser.add_argument(
        "--seed-arg", metavar="NAME", help="its parameter for a seed: audit it as shipped and with fresh seeds, apart"
    )
    parser.add_argument("--html", metavar="FILE", type=Path, help="write the result as a page with pictures")
    parser.add_argument("--store", metavar="FILE", help="keep the draws here, for the same command to go on from")


CLAIMS = ("epsilon", "rho", "mu", "rdp", "profile")
"""What may be claimed, by its option."""


def add_claim(parser: argparse.ArgumentParser) -> None:
    """What is claimed: one of several kinds."""
    parser.add_argument("--epsilon", type=float, metavar="E", help="the claimed ε, with --delta")
    parser.add_argument("--rho", type=float, metavar="R", help="the claimed ρ of zCDP")
    parser.add_argument("--mu", type=float, metavar="M", help="the claimed μ of Gaussian DP")
    parser.add_argument("--rdp", nargs="+", metavar="A:E", help="the claimed Rényi DP: orders and their ε, 8:0.5 32:2")
    parser.add_argument(
        "--profile",
        metavar="FILE",
        help='the claimed ε for several δ: JSON, {"1e-5": 2.0, …} or [[1e-5, 2.0], …], or a csv of δ and ε',
    )
    parser.add_argument("--delta", type=float, metavar="D", default=0.0, help="the claimed δ (default 0)")


def claim_of(args: argparse.Namespace) -> Any:
    """The claim that the arguments make."""
    from audit.auditor.terms.claim import RDP, Profile, claimed

    given = [f"--{name}" for name in CLAIMS if getattr(args, name) is not None]
    if len(given) != 1:
        said = " and ".join(given) + " are" if given else "nothing is"
        raise InputError(f"{said} claimed: give one of --{', --'.join(CLAIMS)}")
    if args.rdp is not None or args.profile is not None:
        if args.delta:
            raise InputError(f"--delta {args.delta:g} goes with --epsilon")
        return RDP(_orders(args.rdp)) if args.rdp is not None else Profile(_table(args.profile))
    return claimed(None, args.epsilon, args.delta, args.rho, args.mu)


def _orders(texts: list[str]) -> dict[float, float]:
    """The orders of --rdp."""
    try:
        return {float(order): float(loss) for order, loss in (text.split(":") for text in texts)}
    except ValueError:
        raise InputError(f"--rdp {' '.join(texts)}: write each order with its ε, e.g. --rdp 8:0.5 32:2") from None


def _table(path: str) -> list[tuple[float, float]]:
    """The rows (δ, ε) of a file."""
    if path.endswith(".csv"):
        lines = [line.replace(",", " ").split() for line in read_text(path, f"--profile {path}").splitlines()]
        rows: Any = [line for line in lines if line and not line[0][0].isalpha()]
    else:
        found = read_json(path, f"--profile {path}")
        rows = list(found.items()) if isinstance(found, dict) else found
    try:
        return [(float(delta), float(epsilon)) for delta, epsilon in rows]
    except (TypeError, ValueError):
        raise InputError(f"--profile {path} must hold rows of δ and ε, e.g. [[1e-5, 2.0], [1e-3, 1.2]]") from None


def count(text: str) -> int:
    """A whole number ≥ 0, also written 1e6."""
    number = float(text) if set("eE.") & set(text) else int(text)
    if not 0 <= number < math.inf or number != int(number):
        raise argparse.ArgumentTypeError(f"{text} must be a whole number ≥ 0")
    return int(number)


def add_target(parser: argparse.ArgumentParser) -> None:
    """MODULE:CALLABLE or --exec."""
    parser.add_argument(
        "target", nargs="?", metavar="MODULE:CALLABLE", help="mechanism(dataset, rng), or a class with fit(X, y)"
    )
    parser.add_argument("--exec", dest="command_line", metavar="CMD", help="a command that answers JSON lines instead")


def run(args: argparse.Namespace) -> int:
    """Exit 0 if consistent, 1 if violated or suspect, 2 if nothing could be tested, 3 if inconclusive."""
    from audit.auditor.api import audit_dp
    from audit.auditor.targets.sampling import TargetError
    from audit.auditor.terms.options import Budget, Code, Execution

    if args.outputs is not None:
        return _told(_on_outputs(args), args.json, args.html)
    workers = _pool(args)
    where = _where(args)
    try:
        with open_target(args) as target, _progress() as say, interruptible():
            result = audit_dp(
                target,
                **_for_fit(target, where),
                claim=claim_of(args),
                budget=Budget(args.samples, args.seconds, args.confidence, args.anytime),
                code=Code(
                    release=_release(args.release),
                    floats=args.floats,
                    seed_arg=args.seed_arg,
                    isolate=args.command_line is None and _can_be_isolated(say),
                    timeout=args.timeout,
                ),
                execution=Execution(args.seed, workers, args.out, args.resume, args.store, say),
            )
    except (ValueError, TargetError) as error:
        raise InputError(str(error)) from None
    return _told(result, args.json, args.html)


def _can_be_isolated(say: Callable[[str], None]) -> bool:
    """Whether a mechanism can run in a process of its own; said, if that depends on what it has loaded."""
    from audit.runtime.threads import cannot_be_forked

    library = cannot_be_forked()
    if library is not None:
        say(f"{library} runs threads already: the mechanism stays in this process; a call that hangs cannot be ended")
    return hasattr(os, "fork") and library is None


def _told(result: AuditResult, as_json: bool, page: Path | None) -> int:
    """Print a result, and write its page; the exit code."""
    from audit.auditor.terms.verdict import EXIT_CODES

    if page is not None:
        try:
            result.write_html(page)
        except OSError as error:
            raise InputError(f"--html {page} cannot be written: {error.strerror}") from None

    if as_json:
        print(result.to_json())
    elif result.verdict != "error":
        print(wrapped(str(result)))
    if result.verdict == "error":
        raise InputError(f"nothing could be tested: {result.reason.removesuffix(': nothing could be tested')}")
    return EXIT_CODES[result.verdict]


FOR_CALLS = ("samples", "seconds", "anytime", "release", "workers", "scheduler", "out", "resume", "seed_arg", "store")
"""Options that mean nothing for outputs that exist already."""


def _on_outputs(args: argparse.Namespace) -> AuditResult:
    """The audit of two files of outputs."""
    from audit.auditor.given import audit_outputs
    from audit.cli.arrays import read_outputs

    if args.target is not None or args.command_line is not None or args.data is not None:
        raise InputError("--outputs takes the place of a mechanism and its --data: give either")
    unused = [name for name in FOR_CALLS if getattr(args, name)]
    if unused:
        raise InputError(
            f"--{unused[0].replace('_', '-')} is for a mechanism that is called: --outputs are tested as they are"
        )
    sides = [read_outputs(path) for path in args.outputs]
    try:
        return audit_outputs(
            *sides, claim=claim_of(args), confidence=args.confidence, seed=args.seed, floats=args.floats
        )
    except ValueError as error:
        raise InputError(str(error)) from None


def _where(args: argparse.Namespace) -> dict[str, Any]:
    """Which datasets, as keywords of `audit_dp`."""
    from audit.cli.arrays import pair_of_files, pair_of_python

    if args.data is None:
        raise InputError("the following arguments are required: --data (or --outputs A B)")
    pair = pair_of_python(args.data) or pair_of_files(args.data)
    if pair is not None:
        return {"neighbours": args.neighbours, "pairs": [pair]}
    data = read_data(args.data)
    if "space" in data:
        return {"dataset": data["space"], "neighbours": "search"}
    return {"neighbours": args.neighbours, "pairs": pairs_in(data, args.data)}


def _for_fit(target: Any, where: dict[str, Any]) -> dict[str, Any]:
    """For a class with `fit`, what JSON wrote as {"X": …, "y": …} or as [X, y] in the form that it is called with."""
    from audit.auditor.targets.estimator import Estimator
    from audit.cli.arrays import arrays_of_lists

    if not isinstance(target, Estimator) or "pairs" not in where:
        return where
    return where | {"pairs": [tuple(map(arrays_of_lists, pair)) for pair in where["pairs"]]}


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Progress on stderr, on one line that is wiped at the end; lines in a log."""
    live = sys.stderr.isatty()

    def say(text: str) -> None:
        print(f"\r\033[K{text}" if live else text, end="" if live else "\n", file=sys.stderr, flush=True)

    try:
        yield say
    finally:
        if live:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _release(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


def _pool(args: argparse.Namespace) -> Pool | None:
    """Who draws; None for this process alone."""
    if not 0 < args.patience < math.inf:
        raise InputError(f"--patience {args.patience:g} must be a positive number of seconds")
    if args.workers is None and args.scheduler is None and (args.samples or 0) < MANY:
        return None
    try:
        every = args.workers is None and args.scheduler is None
        found = Pool.processes() if every else Pool.of(args.workers, args.scheduler)
    except ValueError as error:
        raise InputError(str(error)) from None
    return replace(found, patience=args.patience)


def read_data(path: str) -> Any:
    """The object in the data file, or the one given in its place."""
    inline = path.lstrip().startswith("{")
    data = parse_json(path, "--data") if inline else read_json(path, f"--data {path}")
    if not isinstance(data, dict):
        raise InputError(f'--data {path} must hold an object with "dataset" and "neighbour"')
    return data


def pairs_in(data: dict[str, Any], path: str) -> list[tuple[Any, Any]]:
    """The pairs in the object of a data file: one, or a list of them."""
    entries = data.get("pairs", [data])
    if not isinstance(entries, list) or not entries:
        raise InputError(f'--data {path}: "pairs" must be a list of objects with "dataset" and "neighbour"')
    for entry in entries:
        missing = [k for k in ("dataset", "neighbour") if not isinstance(entry, dict) or k not in entry]
        if missing:
            where = ": a pair" if "pairs" in data else ""
            raise InputError(f'--data {path}{where} lacks "{missing[0]}": write {{"dataset": …, "neighbour": …}}')
    return [(e["dataset"], e["neighbour"]) for e in entries]


@contextlib.contextmanager
def open_target(args: argparse.Namespace) -> Iterator[Any]:
    """The Python callable, or the running command."""
    from audit.auditor.targets.command import ExecTarget

    if (args.target is None) == (args.command_line is None):
        raise InputError("give either MODULE:CALLABLE or --exec CMD")
    if args.command_line is None:
        yield load_mechanism(args.target)
        return
    with ExecTarget(args.command_line, args.timeout, _release(args.release)) as target:
        yield target


def load_mechanism(spec: str) -> Callable[..., Any]:
    """The callable MODULE:CALLABLE; of a class with `fit`, what it learns."""
    value = load_callable(spec)
    if isinstance(value, type) and hasattr(value, "fit"):
        from audit.auditor.targets.estimator import estimator

        return estimator(value)
    return value
