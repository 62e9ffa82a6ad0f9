"""`dpso calibrate`: noise scales as printed, corrected and as tight as proven, and what each of them guarantees."""

from __future__ import annotations

import argparse
import inspect
import json
import math
import sys
import time
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from audit.cli.algorithms import HELP as ALGORITHM
from audit.cli.algorithms import label_of
from audit.runtime.errors import InputError, wrapped
from reference.paper.algorithms import EDITIONS

if TYPE_CHECKING:
    from reference.numerics.numbers import Numbers

HELP = "noise scales for a target (ε,δ): printed, corrected, tightest proven, and what each guarantees"
EXAMPLE = "dpso calibrate phased-sgd --epsilon 1 --delta 1e-6 --n 65536 --d 10"

SHOWN = 8
"""How many scales of a variant the table shows; JSON has all."""
MOST_DIGITS = 10_000
"""Chosen: far beyond what a run has time for."""
SLOW = 15
"""From so many rounds on Algorithm 4 takes longer than two seconds."""

_WHOLE = {"n": "records", "d": "dimension", "J": "vertices", "b": "first batch", "T": "steps"}
_REAL = {
    "L0": "Lipschitz constant",
    "L1": "smoothness",
    "D": "diameter (0: unconstrained, Algorithm 2 only)",
    "p": "exponent of the norm",
    "beta": "smoothing",
    "alpha": "accuracy of the oracle",
    "rank": "bound on the rank",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("algorithm", metavar="ALGORITHM", help=ALGORITHM)
    parser.add_argument("--epsilon", required=True, metavar="E", help="ε > 0")
    parser.add_argument("--delta", required=True, metavar="D", help="0 < δ < 1; 1e-400 is read exactly")
    parser.add_argument(
        "--variant",
        default="all",
        choices=("all", *EDITIONS),
        help="one variant only (default all)",
    )
    for name, what in _WHOLE.items():
        parser.add_argument(f"--{name}", metavar="N", help=what)
    for name, what in _REAL.items():
        parser.add_argument(f"--{name}", metavar="X", help=what)
    parser.add_argument("--reach", metavar="X", help="bound on the norms of W's points (default D: W holds the origin)")
    parser.add_argument("--numbers", metavar="K", help="numbers of the run: float64 (default), mp30, …, exact")
    parser.add_argument("--R", metavar="X", help="R as printed: bound on the features (2, 3), rounds (4, 5, 6)")
    parser.add_argument("--noise", choices=("best", "laplace", "gumbel"), help="noise of the tight variant (3, 4)")
    parser.add_argument("--step", choices=("theorem", "tuned"), help="η of the tight variant of Algorithm 2")
    parser.add_argument("--oracle", choices=("sound", "printed", "halving"), help="of Algorithm 2 (default sound)")


def run(args: argparse.Namespace) -> int:
    """Print scales, certified guarantees and ratios; refuse where a condition of the printed theorem fails."""
    started = time.perf_counter()
    from audit.accounting.accountants import account
    from reference.numerics.numbers import Undecided

    label = label_of(args.algorithm)
    parameters = _parameters(args, label)
    wanted = EDITIONS if args.variant == "all" else (args.variant,)
    numbers = None if args.numbers is None else _numbers(args.numbers)
    if parameters.get("R", 0) in range(SLOW, 99) and label == "alg:polySFW":
        print(f"adding up rounds of up to 2^{parameters['R'] - 1} steps", file=sys.stderr)
    try:
        accounts = [
            account(label, variant, args.epsilon, args.delta, numbers=numbers, **parameters) for variant in wanted
        ]
        _refuse(label, accounts, args.variant)
        result = _result(label, accounts, parameters, args)
    except ValueError as error:
        raise InputError(str(error)) from None
    except OverflowError:
        raise InputError("a scale is beyond the range of floats: give less extreme values") from None
    except Undecided as error:
        where = f"epsilon = {args.epsilon}, delta = {args.delta} cannot be certified"
        raise InputError(f"{where}: {str(error)[:100]}; give less extreme values") from None
    result["seconds"] = round(time.perf_counter() - started, 3)
    print(json.dumps(result, indent=1, ensure_ascii=False)) if args.json else _table(result)
    return 0


def _parameters(args: argparse.Namespace, label: str) -> dict[str, Any]:
    """The options that were given, as the accountant takes them; an option that it does not have is refused."""
    from audit.accounting.accountants import ACCOUNTANTS

    allowed = get_type_hints(ACCOUNTANTS[label])
    given = {name: getattr(args, name) for name in (*_WHOLE, *_REAL, "R", "reach", "noise", "oracle", "step")}
    found: dict[str, Any] = {}
    for name, text in given.items():
        if text is None:
            continue
        if name not in allowed:
            own = [k for k in allowed if k in given]
            raise InputError(f"--{name} does not apply to {label}: it takes {', '.join(own) or 'no parameters'}")
        found[name] = _whole(name, text) if allowed[name] in (int, int | None) else text
    if found.get("D") is not None and type(None) in get_args(allowed["D"]) and _is_zero(found["D"]):
        found["D"] = None
    return found


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name} = {text} must be a whole number: give an integer") from None


