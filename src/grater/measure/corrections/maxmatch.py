"""MaxMatch (M2): scores a system by the edits that turn the source into its output and best match an annotator's.

Dahlmeier and Ng 2012, "Better evaluation for grammatical error correction", with the counts of their scorer, which
was that of the CoNLL-2014 shared task (nusnlp/m2scorer, read at commit d12eea2; its published version is 3.2). The
steps: read gold edits as token indices, build all best alignments (the lattice), find the path that matches the most
gold edits, choose the annotator for each sentence, and combine these in the metric.

**Gold edits** are read as the official scorer reads M2: an annotator with only a no-op has no edits; annotators
without a line in a block are absent from it; a block without A lines has one annotator, who marked nothing. A
correction is split at single spaces; with double spaces or other white space it cannot match anything. An edit
without a correction corrects to the words already there, as M2 spells it.

**Counts** equal the official scorer's for every sentence, including ties, which its processing order decides. Changes
of case or spacing are changes.

**Annotators.** Sentences are processed in order, each against the annotator who gives the best cumulative F up to and
including it. Ties go to more correct edits, then to the smaller sum of proposed edits and beta² times gold edits,
then to the earlier annotator. F is 1 if nothing is proposed and nothing is gold. The order of sentences therefore has
a small effect.

Edge cases: an annotator without edits counts fully, which rewards a system that leaves a correct sentence alone. If
two gold edits of one annotator are the same, one proposed edit matches both, and false positives can be negative;
precision is still correct edits / proposed edits. By the official convention, precision and recall of 0/0 are 1.

**The lattice** is the union of the best alignments with substitution cost 1 and those with substitution cost 2
(deletions and insertions cost 1). Vertex (i, j) comes after i words of the source and j of the hypothesis; a step
advances by one word in the source, the hypothesis or both.

**The band.** Let D be the cost of the best alignments with substitutions at 2: the length of both sentences less
twice their longest common subsequence, found by bit-parallel dynamic programming (Hyyrö 2004). No best alignment has
more than D insertions and deletions, so at most (D + m - n) / 2 insertions and (D - m + n) / 2 deletions, and no
vertex lies further from the diagonal (Ukkonen 1985).

**Arcs** are edits of several words: consecutive steps with at most `max_unchanged` unchanged words. They are listed
in the order in which the official scorer finds them, and again whenever it finds a shorter path later. Its loop
removes unchanged arcs from the list it iterates over and so misses some; we reproduce that.

**Weights.** An arc that changes something costs its steps plus an epsilon for each occurrence in the list of arcs; an
arc that matches a gold edit earns a reward larger than the cost of any sentence. Each gold edit rewards only one
insertion at its point: arcs are tried alternately from the left and the right, and after a match, arcs that do not
adjoin it pay an epsilon.

**Search.** Paths of equal cost may have different numbers of edits. The one that the official scorer takes depends on
the order of its list and on rounding errors, so we run the same search: Bellman-Ford over every arc. We also
reproduce its counts for gold edits of one annotator that are out of order, share a span or change nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

import numpy as np

from grater.corpora.formats import Source
from grater.corpora.m2 import NOOP, read_blocks, replacements_of
from grater.errors import UsageError
from grater.measure.corrections.scores import (
    COLUMNS,
    NOBODY,
    AnnotatorCounts,
    Bools,
    EditMetric,
    Hypothesis,
    Keys,
    MetricOptions,
    References,
    SentenceCounts,
    Sentences,
    choose_annotators,
    of_rows,
    require_same_sources,
)
from grater.model import Essay, Span
from grater.sheet import Signature, digest
from grater.uncertainty import Ints, Numbers

FAR = 1 << 30


def n_in_common(source: Sequence[str], hypothesis: Sequence[str]) -> int:
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


Step: TypeAlias = tuple[int, int, int]
"""The number of the vertex before it, 1 if it leaves a word unchanged, in how many of the two lattices it is."""
Steps: TypeAlias = Sequence[tuple[Step, ...]]
"""For each vertex the steps that lead to it, in the order of where they come from."""
Table: TypeAlias = list[list[int]]

DIAGONAL, DELETION, INSERTION = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Lattice:
    """Vertices, numbered in the order of (i, j) from start to end, with `rows` and `columns` as their coordinates."""

    rows: list[int]
    columns: list[int]
    steps: list[tuple[Step, ...]]


def align(source: Sequence[str], hypothesis: Sequence[str]) -> Lattice:
    n, m = len(source), len(hypothesis)
    most = n + m - 2 * n_in_common(source, hypothesis)
    low, high = -((most - m + n) // 2), (most + m - n) // 2
    dear, cheap = _distances(source, hypothesis, low, high)
    one, two = _ways(cheap, 1, source, hypothesis, low), _ways(dear, 2, source, hypothesis, low)
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


def _distances(source: Sequence[str], hypothesis: Sequence[str], low: int, high: int) -> tuple[Table, Table]:
    """The costs of the best alignments up to each vertex, with substitution costs 2 and 1.

    A row has the columns from i + low to i + high, between two sentinels that are too far away to matter.
    """
    m = len(hypothesis)
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
    """For each vertex on a best alignment, the kinds of steps that lead to it; a vertex is i * (m + 1) + j."""
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


# The best path


Ends: TypeAlias = tuple[int, int]
"""An arc, by the vertices that it leads from and to."""
Weight: TypeAlias = tuple[bool, int]
"""Whether the arc is rewarded, and how many epsilons it costs."""


@dataclass(frozen=True, slots=True)
class GoldEdit:
    """Tokens [start, end) become any one of `replacements`; an empty replacement deletes them."""

    start: int
    end: int
    replacements: tuple[tuple[str, ...], ...]


def does(edit: GoldEdit, ends: Ends, lattice: Lattice, hypothesis: Sequence[str]) -> bool:
    """Whether an arc over the words of an edit produces one of its replacements."""
    first, last = ends
    return tuple(hypothesis[lattice.columns[first] : lattice.columns[last]]) in edit.replacements


def insertion_weights(
    arcs: dict[Ends, int], edits: Sequence[GoldEdit], lattice: Lattice, hypothesis: Sequence[str]
) -> dict[Ends, Weight]:
    """The weights of all insertions at one point, given the gold edits there."""
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


EPSILON = 0.001
Ways: TypeAlias = dict[Ends, tuple[int, int]]
"""For each arc the number of its steps and of its unchanged words."""


def _all_arcs(lattice: Lattice, max_unchanged: int) -> tuple[list[Ends], Ways]:
    """Every arc, as often as it is found and in that order."""
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
    """Remove arcs that only join unchanged words, except those that follow a removed arc in the list."""
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
    """The weight plus `n_epsilons`, added one at a time to round as the official sums do."""
    for _ in range(n_epsilons):
        weight += EPSILON
    return weight


def _shortest_path(listed: list[Ends], weights: Mapping[Ends, float], end: int) -> list[Ends]:
    """Bellman-Ford; of equally short paths, the first one found."""
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
    """The number of gold edits matched in order; one proposed edit counts for every gold edit that it matches."""
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
    """A sentence with each annotator's corrections, in the order of the file; annotators are numbers."""

    text: str
    words: tuple[str, ...]
    edits: Mapping[str, tuple[GoldEdit, ...]]
    tokens: tuple[Span, ...] | None = None
    line: int | None = None

    @property
    def annotators(self) -> tuple[str, ...]:
        return tuple(self.edits)


