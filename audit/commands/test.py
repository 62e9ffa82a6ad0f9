"""`dpso test`: is a mechanism (ε, δ)-DP on these neighbours?"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from audit.errors import InputError

HELP = "Test a mechanism (Python, or any command) for (ε, δ)-DP by distinguishing neighbours."
EXAMPLE = "dpso test mymodule:mechanism --data pair.json --epsilon 1 --delta 1e-5 --samples 100000"


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    add_target(parser)
    parser.add_argument(
        "--data",
        required=True,
        metavar="PAIR.json",
        help='{"dataset": …, "neighbour": …}, {"pairs": […]} or {"space": …}',
    )
    parser.add_argument("--epsilon", required=True, type=float, help="the claimed ε")
    parser.add_argument("--delta", type=float, default=0.0, help="the claimed δ (default 0)")
    parser.add_argument("--samples", type=int, default=None, help="draws a side (default 100000)")
    parser.add_argument("--seconds", type=float, default=None, help="stop drawing after about this time")
    parser.add_argument("--confidence", type=float, default=0.95, help="of the whole audit (default 0.95)")
    parser.add_argument("--seed", type=int, default=0, help="makes the run repeatable (default 0)")
    parser.add_argument(
        "--anytime", action="store_true", help="bet draw by draw; stop at the first proof of a violation"
    )
    parser.add_argument("--neighbours", choices=["replace-one", "add-remove", "any"], default="replace-one")
    parser.add_argument("--release", default=None, help="attribute, key or index of what is published")
    parser.add_argument(
        "--floats", choices=["values", "bits"], default="values", help="whether the lowest bits of floats count"
    )
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds that one call may take (default 60)")


def add_target(parser: argparse.ArgumentParser) -> None:
    """MODULE:CALLABLE or --exec."""
    parser.add_argument(
        "target", nargs="?", metavar="MODULE:CALLABLE", help="a Python callable mechanism(dataset, rng)"
    )
    parser.add_argument("--exec", dest="command_line", metavar="CMD", help="a command that answers JSON lines instead")


def run(args: argparse.Namespace) -> int:
    """Exit 0 if consistent, 1 if violated, 2 if nothing could be tested."""
    from audit.blackbox.auditor import audit_dp
    from audit.blackbox.sampling import TargetError

    data = read_json(args.data)
    where = _pairs(data, args.data)
    try:
        with open_target(args) as target, _quiet(args.json) as say:
            result = audit_dp(
                target,
                **where,
                epsilon=args.epsilon,
                delta=args.delta,
                samples=args.samples,
                confidence=args.confidence,
                seed=args.seed,
                seconds=args.seconds,
                anytime=args.anytime,
                floats=args.floats,
                timeout=args.timeout,
                release=_release(args.release),
                progress=say,
                neighbours="search" if "space" in data else args.neighbours,
            )
    except (ValueError, TargetError) as error:
        raise InputError(str(error)) from None
    if args.json:
        print(result.to_json())
    elif result.verdict != "error":
        print(result)
    if result.verdict == "error":
        raise InputError(f"nothing could be tested: {result.reason}")
    return 1 if result.violated else 0


@contextlib.contextmanager
def _quiet(machine: bool) -> Iterator[Callable[[str], None]]:
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


def read_json(path: str) -> Any:
    """The data file's object."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--data {path}: {error.strerror}") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"--data {path} is not JSON: {error}") from None
    if not isinstance(data, dict):
        raise InputError(f'--data {path} must hold an object with "dataset" and "neighbour"')
    return data


def _pairs(data: dict[str, Any], path: str) -> dict[str, Any]:
    """The arguments of `audit_dp` that say where to look."""
    if "space" in data:
        return {"dataset": data["space"]}
    if "pairs" in data:
        entries = data["pairs"]
        if not isinstance(entries, list) or not all(
            isinstance(e, dict) and {"dataset", "neighbour"} <= e.keys() for e in entries
        ):
            raise InputError(f'--data {path}: "pairs" must be a list of objects with "dataset" and "neighbour"')
        return {"pairs": [(e["dataset"], e["neighbour"]) for e in entries]}
    missing = [k for k in ("dataset", "neighbour") if k not in data]
    if missing:
        raise InputError(f'--data {path} lacks "{missing[0]}": write {{"dataset": …, "neighbour": …}}')
    return {"dataset": data["dataset"], "neighbour": data["neighbour"]}


@contextlib.contextmanager
def open_target(args: argparse.Namespace) -> Iterator[Any]:
    """The Python callable, or the running command."""
    from audit.blackbox.execworker import ExecTarget

    if (args.target is None) == (args.command_line is None):
        raise InputError("give either MODULE:CALLABLE or --exec CMD")
    if args.command_line is None:
        yield load_callable(args.target)
        return
    with ExecTarget(args.command_line, args.timeout, _release(args.release)) as target:
        yield target


def load_callable(spec: str) -> Callable[..., Any]:
    """MODULE:CALLABLE, looked up from the current directory too."""
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise InputError(f"{spec!r} must read MODULE:CALLABLE, e.g. mymodule:mechanism")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        value: Any = importlib.import_module(module_name)
    except Exception as error:  # noqa: BLE001 - whatever the module does on import is the user's to mend
        raise InputError(f"cannot import {module_name!r}: {type(error).__name__}: {error}") from None
    for part in name.split("."):
        if not hasattr(value, part):
            raise InputError(f"{module_name!r} has no {part!r} (looking for {spec})")
        value = getattr(value, part)
    if not callable(value):
        raise InputError(f"{spec} is a {type(value).__name__}, not a callable mechanism(dataset, rng)")
    return value  # type: ignore[no-any-return]