def _numbers(text: str) -> Numbers:
    """float64, mp and a number of digits, or exact."""
    from audit.accounting.accountants import EXACT
    from reference.numerics.numbers import MP, Float64

    known = {"float64": Float64(), "exact": EXACT}
    if text in known:
        return known[text]
    digits = text.removeprefix("mp")
    if digits == text or not digits.isdecimal() or not 15 <= int(digits) <= MOST_DIGITS:
        raise InputError(f"numbers = {text} must be float64, exact, or mp15 to mp{MOST_DIGITS}: give one of these")
    return MP(int(digits))


def _is_zero(text: str) -> bool:
    return text.strip("+-0.") == "" and any(c == "0" for c in text)


def _refuse(label: str, accounts: list[Any], asked: str) -> None:
    """Exit 2 where the printed theorem's conditions (or the only variant's) fail."""
    for one in accounts:
        if one.failed:
            condition = one.failed[0]
            others = [a.target.variant for a in accounts if not a.failed]
            hint = f"; --variant {others[0]} calibrates" if asked == "all" and others else ""
            raise InputError(
                f"{label}, {one.target.variant}: no guarantee, because this condition fails: {condition.text}"
                f" ({condition.remedy}){hint}" + (f"; {one.known_leak}" if one.known_leak else "")
            )


