"""The essay marking page, and its drafts.

The page is filled by the modules under `static/marking`; this file tells them what they need in one block of JSON,
and takes the autosaved drafts.  A draft may be unfinished (a correction still owed), but its spans must be right: a
quote that is not what the text has there is refused at once, not at the end.  A draft made from an older revision
gets 409 with the newer one, and the annotator chooses.

With every draft come back the findings of `corpus check` on it, as notes that the annotator can jump to (NUCLE,
section 4: annotators were asked to review corrections that appeared to contain mistakes).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from grater.corpora.check import check_essays
from grater.corpora.tagsets import Tag, TagSet
from grater.errors import BadInput, GraterError, NotFound, Problem, Stale
from grater.model import Edit, Essay, Json, Span
from grater.server.context import Context, RequestContext
from grater.server.errors import status_of
from grater.server.work.desk import NOT_YOURS, submission_id_of
from grater.store import Tx, leases, revisions, units
from grater.store.leases import Lease
from grater.store.revisions import Draft
from grater.store.units import StudyUnit
from grater.study.work import own_job
from grater.tasks.marking import MOST_EDITS, TASK, tagset_of
from grater.tasks.task import Unit

router = APIRouter()

RUNS_ON = ("Srun", "Sfrag")
"""Tags of which a span over two sentences is no wonder."""


class SentDraft(BaseModel):
    """What the page saves: its marks, and the revision that they were made on."""

    model_config = ConfigDict(extra="forbid", strict=True)
    revision: int
    body: dict[str, object]


def marking_page(context: RequestContext, lease: Lease, study_unit: StudyUnit, *, guidelines: str) -> Response:
    """The page for an essay that the person holds."""
    with context.server.store.read() as tx:
        draft = revisions.find_draft(tx, unit_id=lease.unit_id, person_id=lease.person_id) or Draft(0)
        mine = own_job(tx, study_unit.job, context.person)
    sent = told(study_unit.unit, draft) | {
        "lease": lease.lease_id,
        "person": lease.person_id,
        "token": context.csrf,
        "submission": submission_id_of(lease.lease_id),
        "urls": {"draft": f"/leases/{lease.lease_id}/draft", "submit": f"/leases/{lease.lease_id}"},
    }
    mends = lease.place == leases.MENDING
    return context.page("marking.html", sent=sent, job=study_unit.job, guidelines=guidelines, mine=mine, mends=mends)


@router.put("/leases/{lease_id}/draft")
def save_draft(context: Context, lease_id: str, sent: SentDraft) -> Response:
    try:
        return JSONResponse(save(context, lease_id, revision=sent.revision, body=sent.body))
    except Stale:
        newer = draft_of(context, lease_id)[1]
        return JSONResponse({"revision": newer.revision, "body": newer.body}, 409)
    except GraterError as error:
        return JSONResponse({"message": str(error)}, status_of(error))


def save(context: RequestContext, lease_id: str, *, revision: int, body: Mapping[str, object]) -> dict[str, Json]:
    """Save a draft made from a revision; give the new one and the notes on it."""
    with context.server.store.write() as tx:
        unit = _essay(tx, context, lease_id)
        checked_body = checked(unit.essay.text, body)
        person_id = context.person.person_id
        saved = revisions.save_draft(
            tx, unit_id=unit.unit_id, person_id=person_id, revision=revision, body=checked_body
        )
    return {"revision": saved, "findings": findings(unit, checked_body)}


def draft_of(context: RequestContext, lease_id: str) -> tuple[Unit, Draft]:
    """An essay that the person has or had in their hands, with their newest draft of it."""
    with context.server.store.read() as tx:
        unit = _essay(tx, context, lease_id)
        return unit, revisions.find_draft(tx, unit_id=unit.unit_id, person_id=context.person.person_id) or Draft(0)


def _essay(tx: Tx, context: RequestContext, lease_id: str) -> Unit:
    lease = leases.find(tx, lease_id, person_id=context.person.person_id)
    unit = units.get(tx, lease.unit_id) if lease else None
    if unit is None or unit.job.task != TASK.name:
        raise NotFound(NOT_YOURS)
    return unit.unit


def told(unit: Unit, draft: Draft) -> dict[str, Json]:
    """What the page is told of an essay: its text, the tags, the draft, the notes on it; nothing of anybody else."""
    return {
        "text": unit.essay.text,
        "tags": [tag_json(tag) for tag in tagset_of(unit)],
        "draft": {"revision": draft.revision, "body": draft.body},
        "findings": findings(unit, draft.body),
    }


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
    return {"edits": cast("list[Json]", edits), "set_aside": cast(bool, body["set_aside"])}


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
