"""Errors that a user can mend, and text that is safe to show and fits the terminal."""

import shutil
import textwrap


class InputError(Exception):
    """Bad input: its message is one line that names the value, the condition and the remedy. Exit code 2."""


def one_line(text: str) -> str:
    """The text without line breaks and control characters (file names, ids and witnesses may hold any)."""
    return "".join(c if c.isprintable() else " " for c in text)


def wrapped(text: str) -> str:
    """The text with its lines folded at the width of the terminal (80 where there is none), continuations indented.

    Words are never cut: paths and ids stay whole.
    """
    width = shutil.get_terminal_size((80, 24)).columns
    folded = []
    for line in text.splitlines():
        lead = line[: len(line) - len(line.lstrip())]
        folded.append(
            textwrap.fill(
                line.strip(),
                max(width, 40),
                initial_indent=lead,
                subsequent_indent=f"{lead}  ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
    return "\n".join(folded)
