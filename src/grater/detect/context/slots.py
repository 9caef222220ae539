"""The places that `context` checks, and the words that its answers stand for there.

One pass over a sentence gives them all: written prepositions and gaps for one (`detect.prepositions.candidates`, and
after *because*), written articles and the beginnings of noun phrases without one (`detect.articles.phrases`), the
nouns at the head of phrases, and verbs.

Every slot has a word for each column of its head. Columns with the same word are one answer: past and participle of
most verbs, and base and present of all verbs except *be*. *to* directly before a base form belongs to the verb:
*should to spend* is one slot, and *to go* may become *going*; *gonna* includes its *to*. *as*, *after* and the like
before a clause, and *to* before a finite verb, are slots, so that systems share their items, but are never flagged.
Left out are

- articles and numbers of headings;
- modal verbs, clitics and *am*, plural verbs after a group of people (*the team are*), verbs separated from their
  *to* (*to really go*), forms of two verbs (*found*, *left*), forms of no verb that we know (*reimagined*);
- names, abbreviations and compounds with a hyphen, nouns with one form for both numbers, with no known singular
  (*habeas*), and plurals that are used as singulars (*data*).  A mass noun is never made plural.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from grater.corpora.text.analysis import Sentence
from grater.corpora.text.inflect import (
    indefinite_article,
    is_mass,
    may_take_either_article,
    number_of,
    plural,
    singular,
)
from grater.corpora.text.lemmas import SECOND_FORMS, is_word
from grater.corpora.text.prepositions import PREPOSITIONS, canonical
from grater.corpora.text.verbs import MODALS, verb_base, verb_forms
from grater.detect.articles.phrases import ARTICLES, CARDINAL, OPEN, PROPER, QUANTIFIER, noun_phrases
from grater.detect.context.heads import (
    ARTICLE_GAP_HEAD,
    ARTICLE_HEAD,
    FORMS,
    NUMBER_HEAD,
    PREP_GAP_HEAD,
    PREP_HEAD,
    VERB_HEAD,
    Head,
    surfaces,
)
from grater.detect.context.pieces import MOST_WORDS
from grater.detect.prepositions.candidates import MISSING, PREP, gap_places, preposition_places
from grater.model import DELETE, Span

ARTICLE, NUMBER, VERB_FORM = "article", "number", "verb-form"
KINDS = (PREP, MISSING, ARTICLE, NUMBER, VERB_FORM)

BEFORE_OF = frozenset(("because", "instead", "despite"))
"""Words that no verb, noun or adverb is, and after which a preposition may be missing or too many."""

WITHOUT_ARTICLE = (OPEN, CARDINAL, QUANTIFIER, PROPER)
NOUNS = frozenset(("NN", "NNS"))
VERBS = frozenset(("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"))
UNASKED = MODALS | {"am", "long"}
BOTH_NUMBERS = frozenset(("agenda", "aids", "algae", "bacteria", "cilia", "contretemps", "data", "diabetes"))
BOTH_NUMBERS |= {"flagella", "innings", "media", "molasses"}
SHORTEST_NOUN = 3
FEWEST_CAPITALS = 4
"""Words of a sentence that is read as if its capitals were small: fewer may be a heading or initials."""

OF_INFINITIVES = frozenset(("VB", "VBP", "VBZ"))
FINITE = frozenset(("VBP", "VBZ", "VBD", "MD"))
WITH_TO = frozenset(("gonna", "gotta", "hafta", "oughta", "wanna"))
"""Words with a *to* in them, read in one piece or in two (*gon na*)."""

CONJUNCTIONS = frozenset(("after", "as", "before", "since", "till", "until"))
"""Prepositions that may also begin a clause."""

DETERMINERS = frozenset(("DT", "PRP$", "POS"))
QUOTES = frozenset(("'", '"', "`", "``", "''", "‘", "’", "“", "”"))
LONGEST_QUOTED = 5
"""Words before a noun among which a determiner is looked for, with the quotation marks."""

OF_MANY = frozenset(("VBP", "VBD"))
GROUPS = frozenset(
    ("audience", "committee", "couple", "crew", "crowd", "government", "jury", "police", "staff", "team")
)
"""Singular nouns whose verb may be in the plural, at least in British English."""

INVERTED = frozenset(("given", "were"))
"""At the start of a sentence no form to choose: *Given that*, *Were it so*."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A question about the word at `index`: the word for each column, and the written one.

    `span` and `target` are the writer's words, empty for a gap. A slot that `is_right` is never flagged: it is an
    item for other systems, but not a preposition here. `tenses` are the forms of a finite verb in its tense and in
    the other one, where they differ.
    """

    index: int
    kind: str
    head: Head
    words: tuple[str, ...]
    written: str
    span: Span
    target: str
    is_right: bool = False
    own_tense: frozenset[str] = frozenset()
    other_tense: frozenset[str] = frozenset()
    is_past: bool = False

    @property
    def is_gap(self) -> bool:
        return not len(self.span)


def is_data(sentence: Sentence) -> bool:
    """Whether more words than a window holds follow each other without a space, as in a line of data."""
    n_touching = 1
    for before, after in pairwise(sentence.spans):
        n_touching = n_touching + 1 if before.end == after.start else 1
        if n_touching > MOST_WORDS:
            return True
    return False


def is_in_capitals(sentence: Sentence) -> bool:
    return len(sentence.words) >= FEWEST_CAPITALS and _is_all_capitals(sentence)


def words_read(sentence: Sentence) -> Sequence[str]:
    """The words as in training: a sentence in capitals keeps them only at its start and in *I*."""
    if not is_in_capitals(sentence):
        return sentence.words
    small = [word if word == "I" else word.lower() for word in sentence.words]
    return [sentence.words[0].capitalize(), *small[1:]]


def slots_of(sentence: Sentence) -> list[Slot]:
    """Every slot of a sentence, in order; a gap comes before the word after it."""
    slots = [*_prepositions(sentence), *_preposition_gaps(sentence), *_articles(sentence), *_verbs(sentence)]
    has_verb = any(tag in VERBS or tag == "MD" for tag in sentence.tags)
    is_heading = any(map(str.isalnum, sentence.words[-1])) and (not has_verb or is_in_capitals(sentence))
    if not is_heading:
        slots += [*_article_gaps(sentence), *_numbers(sentence)]
    return sorted(slots, key=lambda slot: (slot.span, KINDS.index(slot.kind)))


def _prepositions(sentence: Sentence) -> Iterator[Slot]:
    for index in preposition_places(sentence):
        word = sentence.words[index]
        yield Slot(
            index=index,
            kind=PREP,
            head=PREP_HEAD,
            words=(*PREPOSITIONS, DELETE),
            written=canonical(word) or word,
            span=sentence.spans[index],
            target=word,
            is_right=(word.lower() in CONJUNCTIONS and _begins_clause(sentence, index + 1))
            or _is_range(sentence, index)
            or (word.lower() == "to" and sentence.tags[index + 1 : index + 2] in (("VBD",), ("VBP",), ("VBZ",))),
        )


def _is_range(sentence: Sentence, index: int) -> bool:
    """Whether *to* joins two adverbs or adjectives: *moderately to highly*."""
    around = sentence.tags[index - 1 : index + 2 : 2] if index else ()
    return sentence.words[index].lower() == "to" and around in (("RB", "RB"), ("JJ", "JJ"))


def _begins_clause(sentence: Sentence, index: int) -> bool:
    """Whether a noun phrase begins at this word and is followed by a finite verb, apart from adverbs."""
    ends = [chunk.end for chunk in sentence.chunks if chunk.kind == "NP" and chunk.start == index]
    after = ends[0] if ends else index
    while after < len(sentence.tags) and sentence.tags[after].startswith("RB"):
        after += 1
    return bool(ends) and after < len(sentence.tags) and sentence.tags[after] in FINITE


def _preposition_gaps(sentence: Sentence) -> Iterator[Slot]:
    starts = (chunk.start for chunk in sentence.chunks if chunk.kind == "NP" and chunk.start)
    after_because = (start for start in starts if sentence.words[start - 1].lower() in BEFORE_OF)
    for index in sorted({*gap_places(sentence), *after_because}):
        yield _gap(sentence, index, MISSING, PREP_GAP_HEAD, (*PREPOSITIONS, DELETE))


def _gap(sentence: Sentence, index: int, kind: str, head: Head, words: tuple[str, ...]) -> Slot:
    at = sentence.spans[index].start
    return Slot(index=index, kind=kind, head=head, words=words, written=DELETE, span=Span(at, at), target="")


def _articles(sentence: Sentence) -> Iterator[Slot]:
    for index, tag in enumerate(sentence.tags[:-1]):
        word = sentence.words[index]
        if tag != "DT" or word.lower() not in ARTICLES:
            continue
        indefinite = _indefinite(sentence, index + 1, written=word)
        yield Slot(
            index=index,
            kind=ARTICLE,
            head=ARTICLE_HEAD,
            words=(indefinite, "the", DELETE),
            written="the" if ARTICLES[word.lower()] == "the" else indefinite,
            span=sentence.spans[index],
            target=word,
        )


def _article_gaps(sentence: Sentence) -> Iterator[Slot]:
    for phrase in noun_phrases(sentence):
        if phrase.article_at is None and phrase.closed in WITHOUT_ARTICLE and not _is_quoted(sentence, phrase.start):
            indefinite = _indefinite(sentence, phrase.start)
            yield _gap(sentence, phrase.start, ARTICLE, ARTICLE_GAP_HEAD, (indefinite, "the", DELETE))


def _is_quoted(sentence: Sentence, index: int) -> bool:
    """Whether a quotation mark separates a word from its determiner: *an "episode"*, *an "old" friend*."""
    before = sentence.tags[max(0, index - LONGEST_QUOTED) : index - 1] if index else ()
    return index > 0 and sentence.words[index - 1] in QUOTES and not DETERMINERS.isdisjoint(before)


def _indefinite(sentence: Sentence, index: int, written: str = "") -> str:
    """*a* or *an* before a word, ignoring quotation marks; as written if either is acceptable."""
    following = next((word for word in sentence.words[index:] if any(map(str.isalnum, word))), "")
    is_free = not following or may_take_either_article(following)
    return written.lower() if is_free and written.lower() in ("a", "an") else indefinite_article(following)


def _numbers(sentence: Sentence) -> Iterator[Slot]:
    for chunk in sentence.chunks:
        word = sentence.words[chunk.head]
        if chunk.kind != "NP" or sentence.tags[chunk.head] not in NOUNS or not word.isalpha():
            continue
        if len(word) < SHORTEST_NOUN or not _is_plain(sentence, chunk.head):
            continue
        forms = _noun_forms(word.lower())
        if forms is not None:
            yield _inflected(sentence, chunk.head, NUMBER, NUMBER_HEAD, forms)


def _is_plain(sentence: Sentence, index: int) -> bool:
    """Whether a word's capitals do not mark a name: unlike *Windows*, *the APIs*, *a GET request*."""
    word = sentence.words[index]
    return (word[1:].islower() and (index == 0 or word[0].islower())) or word.islower() or _is_all_capitals(sentence)


