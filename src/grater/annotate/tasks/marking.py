"""Mark a whole essay: spans, tags, corrections, comments.

Dahlmeier, Ng and Wu 2013, sections 2-4. Spans are free, may overlap and may be empty; each annotation has one tag of
the study's set (the unit's `"tagset"`, by default NUCLE's 27), and a span may have several annotations. A correction
is required except for tags that cannot have one (`Um`, `Cit`, `Wa`). An essay that is too poor to correct is set
aside.

The form has `edits`, a JSON list of `{start, end, quote, tag, replacements, comment}`, and `set_aside`; where a
system's marks are offered, an edit based on one names its number in `suggestion`, and `rejected` lists the rejected
ones.

Offsets are code points. Every span comes with its quote, and is refused unless the text has those words there, which
detects browsers that count in other units. Departure: an empty `replacements` (found, not corrected) is accepted only
for tags that require none.

Gold is graded by the planted errors that were found: the accepted answers of the essay's one item are marks,
`120-124` or `120-124:Wcip`, and an essay is right when at least half of them were found. A mark is found if an edit
touches it (with its tag, if it has one).

**Suggestions** are a system's marks, offered to annotators to accept, change or reject.

They are off by default: people who see marks may accept more of them than they would have made, and overlook unmarked
errors. The job therefore records that suggestions are on, every marking whether they were shown, and the fate of each
suggestion. With a share below 1, each annotator sees the suggestions of some essays only, chosen at random from the
study's key, which makes a fair comparison possible (`grater.measure.evaluation.offered`).

The system's marks at the creation of the job are stored with the unit: `{"suggestions": {"system": "prep-lm",
"share": 0.5, "marks": [{"start": 3, "end": 5, "tag": "Wcip", ...}]}}`. They reach a page only if the lease says so
(`Shown.kept`).

A suggestion is `accepted` unchanged; `changed`, if the annotator's mark based on it differs in its words, tag or
correction; `rejected`; or `left`, neither accepted nor rejected. A mark not based on a suggestion is the annotator's
`own`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from grater.annotate.tasks.task import FORM, Accepted, Answer, Form, Rng, Shown, Subject, Unit, first
from grater.corpora.tagsets import TAGSETS, TagSet
from grater.errors import BadInput, Problem, Problems
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
    """The mark for a flag; None if the tag set has no tag for it."""
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
    """The suggestions as stored in a unit."""
    return {
        SUGGESTIONS: {"system": system, "share": share, "marks": [suggestion.as_json() for suggestion in suggestions]}
    }


def suggestions_of(unit: Unit) -> tuple[Suggestion, ...]:
    """The suggestions of a unit, shown or not."""
    return tuple(
        Suggestion(
            span=Span(cast(int, mark["start"]), cast(int, mark["end"])),
            tag=str(mark["tag"]),
            replacements=tuple(cast("list[str]", mark["replacements"])),
        )
        for mark in cast("list[Mapping[str, Json]]", _kept(unit).get("marks") or ())
    )


def record(
    unit: Unit, rows: Sequence[Mapping[str, object]], edits: Sequence[Edit], rejected: object, *, is_shown: bool
) -> dict[str, Json]:
    """What is stored about suggestions with an answer: `fates` by suggestion, `origins` by mark."""
    offered = suggestions_of(unit)
    # Whose suggestions they are; empty for a unit without the condition.
    condition: dict[str, Json] = {"system": str(_kept(unit).get("system") or ""), "shown": is_shown}
    if not is_shown:
        return condition
    numbers = [row.get(NUMBER) for row in rows]
    refused = rejected if isinstance(rejected, list) else [None]
    for number in [number for number in [*numbers, *refused] if number is not None]:
        if type(number) is not int or not 0 <= number < len(offered):
            raise BadInput(
                Problem(FORM, f"edits: expected a suggestion from 0 to {len(offered) - 1}, found {number!r}")
            )
    origins: list[Json] = [_origin(number, edit, offered) for number, edit in zip(numbers, edits, strict=True)]
    fates: list[Json] = [_fate(number, numbers, origins, refused) for number in range(len(offered))]
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


MARKED, CLEAN, SET_ASIDE = "marked", "clean", "set-aside"
DEFAULT_TAGSET = "nucle"
MOST_EDITS = 5000
LONGEST = 2000
SHARE_FOUND = 0.5
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What JSON can write and no page, file or database can hold: NUL, and half a surrogate pair."""

