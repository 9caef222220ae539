"""From text to a model of constructions.

Two passages in a hundred are held out.  Of those, the events give the temperature (`learning.calibration`) and
the text, with errors put in (`corruption`), the thresholds and the corrections of `confidence` (`trial`).  In half
of the training events the number of the verb is hidden, so that one model knows both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np

from grater.detect.articles.constructions import CONSTRUCTIONS
from grater.detect.articles.features import HASHING
from grater.detect.articles.model import ArticleModel, completed, word_classes
from grater.detect.articles.nouns import habits_from
from grater.detect.articles.rows import AGREEMENT, COLUMN
from grater.detect.articles.trial import fitted_caution, trial_of
from grater.detect.learning.calibration import miscalibration, temperature
from grater.detect.learning.dictionary import numbered
from grater.detect.learning.events import Events
from grater.detect.learning.lines import HELD_OUT
from grater.detect.learning.maxent import fit_maxent
from grater.detect.learning.pruning import Size, pruned
from grater.detect.learning.table import sums_of
from grater.errors import UsageError
from grater.model import Json
from grater.rng import generator
from grater.text.tagging.clusters import Clusters
from grater.text.tagging.perceptron import PerceptronTagger
from grater.text.tags import load_tagger

HIDDEN = 0.5
RATE = 0.1
"""Steps of the fit; with so many features that overlap, larger ones learn single phrases by heart."""

MOST_PASSAGES = 200
"""Passages that thresholds are chosen on."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to train."""

    size: Size = field(default_factory=lambda: Size(n_features=1_500_000, smallest=2, highest=3.0))
    min_count: int = 2
    epochs: int = 3
    seed: int = 0
    templates: tuple[int, ...] = ()


def tagger_clusters() -> Clusters:
    """The words that the shipped tagger knows to be used alike."""
    tagger = load_tagger()
    return tagger.weights.clusters if isinstance(tagger, PerceptronTagger) else Clusters.none()


def fitted(
    events: Events,
    options: Options,
    *,
    clusters: Clusters | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> ArticleModel:
    """A calibrated model of the events that are not held out; words are classed by the tagger's clusters."""
    clusters = tagger_clusters() if clusters is None else clusters
    is_held = events.folds < HELD_OUT
    if not is_held.any() or is_held.all():
        raise UsageError(
            f"expected more text to train on, found {len(events):,} noun phrases; many thousand are needed"
        )
    rows, labels = events.rows[~is_held], events.labels[~is_held]
    habits = habits_from(rows[:, COLUMN["head"]], labels)
    classes = word_classes(events.vocabulary, clusters)
    rows = completed(rows, habits, classes)
    rng = generator(options.seed, "train", "articles")
    rows[np.ix_(np.flatnonzero(rng.random(len(rows)) < HIDDEN), np.array(AGREEMENT))] = 0
    tell("numbering features")
    dictionary, features = numbered(HASHING.all_keys(rows), min_count=options.min_count, templates=options.templates)
    tell(f"fitting {len(dictionary):,} features to {len(features):,} noun phrases")
    n_classes = len(CONSTRUCTIONS)
    weights = fit_maxent(features, labels, len(dictionary), n_classes, rng=rng, epochs=options.epochs, rate=RATE)
    del features
    found = pruned(weights, dictionary, options.size)
    held = completed(events.rows[is_held], habits, classes)
    sums = sums_of(HASHING.all_keys(held), found.keys, found.table).astype(np.float64)
    step = temperature(sums, events.labels[is_held])
    figures: dict[str, Json] = {
        "noun_phrases": len(rows),
        "held_out_noun_phrases": len(held),
        "held_out_accuracy": round(float((sums.argmax(axis=1) == events.labels[is_held]).mean()), 4),
        "held_out_miscalibration": round(miscalibration(sums * step, events.labels[is_held]), 4),
        "features": len(found.keys),
    }
    return ArticleModel(events.vocabulary, habits, classes, found.keys, found.table, step, {"figures": figures})


def train(
    events: Events,
    held_out: Iterable[Sequence[str]],
    options: Options,
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
