"""MaxMatch (M2): the edits of a system, read in the way that agrees best with those of an annotator.

Dahlmeier and Ng 2012, "Better evaluation for grammatical error correction", with the counts of their scorer, which
was that of the CoNLL-2014 shared task (nusnlp/m2scorer, read at commit d12eea2; its published version is 3.2).  The
steps: gold edits in token numbers, all best alignments (the lattice), the path through them that meets most gold
edits, the annotator that a sentence is scored against, and the metric that puts them together.

**Gold edits** are read as the official scorer reads M2: an annotator with a no-op alone has no edits; annotators
without a line in a block are absent from it; a block without any line has one annotator, who marked nothing.  A
correction is the words between single spaces; one with doubled spaces, or other white space within, can match
nothing. An edit that names no correction is a correction to the words that stand there, as M2 spells it.

**Counts** are the official scorer's for every sentence, for ties too, where the order of its work decides.
Departures: where a sentence has so many arcs that the official scorer would take minutes or hours, ties go to the
fewest edits; there is no option that ignores changes of case or spacing.

**Annotators.** Sentences are taken in order, and each is scored against the annotator who gives the best F so far,
all sentences before included.  At equal F more correct edits win, then the smaller sum of proposed edits and beta²
times gold edits, then the annotator who comes first.  F is 1 where nothing is proposed and nothing is gold.  So the
order of sentences matters, a little.

Edge cases: an annotator without edits counts in full, so that a sentence which needs no correction rewards a system
that makes none.  Where two gold edits of one annotator are the same, one edit counts for both, and false positives
may come out negative; precision is still correct edits by proposed ones.  By the official convention precision and
recall are 1 where they are 0/0.

**The lattice** is the union of two: the best alignments where a substitution costs 1, and those where it costs 2 (a
deletion or an insertion costs 1).  A vertex (i, j) has i words of the source and j of the hypothesis before it; a
step leads one word on in the source, the hypothesis or both.

**The band.** Let D be the cost of the best alignments with substitutions at 2: the length of both sentences less
twice their longest common subsequence, counted with one bit per word of the source (Hyyrö 2004).  No best alignment
has more than D insertions and deletions, so insertions are at most (D + m - n) / 2 and deletions (D - m + n) / 2, and
no vertex lies further off the diagonal (Ukkonen 1985).  A word that both sentences begin with is left alone by every
best alignment if it does not occur again within the band's reach in either: inserting k words first costs k or more,
and leaving the word alone leads to the same vertex for less, unless the word is met again.  The ends are the same
read backwards.

**Arcs** are edits of several words: steps that follow each other with at most `max_unchanged` unchanged words.  The
official scorer builds them vertex by vertex in the order of (i, j), prolonging an arc where that gives a shorter
path; so the arcs from one vertex can be built in one walk.  Which path is kept, and how often an arc was built anew,
matter to its weight: both are as they are there.

**Stretches** are the parts of a lattice in which something changes and that no edit can leave: cut at a vertex that
every alignment goes through, with more shared unchanged words on either side than an arc may hold.  What is best in
one does not depend on the others, and most look like one that was met before.

**Weights.** An arc that changes something costs its steps and an epsilon for each time that it is in the list of
arcs; one that does what a gold edit asks for is rewarded by more than a sentence of steps can cost.  Of insertions at
one point each gold edit rewards one only: arcs are tried from the left and from the right in turn, and after a match
those that do not join on to it pay an epsilon.

**Search.** The official scorer runs Bellman and Ford over every arc.  Here steps and rewarded arcs alone say which
vertices lie on a path that is best before epsilons count; among those the search goes by epsilons (A*: Hart, Nilsson
and Raphael 1968), bounded by the number of arcs that would do if steps of best paths could be joined freely.

**Replay.** Paths of equal cost may have different numbers of edits.  Which of them the official scorer takes depends
on the order of its list, on rounding errors of its sums, and on the unchanged arcs that it forgets to remove (its
loop removes from the list that it walks along).  It also counts in a way of its own where gold edits of one annotator
are out of order, share a span or change nothing.  For the few sentences where this decides, its search is replayed;
lattices with more than `MOST_ARCS` are refused.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from grater.corpora.formats import Source
from grater.corpora.m2 import NOOP, read_blocks, replacements_of
from grater.errors import Problems, UsageError
from grater.measure.corrections.ceiling import Keys, choose_annotators, chosen_rows
from grater.measure.corrections.edit_table import NOBODY, EditTable
from grater.measure.corrections.scores import (
    COLUMNS,
    AnnotatorCounts,
    Bools,
    EditMetric,
    Hypothesis,
    MetricOptions,
    References,
    SentenceCounts,
    Sentences,
    of_rows,
    require_same_sources,
)
from grater.model import Essay, Span
from grater.signature import Signature, digest
from grater.uncertainty import Ints, Numbers

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


# The best path


Ends: TypeAlias = tuple[int, int]
"""An arc, by the vertices that it leads from and to."""
Weight: TypeAlias = tuple[bool, int]
"""Whether the arc is rewarded, and how many epsilons it costs."""


@dataclass(frozen=True, slots=True)
class GoldEdit:
    """Tokens [start, end) become any one of `replacements`; an empty one deletes them."""

    start: int
    end: int
    replacements: tuple[tuple[str, ...], ...]


def does(edit: GoldEdit, ends: Ends, lattice: Lattice, hypothesis: Sequence[str]) -> bool:
    """Whether an arc over the words of an edit puts one of its replacements there."""
    first, last = ends
    return tuple(hypothesis[lattice.columns[first] : lattice.columns[last]]) in edit.replacements


def insertions_at(vertices: Iterable[int], lattice: Lattice) -> dict[Ends, int]:
    """The arcs that only insert, among vertices of one row, in order, with how often each was found."""
    arcs: dict[Ends, int] = {}
    firsts: list[int] = []
    for before, vertex in pairwise(vertices):
        step = next((step for step in lattice.steps[vertex] if step[0] == before), None)
        if step is None:
            firsts = []
            continue
        arcs.update(dict.fromkeys(((first, vertex) for first in firsts), 1))
        arcs[before, vertex] = step[2]
        firsts.append(before)
    return dict(sorted(arcs.items()))


def insertion_weights(
    arcs: dict[Ends, int], edits: Sequence[GoldEdit], lattice: Lattice, hypothesis: Sequence[str]
) -> dict[Ends, Weight]:
    """The weights of all insertions at one point, for the gold edits there."""
    listed = [ends for ends, n_times in arcs.items() for _ in range(n_times)]
    weights: dict[Ends, Weight] = dict.fromkeys(arcs, (False, 0))

    def pay(ends: Ends) -> None:
        is_rewarded, n_epsilons = weights[ends]
        weights[ends] = is_rewarded, n_epsilons + 1

    left, right, current = 0, len(listed) - 1, 0
    edits_left, edits_right = 0, len(edits) - 1
    while left <= right:
        from_left, ends = current == left, listed[current]
        order = range(edits_left, edits_right + 1)
        wanted = (
            place
            for place in (order if from_left else reversed(order))
            if does(edits[place], ends, lattice, hypothesis)
        )
        match = next(wanted, None)
        if match is None:
            pay(ends)
            left, right = (left + 1, right) if from_left else (left, right - 1)
            current = right if from_left else left
            continue
        weights[ends] = True, 0
        if from_left:
            edits_left, left = match + 1, left + 1
            while left < len(listed) and listed[left][0] != ends[1]:
                pay(listed[left])
                left += 1
            current = left
        else:
            edits_right, right = match - 1, right - 1
            while right >= 0 and listed[right][1] != ends[0]:
                pay(listed[right])
                right -= 1
            current = right
    return weights


REWARD = 1 << 40
"""More steps than any sentence has."""
Links: TypeAlias = dict[int, list[tuple[int, int]]]
"""For each vertex those that a best way comes from, with what lies between: one of the three kinds below."""
EDIT, UNCHANGED, REWARDED = range(3)


@dataclass(frozen=True, slots=True)
class Best:
    """Rewards and edits on the best ways; equally good ways may differ in their number of edits."""

    n_rewards: int
    fewest_edits: int
    most_edits: int


def search(steps: Steps, weights: Mapping[Ends, Weight], *, max_unchanged: int) -> Best:
    """The best ways from the first vertex to the last; `weights` are those of arcs at the place of a gold edit."""
    last, after, rewarded = len(steps) - 1, vertices_after(steps), _rewarded_to(weights)
    costs = _costs(steps, rewarded)
    least = _least_epsilons(_best_links(steps, rewarded, costs), last, max_unchanged)
    epsilons, edits = {0: 0}, {0: (0, 0)}
    queue = [(least[0], 0)]
    while (vertex := heappop(queue)[1]) != last:
        n_epsilons, (fewest, most) = epsilons[vertex], edits[vertex]
        for target, arc in arcs_from(vertex, steps, after, max_unchanged=max_unchanged).items():
            if target not in least:
                continue
            cost, more, n_edits = _price(arc, weights.get((vertex, target)))
            if costs[vertex] + cost != costs[target]:
                continue
            known = epsilons.get(target)
            if known is None or n_epsilons + more < known:
                epsilons[target] = n_epsilons + more
                edits[target] = fewest + n_edits, most + n_edits
                heappush(queue, (n_epsilons + more + least[target], target))
            elif n_epsilons + more == known:
                others = edits[target]
                edits[target] = min(others[0], fewest + n_edits), max(others[1], most + n_edits)
    return Best(-(costs[last] // REWARD), *edits[last])


@lru_cache(maxsize=1 << 12)
def search_again(
    steps: tuple[tuple[Step, ...], ...], weights: tuple[tuple[Ends, Weight], ...], max_unchanged: int
) -> Best:
    """The same for short stretches, which are all alike: what was found is kept."""
    return search(steps, dict(weights), max_unchanged=max_unchanged)


def _price(arc: Arc, weight: Weight | None) -> tuple[int, int, int]:
    """Cost before epsilons, epsilons, and edits."""
    n_steps, n_unchanged, n_times = arc
    if n_steps == n_unchanged:
        return n_steps, 0, 0
    if weight is None:
        return n_steps, n_times, 1
    is_rewarded, n_epsilons = weight
    return -REWARD if is_rewarded else n_steps, n_epsilons, 1


def _rewarded_to(weights: Mapping[Ends, Weight]) -> dict[int, list[int]]:
    """For each vertex, where the rewarded arcs to it come from."""
    rewarded: dict[int, list[int]] = {}
    for (before, vertex), (is_rewarded, _) in weights.items():
        if is_rewarded:
            rewarded.setdefault(vertex, []).append(before)
    return rewarded


def _costs(steps: Steps, rewarded: Mapping[int, list[int]]) -> list[int]:
    """Steps less rewards on the best way to each vertex; a step that is rewarded is best as a rewarded arc."""
    costs = [0]
    for vertex in range(1, len(steps)):
        cost = min([costs[before] for before, _, _ in steps[vertex]]) + 1
        for before in rewarded.get(vertex, ()):
            cost = min(cost, costs[before] - REWARD)
        costs.append(cost)
    return costs


def _best_links(steps: Steps, rewarded: Mapping[int, list[int]], costs: list[int]) -> Links:
    """The links of all best ways, from the last vertex backwards."""
    links: Links = {}
    waiting = [len(steps) - 1]
    while waiting:
        vertex = waiting.pop()
        if vertex in links:
            continue
        cost = costs[vertex]
        best = [(before, is_same) for before, is_same, _ in steps[vertex] if costs[before] == cost - 1]
        best += [(before, REWARDED) for before in rewarded.get(vertex, ()) if costs[before] == cost + REWARD]
        links[vertex] = best
        waiting += [before for before, _ in best]
    return links


def _least_epsilons(links: Links, last: int, max_unchanged: int) -> dict[int, int]:
    """For each vertex on a best way, a number of epsilons that the rest of the way costs at least.

    `within[v][u]` is that number inside of an arc with u unchanged words left to it, `within[v][-1]` between arcs.
    """
    never = len(links) + 1
    within = {vertex: [never] * (max_unchanged + 2) for vertex in links}
    within[last] = [0] * (max_unchanged + 2)
    for vertex in sorted(links, reverse=True):
        here = within[vertex]
        between = min(here[-1], here[-2] + 1)
        here[:] = [min(number, between) for number in here]
        for before, kind in links[vertex]:
            there = within[before]
            if kind == EDIT:
                there[:-1] = map(min, there[:-1], here[:-1])
                continue
            there[-1] = min(there[-1], between)
            if kind == UNCHANGED:
                there[1:-1] = map(min, there[1:-1], here[:-2])
    return {vertex: numbers[-1] for vertex, numbers in within.items()}


EPSILON = 0.001
MOST_ARCS = 300_000
Ways: TypeAlias = dict[Ends, tuple[int, int]]
"""For each arc the number of its steps and of its unchanged words."""


def replay(
    lattice: Lattice, hypothesis: Sequence[str], edits: Sequence[GoldEdit], *, max_unchanged: int
) -> tuple[int, int] | None:
    """The numbers of correct and of proposed edits."""
    listed, ways = _all_arcs(lattice, max_unchanged)
    if len(listed) > MOST_ARCS:
        return None
    listed, ways = _without_unchanged(listed, ways)
    weights = _weights(lattice, hypothesis, edits, listed, ways)
    path = _shortest_path(listed, weights, len(lattice.steps) - 1)
    proposed = [ends for ends in path if ways[ends][0] > ways[ends][1]]
    return _n_correct(proposed, lattice, hypothesis, edits), len(proposed)


def _all_arcs(lattice: Lattice, max_unchanged: int) -> tuple[list[Ends], Ways]:
    """Every arc as often as it was found, in the order of finding; a few over the most where there are too many."""
    steps_from: list[list[tuple[int, int]]] = [[] for _ in lattice.steps]
    listed: list[Ends] = []
    ways: Ways = {}
    firsts: list[list[int]] = [[] for _ in lattice.steps]
    for vertex, steps in enumerate(lattice.steps):
        for before, is_same, n_lattices in steps:
            steps_from[before].append((vertex, is_same))
            listed += [(before, vertex)] * n_lattices
            ways[before, vertex] = 1, is_same
            firsts[vertex].append(before)
    listed.sort()
    for middle, steps_on in enumerate(steps_from):
        if len(listed) > MOST_ARCS:
            break
        for first in sorted(firsts[middle]):
            n_steps, n_unchanged = ways[first, middle]
            for last, is_same in steps_on:
                known = ways.get((first, last))
                if n_unchanged + is_same <= max_unchanged and (known is None or n_steps + 1 < known[0]):
                    if known is None:
                        firsts[last].append(first)
                    ways[first, last] = n_steps + 1, n_unchanged + is_same
                    listed.append((first, last))
    return listed, ways


def _without_unchanged(listed: list[Ends], ways: Ways) -> tuple[list[Ends], Ways]:
    """Without the arcs that only join unchanged words, but for those that follow one which was removed."""
    kept: list[Ends] = []
    removed: set[Ends] = set()
    is_jumped_over = False
    for ends in listed:
        n_steps, n_unchanged = ways[ends]
        if n_steps == n_unchanged > 1 and not is_jumped_over:
            removed.add(ends)
            is_jumped_over = True
        else:
            kept.append(ends)
            is_jumped_over = False
    return kept, {ends: way for ends, way in ways.items() if ends not in removed}


def _weights(
    lattice: Lattice, hypothesis: Sequence[str], edits: Sequence[GoldEdit], listed: list[Ends], ways: Ways
) -> dict[Ends, float]:
    n_times = Counter(listed)
    weights: dict[Ends, float] = {}
    by_span: dict[tuple[int, int], dict[Ends, int]] = {(edit.start, edit.end): {} for edit in edits}
    for ends, (n_steps, n_unchanged) in ways.items():
        weights[ends] = _with_epsilons(n_steps, n_times[ends]) if n_steps > n_unchanged else n_steps
        span = lattice.rows[ends[0]], lattice.rows[ends[1]]
        if span in by_span:
            by_span[span][ends] = n_times[ends]
    for (start, end), arcs in by_span.items():
        wanted = [edit for edit in edits if (edit.start, edit.end) == (start, end)]
        if start == end:
            for ends, (is_rewarded, n_epsilons) in insertion_weights(
                dict(sorted(arcs.items())), wanted, lattice, hypothesis
            ).items():
                weights[ends] = _with_epsilons(-len(listed) if is_rewarded else ways[ends][0], n_epsilons)
        else:
            done = (ends for ends in arcs if any(does(edit, ends, lattice, hypothesis) for edit in wanted))
            weights.update(dict.fromkeys(done, -len(listed)))
    return weights


def _with_epsilons(weight: float, n_epsilons: int) -> float:
    """Added one by one, so as to round as the official sums do."""
    for _ in range(n_epsilons):
        weight += EPSILON
    return weight


def _shortest_path(listed: list[Ends], weights: Mapping[Ends, float], end: int) -> list[Ends]:
    """Bellman and Ford: of equal ways the one that was found first."""
    arcs = [(first, last, weights[first, last]) for first, last in listed]
    distances = [0.0] + [float("inf")] * end
    came_from: dict[int, int] = {}
    is_changed = True
    while is_changed:
        is_changed = False
        for first, last, weight in arcs:
            distance = distances[first] + weight
            if distance < distances[last]:
                distances[last] = distance
                came_from[last] = first
                is_changed = True
    path: list[Ends] = []
    while end in came_from:
        path.append((came_from[end], end))
        end = came_from[end]
    return path[::-1]


def _n_correct(
    proposed: Sequence[Ends], lattice: Lattice, hypothesis: Sequence[str], edits: Sequence[GoldEdit]
) -> int:
    """Gold edits that are met in their order; one edit counts for each of several that it meets."""
    n_correct, after = 0, 0
    for first, last in proposed:
        span = lattice.rows[first], lattice.rows[last]
        for place in range(after, len(edits)):
            edit = edits[place]
            if (edit.start, edit.end) == span and does(edit, (first, last), lattice, hypothesis):
                n_correct += 1
                after = place + 1
    return n_correct


# The metric


@dataclass(frozen=True, slots=True)
class GoldSentence:
    """A sentence with what each annotator corrected, in the file's order; annotators by their numbers."""

    text: str
    words: tuple[str, ...]
    edits: Mapping[str, tuple[GoldEdit, ...]]
    tokens: tuple[Span, ...] | None = None
    line: int | None = None

    @property
    def annotators(self) -> tuple[str, ...]:
        return tuple(self.edits)


