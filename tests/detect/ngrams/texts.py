"""A small text of our own making, and random ones, for language models."""

from __future__ import annotations

import numpy as np

from grater.uncertainty import generator

SENTENCES = [
    line.split()
    for line in (
        "we went to the market and bought some fruit .",
        "we went home after the market .",
        "she went to the station and waited for the train .",
        "the train was late and we waited at the station .",
        "he waited for her at the market .",
        "they discussed the plan and went home .",
        "they discussed the plan after the train left .",
        "some fruit was sold at the station .",
    )
]


def random_sentences(seed: int, *, n: int = 60, n_words: int = 12) -> list[list[str]]:
    """Sentences of skewed random words, so that counts of one to many all occur."""
    rng = generator(seed, "ngrams")
    shares = 1 / np.arange(1, n_words + 1)
    words = np.array([f"w{chr(97 + k)}" for k in range(n_words)])
    return [rng.choice(words, rng.integers(0, 12), p=shares / shares.sum()).tolist() for _ in range(n)]