def _is_all_capitals(sentence: Sentence) -> bool:
    return all(word.isupper() for word in sentence.words if word.isalpha())


@lru_cache(maxsize=16_384)
def _noun_forms(small: str) -> tuple[str, str] | None:
    """Singular and plural; None if there is no choice."""
    number = number_of(small)
    if number == "either" or (number == "singular" and is_mass(small)) or small in BOTH_NUMBERS:
        return None
    forms = (singular(small), small) if number == "plural" else (small, plural(small))
    is_choice = forms[0] != forms[1] and number_of(forms[0]) == "singular" and is_word(forms[0])
    return forms if is_choice else None


def _inflected(
    sentence: Sentence, index: int, kind: str, head: Head, words: tuple[str, ...], *, has_to: bool = False
) -> Slot:
    word = sentence.words[index]
    first = sentence.words[index - 1] + " " if has_to else ""
    start = sentence.spans[index - 1].start if has_to else sentence.spans[index].start
    return Slot(
        index=index,
        kind=kind,
        head=head,
        words=words,
        written=(first + word).lower(),
        span=Span(start, sentence.spans[index].end),
        target=first + word,
    )


def _verbs(sentence: Sentence) -> Iterator[Slot]:
    for index, tag in enumerate(sentence.tags):
        small = sentence.words[index].lower()
        if tag not in VERBS or not _is_asked(small) or _is_to_apart(sentence, index):
            continue
        if not _is_plain(sentence, index) or (index == 0 and small in INVERTED):
            continue
        if (tag == "VBP" or small == "were") and index and sentence.words[index - 1].lower() in GROUPS:
            continue
        forms = _verb_words(sentence, index, small)
        is_after_to = index > 0 and sentence.words[index - 1].lower() == "to"
        has_to = is_after_to and tag in OF_INFINITIVES and small == forms[0]
        if (is_after_to and not has_to) or _is_after_gonna(sentence, index):
            forms = (forms[0], forms[0], *forms[2:])  # *to goes*, *gonna go*: its *to* stands already
        if small in forms:
            slot = _inflected(sentence, index, VERB_FORM, VERB_HEAD, forms, has_to=has_to)
            yield _tensed(slot) if tag in FINITE else slot


