"""How far from the diagonal best alignments go, and which words at either end they all leave alone.

Let D be the cost of the best alignments with substitutions at 2: the length of both sentences less twice their
longest common subsequence, which is counted with one bit for each word of the source (Hyyrö 2004).  No best
alignment, with substitutions at 1 or at 2, has more than D insertions and deletions.  As their difference is the
difference in length, insertions are at most (D + m - n) / 2 and deletions (D - m + n) / 2; no vertex lies further
off the diagonal (Ukkonen 1985).  Distances at the rim of the band may come out too high, but never those of
vertices on a best alignment: the ways to them lie in the band too.

A word that both sentences begin with is left alone by every best alignment, if it does not stand once more within
the band's reach in either.  Suppose that one inserts k > 0 words first.  If it deletes the word then, it has paid k
+ 1; leaving the word alone and inserting the other k - 1 leads to the same vertex for k - 1.  If it substitutes the
word, it has paid k + 1 or more; leaving it alone and inserting k leads there for k.  If it finds the word again, it
has paid k too: this is the only tie, and the one that is ruled out.  Deletions are the same with the sentences
exchanged, the ends are the same read backwards, and what holds for the first word holds for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FAR = 1 << 30


@dataclass(frozen=True, slots=True)
class Band:
    """Columns less rows of vertices lie from `low` to `high`; `head` and `tail` words at the ends are left alone."""

    low: int
    high: int
    head: int
    tail: int


def band_of(source: Sequence[str], hypothesis: Sequence[str]) -> Band:
    """The band of a sentence and its correction."""
    n, m = len(source), len(hypothesis)
    most = n + m - 2 * n_in_common(source, hypothesis)
    deletions, insertions = (most - m + n) // 2, (most + m - n) // 2
    head = _n_left_alone(source, hypothesis, deletions, insertions)
    tail = _n_left_alone(source[head:][::-1], hypothesis[head:][::-1], deletions, insertions)
    return Band(-deletions, insertions, head, tail)


def n_in_common(source: Sequence[str], hypothesis: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    places: dict[str, int] = {}
    for place, word in enumerate(source):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(source)) - 1
    rest = every
    for word in hypothesis:
        if word in places:
            matched = rest & places[word]
            rest = (rest + matched | rest - matched) & every
    return len(source) - rest.bit_count()


def _n_left_alone(source: Sequence[str], hypothesis: Sequence[str], deletions: int, insertions: int) -> int:
    """How many words both begin with that do not stand once more within reach."""
    n_words = 0
    for word, other in zip(source, hypothesis, strict=False):
        after = n_words + 1
        if (
            word != other
            or word in source[after : after + deletions]
            or word in hypothesis[after : after + insertions]
        ):
            break
        n_words = after
    return n_words
