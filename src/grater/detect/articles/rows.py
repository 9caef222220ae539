"""What stands around a noun phrase, as a row of numbers; nothing of a row depends on its own article or number.

The sentence: the noun in its singular, three words on each side, the first and last modifier, the last verb and noun
before, the noun after the next preposition, tags, the forms of those neighbours.  The wider context: `mentions`. The
noun's own habits: two classes from its counts (`nouns`).  Classes of words that are used alike: the tagger's
clusters.

A verb that agrees with the noun gives its number away (*is*, *are*, *there are*), and a learner's verb may itself be
wrong.  So verbs stand in rows without their number (*is* and *are* are both *be*), and the number that they show is
in two fields of its own, `agreement` and `left.agreement`, which can be hidden: 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grater.detect.articles.mentions import Memory, form_of
from grater.detect.articles.phrases import NounPhrase, noun_phrases
from grater.detect.learning.hashing import Rows
from grater.detect.learning.tags import STRANGE_TAG, TAG_NUMBERS
from grater.detect.learning.vocabulary import Numbering
from grater.text.analysis import Chunk, Sentence

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

COLUMN = {name: place for place, name in enumerate(FIELDS)}
AGREEMENT = (COLUMN["agreement"], COLUMN["left.agreement"])
HABITS = (COLUMN["shares"], COLUMN["entropy"])
CLASSES = tuple(COLUMN[name] for name in FIELDS if name.endswith(".class"))
CLASSED = tuple(COLUMN[FIELDS[place].removesuffix(".class")] for place in CLASSES)
"""The columns of the classes, and of the words that they are of."""

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
class Placed:
    """A phrase and its row of numbers; the words are not numbered yet."""

    phrase: NounPhrase
    words: tuple[str, ...]
    rest: tuple[int, ...]


def placed_phrases(sentences: Iterable[Sentence], memory: Memory) -> Iterator[Placed]:
    """The phrases to check in sentences that follow each other, with their rows; the memory goes on with them."""
    for sentence in sentences:
        phrases = list(noun_phrases(sentence))
        plain = _Plain(sentence, phrases)
        for phrase in phrases:
            if phrase.is_checked:
                yield plain.placed(phrase, memory)
            memory.add(phrase)
        memory.end_sentence()


def rows_of(placed: Sequence[Placed], vocabulary: Numbering) -> Rows:
    """(phrases, fields): words as the vocabulary numbers them; an empty word is 0."""
    rows = np.zeros((len(placed), len(FIELDS)), np.int32)
    if placed:
        numbers = _numbered([word for each in placed for word in each.words], vocabulary)
        rows[:, : len(WORDS)] = np.array(numbers, np.int32).reshape(len(placed), -1)
        rows[:, len(WORDS) : CLASSES[0]] = [each.rest for each in placed]
    return rows


def _numbered(words: list[str], vocabulary: Numbering) -> list[int]:
    numbers = vocabulary.numbers([word for word in words if word])
    return [next(numbers) if word else 0 for word in words]


class _Plain:
    """A sentence with the number of its verbs taken away, and its chunks by place."""

    def __init__(self, sentence: Sentence, phrases: Sequence[NounPhrase]) -> None:
        self.sentence = sentence
        self.forms = {phrase.head: form_of(phrase) for phrase in phrases}
        self.lower = [word.lower() for word in sentence.words]
        self.words = [*map(_without_number, self.lower, sentence.tags)]
        self.tags = [
            TAG_WITHOUT_NUMBER if tag == "VBZ" else TAG_NUMBERS.get(tag, STRANGE_TAG) for tag in sentence.tags
        ]

    def placed(self, phrase: NounPhrase, memory: Memory) -> Placed:
        words, tags = self.words, self.tags
        head, start = phrase.head, phrase.start
        l3, l2, l1 = [place for place in range(start - REACH - 1, start) if place != phrase.article_at][-REACH:]
        first, last = (start, head - 1) if start < head else (-1, -1)
        verb, prior, following = self._neighbours(phrase)
        mention = memory.recall(phrase)
        own = [phrase.noun]
        own += [words[place] if place >= 0 else "" for place in (l1, l2, l3, first, last)]
        own += [words[place] if place < len(words) else "" for place in (head + 1, head + 2, head + 3)]
        own += [words[chunk.head] if chunk else "" for chunk in (verb, prior, following)]
        rest = [tags[place] if place >= 0 else 0 for place in (l1, l2, first, last)]
        rest += [tags[place] if place < len(tags) else 0 for place in (head + 1, head + 2)]
        nearest = 0 if not (verb or prior) else 2 if verb and (not prior or verb.end > prior.end) else 1
        rest += [nearest, self._form(prior), self._form(following), min(head - start, 3), int(l1 < 0)]
        rest += [mention.distance, mention.form, mention.count, mention.phrase, 0, 0]
        rest += [self._agreement(head + 1), self._left_agreement(l1)]
        return Placed(phrase, tuple(own), tuple(rest))

    def _neighbours(self, phrase: NounPhrase) -> tuple[Chunk | None, Chunk | None, Chunk | None]:
        """The verb and noun chunk before, and the noun chunk behind a preposition that follows."""
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
        """The form of a phrase beside, as of a mention; 0 for no phrase."""
        return 0 if chunk is None else self.forms.get(chunk.head, 0)

    def _agreement(self, place: int) -> int:
        """The number of the verb right behind, adverbs and *that*, *which*, *who* between."""
        tags = self.sentence.tags
        while place < len(tags) and (tags[place].startswith("RB") or tags[place] in ("WDT", "WP")):
            place += 1
        return _verb_number(self.lower[place], tags[place]) if place < len(tags) else 0

    def _left_agreement(self, place: int) -> int:
        """The number of a form of *be* right before, adverbs between: *there are*, *they are*."""
        tags = self.sentence.tags
        while place >= 0 and tags[place].startswith("RB"):
            place -= 1
        return _verb_number(self.lower[place], tags[place]) if place >= 0 and tags[place][:2] == "VB" else 0


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