def read_gold(source: Source) -> list[GoldSentence]:
    """The sentences of an M2 file, without making essays of it."""
    problems = Problems(source.name)
    blocks = list(read_blocks(source.lines(), problems))
    problems.done()
    names = {mark.annotator for block in blocks for mark in block.annotations}
    alone = next(iter(names)) if len(names) == 1 else NOBODY
    sentences = []
    for block in blocks:
        words = tuple(block.text.split())
        edits: dict[str, list[GoldEdit]] = {mark.annotator: [] for mark in block.annotations} or {alone: []}
        for mark in block.annotations:
            if mark.tag != NOOP:
                own = " ".join(words[mark.start : mark.end])
                texts = replacements_of(mark.correction, tag=mark.tag, words=own) or (own,)
                edits[mark.annotator].append(_gold_edit(mark.start, mark.end, texts))
        sentences.append(GoldSentence(block.text, words, _in_order(edits), None, block.line))
    return sentences


def gold_of(essay: Essay) -> GoldSentence:
    """The same of an essay that is a sentence."""
    if essay.tokens is None:
        where = f"essay {essay.essay_id}" + ("" if essay.line is None else f" (line {essay.line})")
        raise UsageError(f"{where}: expected an essay with tokens, as M2 has them; convert it to M2 first")
    tokens = essay.tokens
    words = tuple(token.of(essay.text) for token in tokens)
    edits: dict[str, list[GoldEdit]] = {annotator: [] for annotator in essay.annotators or (NOBODY,)}
    for edit in essay.edits:
        start, end = _token_range(edit.span, tokens)
        edits[edit.rater].append(_gold_edit(start, end, edit.replacements or (" ".join(words[start:end]),)))
    return GoldSentence(essay.text, words, _in_order(edits), tokens, essay.line)


