"""The examples run as written, find what they say, and stop politely where a library is missing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"

# What each prints: the right mechanism first, its broken twin second.
SCRIPTS = {
    "opendp_measurement": "opendp.prelude",
    "diffprivlib_model": "diffprivlib.models",
    "dp_sgd_step": "numpy",
    "dp_sgd_one_run": "numpy",
    "dp_sgd_opacus": "opacus",
    "frank_wolfe_slip": "numpy",
}
OPTIONAL = ("opendp_measurement", "diffprivlib_model", "dp_sgd_opacus")


def run(*words: str, path: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{ROOT}"}
    return subprocess.run([sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("name", SCRIPTS)
def test_an_example_finds_the_mistake_and_clears_the_right_one(name: str) -> None:
    library = SCRIPTS[name]
    if name in OPTIONAL:
        pytest.importorskip(library.partition(".")[0], reason=f"{library} is not installed", exc_type=ImportError)
    done = run(f"examples/{name}.py")
    assert done.returncode == 0, done.stderr
    verdicts = re.findall(r"\b(CONSISTENT|INCONCLUSIVE|SUSPECT|VIOLATED|ERROR)\b", done.stdout)
    assert verdicts == ["CONSISTENT", "VIOLATED"], done.stdout
    assert "Traceback" not in done.stderr


def test_the_slip_is_named_with_its_line() -> None:
    source = (EXAMPLES / "frank_wolfe_slip.py").read_text(encoding="utf-8").splitlines()
    line = next(i for i, text in enumerate(source, start=1) if "rng.laplace(B, " in text)
    assert (
        f"scale-as-loc: Generator.laplace: laplace(loc=16, scale=1) at frank_wolfe_slip.py:{line}"
        in run("examples/frank_wolfe_slip.py").stdout
    )


@pytest.mark.parametrize("name", OPTIONAL)
def test_without_its_library_an_example_says_what_to_install(name: str, tmp_path: Path) -> None:
    library = SCRIPTS[name].partition(".")[0]
    (tmp_path / f"{library}.py").write_text("raise ImportError('not here')")
    done = run(f"examples/{name}.py", path=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("skipped: needs ")
    assert f"pip install {library}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_pytest_example_passes() -> None:
    done = run("-m", "pytest", "-p", "no:cacheprovider", "examples/test_my_mechanism.py")
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_the_pytest_example_fails_when_the_mechanism_is_broken(tmp_path: Path) -> None:
    source = (EXAMPLES / "test_my_mechanism.py").read_text(encoding="utf-8")
    broken = source.replace("values = np.clip(dataset, 0, 1)", "values = np.asarray(dataset)")
    assert broken != source
    (tmp_path / "test_broken.py").write_text(broken, encoding="utf-8")
    done = run("-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tmp_path),
               str(tmp_path / "test_broken.py"))  # fmt: skip
    assert done.returncode == 1
    assert "2 failed, 1 passed" in done.stdout
    assert "VIOLATED" in done.stdout


def test_the_index_lists_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for file in EXAMPLES.glob("*.py"):
        assert f"({file.name})" in index
