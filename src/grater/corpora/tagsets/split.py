"""Two broad NUCLE tags told apart by the words of the edit: prepositions in `Wcip`, articles in `Rloc`.

Dahlmeier, Ng and Wu 2013, section 5: the bulk of `Wcip` are prepositions, and many local redundancies are articles;
the paper looked by hand and gives no rule.  Ours: take the words of the span and of the first correction, in small
letters, and drop those that both have; what is left has changed.  If all that has changed are prepositions it is
`Wcip/prep`; if all are articles it is `Rloc/article`; else, and where nothing changed or no correction is given, it
is `/other`.  Measured on the CoNLL-2014 test essays, whose annotators told the two apart themselves: 541 of 601
`Prep` edits come out as prepositions and 809 of 819 `Wci` edits as other; those missed are mostly particles (*out*,
*up*) and prepositions outside the 34 (*regarding*, *throughout*).

Edge cases: a span that starts or ends inside a word is read with the whole word.  Words have no tags here, so the
*to* of an infinitive counts as a preposition.  The CoNLL-2014 tag `Rloc-` is split in the same way; other tags stay
as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from grater.model import Edit, Span
from grater.text.prepositions import canonical

WORD = re.compile(r"\w+(?:['’]\w+)*")
ARTICLES = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class Changed:
    """The words that an edit takes out and those that it puts in."""

    removed: tuple[str, ...]
    added: tuple[str, ...]

    def all_are(self, kind: Callable[[str], bool]) -> bool:
        """Whether something has changed, and every word of it is of the kind."""
        words = self.removed + self.added
        return bool(words) and all(kind(word) for word in words)


def changed_words(edit: Edit, text: str) -> Changed:
    """What is left of span and first correction, in small letters, once the words that both have are dropped."""
    if not edit.replacements:
        return Changed((), ())
    span = _grown(edit.span, text)
    before = _words(span.of(text))
    after = _words(text[span.start : edit.span.start] + edit.replacements[0] + text[edit.span.end : span.end])
    return Changed(tuple((before - after).elements()), tuple((after - before).elements()))


def _words(text: str) -> Counter[str]:
    return Counter(WORD.findall(text.lower()))


def _grown(span: Span, text: str) -> Span:
    """The span with the words whole that it cuts."""
    start, end = span.start, span.end
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return Span(start, end)


def is_article(word: str) -> bool:
    return word in ARTICLES


def is_preposition(word: str) -> bool:
    return canonical(word) is not None


KINDS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "Wcip": ("prep", is_preposition),
    "Rloc": ("article", is_article),
    "Rloc-": ("article", is_article),
}


def split(edit: Edit, text: str) -> str:
    """The tag with its half: `Wcip/prep`, `Wcip/other`, `Rloc/article`, `Rloc/other`; any other tag as it is."""
    if edit.tag not in KINDS:
        return edit.tag
    name, kind = KINDS[edit.tag]
    half = name if changed_words(edit, text).all_are(kind) else "other"
    return f"{edit.tag}/{half}"