def read_gold(source: Source) -> list[GoldSentence]:
    """Read the sentences of an M2 file without building essays."""
    blocks = list(read_blocks(source.lines(), name=source.name))
    names = {mark.annotator for block in blocks for mark in block.annotations}
    alone = next(iter(names)) if len(names) == 1 else NOBODY
    sentences = []
    for block in blocks:
        words = tuple(block.text.split())
        edits: dict[str, list[GoldEdit]] = {mark.annotator: [] for mark in block.annotations} or {alone: []}
        for mark in block.annotations:
            if mark.tag != NOOP:
                here = " ".join(words[mark.start : mark.end])
                texts = replacements_of(mark.correction, tag=mark.tag, words=here) or (here,)
                edits[mark.annotator].append(_gold_edit(mark.start, mark.end, texts))
        own = {name: tuple(edits[name]) for name in _in_order(edits)}
        sentences.append(GoldSentence(block.text, words, own, None, block.line))
    return sentences


def gold_of(essay: Essay) -> GoldSentence:
    if essay.tokens is None:
        where = f"essay {essay.essay_id}" + ("" if essay.line is None else f" (line {essay.line})")
        raise UsageError(f"{where}: expected an essay with tokens, as M2 has them; convert it to M2 first")
    tokens = essay.tokens
    words = tuple(token.of(essay.text) for token in tokens)
    edits: dict[str, list[GoldEdit]] = {annotator: [] for annotator in essay.annotators or (NOBODY,)}
    for edit in essay.edits:
        # The tokens that the edit touches; if it touches none, the point before the next token.
        start = bisect_right(tokens, edit.span.start, key=lambda token: token.end)
        end = max(start, bisect_left(tokens, edit.span.end, key=lambda token: token.start))
        edits[edit.rater].append(_gold_edit(start, end, edit.replacements or (" ".join(words[start:end]),)))
    own = {name: tuple(edits[name]) for name in _in_order(edits)}
    return GoldSentence(essay.text, words, own, tokens, essay.line)


def _gold_edit(start: int, end: int, texts: Sequence[str]) -> GoldEdit:
    return GoldEdit(start, end, tuple((tuple(text.strip().split(" ")) if text.strip() else ()) for text in texts))


