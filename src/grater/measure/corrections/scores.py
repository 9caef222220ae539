"""Scores of many systems on the same sentences, with confidence intervals, paired tests and rank groups.

Every score has an interval from one bootstrap that all systems share (`grater.uncertainty.bootstrap`): over
sentences, or over documents where sentences of one writer stand or fall together.  The annotator that a sentence was
held against is not chosen anew in a resample.  Systems are ranked by the metric's last score (F or GLEU) and told
apart by a paired test at 95 % after Holm's correction (`grater.uncertainty.bootstrap`); those that are not told apart
share a letter.  Tables are in per cent with two decimals, as the field prints these scores; the best of a column is
not marked, since the rank groups say more.

For GLEU the intervals cover the choice of reference too; the randomisation test works on the mean over references.
polars is imported by what makes frames only: it takes longer than scoring does.

What a metric of corrections must be able to do, the counts it works on, and the metrics there are.

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

Scores kept in a file, and compared with others later.

A saved result is the JSON of `Scores.to_dict` with what it was made of: the counts of every sentence of each system,
how they were counted, and the documents where whole documents are drawn.  Intervals, tests and rank groups of several
saved results are made anew from the counts, with draws that all systems share, so differences are paired by
sentence.  Results are refused unless they have the same measure, options, references and units.

Counts by type are kept as rows (sentence, counts...) of the sentences that have any.  Systems of one name in two
files are called by file and name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from grater import __version__
from grater.corpora.formats import Source
from grater.corpora.m2 import FORMAT as M2_FORMAT
from grater.errors import BadInput, Problem, UsageError
from grater.measure.corrections.edit_table import Mode, Tier
from grater.measure.corrections.systems import Hypothesis, References, Sentences, corrected_texts
from grater.model import Essay, Interval, Json
from grater.registry import Registry
from grater.result import FLAT, HIDDEN, Data, Estimate, Result, encode, in_json
from grater.sheet import Sheet, count, counted, p_value, percent, undefined_notes
from grater.signature import Signature, require_same
from grater.uncertainty.bootstrap import (
    Design,
    Drawn,
    PairTest,
    Test,
    by_document,
    by_sentence,
    paired_tests,
    rank_groups,
    resampled_sums,
    resamples_needed,
    swapped_sums,
)
from grater.uncertainty.intervals import LEVEL, Ints, Numbers, Scope, generator, percentile_interval

if TYPE_CHECKING:
    import polars as pl


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
        return list(M2_FORMAT.read(source))

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


# Scores of systems


Cluster: TypeAlias = Literal["sentence", "document"]

RESAMPLES = 5_000
"""Enough to tell sixteen systems apart, 120 pairs, after Holm's correction."""
MOST_PAIRS = 40
"""Pairs of systems that a table has a row for."""
TESTS: tuple[Test, ...] = ("bootstrap", "randomisation")
TYPE_RESAMPLES = 2_000
"""Resamples for the many scores by type, which nobody tests."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How resampling is done."""

    n_resamples: int = RESAMPLES
    seed: int = 0
    cluster: Cluster = "sentence"
    test: Test = "bootstrap"
    baseline: str = ""
    """The system that all others are compared with; every two are compared where there is none."""


