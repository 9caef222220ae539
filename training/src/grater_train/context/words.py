"""Every word type of the training text, with what it may be turned into.

Noise works on numbers of word types, so that a batch is corrupted by looking things up: which preposition or article
a word is, its other number, the forms of its verb, a misspelling, and the pieces it is cut into.  Types that only
noise makes (*informations*, *to spended*) are added to those of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from grater.corpora.text.inflect import indefinite_article, plural, singular
from grater.corpora.text.prepositions import PREPOSITIONS, canonical
from grater.corpora.text.verbs import verb_base, verb_forms
from grater.detect.context.heads import FORMS, surfaces

PADDING, MASK, TO = 0, 1, 2
FIRST = ("<pad>", "<mask>", "to", "a", "an", "the", "A", "An", "The", "am")
AM = FIRST.index("am")
ARTICLES = {"a": 0, "an": 0, "the": 1}
RAREST = 3
"""A type seen less often is left as it is."""

FUNCTION_WORDS = (
    "he she it they we you I",
    "him her it them us me",
    "his her its their our your my",
    "this that these those",
    "and but or so because",
    "which who that what",
    "will would can could may might should must",
    "much many more most",
    "some any no every each",
    "very too so quite",
    "when while if although",
    "there here",
)

EXTRA_AFTER = """
about: discuss mention describe explain consider debate doubt explore express highlight question raise recall
analyse analyze; to: reach enter visit contact approach attend call phone answer affect influence face follow
join help tell ask advise inform inspire thank obey suit resemble accompany address allow assist benefit cause
challenge damage encourage force give influence involve meet oppose pay persuade prevent promote remind satisfy
serve show support teach access; with: marry accompany contact face meet combat fight greet resemble share
involve confront encounter tackle; on: emphasize emphasise stress affect impact influence attend study research
practise practice inspect rate tackle; of: lack consider comprise need remember despite besides inside outside
most some many several few various enough worth fear regret suspect taste; for: request demand seek order await
need lack deserve want benefit support help prepare cost describe; into: enter investigate research invade;
from: leave escape lack quit benefit exit near suffer; in: enter visit attend join reach invest influence
increase reduce access improve; at: attend visit reach ring target; against: oppose resist combat fight prohibit
prevent; towards: approach
"""
"""The prepositions that learners put in after verbs (in any form) and a few other words that take none."""

EXTRA_BEFORE = """
to: home abroad outside inside upstairs downstairs downtown overseas there here somewhere anywhere everywhere
nowhere; at: home abroad there here last next today tonight yesterday tomorrow; in: abroad outside overseas
there here last next every today tomorrow yesterday nowadays; on: next last every today tomorrow yesterday;
since: yesterday
"""
"""The prepositions that learners put in before adverbs of place and time."""


@dataclass(frozen=True, slots=True, eq=False)
class WordTables:
    """One row for each type: numbers of types, 0 where there is none.

    `preposition` and `article` are -1 for other words; `number` is (singular, plural); `verb` is a row of
    `paradigms`, whose columns are the eight answers of the verb head, for a word that is no past and for one that is
    (*found* and *find*).  `extra_after` and `extra_before` are rows of `habits`: the shares of the prepositions that
    learners put in after or before the word (*discuss about*, *to home*).  `written` gives the type of each
    preposition, small and capital.
    """

    types: tuple[str, ...]
    preposition: NDArray[np.int8]
    article: NDArray[np.int8]
    number: NDArray[np.int32]
    verb: NDArray[np.int32]
    paradigms: NDArray[np.int32]
    misspelt: NDArray[np.int32]
    confused: NDArray[np.int32]
    capital: NDArray[np.int32]
    begins_with_vowel: NDArray[np.bool_]
    extra_after: NDArray[np.int32]
    extra_before: NDArray[np.int32]
    habits: NDArray[np.float32]
    written: NDArray[np.int32]


class _Types:
    """Numbers for words, given out as they come."""

    def __init__(self, words: Iterable[str]) -> None:
        self.numbers: dict[str, int] = {}
        for word in words:
            self(word)

    def __call__(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers))


def word_tables(counts: Mapping[str, int], *, seed: int = 0) -> WordTables:
    """The tables of a text's words; types keep the order of `counts` after those that noise needs first."""
    types = _Types([*FIRST, *_both_cases(PREPOSITIONS), *counts])
    common = [word for word in counts if counts[word] >= RAREST and word.isalpha() and word.isascii()]
    small = [word for word in common if word.islower()]
    numbers = {types(word): (types(singular(word)), types(plural(word))) for word in small}
    verbs, paradigms = _verbs(small, types)
    random = Random(seed)
    misspelt = {types(word): types(misspell(word, random)) for word in common if len(word) > 3}
    confused = _confused(types)
    capital = {types(word): types(word.capitalize()) for word in small}
    words = tuple(types.numbers)
    n = len(words)
    habits, after, before = _habits(words)
    return WordTables(
        types=words,
        preposition=np.array([_preposition(word) for word in words], dtype=np.int8),
        article=np.array([ARTICLES.get(word.lower(), -1) for word in words], dtype=np.int8),
        number=_table(n, 2, numbers),
        verb=_table(n, 2, verbs),
        paradigms=np.array(paradigms, dtype=np.int32),
        misspelt=_table(n, 1, {key: (value,) for key, value in misspelt.items()})[:, 0],
        confused=_table(n, 1, {key: (value,) for key, value in confused.items()})[:, 0],
        capital=_table(n, 1, {key: (value,) for key, value in capital.items()})[:, 0],
        begins_with_vowel=np.array([bool(word) and indefinite_article(word) == "an" for word in words]),
        extra_after=after,
        extra_before=before,
        habits=habits,
        written=np.array([[types(word), types(word.capitalize())] for word in PREPOSITIONS], dtype=np.int32),
    )


