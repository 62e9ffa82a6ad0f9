"""Every symbol of every formula is pinned: moved a little, some expected value moves.

Of the reference, the formulas of Algorithms 2 and 3; of the client of SPEC.md, all (helper `slips`).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import pytest
import slips
from mutants import Slip, first_caught
from night import by_day

from audit.crosscheck.clients import PythonClient
from audit.crosscheck.compare import CrosscheckReport, crosscheck
from reference.paper.algorithms import BY_LABEL
from reference.vectors.execute import MODULES

BUMP = "(lambda x: x + 1 if isinstance(x, int) else x * 1.0625)"
"""A sixteenth more, or the next integer."""
FOURFOLD = "(lambda x: x * 4)"
"""For the formula of T, which is rounded to an integer and sees δ through the root of a logarithm."""

FORMULAS = [
    ("Alg:phased", "phased_sgd", "theorem_beta", "corrected"),
    ("Alg:phased", "phased_sgd", "theorem_beta_printed", "printed"),
    ("Alg:phased", "phased_sgd", "theorem_alpha", "corrected"),
    ("Alg:phased", "phased_sgd", "sigma_printed", "corrected"),
    ("Alg:phased", "tuned", "tuned_step", "tight"),
    ("Alg:nfw", "noisy_frank_wolfe", "theorem_beta", "corrected"),
    ("Alg:nfw", "noisy_frank_wolfe", "theorem_alpha", "corrected"),
    ("Alg:nfw", "noisy_frank_wolfe", "theorem_alpha_printed", "printed"),
    ("Alg:nfw", "noisy_frank_wolfe", "theorem_steps", "corrected"),
    ("Alg:nfw", "noisy_frank_wolfe", "scale_printed", "corrected"),
    ("Alg:nfw", "noisy_frank_wolfe", "score_range", "tight"),
]


def symbols(module: str, owner: str) -> Iterator[tuple[str, str, str]]:
    """(symbol with its place, source, source with this one moved) for every operand of the function's arithmetic."""
    source = textwrap.dedent(inspect.getsource(getattr(import_module(MODULES[module]), owner)))
    body = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    lines = source.splitlines(keepends=True)
    for node in (n for statement in body.body for n in ast.walk(statement)):
        operands = [node.left, node.right] if isinstance(node, ast.BinOp) else []
        operands += node.args if isinstance(node, ast.Call) and ast.unparse(node.func) == "K" else []
        for leaf in operands:
            text = ast.unparse(leaf)
            if isinstance(leaf, (ast.Name, ast.Attribute)) or (isinstance(leaf, ast.Constant) and leaf.value != 0):
                row, start, end = leaf.lineno - 1, leaf.col_offset, leaf.end_col_offset
                raw = lines[row].encode()
                moved = (
                    raw[:start].decode()
                    + f"{FOURFOLD if owner == 'theorem_steps' else BUMP}({text})"
                    + raw[end:].decode()
                )
                yield f"{owner}:{row}:{start}:{text}", source, "".join([*lines[:row], moved, *lines[row + 1 :]])


MOVED = [
    (label, module, owner, variant, *found)
    for label, module, owner, variant in FORMULAS
    for found in symbols(module, owner)
]


def test_all_symbols_are_there() -> None:
    assert len(MOVED) >= 50
    assert {row[4].split(":")[-1] for row in MOVED} >= {"n", "p.D", "p.delta", "p.epsilon", "p.smoothing.R", "J", "L0"}


@pytest.mark.parametrize("row", MOVED, ids=lambda row: row[4])
def test_moving_a_symbol_moves_an_expected_value(row: tuple[str, str, str, str, str, str, str]) -> None:
    label, module, owner, variant, id, old, new = row
    assert variant in BY_LABEL[label].editions
    verdict = first_caught(Slip(id, label, variant, module, owner, old, new, 0, "a symbol moved"))
    assert verdict is not None, f"no vector sees {id}"


# ------------------------------------------------------------------ every formula of the specification, by rule

SAME = {
    ("__init__", "math.inf if data['p'] == 'inf' else float(data['p'])"): "float reads inf, too",
    ("diameter", "0 if self.s == math.inf else 1 / self.s"): "1/inf is 0",
    ("contains", "1"): "a slack for rounding",
    ("contains", "1e-12"): "a slack for rounding",
    ("section3", "1e-12"): "a slack for rounding",
    ("minimiser", "x"): "a scale that cancels",
    ("minimiser", "top"): "a scale that cancels",
    ("search", "trace if trace is not None else Trace()"): "a trace that nobody reads",
    ("derivative", "found if printed else clip(found, -q['L0'], q['L0'])"): "line 2 keeps |β(m − ū)| ≤ L0 already",
    ("phased", "gaussian_mu(eps, delta) if variant == 'tight' else 0.0"): "a number that the other variants do not use",
    ("phased", "1"): "1 + 2^-38 for 1",
    ("phased", "max(T - 2, 0)"): "T = 1 has the factor (T − 1)/T = 0",
    ("influence", "L0 if k == 0 else (1 - eta(k)) * min(L1 * reach, 2 * L0) + eta(k) * L0"): "1 − η_0 = 0",
    ("guided", "R if printed else R - 1"): "a call whose result nobody reads: declared unchecked, see below",
    ("guided", "max(p, 1 + 1 / math.log(2))"): "p ≤ 2 < 1 + 1/ln 2",
    ("guided", "r"): "the end of a slice of which the plan reads the first records",
    ("bisect", "low"): "the ends have met",
    ("bisect", "high"): "the ends have met",
    ("kov_epsilon0", "eps"): "another upper end of a bisection",
    ("kov_epsilon0", "50"): "another upper end of a bisection",
}
"""(function of the client, what was changed) → why no value of the algorithm can depend on it."""


@cache
def survivors() -> tuple[int, tuple[slips.Change, ...]]:
    """How many changes there are, and those that no vector sees: by day of every tenth, and of what is excused."""
    found = list(slips.changes())
    tried = [(c, code) for i, (c, code) in enumerate(found) if i % by_day(10, 1) == 0 or (c.owner, c.old) in SAME]
    return len(found), tuple(change for change, code in tried if slips.seen(change, code) is None)


def test_every_operand_branch_and_logarithm_of_the_specification_moves_an_expected_value() -> None:
    """Moved by a sixteenth (at most a quarter), exchanged for a number of its statement, or its branch dropped."""
    count, unseen = survivors()
    assert count >= 1900
    assert [str(change) for change in unseen if (change.owner, change.old) not in SAME] == []


def test_what_is_excused_is_still_unseen() -> None:
    assert set(SAME) == {(change.owner, change.old) for change in survivors()[1]}


def test_the_changes_reach_every_parameter() -> None:
    moved = {change.old for change, _ in slips.changes()}
    assert moved >= {"L0", "L1", "D", "d", "n", "J", "eps", "L", "G", "T", "b", "rho", "mu", "tau", "q['R']", "p"}


def test_a_loop_that_ends_too_early_is_declared_unchecked() -> None:
    """The printed Algorithm 6 makes a call whose result it never returns: without it all numbers are the same."""
    (code,) = {c: code for c, code in slips.changes() if c.old.startswith("R if printed") and c.new == "R - 1"}.values()
    verdicts = tuple(crosscheck(PythonClient(slips.built("guided", code), "early"), "Alg:PGPSMD", "printed"))
    report = CrosscheckReport("Alg:PGPSMD", "printed", "early", verdicts)
    assert report.agrees
    assert {(3, "batch"), (4, "w")} <= set(report.unchecked)
