"""A noun phrase written in another construction: which words to change, and into what.

Two places can change: the article (replaced, taken out, or put in before the phrase) and the noun.  Applying all
changes of a target gives the phrase in that construction: *a* or *an* by the word that then follows, irregular
plurals, the capital of an article that stood first.  A noun without the other number (*news*, *sheep*) has no
construction in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from grater.detect.articles.constructions import ARTICLE_OF, CONSTRUCTIONS, NUMBER_OF, Number
from grater.detect.articles.phrases import NounPhrase
from grater.model import DELETE, Span
from grater.text.inflect import number_of, plural, singular
from grater.text.sound import indefinite_article

Kind: TypeAlias = Literal["article", "number"]
ARTICLE: Final = "article"
NUMBER: Final = "number"

CHOICE, EXTRANEOUS, MISSING, FORM, OF_NUMBER = "choice", "extraneous", "missing", "form", "number"


@dataclass(frozen=True, slots=True)
class Change:
    """One item of a phrase and what to write there; `type` says what kind of error it mends."""

    kind: Kind
    type: str
    suggestion: str


def place_of(phrase: NounPhrase, kind: Kind) -> Span:
    """Where the item of a kind stands: the article or the gap for it, or the noun."""
    spans = phrase.sentence.spans
    if kind == NUMBER:
        return spans[phrase.head]
    if phrase.article_at is not None:
        return spans[phrase.article_at]
    return Span(spans[phrase.start].start, spans[phrase.start].start)


def target_of(phrase: NounPhrase, kind: Kind) -> str:
    """The writer's words there; empty for a gap."""
    words = phrase.sentence.words
    if kind == NUMBER:
        return words[phrase.head]
    return "" if phrase.article_at is None else words[phrase.article_at]


def within_reach(phrase: NounPhrase) -> list[int]:
    """The constructions that the phrase can be put into."""
    return [place for place in range(len(CONSTRUCTIONS)) if noun_as(phrase, NUMBER_OF[place]) is not None]


def noun_as(phrase: NounPhrase, number: Number) -> str | None:
    """The noun in a number; None where it has no such form."""
    word = phrase.sentence.words[phrase.head]
    if phrase.number == number:
        return word
    made = plural(word) if number == "plural" else singular(word)
    return made if made != word and number_of(made) == number else None


def changes(phrase: NounPhrase, target: int) -> list[Change]:
    """What to change for a construction within reach; nothing where it is the one that was written."""
    noun = noun_as(phrase, NUMBER_OF[target])
    if noun is None:
        return []
    found = _article_change(phrase, target, noun)
    if NUMBER_OF[target] != phrase.number:
        found.append(Change(NUMBER, OF_NUMBER, noun))
    return found


def _article_change(phrase: NounPhrase, target: int, noun: str) -> list[Change]:
    wanted = ARTICLE_OF[target]
    if wanted == phrase.article:
        return []
    if wanted == "null":
        return [Change(ARTICLE, EXTRANEOUS, DELETE)]
    written = indefinite_article(_following(phrase, noun)) if wanted == "a" else "the"
    type_ = MISSING if phrase.article_at is None else CHOICE
    return [Change(ARTICLE, type_, _like_first(phrase, written))]


def wrong_form(phrase: NounPhrase) -> Change | None:
    """*a* for *an* or the other way round."""
    if phrase.article != "a" or phrase.article_at is None:
        return None
    right = indefinite_article(_following(phrase, phrase.sentence.words[phrase.head]))
    written = phrase.sentence.words[phrase.article_at]
    return None if written.lower() == right else Change(ARTICLE, FORM, _like_first(phrase, right))


def written_as(phrase: NounPhrase, target: int) -> str:
    """The phrase in a construction, as raters see it below the sentence: *a lamb*."""
    noun = noun_as(phrase, NUMBER_OF[target]) or phrase.sentence.words[phrase.head]
    words = [*phrase.sentence.words[first_word(phrase) : phrase.head], noun]
    article = {"null": "", "the": "the", "a": indefinite_article(words[0])}[ARTICLE_OF[target]]
    return " ".join([article, *words] if article else words)


def first_word(phrase: NounPhrase) -> int:
    """The first word that is not the article."""
    return phrase.start if phrase.article_at is None else phrase.article_at + 1


def _following(phrase: NounPhrase, noun: str) -> str:
    """The word that follows the article."""
    first = first_word(phrase)
    return noun if first >= phrase.head else phrase.sentence.words[first]


def _like_first(phrase: NounPhrase, article: str) -> str:
    """With a capital where the article stands, or will stand, first in its sentence."""
    first = phrase.sentence.words[phrase.left]
    is_capital = first[:1].isupper() and (phrase.article_at is not None or phrase.left == 0)
    return article.capitalize() if is_capital else article
