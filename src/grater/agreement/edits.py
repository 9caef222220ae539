"""Limits for the agreement of annotators, with essays as what was drawn.

Tokens of an essay are not independent: one writer, one topic, one mood of the annotator.  So whole essays are
resampled (documents, where M2 sentences know theirs), the same ones for every pair of annotators and every criterion;
the mean over pairs then has its limits too, however much pairs depend on each other.  Limits are expanded percentiles
(`grater.statistics`).  `fce` is the error of Fleiss, Cohen & Everitt 1969 over tokens, as if they were independent:
it is here to reproduce such numbers, and too narrow.

The agreement of all annotators of a corpus, by the three criteria of NUCLE, section 3.

*Identification*: is this token part of an error?  *Classification*: of which category, on tokens that both marked?
*Exact*: of which category, and with what correction?  Each with Cohen's kappa of every pair and their plain mean, as
in the paper's Table 3, and with coefficients over all annotators; there a token is judged by those who read its
essay, and for the last two criteria by those who marked it.  Pairs that share no essay, or no marked token, have no
kappa: they are left out of the mean and counted.

How far annotators of a corpus agree: whether a token is wrong, in what way, and what should stand there.

Dahlmeier, Ng & Wu 2013 (NUCLE), section 3; docs/raters-needed.md has our choices and numbers.

The agreement of annotators as JSON: the three criteria, each shaped like the agreement of judgments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from grater.agreement.coefficients import NAMES, coefficient_json
from grater.agreement.edit_marks import (
    CRITERIA,
    ERROR,
    OK,
    Cells,
    Criterion,
    EditMarks,
    Judged,
    SeveralMarks,
    Statistic,
    all_statistic,
    cells,
    edit_marks,
    judged,
    pair_statistic,
)
from grater.agreement.summary import MOST_RATERS
from grater.corpora.check.rules import Coverage
from grater.errors import UsageError
from grater.model import Essay, Interval, Json
from grater.result import encode
from grater.rng import generator
from grater.signature import Signature
from grater.statistics.bootstrap import MOST_WEIGHTS
from grater.statistics.intervals import RESAMPLES, Numbers, expanded_tail

ONE_CLUSTER = "a single essay cannot be resampled"
NO_SPREAD = "every resample of essays gives the same value, so that it says nothing of its certainty"


def resample_essays(
    statistics: Sequence[Statistic], n_clusters: int, *, rng: np.random.Generator, n_resamples: int
) -> list[Numbers]:
    """For each statistic its scores in every resample, a row each."""
    widest = max([n_clusters, *(statistic.rows.shape[1] for statistic in statistics)])
    blocks: list[list[Numbers]] = [[np.zeros((0, len(statistic.names)))] for statistic in statistics]
    for weights in _weights(n_clusters, n_resamples, max(1, 4 * MOST_WEIGHTS // widest), rng):
        for block, statistic in zip(blocks, statistics, strict=True):
            block.append(statistic.score((statistic.rows.T @ weights.T).T))
    return [np.concatenate(block) for block in blocks]


def _weights(n_clusters: int, n_resamples: int, n_at_once: int, rng: np.random.Generator) -> Iterator[Numbers]:
    """How often each cluster is drawn, a row for each resample."""
    for start in range(0, n_resamples if n_clusters else 0, n_at_once):
        n_now = min(n_at_once, n_resamples - start)
        drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_now)
        yield drawn.astype(np.float64)


def essay_interval(value: float, drawn: Numbers, n_clusters: int, *, undefined: str, level: float) -> Interval:
    """A value with the limits that its draws give."""
    if isnan(value):
        return Interval(nan, nan, nan, undefined)
    drawn = drawn[~np.isnan(drawn)]
    if n_clusters < 2 or not drawn.size:
        return Interval(value, nan, nan, ONE_CLUSTER if n_clusters < 2 else "no resample gives a value")
    if np.ptp(drawn) < 1e-12:
        return Interval(value, nan, nan, NO_SPREAD)
    tail = expanded_tail(n_clusters, level=level)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(value, min(float(low), value), max(float(high), value))


def fce_interval(found: Cells, *, undefined: str, level: float) -> Interval:
    """Cohen's kappa with limits as if tokens were independent (Fleiss, Cohen & Everitt 1969, eq. 13)."""
    statistic = pair_statistic(found, int(found.cluster.max(initial=0)) + 1)
    observed, value = map(float, statistic.score(statistic.sums))
    if isnan(value):
        return Interval(nan, nan, nan, undefined)
    error = sqrt(float(found.times @ _influence(found, observed) ** 2))
    if error == 0:
        return Interval(value, nan, nan, "the two never disagree, so that the error is 0; use the bootstrap")
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Interval(value, max(-1.0, value - half), min(1.0, value + half))


