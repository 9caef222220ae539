"""How many words a tagger gets right, with limits.

Sentences are resampled, not words: the words of a sentence succeed and fail together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grater.intervals.bootstrap import resample
from grater.model import Interval
from grater.text.tagging.conllu import Tagged
from grater.text.tags import Tagger

N_RESAMPLES = 1000


def accuracy(tagger: Tagger, sentences: Sequence[Tagged], rng: np.random.Generator) -> Interval:
    """The share of words with the treebank's own tag."""
    found = tagger.tag_all([sentence.words for sentence in sentences])
    counts = [
        (sum(map(str.__eq__, tags, sentence.tags)), len(tags))
        for tags, sentence in zip(found, sentences, strict=True)
    ]
    rows = np.array(counts, np.float64).reshape(-1, 2)
    return resample(rows, n_resamples=N_RESAMPLES, rng=rng).ratio([0], [1])
