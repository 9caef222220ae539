"""Training of the tagger: the averaged perceptron.

Collins 2002 (EMNLP), with the greedy decoder's own tags as history, and averages kept as Daumé's thesis does it:
beside each weight the sum of its changes times the step at which they happened.  The averages are rounded to eight
bits; on the development parts of EWT and GUM this costs nothing, but cutting off weights of 10 or more costs a point.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from grater.errors import MissingExtra, UsageError
from grater.model import Json
from grater.text.tagging.clusters import Clusters
from grater.text.tagging.conllu import Tagged, joined
from grater.text.tagging.encoding import PAIR, Vocabulary, encode
from grater.text.tagging.weights import Ids, Weights, pair_keys

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
    try:
        from grater.text.tagging.kernel import epoch
    except ImportError as error:
        raise MissingExtra("training a tagger needs numba: pip install 'grater[fast]'") from error
    if not sentences:
        raise UsageError("expected tagged sentences to train on, found none")
    both = _both_ways(sentences)
    vocabulary = Vocabulary.of(both, clusters or Clusters.none())
    encoded = encode(both, vocabulary)
    advance("encoded")
    bases = _bases(vocabulary)
    n_tags = len(vocabulary.tags)
    weights = np.zeros((bases[-1], n_tags), np.float32)
    changes = np.zeros((bases[-1], n_tags), np.float64)
    step = 1
    for number in range(n_epochs):
        order = rng.permutation(len(both))
        step, n_wrong = epoch(
            order,
            encoded.starts,
            encoded.features,
            encoded.own_common,
            encoded.next_common,
            encoded.tags,
            weights,
            changes,
            bases,
            step,
        )
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
