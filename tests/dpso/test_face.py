"""`import dpso`: every public name, and a user's folder that holds modules called like ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import audit
import dpso

ROOT = Path(dpso.__file__).resolve().parent.parent


HIDING = ["audit.py", "audit/__init__.py", "reference.py"]
DATA = '{"dataset": [0, 1], "neighbour": [1, 1]}'
TEST = ["test", "mine:noisy", "--data", DATA, "--epsilon", "1", "--samples", "2000", "--confidence", "0.999999"]


def python(*words: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A working folder with modules called like ours, and a mechanism."""
    folder = tmp_path / "theirs"
    for name in HIDING:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise RuntimeError('the wrong module')\n")
    (folder / "mine.py").write_text("def noisy(dataset, rng):\n    return sum(dataset) + rng.laplace(0, 1)\n")
    return folder


@pytest.fixture(params=["python -m dpso", "dpso"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """How the command is started: as a module, or by the script that an installer writes for the entry point."""
    if request.param == "python -m dpso":
        return ["-m", "dpso"]
    script = tmp_path / "dpso"
    script.write_text("import sys\nfrom dpso.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n")
    return [str(script)]


def test_every_name_loads_and_is_the_same_from_both_packages() -> None:
    assert dpso.__all__ == audit.__all__ == sorted(dpso.__all__)
    for name in dpso.__all__:
        assert getattr(dpso, name) is getattr(audit, name)
        assert name in dir(dpso)
        assert name in dir(audit)
    assert dpso.pairs.neighbour_pairs is dpso.neighbour_pairs
    for module in (dpso, audit):
        with pytest.raises(AttributeError, match="no attribute 'audit_pd'"):
            module.audit_pd  # noqa: B018


def test_importing_loads_nothing_heavy(tmp_path: Path) -> None:
    run = python("-c", "import sys, dpso; print('numpy' in sys.modules, 'audit' in sys.modules)", folder=tmp_path)
    assert run.stdout.split() == ["False", "False"]


def test_the_command_works_beside_modules_called_like_ours(theirs: Path, start: list[str]) -> None:
    run = python(*start, "errata", "E3.1", folder=theirs)
    assert (run.returncode, run.stderr) == (0, "")
    assert "E3.1" in run.stdout


@pytest.mark.parametrize("where", [[], ["--workers", "2"], ["--scheduler", "local"]], ids=" ".join)
def test_workers_find_our_modules_first_and_the_users_last(theirs: Path, start: list[str], where: list[str]) -> None:
    run = python(*start, *TEST, *where, folder=theirs)
    assert run.returncode == 0, run.stderr  # progress is told on stderr
    assert run.stdout.startswith("CONSISTENT")


@pytest.mark.parametrize("entry", [".", "{folder}", "{link}"])
def test_a_search_path_that_names_the_users_folder_changes_nothing(
    theirs: Path, start: list[str], entry: str, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(theirs)
    path = os.pathsep.join([entry.format(folder=theirs, link=link), str(ROOT)])
    run = python(*start, *TEST, "--workers", "2", folder=theirs, PYTHONPATH=path)
    assert run.returncode == 0, run.stderr


def test_a_hiding_module_elsewhere_on_the_search_path_is_one_line(
    theirs: Path, start: list[str], tmp_path: Path
) -> None:
    path = os.pathsep.join([str(theirs), str(ROOT)])
    run = python(*start, "errata", folder=tmp_path, PYTHONPATH=path)
    assert (run.returncode, run.stdout) == (2, "")
    (line,) = run.stderr.splitlines()
    assert line.startswith(f"dpso: {theirs / 'audit' / '__init__.py'} hides dpso's own package 'audit': rename it")


@pytest.mark.parametrize("hiding", HIDING)
@pytest.mark.parametrize("line", ["import dpso", "from dpso import audit_dp"])
def test_a_script_beside_a_module_called_like_ours_is_told_so(tmp_path: Path, hiding: str, line: str) -> None:
    file = tmp_path / hiding
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    (tmp_path / "script.py").write_text(line)
    run = python("script.py", folder=tmp_path)
    name = hiding.split("/")[0].removesuffix(".py")
    assert run.returncode == 1
    last = run.stderr.splitlines()[-1]
    assert last.startswith(f"ImportError: {file.resolve()} hides dpso's own package {name!r}: rename it")


@pytest.mark.parametrize("package", [audit, dpso])
def test_a_name_that_is_not_there_is_an_error(package: object) -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        package.no_such_name  # type: ignore[attr-defined]  # noqa: B018
