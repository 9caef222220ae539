"""Preposition selection in native text, the cloze task: which of the 34 prepositions stood there?

T&C 2008, section 3.2 and Table 1: accuracy, F for each preposition, and the majority class beside it.  Two other
set-ups allow comparison with other systems:

- `gamon`: Gamon et al. 2008 know 13 prepositions and Other; ours are mapped to these after the fact;
- `felice`: Felice & Pulman 2007 decide for each of five prepositions whether it stands there or not; ours says yes
  where it gives more than one half, and the accuracy is the mean over the five.

Intervals are Wilson's for shares, and multinomial resampling of the counts for F.  A preposition is one case; those
of one text are taken as independent, which makes the intervals a little too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from grater.corpora.text.analysis import Sentence, analyse_all
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.detector import Detector, grouped
from grater.detect.linear import Scores
from grater.detect.prepositions.candidates import NONE, PREP, Candidate, Engine, answer_of, preposition_places
from grater.errors import UsageError
from grater.model import Essay, Interval, Json
from grater.result import HIDDEN, Data, Estimate, Result, in_json
from grater.sheet import Sheet, count, interval
from grater.signature import Signature
from grater.uncertainty.intervals import Scope, alike_interval, are_alike, generator, tail_interval, wilson, z_value

GAMON = ("about", "as", "at", "by", "for", "from", "in", "like", "of", "on", "since", "to", "with")
FELICE = ("of", "to", "in", "for", "on")
RESAMPLES = 1000
BLOCK = 4000
TITLES = {
    "34": "Which of 34 prepositions the writer used",
    "gamon": "13 prepositions and Other (Gamon et al. 2008)",
    "felice": "Each of five against the rest (Felice & Pulman 2007)",
}
SCORES = ("accuracy", "precision", "recall", "f1")

Table = npt.NDArray[np.int64]


@dataclass(slots=True)
class Tally:
    """Counts of what stood there by what was chosen; and for each of the five, of (stood there, said yes)."""

    confusion: Table = field(default_factory=lambda: np.zeros((NONE, NONE), np.int64))
    five: Table = field(default_factory=lambda: np.zeros((len(FELICE), 2, 2), np.int64))

    def add(self, scores: Scores, written: npt.NDArray[np.int64]) -> None:
        """`scores` of candidates that are prepositions; what they give to none is set aside."""
        among = scores[:, :NONE]
        np.add.at(self.confusion, (written, among.argmax(axis=1)), 1)
        shares = np.exp(among - among.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        for table, word in zip(self.five, FELICE, strict=True):
            column = PREPOSITIONS.index(word)
            np.add.at(table, ((written == column).astype(int), (shares[:, column] > 0.5).astype(int)), 1)


@dataclass(frozen=True, slots=True)
class PrepositionScores(Data):
    """One preposition (or Other): how often it stood there, and the scores of saying so."""

    preposition: str
    n: int
    accuracy: Interval
    precision: Interval
    recall: Interval
    f1: Interval


@dataclass(frozen=True, slots=True)
class Selection(Data):
    """The results of one set-up; `majority` is the accuracy of always choosing the commonest preposition."""

    setup: str
    n: int
    accuracy: Interval
    majority: Interval = field(metadata=HIDDEN)
    commonest: str = field(metadata=HIDDEN)
    by_preposition: tuple[PrepositionScores, ...]

    @property
    @in_json("majority")
    def _majority(self) -> dict[str, Json]:
        return {"preposition": self.commonest, **self.majority.as_json()}

    @property
    @in_json()
    def scope(self) -> Scope:
        return Scope(n_units=self.n, independent_because="as in the papers")

    def sheet(self, *, signature: str = "") -> Sheet:
        """The prepositions that stood there, the commonest first, and the accuracy as a note."""
        rows = tuple(
            (row.preposition, count(row.n), *map(interval, (row.precision, row.recall, row.f1)))
            for row in self.by_preposition
            if row.n
        )
        baseline = f"always {self.commonest}: {interval(self.majority)}"
        note = f"accuracy {interval(self.accuracy)} on {count(self.n)}; {baseline}"
        columns = ("preposition", "n", "precision", "recall", "F")
        return Sheet(TITLES[self.setup], columns, rows, notes=(note, self.scope.sentence), signature=signature)


@dataclass(frozen=True, slots=True, repr=False)
class SelectionTest(Result):
    """A system's results in all three set-ups."""

    system: str
    setups: tuple[Selection, ...]
    signature: Signature

    def estimates(self) -> Iterator[Estimate]:
        """Numbers by set-up, preposition and score; the preposition is missing where a number is of all."""
        for setup in self.setups:
            for name, score in (("accuracy", setup.accuracy), ("majority", setup.majority)):
                yield {"setup": setup.setup, "preposition": None, "n": setup.n, "score": name}, score
            for row in setup.by_preposition:
                for name in SCORES:
                    score = getattr(row, name)
                    yield {"setup": setup.setup, "preposition": row.preposition, "n": row.n, "score": name}, score

    def sheets(self) -> tuple[Sheet, ...]:
        *first, last = self.setups
        return (*(setup.sheet() for setup in first), last.sheet(signature=str(self.signature)))


