"""Counts for one sentence: how many of its edits are gold edits, for each annotator.

Sentences that come out as they went in have no edits.  Otherwise the lattice is cut into stretches that do not
depend on each other, and the best way through each is searched for.  A gold edit that no arc does changes nothing
but the number of gold edits.  Where the official scorer's order of work decides, it is followed
(`maxmatch_replay`); where even that would take it minutes, and us too, the fewest edits are counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from grater.evaluate.edits.lattice import Step, align
from grater.evaluate.edits.lattice_arcs import arcs_from, vertices_after
from grater.evaluate.edits.lattice_stretches import part_of, stretches
from grater.evaluate.edits.maxmatch_gold import GoldEdit
from grater.evaluate.edits.maxmatch_replay import replay
from grater.evaluate.edits.maxmatch_search import Best, search, search_again
from grater.evaluate.edits.maxmatch_weights import Ends, Weight, insertion_weights, insertions_at

Counts: TypeAlias = tuple[int, int, int]
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
) -> dict[str, Counts]:
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
        found = []
        for first in self._row(edit.start):
            column = columns[first]
            wanted = {
                ends[column + len(words)]
                for words in edit.replacements
                if column + len(words) in ends and self._hypothesis[column : column + len(words)] == words
            }
            found += [(first, last) for last in sorted(wanted) if self._is_edit(first, last)]
        return found

    def _is_edit(self, first: int, last: int) -> bool:
        """Whether there is an arc between the two that changes something."""
        steps, most = self._lattice.steps, self._max_unchanged
        arcs = arcs_from(first, steps, self._after, max_unchanged=most, until=last)
        n_steps, n_unchanged, _ = arcs.get(last, (0, 0, 0))
        return n_steps > n_unchanged

    def _row(self, row: int) -> range:
        rows = self._lattice.rows
        return range(bisect_left(rows, row), bisect_left(rows, row + 1))
