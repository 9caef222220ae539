"""Training of the tagger: the averaged perceptron, and clusters of words that are used alike.

Collins 2002 (EMNLP), with the greedy decoder's own tags as history, and averages kept as Daumé's thesis does it:
beside each weight the sum of its changes times the step at which they happened.  The averages are rounded to eight
bits; on the development parts of EWT and GUM this costs nothing, but cutting off weights of 10 or more costs a point.

*Data.*  Tagged sentences of CoNLL-U files, as Universal Dependencies has them.

Ten columns: the second is the word, the fifth the language's own tag (XPOS; for English those of the Penn Treebank).
Lines of word ranges (`3-4`) and of empty nodes (`8.1`) are passed over, and words that the text leaves out (`_`).

Universal Dependencies cuts words at hyphens (`well | - | known`), grater's tokens do not.  `joined` makes one word of
such pieces where no space stands between them, with the tag of the last; a participle at the end makes an adjective
(*home-made*), and so does a noun after a number (*two-year*).

*Encoding.*  One row per word, one number per feature.  The vocabulary (features, pairs of common words, tags) is
taken from the training sentences; what is rarer than it takes is left out.  A treebank is held as some 120 bytes per
word.

*Accuracy.*  Sentences are resampled, not words: the words of a sentence succeed and fail together.

*Clusters* are what the tagger knows of words that no treebank has, found in plain text.  Words are described by the
common words that stand just before and just after them (Schütze 1995, EACL: distributional part-of-speech tagging):
counts become positive pointwise mutual information, with contexts to the power .75 (Levy, Goldberg & Dagan 2015, TACL
3), a singular value decomposition makes 64 numbers of them, and k-means on the sphere puts the words into clusters,
few large ones and many small ones.  The text is held as four bytes a word.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, hstack
from scipy.sparse.linalg import svds

from grater.corpora.text.tags import (
    AWAY,
    EDGE,
    NEAR,
    PAIRS,
    PLACES,
    SIZES,
    Clusters,
    Ids,
    PerceptronTagger,
    Weights,
    all_features,
    lower,
    pair_keys,
)
from grater.corpora.text.tokens import token_spans
from grater.errors import Problems, UsageError
from grater.model import Interval, Json
from grater.uncertainty import shares_by_unit

OF_LAST = {"VBN": "JJ", "VBG": "JJ", "VBD": "JJ", "VB": "NN", "VBP": "NN", "RP": "NN", "IN": "JJ"}


@dataclass(frozen=True, slots=True)
class Tagged:
    """A sentence with its tags; `glued[i]` says that no space stands after word i."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    glued: tuple[bool, ...] = ()


def read_conllu(lines: Iterable[str], *, name: str, keep: Callable[[str], bool] = lambda _: True) -> Iterator[Tagged]:
    """The sentences whose `sent_id` is to be kept."""
    problems = Problems(name)
    rows: list[tuple[str, str, bool]] = []
    sent_id = ""
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\n\r")
        if line.startswith("# sent_id"):
            sent_id = line.partition("=")[2].strip()
        elif not line and rows:
            if keep(sent_id):
                yield _tagged(rows)
            rows = []
        elif line and not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != 10:
                problems.add(f"expected 10 columns with tabs between them, found {len(columns)}", line=number)
            elif columns[0].isdecimal() and columns[1] != "_" and columns[4] != "_":
                rows.append((columns[1], columns[4], "SpaceAfter=No" in columns[9]))
    if rows and keep(sent_id):
        yield _tagged(rows)
    problems.done()


def _tagged(rows: list[tuple[str, str, bool]]) -> Tagged:
    words, tags, glued = zip(*rows, strict=True)
    return Tagged(words, tags, glued)


def joined(sentence: Tagged) -> Tagged:
    """The sentence with its hyphenated words whole; the same sentence if it has none."""
    words, tags = list(sentence.words), list(sentence.tags)
    for middle in range(len(words) - 2, 0, -1):
        if tags[middle] == "HYPH" and sentence.glued[middle - 1] and sentence.glued[middle]:
            tag = "JJ" if tags[middle - 1] == "CD" and tags[middle + 1] == "NN" else tags[middle + 1]
            words[middle - 1 : middle + 2] = ["".join(words[middle - 1 : middle + 2])]
            tags[middle - 1 : middle + 2] = [OF_LAST.get(tag, tag)]
    return sentence if len(words) == len(sentence.words) else Tagged(tuple(words), tuple(tags))


PAIR = "P"
"""The family of features that are pairs of words."""

FEWEST, FEWEST_PAIRS = 2, 3
"""How often a feature must be seen to be learnt."""

