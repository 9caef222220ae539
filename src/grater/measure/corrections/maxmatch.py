"""MaxMatch (M2): the edits of a system, read in the way that agrees best with those of an annotator.

Dahlmeier and Ng 2012, "Better evaluation for grammatical error correction", with the counts of their scorer, which
was that of the CoNLL-2014 shared task (nusnlp/m2scorer, read at commit d12eea2; its published version is 3.2).  The
steps: gold edits in token numbers, all best alignments (`lattice.py`), the path through them that meets most gold
edits (`best_path.py`), the annotator that a sentence is scored against, and the metric that puts them together.

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
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.measure.corrections.best_path import (
    Best,
    Ends,
    GoldEdit,
    Weight,
    insertion_weights,
    insertions_at,
    replay,
    search,
    search_again,
)
from grater.measure.corrections.lattice import Step, align, arcs_from, part_of, stretches, vertices_after
from grater.measure.corrections.metrics import (
    COLUMNS,
    AnnotatorCounts,
    Bools,
    EditMetric,
    Keys,
    MetricOptions,
    SentenceCounts,
    TextMetric,
    choose_annotators,
    chosen_rows,
    of_rows,
)
from grater.measure.corrections.systems import (
    Hypothesis,
    References,
    require_same_sources,
    require_texts_fit,
)
from grater.model import Edit, Essay, Span
from grater.signature import Signature, digest
from grater.uncertainty.intervals import Ints, Numbers

NOBODY = "0"
"""The annotator of a block that has none: the official scorer's name for it."""


def gold_edits(essay: Essay) -> dict[str, tuple[GoldEdit, ...]]:
    """What each annotator of an essay corrected, in the file's order; annotators in the order of their numbers."""
    tokens = _tokens(essay)
    edits: dict[str, list[GoldEdit]] = {annotator: [] for annotator in sorted(essay.annotators, key=_by_number)}
    for edit in essay.edits:
        start, end = _token_range(edit.span, tokens)
        texts = edit.replacements or (" ".join(token.of(essay.text) for token in tokens[start:end]),)
        edits[edit.rater].append(GoldEdit(start, end, tuple(_words(text) for text in texts)))
    return {annotator: tuple(own) for annotator, own in edits.items()} or {NOBODY: ()}


def source_tokens(essay: Essay) -> tuple[str, ...]:
    """The words of an essay as its source divides them."""
    return tuple(token.of(essay.text) for token in _tokens(essay))


def corrected_tokens(essay: Essay) -> tuple[str, ...]:
    """The words of an essay with its one annotator's edits applied, each by its first replacement."""
    if len(essay.annotators) > 1:
        raise UsageError(
            f"{_where(essay)}: expected one annotator in a hypothesis, found {', '.join(essay.annotators)}; "
            "keep the lines of one"
        )
    tokens, corrected, at = _tokens(essay), list[str](), 0
    words = source_tokens(essay)
    for start, end, edit in sorted(((*_token_range(edit.span, tokens), edit) for edit in essay.edits), key=_by_start):
        if start < at:
            raise UsageError(f"{_where(essay)}: expected edits that do not overlap, found two at token {start}")
        corrected += words[at:start]
        corrected += edit.replacements[0].split() if edit.replacements else words[start:end]
        at = end
    return (*corrected, *words[at:])


def _by_start(located: tuple[int, int, Edit]) -> tuple[int, int]:
    return located[:2]


def _by_number(annotator: str) -> tuple[bool, int, str]:
    is_number = annotator.isascii() and annotator.isdigit()
    return not is_number, int(annotator) if is_number else 0, annotator


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.strip().split(" ")) if text.strip() else ()


def _tokens(essay: Essay) -> tuple[Span, ...]:
    if essay.tokens is None:
        raise UsageError(f"{_where(essay)}: expected an essay with tokens, as M2 has them; convert it to M2 first")
    return essay.tokens


def _where(essay: Essay) -> str:
    return f"essay {essay.essay_id}" if essay.line is None else f"essay {essay.essay_id} (line {essay.line})"


def _token_range(span: Span, tokens: Sequence[Span]) -> tuple[int, int]:
    """The tokens that a span touches; where it touches none, the point before the next token."""
    start = bisect_right(tokens, span.start, key=_end)
    return start, max(start, bisect_left(tokens, span.end, key=_start))


def _start(token: Span) -> int:
    return token.start


def _end(token: Span) -> int:
    return token.end


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


