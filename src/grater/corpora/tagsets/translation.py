"""What a tag of one set is called in another, and what is lost on the way.

The tables stand in `maps`; where there is none from set to set, `ROUTES` chains two.  A map of tags alone often gives
several: only the words of the edit can tell which of them it is.  `translate_edit` looks at them, as far as words
without tags go (prepositions, articles, what is missing or too many).

`split` tells two broad NUCLE tags apart by the words of the edit: prepositions in `Wcip`, articles in `Rloc`.
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
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grater.corpora.tagsets import maps
from grater.corpora.tagsets.maps import Mapped, exact, nothing
from grater.corpora.tagsets.tagset import TAGSETS
from grater.corpora.text.prepositions import canonical
from grater.model import Edit, Span

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


BY_WORDS: dict[str, Callable[[str], bool]] = {"Prep": is_preposition, "ArtOrDet": is_article}
"""The tags of CoNLL-2014 that closed classes of words decide where a NUCLE tag could be one of several."""

ROUTES: dict[tuple[str, str], tuple[Mapping[str, Mapped], ...]] = {
    ("nucle", "conll14"): (maps.CONLL14_FROM_NUCLE,),
    ("nucle", "errant"): (maps.CONLL14_FROM_NUCLE, maps.ERRANT_FROM_CONLL14),
    ("conll14", "nucle"): (maps.NUCLE_FROM_CONLL14,),
    ("conll14", "errant"): (maps.ERRANT_FROM_CONLL14,),
    ("errant", "conll14"): (maps.CONLL14_FROM_ERRANT,),
    ("errant", "nucle"): (maps.CONLL14_FROM_ERRANT, maps.NUCLE_FROM_CONLL14),
    ("errant", "clc"): (maps.CLC_FROM_ERRANT,),
    ("clc", "conll14"): (maps.CONLL14_FROM_CLC,),
    ("clc", "nucle"): (maps.CONLL14_FROM_CLC, maps.NUCLE_FROM_CONLL14),
    ("clc", "errant"): (maps.ERRANT_FROM_CLC,),
}


def translate(tag: str, source: str, target: str) -> Mapped:
    """What `tag` of the set named `source` is in the set named `target`; unknown names are an error."""
    return _follow(tag, source, target, lambda mapped: mapped)


def translate_edit(edit: Edit, text: str, source: str, target: str) -> Mapped:
    """As `translate`, with the words of the edit to choose among several tags where they can."""
    changed = changed_words(edit, text)
    return _follow(edit.tag, source, target, lambda mapped: _chosen(mapped, changed))


def _follow(tag: str, source: str, target: str, choose: Callable[[Mapped], Mapped]) -> Mapped:
    mapped = exact(TAGSETS[source][tag].code)
    if TAGSETS[source] is TAGSETS[target]:
        return mapped
    if (source, target) not in ROUTES:
        return nothing(f"there is no map from {source} to {target}")
    for table in ROUTES[source, target]:
        mapped = choose(_onward(mapped, table))
    return mapped


def _onward(mapped: Mapped, table: Mapping[str, Mapped]) -> Mapped:
    """The next step of a chain: the codes of all candidates, and the reasons of both steps."""
    if mapped.relation == "none":
        return mapped
    steps = [table[code] for code in mapped.codes]
    codes = tuple(dict.fromkeys(code for step in steps for code in step.codes))
    reasons = dict.fromkeys(reason for reason in (mapped.reason, *(step.reason for step in steps)) if reason)
    reason = "; ".join(reasons)
    if not codes:
        return nothing(reason)
    if len(codes) > 1:
        return Mapped("split", codes, reason)
    is_exact = mapped.relation == "exact" and steps[0].relation == "exact"
    return Mapped("exact" if is_exact else "broader", codes, "" if is_exact else reason)


def _chosen(mapped: Mapped, changed: Changed) -> Mapped:
    fits = tuple(code for code in mapped.codes if _fits(code, mapped.codes, changed))
    return Mapped("broader", fits, mapped.reason) if mapped.relation == "split" and len(fits) == 1 else mapped


def _fits(code: str, among: tuple[str, ...], changed: Changed) -> bool:
    """Whether the changed words speak for this code of several; a code that words say nothing of always fits."""
    letter, colon, _ = code.partition(":")
    if colon:
        return letter == _operation(changed)
    if code in BY_WORDS:
        return changed.all_are(BY_WORDS[code])
    rivals = [BY_WORDS[rival] for rival in among if rival in BY_WORDS]
    return not any(changed.all_are(kind) for kind in rivals)


def _operation(changed: Changed) -> str:
    """ERRANT's letter for what the edit does; none where no word changes."""
    if changed.removed and changed.added:
        return "R"
    return "M" * bool(changed.added) + "U" * bool(changed.removed)
