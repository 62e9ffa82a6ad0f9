"""MODULE:CALLABLE, as users name their own code on the command line."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit.runtime.errors import InputError
from audit.runtime.suggest import did_you_mean


def load_callable(spec: str, option: str = "") -> Callable[..., Any]:
    """The function that MODULE:CALLABLE names; see `load`."""
    value = load(spec, option)
    if not callable(value):
        raise InputError(f"{option}{spec} is no callable (its type is {type(value).__name__}): name a function")
    return value  # type: ignore[no-any-return]


def load(spec: str, option: str = "") -> Any:
    """What MODULE:NAME names; modules of the working folder are found too, after all others.

    `option` stands before the message where the value was given to an option, such as "--python ".
    """
    module_name, _, path = spec.partition(":")
    if not module_name or not path:
        raise InputError(f"{option}{spec!r} must read MODULE:CALLABLE, e.g. mymodule:mechanism")
    search_working_folder()
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the module does on import is the user's to mend
        reason = f"{type(error).__name__}: {error}{_way(spec, error)}"
        raise InputError(f"{option}{spec}: cannot import {module_name!r}: {reason}") from None
    value: Any = module
    for part in path.split("."):
        if not hasattr(value, part):
            hint = did_you_mean(part, [n for n in dir(value) if callable(getattr(value, n, None))])
            raise InputError(f"{option}{spec}: {module_name!r} has no {part!r}{hint}{_hidden(module_name, module)}")
        value = getattr(value, part)
    return value


def search_working_folder() -> None:
    """Have modules of the working folder found, here and in workers, which inherit the search path.

    It is searched last: a user's audit.py or reference.py must not take the place of this program's own modules.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _way(spec: str, error: BaseException) -> str:
    """What to write instead, where a module was not found."""
    module, _, name = spec.partition(":")
    folder, file = os.path.split(module)
    if file.endswith(".py"):
        return f"; write {file.removesuffix('.py')}:{name}" + (f" in {folder}" if folder not in ("", ".") else "")
    missing = error.name if isinstance(error, ModuleNotFoundError) else ""
    return f"; start dpso in the folder of {missing}.py" if missing == module.partition(".")[0] else ""


def _hidden(name: str, module: Any) -> str:
    """That another module was found before the one of this name in the working folder, if so."""
    first = name.partition(".")[0]
    found = Path(getattr(module, "__file__", None) or "built-in")
    for own in (Path.cwd() / f"{first}.py", Path.cwd() / first / "__init__.py"):
        if own.exists() and not found.is_relative_to(own.parent):
            return f"; {found} is found before your {own.relative_to(Path.cwd())}: rename yours"
    return ""
