"""What is installed, with what, and what the project says about it: dependencies, extras, versions, the wheel."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from base_journey import EXTRAS as HIDDEN

from audit.runtime.extras import EXTRAS, remedy

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PRODUCT = ("dpso", "reference", "audit")


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower()


BASE = {name_of(d) for d in PROJECT["dependencies"]}
OPTIONAL = {extra: {name_of(d) for d in wanted} for extra, wanted in PROJECT["optional-dependencies"].items()}


def imported(source: str) -> set[str]:
    """The top-level modules that a source imports, at its top or in a function, by statement or by name."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {str(a.value).partition(".")[0] for a in node.args[:1] if isinstance(a, ast.Constant)}
    return found


def third_party() -> dict[str, set[str]]:
    """Distributions whose modules the product imports → the files that do."""
    homes = packages_distributions()
    found: dict[str, set[str]] = {}
    for path in (p for room in PRODUCT for p in (ROOT / room).rglob("*.py")):
        for module in imported(path.read_text(encoding="utf-8")) - {*PRODUCT, "bench", *sys.stdlib_module_names}:
            for distribution in homes.get(module, [module]):
                found.setdefault(distribution.lower().replace("_", "-"), set()).add(str(path.relative_to(ROOT)))
    return found


# ------------------------------------------------------------------------------------------------- dependencies


def test_the_base_install_audits_without_any_extra() -> None:
    """The journey of somebody who only audits, in processes that cannot import an extra's modules."""
    assert set(EXTRAS) < set(HIDDEN)
    journey = ROOT / "tests" / "helpers" / "base_journey.py"
    run = subprocess.run([sys.executable, journey, "--block"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, ""), run.stdout
    assert "the base install audits" in run.stdout


def test_what_is_imported_is_declared_and_what_is_declared_is_imported() -> None:
    used = third_party()
    declared = BASE | OPTIONAL["paper"] | OPTIONAL["cluster"]
    # What a caller brings (a strategy, a tensor, pytest, a notebook) is there where it is met; Dask has cloudpickle.
    optional = {"hypothesis", "torch", "pandas", "matplotlib", "pytest", "ipython", "cloudpickle"}
    assert set(used) - optional <= declared, used
    # `distributed` needs dask, which nothing imports by name
    assert declared - {"dask"} <= set(used)


def test_imports_are_seen_wherever_they_stand() -> None:
    source = (
        "import a.b\nfrom c.d import e\nfrom . import f\ndef g():\n    importlib.import_module('h.i')\n    import j"
    )
    assert imported(source) == {"a", "c", "h", "j"}


@pytest.mark.parametrize("module", sorted(EXTRAS))
def test_the_remedy_names_an_extra_that_has_the_package(module: str) -> None:
    package, extra = EXTRAS[module]
    assert package in OPTIONAL[extra]
    for name in (module, f"{module}.inner"):
        assert remedy(ModuleNotFoundError("", name=name)) == f"needs {package}: pip install 'dpso[{extra}]'"


def test_other_errors_have_no_such_remedy() -> None:
    for error in (ModuleNotFoundError("", name="theirs"), ModuleNotFoundError(), ImportError("", name="flint")):
        assert remedy(error) is None


def test_all_is_everything_that_a_command_can_use() -> None:
    assert {extra for _, extra in EXTRAS.values()} == {"paper", "cluster"}
    assert PROJECT["optional-dependencies"]["all"] == ["dpso[paper,cluster]"]


def test_mpmath_beside_sympy_is_allowed() -> None:
    (bound,) = (d for d in PROJECT["dependencies"] if name_of(d) == "mpmath")
    assert bound == "mpmath>=1.3", "PyTorch's sympy wants mpmath < 1.4"


# ----------------------------------------------------------------------------------------------------- versions


def test_the_version_and_its_date_are_the_same_everywhere() -> None:
    version = PROJECT["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^## \[(\d[\d.]*)\](?: - (\S+))?$", changelog, re.MULTILINE)
    assert entries[0] == (version, str(citation["date-released"]))
    assert citation["version"] == version
    assert [v for v, _ in entries] == sorted((v for v, _ in entries), key=lambda v: v.split("."), reverse=True)


def test_every_python_from_the_oldest_on_is_classified() -> None:
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    oldest = int(PROJECT["requires-python"].removeprefix(">=3."))
    assert [int(minor) for minor in named] == list(range(oldest, oldest + len(named)))
