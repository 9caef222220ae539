"""Noun phrases: head, article, number, whether the construction is open, and rewriting in another construction.

Phrases come from `text.analysis`, whose chunks ignore agreement, so learners' errors do not hide them. A phrase is
*open* when any of the five constructions is possible; otherwise `closed` gives the reason, following Lee et al. 2009,
section 3.3: a proper noun, a pronoun, another determiner, a possessive, a number, a quantifier, or no noun at all.
Whether a noun is non-count depends on its counts, not on one phrase (`constructions`). A number or a quantifier
restricts the choice (*two dogs*, *the two dogs*; *many informations*): such phrases are too easy for the study, but
not for the detector.

The start of a phrase must not depend on its own article, since the article could otherwise be inferred from the rest.
The words before the head are therefore bracketed as if there were no article: a participle at the left edge belongs
to the phrase only if it is unlikely to be a verb (*in developing countries*, *of broken glass*; but *by eating*
[*apples*]).

To rewrite a phrase, two places can change: the article (replaced, removed, or inserted before the phrase) and the
noun. Applying all `changes` of a target gives the phrase in that construction, with *a* or *an* by the following
word, irregular plurals, and a capital for a sentence-initial article. A noun without a form in the other number
(*news*, *sheep*) has no construction in that number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from grater.corpora.text.analysis import Chunk, Sentence
from grater.corpora.text.inflect import indefinite_article, may_take_either_article, number_of, plural, singular
from grater.detect.articles.constructions import (
    ARTICLE_OF,
    CONSTRUCTIONS,
    NONE_OF_THEM,
    NUMBER_OF,
    Article,
    Number,
    construction,
)
from grater.model import DELETE, Span

OPEN = ""
PROPER, PRONOUN, DETERMINER, POSSESSIVE = "proper noun", "pronoun", "determiner", "possessive"
CARDINAL, QUANTIFIER, NO_NOUN = "number", "quantifier", "no noun"

NOT_NOUNS = frozenset(
    [
        *("other", "another", "one", "none", "nobody", "somebody", "anybody", "everybody", "nothing", "something"),
        *("anything", "everything", "someone", "anyone", "everyone", "no-one"),
        *("lot", "bit", "plenty", "couple", "deal", "bunch", "handful", "majority", "few", "many", "most", "much"),
        *("half", "quarter", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "dozen"),
        *("hundred", "thousand", "million", "billion", "all", "both", "each", "some", "any", "several", "such"),
    ]
)
"""What taggers take for nouns and Lee et al. 2009 do not: pronouns, numbers, quantifiers.  *Second* is a noun."""

ARTICLES: dict[str, Article] = {"a": "a", "an": "a", "the": "the"}
QUANTIFIERS = frozenset(
    ["many", "much", "few", "fewer", "several", "more", "most", "less", "least", "enough", "such", "dozen", "certain"]
)
NUMERALS = frozenset(["hundred", "thousand", "million", "billion", "dozens", "hundreds", "thousands", "millions"])
AUXILIARIES = frozenset(
    [
        *("be", "am", "is", "are", "was", "were", "been", "being", "'m", "'re", "'s", "’m", "’re", "’s"),
        *("have", "has", "had", "having", "'ve", "’ve", "'d", "’d", "get", "gets", "got", "getting"),
    ]
)
PARTICIPLES = frozenset(("VBN", "VBG"))
LIKE_ADJECTIVES = frozenset(
    [
        *("developing", "growing", "increasing", "following", "existing", "emerging", "leading", "remaining"),
        *("surrounding", "amazing", "interesting", "boring", "exciting", "ageing", "aging", "working", "living"),
        *("changing", "challenging", "competing", "corresponding", "demanding", "encouraging", "outstanding"),
        *("promising", "rising", "shocking", "striking", "surprising", "underlying", "willing", "missing"),
        *("modern-looking", "good-looking", "long-lasting", "hard-working", "hardworking", "upcoming", "ongoing"),
    ]
)

Kind: TypeAlias = Literal["article", "number"]
ARTICLE: Final = "article"
NUMBER: Final = "number"

CHOICE, EXTRANEOUS, MISSING, FORM, OF_NUMBER = "choice", "extraneous", "missing", "form", "number"


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A phrase by token indices of its sentence: the words from `start` to `head`, and any article before them."""

    sentence: Sentence
    start: int
    head: int
    article_at: int | None
    article: Article
    number: Number
    noun: str
    closed: str

    @property
    def is_open(self) -> bool:
        return self.closed == OPEN

    @property
    def is_of_study(self) -> bool:
        """Whether a study of nouns includes it: open, of the five, its head no pronoun, number or quantifier."""
        return self.is_open and self.noun not in NOT_NOUNS and self.construction != NONE_OF_THEM

    @property
    def is_checked(self) -> bool:
        """Whether the detector checks it: open, or with a number or quantifier, except *a few dogs*."""
        if self.closed in (CARDINAL, QUANTIFIER):
            return self.construction != NONE_OF_THEM and self.sentence.tags[self.head] in ("NN", "NNS")
        return self.is_open

    @property
    def construction(self) -> int:
        """The construction as written."""
        return construction(self.article, self.number)

    @property
    def left(self) -> int:
        """The first token of the phrase, its article included."""
        return self.start if self.article_at is None else self.article_at


