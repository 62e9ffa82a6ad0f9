"""What changed between two reports: two runs, two levels, two versions of the code or of the text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from audit.runtime.errors import InputError

RUN = ("level", "seed", "code", "text")
"""What a run is, apart from what it found."""


@dataclass(frozen=True)
class Change:
    """One thing that is not as it was; an empty side says that it was not there."""

    subject: Literal["run", "verdict", "check"]
    name: str
    before: str
    after: str

    def __str__(self) -> str:
        """In one line."""
        return f"{self.subject} {self.name}: {self.before or '(none)'} → {self.after or '(none)'}"

    def to_json(self) -> dict[str, str]:
        """A JSON object."""
        return asdict(self)


def read(path: Path) -> dict[str, Any]:
    """A report.json; what is none is refused in one line."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"--compare {path}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise InputError(f"--compare {path}: is no JSON: give a report.json of dpso audit") from None
    good = isinstance(data, dict) and isinstance(data.get("verdicts"), dict) and isinstance(data.get("results"), list)
    if not good or not all(isinstance(v, dict) for v in [*data["verdicts"].values(), *data["results"]]):
        raise InputError(f"--compare {path}: is no report of dpso audit: it lacks verdicts and results")
    report: dict[str, Any] = data
    return report


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Change]:
    """What differs: what the run was, verdicts by grade and errata, checks by whether they ran and what they said.

    Numbers inside a verdict move with the seed, and are no change. Where a run was limited (--only), what it was not
    about is left out, and so are verdicts on which only some of the checks bore.
    """
    verdicts, results = [old["verdicts"], new["verdicts"]], [old["results"], new["results"]]
    for one in (old, new):
        if one.get("only"):
            ids, names = (
                {id for id, v in one["verdicts"].items() if v.get("ran") == v.get("of")},
                one.get("planned", {}),
            )
            verdicts = [{id: verdict for id, verdict in found.items() if id in ids} for found in verdicts]
            results = [[result for result in found if result.get("name") in names] for found in results]
    return [*_run(old, new), *_verdicts(*verdicts), *_checks(*results)]


def _run(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in RUN:
        before, after = (str(report.get(name, "")) for report in (old, new))
        if before != after:
            yield Change("run", name, before, after)


def _verdicts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for id in dict.fromkeys([*old, *new]):
        before, after = old.get(id, {}), new.get(id, {})
        if (before.get("grade"), before.get("errata")) != (after.get("grade"), after.get("errata")):
            yield Change("verdict", id, str(before.get("verdict", "")), str(after.get("verdict", "")))


def _checks(old: list[Mapping[str, Any]], new: list[Mapping[str, Any]]) -> Iterator[Change]:
    first, second = ({str(r.get("name", "?")): _said(r) for r in results} for results in (old, new))
    for name in dict.fromkeys([*first, *second]):
        if first.get(name) != second.get(name):
            yield Change("check", name, first.get(name, ""), second.get(name, ""))


def _said(result: Mapping[str, Any]) -> str:
    """What a check came to, in words."""
    if result.get("error"):
        return f"error: {result['error']}"
    found = "holds" if result.get("holds") else "fails"
    return f"{found}, {'as' if result.get('as_recorded') else 'not as'} it should ({result.get('kind', '?')})"
