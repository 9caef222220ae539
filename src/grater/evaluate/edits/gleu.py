"""GLEU for grammatical error correction, with limits that cover the sentences and the choice of reference.

Napoles, Sakaguchi, Post and Tetreault 2015, "Ground truth for grammatical error correction metrics", as corrected in
"GLEU Without Tuning" (2016); checked against the formula of the authors' script (`gleu.py` of JFLEG):

    GLEU = min(1, exp(1 - r / c)) * (product over n = 1..4 of matches_n / total_n) ** (1/4)

on sums over sentences (`gleu_statistics`), c and r being the lengths of hypotheses and references.  Any sum of 0
gives 0.  Each sentence is held against one reference drawn at random; the corpus's GLEU is the mean over 500 draws.
By default they are the authors' own: Python 2's `random.seed(101 * j)` and `randint`, for j from 0 to 499, which we
draw again number by number.  A `seed` gives other draws.  A sentence's GLEU is the mean over its references, every
count of 0 replaced by 1.

Departures: sentences may have different numbers of references.  The script's interval knows only the spread of the
draws; ours resamples sentences and draws a reference anew for each (`gleu_interval`).

The exact expectation over draws has no cheap form, GLEU not being linear in the sums.  Their means and covariances
are exact and cheap, though, and sums over many sentences are nearly normal: `expected_gleu` is the expectation for
normal sums and first-order logarithms, in closed form.  On JFLEG it is nearer to the truth than 500 draws are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, nan, sqrt
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.evaluate.edits.gleu_statistics import (
    HYPOTHESIS_LENGTH,
    MATCHES,
    N_COLUMNS,
    ORDER,
    REFERENCE_LENGTH,
    TOTALS,
    GleuStatistics,
    Ints,
    gleu_statistics,
)
from grater.intervals.bootstrap import MOST_WEIGHTS, expanded_tail
from grater.model import Interval
from grater.rng import generator
from grater.signature import Signature, digest

__all__ = [
    "CorpusGleu",
    "GleuStatistics",
    "corpus_gleu",
    "expected_gleu",
    "gleu_interval",
    "gleu_of_sums",
    "gleu_signature",
    "gleu_statistics",
    "resampled_sums",
    "sentence_gleu",
]

Numbers: TypeAlias = npt.NDArray[np.float64]

N_ITERATIONS = 500

VARYING = [*range(*MATCHES.indices(N_COLUMNS)), REFERENCE_LENGTH]
"""The columns that depend on the reference."""


@dataclass(frozen=True, slots=True)
class CorpusGleu:
    """The mean over draws of references, and their standard deviation (the script's second number)."""

    value: float
    deviation: float
    n_iterations: int


def gleu_of_sums(sums: npt.ArrayLike) -> Numbers:
    """GLEU of summed statistics, over the last axis: shape (..., 10) gives (...)."""
    sums = np.asarray(sums, np.float64)
    is_zero = (sums == 0).any(axis=-1)
    safe = np.where(is_zero[..., None], 1.0, sums)
    log_precision = (np.log(safe[..., MATCHES]) - np.log(safe[..., TOTALS])).mean(axis=-1)
    log_brevity = np.minimum(0.0, 1 - safe[..., REFERENCE_LENGTH] / safe[..., HYPOTHESIS_LENGTH])
    return np.where(is_zero, 0.0, np.exp(log_brevity + log_precision))


def sentence_gleu(statistics: GleuStatistics) -> Numbers:
    """Each sentence's own GLEU: the mean over its references, with counts of 0 taken as 1."""
    scores = gleu_of_sums(np.maximum(statistics.counts, 1))
    is_there = np.arange(statistics.counts.shape[1]) < statistics.n_references[:, None]
    means: Numbers = np.where(is_there, scores, 0).sum(axis=1) / statistics.n_references
    return means


def corpus_gleu(statistics: GleuStatistics, *, iterations: int = N_ITERATIONS, seed: int | None = None) -> CorpusGleu:
    """The mean GLEU over random choices of references; without a seed, over the choices of the authors' script."""
    if iterations < 1:
        raise UsageError(f"expected at least one iteration, found {iterations}")
    if not statistics.n_sentences:
        return CorpusGleu(nan, nan, iterations)
    scores = [
        gleu_of_sums(_drawn_sums(statistics, choices))
        for choices in _choices(statistics.n_references, iterations=iterations, seed=seed)
    ]
    drawn = np.concatenate(scores)
    return CorpusGleu(float(drawn.mean()), float(drawn.std()), iterations)


def _choices(n_references: Ints, *, iterations: int, seed: int | None) -> Iterator[Ints]:
    """Rows of references drawn for the sentences, some iterations at a time."""
    rng, n_sentences = generator(seed or 0, "gleu", "references"), len(n_references)
    n_at_once = max(1, MOST_WEIGHTS // n_sentences)
    for start in range(0, iterations, n_at_once):
        numbers = range(start, min(start + n_at_once, iterations))
        shares = _published_shares(numbers, n_sentences) if seed is None else rng.random((len(numbers), n_sentences))
        yield (shares * n_references).astype(np.int64)  # Python 2's randint was int(random() * n)


def _published_shares(numbers: range, n: int) -> Numbers:
    """The first n of Python's `random.random()` after `random.seed(101 * j)`, a row for each j."""
    twister, shares = np.random.RandomState(0), np.empty((len(numbers), n))
    for row, j in zip(shares, numbers, strict=True):
        twister.seed([101 * j])  # with a key of one word numpy seeds the Mersenne Twister as Python does
        row[:] = twister.random_sample(n)
    return shares


def _drawn_sums(statistics: GleuStatistics, choices: Ints) -> Numbers:
    """The sums over sentences, each with the reference chosen for it; a row for each row of choices."""
    n_sentences, most, n_columns = statistics.counts.shape
    cell = choices + np.arange(n_sentences) * most
    sums = np.empty((len(choices), n_columns))
    sums[:] = statistics.counts[:, 0].sum(axis=0)
    for column in VARYING:
        sums[:, column] = statistics.counts[..., column].ravel().take(cell).sum(axis=1)
    return sums


def expected_gleu(statistics: GleuStatistics) -> float:
    """The expectation over all choices of references, the sums taken as normal."""
    if not statistics.n_sentences:
        return nan
    means, covariance = _moments(statistics)
    if (means == 0).any():
        return 0.0
    matches, length = means[MATCHES], means[HYPOTHESIS_LENGTH]
    variances = np.diag(covariance)[:-1]
    # The mean log precision x and the log brevity penalty y before it is cut off at 0, as combinations of the sums.
    x = float((np.log(matches) - variances / (2 * matches**2) - np.log(means[TOTALS])).mean())
    y = float(1 - means[REFERENCE_LENGTH] / length)
    weights = np.zeros((2, len(covariance)))
    weights[0, :-1], weights[1, -1] = 1 / (ORDER * matches), -1 / length
    (xx, xy), (_, yy) = (weights @ covariance @ weights.T).tolist()
    if yy == 0:
        return exp(x + xx / 2 + min(0.0, y))
    phi = NormalDist().cdf
    long = exp(x + xx / 2) * phi((y + xy) / sqrt(yy))
    brief = exp(x + y + (xx + 2 * xy + yy) / 2) * phi(-(y + xy + yy) / sqrt(yy))
    return long + brief


def _moments(statistics: GleuStatistics) -> tuple[Numbers, Numbers]:
    """The mean of every sum, and the covariance of matches 1..4 and the reference length."""
    counts, n = statistics.counts.astype(np.float64), statistics.n_references[:, None]
    means = counts.sum(axis=1) / n
    is_there = (np.arange(counts.shape[1]) < n)[..., None]
    apart = np.where(is_there, counts - means[:, None], 0)[..., VARYING] / np.sqrt(n)[..., None]
    flat = apart.reshape(-1, len(VARYING))
    return means.sum(axis=0), flat.T @ flat


def gleu_interval(
    statistics: GleuStatistics,
    *,
    rng: np.random.Generator,
    n_resamples: int = 2000,
    level: float = 0.95,
    iterations: int = N_ITERATIONS,
    seed: int | None = None,
) -> Interval:
    """The corpus's GLEU with limits from resampled sentences, a reference drawn anew for each."""
    if not statistics.n_sentences:
        return Interval(nan, nan, nan, "there is no sentence to score")
    value = corpus_gleu(statistics, iterations=iterations, seed=seed).value
    if statistics.n_sentences < 2:
        return Interval(value, nan, nan, "a single sentence cannot be resampled")
    drawn = gleu_of_sums(resampled_sums([statistics], n_resamples=n_resamples, rng=rng)[0])
    tail = expanded_tail(statistics.n_sentences, level=level)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Interval(value, min(float(low), value), max(float(high), value))


def resampled_sums(systems: Sequence[GleuStatistics], *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over resampled sentences and references, (systems, resamples, 10): the same draws for every system."""
    n_references = systems[0].n_references
    if any(not np.array_equal(system.n_references, n_references) for system in systems):
        raise UsageError("expected the same references for all systems, found different numbers of them")
    most = systems[0].counts.shape[1]
    cells = np.stack([system.counts.reshape(-1, system.counts.shape[2]) for system in systems]).astype(np.float64)
    sums = [
        _cell_weights(n_references, most, n_now, rng) @ cells
        for n_now in _portions(n_resamples, len(n_references) * most)
    ]
    return np.concatenate(sums, axis=1)


def _portions(n: int, width: int) -> list[int]:
    at_once = max(1, MOST_WEIGHTS // max(1, width))
    return [min(at_once, n - start) for start in range(0, n, at_once)]


def _cell_weights(n_references: Ints, most: int, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """How often each (sentence, reference) is drawn: sentences with replacement, then one of their references."""
    n_sentences = len(n_references)
    sentence = rng.integers(0, n_sentences, size=(n_resamples, n_sentences))
    reference = (rng.random(sentence.shape) * n_references[sentence]).astype(np.int64)
    cell = np.arange(n_resamples)[:, None] * (n_sentences * most) + sentence * most + reference
    weights = np.bincount(cell.ravel(), minlength=n_resamples * n_sentences * most)
    return weights.reshape(n_resamples, n_sentences * most).astype(np.float64)


def gleu_signature(
    sources: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    iterations: int = N_ITERATIONS,
    seed: int | None = None,
) -> Signature:
    """How scores against these references are made; those of equal signatures may be compared."""
    texts = (text for source, of_sentence in zip(sources, references, strict=True) for text in (source, *of_sentence))
    most = max((len(of_sentence) for of_sentence in references), default=0)
    options = {
        "order": str(ORDER),
        "tokens": "whitespace",
        "references": str(most),
        "iterations": str(iterations),
        "draws": "published" if seed is None else f"seed-{seed}",
        "reference": digest(texts),
    }
    return Signature("gleu", options)