def _gold_edit(start: int, end: int, texts: Sequence[str]) -> GoldEdit:
    return GoldEdit(start, end, tuple((tuple(text.strip().split(" ")) if text.strip() else ()) for text in texts))


def _in_order(edits: Mapping[str, Sequence[GoldEdit]]) -> dict[str, tuple[GoldEdit, ...]]:
    def place(name: str) -> tuple[bool, int, str]:
        is_number = name.isascii() and name.isdigit()
        return not is_number, int(name) if is_number else 0, name

    return {name: tuple(edits[name]) for name in sorted(edits, key=place)}


def corrected_words(sentence: GoldSentence) -> list[str]:
    """The words with the one annotator's edits applied, each by its first replacement."""
    where = "a hypothesis" if sentence.line is None else f"the hypothesis, line {sentence.line}"
    if len(sentence.edits) > 1:
        names = ", ".join(sentence.edits)
        raise UsageError(f"expected one annotator in {where}, found {names}; keep the lines of one")
    corrected, at = list[str](), 0
    [edits] = sentence.edits.values()
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise UsageError(f"expected edits that do not overlap in {where}, found two at token {edit.start}")
        corrected += [*sentence.words[at : edit.start], *filter(None, edit.replacements[0])]
        at = edit.end
    return [*corrected, *sentence.words[at:]]


