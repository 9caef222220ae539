"""What a tag of one set is called in another, and what is lost on the way.

The tables stand in `maps`; where there is none from set to set, `ROUTES` chains two.  A map of tags alone often gives
several: only the words of the edit can tell which of them it is.  `translate_edit` looks at them, as far as words
without tags go (prepositions, articles, what is missing or too many).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grater.corpora.tagsets import maps
from grater.corpora.tagsets.maps import Mapped, exact, nothing
from grater.corpora.tagsets.split import Changed, changed_words, is_article, is_preposition
from grater.corpora.tagsets.tagset import TAGSETS
from grater.model import Edit

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
