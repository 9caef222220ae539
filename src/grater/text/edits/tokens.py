"""The words of a sentence as the alignment and the types of edits look at them.

A word's *category* is the part of speech of Universal Dependencies as Bryant, Felice and Briscoe 2017 use it (their
table 2), made from our tagger's Penn Treebank tag by a table: adpositions are `PREP`; the infinitive's *to*, the
particles of phrasal verbs and the genitive's *'s* are `PART`; modals are `VERB`.

ERRANT asks a parser which verbs are auxiliaries.  Here a modal is one, and a form of *be*, *have* or *do* that
another verb follows in its verb chunk (adverbs and *not* may stand between, and the subject of a question).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from grater.text.lemmas import lemma

CATEGORIES = {
    **dict.fromkeys(("JJ", "JJR", "JJS", "AFX"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB", "EX"), "ADV"),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "GW", "ADD"), "NOUN"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"), "VERB"),
    **dict.fromkeys(("DT", "PDT", "PRP$", "WDT", "WP$"), "DET"),
    **dict.fromkeys(("PRP", "WP"), "PRON"),
    **dict.fromkeys(("TO", "RP", "POS"), "PART"),
    **dict.fromkeys((".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP", "LS"), "PUNCT"),
    **dict.fromkeys(("$", "SYM"), "SYM"),
    "IN": "PREP",
    "CC": "CONJ",
    "CD": "NUM",
    "UH": "INTJ",
}
PHRASAL = {**dict.fromkeys(("PDT", "WDT", "WP$"), "ADJ"), "WP": "NOUN"}
CONTENT = frozenset({"ADJ", "ADV", "NOUN", "VERB"})
HELPERS = frozenset({"be", "have", "do"})
BETWEEN = frozenset({"RB", "RBR", "RBS", "PRP", "DT"})
MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~–—‘’“”…·•«»") | {"''", "``", "...", "--", "---"}


@dataclass(frozen=True)
class Words:
    """One side of a pair: its words with their tags."""

    texts: tuple[str, ...]
    tags: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def lower(self) -> tuple[str, ...]:
        return tuple(text.lower() for text in self.texts)

    def lemmas(self, start: int, end: int) -> tuple[str, ...]:
        return tuple(map(lemma, self.texts[start:end], self.tags[start:end]))

    def categories(self, start: int, end: int) -> tuple[str, ...]:
        return tuple(map(category, self.texts[start:end], self.tags[start:end]))

    def phrasal(self, start: int, end: int) -> tuple[str, ...]:
        """Categories as merging takes them: *which* and *whose* with adjectives, *who* and *what* with nouns."""
        return tuple(map(phrasal, self.texts[start:end], self.tags[start:end]))

    def is_auxiliary(self, index: int) -> bool:
        """Whether a verb helps another one that follows."""
        if self.tags[index] == "MD":
            return True
        helper = lemma(self.texts[index], self.tags[index])
        if helper not in HELPERS or category(self.texts[index], self.tags[index]) != "VERB":
            return False
        return self._verb_follows(index, helper)

    def _verb_follows(self, index: int, helper: str) -> bool:
        wanted = FOLLOWS[helper]
        for after in range(index + 1, min(index + 5, len(self.tags))):
            tag = self.tags[after]
            if tag in wanted:
                return True
            if tag not in BETWEEN and category(self.texts[after], tag) not in ("ADV", "PRON"):
                return False
        return False


FOLLOWS = {
    "be": frozenset({"VBG", "VBN", "VBD"}),
    "have": frozenset({"VBN", "VBD"}),
    "do": frozenset({"VB", "VBP"}),
}


def category(text: str, tag: str) -> str:
    if text in MARKS:
        return "CONJ" if text == "&" else "PUNCT"
    return CATEGORIES.get(tag, "X")


def phrasal(text: str, tag: str) -> str:
    return PHRASAL.get(tag) or category(text, tag)


def words_of(texts: Sequence[str], tags: Sequence[str]) -> Words:
    return Words(tuple(texts), tuple(tags))
