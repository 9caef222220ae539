"""Formats tried on strings, without files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from grater.corpora.formats import FileFormat, Loss
from grater.errors import BadInput
from grater.model import Essay


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


@dataclass(frozen=True, slots=True)
class Tried:
    """A format whose files are strings, all of one name."""

    format: FileFormat
    name: str = "test"

    def read(self, text: str) -> list[Essay]:
        return list(self.format.read(TextSource(text, self.name)))

    def write(self, *essays: Essay) -> tuple[str, list[Loss]]:
        losses: list[Loss] = []
        return "".join(self.format.write(essays, losses.append)), losses

    def write_and_report(self, *essays: Essay) -> tuple[str, list[str]]:
        """The same with losses in words."""
        text, losses = self.write(*essays)
        return text, [str(loss) for loss in losses]

    def problems_of(self, text: str) -> list[str]:
        with pytest.raises(BadInput) as caught:
            self.read(text)
        return [str(problem) for problem in caught.value.problems]
