"""Training events: the noun phrases of well-formed text, each with its row and the construction that stood there.

Text comes a paragraph a line.  Lines that follow each other make a passage, which is to training what an essay is to
the detector: mentions are remembered within it, and whole passages are held out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import floor

import numpy as np

from grater.detect.articles.constructions import NONE_OF_THEM
from grater.detect.articles.mentions import Memory
from grater.detect.articles.rows import FIELDS, WORDS, Placed, placed_phrases, rows_of
from grater.detect.learning import events
from grater.detect.learning.events import MIN_COUNT, Batch, Events, Labels, Layout
from grater.detect.learning.lines import distinct_lines, fold_of
from grater.detect.learning.vocabulary import GrowingVocabulary
from grater.text.analysis import analyse_all

LINES = 60
"""Lines in a passage."""

LAYOUT = Layout(len(FIELDS), len(WORDS), counted=(0, 1, 5, 6))
"""Counted are the head and its neighbours."""


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
    rows, folds = rows_of(placed, growing), np.full(len(placed), fold_of(passage[0]), np.int8)
    return Batch(rows, labels_of(placed), folds, tuple(growing.places))


def labels_of(placed: Sequence[Placed]) -> Labels:
    """What was written."""
    return np.array([each.phrase.construction for each in placed], np.int8)


def gathered(
    batches: Iterable[Batch], *, min_count: int = MIN_COUNT, tell: Callable[[int], None] = lambda _: None
) -> Events:
    """All passages as one."""
    return events.gathered(batches, LAYOUT, min_count=min_count, tell=tell)
