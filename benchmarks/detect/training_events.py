"""The events of `native`, made once and kept: every figure that needs training uses the same."""

from __future__ import annotations

import numpy as np
from benchmarks.detect.data import NATIVE, WORK, lines_of, native_lines, need

from grater.detect.learning.events import Events, keep, kept, renumbered, source_of
from grater.detect.learning.fitting import fit_maxent, looked_up, numbered
from grater.detect.learning.linear import Vocabulary, renumbering
from grater.detect.prepositions.candidates import ANSWERS, NONE
from grater.detect.prepositions.features import HASHING, stem_numbers, stemmed
from grater.detect.prepositions.training import GAP_RATE, LAYOUT, batch_of, batches_of, gathered
from grater.model import Interval
from grater.rng import generator
from grater.statistics.proportions import wilson

KEPT = WORK / "events.npz"


def events() -> Events:
    """As `grater train prepositions --events` keeps them."""
    source = source_of([need(f"native/{name}.txt.xz") for name in NATIVE], gap_rate=GAP_RATE, seed=0)
    if not KEPT.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        keep(gathered(batches_of(native_lines(), n_workers=2)), KEPT, source)
    return kept(KEPT, source)


def test_events(relative: str, vocabulary: Vocabulary) -> Events:
    """The prepositions of a test text in the numbers of a vocabulary."""
    batch = batch_of([line.strip() for line in lines_of(relative) if line.strip()], gap_rate=0)
    rows = renumbered(batch.rows, renumbering(batch.words, vocabulary), LAYOUT)
    return Events(stemmed(rows, stem_numbers(vocabulary)), batch.labels, batch.folds, vocabulary)


def accuracy(train: Events, tests: dict[str, Events], *, templates: tuple[int, ...] = ()) -> dict[str, Interval]:
    """A maximum-entropy model of some events, not pruned, on the prepositions of others."""
    dictionary, features = numbered(HASHING.all_keys(train.rows), templates=templates)
    weights = fit_maxent(features, train.labels, len(dictionary), len(ANSWERS), rng=generator(0, "benchmark"))
    del features
    found = {}
    for name, test in tests.items():
        is_prep = test.labels != NONE
        n_right = 0
        for block in np.array_split(np.flatnonzero(is_prep), max(1, is_prep.sum() // 20_000)):
            scores = weights[looked_up(HASHING.all_keys(test.rows[block]), dictionary)].sum(axis=1)
            n_right += int((scores[:, :NONE].argmax(axis=1) == test.labels[block]).sum())
        found[name] = wilson(n_right, int(is_prep.sum()))
    return found
