"""From text to a model of constructions.

An event is a noun phrase of well-formed text: its row and the construction that stood there.  Text comes one
paragraph per line.  Consecutive lines make a passage, which is to training what an essay is to the detector: mentions
are remembered within it.  Two passages in a hundred are held out; their events give the temperature
(`fitting`), and their text, with artificial errors, the thresholds and corrections.  In half of the training
events the number of the verb is hidden, so that one model knows both cases.

Thresholds and corrections of confidence are chosen on that text.  Its error rates are our guess at an intermediate
writer, near what annotators of learner essays mark: of a hundred open phrases some nine are wrong.  Articles are
omitted most often, then number goes wrong, then articles are inserted, then *a* and *the* are exchanged.  The text is
analysed again afterwards, so that the tagger sees what it would see in an essay.

The corrections come from a logistic regression of *is this phrase wrong?* on the margin of its best alternative, the
type of change, whether the pair is confusable, and the strength of the noun's habit towards the alternative or
against it; they are its weights divided by the margin's.  Each type gets the threshold with the highest F0.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import floor

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from grater.corpora.text.analysis import Sentence, analyse_all, analyse_words
from grater.corpora.text.tags import Clusters, load_tagger
from grater.detect.articles.constructions import CONSTRUCTIONS, NONE_OF_THEM, Habits
from grater.detect.articles.detector import (
    IS_CONFUSABLE,
    TYPE,
    TYPES,
    ArticleModel,
    Caution,
    Classes,
    completed,
    confidences,
    excesses,
    strengths,
)
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
from grater.detect.articles.phrases import ARTICLE, Change, NounPhrase, changes, noun_phrases, within_reach
from grater.detect.linear import Scores, Vocabulary, sums_of
from grater.detect.ngrams.counts import HELD_OUT, distinct_lines, fold_of
from grater.errors import UsageError
from grater.model import DELETE, Json
from grater.uncertainty import generator
from grater_train import events
from grater_train.events import MIN_WORD_COUNT, Batch, Events, GrowingVocabulary, Labels, Layout
from grater_train.fitting import Size, all_keys, fit_maxent, miscalibration, numbered, pruned, temperature

LINES = 60
"""Lines in a passage."""

LAYOUT = Layout(len(FIELDS), len(WORDS), counted=(0, 1, 5, 6))
"""Frequencies are counted over the head and its neighbours."""

HIDDEN = 0.5
RATE = 0.1
"""Steps of the fit; with many overlapping features, larger ones memorise single phrases."""

MOST_PASSAGES = 200
"""Passages that thresholds are chosen on."""
RATES: dict[str, dict[str, float]] = {
    "null-singular": {"the-singular": 0.03, "a-singular": 0.007, "null-plural": 0.02},
    "the-singular": {"null-singular": 0.06, "a-singular": 0.01, "the-plural": 0.01},
    "null-plural": {"the-plural": 0.03, "null-singular": 0.04},
    "a-singular": {"null-singular": 0.06, "the-singular": 0.02},
    "the-plural": {"null-plural": 0.05, "the-singular": 0.03},
}
"""By the construction that stood there: what it becomes, and how often."""

ENOUGH = 20
"""Phrases that a noun must have for its habits to be used."""

LEAST_FLAGS = 20
"""A threshold that leaves fewer flags than these in the corrupted text is not trusted."""

RIDGE = 0.1
N_STEPS = 25
PAIRS, ENTROPY = "pairs", "entropy"
CORRECTIONS = (PAIRS, ENTROPY)


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
    return load_tagger().weights.clusters


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
    dictionary, features = numbered(all_keys(HASHING, rows), min_count=options.min_count, templates=options.templates)
    tell(f"fitting {len(dictionary):,} features to {len(features):,} noun phrases")
    n_classes = len(CONSTRUCTIONS)
    weights = fit_maxent(features, labels, len(dictionary), n_classes, rng=rng, epochs=options.epochs, rate=RATE)
    del features
    small = pruned(weights, dictionary, options.size)
    held = completed(events.rows[is_held], habits, classes)
    sums = sums_of(all_keys(HASHING, held), small.keys, small.table).astype(np.float64)
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


@dataclass(frozen=True, slots=True)
class CorruptedPhrase:
    """A phrase of corrupted text; `right` is what stood there, `NONE_OF_THEM` where that is not known."""

    placed: PlacedPhrase
    right: int


def corrupted(passages: Iterable[Iterable[Sentence]], rng: np.random.Generator) -> Iterator[CorruptedPhrase]:
    """The open phrases of all passages with artificial errors."""
    for passage in passages:
        memory = Memory()
        for sentence in passage:
            words, right = with_errors(sentence, rng)
            if not words:
                continue
            for placed in placed_phrases([analyse_words(words)], memory):
                yield CorruptedPhrase(placed, right.get(placed.phrase.head, NONE_OF_THEM))


def with_errors(sentence: Sentence, rng: np.random.Generator) -> tuple[list[str], dict[int, int]]:
    """The words with artificial errors, and the right construction by the new index of each open phrase's head."""
    words: list[str] = []
    right: dict[int, int] = {}
    done = 0
    for phrase in noun_phrases(sentence):
        if not phrase.is_open or phrase.construction == NONE_OF_THEM:
            continue
        words += sentence.words[done : phrase.left]
        words += _written(phrase, changes(phrase, _drawn(phrase, rng)))
        right[len(words) - 1] = phrase.construction
        done = phrase.head + 1
    return [*words, *sentence.words[done:]], right


