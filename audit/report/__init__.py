"""The report that people look at: one self-contained page, made from report.json.

What may not enter: computing. The page shows what report.json says.
"""

from __future__ import annotations

from pathlib import Path

from audit.checks.results import Report, inventory
from audit.report.model import PageExtras
from audit.report.page import render
from audit.runtime.files import write_atomically

__all__ = ["PageExtras", "render", "write_html"]


def write_html(report: Report, path: Path, extras: PageExtras | None = None) -> Path:
    """Write the page of a report and return its path."""
    write_atomically(path, render(report, inventory(), extras))
    return path
