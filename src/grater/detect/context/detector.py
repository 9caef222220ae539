"""`context`: one pass of a neural network over each sentence, and a decision on every slot.

The network sees the sentence as it was written and gives each slot (`slots`) a probability for every answer
(`network`, `heads`). The margin of another answer over the written one must exceed the threshold of its error name
(`calibration`), which a target precision may set. The answer that exceeds its threshold by most is suggested, and its
excess is the decision's score; a flag's `confidence` is the share of flags with such a margin that were right. If the
rest of an essay shows more or fewer signs of errors than learner essays usually do, margins are shifted
(`calibration.shifts`). *a* for *an*, or vice versa, is flagged by rule. Lines of data (`slots.is_data`) are not read.

A noun that may have the wrong number is scored again in the sentence with the other number, and `WEIGHT_AGAIN` times
that margin is added. This was chosen on CWEB, where the 10 most confident correct flags were among the first 16
without it and are the first 10 with it; prepositions, articles and verb forms gained nothing.

For writers (`for_writers`), a finite verb that may be in the wrong tense is read again together with the sentences
around it in its paragraph. Its tense comes from that reading, its form within the tense from the sentence alone. The
threshold is lower by `TENSE` where most other verbs of the paragraph are in the other tense.

If a preposition and an article are missing at the same place, both are flagged, the preposition first.

Unlike the classical systems, it was trained on errors, inserted into well-formed text (`grater-train context`). Cloze
and selection use it with the word hidden (`MaskedEngine`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from math import exp, log
from operator import itemgetter
from pathlib import Path

import numpy as np

from grater.corpora.text.analysis import Sentence, analyse_all
from grater.corpora.text.sentences import paragraph_spans
from grater.detect.context.calibration import LOWER, NAMES, TRUST, VERIFIED, Calibration, calibrations_of, shifts
from grater.detect.context.heads import PREP_GAP_HEAD, PREP_HEAD, Head
from grater.detect.context.network import Logits, Network, answer_sentences
from grater.detect.context.pieces import MOST_WORDS, PieceVocabulary
from grater.detect.context.slots import (
    ARTICLE,
    KINDS,
    NUMBER,
    VERB_FORM,
    Slot,
    is_data,
    is_in_capitals,
    slots_of,
    words_read,
)
from grater.detect.detector import Finding, grouped, require_precision
from grater.detect.linear import Scores, log_softmax
from grater.detect.prepositions.candidates import PREP, Candidate
from grater.errors import BadInput, Problem
from grater.model import DELETE, Decision, Essay, Item, Json
from grater.models import read_model, require_parts, shipped, write_model

KIND = "context"
CHOICE, EXTRANEOUS, MISSING_TYPE, FORM = "choice", "extraneous", "missing", "form"
TYPE_OF_KIND = {NUMBER: NUMBER, VERB_FORM: FORM}

MOST_ANSWERS = 4
"""Answers of a finding with their probabilities; the writer's own comes after them, if it is another."""

DOUBTFUL = 0.0
"""The margin from which a noun is queried again; -2 would take a tenth more time."""

WEIGHT_AGAIN = 0.5
TENSE_DOUBTFUL, TENSE = -4.0, 2.5
"""The margin from which the tense of a verb is queried again, and how much lower its threshold is then.  Chosen on
the half of CoNLL-2014 that the model was calibrated on and on well-formed text (`training/figures/README.md`)."""

SEVERAL = 3
"""The fewest verbs in the other tense that make a verb's own one odd."""

STATES = frozenset(("am", "is", "are", "have", "has"))
"""A state that still holds is in the present tense, even among verbs in the past."""

KEPT = 4.0
"""How much likelier than another form in the writer's tense a verb must be to change its tense as well."""

WRONG_TENSE = "“{}” may be in the wrong tense here: compare the sentences around it; “{}”?"

NEVER = 100.0
"""More than any margin: the threshold of what is not flagged at all, whose scores stay in order."""

DECIMALS = 6
LEAST_PROBABILITY = 1e-9


