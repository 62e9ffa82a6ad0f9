"""`dpso prove`: replay the steps of the proofs that a machine decides for all parameters."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "replay the steps of proofs that hold for all parameters; export them for other people's solvers"
EXAMPLE = "dpso prove lem:moreau --export smt"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", nargs="?", help="a statement, an erratum or a step (default: all steps)")
    parser.add_argument("--export", metavar="DIR", type=Path, help="write each step and its mutant as SMT-LIB")
    parser.add_argument("--record", action="store_true", help="make this replay the recorded one")


def run(args: argparse.Namespace) -> int:
    """Replay and show; exit 0 if every step by machine is proved, 1 if one is false, 3 if one is open."""
    from audit.cli.replay import replay

    return replay(args)
