"""`import dpso`: every public name, and a user's folder that holds modules called like ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import audit
import dpso

ROOT = Path(dpso.__file__).resolve().parent.parent


def python(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A working folder with modules called like ours, and a mechanism."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    for name in ("audit.py", "reference.py"):
        (folder / name).write_text("raise RuntimeError('the wrong module')\n")
    (folder / "mine.py").write_text("def noisy(dataset, rng):\n    return sum(dataset) + rng.laplace(0, 1)\n")
    return folder


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


def test_the_command_works_beside_modules_called_like_ours(theirs: Path, tmp_path: Path) -> None:
    script = tmp_path / "dpso"  # what an installer writes for the entry point
    script.write_text("import sys\nfrom dpso.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n")
    for start in (["-m", "dpso"], [str(script)]):
        run = python(*start, "errata", "E3.1", folder=theirs)
        assert (run.returncode, run.stderr) == (0, "")
        assert "E3.1" in run.stdout
        data = '{"dataset": [0, 1], "neighbour": [1, 1]}'
        words = ["test", "mine:noisy", "--data", data, "--epsilon", "1", "--samples", "500", "--workers", "2"]
        run = python(*start, *words, folder=theirs)
        assert run.returncode == 0, run.stderr  # progress is told on stderr


@pytest.mark.parametrize("hiding", ["audit.py", "audit/__init__.py", "reference.py"])
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
