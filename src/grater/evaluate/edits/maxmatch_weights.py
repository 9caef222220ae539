"""Which arcs of a lattice are rewarded for a gold edit, and what the others at its place cost.

Dahlmeier and Ng 2012, as the official scorer has it.  An arc that changes something costs its number of steps and a
small epsilon for each time that it stands in the list of arcs; an arc that does what a gold edit asks for is
rewarded, by more than a whole sentence of steps can cost.  Of insertions at one point each gold edit rewards one
only: the arcs are tried from the left and from the right in turn.  After a match those arcs that do not join on to
it are passed over, at an epsilon each, even where they had paid it before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from grater.evaluate.edits.lattice import Lattice
from grater.evaluate.edits.maxmatch_gold import GoldEdit

Ends: TypeAlias = tuple[int, int]
"""An arc, by the vertices that it leads from and to."""
Weight: TypeAlias = tuple[bool, int]
"""Whether the arc is rewarded, and how many epsilons it costs."""


def does(edit: GoldEdit, ends: Ends, lattice: Lattice, hypothesis: Sequence[str]) -> bool:
    """Whether an arc over the words of an edit puts one of its replacements there."""
    first, last = ends
    return tuple(hypothesis[lattice.columns[first] : lattice.columns[last]]) in edit.replacements


def insertions_at(vertices: Iterable[int], lattice: Lattice) -> dict[Ends, int]:
    """The arcs that only insert, among vertices of one row, in order, with how often each was found."""
    found: dict[Ends, int] = {}
    firsts: list[int] = []
    for before, vertex in pairwise(vertices):
        step = next((step for step in lattice.steps[vertex] if step[0] == before), None)
        if step is None:
            firsts = []
            continue
        found.update(dict.fromkeys(((first, vertex) for first in firsts), 1))
        found[before, vertex] = step[2]
        firsts.append(before)
    return dict(sorted(found.items()))


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
