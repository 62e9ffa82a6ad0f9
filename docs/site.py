"""What the documentation site has besides the pages of docs/: a hook of mkdocs (`make docs`).

Pages that stand elsewhere in the checkout (the proofs map, CONTRIBUTING, …) become pages of the site; the pages about
commands and JSON schemas are made from the parser and from the schemas themselves. A link to a file that is no page (a
folder of the code, say) becomes its path, since the site is read without the checkout.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path

BROUGHT = {
    "proofs_map.md": "proofs-map.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CHANGELOG.md": "project/changes.md",
    "examples/README.md": "examples.md",
    "examples/crosscheck/README.md": "crosscheck-clients.md",
    "reference/vectors/SPEC.md": "reference/test-vectors.md",
    "README.md": "index.md",
}
"""Pages from elsewhere in the checkout, and where the site has them."""
SCHEMAS = {
    "audit/auditor/terms/test.schema.json": "`dpso test --json`, `AuditResult.to_json()`",
    "audit/report/report.schema.json": "`report.json` of `dpso audit`",
    "reference/vectors/schema.json": "a file of test vectors",
    "reference/vectors/reply.schema.json": "a client's reply to a test vector",
}
"""The published schemas, and what each describes."""
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```", re.DOTALL)


def relinked(text: str, source: str, page: str) -> str:
    """A text with its links as the site needs them; `source` is its place in the checkout, `page` in the site."""

    def link(match: re.Match[str]) -> str:
        image, words, target = match.groups()
        path, _, anchor = target.partition("#")
        if not path or ":" in path:
            return match[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        home = BROUGHT.get(there) or (there.removeprefix("docs/") if there.startswith("docs/") else None)
        if home is None or not home.endswith((".md", ".svg")):
            return (
                words
                if words.startswith("`")
                else f"{words} (`{there}`)"
                if words.strip("/`") != there
                else f"`{there}`"
            )
        return (
            f"{image}[{words}]({os.path.relpath(home, posixpath.dirname(page) or '.')}{'#' if anchor else ''}{anchor})"
        )

    parts = re.split(f"({_CODE.pattern})", text, flags=re.DOTALL)
    return "".join(part if part.startswith("```") else _LINK.sub(link, part) for part in parts)


def commands_page() -> str:
    """Every subcommand with its options, as `--help` says them."""
    os.environ["COLUMNS"] = "96"
    from audit.cli.main import build_parser, command_modules

    modules = command_modules()
    _, subparsers = build_parser(modules)
    lines = [
        "# Commands",
        "",
        "Exit codes: 0 as it should be; 1 a violation, a divergence or a stale record was found; 2 bad input, with one"
        " line on stderr; 3 inconclusive, or not everything was compared. `--json` puts one object on stdout; progress"
        " goes to stderr. What `--json` prints is described in [JSON schemas](schemas.md).",
    ]
    for name, parser in subparsers.items():
        lines += ["", f"## dpso {name}", "", f"{modules[name].HELP[0].upper()}{modules[name].HELP[1:]}.", ""]
        lines += ["```text", parser.format_help().strip(), "```"]
    return "\n".join(lines) + "\n"


def _fields(schema: dict[str, Any]) -> list[str]:
    """A table of the properties of an object; what has no description has its type."""
    properties: dict[str, Any] = schema.get("properties", {})
    rows = [f"| `{name}` | {_kind(p)} | {p.get('description', '')} |" for name, p in properties.items()]
    return ["| field | type | meaning |", "|---|---|---|", *rows] if rows else []


def _kind(schema: dict[str, Any]) -> str:
    """A short word for what a property may be."""
    kind = schema.get("type", "")
    words = [kind] if isinstance(kind, str) else list(kind)
    words += [f"`{one}`" for one in schema.get("enum", ())]
    return " or ".join(word for word in words if word) or ("object" if "$ref" in schema else "any")


def schemas_page() -> str:
    """The published schemas: their fields, and the schemas themselves."""
    lines = [
        "# JSON schemas",
        "",
        "What the commands write and read. Each is a JSON Schema (2020-12) that ships with dpso.",
    ]
    for path, what in SCHEMAS.items():
        schema = json.loads((ROOT / path).read_text(encoding="utf-8"))
        lines += ["", f"## {what}", "", f"`{path}`. {schema.get('description', '')}", "", *_fields(schema), ""]
        lines += ['??? note "The schema"', "", *("    " + line for line in _fenced(schema))]
    return "\n".join(lines) + "\n"


def _fenced(schema: dict[str, Any]) -> list[str]:
    return ["```json", *json.dumps(schema, indent=1, ensure_ascii=False).splitlines(), "```"]


# ------------------------------------------------------------------------------------------- what mkdocs calls


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made or that stand elsewhere."""
    from mkdocs.structure.files import File

    made = {"reference/commands.md": commands_page(), "reference/schemas.md": schemas_page()}
    for source, page in BROUGHT.items():
        if source != "README.md":
            made[page] = relinked((ROOT / source).read_text(encoding="utf-8"), source, page)
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the links of the pages of docs/ right; the pages that were made have theirs."""
    uri = page.file.src_uri
    return markdown if page.file.generated_by else relinked(markdown, f"docs/{uri}", uri)