def _drawn(phrase: NounPhrase, rng: np.random.Generator) -> int:
    """A construction drawn by the error rates, mostly the same one."""
    chance = rng.random()
    reach = within_reach(phrase)
    for name, rate in RATES[CONSTRUCTIONS[phrase.construction]].items():
        chance -= rate
        if chance < 0:
            target = CONSTRUCTIONS.index(name)
            return target if target in reach else phrase.construction
    return phrase.construction


def _written(phrase: NounPhrase, made: list[Change]) -> list[str]:
    """The words of a phrase with its changes, without regard to capitals."""
    words = list(phrase.sentence.words[phrase.left : phrase.head + 1])
    for change in made:
        if change.kind != ARTICLE:
            words[-1] = change.suggestion
    for change in made:
        if change.kind == ARTICLE and phrase.article_at is None:
            words.insert(0, change.suggestion)
        elif change.kind == ARTICLE and change.suggestion == DELETE:
            del words[0]
        elif change.kind == ARTICLE:
            words[0] = change.suggestion
    return words


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Phrases of corrupted text as the detector sees them: scores; written, right and possible constructions."""

    scores: Scores
    written: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]
    strength: Scores
    is_reachable: npt.NDArray[np.bool_]

    @property
    def is_error(self) -> npt.NDArray[np.bool_]:
        is_error: npt.NDArray[np.bool_] = self.written != self.right
        return is_error

    def confidence(self, caution: Caution) -> Scores:
        values = confidences(self.scores, self.written.tolist(), self.strength, caution)
        return np.where(self.is_reachable, values, -np.inf)

    def outcomes(self, caution: Caution) -> tuple[int, int, int]:
        """Hits, false alarms and misses; any flag on a wrong phrase is a hit."""
        is_flagged = (excesses(self.confidence(caution), self.written.tolist(), caution) > 0).any(axis=1)
        hit, false_alarm = is_flagged & self.is_error, is_flagged & ~self.is_error
        return int(hit.sum()), int(false_alarm.sum()), int((self.is_error & ~is_flagged).sum())


def trial_of(model: ArticleModel, held_out: Iterable[Sequence[str]], *, seed: int = 0) -> Trial:
    """Held-out passages with artificial errors, as the detector sees them."""
    rng = generator(seed, "corruption", "articles")
    passages = ([sentence for line in analyse_all(lines) for sentence in line] for lines in held_out)
    phrases = [phrase for phrase in corrupted(passages, rng) if phrase.right != NONE_OF_THEM]
    return _trial_from(model, phrases)


def _trial_from(model: ArticleModel, phrases: Sequence[CorruptedPhrase]) -> Trial:
    placed = [phrase.placed for phrase in phrases]
    rows = model.rows(placed)
    reach = np.zeros((len(phrases), len(CONSTRUCTIONS)), bool)
    for row, phrase in enumerate(placed):
        reach[row, within_reach(phrase.phrase)] = True
    return Trial(
        scores=model.scores(rows, with_agreement=False),
        written=np.array([phrase.phrase.construction for phrase in placed], np.int64),
        right=np.array([phrase.right for phrase in phrases], np.int64),
        strength=strengths([model.habits.of(number) for number in rows[:, COLUMN["head"]].tolist()]),
        is_reachable=reach,
    )


def fitted_caution(trial: Trial, *, corrections: Sequence[str] = CORRECTIONS) -> Caution:
    """Corrections, those that are named, and thresholds."""
    return with_thresholds(trial, corrected(trial, corrections))


def corrected(trial: Trial, corrections: Sequence[str]) -> Caution:
    """The weights of the corrections divided by the margin's; thresholds are not set yet."""
    best, margin = _best(trial, Caution())
    rows = np.arange(len(best))
    strength = trial.strength[rows, best]
    is_used = np.isfinite(margin) & (margin > 0)
    wanted = {
        "confusable": IS_CONFUSABLE[trial.written, best] * (PAIRS in corrections),
        "own": np.maximum(strength, 0) * (ENTROPY in corrections),
        "other": np.maximum(-strength, 0) * (ENTROPY in corrections),
    }
    types = [TYPE[trial.written, best] == code for code in range(len(TYPES))]
    columns = np.column_stack([np.where(is_used, margin, 0), *wanted.values(), *types])
    if not trial.is_error[is_used].any() or trial.is_error[is_used].all():
        return Caution()
    weights = _logistic(columns[is_used], trial.is_error[is_used])
    if weights[0] <= 0:  # margins are not informative here, so no unit of measurement
        return Caution()
    factors = np.round(weights[1 : 1 + len(wanted)] / weights[0], 3)
    return Caution(**dict(zip(wanted, factors.tolist(), strict=True)))


