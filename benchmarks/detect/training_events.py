"""The events of `native`, made once and kept: every figure that needs training uses the same."""

from __future__ import annotations

import numpy as np
from benchmarks.detect.data import WORK, lines_of, native_lines

from grater.detect.prepositions.contexts import N_WORDS
from grater.detect.prepositions.dictionary import looked_up, numbered
from grater.detect.prepositions.engine import NONE
from grater.detect.prepositions.events import Events, batch_of, gathered
from grater.detect.prepositions.maxent import fit_maxent
from grater.detect.prepositions.stems import stem_numbers, stemmed
from grater.detect.prepositions.training import batches_of
from grater.detect.prepositions.vocabulary import Vocabulary, renumbering
from grater.intervals.wilson import wilson
from grater.model import Interval
from grater.rng import generator

KEPT = WORK / "events.npz"


def events() -> Events:
    if not KEPT.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        made = gathered(batches_of(native_lines(), n_workers=2))
        words = np.array("\n".join(made.vocabulary.words).encode())
        np.savez(KEPT, rows=made.rows, labels=made.labels, folds=made.folds, words=words)
    kept = np.load(KEPT)
    vocabulary = Vocabulary(tuple(kept["words"].item().decode().split("\n")))
    return Events(kept["rows"], kept["labels"], kept["folds"], vocabulary)


def test_events(relative: str, vocabulary: Vocabulary) -> Events:
    """The prepositions of a test text in the numbers of a vocabulary."""
    batch = batch_of([line.strip() for line in lines_of(relative) if line.strip()], gap_rate=0)
    rows = batch.rows.copy()
    numbers = np.array(renumbering(batch.words, vocabulary), np.int32)
    rows[:, :N_WORDS] = numbers[rows[:, :N_WORDS]]
    return Events(stemmed(rows, stem_numbers(vocabulary)), batch.labels, batch.folds, vocabulary)


def accuracy(train: Events, tests: dict[str, Events], *, templates: tuple[int, ...] = ()) -> dict[str, Interval]:
    """A maximum-entropy model of some events, not pruned, on the prepositions of others."""
    dictionary, features = numbered(train.rows, templates=templates)
    weights = fit_maxent(features, train.labels, len(dictionary), rng=generator(0, "benchmark"))
    del features
    found = {}
    for name, test in tests.items():
        is_prep = test.labels != NONE
        n_right = 0
        for block in np.array_split(np.flatnonzero(is_prep), max(1, is_prep.sum() // 20_000)):
            scores = weights[looked_up(test.rows[block], dictionary)].sum(axis=1)
            n_right += int((scores[:, :NONE].argmax(axis=1) == test.labels[block]).sum())
        found[name] = wilson(n_right, int(is_prep.sum()))
    return found


def part(whole: Events, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Events:
    return Events(whole.rows[chosen], whole.labels[chosen], whole.folds[chosen], whole.vocabulary)
