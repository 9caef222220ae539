"""The stretches of a lattice in which something changes, and that no edit can leave.

Cut at a vertex that every alignment goes through, with enough unchanged words on either side that every alignment
shares: an arc across it would hold all those on the side of its change, and one more on the other side, which is
more than it may.  Before the first change and after the last nothing is needed.  So what is best in one stretch
does not depend on the others.  Most stretches of most sentences look like one that was met before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grater.evaluate.edits.lattice import Step, Steps


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
