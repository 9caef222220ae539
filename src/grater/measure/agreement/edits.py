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
(`grater.uncertainty.bootstrap`).  `fce` is the error of Fleiss, Cohen & Everitt 1969 over tokens, as if they were
independent: it is here to reproduce such numbers, and too narrow.

What every annotator marked on every token, and what each essay adds to the sums behind agreement.

**Marks** are kept only where somebody says something.  NUCLE, section 3: edits are grown, trimmed and projected on
single tokens (`corpora.normalise`).  Where the paper is silent:

- An insertion marks the token after it; with `gaps`, the place between two tokens is a unit of its own, and a text
  of n tokens has n + 1 of these.
- Of the alternatives that one edit offers, the first that changes something speaks for it.
- Several edits of one annotator on one token (2.4 % of the marked tokens of the ten annotators of CoNLL-2014): the
  token is marked once; `joined`, the default, takes the set of its tags, and the set of its tags with corrections, as
  a label of its own (`ArtOrDet+Nn`), so that another annotator agrees only with the same set.  `first` keeps the
  first edit in the order of the file.
- Corrections are compared as tokens, letter by letter.  An error that was found but not corrected has the correction
  `?`, words that are to go have `-NONE-`.

**Sums.**  A coefficient is a function of sums over tokens, and sums over tokens are sums over essays; so an essay is
one row of numbers, and resampling essays is a product of matrices (statistics.md).  Labels may be thousands, so rows
are sparse; their columns are those of `pair_scores` and `margin_scores` in `coefficients.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from math import isnan, nan, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.corpora.check import Coverage
from grater.corpora.normalise import TokenEdit, TokenMark, normalised_edits, project
from grater.corpora.text.tokens import tokens_of
from grater.errors import BadInput, Problem, UsageError
from grater.measure.agreement.coded import in_order
from grater.measure.agreement.coefficients import (
    NAMES,
    PAIR_SCORES,
    band_words,
    coefficient_json,
    coefficient_title,
    coefficients_json,
    margin_scores,
    observed_json,
    pair_scores,
)
from grater.measure.agreement.summary import BANDS_NOTE, MOST_RATERS, coefficient_frame, kappa_cells
from grater.model import DELETE, Essay, Interval, Json
from grater.result import HIDDEN, Data, Estimate, Result, encode, in_json, key
from grater.sheet import Sheet, count, counted, interval, undefined_notes, with_notes
from grater.signature import Signature
from grater.uncertainty.bootstrap import MOST_WEIGHTS, Sums, group_interval
from grater.uncertainty.intervals import (
    FEW_UNITS,
    LEVEL,
    RESAMPLES,
    Ints,
    Numbers,
    Scope,
    generator,
    normal_interval,
    percentile_interval,
    variance_ratio,
)

SeveralMarks: TypeAlias = Literal["joined", "first"]
Labels: TypeAlias = npt.NDArray[np.int32]

UNMARKED = -1
NOT_CORRECTED = "?"


@dataclass(frozen=True, slots=True, eq=False)
class EditMarks:
    """Marked units by annotators, and the number of units in all.

    `tag` and `exact` have a row for each unit that anybody marked and a column for each annotator, `UNMARKED` where
    that one did not; `essay` says where the unit stands.  By essay: `n_units`, who read it (`reads`), and the
    `cluster` that it belongs to, its document where it knows one; `knows_documents` unless M2 sentences do not.
    """

    raters: tuple[str, ...]
    tag: Labels
    exact: Labels
    essay: Ints
    tags: tuple[str, ...]
    exacts: tuple[str, ...]
    n_units: Ints
    reads: npt.NDArray[np.bool_]
    cluster: Ints
    n_clusters: int
    gaps: bool
    knows_documents: bool

    @property
    def unit(self) -> str:
        return "token or gap" if self.gaps else "token"


@dataclass(slots=True)
class _Collected:
    """Rows as they come by, before the annotators and tags are all known."""

    essays: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    rows: list[tuple[int, dict[str, tuple[str, str]]]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    n_lost: int = 0


def edit_marks(essays: Iterable[Essay], *, gaps: bool = False, several: SeveralMarks = "joined") -> EditMarks:
    """The marks of a corpus; essays of several files must have been merged."""
    collected = _Collected()
    for essay in essays:
        if essay.essay_id in collected.ids:
            message = f"expected essay {essay.essay_id!r} once, found it again; merge its annotators first"
            raise BadInput(Problem("corpus", message, essay.line))
        _collect(collected, essay, gaps=gaps, several=several)
    return _marks(collected, gaps=gaps)


def _collect(collected: _Collected, essay: Essay, *, gaps: bool, several: SeveralMarks) -> None:
    texts = [token.of(essay.text) for token in tokens_of(essay)]
    collected.ids.add(essay.essay_id)
    number, document = len(collected.essays), essay.metadata.get("document")
    cluster = document if isinstance(document, str) else essay.essay_id
    collected.n_lost += essay.tokens is not None and not isinstance(document, str)
    readers = tuple(dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)]))
    collected.essays.append((2 * len(texts) + 1 if gaps else len(texts), cluster, readers))
    by_unit: dict[tuple[int, bool], dict[str, list[TokenMark]]] = {}
    for token_edit in _chosen(normalised_edits(essay)):
        for mark in project(token_edit, texts, gaps=gaps):
            by_unit.setdefault((mark.index, mark.is_gap), {}).setdefault(mark.rater, []).append(mark)
    for by_rater in by_unit.values():
        collected.rows.append((number, {rater: _labels(marks, several) for rater, marks in by_rater.items()}))


def _chosen(token_edits: Iterable[TokenEdit]) -> Iterator[TokenEdit]:
    """The first alternative of each edit that changes something."""
    last = None
    for token_edit in token_edits:
        if not token_edit.is_empty and token_edit.edit is not last:
            last = token_edit.edit
            yield token_edit


def _labels(marks: list[TokenMark], several: SeveralMarks) -> tuple[str, str]:
    """What one annotator says of a unit: its tag, and its tag with the correction."""
    if several == "first":
        marks = marks[:1]
    tags = sorted({mark.tag for mark in marks})
    exacts = sorted({f"{mark.tag} → {_correction(mark)}" for mark in marks})
    return "+".join(tags), " + ".join(exacts)


def _correction(mark: TokenMark) -> str:
    return NOT_CORRECTED if mark.correction is None else " ".join(mark.correction) or DELETE


def _marks(collected: _Collected, *, gaps: bool) -> EditMarks:
    raters = _named(annotator for _, _, annotators in collected.essays for annotator in annotators)
    tags = _named(tag for _, by_rater in collected.rows for tag, _ in by_rater.values())
    exacts = _named(exact for _, by_rater in collected.rows for _, exact in by_rater.values())
    clusters = {name: code for code, name in enumerate(dict.fromkeys(name for _, name, _ in collected.essays))}
    tag = np.full((len(collected.rows), len(raters)), UNMARKED, np.int32)
    exact = tag.copy()
    for row, (_, by_rater) in enumerate(collected.rows):
        for rater, (of_tag, of_exact) in by_rater.items():
            tag[row, raters[rater]], exact[row, raters[rater]] = tags[of_tag], exacts[of_exact]
    return EditMarks(
        raters=tuple(raters),
        tag=tag,
        exact=exact,
        essay=np.array([number for number, _ in collected.rows], np.int64),
        tags=tuple(tags),
        exacts=tuple(exacts),
        n_units=np.array([n_units for n_units, _, _ in collected.essays], np.int64),
        reads=_reads(collected, raters),
        cluster=np.array([clusters[name] for _, name, _ in collected.essays], np.int64),
        n_clusters=len(clusters),
        gaps=gaps,
        knows_documents=collected.n_lost == 0,
    )


def _reads(collected: _Collected, raters: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    """Who read which essay."""
    reads = np.zeros((len(collected.essays), len(raters)), np.bool_)
    for number, (_, _, annotators) in enumerate(collected.essays):
        reads[number, [raters[annotator] for annotator in annotators]] = True
    return reads


def _named(names: Iterable[str]) -> dict[str, int]:
    """A code for each name, in order."""
    distinct = list(dict.fromkeys(names))
    return {distinct[index]: code for code, index in enumerate(in_order(distinct))}


Criterion: TypeAlias = Literal["identification", "classification", "exact"]
CRITERIA: tuple[Criterion, ...] = ("identification", "classification", "exact")

OK, ERROR = "ok", "error"


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """Rows by cluster, and the scores (last axis, in the order of `names`) that their sums give."""

    names: tuple[str, ...]
    rows: Any
    score: Callable[[Sums], Sums]
    n_units: int

    @property
    def sums(self) -> Numbers:
        return np.asarray(self.rows.sum(axis=0), np.float64).ravel()

    @property
    def n_clusters(self) -> int:
        """The clusters that take part."""
        return int(np.count_nonzero(self.rows[:, [0]].toarray()))


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What two annotators said, as the different pairs of labels: `times` units of a `cluster` have each."""

    cluster: Ints
    first: Ints
    second: Ints
    times: Ints

    @property
    def n(self) -> int:
        return int(self.times.sum())


def cells(marks: EditMarks, first: int, second: int, criterion: Criterion) -> Cells:
    """Units of essays that both read; for classification and exact, those that both marked."""
    if criterion == "identification":
        return _identified(marks, first, second)
    labels = marks.tag if criterion == "classification" else marks.exact
    ours, theirs = labels[:, first], labels[:, second]
    both = (ours != UNMARKED) & (theirs != UNMARKED)
    cluster = marks.cluster[marks.essay[both]]
    return _counted(cluster, ours[both].astype(np.int64), theirs[both].astype(np.int64), np.ones(len(cluster)))


def _identified(marks: EditMarks, first: int, second: int) -> Cells:
    together = marks.reads[:, first] & marks.reads[:, second]
    here = together[marks.essay]
    ours, theirs = (marks.tag[here][:, rater] != UNMARKED for rater in (first, second))
    somebody = np.bincount(marks.essay, minlength=len(together))
    silent = np.where(together, marks.n_units - somebody, 0)
    zeros = np.zeros(len(silent), np.int64)
    return _counted(
        np.concatenate([marks.cluster[marks.essay[here]], marks.cluster]),
        np.concatenate([ours, zeros]),
        np.concatenate([theirs, zeros]),
        np.concatenate([np.ones(int(here.sum())), silent]),
    )


def _counted(cluster: Ints, first: Ints, second: Ints, times: npt.NDArray[Any]) -> Cells:
    """Equal cells of a cluster taken together."""
    keys, key_of = np.unique(np.stack([cluster, first, second]), axis=1, return_inverse=True)
    total = np.bincount(key_of.ravel(), weights=times, minlength=keys.shape[1]).astype(np.int64)
    kept = total > 0
    return Cells(keys[0, kept], keys[1, kept], keys[2, kept], total[kept])


def pair_statistic(table: Cells, n_clusters: int) -> Statistic:
    """Observed agreement and Cohen's kappa of two annotators."""
    used, codes = np.unique(np.concatenate([table.first, table.second]), return_inverse=True)
    first, second = codes[: len(table.first)], codes[len(table.first) :]
    columns = [np.zeros_like(first), np.ones_like(first), 2 + first, 2 + len(used) + second]
    values = [table.times, table.times * (first == second), table.times, table.times]
    rows = _sparse(np.tile(table.cluster, 4), columns, values, (n_clusters, 2 + 2 * len(used)))
    return Statistic(PAIR_SCORES, rows, lambda sums: pair_scores(sums, len(used)), table.n)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Units with two judgments or more: `times` units of a cluster have `size` judgments; `unit`, `label` and
    `count` say which."""

    cluster: Ints
    size: Ints
    times: Ints
    unit: Ints
    label: Ints
    count: Ints
    n_labels: int
    n_left_out: int

    @property
    def n(self) -> int:
        return int(self.times.sum())

    @property
    def n_judgments(self) -> int:
        return int(self.times @ self.size)


def judged(marks: EditMarks, criterion: Criterion) -> Judged:
    """All annotators together; for classification and exact, a unit is judged by those who marked it."""
    if criterion == "identification":
        return _all_identified(marks)
    labels, names = (marks.tag, marks.tags) if criterion == "classification" else (marks.exact, marks.exacts)
    size = (labels != UNMARKED).sum(axis=1)
    kept = size > 1
    unit, label, count = _label_counts(labels[kept])
    ones = np.ones(int(kept.sum()), np.int64)
    cluster = marks.cluster[marks.essay[kept]]
    return Judged(
        cluster=cluster,
        size=size[kept],
        times=ones,
        unit=unit,
        label=label,
        count=count,
        n_labels=len(names),
        n_left_out=int((~kept).sum()),
    )


def _label_counts(labels: Labels) -> tuple[Ints, Ints, Ints]:
    unit, rater = np.nonzero(labels != UNMARKED)
    keys, count = np.unique(np.stack([unit, labels[unit, rater].astype(np.int64)]), axis=1, return_counts=True)
    return keys[0], keys[1], count


def _all_identified(marks: EditMarks) -> Judged:
    n_readers = marks.reads.sum(axis=1)
    silent = marks.n_units - np.bincount(marks.essay, minlength=len(n_readers))
    size = np.concatenate([n_readers[marks.essay], n_readers])
    n_errors = np.concatenate([(marks.tag != UNMARKED).sum(axis=1), np.zeros_like(n_readers)])
    times = np.concatenate([np.ones_like(marks.essay), silent])
    cluster = np.concatenate([marks.cluster[marks.essay], marks.cluster])
    kept = (size > 1) & (times > 0)
    left_out = int(times[size < 2].sum())
    size, n_errors, units = size[kept], n_errors[kept], np.arange(int(kept.sum()))
    count = np.concatenate([size - n_errors, n_errors])
    label = np.repeat([0, 1], len(units))
    return Judged(
        cluster=cluster[kept],
        size=size,
        times=times[kept],
        unit=np.tile(units, 2),
        label=label,
        count=count,
        n_labels=2,
        n_left_out=left_out,
    )


def all_statistic(together: Judged, n_clusters: int) -> Statistic:
    """Every coefficient of all annotators."""
    squares = np.bincount(together.unit, weights=together.count.astype(np.float64) ** 2, minlength=len(together.size))
    size, times = together.size.astype(np.float64), together.times
    agreeing = times * (squares - size) / (size * (size - 1))
    apart = times * (size**2 - squares) / (size - 1)
    counted = times[together.unit] * together.count
    columns = [
        *(np.full(len(size), column) for column in range(3)),
        3 + together.label,
        3 + together.n_labels + together.label,
    ]
    values = [times, agreeing, apart, counted / size[together.unit], counted]
    cluster = np.concatenate([np.tile(together.cluster, 3), np.tile(together.cluster[together.unit], 2)])
    rows = _sparse(cluster, columns, values, (n_clusters, 3 + 2 * together.n_labels))
    return Statistic(NAMES, rows, lambda sums: margin_scores(sums, together.n_labels), together.n)


def _sparse(
    cluster: Ints, columns: list[npt.NDArray[Any]], values: list[npt.NDArray[Any]], shape: tuple[int, int]
) -> Any:
    from scipy.sparse import csr_array  # a fifth of a second that most commands need not wait for

    return csr_array((np.concatenate(values).astype(np.float64), (cluster, np.concatenate(columns))), shape=shape)


# Agreement by the three criteria


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
