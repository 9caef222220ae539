"""The official MaxMatch scorer, step by step: slow, obvious, and written only to hold the fast one to account.

It does what the scorer of Dahlmeier and Ng does (nusnlp/m2scorer, commit d12eea2), in the same order and with the
same floating-point sums, quirks included: an alignment step found by both Levenshtein tables stands twice in the
list of arcs; an arc that is found again by a shorter way stands there once more; every standing costs an epsilon of
its own; every second of neighbouring unchanged arcs outlives their removal; one edit may be counted for two gold
edits that are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grater.measure.corrections.maxmatch import GoldEdit

Vertex = tuple[int, int]
Arc = tuple[Vertex, Vertex]
EPSILON = 0.001


@dataclass(frozen=True)
class Way:
    """How an arc came about: its steps, and how many of them leave the word as it is."""

    n_steps: int
    n_unchanged: int

    @property
    def is_unchanged(self) -> bool:
        return self.n_steps == self.n_unchanged


def slow_counts(
    source: Sequence[str],
    hypothesis: Sequence[str],
    gold: Mapping[str, Sequence[GoldEdit]],
    *,
    max_unchanged: int = 2,
) -> dict[str, tuple[int, int, int]]:
    arcs, ways = merged_lattice(source, hypothesis)
    add_longer_arcs(arcs, ways, max_unchanged)
    remove_unchanged_arcs(arcs, ways)
    counts = {}
    for annotator, edits in gold.items():
        weights = weigh(arcs, ways, edits, hypothesis)
        path = shortest_path(arcs, weights, (len(source), len(hypothesis)))
        proposed = [arc for arc in path if not ways[arc].is_unchanged]
        counts[annotator] = (n_correct(proposed, edits, hypothesis), len(proposed), len(edits))
    return counts


def merged_lattice(source: Sequence[str], hypothesis: Sequence[str]) -> tuple[list[Arc], dict[Arc, Way]]:
    """All steps of all best alignments, for substitutions that cost 1 and then for those that cost 2."""
    arcs = sorted(best_steps(source, hypothesis, 1) + best_steps(source, hypothesis, 2))
    return arcs, {arc: Way(1, int(is_same(arc, source, hypothesis))) for arc in arcs}


def is_same(arc: Arc, source: Sequence[str], hypothesis: Sequence[str]) -> bool:
    (i, j), (k, m) = arc
    return k == i + 1 and m == j + 1 and source[i] == hypothesis[j]


def best_steps(source: Sequence[str], hypothesis: Sequence[str], substitution: int) -> list[Arc]:
    distance: dict[Vertex, int] = {(0, 0): 0}
    steps_to: dict[Vertex, list[Arc]] = {(0, 0): []}
    for i in range(len(source) + 1):
        for j in range(len(hypothesis) + 1):
            options: dict[Vertex, int] = {}
            if i and j:
                same = source[i - 1] == hypothesis[j - 1]
                options[i - 1, j - 1] = distance[i - 1, j - 1] + (0 if same else substitution)
            if i:
                options[i - 1, j] = distance[i - 1, j] + 1
            if j:
                options[i, j - 1] = distance[i, j - 1] + 1
            if options:
                distance[i, j] = min(options.values())
                steps_to[i, j] = [(before, (i, j)) for before, cost in options.items() if cost == distance[i, j]]
    found: set[Arc] = set()
    waiting = [(len(source), len(hypothesis))]
    while waiting:
        new = set(steps_to[waiting.pop()]) - found
        found |= new
        waiting += [before for before, _ in new]
    return list(found)


def add_longer_arcs(arcs: list[Arc], ways: dict[Arc, Way], max_unchanged: int) -> None:
    """Over every vertex in order, join what comes in with what goes out, if that is shorter than what there was."""
    vertices = sorted({vertex for arc in arcs for vertex in arc})
    for middle in vertices:
        incoming = [first for first in vertices if (first, middle) in ways]
        outgoing = [last for last in vertices if (middle, last) in ways]
        for first in incoming:
            for last in outgoing:
                one, two = ways[first, middle], ways[middle, last]
                joined = Way(one.n_steps + two.n_steps, one.n_unchanged + two.n_unchanged)
                before = ways.get((first, last))
                if (before is None or joined.n_steps < before.n_steps) and joined.n_unchanged <= max_unchanged:
                    arcs.append((first, last))
                    ways[first, last] = joined


def remove_unchanged_arcs(arcs: list[Arc], ways: dict[Arc, Way]) -> None:
    """The official loop removes from the list that it walks along, and so jumps over the arc after a removed one."""
    at = 0
    while at < len(arcs):
        way = ways[arcs[at]]
        if way.is_unchanged and way.n_steps > 1:
            del ways[arcs.pop(at)]
        at += 1


def span_of(arc: Arc) -> tuple[int, int]:
    return arc[0][0], arc[1][0]


def matches(arc: Arc, edit: GoldEdit, hypothesis: Sequence[str]) -> bool:
    return span_of(arc) == (edit.start, edit.end) and tuple(hypothesis[arc[0][1] : arc[1][1]]) in edit.replacements


def weigh(
    arcs: list[Arc], ways: Mapping[Arc, Way], edits: Sequence[GoldEdit], hypothesis: Sequence[str]
) -> dict[Arc, float]:
    weights: dict[Arc, float] = {arc: way.n_steps for arc, way in ways.items()}
    for span in sorted({span_of(arc) for arc in arcs}):
        there = sorted(arc for arc in arcs if span_of(arc) == span)
        wanted = [edit for edit in edits if (edit.start, edit.end) == span]
        if span[0] == span[1]:
            weigh_insertions(there, wanted, hypothesis, weights, -len(arcs))
            continue
        for arc in there:
            if any(matches(arc, edit, hypothesis) for edit in wanted):
                weights[arc] = -len(arcs)
            elif not ways[arc].is_unchanged:
                weights[arc] += EPSILON
    return weights


def weigh_insertions(
    there: list[Arc], wanted: list[GoldEdit], hypothesis: Sequence[str], weights: dict[Arc, float], reward: int
) -> None:
    """Insertions at one point are tried from left and right in turn, and use gold edits up as they match."""
    left, right, current = 0, len(there) - 1, 0
    low, high = 0, len(wanted) - 1
    while left <= right:
        from_left = current == left
        arc = there[current]
        places = range(low, high + 1) if from_left else range(high, low - 1, -1)
        place = next((place for place in places if matches(arc, wanted[place], hypothesis)), None)
        if place is None:
            weights[arc] += EPSILON
            left, right = (left + 1, right) if from_left else (left, right - 1)
            current = right if from_left else left
        elif from_left:
            weights[arc] = reward
            low = place + 1
            left += 1
            while left < len(there) and there[left][0] != arc[1]:
                weights[there[left]] += EPSILON
                left += 1
            current = left
        else:
            weights[arc] = reward
            high = place - 1
            right -= 1
            while right >= 0 and there[right][1] != arc[0]:
                weights[there[right]] += EPSILON
                right -= 1
            current = right


def shortest_path(arcs: list[Arc], weights: Mapping[Arc, float], end: Vertex) -> list[Arc]:
    """Bellman and Ford: the first of equal ways stays."""
    vertices = {(0, 0), end} | {vertex for arc in arcs for vertex in arc}
    distance = dict.fromkeys(vertices, float("inf"))
    distance[0, 0] = 0
    came_from: dict[Vertex, Vertex] = {}
    for _ in range(len(vertices) - 1):
        changed = False
        for first, last in arcs:
            if distance[first] + weights[first, last] < distance[last]:
                distance[last] = distance[first] + weights[first, last]
                came_from[last] = first
                changed = True
        if not changed:  # nor would any later round
            break
    path = [end]
    while path[-1] in came_from:
        path.append(came_from[path[-1]])
    return list(pairwise(reversed(path)))


def n_correct(proposed: Sequence[Arc], edits: Sequence[GoldEdit], hypothesis: Sequence[str]) -> int:
    n, next_place = 0, 0
    for arc in proposed:
        for place in range(next_place, len(edits)):
            if matches(arc, edits[place], hypothesis):
                n += 1
                next_place = place + 1
    return n
