"""The interface of every result: `to_dict()` for programs, `to_frame()` for notebooks, `sheets()` for people.

A result is a dataclass that inherits `Result`; its parts inherit `Data`.  Their JSON is declared with the fields:
a field `n_items` or `is_tied` has the key `items` or `tied`, and metadata says where it is otherwise:

    n_ok: int = field(metadata=key("correct"))            another key
    overall: Scored = field(metadata=FLAT)                its members stand among those of the record
    parts: Mapping[str, Part] = field(metadata=OPTIONAL)  left out where it is empty
    counts: Counts = field(metadata=HIDDEN)               never in the JSON

A property that belongs to the JSON carries `in_json`.  `encode` is the one JSON encoder: undefined numbers are null.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from grater.model import Interval, Json
from grater.sheet import Sheet, Signature, as_html, as_text, counted, undefined_notes

if TYPE_CHECKING:
    import polars as pl

SHOWN_ROWS = 12
"""Rows of the first table that a repr shows."""

Estimate: TypeAlias = tuple[Mapping[str, str | int | float | None], Interval]
"""A number of a frame: the columns that say what it is of, and its value with its interval."""

Getter = TypeVar("Getter", bound=Callable[[Any], Any])


def encode(value: Any) -> Any:
    """JSON of any value that grater makes; what is not finite is null."""
    if isinstance(value, Data):
        return value.to_dict()
    if isinstance(value, Interval):
        return value.as_json()
    if isinstance(value, Signature):
        return str(value)
    if isinstance(value, Enum):
        return encode(value.value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encode(member) for key, member in value.items()}
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        return encode(value.tolist())
    return [encode(member) for member in value]


@dataclass(frozen=True, slots=True)
class Key:
    """How a field or property is written in the JSON of its record."""

    name: str = ""
    flat: bool = False
    optional: bool = False
    hidden: bool = False
    write: Callable[[Any], Any] = encode


def key(
    name: str = "", *, flat: bool = False, optional: bool = False, write: Callable[[Any], Any] = encode
) -> Mapping[str, Key]:
    """Metadata of a field whose JSON is not simply its name and value."""
    return {"json": Key(name, flat=flat, optional=optional, write=write)}


FLAT = key(flat=True)
OPTIONAL = key(optional=True)
HIDDEN = {"json": Key(hidden=True)}


def in_json(
    name: str = "", *, flat: bool = False, optional: bool = False, write: Callable[[Any], Any] = encode
) -> Callable[[Getter], Getter]:
    """Put a property into the JSON: between `@property` and its function."""

    def mark(getter: Getter) -> Getter:
        getter.json = Key(name, flat=flat, optional=optional, write=write)  # type: ignore[attr-defined]
        return getter

    return mark


@cache
def _keys(record: type) -> Sequence[tuple[str, str, Key]]:
    """The attributes of a class that its JSON shows, each with its key."""
    declared = {field.name: field.metadata.get("json", Key()) for field in fields(record)}
    for parent in reversed(record.__mro__):
        for name, value in vars(parent).items():
            getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
            if (mark := getattr(getter, "json", None)) is not None:
                declared[name] = mark
    return [
        (name, mark.name or re.sub("^(n|is|has)_", "", name), mark)
        for name, mark in declared.items()
        if not mark.hidden
    ]


class Data:
    """Numbers that belong together; their JSON comes from the declared fields."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Json]:
        """The JSON of the command that prints this."""
        kind: type = type(self)
        found: dict[str, Json] = {}
        for attribute, name, mark in _keys(kind):
            value = getattr(self, attribute)
            if mark.optional and (value is None or (isinstance(value, Sized) and not len(value))):
                continue
            found |= mark.write(value) if mark.flat else {name: mark.write(value)}
        return found


class Result(Data):
    """A result with its three ways out, its warnings, and the reasons why numbers are withheld."""

    __slots__ = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before the numbers; a result that has any declares a field of this name."""
        return ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why numbers, or their intervals, are undefined."""
        return tuple(undefined_notes(_intervals(self)))

    def estimates(self) -> Iterable[Estimate]:
        """The numbers of the frame, where it is a plain list of numbers."""
        raise NotImplementedError

    def to_frame(self) -> pl.DataFrame:
        """The numbers at full precision, one per row: what it is of, value, low, high."""
        return frame_of(self.estimates())

    @abstractmethod
    def sheets(self) -> Sequence[Sheet]:
        """The tables that a person reads."""

    def _repr_html_(self) -> str:
        sheets = self.sheets()
        below = "".join(f"<p>{escape(note)}</p>" for note in self._unshown(sheets))
        return "".join(map(as_html, sheets)) + below

    def __repr__(self) -> str:
        name = type(self).__name__
        sheets = self.sheets()
        if not sheets:
            return "\n".join([f"<{name}>", *self._unshown(sheets)])
        first = as_text(sheets[0]).rstrip("\n").split("\n")
        lines = first[: SHOWN_ROWS + 3] + ["…"] * (len(first) > SHOWN_ROWS + 3)
        more = [f"{counted(len(sheets) - 1, 'more table')}: .sheets()"] if len(sheets) > 1 else []
        return "\n".join([f"<{name}>", *lines, *self._unshown(sheets), *more])

    def _unshown(self, sheets: Sequence[Sheet]) -> list[str]:
        """The warnings and reasons that no table has among its notes."""
        shown = {note for sheet in sheets for note in sheet.notes}
        warnings = [f"warning: {warning}" for warning in self.warnings if warning not in shown]
        return warnings + [reason for reason in self.reasons if reason not in shown]


def frame_of(estimates: Iterable[Estimate]) -> pl.DataFrame:
    """A tidy frame, one number per row."""
    import polars as pl  # the tables on a terminal need not wait for it

    rows = [{**of, "value": number.value, "low": number.low, "high": number.high} for of, number in estimates]
    return pl.DataFrame(rows, infer_schema_length=None)


def _intervals(value: Any) -> Iterator[Interval]:
    """Every interval in a value, however deep."""
    if isinstance(value, Interval):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _intervals(member)
    elif isinstance(value, list | tuple):
        for member in value:
            yield from _intervals(member)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _intervals(getattr(value, field.name))
