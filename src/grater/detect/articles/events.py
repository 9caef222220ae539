"""Training events: the noun phrases of well-formed text, each with its row and the construction that stood there.

Text comes a paragraph a line.  Lines that follow each other make a passage, which is to training what an essay is to
the detector: mentions are remembered within it, and whole passages are held out.  Words are numbered as they come;
`Events` are renumbered once it is known which are frequent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import floor

import numpy as np

from grater.detect.articles.constructions import NONE_OF_THEM
from grater.detect.articles.mentions import Memory
from grater.detect.articles.rows import FIELDS, WORDS, Placed, Rows, placed_phrases, rows_of
from grater.detect.prepositions.events import Events, Labels, distinct_lines, fold_of
from grater.detect.prepositions.vocabulary import GrowingVocabulary, Vocabulary, renumbering
from grater.text.analysis import analyse_all

LINES = 60
"""Lines in a passage."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The events of a passage: word numbers point into `words`, counted from 1."""

    rows: Rows
    labels: Labels
    fold: int
    words: tuple[str, ...]


def passages(lines: Iterable[str], *, share: float = 1.0) -> Iterator[list[str]]:
    """Lines that follow each other, each line once; a share of the passages, spread evenly."""
    distinct = distinct_lines(lines)
    number = 0
    while passage := list(islice(distinct, LINES)):
        if floor((number + 1) * share) > floor(number * share):
            yield passage
        number += 1


def batch_of(passage: Sequence[str]) -> Batch:
    """The events of a passage."""
    sentences = [sentence for line in analyse_all(passage) for sentence in line]
    placed = [each for each in placed_phrases(sentences, Memory()) if each.phrase.construction != NONE_OF_THEM]
    growing = GrowingVocabulary()
    return Batch(rows_of(placed, growing), labels_of(placed), fold_of(passage[0]), tuple(growing.places))


def labels_of(placed: Sequence[Placed]) -> Labels:
    """What was written."""
    return np.array([each.phrase.construction for each in placed], np.int8)


def gathered(batches: Iterable[Batch], *, min_count: int = 3, tell: Callable[[int], None] | None = None) -> Events:
    """All batches as one, with a vocabulary of the words that stand in enough places."""
    growing = GrowingVocabulary()
    rows = [np.zeros((0, len(FIELDS)), np.int32)]
    labels, folds = [np.zeros(0, np.int8)], [np.zeros(0, np.int8)]
    for batch in batches:
        numbers = np.array([0, *growing.numbers(batch.words)], np.int32)
        own = batch.rows.copy()
        own[:, : len(WORDS)] = numbers[own[:, : len(WORDS)]]
        rows.append(own)
        labels.append(batch.labels)
        folds.append(np.full(len(own), batch.fold, np.int8))
        if tell:
            tell(len(own))
    whole = np.concatenate(rows)
    rows.clear()
    vocabulary, numbers = _frequent(whole, tuple(growing.places), min_count)
    whole[:, : len(WORDS)] = numbers[whole[:, : len(WORDS)]]
    return Events(whole, np.concatenate(labels), np.concatenate(folds), vocabulary)


def _frequent(rows: Rows, words: tuple[str, ...], min_count: int) -> tuple[Vocabulary, Rows]:
    """The vocabulary, most frequent first, and the new number of each old one."""
    counts = np.zeros(len(words) + 1, np.int64)
    for column in (0, 1, 5, 6):  # the head and its neighbours
        counts += np.bincount(rows[:, column], minlength=len(counts))
    order = np.argsort(-counts[1:], kind="stable")
    kept = order[counts[1:][order] >= min_count]
    vocabulary = Vocabulary(tuple(words[place] for place in kept.tolist()))
    return vocabulary, np.array(renumbering(words, vocabulary), np.int32)
