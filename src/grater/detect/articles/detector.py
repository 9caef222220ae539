"""The detector of wrong articles and wrong number: phrases, a model's probabilities, then a cautious decision.

The model of constructions is a pruned dictionary of features with 8-bit weights, and the habits of nouns.  Weights
are whole numbers times one step (`detect.linear`), so a score does not depend on the order of addition, on the size
of the batch or on the machine.

The margin of a construction over the written one is the difference of their log-probabilities.  Lee et al. 2009 ask
for two corrections (sections 4 and 5), which make the margin a *confidence*:

- within a pair that raters often accept together, a system should be less confident: `confusable`, a negative number,
is added;
- confidence should depend on the noun's entropy.  With strength = 1 - entropy / log2 5, `own` times strength is added
  for the noun's dominant construction, and `other` times strength for any other.

The model's probabilities already favour the dominant construction of a low-entropy noun, as the paper recommends;
`own` and `other` adjust how much. All three are fitted to text with artificial errors (`thresholds`). If the noun's
habits are unknown, its strength is 0. A confidence must exceed the threshold of its type: an article missing,
extraneous or chosen wrongly, the number wrong, or both the article and the number.

Every open noun phrase gives two findings: the article (its token, or the gap where one could be) and the number (the
noun). The target construction of the phrase is the one whose confidence exceeds its threshold by most; the changes it
requires are flagged, so all flags of a phrase together give that construction. A decision's score is the excess of
the best target that changes the item over its threshold. *a* for *an*, or vice versa, is flagged by rule if nothing
else is wrong with the article.

Mentions are remembered through an essay, and through consecutive essays of the same `document` (sentences of M2).
The number that a verb shows is not used unless requested: a learner's verb may itself be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from math import inf
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.corpora.text.analysis import analyse_all
from grater.detect.articles.constructions import (
    ARTICLE_OF,
    CONSTRUCTIONS,
    HIGHEST,
    NONE_OF_THEM,
    NUMBER_OF,
    Habits,
    entropy,
    is_confusable,
)
from grater.detect.articles.features import (
    AGREEMENT_COLUMNS,
    CLASSED,
    CLASSES,
    COLUMN,
    HABIT_COLUMNS,
    HASHING,
    Memory,
    PlacedPhrase,
    placed_phrases,
    rows_of,
)
from grater.detect.articles.phrases import (
    ARTICLE,
    NUMBER,
    Kind,
    NounPhrase,
    changes,
    place_of,
    target_of,
    within_reach,
    word_in,
    wrong_form,
)
from grater.detect.detector import Finding, grouped
from grater.detect.linear import Keys, Rows, Scores, Vocabulary, Weights, log_probabilities, packed, unpacked
from grater.errors import BadInput, Problem, UsageError
from grater.model import Decision, Essay, Item, Json
from grater.models import expecting, read_model, shipped, write_model

Classes: TypeAlias = npt.NDArray[np.uint16]

KIND = "articles"
BLOCK = 4096
"""Phrases scored at once, so that memory stays flat; the scores do not depend on it."""


@dataclass(frozen=True, slots=True, eq=False)
class ArticleModel:
    """`table` has a row of weights for each of the sorted `keys`, and a last row of zeros for unknown features."""

    vocabulary: Vocabulary
    habits: Habits
    classes: Classes
    keys: Keys
    table: Weights
    step: float
    card: Mapping[str, Json]

    def rows(self, placed: Sequence[PlacedPhrase]) -> Rows:
        """The rows of phrases, with the habits of their nouns."""
        return completed(rows_of(placed, self.vocabulary), self.habits, self.classes)

    def scores(self, rows: Rows, *, with_agreement: bool = True) -> Scores:
        """(phrases, 5): log-probabilities of the constructions; with or without the number that verbs show."""
        if not with_agreement:
            rows = rows.copy()
            rows[:, AGREEMENT_COLUMNS] = 0
        blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
        return log_probabilities((HASHING.keys(block) for block in blocks), self.keys, self.table, self.step)


def completed(rows: Rows, habits: Habits, classes: Classes) -> Rows:
    """The rows with the habits of their nouns and the classes of their words filled in."""
    filled = rows.copy()
    filled[:, HABIT_COLUMNS] = habits.classes(rows[:, COLUMN["head"]])
    filled[:, CLASSES] = classes[rows[:, CLASSED]]
    return filled


def save(model: ArticleModel, path: Path) -> None:
    """Write the model as one file."""
    numbers = np.array(sorted(model.habits.by_number), np.uint32)
    shares = np.array([model.habits.by_number[number] for number in numbers.tolist()]).reshape(-1, len(CONSTRUCTIONS))
    arrays = {
        **packed(model.keys, model.table),
        "step": np.array([model.step], np.float64),
        "nouns": np.diff(numbers, prepend=np.uint32(0)),
        "shares": np.rint(shares * 255).astype(np.uint8),
        "word_classes": model.classes,
    }
    write_model(path, kind=KIND, card=model.card, arrays=arrays, strings={"words": model.vocabulary.words})


def load(path: Path) -> ArticleModel:
    """Read a model; other files, and parts that do not fit together, are refused."""
    model = read_model(path, kind=KIND)
    with expecting("a model of articles", path):
        keys, table = unpacked(model.arrays, len(CONSTRUCTIONS))
        numbers = np.cumsum(model.arrays["nouns"], dtype=np.uint32).tolist()
        shares = (model.arrays["shares"] / 255).tolist()
        habits = Habits(dict(zip(numbers, map(tuple, shares), strict=True)))
        vocabulary, step = Vocabulary(model.strings["words"]), float(model.arrays["step"][0])
        classes = model.arrays["word_classes"]
        if classes.shape != (len(vocabulary),):
            raise ValueError("words and their classes differ in number")
        if model.arrays["shares"].shape[1:] != (len(CONSTRUCTIONS),):
            raise ValueError("shares and constructions differ in number")
    return ArticleModel(
        vocabulary=vocabulary, habits=habits, classes=classes, keys=keys, table=table, step=step, card=model.card
    )


TYPES = ("missing", "extraneous", "choice", "number", "both")
N = len(CONSTRUCTIONS)
FLOOR = -7.0
"""The log-probability of *a* with a plural, which no model of good text can give."""

IS_CONFUSABLE = np.array([[is_confusable(own, target) for target in range(N)] for own in range(N + 1)], np.float64)

DECIMALS = 6
"""Machines may differ in the last digits of an exponential; what is shown is rounded."""

KINDS: tuple[Kind, ...] = (ARTICLE, NUMBER)
STRANGE = "a-plural"


@dataclass(frozen=True, slots=True)
class Caution:
    """The thresholds for confidences, by type, and the corrections that turn margins into confidences."""

    missing: float = inf
    extraneous: float = inf
    choice: float = inf
    number: float = inf
    both: float = inf
    confusable: float = 0.0
    own: float = 0.0
    other: float = 0.0

    @staticmethod
    def of(numbers: object) -> Caution:
        """From the numbers on a model's card."""
        names = {field.name for field in fields(Caution)}
        if not isinstance(numbers, Mapping) or not set(numbers) <= names:
            raise UsageError(f"expected thresholds for {', '.join(TYPES)}, found {numbers!r}")
        return Caution(**{name: inf if value is None else float(value) for name, value in numbers.items()})

    def as_json(self) -> dict[str, Json]:
        """As JSON; an unreachable threshold is null."""
        return {name: None if value == inf else value for name, value in asdict(self).items()}


