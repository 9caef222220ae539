"""GLEU for grammatical error correction: rewards n-grams shared with a reference, penalises those left uncorrected.

Napoles, Sakaguchi, Post and Tetreault 2015, "Ground truth for grammatical error correction metrics", as corrected in
"GLEU Without Tuning" (2016); checked against the formula of the authors' script (`gleu.py` of JFLEG):

    GLEU = min(1, exp(1 - r / c)) * (product over n = 1..4 of matches_n / total_n) ** (1/4)

computed from sums over sentences, where c and r are the lengths of hypotheses and references. If any sum is 0, the
score is 0. For each sentence, reference and n from 1 to 4 (2016, equation 1, as the script counts it):

    matches   sum over n-grams of min(H, R), less the sum of min(H, S) over n-grams of the source that the reference
              lacks altogether; never below 0
    total     the n-grams of the hypothesis, max(length + 1 - n, 0)

where H, R and S are the counts of the n-gram in the hypothesis, the reference and the source. Words are those between
white space.

Each sentence is scored against one reference drawn at random; the corpus's GLEU is the mean over 500 draws, the
authors' own: Python 2's `random.seed(101 * j)` and `randint`, for j from 0 to 499, drawn again number by number. A
sentence's GLEU is the mean over its references, with every count of 0 replaced by 1.

Departures: sentences may have different numbers of references. The script's interval covers only the spread of the
draws; ours covers the sampling of texts: it leaves a document out of every draw and recomputes the mean over draws.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
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
    source_words,
)
from grater.model import Essay
from grater.sheet import Signature, digest
from grater.uncertainty import Ints, Numbers

Flags: TypeAlias = npt.NDArray[np.bool_]

ORDER = 4
N_COLUMNS = 2 + 2 * ORDER
HYPOTHESIS_LENGTH, REFERENCE_LENGTH = 0, 1
MATCHES, TOTALS = slice(2, None, 2), slice(3, None, 2)
"""The columns of a row of counts."""


@dataclass(frozen=True, slots=True)
class _Words:
    """All words of all texts in one sequence, as numbers.

    Side 0 is the source, 1 the hypothesis, 2 + k reference k; `cell` is sentence * sides + side. `n_left` counts the
    words from here to the end of the text; `length` has a row for each sentence and a column for each side.
    """

    word: Ints
    n_left: Ints
    cell: Ints
    length: Ints


def gleu_counts(
    system: str, sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> SentenceCounts:
    """Count a system's output; `references` lists the references of each sentence: `list(zip(*files))`.

    A row has the lengths of hypothesis and reference, then matches and total for n = 1, 2, 3, 4.
    """
    if not len(sources) == len(hypotheses) == len(references):
        raise UsageError(
            f"expected as many hypotheses and references as sources ({len(sources)}), "
            f"found {len(hypotheses)} and {len(references)}"
        )
    n_references = np.array([len(texts) for texts in references], np.int64)
    if not n_references.all():
        at = int((n_references == 0).nonzero()[0][0])
        raise UsageError(f"expected a reference for every sentence, found none for sentence {at + 1}")
    words = _words(sources, hypotheses, references)
    counts = np.zeros((len(sources), int(n_references.max(initial=0)), N_COLUMNS), np.int64)
    counts[..., REFERENCE_LENGTH] = words.length[:, 2:]
    counts[..., HYPOTHESIS_LENGTH] = words.length[:, 1:2]
    counts[..., TOTALS] = np.maximum(words.length[:, 1:2] - np.arange(ORDER), 0)[:, None, :]
    counts[..., MATCHES] = _matches(words)
    counts[np.arange(counts.shape[1]) >= n_references[:, None]] = 0
    return SentenceCounts(system, counts, n_references)


def _words(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> _Words:
    n_sides = 2 + max((len(texts) for texts in references), default=0)
    words, cells, lengths = list[str](), list[int](), list[int]()
    for index, texts in enumerate(references):
        for side, text in enumerate((sources[index], hypotheses[index], *texts)):
            tokens = text.split()
            words += tokens
            cells.append(index * n_sides + side)
            lengths.append(len(tokens))
    codes: defaultdict[str, int] = defaultdict()
    codes.default_factory = codes.__len__  # a new word gets the next number
    word = np.fromiter(map(codes.__getitem__, words), np.int64, len(words))
    cell, length = np.array(cells, np.int64), np.array(lengths, np.int64)
    n_left = np.repeat(np.cumsum(length), length) - np.arange(len(word))
    by_cell = np.bincount(cell, weights=length, minlength=len(sources) * n_sides).astype(np.int64)
    return _Words(word, n_left, np.repeat(cell, length), by_cell.reshape(-1, n_sides))


def _matches(words: _Words) -> Ints:
    """The matches for each sentence, reference and order; n-grams grow by a word and keep unique numbers."""
    n_sentences, n_sides = words.length.shape
    matches = np.zeros((n_sentences, n_sides - 2, ORDER), np.int64)
    n_words = int(words.word.max(initial=0)) + 1
    at = np.arange(len(words.word))
    sentence, side = np.divmod(words.cell, n_sides)
    gram = np.unique(sentence * n_words + words.word, return_inverse=True)[1]
    matches[:, :, 0], is_used = _matches_of(gram, sentence, side, n_sentences, n_sides)
    for order in range(1, ORDER):
        # What the hypothesis lacks cannot match any more when it gets longer.
        goes_on = (is_used[gram] & (words.n_left[at] > order)).nonzero()[0]
        at = at[goes_on]
        gram = np.unique(gram[goes_on] * n_words + words.word[at + order], return_inverse=True)[1]
        matches[:, :, order], is_used = _matches_of(gram, sentence[at], side[at], n_sentences, n_sides)
    return matches


def _matches_of(gram: Ints, sentence: Ints, side: Ints, n_sentences: int, n_sides: int) -> tuple[Ints, Flags]:
    """The n-grams of one order, and which of them the hypothesis has; all others are irrelevant."""
    n_grams = int(gram.max(initial=-1)) + 1
    table = np.bincount(gram * n_sides + side, minlength=n_grams * n_sides).reshape(n_grams, n_sides)
    of_gram = np.zeros(n_grams, np.int64)
    of_gram[gram] = sentence
    is_used = table[:, 1] > 0
    table, of_gram = table[is_used], of_gram[is_used]
    source, hypothesis, reference = table[:, :1], table[:, 1:2], table[:, 2:]
    gained = np.minimum(hypothesis, reference) - np.where(reference == 0, np.minimum(hypothesis, source), 0)
    sums = [np.bincount(of_gram, weights=column, minlength=n_sentences) for column in gained.T]
    return np.maximum(np.array(sums).reshape(n_sides - 2, n_sentences).T, 0).astype(np.int64), is_used


N_ITERATIONS = 500


def gleu_of_sums(sums: npt.ArrayLike) -> Numbers:
    """GLEU from summed statistics in the last axis: shape (..., 10) gives (...)."""
    sums = np.asarray(sums, np.float64)
    is_zero = (sums == 0).any(axis=-1)
    safe = np.where(is_zero[..., None], 1.0, sums)
    log_precision = (np.log(safe[..., MATCHES]) - np.log(safe[..., TOTALS])).mean(axis=-1)
    log_brevity = np.minimum(0.0, 1 - safe[..., REFERENCE_LENGTH] / safe[..., HYPOTHESIS_LENGTH])
    return np.where(is_zero, 0.0, np.exp(log_brevity + log_precision))


def _published_shares(numbers: range, n: int) -> Numbers:
    """The first n values of Python's `random.random()` after `random.seed(101 * j)`, one row per j."""
    twister, shares = np.random.RandomState(0), np.empty((len(numbers), n))
    for row, j in zip(shares, numbers, strict=True):
        twister.seed([101 * j])  # with a key of one word numpy seeds the Mersenne Twister as Python does
        row[:] = twister.random_sample(n)
    return shares


