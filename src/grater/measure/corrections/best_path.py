"""The best path through a lattice: most gold edits, then fewest steps, then fewest epsilons.

**Weights.** Dahlmeier and Ng 2012, as the official scorer has it.  An arc that changes something costs its number of
steps and a small epsilon for each time that it is in the list of arcs; an arc that does what a gold edit asks for is
rewarded, by more than a whole sentence of steps can cost.  Of insertions at one point each gold edit rewards one
only: the arcs are tried from the left and from the right in turn.  After a match those arcs that do not join on to
it are passed over, at an epsilon each, even where they had paid it before.

**Search.** The official scorer lists every arc and runs Bellman and Ford over them all.  Here arcs are built only
from the vertices that matter.  Without its epsilons the cost of an arc is that of the steps it is made of, unless it
is rewarded; so steps and rewarded arcs alone say which vertices lie on a path that is best before epsilons count.
Among those the search goes by epsilons, with a bound from below for the rest of the path (A*: Hart, Nilsson and
Raphael 1968).  The bound is the number of arcs that would do if steps of best paths could be joined freely, as long
as they hold no more unchanged words than an arc may: every arc costs one epsilon at least, so it is never too high.
Nearly always it is exact, and then no vertex off the best paths is looked at, however many words the sentence
repeats or rewrites.

**Replay.** Paths of equal cost may have different numbers of edits: an arc that was built twice costs two epsilons.
Which of them the official scorer takes depends on the order of its list (steps first, then longer arcs as they were
built), on rounding errors of its sums, and on the unchanged arcs that it forgets to remove: its loop removes from
the list that it walks along, so that every second of neighbours stays.  It also counts in a way of its own where
gold edits of one annotator are out of order, share a span or change nothing.  For the few sentences where this
decides, its search is replayed, with only the arcs that exist looked at.  Lattices with more than `MOST_ARCS` are
refused: the official scorer would take minutes or hours for such a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise
from typing import TypeAlias

from grater.measure.corrections.lattice import Arc, Lattice, Step, Steps, arcs_from, vertices_after

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
