"""Ids for essays whose format has none: a hash of the text, with `#2`, `#3` for repeats within one corpus.

Never a path, so the same text has the same id wherever it lies (architecture.md, "Two tables carry everything").
"""

from __future__ import annotations

from collections import Counter

from grater.model import short_hash


class EssayIds:
    """Gives out ids in reading order; keeps only hashes, so a corpus of millions of sentences stays small."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()

    def of_text(self, text: str) -> str:
        return self._numbered(short_hash(text))

    def of_document(self, document_id: str) -> str:
        """The format's own id, numbered too where a file repeats it."""
        return self._numbered(document_id)

    def _numbered(self, base: str) -> str:
        key = hash(base)
        self._seen[key] += 1
        n_seen = self._seen[key]
        return base if n_seen == 1 else f"{base}#{n_seen}"
