"""The engines of the preposition detectors: linear models, the language model, and combinations of them.

**Linear models** (`prep-maxent` and `prep-perceptron`): a pruned dictionary of features with 8-bit weights
(`detect.linear`); the two differ in how the weights were fitted.  `step` includes the temperature that calibrates the
probabilities on held-out text.

**The language model** (`prep-lm`) compares the probabilities of the sentence with each preposition and with none.
Madnani et al. 2011, sections 2.1 and 4: a 4-gram language model scores the sentence as written, without the
preposition, and, here, with each of the others. Only the n-grams that touch the place differ, so only these are
queried: with a preposition, the one that it ends and three that include it; without one, the three across the gap. A
row's scores are log-probabilities of the sentence, up to a constant that all its variants share.

Removing a word makes a sentence more probable, right or wrong, by an amount that depends on the word; the paper does
not say how it handles this. Here the score of none is lowered by the written preposition's mean cost in well-formed
text (`costs`, see `training.tuned`). The order of prepositions does not change.

Margins of at most TIE are ties. The paper's system calls them OK, which explains its perfect precision on the most
contentious items; ours does the same.

**Combinations** (`prep-both`): several engines as one, their scores added up, each with the same weight. Madnani et
al. compare a classifier and a language model on extraneous prepositions. The two err in different places: one weighs
features of nearby heads, the other the words themselves. The sum of log-probabilities (a product of experts, Hinton
2002) is high only where no engine objects. No weight is fitted; the score of none is lowered as for the language
model.

The model file of a combination is small: the names and hashes of the parts, the costs, and thresholds in its card.
Thresholds fit the parts that they were chosen with, so a part with another hash is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.linear import Keys, Rows, Scores, Vocabulary, Weights, log_probabilities, packed, unpacked
from grater.detect.ngrams.language_model import NOTHING, LanguageModel
from grater.detect.ngrams.language_model import Rows as IdRows
from grater.detect.ngrams.language_model import load as load_language_model
from grater.detect.prepositions.candidates import ANSWERS, NONE, Candidate, Engine, answer_of
from grater.detect.prepositions.detector import PrepositionDetector, Thresholds, Words
from grater.detect.prepositions.features import HASHING, contexts, stemmed
from grater.detect.systems import load_system
from grater.errors import BadInput, Problem, UsageError
from grater.model import Json
from grater.models import expecting, read_model, shipped, write_model

LINEAR = "prepositions"
LINEAR_BLOCK = 4096
"""Candidates scored at once, so that memory stays flat; the scores do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearEngine:
    """`table` has a row of weights for each of the sorted `keys`, and a last row of zeros for unknown features."""

    vocabulary: Vocabulary
    stems: Rows
    keys: Keys
    table: Weights
    step: float
    card: Mapping[str, Json]

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        blocks = [candidates[start : start + LINEAR_BLOCK] for start in range(0, len(candidates), LINEAR_BLOCK)]
        rows = (stemmed(contexts(block, self.vocabulary), self.stems) for block in blocks)
        return log_probabilities((HASHING.keys(part) for part in rows), self.keys, self.table, self.step)


def save_linear(engine: LinearEngine, path: Path) -> None:
    arrays = {**packed(engine.keys, engine.table), "stems": engine.stems, "step": np.array([engine.step], np.float64)}
    write_model(path, kind=LINEAR, card=engine.card, arrays=arrays, strings={"words": engine.vocabulary.words})


def load_linear(path: Path) -> LinearEngine:
    """Read a model; other files, and parts that do not fit together, are refused."""
    model = read_model(path, kind=LINEAR)
    with expecting("a model of prepositions", path):
        keys, table = unpacked(model.arrays, len(ANSWERS))
        step, stems = float(model.arrays["step"][0]), model.arrays["stems"]
        vocabulary = Vocabulary(model.strings["words"])
        if stems.shape != (len(vocabulary),) or (len(stems) and not 0 <= stems.min() <= stems.max() < len(stems)):
            raise ValueError("words and stems differ in number")
    return LinearEngine(vocabulary=vocabulary, stems=stems, keys=keys, table=table, step=step, card=model.card)