N_COMMON, N_PAIRED = 500, 4000
MOST_FEATURES = 12 + 3 + 3 + 1 + 1 + len(PAIRS) + len(PLACES) * len(SIZES)


def near_features(word: str, clusters: Clusters, place: str) -> list[str]:
    """The features of a word for the tag of a neighbour: `p` and `q` stand before it, `n` and `o` after."""
    features, n_far, n_near = all_features(word, clusters, is_first=False)
    return [place + feature for feature in features[: n_near if place in NEAR else n_far]]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`features` holds those of words and of pairs; a pair is `P`, its kind and its two words."""

    tags: dict[str, int]
    features: dict[str, int]
    paired: dict[str, int]
    common: dict[str, int]
    clusters: Clusters

    @staticmethod
    def of(sentences: Sequence[Tagged], clusters: Clusters) -> Vocabulary:
        words = Counter(lower(word) for sentence in sentences for word in sentence.words)
        ranked = [word for word, _ in sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))]
        paired = {word: number for number, word in enumerate([EDGE, *ranked[:N_PAIRED]], 1)}
        common = {word: number for number, word in enumerate(ranked[:N_COMMON], 1)}
        featurer = Featurer(paired, clusters)
        counts: Counter[str] = Counter()
        for sentence in sentences:
            for features in featurer(sentence.words):
                counts.update(features)
        kept = sorted(name for name, n in counts.items() if n >= (FEWEST_PAIRS if name[0] == PAIR else FEWEST))
        tags = sorted({tag for sentence in sentences for tag in sentence.tags})
        return Vocabulary(_numbered(tags), _numbered(kept), paired, common, clusters)


@dataclass(frozen=True, slots=True)
class Encoded:
    """`features` has -1 where a word has fewer; `starts` has one more number than there are sentences."""

    features: NDArray[np.int32]
    own_common: NDArray[np.int64]
    next_common: NDArray[np.int64]
    tags: NDArray[np.int64]
    starts: NDArray[np.int64]


def encode(sentences: Sequence[Tagged], vocabulary: Vocabulary) -> Encoded:
    """Sentences by the numbers of a vocabulary; a tag that it does not have is -1."""
    n_words = sum(len(sentence.words) for sentence in sentences)
    features = np.full((n_words, MOST_FEATURES), -1, np.int32)
    featurer = Featurer(vocabulary.paired, vocabulary.clusters)
    row = 0
    for sentence in sentences:
        for names in featurer(sentence.words):
            known = [number for feature in names if (number := vocabulary.features.get(feature)) is not None]
            features[row, : len(known)] = known
            row += 1
    common = [[vocabulary.common.get(lower(word), 0) for word in sentence.words] for sentence in sentences]
    return Encoded(
        features,
        _flat(common),
        _flat([*numbers[1:], 0] for numbers in common),
        _flat([vocabulary.tags.get(tag, -1) for tag in sentence.tags] for sentence in sentences),
        np.cumsum([0, *(len(sentence.words) for sentence in sentences)], dtype=np.int64),
    )


class Featurer:
    """Gives the features of each word of a sentence; remembers those of words it has seen."""

    def __init__(self, paired: Mapping[str, int], clusters: Clusters) -> None:
        self.paired = paired
        self._own = cache(lambda word, is_first: all_features(word, clusters, is_first=is_first)[0])
        self._near = cache(lambda word, place: near_features(word, clusters, place))

    def __call__(self, words: Sequence[str]) -> Iterator[list[str]]:
        padded = [EDGE, EDGE, *words, EDGE, EDGE]
        pairable = [small if (small := lower(word)) in self.paired else "" for word in padded]
        for index, word in enumerate(words):
            features = [*self._own(word, index == 0)]
            for place, away in zip(PLACES[1:], AWAY[1:], strict=True):
                features += self._near(padded[index + 2 + away], place)
            for kind, (left, right) in enumerate(PAIRS):
                first, second = pairable[index + 2 + left], pairable[index + 2 + right]
                if first and second:
                    features.append(f"{PAIR}{kind}{first}\t{second}")
            yield features


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _flat(rows: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    return np.fromiter((number for row in rows for number in row), np.int64)


def accuracy(tagger: PerceptronTagger, sentences: Sequence[Tagged]) -> Interval:
    """The share of words with the treebank's own tag."""
    predicted = tagger.tag_all([sentence.words for sentence in sentences])
    counts = [
        (sum(map(str.__eq__, tags, sentence.tags)), len(tags))
        for tags, sentence in zip(predicted, sentences, strict=True)
    ]
    rows = np.array(counts, np.float64).reshape(-1, 2)
    return shares_by_unit(rows[:, 0], rows[:, 1], "sentence")


