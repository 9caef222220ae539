"""The ratios of NUCLE Table 5 from its totals.

Sizes are those of the text; edits are divided by readings, which are the same number where one annotator read
everything, as in NUCLE.
"""

from __future__ import annotations

from dataclasses import dataclass

from grater.model import Json


@dataclass(frozen=True, slots=True)
class Totals:
    """The counts that the table divides; documents may be unknown."""

    documents: int | None
    sentences: int
    tokens: int
    edits: int
    documents_read: int | None
    sentences_read: int
    tokens_read: int

    @property
    def sentences_per_document(self) -> float | None:
        return ratio(self.sentences, self.documents)

    @property
    def tokens_per_document(self) -> float | None:
        return ratio(self.tokens, self.documents)

    @property
    def tokens_per_sentence(self) -> float | None:
        return ratio(self.tokens, self.sentences)

    @property
    def edits_per_document(self) -> float | None:
        return ratio(self.edits, self.documents_read)

    @property
    def edits_per_100_tokens(self) -> float | None:
        return ratio(100 * self.edits, self.tokens_read)

    def readings_as_json(self) -> dict[str, Json]:
        return {
            "documents": self.documents_read,
            "sentences": self.sentences_read,
            "tokens": self.tokens_read,
        }


def ratio(part: int, whole: int | None) -> float | None:
    """None where there is nothing to divide by."""
    return part / whole if whole else None
