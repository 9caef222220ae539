"""The counts of a corpus, which are additive over essays, annotators and files; all statistics are computed from
them.

A *reading* is one annotator's pass over a text: a sentence that two annotators read is one sentence and two readings.
Densities and shares are per reading, so that a second annotator does not make a text look worse. The sizes in NUCLE
Table 5 are those of the text; edits are divided by readings, which equals the number of texts if one annotator read
everything, as in NUCLE. `Histogram` counts documents and sentences with 0, 1, 2, ... edits (Figures 2 and 3).

An essay is a document, unless its metadata names one (`document`); an M2 block, which has its own tokens, is a
sentence of an unknown document unless its metadata names it. If any block's document is unknown, so are the number of
documents and everything counted per document.

A *portion* is a part of a corpus (the whole, one annotator's share, one first language). For intervals, counts are
kept by *block*: one of 1,024, chosen by a hash of the document's id (for M2 blocks without one, the sentence's). A
block is a random group of units, so resampling blocks estimates the same variance as resampling units (up to
1/1,024), in constant memory; in a small corpus, most units have their own block. The same text in two files, read by
two annotators, falls in the same block, so both are drawn together; neither the order of essays nor their division
into files affects intervals.

`count_essay` counts one essay: its text, and each annotator's reading of it (Dahlmeier, Ng & Wu 2013, section 5). Two
choices are ours. A sentence extends to the start of the next, so an edit over the space after a full stop is inside;
an edit over the first letter of the next sentence is not. *Alternatives* are several edits of one annotator on the
same span, or one edit with several corrections. Counted separately, as in the paper, every edit is one; merged, every
marked place is one, under each of its tags. An M2 no-op is never an edit. Programs and adjudicated decisions are not
readings (`grater.model.as_annotated`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TypeVar
from zlib import crc32

from grater.corpora.tagsets import split
from grater.corpora.text.sentences import sentences_of
from grater.corpora.text.tokens import tokens_of
from grater.model import Edit, Essay, Json, Span, as_annotated, document_of

K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """Sufficient statistics of the corpus study.

    A *place* is a span that one annotator marked, once or more. `by_sentence` maps a number of edits to the number of
    sentence readings with that many.
    """

    sentences: int = 0
    tokens: int = 0
    unread: int = 0  # sentences that nobody read
    sentences_read: int = 0
    tokens_read: int = 0
    edits: int = 0
    edits_inside: int = 0  # edits that start and end in one sentence
    places: int = 0
    places_with_several: int = 0  # more than one edit there, or an edit with more than one correction
    edits_with_several: int = 0  # edits with more than one correction
    by_tag: Mapping[str, int] = field(default_factory=dict, hash=False)
    by_sentence: Mapping[int, int] = field(default_factory=dict, hash=False)

    def __add__(self, other: CorpusCounts) -> CorpusCounts:
        # Written out, not by fields(): this runs for every M2 block.
        return CorpusCounts(
            sentences=self.sentences + other.sentences,
            tokens=self.tokens + other.tokens,
            unread=self.unread + other.unread,
            sentences_read=self.sentences_read + other.sentences_read,
            tokens_read=self.tokens_read + other.tokens_read,
            edits=self.edits + other.edits,
            edits_inside=self.edits_inside + other.edits_inside,
            places=self.places + other.places,
            places_with_several=self.places_with_several + other.places_with_several,
            edits_with_several=self.edits_with_several + other.edits_with_several,
            by_tag=_sum(self.by_tag, other.by_tag),
            by_sentence=_sum(self.by_sentence, other.by_sentence),
        )

    @property
    def labels(self) -> int:
        """The number of tags: as many as edits, or more if merged edits have two tags."""
        return sum(self.by_tag.values())


def _sum(first: Mapping[K, int], second: Mapping[K, int]) -> Mapping[K, int]:
    if not second or not first:
        return first or second
    summed = dict(first)
    for key, n in second.items():
        summed[key] = summed.get(key, 0) + n
    return summed


TAIL = 100
"""NUCLE counts the documents with more than 100 edits (32 of 1,414)."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """`by_number` maps a number of edits to the number of units that have it; statistics need at least one unit."""

    by_number: Mapping[int, int] = field(hash=False)

    @property
    def n(self) -> int:
        return sum(self.by_number.values())

    @property
    def mean(self) -> float:
        return sum(number * n for number, n in self.by_number.items()) / self.n

    @property
    def median(self) -> float:
        numbers = sorted(self.by_number)
        reached = list(accumulate(self.by_number[number] for number in numbers))
        return sum(numbers[bisect_right(reached, rank)] for rank in ((self.n - 1) // 2, self.n // 2)) / 2

    @property
    def mode(self) -> int:
        """The most frequent number; in a tie, the smallest."""
        return min(self.by_number, key=lambda number: (-self.by_number[number], number))

    @property
    def highest(self) -> int:
        return max(self.by_number)

    def above(self, number: int) -> int:
        """The number of units with more than this."""
        return sum(n for edits, n in self.by_number.items() if edits > number)

    def as_json(self) -> dict[str, Json]:
        bars: dict[str, Json] = {str(number): self.by_number[number] for number in sorted(self.by_number)}
        measures: dict[str, Json] = {"mean": None, "median": None, "mode": None, "max": None}
        if not self.n:
            return {"n": 0, **measures, "histogram": bars, "reason": "no annotator read anything here"}
        measures = {"mean": self.mean, "median": self.median, "mode": self.mode, "max": self.highest}
        return {"n": self.n, **measures, "histogram": bars}


@dataclass(slots=True)
class Documents:
    """Counts documents while essays are read; only those in several pieces are remembered by name."""

    n_whole: int = 0
    unknown: int = 0
    """Sentences of unknown documents."""
    edits_of_whole: Counter[int] = field(default_factory=Counter)
    pieces: dict[str, Counter[str]] = field(default_factory=dict)
    """By document: the edits of each annotator so far."""

    def add(self, essay: Essay, n_edits_by_annotator: Mapping[str, int]) -> None:
        document = document_of(essay)
        if document is None:
            self.unknown += 1
        elif "document" in essay.metadata:
            # Not Counter.update with zeros left out: an annotator who found nothing still read the document.
            edits = self.pieces.setdefault(document, Counter())
            for annotator, n_edits in n_edits_by_annotator.items():
                edits[annotator] += n_edits
        else:
            self.n_whole += 1
            self.edits_of_whole.update(n_edits_by_annotator.values())

    def merge(self, other: Documents) -> None:
        self.n_whole += other.n_whole
        self.unknown += other.unknown
        self.edits_of_whole += other.edits_of_whole
        for document, edits in other.pieces.items():
            self.pieces.setdefault(document, Counter()).update(edits)

    def closed(self) -> Documents:
        """The same counts without names, since a document of that name in another corpus is another."""
        return Documents(self.known, self.unknown, self.by_edits)

    @property
    def known(self) -> int:
        return self.n_whole + len(self.pieces)

    @property
    def n(self) -> int | None:
        return None if self.unknown else self.known

    @property
    def by_edits(self) -> Counter[int]:
        """The readings of a document by their number of edits."""
        by_edits = self.edits_of_whole.copy()
        for edits in self.pieces.values():
            by_edits.update(edits.values())
        return by_edits

    @property
    def unknown_because(self) -> str:
        """Why the number of documents is unknown, if it is."""
        if not self.unknown:
            return ""
        if self.unknown == 1:
            return "1 sentence does not say which document it comes from"
        return f"{self.unknown:,} sentences do not say which document they come from"


N_BLOCKS = 1024


@dataclass(slots=True)
class Portion:
    """Everything that is known of a part of a corpus; takes essays one by one and keeps none of them."""

    by_block: dict[int, CorpusCounts] = field(default_factory=dict)
    documents: Documents = field(default_factory=Documents)
    words: set[str] = field(default_factory=set)

    def add(
        self, essay: Essay, text: CorpusCounts, by_annotator: Mapping[str, CorpusCounts], words: frozenset[str]
    ) -> None:
        self._add_to(block_of(essay), sum(by_annotator.values(), start=text))
        self.documents.add(essay, {annotator: reading.edits for annotator, reading in by_annotator.items()})
        self.words |= words

    def merge(self, other: Portion, *, is_of_another_corpus: bool = False) -> None:
        for block, counts in other.by_block.items():
            self._add_to(block, counts)
        self.documents.merge(other.documents.closed() if is_of_another_corpus else other.documents)
        self.words |= other.words

    def _add_to(self, block: int, counts: CorpusCounts) -> None:
        before = self.by_block.get(block)
        self.by_block[block] = counts if before is None else before + counts

    @property
    def counts(self) -> CorpusCounts:
        return sum(self.by_block.values(), start=CorpusCounts())


def block_of(essay: Essay) -> int:
    """The block of the essay's document, the same on every machine."""
    unit_id = document_of(essay) or essay.essay_id
    return crc32(unit_id.encode("utf-8", "surrogatepass")) % N_BLOCKS


