"""The agreement of all annotators of a corpus: whether a token is wrong, in what way, and what should stand there.

Dahlmeier, Ng & Wu 2013 (NUCLE), section 3; docs/raters-needed.md has our choices and numbers.  Three criteria:
*Identification*: is this token part of an error?  *Classification*: of which category, on tokens that both marked?
*Exact*: of which category, and with what correction?  Each with Cohen's kappa of every pair and their plain mean, as
in the paper's Table 3, and with coefficients over all annotators; there a token is judged by those who read its
essay, and for the last two criteria by those who marked it.  Pairs that share no essay, or no marked token, have no
kappa: they are left out of the mean and counted.

Tokens of an essay are not independent: one writer, one topic, one mood of the annotator.  So whole essays are
resampled (documents, where M2 sentences know theirs), the same ones for every pair of annotators and every
criterion; the mean over pairs then has its interval too, however much pairs depend on each other.  Intervals are
expanded percentiles (`grater.uncertainty.intervals`), below twenty essays Student's t
(`grater.uncertainty.bca`).  `fce` is the error of Fleiss, Cohen & Everitt 1969 over tokens, as if they were
independent: it is here to reproduce such numbers, and too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import isnan, nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from grater.corpora.check import Coverage
from grater.errors import UsageError
from grater.measure.agreement.coefficients import (
    NAMES,
    band_words,
    coefficient_json,
    coefficient_title,
    coefficients_json,
    observed_json,
)
from grater.measure.agreement.edit_marks import (
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
from grater.measure.agreement.summary import BANDS_NOTE, MOST_RATERS, coefficient_frame, kappa_cells
from grater.model import Essay, Interval, Json
from grater.result import HIDDEN, Data, Estimate, Result, encode, in_json, key
from grater.sheet import Sheet, count, counted, interval, undefined_notes, with_notes
from grater.signature import Signature
from grater.uncertainty.bca import group_interval
from grater.uncertainty.bootstrap import MOST_WEIGHTS
from grater.uncertainty.intervals import LEVEL, RESAMPLES, Ints, Numbers, normal_interval, percentile_interval
from grater.uncertainty.population import FEW_UNITS, Scope, variance_ratio
from grater.uncertainty.rng import generator

EditInterval: TypeAlias = Literal["essays", "fce"]

NO_ESSAY = "the two annotators share no essay"
NO_TOKEN = "the two annotators marked no token in common"
ONE_LABEL = "both annotators used one label only, so chance alone would agree as often"
NOTHING = "no token was judged by two annotators"
ONE_LABEL_OF_ALL = "all judgments are of one label, so chance alone would agree as often"
NO_KAPPA = "no pair of annotators has a kappa"
ONE_CLUSTER = "a single essay cannot be resampled"
NO_SPREAD = "every resample of essays gives the same value, so it says nothing about certainty"
SENTENCES = (
    "M2 does not say which document a sentence is from: sentences were resampled, and intervals are too narrow where "
    "those of one document are alike; name the documents"
)
MOST_ROWS = 60
MOST_LABELS = 100
"""Labels whose table of two annotators is written out; a tag with its correction is one of thousands."""


@dataclass(frozen=True, slots=True)
class EditOptions:
    """How to count and how to compute; named in the signature."""

    gaps: bool = False
    several: SeveralMarks = "joined"
    interval: EditInterval = "essays"
    n_resamples: int = RESAMPLES
    level: float = LEVEL
    seed: int = 0
    most_raters: int = MOST_RATERS

    def signature(self, cluster: str) -> Signature:
        counting = {"unit": "token+gap" if self.gaps else "token", "insertion": "gap" if self.gaps else "next-token"}
        rules = {"several-marks": self.several, "normalised": "grow-trim-project", "given": "both-marked"}
        intervals = {"pairs": self.interval, "all": "bootstrap", "cluster": cluster, "level": f"{self.level:g}"}
        chance = {"resamples": str(self.n_resamples), "seed": str(self.seed)}
        return Signature("edit-agreement", {**counting, **rules, **intervals, **chance})


@dataclass(frozen=True, slots=True, eq=False)
class PairOfAnnotators(Data):
    """Two annotators on the units that count for a criterion; `cells` are what each said."""

    raters: tuple[str, str]
    n: int
    observed: Interval = field(metadata=key(flat=True, write=observed_json))
    kappa: Interval = field(metadata=key(write=coefficient_json))
    cells: Cells = field(metadata=HIDDEN)

    @property
    def name(self) -> str:
        return " – ".join(self.raters)

    def confusion(self, n_labels: int) -> Ints:
        """How often each label of the first annotator meets each of the second."""
        table = np.zeros((n_labels, n_labels), np.int64)
        np.add.at(table, (self.cells.first, self.cells.second), self.cells.times)
        return table


@dataclass(frozen=True, slots=True, eq=False)
class EditAgreement(Data):
    """Agreement by one criterion; `n_left_out` units have fewer than two judgments."""

    criterion: Criterion = field(metadata=HIDDEN)
    labels: tuple[str, ...]
    n_units: int = field(metadata=key("compared"))
    n_left_out: int
    n_judgments: int
    coefficients: dict[str, Interval] = field(metadata=key(flat=True, write=coefficients_json))
    pairs: tuple[PairOfAnnotators, ...] = field(metadata=HIDDEN)
    mean_kappa: Interval = field(metadata=key(write=coefficient_json))
    n_undefined: int = field(metadata=key("undefined_pairs"))

    @property
    @in_json("items")
    def n_all(self) -> int:
        return self.n_units + self.n_left_out

    @property
    @in_json("pairs")
    def _pairs(self) -> list[dict[str, Json]]:
        n = len(self.labels)
        tables = [{"confusion": pair.confusion(n).tolist()} if n <= MOST_LABELS else {} for pair in self.pairs]
        return [{**pair.to_dict(), **table} for pair, table in zip(self.pairs, tables, strict=True)]

    def estimates(self) -> Iterator[Estimate]:
        """Every number, by criterion, raters, coefficient and units."""
        rows = [("all", name, self.n_units, value) for name, value in self.coefficients.items()]
        rows += [("mean of pairs", "kappa", self.n_units, self.mean_kappa)] if self.pairs else []
        for pair in self.pairs:
            rows += [(pair.name, "observed", pair.n, pair.observed), (pair.name, "kappa", pair.n, pair.kappa)]
        for raters, name, n, value in rows:
            yield {"criterion": self.criterion, "raters": raters, "coefficient": name, "units": n}, value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorpusAgreement(Result):
    """The three criteria, and what they were counted on."""

    raters: tuple[str, ...]
    unit: str
    n_essays: int
    n_shared: int = field(metadata=key("shared_essays"))
    n_clusters: int = field(metadata=HIDDEN)
    n_units: int
    criteria: dict[Criterion, EditAgreement] = field(metadata=HIDDEN)
    signature: Signature
    scope: Scope = field(metadata=key("interval"))
    no_pairs: str = field(default="", metadata=HIDDEN)
    warnings: tuple[str, ...] = ()

    @property
    @in_json(flat=True)
    def _criteria(self) -> dict[str, Json]:
        """The three criteria, each shaped like the agreement of judgments."""
        reason = {"pairs_reason": self.no_pairs} if self.no_pairs else {}
        shared = {"raters": self.raters, **reason, "warnings": (), "signature": self.signature}
        return {name: {**criterion.to_dict(), **encode(shared)} for name, criterion in self.criteria.items()}

    def to_frame(self) -> pl.DataFrame:
        """Columns criterion, raters, coefficient, units, value, low, high, band."""
        return coefficient_frame(self.estimates())

    def estimates(self) -> Iterator[Estimate]:
        return chain.from_iterable(criterion.estimates() for criterion in self.criteria.values())

    def sheets(self) -> list[Sheet]:
        tables = [_criteria_sheet(self)]
        if len(self.raters) > 2 and not self.no_pairs:
            tables.append(_pairs_sheet(self))
        return with_notes(tables, self._notes(), str(self.signature))

    def _notes(self) -> Iterator[str]:
        """What a reader must know to read the numbers right."""
        yield (
            f"Counted in {self.unit}s of the {self.n_shared:,} of {self.n_essays:,} essays that at least two "
            "annotators read; classification and exact agreement on those that both marked."
        )
        if self.no_pairs:
            yield f"Pairs are not compared: {self.no_pairs}."
        for name, criterion in self.criteria.items():
            if criterion.n_undefined:
                n_pairs = len(criterion.pairs)
                yield f"{criterion.n_undefined:,} of {n_pairs:,} pairs have no {name} kappa and no part in its mean."
        yield from undefined_notes(value for _, value in self.estimates())
        yield self.scope.sentence
        yield BANDS_NOTE


def edit_agreement(essays: Iterable[Essay], options: EditOptions | None = None) -> CorpusAgreement:
    """The agreement of the annotators of merged essays (`corpora.merge`)."""
    options = options or EditOptions()
    coverage = Coverage()
    marks = edit_marks(_seen(essays, coverage), gaps=options.gaps, several=options.several)
    is_shared = marks.reads.sum(axis=1) > 1
    if not is_shared.any():
        raise UsageError(
            f"expected essays that two annotators read, found none (essays: {len(marks.reads):,}, annotators: "
            f"{len(marks.raters)}); give the files of both, or a file with several annotators"
        )
    too_many = len(marks.raters) > options.most_raters
    n_clusters = len(np.unique(marks.cluster[is_shared]))
    scope = Scope(
        unit="document" if marks.knows_documents else "sentence",
        n_units=n_clusters,
        design_effect=_design_effect(judged(marks, "identification")),
        level=options.level,
    )
    return CorpusAgreement(
        raters=marks.raters,
        unit=marks.unit,
        n_essays=len(is_shared),
        n_shared=int(is_shared.sum()),
        n_clusters=n_clusters,
        n_units=int(marks.n_units[is_shared].sum()),
        criteria={name: _criterion(marks, name, options, with_pairs=not too_many) for name in CRITERIA},
        signature=options.signature("document" if marks.knows_documents else "sentence"),
        no_pairs=f"{len(marks.raters)} annotators, more than {options.most_raters}" if too_many else "",
        scope=scope,
        warnings=tuple(_warnings(marks, coverage, scope)),
    )


def _design_effect(together: Judged) -> float:
    """That of the observed agreement on identification, against tokens taken as independent."""
    squares = np.bincount(together.unit, weights=together.count.astype(np.float64) ** 2, minlength=len(together.size))
    size = together.size.astype(np.float64)
    agreeing = (squares - size) / (size * (size - 1))
    apart = agreeing - float(together.times @ agreeing) / max(1, together.n)
    cluster = np.unique(together.cluster, return_inverse=True)[1]
    of_clusters = np.bincount(cluster, weights=together.times * apart).astype(np.float64)
    return variance_ratio(of_clusters, float(together.times @ apart**2), n_items=together.n)


def _seen(essays: Iterable[Essay], coverage: Coverage) -> Iterator[Essay]:
    for essay in essays:
        coverage.see(essay)
        yield essay


def _warnings(marks: EditMarks, coverage: Coverage, scope: Scope) -> Iterator[str]:
    yield from (finding.message for finding in coverage.findings())
    if not marks.knows_documents:
        yield SENTENCES
    yield from scope.warnings


def _criterion(marks: EditMarks, criterion: Criterion, options: EditOptions, *, with_pairs: bool) -> EditAgreement:
    raters = list(combinations(range(len(marks.raters)), 2)) if with_pairs else []
    tables = [cells(marks, first, second, criterion) for first, second in raters]
    together = judged(marks, criterion)
    statistics = [all_statistic(together, marks.n_clusters)]
    statistics += [pair_statistic(table, marks.n_clusters) for table in tables]
    # The same stream for every criterion: they are resampled together.
    rng = generator(options.seed, "agreement", "edits")
    draws = resample_essays(statistics, marks.n_clusters, rng=rng, n_resamples=options.n_resamples)
    scores = [statistic.score(statistic.sums) for statistic in statistics]
    pairs = [
        _pair(marks, pair, table, score, drawn, options)
        for pair, table, score, drawn in zip(raters, tables, scores[1:], draws[1:], strict=True)
    ]
    mean, n_undefined = _mean(pairs, draws[1:], options)
    return EditAgreement(
        criterion=criterion,
        labels=_label_names(marks, criterion),
        n_units=together.n,
        n_left_out=together.n_left_out,
        n_judgments=together.n_judgments,
        coefficients=_overall(together, scores[0], draws[0], options),
        pairs=tuple(pairs),
        mean_kappa=mean,
        n_undefined=n_undefined,
    )


def _label_names(marks: EditMarks, criterion: Criterion) -> tuple[str, ...]:
    if criterion == "identification":
        return OK, ERROR
    return marks.tags if criterion == "classification" else marks.exacts


def _overall(together: Judged, scores: Numbers, draws: Numbers, options: EditOptions) -> dict[str, Interval]:
    n_clusters = len(np.unique(together.cluster))
    why = ONE_LABEL_OF_ALL if together.n else NOTHING
    return {
        name: essay_interval(float(scores[column]), draws[:, column], n_clusters, undefined=why, level=options.level)
        for column, name in enumerate(NAMES)
    }


def _pair(
    marks: EditMarks, pair: tuple[int, int], table: Cells, scores: Numbers, draws: Numbers, options: EditOptions
) -> PairOfAnnotators:
    first, second = pair
    share_essay = bool((marks.reads[:, first] & marks.reads[:, second]).any())
    why = NO_ESSAY if not share_essay else ONE_LABEL if table.n else NO_TOKEN
    n_clusters = len(np.unique(table.cluster))
    observed, kappa = (
        essay_interval(float(scores[column]), draws[:, column], n_clusters, undefined=why, level=options.level)
        for column in range(2)
    )
    if options.interval == "fce":
        kappa = fce_interval(table, undefined=why, level=options.level)
    return PairOfAnnotators(
        raters=(marks.raters[first], marks.raters[second]), n=table.n, observed=observed, kappa=kappa, cells=table
    )


def mean_of(kappas: Sequence[float]) -> tuple[float, int]:
    """The plain mean over pairs, as in NUCLE Table 3, and the number of pairs that have no kappa and are left out."""
    defined = [kappa for kappa in kappas if not isnan(kappa)]
    return (sum(defined) / len(defined) if defined else nan), len(kappas) - len(defined)


def _mean(pairs: Sequence[PairOfAnnotators], draws: Sequence[Numbers], options: EditOptions) -> tuple[Interval, int]:
    kappas = [pair.kappa.value for pair in pairs]
    value, n_undefined = mean_of(kappas)
    if isnan(value):
        return Interval(nan, nan, nan, NO_KAPPA), n_undefined
    of_pairs = np.stack([drawn[:, 1] for drawn, kappa in zip(draws, kappas, strict=True) if not isnan(kappa)])
    n_defined = (~np.isnan(of_pairs)).sum(axis=0)
    means = np.nansum(of_pairs, axis=0)[n_defined > 0] / n_defined[n_defined > 0]
    clusters = np.unique(np.concatenate([pair.cells.cluster for pair in pairs]))
    return essay_interval(value, means, len(clusters), undefined=NO_KAPPA, level=options.level), n_undefined


# Intervals, with essays as what was drawn


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
    """The number of times that each cluster is drawn, a row for each resample."""
    for start in range(0, n_resamples if n_clusters else 0, n_at_once):
        n_now = min(n_at_once, n_resamples - start)
        drawn = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters), size=n_now)
        yield drawn.astype(np.float64)


def essay_interval(value: float, draws: Numbers, n_clusters: int, *, undefined: str, level: float) -> Interval:
    """A value with the interval that its draws give."""
    if isnan(value):
        return Interval(nan, nan, nan, undefined)
    draws = draws[~np.isnan(draws)]
    if n_clusters >= 2 and not draws.size:
        return Interval(value, nan, nan, "no resample gives a value")
    if n_clusters >= 2 and np.ptp(draws) < 1e-12:
        return Interval(value, nan, nan, NO_SPREAD)
    if 2 <= n_clusters < FEW_UNITS:
        return group_interval(value, draws, n_units=n_clusters, level=level)
    return percentile_interval(value, draws, n_units=max(1, n_clusters), level=level, one_unit=ONE_CLUSTER)


def fce_interval(table: Cells, *, undefined: str, level: float) -> Interval:
    """Cohen's kappa with an interval as if tokens were independent (Fleiss, Cohen & Everitt 1969, eq. 13)."""
    statistic = pair_statistic(table, int(table.cluster.max(initial=0)) + 1)
    observed, value = map(float, statistic.score(statistic.sums))
    if isnan(value):
        return Interval(nan, nan, nan, undefined)
    error = sqrt(float(table.times @ _influence(table, observed) ** 2))
    if error == 0:
        return Interval(value, nan, nan, "the two never disagree, so the standard error is 0; use the bootstrap")
    return normal_interval(value, error, level=level, ends=(-1.0, 1.0))


