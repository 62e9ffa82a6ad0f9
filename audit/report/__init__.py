"""The report that people look at: one self-contained page, made from report.json.

What may not enter: computing. The page shows what report.json says.
"""

from __future__ import annotations

from pathlib import Path

from audit.checks.job import Report, inventory, write
from audit.report.page import render

__all__ = ["render", "write_html"]


def write_html(report: Report, path: Path) -> Path:
    """Write the page of a report and return its path."""
    write(path, render(report, inventory()))
    return path
