"""Results of benchmarks that the pages of docs/ show: kept as JSON, rendered between two markers, compared by a test.

A table stands between `<!-- bench: NAME -->` and `<!-- /bench -->` and is exactly what the benchmark's `render` makes
of `results/NAME.json` (with `<!-- bench: NAME headline -->` what its `headline` makes); `dpso bench NAME --record`
writes all of them.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

from audit.runtime.files import write_atomically

RESULTS = Path(__file__).parent / "results"
_BLOCK = re.compile(r"(<!-- bench: (\w+(?: headline)?) -->\n)(.*?)(<!-- /bench -->)", re.DOTALL)


def recorded(name: str) -> Any:
    """The recorded result of a benchmark; an empty one if there is none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def rendered(block: str) -> str:
    """The table of the recorded result, as it stands on its page."""
    name, _, headline = block.partition(" ")
    module = importlib.import_module(f"bench.{name}")
    table = (module.headline if headline else module.render)(recorded(name))
    return f"\n{table.strip()}\n\n"


def blocks(text: str) -> dict[str, str]:
    """The tables of a Markdown text, by what stands in their marker."""
    return {match[2]: match[3] for match in _BLOCK.finditer(text)}


def pages(readme: Path) -> list[Path]:
    """The pages that may have tables: the README, and those of the folder `docs` beside it."""
    return [page for page in (readme, *sorted((readme.parent / "docs").glob("**/*.md"))) if page.exists()]


def record(name: str, result: Any, readme: Path) -> None:
    """Keep a result, and put its tables where a page marks the place."""
    RESULTS.mkdir(exist_ok=True)
    write_atomically(RESULTS / f"{name}.json", json.dumps(result, indent=1) + "\n")

    def renewed(match: re.Match[str]) -> str:
        table = rendered(match[2]) if match[2].partition(" ")[0] == name else match[3]
        return match[1] + table + match[4]

    for page in pages(readme):
        before = page.read_text(encoding="utf-8")
        if (after := _BLOCK.sub(renewed, before)) != before:
            write_atomically(page, after)
