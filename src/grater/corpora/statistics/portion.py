"""A part of a corpus (the whole, one annotator's share, one first language) as the counts behind its every number.

For intervals the counts are kept apart by *block*: the document (for M2 blocks that know none: the sentence) by a
hash of its id, one of 1,024.  A block is a random group of units, so resampling blocks estimates the same variance as
resampling units (up to 1/1,024), in memory that does not grow with the corpus; a small corpus has nearly a block for
each unit.  The same text in two files, read by two annotators, falls in the same block, so it is drawn together; and
neither the order of essays nor their division into files changes a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from grater.corpora.statistics.counts import CorpusCounts, total
from grater.corpora.statistics.documents import DocumentCounts, Documents, document_of
from grater.model import Essay

N_BLOCKS = 1024


@dataclass(frozen=True, slots=True)
class Portion:
    """Everything that is known of a part of a corpus; it adds up over files."""

    by_block: Mapping[int, CorpusCounts] = field(default_factory=dict, hash=False)
    documents: DocumentCounts = field(default_factory=DocumentCounts)
    words: frozenset[str] = frozenset()

    def __add__(self, other: Portion) -> Portion:
        by_block = dict(self.by_block)
        for block, counts in other.by_block.items():
            by_block[block] = by_block.get(block, CorpusCounts()) + counts
        return Portion(by_block, self.documents + other.documents, self.words | other.words)

    @property
    def counts(self) -> CorpusCounts:
        return total(self.by_block.values())


def all_of(portions: Iterable[Portion]) -> Portion:
    return sum(portions, start=Portion())


class Tally:
    """A portion in the making: takes essays one by one and keeps none of them."""

    def __init__(self) -> None:
        self._by_block: dict[int, CorpusCounts] = {}
        self._documents = Documents()
        self._words: set[str] = set()

    def add(
        self, essay: Essay, text: CorpusCounts, by_annotator: Mapping[str, CorpusCounts], words: frozenset[str]
    ) -> None:
        block = block_of(essay)
        counts = sum(by_annotator.values(), start=text)
        before = self._by_block.get(block)
        self._by_block[block] = counts if before is None else before + counts
        self._documents.add(essay, {annotator: reading.edits for annotator, reading in by_annotator.items()})
        self._words |= words

    def portion(self) -> Portion:
        return Portion(self._by_block, self._documents.counts(), frozenset(self._words))


def block_of(essay: Essay) -> int:
    """The block of the essay's document, the same on every machine."""
    unit_id = document_of(essay) or essay.essay_id
    return crc32(unit_id.encode("utf-8", "surrogatepass")) % N_BLOCKS