NOOP = "noop"


@dataclass(frozen=True, slots=True)
class Counting:
    """How edits are counted: alternatives merged into one, `Wcip` and `Rloc` split by their words."""

    merge_alternatives: bool = False
    split_tags: bool = False


@dataclass(frozen=True, slots=True)
class EssayCounts:
    """The counts of one essay: of its text alone, of every reading of it, and its distinct words."""

    text: CorpusCounts
    by_annotator: Mapping[str, CorpusCounts]
    words: frozenset[str]


def count_essay(essay: Essay, counting: Counting) -> EssayCounts:
    essay = as_annotated(essay)
    tokens, sentences = tokens_of(essay), sentences_of(essay)
    text, starts = essay.text, [sentence.start for sentence in sentences]
    words = frozenset([text[token.start : token.end] for token in tokens])
    by_annotator = {
        annotator: _reading(essay, edits, starts, len(tokens), counting)
        for annotator, edits in edits_by_annotator(essay).items()
    }
    unread = 0 if by_annotator else len(sentences)
    return EssayCounts(CorpusCounts(len(sentences), len(tokens), unread), by_annotator, words)


def edits_by_annotator(essay: Essay) -> dict[str, list[Edit]]:
    """The edits of everyone who read the essay; an empty list for those who found nothing."""
    by_annotator: dict[str, list[Edit]] = {annotator: [] for annotator in essay.annotators}
    for edit in essay.edits:
        edits = by_annotator.setdefault(edit.rater, [])
        if edit.tag != NOOP:
            edits.append(edit)
    return by_annotator


