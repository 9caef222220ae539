"""Every limit of a study by name: one table that pages, API and commands ask.

`LIMITS` has the ranges of numbers, `LONGEST` the lengths of texts.  Whatever comes in is checked by the function of
`grater.annotate.study` that stores it, so a limit holds however a request arrives; pages and the API's schema name it
as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grater.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limit:
    """The least and the most that a number may be; `excludes_least` where it must be more than the least."""

    least: float
    most: float
    excludes_least: bool = False

    def allows(self, value: float) -> bool:
        return (self.least < value if self.excludes_least else self.least <= value) and value <= self.most

    def __str__(self) -> str:
        least, most = _plain(self.least), _plain(self.most)
        return f"more than {least}, up to {most}" if self.excludes_least else f"a number from {least} to {most}"


LIMITS: Mapping[str, Limit] = {
    "gold.least": Limit(1, 100),
    "gold.most": Limit(1, 100_000),
}
"""Ranges of numbers; the last part of a name is the field that a message names."""

LONGEST: Mapping[str, int] = {
    "gold.reason": 500,
    "dispute.text": 2000,
    "dispute.answer": 2000,
}
"""Lengths of texts in characters."""


def require_number(name: str, value: float | None) -> None:
    """Refuse a number outside of its limit; None is a number that was not given."""
    if value is not None and not LIMITS[name].allows(value):
        raise UsageError(f"{field_of(name)}: expected {LIMITS[name]}, found {_plain(value)}")


def require_text(name: str, text: str) -> str:
    """The text; one that is longer than its limit is refused."""
    if len(text) > LONGEST[name]:
        raise UsageError(f"{field_of(name)}: expected at most {LONGEST[name]:,} characters, found {len(text):,}")
    return text


def field_of(name: str) -> str:
    """The field of a form, a call or a command that a limit is about."""
    return name.rpartition(".")[2]


def _plain(value: float) -> str:
    return f"{value:g}" if value != int(value) else f"{int(value)}"