@cache
def prep_maxent() -> PrepositionDetector:
    return linear_from_file(shipped("prep-maxent"))


@cache
def prep_perceptron() -> PrepositionDetector:
    return linear_from_file(shipped("prep-perceptron"))


def linear_from_file(path: Path) -> PrepositionDetector:
    """The detector of a model file, under the file's name."""
    engine = load_linear(path)
    return PrepositionDetector(
        name=path.stem,
        engine=engine,
        thresholds=_thresholds(engine.card, path, " in the model's card; train the model anew"),
        card=engine.card,
        known=engine.vocabulary,
    )


def _thresholds(card: Mapping[str, Json], path: Path, advice: str) -> Thresholds:
    try:
        return Thresholds.of(card.get("thresholds"))
    except UsageError as error:
        raise BadInput(Problem(str(path), f"{error}{advice}")) from error


TIE = 1e-9
"""Log-probabilities that differ by less are equal: the rest is the rounding error of a sum."""

NGRAM_BLOCK = 1000
"""Candidates scored at once: 139 queries each."""


@dataclass(frozen=True, slots=True)
class NgramEngine:
    """A language model that scores the variants of a sentence; `costs` has the mean cost of each preposition.

    Its last number is the cost of a gap.
    """

    model: LanguageModel
    costs: Scores = field(default_factory=lambda: np.zeros(len(ANSWERS)))

    @property
    def card(self) -> Mapping[str, Json]:
        return self.model.card

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.model.vocabulary.ids([word])[0])

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): one row of log-probabilities for each candidate."""
        starts = range(0, len(candidates), NGRAM_BLOCK)
        blocks = [self._scores(candidates[start : start + NGRAM_BLOCK]) for start in starts]
        return np.concatenate([np.zeros((0, len(ANSWERS))), *blocks])

    def _scores(self, candidates: Sequence[Candidate]) -> Scores:
        left, right = self._contexts(candidates)
        written = [answer_of(candidate) for candidate in candidates]
        ids = self.model.vocabulary.ids(PREPOSITIONS)
        n, reach = left.shape
        lines = np.empty((n, len(ids), 2 * reach + 1), np.int64)
        lines[:, :, :reach], lines[:, :, reach], lines[:, :, reach + 1 :] = left[:, None], ids, right[:, None]
        scores = np.zeros((n, len(ANSWERS)))
        scores[:, :NONE] = self._summed(lines)
        if reach:  # a model of single words sees no gap
            scores[:, NONE] = self._summed(np.concatenate([left, right], axis=1)[:, None, :])[:, 0]
        scores[:, NONE] -= self.costs[written]
        return scores

    def _contexts(self, candidates: Sequence[Candidate]) -> tuple[IdRows, IdRows]:
        """The n - 1 words on either side of each place, edges included."""
        reach = self.model.order - 1
        left = np.full((len(candidates), reach), NOTHING)
        right = np.full((len(candidates), reach), NOTHING)
        known: dict[tuple[str, ...], IdRows] = {}
        for row, candidate in enumerate(candidates):
            words = candidate.sentence.words
            ids = known.get(words)
            if ids is None:
                ids = known[words] = self.model.vocabulary.sentence(words)
            position = candidate.index + 1  # `<s>` is in front
            before, after = ids[max(0, position - reach) : position], ids[position + (not candidate.is_gap) :][:reach]
            left[row, reach - len(before) :] = before
            right[row, : len(after)] = after
        return left, right

    def _summed(self, lines: IdRows) -> Scores:
        """The summed log-probabilities of the windows of a line; windows beyond the sentence do not count."""
        order = self.model.order
        windows = np.lib.stride_tricks.sliding_window_view(lines, order, axis=2)
        flat = windows.reshape(-1, order)
        is_asked = flat[:, -1] != NOTHING
        answers = np.zeros(len(flat))
        answers[is_asked] = self.model.log_p(flat[is_asked])
        summed: Scores = answers.reshape(windows.shape[:3]).sum(axis=2)
        return summed


def engine_of(model: LanguageModel) -> NgramEngine:
    """The engine of a model, with the costs of its card where it has any."""
    costs = model.card.get("costs")
    if not isinstance(costs, Sequence) or len(costs) != len(ANSWERS):
        return NgramEngine(model)
    return NgramEngine(model, np.array([float(cost) for cost in costs]))  # type: ignore[arg-type]


def ngram_from_file(path: Path) -> PrepositionDetector:
    """The detector of a model file with a language model, under the file's name."""
    engine = engine_of(load_language_model(path))
    thresholds = _thresholds(engine.card, path, "; train it with held-out text to choose them on")
    return PrepositionDetector(name=path.stem, engine=engine, thresholds=thresholds, card=engine.card, known=engine)


