"""How well people do by the same measure: each annotator against the others, beside the systems.

Bryant & Ng 2015, "How far are we from fully automatic high quality grammatical error correction?" (ACL), section 5.
An annotator takes the place of a system and is scored against n of the other annotators, for every n and every set of
n; the scores are averaged.  Systems are scored against the same sets, so each line of the table has one number of
references: more references mean higher scores, for people and systems alike.

A set of n annotators serves everyone who is not in it, so people on average and every system see the same sets
equally often.  Where there are more than `most_subsets` sets, a sample is drawn (seeded), the same for all.

Intervals are over sentences (or documents); the annotators are held fixed.  `of_human` is a score divided by the
mean of the people, paired in every resample.  Sentences that some annotator did not read are left out for everyone.
For M2, and for GLEU, an annotator's output is the sentence with the first alternative of each edit; for ERRANT it is
the edits themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.measure.corrections.scores import (
    AnnotatorCounts,
    Bools,
    Metric,
    MetricOptions,
    Resampling,
    SentenceCounts,
    documents_of,
    knowing_texts,
    metric_title,
    score_title,
    subsets_of,
)
from grater.measure.corrections.systems import Hypothesis, References
from grater.model import Interval
from grater.result import FLAT, HIDDEN, Data, Estimate, Result, in_json
from grater.sheet import Sheet, count, counted, percent
from grater.signature import Signature
from grater.uncertainty.bootstrap import Design, by_document, by_sentence, resampled_sums
from grater.uncertainty.intervals import Numbers, Scope, generator, percentile_interval

Kind: TypeAlias = Literal["annotator", "human", "system"]

HUMAN = "human"
"""The name of the mean of all annotators."""
MOST_SUBSETS = 300
RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class CeilingRow(Data):
    """Scores of one annotator, of all of them on average, or of a system, on one number of references.

    `n_subsets` is the number of scores averaged: sets of references, summed over annotators for their mean.
    """

    name: str
    kind: Kind
    n_references: int
    n_subsets: int
    scores: Mapping[str, Interval] = field(metadata=FLAT)
    of_human: Interval


@dataclass(frozen=True, slots=True, repr=False)
class Ceiling(Result):
    """Rows in order of the number of references; people on average first, then each, then systems, the best first."""

    metric: str
    headline: str = field(metadata=HIDDEN)
    annotators: tuple[str, ...]
    n_sentences: int
    n_left_out: int
    rows: tuple[CeilingRow, ...]
    signature: Signature

    @property
    @in_json()
    def scope(self) -> Scope:
        return Scope(unit=self.signature.options["units"])

    def estimates(self) -> Iterator[Estimate]:
        for row in self.rows:
            for name, score in {**row.scores, "of_human": row.of_human}.items():
                yield {"name": row.name, "kind": row.kind, "references": row.n_references, "score": name}, score

    def sheets(self) -> list[Sheet]:
        """A table for each number of references: people on average, each of them, the systems."""
        *sheets, last = [self._sheet(size) for size in sorted({row.n_references for row in self.rows})]
        left_out = f"{self.n_left_out:,} sentences that not everyone read are left out."
        notes = (*((left_out,) if self.n_left_out else ()), self.scope.sentence)
        return [*sheets, replace(last, notes=notes, signature=str(self.signature))]

    def _sheet(self, size: int) -> Sheet:
        rows = [row for row in self.rows if row.n_references == size]
        first_system = next((index for index, row in enumerate(rows) if row.kind == "system"), None)
        cells = [
            (row.name, *map(percent, row.scores.values()), percent(row.of_human), count(row.n_subsets))
            for row in rows
        ]
        return Sheet(
            f"{metric_title(self.metric)} against {counted(size, 'reference')}",
            ("", *map(score_title, rows[0].scores), "% of human", "sets"),
            tuple(cells),
            name="ceiling",
            rules=(first_system,) if first_system else (),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What stays the same through one call."""

    metric: Metric
    options: MetricOptions
    chance: Resampling
    design: Design


