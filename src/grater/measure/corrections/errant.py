"""Edit-based scores as `errant_compare` counts them, with edits extracted from plain text if necessary.

Bryant, Felice and Briscoe 2017, "Automatic annotation and evaluation of error types for grammatical error
correction", section 5; checked against `errant_compare` of errant 3.0.2.  Four modes say when two edits match:

    cs   same span and correction (ERRANT's default)       ds   same span
    cse  same span, correction and type                    dt   token by token; an insertion is on the token after it

A true positive has the reference's type, a false positive the hypothesis's. No-ops match nothing. Edits of type `UNK`
(detected but not corrected) count only in detection. If an annotator has several edits at the matched span, each edit
of the *reference* there counts as a true positive, as in ERRANT.

With several annotators, each sentence uses the pair (hypothesis, reference) that gives the best F of the corpus *so
far*, rounded to four places; ties go to more true positives, then fewer false positives, fewer false negatives, and
the earlier pair. The choice therefore depends on beta and on the order of sentences, as in ERRANT.

Departure: an edit that an annotator has twice (same span, correction and type; `errant_parallel` can write these)
counts once. ERRANT counts one hypothesis edit as two true positives there (errant #49). The signature says
`duplicates:once`; without duplicates, the numbers equal ERRANT's. 0/0 is 1, as in ERRANT.

**Plain text** is turned into edits by an engine (`corpora.edits.engine`): our own rules, or the errant package.  The
signature names the engine and its version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from grater.corpora.formats import Source
from grater.errors import UsageError
from grater.measure.corrections.edit_table import (
    FN,
    FP,
    TP,
    EditTable,
    Matched,
    Mode,
    Tier,
    match,
    read_table,
    table_of,
    tier_of,
)
from grater.measure.corrections.scores import (
    COLUMNS,
    AnnotatorCounts,
    EditMetric,
    Hypothesis,
    Keys,
    MetricOptions,
    References,
    SentenceCounts,
    Sentences,
    Sourced,
    choose_annotators,
    of_rows,
    require_same_sources,
    source_words,
)
from grater.model import Essay
from grater.sheet import Signature, digest
from grater.uncertainty import Ints, Numbers


def errant_signature(references: Sentences, *, mode: Mode, beta: float) -> Signature:
    """How scores against these references are computed; scores with equal signatures are comparable."""
    table = _table(references)
    texts = (" ".join(sentence.text.split()) for sentence in table.sentences)
    groups = (f"{place} {name}" for place, name in zip(table.group_sentence, table.group_annotator, strict=True))
    numbers = np.stack([table.group, table.start, table.end, table.tag, table.correction], axis=1).tolist()
    edits = (
        f"{group} {start} {end} {table.tags[tag]} {table.corrections[correction]}"
        for group, start, end, tag, correction in numbers
    )
    parts = digest([*texts, *groups, *edits])
    options = {"mode": mode, "beta": f"{beta:g}", "duplicates": "once", "zero": "1", "reference": parts}
    return Signature("errant", options)


def choose_pairs(matched: Matched, *, beta: float) -> Ints:
    """For each sentence, the pair that maximises F of the corpus so far; ties go to the first."""
    n_pairs = np.bincount(matched.hypothesis.group_sentence[matched.ours], minlength=matched.n_sentences)
    first, place = np.cumsum(n_pairs) - n_pairs, np.arange(n_pairs.max(initial=0))
    is_there = place < n_pairs[:, None]
    cells = matched.counts[np.where(is_there, first[:, None] + place, first[:, None])]
    pairs: Ints = first + choose_annotators(cells, is_there[:, None], errant_keys(beta))[0]
    return pairs


def _by_type(matched: Matched, chosen: Ints, tier: Tier) -> dict[str, Ints]:
    """Sentences x (tp, fp, fn) of the chosen pairs for each type; matches have the reference's type."""
    ours, theirs = matched.hypothesis, matched.reference
    our_rows = np.isin(ours.group, matched.ours[chosen]).nonzero()[0]
    their_rows = np.isin(theirs.group, matched.theirs[chosen]).nonzero()[0]
    made_up = our_rows[~np.isin(ours.key[our_rows], theirs.key[their_rows])]
    is_met = np.isin(theirs.key[their_rows], ours.key[our_rows])
    sentence = np.concatenate([ours.sentence[made_up], theirs.sentence[their_rows]])
    type_of = np.concatenate([ours.type_of[made_up], theirs.type_of[their_rows]])
    column = np.concatenate([np.full(len(made_up), FP), np.where(is_met, TP, FN)])
    name_of = {place: tier_of(matched.types[place], tier) for place in np.unique(type_of).tolist()}
    counts = {name: np.zeros((matched.n_sentences, 3), np.int64) for name in sorted(set(name_of.values()))}
    for place, name in name_of.items():
        own = type_of == place
        np.add.at(counts[name], (sentence[own], column[own]), 1)
    return counts


