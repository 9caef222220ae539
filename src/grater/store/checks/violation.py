"""One broken promise."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Violation:
    """`kind`: lost, doubled, over-issued, starved, orphan, trust, money, rebuilt, offsets."""

    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"