def noun_phrases(sentence: Sentence) -> Iterator[NounPhrase]:
    """Every noun phrase of a sentence, in order, open or not."""
    for chunk in sentence.chunks:
        if chunk.kind == "NP":
            yield _phrase(sentence, chunk)


def _phrase(sentence: Sentence, chunk: Chunk) -> NounPhrase:
    words, tags = sentence.words, sentence.tags
    first = words[chunk.start].lower()
    is_article = tags[chunk.start] == "DT" and first in ARTICLES and chunk.head > chunk.start
    article: Article = ARTICLES[first] if is_article else "null"
    inside = chunk.start + is_article
    closed = _closed(words, tags, inside, chunk.head)
    head = words[chunk.head]
    number: Number = _number(head, tags[chunk.head], article)
    noun = singular(head.lower()) if number == "plural" else head.lower()
    start = _start(words, tags, inside, chunk.head) if closed in (OPEN, CARDINAL, QUANTIFIER) else inside
    return NounPhrase(
        sentence=sentence,
        start=start,
        head=chunk.head,
        article_at=chunk.start if is_article else None,
        article=article,
        number=number,
        noun=noun,
        closed=closed,
    )


def _closed(words: Sequence[str], tags: Sequence[str], start: int, head: int) -> str:
    tag = tags[head]
    if tag in ("NNP", "NNPS"):
        return PROPER
    if tag in ("PRP", "WP", "EX"):
        return PRONOUN
    if tag not in ("NN", "NNS") or not words[head][:1].isalpha():
        return NO_NOUN
    first_tag, first = tags[start], words[start].lower()
    if first_tag in ("DT", "WDT", "PDT", "WP$", "PRP$", "POS"):
        return POSSESSIVE if first_tag in ("PRP$", "POS", "WP$") else DETERMINER
    if "CD" in tags[start:head] or words[head].lower() in NUMERALS:
        return CARDINAL
    if first in QUANTIFIERS and head > start:
        return QUANTIFIER
    return PROPER if tags[start] in ("NNP", "NNPS") and words[head][:1].isupper() else OPEN


def _number(head: str, tag: str, article: Article) -> Number:
    """The number by form; if ambiguous (*sheep*, *series*), by the article, then by the tag."""
    number = number_of(head)
    if number == "either":
        return "plural" if tag == "NNS" and article != "a" else "singular"
    return number


def _start(words: Sequence[str], tags: Sequence[str], inside: int, head: int) -> int:
    """The first word of the phrase after its article."""
    start = inside
    while start < head and tags[start] in PARTICIPLES and not _is_modifier(words, tags, start):
        start += 1
    if start == inside > 0 and tags[start - 1] in PARTICIPLES and _is_modifier(words, tags, start - 1):
        return start - 1
    return start


