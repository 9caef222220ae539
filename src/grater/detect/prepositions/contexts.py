"""What stands around a candidate, as a row of numbers.

T&C 2008, section 3.1: words and tags in the positions next to the preposition and in the heads of nearby phrases.
Nothing of a row depends on the preposition itself: a gap has the same row as an extraneous preposition in it would,
but for what the tagger makes of the words around.  The heads are those of `text.chunks`: the prior noun and the prior
verb are the heads of the last noun and verb phrase that end before the place, in the same sentence; the following
head is that of the next phrase of either kind, which must begin within `FARTHEST` tokens.  Two more words are ours:
the one after the following head (*at the end* **of**), and the last preposition or conjunction before (**from** *nine
to*).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.learning.hashing import Rows
from grater.detect.learning.tags import STRANGE_TAG, TAG_NUMBERS
from grater.detect.learning.vocabulary import Numbering
from grater.detect.prepositions.candidates import Candidate
from grater.text.analysis import Sentence

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
    """A row for each candidate; candidates of one sentence should stand together."""
    flat = _Flat()
    base, last = 0, None
    places, starts, ends = [], [], []
    for candidate in candidates:
        if candidate.sentence is not last:
            last = candidate.sentence
            base = flat.add(last, vocabulary)
            end = base + len(last.words)
        places.append(base + candidate.index)
        starts.append(base)
        ends.append(end)
    left = np.array(places, np.int64)
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
        for chunk in sentence.chunks:
            head = base + chunk.head
            (self.nouns if chunk.kind == "NP" else self.verbs).append((base + chunk.end, head))
            self.phrases.append((base + chunk.start, head))
        self.words += [0] * REACH
        self.tags += [0] * REACH
        return base

    def last_head(self, ends_and_heads: list[tuple[int, int]]) -> Places:
        """For each place, the head of the last phrase that ends there or before; 0 for none."""
        found = np.zeros(len(self.words) + 1, np.int64)
        if ends_and_heads:
            ends, heads = np.array(ends_and_heads).T
            found[ends] = heads
        accumulated: Places = np.maximum.accumulate(found)
        return accumulated

    def next_phrase(self) -> tuple[Places, Places]:
        """For each place, the start and the head of the next phrase that starts there or later."""
        nowhere = len(self.words) + FARTHEST + 1
        start, head = (np.full(len(self.words) + 1, nowhere, np.int64) for _ in range(2))
        if self.phrases:
            starts, heads = np.array(self.phrases).T
            start[starts], head[starts] = starts, heads
        return np.minimum.accumulate(start[::-1])[::-1], np.minimum.accumulate(head[::-1])[::-1]


def _rows(flat: _Flat, left: Places, right: Places, starts: Places, ends: Places) -> Rows:
    """`left` is the place before which the left side ends, `right` where the right side begins."""
    words, tags = np.array(flat.words, np.int32), np.array(flat.tags, np.int32)
    noun, verb = (np.where(found[left] >= starts, found[left], 0) for found in map(flat.last_head, _sides(flat)))
    next_start, next_head = (found[right] for found in flat.next_phrase())
    is_near = (next_start <= right + FARTHEST) & (next_start < ends)
    head = np.where(is_near, next_head, 0)
    places = np.arange(len(words))
    links = np.maximum.accumulate(np.where(np.isin(tags, LINKS), places, 0))[left - 1]
    prior, after = np.where(links >= starts, links, 0), np.where(head > 0, head + 1, 0)
    nearest = np.where(noun > verb, 1, 2) * ((noun > 0) | (verb > 0))
    columns = [
        *(words[place] for place in (left - 1, left - 2, left - 3, right, right + 1, right + 2)),
        *(words[place] for place in (verb, noun, head, after, prior)),
        *(tags[place] for place in (left - 1, left - 2, right, right + 1, verb, noun, head)),
        nearest,
    ]
    return np.stack(columns, axis=1).astype(np.int32)


def _sides(flat: _Flat) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    return flat.nouns, flat.verbs