def _influence(found: Cells, observed: float) -> Numbers:
    """What one more token in each cell would do to kappa, at first order."""
    n_labels = int(max(found.first.max(), found.second.max())) + 1
    rows = np.bincount(found.first, weights=found.times, minlength=n_labels)
    columns = np.bincount(found.second, weights=found.times, minlength=n_labels)
    n = found.n
    expected = float(rows @ columns) / n**2
    by_observed = ((found.first == found.second) - observed) / n
    by_expected = (columns[found.first] + rows[found.second]) / n**2 - 2 * expected / n
    slope: Numbers = (by_observed * (1 - expected) - (1 - observed) * by_expected) / (1 - expected) ** 2
    return slope


EditInterval: TypeAlias = Literal["essays", "fce"]

NO_ESSAY = "the two annotators share no essay"
NO_TOKEN = "the two annotators marked no token in common"
ONE_LABEL = "both annotators used one label only, so that chance alone agrees as well"
NOTHING = "no token was judged by two annotators"
ONE_LABEL_OF_ALL = "all judgments are of one label, so that chance alone agrees as well"
NO_KAPPA = "no pair of annotators has a kappa"
FEW_ESSAYS = 20
SENTENCES = (
    "M2 does not say which document a sentence is from: sentences were resampled, and limits are too narrow where "
    "those of one document are alike; name the documents with --documents"
)


@dataclass(frozen=True, slots=True)
class EditOptions:
    """How to count and how to compute; named in the signature."""

    gaps: bool = False
    several: SeveralMarks = "joined"
    interval: EditInterval = "essays"
    n_resamples: int = RESAMPLES
    level: float = 0.95
    seed: int = 0
    most_raters: int = MOST_RATERS

    def signature(self, cluster: str) -> Signature:
        counting = {"unit": "token+gap" if self.gaps else "token", "insertion": "gap" if self.gaps else "next-token"}
        rules = {"several-marks": self.several, "normalised": "grow-trim-project", "given": "both-marked"}
        limits = {"pairs": self.interval, "all": "bootstrap", "cluster": cluster, "level": f"{self.level:g}"}
        chance = {"resamples": str(self.n_resamples), "seed": str(self.seed)}
        return Signature("edit-agreement", {**counting, **rules, **limits, **chance})


@dataclass(frozen=True, slots=True, eq=False)
class PairOfAnnotators:
    """Two annotators on the units that count for a criterion; `cells` are what each said."""

    raters: tuple[str, str]
    n: int
    observed: Interval
    kappa: Interval
    cells: Cells


@dataclass(frozen=True, slots=True, eq=False)
class EditAgreement:
    """Agreement by one criterion; `n_left_out` units have fewer than two judgments."""

    criterion: Criterion
    labels: tuple[str, ...]
    n_units: int
    n_left_out: int
    n_judgments: int
    coefficients: dict[str, Interval]
    pairs: tuple[PairOfAnnotators, ...]
    mean_kappa: Interval
    n_undefined: int


@dataclass(frozen=True, slots=True, eq=False)
class CorpusAgreement:
    """The three criteria, and what they were counted on."""

    raters: tuple[str, ...]
    unit: str
    n_essays: int
    n_shared: int
    n_clusters: int
    n_units: int
    criteria: dict[Criterion, EditAgreement]
    signature: Signature
    no_pairs: str = ""
    warnings: tuple[str, ...] = ()


