"""The part of JSON Schema that the project's schemas use: enough to say what a document breaks, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
KEYWORDS = frozenset(
    {
        "$schema",
        "$id",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "enum",
        "const",
        "pattern",
        "minimum",
        "items",
        "minItems",
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "anyOf",
        "if",
        "then",
        "else",
    }
)


def violations(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any] | None = None, at: str = "$"
) -> Iterator[str]:
    """What `value` breaks, one line each; an unknown keyword is an error of the schema."""
    root = schema if root is None else root
    if unknown := set(schema) - KEYWORDS:
        raise ValueError(f"the schema uses {sorted(unknown)}, which this validator does not know")
    if "$ref" in schema:
        yield from violations(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, at)
    if "anyOf" in schema and all(any(True for _ in violations(value, s, root, at)) for s in schema["anyOf"]):
        yield f"{at}: fits none of the {len(schema['anyOf'])} alternatives"
    if "if" in schema:
        fits = not any(True for _ in violations(value, schema["if"], root, at))
        yield from violations(value, schema.get("then" if fits else "else", {}), root, at)
    yield from _plain(value, schema, at)
    if isinstance(value, dict):
        yield from _object(value, schema, root, at)
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from violations(item, schema["items"], root, f"{at}[{i}]")


def _plain(value: Any, schema: Mapping[str, Any], at: str) -> Iterator[str]:
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(_is(value, name) for name in names):
        yield f"{at}: {type(value).__name__} is not {' or '.join(names)}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not one of {schema['enum']}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{at}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < schema.get("minimum", value):
        yield f"{at}: {value} is below {schema['minimum']}"
    if isinstance(value, list) and len(value) < schema.get("minItems", 0):
        yield f"{at}: {len(value)} items, at least {schema['minItems']} are due"


def _is(value: Any, name: str) -> bool:
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _object(value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], at: str) -> Iterator[str]:
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    yield from (f"{at}: {name} is missing" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        fitting = [properties[name]] if name in properties else []
        fitting += [s for pattern, s in patterns.items() if re.search(pattern, name)]
        for part in fitting:
            yield from violations(item, part, root, f"{at}.{name}")
        extra = schema.get("additionalProperties", True)
        if not fitting and extra is False:
            yield f"{at}: {name} is not known"
        elif not fitting and isinstance(extra, dict):
            yield from violations(item, extra, root, f"{at}.{name}")
