"""Profiles of hypothesis, tests that need Linux, and a copy of the paper for the tests that need one."""

import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from night import NIGHTLY

# The same examples on every run, nothing written to disk, no deadlines. Everything is named: what is not would come
# from hypothesis's own profile, which is another one where the variable CI is set.
settings.register_profile(
    "dpso",
    derandomize=True,
    max_examples=60,
    deadline=None,
    database=None,
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)
# `make nightly`: examples that nobody has seen; a failure prints how to repeat it, and how to keep it.
settings.register_profile(NIGHTLY, settings.get_profile("dpso"), max_examples=100, derandomize=False, print_blob=True)
settings.load_profile("dpso")


def how_to_keep(function: object, test: str, profile: str) -> str:
    """What to do with an example that failed at night; nothing of other tests and by day."""
    if profile != NIGHTLY or not is_hypothesis_test(function):
        return ""
    return (
        f"Put @example(…) with the arguments of the falsifying example above @given of {test}: it is then tried in"
        " every run."
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say below a failure how to keep its example."""
    report = yield
    function = getattr(item, "obj", None)
    if report.failed and (said := how_to_keep(function, item.nodeid, settings.get_current_profile_name())):
        report.sections.append(("to make it permanent", said))
    return report


def only_on_linux(item: pytest.Item, platform: str = sys.platform) -> pytest.MarkDecorator | None:
    """The mark that skips a test marked `linux` elsewhere, with the reason that it gives."""
    mark = item.get_closest_marker("linux")
    if mark is None or platform == "linux":
        return None
    return pytest.mark.skip(reason=f"needs Linux ({mark.args[0]}), and this is {platform}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what cannot run here; leave what is marked `night` to the night."""
    for item in items:
        if skip := only_on_linux(item):
            item.add_marker(skip)
    late = [item for item in items if item.get_closest_marker("night")]
    if late and settings.get_current_profile_name() != NIGHTLY:
        config.hook.pytest_deselected(items=late)
        items[:] = [item for item in items if item not in set(late)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end, without being asked, what was not tested here and why: a skipped test is easily overlooked."""
    skipped = [report.longrepr for report in terminalreporter.stats.get("skipped", [])]
    reasons = Counter(found[2].removeprefix("Skipped: ") for found in skipped if isinstance(found, tuple))
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"NOT TESTED ({count}): {reason}", yellow=True, bold=True)


@pytest.fixture(scope="session")
def paper_tex() -> Path:
    """The paper's TeX: beside the checkout, or where DPSO_PAPER says. It is not ours to ship: skip without it."""
    path = Path(os.environ.get("DPSO_PAPER", Path(__file__).parents[2] / "shared" / "paper.tex"))
    if not path.is_file():
        pytest.skip("needs a copy of the paper: set DPSO_PAPER to its TeX file")
    return path
