"""The network that comes with grater: words as pieces, sentences as windows, and the same answers in any batch."""

from __future__ import annotations

import numpy as np
import pytest

from grater.detect.context.detector import ContextDetector, load
from grater.detect.context.network import answer_sentences
from grater.detect.context.pieces import END, MOST_PIECES, MOST_WORDS, SPECIAL, START, PieceVocabulary, windows

PIECES = (*SPECIAL, " a", " th", " the", "e", "in", "g", "n", " x", "x")
VOCABULARY = PieceVocabulary(PIECES)


@pytest.mark.parametrize("word", ["a", "thing", "x" * 99])
@pytest.mark.parametrize("n_words", [0, 1, 64, 65, 1000])
def test_windows_are_bounded_and_read_every_word_once(word: str, n_words: int) -> None:
    cuts = windows([word] * n_words, VOCABULARY)
    assert [index for window in cuts for index, _ in window.words] == list(range(n_words))
    for window in cuts:
        assert (window.pieces[0], window.pieces[-1]) == (START, END)
        assert len(window.pieces) <= MOST_PIECES + 2
        assert len(window.words) <= MOST_WORDS


def test_a_word_in_the_overlap_is_read_where_it_is_farther_from_the_cut() -> None:
    first, second = windows(["a"] * 100, VOCABULARY)
    last_read, first_read = first.words[-1][1], second.words[0][1]
    assert len(first.pieces) - last_read > 8
    assert first_read > 8


pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'grater[context]'")

SENTENCES = (
    "Yes .",
    "She listened music in the evening .",
    "He arrived to the station in Monday .",
    "They depend of their parents too .",
    "The mayor opened a new library near the old bridge last week .",
    "My brother is interested in learn about the stars and planets .",
    "People which live in big city often complains about the noise .",
    "We discussed about it , and then she explained me the problem again .",
    "Zxqv 3000 🙂 !",
)


@pytest.fixture(scope="module")
def detector() -> ContextDetector:
    return load()


def test_a_sentence_has_the_same_answers_alone_and_in_any_batch(detector: ContextDetector) -> None:
    words = [text.split() for text in SENTENCES]
    crowded = [*words * 7, [*words[2][:-1], "!"]]
    alone = [answer_sentences(detector.network, detector.vocabulary, [one])[0] for one in crowded]
    for order in (range(len(crowded)), range(len(crowded) - 1, -1, -1)):
        together = answer_sentences(detector.network, detector.vocabulary, [crowded[number] for number in order])
        for number, rows in zip(order, together, strict=True):
            assert np.array_equal(rows, alone[number]), crowded[number]


def test_words_asked_about_alone_have_the_same_answers(detector: ContextDetector) -> None:
    words = [text.split() for text in SENTENCES]
    whole = answer_sentences(detector.network, detector.vocabulary, words)
    asked = [range(1, len(own), 2) for own in words]
    assert len(asked[0]) == 1, "one row alone, for which there are other kernels"
    some = answer_sentences(detector.network, detector.vocabulary, words, asked=asked)
    for rows, of_sentence, indices in zip(some, whole, asked, strict=True):
        assert np.array_equal(rows, of_sentence[indices])
    assert answer_sentences(detector.network, detector.vocabulary, words[:1], asked=[()])[0].shape == (0, 86)


@pytest.mark.parametrize(
    "pieces", [(), (" a",), (*SPECIAL, " a", " a"), (*SPECIAL, ""), ("<unk>", "<pad>", "<s>", "</s>", "<mask>")]
)
def test_a_list_that_is_no_vocabulary_is_refused(pieces: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="expected pieces"):
        PieceVocabulary(pieces)