GUIDELINES = """\
Read the whole essay once before you mark anything. Then mark **every error**, whatever its kind, one by one.

- **Mark the smallest span** that is needed to correct the error.
- **Choose one tag.** If the error could just as well be of another kind, mark the same span again with that tag.
- **Write the correction.** With your correction in place of the span, the text must be right. Leave the
  correction empty to say that the words should be deleted.
- **Something is missing?** Mark the word before or after it, and write both words: *She wrote **letter** to us.* →
  *a letter*. Or put the cursor in the gap and insert.
- Tags for unclear meaning, citations and unexplained acronyms need no correction; a comment helps.
- Spans may overlap, or lie inside each other.
- Correct errors of grammar and usage; leave style and ideas alone.
- If an essay is so poor that no meaningful correction is possible, **set it aside**.
"""


@dataclass(frozen=True, slots=True)
class Marking:
    """Mark the errors of a whole essay."""

    name: str = "marking"
    title: str = "Mark an essay"
    kind: str = "essay"
    labels: tuple[str, ...] = (MARKED, CLEAN, SET_ASIDE)
    verdict: Mapping[str, str] | None = None
    guidelines: str = GUIDELINES
    summary: str = "Read a whole essay and mark its errors, each with its kind and a correction."
    subject: Subject = "essay"
    source: str = "Dahlmeier, Ng and Wu 2013, sections 2 to 4"
    sends: tuple[str, ...] = ("edits", "set_aside", REJECTED)

    def show(self, unit: Unit, *, rng: Rng) -> Shown:
        """The marking page shows the whole essay; there are no other questions."""
        # Whether suggestions are shown, as the server keeps it with the lease; nothing for a unit without them.
        share = _kept(unit).get("share")
        kept = {SUGGESTED: bool(rng.random() < cast(float, share))} if share is not None else {}
        return Shown(before=unit.essay.text, pieces=(), after="", fields=(), kept=kept)

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:
        sent = first(form, "edits") or "[]"
        edits = read_edits(unit, sent)
        is_aside = first(form, "set_aside").lower() in ("1", "true", "on", "yes")
        label = SET_ASIDE if is_aside else MARKED if edits else CLEAN
        payload: dict[str, Json] = {"edits": [_as_json(edit) for edit in edits], "tagset": tagset_of(unit).name}
        if SUGGESTED in kept:
            rejected = _json_list(first(form, REJECTED) or "[]")
            is_shown = bool(kept[SUGGESTED])
            payload[SUGGESTIONS] = record(unit, json.loads(sent), edits, rejected, is_shown=is_shown)
        return (Answer(essay_item_id(unit), label, payload=payload),)

    def right(self, answers: Sequence[Answer], accepted: Accepted) -> bool:
        n_found, n_planted = planted_found(answers, accepted)
        return n_found >= SHARE_FOUND * n_planted


