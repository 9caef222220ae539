"""The preposition detector: candidates, an engine's scores, thresholds and filters, in that order.

Thresholds (T,C&M 2013, section 3.2): the model is trained on good text without errors, so thresholds decide: the
writer's preposition is flagged if another is more probable by a certain amount, a margin of log-odds: log p(best
other) - log p(written) for a wrong choice, log p(none) - log p(written) for an extraneous one, and log p(best) - log
p(none) for a missing one, each with its own threshold. A margin equal to its threshold is not flagged. A decision's
score is the largest excess of a margin over the threshold of its type.

Filters are rules that complement the classifier, each of which can be switched off, in the spirit of Tetreault &
Chodorow, COLING 2008 ("The Ups and Downs of Preposition Error Detection in ESL Writing"), section 3.2.  Some reject a
flag:

- `spelling`: a word within two positions is unknown (a misspelling, noise), so the classifier is unreliable;
- `antonyms`: the suggestion is the opposite of the written word, which is a matter of meaning (*with*, *without*);
- `benefactives`: *for* followed by a person, where both *to* and *for* are good (*bought it for her*).

Others flag what the classifier may miss, with the score 0:

- `quantifiers`: *of* between a quantifier and a bare noun (*some of people*) is extraneous;
- `repeated`: the same preposition twice in a row: the second is extraneous.

`NAMES` are those that are on by default; docs/detectors.md says what each does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.corpora.text.analysis import analyse_all
from grater.corpora.text.prepositions import canonical
from grater.detect.detector import Finding, grouped
from grater.detect.linear import Scores, softmax
from grater.detect.prepositions.candidates import (
    ANSWERS,
    COLUMN_OF,
    MISSING,
    NONE,
    PREP,
    Candidate,
    Engine,
    answer_of,
    candidates_of,
)
from grater.errors import UnknownName, UsageError, unknown
from grater.model import DELETE, Decision, Essay, Item, Json

CHOICE, EXTRANEOUS, MISSING_TYPE = "choice", "extraneous", "missing"
TYPES = (CHOICE, EXTRANEOUS, MISSING_TYPE)
OWN = "by_preposition"
Answers: TypeAlias = npt.NDArray[np.int64]
Truths: TypeAlias = npt.NDArray[np.bool_]

NEAR = 2

QUANTIFIERS = frozenset(("some", "many", "most", "few", "several", "any", "all", "both", "each"))
BARE = frozenset(("NN", "NNS"))

TYPE_OF_RULES = EXTRANEOUS

MOST_ANSWERS = 4
"""Answers of a finding with their probabilities; the writer's own comes after them, if it is another."""

DECIMALS = 6
"""Machines may differ in the last digits of an exponential; what is shown is rounded."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Margins that a flag of each type must exceed; `by_preposition` has wrong-choice thresholds for single
    prepositions.

    Proper uses of freely interchangeable prepositions (*among*, *across*) often have large margins against them; they
    would raise a common threshold, and errors in *in*, *on* and *at* would be missed.
    """

    choice: float = inf
    extraneous: float = inf
    missing: float = inf
    by_preposition: Mapping[str, float] = field(default_factory=dict, hash=False)

    @staticmethod
    def of(numbers: object) -> Thresholds:
        """From the numbers on a model's card."""
        if not isinstance(numbers, Mapping) or not set(numbers) <= {*TYPES, OWN}:
            raise UsageError(f"expected thresholds for {', '.join(TYPES)}, found {numbers!r}")
        own = {word: float(value) for word, value in numbers.get(OWN, {}).items()}
        return Thresholds(**{name: float(numbers[name]) for name in TYPES if name in numbers}, by_preposition=own)

    def as_json(self) -> dict[str, Json]:
        return dict(asdict(self))

    def rows(self, written: Sequence[int]) -> Scores:
        """(candidates, types): the threshold that each margin must exceed."""
        choice = np.full(len(ANSWERS), self.choice)
        for word, value in self.by_preposition.items():
            choice[COLUMN_OF[word]] = value
        thresholds = np.empty((len(written), len(TYPES)))
        thresholds[:, 0] = choice[np.array(written, np.int64)]
        thresholds[:, 1:] = self.extraneous, self.missing
        return thresholds


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """The margins of each candidate by type (-inf where a type is impossible), and the best preposition."""

    values: Scores
    best: Answers


