"""What every result offers: `to_dict()` for programs, `to_frame()` for notebooks, `sheets()` for people.

Result values inherit `Result` and define the three; the table in a notebook and the short repr come with it.
`encode` is the one JSON encoder: a value's fields become keys, undefined numbers become null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

from grater.model import Interval, Json
from grater.sheet import Sheet, as_html, as_text
from grater.signature import Signature

if TYPE_CHECKING:
    import polars as pl

SHOWN_ROWS = 12
"""Rows of the first table that a repr shows."""


class Result(Protocol):
    """A result with its three ways out."""

    def to_dict(self) -> dict[str, Json]:
        """The JSON of the command that prints this result."""
        ...

    def to_frame(self) -> pl.DataFrame:
        """The numbers at full precision, one per row."""
        ...

    def sheets(self) -> Sequence[Sheet]:
        """The tables that a person reads."""
        ...

    def _repr_html_(self) -> str:
        return "".join(map(as_html, self.sheets()))

    def __repr__(self) -> str:
        name = type(self).__name__
        sheets = self.sheets()
        if not sheets:
            return f"<{name}>"
        first = as_text(sheets[0]).rstrip("\n").split("\n")
        lines = first[: SHOWN_ROWS + 3] + ["…"] * (len(first) > SHOWN_ROWS + 3)
        more = [f"and {len(sheets) - 1} more: sheets()"] if len(sheets) > 1 else []
        return "\n".join([f"<{name}>", *lines, *more])


def encode(value: Any) -> Any:
    """JSON of any value that grater makes; what is not finite is null."""
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