@dataclass(frozen=True, slots=True, eq=False)
class _Means:
    """Someone's scores, as seen and in every resample, averaged over sets of references of one size."""

    name: str
    kind: Kind
    values: Numbers
    drawn: Numbers
    n_subsets: int


def ceiling(
    metric: Metric,
    references: References,
    hypotheses: Sequence[Hypothesis] = (),
    *,
    options: MetricOptions | None = None,
    chance: Resampling | None = None,
    sizes: Sequence[int] | None = None,
    most_subsets: int = MOST_SUBSETS,
    advance: Callable[[int, int], None] | None = None,
) -> Ceiling:
    """The ceiling for each number of references in `sizes`; all that can be where none are given.

    `advance` hears how many of all annotators and systems are done.
    """
    options, chance = options or MetricOptions(), chance or Resampling(n_resamples=RESAMPLES)
    options = knowing_texts(options, hypotheses)
    annotators = annotators_of(references)
    is_read = np.array([set(annotators) <= set(essay.annotators) for essay in references.essays], np.bool_)
    if not is_read.any():
        raise UsageError(f"{references.name}: no sentence was read by all of {', '.join(annotators)}")
    kept = replace(
        references,
        sentences=[essay for essay, is_kept in zip(references.essays, is_read.tolist(), strict=True) if is_kept],
    )
    work = _Work(metric, options, chance, _design(kept, chance))
    numbers = _sizes(sizes, len(annotators))
    subsets = [
        subsets_of(
            len(annotators), size, most=most_subsets, rng=generator(chance.seed, "ceiling", "subsets", str(size))
        )
        for size in numbers
    ]
    systems = [_shortened(hypothesis, is_read) for hypothesis in hypotheses]
    means = _all_means(work, kept, annotators, systems, subsets, advance)
    rows = [row for size, of_size in zip(numbers, means, strict=True) for row in _rows(work, of_size, size)]
    made = metric.signature(kept, options)
    drawn = {"resamples": chance.n_resamples, "seed": chance.seed, "units": chance.cluster, "subsets": most_subsets}
    signature = Signature(
        f"{made.what}-ceiling", {**made.options, **{name: str(value) for name, value in drawn.items()}}
    )
    headline = metric.score_names(options)[-1]
    n_kept = work.design.unit_of.size
    return Ceiling(
        metric=metric.name,
        headline=headline,
        annotators=annotators,
        n_sentences=n_kept,
        n_left_out=is_read.size - n_kept,
        rows=tuple(rows),
        signature=signature,
    )


def _design(references: References, chance: Resampling) -> Design:
    if chance.cluster == "document":
        return by_document(documents_of(references))
    return by_sentence(len(references.essays))


def _all_means(
    work: _Work,
    references: References,
    annotators: Sequence[str],
    systems: Sequence[Hypothesis],
    subsets: Sequence[Bools],
    advance: Callable[[int, int], None] | None,
) -> list[list[_Means]]:
    """For each number of references the means of everyone: annotators first, then systems."""
    people = [work.metric.as_hypothesis(references.essays, name) for name in annotators]
    means: list[list[_Means]] = [[] for _ in subsets]
    counted = work.metric.against_each(references, [*people, *systems], work.options)
    for number, (hypothesis, counts) in enumerate(zip([*people, *systems], counted, strict=True)):
        kind: Kind = "annotator" if number < len(people) else "system"
        for of_size, mean in zip(means, _means(work, hypothesis.system, kind, counts, subsets), strict=True):
            of_size.append(mean)
        if advance is not None:
            advance(number + 1, len(people) + len(systems))
    return means


def annotators_of(references: References) -> tuple[str, ...]:
    """Everyone who read something, in order of appearance; a ceiling needs two."""
    annotators = tuple(dict.fromkeys(name for essay in references.essays for name in essay.annotators))
    if len(annotators) < 2:
        number = f"one: {annotators[0]}" if annotators else "none"
        raise UsageError(
            f"{references.name}: expected two annotators or more, found {number}; "
            "give one file for each annotator, or one with several"
        )
    return annotators


