"""What an essay has said of a noun so far: the wider context.

Lee et al. 2009, sections 3.3 and 5: the same head noun in the sentences before (a direct anaphor) changes what is
right. Kept of each noun: how many sentences ago it was last mentioned, in which form, and how often; and the form of
the last mention with the same word before it (*the red car ... a red car*).  Mentions more than `MEMORY` sentences
ago are forgotten, so that long texts and short ones are alike.  Nothing here sees the phrase itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from grater.detect.articles.phrases import NounPhrase

MEMORY = 40
N_CONTEXT = 5
"""Sentences of context that raters are shown (section 3.1)."""

DISTANCES = (0, 1, 5, 15, MEMORY)
"""Upper ends of the classes of distance, in sentences."""

CLOSED_SINGULAR, CLOSED_PLURAL = 7, 8
"""Forms of mentions whose article is not free; the five constructions are 1 to 5, *a* with a plural is 6."""


@dataclass(frozen=True, slots=True)
class Mention:
    """The class of the distance (0 for none), the form of the last mention, how many there were (at most 4), and the
    form of the last one with the same modifier."""

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
        """What was said of the phrase's noun before it."""
        found = self._nouns.get(phrase.noun)
        if found is None or self.sentence - found[0] > MEMORY:
            return NEVER
        at, form, count = found
        same = self._phrases.get(_modified(phrase))
        is_near = same is not None and self.sentence - same[0] <= MEMORY
        return Mention(_distance(self.sentence - at), form, min(count, 4), same[1] if same and is_near else 0)

    def add(self, phrase: NounPhrase) -> None:
        """Remember a phrase."""
        if phrase.closed in ("pronoun", "no noun"):
            return
        form = form_of(phrase)
        before = self._nouns.get(phrase.noun)
        count = before[2] if before is not None and self.sentence - before[0] <= MEMORY else 0
        self._nouns[phrase.noun] = (self.sentence, form, count + 1)
        self._phrases[_modified(phrase)] = (self.sentence, form)

    def end_sentence(self) -> None:
        self.sentence += 1


def form_of(phrase: NounPhrase) -> int:
    """The form of a mention, from 1 to 8."""
    if phrase.is_open:
        return phrase.construction + 1
    return CLOSED_PLURAL if phrase.number == "plural" else CLOSED_SINGULAR


def _modified(phrase: NounPhrase) -> tuple[str, str]:
    before = phrase.head - 1
    return (phrase.sentence.words[before].lower() if before >= phrase.start else "", phrase.noun)


def _distance(n_sentences: int) -> int:
    return next(place for place, most in enumerate(DISTANCES, 1) if n_sentences <= most)
