"""Agreement between the annotators of a corpus on which tokens are wrong, in what way, and how to correct them.

Dahlmeier, Ng & Wu 2013 (NUCLE), section 3; docs/raters-needed.md has our choices and numbers. Three criteria:
*Identification*: is this token part of an error? *Classification*: which category, on tokens that both marked?
*Exact*: which category and which correction? For each criterion there is Cohen's kappa for every pair and their plain
mean, as in the paper's Table 3, and coefficients over all annotators. For the latter, a token is judged by those who
read its essay (identification) or by those who marked it (the other two criteria). Pairs that share no essay, or no
marked token, have no kappa: they are left out of the mean and counted. Adjudicated annotations (`gold`) do not belong
to an annotator and are left out.

Units are documents if the M2 sentences name them, else sentences. `fce` is the interval of Fleiss, Cohen & Everitt
1969, which treats tokens as independent. It is too narrow, and only here to reproduce published numbers.

**Marks** are stored sparsely, for marked units only. As in NUCLE, section 3, edits are expanded, trimmed and
projected onto single tokens (`corpora.normalise`). Our choices where the paper is silent:

- An insertion marks the token after it; with `gaps`, the place between two tokens is a separate unit, and a text
  of n tokens has n + 1 of these.
- If an edit offers alternatives, the first that changes something is used.
- Several edits of one annotator on one token (2.4 % of the marked tokens of the ten annotators of CoNLL-2014): the
  token is marked once; `joined`, the default, treats the set of its tags, and the set of its tags with corrections,
  as a separate label (`ArtOrDet+Nn`), so that another annotator agrees only with the same set. `first` keeps the
  first edit in the order of the file.
- Corrections are compared as exact tokens. An error that was detected but not corrected has the correction `?`;
  deleted words have `-NONE-`.

**Sums.** A coefficient is a function of sums over tokens, which are kept as one row of sums per document. There can
be thousands of labels, so rows are sparse; `pair_scores` and `margin_scores` in `coefficients.py` define their
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations
from math import isnan, nan, sqrt
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.corpora.check import Coverage
from grater.corpora.normalise import TokenMark, normalised_edits, project
from grater.corpora.text.tokens import tokens_of
from grater.errors import BadInput, Problem, UsageError
from grater.measure.agreement.coefficients import (
    NAMES,
    band_words,
    coefficient_json,
    coefficient_title,
    coefficients_json,
    margin_scores,
    observed_json,
    pair_scores,
)
from grater.measure.agreement.coefficients import ONE_LABEL as ONE_LABEL_OF_ALL
from grater.measure.agreement.cohen import ONE_LABEL, published_interval
from grater.measure.agreement.summary import BANDS_NOTE, FCE, MOST_RATERS, coefficient_frame, kappa_cells
from grater.measure.units import in_order
from grater.model import DELETE, Essay, Interval, Json, is_adjudicated
from grater.result import HIDDEN, Data, Estimate, Result, encode, in_json, key
from grater.sheet import Sheet, Signature, count, counted, interval, undefined_notes, with_notes
from grater.uncertainty import (
    BASIS,
    MOST_WEIGHTS,
    SENTENCES,
    Basis,
    Influence,
    Ints,
    Numbers,
    Rare,
    Scope,
    Units,
    coefficient,
    design_effect,
    from_left_out,
    grouped_rows,
    influence,
    mean_influence,
    ratio,
    resampled_sums,
    share,
)

SeveralMarks: TypeAlias = Literal["joined", "first"]
Labels: TypeAlias = npt.NDArray[np.int32]

UNMARKED = -1
NOT_CORRECTED = "?"


@dataclass(frozen=True, slots=True, eq=False)
class EditMarks:
    """The marked units by annotator, and the total number of units.

    `tag` and `exact` have a row for each unit that anybody marked and a column for each annotator (`UNMARKED` if that
    annotator did not mark it); `essay` is the unit's essay. Each essay has `n_units`, its readers (`reads`) and its
    `cluster`, which is its document if known. `knows_documents` is False if M2 sentences do not name documents.
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
    adjudicated: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        return "token or gap" if self.gaps else "token"