def type_of(written: int, target: int) -> str:
    """The type of error that a change corrects; *a* with a plural can be corrected in its article or its number."""
    if written == NONE_OF_THEM:
        return {"null-plural": "extraneous", "the-plural": "choice", "a-singular": "number"}.get(
            CONSTRUCTIONS[target], "both"
        )
    if NUMBER_OF[written] != NUMBER_OF[target]:
        return "number" if ARTICLE_OF[written] == ARTICLE_OF[target] else "both"
    if ARTICLE_OF[written] == "null":
        return "missing"
    return "extraneous" if ARTICLE_OF[target] == "null" else "choice"


TYPE = np.array(
    [[TYPES.index(type_of(own, target)) if own != target else -1 for target in range(N)] for own in range(N + 1)]
)


def strengths(shares: Sequence[tuple[float, ...] | None]) -> Scores:
    """(phrases, 5): 1 - entropy / log2 5 of the noun, negative for all but its dominant construction."""
    strengths = np.zeros((len(shares), N))
    for row, of in enumerate(shares):
        if of is not None:
            strength = 1 - entropy(of) / HIGHEST
            strengths[row] = -strength
            strengths[row, int(np.argmax(of))] = strength
    return strengths


def confidences(scores: Scores, written: Sequence[int], strength: Scores, caution: Caution) -> Scores:
    """(phrases, 5): the confidence in changing to each construction; -inf for the written one."""
    own = np.array(written, np.int64)
    rows = np.arange(len(scores))
    padded = np.concatenate([scores, np.full((len(scores), 1), FLOOR)], axis=1)
    differences: Scores = scores - padded[rows, own][:, None]
    differences = differences + caution.confusable * IS_CONFUSABLE[own]
    differences = differences + caution.own * np.maximum(strength, 0) + caution.other * np.maximum(-strength, 0)
    is_written = own < NONE_OF_THEM
    differences[rows[is_written], own[is_written]] = -inf
    return differences


