"""ERRANT's score as a metric: hypotheses are edits (`errant`), or texts that edits are extracted from (`extract`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grater.corpora.format import Source
from grater.errors import UsageError
from grater.evaluate.edits.counts import AnnotatorCounts, Bools, Ints, SentenceCounts, of_rows
from grater.evaluate.edits.errant import errant_signature, score_errant
from grater.evaluate.edits.errant_match import match
from grater.evaluate.edits.errant_table import EditTable, read_table, table_of
from grater.evaluate.edits.extract import extract_edits
from grater.evaluate.edits.metrics import Options
from grater.evaluate.edits.pairing import require_same_sources, source_words
from grater.evaluate.edits.prf import COLUMNS, precision_recall_f, score_names
from grater.evaluate.edits.subsets import choose, chosen_rows, errant_keys
from grater.evaluate.edits.systems import Hypothesis, References, Sentences
from grater.evaluate.resampling import Numbers
from grater.model import Essay
from grater.signature import Signature


@dataclass(frozen=True, slots=True)
class ErrantMetric:
    name: str = "errant"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = False

    def read(self, source: Source) -> Sentences:
        return read_table(source)

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
        table = _table(references.sentences)
        return [_counted(references.name, table, hypothesis, options) for hypothesis in hypotheses]

    def signature(self, references: References, options: Options) -> Signature:
        made = errant_signature(references.sentences, mode=options.mode, beta=options.beta)
        model = {"spacy": options.spacy_model} if options.spacy_model else {}
        return replace(made, options={**made.options, **model, "tokens": "as-reference"})

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        return Hypothesis(annotator, annotator, sentences=[_only(essay, annotator) for essay in essays])

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: Options
    ) -> Iterator[AnnotatorCounts]:
        theirs = _table(references.sentences)
        annotators = tuple(dict.fromkeys(theirs.group_annotator))
        for hypothesis in hypotheses:
            ours = _table(_edits(theirs, hypothesis, options))
            require_same_sources(
                theirs.sentences, ours.sentences, reference_name=references.name, hypothesis_name=hypothesis.name
            )
            if len(ours.group_sentence) != len(ours.sentences):
                raise UsageError(
                    f"{hypothesis.name}: expected the edits of one annotator, found several; keep one of them"
                )
            yield AnnotatorCounts(annotators, _cells(theirs, ours, annotators, options))

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: Options) -> list[SentenceCounts]:
        chosen = choose(counts.cells, subsets, errant_keys(options.beta))
        return [of_rows("", rows) for rows in chosen_rows(counts.cells, chosen)]


def _counted(name: str, references: EditTable, hypothesis: Hypothesis, options: Options) -> SentenceCounts:
    found = score_errant(
        references,
        _edits(references, hypothesis, options),
        mode=options.mode,
        beta=options.beta,
        reference_name=name,
        hypothesis_name=hypothesis.name,
    )
    by_type = found.by_type.dense(options.tier) if options.tier else {}
    return of_rows(hypothesis.system, found.counts, references=found.reference_annotators, by_type=by_type)


def _cells(theirs: EditTable, ours: EditTable, annotators: Sequence[str], options: Options) -> Ints:
    """The counts against each annotator: (sentences, annotators, 3)."""
    matched = match(theirs, ours, mode=options.mode)
    place = {name: number for number, name in enumerate(annotators)}
    annotator = np.array([place[name] for name in theirs.group_annotator], np.int64)
    cells = np.zeros((len(theirs.sentences), len(annotators), 3), np.int64)
    cells[theirs.group_sentence[matched.theirs], annotator[matched.theirs]] = matched.counts
    return cells


def _edits(references: EditTable, hypothesis: Hypothesis, options: Options) -> Sentences:
    """The edits as they are, or out of the text by the errant package, where a spaCy model is named for it."""
    if hypothesis.texts is None:
        return hypothesis.sentences
    if options.spacy_model is None:
        raise UsageError(
            f"{hypothesis.name}: expected edits (M2) for the metric errant, found plain text; name a spaCy model to "
            "extract edits with (--spacy-model), or give M2"
        )
    sources = [" ".join(source_words(sentence)) for sentence in references.sentences]
    texts = hypothesis.texts
    return list(extract_edits(sources, texts, spacy_model=options.spacy_model, name=hypothesis.name))


def _table(sentences: Sentences) -> EditTable:
    return sentences if isinstance(sentences, EditTable) else table_of(sentences)


def _only(essay: Essay, annotator: str) -> Essay:
    edits = tuple(edit for edit in essay.edits if edit.rater == annotator)
    return replace(essay, edits=edits, annotators=(annotator,))


METRIC = ErrantMetric()
