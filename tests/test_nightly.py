"""What a property that fails at night prints: how to repeat it, and how to keep it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """
from hypothesis import given, strategies as st

@given(st.integers())
def test_small(n):
    assert n < 1000

def test_plain():
    assert False
"""


def environment(on_ci: bool) -> dict[str, str]:
    """This process's, with the helpers' folder, and with or without the variables by which hypothesis knows a CI."""
    here = {name: value for name, value in os.environ.items() if name not in {"CI", "GITHUB_ACTIONS", "TF_BUILD"}}
    return {**here, **({"CI": "true"} if on_ci else {}), "PYTHONPATH": str(Path(__file__).with_name("helpers"))}


@pytest.mark.parametrize("on_ci", [False, True])
@pytest.mark.parametrize("profile", ["nightly", "dpso"])
def test_a_night_says_how_to_keep_an_example(tmp_path: Path, profile: str, on_ci: bool) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_mine.py").write_text(FAILING)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "test_mine.py"]
    done = subprocess.run(
        [*command, f"--hypothesis-profile={profile}"],
        cwd=tmp_path,
        env=environment(on_ci),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 failed" in done.stdout
    assert "n=1000," in done.stdout
    at_night = profile == "nightly"
    assert done.stdout.count("to make it permanent") == int(at_night)
    assert ("above @given of test_mine.py::test_small: it is then tried in every run" in done.stdout) is at_night
    assert ("reproduce_failure" in done.stdout) is at_night
