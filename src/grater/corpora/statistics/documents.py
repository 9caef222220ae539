"""Which document an essay belongs to, and how many edits each annotator made in it (NUCLE Figure 2).

An essay is a document, unless its metadata names one (`document`); an M2 block, which carries its own tokens, is a
sentence of a document that it does not know unless its metadata says so.  Where any block does not know, the number
of documents is unknown, and so is everything counted per document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from grater.model import Essay


def document_of(essay: Essay) -> str | None:
    """The id of the essay's document, or none where it is unknown."""
    named = essay.metadata.get("document")
    if named not in (None, ""):
        return str(named)
    return essay.essay_id if essay.tokens is None else None


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """Documents, sentences of unknown documents, and the readings of a document by their number of edits."""

    known: int = 0
    unknown: int = 0
    by_edits: Mapping[int, int] = field(default_factory=dict, hash=False)

    def __add__(self, other: DocumentCounts) -> DocumentCounts:
        by_edits = Counter(self.by_edits) + Counter(other.by_edits)
        return DocumentCounts(self.known + other.known, self.unknown + other.unknown, by_edits)

    @property
    def n(self) -> int | None:
        return None if self.unknown else self.known

    @property
    def reason(self) -> str:
        """Why the number of documents is unknown, where it is."""
        if not self.unknown:
            return ""
        if self.unknown == 1:
            return "1 sentence does not say which document it comes from"
        return f"{self.unknown:,} sentences do not say which document they come from"


class Documents:
    """Counts documents as essays come; only those that come in several pieces are remembered by name."""

    def __init__(self) -> None:
        self._n_whole = 0
        self._n_unknown = 0
        self._whole_by_edits: Counter[int] = Counter()
        self._by_name: dict[str, Counter[str]] = {}

    def add(self, essay: Essay, n_edits_by_annotator: Mapping[str, int]) -> None:
        document = document_of(essay)
        if document is None:
            self._n_unknown += 1
        elif "document" in essay.metadata:
            # Not Counter.update with zeros left out: an annotator who found nothing still read the document.
            edits = self._by_name.setdefault(document, Counter())
            for annotator, n_edits in n_edits_by_annotator.items():
                edits[annotator] += n_edits
        else:
            self._n_whole += 1
            self._whole_by_edits.update(n_edits_by_annotator.values())

    def counts(self) -> DocumentCounts:
        by_edits = self._whole_by_edits.copy()
        for edits in self._by_name.values():
            by_edits.update(edits.values())
        return DocumentCounts(self._n_whole + len(self._by_name), self._n_unknown, by_edits)
