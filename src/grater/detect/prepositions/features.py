"""The context of a candidate as a row of numbers, and the 25 features made from it.

T&C 2008, section 3.1: words and tags in the positions next to the preposition and in the heads of nearby phrases.
Nothing in a row depends on the preposition itself: a gap has the same row as an extraneous preposition in it, apart
from effects on the tagging of neighbouring words. The heads are those of the chunks of `text.analysis`: the prior
noun and the prior verb are the heads of the last noun and verb phrase that end before the place, in the same
sentence; the following head is that of the next phrase of either kind, which must begin within `FARTHEST` tokens. Two
more words are ours: the one after the following head (*at the end* **of**), and the last preposition or conjunction
before (**from** *nine to*).

The paper's 25 features are words and tags next to the preposition and in heads, combinations of heads, and features
of tags only for words that training did not see.  It does not list them (Tetreault & Chodorow, COLING 2008, section
3.1, names some); `TEMPLATES` is our list, with the class prior, and docs/detectors.md lists them.

Features of heads use stems, since what holds for *depends* holds for *depended*; those of neighbouring words use the
words themselves. Training finds the stem of each word; the model keeps it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.corpora.text.analysis import Sentence
from grater.detect.linear import STRANGE_TAG, TAG_NUMBERS, Hashing, Numbering, Rows, Template, templates
from grater.detect.prepositions.candidates import Candidate

Places: TypeAlias = npt.NDArray[np.int64]

FIELDS = (
    *("l1", "l2", "l3", "r1", "r2", "r3", "verb", "noun", "head", "after", "prior"),
    *("l1.tag", "l2.tag", "r1.tag", "r2.tag", "verb.tag", "noun.tag", "head.tag"),
    "nearest",
)
"""The columns: words before and after, heads, their tags, and which head is nearer on the left (1 noun, 2 verb)."""

N_WORDS = 11
"""The first columns are words, the others are not."""

REACH = 3
FARTHEST = 2

LINKS = [TAG_NUMBERS["IN"], TAG_NUMBERS["TO"]]


def contexts(candidates: Sequence[Candidate], vocabulary: Numbering) -> Rows:
    """A row for each candidate; candidates of one sentence should be adjacent."""
    flat = _Flat()
    base, last = 0, None
    indices, starts, ends = [], [], []
    for candidate in candidates:
        if candidate.sentence is not last:
            last = candidate.sentence
            base = flat.add(last, vocabulary)
            end = base + len(last.words)
        indices.append(base + candidate.index)
        starts.append(base)
        ends.append(end)
    left = np.array(indices, np.int64)
    right = left + np.array([not candidate.is_gap for candidate in candidates], np.int64)
    return _rows(flat, left, right, np.array(starts, np.int64), np.array(ends, np.int64))


class _Flat:
    """Sentences end to end, with room between them, and the heads of their phrases."""

    def __init__(self) -> None:
        self.words = [0] * REACH
        self.tags = [0] * REACH
        self.nouns: list[tuple[int, int]] = []
        self.verbs: list[tuple[int, int]] = []
        self.phrases: list[tuple[int, int]] = []

    def add(self, sentence: Sentence, vocabulary: Numbering) -> int:
        base = len(self.words)
        self.words += vocabulary.numbers(sentence.words)
        self.tags += [TAG_NUMBERS.get(tag, STRANGE_TAG) for tag in sentence.tags]
        nouns, verbs, phrases = self.nouns, self.verbs, self.phrases
        for chunk in sentence.chunks:
            head = base + chunk.head
            (nouns if chunk.kind == "NP" else verbs).append((base + chunk.end, head))
            phrases.append((base + chunk.start, head))
        self.words += [0] * REACH
        self.tags += [0] * REACH
        return base

    def last_head(self, ends_and_heads: list[tuple[int, int]]) -> Places:
        """For each index, the head of the last phrase that ends there or before; 0 for none."""
        positions = np.zeros(len(self.words) + 1, np.int64)
        if ends_and_heads:
            ends, heads = np.array(ends_and_heads).T
            positions[ends] = heads
        accumulated: Places = np.maximum.accumulate(positions)
        return accumulated

    def next_phrase(self) -> tuple[Places, Places]:
        """For each index, the start and the head of the next phrase that starts there or later."""
        nowhere = len(self.words) + FARTHEST + 1
        start, head = (np.full(len(self.words) + 1, nowhere, np.int64) for _ in range(2))
        if self.phrases:
            starts, heads = np.array(self.phrases).T
            start[starts], head[starts] = starts, heads
        return np.minimum.accumulate(start[::-1])[::-1], np.minimum.accumulate(head[::-1])[::-1]


def _rows(flat: _Flat, left: Places, right: Places, starts: Places, ends: Places) -> Rows:
    """The left side ends before the index `left`, the right side begins at `right`."""
    words, tags = np.array(flat.words, np.int32), np.array(flat.tags, np.int32)
    noun, verb = (
        np.where(heads[left] >= starts, heads[left], 0) for heads in map(flat.last_head, (flat.nouns, flat.verbs))
    )
    next_start, next_head = (heads[right] for heads in flat.next_phrase())
    is_near = (next_start <= right + FARTHEST) & (next_start < ends)
    head = np.where(is_near, next_head, 0)
    indices = np.arange(len(words))
    links = np.maximum.accumulate(np.where(np.isin(tags, LINKS), indices, 0))[left - 1]
    prior, after = np.where(links >= starts, links, 0), np.where(head > 0, head + 1, 0)
    nearest = np.where(noun > verb, 1, 2) * ((noun > 0) | (verb > 0))
    columns = [
        *(words[index] for index in (left - 1, left - 2, left - 3, right, right + 1, right + 2)),
        *(words[index] for index in (verb, noun, head, after, prior)),
        *(tags[index] for index in (left - 1, left - 2, right, right + 1, verb, noun, head)),
        nearest,
    ]
    return np.stack(columns, axis=1).astype(np.int32)


TEMPLATES: tuple[Template, ...] = (
    *templates("words", "l1 r1"),
    *templates("n-grams", "l2+l1 r1+r2 l1+r1 l3+l2+l1 r1+r2+r3 l2+l1+r1 l1+r1+r2 l2+l1+r1+r2"),
    *templates("heads", "verb+nearest noun+nearest head+head.tag"),
    *templates("combinations", "l1+head verb+head noun+head verb+l1 r1+head l2+l1+head head+after"),
    *templates("tags", "l1.tag+r1.tag+head.tag l2.tag+l1.tag+r1.tag+r2.tag verb.tag+noun.tag+head.tag+nearest"),
    *templates("words and tags", "l1+r1.tag+head.tag prior+l1.tag+r1.tag"),
)
PRIOR = Template("prior", "prior", ())
ALL = (*TEMPLATES, PRIOR)
HASHING = Hashing(FIELDS, ALL)


HEADS = [FIELDS.index(name) for name in ("verb", "noun", "head")]


def stemmed(rows: Rows, stems: Rows) -> Rows:
    """Contexts with the stems of their heads in place of the heads."""
    stemmed = rows.copy()
    stemmed[:, HEADS] = stems[rows[:, HEADS]]
    return stemmed