def _token_range(span: Span, tokens: Sequence[Span]) -> tuple[int, int]:
    """The tokens that a span touches; where it touches none, the point before the next token."""
    start = bisect_right(tokens, span.start, key=lambda token: token.end)
    return start, max(start, bisect_left(tokens, span.end, key=lambda token: token.start))


@dataclass(frozen=True, slots=True)
class ChosenReferences:
    """For each sentence the annotator and a row of true positives, false positives and false negatives."""

    annotators: tuple[str, ...]
    counts: npt.NDArray[np.int64]


def choose_references(
    counts_per_sentence: Iterable[Mapping[str, tuple[int, int, int]]], *, beta: float = 0.5
) -> ChosenReferences:
    """The official choice, from each sentence's (correct, proposed, gold) by annotator."""
    correct, proposed, gold = 0, 0, 0
    annotators: list[str] = []
    rows: list[tuple[int, int, int]] = []
    for counts in counts_per_sentence:
        best: tuple[float, float, float] | None = None
        chosen, chosen_counts = "", (0, 0, 0)
        for annotator, (more_correct, more_proposed, more_gold) in counts.items():
            c, p, g = correct + more_correct, proposed + more_proposed, gold + more_gold
            key = running_f(c, p, g, beta), float(c), -(p + beta * beta * g)
            if best is None or key > best:
                best, chosen, chosen_counts = key, annotator, counts[annotator]
        c, p, g = chosen_counts
        correct, proposed, gold = correct + c, proposed + p, gold + g
        annotators.append(chosen)
        rows.append((c, p - c, g - c))
    return ChosenReferences(tuple(annotators), np.array(rows, np.int64).reshape(-1, 3))


