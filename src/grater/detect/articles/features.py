"""The features of a noun phrase: earlier mentions of its noun, its context as numbers, and templates over them.

Nothing in a row depends on the phrase's own article or number. A row has

- the sentence: the noun in its singular, three words on each side, the first and last modifier, the last verb and
  noun before, the noun after the next preposition, tags, the forms of those neighbours;
- the wider context (Lee et al. 2009, sections 3.3 and 5: the same head noun in the sentences before, a direct
  anaphor, changes what is right): how many sentences ago the noun was last mentioned, in which form, how often, and
  the form of the last mention with the same word before it (*the red car ... a red car*).  Mentions more than
  `MEMORY` sentences ago are forgotten, so that long texts and short ones are treated alike;
- the noun's own habits: two classes from its counts (`constructions`); and classes of words that are used alike, from
  the tagger's clusters.

A verb that agrees with the noun reveals its number (*is*, *are*, *there are*), but a learner's verb may itself be
wrong. Rows therefore have verbs without their number (*is* and *are* are both *be*), and two separate fields for the
number, `agreement` and `left.agreement`, which can be hidden by 0.

The templates follow Han, Chodorow & Leacock 2006 and Lee 2004, on which the paper builds: the head, words and tags
around and inside the phrase, and their combinations. Groups can be left out to measure their value: `context` (Lee et
al. 2009, section 5, "features from a wider context should improve performance"), `entropy` (the noun's own
distribution) and `agreement`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from grater.corpora.text.analysis import Chunk, Sentence
from grater.detect.articles.phrases import NounPhrase, noun_phrases
from grater.detect.linear import STRANGE_TAG, TAG_NUMBERS, Hashing, Numbering, Rows, Template, templates

MEMORY = 40
N_CONTEXT = 5
"""Sentences of context that raters are shown (section 3.1)."""

DISTANCES = (0, 1, 5, 15, MEMORY)
"""Upper ends of the classes of distance, in sentences."""

CLOSED_SINGULAR, CLOSED_PLURAL = 7, 8
"""Forms of mentions whose article is not free; the five constructions are 1 to 5, *a* with a plural is 6."""


@dataclass(frozen=True, slots=True)
class Mention:
    """The last mention of a noun: the class of its distance (0 for none), its form, and the number of mentions (at
    most 4).

    `phrase` is the form of the last mention with the same modifier.
    """

    distance: int = 0
    form: int = 0
    count: int = 0
    phrase: int = 0


NEVER = Mention()


@dataclass(slots=True)
class Memory:
    """The nouns of an essay as it is read."""

    sentence: int = 0
    _nouns: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    _phrases: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)

    def recall(self, phrase: NounPhrase) -> Mention:
        """The last earlier mention of the phrase's noun."""
        mention = self._nouns.get(phrase.noun)
        if mention is None or self.sentence - mention[0] > MEMORY:
            return NEVER
        at, form, count = mention
        same = self._phrases.get(_modified(phrase))
        is_near = same is not None and self.sentence - same[0] <= MEMORY
        return Mention(
            distance=next(step for step, most in enumerate(DISTANCES, 1) if self.sentence - at <= most),
            form=form,
            count=min(count, 4),
            phrase=same[1] if same and is_near else 0,
        )

    def add(self, phrase: NounPhrase) -> None:
        if phrase.closed in ("pronoun", "no noun"):
            return
        form = form_of(phrase)
        before = self._nouns.get(phrase.noun)
        count = before[2] if before is not None and self.sentence - before[0] <= MEMORY else 0
        self._nouns[phrase.noun] = (self.sentence, form, count + 1)
        self._phrases[_modified(phrase)] = (self.sentence, form)


def form_of(phrase: NounPhrase) -> int:
    """The form of a mention, from 1 to 8."""
    if phrase.is_open:
        return phrase.construction + 1
    return CLOSED_PLURAL if phrase.number == "plural" else CLOSED_SINGULAR


def _modified(phrase: NounPhrase) -> tuple[str, str]:
    before = phrase.head - 1
    return (phrase.sentence.words[before].lower() if before >= phrase.start else "", phrase.noun)


WORDS = ("head", "l1", "l2", "l3", "m1", "m2", "r1", "r2", "r3", "verb", "prior", "next")
FIELDS = (
    *WORDS,
    *("l1.tag", "l2.tag", "m1.tag", "m2.tag", "r1.tag", "r2.tag"),
    *("nearest", "prior.form", "next.form", "n.modifiers", "initial"),
    *("mention", "mention.form", "mention.count", "mention.phrase"),
    *("shares", "entropy"),
    *("agreement", "left.agreement"),
    *("head.class", "l1.class", "l2.class", "m1.class", "m2.class", "r1.class", "verb.class"),
)
"""The columns; `WORDS` come first.  `shares`, `entropy` and the classes are filled in by the model."""

