"""A value held against a schema of an OpenAPI description: the part of JSON Schema that ours uses, no more.

Stricter than the standard in one point: an object may have no key that its schema does not name, unless the schema
says so, for an answer is described wholly or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
UNDERSTOOD = {
    *("$ref", "anyOf", "type", "properties", "required", "additionalProperties", "items", "enum", "const", "format"),
    *("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"),
    *("propertyNames", "title", "description", "default", "examples", "example"),
}


def complaints(schema: Mapping[str, Any], value: object, whole: Mapping[str, Any], where: str = "") -> list[str]:
    """What is wrong with a value, by its place; `whole` is the description that `$ref` points into."""
    assert set(schema) <= UNDERSTOOD, f"{where}: a keyword that is not understood here: {set(schema) - UNDERSTOOD}"
    if "$ref" in schema:
        return complaints(referred(whole, schema["$ref"]), value, whole, where)
    if "anyOf" in schema:
        found = [complaints(each, value, whole, where) for each in schema["anyOf"]]
        return [] if [] in found else [f"{where}: fits none of {len(found)} ways: {min(found, key=len)}"]
    return list(_complaints(schema, value, whole, where))


def referred(whole: Mapping[str, Any], ref: str) -> Mapping[str, Any]:
    found: Any = whole
    for part in ref.removeprefix("#/").split("/"):
        found = found[part]
    assert isinstance(found, Mapping)
    return found


def _complaints(schema: Mapping[str, Any], value: Any, whole: Mapping[str, Any], where: str) -> Iterator[str]:
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{where}: expected {kind}, found {value!r}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: expected {schema['const']!r}, found {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: expected one of {schema['enum']}, found {value!r}"
    if schema.get("format") == "date-time":
        datetime.fromisoformat(value)
    yield from _bounds(schema, value, where)
    if isinstance(value, dict):
        yield from _keys(schema, value, whole, where)
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from complaints(schema.get("items", {}), each, whole, f"{where}[{number}]")


def _bounds(schema: Mapping[str, Any], value: Any, where: str) -> Iterator[str]:
    size = len(value) if isinstance(value, str | list | dict) else value
    least = [schema[name] for name in ("minimum", "minLength", "minItems") if name in schema]
    most = [schema[name] for name in ("maximum", "maxLength", "maxItems", "maxProperties") if name in schema]
    if any(size < each for each in least) or any(size > each for each in most):
        yield f"{where}: expected from {least} to {most}, found {value!r}"
    if "exclusiveMinimum" in schema and not value > schema["exclusiveMinimum"]:
        yield f"{where}: expected more than {schema['exclusiveMinimum']}, found {value!r}"


def _keys(schema: Mapping[str, Any], value: dict[str, Any], whole: Mapping[str, Any], where: str) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", not schema)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where}: expected {name}, found {sorted(value)}"
    for name, each in value.items():
        if name in known:
            yield from complaints(known[name], each, whole, f"{where}.{name}")
        elif isinstance(others, dict):
            yield from complaints(others, each, whole, f"{where}.{name}")
        elif not others:
            yield f"{where}: a name that is not described: {name}"
