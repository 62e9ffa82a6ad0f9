"""What works with the base install alone, and what the other commands say. Run it where the extras are missing.

`python -I tests/helpers/base_journey.py` in an environment that has only the base; with `--block` the modules of the
extras are hidden from an environment that has everything.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import metadata
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

EXTRAS = (
    "dask",
    "distributed",
    "dp_accounting",
    "flint",
    "hypothesis",
    "jsonschema",
    "latex2mathml",
    "z3",
    "cvc5",
    "matplotlib",
    "pytest",
)
PAIR = {"dataset": [0, 1], "neighbour": [1, 1]}
MODULE = """
from statistics import fmean

def noisy(dataset, rng):
    return sum(dataset) + rng.laplace(0, 1)

def thrifty(dataset, rng):
    return sum(dataset) + rng.laplace(0, 0.25)
"""
START = "import sys; sys.path.insert(0, {tests!r}); {block}from dpso.__main__ import main; sys.exit(main())"
NEEDS = re.compile(r"dpso: needs (python-flint|jsonschema): pip install 'dpso\[paper\]'\n")


class Hidden:
    """A finder that says of the extras' modules what Python says of one that is not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def hide() -> None:
    """From here on the modules of the extras cannot be imported."""
    sys.meta_path.insert(0, Hidden)  # type: ignore[arg-type]


def dpso(*words: str, blocked: bool) -> subprocess.CompletedProcess[str]:
    block = "import base_journey; base_journey.hide(); " if blocked else ""
    code = START.format(tests=str(Path(__file__).resolve().parent), block=block)
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


def python_api() -> None:
    """Audits from Python: a mechanism, a query, an oracle."""
    from dpso import assert_dp, audit_dp, audit_grid, audit_oracle, audit_sensitivity, neighbour_pairs

    def noisy(dataset: list[int], rng: object) -> float:
        return float(sum(dataset) + rng.laplace(0, 1))  # type: ignore[attr-defined]

    assert audit_dp(noisy, [0, 1], [1, 1], epsilon=0.1, samples=5000).verdict == "violated"
    assert_dp(noisy, [0, 1], [1, 1], epsilon=1, samples=2000, confidence=0.999999)
    assert audit_sensitivity(sum, [([0, 1], [1, 1])], claimed=1, budget=20).verdict == "within"
    found = audit_oracle(lambda w, x, y: 0 * x, lambda u, y: abs(u - y), beta=1, alpha=1e-6, L0=1, R=1, budget=50)
    assert found.verdict == "exceeded"
    assert callable(audit_grid)
    assert callable(neighbour_pairs)


def commands(blocked: bool) -> None:
    """Audits from the command line, and one line from every command that needs more than the base."""
    Path("mine.py").write_text(MODULE, encoding="utf-8")
    data = ["--data", json.dumps(PAIR)]
    test = ["--epsilon", "1", "--samples", "2000", "--confidence", "0.999999", *data]
    codes = {
        ("test", "mine:noisy", *test): 0,
        ("test", "mine:thrifty", *test): 1,
        ("test", "mine:noisy", *test, "--workers", "2", "--json"): 0,
        ("sensitivity", "mine:fmean", "--claimed", "0.5", *data): 0,
        ("sensitivity", "mine:fmean", "--claimed", "0.1", *data): 1,
        ("crosscheck", "gll-oracle", "--python", "mine:noisy"): 1,
        ("vectors", "list"): 0,
        ("errata",): 0,
        ("--version",): 0,
    }
    for words, code in codes.items():
        run = dpso(*words, blocked=blocked)
        assert run.returncode == code, (words, run.returncode, run.stderr)
        assert "Traceback" not in run.stderr, run.stderr
    if not blocked:  # a wheel: nothing of the workshop is installed
        assert all(find_spec(name) is None for name in ("bench", "tests", "docs", "examples"))
        run = dpso("bench", "numbers", blocked=blocked)
        assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1), run
        assert "checkout" in run.stderr, run.stderr
    for words in (
        ("audit", "--level", "quick"),
        ("calibrate", "phased-sgd", "--epsilon", "1", "--delta", "1e-6", "--n", "65536", "--d", "10"),
        ("errata", "E3.1", "--run"),
        ("trace", "lem:oracle"),
        ("vectors", "check"),
    ):
        run = dpso(*words, blocked=blocked)
        assert (run.returncode, run.stdout) == (2, ""), (words, run)
        assert NEEDS.fullmatch(run.stderr), (words, run)


MOST = 200_000_000
"""Bytes of the base install with what it needs, without the byte code that Python makes of it."""


def installed(name: str, met: set[str]) -> int:
    """Bytes of a distribution and of what it needs without extras, each counted once."""
    met.add(name)
    found = metadata.distribution(name)
    files = (file.locate() for file in found.files or () if file.suffix != ".pyc")
    size = sum(os.path.getsize(str(file)) for file in files if os.path.isfile(str(file)))
    for wanted in found.requires or ():
        other = re.split(r"[\s;\[<>=!~(]", wanted, maxsplit=1)[0].lower()
        if "extra ==" in wanted or other in met:
            continue
        with suppress(metadata.PackageNotFoundError):  # for another Python or system
            size += installed(other, met)
    return size


def main() -> None:
    """The whole journey, in an empty folder."""
    blocked = sys.argv[1:] == ["--block"]
    if blocked:
        hide()
    for name in EXTRAS:
        try:
            __import__(name)
        except ModuleNotFoundError:
            continue
        raise SystemExit(f"{name} is installed here: this is not the base (--block hides it)")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        python_api()
        commands(blocked)
        os.chdir("/")
    if not blocked:
        met: set[str] = set()
        size = installed("dpso", met)
        print(f"the base install has {size / 1e6:.0f} MB in {len(met)} distributions (without byte code)")
        assert size <= MOST, f"more than {MOST / 1e6:.0f} MB: which dependency has grown?"
    print("the base install audits, and says what the other commands need")


if __name__ == "__main__":
    main()
