"""Sentence accuracy: the share of sentences that a system corrects exactly as one of the annotators did.

This score is simple and strict: a sentence counts if its words, case included, equal some annotator's corrected text.
The score therefore grows with the number of annotators; `grater score --ceiling --metric accuracy` scores people
against the same number of references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grater.measure.corrections.scores import (
    AnnotatorCounts,
    Bools,
    Hypothesis,
    Metric,
    MetricOptions,
    References,
    SentenceCounts,
    corrected_texts,
    hypothesis_texts,
    of_rows,
)
from grater.sheet import Signature, digest
from grater.uncertainty import Ints, Numbers

COLUMNS = ("right", "sentences")


@dataclass(frozen=True, slots=True)
class AccuracyMetric(Metric):
    name: str = "accuracy"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = True

    def scores(self, sums: Numbers, options: MetricOptions) -> Numbers:
        shares: Numbers = np.divide(sums[..., 0], sums[..., 1], out=np.ones(sums.shape[:-1]), where=sums[..., 1] != 0)
        return shares[..., None]

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]:
        wanted = [set(corrected_texts(essay).values()) for essay in references.essays]
        counted = []
        for hypothesis in hypotheses:
            texts = _texts(references, hypothesis)
            is_right = [text in accepted for text, accepted in zip(texts, wanted, strict=True)]
            counted.append(of_rows(hypothesis.system, _rows(is_right)))
        return counted

    def signature(self, references: References, options: MetricOptions) -> Signature:
        parts = (part for essay in references.essays for part in (essay.text, *corrected_texts(essay).values()))
        return Signature("accuracy", {"case": "kept", "tokens": "as-reference", "reference": digest(parts)})

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        annotators = tuple(dict.fromkeys(name for essay in references.essays for name in essay.annotators))
        wanted = [corrected_texts(essay) for essay in references.essays]
        for hypothesis in hypotheses:
            texts = _texts(references, hypothesis)
            is_right = [[texts[at] == by_name[name] for name in annotators] for at, by_name in enumerate(wanted)]
            right = np.array(is_right, np.int64).reshape(len(wanted), len(annotators))
            yield AnnotatorCounts(annotators, np.stack([right, np.ones_like(right)], axis=-1))

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: MetricOptions) -> list[SentenceCounts]:
        right = counts.cells[..., 0].astype(np.bool_)
        return [of_rows("", _rows(np.asarray(right[:, members].any(axis=1)))) for members in subsets]


def _rows(is_right: Sequence[bool] | Bools) -> Ints:
    right = np.array(is_right, np.int64)
    return np.stack([right, np.ones_like(right)], axis=-1)


def _texts(references: References, hypothesis: Hypothesis) -> list[str]:
    return [" ".join(text.split()) for text in hypothesis_texts(references, hypothesis)]


METRIC = AccuracyMetric()
