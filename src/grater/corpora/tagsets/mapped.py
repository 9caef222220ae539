"""What a tag of one set is in another: the same, something broader, one of several, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Relation: TypeAlias = Literal["exact", "broader", "split", "none"]
"""exact: the same errors.  broader: the nearest tag covers more, or cuts otherwise; something is lost.  split: one of
several tags, and only the words of the edit can tell which.  none: no counterpart."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """The answer of a map: no code for `none`, several for `split`, else one.  `reason` says what is lost or
    needed."""

    relation: Relation
    codes: tuple[str, ...]
    reason: str = ""

    @property
    def code(self) -> str | None:
        """The one counterpart, where there is one."""
        return self.codes[0] if len(self.codes) == 1 else None


def exact(code: str) -> Mapped:
    return Mapped("exact", (code,))


def broader(code: str, reason: str) -> Mapped:
    return Mapped("broader", (code,), reason)


def one_of(*codes: str, reason: str) -> Mapped:
    return Mapped("split", codes, reason)


def nothing(reason: str) -> Mapped:
    return Mapped("none", (), reason)