def _json_list(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def tagset_of(unit: Unit) -> TagSet:
    return TAGSETS[str(unit.payload.get("tagset") or DEFAULT_TAGSET)]


def essay_item_id(unit: Unit) -> str:
    """The id of the essay as an item: the unit's own, or that of the whole text."""
    if unit.items:
        return unit.items[0].item.item_id
    return Item(unit.essay.essay_id, Span(0, len(unit.essay.text)), "essay").item_id


def edits_of(answer: Answer, *, rater: str) -> tuple[Edit, ...]:
    """The edits in an answer of this task, as one rater's."""
    return tuple(_edit(cast("Mapping[str, Json]", row), rater) for row in cast("list[Json]", answer.payload["edits"]))


def planted_found(answers: Sequence[Answer], accepted: Accepted) -> tuple[int, int]:
    """The number of planted errors that the edits touch, and the number of all planted errors."""
    edits = {answer.item_id: edits_of(answer, rater="") for answer in answers}
    planted = [(item_id, mark) for item_id, marks in accepted.items() for mark in marks]
    hits = [mark for item_id, mark in planted if any(_is_at(edit, mark) for edit in edits.get(item_id, ()))]
    return len(hits), len(planted)


def planted_in_words(text: str, accepted: Iterable[str]) -> str:
    """The planted errors in words, in text order: `of (Wcip), bakery (Nn)`."""
    marks = sorted(_parsed(mark) for mark in accepted)
    return ", ".join(f"{span.of(text) or '∧'}{f' ({tag})' if tag else ''}" for span, tag in marks)


def _is_at(edit: Edit, mark: str) -> bool:
    span, tag = _parsed(mark)
    return edit.span.touches(span) and tag in ("", edit.tag)


def _parsed(mark: str) -> tuple[Span, str]:
    """`120-124:Wcip` as a span and a tag; the tag is optional."""
    span, _, tag = mark.partition(":")
    start, _, end = span.partition("-")
    return Span(int(start), int(end)), tag


def read_edits(unit: Unit, text: str) -> tuple[Edit, ...]:
    """The edits of a form, each checked against the essay and the tag set; all problems are reported together."""
    problems = Problems(FORM)
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or len(rows) > MOST_EDITS:
        problems.add(f"edits: expected a JSON list of at most {MOST_EDITS} edits")
        problems.done()
    for number, row in enumerate(cast("list[object]", rows), 1):
        for complaint in _complaints(unit, row):
            problems.add(f"edits: edit {number}: {complaint}")
    problems.done()
    return tuple(_edit(row, "") for row in cast("list[Mapping[str, Json]]", rows))


def _complaints(unit: Unit, row: object) -> Iterator[str]:
    if not isinstance(row, dict):
        yield f"expected an object, found {type(row).__name__}"
        return
    start, end = row.get("start"), row.get("end")
    if complaint := span_complaint(unit.essay.text, start, end, row.get("quote")):
        yield complaint
    tag, tags = row.get("tag"), tagset_of(unit)
    words, comment = row.get("replacements"), row.get("comment", "")
    if not isinstance(tag, str) or tag not in tags:
        yield f"expected a tag of {tags.name}, found {str(tag)[:60]!r}"
    elif tags[tag].owes_correction and words == []:
        yield f"expected a correction for {tag}, found none; an empty one says that the words should go"
    if not isinstance(words, list) or not all(is_short_text(word) for word in words):
        yield f"expected replacements as a list of texts of at most {LONGEST} characters"
    elif not is_short_text(comment):
        yield f"expected a comment of at most {LONGEST} characters"
    elif start == end and "" in words:
        yield "expected words to insert, found none"


def span_complaint(text: str, start: object, end: object, quote: object) -> str:
    """What is wrong with a span and the words that it should have; empty if nothing is."""
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= len(text):
        return f"expected 0 <= start <= end <= {len(text)}, found {start!r} and {end!r}"[:200]
    if quote != text[start:end]:
        return f"expected the quote {text[start:end][:60]!r} at {start}-{end}, found {str(quote)[:60]!r}"
    return ""


def is_short_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST and not UNSTORABLE.search(value)


def _edit(row: Mapping[str, Json], rater: str) -> Edit:
    span = Span(cast(int, row["start"]), cast(int, row["end"]))
    replacements = tuple(cast("list[str]", row["replacements"]))
    return Edit(
        span=span, replacements=replacements, tag=str(row["tag"]), rater=rater, comment=str(row.get("comment") or "")
    )


def _as_json(edit: Edit) -> dict[str, Json]:
    span, words = edit.span, list(edit.replacements)
    return {"start": span.start, "end": span.end, "tag": edit.tag, "replacements": words, "comment": edit.comment}


TASK = Marking()
MARKING = TASK.name
