"""The inner loop of training, compiled; importing it needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Numbers = NDArray[Any]


@njit(cache=True)
def epoch(
    order: Numbers,
    starts: Numbers,
    features: Numbers,
    own_common: Numbers,
    next_common: Numbers,
    tags: Numbers,
    weights: Numbers,
    changes: Numbers,
    bases: Numbers,
    step: int,
) -> tuple[int, int]:
    """Go through all sentences once in the given order and learn from every wrong tag; the step and wrong tags."""
    n_tags = weights.shape[1]
    active = np.empty(features.shape[1] + 4, np.int64)
    scores = np.empty(n_tags, np.float64)
    n_wrong = 0
    for sentence in order:
        last = before = n_tags
        for word in range(starts[sentence], starts[sentence + 1]):
            n_active = 0
            while n_active < features.shape[1] and features[word, n_active] >= 0:
                active[n_active] = features[word, n_active]
                n_active += 1
            active[n_active] = bases[0] + last
            active[n_active + 1] = bases[1] + before * (n_tags + 1) + last
            active[n_active + 2] = bases[2] + own_common[word] * (n_tags + 1) + last
            active[n_active + 3] = bases[3] + next_common[word] * (n_tags + 1) + last
            n_active += 4
            scores[:] = 0
            for feature in active[:n_active]:
                for tag in range(n_tags):
                    scores[tag] += weights[feature, tag]
            best, right = int(scores.argmax()), tags[word]
            step += 1
            if best != right:
                n_wrong += 1
                for feature in active[:n_active]:
                    weights[feature, right] += 1
                    weights[feature, best] -= 1
                    changes[feature, right] += step
                    changes[feature, best] -= step
            before, last = last, best
    return step, n_wrong
