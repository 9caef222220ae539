"""From text to a model of prepositions.

Lines are read once: analysed, turned into events, and the lines of two folds in a hundred held out.  Of those, the
events give the temperature (`calibration`) and the text, with errors put in (`corruption`), the thresholds: the
lowest that flag no more of the right uses than `FALSE_ALARMS` allows.  For comparison: 80 % precision at 19 % recall
where 6 % are wrong (T&C 2008) means that 3 right uses in 1,000 are flagged.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Literal, TypeAlias

import numpy as np

from grater.detect.learning.calibration import miscalibration, temperature
from grater.detect.learning.dictionary import MIN_COUNT, numbered
from grater.detect.learning.events import Batch, Events, Labels
from grater.detect.learning.lines import HELD_OUT, distinct_lines, fold_of
from grater.detect.learning.maxent import Matrix, fit_maxent
from grater.detect.learning.perceptron import fit_perceptron
from grater.detect.learning.pruning import Size, pruned
from grater.detect.learning.scores import Scores
from grater.detect.prepositions.candidates import Candidate
from grater.detect.prepositions.corruption import corrupted, frequencies
from grater.detect.prepositions.engine import ANSWERS, NONE, Engine, answer_of
from grater.detect.prepositions.events import GAP_RATE, batch_of
from grater.detect.prepositions.features import HASHING
from grater.detect.prepositions.linear import LinearEngine
from grater.detect.prepositions.stems import stem_numbers
from grater.detect.prepositions.thresholds import TYPES, Answers, Thresholds, Truths, lowest_threshold, margins
from grater.errors import UsageError
from grater.model import Json
from grater.rng import generator
from grater.text.analysis import analyse
from grater.text.prepositions import PREPOSITIONS

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
"""A preposition has a threshold of its own if so many of its right uses may be flagged."""

NO_MARGINS: Scores = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Options:
    """How to train."""

    method: Method = "maxent"
    size: Size | None = None
    min_count: int = MIN_COUNT
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
    """Lines that no event is trained on, kept as they pass."""

    lines: list[str] = field(default_factory=list)

    def keeping(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            plain = line.strip()  # a fold is that of the line as events have it
            if plain and fold_of(plain) < HELD_OUT:
                self.lines.append(plain)
            yield line

    def shuffled(self, seed: int) -> list[str]:
        """The lines of all sources mixed, each once."""
        distinct = list(dict.fromkeys(self.lines))
        return [distinct[place] for place in generator(seed, "held out").permutation(len(distinct))]


def batches_of(
    lines: Iterable[str], *, gap_rate: float = GAP_RATE, seed: int = 0, n_workers: int = 1
) -> Iterator[Batch]:
    """The events of distinct lines, batch by batch in order, by several processes if asked."""
    make = partial(batch_of, gap_rate=gap_rate, seed=seed)
    groups = _groups(distinct_lines(lines))
    if n_workers == 1:
        yield from (make(group, number=number) for number, group in enumerate(groups))
        return
    with ProcessPoolExecutor(n_workers, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[Batch]] = deque()
        for number, group in enumerate(groups):
            waiting.append(pool.submit(make, group, number=number))
            if len(waiting) > 2 * n_workers:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)


def _groups(lines: Iterator[str]) -> Iterator[list[str]]:
    while group := list(islice(lines, LINES_AT_ONCE)):
        yield group


def train(
    events: Events,
    held_out: Iterable[str],
    options: Options,
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
    sums = engine.sums(HASHING.all_keys(events.rows[is_held])).astype(np.float64)
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


def fitted(events: Events, options: Options, *, tell: Callable[[str], None] = lambda _: None) -> LinearEngine:
    """A model of the events that are not held out, as its fit leaves it."""
    is_used = events.folds >= HELD_OUT
    tell("numbering features")
    keys = HASHING.all_keys(events.rows[is_used])
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
    found = pruned(weights, dictionary, size)
    return LinearEngine(events.vocabulary, stem_numbers(events.vocabulary), found.keys, found.table, found.step, {})


def _largest(weights: Matrix) -> float:
    """Perceptron weights have no unit: one in a thousand is cut off."""
    return float(np.quantile(np.abs(weights[:: max(1, len(weights) // 100_000)]).max(axis=1), 0.999)) or 1.0


def _accuracy(sums: Scores, labels: Labels) -> float:
    is_prep = labels != NONE
    return float((sums[is_prep, :NONE].argmax(axis=1) == labels[is_prep]).mean())


def choose_thresholds(engine: Engine, held_out: Iterable[str], options: Options, shares: Scores) -> Thresholds:
    """Thresholds by corrupted text."""
    rng = generator(options.seed, "corruption")
    sentences = (sentence for line in held_out for sentence in analyse(line))
    found = list(corrupted(islice(sentences, MOST_CORRUPTED), shares, rng))
    candidates: list[Candidate] = [each.candidate for each in found]
    values = margins(engine.scores(candidates), [answer_of(candidate) for candidate in candidates]).values
    errors = np.array([each.error for each in found])
    written = np.array([answer_of(candidate) for candidate in candidates])
    is_gap = written == NONE
    chosen = {}
    for column, name in enumerate(TYPES):
        of_kind = is_gap == (name == "missing")
        wrong, right = values[of_kind & (errors == name), column], values[of_kind & (errors == ""), column]
        chosen[name] = lowest_threshold(wrong, right, false_alarms=options.false_alarms[name])
    is_right = ~is_gap & (errors == "")
    return Thresholds(**chosen, by_preposition=_of_frequent(values[:, 0], is_right, written, options))


def _of_frequent(margins_of_choice: Scores, is_right: Truths, written: Answers, options: Options) -> dict[str, float]:
    """A threshold of its own for every preposition that stands there often enough to choose one."""
    chosen = {}
    for column, word in enumerate(PREPOSITIONS):
        right = margins_of_choice[is_right & (written == column)]
        if len(right) * options.false_alarms["choice"] >= FEWEST_ALARMS:
            chosen[word] = lowest_threshold(NO_MARGINS, right, false_alarms=options.false_alarms["choice"])
    return chosen
