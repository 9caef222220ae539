"""The official search played again, for the few sentences where the order of its list of arcs decides.

Ways of equal cost may have different numbers of edits: an arc that was found twice costs the epsilons of two. Which
of them the official scorer takes hangs on the order of its list (steps first, then longer arcs as they were found),
on rounding errors of its sums, and on the unchanged arcs that it forgets to remove: its loop removes from the list
that it walks along, so that every second of neighbours stays.  It also counts in a way of its own where gold edits
of one annotator are out of order, share a span or change nothing.  All this is done here as it is there, with only
the arcs that exist looked at.

Lattices with more than `MOST_ARCS` are refused: the official scorer would take minutes or hours for such a
sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from grater.evaluate.edits.lattice import Lattice
from grater.evaluate.edits.maxmatch_gold import GoldEdit
from grater.evaluate.edits.maxmatch_weights import Ends, does, insertion_weights

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
