"""The corpus divided by a metadata field: first language, level, score, prompt, course.

An essay without the field is in a row of its own, never dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TypeVar

from grater.errors import UnknownName, UsageError
from grater.model import Essay
from grater.registry import unknown

Value = TypeVar("Value", str, str | None)

NUMBER = re.compile(r"[-+]?\d{1,18}(\.\d+)?")
PIECE = re.compile(r"(\D*)(\d{0,18})")


def value_of(essay: Essay, field: str) -> str | None:
    """The essay's group as text, none where it is missing or blank."""
    value = essay.metadata.get(field)
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def in_order(values: Iterable[Value]) -> list[Value]:
    """Numbers by size, then words by the alphabet with the numbers in them by size (A2, A10), the missing last."""
    return sorted(values, key=_place)


def _place(value: str | None) -> tuple[int, float, list[tuple[str, int]], str]:
    if value is None:
        return 2, 0.0, [], ""
    if NUMBER.fullmatch(value):
        return 0, float(value), [], value
    return 1, 0.0, [(word, int(digits or 0)) for word, digits in PIECE.findall(value)], value


def require_known(field: str, fields: Iterable[str]) -> None:
    """Refuse a field that no essay has, and name those there are."""
    known = sorted(fields)
    if not known:
        raise UsageError(f"cannot divide by {field!r}: no essay here has any metadata")
    if field not in known:
        raise UnknownName(unknown("metadata field", field, known))
