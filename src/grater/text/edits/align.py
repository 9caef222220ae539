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

from functools import lru_cache
from typing import NamedTuple

from grater.text.edits.tokens import CONTENT, Words
from grater.text.lemmas import lemmas_of, stem

LEMMA_COST = 0.499
CONTENT_COST = 0.25
TAG_COST = 0.5
REPEATED = 4


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
        self.rows: list[dict[int, float]] = [{j: float(j) for j in range(min(m, width) + 1)}]
        self.last: list[dict[int, tuple[str, int]]] = [dict.fromkeys(range(1, min(m, width) + 1), ("I", 1))]
        old, new = source.lower[start : start + n], target.lower[start : start + m]
        self.old, self.new, self.shared = old, new, set(old) & set(new)
        for i in range(1, n + 1):
            self._fill(i, range(max(0, i - width), min(m, i + width) + 1))

    @property
    def cost(self) -> float:
        return self.rows[self.n][self.m]

    def _fill(self, i: int, columns: range) -> None:
        above, row, last = self.rows[i - 1], dict[int, float](), dict[int, tuple[str, int]]()
        far = float("inf")
        word = self.old[i - 1]
        self.rows.append(row)
        self.last.append(last)
        for j in columns:
            if not j:
                row[j], last[j] = float(i), ("D", 1)
                continue
            diagonal = above.get(j - 1, far)
            if word == self.new[j - 1]:
                row[j], last[j] = diagonal, ("M", 1)
                continue
            best = diagonal + self._substitution(i - 1, j - 1), "S", 1
            if (moved := self._moved(i, j)) and moved[0] < best[0]:
                best = moved
            if (deleted := above.get(j, far) + 1) < best[0]:
                best = deleted, "D", 1
            if (inserted := row.get(j - 1, far) + 1) < best[0]:
                best = inserted, "I", 1
            row[j], last[j] = best[0], best[1:]

    def _substitution(self, i: int, j: int) -> float:
        i, j = i + self.start, j + self.start
        source, target = self.source, self.target
        return _cost(
            source.lower[i],
            target.lower[j],
            source.lemmas[i] == target.lemmas[j],
            source.categories[i],
            target.categories[j],
        )

    def _moved(self, i: int, j: int) -> tuple[float, str, int] | None:
        """The shortest run of words that ends here and has the same words in another order."""
        if self.old[i - 1] not in self.shared or self.new[j - 1] not in self.shared:
            return None
        balance: dict[str, int] = {}
        for k in range(1, min(i, j) + 1):
            for word, change in ((self.old[i - k], 1), (self.new[j - k], -1)):
                if word not in self.shared:
                    return None
                balance[word] = balance.get(word, 0) + change
                if not balance[word]:
                    del balance[word]
            if not balance and k > 1:
                before = self.rows[i - k].get(j - k)
                return None if before is None else (before + k - 1, "T", k)
        return None

    def steps(self) -> list[Step]:
        i, j, steps = self.n, self.m, list[Step]()
        while i or j:
            operation, length = self.last[i][j]
            di, dj = length * (operation != "I"), length * (operation != "D")
            a, b = self.start + i, self.start + j
            step = Step(operation, a - di, a, b - dj, b)
            steps.append(_same(self.source, self.target, a - 1, b - 1) if operation == "M" else step)
            i, j = i - di, j - dj
        return steps[::-1]


@lru_cache(maxsize=65_536)
def _cost(word: str, other: str, same_lemma: bool, category: str, other_category: str) -> float:
    lemma_cost = 0.0 if same_lemma or are_related(word, other) else LEMMA_COST
    if category == other_category:
        tag_cost = 0.0
    else:
        tag_cost = CONTENT_COST if category in CONTENT and other_category in CONTENT else TAG_COST
    return lemma_cost + tag_cost + character_cost(word, other)


def are_related(word: str, other: str) -> bool:
    """Whether two words may be forms of one, or are derived from one."""
    if lemmas_of(word) & lemmas_of(other):
        return True
    return min(len(word), len(other)) > 3 and stem(word) == stem(other)


def character_cost(word: str, other: str) -> float:
    """The share of the characters of both words that are outside their longest common subsequence."""
    return 1 - character_ratio(word, other)


@lru_cache(maxsize=65_536)
def character_ratio(word: str, other: str) -> float:
    """The share of the characters of both words that a longest common subsequence keeps."""
    row = [0] * (len(other) + 1)
    for character in word:
        diagonal = 0
        for j, new in enumerate(other, 1):
            diagonal, row[j] = row[j], diagonal + 1 if character == new else max(row[j], row[j - 1])
    return 2 * row[-1] / (len(word) + len(other)) if word or other else 1.0
