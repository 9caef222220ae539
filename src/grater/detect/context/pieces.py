"""Splits words into the network's pieces, and sentences into windows of limited length.

A piece that begins a word has a leading space (*" the"*), a piece inside a word has none (*"ing"*). A word is split
from the left, always by the longest matching piece. A character that begins no piece is the unknown piece. Only the
first pieces of a long word are used, so that a line of noise costs no more than a sentence.

A sentence begins and ends with special pieces. One with too many words or pieces is cut into overlapping windows; a
word is read in the window where it is farther from the cut.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

PADDING, UNKNOWN, START, END, MASK = range(5)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<mask>")
"""The first entries of every vocabulary."""

MOST_CHARACTERS, MOST_OF_WORD = 24, 10
"""Characters of a word that are read, and pieces of it."""

MOST_WORDS, MOST_PIECES = 64, 190
"""Words and pieces of a window, without its start and end; the network learnt from sentences of up to 64 words."""

OVERLAP = 20
"""Words that a window shares with the one before: fewer where words are long, at most half of them."""

MOST_REMEMBERED = 100_000
"""Words whose pieces are kept."""


class PieceVocabulary:
    """The pieces by number."""

    def __init__(self, pieces: Sequence[str]) -> None:
        if tuple(pieces[: len(SPECIAL)]) != SPECIAL:
            raise ValueError(f"expected pieces that begin with {' '.join(SPECIAL)}")
        self.pieces = tuple(pieces)
        self._ids = {piece: number for number, piece in enumerate(pieces) if number >= len(SPECIAL)}
        if len(self._ids) != len(pieces) - len(SPECIAL) or "" in self._ids:
            raise ValueError("expected pieces that are not empty, each once")
        self._longest = max(map(len, self._ids), default=1)
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.pieces)

    def encode(self, word: str) -> tuple[int, ...]:
        """The pieces of one word, by number; at least one."""
        pieces = self._known.get(word)
        if pieces is None:
            pieces = tuple(self._cut(" " + word[:MOST_CHARACTERS]))[:MOST_OF_WORD] or (UNKNOWN,)
            if len(self._known) < MOST_REMEMBERED:
                self._known[word] = pieces
        return pieces

    def _cut(self, text: str) -> Iterator[int]:
        start, least = 0, 2  # the space before a word is no piece by itself
        while start + least <= len(text):
            end = min(len(text), start + self._longest)
            while end >= start + least and text[start:end] not in self._ids:
                end -= 1
            if end < start + least:
                yield UNKNOWN
                end = start + least
            else:
                yield self._ids[text[start:end]]
            start, least = end, 1


@dataclass(frozen=True, slots=True)
class Window:
    """Part of a sentence as pieces; `words` are those read here, with the position of each one's first piece."""

    pieces: tuple[int, ...]
    words: tuple[tuple[int, int], ...]


def windows(
    words: Sequence[str],
    vocabulary: PieceVocabulary,
    *,
    masked: Collection[int] = (),
    asked: Collection[int] | None = None,
) -> list[Window]:
    """A sentence as windows, usually one; masked words are hidden from the network.

    If only some words are `asked` about, only they are read, and windows without any are left out.
    """
    encoded = [(MASK,) if index in masked else vocabulary.encode(word) for index, word in enumerate(words)]
    cuts = list(_cuts([len(pieces) for pieces in encoded]))
    bounds = [(before[1] + after[0]) // 2 for before, after in pairwise(cuts)]
    edges = [0, *bounds, len(words)]
    asked = range(len(words)) if asked is None else frozenset(asked)
    cut_at = [_window(encoded, cut, edges[number : number + 2], asked) for number, cut in enumerate(cuts)]
    return [window for window in cut_at if window.words]


def _cuts(lengths: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The words [start, end) of each window."""
    start, end, n_pieces = 0, 0, 0
    while end < len(lengths):
        while end < len(lengths) and end - start < MOST_WORDS and n_pieces + lengths[end] <= MOST_PIECES:
            n_pieces += lengths[end]
            end += 1
        yield start, end
        if end < len(lengths):
            start = end - min(OVERLAP, (end - start) // 2)
            end, n_pieces = start, 0


def _window(
    encoded: Sequence[tuple[int, ...]], cut: tuple[int, int], read: Sequence[int], asked: Collection[int]
) -> Window:
    pieces = [START]
    places: list[tuple[int, int]] = []
    for index in range(*cut):
        if read[0] <= index < read[1] and index in asked:
            places.append((index, len(pieces)))
        pieces += encoded[index]
    return Window(pieces=(*pieces, END), words=tuple(places))
