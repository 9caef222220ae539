"""Human scores on the same metric: each annotator against the others, compared with the systems.

Bryant & Ng 2015, "How far are we from fully automatic high quality grammatical error correction?" (ACL), section 5.
An annotator takes the place of a system and is scored against n of the other annotators, for every n and every set of
n; the scores are averaged.  Systems are scored against the same sets, so each line of the table has one number of
references: more references mean higher scores, for people and systems alike.

A set of n annotators is used for everyone who is not in it, so people on average and every system meet the same sets
equally often. If there are more than `most_subsets` sets, one seeded sample of them is used for all.

For each sentence, m2scorer and ERRANT take the annotator who gives the best F *so far*, so every set of annotators
needs its own pass; `scores.choose_annotators` runs all of them at once, one sentence at a time.

Intervals are by document, or by sentence where documents are unknown; the annotators are held fixed. The influence of
a mean over sets is the mean of their influences (for GLEU, that of the mean row over references). `of_human` is a
score divided by the mean human score; leaving out a unit changes both. Sentences that some annotator did not read are
left out for everyone. For M2 and GLEU an annotator's output is the sentence with the first alternative of each edit;
for ERRANT it is the edits themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import comb, nan
from typing import Literal, TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.measure.corrections.scores import (
    AnnotatorCounts,
    Bools,
    Design,
    Hypothesis,
    Metric,
    MetricOptions,
    References,
    SentenceCounts,
    design_of,
    influences_of,
    knowing_texts,
    metric_title,
    score_title,
)
from grater.model import Interval
from grater.result import FLAT, HIDDEN, Data, Estimate, Result
from grater.sheet import Sheet, Signature, count, counted, percent, undefined_notes, with_notes
from grater.uncertainty import BASIS, Basis, Influence, Scope, density, generator, mean_influence, ratio, share

Kind: TypeAlias = Literal["annotator", "human", "system"]

HUMAN = "human"
"""The name of the mean of all annotators."""
MOST_SUBSETS = 300
NO_HUMAN = "people's mean score is 0"


def subsets_of(n_annotators: int, size: int, *, most: int, rng: np.random.Generator) -> Bools:
    """One row per set of annotators: all sets, or a sample without repeats if there are more than `most`."""
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


@dataclass(frozen=True, slots=True)
class CeilingRow(Data):
    """Scores of one annotator, of all of them on average, or of a system, for one number of references.

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
    """By number of references: first the human mean, then each annotator, then the systems, best first."""

    metric: str
    headline: str = field(metadata=HIDDEN)
    annotators: tuple[str, ...]
    n_sentences: int
    n_left_out: int
    rows: tuple[CeilingRow, ...]
    scope: Scope
    signature: Signature
    warnings: tuple[str, ...]

    def estimates(self) -> Iterator[Estimate]:
        for row in self.rows:
            for name, score in {**row.scores, "of_human": row.of_human}.items():
                yield {"name": row.name, "kind": row.kind, "references": row.n_references, "score": name}, score

    def sheets(self) -> list[Sheet]:
        sheets = [self._sheet(size) for size in sorted({row.n_references for row in self.rows})]
        left_out = f"{self.n_left_out:,} sentences that not everyone read are left out."
        withheld = undefined_notes(score for row in self.rows for score in row.scores.values())
        notes = [*([left_out] if self.n_left_out else []), *withheld, self.scope.sentence]
        return with_notes(sheets, notes, str(self.signature))

    def _sheet(self, size: int) -> Sheet:
        rows = [row for row in self.rows if row.n_references == size]
        first_system = next((index for index, row in enumerate(rows) if row.kind == "system"), None)
        cells = [
            (row.name, *map(percent, row.scores.values()), percent(row.of_human), count(row.n_subsets))
            for row in rows
        ]
        title = f"{metric_title(self.metric)} against {counted(size, 'reference')}"
        columns = ("", *map(score_title, rows[0].scores), "% of human", "sets")
        rules = (first_system,) if first_system else ()
        return Sheet(title, columns, tuple(cells), name="ceiling", rules=rules)


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    metric: Metric
    options: MetricOptions
    basis: Basis
    design: Design


@dataclass(frozen=True, slots=True, eq=False)
class _Means:
    """The scores of an annotator or system, averaged over sets of references of one size."""

    name: str
    kind: Kind
    scores: Sequence[Influence]
    n_subsets: int