def _sizes(sizes: Sequence[int] | None, n_annotators: int) -> Sequence[int]:
    for size in sizes or ():
        if not 1 <= size < n_annotators:
            raise UsageError(
                f"expected from 1 to {n_annotators - 1} references, since one annotator is scored, found {size}"
            )
    return sizes or range(1, n_annotators)


def _shortened(hypothesis: Hypothesis, is_read: Bools) -> Hypothesis:
    """The hypothesis without the sentences that are left out."""
    if is_read.all() or hypothesis.n_sentences != is_read.size:  # of a wrong length: let the metric say what differs
        return hypothesis
    return hypothesis.only(is_read.nonzero()[0].tolist())


def _means(work: _Work, name: str, kind: Kind, counts: AnnotatorCounts, subsets: Sequence[Bools]) -> Iterator[_Means]:
    """Means over the sets of each size that the one who is scored is not in."""
    is_self = np.array([kind == "annotator" and other == name for other in counts.annotators], np.bool_)
    allowed = [of_size[~of_size[:, is_self].any(axis=1)] for of_size in subsets]
    counted = iter(work.metric.among(counts, np.concatenate(allowed), work.options))
    for of_size in allowed:
        yield _mean(work, name, kind, [next(counted) for _ in of_size])


def _mean(work: _Work, name: str, kind: Kind, counted: Sequence[SentenceCounts]) -> _Means:
    if not counted:  # a sample of sets may leave nothing for someone
        return _Means(name, kind, np.zeros(0), np.zeros((0, 0)), 0)
    values = np.mean([work.metric.values(counts, work.options) for counts in counted], axis=0)
    cells = np.concatenate([counts.cells for counts in counted], axis=2).astype(np.float64)
    rng = generator(work.chance.seed, "ceiling", "bootstrap")
    design = replace(work.design, shares=counted[0].shares)
    sums = resampled_sums(cells, design, n_resamples=work.chance.n_resamples, rng=rng)
    drawn = work.metric.scores(sums.reshape(len(sums), len(counted), len(work.metric.columns)), work.options)
    return _Means(name, kind, values, drawn.mean(axis=1), len(counted))


def _rows(work: _Work, means: Sequence[_Means], size: int) -> list[CeilingRow]:
    """The rows of one number of references."""
    means = [mean for mean in means if mean.n_subsets]
    people = [mean for mean in means if mean.kind == "annotator"]
    systems = sorted(
        (mean for mean in means if mean.kind == "system"), key=lambda mean: (-float(mean.values[-1]), mean.name)
    )
    human = _Means(
        HUMAN,
        "human",
        np.mean([mean.values for mean in people], axis=0),
        np.mean([mean.drawn for mean in people], axis=0),
        sum(mean.n_subsets for mean in people),
    )
    return [_row(work, mean, human, size) for mean in (human, *people, *systems)]


def _row(work: _Work, mean: _Means, human: _Means, size: int) -> CeilingRow:
    n_units = work.design.n_units
    scores = {
        name: percentile_interval(float(mean.values[place]), mean.drawn[:, place], n_units=n_units, ends=(0.0, 1.0))
        for place, name in enumerate(work.metric.score_names(work.options))
    }
    return CeilingRow(
        name=mean.name,
        kind=mean.kind,
        n_references=size,
        n_subsets=mean.n_subsets,
        scores=scores,
        of_human=_of_human(mean, human, n_units),
    )


def _of_human(mean: _Means, human: _Means, n_units: int) -> Interval:
    below = float(human.values[-1])
    if below == 0 or isnan(below):
        return Interval(nan, nan, nan, "people's mean score is 0")
    if mean is human:
        return Interval(1.0, nan, nan, "people are the measure")
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = mean.drawn[:, -1] / human.drawn[:, -1]
    drawn, value = drawn[np.isfinite(drawn)], float(mean.values[-1]) / below
    return percentile_interval(value, drawn, n_units=n_units, ends=(0.0, 1 / below))
