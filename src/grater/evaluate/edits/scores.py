"""Scores of many systems on the same sentences, with limits, paired tests and rank groups.

Every score has limits from one bootstrap that all systems share (`grater.statistics.bootstrap`): over sentences, or
over documents where sentences of one writer stand or fall together.  The annotator that a sentence was held against
is not chosen anew in a resample.  Systems are ranked by the metric's last score (F or GLEU) and told apart by a
paired test at 95 % after Holm's correction (`compare`); those that are not told apart share a letter (`groups`).

For GLEU the limits cover the choice of reference too; the randomisation test works on the mean over references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.evaluate.edits.metrics import Metric, MetricOptions, SentenceCounts
from grater.evaluate.edits.systems import Hypothesis, References
from grater.model import Interval, Json
from grater.rng import generator
from grater.signature import Signature, require_same
from grater.statistics.bootstrap import Design, by_document, by_sentence, resampled_sums, swapped_sums
from grater.statistics.intervals import LEVEL, Numbers, percentile_interval
from grater.statistics.multiple import rank_groups
from grater.statistics.paired import Drawn, PairTest, Test, paired_tests

Cluster: TypeAlias = Literal["sentence", "document"]

RESAMPLES = 5_000
"""Enough to tell sixteen systems apart, 120 pairs, after Holm's correction."""
TYPE_RESAMPLES = 2_000
"""Resamples for the many scores by type, which nobody tests."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How resampling is done."""

    n_resamples: int = RESAMPLES
    seed: int = 0
    cluster: Cluster = "sentence"
    test: Test = "bootstrap"


@dataclass(frozen=True, slots=True)
class ScoredCounts:
    """Scores by name and the counts they come from, of a system or of one type of its errors."""

    scores: Mapping[str, Interval]
    counts: Mapping[str, float]

    def as_json(self) -> dict[str, Json]:
        return {**{name: score.as_json() for name, score in self.scores.items()}, "counts": dict(self.counts)}


@dataclass(frozen=True, slots=True, eq=False)
class SystemScores:
    """One row of the table; `sentences` are the counts that it all comes from."""

    system: str
    overall: ScoredCounts
    by_type: Mapping[str, ScoredCounts]
    group: str
    sentences: SentenceCounts

    def as_json(self) -> dict[str, Json]:
        by_type = {name: scored.as_json() for name, scored in self.by_type.items()}
        return {"system": self.system, **self.overall.as_json(), "by_type": by_type, "group": self.group}


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """All systems, the best first, the tests between them, and how it was done."""

    metric: str
    headline: str
    systems: tuple[SystemScores, ...]
    pairs: tuple[PairTest, ...]
    signature: Signature

    def as_json(self) -> dict[str, Json]:
        return {
            "metric": self.metric,
            "systems": [each.as_json() for each in self.systems],
            "pairs": [pair.as_json() for pair in self.pairs],
            "signature": str(self.signature),
        }


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
    _require_names_apart([hypothesis.system for hypothesis in hypotheses])
    documents = documents_of(references) if chance.cluster == "document" else None
    counts = metric.count(references, hypotheses, options)
    return compare_counts(
        metric, counts, metric.signature(references, options), options=options, chance=chance, documents=documents
    )


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
    values = np.stack([metric.values(each, options) for each in counts])
    order = sorted(range(len(counts)), key=lambda place: (-values[place, -1], counts[place].system))
    counts, values = [counts[place] for place in order], values[order]
    design = _design(counts[0], documents)
    drawn = _resampled_scores(metric, counts, design, options, chance)
    pairs = _pairs(metric, counts, values, drawn, design, options, chance)
    letters = _letters([each.system for each in counts], pairs, chance.test)
    systems = [
        SystemScores(
            each.system,
            ScoredCounts(_intervals(names, values[place], drawn[:, place], design), _totals(metric, each.expected)),
            _by_type(metric, each, design, options, chance),
            letters[each.system],
            each,
        )
        for place, each in enumerate(counts)
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
            "with documents (grater corpus convert --documents), or resample sentences"
        )
    return [str(document) for document in documents]


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
    return replace(signature, options={**signature.options, **drawn})


def _design(counts: SentenceCounts, documents: Sequence[str] | None) -> Design:
    if documents is not None:
        return by_document(documents, shares=counts.shares)
    return by_sentence(counts.n_sentences, shares=counts.shares)


def _resampled_scores(
    metric: Metric, counts: Sequence[SentenceCounts], design: Design, options: MetricOptions, chance: Resampling
) -> Numbers:
    """(resamples, systems, scores): the same draws for every system."""
    cells = np.concatenate([each.cells for each in counts], axis=2).astype(np.float64)
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
    rows = np.stack([each.expected for each in counts], axis=1)
    n_sentences, n_systems, n_columns = rows.shape
    rng = generator(chance.seed, "score", "randomisation")
    flat = rows.reshape(n_sentences, n_systems * n_columns)
    swapped = swapped_sums(flat, design, n_resamples=chance.n_resamples, rng=rng)
    found = Drawn(
        names=[each.system for each in counts],
        n_units=design.n_units,
        values=values[:, -1],
        drawn=drawn[..., -1],
        sums=rows.sum(axis=0),
        swapped=swapped.reshape(len(swapped), n_systems, n_columns),
    )
    return paired_tests(found, lambda sums: metric.scores(sums, options)[..., -1])


def _letters(ranked: Sequence[str], pairs: Sequence[PairTest], test: Test) -> dict[str, str]:
    return rank_groups(ranked, [(pair.first, pair.second) for pair in pairs if pair.holm[test] <= 1 - LEVEL])


def _intervals(names: Sequence[str], values: Numbers, drawn: Numbers, design: Design) -> dict[str, Interval]:
    return {
        name: percentile_interval(float(values[place]), drawn[:, place], n_units=design.n_units)
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
