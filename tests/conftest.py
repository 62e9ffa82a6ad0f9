"""Profiles of hypothesis, tests that need Linux, and a copy of the paper for the tests that need one."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run, nothing written to disk, no deadlines.
settings.register_profile(
    "dpso",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
# `make nightly`: examples that nobody has seen; a failure prints how to repeat it.
settings.register_profile("nightly", settings.get_profile("dpso"), derandomize=False, print_blob=True)
settings.load_profile("dpso")


def only_on_linux(item: pytest.Item, platform: str = sys.platform) -> pytest.MarkDecorator | None:
    """The mark that skips a test marked `linux` elsewhere, with the reason that it gives."""
    mark = item.get_closest_marker("linux")
    if mark is None or platform == "linux":
        return None
    return pytest.mark.skip(reason=f"needs Linux ({mark.args[0]}), and this is {platform}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what cannot run here."""
    for item in items:
        if skip := only_on_linux(item):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def paper_tex() -> Path:
    """The paper's TeX: beside the checkout, or where DPSO_PAPER says. It is not ours to ship: skip without it."""
    path = Path(os.environ.get("DPSO_PAPER", Path(__file__).parents[2] / "shared" / "paper.tex"))
    if not path.is_file():
        pytest.skip("needs a copy of the paper: set DPSO_PAPER to its TeX file")
    return path
