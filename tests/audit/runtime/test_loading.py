"""MODULE:CALLABLE: one line for what cannot be loaded, and a user's files that bear our names do no harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from audit.runtime import loading
from audit.runtime.errors import InputError

ROOT = Path(loading.__file__).parents[2]
HIDING = "raise RuntimeError('the file of the user was imported in the place of ours')\n"
MECHANISM = "def noisy(d, size, rng): return sum(d) + rng.laplace(size=size)\n"
COMMAND = """import sys
from audit.cli.main import main
if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a mechanism and with files named like our packages."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "own_noise.py").write_text(MECHANISM + "number = 3\n")
    (work / "audit.py").write_text(HIDING)
    (work / "reference.py").write_text(HIDING)
    monkeypatch.chdir(work)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return work


def run_dpso(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as its installed script starts it: the script's folder is searched first, not the working folder."""
    script = folder.parent / "dpso_script.py"
    script.write_text(COMMAND)
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "crew",
    [
        pytest.param((), id="here"),
        pytest.param(("--workers", "2"), id="processes"),
        pytest.param(("--scheduler", "local"), id="dask", marks=pytest.mark.night),  # by day in tests/dpso/test_face.py
    ],
)
def test_files_named_like_our_packages_break_nothing(folder: Path, crew: tuple[str, ...]) -> None:
    if "--scheduler" in crew:
        pytest.importorskip("distributed")
    data = '{"dataset": [0], "neighbour": [1]}'
    found = run_dpso(folder, "test", "own_noise:noisy", "--data", data, "--epsilon=1", "--samples=20000", *crew)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("CONSISTENT")


def test_checks_run_beside_files_named_like_our_packages(folder: Path) -> None:
    found = run_dpso(folder, "audit", "--only", "E3.1", "--workers", "2")
    assert found.returncode == 0, found.stderr


def test_the_working_folder_is_searched_last(folder: Path) -> None:
    assert loading.load_callable("own_noise:noisy").__name__ == "noisy"
    assert sys.path[-1] == str(folder)
    assert sys.path.count(str(folder)) == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("own_noise", "'own_noise' must read MODULE:CALLABLE, e.g. mymodule:mechanism"),
        ("own_nois:noisy", "cannot import 'own_nois': .*; start dpso in the folder of own_nois.py"),
        ("own_noise.py:noisy", "cannot import 'own_noise.py': .*; write own_noise:noisy"),
        ("own_noise:nosy", "'own_noise' has no 'nosy', did you mean noisy"),
        ("own_noise:number", r"own_noise:number is no callable \(its type is int\): name a function"),
        ("audit:noisy", r"'audit' has no 'noisy'.*__init__.py is found before your audit.py: rename yours"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(folder: Path, spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        loading.load_callable(spec, "--python ")
    assert str(caught.value).startswith("--python ")
    assert "\n" not in str(caught.value)
