"""JSON in a text column: one spelling for one value, so that equal values are equal bytes on both engines."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from grater.model import Json


def to_text(value: Json) -> str:
    """Sorted keys, no spaces; NUL and half surrogate pairs are escaped, for neither engine can hold them raw."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)
    if text.isascii():
        return text
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def _plain(value: object) -> object:
    """Mappings and sequences of other kinds than dict and list, as `Json` allows them."""
    if hasattr(value, "keys"):
        return {key: value[key] for key in value}  # type: ignore[attr-defined,index]
    return list(value)  # type: ignore[call-overload]


class JsonText(TypeDecorator[Any]):
    """A column that holds any JSON value as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else to_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)
