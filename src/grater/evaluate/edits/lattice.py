"""All best alignments of a sentence with its correction, as one lattice.

Dahlmeier and Ng 2012, as the official scorer has it: the lattice is the union of two, that of the best alignments
where a substitution costs 1 and that where it costs 2 (a deletion or an insertion always costs 1).  A vertex is a
place (i, j): i words of the source and j words of the hypothesis lie before it.  A step leads one word on in the
source, the hypothesis or both.

Only what can differ is computed (`lattice_band`): a band around the diagonal, without the words at either end that
every best alignment leaves alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from grater.evaluate.edits.lattice_band import FAR, Band, band_of

Step: TypeAlias = tuple[int, int, int]
"""The number of the vertex before it, 1 if it leaves a word unchanged, in how many of the two lattices it is."""
Steps: TypeAlias = Sequence[tuple[Step, ...]]
"""For each vertex the steps that lead to it, in the order of where they come from."""
Table: TypeAlias = list[list[int]]

DIAGONAL, DELETION, INSERTION = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Lattice:
    """Vertices are numbered in the order of (i, j), held by `rows` and `columns`, from the start to the end."""

    rows: list[int]
    columns: list[int]
    steps: list[tuple[Step, ...]]


def align(source: Sequence[str], hypothesis: Sequence[str]) -> Lattice:
    """The lattice of all best alignments."""
    band = band_of(source, hypothesis)
    n, m = len(source) - band.tail, len(hypothesis) - band.tail
    inner = _inner(source[band.head : n], hypothesis[band.head : m], band)
    head, n_inner = band.head, band.head + len(inner.steps)
    shifted = [
        tuple([(before + head, is_same, n_lattices) for before, is_same, n_lattices in steps])
        for steps in inner.steps
    ]
    rows = [*range(head), *(row + head for row in inner.rows), *range(n + 1, len(source) + 1)]
    columns = [*range(head), *(column + head for column in inner.columns), *range(m + 1, len(hypothesis) + 1)]
    if head:
        shifted[0] = ((head - 1, 1, 2),)
    before_it: list[tuple[Step, ...]] = [((vertex - 1, 1, 2),) if vertex else () for vertex in range(head)]
    after_it: list[tuple[Step, ...]] = [((vertex - 1, 1, 2),) for vertex in range(n_inner, n_inner + band.tail)]
    return Lattice(rows, columns, before_it + shifted + after_it)


def _inner(source: Sequence[str], hypothesis: Sequence[str], band: Band) -> Lattice:
    dear, cheap = _distances(source, hypothesis, band)
    ways_dear = _ways(dear, 2, source, hypothesis, band.low)
    ways_cheap = _ways(cheap, 1, source, hypothesis, band.low)
    return _merged(ways_cheap, ways_dear, source, hypothesis)


def _distances(source: Sequence[str], hypothesis: Sequence[str], band: Band) -> tuple[Table, Table]:
    """The costs of the best alignments up to each vertex, substitutions at 2 and at 1.

    A row holds the columns from i + low to i + high, between two that are too far to count.
    """
    m, low, high = len(hypothesis), band.low, band.high
    nowhere = [FAR] * (high - low + 3)
    first = [FAR, *(j if 0 <= j <= m else FAR for j in range(low, high + 1)), FAR]
    dear, cheap = [first], [first]
    for i, word in enumerate(source, start=1):
        above2, above1 = dear[-1], cheap[-1]
        row2, row1 = nowhere[:], nowhere[:]
        begin = max(1, i + low)
        if i + low <= 0:
            row2[1 - i - low] = row1[1 - i - low] = i
        for x, other in enumerate(hypothesis[begin - 1 : max(i + high, 0)], start=begin - i - low + 1):
            if word == other:
                row2[x], row1[x] = above2[x], above1[x]  # never dearer than the two other ways
                continue
            up, left = above2[x + 1], row2[x - 1]
            row2[x] = (up if up < left else left) + 1  # a substitution is a deletion and an insertion
            row1[x] = min(above1[x], above1[x + 1], row1[x - 1]) + 1
        dear.append(row2)
        cheap.append(row1)
    return dear, cheap


def _ways(
    distances: Table, substitution: int, source: Sequence[str], hypothesis: Sequence[str], low: int
) -> dict[int, int]:
    """For each vertex on a best alignment, the kinds of steps that lead to it on one; a vertex is i * (m + 1) + j."""
    width = len(hypothesis) + 1
    ways: dict[int, int] = {}
    waiting = [len(source) * width + width - 1]
    while waiting:
        vertex = waiting.pop()
        if vertex in ways:
            continue
        i, j = divmod(vertex, width)
        x = j - i - low + 1
        here, kinds = distances[i][x], 0
        if i and j:
            cost = 0 if source[i - 1] == hypothesis[j - 1] else substitution
            if distances[i - 1][x] + cost == here:
                kinds = DIAGONAL
                waiting.append(vertex - width - 1)
        if i and distances[i - 1][x + 1] + 1 == here:
            kinds |= DELETION
            waiting.append(vertex - width)
        if j and distances[i][x - 1] + 1 == here:
            kinds |= INSERTION
            waiting.append(vertex - 1)
        ways[vertex] = kinds
    return ways


def _merged(one: dict[int, int], two: dict[int, int], source: Sequence[str], hypothesis: Sequence[str]) -> Lattice:
    width = len(hypothesis) + 1
    vertices = sorted(one.keys() | two.keys())
    number = {vertex: place for place, vertex in enumerate(vertices)}
    rows, columns = [vertex // width for vertex in vertices], [vertex % width for vertex in vertices]
    lattice = Lattice(rows, columns, [])
    for vertex, row, column in zip(vertices, rows, columns, strict=True):
        in_one, in_two = one.get(vertex, 0), two.get(vertex, 0)
        either, both = in_one | in_two, in_one & in_two
        steps: list[Step] = []
        if either & DIAGONAL:
            is_same = source[row - 1] == hypothesis[column - 1]
            steps.append((number[vertex - width - 1], int(is_same), 2 if both & DIAGONAL else 1))
        if either & DELETION:
            steps.append((number[vertex - width], 0, 2 if both & DELETION else 1))
        if either & INSERTION:
            steps.append((number[vertex - 1], 0, 2 if both & INSERTION else 1))
        lattice.steps.append(tuple(steps))
    return lattice
