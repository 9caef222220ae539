"""Events for learning: gathered in batches with one vocabulary, kept in files, held-out lines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grater.detect.linear import CLASSES, Vocabulary
from grater.detect.ngrams.counts import FOLDS, HELD_OUT, distinct_lines, fold_of
from grater.errors import BadInput
from grater.model import Json
from grater_train.events import Batch, Events, GrowingVocabulary, Layout, gathered, keep, kept, renumbering

LAYOUT = Layout(n_fields=3, n_words=2, counted=(0, 1))
FIRST = len(CLASSES)


def batch(words: tuple[str, ...], rows: list[list[int]], fold: int = 5) -> Batch:
    n = len(rows)
    return Batch(np.array(rows, np.int32), np.arange(n, dtype=np.int8), np.full(n, fold, np.int8), words)


def test_batches_share_one_vocabulary_the_most_frequent_word_first() -> None:
    one = batch(("cat", "dog"), [[1, 2, 40], [2, 0, 41]])
    other = batch(("dog", "blorg"), [[1, 2, 42]])
    events = gathered([one, other], LAYOUT, min_count=1)
    assert events.vocabulary.words == ("dog", "blorg", "cat")  # equal ones by the alphabet, not as they came
    dog, blorg, cat = FIRST, FIRST + 1, FIRST + 2
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


EVENTS = Events(
    np.arange(6, dtype=np.int32).reshape(2, 3),
    np.array([3, 34], np.int8),
    np.array([0, 99], np.int8),
    Vocabulary(("the", "naïve", "\ud83d")),
)
SOURCE: dict[str, Json] = {"text": ["a.txt, 12 bytes"], "seed": 0}


def test_events_come_back_as_they_were(tmp_path: Path) -> None:
    keep(EVENTS, tmp_path / "events.npz", SOURCE)
    back = kept(tmp_path / "events.npz", SOURCE)
    assert back.vocabulary == EVENTS.vocabulary
    for name in ("rows", "labels", "folds"):
        assert np.array_equal(getattr(back, name), getattr(EVENTS, name))
        assert getattr(back, name).dtype == getattr(EVENTS, name).dtype


def test_events_of_another_text_are_refused(tmp_path: Path) -> None:
    keep(EVENTS, tmp_path / "events.npz", SOURCE)
    with pytest.raises(BadInput, match="come from another text; delete the file"):
        kept(tmp_path / "events.npz", {**SOURCE, "text": ["b.txt, 12 bytes"]})


def test_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.npz"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(BadInput, match="expected saved events"):
        kept(path, SOURCE)
    np.savez(path, other=np.zeros(2))
    with pytest.raises(BadInput, match="expected saved events"):
        kept(path, SOURCE)
    with path.open("wb") as stream:
        np.save(stream, np.zeros(2))
    with pytest.raises(BadInput, match="expected saved events"):
        kept(path, SOURCE)


@pytest.mark.parametrize("text", [b"[]", b"7", b"{", b'{"words": []}', b'{"words": 5, "source": {}}'])
def test_an_archive_with_other_words_inside_is_refused(tmp_path: Path, text: bytes) -> None:
    path, none = tmp_path / "events.npz", np.zeros(0)
    np.savez(path, rows=none, labels=none, folds=none, text=np.frombuffer(text, np.uint8))
    with pytest.raises(BadInput, match="expected saved events"):
        kept(path, SOURCE)


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        kept(tmp_path / "events.npz", SOURCE)


LINES = [f"This is line {number} of many." for number in range(2000)]


def test_a_line_counts_once_and_blank_lines_not_at_all() -> None:
    assert list(distinct_lines(["a\n", " a", "", "  \n", "b"])) == ["a", "b"]


def test_a_line_is_always_in_the_same_fold_and_folds_are_even() -> None:
    folds = [fold_of(line) for line in LINES]
    assert folds == [fold_of(line) for line in LINES]
    assert set(folds) == set(range(FOLDS))
    assert 20 <= sum(fold < HELD_OUT for fold in folds) <= 65  # 40 are expected


def test_half_a_surrogate_pair_is_a_line_like_any_other() -> None:
    assert list(distinct_lines(["\ud83d", "\ud83d"])) == ["\ud83d"]
    assert 0 <= fold_of("\ud83d") < FOLDS


def test_a_growing_vocabulary_numbers_words_as_they_come_and_can_be_renumbered() -> None:
    growing = GrowingVocabulary()
    assert list(growing.numbers(["A", "the", "a", "1990"])) == [1, 2, 1, 3]
    known = Vocabulary(("the", "0000"))
    assert renumbering(tuple(growing.places), known) == [0, CLASSES.index("<other>"), len(CLASSES), len(CLASSES) + 1]