def _influence(table: Cells, observed: float) -> Numbers:
    """What one more token in each cell would do to kappa, at first order."""
    n_labels = int(max(table.first.max(), table.second.max())) + 1
    rows = np.bincount(table.first, weights=table.times, minlength=n_labels)
    columns = np.bincount(table.second, weights=table.times, minlength=n_labels)
    n = table.n
    expected = float(rows @ columns) / n**2
    by_observed = ((table.first == table.second) - observed) / n
    by_expected = (columns[table.first] + rows[table.second]) / n**2 - 2 * expected / n
    slope: Numbers = (by_observed * (1 - expected) - (1 - observed) * by_expected) / (1 - expected) ** 2
    return slope


# As people see it


def _criteria_sheet(result: CorpusAgreement) -> Sheet:
    """The three criteria one under the other."""
    rows: list[tuple[str, ...]] = []
    rules = []
    for name, criterion in result.criteria.items():
        rules.append(len(rows))
        rows.append((name.capitalize(), count(criterion.n_units), "", ""))
        if criterion.pairs:
            n_defined = len(criterion.pairs) - criterion.n_undefined
            is_one = len(criterion.pairs) == 1
            words = (
                coefficient_title("kappa") if is_one else f"mean {coefficient_title('kappa')} of {n_defined} pairs"
            )
            rows.append(
                (f"  {words}", "", *kappa_cells(criterion.pairs[0].kappa if is_one else criterion.mean_kappa))
            )
        for coefficient, value in criterion.coefficients.items():
            words = "" if coefficient == "observed" else band_words(value)
            rows.append((f"  {coefficient_title(coefficient)}", "", interval(value), words))
    heading = f"Agreement of {counted(len(result.raters), 'annotator')} on {counted(result.n_units, result.unit)}"
    return Sheet(
        heading, ("", f"{result.unit}s", "value", "band"), tuple(rows), name="agreement", rules=tuple(rules[1:])
    )


def _pairs_sheet(result: CorpusAgreement) -> Sheet:
    """NUCLE, Table 3: the three kappas of every pair and their average."""
    pairs = list(zip(*(criterion.pairs for criterion in result.criteria.values()), strict=True))
    rows = [(row[0].name, *(interval(pair.kappa) for pair in row)) for row in pairs[:MOST_ROWS]]
    if len(pairs) > MOST_ROWS:
        rows.append((f"and {len(pairs) - MOST_ROWS:,} more", *[""] * len(result.criteria)))
    mean = ("average", *(interval(criterion.mean_kappa) for criterion in result.criteria.values()))
    columns = ("", *result.criteria)
    return Sheet("Cohen kappa of every pair", columns, (*rows, mean), name="pairs", rules=(len(rows),))
