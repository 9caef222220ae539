"""Preposition selection in native text (cloze): predicting which of the 34 prepositions the writer used.

T&C 2008, section 3.2 and Table 1: accuracy, F for each preposition, and of the majority class. Two other set-ups
allow comparisons with other systems:

- `gamon`: Gamon et al. 2008 have 13 prepositions and Other, to which our answers are mapped;
- `felice`: Felice & Pulman 2007 decide for each of five prepositions whether it was used; ours says yes if its
  probability exceeds one half, and the accuracy is the mean over the five.

Intervals are by text (`grater.uncertainty`): the document where it is known, else the essay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from grater.corpora.text.analysis import Sentence
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.detector import Detector, analysed
from grater.detect.linear import Scores, softmax
from grater.detect.prepositions.candidates import NONE, PREP, Candidate, Engine, answer_of, preposition_places
from grater.errors import UsageError
from grater.model import Essay, Interval, Json, document_of
from grater.result import HIDDEN, Data, Estimate, Result, in_json
from grater.sheet import Sheet, Signature, count, interval
from grater.uncertainty import Basis, Numbers, Scope, Units, influence, ratio, share, shares_by_unit

GAMON = ("about", "as", "at", "by", "for", "from", "in", "like", "of", "on", "since", "to", "with")
FELICE = ("of", "to", "in", "for", "on")
BLOCK = 4000
TITLES = {
    "34": "Which of 34 prepositions the writer used",
    "gamon": "13 prepositions and Other (Gamon et al. 2008)",
    "felice": "Each of five against the rest (Felice & Pulman 2007)",
}
SCORES = ("accuracy", "precision", "recall", "f1")

Table = npt.NDArray[np.int64]

STOOD, CHOSEN, HIT, OTHER_HIT, FIVE = 0, NONE, 2 * NONE, 3 * NONE, 3 * NONE + 1
"""Where counts begin in the row of a text: of prepositions, of Gamon's Other, of each of the five (stood, yes)."""
N_COUNTS = FIVE + 4 * len(FELICE)
INTO_GAMON = np.eye(len(GAMON) + 1)[[GAMON.index(word) if word in GAMON else len(GAMON) for word in PREPOSITIONS]]


@dataclass(slots=True)
class Tally:
    """A row of counts for each text."""

    by_text: dict[str, Table] = field(default_factory=dict)

    def add(self, scores: Scores, written: npt.NDArray[np.int64], texts: Sequence[str]) -> None:
        """`scores` of written prepositions; the column for none is ignored."""
        among = scores[:, :NONE]
        chosen, codes = among.argmax(axis=1), {text: code for code, text in enumerate(dict.fromkeys(texts))}
        shares = softmax(among)
        text, rows = np.array([codes[each] for each in texts]), np.zeros((len(codes), N_COUNTS), np.int64)
        is_hit, is_other = written == chosen, INTO_GAMON[:, -1].astype(bool)
        both_other = is_other[written] & is_other[chosen]
        np.add.at(rows, (text, STOOD + written), 1)
        np.add.at(rows, (text, CHOSEN + chosen), 1)
        np.add.at(rows, (text[is_hit], HIT + written[is_hit]), 1)
        np.add.at(rows, (text[both_other], OTHER_HIT), 1)
        for place, word in enumerate(FELICE):
            column = PREPOSITIONS.index(word)
            np.add.at(rows, (text, FIVE + 4 * place + 2 * (written == column) + (shares[:, column] > 0.5)), 1)
        for name, code in codes.items():
            self.by_text[name] = self.by_text.get(name, 0) + rows[code]

    @property
    def rows(self) -> Numbers:
        return np.array(list(self.by_text.values()), np.float64).reshape(-1, N_COUNTS)


