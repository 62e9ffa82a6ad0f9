"""The notebooks run from top to bottom; their own assertions say what must come out."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook after it has run in a kernel of its own."""
    notebook = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the kernel's machinery
        NotebookClient(notebook, timeout=200, resources={"metadata": {"path": str(ROOT)}}).execute()
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_runs(path: Path) -> None:
    cells = [cell for cell in executed(path).cells if cell.cell_type == "code"]
    assert any("assert " in cell.source for cell in cells)
    assert all(output.output_type != "error" for cell in cells for output in cell.outputs)


def test_a_result_shows_itself_with_pictures() -> None:
    first, *_ = (c for c in executed(ROOT / "examples" / "first_audit.ipynb").cells if c.cell_type == "code")
    pages = [output.data["text/html"] for output in first.outputs if "text/html" in output.get("data", {})]
    assert pages
    assert "<svg" in pages[0]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_kept_without_outputs_and_listed(path: Path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
    assert f"({path.name})" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