SCALE = 4.0
"""Steps of a rounded weight in a weight of 1: averages beyond 127 / SCALE are cut off."""

N_EPOCHS = 10


def train(
    sentences: Sequence[Tagged],
    rng: np.random.Generator,
    *,
    card: Mapping[str, Json],
    clusters: Clusters | None = None,
    n_epochs: int = N_EPOCHS,
    advance: Callable[[str], None] = lambda _: None,
) -> Weights:
    """The weights of a tagger for the tags of some sentences; `advance` hears of every step."""
    from grater_train.kernel import epoch  # numba takes half a second, which only training pays

    if not sentences:
        raise UsageError("expected tagged sentences to train on, found none")
    both = _both_ways(sentences)
    vocabulary = Vocabulary.of(both, clusters or Clusters.none())
    encoded = encode(both, vocabulary)
    advance("encoded")
    bases = _bases(vocabulary)
    weights = np.zeros((bases[-1], len(vocabulary.tags)), np.float32)
    changes = np.zeros(weights.shape, np.float64)
    words = (encoded.starts, encoded.features, encoded.own_common, encoded.next_common, encoded.tags)
    step = 1
    for number in range(n_epochs):
        order = rng.permutation(len(both))
        step, n_wrong = epoch(order, *words, weights, changes, bases, step)
        advance(f"epoch {number + 1}: {n_wrong / len(encoded.tags):.4f} wrong")
    averages = weights - changes / step
    return _rounded(averages, vocabulary, bases, card)


def _both_ways(sentences: Sequence[Tagged]) -> list[Tagged]:
    """Each sentence as it is, and once more with its hyphenated words whole where it has any."""
    whole = [(sentence, joined(sentence)) for sentence in sentences]
    return [*sentences, *(after for before, after in whole if after is not before)]


def _bases(vocabulary: Vocabulary) -> Ids:
    """Where each table begins in the one table of training, and where the last ends."""
    n_before = len(vocabulary.tags) + 1
    n_common = (len(vocabulary.common) + 1) * n_before
    sizes = [len(vocabulary.features), n_before, n_before * n_before, n_common, n_common]
    return np.cumsum(sizes, dtype=np.int64)


def _rounded(averages: NDArray[np.float64], vocabulary: Vocabulary, bases: Ids, card: Mapping[str, Json]) -> Weights:
    n_features, one, two, _, after = bases.tolist()
    n_tags, n_before = len(vocabulary.tags), len(vocabulary.tags) + 1
    history = averages[n_features:one][None, :, :] + averages[one:two].reshape(n_before, n_before, n_tags)
    names = list(vocabulary.features)
    rows = _eight_bits(averages[:n_features])
    used = rows.any(axis=1)
    is_pair = np.array([name[0] == PAIR for name in names], bool)
    of_words, of_pairs = np.flatnonzero(used & ~is_pair), np.flatnonzero(used & is_pair)
    keys = np.array([_pair_key(names[number], vocabulary) for number in of_pairs], np.int64)
    in_order = keys.argsort()
    return Weights(
        tags=tuple(vocabulary.tags),
        features=tuple(names[number] for number in of_words),
        rows=rows[of_words],
        paired=tuple(vocabulary.paired),
        pair_keys=keys[in_order],
        pair_rows=rows[of_pairs][in_order],
        history=np.rint(history * SCALE).astype(np.int16),
        common=tuple(vocabulary.common),
        common_rows=_eight_bits(averages[two:after]).reshape(2, -1, n_before, n_tags),
        clusters=vocabulary.clusters,
        card=card,
    )


def _eight_bits(averages: NDArray[np.float64]) -> NDArray[np.int8]:
    return np.rint(averages * SCALE).clip(-127, 127).astype(np.int8)


def _pair_key(name: str, vocabulary: Vocabulary) -> int:
    first, _, second = name[2:].partition("\t")
    left, right = (np.array([vocabulary.paired[word]], np.int64) for word in (first, second))
    return int(pair_keys(int(name[1]), left, right, len(vocabulary.paired))[0])


# Words that are used alike


FEWEST_USES = 8
MOST_WORDS, N_CONTEXTS, N_DIMENSIONS = 60_000, 1500, 64
N_ROUNDS = 25

Floats = NDArray[np.float32]


def cluster_words(
    lines: Iterable[str], rng: np.random.Generator, *, advance: Callable[[str], None] = lambda _: None
) -> Clusters:
    """Cluster the words of a text with one paragraph per line."""
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
    n_kept = min(MOST_WORDS, int((counts >= FEWEST_USES).sum()))
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
