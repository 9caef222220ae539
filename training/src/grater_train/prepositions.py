"""From text to a model of prepositions: events, a fit, artificial errors, thresholds and costs.

T&C 2008, section 3.1: the classifier learns from prepositions used correctly.  The class of no preposition, which the
paper does not have, learns from gaps: of all places between two tokens with a word on the right, each is taken with
the same chance (`gap_rate`), so the odds of a gap are those of English up to one constant.  Lines are read once, and
those of two folds in a hundred are held out: their events give the temperature, and their text, with artificial
errors, the thresholds, which are the lowest that flag no more of the right uses than `FALSE_ALARMS` allows.  For
comparison: 80 % precision at 19 % recall where 6 % are wrong (T&C 2008) means that 3 right uses in 1,000 are flagged.

Error rates are those of learners in the papers: 6 % of prepositions are wrong (T&C 2008, section 2), about a fifth of
those extraneous (COLING 2008: up to 18 %), and, our guess, half as many are missing as are chosen wrongly.  A wrong
choice is drawn by the prepositions' own frequencies, flattened by a square root; an extraneous one the same way, into
a gap where a noun phrase begins.

`tuned` serves engines whose scores of none and of a preposition are not comparable (`ngram`, `combined`).  The cost
of a preposition is the mean margin of none over it in well-formed text that the engine did not see; a preposition
with few uses is drawn towards the mean of all, as if FEW uses of that mean were added.  A gap's cost is the mean of
all.  Then one constant is added to every cost, at which none wins over a right preposition as often as a preposition
wins over a gap that should stay: at a margin of 0 the engine is undecided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import inf
from multiprocessing import get_context
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from grater.corpora.text.analysis import Sentence, analyse, analyse_all, analyse_words
from grater.corpora.text.prepositions import PREPOSITIONS, canonical
from grater.detect.linear import Scores, sums_of
from grater.detect.ngrams.counts import HELD_OUT, distinct_lines, fold_of, smallest
from grater.detect.prepositions.candidates import (
    ANSWERS,
    MISSING,
    NONE,
    PREP,
    Candidate,
    Engine,
    answer_of,
    candidates_of,
    gap_places,
    preposition_places,
)
from grater.detect.prepositions.detector import (
    CHOICE,
    EXTRANEOUS,
    MISSING_TYPE,
    TYPES,
    Answers,
    Thresholds,
    Truths,
    margins,
)
from grater.detect.prepositions.engines import CombinedEngine, LinearEngine, NgramEngine
from grater.detect.prepositions.features import FIELDS, HASHING, N_WORDS, contexts, stemmed
from grater.errors import UsageError
from grater.model import Json
from grater.uncertainty import generator
from grater_train import events
from grater_train.events import MIN_WORD_COUNT, Batch, Events, GrowingVocabulary, Labels, Layout, token_draws
from grater_train.fitting import (
    MIN_FEATURE_COUNT,
    Matrix,
    Size,
    all_keys,
    fit_maxent,
    fit_perceptron,
    miscalibration,
    numbered,
    pruned,
    temperature,
)
from grater_train.stems import stem_numbers

GAP_RATE = 1 / 12
LAYOUT = Layout(len(FIELDS), N_WORDS, counted=(0, 3))
"""Frequencies are counted over the neighbours: every word is a neighbour about equally often."""

RATES = {CHOICE: 0.048, EXTRANEOUS: 0.012, MISSING_TYPE: 0.024}
"""Of prepositions; extraneous ones are inserted into gaps, which are about as many."""

Method: TypeAlias = Literal["maxent", "perceptron"]
EPOCHS: Mapping[Method, int] = {"maxent": 5, "perceptron": 4}
SIZES: Mapping[Method, Size] = {
    "maxent": Size(n_features=2_000_000),
    "perceptron": Size(n_features=4_000_000, n_weights=9_400_000, smallest=4),
}
LINES_AT_ONCE = 500
MOST_CORRUPTED = 40_000
"""Sentences that thresholds are chosen on."""

FALSE_ALARMS = {"choice": 0.005, "extraneous": 0.001, "missing": 0.001}
"""Shares of the right uses (of gaps, for missing ones) that may be flagged."""

FEWEST_ALARMS = 3
"""A preposition has a threshold of its own if at least this many of its right uses may be flagged."""

NO_MARGINS: Scores = np.zeros(0)

MOST_LINES = 4000
"""Lines that costs and thresholds come from, evenly spread over those held out."""

MOST_SENTENCES = 10_000
FEW = 20


def batch_of(lines: Sequence[str], *, gap_rate: float = GAP_RATE, seed: int = 0) -> Batch:
    """The events of some lines; which gaps are among them depends on the seed and each line alone."""
    candidates: list[Candidate] = []
    folds: list[int] = []
    for line, sentences in zip(lines, analyse_all(lines), strict=True):
        draws = token_draws(line, sum(len(sentence.words) for sentence in sentences), seed)
        events = list(_events_of(sentences, draws < gap_rate))
        candidates += events
        folds += [fold_of(line)] * len(events)
    vocabulary = GrowingVocabulary()
    rows = contexts(candidates, vocabulary) if candidates else np.zeros((0, len(FIELDS)), np.int32)
    labels = np.array([answer_of(candidate) for candidate in candidates], np.int8)
    return Batch(rows=rows, labels=labels, folds=np.array(folds, np.int8), words=tuple(vocabulary.places))


def _events_of(sentences: Sequence[Sentence], is_drawn: Truths) -> Iterator[Candidate]:
    start = 0
    for sentence in sentences:
        for index in preposition_places(sentence):
            yield Candidate(sentence, index, PREP)
        for index in np.flatnonzero(is_drawn[start : start + len(sentence.words)]).tolist():
            if sentence.words[index][0].isalnum():
                yield Candidate(sentence, index, MISSING)
        start += len(sentence.words)


def gathered(
    batches: Iterable[Batch], *, min_count: int = MIN_WORD_COUNT, tell: Callable[[int], None] = lambda _: None
) -> Events:
    """All batches as one, the heads by their stems."""
    gathered_events = events.gathered(batches, LAYOUT, min_count=min_count, tell=tell)
    return replace(gathered_events, rows=stemmed(gathered_events.rows, stem_numbers(gathered_events.vocabulary)))


@dataclass(frozen=True, slots=True)
class CorruptedPlace:
    """A candidate of corrupted text; `error` is the type of the error there, empty where there is none."""

    candidate: Candidate
    error: str


def frequencies(labels: Iterable[int]) -> Scores:
    """The flattened frequencies of the prepositions among labels."""
    counts = np.bincount(np.fromiter(labels, np.int64), minlength=NONE + 1)[:NONE]
    flat = np.sqrt(counts + 1.0)
    shares: Scores = flat / flat.sum()
    return shares


def corrupted(sentences: Iterable[Sentence], shares: Scores, rng: np.random.Generator) -> Iterator[CorruptedPlace]:
    """The candidates of all sentences with artificial errors."""
    for sentence in sentences:
        words, errors = _with_errors(sentence, shares, rng)
        if not words:
            continue
        for candidate in candidates_of(analyse_words(words)):
            is_insertion = errors.get(candidate.index) == MISSING_TYPE
            error = errors.get(candidate.index, "") if candidate.is_gap == is_insertion else ""
            yield CorruptedPlace(candidate, error)


def _with_errors(sentence: Sentence, shares: Scores, rng: np.random.Generator) -> tuple[list[str], dict[int, str]]:
    """The words, and the type of error by index (that of the next word where one is missing)."""
    prepositions, gaps = set(preposition_places(sentence)), set(gap_places(sentence))
    words: list[str] = []
    errors: dict[int, str] = {}
    chances = rng.random(len(sentence.words)).tolist()
    for index, word in enumerate(sentence.words):
        if index in prepositions and chances[index] < RATES[CHOICE]:
            errors[len(words)] = CHOICE
            words.append(_another(word, shares, rng))
        elif index in prepositions and chances[index] > 1 - RATES[MISSING_TYPE]:
            errors[len(words)] = MISSING_TYPE
        elif index in gaps and chances[index] < RATES[EXTRANEOUS]:
            errors[len(words)] = EXTRANEOUS
            words += [_another("", shares, rng), word]
        else:
            words.append(word)
    return words, errors


def _another(word: str, shares: Scores, rng: np.random.Generator) -> str:
    """A preposition that is not the word itself, with its capital."""
    while True:
        drawn = PREPOSITIONS[int(rng.choice(NONE, p=shares))]
        if drawn != canonical(word):
            return drawn.capitalize() if word[:1].isupper() else drawn


@dataclass(frozen=True, slots=True)
class PrepositionOptions:
    """Options of training."""

    method: Method = "maxent"
    size: Size | None = None
    min_count: int = MIN_FEATURE_COUNT
    epochs: int | None = None
    seed: int = 0
    templates: tuple[int, ...] = ()
    false_alarms: Mapping[str, float] = field(default_factory=lambda: dict(FALSE_ALARMS))

    @property
    def kept(self) -> Size:
        return self.size or SIZES[self.method]

    @property
    def n_epochs(self) -> int:
        return self.epochs or EPOCHS[self.method]


@dataclass(slots=True)
class HeldOutLines:
    """The held-out lines, kept as they pass."""

    lines: list[str] = field(default_factory=list)

    def keeping(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            plain = line.strip()  # as in events, so that the fold is the same
            if plain and fold_of(plain) < HELD_OUT:
                self.lines.append(plain)
            yield line

    def in_order(self) -> list[str]:
        """The lines of all sources, each once, in an order that does not depend on theirs."""
        return smallest(self.lines)


def batches_of(
    lines: Iterable[str], *, gap_rate: float = GAP_RATE, seed: int = 0, n_workers: int = 1
) -> Iterator[Batch]:
    """The events of distinct lines, batch by batch in order, by several processes if wanted."""
    make = partial(batch_of, gap_rate=gap_rate, seed=seed)
    groups = _groups(distinct_lines(lines))
    if n_workers == 1:
        yield from map(make, groups)
        return
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[Batch]] = deque()
        for group in groups:
            waiting.append(pool.submit(make, group))
            if len(waiting) > 2 * n_workers:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)


def _groups(lines: Iterator[str]) -> Iterator[list[str]]:
    while group := list(islice(lines, LINES_AT_ONCE)):
        yield group


def train(
    events: Events,
    held_out: Iterable[str],
    options: PrepositionOptions,
    *,
    card: Mapping[str, Json],
    tell: Callable[[str], None] = lambda _: None,
) -> LinearEngine:
    """A model with its temperature and thresholds, ready to be saved."""
    is_held = events.folds < HELD_OUT
    if not is_held.any() or is_held.all():
        raise UsageError(
            f"expected more text to train on, found {len(events):,} events; some thousand lines are needed"
        )
    engine = fitted(events, options, tell=tell)
    tell("calibrating")
    labels = events.labels[is_held]
    keys = all_keys(HASHING, events.rows[is_held])
    sums = sums_of(keys, engine.keys, engine.table).astype(np.float64)
    engine = replace(engine, step=temperature(sums, labels))
    thresholds = choose_thresholds(engine, held_out, options, frequencies(events.labels.tolist()))
    figures: dict[str, Json] = {
        "events": int((~is_held).sum()),
        "held_out_events": int(is_held.sum()),
        "held_out_accuracy": round(_accuracy(sums, labels), 4),
        "held_out_miscalibration": round(miscalibration(sums * engine.step, labels), 4),
        "features": len(engine.keys),
    }
    whole = {**card, "method": options.method, "seed": options.seed, "thresholds": thresholds.as_json()}
    return replace(engine, card={**whole, "figures": figures})


def fitted(
    events: Events, options: PrepositionOptions, *, tell: Callable[[str], None] = lambda _: None
) -> LinearEngine:
    """A model of the events that are not held out, not calibrated yet."""
    is_used = events.folds >= HELD_OUT
    tell("numbering features")
    keys = all_keys(HASHING, events.rows[is_used])
    dictionary, features = numbered(keys, min_count=options.min_count, templates=options.templates)
    tell(f"fitting {len(dictionary):,} features to {len(features):,} events")
    fit = fit_maxent if options.method == "maxent" else fit_perceptron
    rng = generator(options.seed, "train", options.method)
    weights = fit(features, events.labels[is_used], len(dictionary), len(ANSWERS), rng=rng, epochs=options.n_epochs)
    del keys, features
    tell("pruning")
    size = options.kept
    if options.method == "perceptron":
        size = replace(size, highest=_largest(weights))
    small = pruned(weights, dictionary, size)
    return LinearEngine(
        vocabulary=events.vocabulary,
        stems=stem_numbers(events.vocabulary),
        keys=small.keys,
        table=small.table,
        step=small.step,
        card={},
    )


def _largest(weights: Matrix) -> float:
    """Perceptron weights have no unit: one in a thousand is cut off."""
    return float(np.quantile(np.abs(weights[:: max(1, len(weights) // 100_000)]).max(axis=1), 0.999)) or 1.0


def _accuracy(sums: Scores, labels: Labels) -> float:
    is_prep = labels != NONE
    return float((sums[is_prep, :NONE].argmax(axis=1) == labels[is_prep]).mean())


def choose_thresholds(
    engine: Engine, held_out: Iterable[str], options: PrepositionOptions, shares: Scores
) -> Thresholds:
    """Thresholds by corrupted text."""
    rng = generator(options.seed, "corruption")
    sentences = (sentence for line in held_out for sentence in analyse(line))
    places = list(corrupted(islice(sentences, MOST_CORRUPTED), shares, rng))
    candidates: list[Candidate] = [place.candidate for place in places]
    values = margins(engine.scores(candidates), [answer_of(candidate) for candidate in candidates]).values
    errors = np.array([place.error for place in places])
    written = np.array([answer_of(candidate) for candidate in candidates])
    is_gap = written == NONE
    chosen = {}
    for column, name in enumerate(TYPES):
        of_kind = is_gap == (name == "missing")
        wrong, right = values[of_kind & (errors == name), column], values[of_kind & (errors == ""), column]
        chosen[name] = lowest_threshold(wrong, right, false_alarms=options.false_alarms[name])
    is_right = ~is_gap & (errors == "")
    return Thresholds(**chosen, by_preposition=_of_frequent(values[:, 0], is_right, written, options))


def _of_frequent(
    margins_of_choice: Scores, is_right: Truths, written: Answers, options: PrepositionOptions
) -> dict[str, float]:
    """A threshold of its own for every preposition that is frequent enough."""
    chosen = {}
    for column, word in enumerate(PREPOSITIONS):
        right = margins_of_choice[is_right & (written == column)]
        if len(right) * options.false_alarms["choice"] >= FEWEST_ALARMS:
            chosen[word] = lowest_threshold(NO_MARGINS, right, false_alarms=options.false_alarms["choice"])
    return chosen


PricedEngine = TypeVar("PricedEngine", NgramEngine, CombinedEngine)
"""An engine that lowers the score of none by a cost for each answer."""


def tuned(engine: PricedEngine, held_out: Sequence[str], *, seed: int = 0) -> tuple[PricedEngine, Thresholds]:
    """The engine with its costs, and thresholds for it."""
    held_out = held_out[:: 1 + len(held_out) // MOST_LINES]
    sentences = (sentence for line in held_out for sentence in analyse(line))
    candidates = _candidates(islice(sentences, MOST_SENTENCES))
    written = np.array([answer_of(candidate) for candidate in candidates], np.int64)
    if not (written != NONE).any():
        raise UsageError("expected prepositions in the text to choose thresholds on, found none; name more text")
    priced = replace(engine, costs=costs_of(engine, candidates, written))
    shares = frequencies(written[written != NONE].tolist())
    return priced, choose_thresholds(priced, held_out, PrepositionOptions(seed=seed), shares)


def costs_of(
    engine: PricedEngine, candidates: Sequence[Candidate], written: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Scores:
    """The mean cost of each preposition, rounded so that a card can show it; the last is a gap's."""
    plain = replace(engine, costs=np.zeros(len(ANSWERS)))
    differences = margins(plain.scores(candidates), written.tolist()).values
    is_gap = written == NONE
    uses, gaps, words = differences[~is_gap, 1], differences[is_gap, 2], written[~is_gap]
    n = np.bincount(words, minlength=NONE)[:NONE]
    means = (np.bincount(words, weights=uses, minlength=NONE)[:NONE] + FEW * uses.mean()) / (n + FEW)
    costs = np.append(means, uses.mean())
    rounded: Scores = np.round(costs + _balance(uses - costs[words], gaps + costs[NONE]), 4)
    return rounded


def _balance(uses: Scores, gaps: Scores) -> float:
    """The constant that margins of uses exceed as often as those of gaps exceed its opposite."""
    steps = np.quantile(uses, np.linspace(0, 1, 1001))
    above = 1 - np.searchsorted(np.sort(uses), steps, side="right") / len(uses)
    opposite = 1 - np.searchsorted(np.sort(gaps), -steps, side="right") / max(1, len(gaps))
    return float(steps[np.abs(above - opposite).argmin()])


def _candidates(sentences: Iterable[Sentence]) -> list[Candidate]:
    return [candidate for sentence in sentences for candidate in candidates_of(sentence)]


def lowest_threshold(wrong: Scores, right: Scores, *, false_alarms: float, least: float = 0.0) -> float:
    """The lowest threshold that flags at most a share of the right uses; `wrong` only bounds it from above."""
    if not len(right):
        raise UsageError("expected right uses to choose a threshold from, found none")
    n_allowed = int(false_alarms * len(right))
    ordered = np.sort(right)[::-1]
    threshold = float(ordered[n_allowed]) if n_allowed < len(ordered) else least
    highest = float(wrong.max()) if len(wrong) else inf
    return round(min(max(threshold, least), highest), 3)
