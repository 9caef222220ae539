"""How far two sets of extracted edits agree on the same sentences: spans, types, and confusions of types.

It compares an extraction engine with another engine, or with the edits of a corpus, for each annotator of each
sentence:

- *spans*: precision, recall and F1 of (start, end, correction), the second side compared with the first;
- *type*: the share of edits with equal spans that have the same type;
- *both*: F1 of span, correction and type together.

Intervals are by document if known, else by sentence. The confusions count pairs (type on the first side, type on the
second) of edits with equal spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.measure.corrections.scores import References, design_of, require_same_sources
from grater.model import Essay, Interval, Json
from grater.result import FLAT, HIDDEN, Estimate, in_json, key
from grater.sheet import Sheet, Signature, count, counted, interval, undefined_notes, with_notes
from grater.uncertainty import BASIS, Numbers, Scope, Scoped, influences, ratio, share

Spans: TypeAlias = dict[tuple[int, int, str], str]
"""Types by start, end and correction."""

MOST_CONFUSIONS = 20
SCORES = ("precision", "recall", "f1", "type_accuracy", "f1_with_type")
TITLES = {"precision": "P", "recall": "R", "f1": "F1", "type_accuracy": "type", "f1_with_type": "F1 with type"}


def _confusions_json(confusions: Mapping[tuple[str, str], int]) -> list[dict[str, Json]]:
    return [{"first": first, "second": second, "n": n} for (first, second), n in confusions.items()]


@dataclass(frozen=True, slots=True, repr=False)
class EditComparison(Scoped):
    """Agreement of two sets of edits, and the confused types: (first, second) with their frequency."""

    first: str
    second: str
    n_sentences: int
    n_first: int = field(metadata=HIDDEN)
    n_second: int = field(metadata=HIDDEN)
    scores: dict[str, Interval] = field(metadata=FLAT)
    confusions: dict[tuple[str, str], int] = field(metadata=key(write=_confusions_json))
    scope: Scope
    signature: Signature

    @property
    @in_json()
    def edits(self) -> dict[str, int]:
        return {"first": self.n_first, "second": self.n_second}

    def estimates(self) -> Iterator[Estimate]:
        for name, score in self.scores.items():
            yield {"score": name}, score

    def sheets(self) -> list[Sheet]:
        sizes = f"{counted(self.n_sentences, 'sentence')}; edits: {count(self.n_first)} and {count(self.n_second)}"
        scores = Sheet(
            f"Edits of {self.second} beside those of {self.first}",
            tuple(TITLES[name] for name in SCORES),
            (tuple(interval(self.scores[name]) for name in SCORES),),
            (sizes, *undefined_notes(self.scores.values())),
            name="scores",
        )
        sheets = [scores, self._confusions()] if self.confusions else [scores]
        return with_notes(sheets, [self.scope.sentence], str(self.signature))

    def _confusions(self) -> Sheet:
        most = list(self.confusions.items())[:MOST_CONFUSIONS]
        rows = tuple((one, other, count(n)) for (one, other), n in most)
        rest = sum(self.confusions.values()) - sum(n for _, n in most)
        notes = (f"and {counted(rest, 'other')} of rarer kinds",) if rest else ()
        return Sheet(
            "Types confused, the commonest first", (self.first, self.second, "edits"), rows, notes, name="types"
        )


def compare_edits(
    first: Iterable[Essay], second: Iterable[Essay], *, first_name: str = "first", second_name: str = "second"
) -> EditComparison:
    theirs, ours = list(first), list(second)
    require_same_sources(theirs, ours, reference_name=first_name, hypothesis_name=second_name)
    confusions: Counter[tuple[str, str]] = Counter()
    rows = np.array([_counted(one, other, confusions) for one, other in zip(theirs, ours, strict=True)], np.float64)
    if not len(rows):
        raise UsageError(f"{first_name}: expected sentences to compare, found none")
    design = design_of(len(rows), References(first_name, theirs).documents, BASIS)
    units = design.units(rows)
    n_cases = _parts(units.rows)[1]
    its = dict(zip(SCORES, influences(units, lambda sums: ratio(*_parts(sums)), n_cases.T), strict=True))
    return EditComparison(
        first_name,
        second_name,
        n_sentences=len(theirs),
        n_first=sum(len(essay.edits) for essay in theirs),
        n_second=sum(len(essay.edits) for essay in ours),
        scores={name: share(it, n=float(it.den.sum())) for name, it in its.items()},
        confusions=dict(confusions.most_common()),
        scope=design.scope,
        signature=Signature("edits-compared", {"spans": "tokens+correction", **BASIS.signature(design.scope.unit)}),
    )


def _counted(one: Essay, other: Essay, confusions: Counter[tuple[str, str]]) -> tuple[int, int, int, int]:
    """Equal spans, spans on one side only (first, second), and equal types, over all shared annotators."""
    n_equal = n_first = n_second = n_typed = 0
    for name, their_name in zip(one.annotators, other.annotators, strict=True):
        theirs, ours = _spans(one, name), _spans(other, their_name)
        equal = [span for span in theirs if span in ours]
        n_equal, n_first, n_second = n_equal + len(equal), n_first + len(theirs), n_second + len(ours)
        n_typed += sum(theirs[span] == ours[span] for span in equal)
        confusions.update((theirs[span], ours[span]) for span in equal if theirs[span] != ours[span])
    return n_equal, n_first - n_equal, n_second - n_equal, n_typed


def _spans(essay: Essay, annotator: str) -> Spans:
    return {
        (edit.span.start, edit.span.end, edit.replacements[0] if edit.replacements else ""): edit.tag
        for edit in essay.edits
        if edit.rater == annotator
    }


def _parts(sums: Numbers) -> tuple[Numbers, Numbers]:
    equal, first, second, typed = np.moveaxis(sums, -1, 0)
    whole = 2 * equal + first + second
    above, below = (equal, equal, 2 * equal, typed, 2 * typed), (equal + second, equal + first, whole, equal, whole)
    return np.stack(above, axis=-1), np.stack(below, axis=-1)
