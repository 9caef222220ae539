"""How columns are written in the schema: a few words, so that a table reads as a list of its columns.

JSON lies in a text column, in one spelling per value, so that equal values are equal bytes on both engines.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Column, ForeignKey, Integer, MetaData, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from grater.model import MOST_DEPTH, Json, is_deep


def to_text(value: Json) -> str:
    """Sorted keys, no spaces; NUL and half surrogate pairs are escaped, for neither engine can hold them raw."""
    text = ENCODER.encode(value)
    if text.isascii():
        return text
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def _plain(value: object) -> object:
    """Mappings and sequences of other kinds than dict and list, as `Json` allows them."""
    if hasattr(value, "keys"):
        return {key: value[key] for key in value}  # type: ignore[attr-defined,index]
    return list(value)  # type: ignore[call-overload]


ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain)
"""One for all: `json.dumps` would make another for each of the many thousand cells of a study."""


class JsonText(TypeDecorator[Any]):
    """A column that holds any JSON value as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002
        return None if value is None else to_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else json.loads(value)


class FileJson(JsonText):
    """JSON that came with a file.  Earlier versions took it however deep it was nested; what is too deep for pages,
    the API and other programs is read as its own text, a value at a time."""

    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        if value is None or value.count("[") + value.count("{") <= MOST_DEPTH:
            return super().process_result_value(value, dialect)
        try:
            values = json.loads(value)
            return {name: to_text(each) if is_deep(each) else each for name, each in values.items()}
        except RecursionError:
            return {"nested": value}


NAMES = {"ix": "ix_%(column_0_N_label)s", "ck": "ck_%(table_name)s_%(constraint_name)s"}

METADATA = MetaData(naming_convention=NAMES)

ID = Integer().with_variant(BigInteger, "postgresql")
"""A number that grows; SQLite insists on INTEGER for its own row number."""


def text(name: str, *, default: str | None = None, **more: Any) -> Column[str]:
    """A text that is there; blank unless the caller says otherwise, where a default is given."""
    return Column(name, Text, nullable=False, server_default=default, **more)


def optional(name: str, refers: str | None = None) -> Column[str]:
    return Column(name, Text, *([ForeignKey(refers)] if refers else []), nullable=True)


def key(name: str, refers: str | None = None) -> Column[str]:
    """A column of the primary key."""
    return Column(name, Text, *([ForeignKey(refers)] if refers else []), primary_key=True)


def refers(name: str, to: str) -> Column[str]:
    return Column(name, Text, ForeignKey(to), nullable=False)


def number(name: str, *, default: str | None = None, **more: Any) -> Column[int]:
    more.setdefault("nullable", False)
    return Column(name, BigInteger, server_default=default, **more)


def moment(name: str, *, optional: bool = False) -> Column[int]:
    """Milliseconds since 1970, UTC."""
    return Column(name, BigInteger, nullable=optional)


def json_column(name: str, *, default: str | None = "{}", nullable: bool = False) -> Column[Any]:
    return Column(name, JsonText, nullable=nullable, server_default=default)


def file_json(name: str) -> Column[Any]:
    """An object of a file: metadata of an essay, further fields of an edit."""
    return Column(name, FileJson, nullable=False, server_default="{}")


def one_of(column: str, *values: str) -> CheckConstraint:
    """The column is one of a closed set of words.

    Spelt with OR: for every row, SQLite makes a table of the words in `IN (...)`, a sixth of the time of an import.
    """
    return CheckConstraint(" OR ".join(f"{column} = '{value}'" for value in values), name=column)