@dataclass(frozen=True, slots=True)
class ScoredCounts(Data):
    """Scores by name and the counts they come from, of a system or of one type of its errors."""

    scores: Mapping[str, Interval] = field(metadata=FLAT)
    counts: Mapping[str, float]

    @property
    def shown_counts(self) -> Mapping[str, float]:
        """True positives, false positives and false negatives; the ten counts of GLEU say nothing to a reader."""
        return self.counts if len(self.counts) == 3 else {}

    def cells(self) -> tuple[str, ...]:
        """The scores and the counts as a table has them."""
        return (*map(percent, self.scores.values()), *map(count, self.shown_counts.values()))


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores(Data):
    """One row of the table; `sentences` are the counts that it all comes from."""

    system: str
    overall: ScoredCounts = field(metadata=FLAT)
    by_type: Mapping[str, ScoredCounts]
    group: str
    sentences: SentenceCounts = field(metadata=HIDDEN)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(Result):
    """All systems, the best first, the tests between them, and how it was done."""

    metric: str
    headline: str = field(metadata=HIDDEN)
    systems: tuple[SystemScores, ...]
    pairs: tuple[PairTest, ...]
    signature: Signature

    def estimates(self) -> Iterator[Estimate]:
        """Scores by system and type, which is empty for all."""
        for system in self.systems:
            for kind, scored in {"": system.overall, **system.by_type}.items():
                for name, score in scored.scores.items():
                    yield {"system": system.system, "type": kind, "score": name}, score

    def sheets(self) -> list[Sheet]:
        """The systems, the scores by type where there are any, and the tests between systems."""
        by_type = [_type_sheet(system) for system in self.systems if system.by_type]
        pairs = [_pair_sheet(self)] if self.pairs else []
        *sheets, last = [_system_sheet(self), *by_type, *pairs]
        return [*sheets, replace(last, signature=str(self.signature))]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether there are enough resamples to tell the systems apart."""
        n_resamples, least = int(self.signature.options["resamples"]), self._resamples_needed
        words = f"{n_resamples} resamples cannot tell {len(self.systems)} systems apart; use {least} or more"
        return (words,) if n_resamples < least else ()

    @property
    @in_json("intervals")
    def scope(self) -> str:
        """What the intervals speak of."""
        return Scope(unit=self.signature.options["units"]).sentence

    @property
    def _resamples_needed(self) -> int:
        return resamples_needed(len(self.systems), n_pairs=len(self.pairs))


def _system_sheet(scores: Scores) -> Sheet:
    first = scores.systems[0]
    columns = (
        "",
        *map(score_title, first.overall.scores),
        *(name.upper() for name in first.overall.shown_counts),
        "group",
    )
    rows = [(system.system, *system.overall.cells(), system.group) for system in scores.systems]
    test = f"(paired {scores.signature.options['test']}, Holm)"
    letters = f"Systems that share a letter cannot be told apart at 95 % {test}."
    if baseline := scores.signature.options.get("baseline"):
        letters = f"The last column: better or worse than {baseline} at 95 %, or not told apart from it {test}."
    undefined = undefined_notes(score for system in scores.systems for score in system.overall.scores.values())
    title = f"{metric_title(scores.metric)}, {counted(first.sentences.n_sentences, 'sentence')}"
    notes = (*([letters] if scores.pairs else []), *undefined, scores.scope)
    return Sheet(title, columns, tuple(rows), notes=notes, name="scores")


def _type_sheet(system: SystemScores) -> Sheet:
    columns = ("", *map(score_title, system.overall.scores), "TP", "FP", "FN")
    rows = [(name, *scored.cells()) for name, scored in system.by_type.items()]
    return Sheet(f"{system.system} by type", columns, tuple(rows), name="types")


def _pair_sheet(scores: Scores) -> Sheet:
    rows = [
        (
            f"{pair.first} – {pair.second}",
            percent(pair.difference),
            *(p_value(p) for test in TESTS for p in (pair.p[test], pair.holm[test])),
        )
        for pair in scores.pairs[:MOST_PAIRS]
    ]
    n_more = len(scores.pairs) - MOST_PAIRS
    notes = (f"{n_more:,} more pairs are in the JSON and the frame.",) if n_more > 0 else ()
    columns = ("", "difference", "bootstrap p", "Holm", "randomisation p", "Holm")
    return Sheet(f"Differences of {score_title(scores.headline)}", columns, tuple(rows), notes=notes, name="pairs")


def score_title(name: str) -> str:
    """`P`, `R`, `F0.5`, `GLEU`."""
    return {"precision": "P", "recall": "R", "accuracy": "accuracy"}.get(name, name.upper())


TITLES = {
    "accuracy": "Sentence accuracy",
    "cleme": "CLEME",
    "errant": "ERRANT",
    "gleu": "GLEU",
    "m2": "M2 (MaxMatch)",
}


def metric_title(name: str) -> str:
    return TITLES.get(name, name)


def sentence_frame(metric: Metric, scores: Scores, options: MetricOptions) -> pl.DataFrame:
    """One row per system and sentence: its number from 1 on, the annotator it was held against, and the counts."""
    import polars as pl

    def of_system(counts: SentenceCounts) -> pl.DataFrame:
        rows, own = counts.expected, metric.sentence_scores(counts, options)
        is_whole = bool((rows == rows.round()).all())
        columns = {
            "system": [counts.system] * counts.n_sentences,
            "sentence": range(1, counts.n_sentences + 1),
            "reference": counts.references or [""] * counts.n_sentences,
            **{name: rows[:, column] for column, name in enumerate(metric.columns)},
            **{name: own[:, column] for column, name in enumerate(metric.score_names(options))},
        }
        return pl.DataFrame(columns).with_columns(pl.col(*metric.columns).cast(pl.Int64 if is_whole else pl.Float64))

    return pl.concat([of_system(system.sentences) for system in scores.systems])


def score_systems(
    metric: Metric,
    references: References,
    hypotheses: Sequence[Hypothesis],
    *,
    options: MetricOptions | None = None,
    chance: Resampling | None = None,
) -> Scores:
    """Score and compare the systems; the order in which they are given changes nothing but ties."""
    options, chance = options or MetricOptions(), chance or Resampling()
    names = [hypothesis.system for hypothesis in hypotheses]
    _require_names_apart(names)
    if chance.baseline and chance.baseline not in names:
        raise UsageError(f"expected the baseline to be one of {', '.join(names)}, found {chance.baseline!r}")
    options = knowing_texts(options, hypotheses)
    documents = documents_of(references) if chance.cluster == "document" else None
    counts = metric.count(references, hypotheses, options)
    if not references.n_sentences:
        raise UsageError(f"{references.name}: expected sentences to score, found none")
    return compare_counts(
        metric, counts, metric.signature(references, options), options=options, chance=chance, documents=documents
    )


def knowing_texts(options: MetricOptions, hypotheses: Sequence[Hypothesis]) -> MetricOptions:
    """The options, with word of whether a hypothesis is plain text, of which edits may have to be made."""
    return replace(options, extracts=any(hypothesis.texts is not None for hypothesis in hypotheses))


def compare_counts(
    metric: Metric,
    counts: Sequence[SentenceCounts],
    signature: Signature,
    *,
    options: MetricOptions,
    chance: Resampling,
    documents: Sequence[str] | None = None,
) -> Scores:
    """Scores of systems that have been counted on the same sentences; `signature` says how they were counted."""
    names = metric.score_names(options)
    if not counts:
        raise UsageError("expected at least one hypothesis to score, found none")
    values = np.stack([metric.values(own, options) for own in counts])
    order = sorted(range(len(counts)), key=lambda place: (-values[place, -1], counts[place].system))
    counts, values = [counts[place] for place in order], values[order]
    design = _design(counts[0], documents)
    drawn = _resampled_scores(metric, counts, design, options, chance)
    pairs = _pairs(metric, counts, values, drawn, design, options, chance)
    letters = _letters([own.system for own in counts], pairs, chance)
    systems = [
        SystemScores(
            system=own.system,
            overall=ScoredCounts(
                _intervals(names, values[place], drawn[:, place], design), _totals(metric, own.expected)
            ),
            by_type=_by_type(metric, own, design, options, chance),
            group=letters[own.system],
            sentences=own,
        )
        for place, own in enumerate(counts)
    ]
    return Scores(metric.name, names[-1], tuple(systems), tuple(pairs), _signed(signature, chance))


def together(
    metric: Metric,
    *scores: Scores,
    options: MetricOptions,
    chance: Resampling,
    documents: Sequence[str] | None = None,
) -> Scores:
    """Systems that were scored in several calls, in one table; refused where they were not scored in the same way."""
    for other in scores[1:]:
        require_same(scores[0].signature, other.signature)
    counts = [system.sentences for each in scores for system in each.systems]
    _require_names_apart([each.system for each in counts])
    return compare_counts(metric, counts, scores[0].signature, options=options, chance=chance, documents=documents)


def documents_of(references: References) -> list[str]:
    """The document of each sentence, from the references' metadata."""
    documents = [essay.metadata.get("document") for essay in references.essays]
    if None in documents:
        at = documents.index(None)
        raise UsageError(
            f"{references.name}: sentence {at + 1} does not say which document it is from; give references "
            "that name their documents, or resample sentences"
        )
    return [str(document) for document in documents]