def margins(scores: Scores, written: Sequence[int]) -> Margins:
    """The margins of what was written, possibly nothing (a gap)."""
    rows, own = np.arange(len(scores)), np.array(written, np.int64)
    is_gap, of_own = own == NONE, scores[rows, own]
    others = scores[:, :NONE].copy()
    others[rows[~is_gap], own[~is_gap]] = -inf
    best = others.argmax(axis=1) if len(scores) else np.zeros(0, np.int64)
    over = others[rows, best] - of_own
    values = np.full((len(scores), len(TYPES)), -inf)
    values[:, 0] = np.where(is_gap, -inf, over)
    values[:, 1] = np.where(is_gap, -inf, scores[:, NONE] - of_own)
    values[:, 2] = np.where(is_gap, over, -inf)
    return Margins(values, best)


_OPPOSITES = (
    "with without, to from, into from, before after, above under, over under, on off, for against, with against, "
    "since until, before since, within without, behind before"
)
OPPOSITES = frozenset(frozenset(pair.split()) for pair in _OPPOSITES.split(", "))

_PEOPLE = (
    "me you him her us them himself herself themselves myself yourself people person man men woman women child "
    "children student students parent parents friend friends family user users customer customers patient patients"
)
PEOPLE = frozenset(_PEOPLE.split())