def running_f(correct: int, proposed: int, gold: int, beta: float) -> float:
    """The official scorer's F, in its order of operations, for sums may tie."""
    below = beta * beta * gold + proposed
    if below == 0:
        return 1.0 if correct == 0 else 0.0
    return (1 + beta * beta) * float(correct) / below


def maxmatch_keys(beta: float) -> Keys:
    """F so far, then correct edits, then fewer proposed and gold edits, in m2scorer's order of operations."""

    def keys(sums: Ints) -> list[Numbers]:
        correct, proposed, gold = sums[..., 0], sums[..., 0] + sums[..., 1], sums[..., 0] + sums[..., 2]
        below = beta * beta * gold + proposed
        f = np.divide((1 + beta * beta) * correct, below, out=np.ones(below.shape), where=below != 0)
        return [f, correct.astype(np.float64), -(proposed + beta * beta * gold)]

    return keys


EditCounts: TypeAlias = tuple[int, int, int]
"""Correct, proposed and gold edits."""
Met: TypeAlias = tuple[GoldEdit, list[Ends]]
"""A gold edit with the arcs that do it."""
Stretch: TypeAlias = tuple[tuple[Step, ...], ...]
SHORT = 32
"""Vertices of a stretch that is worth remembering."""


def maxmatch_counts(
    source: Sequence[str],
    hypothesis: Sequence[str],
    gold: Mapping[str, Sequence[GoldEdit]],
    *,
    max_unchanged: int = 2,
) -> dict[str, EditCounts]:
    """For each annotator the numbers of correct, proposed and gold edits of one sentence."""
    source, hypothesis = tuple(source), tuple(hypothesis)
    if source == hypothesis:
        return {annotator: (0, 0, len(edits)) for annotator, edits in gold.items()}
    alignment = _Alignment(source, hypothesis, max_unchanged)
    return {annotator: (*alignment.counts(edits), len(edits)) for annotator, edits in gold.items()}


