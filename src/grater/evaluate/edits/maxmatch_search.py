"""The best way through a stretch of a lattice: most gold edits, then fewest steps, then fewest epsilons.

The official scorer lists every arc and runs Bellman and Ford over them all.  Here arcs are found only from the
vertices that matter.  Without its epsilons the cost of an arc is that of the steps it is made of, unless it is
rewarded; so steps and rewarded arcs alone say which vertices lie on a way that is best before epsilons count. Among
those the search goes by epsilons, with a bound from below for the rest of the way (A*: Hart, Nilsson and Raphael
1968).  The bound is the number of arcs that would do if steps of best ways could be joined freely, as long as they
hold no more unchanged words than an arc may: every arc costs one epsilon at least, so it is never too high. Nearly
always it is right, and then no vertex off the best ways is looked at, however many words the sentence repeats or
rewrites.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush
from typing import TypeAlias

from grater.evaluate.edits.lattice import Step, Steps
from grater.evaluate.edits.lattice_arcs import Arc, arcs_from, vertices_after
from grater.evaluate.edits.maxmatch_weights import Ends, Weight

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
        found = [(before, is_same) for before, is_same, _ in steps[vertex] if costs[before] == cost - 1]
        found += [(before, REWARDED) for before in rewarded.get(vertex, ()) if costs[before] == cost + REWARD]
        links[vertex] = found
        waiting += [before for before, _ in found]
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
