"""The excerpt of `dpso audit` that a page shows, made from the record of verdicts.

It stands between `<!-- excerpt: audit -->` and `<!-- /excerpt -->`. Everything in it is computed but for the seconds,
which are a measurement and stay as they are written.
"""

from __future__ import annotations

import io
import re

from rich.console import Console

from audit.checks.job import plan
from audit.checks.results import inventory, read_record, tally
from audit.checks.scale import bearing
from audit.cli.audit import tally_line, verdict_table

ROWS = ("lem:adv_comp", "thm:privacy-noisySFW", "prop:reg_wk_cvx", "prop:opt_cond_wk_cvx")
"""The statements whose verdicts are shown."""
WIDTH = 80

_EXCERPT = re.compile(r"(<!-- excerpt: audit -->\n+)(.*?)(\n+<!-- /excerpt -->)", re.DOTALL)
_SECONDS = re.compile(r"checks in (\d+) s")


def excerpt(seconds: str) -> str:
    """The block as Markdown."""
    record, checks = read_record(), plan("quick")
    places = [bearing(one.statement, one.shows, inventory()) for one in checks]
    rows = [(id, sum(id in held for held in places), record["verdicts"][id], record["grades"][id]) for id in ROWS]
    console = Console(file=io.StringIO(), width=WIDTH, highlight=False)
    console.print(verdict_table(rows))
    console.print(tally_line(tally(record["grades"])))
    console.print(f"{len(checks)} checks in {seconds} s of computing, 0 not as recorded")
    console.print("written: dpso-out/report.json, dpso-out/report.html")
    text = console.file.getvalue()  # type: ignore[attr-defined]
    shown = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    return f"```text\n{shown}\n```"


def renewed(text: str) -> str:
    """A Markdown text with the excerpt as it is now."""

    def block(match: re.Match[str]) -> str:
        seconds = _SECONDS.search(match[2])
        return f"{match[1]}{excerpt(seconds[1] if seconds else '?')}{match[3]}"

    return _EXCERPT.sub(block, text)
