"""All best alignments of a sentence with its correction, as one lattice, and the edits that it allows.

**The lattice.** Dahlmeier and Ng 2012, as the official scorer has it: the union of two lattices, that of the best
alignments where a substitution costs 1 and that where it costs 2 (a deletion or an insertion always costs 1).  A
vertex is a pair (i, j): i words of the source and j words of the hypothesis lie before it.  A step leads one word on
in the source, the hypothesis or both.

**The band.** Only what can differ is computed.  Let D be the cost of the best alignments with substitutions at 2:
the length of both sentences less twice their longest common subsequence, which is counted with one bit for each word
of the source (Hyyrö 2004).  No best alignment, with substitutions at 1 or at 2, has more than D insertions and
deletions.  As their difference is the difference in length, insertions are at most (D + m - n) / 2 and deletions (D
- m + n) / 2; no vertex lies further off the diagonal (Ukkonen 1985).  Distances at the rim of the band may come out
too high, but never those of vertices on a best alignment: the paths to them lie in the band too.

A word that both sentences begin with is left alone by every best alignment, if it does not occur again within the
band's reach in either.  Suppose that one inserts k > 0 words first.  If it deletes the word then, it has paid k + 1;
leaving the word alone and inserting the other k - 1 leads to the same vertex for k - 1.  If it substitutes the word,
it has paid k + 1 or more; leaving it alone and inserting k leads there for k.  If it meets the word again, it has
paid k too: this is the only tie, and the one that is ruled out.  Deletions are the same with the sentences
exchanged, the ends are the same read backwards, and what holds for the first word holds for the next.

**Arcs** are edits of several words: steps that follow each other, as long as they hold no more than `max_unchanged`
unchanged words.  The official scorer builds them vertex by vertex in the order of (i, j): an arc to a vertex is
prolonged by every step from it, if that gives a shorter path than the one known.  When a vertex's turn comes, all
arcs to it are known, and all that is known from it are steps; so the arcs from one vertex can be built by
themselves, in one walk along the vertices after it.  The path that is kept is not always the one with the fewest
unchanged words, and how often an arc was built anew matters to its weight: both are as they are there.

**Stretches** are the parts of a lattice in which something changes, and that no edit can leave.  Cut at a vertex
that every alignment goes through, with enough unchanged words on either side that every alignment shares: an arc
across it would hold all those on the side of its change, and one more on the other side, which is more than it may.
Before the first change and after the last nothing is needed.  So what is best in one stretch does not depend on the
others.  Most stretches of most sentences look like one that was met before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

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


Arc: TypeAlias = tuple[int, int, int]
"""The number of its steps, the number of its unchanged words, how often it was found."""


def vertices_after(steps: Steps) -> list[list[int]]:
    """For each vertex those that a step from it leads to, in order."""
    after: list[list[int]] = [[] for _ in steps]
    for vertex, here in enumerate(steps):
        for before, _, _ in here:
            after[before].append(vertex)
    return after


def arcs_from(
    first: int, steps: Steps, after: Sequence[Sequence[int]], *, max_unchanged: int, until: int | None = None
) -> dict[int, Arc]:
    """The arcs from a vertex, steps among them, by the vertex that they lead to; `until` is the last one wanted."""
    arcs: dict[int, Arc] = {}
    last = len(steps) if until is None else until
    waiting, vertex = list(after[first]), first
    while waiting and waiting[0] <= last:
        following = heappop(waiting)
        if following == vertex:
            continue
        vertex = following
        arc = _arc_to(steps[vertex], first, arcs, max_unchanged)
        if arc is not None:
            arcs[vertex] = arc
            for following in after[vertex]:
                heappush(waiting, following)
    return arcs


def _arc_to(steps: tuple[Step, ...], first: int, arcs: dict[int, Arc], max_unchanged: int) -> Arc | None:
    """The arc by the shortest way that was kept; of equal ones the first."""
    kept: Arc | None = None
    for before, is_same, n_lattices in steps:
        if before == first:
            return 1, is_same, n_lattices
        if before in arcs:
            n_steps, n_unchanged, _ = arcs[before]
            n_steps, n_unchanged = n_steps + 1, n_unchanged + is_same
            if n_unchanged <= max_unchanged and (kept is None or n_steps < kept[0]):
                kept = n_steps, n_unchanged, 1 if kept is None else kept[2] + 1
    return kept


def stretches(steps: Steps, after_it: Sequence[Sequence[int]], *, max_unchanged: int) -> Iterator[tuple[int, int]]:
    """First and last vertex of each stretch."""
    enough = max(max_unchanged, 1)
    before, after = _shared_words(steps, after_it, at_ends=enough)
    begin, last = 0, len(steps) - 1
    for vertex in range(1, last + 1):
        if vertex == last or (before[vertex] >= enough and after[vertex] >= enough):
            if vertex - begin > 1 or not before[vertex]:
                yield begin, vertex
            begin = vertex


def part_of(steps: Steps, first: int, last: int) -> tuple[tuple[Step, ...], ...]:
    """The steps of a stretch as those of a lattice of its own, with vertices numbered from 0."""
    inner = (
        tuple([(before - first, is_same, n_lattices) for before, is_same, n_lattices in here])
        for here in steps[first + 1 : last + 1]
    )
    return ((), *inner)


def _shared_words(steps: Steps, after_it: Sequence[Sequence[int]], *, at_ends: int) -> tuple[list[int], list[int]]:
    """How many unchanged words that every alignment shares stand just before and just after each vertex."""
    before, after = [at_ends] * len(steps), [at_ends] * len(steps)
    reach = 0  # where the furthest step from an earlier vertex leads
    for vertex in range(1, len(steps)):
        is_gate = reach < vertex  # no step passes over the vertex before
        reach = max(reach, after_it[vertex - 1][-1])
        is_shared = is_gate and reach == vertex and steps[vertex][0][1]
        before[vertex] = before[vertex - 1] + 1 if is_shared else 0
    for vertex in range(len(steps) - 1, 0, -1):
        after[vertex - 1] = after[vertex] + 1 if before[vertex] else 0
    return before, after