def _tensed(slot: Slot) -> Slot:
    words = dict(zip(FORMS, slot.words, strict=True))
    present, past = frozenset((words["present"], words["s"])), frozenset((words["past"], words["past_plural"]))
    if (slot.written in present) == (slot.written in past):
        return slot
    is_past = slot.written in past
    own, other = (past, present) if is_past else (present, past)
    return replace(slot, own_tense=own, other_tense=other - own, is_past=is_past)


@lru_cache(maxsize=16_384)
def _is_asked(small: str) -> bool:
    """Whether a word is a form of exactly one known verb, whose forms differ."""
    base = verb_base(small, "VB")
    is_asked = len(small) > 1 and small.isalpha() and small not in UNASKED and base == verb_base(small, "VBD")
    return is_asked and is_word(verb_forms(base).ing)


def _is_after_gonna(sentence: Sentence, index: int) -> bool:
    before = [word.lower() for word in sentence.words[max(0, index - 2) : index]]
    return not WITH_TO.isdisjoint((*before[-1:], "".join(before)))


def _is_to_apart(sentence: Sentence, index: int) -> bool:
    """Whether adverbs separate *to* from its verb."""
    before = index - 1
    while before >= 0 and sentence.tags[before].startswith("RB"):
        before -= 1
    return 0 <= before < index - 1 and sentence.words[before].lower() == "to"


def _verb_words(sentence: Sentence, index: int, small: str) -> tuple[str, ...]:
    """The forms of the verb; the writer's spelling is used for a form with two spellings."""
    tag = sentence.tags[index]
    words = dict(zip(FORMS, surfaces(verb_forms(verb_base(small, tag))), strict=True))
    if words["base"] == "be":
        is_beside_i = sentence.words[index - 1] == "I" if index else sentence.words[1:2] == ("I",)
        words["present"] = "am" if is_beside_i else "are"
    if (small not in words.values() or small in SECOND_FORMS) and tag in ("VBD", "VBN", "VBG"):
        names = {"VBG": ("ing",)}.get(tag, ("past", "past_plural", "participle"))
        words |= dict.fromkeys(names, small)
    return tuple(words.values())