def _reading(
    essay: Essay, edits: Sequence[Edit], starts: Sequence[int], n_tokens: int, counting: Counting
) -> CorpusCounts:
    read = CorpusCounts(
        sentences_read=len(starts), tokens_read=n_tokens, by_sentence={0: len(starts)} if starts else {}
    )
    if not edits:  # most sentences of most corpora
        return read
    by_span: dict[Span, list[Edit]] = defaultdict(list)
    for edit in edits:
        by_span[edit.span].append(edit)
    counted = by_span if counting.merge_alternatives else [edit.span for edit in edits]
    indices = [index for span in counted if (index := sentence_index(span, starts)) is not None]
    by_index = Counter(indices)
    by_sentence = Counter(by_index.values())
    if len(starts) > len(by_index):
        by_sentence[0] = len(starts) - len(by_index)
    by_tag: Counter[str] = Counter()
    for there in by_span.values():
        tags = [split(edit, essay.text) if counting.split_tags else edit.tag for edit in there]
        by_tag.update(set(tags) if counting.merge_alternatives else tags)
    return replace(
        read,
        edits=len(counted),
        edits_inside=len(indices),
        places=len(by_span),
        places_with_several=sum(len(there) > 1 or len(there[0].replacements) > 1 for there in by_span.values()),
        edits_with_several=sum(len(edit.replacements) > 1 for edit in edits),
        by_tag=by_tag,
        by_sentence=by_sentence,
    )


def sentence_index(span: Span, starts: Sequence[int]) -> int | None:
    """The sentence that contains the whole span; None if it extends into the next."""
    if not starts:
        return None
    index = max(bisect_right(starts, span.start) - 1, 0)
    is_last = index + 1 == len(starts)
    return index if is_last or span.end <= starts[index + 1] else None