@dataclass(frozen=True, slots=True)
class PrepositionScores(Data):
    """One preposition (or Other): how often it was written, and the scores of predicting it."""

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
    n_texts: int = field(metadata=HIDDEN)

    @property
    @in_json("majority")
    def _majority(self) -> dict[str, Json]:
        return {"preposition": self.commonest, **self.majority.as_json()}

    def sheet(self, *notes: str, signature: str = "") -> Sheet:
        """The written prepositions, most frequent first, with the accuracy as a note."""
        rows = tuple(
            (row.preposition, count(row.n), *map(interval, (row.precision, row.recall, row.f1)))
            for row in self.by_preposition
            if row.n
        )
        baseline = f"always {self.commonest}: {interval(self.majority)}"
        note = f"accuracy {interval(self.accuracy)} on {count(self.n)}; {baseline}"
        columns = ("preposition", "n", "precision", "recall", "F")
        return Sheet(TITLES[self.setup], columns, rows, notes=(note, *notes), signature=signature)


@dataclass(frozen=True, slots=True, repr=False)
class SelectionTest(Result):
    """A system's results in all three set-ups."""

    system: str
    setups: tuple[Selection, ...]
    signature: Signature

    @property
    @in_json()
    def scope(self) -> Scope:
        return Scope("essay", self.setups[0].n_texts)

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        return self.scope.warnings

    def estimates(self) -> Iterator[Estimate]:
        """Numbers by set-up, preposition and score; overall numbers have no preposition."""
        for setup in self.setups:
            for name, score in (("accuracy", setup.accuracy), ("majority", setup.majority)):
                yield {"setup": setup.setup, "preposition": None, "n": setup.n, "score": name}, score
            for row in setup.by_preposition:
                for name in SCORES:
                    score = getattr(row, name)
                    yield {"setup": setup.setup, "preposition": row.preposition, "n": row.n, "score": name}, score

    def sheets(self) -> tuple[Sheet, ...]:
        *first, last = self.setups
        notes = (*self.reasons, self.scope.sentence)
        return (*(setup.sheet() for setup in first), last.sheet(*notes, signature=str(self.signature)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectionTests(Result):
    """The results of one system, or of several on the same text."""

    tests: tuple[SelectionTest, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(warning for test in self.tests for warning in test.warnings))

    def to_dict(self) -> dict[str, Json]:
        """The numbers of the only system, or a list of them under `systems`."""
        found = [test.to_dict() for test in self.tests]
        return found[0] if len(found) == 1 else {"systems": list(found), "warnings": list(self.warnings)}

    def estimates(self) -> Iterator[Estimate]:
        for test in self.tests:
            yield from (({"system": test.system, **of}, value) for of, value in test.estimates())

    def sheets(self) -> list[Sheet]:
        if len(self.tests) == 1:
            return list(self.tests[0].sheets())
        rows = [(test.system, *(interval(setup.accuracy) for setup in test.setups)) for test in self.tests]
        columns = ("system", *(f"accuracy, {setup.setup}" for setup in self.tests[0].setups))
        first = Sheet("Share of prepositions that a system predicts", columns, tuple(rows), name="systems")
        named = [
            replace(sheet, title=f"{test.system}: {sheet.title}") for test in self.tests for sheet in test.sheets()
        ]
        return [first, *named]


def selection_test(detector: Detector, essays: Iterable[Essay]) -> SelectionTest:
    """Hide every preposition of native essays and let a detector choose."""
    engine: Engine | None = getattr(detector, "engine", None)
    if engine is None:
        raise UsageError(
            f"expected a detector of prepositions, found {detector.name}, which looks for {detector.kinds}"
        )
    sentences = ((document_of(essay) or essay.essay_id, each) for essay, own in analysed(essays) for each in own)
    setups = selections(tally_of(engine, sentences))
    options = {"system": detector.name, "model": str(detector.card.get("hash", "")), "n": str(setups[0].n)}
    signature = Signature("select", {**options, **Basis().signature("essay")})
    return SelectionTest(system=detector.name, setups=tuple(setups), signature=signature)


def tally_of(engine: Engine, sentences: Iterable[tuple[str, Sentence]]) -> Tally:
    """An engine's answers for every preposition of the sentences, each of which is hidden from the engine."""
    tally = Tally()
    waiting: list[tuple[str, Candidate]] = []
    for text, sentence in sentences:
        waiting += [(text, Candidate(sentence, index, PREP)) for index in preposition_places(sentence)]
        if len(waiting) >= BLOCK:
            _answer(tally, engine, waiting)
            waiting = []
    _answer(tally, engine, waiting)
    return tally


def _answer(tally: Tally, engine: Engine, waiting: Sequence[tuple[str, Candidate]]) -> None:
    if waiting:
        texts, candidates = zip(*waiting, strict=True)
        written = np.array([answer_of(candidate) for candidate in candidates], np.int64)
        tally.add(engine.scores(candidates), written, texts)


def selections(tally: Tally) -> list[Selection]:
    """The three set-ups."""
    rows = tally.rows
    stood, chosen, hit = (rows[:, first : first + NONE] for first in (STOOD, CHOSEN, HIT))
    mapped = hit @ INTO_GAMON
    mapped[:, -1] = rows[:, OTHER_HIT]
    return [
        _selection("34", stood, chosen, hit, PREPOSITIONS),
        _selection("gamon", stood @ INTO_GAMON, chosen @ INTO_GAMON, mapped, (*GAMON, "Other")),
        _of_five(rows[:, FIVE:].reshape(-1, len(FELICE), 2, 2)),
    ]


def _selection(setup: str, stood: Numbers, chosen: Numbers, hit: Numbers, names: Sequence[str]) -> Selection:
    """From hits, written and chosen prepositions: texts in rows, prepositions in columns."""
    n, commonest = stood.sum(axis=1), int(stood.sum(axis=0).argmax())
    cells = np.stack([hit, chosen - hit, stood - hit, n[:, None] - chosen - stood + hit], axis=-1)
    rows = [_scored(name, own) for name, own in zip(names, cells.swapaxes(0, 1), strict=True)]
    return Selection(
        setup=setup,
        n=int(n.sum()),
        accuracy=shares_by_unit(hit.sum(axis=1), n, "essay"),
        majority=shares_by_unit(stood[:, commonest], n, "essay"),
        commonest=names[commonest] if n.sum() else "",
        by_preposition=tuple(sorted(rows, key=lambda row: -row.n)),
        n_texts=len(n),
    )


def _scored(name: str, cells: Numbers) -> PrepositionScores:
    """From the hits, false alarms, misses and correct rejections of each text."""
    hit, false_alarm, miss, rest = cells.T
    units, cases = Units(cells, "essay"), hit + false_alarm + miss
    f1 = influence(units, lambda sums: ratio(2 * sums[..., 0], sums[..., :3] @ np.array([2, 1, 1])), cases)
    return PrepositionScores(
        preposition=name,
        n=int((hit + miss).sum()),
        accuracy=shares_by_unit(hit + rest, cells.sum(axis=1), "essay"),
        precision=shares_by_unit(hit, hit + false_alarm, "essay"),
        recall=shares_by_unit(hit, hit + miss, "essay"),
        f1=share(f1, n=float(cases.sum()), undefined="no case was counted"),
    )


def _of_five(five: Numbers) -> Selection:
    """The mean accuracy of five yes-or-no decisions about every preposition."""
    n = five[:, 0].sum(axis=(1, 2))
    order = ([1, 0, 1, 0], [1, 1, 0, 0])  # hits, false alarms, misses, the rest
    cells = [own[:, order[0], order[1]] for own in five.swapaxes(0, 1)]
    # Five answers about one place are not five cases, so the mean over them counts as one.
    right = (five[:, :, 1, 1] + five[:, :, 0, 0]).mean(axis=1)
    return Selection(
        setup="felice",
        n=int(n.sum()),
        accuracy=shares_by_unit(right, n, "essay"),
        majority=shares_by_unit(five[:, :, 0].sum(axis=2).mean(axis=1), n, "essay"),
        commonest="(none of them)",
        by_preposition=tuple(_scored(word, own) for word, own in zip(FELICE, cells, strict=True)),
        n_texts=len(n),
    )
