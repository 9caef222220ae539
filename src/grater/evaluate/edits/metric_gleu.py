"""GLEU as a metric: references are texts, and one of a sentence's is drawn at random (`gleu`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grater.corpora.format import Source
from grater.corpora.m2 import FORMAT
from grater.evaluate.edits.counts import AnnotatorCounts, Bools, SentenceCounts
from grater.evaluate.edits.gleu import (
    GleuStatistics,
    corpus_gleu,
    gleu_of_sums,
    gleu_signature,
    gleu_statistics,
    sentence_gleu,
)
from grater.evaluate.edits.gleu_texts import corrected_texts
from grater.evaluate.edits.metrics import Options
from grater.evaluate.edits.pairing import require_same_sources, source_words
from grater.evaluate.edits.systems import Hypothesis, References, Sentences, require_texts_fit
from grater.evaluate.resampling import Numbers
from grater.model import Essay
from grater.signature import Signature

ORDERS = range(1, 5)
COLUMNS = ("length", "reference_length", *(f"{what}{n}" for n in ORDERS for what in ("matches", "total")))


@dataclass(frozen=True, slots=True)
class GleuMetric:
    name: str = "gleu"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = True

    def read(self, source: Source) -> Sentences:
        return list(FORMAT.read(source))

    def score_names(self, options: Options) -> tuple[str, ...]:  # noqa: ARG002
        return ("gleu",)

    def scores(self, sums: Numbers, options: Options) -> Numbers:  # noqa: ARG002
        return gleu_of_sums(sums)[..., None]

    def values(self, counts: SentenceCounts, options: Options) -> Numbers:  # noqa: ARG002
        return np.array([corpus_gleu(GleuStatistics(counts.cells, counts.n_rows)).value])

    def sentence_scores(self, counts: SentenceCounts, options: Options) -> Numbers:  # noqa: ARG002
        return sentence_gleu(GleuStatistics(counts.cells, counts.n_rows))[:, None]

    def count(
        self,
        references: References,
        hypotheses: Sequence[Hypothesis],
        options: Options,  # noqa: ARG002
    ) -> list[SentenceCounts]:
        texts = [list(corrected_texts(essay).values()) for essay in references.essays]
        found = [(hypothesis.system, _statistics(references, hypothesis, texts)) for hypothesis in hypotheses]
        return [SentenceCounts(system, counted.counts, counted.n_references) for system, counted in found]

    def signature(self, references: References, options: Options) -> Signature:  # noqa: ARG002
        texts = [list(corrected_texts(essay).values()) for essay in references.essays]
        return gleu_signature([_source(essay) for essay in references.essays], texts)

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        return Hypothesis(annotator, annotator, texts=[corrected_texts(essay)[annotator] for essay in essays])

    def against_each(
        self,
        references: References,
        hypotheses: Sequence[Hypothesis],
        options: Options,  # noqa: ARG002
    ) -> Iterator[AnnotatorCounts]:
        by_annotator = [corrected_texts(essay) for essay in references.essays]
        annotators = tuple(by_annotator[0])
        texts = [[of_sentence[name] for name in annotators] for of_sentence in by_annotator]
        for hypothesis in hypotheses:
            yield AnnotatorCounts(annotators, _statistics(references, hypothesis, texts).counts)

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: Options) -> list[SentenceCounts]:  # noqa: ARG002
        return [
            SentenceCounts("", cells := counts.cells[:, subset], np.full(len(cells), int(subset.sum()), np.int64))
            for subset in subsets
        ]


def _statistics(references: References, hypothesis: Hypothesis, texts: Sequence[Sequence[str]]) -> GleuStatistics:
    return gleu_statistics([_source(essay) for essay in references.essays], _corrected(references, hypothesis), texts)


def _corrected(references: References, hypothesis: Hypothesis) -> Sequence[str]:
    texts = hypothesis.texts
    if texts is not None:
        require_texts_fit(references, hypothesis, texts)
        return texts
    require_same_sources(
        references.essays, hypothesis.essays, reference_name=references.name, hypothesis_name=hypothesis.name
    )
    return [next(iter(corrected_texts(essay).values())) for essay in hypothesis.essays]


def _source(essay: Essay) -> str:
    return " ".join(source_words(essay))


METRIC = GleuMetric()