def edit_agreement(essays: Iterable[Essay], options: EditOptions | None = None) -> CorpusAgreement:
    """The agreement of the annotators of merged essays (`corpora.merge`)."""
    options = options or EditOptions()
    coverage = Coverage()
    marks = edit_marks(_seen(essays, coverage), gaps=options.gaps, several=options.several)
    shared = marks.reads.sum(axis=1) > 1
    if not shared.any():
        raise UsageError(
            f"expected essays that two annotators read, found none (essays: {len(marks.reads):,}, annotators: "
            f"{len(marks.raters)}); give the files of both, or a file with several annotators"
        )
    cluster = "document" if marks.knows_documents else "sentence"
    many = len(marks.raters) > options.most_raters
    return CorpusAgreement(
        marks.raters,
        marks.unit,
        len(shared),
        int(shared.sum()),
        len(np.unique(marks.cluster[shared])),
        int(marks.n_units[shared].sum()),
        {criterion: _criterion(marks, criterion, options, with_pairs=not many) for criterion in CRITERIA},
        options.signature(cluster),
        f"{len(marks.raters)} annotators, more than {options.most_raters}" if many else "",
        tuple(_warnings(marks, coverage)),
    )


def _seen(essays: Iterable[Essay], coverage: Coverage) -> Iterable[Essay]:
    for essay in essays:
        coverage.see(essay)
        yield essay


def _warnings(marks: EditMarks, coverage: Coverage) -> Iterable[str]:
    yield from (finding.message for finding in coverage.findings())
    if not marks.knows_documents:
        yield SENTENCES
    n_clusters = len(np.unique(marks.cluster[marks.reads.sum(axis=1) > 1]))
    if n_clusters < FEW_ESSAYS:
        yield f"only {n_clusters} essays were read by two annotators: limits are rough below {FEW_ESSAYS}"


def _criterion(marks: EditMarks, criterion: Criterion, options: EditOptions, *, with_pairs: bool) -> EditAgreement:
    places = list(combinations(range(len(marks.raters)), 2)) if with_pairs else []
    tables = [cells(marks, first, second, criterion) for first, second in places]
    together = judged(marks, criterion)
    statistics = [all_statistic(together, marks.n_clusters)]
    statistics += [pair_statistic(table, marks.n_clusters) for table in tables]
    # The same stream for every criterion: they are resampled together.
    rng = generator(options.seed, "agreement", "edits")
    drawn = resample_essays(statistics, marks.n_clusters, rng=rng, n_resamples=options.n_resamples)
    scores = [statistic.score(statistic.sums) for statistic in statistics]
    pairs = [
        _pair(marks, place, table, score, draw, options)
        for place, table, score, draw in zip(places, tables, scores[1:], drawn[1:], strict=True)
    ]
    mean, n_undefined = _mean(pairs, drawn[1:], options)
    return EditAgreement(
        criterion,
        _label_names(marks, criterion),
        together.n,
        together.n_left_out,
        together.n_judgments,
        _overall(together, scores[0], drawn[0], options),
        tuple(pairs),
        mean,
        n_undefined,
    )


def _label_names(marks: EditMarks, criterion: Criterion) -> tuple[str, ...]:
    if criterion == "identification":
        return OK, ERROR
    return marks.tags if criterion == "classification" else marks.exacts


def _overall(together: Judged, scores: Numbers, drawn: Numbers, options: EditOptions) -> dict[str, Interval]:
    n_clusters = len(np.unique(together.cluster))
    why = ONE_LABEL_OF_ALL if together.n else NOTHING
    return {
        name: essay_interval(float(scores[column]), drawn[:, column], n_clusters, undefined=why, level=options.level)
        for column, name in enumerate(NAMES)
    }


