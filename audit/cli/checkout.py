"""Packages of a checkout (`bench/`, `docs/`) that a command uses and the installed product does not have."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from audit.runtime.errors import InputError
from audit.trace.links import ROOT


def checkout_module(name: str, purpose: str) -> ModuleType:
    """A module of the checkout that this product lies in; refused, with the purpose named, where there is none.

    Args:
        name: the module with its package, such as `bench.numbers`.
        purpose: what the command does with it, for the message: "dpso bench measures".
    """
    package = name.partition(".")[0]
    if not (ROOT / package / "__init__.py").is_file():
        raise InputError(
            f"{purpose} in a checkout of the project, with its folder {package}/, which an installed copy"
            " does not have: run it in one"
        )
    sys.path.append(str(ROOT))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT))