def excesses(confidence: Scores, written: Sequence[int], caution: Caution) -> Scores:
    """The excess of each confidence over the threshold of its type."""
    thresholds = np.array([*(getattr(caution, name) for name in TYPES), inf])
    return np.where(np.isneginf(confidence), -inf, confidence - thresholds[TYPE[np.array(written, np.int64)]])


@dataclass(frozen=True, slots=True)
class ArticleDetector:
    """A model with its thresholds and corrections."""

    name: str
    model: ArticleModel = field(repr=False)
    caution: Caution
    card: Mapping[str, Json] = field(repr=False)
    with_agreement: bool = False
    kinds: tuple[str, ...] = KINDS

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        memory, document = Memory(), None
        for group in grouped(essays):
            waiting: list[tuple[str, PlacedPhrase]] = []
            for essay, sentences in zip(group, analyse_all(group), strict=True):
                if document is None or essay.metadata.get("document") != document:
                    memory = Memory()
                document = essay.metadata.get("document")
                waiting += [(essay.essay_id, placed) for placed in placed_phrases(sentences, memory)]
            yield from self._decided(waiting)

    def _decided(self, waiting: list[tuple[str, PlacedPhrase]]) -> Iterator[Finding]:
        if not waiting:
            return
        scores, excess = self.judged([placed for _, placed in waiting])
        shares = np.round(np.exp(scores), DECIMALS).tolist()
        for (essay_id, placed), of, over in zip(waiting, shares, excess.tolist(), strict=True):
            yield from self._findings(essay_id, placed.phrase, of, over)

    def judged(self, placed: list[PlacedPhrase]) -> tuple[Scores, Scores]:
        """For each phrase, the log-probabilities of the constructions and their excesses over the thresholds."""
        rows = self.model.rows(placed)
        scores = self.model.scores(rows, with_agreement=self.with_agreement)
        written = [phrase.phrase.construction for phrase in placed]
        strength = strengths([self.model.habits.of(number) for number in rows[:, COLUMN["head"]].tolist()])
        excess = excesses(confidences(scores, written, strength, self.caution), written, self.caution)
        for row, phrase in enumerate(placed):
            for target in set(range(len(CONSTRUCTIONS))).difference(within_reach(phrase.phrase)):
                excess[row, target] = -inf
        return scores, np.round(excess, DECIMALS)

    def _findings(
        self, essay_id: str, phrase: NounPhrase, shares: list[float], excess: list[float]
    ) -> Iterator[Finding]:
        target = max(range(len(CONSTRUCTIONS)), key=lambda code: excess[code])
        made = changes(phrase, target) if excess[target] > 0 else []
        form = wrong_form(phrase)
        if form and not any(change.kind == ARTICLE for change in made):
            made = [*made, form]
        # The constructions and their probabilities, likeliest first; *a* with a plural has none.
        beliefs = sorted(zip(CONSTRUCTIONS, shares, strict=True), key=lambda pair: -pair[1])
        if phrase.construction == NONE_OF_THEM:
            beliefs.append((STRANGE, 0.0))
        for kind in KINDS:
            change = next((change for change in made if change.kind == kind), None)
            written = phrase.article if kind == ARTICLE else phrase.number
            others: Sequence[str] = ARTICLE_OF if kind == ARTICLE else NUMBER_OF
            score = max((over for over, other in zip(excess, others, strict=True) if other != written), default=-inf)
            item = Item(essay_id, place_of(phrase, kind), kind)
            if change is None:
                below = None if score == -inf else min(score, 0.0)
                decision = Decision(item_id=item.item_id, system=self.name, flagged=False, score=below)
            else:
                words = {"type": change.type, "suggestion": change.suggestion}
                decision = Decision(item.item_id, self.name, flagged=True, score=max(score, 0.0), **words)
            yield Finding(
                item=item,
                decision=decision,
                target=target_of(phrase, kind),
                probabilities=tuple(beliefs),
                words=_words(phrase, kind, shares),
            )


def _words(phrase: NounPhrase, kind: Kind, shares: list[float]) -> tuple[tuple[str, float], ...]:
    """The articles, or the forms of the noun, with the probabilities of their constructions."""
    by_word: dict[str, float] = {}
    for code in range(len(CONSTRUCTIONS)):
        word = word_in(phrase, code, kind)
        if word is not None:
            by_word[word] = by_word.get(word, 0.0) + shares[code]
    likeliest = sorted(by_word, key=lambda word: -by_word[word])
    return tuple((word, round(by_word[word], DECIMALS)) for word in likeliest)


@cache
def article() -> ArticleDetector:
    return from_file(shipped("article"))


def from_file(path: Path) -> ArticleDetector:
    """The detector of a model file, under the file's name."""
    model = load(path)
    try:
        caution = Caution.of(model.card.get("thresholds"))
    except UsageError as error:
        raise BadInput(Problem(str(path), f"{error}; train the model anew")) from error
    return ArticleDetector(name=path.stem, model=model, caution=caution, card=model.card)
