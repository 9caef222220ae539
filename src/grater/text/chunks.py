"""Noun and verb chunks with their heads, from words and Penn tags.

In the manner of the CoNLL-2000 shared task (Tjong Kim Sang & Buchholz): phrases without what follows their head,
never nested.  Each tag becomes one letter, and two patterns are searched for in the string of letters.

- NP: determiner, modifiers and nouns up to the last noun, the head (*a very big dog*); a pronoun; a determiner or
  number alone (*this*, *two*); determiner and adjective (*the poor*).  The clitic of the genitive starts a chunk of
  its own (*the boy* + *'s dog*), so that one chunk has one determiner; so does a noun of time (*school* +
  *yesterday*).
- VP: auxiliaries, *not* and adverbs between them, and a verb, the head (*has not really been seen*); an infinitive
  with its *to* is a chunk of its own (*wants* + *to go*).

The head is always the last word.  Nothing depends on articles, agreement or punctuation, so chunks hold on text with
such errors.  Departures from CoNLL-2000: *wants to go* is one chunk there; adverbs before the first verb are inside
it there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LETTERS = {
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS"), "n"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "j"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "r"),
    **dict.fromkeys(("VB", "VBD", "VBP", "VBZ"), "v"),
    **dict.fromkeys(("PRP$", "WP$"), "s"),
    **dict.fromkeys(("PRP", "EX", "WP"), "h"),
    **dict.fromkeys(("DT", "WDT"), "d"),
    **dict.fromkeys(("HYPH", "AFX"), "y"),
    **dict.fromkeys(("FW", "GW"), "f"),
    **dict(zip(("PDT", "POS", "CD", "$", "CC", ",", "VBN", "VBG", "MD", "TO"), "poc$k,mgat", strict=True)),
}
_AUXILIARIES = (
    "be am is are was were been being 'm 're 's ’m ’re ’s have has had having 've 'd ’ve ’d do does did "
    "dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt"
)
OF_WORDS = {
    **{(word, letter): "x" for word in _AUXILIARIES.split() for letter in "vmg"},
    **{(word, "n"): "u" for word in ("yesterday", "today", "tomorrow", "tonight")},
}
"""Letters that depend on the word as well: auxiliaries (x) and nouns of time (u)."""

FIRST = r"(?:r{0,3}j|[cnuf$])"
MORE = r"(?:r{0,3}[jmg]|[cnf$y]|(?<=j)(?:,|,?k)(?=r{0,3}j))"  # the last for *big and heavy*
NOUN_CHUNK = rf"p?(?:[dso]{MORE}{{0,40}}|{FIRST}{MORE}{{0,40}})?n|p?[dso]?\$?c{{1,40}}|[ds]r?j{{1,40}}|p?d|h|p|o?u"
VERB_CHUNK = r"tr{0,3}(?:[ax]r{0,3}){0,6}[vmgax]|(?:[ax]r{0,3}){0,6}[vmgax]"
PATTERN = re.compile(rf"(?P<NP>{NOUN_CHUNK})|(?P<VP>{VERB_CHUNK})")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A noun or verb phrase up to its head: token indices within the sentence, half-open."""

    kind: str
    start: int
    end: int
    head: int


def chunks(words: Sequence[str], tags: Sequence[str]) -> tuple[Chunk, ...]:
    """The chunks of a sentence, in order and disjoint."""
    letters = [LETTERS.get(tag, ".") for tag in tags]
    for index, letter in enumerate(letters):
        if letter in "vmgn":
            letters[index] = OF_WORDS.get((words[index].lower(), letter), letter)
    found: list[Chunk] = []
    for match in PATTERN.finditer("".join(letters)):
        start, end = match.span()
        found.append(Chunk(match.lastgroup or "", start, end, end - 1))
    return tuple(found)
