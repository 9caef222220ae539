"""Made-up events for tests of fits: places with a few features each, of which the first decides."""

from __future__ import annotations

import numpy as np

N_FEATURES = 6
N_CLASSES = 9
ONE, OTHER = 2, 7


def made_events(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """(n, 6) keys and n labels: the first key tells two classes apart, the others are noise."""
    rng = np.random.default_rng(3)
    keys = rng.integers(1, 30, (n, N_FEATURES)) + 100 * np.arange(N_FEATURES)
    keys[:, 0] = rng.integers(1, 3, n)
    return keys.astype(np.uint32), np.where(keys[:, 0] == 1, ONE, OTHER).astype(np.int8)
