"""Words as pieces, sentences as windows."""

from __future__ import annotations

import pytest

from grater.detect.context.pieces import (
    END,
    MOST_PIECES,
    MOST_WORDS,
    SPECIAL,
    START,
    PieceVocabulary,
    windows,
)

PIECES = (*SPECIAL, " a", " th", " the", "e", "in", "g", "n", " x", "x")
VOCABULARY = PieceVocabulary(PIECES)


def cut(word: str) -> list[str]:
    return [PIECES[number] for number in VOCABULARY.encode(word)]


def test_a_word_is_cut_from_the_left_by_the_longest_piece_that_fits() -> None:
    assert cut("the") == [" the"]
    assert cut("thing") == [" th", "in", "g"]
    assert cut("then") == [" the", "n"]


def test_a_sentence_stands_between_its_start_and_its_end() -> None:
    (window,) = windows(["the", "thing"], VOCABULARY)
    assert [*map(PIECES.__getitem__, window.pieces)] == ["<s>", " the", " th", "in", "g", "</s>"]
    assert window.words == ((0, 1), (1, 2))


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


@pytest.mark.parametrize(
    "pieces", [(), (" a",), (*SPECIAL, " a", " a"), (*SPECIAL, ""), ("<unk>", "<pad>", "<s>", "</s>", "<mask>")]
)
def test_a_list_that_is_no_vocabulary_is_refused(pieces: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="expected pieces"):
        PieceVocabulary(pieces)
