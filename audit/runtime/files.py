"""Files: read with suspicion (of bounded size and depth), written in one step; every fault is one line."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from audit.runtime.errors import InputError

LARGEST = 256 * 2**20
"""Bytes of the largest file that is read as a whole."""
DEEPEST = 100
"""Levels of nesting of JSON: everything that walks through data does so by recursion."""


def read_text(path: str | Path, what: str) -> str:
    """The text of a file; `what` names it in messages, such as "--data pair.json"."""
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{what}: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > LARGEST:
        raise InputError(f"{what}: larger than {LARGEST // 2**20} MB; give a smaller file")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{what} is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def read_json(path: str | Path, what: str) -> Any:
    """The JSON value in a file."""
    return parse_json(read_text(path, what), what)


def parse_json(text: str, what: str) -> Any:
    """The JSON value that a text holds."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InputError(f"{what} is not JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{what} is nested deeper than {DEEPEST} levels; flatten it") from None
    if depth(value) > DEEPEST:
        raise InputError(f"{what} is nested deeper than {DEEPEST} levels; flatten it")
    return value


def write_atomically(path: Path, text: str) -> None:
    """Replace a file in one step: a reader sees the old one or the new one, never half of it."""
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        temporary.unlink(missing_ok=True)  # a link that somebody put there must not lead the text elsewhere
        with temporary.open("x", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); make room or name another folder") from None


def depth(value: Any) -> int:
    """How deep lists and objects are nested; counted level by level, without recursion, up to DEEPEST + 1."""
    level, found = [value], 0
    while level and found <= DEEPEST:
        below = [item for outer in level for item in _items(outer)]
        level, found = below, found + bool(any(isinstance(outer, list | dict) for outer in level))
        if not below:
            break
    return found


def _items(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
