"""`dpso test`: is a mechanism (ε, δ)-DP on these neighbours?"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.runtime.errors import InputError, wrapped
from audit.runtime.files import parse_json, read_json
from audit.runtime.interrupts import interruptible
from audit.runtime.loading import load_callable
from audit.runtime.pool import PATIENCE, Pool

HELP = "is a mechanism (Python, or any command) (ε,δ)-DP? look for a violation on neighbours"
EXAMPLE = """dpso test bench.zoo.additive:noisy_sum --epsilon 1 --data '{"dataset": [0], "neighbour": [1]}'"""

MANY = 5_000_000
"""From so many samples on all cores draw, unless --workers says otherwise: starting processes takes a second."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_target(parser)
    parser.add_argument(
        "--data",
        required=True,
        metavar="PAIR.json",
        help='a file with {"dataset": …, "neighbour": …}, {"pairs": […]} or {"space": …}, or that text itself',
    )
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="the claimed ε")
    parser.add_argument("--delta", type=float, metavar="D", default=0.0, help="the claimed δ (default 0)")
    parser.add_argument("--samples", type=count, metavar="N", help="draws a side (default 100000); 1e6 is understood")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop drawing after about this time")
    parser.add_argument("--confidence", type=float, metavar="C", default=0.95, help="of the whole audit (default 0.95)")
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
    parser.add_argument("--store", metavar="FILE", help="keep the draws here, for the same command to go on from")


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
    """Exit 0 if consistent, 1 if violated, 2 if nothing could be tested."""
    from audit.auditor.api import audit_dp
    from audit.auditor.targets.sampling import TargetError
    from audit.auditor.terms.options import Budget, Code, Execution

    workers = _pool(args)
    data = read_data(args.data)
    where: dict[str, Any] = {"neighbours": args.neighbours}
    if "space" in data:
        where = {"dataset": data["space"], "neighbours": "search"}
    else:
        where["pairs"] = pairs_in(data, args.data)
    try:
        with open_target(args) as target, _progress() as say, interruptible():
            result = audit_dp(
                target,
                **where,
                epsilon=args.epsilon,
                delta=args.delta,
                budget=Budget(args.samples, args.seconds, args.confidence, args.anytime),
                code=Code(
                    release=_release(args.release),
                    floats=args.floats,
                    seed_arg=args.seed_arg,
                    isolate=args.command_line is None and hasattr(os, "fork"),
                    timeout=args.timeout,
                ),
                execution=Execution(args.seed, workers, args.out, args.resume, args.store, say),
            )
    except (ValueError, TargetError) as error:
        raise InputError(str(error)) from None
    if args.json:
        print(result.to_json())
    elif result.verdict != "error":
        print(wrapped(str(result)))
    if result.verdict == "error":
        raise InputError(f"nothing could be tested: {result.reason.removesuffix(': nothing could be tested')}")
    return 1 if result.violated else 0


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
