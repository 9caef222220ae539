"""Words that are used alike, found in plain text: what the tagger knows of words that no treebank has.

Words are described by the common words that stand just before and just after them (Schütze 1995, EACL: distributional
part-of-speech tagging): counts become positive pointwise mutual information, with contexts to the power .75 (Levy,
Goldberg & Dagan 2015, TACL 3), a singular value decomposition makes 64 numbers of them, and k-means on the sphere
puts the words into clusters, few large ones and many small ones.  The text is held as four bytes a word.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, hstack
from scipy.sparse.linalg import svds

from grater.text.tagging.perceptron import EDGE, SIZES, Clusters, lower
from grater.text.tokens import token_spans

FEWEST = 8
MOST_WORDS, N_CONTEXTS, N_DIMENSIONS = 60_000, 1500, 64
N_ROUNDS = 25

Floats = NDArray[np.float32]


def cluster_words(
    lines: Iterable[str], rng: np.random.Generator, *, advance: Callable[[str], None] = lambda _: None
) -> Clusters:
    """Cluster the words of a text, a paragraph a line."""
    ranks, words = _ranked(lines)
    if len(words) <= N_DIMENSIONS:
        return Clusters.none()
    advance(f"clustering {len(words):,} words of {len(ranks):,}")
    vectors = _vectors(ranks, len(words), rng)
    numbers = [_k_means(vectors, size, rng) for size in SIZES]
    return Clusters.of(words, np.stack(numbers, axis=1).astype(np.uint16))


def _ranked(lines: Iterable[str]) -> tuple[NDArray[np.int64], list[str]]:
    """The text as ranks of its words by frequency, the edge of a line among them, and the words to be clustered."""
    numbers: dict[str, int] = {EDGE: 0}
    text = array("i", [0])
    for line in lines:
        words = [lower(line[token.start : token.end]) for token in token_spans(line)]
        text.extend([numbers.setdefault(word, len(numbers)) for word in words])
        text.append(0)
    sequence = np.frombuffer(text, np.int32)
    counts = np.bincount(sequence, minlength=len(numbers))
    order = np.argsort(-counts, kind="stable")
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    names = list(numbers)
    n_kept = min(MOST_WORDS, int((counts >= FEWEST).sum()))
    return ranks[sequence], [names[number] for number in order[:n_kept]]


def _vectors(ranks: NDArray[np.int64], n_words: int, rng: np.random.Generator) -> Floats:
    before = _neighbours(ranks[1:], ranks[:-1], n_words)
    after = _neighbours(ranks[:-1], ranks[1:], n_words)
    information = _information(csr_matrix(hstack([before, after])))
    left, strengths, _ = svds(information, k=N_DIMENSIONS, v0=rng.standard_normal(min(information.shape)))
    vectors = left * np.sqrt(strengths)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-9), dtype=np.float32)


def _neighbours(words: NDArray[np.int64], contexts: NDArray[np.int64], n_words: int) -> Any:
    counted = (words < n_words) & (contexts < N_CONTEXTS)
    ones = np.ones(int(counted.sum()), np.float32)
    return coo_matrix((ones, (words[counted], contexts[counted])), shape=(n_words, N_CONTEXTS)).tocsr()


def _information(counts: Any) -> Any:
    """Positive pointwise mutual information of words and contexts."""
    of_words = np.asarray(counts.sum(axis=1)).ravel()
    smoothed = np.asarray(counts.sum(axis=0)).ravel() ** 0.75
    cells = counts.tocoo()
    values = np.log(cells.data * smoothed.sum() / (of_words[cells.row] * smoothed[cells.col]))
    kept = values > 0
    return csr_matrix((values[kept], (cells.row[kept], cells.col[kept])), shape=counts.shape)


def _k_means(vectors: Floats, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The cluster of each word; the first centres are words drawn from the commonest."""
    size = min(size, len(vectors))
    centres = vectors[rng.choice(min(len(vectors), 20 * size), size, replace=False)].copy()
    nearest: NDArray[np.int64] = (vectors @ centres.T).argmax(axis=1)
    for _ in range(N_ROUNDS):
        sums = csr_matrix(
            (np.ones(len(vectors), np.float32), (nearest, np.arange(len(vectors)))), shape=(size, len(vectors))
        )
        means = np.asarray(sums @ vectors)
        norms = np.linalg.norm(means, axis=1, keepdims=True)
        centres = np.where(norms > 0, means / np.maximum(norms, 1e-9), centres)
        nearest = (vectors @ centres.T).argmax(axis=1)
    return nearest