def scored_part(
    metric: Metric,
    counts: Sequence[SentenceCounts],
    places: Sequence[int],
    *,
    options: MetricOptions,
    chance: Resampling,
    documents: Sequence[str] | None = None,
) -> list[ScoredCounts]:
    """The scores of each system on some of the sentences, with intervals from these alone."""
    chosen = np.array(places, np.int64)
    part = [replace(own, cells=own.cells[chosen], n_rows=own.n_rows[chosen], by_type={}) for own in counts]
    names, values = metric.score_names(options), [metric.values(own, options) for own in part]
    design = _design(part[0], None if documents is None else [documents[place] for place in places])
    drawn = _resampled_scores(metric, part, design, options, chance)
    return [
        ScoredCounts(_intervals(names, values[at], drawn[:, at], design), _totals(metric, own.expected))
        for at, own in enumerate(part)
    ]


def _require_names_apart(names: Sequence[str]) -> None:
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        raise UsageError(f"expected systems of different names, found {doubled!r} twice; rename one of the files")


def _signed(signature: Signature, chance: Resampling) -> Signature:
    drawn = {
        "resamples": str(chance.n_resamples),
        "seed": str(chance.seed),
        "units": chance.cluster,
        "test": chance.test,
    }
    baseline = {"baseline": chance.baseline} if chance.baseline else {}
    return replace(signature, options={**signature.options, **drawn, **baseline})