def _in_order(annotators: Collection[str]) -> list[str]:
    """Numbers by their size, then other names."""
    numbers = [name for name in annotators if name.isascii() and name.isdigit()]
    return [*sorted(numbers, key=lambda name: (int(name), name)), *sorted(set(annotators) - set(numbers))]


def corrected_words(sentence: GoldSentence) -> list[str]:
    """The words after applying the annotator's edits, each with its first replacement."""
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


EditCounts: TypeAlias = tuple[int, int, int]
"""Correct, proposed and gold edits."""


def _cells(counted: Sequence[Mapping[str, EditCounts]]) -> tuple[list[str], Ints, Bools]:
    """The annotators in the official scorer's order, (sentences, annotators, 3), and who read which sentence."""
    annotators = _in_order({name for counts in counted for name in counts})
    rows = [[counts.get(name, (0, 0, -1)) for name in annotators] for counts in counted]
    correct, proposed, wanted = np.moveaxis(np.array(rows, np.int64).reshape(len(counted), len(annotators), 3), -1, 0)
    return annotators, np.stack([correct, proposed - correct, wanted - correct], axis=-1), wanted >= 0


def maxmatch_keys(beta: float) -> Keys:
    """F so far, then correct edits, then fewer proposed and gold edits, in m2scorer's order of operations."""

    def keys(sums: Ints) -> list[Numbers]:
        correct, proposed, gold = sums[..., 0], sums[..., 0] + sums[..., 1], sums[..., 0] + sums[..., 2]
        below = beta * beta * gold + proposed
        f = np.divide((1 + beta * beta) * correct, below, out=np.ones(below.shape), where=below != 0)
        return [f, correct.astype(np.float64), -(proposed + beta * beta * gold)]

    return keys


def maxmatch_counts(
    source: Sequence[str],
    hypothesis: Sequence[str],
    gold: Mapping[str, Sequence[GoldEdit]],
    *,
    max_unchanged: int = 2,
) -> dict[str, EditCounts]:
    source, hypothesis = tuple(source), tuple(hypothesis)
    if source == hypothesis:
        return {annotator: (0, 0, len(edits)) for annotator, edits in gold.items()}
    lattice = align(source, hypothesis)
    listed, ways = _without_unchanged(*_all_arcs(lattice, max_unchanged))
    counted = {}
    for annotator, edits in gold.items():
        weights = _weights(lattice, hypothesis, edits, listed, ways)
        path = _shortest_path(listed, weights, len(lattice.steps) - 1)
        proposed = [ends for ends in path if ways[ends][0] > ways[ends][1]]
        counted[annotator] = _n_correct(proposed, lattice, hypothesis, edits), len(proposed), len(edits)
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
            annotators, cells, is_there = _cells(counts)
            [chosen] = choose_annotators(cells, is_there[:, None], self.keys(options))
            names = [annotators[place] for place in chosen.tolist()]
            counted.append(of_rows(hypothesis.system, cells[np.arange(len(cells)), chosen], references=names))
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
        for counted in _counted(references, hypotheses, options):
            annotators, cells, _ = _cells(counted)
            yield AnnotatorCounts(tuple(annotators), cells)

    def keys(self, options: MetricOptions) -> Keys:
        return maxmatch_keys(options.beta)


def _gold(sentences: Sentences) -> list[GoldSentence]:
    return [each if isinstance(each, GoldSentence) else gold_of(cast("Essay", each)) for each in sentences]


def _counted(
    references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
) -> list[list[dict[str, EditCounts]]]:
    """For each system and sentence, the counts against each annotator; equal outputs are counted once."""
    if options.max_unchanged < 0:
        raise UsageError(f"expected 0 or more unchanged words, found {options.max_unchanged}")
    systems = [_corrected(references, hypothesis) for hypothesis in hypotheses]
    counted: list[list[dict[str, EditCounts]]] = [[] for _ in systems]
    for gold, *outputs in zip(_gold(references.sentences), *systems, strict=True):
        seen: dict[tuple[str, ...], dict[str, EditCounts]] = {}
        for of_system, output in zip(counted, map(tuple, outputs), strict=True):
            if output not in seen:
                seen[output] = maxmatch_counts(gold.words, output, gold.edits, max_unchanged=options.max_unchanged)
            of_system.append(seen[output])
    return counted


def _corrected(references: References, hypothesis: Hypothesis) -> list[list[str]]:
    lines = _gold(hypothesis.sentences) if hypothesis.texts is None else hypothesis.texts
    require_same_sources(references.sentences, lines, reference_name=references.name, hypothesis_name=hypothesis.name)
    if hypothesis.words is not None:
        return list(hypothesis.words)
    return [line.split() if isinstance(line, str) else corrected_words(line) for line in lines]


METRIC = M2Metric()
