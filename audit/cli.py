"""The command `dpso`: exit 0 = as it should be, 1 = a violation, divergence or stale map, 2 = bad input.

Bad input gives one line on stderr, never a traceback. Each subcommand lives in `audit.commands`.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import pkgutil
import signal
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

import audit.commands
from audit.errors import InputError, one_line

# The order in which `dpso --help` lists what exists.
ORDER = ("audit", "test", "sensitivity", "crosscheck", "trace", "errata", "calibrate", "vectors", "bench")


class Parser(argparse.ArgumentParser):
    """argparse, with one-line errors that suggest the nearest spelling."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise InputError(f"{message} (see: {self.prog} --help)")

    def nearest(self, unknown: str) -> str:
        """' — did you mean --x?' for an option that does not exist."""
        options = [o for action in self._actions for o in action.option_strings]
        close = difflib.get_close_matches(unknown.split("=")[0], options, n=1)
        return f", did you mean {close[0]}?" if close else ""


def command_modules() -> dict[str, ModuleType]:
    """The subcommands, in the order of the help text."""
    found = {m.name for m in pkgutil.iter_modules(audit.commands.__path__)}
    names = [name for name in ORDER if name in found]
    return {name: importlib.import_module(f"audit.commands.{name}") for name in names}


def build_parser(modules: dict[str, ModuleType]) -> tuple[Parser, dict[str, Parser]]:
    """The parser and its subparsers."""
    parser = Parser(
        prog="dpso",
        description="An executable, audited edition of a paper on private optimisation, and a DP auditor.",
        epilog="Start with:  dpso audit --level quick     or     dpso trace lem:oracle",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    subparsers: dict[str, Parser] = {}
    for name, module in modules.items():
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=f"Example:  {module.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.add_argument("--json", action="store_true", help="machine-readable output on stdout")
        sub.set_defaults(run=module.run)
        subparsers[name] = sub
    return parser, subparsers


def _parse(argv: Sequence[str]) -> argparse.Namespace | None:
    modules = command_modules()
    parser, subparsers = build_parser(modules)
    if not argv:
        parser.print_help()
        return None
    if not argv[0].startswith("-") and argv[0] not in modules:
        close = difflib.get_close_matches(argv[0], modules, n=1)
        hint = f", did you mean {close[0]}?" if close else ""
        raise InputError(f"unknown command {argv[0]!r}{hint} (see: dpso --help)")
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        active = subparsers.get(args.command, parser)
        raise InputError(f"unknown argument {unknown[0]!r}{active.nearest(unknown[0])} (see: {active.prog} --help)")
    return args


INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code."""
    code = _run(argv)
    if argv is None and code == INTERRUPTED:
        # The process is about to end: a further Ctrl-C must not make Python print where it was.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def _run(argv: Sequence[str] | None) -> int:
    try:
        args = _parse(sys.argv[1:] if argv is None else argv)
        code = 0 if args is None else int(args.run(args))
        sys.stdout.flush()
        return code
    except InputError as error:
        print(f"dpso: {one_line(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("dpso: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("DPSO_DEBUG"):
            raise
        name = type(error).__name__
        print(f"dpso: internal error, {name}: {one_line(str(error))} (DPSO_DEBUG=1 shows where)", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
