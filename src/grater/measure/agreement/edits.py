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
  token is marked once; the set of its tags, and the set of its tags with corrections, is a separate label
  (`ArtOrDet+Nn`), so that another annotator agrees only with the same set.
- Corrections are compared as exact tokens. An error that was detected but not corrected has the correction `?`;
  deleted words have `-NONE-`.

**Sums.** A coefficient is a function of sums over tokens, which are kept as one row of sums per document. There can
be thousands of labels, so rows are sparse; `pair_scores` and `margin_scores` in `coefficients.py` define their
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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
    grouped_rows,
    influence,
    influences,
    mean_influence,
    ratio,
    share,
)

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


def edit_marks(essays: Iterable[Essay], *, gaps: bool = False) -> EditMarks:
    """The marks of a corpus; essays from several files must already be merged."""
    ids, clusters, n_units, readers = set[str](), list[str](), list[int](), list[tuple[str, ...]]()
    rows: list[tuple[int, dict[str, tuple[str, str]]]] = []
    adjudicated, knows_documents = set[str](), True
    for number, essay in enumerate(essays):
        if essay.essay_id in ids:
            message = f"expected essay {essay.essay_id!r} once, found it again; merge its annotators first"
            raise BadInput(Problem("corpus", message, essay.line))
        texts = [token.of(essay.text) for token in tokens_of(essay)]
        document = essay.metadata.get("document")
        ids.add(essay.essay_id)
        clusters.append(document if isinstance(document, str) else essay.essay_id)
        knows_documents = knows_documents and (essay.tokens is None or isinstance(document, str))
        named = dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)])
        readers.append(tuple(name for name in named if not is_adjudicated(name)))
        adjudicated |= set(named) - set(readers[-1])
        n_units.append(2 * len(texts) + 1 if gaps else len(texts))
        by_unit: dict[tuple[int, bool], dict[str, list[TokenMark]]] = {}
        last = None
        for token_edit in normalised_edits(essay):
            if token_edit.is_empty or token_edit.edit is last:  # the first alternative that changes something speaks
                continue
            last = token_edit.edit
            for mark in project(token_edit, texts, gaps=gaps) if last.rater in readers[-1] else ():
                by_unit.setdefault((mark.index, mark.is_gap), {}).setdefault(mark.rater, []).append(mark)
        rows += [
            (number, {rater: _labels(marks) for rater, marks in of_unit.items()}) for of_unit in by_unit.values()
        ]
    raters = _named(name for of_essay in readers for name in of_essay)
    tags = _named(tag for _, by_rater in rows for tag, _ in by_rater.values())
    exacts = _named(exact for _, by_rater in rows for _, exact in by_rater.values())
    codes = {name: code for code, name in enumerate(dict.fromkeys(clusters))}
    tag = np.full((len(rows), len(raters)), UNMARKED, np.int32)
    exact, reads = tag.copy(), np.zeros((len(readers), len(raters)), np.bool_)
    for number, of_essay in enumerate(readers):
        reads[number, [raters[name] for name in of_essay]] = True
    for row, (_, by_rater) in enumerate(rows):
        for rater, (of_tag, of_exact) in by_rater.items():
            tag[row, raters[rater]], exact[row, raters[rater]] = tags[of_tag], exacts[of_exact]
    return EditMarks(
        raters=tuple(raters),
        tag=tag,
        exact=exact,
        essay=np.array([number for number, _ in rows], np.int64),
        tags=tuple(tags),
        exacts=tuple(exacts),
        n_units=np.array(n_units, np.int64),
        reads=reads,
        cluster=np.array([codes[name] for name in clusters], np.int64),
        n_clusters=len(codes),
        gaps=gaps,
        knows_documents=knows_documents,
        adjudicated=tuple(sorted(adjudicated)),
    )


def _labels(marks: list[TokenMark]) -> tuple[str, str]:
    exacts = {
        f"{mark.tag} → {NOT_CORRECTED if mark.correction is None else ' '.join(mark.correction) or DELETE}"
        for mark in marks
    }
    return "+".join(sorted({mark.tag for mark in marks})), " + ".join(sorted(exacts))


def _named(names: Iterable[str]) -> dict[str, int]:
    distinct = list(dict.fromkeys(names))
    return {distinct[index]: code for code, index in enumerate(in_order(distinct))}


Criterion: TypeAlias = Literal["identification", "classification", "exact"]
CRITERIA: tuple[Criterion, ...] = ("identification", "classification", "exact")

OK, ERROR = "ok", "error"


