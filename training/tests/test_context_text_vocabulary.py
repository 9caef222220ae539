"""Pieces are learnt from counts: the commonest pairs, each once, the same every time."""

from __future__ import annotations

from grater.detect.context.pieces import SPECIAL, PieceVocabulary
from grater_train.context.text import learn_pieces

COUNTS = {"walking": 60, "talking": 60, "walks": 50, "the": 400, "then": 80, "☃": 1}


def test_common_pairs_are_joined_first() -> None:
    pieces = learn_pieces(COUNTS, n_pieces=60)
    assert pieces[: len(SPECIAL)] == list(SPECIAL)
    assert len(pieces) == len(set(pieces)) <= 60
    joined = [piece for piece in pieces if len(piece.strip()) > 1 and piece not in SPECIAL]
    assert joined[0] == " th"  # as common as "h" + "e", and before it by spelling
    assert " the" in joined
    assert "alking" in joined


def test_rare_characters_have_no_piece() -> None:
    pieces = learn_pieces(COUNTS, n_pieces=60)
    assert not any("☃" in piece for piece in pieces)
    assert PieceVocabulary(pieces).encode("☃") == (1,)


def test_the_size_is_a_limit_and_order_of_counts_does_not_matter() -> None:
    small = learn_pieces(COUNTS, n_pieces=34)
    assert len(small) == 34
    assert small == learn_pieces(dict(reversed(COUNTS.items())), n_pieces=34)


def test_a_known_word_is_cut_into_few_pieces() -> None:
    vocabulary = PieceVocabulary(learn_pieces(COUNTS, n_pieces=60))
    assert len(vocabulary.encode("the")) == 1
    assert len(vocabulary.encode("talking")) < len("talking")
