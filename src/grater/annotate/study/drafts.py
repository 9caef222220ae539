"""Drafts of marked essays: unfinished marks, saved under a revision, with the notes of `corpus check` on them.

A draft may be unfinished (a correction still owed), but its spans must be right: a quote that differs from the text
is refused at once.  A draft made from an older revision is stale, and the annotator chooses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from grater.annotate.store import Tx, leases, revisions, units
from grater.annotate.store.revisions import Draft
from grater.annotate.study.work import NOT_YOURS
from grater.annotate.tasks.marking import MOST_EDITS, TASK, tagset_of
from grater.annotate.tasks.suggestions import REJECTED
from grater.annotate.tasks.task import Unit
from grater.corpora.check import check_essays
from grater.corpora.tagsets import Tag, TagSet
from grater.errors import BadInput, NotFound, Problem
from grater.model import Edit, Essay, Json, Span

RUNS_ON = ("Srun", "Sfrag")
"""Tags of which a span over two sentences is no wonder."""


@dataclass(frozen=True, slots=True)
class SavedDraft:
    """What became of a draft."""

    unit: Unit
    revision: int
    body: Mapping[str, Json]

    def reply(self) -> dict[str, Json]:
        """The new revision and the notes on the draft; they are made after the transaction, which others wait for."""
        return {"revision": self.revision, "findings": findings(self.unit, self.body)}


def save_draft(tx: Tx, lease_id: str, *, person_id: str, revision: int, body: Mapping[str, object]) -> SavedDraft:
    """Save a draft made from a revision."""
    unit = _essay_unit(tx, lease_id, person_id)
    checked_body = checked(unit.essay.text, body)
    saved = revisions.save_draft(tx, unit_id=unit.unit_id, person_id=person_id, revision=revision, body=checked_body)
    return SavedDraft(unit=unit, revision=saved, body=checked_body)


def draft_of(tx: Tx, lease_id: str, *, person_id: str) -> tuple[Unit, Draft]:
    """An essay that the person holds or held, with their newest draft of it."""
    unit = _essay_unit(tx, lease_id, person_id)
    return unit, revisions.find_draft(tx, unit_id=unit.unit_id, person_id=person_id) or Draft(0)


def _essay_unit(tx: Tx, lease_id: str, person_id: str) -> Unit:
    lease = leases.find(tx, lease_id, person_id=person_id)
    unit = units.get(tx, lease.unit_id) if lease else None
    if unit is None or unit.job.task != TASK.name:
        raise NotFound(NOT_YOURS)
    return unit.unit


def tag_json(tag: Tag) -> dict[str, Json]:
    words = {"code": tag.code, "name": tag.name, "group": tag.group}
    return {**words, "description": tag.description, "example": tag.example, "owes": tag.owes_correction}


def checked(text: str, body: Mapping[str, object]) -> dict[str, Json]:
    """A draft whose every span lies in the text and quotes it."""
    edits = body.get("edits")
    if not isinstance(edits, list) or len(edits) > MOST_EDITS or not isinstance(body.get("set_aside"), bool):
        raise BadInput(Problem("draft", f"expected edits, at most {MOST_EDITS}, and set_aside"))
    for number, each in enumerate(edits, 1):
        complaint = _complaint(text, each)
        if complaint:
            raise BadInput(Problem("draft", f"edit {number}: {complaint}"))
    rejected = body.get(REJECTED, [])
    if not isinstance(rejected, list) or not all(type(number) is int for number in rejected):
        raise BadInput(Problem("draft", "expected the numbers of rejected suggestions"))
    saved: dict[str, Json] = {"edits": cast("list[Json]", edits), "set_aside": cast(bool, body["set_aside"])}
    return {**saved, **({REJECTED: rejected} if rejected else {})}


def _complaint(text: str, each: object) -> str | None:
    if not isinstance(each, dict):
        return "expected an object"
    start, end, quote = each.get("start"), each.get("end"), each.get("quote")
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= len(text):
        return f"expected a span inside 0-{len(text)}"
    if text[start:end] != quote:
        return f"expected the quote {text[start:end][:60]!r} at {start}-{end}, found {str(quote)[:60]!r}"
    words, replacements = [each.get("tag"), each.get("comment")], each.get("replacements")
    if not isinstance(replacements, list) or not all(isinstance(word, str) for word in [*words, *replacements]):
        return "expected a tag, replacements and a comment as text"
    return None


def findings(unit: Unit, body: Mapping[str, Json]) -> list[Json]:
    """What `corpus check` asks about the edits of a draft, with their places; what is merely unfinished is none."""
    edits = tuple(_edits(cast("Sequence[Mapping[str, Json]]", body.get("edits") or ())))
    essay = Essay(unit.essay.essay_id, unit.essay.text, edits)
    return list(_notes(essay, tagset_of(unit)))


def _edits(sent: Sequence[Mapping[str, Json]]) -> Iterator[Edit]:
    """The edits with their number as their line, so that a finding leads back to its edit."""
    for number, each in enumerate(sent, 1):
        span = Span(cast(int, each["start"]), cast(int, each["end"]))
        replacements = tuple(cast("Sequence[str]", each["replacements"]))
        yield Edit(span, replacements, str(each["tag"]), "you", line=number)


def _notes(essay: Essay, tagset: TagSet) -> Iterator[Json]:
    for finding in check_essays([essay], tagset=tagset):
        if finding.line is None or finding.rule == "no-correction":
            continue
        edit = essay.edits[finding.line - 1]
        if finding.rule == "across-sentences" and edit.tag in RUNS_ON:
            continue
        yield {"message": finding.message, "start": edit.span.start, "end": edit.span.end}
