"""N-grams of source, hypothesis and references, counted for all sentences at once.

For each sentence, each of its references and each n from 1 to 4 (Napoles et al. 2016, "GLEU Without Tuning",
equation 1, as their script counts it):

    matches   sum over n-grams of min(H, R), less the sum of min(H, S) over n-grams of the source that the reference
              lacks altogether; never below 0
    total     the n-grams of the hypothesis, max(length + 1 - n, 0)

where H, R and S are how often the hypothesis, the reference and the source have the n-gram.  Words are those between
white space.  The totals and the hypothesis's length do not depend on the reference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError

Ints: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

ORDER = 4
N_COLUMNS = 2 + 2 * ORDER
HYPOTHESIS_LENGTH, REFERENCE_LENGTH = 0, 1
MATCHES, TOTALS = slice(2, None, 2), slice(3, None, 2)
"""Where things stand in the last axis of `GleuStatistics.counts`."""


@dataclass(frozen=True, slots=True)
class GleuStatistics:
    """The sufficient statistics of GLEU: rows add up over sentences, one reference of each.

    `counts` has the shape (sentences, references, 10): the lengths of hypothesis and reference, then matches and
    total for n = 1, 2, 3, 4.  Sentence i has `n_references[i]` references; beyond them all is 0 and never drawn.
    """

    counts: Ints
    n_references: Ints

    @property
    def n_sentences(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class _Words:
    """All words of all texts in a row, as numbers.

    Side 0 is the source, 1 the hypothesis, 2 + k reference k; `cell` is sentence * sides + side.  `n_left` are the
    words from here to the end of the text; `length` has a row for each sentence, a column for each side.
    """

    word: Ints
    n_left: Ints
    cell: Ints
    length: Ints


def gleu_statistics(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> GleuStatistics:
    """Count a system's output; `references` has the references of each sentence: `list(zip(*files))`."""
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
    return GleuStatistics(counts, n_references)


def _words(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> _Words:
    n_sides = 2 + max((len(texts) for texts in references), default=0)
    words, cells, lengths = list[str](), list[int](), list[int]()
    for index, texts in enumerate(references):
        for side, text in enumerate((sources[index], hypotheses[index], *texts)):
            found = text.split()
            words += found
            cells.append(index * n_sides + side)
            lengths.append(len(found))
    codes: defaultdict[str, int] = defaultdict()
    codes.default_factory = codes.__len__  # a new word gets the next number
    word = np.fromiter(map(codes.__getitem__, words), np.int64, len(words))
    cell, length = np.array(cells, np.int64), np.array(lengths, np.int64)
    n_left = np.repeat(np.cumsum(length), length) - np.arange(len(word))
    by_cell = np.bincount(cell, weights=length, minlength=len(sources) * n_sides).astype(np.int64)
    return _Words(word, n_left, np.repeat(cell, length), by_cell.reshape(-1, n_sides))


def _matches(words: _Words) -> Ints:
    """For each sentence, reference and order; n-grams get longer word by word, and keep a number of their own."""
    n_sentences, n_sides = words.length.shape
    matches = np.zeros((n_sentences, n_sides - 2, ORDER), np.int64)
    n_words = int(words.word.max(initial=0)) + 1
    at = np.arange(len(words.word))
    sentence, side = np.divmod(words.cell, n_sides)
    gram = _numbered(sentence * n_words + words.word)
    matches[:, :, 0], is_used = _matches_of(gram, sentence, side, n_sentences, n_sides)
    for order in range(1, ORDER):
        # What the hypothesis lacks cannot match any more when it gets longer.
        goes_on = (is_used[gram] & (words.n_left[at] > order)).nonzero()[0]
        at = at[goes_on]
        gram = _numbered(gram[goes_on] * n_words + words.word[at + order])
        matches[:, :, order], is_used = _matches_of(gram, sentence[at], side[at], n_sentences, n_sides)
    return matches


def _numbered(codes: Ints) -> Ints:
    """Equal codes get equal numbers, from 0 on; quicker than `np.unique`, which sorts by a slower way."""
    order = np.argsort(codes, kind="stable")
    in_order = codes[order]
    is_new = np.zeros(len(codes), np.int64)
    is_new[1:] = in_order[1:] != in_order[:-1]
    numbers = np.empty_like(order)
    numbers[order] = np.cumsum(is_new)
    return numbers


def _matches_of(gram: Ints, sentence: Ints, side: Ints, n_sentences: int, n_sides: int) -> tuple[Ints, Flags]:
    """The n-grams of one order, and which of them the hypothesis has; the others play no part."""
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
