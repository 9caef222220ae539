"""A system's marks offered to the annotators of an essay: to accept, change or reject.

A condition of a marking job, not its default: whoever is shown marks may take more of them than they would have made,
and overlook what is not marked.  So the job says that it is on, every marking says whether it was shown, and what
became of each suggestion is stored.  With a share below 1 each annotator sees the suggestions of some essays and not
of others, drawn from the study's key, which makes the comparison a fair one (`grater.measure.evaluation.offered`).

The marks are those of the system when the job was made, kept with the unit:
`{"suggestions": {"system": "prep-lm", "share": 0.5, "marks": [{"start": 3, "end": 5, "tag": "Wcip", ...}]}}`.  They
reach a page only where the lease says so (`Shown.kept`).

What becomes of a suggestion: `accepted` as it was; `changed`, where the annotator's mark that came of it differs in
its words, tag or correction; `rejected`; or `left`, neither taken nor rejected.  A mark that came of none is the
annotator's `own`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from grater.annotate.tasks.form import FORM
from grater.annotate.tasks.task import Rng, Unit
from grater.corpora.tagsets import TagSet
from grater.errors import BadInput, Problem
from grater.model import DELETE, Decision, Edit, Fate, Item, Json, Span, Suggestion

SUGGESTIONS, SUGGESTED, NUMBER, REJECTED = "suggestions", "suggested", "suggestion", "rejected"
OWN = "own"

TAG_OF_KIND: Mapping[str, tuple[str, ...]] = {
    "prep": ("Wcip", "R:PREP", "RT"),
    "prep-missing": ("Wcip", "M:PREP", "MT"),
    "prep-extraneous": ("Wcip", "U:PREP", "UT"),
    "prep-confused": ("Wcip", "R:PREP", "RT"),
    "article": ("ArtOrDet", "R:DET", "RD"),
    "article-missing": ("ArtOrDet", "M:DET", "MD"),
    "number": ("Nn", "R:NOUN:NUM", "AGN"),
    "verb-form": ("Vform", "R:VERB:FORM", "FV"),
    "collocation": ("Wcip", "R:OTHER", "CL"),
}
"""The tag of an item's kind in each tag set that has one; a decision's own type comes first where it is a tag."""


def suggestion_of(item: Item, decision: Decision, text: str, tags: TagSet) -> Suggestion | None:
    """The mark that a flag comes to; None where the tag set has no tag for it."""
    tag = next((code for code in (decision.type, *TAG_OF_KIND.get(item.kind, ())) if code in tags), None)
    if tag is None:
        return None
    return Suggestion(span=item.span, tag=tag, replacements=_words(decision.suggestion, item.span.of(text)))


def _words(suggestion: str | None, written: str) -> tuple[str, ...]:
    if suggestion is None:
        return ()
    if suggestion == DELETE:
        return ("",) if written else ()
    return (suggestion[0].upper() + suggestion[1:] if written[:1].isupper() else suggestion,)


def payload_of(system: str, share: float, suggestions: Sequence[Suggestion]) -> dict[str, Json]:
    """What a unit keeps of them."""
    return {
        SUGGESTIONS: {"system": system, "share": share, "marks": [suggestion.as_json() for suggestion in suggestions]}
    }


def suggestions_of(unit: Unit) -> tuple[Suggestion, ...]:
    """What a unit could offer, whether it is shown or not."""
    return tuple(_read(mark) for mark in cast("list[Mapping[str, Json]]", _kept(unit).get("marks") or ()))


def system_of(unit: Unit) -> str:
    """Whose suggestions they are; empty for a unit without the condition."""
    return str(_kept(unit).get("system") or "")


def draw_condition(unit: Unit, *, rng: Rng) -> dict[str, Json]:
    """Whether suggestions are shown, as the server keeps it with the lease; nothing for a unit without them."""
    share = _kept(unit).get("share")
    return {SUGGESTED: bool(rng.random() < cast(float, share))} if share is not None else {}


def record(
    unit: Unit, rows: Sequence[Mapping[str, object]], edits: Sequence[Edit], rejected: object, *, is_shown: bool
) -> dict[str, Json]:
    """What an answer says of its condition: `fates` by suggestion, `origins` by mark."""
    offered = suggestions_of(unit)
    condition: dict[str, Json] = {"system": system_of(unit), "shown": is_shown}
    if not is_shown:
        return condition
    numbers = [row.get(NUMBER) for row in rows]
    turned_down = rejected if isinstance(rejected, list) else [None]
    for number in [number for number in [*numbers, *turned_down] if number is not None]:
        if type(number) is not int or not 0 <= number < len(offered):
            raise BadInput(
                Problem(FORM, f"edits: expected a suggestion from 0 to {len(offered) - 1}, found {number!r}")
            )
    origins: list[Json] = [_origin(number, edit, offered) for number, edit in zip(numbers, edits, strict=True)]
    fates: list[Json] = [_fate(number, numbers, origins, turned_down) for number in range(len(offered))]
    return {**condition, "fates": fates, "origins": origins}


def _origin(number: object, edit: Edit, offered: Sequence[Suggestion]) -> str:
    if not isinstance(number, int):
        return OWN
    return "accepted" if offered[number].is_made_by(edit) else "changed"


def _fate(number: int, numbers: Sequence[object], origins: Sequence[Json], rejected: Sequence[object]) -> Fate:
    taken = [origin for its, origin in zip(numbers, origins, strict=True) if its == number]
    if taken:
        return "accepted" if "accepted" in taken else "changed"
    return "rejected" if number in rejected else "left"


def _kept(unit: Unit) -> Mapping[str, Json]:
    kept = unit.payload.get(SUGGESTIONS)
    return kept if isinstance(kept, Mapping) else {}


def _read(mark: Mapping[str, Json]) -> Suggestion:
    return Suggestion(
        span=Span(cast(int, mark["start"]), cast(int, mark["end"])),
        tag=str(mark["tag"]),
        replacements=tuple(cast("list[str]", mark["replacements"])),
    )
