"""Prepositions that should not be there, precision at a recall: `python -m benchmarks.context extraneous`.

Wrong are prepositions that some of the ten annotators of CoNLL-2014 delete, right are those that nobody touches,
weighted as if there were as many of both.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from benchmarks.context.options import Options
from benchmarks.context.scored import Scored, interval
from benchmarks.detect.articles import learner_essays
from benchmarks.detect.data import cell, keep, table

from grater.detect.context.tuning import possible_flags

DELETERS = (2, 3, 5)
"""Of ten annotators, how many must delete a preposition for it to count as extraneous."""

BALANCED_RECALLS = (0.3, 0.4, 0.5, 0.6)


def extraneous(options: Options) -> None:
    """Deleted by some of ten annotators, against as many prepositions that nobody touched, as if balanced."""
    essays = {essay.essay_id: essay for essay in learner_essays()}
    documents = sorted({str(essay.metadata.get("document")) for essay in essays.values()})
    margins, deleters, where = list[float](), list[int](), list[int]()
    for flag in possible_flags(options.detector, list(essays.values())):
        essay, span = essays[flag.item.essay_id], flag.item.span
        near = [edit for edit in essay.edits if edit.span.start <= span.end and span.start <= edit.span.end]
        raters = {edit.rater for edit in near if edit.tag == "Prep" and "" in edit.replacements and edit.span == span}
        if flag.name == "prep-extraneous" and (raters or not near):
            margins.append(flag.margin)
            deleters.append(len(raters))
            where.append(documents.index(str(essay.metadata.get("document"))))
    n_deleters, rows = np.array(deleters), []
    for least in DELETERS:
        kept = np.flatnonzero((n_deleters == 0) | (n_deleters >= least))
        is_wrong = n_deleters[kept] >= least
        scored = Scored(np.array(margins)[kept], is_wrong, is_wrong, is_wrong, np.array(where)[kept])
        at = [interval(scored, partial(_balanced_precision, recall=recall)) for recall in BALANCED_RECALLS]
        rows.append([f"{least}", f"{is_wrong.sum()}", f"{(~is_wrong).sum()}", *map(cell, at)])
    table(["deleted by at least", "deleted", "untouched", *(f"P at R {recall}" for recall in BALANCED_RECALLS)], rows)
    keep("context-extraneous", rows)


def _balanced_precision(scored: Scored, recall: float) -> float:
    """The precision where the highest scores reach a recall, if there were as many right uses as wrong ones."""
    wrong = np.sort(scored.score[scored.is_error])[::-1]
    if not len(wrong):
        return float("nan")
    threshold = wrong[int(np.ceil(recall * len(wrong))) - 1]
    share, alarms = (wrong >= threshold).mean(), (scored.score[~scored.is_error] >= threshold).mean()
    return float(share / (share + alarms))
