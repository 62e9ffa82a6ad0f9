"""A pytest plugin: the fixture `assert_dp`, whose audits share one error budget over the whole session.

    def test_noisy_sum(assert_dp):
        assert_dp(noisy_sum, [0, 1], [1, 1], epsilon=1.0)

**The budget.** Before the first test runs, pytest has collected them all. With B the error budget (`--dp-budget`, or
`dp_budget` in the configuration) and n the audits that the collected tests announce (one each, or what
`@pytest.mark.dp(audits=3)` says), every audit has confidence 1 − B/n. Each audit calls a true claim violated with
probability at most B/n, so by the union bound the chance that a session calls any true claim violated is at most B,
however the audits depend on each other. An audit that was not announced is refused, as is a confidence of its own.

What was found goes to the summary at the end of the session, to JUnit (properties `dp.1.verdict`, …) and, with
`--dp-summary FILE`, to a Markdown table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

BUDGET = 0.001
"""The error budget of a session, unless said: one false alarm in a thousand sessions."""
FIXTURE = "assert_dp"
PREFIX = "dp."
"""What the properties of audits begin with."""


@dataclass(frozen=True)
class Share:
    """What each audit of a session has, and how many each test announced."""

    budget: float
    announced: dict[str, int]

    @property
    def level(self) -> float:
        """The error level of one audit."""
        return self.budget / max(sum(self.announced.values()), 1)


SHARE = pytest.StashKey[Share]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("dpso", "audits of differential privacy")
    group.addoption("--dp-budget", metavar="B", help=f"chance of any false alarm in the session (default {BUDGET})")
    group.addoption(
        "--dp-summary", metavar="FILE", type=Path, help="append a Markdown table of all audits to this file"
    )
    parser.addini("dp_budget", "chance of any false alarm in the session", default=str(BUDGET))


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and refuse a budget that is none."""
    config.addinivalue_line("markers", f"dp(audits): how many audits a test makes with the fixture {FIXTURE} (else 1)")
    budget_of(config)


def budget_of(config: pytest.Config) -> float:
    """The error budget of the session."""
    given = config.getoption("--dp-budget") or config.getini("dp_budget")
    try:
        budget = float(given)
    except ValueError:
        budget = 0.0
    if not 0 < budget < 1:
        raise pytest.UsageError(f"dp_budget = {given} must be strictly between 0 and 1, e.g. {BUDGET}")
    return budget


def announced(item: pytest.Item) -> int:
    """How many audits a test makes."""
    mark = item.get_closest_marker("dp")
    count = 1 if mark is None else mark.kwargs.get("audits", *mark.args[:1] or (1,))
    if not isinstance(count, int) or count < 1:
        raise pytest.UsageError(f"{item.nodeid}: dp(audits={count!r}) must be a whole number of at least 1")
    return count


def pytest_collection_finish(session: pytest.Session) -> None:
    """Share the budget among the tests that are going to run."""
    tests = [item for item in session.items if FIXTURE in getattr(item, "fixturenames", ())]
    session.config.stash[SHARE] = Share(budget_of(session.config), {item.nodeid: announced(item) for item in tests})


@pytest.fixture
def assert_dp(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`dpso.assert_dp` at this test's share of the session's error budget."""
    share, item = request.config.stash[SHARE], request.node
    if item.nodeid not in share.announced:
        pytest.fail(f"name {FIXTURE} among the parameters of the test: audits are counted when tests are collected")
    made = 0

    def audited(*args: Any, strict: bool = True, **options: Any) -> Any:
        __tracebackhide__ = True
        nonlocal made
        made += 1
        if made > share.announced[item.nodeid]:
            pytest.fail(f"audit {made} of this test was not announced: mark it @pytest.mark.dp(audits={made})")
        result = _audited(args, options, 1 - share.level)
        item.user_properties.extend((f"{PREFIX}{made}.{name}", value) for name, value in properties(result).items())
        if not result.passes(strict):
            raise AssertionError(str(result))
        return result

    return audited


def _audited(args: tuple[Any, ...], options: dict[str, Any], confidence: float) -> Any:
    """The audit at this confidence; one that brings a confidence of its own is refused."""
    from dpso import Budget, audit_dp

    budget = options.pop("budget", None)
    if "confidence" in options or (budget is not None and budget.confidence != Budget().confidence):
        raise ValueError(f"the fixture {FIXTURE} shares dp_budget among all tests: drop confidence, or call dpso's own")
    if budget is not None:
        return audit_dp(*args, budget=replace(budget, confidence=confidence), **options)
    return audit_dp(*args, confidence=confidence, **options)


def properties(result: Any) -> dict[str, str]:
    """What is kept of a result, as words."""
    numbers = {name: f"{getattr(result, name):.4g}" for name in ("lower", "would_detect", "p_value")}
    level = f"{1 - result.confidence:.4g}"
    words = {"claim": str(result.claim), "currency": result.claim.symbol, "verdict": result.verdict}
    return words | numbers | {"level": level, "samples": str(result.samples), "seed": str(result.seed)}


# ------------------------------------------------------------------------------------------------- the summary


@dataclass(frozen=True)
class Audited:
    """One audit of the session."""

    test: str
    said: dict[str, str]


def rows(terminalreporter: Any) -> list[Audited]:
    """The audits of all tests, from the reports (which come back from other processes, too)."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    finished = {r.nodeid: r for r in reports if getattr(r, "when", "") == "call"}
    return [
        Audited(test, said) for test, report in sorted(finished.items()) for said in _audits(report.user_properties)
    ]


def _audits(pairs: list[tuple[str, object]]) -> Iterator[dict[str, str]]:
    """The properties of a test, audit by audit."""
    by_number: dict[int, dict[str, str]] = {}
    for name, value in pairs:
        head, _, field = name.removeprefix(PREFIX).partition(".")
        if name.startswith(PREFIX) and head.isdecimal():
            by_number.setdefault(int(head), {})[field] = str(value)
    yield from (by_number[number] for number in sorted(by_number))


def promise(found: list[Audited], budget: float) -> str:
    """What all the audits together are worth."""
    return (
        f"{len(found)} audit{'s' * (len(found) > 1)}, error budget {budget:g}: if every claim is true, a session"
        f" reports any of them violated with probability at most {budget:g} (level {found[0].said['level']} each)"
    )


def table(found: list[Audited], budget: float) -> str:
    """The audits as Markdown."""
    lines = ["### Differential privacy", "", promise(found, budget) + ".", ""]
    lines += ["| test | claim | verdict | at least | would detect |", "|---|---|---|---|---|"]
    for row in found:
        test, claim = (text.replace("|", "\\|") for text in (row.test, row.said["claim"]))
        bound, reach = (f"{row.said['currency']} = {row.said[name]}" for name in ("lower", "would_detect"))
        lines.append(f"| `{test}` | {claim} | **{row.said['verdict']}** | {bound} | {reach} |")
    return "\n".join(lines) + "\n"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what was audited and how sure it is."""
    found = rows(terminalreporter)
    if not found:
        return
    budget = budget_of(config)
    terminalreporter.section("differential privacy")
    for row in found:
        at_least = f"{row.said['currency']} at least {row.said['lower']}, would detect {row.said['would_detect']}"
        terminalreporter.line(f"{row.said['verdict']:<12} {row.test}: {row.said['claim']}; {at_least}")
    terminalreporter.line(promise(found, budget))
    path = config.getoption("--dp-summary")
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(table(found, budget))