@dataclass(slots=True)
class _Collected:
    """Rows collected before all annotators and tags are known."""

    essays: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    rows: list[tuple[int, dict[str, tuple[str, str]]]] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    adjudicated: set[str] = field(default_factory=set)
    n_lost: int = 0


def edit_marks(essays: Iterable[Essay], *, gaps: bool = False, several: SeveralMarks = "joined") -> EditMarks:
    """The marks of a corpus; essays from several files must already be merged."""
    collected = _Collected()
    for essay in essays:
        if essay.essay_id in collected.ids:
            message = f"expected essay {essay.essay_id!r} once, found it again; merge its annotators first"
            raise BadInput(Problem("corpus", message, essay.line))
        texts = [token.of(essay.text) for token in tokens_of(essay)]
        collected.ids.add(essay.essay_id)
        number, document = len(collected.essays), essay.metadata.get("document")
        cluster = document if isinstance(document, str) else essay.essay_id
        collected.n_lost += essay.tokens is not None and not isinstance(document, str)
        named = dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)])
        readers = tuple(name for name in named if not is_adjudicated(name))
        collected.adjudicated |= set(named) - set(readers)
        collected.essays.append((2 * len(texts) + 1 if gaps else len(texts), cluster, readers))
        by_unit: dict[tuple[int, bool], dict[str, list[TokenMark]]] = {}
        last = None
        for token_edit in normalised_edits(essay):
            if token_edit.is_empty or token_edit.edit is last:  # the first alternative that changes something speaks
                continue
            last = token_edit.edit
            for mark in project(token_edit, texts, gaps=gaps) if last.rater in readers else ():
                by_unit.setdefault((mark.index, mark.is_gap), {}).setdefault(mark.rater, []).append(mark)
        for by_rater in by_unit.values():
            collected.rows.append((number, {rater: _labels(marks, several) for rater, marks in by_rater.items()}))
    return _marks(collected, gaps=gaps)


def _labels(marks: list[TokenMark], several: SeveralMarks) -> tuple[str, str]:
    if several == "first":
        marks = marks[:1]
    exacts = {
        f"{mark.tag} → {NOT_CORRECTED if mark.correction is None else ' '.join(mark.correction) or DELETE}"
        for mark in marks
    }
    return "+".join(sorted({mark.tag for mark in marks})), " + ".join(sorted(exacts))


def _marks(collected: _Collected, *, gaps: bool) -> EditMarks:
    raters = _named(annotator for _, _, annotators in collected.essays for annotator in annotators)
    tags = _named(tag for _, by_rater in collected.rows for tag, _ in by_rater.values())
    exacts = _named(exact for _, by_rater in collected.rows for _, exact in by_rater.values())
    clusters = {name: code for code, name in enumerate(dict.fromkeys(name for _, name, _ in collected.essays))}
    tag = np.full((len(collected.rows), len(raters)), UNMARKED, np.int32)
    exact = tag.copy()
    reads = np.zeros((len(collected.essays), len(raters)), np.bool_)
    for number, (_, _, annotators) in enumerate(collected.essays):
        reads[number, [raters[annotator] for annotator in annotators]] = True
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
        reads=reads,
        cluster=np.array([clusters[name] for _, name, _ in collected.essays], np.int64),
        n_clusters=len(clusters),
        gaps=gaps,
        knows_documents=collected.n_lost == 0,
        adjudicated=tuple(sorted(collected.adjudicated)),
    )


def _named(names: Iterable[str]) -> dict[str, int]:
    distinct = list(dict.fromkeys(names))
    return {distinct[index]: code for code, index in enumerate(in_order(distinct))}