COLUMN = {name: column for column, name in enumerate(FIELDS)}
AGREEMENT_COLUMNS = (COLUMN["agreement"], COLUMN["left.agreement"])
HABIT_COLUMNS = (COLUMN["shares"], COLUMN["entropy"])
CLASSES = tuple(COLUMN[name] for name in FIELDS if name.endswith(".class"))
CLASSED = tuple(COLUMN[FIELDS[column].removesuffix(".class")] for column in CLASSES)
"""The columns of the classes, and of their words."""

SINGULAR, PLURAL, NEUTRAL = 1, 2, 3
SINGULAR_VERBS = frozenset(["is", "was", "has", "does", "'s", "’s"])
PLURAL_VERBS = frozenset(["are", "were", "have", "do", "'re", "’re", "'ve", "’ve"])
WITHOUT_NUMBER = {
    **dict.fromkeys(("is", "are", "am", "'s", "’s", "'re", "’re", "'m", "’m"), "be"),
    **dict.fromkeys(("was", "were"), "been"),
    **dict.fromkeys(("has", "have", "'ve", "’ve"), "have"),
    **dict.fromkeys(("does", "do"), "do"),
}
FINITE = frozenset(("VBZ", "VBP", "VBD", "MD"))
TAG_WITHOUT_NUMBER = TAG_NUMBERS["VBP"]
REACH = 3


@dataclass(frozen=True, slots=True)
class PlacedPhrase:
    """A phrase and its row; words are not yet converted to numbers."""

    phrase: NounPhrase
    words: tuple[str, ...]
    rest: tuple[int, ...]


def placed_phrases(sentences: Iterable[Sentence], memory: Memory) -> Iterator[PlacedPhrase]:
    """The phrases to check in consecutive sentences, with their rows; updates the memory."""
    for sentence in sentences:
        phrases = list(noun_phrases(sentence))
        plain = _Plain(sentence, phrases)
        for phrase in phrases:
            if phrase.is_checked:
                yield plain.placed(phrase, memory)
            memory.add(phrase)
        memory.sentence += 1


def rows_of(placed: Sequence[PlacedPhrase], vocabulary: Numbering) -> Rows:
    """(phrases, fields): words as numbered by the vocabulary; an empty word is 0."""
    rows = np.zeros((len(placed), len(FIELDS)), np.int32)
    if placed:
        words = [word for phrase in placed for word in phrase.words]
        known = vocabulary.numbers(word for word in words if word)
        numbers = [next(known) if word else 0 for word in words]
        rows[:, : len(WORDS)] = np.array(numbers, np.int32).reshape(len(placed), -1)
        rows[:, len(WORDS) : CLASSES[0]] = [phrase.rest for phrase in placed]
    return rows