def _result(label: str, accounts: list[Any], parameters: dict[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    from audit.accounting.accountants import ACCOUNTANTS

    defaults = {k: p.default for k, p in inspect.signature(ACCOUNTANTS[label]).parameters.items() if k != "target"}
    defaults["numbers"] = accounts[0].target.numbers_name
    given = parameters if args.numbers is None else parameters | {"numbers": args.numbers}
    return {
        "algorithm": label,
        "epsilon": args.epsilon,
        "delta": args.delta,
        "neighbours": "replace-one",
        "parameters": {k: None if v is None else str(v) for k, v in (defaults | given).items()},
        "assumed": [k for k in defaults if k not in given],
        "variants": [_variant(one, accounts[-1]) for one in accounts],
    }


def _variant(one: Any, last: Any) -> dict[str, Any]:
    """One variant as plain data."""
    from audit.accounting.accountants import noise_ratio
    from audit.accounting.profiles import scientific

    target = one.target
    data: dict[str, Any] = {
        "variant": target.variant,
        "verdict": one.verdict,
        "scales": [{"symbol": s.symbol, "where": s.where, "value": s.value, "noise": s.noise} for s in one.scales],
        "conditions": [{"text": c.text, "holds": c.holds} for c in one.conditions],
        "notes": list(one.notes),
        "noise_over_tightest": noise_ratio(one, last),
        "readings": [_reading(reading, target) for reading in one.readings],
    }
    if target.printed:
        data["record"] = recorded(one.algorithm)
    if one.profile is not None:
        rule, epsilon = one.profile.certified, one.profile.certified_epsilon(target.delta)
        data |= {
            "epsilon_certified": epsilon if math.isfinite(epsilon) else None,
            "delta_certified": scientific(rule.upper(target.epsilon), 6),
            "exact": rule.exact,
            "rule": rule.at(target.epsilon),
            "certificate": one.profile.certificate(target.epsilon, certified=True),
        }
    return data


def recorded(algorithm: str) -> list[dict[str, str]]:
    """What the record of errata says of the algorithm as printed: what is false of it, and conditions left out."""
    from audit.checks.scale import effect
    from audit.report.grades import SEVERITY_WORDS
    from reference.paper.inventory import FALSIFYING, load

    known = load()
    found = [(e, effect(e, algorithm, known)) for e in known.errata]
    return [
        {"erratum": e.id, "word": SEVERITY_WORDS[what], "regime": e.regime}
        for e, what in found
        if what in (*FALSIFYING, "condition")
    ]


def _reading(reading: Any, target: Any) -> dict[str, Any]:
    """What the scales guarantee if the text is read otherwise."""
    from audit.accounting.profiles import scientific

    rule = reading.profile.certified
    return {
        "name": reading.name,
        "verdict": reading.verdict(target),
        "delta_certified": scientific(rule.upper(target.epsilon), 6),
        "exact": rule.exact,
    }


# ------------------------------------------------------------------------------------ the table for people


def _table(result: dict[str, Any]) -> None:
    """Two tables: what each variant guarantees, and its scales side by side."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    title = f"{result['algorithm']}: target ε = {result['epsilon']}, δ = {result['delta']} (replace-one)"
    guarantees = Table(title=escape(title), title_justify="left")
    for heading in ("variant", "verdict", "ε at this δ", "δ at this ε", "noise / tightest"):
        guarantees.add_column(heading)
    for row in result["variants"]:
        guarantees.add_row(*(escape(cell) for cell in _guarantee(row)))
    console.print(guarantees)
    if rows := _scale_rows(result["variants"]):
        scales = Table(title="noise scales", title_justify="left")
        for heading in ("scale", *(_heading(row) for row in result["variants"])):
            scales.add_column(heading)
        for cells in rows:
            scales.add_row(*(escape(cell) for cell in cells))
        console.print(scales)
    for line in (*_premises(result), *_remarks(result["variants"])):
        print(wrapped(line))


def _premises(result: dict[str, Any]) -> list[str]:
    """Which parameters were given, which assumed, which follow from the text: a scale is for these and no others."""
    values, assumed = result["parameters"], result["assumed"]
    given = ", ".join(f"{k} = {v}" for k, v in values.items() if k not in assumed)
    guessed = ", ".join(f"{k} = {values[k]}" for k in assumed if values[k] is not None)
    open_ = ", ".join(k for k in assumed if values[k] is None and k != "reach")
    held = "; W holds the origin" if "reach" in assumed and values.get("D") is not None else ""
    lines = (
        ("for", given, ""),
        ("assumed:", guessed + held, "; give yours"),
        ("not given, the text's own choice:", open_, ""),
    )
    return [f"{head} {what}{tail}" for head, what, tail in lines if what]


def _guarantee(row: dict[str, Any]) -> list[str]:
    ratio, epsilon, delta = row["noise_over_tightest"], row.get("epsilon_certified"), row.get("delta_certified")
    sign = "=" if row.get("exact") else "≤"
    return [
        row["variant"],
        row["verdict"],
        "–" if epsilon is None else f"{epsilon:.6g}",
        "–" if delta is None else f"{sign} {delta}",
        "–" if ratio is None else f"{ratio:.4g}",
    ]


def _told(reading: dict[str, Any]) -> str:
    sign = "=" if reading["exact"] else "≤"
    return f"{reading['name']}: {reading['verdict']}, δ at this ε {sign} {reading['delta_certified']}"


def _scale_rows(variants: list[dict[str, Any]]) -> list[list[str]]:
    """One line a scale, one column a variant; the middle of a long list is left to --json."""
    names = list(dict.fromkeys(f"{s['symbol']}[{s['where']}]" for row in variants for s in row["scales"]))
    by_name = [{f"{s['symbol']}[{s['where']}]": s for s in row["scales"]} for row in variants]
    rows = [[name, *(_scale(found.get(name)) for found in by_name)] for name in names]
    if len(rows) <= SHOWN:
        return rows
    return [*rows[: SHOWN - 2], [f"… {len(rows) - SHOWN + 1} more: --json", *("" for _ in variants)], rows[-1]]


def _heading(row: dict[str, Any]) -> str:
    kinds = sorted({s["noise"] for s in row["scales"]})
    return f"{row['variant']} ({', '.join(kinds)})" if kinds else str(row["variant"])


def _scale(scale: dict[str, Any] | None) -> str:
    return "–" if scale is None else f"{scale['value']:.6g}"


def _remarks(variants: list[dict[str, Any]]) -> list[str]:
    """Rules and notes; what several variants share is said once."""
    said: dict[str, list[str]] = {}
    for row in variants:
        said_of_it = [f"by the record, {e['word']} ({e['erratum']}): {e['regime']}" for e in row.get("record", ())]
        for line in (row.get("rule"), *row["notes"], *(_told(reading) for reading in row["readings"]), *said_of_it):
            if line:
                said.setdefault(line, []).append(row["variant"])
    return [f"{', '.join(who)}: {line}" for line, who in said.items()]
