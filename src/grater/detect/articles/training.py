"""From text to a model of constructions.

An event is a noun phrase of well-formed text: its row and the construction that stood there.  Text comes one
paragraph per line.  Consecutive lines make a passage, which is to training what an essay is to the detector: mentions
are remembered within it.  Two passages in a hundred are held out; their events give the temperature
(`learning.linear`), and their text, with artificial errors, the thresholds and corrections (`thresholds`).  In half
of the training events the number of the verb is hidden, so that one model knows both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import floor

import numpy as np
from numpy.typing import NDArray

from grater.detect.articles.constructions import CONSTRUCTIONS, NONE_OF_THEM, habits_from
from grater.detect.articles.features import (
    AGREEMENT_COLUMNS,
    COLUMN,
    FIELDS,
    HASHING,
    WORDS,
    Memory,
    PlacedPhrase,
    placed_phrases,
    rows_of,
)
from grater.detect.articles.model import ArticleModel, completed, word_classes
from grater.detect.articles.thresholds import fitted_caution, trial_of
from grater.detect.learning import events
from grater.detect.learning.events import (
    HELD_OUT,
    MIN_WORD_COUNT,
    Batch,
    Events,
    Labels,
    Layout,
    distinct_lines,
    fold_of,
)
from grater.detect.learning.fitting import Size, fit_maxent, numbered, pruned
from grater.detect.learning.linear import GrowingVocabulary, miscalibration, sums_of, temperature
from grater.errors import UsageError
from grater.model import Json
from grater.rng import generator
from grater.text.analysis import analyse_all
from grater.text.tagging.perceptron import Clusters, PerceptronTagger
from grater.text.tags import load_tagger

LINES = 60
"""Lines in a passage."""

LAYOUT = Layout(len(FIELDS), len(WORDS), counted=(0, 1, 5, 6))
"""Frequencies are counted over the head and its neighbours."""

HIDDEN = 0.5
RATE = 0.1
"""Steps of the fit; with many overlapping features, larger ones memorise single phrases."""

MOST_PASSAGES = 200
"""Passages that thresholds are chosen on."""


def passages(lines: Iterable[str], *, share: float = 1.0) -> Iterator[list[str]]:
    """Passages of consecutive lines, each line once; a share of them, evenly spread."""
    distinct = distinct_lines(lines)
    number = 0
    while passage := list(islice(distinct, LINES)):
        if floor((number + 1) * share) > floor(number * share):
            yield passage
        number += 1


def batch_of(passage: Sequence[str]) -> Batch:
    """The events of a passage."""
    sentences = [sentence for line in analyse_all(passage) for sentence in line]
    placed = [phrase for phrase in placed_phrases(sentences, Memory()) if phrase.phrase.construction != NONE_OF_THEM]
    growing = GrowingVocabulary()
    rows, folds = rows_of(placed, growing), np.full(len(placed), fold_of(passage[0]), np.int8)
    return Batch(rows=rows, labels=labels_of(placed), folds=folds, words=tuple(growing.places))


def labels_of(placed: Sequence[PlacedPhrase]) -> Labels:
    """The constructions that were written."""
    return np.array([phrase.phrase.construction for phrase in placed], np.int8)


def gathered(
    batches: Iterable[Batch], *, min_count: int = MIN_WORD_COUNT, tell: Callable[[int], None] = lambda _: None
) -> Events:
    """All passages as one."""
    return events.gathered(batches, LAYOUT, min_count=min_count, tell=tell)


@dataclass(frozen=True, slots=True)
class ArticleOptions:
    """Options of training."""

    size: Size = field(default_factory=lambda: Size(n_features=1_500_000, smallest=2, highest=3.0))
    min_count: int = 2
    epochs: int = 3
    seed: int = 0
    templates: tuple[int, ...] = ()


def tagger_clusters() -> Clusters:
    """The shipped tagger's clusters of words that are used alike."""
    tagger = load_tagger()
    return tagger.weights.clusters if isinstance(tagger, PerceptronTagger) else Clusters.none()


def fitted(
    events: Events,
    options: ArticleOptions,
    *,
    clusters: Clusters | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> ArticleModel:
    """A calibrated model of the events that are not held out; words are classed by the tagger's clusters."""
    clusters = tagger_clusters() if clusters is None else clusters
    is_held = _held_out(events)
    rows, labels = events.rows[~is_held], events.labels[~is_held]
    habits = habits_from(rows[:, COLUMN["head"]], labels)
    classes = word_classes(events.vocabulary, clusters)
    rows = completed(rows, habits, classes)
    rng = generator(options.seed, "train", "articles")
    rows[np.ix_(np.flatnonzero(rng.random(len(rows)) < HIDDEN), np.array(AGREEMENT_COLUMNS))] = 0
    tell("numbering features")
    dictionary, features = numbered(HASHING.all_keys(rows), min_count=options.min_count, templates=options.templates)
    tell(f"fitting {len(dictionary):,} features to {len(features):,} noun phrases")
    n_classes = len(CONSTRUCTIONS)
    weights = fit_maxent(features, labels, len(dictionary), n_classes, rng=rng, epochs=options.epochs, rate=RATE)
    del features
    small = pruned(weights, dictionary, options.size)
    held = completed(events.rows[is_held], habits, classes)
    sums = sums_of(HASHING.all_keys(held), small.keys, small.table).astype(np.float64)
    step = temperature(sums, events.labels[is_held])
    figures = {"noun_phrases": len(rows), **_figures(sums, step, events.labels[is_held]), "features": len(small.keys)}
    return ArticleModel(
        vocabulary=events.vocabulary,
        habits=habits,
        classes=classes,
        keys=small.keys,
        table=small.table,
        step=step,
        card={"figures": figures},
    )


def _held_out(events: Events) -> NDArray[np.bool_]:
    is_held: NDArray[np.bool_] = events.folds < HELD_OUT
    if not is_held.any() or is_held.all():
        raise UsageError(
            f"expected more text to train on, found {len(events):,} noun phrases; many thousand are needed"
        )
    return is_held


def _figures(sums: NDArray[np.float64], step: float, labels: Labels) -> dict[str, Json]:
    """How good the model is on what was held out."""
    return {
        "held_out_noun_phrases": len(sums),
        "held_out_accuracy": round(float((sums.argmax(axis=1) == labels).mean()), 4),
        "held_out_miscalibration": round(miscalibration(sums * step, labels), 4),
    }


def train(
    events: Events,
    held_out: Iterable[Sequence[str]],
    options: ArticleOptions,
    *,
    card: Mapping[str, Json],
    tell: Callable[[str], None] = lambda _: None,
) -> ArticleModel:
    """A model with its temperature and thresholds, ready to be saved; `held_out` are passages of lines."""
    model = fitted(events, options, tell=tell)
    tell("choosing thresholds")
    trial = trial_of(model, islice(held_out, MOST_PASSAGES), seed=options.seed)
    caution = fitted_caution(trial)
    whole = {**card, "seed": options.seed, "thresholds": caution.as_json(), "figures": model.card["figures"]}
    return replace(model, card=whole)
