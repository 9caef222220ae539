"""Scores of items against the annotators of CoNLL-2014, and their intervals.

`any` counts a flag as right where one of the two official annotators corrects that word in any way.  Intervals
resample documents; the difference of two systems is taken on the same documents each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from benchmarks.context.texts import OFFICIAL, TAGS

from grater.detect.context.tuning import right_items
from grater.detect.detector import Finding
from grater.model import Essay, Interval, Item
from grater.rng import generator

N_RESAMPLES = 1000
Values = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Items of one kind by one system: score, whether flagged, whether an error (of the kind, of any), document."""

    score: Values
    flagged: Truths
    is_error: Truths
    is_any: Truths
    document: npt.NDArray[np.int64]

    def at(self, rows: npt.NDArray[np.int64]) -> Scored:
        return Scored(
            self.score[rows], self.flagged[rows], self.is_error[rows], self.is_any[rows], self.document[rows]
        )


def scored_items(findings: Sequence[Finding], essays: Sequence[Essay], kind: str) -> Scored:
    own = [finding for finding in findings if finding.item.kind == kind]
    items = [finding.item for finding in own]
    error, touched = error_items(essays, items, kind), any_items(essays, items)
    documents = {essay.essay_id: str(essay.metadata.get("document")) for essay in essays}
    names = sorted(set(documents.values()))
    ids = [item.item_id for item in items]
    return Scored(
        score=np.array([-1e9 if finding.decision.score is None else finding.decision.score for finding in own]),
        flagged=np.array([finding.decision.flagged for finding in own]),
        is_error=np.array([item in error for item in ids]),
        is_any=np.array([item in touched for item in ids]),
        document=np.array([names.index(documents[item.essay_id]) for item in items]),
    )


def error_items(essays: Sequence[Essay], items: Iterable[Item], kind: str) -> frozenset[str]:
    return right_items(essays, items, tags=TAGS[kind], raters=OFFICIAL)


def any_items(essays: Sequence[Essay], items: Iterable[Item]) -> frozenset[str]:
    tags = {edit.tag for essay in essays for edit in essay.edits}
    return right_items(essays, items, tags=tags, raters=OFFICIAL)


def precision_at(scored: Scored, recall: float, *, of_any: bool = False) -> float:
    """The precision where the highest scores reach a recall of the errors of the kind."""
    order = np.argsort(-scored.score, kind="stable")
    hits = np.cumsum(scored.is_error[order])
    if not len(hits) or not hits[-1]:
        return float("nan")
    place = int(np.searchsorted(hits, recall * hits[-1]))
    right = scored.is_any if of_any else scored.is_error
    return float(right[order][: place + 1].mean())


def flagged_scores(scored: Scored) -> tuple[float, float, float]:
    """Precision, precision of any correction, recall, at the system's own threshold."""
    flagged = scored.flagged
    if not flagged.any():
        return float("nan"), float("nan"), 0.0
    hits = float((flagged & scored.is_error).sum())
    return hits / flagged.sum(), float(scored.is_any[flagged].mean()), hits / max(1, int(scored.is_error.sum()))


def interval(scored: Scored, score: Callable[[Scored], float]) -> Interval:
    drawn = [score(scored.at(rows)) for rows in _resampled(scored)]
    return Interval(score(scored), float(np.nanquantile(drawn, 0.025)), float(np.nanquantile(drawn, 0.975)))


def _resampled(scored: Scored) -> Iterator[npt.NDArray[np.int64]]:
    rng = generator(0, "context", "documents")
    documents = np.unique(scored.document)
    rows = {document: np.flatnonzero(scored.document == document) for document in documents.tolist()}
    for _ in range(N_RESAMPLES):
        yield np.concatenate([rows[document] for document in rng.choice(documents, len(documents)).tolist()])


def paired(first: Scored, second: Scored, recall: float) -> str:
    """The difference of two systems in precision at a recall, on the same resampled documents."""
    differences = []
    rng = generator(0, "context", "paired")
    documents = np.unique(np.concatenate([first.document, second.document]))
    places = [
        {document: np.flatnonzero(each.document == document) for document in documents.tolist()}
        for each in (first, second)
    ]
    for _ in range(N_RESAMPLES):
        drawn = rng.choice(documents, len(documents)).tolist()
        values = [
            precision_at(each.at(np.concatenate([of[document] for document in drawn])), recall)
            for each, of in zip((first, second), places, strict=True)
        ]
        differences.append(values[0] - values[1])
    value = precision_at(first, recall) - precision_at(second, recall)
    low, high = np.nanquantile(differences, [0.025, 0.975])
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"
