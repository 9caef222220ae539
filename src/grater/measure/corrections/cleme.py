"""CLEME: cuts hypothesis and references into the same chunks and counts chunk by chunk.

Ye, Li, Zhou, Li, Ma, Zheng and Shen 2023, "CLEME: Debiasing multi-reference evaluation for grammatical error
correction" (EMNLP), sections 3 and 4; this is the variant with the *independence* assumption and length weights, at
corpus level; results equal those of the authors' program.

*Chunks* (3.1): the spans of all edits, of the hypothesis and of every annotator, are merged if they overlap or touch;
the text in between is unchanged. All sides therefore have the same chunks, and a change that one annotator makes in
one edit and another in two is not counted twice.

*Counts* (3.2): a chunk that the hypothesis changes is a true positive if some annotator has the same words there,
else a false positive.  One that it leaves alone is a false negative if every annotator changes it, else a true
negative, which no score uses.

*Weights* (3.3): a chunk of length x (the longer of its two sides) counts alpha / (1 + (alpha - 1) exp(m - x)), and as
a false positive with m - x negated; m is the mean length of the annotators' changed chunks, alpha is 2, and weights
are kept within [.75, 1.25]. The reason: long corrections are harder to get right, and a long false one is one
mistake, not many.

Chunks depend on the hypothesis and all annotators at once, so counts against a subset of annotators cannot be derived
from counts against each. This metric therefore has no human ceiling. Intervals hold the chunks and m fixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from grater.corpora.normalise import tokens_of_edit
from grater.measure.corrections.errant import errant_signature, extracted, extracted_with
from grater.measure.corrections.scores import (
    COLUMNS,
    EditMetric,
    Hypothesis,
    MetricOptions,
    References,
    SentenceCounts,
    of_rows,
    require_same_sources,
    source_words,
)
from grater.model import Essay
from grater.sheet import Signature

ALPHA = 2.0
LEAST, MOST = 0.75, 1.25

Words: TypeAlias = tuple[str, ...]


class TokenEdit(NamedTuple):
    start: int
    end: int
    words: Words


class Chunk(NamedTuple):
    """A stretch of the source on one side: whether that side changes it, and its words there."""

    is_changed: bool
    words: Words


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence cut into chunks: source lengths, the hypothesis's side, and each annotator's."""

    lengths: tuple[int, ...]
    hypothesis: tuple[Chunk, ...]
    references: tuple[tuple[Chunk, ...], ...]


def cut(source: Sequence[str], sides: Sequence[Sequence[TokenEdit]]) -> Cut:
    """The chunks of a sentence; the first side is the hypothesis, the others are annotators.

    An annotator who deletes the whole sentence would merge everything into one chunk, and is left out if another
    annotator remains.
    """
    whole = (0, len(source))
    kept = [side for side in sides[1:] if _chunk(source, whole, side).words] or sides[1:2]
    sides = [sides[0], *kept]
    spans = _joined([(edit.start, edit.end) for side in sides for edit in side])
    pieces = [tuple(_chunk(source, span, side) for span in spans) for side in sides]
    return Cut(tuple(end - start for start, end in spans), pieces[0], tuple(pieces[1:]))


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _chunk(source: Sequence[str], span: tuple[int, int], side: Sequence[TokenEdit]) -> Chunk:
    inside = sorted(edit for edit in side if span[0] <= edit.start and edit.end <= span[1])
    words, at = list[str](), span[0]
    for edit in inside:
        words += [*source[at : edit.start], *edit.words]
        at = edit.end
    return Chunk(bool(inside), (*words, *source[at : span[1]]))


def _length(n_source: int, chunk: Chunk) -> int:
    return max(n_source, len(chunk.words))


def mean_length(cuts: Sequence[Cut]) -> float:
    """The mean length of the chunks that annotators change; 0 if they change none."""
    lengths = [
        _length(n_source, chunk)
        for sentence in cuts
        for reference in sentence.references
        for n_source, chunk in zip(sentence.lengths, reference, strict=True)
        if chunk.is_changed
    ]
    return float(np.mean(lengths)) if lengths else 0.0


def count_chunks(sentence: Cut, mean: float) -> tuple[float, float, float]:
    tp = fp = fn = 0.0
    for place, (n_source, chunk) in enumerate(zip(sentence.lengths, sentence.hypothesis, strict=True)):
        wanted = [reference[place] for reference in sentence.references]
        length = _length(n_source, chunk)
        if chunk.is_changed and any(chunk.words == other.words for other in wanted):
            tp += weight(mean - length)
        elif chunk.is_changed:
            fp += weight(length - mean)
        elif all(other.is_changed for other in wanted):
            fn += weight(mean - length)
    return tp, fp, fn


def weight(exponent: float) -> float:
    return float(np.clip(ALPHA / (1 + (ALPHA - 1) * np.exp(exponent)), LEAST, MOST))


@dataclass(frozen=True, slots=True)
class ClemeMetric(EditMetric):
    name: str = "cleme"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = False

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]:
        return [_counted(references, hypothesis, options) for hypothesis in hypotheses]

    def signature(self, references: References, options: MetricOptions) -> Signature:
        made = errant_signature(references.essays, mode="cs", beta=options.beta)
        kept = {name: made.options[name] for name in ("beta", "zero", "reference")}
        how = {"assumption": "independent", "weights": "length", "alpha": f"{ALPHA:g}", "tokens": "as-reference"}
        return Signature("cleme", {**kept, **how, **extracted_with(references, options)})


def _counted(references: References, hypothesis: Hypothesis, options: MetricOptions) -> SentenceCounts:
    sentences = _edited(references, hypothesis, options)
    cuts = [_cut(reference, ours) for reference, ours in zip(references.essays, sentences, strict=True)]
    mean = mean_length(cuts)
    rows = np.array([count_chunks(sentence, mean) for sentence in cuts], np.float64).reshape(len(cuts), 3)
    return of_rows(hypothesis.system, rows)


def _edited(references: References, hypothesis: Hypothesis, options: MetricOptions) -> Sequence[Essay]:
    lines = hypothesis.essays if hypothesis.texts is None else hypothesis.texts
    require_same_sources(references.essays, lines, reference_name=references.name, hypothesis_name=hypothesis.name)
    if hypothesis.texts is None:
        return hypothesis.essays
    return extracted(references.essays, hypothesis, hypothesis.texts, options)


def _cut(reference: Essay, hypothesis: Essay) -> Cut:
    first = hypothesis.annotators[0] if hypothesis.annotators else ""
    sides = [_token_edits(hypothesis, first)]
    sides += [_token_edits(reference, name) for name in reference.annotators or ("",)]
    return cut(source_words(reference), sides)


def _token_edits(essay: Essay, annotator: str) -> list[TokenEdit]:
    """An annotator's edits in tokens; edits that only detect an error change nothing."""
    edits = []
    for edit in essay.edits:
        place = tokens_of_edit(edit, essay.text, essay.tokens or ())
        if edit.rater == annotator and edit.replacements and place is not None:
            edits.append(TokenEdit(place.start, place.end, tuple(edit.replacements[0].split())))
    return edits


METRIC = ClemeMetric()
