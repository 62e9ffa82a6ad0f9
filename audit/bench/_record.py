"""Results of benchmarks that the README shows: kept as JSON, rendered between two markers, compared by a test.

A table of the README stands between `<!-- bench: NAME -->` and `<!-- /bench -->` and is exactly what the benchmark's
`render` makes of `results/NAME.json`; `dpso bench NAME --record` writes both.
"""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
_BLOCK = re.compile(r"(<!-- bench: (\w+) -->\n)(.*?)(<!-- /bench -->)", re.DOTALL)


def recorded(name: str) -> Any:
    """The recorded result of a benchmark; an empty one if there is none."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def rendered(name: str) -> str:
    """The table of the recorded result, as it stands in the README."""
    module = importlib.import_module(f"audit.bench.{name}")
    return f"\n{module.render(recorded(name)).strip()}\n\n"


def blocks(text: str) -> dict[str, str]:
    """The tables of a Markdown text, by benchmark."""
    return {match[2]: match[3] for match in _BLOCK.finditer(text)}


def record(name: str, result: Any, readme: Path) -> None:
    """Keep a result, and put its table where the README marks the place."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    if not readme.exists():
        return
    text = readme.read_text(encoding="utf-8")
    table = rendered(name)
    readme.write_text(
        _BLOCK.sub(lambda m: m[1] + (table if m[2] == name else m[3]) + m[4], text), encoding="utf-8"
    )
