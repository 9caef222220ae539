"""What every annotator says of every token, kept only where somebody says something.

NUCLE, section 3: edits are grown, trimmed and projected on single tokens (`corpora.normalise`).  Where the paper is
silent:

- An insertion marks the token after it; with `gaps`, the place between two tokens is a unit of its own, and a text
  of n tokens has n + 1 of these.
- Of the alternatives that one edit offers, the first that changes something speaks for it.
- Several edits of one annotator on one token (2.4 % of the marked tokens of the ten annotators of CoNLL-2014): the
  token is marked once; `joined`, the default, takes the set of its tags, and the set of its tags with corrections, as
  a label of its own (`ArtOrDet+Nn`), so that another annotator agrees only with the same set.  `first` keeps the
  first edit in the order of the file.
- Corrections are compared as tokens, letter by letter.  An error that was found but not corrected has the correction
  `?`, words that are to go have `-NONE-`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.agreement.coded import in_order
from grater.agreement.counts import Whole
from grater.corpora.normalise import TokenEdit, TokenMark, normalised_edits, project
from grater.errors import BadInput, Problem
from grater.model import DELETE, Essay
from grater.text.tokens import tokens_of

Several: TypeAlias = Literal["joined", "first"]
Labels: TypeAlias = npt.NDArray[np.int32]

UNMARKED = -1
NOT_CORRECTED = "?"


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Marked units by annotators, and how many units there are in all.

    `tag` and `exact` have a row for each unit that anybody marked and a column for each annotator, `UNMARKED` where
    that one did not; `essay` says where the unit stands.  By essay: `n_units`, who read it (`reads`), and the
    `cluster` that it belongs to, its document where it knows one; `knows_documents` unless M2 sentences do not.
    """

    raters: tuple[str, ...]
    tag: Labels
    exact: Labels
    essay: Whole
    tags: tuple[str, ...]
    exacts: tuple[str, ...]
    n_units: Whole
    reads: npt.NDArray[np.bool_]
    cluster: Whole
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


def marks_of(essays: Iterable[Essay], *, gaps: bool = False, several: Several = "joined") -> Marks:
    """The marks of a corpus; essays of several files must have been merged."""
    found = _Collected()
    for essay in essays:
        if essay.essay_id in found.ids:
            message = f"expected essay {essay.essay_id!r} once, found it again; merge its annotators first"
            raise BadInput(Problem("corpus", message, essay.line))
        _collect(found, essay, gaps=gaps, several=several)
    return _marks(found, gaps=gaps)


def _collect(found: _Collected, essay: Essay, *, gaps: bool, several: Several) -> None:
    texts = [token.of(essay.text) for token in tokens_of(essay)]
    found.ids.add(essay.essay_id)
    number, document = len(found.essays), essay.metadata.get("document")
    cluster = document if isinstance(document, str) else essay.essay_id
    found.n_lost += essay.tokens is not None and not isinstance(document, str)
    readers = tuple(dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)]))
    found.essays.append((2 * len(texts) + 1 if gaps else len(texts), cluster, readers))
    by_unit: dict[tuple[int, bool], dict[str, list[TokenMark]]] = {}
    for token_edit in _chosen(normalised_edits(essay)):
        for mark in project(token_edit, texts, gaps=gaps):
            by_unit.setdefault((mark.index, mark.is_gap), {}).setdefault(mark.rater, []).append(mark)
    for by_rater in by_unit.values():
        found.rows.append((number, {rater: _labels(marks, several) for rater, marks in by_rater.items()}))


def _chosen(token_edits: Iterable[TokenEdit]) -> Iterator[TokenEdit]:
    """The first alternative of each edit that changes something."""
    last = None
    for token_edit in token_edits:
        if not token_edit.is_empty and token_edit.edit is not last:
            last = token_edit.edit
            yield token_edit


def _labels(marks: list[TokenMark], several: Several) -> tuple[str, str]:
    """What one annotator says of a unit: its tag, and its tag with the correction."""
    if several == "first":
        marks = marks[:1]
    tags = sorted({mark.tag for mark in marks})
    exacts = sorted({f"{mark.tag} → {_correction(mark)}" for mark in marks})
    return "+".join(tags), " + ".join(exacts)


def _correction(mark: TokenMark) -> str:
    return NOT_CORRECTED if mark.correction is None else " ".join(mark.correction) or DELETE


def _marks(found: _Collected, *, gaps: bool) -> Marks:
    raters = _named(annotator for _, _, annotators in found.essays for annotator in annotators)
    tags = _named(tag for _, by_rater in found.rows for tag, _ in by_rater.values())
    exacts = _named(exact for _, by_rater in found.rows for _, exact in by_rater.values())
    clusters = {name: code for code, name in enumerate(dict.fromkeys(name for _, name, _ in found.essays))}
    reads = np.zeros((len(found.essays), len(raters)), np.bool_)
    for number, (_, _, annotators) in enumerate(found.essays):
        reads[number, [raters[annotator] for annotator in annotators]] = True
    tag = np.full((len(found.rows), len(raters)), UNMARKED, np.int32)
    exact = tag.copy()
    for row, (_, by_rater) in enumerate(found.rows):
        for rater, (of_tag, of_exact) in by_rater.items():
            tag[row, raters[rater]], exact[row, raters[rater]] = tags[of_tag], exacts[of_exact]
    return Marks(
        tuple(raters),
        tag,
        exact,
        np.array([number for number, _ in found.rows], np.int64),
        tuple(tags),
        tuple(exacts),
        np.array([n_units for n_units, _, _ in found.essays], np.int64),
        reads,
        np.array([clusters[name] for _, name, _ in found.essays], np.int64),
        len(clusters),
        gaps,
        found.n_lost == 0,
    )


def _named(names: Iterable[str]) -> dict[str, int]:
    """A code for each name, in order."""
    distinct = list(dict.fromkeys(names))
    return {distinct[place]: code for code, place in enumerate(in_order(distinct))}