def _design(counts: SentenceCounts, documents: Sequence[str] | None) -> Design:
    if documents is not None:
        return by_document(documents, shares=counts.shares)
    return by_sentence(counts.n_sentences, shares=counts.shares)


def _resampled_scores(
    metric: Metric, counts: Sequence[SentenceCounts], design: Design, options: MetricOptions, chance: Resampling
) -> Numbers:
    """(resamples, systems, scores): the same draws for every system."""
    cells = np.concatenate([own.cells for own in counts], axis=2).astype(np.float64)
    rng = generator(chance.seed, "score", "bootstrap")
    sums = resampled_sums(cells, design, n_resamples=chance.n_resamples, rng=rng)
    return metric.scores(sums.reshape(len(sums), len(counts), len(metric.columns)), options)


def _pairs(
    metric: Metric,
    counts: Sequence[SentenceCounts],
    values: Numbers,
    drawn: Numbers,
    design: Design,
    options: MetricOptions,
    chance: Resampling,
) -> list[PairTest]:
    if len(counts) < 2:
        return []
    rows = np.stack([own.expected for own in counts], axis=1)
    n_sentences, n_systems, n_columns = rows.shape
    rng = generator(chance.seed, "score", "randomisation")
    flat = rows.reshape(n_sentences, n_systems * n_columns)
    swapped = swapped_sums(flat, design, n_resamples=chance.n_resamples, rng=rng)
    resamples = Drawn(
        names=[own.system for own in counts],
        n_units=design.n_units,
        values=values[:, -1],
        drawn=drawn[..., -1],
        sums=rows.sum(axis=0),
        swapped=swapped.reshape(len(swapped), n_systems, n_columns),
    )
    return paired_tests(resamples, lambda sums: metric.scores(sums, options)[..., -1], baseline=chance.baseline)


