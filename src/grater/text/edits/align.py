"""Words of a sentence aligned with those of its correction, by costs that know some linguistics.

Felice, Bryant and Briscoe 2016, "Automatic extraction of learner errors in ESL sentences using linguistically
enhanced alignments", section 3: Damerau-Levenshtein distance over words.  An insertion or a deletion costs 1; words
equal but for case cost nothing; words in another order cost one less than there are of them; a substitution costs
the sum of

- lemma: 0 if the two share a lemma or a stem, else .499,
- part of speech: 0 if the same, .25 if both are content words, else .5,
- characters: the share of them that the two do not have in common, in [0, 1].

So a substitution costs less than a deletion and an insertion together, but for words that have nothing in common.

Only cells near the diagonal are computed: a path that leaves a band of width w costs more than w, so the band is
doubled until the best path inside it costs no more than its width, and the result is that of the whole table.  What
both sides begin and end with is cut off first.  The time is linear in the length of a sentence for a given number of
edits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple, TypeAlias

from grater.text.edits.tokens import CONTENT, Words
from grater.text.lemmas import lemmas_of, stem

LEMMA_COST = 0.499
CONTENT_COST = 0.25
TAG_COST = 0.5
REPEATED = 4
LONGEST_MOVE = 12
"""Words of a run in another order; a longer one is rewriting, and looking for it would cost the square."""

MATCHED, SUBSTITUTED, DELETED, INSERTED = ("M", 1), ("S", 1), ("D", 1), ("I", 1)


class Step(NamedTuple):
    """One operation: `M` match, `S` substitution, `D` deletion, `I` insertion, `T` words of other order."""

    operation: str
    start: int
    end: int
    new_start: int
    new_end: int


def align(source: Words, target: Words) -> list[Step]:
    """The cheapest operations, in order."""
    start, end, new_end = _differing(source, target)
    steps = [_same(source, target, i, i) for i in range(start)]
    if end > start and new_end > start:
        steps += _middle(source, target, start, end, new_end)
    else:
        steps += [Step("D", i, i + 1, start, start) for i in range(start, end)]
        steps += [Step("I", start, start, j, j + 1) for j in range(start, new_end)]
    shift = new_end - end
    return steps + [_same(source, target, i, i + shift) for i in range(end, len(source))]


def _same(source: Words, target: Words, i: int, j: int) -> Step:
    """A match, or a substitution where the case differs."""
    return Step("M" if source.texts[i] == target.texts[j] else "S", i, i + 1, j, j + 1)


def _differing(source: Words, target: Words) -> tuple[int, int, int]:
    """Where the sides begin to differ, and where each has only what both end with.

    Ends are cut off first: of a word written twice the first is in excess.  So a word that is repeated just after
    the common beginning is left to the table.
    """
    old, new = source.lower, target.lower
    end, new_end = len(old), len(new)
    while end and new_end and old[end - 1] == new[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    start = 0
    while start < min(end, new_end) and old[start] == new[start]:
        start += 1
    while (
        start
        and old[start - 1] in old[start : min(start + REPEATED, end)] + new[start : min(start + REPEATED, new_end)]
    ):
        start -= 1
    return start, end, new_end


def _middle(source: Words, target: Words, start: int, end: int, new_end: int) -> list[Step]:
    n, m = end - start, new_end - start
    width = abs(n - m) + 4
    while True:
        table = _Table(source, target, start, n, m, width)
        if table.cost <= width - abs(n - m) or width >= max(n, m):
            return table.steps()
        width *= 2


class _Table:
    """The costs of all beginnings within the band, and which operation each ended with."""

    def __init__(self, source: Words, target: Words, start: int, n: int, m: int, width: int) -> None:
        self.source, self.target, self.start, self.n, self.m = source, target, start, n, m
        self.old, self.new = source.lower[start : start + n], target.lower[start : start + m]
        self.places = _places(self.old, self.new)
        self.rows = [[float(j) if j <= width else inf for j in range(m + 1)]]
        self.last: list[dict[int, tuple[str, int]]] = [dict.fromkeys(range(1, m + 1), INSERTED)]
        for i in range(1, n + 1):
            self._fill(i, range(max(0, i - width), min(m, i + width) + 1))

    @property
    def cost(self) -> float:
        return self.rows[self.n][self.m]

    def _fill(self, i: int, columns: range) -> None:
        above, row, last = self.rows[i - 1], [inf] * (self.m + 1), dict[int, tuple[str, int]]()
        self.rows.append(row)
        self.last.append(last)
        word = self.old[i - 1]
        for j in columns:
            if not j:
                row[j], last[j] = float(i), DELETED
            elif word == self.new[j - 1]:
                row[j], last[j] = above[j - 1], MATCHED
            else:
                row[j], last[j] = self._cheapest(i, j, above[j - 1], above[j] + 1, row[j - 1] + 1)

    def _cheapest(
        self, i: int, j: int, diagonal: float, deleted: float, inserted: float
    ) -> tuple[float, tuple[str, int]]:
        """The cheapest operation that ends in a cell; of equal ones a substitution, a move, a deletion."""
        gap, operation = (deleted, DELETED) if deleted <= inserted else (inserted, INSERTED)
        best, chosen = diagonal + self._substitution(i - 1, j - 1, gap - diagonal), SUBSTITUTED
        if (length := self._moved(i, j)) and (moved := self.rows[i - length][j - length] + length - 1) < best:
            best, chosen = moved, ("T", length)
        return (gap, operation) if gap < best else (best, chosen)

    def _substitution(self, i: int, j: int, most: float) -> float:
        """What a substitution costs, or infinity where its part of speech alone costs more than `most`."""
        i, j = i + self.start, j + self.start
        category, other = self.source.categories[i], self.target.categories[j]
        tag_cost = _tag_cost(category, other)
        if tag_cost > most:
            return inf
        is_same = self.source.lemmas[i] == self.target.lemmas[j]
        return tag_cost + _word_cost(self.source.lower[i], self.target.lower[j], is_same)

    def _moved(self, i: int, j: int) -> int:
        """The length of the shortest run that ends here and has the same words in another order; 0 for none."""
        least = max(
            _back(self.places.get(self.old[i - 1]), 1, j - 1), _back(self.places.get(self.new[j - 1]), 0, i - 1)
        )
        for length in range(least + 1, min(i, j, LONGEST_MOVE) + 1):
            if sorted(self.old[i - length : i]) == sorted(self.new[j - length : j]):
                return length
        return 0

    def steps(self) -> list[Step]:
        i, j, steps = self.n, self.m, list[Step]()
        while i or j:
            operation, length = self.last[i][j] if j else DELETED
            di, dj = length * (operation != "I"), length * (operation != "D")
            a, b = self.start + i, self.start + j
            step = Step(operation, a - di, a, b - dj, b)
            steps.append(_same(self.source, self.target, a - 1, b - 1) if operation == "M" else step)
            i, j = i - di, j - dj
        return steps[::-1]


Places: TypeAlias = tuple[list[int], list[int]]
"""Where a word stands on each side."""


def _places(old: Sequence[str], new: Sequence[str]) -> dict[str, Places]:
    """The places of words that both sides have: only these can have moved."""
    shared = set(old) & set(new)
    places: dict[str, Places] = {word: ([], []) for word in shared}
    for side, words in enumerate((old, new)):
        for at, word in enumerate(words):
            if word in shared:
                places[word][side].append(at)
    return places


def _back(places: Places | None, side: int, at: int) -> int:
    """How far back from `at` the word last stood on a side; further than any move where it did not."""
    before = bisect_right(places[side], at) if places else 0
    return at - places[side][before - 1] if places and before else LONGEST_MOVE


def _tag_cost(category: str, other: str) -> float:
    if category == other:
        return 0.0
    return CONTENT_COST if category in CONTENT and other in CONTENT else TAG_COST


@lru_cache(maxsize=65_536)
def _word_cost(word: str, other: str, same_lemma: bool) -> float:
    lemma_cost = 0.0 if same_lemma or are_related(word, other) else LEMMA_COST
    return lemma_cost + 1 - character_ratio(word, other)


def are_related(word: str, other: str) -> bool:
    """Whether two words may be forms of one, or are derived from one."""
    if lemmas_of(word) & lemmas_of(other):
        return True
    return min(len(word), len(other)) > 3 and stem(word) == stem(other)


@lru_cache(maxsize=65_536)
def character_ratio(word: str, other: str) -> float:
    """The share of the characters of both words that a longest common subsequence keeps.

    Its length comes from whole rows of the table at once, as bits of a number (Hyyrö 2004, "Bit-parallel LCS-length
    computation revisited").
    """
    if not word or not other:
        return float(word == other)
    places: dict[str, int] = {}
    for at, character in enumerate(word):
        places[character] = places.get(character, 0) | 1 << at
    everywhere = (1 << len(word)) - 1
    row = everywhere
    for character in other:
        met = row & places.get(character, 0)
        row = (row + met) | (row - met)
    return 2 * (~row & everywhere).bit_count() / (len(word) + len(other))