def _logistic(columns: Scores, truth: npt.NDArray[np.bool_]) -> Scores:
    """The weights of a logistic regression with a small ridge, by Newton's method; the types are its constants."""
    weights = np.zeros(columns.shape[1])
    for _ in range(N_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        slope = columns.T @ (truth - chance) - RIDGE * weights
        curve = (columns.T * (chance * (1 - chance))) @ columns + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, slope)
    return weights


def with_thresholds(trial: Trial, caution: Caution) -> Caution:
    """The best threshold of each type by itself."""
    best, values = _best(trial, caution)
    types = TYPE[trial.written, best]
    of_type = TYPE[trial.written, trial.right]
    chosen = {}
    for code, name in enumerate(TYPES):
        here = types == code
        n_errors = int((trial.is_error & (of_type == code)).sum())
        chosen[name] = _best_threshold(values[here], trial.is_error[here], n_errors)
    return replace(caution, **chosen)


def _best(trial: Trial, caution: Caution) -> tuple[npt.NDArray[np.intp], Scores]:
    """The alternative of highest confidence, and that confidence."""
    confidence = trial.confidence(caution)
    best = confidence.argmax(axis=1)
    return best, confidence[np.arange(len(best)), best]


def _best_threshold(values: Scores, is_error: npt.NDArray[np.bool_], n_errors: int) -> float:
    """The threshold whose flags have the highest F0.5 among the errors of the type."""
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(is_error[order])
    flags = np.arange(1, len(order) + 1)
    scores = 1.25 * hits / np.maximum(1.25 * hits + 0.25 * np.maximum(n_errors - hits, 0) + (flags - hits), 1e-9)
    scores[: LEAST_FLAGS - 1] = 0
    if not len(order) or not scores.any():
        return float(np.inf)
    return round(float(values[order][int(scores.argmax())]) - 1e-3, 3)


def habits_from(
    numbers: npt.NDArray[np.int32], constructions: npt.NDArray[np.int8], *, enough: int = ENOUGH
) -> Habits:
    """The habits of nouns that training saw often enough; 0 is no noun."""
    counts = np.zeros((int(numbers.max(initial=0)) + 1, len(CONSTRUCTIONS)), np.int64)
    np.add.at(counts, (numbers, constructions), 1)
    kept = np.flatnonzero(counts.sum(axis=1) >= enough)
    rounded = quantised(counts[kept])
    return Habits(dict(zip(kept.tolist(), map(tuple, (rounded / 255).tolist()), strict=True)))


def quantised(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """Shares in steps of 1/255, as the model file keeps them."""
    shares: npt.NDArray[np.uint8] = np.rint(255 * counts / counts.sum(axis=1, keepdims=True)).astype(np.uint8)
    return shares


def word_classes(vocabulary: Vocabulary, clusters: Clusters) -> Classes:
    """The class of every number of the vocabulary, from 1 on; 0 for words that are in no cluster."""
    fine = clusters.numbers[:, -1].astype(np.uint16) + 1
    paths = [clusters.rows.get(word) for word in vocabulary.words]
    numbers = [0 if row is None else int(fine[row]) for row in paths]
    return np.array([0] * (len(vocabulary) - len(numbers)) + numbers, np.uint16)
