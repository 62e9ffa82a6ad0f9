"""A plugin of pytest for `make mutation`: which test runs which line, and how long each test takes.

Each test is a context of coverage's measurement, in the processes that it starts too (they read the name of the test
from their environment). What a session-wide cache computes counts for the test that came first.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Generator
from pathlib import Path

import coverage
import pytest

CONTEXT = "DPSO_TEST"
"""The variable with the name of the test that is running ..."""
SETTINGS = "DPSO_COVERAGE"
"""... that with coverage's settings for the processes that it starts ..."""
DURATIONS = "DPSO_DURATIONS"
"""... and that with the folder where each worker of pytest writes what its tests took."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Name the context after the test."""
    if SETTINGS in os.environ:  # a child reads the settings itself, and with them the name of the test
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
        os.environ["COVERAGE_PROCESS_START"] = os.environ[SETTINGS]
    os.environ[CONTEXT] = item.nodeid
    if (current := coverage.Coverage.current()) is not None:
        current.switch_context(item.nodeid)
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down how a test went: a part (setup, call, teardown) a line."""
    if (folder := os.environ.get(DURATIONS)) and "PYTEST_XDIST_WORKER" in os.environ:
        with (Path(folder) / f"{os.environ['PYTEST_XDIST_WORKER']}.jsonl").open("a", encoding="utf-8") as file:
            print(json.dumps([report.nodeid, report.when, report.outcome, report.duration]), file=file)


PROCESSOR = "DPSO_PROCESSOR"
"""The variable with the seconds of processor that a process of pytest gets, and each that it starts."""


def pytest_configure() -> None:
    """Set the limit: a process that needs more is ended by the system, however busy the machine is."""
    if seconds := int(os.environ.get(PROCESSOR, "0")):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))  # SIGXCPU, and then the end


CHOSEN = "DPSO_CHOSEN"
"""The variable with a file of tests to run and in which order, and of all tests that were known."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the chosen tests, in their order, and those that nobody knew (an id may hang on what was changed)."""
    if path := os.environ.get(CHOSEN):
        chosen, known = json.loads(Path(path).read_text(encoding="utf-8"))
        order = {id: i for i, id in enumerate(chosen)}
        strangers = set(known) - set(chosen)
        items[:] = sorted(
            (item for item in items if item.nodeid not in strangers),
            key=lambda item: order.get(item.nodeid, len(order)),
        )