@dataclass(frozen=True, slots=True)
class Option:
    """Another word for a slot: its margin over the written one, and the name of the error that it would correct.

    `lower` is subtracted from its threshold.
    """

    word: str
    margin: float
    type: str
    name: str
    lower: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A slot with its likeliest words, the written word and none, each with its log-probability."""

    slot: Slot
    shares: tuple[tuple[str, float], ...]
    has_odd_tense: bool = False

    def options(self) -> list[Option]:
        """For each name of error the likeliest other word."""
        own = log(max(next(share for word, share in self.shares if word == self.slot.written), LEAST_PROBABILITY))
        options = []
        for word, share in self._others():
            margin = log(max(share, LEAST_PROBABILITY)) - own - NEVER * self.slot.is_right
            type_ = type_of(self.slot, word)
            lower = TENSE if self.has_odd_tense and word in self.slot.other_tense else 0.0
            options.append(Option(word, margin, type_, name_of(self.slot, type_), lower))
        return options

    def merged_with(self, other: Asked) -> Asked:
        """Combines both answers: `other` is the same noun with the other number, or the same verb among more words.

        The tense of the verb is then that of `other`, its form within each tense stays.
        """
        if self.slot.kind == NUMBER:
            margin = self.options()[0].margin - WEIGHT_AGAIN * other.options()[0].margin
            share = 1 / (1 + exp(-margin))
            shares = {other.slot.written: share, self.slot.written: 1 - share}
        else:
            shares = dict(self.shares)
            for words in (self.slot.own_tense, self.slot.other_tense):
                ratio = other._share(words) / max(self._share(words), LEAST_PROBABILITY)
                shares |= {word: ratio * shares[word] for word in words}
        likeliest = sorted(shares.items(), key=itemgetter(1), reverse=True)
        return replace(self, shares=tuple(likeliest))

    @property
    def may_change_tense(self) -> bool:
        """Whether a finite verb is not far from the other tense."""
        own, other = self._share(self.slot.own_tense), self._share(self.slot.other_tense)
        return self.slot.written not in STATES and other > own * exp(TENSE_DOUBTFUL)

    def _share(self, words: Collection[str]) -> float:
        return sum(share for word, share in self.shares if word in words)

    def _others(self) -> list[tuple[str, float]]:
        """The likeliest word of each type of error, likeliest type first."""
        others = (pair for pair in self.shares if pair[0] != self.slot.written)
        first = next(others)
        if first[0] in self.slot.other_tense and not self.has_odd_tense:
            kept = (word for word, share in others if word in self.slot.own_tense and KEPT * share > first[1])
            return [(next(kept, first[0]), first[1])]
        if self.slot.is_gap or self.slot.kind not in (PREP, ARTICLE):
            return [first]
        is_none = first[0] == DELETE
        return [first, next(pair for pair in others if (pair[0] == DELETE) != is_none)]


def name_of(slot: Slot, type_: str) -> str:
    """The calibration name of an error; wrong and missing prepositions are both *prep*."""
    return slot.kind if slot.kind in TYPE_OF_KIND else f"{slot.kind.removesuffix('-missing')}-{type_}"


def type_of(slot: Slot, word: str) -> str:
    """The type of error that a word would correct."""
    if slot.kind in TYPE_OF_KIND:
        return TYPE_OF_KIND[slot.kind]
    if slot.is_gap:
        return MISSING_TYPE
    return EXTRANEOUS if word == DELETE else CHOICE


def log_shares(logits: Logits, head: Head) -> Scores:
    """(words, answers of the head): log-probabilities."""
    return log_softmax(logits[:, head.columns].astype(np.float64))


def asked(slots: Sequence[Slot], rows: Sequence[Logits]) -> list[Asked]:
    """The answers to slots from the logits of their words."""
    by_head: dict[Head, list[int]] = defaultdict(list)
    for number, slot in enumerate(slots):
        by_head[slot.head].append(number)
    answered: dict[int, Asked] = {}
    for head, numbers in by_head.items():
        shares = np.exp(log_shares(np.stack([rows[number] for number in numbers]), head))
        likeliest = np.argsort(-shares, axis=1, kind="stable")
        for number, row, order in zip(numbers, shares.tolist(), likeliest.tolist(), strict=True):
            shares_of = _by_word if slots[number].kind == VERB_FORM else _likeliest
            answered[number] = Asked(slot=slots[number], shares=shares_of(slots[number], row, order))
    return [answered[number] for number in range(len(slots))]


def _likeliest(slot: Slot, shares: Sequence[float], order: Sequence[int]) -> tuple[tuple[str, float], ...]:
    """The first words in this order with their log-probabilities, plus the written word and none."""
    needed = slot.words.index(slot.written), len(slot.words) - 1
    columns = [*order[:MOST_ANSWERS], *(column for column in order[MOST_ANSWERS:] if column in needed)]
    return tuple([(slot.words[column], shares[column]) for column in columns])


def _by_word(slot: Slot, shares: Sequence[float], _: Sequence[int]) -> tuple[tuple[str, float], ...]:
    """The forms of a verb, likeliest first; a form that stands for several answers sums their probabilities."""
    by_word: dict[str, float] = {}
    for word, share in zip(slot.words, shares, strict=True):
        by_word[word] = by_word.get(word, 0.0) + share
    return tuple(sorted(by_word.items(), key=itemgetter(1), reverse=True))


@dataclass(frozen=True, slots=True)
class Place:
    """A sentence of an essay with the words that the network reads."""

    essay_id: str
    paragraph: int
    sentence: Sentence
    words: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class ContextDetector:
    """A network with its pieces and calibrations; `precision` sets the thresholds if given.

    It checks only slots of its `kinds`, and reports at most the confidence `most`. `trust` weights a text's shift,
    and `lower` is subtracted from the shipped thresholds.
    """

    name: str
    network: Network = field(repr=False)
    vocabulary: PieceVocabulary = field(repr=False)
    calibrations: Mapping[str, Calibration] = field(repr=False)
    card: Mapping[str, Json] = field(repr=False)
    precision: float | None = None
    kinds: tuple[str, ...] = KINDS
    most: float = 1.0
    trust: float = 1.0
    lower: Mapping[str, float] = field(default_factory=dict, repr=False)
    reads_paragraphs: bool = False

    def with_precision(self, precision: float) -> ContextDetector:
        """The same with thresholds for a precision."""
        return replace(self, precision=require_precision(precision))

    def for_writers(self) -> ContextDetector:
        """The same for feedback: the more errors a text shows, the more of its words are marked."""
        return replace(self, trust=TRUST, lower=LOWER, reads_paragraphs=True)

    @property
    def engine(self) -> MaskedEngine:
        """An engine that scores prepositions without seeing the writer's."""
        return MaskedEngine(self.network, self.vocabulary)

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        for _, of_essay in groupby(self.answers(essays), key=itemgetter(0)):
            answers = [(*answer, answer[-1].options()) for answer in of_essay]
            corrections = [[(option.name, option.margin) for option in options] for *_, options in answers]
            for answer, shift in zip(answers, shifts(corrections, self.calibrations), strict=True):
                yield self._finding(*answer, self.trust * shift)

    def answers(self, essays: Iterable[Essay]) -> Iterator[tuple[str, Sentence, Asked]]:
        """Every slot with its place and the network's answers."""
        for group in grouped(essays):
            places = list(_places(group))
            slots = [[slot for slot in slots_of(place.sentence) if slot.kind in self.kinds] for place in places]
            rows = self._rows([place.words for place in places], slots)
            first = asked([slot for own in slots for slot in own], rows)
            in_place = [number for number, own in enumerate(slots) for _ in own]
            for number, answered in zip(in_place, self._asked_again(places, in_place, first), strict=True):
                yield places[number].essay_id, places[number].sentence, answered

    def _rows(self, words: Sequence[Sequence[str]], slots: Sequence[Sequence[Slot]]) -> list[Logits]:
        """The logits of each slot, sentence by sentence."""
        indices = [sorted({slot.index for slot in own}) for own in slots]
        read = answer_sentences(self.network, self.vocabulary, words, asked=indices)
        by_index = (dict(zip(*pair, strict=True)) for pair in zip(indices, read, strict=True))
        return [rows[slot.index] for own, rows in zip(slots, by_index, strict=True) for slot in own]

    def _asked_again(
        self, places: Sequence[Place], in_place: Sequence[int], answered: Sequence[Asked]
    ) -> list[Asked]:
        """The same slots; doubtful nouns and verbs are merged with the answers from another text.

        For a noun this is the sentence with its other number, for a verb the sentence with its neighbours.
        """
        paragraphs = [places[number].paragraph for number in in_place]
        tenses = Counter(
            (paragraph, one.slot.is_past)
            for paragraph, one in zip(paragraphs, answered, strict=True)
            if one.slot.own_tense
        )
        queries: dict[int, tuple[Slot, list[str], int]] = {}
        odd_tenses = set[int]()
        for at, one in enumerate(answered):
            slot, words = one.slot, list(places[in_place[at]].words)
            if slot.kind == NUMBER and (other := one.options()[0]).margin > DOUBTFUL:
                is_capital = words[slot.index][:1].isupper()
                words[slot.index] = other.word.capitalize() if is_capital else other.word
                queries[at] = replace(slot, written=other.word), words, slot.index
            elif self.reads_paragraphs and one.may_change_tense:
                before, after = _neighbours(places, in_place[at])
                if before or after:
                    queries[at] = slot, [*before, *words, *after], len(before) + slot.index
                    paragraph = paragraphs[at]
                    if tenses[paragraph, not slot.is_past] >= max(SEVERAL, tenses[paragraph, slot.is_past]):
                        odd_tenses.add(at)
        slots, texts, indices = zip(*queries.values(), strict=True) if queries else ((), (), ())
        rows = answer_sentences(self.network, self.vocabulary, texts, asked=[(index,) for index in indices])
        merged = list(answered)
        for at, again in zip(queries, asked(slots, [row[0] for row in rows]), strict=True):
            merged[at] = replace(answered[at].merged_with(again), has_odd_tense=at in odd_tenses)
        return merged

    def _finding(
        self, essay_id: str, sentence: Sentence, answered: Asked, options: Sequence[Option], shift: float
    ) -> Finding:
        slot = answered.slot
        item = Item(essay_id, slot.span, slot.kind)
        thresholds = [min(NEVER, self._threshold(each.name)) - each.lower for each in options]
        excesses = [option.margin + shift - least for option, least in zip(options, thresholds, strict=True)]
        best = max(range(len(options)), key=lambda number: (excesses[number], options[number].margin))
        option, excess = options[best], excesses[best]
        decision = Decision(
            item_id=item.item_id,
            system=self.name,
            flagged=excess > 0,
            score=round(excess, DECIMALS),
            type=option.type,
            suggestion=suggestion(slot, sentence, option.word),
        )
        confidence = None
        if decision.flagged:
            share = self.calibrations[option.name].probability(option.margin + option.lower + shift)
            confidence = round(min(self.most, share), DECIMALS)
        elif slot.kind == ARTICLE and slot.target.lower() in {"a", "an"} - {slot.written}:
            words = suggestion(slot, sentence, slot.written)
            decision = replace(decision, flagged=True, score=0.0, type=FORM, suggestion=words)
        kept = list(answered.shares[:MOST_ANSWERS])
        if all(word != answered.slot.written for word, _ in kept):
            kept += [pair for pair in answered.shares if pair[0] == answered.slot.written]
        beliefs = tuple([(word, round(share, DECIMALS)) for word, share in kept])
        message = WRONG_TENSE.format(slot.target, decision.suggestion) if option.lower else ""
        return Finding(item, decision, slot.target, beliefs, message=message, confidence=confidence)

    def _threshold(self, name: str) -> float:
        lower = 0.0 if self.precision else self.lower.get(name, 0.0)
        return self.calibrations[name].threshold(self.precision) - lower