class _Plain:
    """A sentence with verbs stripped of number, and the forms of its phrases."""

    def __init__(self, sentence: Sentence, phrases: Sequence[NounPhrase]) -> None:
        self.sentence = sentence
        self.forms = {phrase.head: form_of(phrase) for phrase in phrases}
        self.lower = [word.lower() for word in sentence.words]
        self.words = [*map(_without_number, self.lower, sentence.tags)]
        self.tags = [
            TAG_WITHOUT_NUMBER if tag == "VBZ" else TAG_NUMBERS.get(tag, STRANGE_TAG) for tag in sentence.tags
        ]

    def placed(self, phrase: NounPhrase, memory: Memory) -> PlacedPhrase:
        words, tags = self.words, self.tags
        head, start = phrase.head, phrase.start
        l3, l2, l1 = [index for index in range(start - REACH - 1, start) if index != phrase.article_at][-REACH:]
        first, last = (start, head - 1) if start < head else (-1, -1)
        verb, prior, following = self._neighbours(phrase)
        mention = memory.recall(phrase)
        own = [phrase.noun]
        own += [words[index] if index >= 0 else "" for index in (l1, l2, l3, first, last)]
        own += [words[index] if index < len(words) else "" for index in (head + 1, head + 2, head + 3)]
        own += [words[chunk.head] if chunk else "" for chunk in (verb, prior, following)]
        rest = [tags[index] if index >= 0 else 0 for index in (l1, l2, first, last)]
        rest += [tags[index] if index < len(tags) else 0 for index in (head + 1, head + 2)]
        nearest = 0 if not (verb or prior) else 2 if verb and (not prior or verb.end > prior.end) else 1
        rest += [nearest, self._form(prior), self._form(following), min(head - start, 3), int(l1 < 0)]
        rest += [mention.distance, mention.form, mention.count, mention.phrase, 0, 0]
        rest += [self._agreement(head + 1), self._left_agreement(l1)]
        return PlacedPhrase(phrase, tuple(own), tuple(rest))

    def _neighbours(self, phrase: NounPhrase) -> tuple[Chunk | None, Chunk | None, Chunk | None]:
        """The verb and noun chunk before, and the noun chunk after a following preposition."""
        verb = prior = following = None
        for chunk in self.sentence.chunks:
            if chunk.end <= phrase.left:
                if chunk.kind == "VP":
                    verb = chunk
                else:
                    prior = chunk
            elif chunk.start > phrase.head:
                is_linked = chunk.start == phrase.head + 2 and self.sentence.tags[phrase.head + 1] in ("IN", "TO")
                following = chunk if chunk.kind == "NP" and is_linked else None
                break
        return verb, prior, following

    def _form(self, chunk: Chunk | None) -> int:
        """The form of a neighbouring phrase, as of a mention; 0 for no phrase."""
        return 0 if chunk is None else self.forms.get(chunk.head, 0)

    def _agreement(self, index: int) -> int:
        """The number of the following verb, skipping adverbs and *that*, *which*, *who*."""
        tags = self.sentence.tags
        while index < len(tags) and (tags[index].startswith("RB") or tags[index] in ("WDT", "WP")):
            index += 1
        return _verb_number(self.lower[index], tags[index]) if index < len(tags) else 0

    def _left_agreement(self, index: int) -> int:
        """The number of a form of *be* directly before, skipping adverbs: *there are*, *they are*."""
        tags = self.sentence.tags
        while index >= 0 and tags[index].startswith("RB"):
            index -= 1
        return _verb_number(self.lower[index], tags[index]) if index >= 0 and tags[index][:2] == "VB" else 0


def _without_number(word: str, tag: str) -> str:
    if tag not in FINITE:
        return word
    if word in WITHOUT_NUMBER:
        return WITHOUT_NUMBER[word]
    if tag != "VBZ" or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")) else word.removesuffix("s")


def _verb_number(word: str, tag: str) -> int:
    if tag not in FINITE:
        return 0
    if word in SINGULAR_VERBS or tag == "VBZ":
        return SINGULAR
    return PLURAL if word in PLURAL_VERBS or tag == "VBP" else NEUTRAL


SENTENCE, CONTEXT, ENTROPY, AGREEMENT, PRIOR = "sentence", "context", "entropy", "agreement", "prior"

TEMPLATES: tuple[Template, ...] = (
    *templates(
        SENTENCE,
        """head l1 r1 m1 m2 l1+head m1+head m2+head head+r1 l2+l1 l2+l1+head l3+l2+l1 r1+r2 head+r1+r2 l1+m1 l1+r1
        l1+head+r1 l1+m1+head l2+l1+m1 m1+r1 r1+r2+r3 verb+nearest+l1.tag verb+head verb+l1 prior+l1
        prior+l1+head head+next r1+next r1+next.form+l1 prior.form+l1 prior.form+l1+head initial+head
        initial+m1.tag+r1 l1.tag+m1.tag+r1.tag l2.tag+l1.tag+m1.tag+m2.tag l1.tag+r1.tag+r2.tag+n.modifiers
        m2.tag+head head+r1.tag+l1.tag l1+m1.tag+r1 head.class+l1.tag+r1.tag head.class+l1 head.class+r1
        head.class+m1 head.class+m2 head.class+l2+l1 head.class+l1+r1 head.class+r1+r2
        head.class+l1.class+r1.class head.class+verb.class+l1.tag head.class+l1.class+m1.class head+l1.class
        head+r1.class l2.class+l1+m1.class head.class+prior.form+l1""",
    ),
    *templates(
        CONTEXT,
        """head.class+mention.form+l1.tag mention+mention.form mention.form+head
        mention.form+mention.count+n.modifiers mention.form+l1 mention.form+r1 mention.form+m1
        mention.phrase+mention""",
    ),
    *templates(
        ENTROPY,
        """shares entropy+l1.tag+r1.tag shares+l1 shares+r1 shares+m1 shares+m2 shares+l2+l1
        shares+mention+mention.form shares+prior.form+l1""",
    ),
    *templates(
        AGREEMENT,
        """agreement+left.agreement agreement+head agreement+shares agreement+m1 left.agreement+shares
        left.agreement+l2""",
    ),
    Template("prior", PRIOR, ()),
)
HASHING = Hashing(FIELDS, TEMPLATES)