def _letters(ranked: Sequence[str], pairs: Sequence[PairTest], chance: Resampling) -> dict[str, str]:
    """Rank groups, or where each system stands beside the baseline."""
    apart = [pair for pair in pairs if pair.holm[chance.test] <= 1 - LEVEL]
    if not chance.baseline:
        return rank_groups(ranked, [(pair.first, pair.second) for pair in apart])
    sides = {pair.first: "better" if pair.difference.value > 0 else "worse" for pair in apart}
    return {name: "baseline" if name == chance.baseline else sides.get(name, "not told apart") for name in ranked}


def _intervals(names: Sequence[str], values: Numbers, drawn: Numbers, design: Design) -> dict[str, Interval]:
    return {
        name: percentile_interval(float(values[place]), drawn[:, place], n_units=design.n_units, ends=(0.0, 1.0))
        for place, name in enumerate(names)
    }


def _totals(metric: Metric, rows: Numbers) -> dict[str, float]:
    """Sums of the counts, whole numbers as such."""
    sums = rows.sum(axis=0).tolist()
    return {
        name: int(total) if total == int(total) else total for name, total in zip(metric.columns, sums, strict=True)
    }


def _by_type(
    metric: Metric, counts: SentenceCounts, design: Design, options: MetricOptions, chance: Resampling
) -> dict[str, ScoredCounts]:
    if not counts.by_type:
        return {}
    names = metric.score_names(options)
    rows = np.stack(list(counts.by_type.values()), axis=1).astype(np.float64)
    flat = rows.reshape(len(rows), 1, -1)
    rng = generator(chance.seed, "score", "types")
    sums = resampled_sums(flat, design, n_resamples=min(TYPE_RESAMPLES, chance.n_resamples), rng=rng)
    drawn = metric.scores(sums.reshape(len(sums), *rows.shape[1:]), options)
    values = metric.scores(rows.sum(axis=0), options)
    return {
        name: ScoredCounts(_intervals(names, values[place], drawn[:, place], design), _totals(metric, rows[:, place]))
        for place, name in enumerate(counts.by_type)
    }


# Counts in a file


