"""Preposition selection in native text (cloze): predicting which of the 34 prepositions the writer used.

T&C 2008, section 3.2 and Table 1: accuracy, F for each preposition, and the accuracy of the majority class. Intervals
are by text (`grater.uncertainty`): the document where it is known, else the essay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from grater.corpora.text.analysis import Sentence
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.detector import Detector, analysed
from grater.detect.linear import Scores
from grater.detect.prepositions.candidates import NONE, PREP, Candidate, Engine, answer_of, preposition_places
from grater.errors import UsageError
from grater.model import Essay, Interval, Json, document_of
from grater.result import HIDDEN, Data, Estimate, Result, in_json
from grater.sheet import Sheet, Signature, count, interval
from grater.uncertainty import Basis, Numbers, Scope, Units, influence, ratio, share, shares_by_unit

BLOCK = 4000
TITLE = "Which of 34 prepositions the writer used"
SCORES = ("accuracy", "precision", "recall", "f1")

Table = npt.NDArray[np.int64]


@dataclass(slots=True)
class Tally:
    """How often each preposition was written, chosen, and both, by text: (3, 34) each."""

    by_text: dict[str, Table] = field(default_factory=dict)

    def add(self, scores: Scores, written: npt.NDArray[np.int64], texts: Sequence[str]) -> None:
        """`scores` of written prepositions; the column for none is ignored."""
        chosen = scores[:, :NONE].argmax(axis=1)
        for text, own, best in zip(texts, written.tolist(), chosen.tolist(), strict=True):
            counts = self.by_text.setdefault(text, np.zeros((3, NONE), np.int64))
            counts[0, own] += 1
            counts[1, best] += 1
            counts[2, own] += own == best


@dataclass(frozen=True, slots=True)
class PrepositionScores(Data):
    """One preposition: how often it was written, and the scores of predicting it."""

    preposition: str
    n: int
    accuracy: Interval
    precision: Interval
    recall: Interval
    f1: Interval


@dataclass(frozen=True, slots=True, repr=False)
class SelectionTest(Result):
    """A system's results; `majority` is the accuracy of always choosing the commonest preposition."""

    system: str
    n: int
    accuracy: Interval
    majority: Interval = field(metadata=HIDDEN)
    commonest: str = field(metadata=HIDDEN)
    by_preposition: tuple[PrepositionScores, ...]
    n_texts: int = field(metadata=HIDDEN)
    signature: Signature

    @property
    @in_json("majority")
    def _majority(self) -> dict[str, Json]:
        return {"preposition": self.commonest, **self.majority.as_json()}

    @property
    @in_json()
    def scope(self) -> Scope:
        return Scope("essay", self.n_texts)

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        return self.scope.warnings

    def estimates(self) -> Iterator[Estimate]:
        """Numbers by preposition and score; overall numbers have no preposition."""
        for name, score in (("accuracy", self.accuracy), ("majority", self.majority)):
            yield {"preposition": None, "n": self.n, "score": name}, score
        for row in self.by_preposition:
            for name in SCORES:
                yield {"preposition": row.preposition, "n": row.n, "score": name}, getattr(row, name)

    def sheets(self) -> tuple[Sheet, ...]:
        """The written prepositions, most frequent first, with the accuracy as a note."""
        rows = tuple(
            (row.preposition, count(row.n), *map(interval, (row.precision, row.recall, row.f1)))
            for row in self.by_preposition
            if row.n
        )
        baseline = f"always {self.commonest}: {interval(self.majority)}"
        note = f"accuracy {interval(self.accuracy)} on {count(self.n)}; {baseline}"
        columns = ("preposition", "n", "precision", "recall", "F")
        notes = (note, *self.reasons, self.scope.sentence)
        return (Sheet(TITLE, columns, rows, notes=notes, signature=str(self.signature)),)


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
        sheets = [(test, sheet) for test in self.tests for sheet in test.sheets()]
        if len(self.tests) == 1:
            return [sheet for _, sheet in sheets]
        rows = tuple((test.system, interval(test.accuracy)) for test in self.tests)
        first = Sheet("Share of prepositions that a system predicts", ("system", "accuracy"), rows, name="systems")
        return [first, *(replace(sheet, title=f"{test.system}: {sheet.title}") for test, sheet in sheets)]


def selection_test(detector: Detector, essays: Iterable[Essay]) -> SelectionTest:
    """Hide every preposition of native essays and let a detector choose."""
    engine: Engine | None = getattr(detector, "engine", None)
    if engine is None:
        raise UsageError(
            f"expected a detector of prepositions, found {detector.name}, which looks for {detector.kinds}"
        )
    sentences = ((document_of(essay) or essay.essay_id, each) for essay, own in analysed(essays) for each in own)
    return result_of(detector.name, tally_of(engine, sentences), model=str(detector.card.get("hash", "")))


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


def result_of(system: str, tally: Tally, *, model: str = "") -> SelectionTest:
    """The scores of a system, from hits, written and chosen prepositions of each text."""
    stood, chosen, hit = np.array(list(tally.by_text.values()), np.float64).reshape(-1, 3, NONE).swapaxes(0, 1)
    n, commonest = stood.sum(axis=1), int(stood.sum(axis=0).argmax())
    cells = np.stack([hit, chosen - hit, stood - hit, n[:, None] - chosen - stood + hit], axis=-1)
    rows = [_scored(name, own) for name, own in zip(PREPOSITIONS, cells.swapaxes(0, 1), strict=True)]
    options = {"system": system, "model": model, "n": str(int(n.sum()))}
    return SelectionTest(
        system=system,
        n=int(n.sum()),
        accuracy=shares_by_unit(hit.sum(axis=1), n, "essay"),
        majority=shares_by_unit(stood[:, commonest], n, "essay"),
        commonest=PREPOSITIONS[commonest] if n.sum() else "",
        by_preposition=tuple(sorted(rows, key=lambda row: -row.n)),
        n_texts=len(n),
        signature=Signature("select", {**options, **Basis().signature("essay")}),
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
