"""Chance, always by a seed that is written down.

Every function that draws takes a generator; nothing in grater uses a global one.  `generator` makes independent
streams from one seed by name, so adding a draw in one place never changes another.  `permanent_number` gives an item
its one random number for life, which makes re-testing cheap (docs/architecture.md).
"""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *path: str) -> np.random.Generator:
    """An independent stream for the named purpose: `generator(0, "bootstrap", "recall")`."""
    words = [int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") for name in path]
    return np.random.default_rng([seed, *words])


def permanent_number(seed: int, item_id: str) -> float:
    """The item's own number in [0, 1), the same on every machine and in every draw of a study with this seed."""
    digest = hashlib.sha256(f"{seed}|{item_id}".encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53  # 53 bits: what a float holds, so never 1.0