def _pair(
    marks: EditMarks, place: tuple[int, int], table: Cells, scores: Numbers, drawn: Numbers, options: EditOptions
) -> PairOfAnnotators:
    first, second = place
    share_essay = bool((marks.reads[:, first] & marks.reads[:, second]).any())
    why = NO_ESSAY if not share_essay else ONE_LABEL if table.n else NO_TOKEN
    n_clusters = len(np.unique(table.cluster))
    observed, kappa = (
        essay_interval(float(scores[column]), drawn[:, column], n_clusters, undefined=why, level=options.level)
        for column in range(2)
    )
    if options.interval == "fce":
        kappa = fce_interval(table, undefined=why, level=options.level)
    return PairOfAnnotators((marks.raters[first], marks.raters[second]), table.n, observed, kappa, table)


def mean_of(kappas: Sequence[float]) -> tuple[float, int]:
    """The plain mean over pairs, as in NUCLE Table 3, and how many pairs have no kappa and are left out."""
    defined = [kappa for kappa in kappas if not isnan(kappa)]
    return (sum(defined) / len(defined) if defined else nan), len(kappas) - len(defined)


def _mean(pairs: Sequence[PairOfAnnotators], drawn: Sequence[Numbers], options: EditOptions) -> tuple[Interval, int]:
    kappas = [pair.kappa.value for pair in pairs]
    value, n_undefined = mean_of(kappas)
    if isnan(value):
        return Interval(nan, nan, nan, NO_KAPPA), n_undefined
    of_pairs = np.stack([draw[:, 1] for draw, kappa in zip(drawn, kappas, strict=True) if not isnan(kappa)])
    n_defined = (~np.isnan(of_pairs)).sum(axis=0)
    means = np.nansum(of_pairs, axis=0)[n_defined > 0] / n_defined[n_defined > 0]
    clusters = np.unique(np.concatenate([pair.cells.cluster for pair in pairs]))
    return essay_interval(value, means, len(clusters), undefined=NO_KAPPA, level=options.level), n_undefined


MOST_LABELS = 100
"""Labels whose table of two annotators is written out; a tag with its correction is one of thousands."""


def corpus_json(found: CorpusAgreement) -> dict[str, Json]:
    """Top level of interfaces.md, with what was counted beside it."""
    return {
        "unit": found.unit,
        "essays": found.n_essays,
        "shared_essays": found.n_shared,
        "units": found.n_units,
        "raters": list(found.raters),
        **{name: _as_json_criterion(found, each) for name, each in found.criteria.items()},
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def _as_json_criterion(found: CorpusAgreement, each: EditAgreement) -> dict[str, Json]:
    coefficients = dict(each.coefficients)
    observed = coefficients.pop("observed")
    return {
        "items": each.n_units + each.n_left_out,
        "compared": each.n_units,
        "left_out": each.n_left_out,
        "judgments": each.n_judgments,
        "raters": list(found.raters),
        "labels": list(each.labels),
        "observed": encode(observed.value),
        "observed_interval": observed.as_json(),
        "pairs": [_as_json_pair(pair, each.labels) for pair in each.pairs],
        **({"pairs_reason": found.no_pairs} if found.no_pairs else {}),
        "mean_kappa": coefficient_json(each.mean_kappa),
        "undefined_pairs": each.n_undefined,
        **{name: coefficient_json(interval) for name, interval in coefficients.items()},
        "warnings": [],
        "signature": str(found.signature),
    }


def _as_json_pair(pair: PairOfAnnotators, labels: tuple[str, ...]) -> dict[str, Json]:
    return {
        "raters": list(pair.raters),
        "n": pair.n,
        "observed": encode(pair.observed.value),
        "observed_interval": pair.observed.as_json(),
        "kappa": coefficient_json(pair.kappa),
        **({"confusion": _confusion(pair, len(labels))} if len(labels) <= MOST_LABELS else {}),
    }


def _confusion(pair: PairOfAnnotators, n_labels: int) -> list[list[int]]:
    table = np.zeros((n_labels, n_labels), np.int64)
    np.add.at(table, (pair.cells.first, pair.cells.second), pair.cells.times)
    rows: list[list[int]] = table.tolist()
    return rows