def ceiling(
    metric: Metric,
    references: References,
    hypotheses: Sequence[Hypothesis] = (),
    *,
    options: MetricOptions | None = None,
    basis: Basis = BASIS,
    sizes: Sequence[int] | None = None,
    most_subsets: int = MOST_SUBSETS,
    advance: Callable[[int, int], None] | None = None,
    warnings: Sequence[str] = (),
) -> Ceiling:
    """The ceiling for each number of references in `sizes`; by default, for every possible number.

    `advance` is called with the number of annotators and systems done, and the total.
    """
    options = knowing_texts(options or MetricOptions(), hypotheses)
    annotators = annotators_of(references)
    is_read = np.array([set(annotators) <= set(essay.annotators) for essay in references.essays], np.bool_)
    if not is_read.any():
        raise UsageError(f"{references.name}: no sentence was read by all of {', '.join(annotators)}")
    essays = [essay for essay, is_kept in zip(references.essays, is_read.tolist(), strict=True) if is_kept]
    kept = replace(references, sentences=essays)
    work = _Work(metric, options, basis, design_of(len(essays), kept.documents, basis))
    numbers = sizes or range(1, len(annotators))
    if wrong := [size for size in numbers if not 1 <= size < len(annotators)]:
        most = f"expected from 1 to {len(annotators) - 1} references, since one annotator is scored"
        raise UsageError(f"{most}, found {wrong[0]}")
    streams = [(size, generator(basis.seed, "ceiling", "subsets", str(size))) for size in numbers]
    subsets = [subsets_of(len(annotators), size, most=most_subsets, rng=rng) for size, rng in streams]
    systems = [  # where one is of a wrong length the metric says what differs
        each if is_read.all() or each.n_sentences != is_read.size else each.only(is_read.nonzero()[0].tolist())
        for each in hypotheses
    ]
    people = [metric.as_hypothesis(essays, name) for name in annotators]
    means: list[list[_Means]] = [[] for _ in subsets]
    counted = metric.against_each(kept, [*people, *systems], options)
    for number, (hypothesis, counts) in enumerate(zip([*people, *systems], counted, strict=True)):
        kind: Kind = "annotator" if number < len(people) else "system"
        for of_size, mean in zip(means, _means(work, hypothesis.system, kind, counts, subsets), strict=True):
            of_size.append(mean)
        if advance is not None:
            advance(number + 1, len(people) + len(systems))
    made = metric.signature(kept, options)
    is_sample = any(comb(len(annotators), size) > most_subsets for size in numbers)
    seed = {"seed": str(basis.seed)} if is_sample else {}
    used = {**basis.signature(work.design.scope.unit), "subsets": str(most_subsets), **seed}
    return Ceiling(
        metric=metric.name,
        headline=metric.score_names(options)[-1],
        annotators=annotators,
        n_sentences=len(essays),
        n_left_out=is_read.size - len(essays),
        rows=tuple(row for size, of_size in zip(numbers, means, strict=True) for row in _rows(work, of_size, size)),
        scope=work.design.scope,
        signature=Signature(f"{made.what}-ceiling", {**made.options, **used}),
        warnings=(*warnings, *work.design.scope.warnings),
    )


def annotators_of(references: References) -> tuple[str, ...]:
    """Everyone who read something, in order of appearance; a ceiling needs at least two."""
    annotators = tuple(dict.fromkeys(name for essay in references.essays for name in essay.annotators))
    if len(annotators) < 2:
        number = f"one: {annotators[0]}" if annotators else "none"
        raise UsageError(
            f"{references.name}: expected two annotators or more, found {number}; "
            "give one file for each annotator, or one with several"
        )
    return annotators


def _means(work: _Work, name: str, kind: Kind, counts: AnnotatorCounts, subsets: Sequence[Bools]) -> Iterator[_Means]:
    is_self = np.array([kind == "annotator" and other == name for other in counts.annotators], np.bool_)
    allowed = [of_size[~of_size[:, is_self].any(axis=1)] for of_size in subsets]
    counted = iter(work.metric.among(counts, np.concatenate(allowed), work.options))
    for of_size in allowed:
        of_sets = [_of_set(work, next(counted)) for _ in of_size]
        means = map(mean_influence, zip(*of_sets, strict=True))
        yield _Means(name, kind, [replace(it, den=it.den / len(of_sets)) for it in means], len(of_sets))


def _of_set(work: _Work, counts: SentenceCounts) -> list[Influence]:
    values = work.metric.scores(work.metric.rows(counts).sum(axis=0), work.options).tolist()
    its = influences_of(work.metric, work.design.units(counts.expected), work.options, work.basis)
    return [replace(it, value=value) for it, value in zip(its, values, strict=True)]


def _rows(work: _Work, means: Sequence[_Means], size: int) -> Iterator[CeilingRow]:
    """The rows for one number of references; a sample of sets may leave an annotator with none."""
    means = [mean for mean in means if mean.n_subsets]
    people = [mean for mean in means if mean.kind == "annotator"]
    systems = [mean for mean in means if mean.kind == "system"]
    systems.sort(key=lambda mean: (-mean.scores[-1].value, mean.name))
    of_people = list(map(mean_influence, zip(*(mean.scores for mean in people), strict=True)))
    human = _Means(HUMAN, "human", of_people, sum(mean.n_subsets for mean in people))
    names = work.metric.score_names(work.options)
    for mean in (human, *people, *systems):
        yield CeilingRow(
            name=mean.name,
            kind=mean.kind,
            n_references=size,
            n_subsets=mean.n_subsets,
            scores={name: share(it, n=float(it.den.sum())) for name, it in zip(names, mean.scores, strict=True)},
            of_human=Interval(1.0, nan, nan, "people are the measure")
            if mean is human
            else density(_ratio(mean.scores[-1], human.scores[-1]), undefined=NO_HUMAN),
        )


def _ratio(above: Influence, below: Influence) -> Influence:
    value = float(ratio(above.value, below.value))
    return Influence(
        value=value,
        change=np.nan_to_num(value - ratio(above.value - above.change, below.value - below.change)),
        den=above.den + below.den,
        times=above.times,
        unit=above.unit,
        draws=None if above.draws is None or below.draws is None else ratio(above.draws, below.draws),
    )
