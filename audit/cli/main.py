"""The command `dpso`: exit 0 = as it should be, 1 = a violation, divergence or stale map, 2 = bad input.

Bad input gives one line on stderr, never a traceback. Each subcommand lives in `audit.cli`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import textwrap
from collections.abc import Iterator, Sequence
from importlib import metadata
from types import ModuleType
from typing import NoReturn

from audit.runtime.errors import InputError, one_line
from audit.runtime.extras import remedy
from audit.runtime.interrupts import INTERRUPTED
from audit.runtime.suggest import did_you_mean

ORDER = ("audit", "test", "sensitivity", "crosscheck", "trace", "errata", "prove", "calibrate", "vectors", "bench")
"""The subcommands, a module each, as `dpso --help` lists them."""

FIRST_STEPS = """first steps:
  dpso errata E3.1 --run       watch a defect of the paper happen
  dpso audit --level quick     check every statement; report in dpso-out/
  dpso trace lem:oracle        from a lemma to its code and checks
  dpso test --help             is my own mechanism private?
  dpso COMMAND --help          the options, and an example to copy"""


class Parser(argparse.ArgumentParser):
    """argparse, with one-line errors that suggest the nearest spelling."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage and leaving."""
        raise InputError(f"{message} (see: {self.prog} --help)")

    def nearest(self, unknown: str) -> str:
        """', did you mean --x?' for an option that does not exist."""
        options = [o for action in self._actions for o in action.option_strings]
        return did_you_mean(unknown.split("=")[0], options)


def command_modules(names: Sequence[str] = ORDER) -> dict[str, ModuleType]:
    """The modules of subcommands: `HELP`, `EXAMPLE`, `configure(parser)`, `run(args)`."""
    return {name: importlib.import_module(f"audit.cli.{name}") for name in names}


def build_parser(modules: dict[str, ModuleType]) -> tuple[Parser, dict[str, Parser]]:
    """The parser and its subparsers."""
    parser = Parser(
        prog="dpso",
        description=_filled("An executable, audited edition of a paper on private optimisation, and a DP auditor."),
        epilog=FIRST_STEPS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    subparsers: dict[str, Parser] = {}
    for name, module in modules.items():
        sub = commands.add_parser(
            name,
            help=module.HELP,
            description=_filled(module.HELP),
            epilog=_example(module.EXAMPLE),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.add_argument("--json", action="store_true", help="machine-readable output on stdout")
        sub.set_defaults(run=module.run)
        subparsers[name] = sub
    return parser, subparsers


def _filled(text: str) -> str:
    """A description, folded: argparse is told to leave the epilog's lines alone, and leaves these alone too."""
    return textwrap.fill(text, 78)


def _example(command: str) -> str:
    """An example that can be copied: folded before an option, the way a shell reads it."""
    lines, line = [], "Example:  "
    for i, part in enumerate(command.split(" --")):
        piece = f" --{part}" if i else part
        if i and len(line) + len(piece) > 76:
            lines.append(f"{line} \\")
            line, piece = "    ", piece.lstrip()
        line += piece
    return "\n".join([*lines, line])


def _version() -> str:
    try:
        return f"dpso {metadata.version('dpso')}"
    except metadata.PackageNotFoundError:
        return "dpso (a checkout that is not installed)"


def _misspelt(argv: Sequence[str], active: Parser) -> Iterator[str]:
    """Long options that do not exist; argparse would complain first of what is missing because of them."""
    known = [o for action in active._actions for o in action.option_strings]
    for word in argv:
        if word == "--":
            return
        name = word.split("=")[0]
        if name.startswith("--") and not any(c.isspace() for c in name) and not any(o.startswith(name) for o in known):
            yield word


def _mechanism(argv: Sequence[str]) -> str | None:
    """What looks like MODULE:CALLABLE, where no option that takes an address or a label explains it."""
    explained = {"--only", "--scheduler"} & set(argv)
    return None if explained else next((word for word in argv if ":" in word), None)


def _parse(argv: Sequence[str]) -> argparse.Namespace | None:
    """The options of the command that is named; None if help was all that was asked for. No other command is loaded."""
    if argv and argv[0] == "help":
        argv = [*argv[1:2], "--help"]
    modules = command_modules(argv[:1] if argv and argv[0] in ORDER else ORDER)
    parser, subparsers = build_parser(modules)
    if not argv:
        parser.print_help()
        return None
    if not argv[0].startswith("-") and argv[0] not in modules:
        raise InputError(f"unknown command {argv[0]!r}{did_you_mean(argv[0], modules)} (see: dpso --help)")
    active = subparsers.get(argv[0], parser)
    if empty := [word for word in argv if word.startswith("--") and word.endswith("=--")]:
        raise InputError(f"{empty[0]}: -- is no value (see: {active.prog} --help)")  # argparse would drop it
    misspelt = list(_misspelt(argv, active))
    args, unknown = (None, misspelt) if misspelt else parser.parse_known_args(argv)
    if unknown and argv[0] == "audit" and (named := _mechanism(argv[1:])):
        raise InputError(
            f"dpso audit checks the paper (--only {named} for one statement); to audit a mechanism: dpso test {named}"
            " (see: dpso test --help)"
        )
    if unknown:
        raise InputError(f"unknown argument {unknown[0]!r}{active.nearest(unknown[0])} (see: {active.prog} --help)")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code."""
    try:
        args = _parse(sys.argv[1:] if argv is None else argv)
        code = 0 if args is None else int(args.run(args))
        sys.stdout.flush()
        return _interrupted(argv) if code == INTERRUPTED else code
    except InputError as error:
        print(f"dpso: {one_line(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as left:
        # rich leaves with 1 when its reader has gone, as if that were an error.
        if isinstance(left.__context__, BrokenPipeError):
            return 0
        raise
    except KeyboardInterrupt:
        print("dpso: interrupted", file=sys.stderr)
        return _interrupted(argv)
    except Exception as error:
        if os.environ.get("DPSO_DEBUG"):
            raise
        if needed := remedy(error):
            print(f"dpso: {needed}", file=sys.stderr)
            return 2
        name = type(error).__name__
        print(f"dpso: internal error, {name}: {one_line(str(error))} (DPSO_DEBUG=1 shows where)", file=sys.stderr)
        return 2


def _interrupted(argv: Sequence[str] | None) -> int:
    """The code of an interrupted run. A process that is about to end ignores Ctrl-C, or Python prints where it was."""
    if argv is None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return INTERRUPTED
