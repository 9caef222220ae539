from __future__ import annotations

import numpy as np

from grater.detect.learning.events import Batch, Layout, gathered
from grater.detect.learning.vocabulary import CLASSES

LAYOUT = Layout(n_fields=3, n_words=2, counted=(0, 1))
FIRST = len(CLASSES)


def batch(words: tuple[str, ...], rows: list[list[int]], fold: int = 5) -> Batch:
    n = len(rows)
    return Batch(np.array(rows, np.int32), np.arange(n, dtype=np.int8), np.full(n, fold, np.int8), words)


def test_batches_share_one_vocabulary_the_most_frequent_word_first() -> None:
    one = batch(("cat", "dog"), [[1, 2, 40], [2, 0, 41]])
    other = batch(("dog", "blorg"), [[1, 2, 42]])
    events = gathered([one, other], LAYOUT, min_count=1)
    assert events.vocabulary.words == ("dog", "cat", "blorg")
    dog, cat, blorg = FIRST, FIRST + 1, FIRST + 2
    assert events.rows.tolist() == [[cat, dog, 40], [dog, 0, 41], [dog, blorg, 42]]
    assert events.labels.tolist() == [0, 1, 0]


def test_a_rare_word_falls_into_its_class() -> None:
    events = gathered([batch(("cat", "blorg"), [[1, 1, 0], [1, 2, 0]])], LAYOUT, min_count=2)
    assert events.vocabulary.words == ("cat",)
    assert events.rows[1, 1] == CLASSES.index("<other>")


def test_some_events_keep_their_folds_and_their_vocabulary() -> None:
    events = gathered([batch(("a",), [[1, 1, 0]], 1), batch(("a",), [[1, 1, 0]], 9)], LAYOUT, min_count=1)
    part = events.part(events.folds > 5)
    assert part.folds.tolist() == [9]
    assert part.vocabulary is events.vocabulary


def test_no_batches_are_no_events() -> None:
    assert len(gathered([], LAYOUT)) == 0
