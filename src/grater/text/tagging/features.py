"""What the tagger looks at: features of a word, seen from its own place and from its neighbours'.

Every feature is a short string; its first character names the family, so two families never share a weight.

- The word itself: as written (`w`), in lower case (`l`), its last one to four letters (`1` to `4`), its first one to
  three (`a` to `c`), its shape (`s`), its shape at the start of a sentence (`S`), what follows its last hyphen (`h`).
- A word one or two places away: in lower case, and for the next and the previous one also its last three letters
  and its shape.  The family is the place (`p`, `q` before; `n`, `o` after) and the kind.
- For every place the clusters of the word (`k`; see `clustering`).

In lower case, digits become 0, so that one year is like another.  The shape writes X for capitals, x for other
letters, 0 for digits, and every other character as it is, a run as one.
"""

from __future__ import annotations

import re
from typing import Protocol

EDGE = "\n"
"""Stands before the first and after the last word; no token can hold it."""

LONGEST = 40
"""Letters of a word that count; a longer one is a URL or noise."""

SMILE = ":)"
PICTURE = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")
DIGIT = re.compile(r"\d")
UPPER = re.compile(r"[A-ZÀ-ÖØ-Þ]+")
LOWER = re.compile(r"[^\W\d_A-ZÀ-ÖØ-Þ]+")
DIGITS = re.compile(r"\d+")


def lower(word: str) -> str:
    """A word in lower case with its digits made equal: the form in which neighbours and pairs see it."""
    return DIGIT.sub("0", word[:LONGEST].lower())


def shape(word: str) -> str:
    word = word[:LONGEST]
    return DIGITS.sub("0", UPPER.sub("X", LOWER.sub("x", word)))[:8]


class WordClasses(Protocol):
    """Knows the features of words that are used alike (`clusters`)."""

    def features(self, small: str) -> list[str]: ...


def own_features(word: str, classes: WordClasses, *, is_first: bool) -> list[str]:
    """The features of a word for its own tag."""
    word = _plain(word)
    small, form = lower(word), shape(word)
    found = ["w" + word[:LONGEST], "l" + small, "s" + form, ("S" if is_first else "t") + form[:2]]
    found += [str(n) + small[-n:] for n in range(1, 5)]
    found += [family + small[:n] for n, family in enumerate("abc", 1)]
    if "-" in small[1:]:
        found.append("h" + small.rpartition("-")[2])
    return found + classes.features(small)


def near_features(word: str, classes: WordClasses, place: str) -> list[str]:
    """The features of a word for the tag of a neighbour: `p` and `q` stand before it, `n` and `o` after."""
    word = _plain(word)
    small = lower(word)
    found = ["l" + small, *classes.features(small)]
    if place in "pn":
        found += ["3" + small[-3:], "s" + shape(word)]
    return [place + feature for feature in found]


def _plain(word: str) -> str:
    """Every picture is a smile: treebanks have smiles, and hardly a picture."""
    return SMILE if PICTURE.match(word) else word