def _both_cases(words: Iterable[str]) -> list[str]:
    return [form for word in words for form in (word, word.capitalize())]


def _preposition(word: str) -> int:
    name = canonical(word)
    return -1 if name is None else PREPOSITIONS.index(name)


def _table(n: int, width: int, rows: Mapping[int, Sequence[int]]) -> NDArray[np.int32]:
    table = np.zeros((n, width), dtype=np.int32)
    for number, row in rows.items():
        table[number] = row
    return table


def _verbs(words: Iterable[str], types: _Types) -> tuple[dict[int, tuple[int, int]], list[list[int]]]:
    """The rows of each word in the list of paradigms, the first of which is empty."""
    paradigms = [[0] * len(FORMS)]
    numbers: dict[str, int] = {}

    def row_of(base: str) -> int:
        if base not in numbers:
            numbers[base] = len(paradigms)
            written = surfaces(verb_forms(base))
            paradigms.append([types(form.removeprefix("to ")) for form in written])
        return numbers[base]

    rows = {types(word): (row_of(verb_base(word)), row_of(verb_base(word, "VBD"))) for word in words}
    return rows, paradigms


def _confused(types: _Types) -> dict[int, int]:
    """The next word of the same class, in turn."""
    groups = [line.split() for line in FUNCTION_WORDS]
    return {types(word): types(group[(at + 1) % len(group)]) for group in groups for at, word in enumerate(group)}


def _habits(words: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int32]]:
    """Shares of prepositions, the first row empty; for each word the rows of what is put in after and before it."""
    shares = [np.zeros(len(PREPOSITIONS), np.float32)]
    rows: list[dict[str, int]] = []
    for listed in (EXTRA_AFTER, EXTRA_BEFORE):
        rows.append({})
        for base, prepositions in _listed(listed).items():
            row = np.zeros(len(PREPOSITIONS), np.float32)
            row[[PREPOSITIONS.index(name) for name in prepositions]] = 1 / len(prepositions)
            rows[-1] |= dict.fromkeys((base, *surfaces(verb_forms(base))), len(shares))
            shares.append(row)
    after, before = (np.array([of.get(word, 0) for word in words], dtype=np.int32) for of in rows)
    return np.stack(shares), after, before


def _listed(listed: str) -> dict[str, list[str]]:
    """The prepositions of each word of a list."""
    prepositions: dict[str, list[str]] = {}
    for line in listed.replace("\n", " ").split(";"):
        name, _, words = line.strip().partition(":")
        for word in dict.fromkeys(words.split()):
            prepositions.setdefault(word, []).append(canonical(name) or name)
    return prepositions


def misspell(word: str, random: Random) -> str:
    """One letter dropped, doubled, swapped with the next or changed; the first letter stays."""
    at = random.randrange(1, len(word) - 1)
    way = random.randrange(4)
    if way == 0:
        return word[:at] + word[at + 1 :]
    if way == 1:
        return word[:at] + word[at] + word[at:]
    if way == 2:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return word[:at] + random.choice("aeiou" if word[at] in "aeiou" else "bcdfglmnprst") + word[at + 1 :]
