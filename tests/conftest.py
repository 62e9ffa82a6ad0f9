"""One hypothesis profile for everybody, and a copy of the paper for the tests that need one."""

import os
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
settings.load_profile("dpso")


@pytest.fixture(scope="session")
def paper_tex() -> Path:
    """The paper's TeX: beside the checkout, or where DPSO_PAPER says. It is not ours to ship: skip without it."""
    path = Path(os.environ.get("DPSO_PAPER", Path(__file__).parents[2] / "shared" / "paper.tex"))
    if not path.is_file():
        pytest.skip("needs a copy of the paper: set DPSO_PAPER to its TeX file")
    return path
