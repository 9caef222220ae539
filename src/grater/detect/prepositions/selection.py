"""Preposition selection in native text, the cloze task: which of the 34 stood there?

T&C 2008, section 3.2 and Table 1: accuracy, F for each preposition, and the majority class beside it.  Two other set-
ups, for comparison with their systems:

- `gamon`: Gamon et al. 2008 know 13 prepositions and Other; ours are mapped to these after the fact;
- `felice`: Felice & Pulman 2007 decide for each of five prepositions whether it stands there or not; ours says yes
  where it gives more than one half, and the accuracy is the mean over the five.

Limits: Wilson for shares; of F and of the mean over five, from the counts drawn again.  A preposition is one case;
those of one text are taken as independent, which makes the limits a little too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from grater.detect.learning.weights import Scores
from grater.detect.prepositions.candidates import NONE, PREP, Candidate, Engine, answer_of, preposition_places
from grater.model import Interval, Json
from grater.rng import generator
from grater.statistics.proportions import wilson
from grater.text.analysis import Sentence
from grater.text.prepositions import PREPOSITIONS

GAMON = ("about", "as", "at", "by", "for", "from", "in", "like", "of", "on", "since", "to", "with")
FELICE = ("of", "to", "in", "for", "on")
RESAMPLES = 1000
BLOCK = 4000

Table = npt.NDArray[np.int64]


@dataclass(slots=True)
class Tally:
    """What stood there by what was chosen; and for each of the five, (stood there, said yes)."""

    confusion: Table = field(default_factory=lambda: np.zeros((NONE, NONE), np.int64))
    five: Table = field(default_factory=lambda: np.zeros((len(FELICE), 2, 2), np.int64))

    def add(self, scores: Scores, written: npt.NDArray[np.int64]) -> None:
        """`scores` of candidates that are prepositions; what they give to none is set aside."""
        among = scores[:, :NONE]
        np.add.at(self.confusion, (written, among.argmax(axis=1)), 1)
        shares = np.exp(among - among.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        for place, word in enumerate(FELICE):
            column = PREPOSITIONS.index(word)
            np.add.at(self.five[place], ((written == column).astype(int), (shares[:, column] > 0.5).astype(int)), 1)


@dataclass(frozen=True, slots=True)
class PrepositionScores:
    """One preposition (or Other): how often it stood there, whether it does answered right, precision, recall, F."""

    preposition: str
    n: int
    accuracy: Interval
    precision: Interval
    recall: Interval
    f1: Interval

    def as_json(self) -> dict[str, Json]:
        scores = {name: getattr(self, name).as_json() for name in ("accuracy", "precision", "recall", "f1")}
        return {"preposition": self.preposition, "n": self.n, **scores}


@dataclass(frozen=True, slots=True)
class Selection:
    """The results of one set-up; `majority` is the accuracy of always choosing the commonest preposition."""

    setup: str
    n: int
    accuracy: Interval
    majority: Interval
    commonest: str
    by_preposition: tuple[PrepositionScores, ...]

    def as_json(self) -> dict[str, Json]:
        return {
            "setup": self.setup,
            "n": self.n,
            "accuracy": self.accuracy.as_json(),
            "majority": {"preposition": self.commonest, **self.majority.as_json()},
            "by_preposition": [each.as_json() for each in self.by_preposition],
        }


def tally_of(engine: Engine, sentences: Iterable[Sentence]) -> Tally:
    """Every preposition of some sentences, answered by an engine that does not see it."""
    tally = Tally()
    waiting: list[Candidate] = []
    for sentence in sentences:
        waiting += [Candidate(sentence, place, PREP) for place in preposition_places(sentence)]
        if len(waiting) >= BLOCK:
            _answer(tally, engine, waiting)
            waiting = []
    _answer(tally, engine, waiting)
    return tally


def _answer(tally: Tally, engine: Engine, candidates: Sequence[Candidate]) -> None:
    if candidates:
        tally.add(engine.scores(candidates), np.array([answer_of(candidate) for candidate in candidates], np.int64))


def selections(tally: Tally, *, seed: int = 0) -> list[Selection]:
    """The three set-ups."""
    mapped = _mapped(tally.confusion)
    return [
        _selection("34", tally.confusion, PREPOSITIONS, seed),
        _selection("gamon", mapped, (*GAMON, "Other"), seed),
        _of_five(tally, seed),
    ]


def _mapped(confusion: Table) -> Table:
    """The table over 13 prepositions and Other."""
    places = np.array([GAMON.index(word) if word in GAMON else len(GAMON) for word in PREPOSITIONS])
    mapped = np.zeros((len(GAMON) + 1, len(GAMON) + 1), np.int64)
    np.add.at(mapped, (places[:, None], places[None, :]), confusion)
    return mapped


def _selection(setup: str, confusion: Table, names: Sequence[str], seed: int) -> Selection:
    n, stood = int(confusion.sum()), confusion.sum(axis=1)
    commonest = int(stood.argmax())
    rows = [_of_preposition(confusion, place, name, seed) for place, name in enumerate(names)]
    return Selection(
        setup,
        n,
        wilson(int(np.trace(confusion)), n),
        wilson(int(stood[commonest]), n),
        names[commonest] if n else "",
        tuple(sorted(rows, key=lambda row: -row.n)),
    )


def _of_preposition(confusion: Table, place: int, name: str, seed: int) -> PrepositionScores:
    hit = int(confusion[place, place])
    chosen, stood, n = int(confusion[:, place].sum()), int(confusion[place].sum()), int(confusion.sum())
    return _scored(name, np.array([hit, chosen - hit, stood - hit, n - chosen - stood + hit]), seed)


def _scored(name: str, cells: Table, seed: int) -> PrepositionScores:
    """From hits, false alarms, misses and the rest."""
    hit, false_alarm, miss, rest = cells.tolist()
    accuracy, precision, recall = (
        wilson(right, n) for right, n in ((hit + rest, cells.sum()), (hit, hit + false_alarm), (hit, hit + miss))
    )
    below = 2 * hit + false_alarm + miss
    if not below:
        return PrepositionScores(name, hit + miss, accuracy, precision, recall, wilson(0, 0))
    rng = generator(seed, "selection", name)
    drawn = rng.multinomial(int(cells[:3].sum()), cells[:3] / cells[:3].sum(), size=RESAMPLES) @ [
        [2, 2],
        [0, 1],
        [0, 1],
    ]
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975]).tolist()
    value = 2 * hit / below
    f1 = Interval(value, min(low, value), max(high, value))
    return PrepositionScores(name, hit + miss, accuracy, precision, recall, f1)


def _of_five(tally: Tally, seed: int) -> Selection:
    """The mean accuracy of five yes-or-no questions about every preposition."""
    n = int(tally.confusion.sum())
    order = [(1, 1), (0, 1), (1, 0), (0, 0)]
    cells = [np.array([table[at] for at in order]) for table in tally.five]
    rows = [_scored(word, own, seed) for word, own in zip(FELICE, cells, strict=True)]
    n_right, n_absent = (sum(int(own[list(which)].sum()) for own in cells) for which in ((0, 3), (1, 3)))
    accuracy, majority = (_of_n(right / len(FELICE), n) for right in (n_right, n_absent))
    return Selection("felice", n, accuracy, majority, "(none of them)", tuple(rows))


def _of_n(right: float, n: int) -> Interval:
    """The five questions about a place are not five cases: the limits are those of n."""
    return wilson(right, n)
