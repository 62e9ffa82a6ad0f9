"""Every public name explains itself: each parameter, each field, and an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import dpso


@pytest.mark.parametrize("name", dpso.__all__)
def test_the_example_runs(name: str) -> None:
    thing: Any = getattr(dpso, name)
    module = thing if inspect.ismodule(thing) else inspect.getmodule(thing)
    found = doctest.DocTestFinder(recurse=False).find(thing, name, module=module, globs=dict(vars(module)))
    examples = [example for test in found for example in test.examples]
    assert any(example.want for example in examples), "there is no example with a result"
    said: list[str] = []
    for test in found:
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("name", [n for n in dpso.__all__ if not inspect.ismodule(getattr(dpso, n))])
def test_every_parameter_and_field_is_explained(name: str) -> None:
    thing: Any = getattr(dpso, name)
    text = inspect.getdoc(thing) or ""
    if is_dataclass(thing):
        section, wanted = "Attributes:", [f.name for f in fields(thing)]
    else:
        section, wanted = "Args:", list(inspect.signature(thing).parameters)
        assert "Returns:" in text
        assert re.search(r"^Raises:\n    \w+Error: \S", text, re.MULTILINE)
    assert section in text
    body = text.split(section)[1].split("Returns:")[0].split("Raises:")[0].split(">>>")[0]
    assert re.findall(r"^    \*{0,2}(\w+): \S", body, re.MULTILINE) == wanted