Criterion: TypeAlias = Literal["identification", "classification", "exact"]
CRITERIA: tuple[Criterion, ...] = ("identification", "classification", "exact")

OK, ERROR = "ok", "error"


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """One row per cluster, and the scores (last axis) computed from their sums.

    `den` is a cluster's part of the denominator of kappa and alpha; `rare` counts the cases of the rarer margin; the
    first column counts units.
    """

    rows: Any
    score: Callable[[Numbers], Numbers]
    den: Numbers
    rare: Rare

    def influences(self, unit: str, basis: Basis) -> list[Influence]:
        n_clusters, width = self.rows.shape
        sums = np.asarray(self.rows.sum(axis=0), np.float64).ravel()
        values = self.score(sums)
        at_once = max(1, 4 * MOST_WEIGHTS // width)
        blocks = [
            self.score(sums - self.rows[start : start + at_once].toarray()) for start in range(0, n_clusters, at_once)
        ]
        left_out = np.concatenate([np.zeros((0, len(values))), *blocks])
        draws = None
        if basis.interval == "bootstrap":
            units = Units(self.rows, unit, np.ones(n_clusters))
            draws = self.score(resampled_sums(units, n_resamples=basis.n_resamples, seed=basis.seed))
        return [
            from_left_out(float(value), left_out[:, at], unit, self.den, None if draws is None else draws[:, at])
            for at, value in enumerate(values)
        ]

    def observed(self, it: Influence, *, undefined: str) -> Interval:
        n = np.asarray(self.rows[:, [0]].toarray(), np.float64).ravel()
        of_units = from_left_out(it.value, it.value - it.change, it.unit, n, it.draws)
        return share(of_units, n=float(n.sum()), undefined=undefined, is_agreement=True)


@dataclass(frozen=True, slots=True, eq=False)
class UnitLabels:
    """The label of each unit by annotator (column), `UNMARKED` if none; a cluster has `times` such units."""

    cluster: Ints
    labels: Labels
    times: Ints

    def of(self, *raters: int) -> UnitLabels:
        """The units that each of these annotators marked."""
        own = self.labels[:, list(raters)]
        kept = (own != UNMARKED).all(axis=1)
        return UnitLabels(self.cluster[kept], own[kept], self.times[kept])

    @property
    def n(self) -> int:
        return int(self.times.sum())


def unit_labels(marks: EditMarks, criterion: Criterion) -> UnitLabels:
    """The units to compare: those of every read essay, ok (0) or error (1), or else the marked ones."""
    cluster, ones = marks.cluster[marks.essay], np.ones_like(marks.essay)
    if criterion != "identification":
        return UnitLabels(cluster, marks.tag if criterion == "classification" else marks.exact, ones)
    silent = marks.n_units - np.bincount(marks.essay, minlength=len(marks.n_units))
    marked = np.where(marks.reads[marks.essay], marks.tag != UNMARKED, UNMARKED)
    unmarked = np.where(marks.reads, 0, UNMARKED)
    labels = np.concatenate([marked, unmarked]).astype(np.int32)
    return UnitLabels(np.concatenate([cluster, marks.cluster]), labels, np.concatenate([ones, silent]))


def pair_statistic(table: UnitLabels, n_clusters: int, *, is_marked: bool) -> Statistic:
    """Observed agreement and Cohen's kappa of two annotators; `is_marked` if only marked units are compared."""
    used, codes = np.unique(table.labels, return_inverse=True)
    first, second = codes.reshape(-1, 2).T
    columns = [np.zeros_like(first), np.ones_like(first), 2 + first, 2 + len(used) + second]
    values = [table.times, table.times * (first == second), table.times, table.times]
    rows = _sparse(np.tile(table.cluster, 4), columns, values, (n_clusters, 2 + 2 * len(used)))
    modal = np.bincount(np.concatenate([first, second]), weights=np.tile(table.times, 2), minlength=1).argmax()
    others = [_sums_of(table.cluster, table.times * (side != modal), n_clusters) for side in (first, second)]
    fewer = min(others, key=lambda other: float(other.sum()))
    return Statistic(
        rows=rows,
        score=lambda sums: pair_scores(sums, len(used)),
        den=_sums_of(table.cluster, table.times, n_clusters) if is_marked else others[0] + others[1],
        rare=Rare(float(fewer.sum()), float((fewer > 0).sum())),
    )


def _sums_of(cluster: Ints, values: npt.NDArray[Any], n_clusters: int) -> Numbers:
    return np.bincount(cluster, weights=values, minlength=n_clusters).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Units with two judgments or more: `times` of a cluster have `size` judgments, listed by `unit` and `label`."""

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
    """All annotators combined; for classification and exact, only those who marked a unit judge it."""
    every = unit_labels(marks, criterion)
    size = (every.labels != UNMARKED).sum(axis=1)
    kept = (size > 1) & (every.times > 0)
    labels = every.labels[kept]
    unit, rater = np.nonzero(labels != UNMARKED)
    keys, count = np.unique(np.stack([unit, labels[unit, rater].astype(np.int64)]), axis=1, return_counts=True)
    return Judged(
        cluster=every.cluster[kept],
        size=size[kept],
        times=every.times[kept],
        unit=keys[0],
        label=keys[1],
        count=count,
        n_labels=len(_label_names(marks, criterion)),
        n_left_out=int(every.times[size < 2].sum()),
    )


def all_statistic(combined: Judged, n_clusters: int, *, is_marked: bool) -> Statistic:
    squares = np.bincount(combined.unit, weights=combined.count.astype(np.float64) ** 2, minlength=len(combined.size))
    size, times = combined.size.astype(np.float64), combined.times
    agreeing = times * (squares - size) / (size * (size - 1))
    apart = times * (size**2 - squares) / (size - 1)
    counted = times[combined.unit] * combined.count
    columns = [
        *(np.full(len(size), column) for column in range(3)),
        3 + combined.label,
        3 + combined.n_labels + combined.label,
    ]
    values = [times, agreeing, apart, counted / size[combined.unit], counted]
    cluster = np.concatenate([np.tile(combined.cluster, 3), np.tile(combined.cluster[combined.unit], 2)])
    rows = _sparse(cluster, columns, values, (n_clusters, 3 + 2 * combined.n_labels))
    given = np.bincount(combined.label, weights=counted, minlength=1)
    others = _sums_of(combined.cluster[combined.unit], counted * (combined.label != given.argmax()), n_clusters)
    cases = combined.n * float(others.sum()) / max(1.0, float(given.sum()))
    return Statistic(
        rows=rows,
        score=lambda sums: margin_scores(sums, combined.n_labels),
        den=_sums_of(combined.cluster, times, n_clusters) if is_marked else others,
        rare=Rare(cases, float((others > 0).sum())),
    )


def _sparse(
    cluster: Ints, columns: list[npt.NDArray[Any]], values: list[npt.NDArray[Any]], shape: tuple[int, int]
) -> Any:
    from scipy.sparse import csr_array  # a fifth of a second that most commands need not wait for

    return csr_array((np.concatenate(values).astype(np.float64), (cluster, np.concatenate(columns))), shape=shape)


# Agreement by the three criteria


NO_ESSAY = "the two annotators share no essay"
NO_TOKEN = "the two annotators marked no token in common"
NOTHING = "no token was judged by two annotators"
NO_KAPPA = "no pair of annotators has a kappa"
MOST_ROWS = 60
MOST_LABELS = 100
"""Labels whose table of two annotators is written out; a tag with its correction is one of thousands."""


@dataclass(frozen=True, slots=True, eq=False)
class PairOfAnnotators(Data):
    """Two annotators on the units that a criterion compares, with the label from each."""

    raters: tuple[str, str]
    n: int
    observed: Interval = field(metadata=key(flat=True, write=observed_json))
    kappa: Interval = field(metadata=key(write=coefficient_json))
    fce: Interval = field(metadata=key("kappa_fce", write=coefficient_json))
    compared: UnitLabels = field(metadata=HIDDEN)

    @property
    def name(self) -> str:
        return " – ".join(self.raters)

    def confusion(self, n_labels: int) -> Ints:
        table = np.zeros((n_labels, n_labels), np.int64)
        np.add.at(table, (self.compared.labels[:, 0], self.compared.labels[:, 1]), self.compared.times)
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
        rows = [("all", name, self.n_units, value) for name, value in self.coefficients.items()]
        rows += [("mean of pairs", "kappa", self.n_units, self.mean_kappa)] if self.pairs else []
        for pair in self.pairs:
            rows += [(pair.name, "observed", pair.n, pair.observed), (pair.name, "kappa", pair.n, pair.kappa)]
        for raters, name, n, value in rows:
            yield {"criterion": self.criterion, "raters": raters, "coefficient": name, "units": n}, value


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorpusAgreement(Result):
    """The three criteria, and the data they were computed from."""

    raters: tuple[str, ...]
    unit: str
    n_essays: int
    n_shared: int = field(metadata=key("shared_essays"))
    n_units: int
    criteria: dict[Criterion, EditAgreement] = field(metadata=HIDDEN)
    signature: Signature
    scope: Scope = field(metadata=key("interval"))
    no_pairs: str = field(default="", metadata=HIDDEN)
    warnings: tuple[str, ...] = ()

    @property
    @in_json(flat=True)
    def _criteria(self) -> dict[str, Json]:
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
            tables.append(pairs_sheet(self))
        return with_notes(tables, self._notes(), str(self.signature))

    def _notes(self) -> Iterator[str]:
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


def edit_agreement(
    essays: Iterable[Essay],
    *,
    gaps: bool = False,
    several: SeveralMarks = "joined",
    most_raters: int = MOST_RATERS,
    basis: Basis = BASIS,
) -> CorpusAgreement:
    coverage = Coverage()
    marks = edit_marks(_seen(essays, coverage), gaps=gaps, several=several)
    is_shared = marks.reads.sum(axis=1) > 1
    if not is_shared.any():
        raise UsageError(
            f"expected essays that two annotators read, found none (essays: {len(marks.reads):,}, annotators: "
            f"{len(marks.raters)}); give the files of both, or a file with several annotators"
        )
    marks = _in_units(marks, basis)
    unit = "document" if marks.knows_documents else "sentence"
    too_many = len(marks.raters) > most_raters
    scope = Scope(
        unit=unit,
        n_units=len(np.unique(marks.cluster[is_shared])),
        design_effect=_design_effect(judged(marks, "identification")),
        note="" if marks.knows_documents else SENTENCES,
        is_agreement=True,
    )
    counting = {"unit": "token+gap" if gaps else "token", "insertion": "gap" if gaps else "next-token"}
    rules = {"several-marks": several, "normalised": "grow-trim-project", "given": "both-marked"}
    return CorpusAgreement(
        raters=marks.raters,
        unit=marks.unit,
        n_essays=len(is_shared),
        n_shared=int(is_shared.sum()),
        n_units=int(marks.n_units[is_shared].sum()),
        criteria={name: _criterion(marks, name, unit, basis, with_pairs=not too_many) for name in CRITERIA},
        signature=Signature("edit-agreement", {**counting, **rules, **basis.signature(unit)}),
        no_pairs=f"{len(marks.raters)} annotators, more than {most_raters}" if too_many else "",
        scope=scope,
        warnings=tuple(_warnings(marks, coverage, scope)),
    )


def _in_units(marks: EditMarks, basis: Basis) -> EditMarks:
    if basis.units in ("item", "sentence"):
        n_essays = len(marks.cluster)
        return replace(marks, cluster=np.arange(n_essays), n_clusters=n_essays, knows_documents=False)
    if basis.units not in ("auto", "essay", "document"):
        raise UsageError(f"expected units auto, document or sentence for a corpus, found {basis.units!r}")
    if basis.units == "document" and not marks.knows_documents:
        raise UsageError("expected the documents of M2 sentences for `units` document; pass `documents`")
    return marks


def _design_effect(combined: Judged) -> float:
    """The design effect of the observed agreement on identification, relative to independent tokens."""
    squares = np.bincount(combined.unit, weights=combined.count.astype(np.float64) ** 2, minlength=len(combined.size))
    size = combined.size.astype(np.float64)
    rows = np.stack([(squares - size) / (size * (size - 1)), np.ones(len(size))], axis=1)
    cluster = np.unique(combined.cluster, return_inverse=True)[1]
    by_cluster = grouped_rows(rows * combined.times[:, None], cluster, int(cluster.max(initial=-1)) + 1)
    units = Units(by_cluster, "document"), Units(rows, "item", combined.times.astype(np.float64))
    return design_effect(*(influence(each, lambda sums: ratio(sums[..., 0], sums[..., 1])) for each in units))


def _seen(essays: Iterable[Essay], coverage: Coverage) -> Iterator[Essay]:
    for essay in essays:
        coverage.see(essay)
        yield essay


def _warnings(marks: EditMarks, coverage: Coverage, scope: Scope) -> Iterator[str]:
    if marks.adjudicated:
        yield f"{', '.join(marks.adjudicated)}: left out, for adjudicated annotations are not an annotator's"
    yield from (finding.message for finding in coverage.findings())
    if not marks.knows_documents:
        yield SENTENCES
    yield from scope.warnings


def _criterion(marks: EditMarks, criterion: Criterion, unit: str, basis: Basis, *, with_pairs: bool) -> EditAgreement:
    is_marked = criterion != "identification"
    raters = list(combinations(range(len(marks.raters)), 2)) if with_pairs else []
    combined, every = judged(marks, criterion), unit_labels(marks, criterion)
    found = [_pair(marks, pair, every.of(*pair), unit, basis, is_marked=is_marked) for pair in raters]
    kappas = [(it, rare) for _, it, rare in found if not isnan(it.value)]
    mean = Interval(nan, nan, nan, NO_KAPPA)
    if kappas:
        rare = Rare(*np.median([(each.cases, each.units) for _, each in kappas], axis=0))
        mean = coefficient(mean_influence([it for it, _ in kappas]), rare=rare)
    return EditAgreement(
        criterion=criterion,
        labels=_label_names(marks, criterion),
        n_units=combined.n,
        n_left_out=combined.n_left_out,
        n_judgments=combined.n_judgments,
        coefficients=_overall(combined, marks.n_clusters, unit, basis, is_marked=is_marked),
        pairs=tuple(pair for pair, _, _ in found),
        mean_kappa=mean,
        n_undefined=len(found) - len(kappas),
    )


def _label_names(marks: EditMarks, criterion: Criterion) -> tuple[str, ...]:
    if criterion == "identification":
        return OK, ERROR
    return marks.tags if criterion == "classification" else marks.exacts


def _overall(combined: Judged, n_clusters: int, unit: str, basis: Basis, *, is_marked: bool) -> dict[str, Interval]:
    statistic = all_statistic(combined, n_clusters, is_marked=is_marked)
    why = ONE_LABEL_OF_ALL if combined.n else NOTHING
    return {
        name: statistic.observed(it, undefined=why)
        if name == "observed"
        else coefficient(it, rare=statistic.rare, undefined=why)
        for name, it in zip(NAMES, statistic.influences(unit, basis), strict=True)
    }


def _pair(
    marks: EditMarks, pair: tuple[int, int], table: UnitLabels, unit: str, basis: Basis, *, is_marked: bool
) -> tuple[PairOfAnnotators, Influence, Rare]:
    """Two annotators; their kappa comes with the influence of each cluster, for the mean."""
    first, second = pair
    share_essay = bool((marks.reads[:, first] & marks.reads[:, second]).any())
    why = NO_ESSAY if not share_essay else ONE_LABEL if table.n else NO_TOKEN
    statistic = pair_statistic(table, marks.n_clusters, is_marked=is_marked)
    observed, kappa = statistic.influences(unit, basis)
    found = PairOfAnnotators(
        raters=(marks.raters[first], marks.raters[second]),
        n=table.n,
        observed=statistic.observed(observed, undefined=why),
        kappa=coefficient(kappa, rare=statistic.rare, undefined=why),
        fce=_fce(table, observed.value, kappa.value, undefined=why),
        compared=table,
    )
    return found, kappa, statistic.rare


def _fce(table: UnitLabels, observed: float, kappa: float, *, undefined: str) -> Interval:
    """Cohen's kappa with an interval that treats tokens as independent (Fleiss, Cohen & Everitt 1969, eq. 13)."""
    if isnan(kappa):
        return Interval(nan, nan, nan, undefined)
    first, second = table.labels.T
    n_labels, n = int(table.labels.max()) + 1, table.n
    rows, columns = (np.bincount(side, weights=table.times, minlength=n_labels) for side in (first, second))
    expected = float(rows @ columns) / n**2
    by_expected = (columns[first] + rows[second]) / n - 2 * expected
    slope = ((first == second) - observed) * (1 - expected) - (1 - observed) * by_expected
    error = sqrt(float(table.times @ slope**2)) / (1 - expected) ** 2 / n
    return published_interval(kappa, error, undefined=undefined)


# As people see it


def _criteria_sheet(result: CorpusAgreement) -> Sheet:
    rows: list[tuple[str, ...]] = []
    rules = []
    for name, criterion in result.criteria.items():
        rules.append(len(rows))
        rows.append((name.capitalize(), count(criterion.n_units), "", ""))
        if criterion.pairs:
            n_defined = len(criterion.pairs) - criterion.n_undefined
            title = coefficient_title("kappa")
            if len(criterion.pairs) == 1:
                [pair] = criterion.pairs
                independent = f"    by {FCE}, {result.unit}s taken as independent"
                rows += [(f"  {title}", "", *kappa_cells(pair.kappa)), (independent, "", *kappa_cells(pair.fce))]
            else:
                rows.append((f"  mean {title} of {n_defined} pairs", "", *kappa_cells(criterion.mean_kappa)))
        for title, value in criterion.coefficients.items():
            words = "" if title == "observed" else band_words(value)
            rows.append((f"  {coefficient_title(title)}", "", interval(value), words))
    heading = f"Agreement of {counted(len(result.raters), 'annotator')} on {counted(result.n_units, result.unit)}"
    columns = ("", f"{result.unit}s", "value", "band")
    return Sheet(heading, columns, tuple(rows), name="agreement", rules=tuple(rules[1:]))


def pairs_sheet(result: CorpusAgreement) -> Sheet:
    """NUCLE, Table 3: the three kappas of every pair and their mean."""
    pairs = list(zip(*(criterion.pairs for criterion in result.criteria.values()), strict=True))
    rows = [(row[0].name, *(interval(pair.kappa) for pair in row)) for row in pairs[:MOST_ROWS]]
    if len(pairs) > MOST_ROWS:
        rows.append((f"and {len(pairs) - MOST_ROWS:,} more", *[""] * len(result.criteria)))
    mean = ("average", *(interval(criterion.mean_kappa) for criterion in result.criteria.values()))
    columns = ("", *result.criteria)
    return Sheet("Cohen kappa of every pair", columns, (*rows, mean), name="pairs", rules=(len(rows),))