class Words(Protocol):
    """Anything that contains words."""

    def __contains__(self, word: str, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag that is about to be raised on a candidate."""

    candidate: Candidate
    type: str
    written: str
    suggestion: str


def spelling(flag: Flag, known: Words) -> bool:
    """Whether a word near the place is unknown; names and tokens that are not plain words are ignored."""
    sentence, index = flag.candidate.sentence, flag.candidate.index
    nearby = range(max(0, index - NEAR), min(len(sentence.words), index + NEAR + 1))
    return any(
        sentence.words[near].isalpha()
        and not sentence.tags[near].startswith(("NNP", "FW"))
        and sentence.words[near] not in known
        for near in nearby
        if near != index
    )


def antonyms(flag: Flag, known: Words) -> bool:  # noqa: ARG001 (all filters are called alike)
    return flag.type == CHOICE and frozenset((flag.written, flag.suggestion)) in OPPOSITES


def benefactives(flag: Flag, known: Words) -> bool:  # noqa: ARG001
    """Whether a person follows *for*."""
    if flag.type != CHOICE or flag.written != "for":
        return False
    words = flag.candidate.sentence.words[flag.candidate.index + 1 : flag.candidate.index + 1 + NEAR]
    return any(word.lower() in PEOPLE for word in words)


def quantifiers(candidate: Candidate) -> bool:
    """Whether the candidate is *of* between a quantifier and a bare noun."""
    words, tags, index = candidate.sentence.words, candidate.sentence.tags, candidate.index
    if candidate.is_gap or words[index].lower() != "of" or not 0 < index < len(words) - 1:
        return False
    return words[index - 1].lower() in QUANTIFIERS and tags[index + 1] in BARE


def repeated(candidate: Candidate) -> bool:
    """Whether the candidate repeats the word before it."""
    words, index = candidate.sentence.words, candidate.index
    if candidate.is_gap or index == 0:
        return False
    before = canonical(words[index - 1])
    return before is not None and before == canonical(words[index])


SILENCING: dict[str, Callable[[Flag, Words], bool]] = {
    "spelling": spelling,
    "antonyms": antonyms,
    "benefactives": benefactives,
}
FLAGGING: dict[str, Callable[[Candidate], bool]] = {"quantifiers": quantifiers, "repeated": repeated}
NAMES = (*SILENCING, *FLAGGING)
DEFAULT = frozenset(NAMES)


class AnyWord:
    """Contains every word, for engines without a vocabulary."""

    def __contains__(self, word: object) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class PrepositionDetector:
    """An engine with its thresholds; `known` contains the words that do not count as noise."""

    name: str
    engine: Engine = field(repr=False)
    thresholds: Thresholds
    card: Mapping[str, Json] = field(repr=False)
    known: Words = field(default_factory=AnyWord, repr=False)
    filters: Collection[str] = DEFAULT
    kinds: tuple[str, ...] = (PREP, MISSING)

    def with_filters(self, names: Collection[str]) -> PrepositionDetector:
        for name in names:
            if name not in NAMES:
                raise UnknownName(unknown("filter", name, sorted(NAMES)))
        return replace(self, filters=frozenset(names))

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        for group in grouped(essays):
            items, candidates = list[Item](), list[Candidate]()
            for essay, sentences in zip(group, analyse_all(group), strict=True):
                for sentence in sentences:
                    own = list(candidates_of(sentence, with_gaps=MISSING in self.kinds))
                    candidates += own
                    items += [candidate.item_in(essay.essay_id) for candidate in own]
            yield from self._decided(items, candidates)

    def _decided(self, items: Sequence[Item], candidates: Sequence[Candidate]) -> Iterator[Finding]:
        if not candidates:
            return
        scores = self.engine.scores(candidates)
        written = [answer_of(candidate) for candidate in candidates]
        differences = margins(scores, written)
        excess = differences.values - self.thresholds.rows(written)
        types = excess.argmax(axis=1)
        exceeding = np.round(excess.max(axis=1), DECIMALS).tolist()
        answers, beliefs = differences.best.tolist(), beliefs_of(scores, written)
        columns = (items, candidates, written, answers, types.tolist(), exceeding, beliefs)
        for item, candidate, own, answer, kind, score, belief in zip(*columns, strict=True):
            target = "" if candidate.is_gap else candidate.sentence.words[candidate.index]
            flag = self._flag(candidate, TYPES[kind], own, answer) if score > 0 else None
            decision = self._decision(item.item_id, candidate, flag, score)
            yield Finding(item=item, decision=decision, target=target, probabilities=belief)

    def _flag(self, candidate: Candidate, type_: str, own: int, answer: int) -> Flag | None:
        """The corrections above their thresholds, unless a filter rejects them."""
        suggestion = DELETE if type_ == TYPE_OF_RULES else ANSWERS[answer]
        flag = Flag(candidate=candidate, type=type_, written=ANSWERS[own], suggestion=suggestion)
        is_silenced = any(SILENCING[name](flag, self.known) for name in self.filters if name in SILENCING)
        return None if is_silenced else flag

    def _decision(self, item_id: str, candidate: Candidate, flag: Flag | None, score: float) -> Decision:
        decision = Decision(item_id=item_id, system=self.name, flagged=False, score=score)
        if flag:
            return replace(decision, flagged=True, type=flag.type, suggestion=flag.suggestion)
        if any(FLAGGING[name](candidate) for name in self.filters if name in FLAGGING):
            return replace(decision, flagged=True, score=max(score, 0.0), type=TYPE_OF_RULES, suggestion=DELETE)
        return decision


def beliefs_of(scores: Scores, written: list[int]) -> list[tuple[tuple[str, float], ...]]:
    """The likeliest answers and their probabilities, the writer's own among them."""
    shares = np.round(softmax(scores), DECIMALS)
    top = np.argsort(-shares, axis=1, kind="stable")[:, :MOST_ANSWERS]
    of_top = np.take_along_axis(shares, top, axis=1).tolist()
    of_own = shares[np.arange(len(shares)), written].tolist()
    beliefs = []
    for answers, values, own, of in zip(top.tolist(), of_top, written, of_own, strict=True):
        named = tuple(zip((ANSWERS[answer] for answer in answers), values, strict=True))
        beliefs.append(named if own in answers else (*named, (ANSWERS[own], of)))
    return beliefs