Correction: TypeAlias = Sequence[str] | Essay
"""A corrected sentence: its tokens, or an M2 essay whose edits are to be applied."""


def score_systems(
    references: Sequence[Essay],
    systems: Mapping[str, Sequence[Correction]],
    *,
    max_unchanged: int = 2,
    beta: float = 0.5,
) -> dict[str, ChosenReferences]:
    """Many systems against the same references, which are prepared once."""
    counted = count_systems(references, systems, max_unchanged=max_unchanged)
    return {system: choose_references(counts, beta=beta) for system, counts in counted.items()}


def count_systems(
    references: Sequence[Essay], systems: Mapping[str, Sequence[Correction]], *, max_unchanged: int = 2
) -> dict[str, list[dict[str, EditCounts]]]:
    """For each system and each sentence the counts against every annotator, before one is chosen."""
    if max_unchanged < 0:
        raise UsageError(f"expected 0 or more unchanged words, found {max_unchanged}")
    for system, hypotheses in systems.items():
        if len(hypotheses) != len(references):
            raise UsageError(
                f"{system}: expected {len(references):,} sentences, as in the reference, "
                f"found {len(hypotheses):,}; give one line for each sentence, empty ones too"
            )
    counted: dict[str, list[dict[str, EditCounts]]] = {system: [] for system in systems}
    for place, essay in enumerate(references):
        source, gold = source_tokens(essay), gold_edits(essay)
        seen: dict[tuple[str, ...], dict[str, EditCounts]] = {}
        for system, hypotheses in systems.items():
            hypothesis = _hypothesis_tokens(hypotheses[place], source, where=f"{system}: sentence {place + 1}")
            if hypothesis not in seen:
                seen[hypothesis] = maxmatch_counts(source, hypothesis, gold, max_unchanged=max_unchanged)
            counted[system].append(seen[hypothesis])
    return counted


def _hypothesis_tokens(hypothesis: Correction, source: tuple[str, ...], *, where: str) -> tuple[str, ...]:
    if not isinstance(hypothesis, Essay):
        return tuple(hypothesis)
    tokens = source_tokens(hypothesis)
    if tokens != source:
        raise UsageError(
            f"{where}: expected the reference's sentence {' '.join(source)!r}, found {' '.join(tokens)!r}; "
            "give hypotheses for the same sentences, tokenised alike"
        )
    return corrected_tokens(hypothesis)


@dataclass(frozen=True, slots=True)
class M2Metric(EditMetric, TextMetric):
    name: str = "m2"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = False

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
        parts = (part for essay in references.essays for part in _parts(essay))
        engine = {"engine": references.engine} if references.engine else {}
        return Signature("m2", {**numbers, **engine, "tokens": "as-reference", "reference": digest(parts)})

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        # Annotators stand in the order in which the official scorer would try them.
        order = tuple(gold_edits(references.essays[0]))
        for counted in _counted(references, hypotheses, options):
            rows = np.array([[counts[name] for name in order] for counts in counted], np.int64)
            correct, proposed, wanted = np.moveaxis(rows, -1, 0)
            yield AnnotatorCounts(order, np.stack([correct, proposed - correct, wanted - correct], axis=-1))

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: MetricOptions) -> list[SentenceCounts]:
        chosen = choose_annotators(counts.cells, subsets, maxmatch_keys(options.beta))
        return [of_rows("", rows) for rows in chosen_rows(counts.cells, chosen)]


def _counted(
    references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
) -> list[list[dict[str, EditCounts]]]:
    """For each hypothesis and sentence the counts against every annotator."""
    # By number: an annotator, as a hypothesis, may bear the name of a system.
    words = {str(place): _corrected(references, hypothesis) for place, hypothesis in enumerate(hypotheses)}
    return list(count_systems(references.essays, words, max_unchanged=options.max_unchanged).values())


def _corrected(references: References, hypothesis: Hypothesis) -> list[Sequence[str]]:
    """The words of every sentence as the system has them."""
    if hypothesis.texts is not None:
        require_texts_fit(references, hypothesis, hypothesis.texts)
        return [text.split() for text in hypothesis.texts]
    require_same_sources(
        references.essays, hypothesis.essays, reference_name=references.name, hypothesis_name=hypothesis.name
    )
    return [corrected_tokens(essay) for essay in hypothesis.essays]


def _parts(essay: Essay) -> Iterator[str]:
    yield " ".join(source_tokens(essay))
    for annotator, edits in gold_edits(essay).items():
        yield f"{annotator} {edits}"


METRIC = M2Metric()