def _places(essays: Sequence[Essay]) -> Iterator[Place]:
    paragraph = 0
    for essay, sentences in zip(essays, analyse_all(essays), strict=True):
        starts = {span.start for span in paragraph_spans(essay.text)} if essay.tokens is None else {}
        paragraph += 1
        for sentence in sentences:
            paragraph += sentence.spans[0].start in starts
            if not is_data(sentence):
                yield Place(essay.essay_id, paragraph, sentence, words_read(sentence))


def _neighbours(places: Sequence[Place], number: int) -> tuple[list[str], list[str]]:
    """The words before and after a sentence in its paragraph, as many as a window has room for."""
    first = last = number
    while first and places[first - 1].paragraph == places[number].paragraph:
        first -= 1
    while last + 1 < len(places) and places[last + 1].paragraph == places[number].paragraph:
        last += 1
    before = [word for place in places[first:number] for word in place.words]
    after = [word for place in places[number + 1 : last + 1] for word in place.words]
    room = max(0, MOST_WORDS - len(places[number].words))
    n_before = min(len(before), max(room // 2, room - len(after)))
    return before[len(before) - n_before :], after[: room - n_before]


def suggestion(slot: Slot, sentence: Sentence, word: str) -> str:
    """A word in the case of the writer's; a sentence's first word keeps its capital, and *to* is not repeated."""
    if word == DELETE:
        return word
    if slot.index and sentence.words[slot.index - 1].lower() == "to" and slot.span == sentence.spans[slot.index]:
        word = word.removeprefix("to ")
    if is_in_capitals(sentence):
        return word.upper()
    if slot.is_gap:
        is_capital = slot.index == 0 and sentence.words[0][:1].isupper()
        return word.capitalize() if is_capital else word
    if len(slot.target) > 1 and slot.target.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if slot.target[:1].isupper() else word


@dataclass(frozen=True, slots=True, eq=False)
class MaskedEngine:
    """Preposition scores with the writer's preposition hidden, for selection and cloze (`candidates.Engine`)."""

    network: Network
    vocabulary: PieceVocabulary

    def scores(self, candidates: Sequence[Candidate]) -> Scores:
        """(candidates, 35): log-probabilities."""
        hidden = [None if candidate.is_gap else candidate.index for candidate in candidates]
        sentences = [candidate.sentence.words for candidate in candidates]
        indices = [(candidate.index,) for candidate in candidates]
        rows = answer_sentences(self.network, self.vocabulary, sentences, masked=hidden, asked=indices)
        shares = np.empty((len(candidates), len(PREP_HEAD.answers)))
        for number, (candidate, row) in enumerate(zip(candidates, rows, strict=True)):
            head = PREP_GAP_HEAD if candidate.is_gap else PREP_HEAD
            shares[number] = log_shares(row, head)[0]
        return shares


def save(
    path: Path,
    *,
    graph: bytes,
    pieces: Sequence[str],
    calibrations: Mapping[str, Calibration],
    card: Mapping[str, Json],
) -> None:
    numbers: dict[str, Json] = {name: calibrations[name].as_json() for name in NAMES}
    arrays = {"network": np.frombuffer(graph, np.uint8)}
    write_model(
        path, kind=KIND, card={**card, "calibration": numbers}, arrays=arrays, strings={"pieces": list(pieces)}
    )


def from_file(path: Path) -> ContextDetector:
    """The detector of a model file, under the file's name."""
    model = read_model(path, kind=KIND)
    try:
        require_parts(model, arrays={"network": 1}, strings=["pieces"])
        if model.arrays["network"].dtype != np.uint8:
            raise ValueError("the network is not an array of bytes")
        return ContextDetector(
            name=path.stem,
            network=Network(model.arrays["network"].tobytes()),
            vocabulary=PieceVocabulary(model.strings["pieces"]),
            calibrations=calibrations_of(model.card.get("calibration")),
            card=model.card,
        )
    except (KeyError, ValueError, TypeError) as error:
        message = f"expected the parts of a context model, found others ({error}); train or get it anew"
        raise BadInput(Problem(str(path), message)) from error


@cache
def load() -> ContextDetector:
    """The model that comes with grater."""
    return replace(from_file(shipped("context")), most=VERIFIED)