@dataclass(frozen=True, slots=True, eq=False)
class UnitLabels:
    """The label of each unit by annotator (column), `UNMARKED` if none; a cluster has `times` such units."""

    cluster: Ints
    labels: Labels
    times: Ints

    @property
    def size(self) -> Ints:
        """The number of annotators who judged each unit."""
        return np.asarray((self.labels != UNMARKED).sum(axis=1))

    @property
    def n(self) -> int:
        return int(self.times.sum())

    def where(self, is_kept: npt.NDArray[np.bool_]) -> UnitLabels:
        return UnitLabels(self.cluster[is_kept], self.labels[is_kept], self.times[is_kept])

    def of(self, *raters: int) -> UnitLabels:
        """The units that each of these annotators marked."""
        own = replace(self, labels=self.labels[:, list(raters)])
        return own.where(own.size == len(raters))


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


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The clusters of a criterion: their number, the name of one, and the basis of intervals.

    Where only marked units are compared (`is_marked`), each of them weighs the same in kappa and alpha.
    """

    n: int
    unit: str
    basis: Basis
    is_marked: bool

    def sums(self, cluster: Ints, values: npt.NDArray[Any]) -> Numbers:
        return np.bincount(cluster, weights=values, minlength=self.n).astype(np.float64)

    def influences(
        self,
        cells: Sequence[tuple[Ints, npt.NDArray[Any], npt.NDArray[Any]]],
        n_columns: int,
        scores: Callable[[Numbers], Numbers],
        dens: Iterable[Numbers],
    ) -> list[Influence]:
        """The influence of each cluster, from the clusters, columns and values of a sparse table of sums."""
        from scipy.sparse import csr_array  # a fifth of a second that most commands need not wait for

        cluster, column, value = (np.concatenate(part) for part in zip(*cells, strict=True))
        rows: Any = csr_array((value.astype(np.float64), (cluster, column)), shape=(self.n, n_columns))
        return influences(Units(rows, self.unit, np.ones(self.n)), scores, dens, self.basis)


def of_pair(table: UnitLabels, clusters: Clusters) -> tuple[Influence, Influence, Rare]:
    """Observed agreement and Cohen's kappa of two annotators, and the rarer margin."""
    used, codes = np.unique(table.labels, return_inverse=True)
    first, second = codes.reshape(-1, 2).T
    columns = [np.zeros_like(first), np.ones_like(first), 2 + first, 2 + len(used) + second]
    values = [table.times, table.times * (first == second), table.times, table.times]
    modal = np.bincount(np.concatenate([first, second]), weights=np.tile(table.times, 2), minlength=1).argmax()
    others = [clusters.sums(table.cluster, table.times * (side != modal)) for side in (first, second)]
    fewer = min(others, key=lambda other: float(other.sum()))
    n = clusters.sums(table.cluster, table.times)
    observed, kappa = clusters.influences(
        [(table.cluster, column, value) for column, value in zip(columns, values, strict=True)],
        2 + 2 * len(used),
        lambda sums: pair_scores(sums, len(used)),
        [n, n if clusters.is_marked else others[0] + others[1]],
    )
    return observed, kappa, Rare(float(fewer.sum()), float((fewer > 0).sum()))


def of_all(table: UnitLabels, n_labels: int, clusters: Clusters) -> tuple[dict[str, Influence], Rare]:
    """Every coefficient of all annotators, on units with two judgments or more, and the rarer margin."""
    unit, rater = np.nonzero(table.labels != UNMARKED)
    keys = np.stack([unit, table.labels[unit, rater].astype(np.int64)])
    (unit, label), count = np.unique(keys, axis=1, return_counts=True)
    size, times, own = table.size.astype(np.float64), table.times, table.cluster[unit]
    squares = np.bincount(unit, weights=count.astype(np.float64) ** 2, minlength=len(size))
    given, n = times[unit] * count, clusters.sums(table.cluster, times)
    by_unit = [times, times * (squares - size) / (size * (size - 1)), times * (size**2 - squares) / (size - 1)]
    modal = np.bincount(label, weights=given, minlength=1).argmax()
    others = clusters.sums(own, given * (label != modal))
    den = n if clusters.is_marked else others
    its = clusters.influences(
        [
            *((table.cluster, np.full(len(size), column), value) for column, value in enumerate(by_unit)),
            (own, 3 + label, given / size[unit]),
            (own, 3 + n_labels + label, given),
        ],
        3 + 2 * n_labels,
        lambda sums: margin_scores(sums, n_labels),
        [n if name == "observed" else den for name in NAMES],
    )
    cases = table.n * float(others.sum()) / max(1.0, float(given.sum()))
    return dict(zip(NAMES, its, strict=True)), Rare(cases, float((others > 0).sum()))


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
    most_raters: int = MOST_RATERS,
    basis: Basis = BASIS,
) -> CorpusAgreement:
    essays, coverage = list(essays), Coverage()
    for essay in essays:
        coverage.see(essay)
    marks = edit_marks(essays, gaps=gaps)
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
        design_effect=_design_effect(_judged(unit_labels(marks, "identification"))),
        note="" if marks.knows_documents else SENTENCES,
        is_agreement=True,
    )
    counting = {"unit": "token+gap" if gaps else "token", "insertion": "gap" if gaps else "next-token"}
    rules = {"several-marks": "joined", "normalised": "grow-trim-project", "given": "both-marked"}
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