def gleu_signature(sources: Sequence[str], references: Sequence[Sequence[str]]) -> Signature:
    """How scores against these references are computed; scores with equal signatures are comparable."""
    texts = (text for source, of_sentence in zip(sources, references, strict=True) for text in (source, *of_sentence))
    options = {
        "order": str(ORDER),
        "tokens": "whitespace",
        "references": str(max((len(of_sentence) for of_sentence in references), default=0)),
        "iterations": str(N_ITERATIONS),
        "draws": "published",
        "reference": digest(texts),
    }
    return Signature("gleu", options)


ORDERS = range(1, 5)
COLUMNS = ("length", "reference_length", *(f"{what}{n}" for n in ORDERS for what in ("matches", "total")))


@dataclass(frozen=True, slots=True)
class GleuMetric(Metric):
    name: str = "gleu"
    columns: tuple[str, ...] = COLUMNS
    references_are_texts: bool = True

    def scores(self, sums: Numbers, options: MetricOptions) -> Numbers:
        by_draw = gleu_of_sums(sums.reshape(*sums.shape[:-1], -1, N_COLUMNS))
        means: Numbers = by_draw.mean(axis=-1, keepdims=True)
        return means

    def cases(self, sums: Numbers, options: MetricOptions) -> Numbers:
        return sums[..., :1]

    def rows(self, counts: SentenceCounts) -> Numbers:
        """The ten counts for every draw of references, one after the other; a single draw without a choice."""
        cells = counts.cells.astype(np.float64)
        if cells.shape[1] == 1:
            return cells[:, 0]
        shares = _published_shares(range(N_ITERATIONS), len(counts.n_rows))
        choices = (shares * counts.n_rows).astype(np.int64).T  # Python 2's randint was int(random() * n)
        rows: Numbers = cells[np.arange(len(cells))[:, None], choices].reshape(len(cells), -1)
        return rows

    def sentence_scores(self, counts: SentenceCounts, options: MetricOptions) -> Numbers:
        own = gleu_of_sums(np.maximum(counts.cells, 1))
        is_there = np.arange(own.shape[1]) < counts.n_rows[:, None]
        means: Numbers = np.where(is_there, own, 0).sum(axis=1, keepdims=True) / counts.n_rows[:, None]
        return means

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> list[SentenceCounts]:
        texts = [list(corrected_texts(essay).values()) for essay in references.essays]
        return [_counted(references, hypothesis, texts) for hypothesis in hypotheses]

    def signature(self, references: References, options: MetricOptions) -> Signature:
        texts = [list(corrected_texts(essay).values()) for essay in references.essays]
        return gleu_signature([_source(essay) for essay in references.essays], texts)

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: MetricOptions
    ) -> Iterator[AnnotatorCounts]:
        by_annotator = [corrected_texts(essay) for essay in references.essays]
        annotators = tuple(by_annotator[0])
        texts = [[of_sentence[name] for name in annotators] for of_sentence in by_annotator]
        for hypothesis in hypotheses:
            yield AnnotatorCounts(
                annotators, _counted(references, hypothesis, texts).cells.astype(np.int64, copy=False)
            )

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: MetricOptions) -> list[SentenceCounts]:
        return [
            SentenceCounts("", cells := counts.cells[:, subset], np.full(len(cells), int(subset.sum()), np.int64))
            for subset in subsets
        ]


def _counted(references: References, hypothesis: Hypothesis, texts: Sequence[Sequence[str]]) -> SentenceCounts:
    sources = [_source(essay) for essay in references.essays]
    return gleu_counts(hypothesis.system, sources, hypothesis_texts(references, hypothesis), texts)


def _source(essay: Essay) -> str:
    return " ".join(source_words(essay))


METRIC = GleuMetric()
