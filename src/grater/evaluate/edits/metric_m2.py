"""The M2 score as a metric: hypotheses are texts, or edits that are applied first (`maxmatch`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grater.corpora.format import Source
from grater.corpora.m2 import FORMAT
from grater.evaluate.edits.counts import AnnotatorCounts, Bools, SentenceCounts, of_rows
from grater.evaluate.edits.gleu_texts import corrected_texts
from grater.evaluate.edits.maxmatch import (
    Counts,
    choose_references,
    corrected_tokens,
    count_systems,
    gold_edits,
    source_tokens,
)
from grater.evaluate.edits.metrics import Options
from grater.evaluate.edits.pairing import require_same_sources
from grater.evaluate.edits.prf import COLUMNS, precision_recall_f, score_names
from grater.evaluate.edits.subsets import choose, chosen_rows, maxmatch_keys
from grater.evaluate.edits.systems import Hypothesis, References, Sentences, require_texts_fit
from grater.evaluate.resampling import Numbers
from grater.model import Essay
from grater.signature import Signature, digest


@dataclass(frozen=True, slots=True)
class M2Metric:
    name: str = "m2"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = False

    def read(self, source: Source) -> Sentences:
        return list(FORMAT.read(source))

    def score_names(self, options: Options) -> tuple[str, ...]:
        return score_names(options.beta)

    def scores(self, sums: Numbers, options: Options) -> Numbers:
        return precision_recall_f(sums, beta=options.beta)

    def values(self, counts: SentenceCounts, options: Options) -> Numbers:
        return self.scores(counts.cells.sum(axis=(0, 1)), options)

    def sentence_scores(self, counts: SentenceCounts, options: Options) -> Numbers:
        return self.scores(counts.cells[:, 0].astype(np.float64), options)

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: Options
    ) -> list[SentenceCounts]:
        found = []
        for hypothesis, counts in zip(hypotheses, _counted(references, hypotheses, options), strict=True):
            chosen = choose_references(counts, beta=options.beta)
            found.append(of_rows(hypothesis.system, chosen.counts, references=chosen.annotators))
        return found

    def signature(self, references: References, options: Options) -> Signature:
        numbers = {"beta": f"{options.beta:g}", "unchanged": str(options.max_unchanged), "zero": "1"}
        parts = (part for essay in references.essays for part in _parts(essay))
        return Signature("m2", {**numbers, "tokens": "as-reference", "reference": digest(parts)})

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        return Hypothesis(annotator, annotator, texts=[corrected_texts(essay)[annotator] for essay in essays])

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: Options
    ) -> Iterator[AnnotatorCounts]:
        # Annotators stand in the order in which the official scorer would try them.
        order = tuple(gold_edits(references.essays[0]))
        for counted in _counted(references, hypotheses, options):
            rows = np.array([[counts[name] for name in order] for counts in counted], np.int64)
            correct, proposed, wanted = np.moveaxis(rows, -1, 0)
            yield AnnotatorCounts(order, np.stack([correct, proposed - correct, wanted - correct], axis=-1))

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: Options) -> list[SentenceCounts]:
        chosen = choose(counts.cells, subsets, maxmatch_keys(options.beta))
        return [of_rows("", rows) for rows in chosen_rows(counts.cells, chosen)]


def _counted(
    references: References, hypotheses: Sequence[Hypothesis], options: Options
) -> list[list[dict[str, Counts]]]:
    """For each hypothesis and sentence the counts against every annotator."""
    # By number: an annotator, as a hypothesis, may bear the name of a system.
    words = {str(place): _corrected(references, hypothesis) for place, hypothesis in enumerate(hypotheses)}
    return list(count_systems(references.essays, words, max_unchanged=options.max_unchanged).values())


def _corrected(references: References, hypothesis: Hypothesis) -> list[Sequence[str]]:
    """The words of every sentence as the system has them."""
    if hypothesis.texts is not None:
        require_texts_fit(references, hypothesis, hypothesis.texts)
        return [text.split() for text in hypothesis.texts]
    require_same_sources(
        references.essays, hypothesis.essays, reference_name=references.name, hypothesis_name=hypothesis.name
    )
    return [corrected_tokens(essay) for essay in hypothesis.essays]


def _parts(essay: Essay) -> Iterator[str]:
    yield " ".join(source_tokens(essay))
    for annotator, edits in gold_edits(essay).items():
        yield f"{annotator} {edits}"


METRIC = M2Metric()
