"""ARCHITECTURE.md is drawn from the source: its rooms are the folders, its order is what import-linter keeps."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
LAYERS = {c["containers"][0]: c["layers"] for c in SETTINGS["contracts"] if c["type"] == "layers"}
PAGE_LINES = 60
"""What fits on one printed page."""


def rooms(page: str) -> dict[str, list[str]]:
    """The rooms of the page's table, in its order, by the package that holds them; "" for the top level."""
    found: dict[str, list[str]] = {"": []}
    package = last = ""
    for cell in re.findall(r"^\| ([^|]*`[^|]*) \|", page, re.MULTILINE):
        names = [name.rstrip("/") for name in re.findall(r"`([\w/]+)`", cell)]
        if cell.startswith("**"):
            found[""] += names
            package = names[0]
        elif cell.startswith("·"):
            found.setdefault(f"{package}.{last}", []).extend(names)
        else:
            found.setdefault(package, []).extend(names)
            last = names[-1]
    return found


def folders(package: str) -> set[str]:
    """The folders of a package that hold Python."""
    inside = (path for path in (ROOT / package.replace(".", "/")).iterdir() if path.is_dir())
    return {path.name for path in inside if (path / "__init__.py").is_file()}


def bottom_up(layers: list[str]) -> list[set[str]]:
    """The layers of a contract, lowest first, each as the set of its siblings."""
    return [{name.strip() for name in layer.split("|")} for layer in reversed(layers)]


def lint_imports(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from importlinter.cli import lint_imports_command as run; run()"]
    return subprocess.run([*command, "--no-cache", *options], cwd=ROOT, capture_output=True, text=True, check=False)


def test_nobody_imports_against_the_order() -> None:
    done = lint_imports()
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Contracts: {len(SETTINGS['contracts'])} kept, 0 broken." in done.stdout


@pytest.mark.parametrize("package", LAYERS)
def test_an_import_against_the_order_would_be_seen(package: str, tmp_path: Path) -> None:
    """The mutant: the same layers, upside down."""
    turned = ", ".join(f'"{layer}"' for layer in reversed(LAYERS[package]))
    contract = f'name = "turned"\ntype = "layers"\ncontainers = ["{package}"]\nlayers = [{turned}]\n'
    settings = tmp_path / "turned.toml"
    root = f'[tool.importlinter]\nroot_package = "{package.partition(".")[0]}"\n'
    settings.write_text(f"{root}[[tool.importlinter.contracts]]\n{contract}")
    done = lint_imports("--config", str(settings))
    assert done.returncode == 1
    assert "turned BROKEN" in done.stdout


def test_every_contract_is_exhaustive_and_ignores_nothing() -> None:
    assert set(LAYERS) == {"reference", "audit", "audit.auditor"}
    for contract in SETTINGS["contracts"]:
        assert "ignore_imports" not in contract
        assert contract["type"] != "layers" or contract["exhaustive"]


@pytest.mark.parametrize("package", LAYERS)
def test_the_rooms_of_the_page_are_the_folders_in_the_order_of_imports(package: str) -> None:
    listed = rooms(PAGE)[package]
    assert sorted(listed) == sorted(folders(package))
    for siblings in bottom_up(LAYERS[package]):
        here = siblings & folders(package)
        assert set(listed[: len(here)]) == here
        listed = listed[len(here) :]


def test_the_page_names_every_folder_of_the_top_level() -> None:
    with_python = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    kept = {name for name in with_python if any((ROOT / name).rglob("*.py"))}
    assert set(rooms(PAGE)[""]) == kept


def test_it_is_one_page() -> None:
    assert len(PAGE.splitlines()) <= PAGE_LINES


def test_a_missing_and_a_misplaced_room_would_be_seen() -> None:
    page = "| room | for |\n|---|---|\n| **`reference/`** | x |\n| `paper/`, `numerics/` | y |\n| · `deep/` | z |\n"
    assert rooms(page) == {"": ["reference"], "reference": ["paper", "numerics"], "reference.numerics": ["deep"]}


# ------------------------------------------------------------------------------- one name, one meaning


def shared_names(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Classes and type aliases of the product that have one name in two modules."""
    found: dict[str, list[str]] = {}
    for module, source in sources.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
            elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
                found.setdefault(ast.unparse(node.target), []).append(module)
    return {name: modules for name, modules in found.items() if len(modules) > 1}


ARRAY = "Array"
"""The one alias that several rooms repeat: it is numpy's own type, shortened, and means the same everywhere."""


def test_no_two_classes_of_the_product_have_one_name() -> None:
    sources = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for package in ("reference", "audit", "dpso")
        for path in (ROOT / package).rglob("*.py")
    }
    assert len(sources) > 150
    assert shared_names(sources).keys() <= {ARRAY}


def test_a_name_that_is_used_twice_is_found() -> None:
    twice = {"a.py": "class Block: ...", "b.py": "Block: TypeAlias = int", "c.py": "class Other: ..."}
    assert shared_names(twice) == {"Block": ["a.py", "b.py"]}
