"""Two sequences of words, aligned by minimum edit distance.

Insertions, deletions and substitutions cost one each (Levenshtein 1966).  Of the alignments that cost least, the one
is taken whose pairs share the longest beginnings, since a word and its correction are often forms of one lemma (of
*their possible* to *possibility* it is *their* that goes); then deletions and insertions come as early as they can.
Past `MOST_CELLS` cells (a rewritten text, not a correction) words are paired in order instead, to stay linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeAlias

Cost: TypeAlias = tuple[int, int]
"""Edit distance, and characters shared, counted down."""

Pair: TypeAlias = tuple[str | None, str | None]
"""A word of the source and its word in the target; None on one side is an insertion or a deletion."""

MOST_CELLS = 1_000_000


def align(source: Sequence[str], target: Sequence[str]) -> list[Pair]:
    """The pairs of the best alignment, in order."""
    if len(source) * len(target) > MOST_CELLS:
        return list(zip_longest(source, target))
    costs = _costs(source, target)
    pairs: list[Pair] = []
    i, j = len(source), len(target)
    while i or j:
        if i and j and costs[i][j] == _paired(costs[i - 1][j - 1], source[i - 1], target[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((source[i], target[j]))
        elif i and costs[i][j] == _dearer(costs[i - 1][j]):
            i -= 1
            pairs.append((source[i], None))
        else:
            j -= 1
            pairs.append((None, target[j]))
    return pairs[::-1]


def _costs(source: Sequence[str], target: Sequence[str]) -> list[list[Cost]]:
    """The least cost of every beginning of the source against every beginning of the target."""
    costs: list[list[Cost]] = [[(j, 0) for j in range(len(target) + 1)]]
    for i, word in enumerate(source, 1):
        above = costs[-1]
        row: list[Cost] = [(i, 0)]
        for j, other in enumerate(target):
            row.append(min(_paired(above[j], word, other), _dearer(above[j + 1]), _dearer(row[j])))
        costs.append(row)
    return costs


def _paired(cost: Cost, word: str, other: str) -> Cost:
    distance, shared = cost
    if word == other:
        return distance, shared - len(word)
    return distance + 1, shared - _shared(word.lower(), other.lower())


def _shared(word: str, other: str) -> int:
    """How many characters two words have in common at their start."""
    shortest = min(len(word), len(other))
    return next((n for n in range(shortest) if word[n] != other[n]), shortest)


def _dearer(cost: Cost) -> Cost:
    return cost[0] + 1, cost[1]
