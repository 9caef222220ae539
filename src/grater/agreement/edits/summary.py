"""The agreement of all annotators of a corpus, by the three criteria of NUCLE, section 3.

*Identification*: is this token part of an error?  *Classification*: of which category, on tokens that both marked?
*Exact*: of which category, and with what correction?  Each with Cohen's kappa of every pair and their plain mean, as
in the paper's Table 3, and with coefficients over all annotators; there a token is judged by those who read its
essay, and for the last two criteria by those who marked it.  Pairs that share no essay, or no marked token, have no
kappa: they are left out of the mean and counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan
from typing import Literal, TypeAlias

import numpy as np

from grater.agreement.coefficient import Numbers
from grater.agreement.edits.marks import Marks, Several, marks_of
from grater.agreement.edits.resampling import draws, fce_interval, interval
from grater.agreement.edits.sums import (
    CRITERIA,
    ERROR,
    OK,
    Cells,
    Criterion,
    Judged,
    all_statistic,
    cells,
    judged,
    pair_statistic,
)
from grater.agreement.limits import RESAMPLES
from grater.agreement.nominal import OF_ALL
from grater.agreement.summary import MOST_RATERS
from grater.corpora.check.annotators import Coverage
from grater.errors import UsageError
from grater.model import Essay, Interval
from grater.rng import generator
from grater.signature import Signature

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
    several: Several = "joined"
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
    marks = marks_of(_seen(essays, coverage), gaps=options.gaps, several=options.several)
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


def _warnings(marks: Marks, coverage: Coverage) -> Iterable[str]:
    yield from (finding.message for finding in coverage.findings())
    if not marks.knows_documents:
        yield SENTENCES
    n_clusters = len(np.unique(marks.cluster[marks.reads.sum(axis=1) > 1]))
    if n_clusters < FEW_ESSAYS:
        yield f"only {n_clusters} essays were read by two annotators: limits are rough below {FEW_ESSAYS}"


def _criterion(marks: Marks, criterion: Criterion, options: EditOptions, *, with_pairs: bool) -> EditAgreement:
    places = list(combinations(range(len(marks.raters)), 2)) if with_pairs else []
    tables = [cells(marks, first, second, criterion) for first, second in places]
    together = judged(marks, criterion)
    statistics = [all_statistic(together, marks.n_clusters)]
    statistics += [pair_statistic(table, marks.n_clusters) for table in tables]
    # The same stream for every criterion: they are resampled together.
    rng = generator(options.seed, "agreement", "edits")
    drawn = draws(statistics, marks.n_clusters, rng=rng, n_resamples=options.n_resamples)
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


def _label_names(marks: Marks, criterion: Criterion) -> tuple[str, ...]:
    if criterion == "identification":
        return OK, ERROR
    return marks.tags if criterion == "classification" else marks.exacts


def _overall(together: Judged, scores: Numbers, drawn: Numbers, options: EditOptions) -> dict[str, Interval]:
    n_clusters = len(np.unique(together.cluster))
    why = ONE_LABEL_OF_ALL if together.n else NOTHING
    return {
        name: interval(float(scores[column]), drawn[:, column], n_clusters, undefined=why, level=options.level)
        for column, name in enumerate(OF_ALL)
    }


def _pair(
    marks: Marks, place: tuple[int, int], table: Cells, scores: Numbers, drawn: Numbers, options: EditOptions
) -> PairOfAnnotators:
    first, second = place
    share_essay = bool((marks.reads[:, first] & marks.reads[:, second]).any())
    why = NO_ESSAY if not share_essay else ONE_LABEL if table.n else NO_TOKEN
    n_clusters = len(np.unique(table.cluster))
    observed, kappa = (
        interval(float(scores[column]), drawn[:, column], n_clusters, undefined=why, level=options.level)
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
    return interval(value, means, len(clusters), undefined=NO_KAPPA, level=options.level), n_undefined