class _Alignment:
    """A sentence and its correction, aligned; what has been found out about it is kept for the next annotator."""

    def __init__(self, source: tuple[str, ...], hypothesis: tuple[str, ...], max_unchanged: int) -> None:
        self._source, self._hypothesis, self._max_unchanged = source, hypothesis, max_unchanged
        self._lattice = align(source, hypothesis)
        self._after = vertices_after(self._lattice.steps)
        cuts = stretches(self._lattice.steps, self._after, max_unchanged=max_unchanged)
        self._stretches = [(first, last, part_of(self._lattice.steps, first, last)) for first, last in cuts]

    def counts(self, edits: Sequence[GoldEdit]) -> tuple[int, int]:
        """The numbers of correct and of proposed edits."""
        met = [(edit, arcs) for edit in edits if (arcs := self._arcs_of(edit))]
        if not self._is_plain(edits, met):
            return self._replayed(edits) or self._searched(met)[0]
        counts, is_certain = self._searched(met)
        return counts if is_certain else self._replayed(edits) or counts

    def _is_plain(self, edits: Sequence[GoldEdit], met: Sequence[Met]) -> bool:
        """Whether the number of rewards is that of correct edits.

        Every edit changes something, those that are met have their order and places of their own, and each insertion
        can be made in one way only.
        """
        spans = [(edit.start, edit.end) for edit, _ in met]
        if any(span >= following for span, following in pairwise(spans)):
            return False
        if any(edit.start == edit.end and len(arcs) > 1 for edit, arcs in met):
            return False
        return not any(
            self._source[edit.start : edit.end] in edit.replacements for edit in edits if edit.start < edit.end
        )

    def _replayed(self, edits: Sequence[GoldEdit]) -> tuple[int, int] | None:
        return replay(self._lattice, self._hypothesis, edits, max_unchanged=self._max_unchanged)

    def _searched(self, met: Sequence[Met]) -> tuple[tuple[int, int], bool]:
        """The counts of the best ways with the fewest edits, and whether all of them have that many."""
        weights = self._weights(met)
        bests = [self._best(first, last, steps, weights) for first, last, steps in self._stretches]
        counts = sum(best.n_rewards for best in bests), sum(best.fewest_edits for best in bests)
        return counts, all(best.fewest_edits == best.most_edits for best in bests)

    def _best(self, first: int, last: int, steps: Stretch, weights: Mapping[Ends, Weight]) -> Best:
        here = {(a - first, b - first): weight for (a, b), weight in weights.items() if first <= a < last}
        if len(steps) <= SHORT:
            return search_again(steps, tuple(here.items()), self._max_unchanged)
        return search(steps, here, max_unchanged=self._max_unchanged)

    def _weights(self, met: Sequence[Met]) -> dict[Ends, Weight]:
        weights: dict[Ends, Weight] = {}
        at_points: dict[int, list[GoldEdit]] = {}
        for edit, arcs in met:
            if edit.start == edit.end:
                at_points.setdefault(edit.start, []).append(edit)
            else:
                weights.update(dict.fromkeys(arcs, (True, 0)))
        for point, edits in at_points.items():
            arcs_there = insertions_at(self._row(point), self._lattice)
            weights.update(insertion_weights(arcs_there, edits, self._lattice, self._hypothesis))
        return weights

    def _arcs_of(self, edit: GoldEdit) -> list[Ends]:
        """The arcs that do what an edit asks for, and change something."""
        columns = self._lattice.columns
        ends = {columns[vertex]: vertex for vertex in self._row(edit.end)}
        arcs = []
        for first in self._row(edit.start):
            column = columns[first]
            wanted = {
                ends[column + len(words)]
                for words in edit.replacements
                if column + len(words) in ends and self._hypothesis[column : column + len(words)] == words
            }
            arcs += [(first, last) for last in sorted(wanted) if self._is_edit(first, last)]
        return arcs

    def _is_edit(self, first: int, last: int) -> bool:
        """Whether there is an arc between the two that changes something."""
        steps, most = self._lattice.steps, self._max_unchanged
        arcs = arcs_from(first, steps, self._after, max_unchanged=most, until=last)
        n_steps, n_unchanged, _ = arcs.get(last, (0, 0, 0))
        return n_steps > n_unchanged

    def _row(self, row: int) -> range:
        rows = self._lattice.rows
        return range(bisect_left(rows, row), bisect_left(rows, row + 1))