def _judged(table: UnitLabels) -> UnitLabels:
    """The units with two judgments or more."""
    return table.where((table.size > 1) & (table.times > 0))


def _design_effect(table: UnitLabels) -> float:
    """The design effect of the observed agreement on identification, relative to independent tokens."""
    size, n_errors = table.size.astype(np.float64), (table.labels == 1).sum(axis=1)
    apart = 2 * n_errors * (size - n_errors) / (size * (size - 1))
    rows = np.stack([1 - apart, np.ones(len(size))], axis=1)
    cluster = np.unique(table.cluster, return_inverse=True)[1]
    by_cluster = grouped_rows(rows * table.times[:, None], cluster, int(cluster.max(initial=-1)) + 1)
    units = Units(by_cluster, "document"), Units(rows, "item", table.times.astype(np.float64))
    return design_effect(*(influence(each, lambda sums: ratio(sums[..., 0], sums[..., 1])) for each in units))


def _warnings(marks: EditMarks, coverage: Coverage, scope: Scope) -> Iterator[str]:
    if marks.adjudicated:
        yield f"{', '.join(marks.adjudicated)}: left out, for adjudicated annotations are not an annotator's"
    yield from (finding.message for finding in coverage.findings())
    if not marks.knows_documents:
        yield SENTENCES
    yield from scope.warnings


def _criterion(marks: EditMarks, criterion: Criterion, unit: str, basis: Basis, *, with_pairs: bool) -> EditAgreement:
    clusters = Clusters(marks.n_clusters, unit, basis, is_marked=criterion != "identification")
    labels = {"identification": (OK, ERROR), "classification": marks.tags, "exact": marks.exacts}[criterion]
    every = unit_labels(marks, criterion)
    combined = _judged(every)
    its, rare = of_all(combined, len(labels), clusters)
    why = ONE_LABEL_OF_ALL if combined.n else NOTHING
    observed = share(its["observed"], n=float(combined.n), undefined=why, is_agreement=True)
    others = {name: coefficient(it, rare=rare, undefined=why) for name, it in its.items()}
    raters = list(combinations(range(len(marks.raters)), 2)) if with_pairs else []
    found = [_pair(marks, pair, every.of(*pair), clusters) for pair in raters]
    kappas = [(it, rare) for _, it, rare in found if not isnan(it.value)]
    mean = Interval(nan, nan, nan, NO_KAPPA)
    if kappas:
        rare = Rare(*np.median([(each.cases, each.units) for _, each in kappas], axis=0))
        mean = coefficient(mean_influence([it for it, _ in kappas]), rare=rare)
    return EditAgreement(
        criterion=criterion,
        labels=labels,
        n_units=combined.n,
        n_left_out=every.where(every.size < 2).n,
        n_judgments=int(combined.times @ combined.size),
        coefficients={**others, "observed": observed},
        pairs=tuple(pair for pair, _, _ in found),
        mean_kappa=mean,
        n_undefined=len(found) - len(kappas),
    )


def _pair(
    marks: EditMarks, pair: tuple[int, int], table: UnitLabels, clusters: Clusters
) -> tuple[PairOfAnnotators, Influence, Rare]:
    """Two annotators; their kappa comes with the influence of each cluster, for the mean."""
    first, second = pair
    share_essay = bool((marks.reads[:, first] & marks.reads[:, second]).any())
    why = NO_ESSAY if not share_essay else ONE_LABEL if table.n else NO_TOKEN
    observed, kappa, rare = of_pair(table, clusters)
    found = PairOfAnnotators(
        raters=(marks.raters[first], marks.raters[second]),
        n=table.n,
        observed=share(observed, n=float(table.n), undefined=why, is_agreement=True),
        kappa=coefficient(kappa, rare=rare, undefined=why),
        fce=_fce(table, observed.value, kappa.value, undefined=why),
        compared=table,
    )
    return found, kappa, rare


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