SAVED_FORMAT = "grater-scores-1"
DRAWN = frozenset({"resamples", "seed", "test", "baseline"})
"""Parts of a signature that are about the draws, which are made anew."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedScores:
    """What one file holds.

    `name` is the file, for messages; `label` goes before names of systems that two files have; `version` is that of
    the grater that counted.
    """

    name: str
    label: str
    metric: Metric
    options: MetricOptions
    signature: Signature
    counts: tuple[SentenceCounts, ...]
    documents: tuple[str, ...] | None
    version: str


def saved_json(scores: Scores, options: MetricOptions, documents: Sequence[str] | None = None) -> str:
    """The scores as text for a file."""
    made = {"what": scores.signature.what, "options": dict(scores.signature.options)}
    counts = {system.system: _counts_json(system.sentences) for system in scores.systems}
    how = {"made": made, "metric_options": asdict(options), "documents": documents and list(documents)}
    value = {"format": SAVED_FORMAT, "grater": __version__, **scores.to_dict(), **how, "sentence_counts": counts}
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _counts_json(counts: SentenceCounts) -> dict[str, Json]:
    by_type = {
        name: [[place, *rows[place].tolist()] for place in np.flatnonzero(rows.any(axis=1)).tolist()]
        for name, rows in counts.by_type.items()
    }
    return {
        "cells": encode(counts.cells),
        "rows": encode(counts.n_rows),
        "references": list(counts.references),
        "by_type": encode(by_type),
    }


def read_saved(text: str, *, name: str, label: str = "") -> SavedScores:
    """A saved result; anything else is refused in one line."""
    try:
        value = json.loads(text)
        if value["format"] != SAVED_FORMAT:
            raise ValueError(value["format"])
        return _saved(value, name, label or name)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise BadInput(Problem(name, "expected scores that grater saved, found something else")) from error


def _saved(value: Any, name: str, label: str) -> SavedScores:
    metric = METRICS[value["metric"]]
    documents = value["documents"]
    counts = tuple(_counts(system, own, len(metric.columns)) for system, own in value["sentence_counts"].items())
    n_sentences = {own.n_sentences for own in counts} | ({len(documents)} if documents else set())
    if len(n_sentences) != 1:
        raise ValueError("systems with different numbers of sentences")
    return SavedScores(
        name=name,
        label=label,
        metric=metric,
        options=MetricOptions(**value["metric_options"]),
        signature=Signature(str(value["made"]["what"]), dict(value["made"]["options"])),
        counts=counts,
        documents=tuple(documents) if documents else None,
        version=str(value["grater"]),
    )


def _counts(system: str, own: Any, n_columns: int) -> SentenceCounts:
    cells, n_rows = np.array(own["cells"]), np.array(own["rows"], np.int64)
    if (
        cells.ndim != 3
        or cells.shape[0] != len(n_rows)
        or cells.shape[2] != n_columns
        or cells.dtype.kind not in "if"
    ):
        raise ValueError("counts of another shape")
    by_type = {name: _dense(rows, len(n_rows), n_columns) for name, rows in own["by_type"].items()}
    return SentenceCounts(system, cells, n_rows, tuple(own["references"]), by_type)


def _dense(rows: Sequence[Sequence[int]], n_sentences: int, n_columns: int) -> Ints:
    dense = np.zeros((n_sentences, n_columns), np.int64)
    for place, *numbers in rows:
        dense[place] = numbers
    return dense


def compare_saved(saved: Sequence[SavedScores], chance: Resampling) -> Scores:
    """All systems of some saved results in one table, tested in pairs."""
    first, *others = saved
    for other in others:
        _require_same(first, other)
    counts = _named_apart(saved)
    names = [own.system for own in counts]
    if chance.baseline and chance.baseline not in names:
        raise UsageError(f"expected the baseline to be one of {', '.join(names)}, found {chance.baseline!r}")
    made = {name: option for one in saved for name, option in one.signature.options.items() if name not in DRAWN}
    units = replace(chance, cluster="document" if first.documents else "sentence")
    signature = replace(first.signature, options=made)
    return compare_counts(
        first.metric, counts, signature, options=first.options, chance=units, documents=first.documents
    )


def version_notes(saved: Sequence[SavedScores]) -> tuple[str, ...]:
    """A warning where the counts were made by different versions."""
    versions = {one.name: one.version for one in saved}
    if len(set(versions.values())) < 2:
        return ()
    makers = ", ".join(f"{name} by {version}" for name, version in versions.items())
    return (f"counted by different versions of grater: {makers}",)


def _require_same(first: SavedScores, other: SavedScores) -> None:
    ours, theirs = _how(first), _how(other)
    shared = ours.keys() & theirs.keys() if "engine" in ours.keys() ^ theirs.keys() else ours.keys() | theirs.keys()
    differing = [name for name in sorted(shared) if ours.get(name) != theirs.get(name)]
    if not differing:
        return
    if "measure" in differing:
        why = f"its measure is {theirs['measure']}, not {ours['measure']}"
    elif "reference" in differing or "documents" in differing:
        why = "it was scored on other sentences or references, so nothing can be paired"
    else:
        name = differing[0]
        why = f"{name} is {theirs.get(name, 'not set')} here and {ours.get(name, 'not set')} there"
    raise UsageError(f"{other.name}: cannot be compared with {first.name}: {why}")


def _how(saved: SavedScores) -> dict[str, str]:
    options = {name: value for name, value in saved.signature.options.items() if name not in DRAWN}
    documents = {"documents": "\n".join(saved.documents)} if saved.documents else {}
    return {"measure": saved.signature.what, **options, **documents}


def _named_apart(saved: Sequence[SavedScores]) -> list[SentenceCounts]:
    times: Mapping[str, int] = Counter(own.system for one in saved for own in one.counts)
    return [
        replace(own, system=f"{one.label}:{own.system}") if times[own.system] > 1 else own
        for one in saved
        for own in one.counts
    ]