def _is_modifier(words: Sequence[str], tags: Sequence[str], index: int) -> bool:
    """Whether a participle modifies the following noun, judged by the words before it except an article."""
    if words[index].lower() in LIKE_ADJECTIVES:
        return True
    if tags[index] == "VBG":
        return False
    before = index - 1
    while before >= 0 and (
        tags[before].startswith("RB") or (tags[before] == "DT" and words[before].lower() in ARTICLES)
    ):
        before -= 1
    return before < 0 or words[before].lower() not in AUXILIARIES


@dataclass(frozen=True, slots=True)
class Change:
    """The change of one item of a phrase; `type` is the type of error that it corrects."""

    kind: Kind
    type: str
    suggestion: str


def place_of(phrase: NounPhrase, kind: Kind) -> Span:
    """The span of the item of a kind: the article or the gap for it, or the noun."""
    spans = phrase.sentence.spans
    if kind == NUMBER:
        return spans[phrase.head]
    if phrase.article_at is not None:
        return spans[phrase.article_at]
    return Span(spans[phrase.start].start, spans[phrase.start].start)


def target_of(phrase: NounPhrase, kind: Kind) -> str:
    """The writer's words; empty for a gap."""
    words = phrase.sentence.words
    if kind == NUMBER:
        return words[phrase.head]
    return "" if phrase.article_at is None else words[phrase.article_at]


def within_reach(phrase: NounPhrase) -> list[int]:
    """The constructions in which the phrase can be written."""
    return [code for code in range(len(CONSTRUCTIONS)) if noun_as(phrase, NUMBER_OF[code]) is not None]


def noun_as(phrase: NounPhrase, number: Number) -> str | None:
    """The noun in a number; None if it has no such form."""
    word = phrase.sentence.words[phrase.head]
    if phrase.number == number:
        return word
    made = plural(word) if number == "plural" else singular(word)
    return made if made != word and number_of(made) == number else None


def changes(phrase: NounPhrase, target: int) -> list[Change]:
    """The changes for a reachable construction; none if it is the one written."""
    noun = noun_as(phrase, NUMBER_OF[target])
    if noun is None:
        return []
    wanted, made = ARTICLE_OF[target], []
    if wanted not in ("null", phrase.article):
        written = indefinite_article(_following(phrase, noun)) if wanted == "a" else "the"
        type_ = MISSING if phrase.article_at is None else CHOICE
        made.append(Change(ARTICLE, type_, _like_first(phrase, written)))
    elif wanted != phrase.article:
        made.append(Change(ARTICLE, EXTRANEOUS, DELETE))
    if NUMBER_OF[target] != phrase.number:
        made.append(Change(NUMBER, OF_NUMBER, noun))
    return made


def word_in(phrase: NounPhrase, target: int, kind: Kind) -> str | None:
    """The article (`-NONE-` for none) or the noun of a construction, in lower case; None if it has no form."""
    noun = noun_as(phrase, NUMBER_OF[target])
    if noun is None or kind == NUMBER:
        return noun
    article = ARTICLE_OF[target]
    return {"null": DELETE, "the": "the", "a": indefinite_article(_following(phrase, noun))}[article]


def wrong_form(phrase: NounPhrase) -> Change | None:
    """*a* for *an* or vice versa."""
    if phrase.article != "a" or phrase.article_at is None:
        return None
    following = _following(phrase, phrase.sentence.words[phrase.head])
    right = indefinite_article(following)
    written = phrase.sentence.words[phrase.article_at]
    is_right = written.lower() == right or may_take_either_article(following)
    return None if is_right else Change(ARTICLE, FORM, _like_first(phrase, right))


def written_as(phrase: NounPhrase, target: int) -> str:
    """The phrase in a construction, as shown to raters below the sentence: *a lamb*."""
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
    """Capitalised if the article is, or will be, first in its sentence."""
    first = phrase.sentence.words[phrase.left]
    is_capital = first[:1].isupper() and (phrase.article_at is not None or phrase.left == 0)
    return article.capitalize() if is_capital else article
