"""Scores of many systems on the same sentences, with confidence intervals, paired tests and rank groups.

Every score has an interval from one bootstrap that all systems share (`grater.uncertainty.bootstrap`): over
sentences, or over documents where sentences of one writer stand or fall together.  The annotator that a sentence was
held against is not chosen anew in a resample.  Systems are ranked by the metric's last score (F or GLEU) and told
apart by a paired test at 95 % after Holm's correction (`grater.uncertainty.paired`); those that are not told apart
share a letter.  Tables are in per cent with two decimals, as the field prints these scores; the best of a column is
not marked, since the rank groups say more.

For GLEU the intervals cover the choice of reference too; the randomisation test works on the mean over references.
polars is imported by what makes frames only: it takes longer than scoring does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.measure.corrections.metrics import Metric, MetricOptions, SentenceCounts
from grater.measure.corrections.systems import Hypothesis, References
from grater.model import Interval
from grater.result import FLAT, HIDDEN, Data, Estimate, Result, in_json
from grater.sheet import Sheet, count, counted, p_value, percent, undefined_notes
from grater.signature import Signature, require_same
from grater.uncertainty.bootstrap import Design, by_document, by_sentence, resampled_sums, swapped_sums
from grater.uncertainty.intervals import LEVEL, Numbers, percentile_interval
from grater.uncertainty.paired import Drawn, PairTest, Test, paired_tests, rank_groups, resamples_needed
from grater.uncertainty.population import Scope
from grater.uncertainty.rng import generator

if TYPE_CHECKING:
    import polars as pl

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
