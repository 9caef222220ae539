"""A source made of a string, so that readers are tested without files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextSource:
    text: str
    name: str = "test"

    def lines(self) -> Iterator[str]:
        start = 0
        while start < len(self.text):
            end = self.text.find("\n", start) + 1 or len(self.text)
            yield self.text[start:end]
            start = end
