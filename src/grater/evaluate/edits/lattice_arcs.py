"""Edits of several words: the longer arcs of a lattice, found from one vertex at a time.

Dahlmeier and Ng 2012: steps that follow each other may be one edit, as long as it holds no more than
`max_unchanged` unchanged words.  The official scorer builds these arcs vertex by vertex in the order of (i, j): an
arc to a vertex is prolonged by every step from it, if that gives a shorter way than the one known.  When a vertex's
turn comes, all arcs to it are known, and all that is known from it are steps; so the arcs from one vertex can be
found by themselves, in one walk along the vertices after it.  The way that is kept is not always the one with the
fewest unchanged words, and how often an arc was found anew matters to its weight: both are as they are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TypeAlias

from grater.evaluate.edits.lattice import Step, Steps

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
