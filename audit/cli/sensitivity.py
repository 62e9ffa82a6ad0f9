"""`dpso sensitivity`: how far does a query move between neighbours?"""

from __future__ import annotations

import argparse
import json

from audit.cli.test import count, load_mechanism, pairs_in, read_data
from audit.runtime.errors import InputError, wrapped

HELP = "how far does a query move between neighbours? search for more than is claimed"
EXAMPLE = """dpso sensitivity statistics:fmean --claimed 0.5 --data '{"dataset": [0, 1], "neighbour": [1, 1]}'"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.add_argument("target", metavar="MODULE:CALLABLE", help="a Python callable query(dataset)")
    parser.add_argument(
        "--data",
        required=True,
        metavar="PAIRS.json",
        help='a file with {"dataset": …, "neighbour": …} or {"pairs": […]}, or that text itself',
    )
    parser.add_argument("--claimed", required=True, type=float, help="the claimed sensitivity")
    parser.add_argument("--norm", default="2", help="p of the norm, or inf (default 2)")
    parser.add_argument("--budget", type=int, default=2000, help="pairs to evaluate (default 2000)")
    parser.add_argument("--seed", type=count, default=0, help="makes the search repeatable (default 0)")
    parser.add_argument(
        "--bounds", type=float, nargs=2, metavar=("LOW", "HIGH"), help="let numeric records move within bounds"
    )


def run(args: argparse.Namespace) -> int:
    """Exit 0 if within the claim, 1 if exceeded."""
    from audit.auditor.search.sensitivity import audit_sensitivity

    query = load_mechanism(args.target)
    try:
        result = audit_sensitivity(
            query,
            pairs_in(read_data(args.data), args.data),
            claimed=args.claimed,
            norm=args.norm,
            budget=args.budget,
            seed=args.seed,
            bounds=tuple(args.bounds) if args.bounds else None,
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    except Exception as error:  # noqa: BLE001 - the query is the user's
        raise InputError(f"{args.target} raised {type(error).__name__}: {error}") from None
    print(json.dumps(result.to_dict(), default=str) if args.json else wrapped(str(result)))
    return 1 if result.exceeded else 0
