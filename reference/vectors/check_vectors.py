#!/usr/bin/env python3
"""Check an implementation against test vectors: one file, Python's standard library only, to be copied along.

    python check_vectors.py FOLDER NAME-VARIANT COMMAND…      e.g. check_vectors.py . phased-sgd-corrected ./client
    python check_vectors.py FOLDER                            are the files what manifest.sha256 lists? and its hash

The command reads one JSON object a line, {"op": "run", "case": {…}}, and writes one reply a line (SPEC.md, section 3).
Exit code 0: every offered case agrees, and every line was compared; 3: it agrees, and lines are unchecked; 1: a case
differs, or nothing was compared; 2: bad input. A command that hangs is waited for (`dpso crosscheck` has a timeout).
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

FORMAT = 2
DECIMAL = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,4})?\s*\Z")


def number(value: Any) -> Fraction:
    """A JSON number or decimal string, exactly; ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r} is no number")
    if isinstance(value, str) and not DECIMAL.match(value):
        raise ValueError(f"{value[:40]!r} is no finite decimal number")
    try:
        return Fraction(value)
    except OverflowError:
        raise ValueError(f"{value!r} is not finite") from None


def agrees(want: dict[str, Any], got: Any) -> bool:
    """Whether a value is the expected one: equal if it has no tolerance, else within radius + tolerance, each entry."""
    expected = want["value"]
    if "tolerance" not in want:
        whole = [int(v) if isinstance(v, float) and v.is_integer() else v for v in flat(got)]
        return whole == flat(expected)
    if isinstance(expected, list) != isinstance(got, list) or len(flat(expected)) != len(flat(got)):
        return False
    room = Fraction(want["radius"]) + Fraction(want["tolerance"])
    return all(abs(number(g) - Fraction(e)) <= room for e, g in zip(flat(expected), flat(got), strict=True))


def flat(value: Any) -> list[Any]:
    """The entries of a vector, or the one value."""
    return list(value) if isinstance(value, list) else [value]


def key(event: dict[str, Any]) -> str:
    """The quantity with its indices: `w[3]`."""
    index = event.get("index") or []
    return f"{event['name']}[{','.join(map(str, index))}]" if index else event["name"]


def compare(case: dict[str, Any], reply: dict[str, Any], main: str) -> tuple[str, str, set[tuple[int, str]]]:
    """(what became of the case, the first difference, the quantities compared)."""
    answers = [name for name in ("unsupported", "reject", "output") if reply.get(name) is not None]
    if len(answers) != 1:
        return "error", f"one of output, reject, unsupported is due, got {answers}", set()
    if answers == ["unsupported"]:
        return "skip", "", set()
    if answers == ["reject"] or case["result"] == "reject":
        right = (answers == ["reject"] and case["result"] != "match") or case["result"] == "either"
        return ("pass", "", set()) if right else ("fail", f"{case['result']} is due", set())
    if main not in reply["output"]:
        return "error", f"no output {main}", set()
    if case["result"] == "either":
        values = list(map(number, flat(reply["output"][main])))
        return ("pass" if len(values) == len(flat(case["output"][main])) else "fail"), "", set()
    sent = {key(e): e["value"] for e in reply.get("trace") or []}
    covered = {(event["line"], event["name"]) for event in case["trace"]}
    for event in case["trace"]:
        if key(event) not in sent:  # in part is not covered: a loop that ends too early sends some of its events
            covered.discard((event["line"], event["name"]))
            if event["name"] == "output" and any(name.startswith("output") for name in sent):
                return "fail", f"{key(event)} is due: another iterate is the output", set()
        elif not agrees(event, sent[key(event)]):
            return "fail", f"line {event['line']}, {key(event)}: {event['value']} is due", set()
    for name, value in reply["output"].items():
        if name in case["output"]:
            want = {part: case[field][name] for part, field in PARTS}
            if not agrees(want, value):
                return "fail", f"output {name}: {want['value']} is due", set()
    return "pass", "", covered | {(e["line"], e["name"]) for e in case["trace"] if e["name"] == "output"}


PARTS = (("value", "output"), ("radius", "radius"), ("tolerance", "tolerance"))


def verify(folder: Path) -> int:
    """The files that are not what the manifest lists."""
    text = (folder / "manifest.sha256").read_text("utf-8")
    listed = [line.split(maxsplit=1) for line in text.splitlines()]
    wrong = [n for digest, n in listed if hashlib.sha256((folder / n).read_bytes()).hexdigest() != digest]
    print("\n".join(f"{name} is damaged" for name in wrong) or f"sound: {hashlib.sha256(text.encode()).hexdigest()}")
    return 1 if wrong else 0


def check(folder: Path, name: str, command: list[str]) -> int:
    """Run the command on all cases of a file."""
    document = json.loads((folder / f"{name}.json").read_text("utf-8"))
    if document["format"] != FORMAT:
        print(f"{name}.json has format {document['format']}, this reader knows {FORMAT}", file=sys.stderr)
        return 2
    client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert client.stdin is not None
    assert client.stdout is not None
    counts: dict[str, int] = dict.fromkeys(("pass", "fail", "error", "skip"), 0)
    covered: set[tuple[int, str]] = set()
    due: set[tuple[int, str]] = set()
    for case in document["cases"]:
        asked = {part: case[part] for part in ("id", "algorithm", "variant", "input", "draws")}
        try:
            client.stdin.write(json.dumps({"op": "run", "case": asked}) + "\n")
            client.stdin.flush()
            status, why, found = compare(case, json.loads(client.stdout.readline()), document["output"])
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            status, why, found = "error", f"{type(error).__name__}: {error}", set()
        counts[status] += 1
        if status == "pass" and case["result"] == "match":
            covered |= found
            due |= {(event["line"], event["name"]) for event in case["trace"]}
        if why:
            print(f"{case['id']}: {status}: {why}")
    client.stdin.close()
    try:
        client.wait(timeout=10)
    except subprocess.TimeoutExpired:
        client.kill()
    print(f"{name}: " + ", ".join(f"{count} {status}" for status, count in counts.items()))
    if counts["fail"] or counts["error"] or not due:
        return 1
    if due - covered:
        print("unchecked: " + ", ".join(f"line {line}: {what}" for line, what in sorted(due - covered)))
    return 3 if due - covered else 0


def main(words: list[str]) -> int:
    """What the command line asks for; one line on stderr and 2 if a file or the command is not there."""
    try:
        if len(words) == 1 and not words[0].startswith("-"):
            return verify(Path(words[0]))
        if len(words) >= 3:
            return check(Path(words[0]), words[1], words[2:])
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"check_vectors: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