def count_systems(
    references: Sequence[GoldSentence], systems: Sequence[Sequence[Sequence[str]]], *, max_unchanged: int = 2
) -> list[list[dict[str, EditCounts]]]:
    """For each system, as the words of its sentences, and each sentence the counts against every annotator."""
    if max_unchanged < 0:
        raise UsageError(f"expected 0 or more unchanged words, found {max_unchanged}")
    counted: list[list[dict[str, EditCounts]]] = [[] for _ in systems]
    for gold, *outputs in zip(references, *systems, strict=True):
        seen: dict[tuple[str, ...], dict[str, EditCounts]] = {}
        for of_system, output in zip(counted, map(tuple, outputs), strict=True):
            if output not in seen:
                seen[output] = maxmatch_counts(gold.words, output, gold.edits, max_unchanged=max_unchanged)
            of_system.append(seen[output])
    return counted


@dataclass(frozen=True, slots=True)
class M2Metric(EditMetric):
    name: str = "m2"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = False

    def read(self, source: Source) -> Sentences:
        return read_gold(source)

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]:
        counted = []
        for hypothesis, counts in zip(hypotheses, _counted(references, hypotheses, options), strict=True):
            chosen = choose_references(counts, beta=options.beta)
            counted.append(of_rows(hypothesis.system, chosen.counts, references=chosen.annotators))
        return counted

    def signature(self, references: References, options: MetricOptions) -> Signature:
        numbers = {"beta": f"{options.beta:g}", "unchanged": str(options.max_unchanged), "zero": "1"}
        parts = (
            part
            for gold in _gold(references.sentences)
            for part in (" ".join(gold.words), *(f"{name} {edits}" for name, edits in gold.edits.items()))
        )
        engine = {"engine": references.engine} if references.engine else {}
        return Signature("m2", {**numbers, **engine, "tokens": "as-reference", "reference": digest(parts)})

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        # Annotators stand in the order in which the official scorer would try them.
        order = tuple(_gold(references.sentences)[0].edits)
        for counted in _counted(references, hypotheses, options):
            rows = np.array([[counts[name] for name in order] for counts in counted], np.int64)
            correct, proposed, wanted = np.moveaxis(rows, -1, 0)
            yield AnnotatorCounts(order, np.stack([correct, proposed - correct, wanted - correct], axis=-1))

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: MetricOptions) -> list[SentenceCounts]:
        chosen = choose_annotators(counts.cells, subsets, maxmatch_keys(options.beta))
        return [of_rows("", rows) for rows in chosen_rows(counts.cells, chosen)]


def _gold(sentences: Sentences) -> list[GoldSentence]:
    if isinstance(sentences, EditTable):
        raise UsageError("expected sentences for the metric m2, found a table of edits; read the file as a corpus")
    return [each if isinstance(each, GoldSentence) else gold_of(cast("Essay", each)) for each in sentences]


def _counted(
    references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
) -> list[list[dict[str, EditCounts]]]:
    """For each hypothesis and sentence the counts against every annotator."""
    words = [_corrected(references, hypothesis) for hypothesis in hypotheses]
    return count_systems(_gold(references.sentences), words, max_unchanged=options.max_unchanged)


def _corrected(references: References, hypothesis: Hypothesis) -> list[list[str]]:
    """The words of every sentence as the system has them."""
    lines = _gold(hypothesis.sentences) if hypothesis.texts is None else hypothesis.texts
    require_same_sources(references.sourced, lines, reference_name=references.name, hypothesis_name=hypothesis.name)
    return [line.split() if isinstance(line, str) else corrected_words(line) for line in lines]


METRIC = M2Metric()