def selection_test(detector: Detector, essays: Iterable[Essay], *, seed: int = 0) -> SelectionTest:
    """Hide every preposition of native essays and let a preposition detector choose."""
    engine: Engine | None = getattr(detector, "engine", None)
    if engine is None:
        raise UsageError(
            f"expected a detector of prepositions, found {detector.name}, which looks for {detector.kinds}"
        )
    setups = selections(tally_of(engine, _sentences(essays)), seed=seed)
    options = {"system": detector.name, "model": str(detector.card.get("hash", "")), "seed": str(seed)}
    signature = Signature("select", {**options, "n": str(setups[0].n)})
    return SelectionTest(system=detector.name, setups=tuple(setups), signature=signature)


def _sentences(essays: Iterable[Essay]) -> Iterator[Sentence]:
    for group in grouped(essays):
        for sentences in analyse_all(group):
            yield from sentences


def tally_of(engine: Engine, sentences: Iterable[Sentence]) -> Tally:
    """The answers of an engine to every preposition of the sentences, which it does not see."""
    tally = Tally()
    waiting: list[Candidate] = []
    for sentence in sentences:
        waiting += [Candidate(sentence, index, PREP) for index in preposition_places(sentence)]
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
    codes = np.array([GAMON.index(word) if word in GAMON else len(GAMON) for word in PREPOSITIONS])
    mapped = np.zeros((len(GAMON) + 1, len(GAMON) + 1), np.int64)
    np.add.at(mapped, (codes[:, None], codes[None, :]), confusion)
    return mapped


def _selection(setup: str, confusion: Table, names: Sequence[str], seed: int) -> Selection:
    n, stood = int(confusion.sum()), confusion.sum(axis=1)
    commonest = int(stood.argmax())
    rows = [_of_preposition(confusion, code, name, seed) for code, name in enumerate(names)]
    return Selection(
        setup=setup,
        n=n,
        accuracy=wilson(int(np.trace(confusion)), n),
        majority=wilson(int(stood[commonest]), n),
        commonest=names[commonest] if n else "",
        by_preposition=tuple(sorted(rows, key=lambda row: -row.n)),
    )


def _of_preposition(confusion: Table, code: int, name: str, seed: int) -> PrepositionScores:
    hit = int(confusion[code, code])
    chosen, stood, n = int(confusion[:, code].sum()), int(confusion[code].sum()), int(confusion.sum())
    return _scored(name, np.array([hit, chosen - hit, stood - hit, n - chosen - stood + hit]), seed)


def _scored(name: str, cells: Table, seed: int) -> PrepositionScores:
    """From hits, false alarms, misses and the rest."""
    hit, false_alarm, miss, rest = cells.tolist()
    accuracy, precision, recall = (
        wilson(right, n) for right, n in ((hit + rest, cells.sum()), (hit, hit + false_alarm), (hit, hit + miss))
    )
    return PrepositionScores(
        preposition=name,
        n=hit + miss,
        accuracy=accuracy,
        precision=precision,
        recall=recall,
        f1=_f1(cells[:3], generator(seed, "selection", name)),
    )


def _f1(cells: Table, rng: np.random.Generator) -> Interval:
    """F from hits, false alarms and misses; its interval by resampling them."""
    numerator, denominator = np.array([2, 0, 0]), np.array([2, 1, 1])
    if not cells.sum():
        return wilson(0, 0)
    value = float(cells @ numerator / (cells @ denominator))
    resampled = rng.multinomial(int(cells.sum()), cells / cells.sum(), size=RESAMPLES)
    draws = resampled @ numerator / (resampled @ denominator)
    if are_alike(draws):
        return alike_interval(value, int(cells.sum()), quantile=z_value())
    return tail_interval(value, draws, 0.025)


def _of_five(tally: Tally, seed: int) -> Selection:
    """The mean accuracy of five yes-or-no decisions about every preposition."""
    n = int(tally.confusion.sum())
    order = [(1, 1), (0, 1), (1, 0), (0, 0)]
    cells = [np.array([table[at] for at in order]) for table in tally.five]
    rows = [_scored(word, own, seed) for word, own in zip(FELICE, cells, strict=True)]
    n_right, n_absent = (sum(int(own[list(which)].sum()) for own in cells) for which in ((0, 3), (1, 3)))
    # five answers about one place are not five cases: the intervals are those of n
    accuracy, majority = (wilson(right / len(FELICE), n) for right in (n_right, n_absent))
    return Selection(
        setup="felice",
        n=n,
        accuracy=accuracy,
        majority=majority,
        commonest="(none of them)",
        by_preposition=tuple(rows),
    )
