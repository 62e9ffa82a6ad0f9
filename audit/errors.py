"""Errors that a user can mend."""


class InputError(Exception):
    """Bad input: its message is one line that names the value, the condition and the remedy. Exit code 2."""