def errant_keys(beta: float) -> Keys:
    """F so far to four places, then more true positives, fewer false positives, fewer false negatives.

    Follows ERRANT's order of operations, because the last bit can decide a choice.
    """

    def keys(sums: Ints) -> list[Numbers]:
        tp, fp, fn = np.moveaxis(sums.astype(np.float64), -1, 0)
        precision = np.divide(tp, tp + fp, out=np.ones(tp.shape), where=fp != 0)
        recall = np.divide(tp, tp + fn, out=np.ones(tp.shape), where=fn != 0)
        below = beta**2 * precision + recall
        f = np.divide((1 + beta**2) * precision * recall, below, out=np.zeros(tp.shape), where=below != 0)
        rounded = np.round(f, 4)
        # Python's `round` is exact; numpy's is not where the fifth place is a 5 followed by nothing much.
        near = np.abs(f * 1e4 % 1 - 0.5) < 1e-6
        rounded[near] = [round(value, 4) for value in f[near].tolist()]
        return [rounded, tp, -fp, -fn]

    return keys


@dataclass(frozen=True, slots=True)
class ErrantMetric(EditMetric):
    name: str = "errant"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = False

    def read(self, source: Source) -> Sentences:
        return read_table(source)

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]:
        table = _table(references.sentences)
        return [_counted(references.name, table, hypothesis, options) for hypothesis in hypotheses]

    def signature(self, references: References, options: MetricOptions) -> Signature:
        made = errant_signature(references.sentences, mode=options.mode, beta=options.beta)
        return replace(
            made, options={**made.options, **extracted_with(references, options), "tokens": "as-reference"}
        )

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        return Hypothesis(annotator, annotator, sentences=[_only(essay, annotator) for essay in essays])

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        theirs = _table(references.sentences)
        annotators = tuple(dict.fromkeys(theirs.group_annotator))
        for hypothesis in hypotheses:
            ours = _table(_edits_of_hypothesis(theirs, hypothesis, options))
            require_same_sources(
                theirs.sentences, ours.sentences, reference_name=references.name, hypothesis_name=hypothesis.name
            )
            if len(ours.group_sentence) != len(ours.sentences):
                raise UsageError(
                    f"{hypothesis.name}: expected the edits of one annotator, found several; keep one of them"
                )
            matched = match(theirs, ours, mode=options.mode)
            place = {name: number for number, name in enumerate(annotators)}
            annotator = np.array([place[name] for name in theirs.group_annotator], np.int64)
            cells = np.zeros((len(theirs.sentences), len(annotators), 3), np.int64)
            cells[theirs.group_sentence[matched.theirs], annotator[matched.theirs]] = matched.counts
            yield AnnotatorCounts(annotators, cells)

    def keys(self, options: MetricOptions) -> Keys:
        return errant_keys(options.beta)


def extracted_with(references: References, options: MetricOptions) -> dict[str, str]:
    """The engine behind a score, for its signature."""
    if not options.extracts:
        return {"engine": references.engine} if references.engine else {}
    from grater.corpora.edits.engine import load_engine

    return {"engine": load_engine(options.engine).name}


def _counted(name: str, references: EditTable, hypothesis: Hypothesis, options: MetricOptions) -> SentenceCounts:
    edits = _table(_edits_of_hypothesis(references, hypothesis, options))
    require_same_sources(references.sentences, edits.sentences, reference_name=name, hypothesis_name=hypothesis.name)
    matched = match(references, edits, mode=options.mode)
    chosen = choose_pairs(matched, beta=options.beta)
    annotators = [references.group_annotator[group] for group in matched.theirs[chosen].tolist()]
    by_type = _by_type(matched, chosen, options.tier) if options.tier else {}
    return of_rows(hypothesis.system, matched.counts[chosen], references=annotators, by_type=by_type)


def _edits_of_hypothesis(references: EditTable, hypothesis: Hypothesis, options: MetricOptions) -> Sentences:
    if hypothesis.texts is None:
        return hypothesis.sentences
    return extracted(references.sentences, hypothesis, hypothesis.texts, options)


def extracted(
    sentences: Sequence[Sourced], hypothesis: Hypothesis, texts: Sequence[str], options: MetricOptions
) -> list[Essay]:
    """The sentences of the references, with the edits that turn them into a system's text."""
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays  # edits in M2 need neither this nor a tagger

    sources = [" ".join(source_words(sentence)) for sentence in sentences]
    engine = load_engine(options.engine)
    return list(parallel_essays(sources, {hypothesis.name: texts}, engine, source_name="the references"))


def _table(sentences: Sentences) -> EditTable:
    return sentences if isinstance(sentences, EditTable) else table_of(cast("Sequence[Essay]", sentences))


def _only(essay: Essay, annotator: str) -> Essay:
    edits = tuple(edit for edit in essay.edits if edit.rater == annotator)
    return replace(essay, edits=edits, annotators=(annotator,))


METRIC = ErrantMetric()