@cache
def prep_lm() -> PrepositionDetector:
    """The detector that comes with grater."""
    return ngram_from_file(shipped("prep-lm"))


COMBINED = "combined"


@dataclass(frozen=True, slots=True, eq=False)
class CombinedEngine:
    """Engines whose scores are added up; `costs` has the mean cost of each preposition, and, last, that of a gap."""

    engines: tuple[Engine, ...]
    costs: Scores = field(default_factory=lambda: np.zeros(len(ANSWERS)))

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): the mean of the engines' rows."""
        total = np.zeros((len(candidates), len(ANSWERS)))
        for engine in self.engines:
            total += engine.scores(candidates)
        total /= len(self.engines)
        total[:, NONE] -= self.costs[[answer_of(candidate) for candidate in candidates]]
        return total


@dataclass(frozen=True, slots=True)
class KnownToAny:
    """The words that at least one of the engines knows."""

    parts: Collection[Words]

    def __contains__(self, word: str) -> bool:
        return any(word in part for part in self.parts)


def parts_of(names: Sequence[str]) -> tuple[PrepositionDetector, ...]:
    """The detectors to combine."""
    detectors = tuple(map(load_system, names))
    for name, part in zip(names, detectors, strict=True):
        if not isinstance(part, PrepositionDetector):
            raise UsageError(f"{name}: expected one of grater's own preposition detectors, whose scores can be added")
    return detectors  # type: ignore[return-value]


def save_combined(engine: CombinedEngine, names: Sequence[str], path: Path, card: Mapping[str, Json]) -> None:
    """Write the combination of the systems with these names."""
    hashes = [str(part.card.get("hash", "")) for part in parts_of(names)]
    strings = {"parts": list(names), "hashes": hashes}
    write_model(path, kind=COMBINED, card=card, arrays={"costs": engine.costs}, strings=strings)


def combined_from_file(path: Path) -> PrepositionDetector:
    """The detector of a model file with a combination, under the file's name."""
    model = read_model(path, kind=COMBINED)
    with expecting("a combination", path):
        names, hashes, costs = model.strings["parts"], model.strings["hashes"], model.arrays["costs"]
        thresholds = Thresholds.of(model.card.get("thresholds"))
        if costs.shape != (len(ANSWERS),):
            raise ValueError("costs and answers differ in number")
        if not names or len(names) != len(hashes):
            raise ValueError("systems and hashes differ in number")
    parts = parts_of(names)
    for name, part, expected in zip(names, parts, hashes, strict=True):
        if part.card.get("hash") != expected:
            message = f"made for {name} {expected}, found {name} {part.card.get('hash')}; train the combination anew"
            raise BadInput(Problem(str(path), message))
    engine = CombinedEngine(tuple(part.engine for part in parts), costs)
    return PrepositionDetector(
        name=path.stem,
        engine=engine,
        thresholds=thresholds,
        card=model.card,
        known=KnownToAny([part.known for part in parts]),
    )


@cache
def prep_both() -> PrepositionDetector:
    """The combination that comes with grater."""
    return combined_from_file(shipped("prep-both"))
