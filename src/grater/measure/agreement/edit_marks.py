"""What every annotator marked on every token, and what each essay adds to the sums behind agreement.

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

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.corpora.normalise import TokenEdit, TokenMark, normalised_edits, project
from grater.corpora.text.tokens import tokens_of
from grater.errors import BadInput, Problem
from grater.measure.agreement.coded import in_order
from grater.measure.agreement.coefficients import NAMES, PAIR_SCORES, margin_scores, pair_scores
from grater.model import DELETE, Essay
from grater.uncertainty.bca import Sums
from grater.uncertainty.intervals import Ints, Numbers

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
