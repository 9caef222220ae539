"""What linear classifiers share: vocabularies, classes of unknown words, tables of weights."""

from __future__ import annotations

import tracemalloc

import numpy as np

from grater.detect.linear import ROWS_AT_ONCE, packed, unpacked


def test_a_table_is_unpacked_as_it_was_in_little_more_memory_than_it_takes() -> None:
    """Every worker of a big job loads a model as it starts, all of them at once."""
    rng = np.random.default_rng(1)
    n_rows, n_classes = 4 * ROWS_AT_ONCE + 7, 32
    keys = np.sort(rng.choice(1 << 22, n_rows, replace=False)).astype(np.uint32)
    table = rng.integers(-127, 128, (n_rows + 1, n_classes), np.int8) * (rng.random((n_rows + 1, n_classes)) < 0.3)
    table[-1] = 0
    arrays = packed(keys, table)
    tracemalloc.start()
    found_keys, found = unpacked(arrays, n_classes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.array_equal(found_keys, keys)
    assert np.array_equal(found, table)
    assert peak < 3 * (found_keys.nbytes + found.nbytes)
