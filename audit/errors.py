"""Errors that a user can mend, and text that is safe to show."""


class InputError(Exception):
    """Bad input: its message is one line that names the value, the condition and the remedy. Exit code 2."""


def one_line(text: str) -> str:
    """The text without line breaks and control characters (file names, ids and witnesses may hold any)."""
    return "".join(c if c.isprintable() else " " for c in text)
