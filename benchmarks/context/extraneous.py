"""Extraneous prepositions: precision as if right and wrong uses were equally many, part `extraneous`.

Wrong are prepositions that enough annotators delete: one of the two official ones, or two, three and five of all ten
(Bryant & Ng 2015).  Right are those that none of the same annotators touches.  All documents, since a precision at a
recall needs no threshold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from benchmarks.context.options import Options
from benchmarks.context.scored import Scored, interval
from benchmarks.context.texts import OFFICIAL
from benchmarks.detect.articles import learner_essays
from benchmarks.detect.data import cell, keep, table

from grater.detect.context.detector import ContextDetector
from grater.detect.context.tuning import possible_flags

TEN = tuple(f"A{number}" for number in range(1, 11))
DELETED_BY = (
    ("one of the two", OFFICIAL, 1),
    ("two of ten", TEN, 2),
    ("three of ten", TEN, 3),
    ("five of ten", TEN, 5),
)
RECALLS = (0.3, 0.4, 0.5, 0.6)


@dataclass(frozen=True, slots=True)
class Use:
    """A preposition: the margin of deleting it, who deletes it, who changes anything there, and its document."""

    margin: float
    deleters: frozenset[str]
    touched_by: frozenset[str]
    document: str


def extraneous(options: Options) -> None:
    """Deleted by some annotators, against as many prepositions that none of them touched, as if balanced."""
    uses = list(_uses(options.detector))
    rows = []
    for name, annotators, least in DELETED_BY:
        scored = _scored(uses, frozenset(annotators), least)
        at = [interval(scored, partial(_balanced_precision, recall=recall)) for recall in RECALLS]
        rows.append([name, f"{scored.is_error.sum()}", f"{(~scored.is_error).sum()}", *map(cell, at)])
    table(["deleted by at least", "deleted", "untouched", *(f"P at R {recall}" for recall in RECALLS)], rows)
    keep("context-extraneous", rows)


def _uses(detector: ContextDetector) -> Iterator[Use]:
    essays = {essay.essay_id: essay for essay in learner_essays()}
    for flag in possible_flags(detector, list(essays.values())):
        if flag.name != "prep-extraneous":
            continue
        essay, span = essays[flag.item.essay_id], flag.item.span
        near = [edit for edit in essay.edits if edit.span.start <= span.end and span.start <= edit.span.end]
        deletions = [edit for edit in near if edit.tag == "Prep" and "" in edit.replacements and edit.span == span]
        yield Use(
            margin=flag.margin,
            deleters=frozenset(edit.rater for edit in deletions),
            touched_by=frozenset(edit.rater for edit in near),
            document=str(essay.metadata.get("document")),
        )


def _scored(uses: Collection[Use], annotators: frozenset[str], least: int) -> Scored:
    """Uses that enough of these annotators delete, and those that none of them touches."""
    pairs = [(use, len(use.deleters & annotators) >= least) for use in uses]
    kept = [(use, is_wrong) for use, is_wrong in pairs if is_wrong or not use.touched_by & annotators]
    documents = sorted({use.document for use in uses})
    is_wrong = np.array([is_wrong for _, is_wrong in kept])
    where = np.array([documents.index(use.document) for use, _ in kept])
    return Scored(np.array([use.margin for use, _ in kept]), is_wrong, is_wrong, is_wrong, where)


def _balanced_precision(scored: Scored, recall: float) -> float:
    """The precision where the highest scores reach a recall, if there were as many right uses as wrong ones."""
    wrong = np.sort(scored.score[scored.is_error])[::-1]
    if not len(wrong):
        return float("nan")
    threshold = wrong[int(np.ceil(recall * len(wrong))) - 1]
    share, alarms = (wrong >= threshold).mean(), (scored.score[~scored.is_error] >= threshold).mean()
    return float(share / (share + alarms))
