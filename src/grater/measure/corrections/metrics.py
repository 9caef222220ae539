"""What a metric of corrections must be able to do, the counts it works on, and the metrics there are.

A metric counts a hypothesis against references (`count`), turns sums of counts into scores (`scores`) and names how
it did so (`signature`).  For the human ceiling it also counts against each annotator by itself (`against_each`) and
chooses among some of them (`among`).  Third parties join by the entry-point group `grater.metrics`.

**Counts** are the sufficient statistics of every score, sentence by sentence: they add up, scores do not.  A
sentence has one row of counts, or, where the metric draws a reference at random (GLEU), one row for each of its
references.

**Precision, recall and F.** 0/0 is 1, as in m2scorer and ERRANT: a system that proposes nothing has precision 1, a
corpus without errors recall 1.  F is 0 where both are 0.  The signature says `zero:1`.

**Choosing annotators.** m2scorer and ERRANT go through the corpus and take for each sentence the annotator with the
best F *so far*, so every set of annotators is a walk of its own.  Here all sets walk together, one sentence at a
time: a thousand sets cost little more than ten.  A test holds the result to the official walks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.corpora.formats import Source
from grater.corpora.m2 import FORMAT
from grater.errors import UsageError
from grater.measure.corrections.edit_table import Mode, Tier
from grater.measure.corrections.systems import Hypothesis, References, Sentences, corrected_texts
from grater.model import Essay
from grater.registry import Registry
from grater.signature import Signature
from grater.uncertainty.intervals import Ints, Numbers

Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class SentenceCounts:
    """`cells` has the shape (sentences, rows, columns); sentence i has `n_rows[i]` rows, zeros stand beyond them.

    `references` are the annotators that the sentences were held against, where the metric chooses one.  `by_type` has
    an array (sentences, columns) for each type of error, where the metric knows types.
    """

    system: str
    cells: Ints | Numbers
    n_rows: Ints
    references: tuple[str, ...] = ()
    by_type: Mapping[str, Ints] = field(default_factory=dict)

    @property
    def n_sentences(self) -> int:
        return len(self.cells)

    @property
    def expected(self) -> Numbers:
        """The mean row of each sentence."""
        rows: Numbers = self.cells.sum(axis=1) / np.maximum(self.n_rows, 1)[:, None]
        return rows

    @property
    def shares(self) -> Numbers | None:
        """The chance of each row, where there is a choice."""
        if self.cells.shape[1] < 2:
            return None
        is_there = np.arange(self.cells.shape[1]) < self.n_rows[:, None]
        return is_there / self.n_rows[:, None]


def of_rows(
    system: str, rows: Ints | Numbers, *, references: Sequence[str] = (), by_type: Mapping[str, Ints] | None = None
) -> SentenceCounts:
    """Counts with one row per sentence."""
    return SentenceCounts(system, rows[:, None, :], np.ones(len(rows), np.int64), tuple(references), by_type or {})


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorCounts:
    """One hypothesis against every annotator: `cells` (sentences, annotators, columns), before any is chosen."""

    annotators: tuple[str, ...]
    cells: Ints


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """Every metric takes what concerns it; `tier` None asks for no scores by type.

    `engine` makes edits of plain text; `extracts` says that it had to, for the signature.
    """

    beta: float = 0.5
    mode: Mode = "cs"
    tier: Tier | None = None
    max_unchanged: int = 2
    engine: str = "grater"
    extracts: bool = False

    def __post_init__(self) -> None:
        if not self.beta > 0 or self.beta == float("inf"):
            raise UsageError(f"expected a beta above 0, found {self.beta:g}")


class Metric(Protocol):
    """`columns` are the names of its counts; `references_are_texts` where plain references serve as
    they are, and no edits need to be made of them."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def references_are_texts(self) -> bool: ...

    def read(self, source: Source) -> Sentences:
        """An M2 file in the shape that this metric works on quickest."""

    def score_names(self, options: MetricOptions) -> tuple[str, ...]:
        """The scores in the order of the table; systems are ranked and compared by the last."""

    def scores(self, sums: Numbers, options: MetricOptions) -> Numbers:
        """From sums of counts in the last axis to scores in the last axis."""

    def values(self, counts: SentenceCounts, options: MetricOptions) -> Numbers:
        """The scores of a whole corpus, as the official tool gives them."""

    def sentence_scores(self, counts: SentenceCounts, options: MetricOptions) -> Numbers:
        """The scores of every sentence by itself: (sentences, scores)."""

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]: ...

    def signature(self, references: References, options: MetricOptions) -> Signature: ...

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        """The output of a system that corrects as the annotator did."""

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        """Counts of each hypothesis, one after the other; every annotator must have read every sentence."""

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: MetricOptions) -> list[SentenceCounts]:
        """Counts against each of some sets of annotators."""


METRICS: Registry[Metric] = Registry(
    "metric",
    "grater.metrics",
    {
        "accuracy": "grater.measure.corrections.accuracy:METRIC",
        "cleme": "grater.measure.corrections.cleme:METRIC",
        "errant": "grater.measure.corrections.errant:METRIC",
        "gleu": "grater.measure.corrections.gleu:METRIC",
        "m2": "grater.measure.corrections.maxmatch:METRIC",
    },
)


COLUMNS = ("tp", "fp", "fn")


def precision_recall_f(counts: npt.ArrayLike, *, beta: float) -> Numbers:
    """Precision, recall and F in place of the tp, fp, fn of the last axis, unrounded."""
    tp, fp, fn = np.moveaxis(np.asarray(counts, np.float64), -1, 0)
    precision, recall = _ratio(tp, tp + fp, 1.0), _ratio(tp, tp + fn, 1.0)
    f = _ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall, 0.0)
    return np.stack([precision, recall, f], axis=-1)


def _ratio(above: Numbers, below: Numbers, otherwise: float) -> Numbers:
    ratio: Numbers = np.divide(above, below, out=np.full(np.shape(below), otherwise), where=below != 0)
    return ratio


def score_names(beta: float) -> tuple[str, ...]:
    """`precision`, `recall`, `f0.5`."""
    return "precision", "recall", f"f{beta:g}"


class TextMetric:
    """What metrics share that compare sentences as they stand once corrected."""

    __slots__ = ()
    name: str

    def read(self, source: Source) -> Sentences:
        return list(FORMAT.read(source))

    def score_names(self, options: MetricOptions) -> tuple[str, ...]:  # noqa: ARG002
        return (self.name,)

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        return Hypothesis(annotator, annotator, texts=[corrected_texts(essay)[annotator] for essay in essays])


class EditMetric:
    """What metrics share that count true positives, false positives and false negatives of edits."""

    __slots__ = ()

    def score_names(self, options: MetricOptions) -> tuple[str, ...]:
        return score_names(options.beta)

    def scores(self, sums: Numbers, options: MetricOptions) -> Numbers:
        return precision_recall_f(sums, beta=options.beta)

    def values(self, counts: SentenceCounts, options: MetricOptions) -> Numbers:
        return self.scores(counts.cells.sum(axis=(0, 1)), options)

    def sentence_scores(self, counts: SentenceCounts, options: MetricOptions) -> Numbers:
        return self.scores(counts.cells[:, 0].astype(np.float64), options)


Keys: TypeAlias = Callable[[Ints], list[Numbers]]
"""From sums with a sentence added, (tp, fp, fn) in the last axis, to what is wanted high, first things first."""


def subsets_of(n_annotators: int, size: int, *, most: int, rng: np.random.Generator) -> Bools:
    """A row for each set of annotators: all of them, or a sample without repeats where they are more than `most`."""
    if comb(n_annotators, size) <= most:
        chosen = list(combinations(range(n_annotators), size))
    else:
        drawn: dict[tuple[int, ...], None] = {}
        while len(drawn) < most:
            drawn[tuple(sorted(rng.choice(n_annotators, size, replace=False).tolist()))] = None
        chosen = list(drawn)
    rows = np.zeros((len(chosen), n_annotators), np.bool_)
    for row, members in zip(rows, chosen, strict=True):
        row[list(members)] = True
    return rows


def choose_annotators(cells: Ints, subsets: Bools, keys: Keys) -> Ints:
    """The annotator of each sentence, for every set: (sets, sentences), from (sentences, annotators, 3)."""
    so_far = np.zeros((len(subsets), 1, 3), np.int64)
    chosen = np.zeros((len(subsets), len(cells)), np.int64)
    for sentence, counts in enumerate(cells):
        if (counts == counts[0]).all():  # as of most sentences that a system leaves alone
            chosen[:, sentence] = subsets.argmax(axis=1)
            so_far += counts[0]
            continue
        best = subsets
        for key in keys(so_far + counts):
            key = np.where(best, key, -np.inf)
            best = key == key.max(axis=1, keepdims=True)
        place = best.argmax(axis=1)
        chosen[:, sentence] = place
        so_far += counts[place][:, None, :]
    return chosen


def chosen_rows(cells: Ints, chosen: Ints) -> Ints:
    """The counts of the chosen annotators: (sets, sentences, columns)."""
    return cells[np.arange(len(cells)), chosen]
