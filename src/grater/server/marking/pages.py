"""The essay marking page, and its drafts.

The page is filled by the modules under `static/marking`; this file tells them what they need in one block of JSON,
and takes the autosaved drafts.  A draft may be unfinished (a correction still owed), but its spans must be right: a
quote that is not what the text has there is refused at once, not at the end.  A draft made from an older revision
gets 409 with the newer one, and the annotator chooses.

With every draft come back the findings of `corpus check` on it, as notes that the annotator can jump to (NUCLE,
section 4: annotators were asked to review corrections that appeared to contain mistakes).
"""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import JSONResponse, Response

from grater.errors import GraterError, Stale
from grater.model import Json
from grater.server.context import Context, RequestContext
from grater.server.errors import status_of
from grater.store import leases, revisions
from grater.store.leases import Lease
from grater.store.revisions import Draft
from grater.store.units import StudyUnit
from grater.study import drafts
from grater.study.drafts import findings, tag_json
from grater.study.raters import pace_of
from grater.study.work import Desk, essay_receipt, may_skip, returns_left, submission_id_of
from grater.tasks.marking import TASK as MARKING
from grater.tasks.marking import tagset_of
from grater.tasks.suggestions import SUGGESTED, suggestions_of
from grater.tasks.task import Unit

router = APIRouter()


class SentDraft(BaseModel):
    """What the page saves: its marks, and the revision that they were made on."""

    model_config = ConfigDict(extra="forbid", strict=True)
    revision: int
    body: dict[str, object]


def marking_page(context: RequestContext, lease: Lease, study_unit: StudyUnit, *, guidelines: str) -> Response:
    """The page for an essay that the person holds."""
    with context.server.store.read() as tx:
        draft = revisions.find_draft(tx, unit_id=lease.unit_id, person_id=lease.person_id) or Draft(0)
        pace = pace_of(tx, study_unit.job, lease.person_id)
        receipt = essay_receipt(tx, context.request.query_params.get("after", ""), person_id=lease.person_id)
        n_returns = returns_left(tx, lease)
        kept = Desk(lease, study_unit, MARKING, tx.key).shown.kept
    offered = suggestions_of(study_unit.unit) if kept.get(SUGGESTED) else ()
    sent = told(study_unit.unit, draft) | {
        "suggestions": [suggestion.as_json() for suggestion in offered],
        "lease": lease.lease_id,
        "person": lease.person_id,
        "token": context.csrf,
        "submission": submission_id_of(lease.lease_id),
        "urls": {"draft": f"/leases/{lease.lease_id}/draft", "submit": f"/leases/{lease.lease_id}"},
    }
    shown = {"sent": sent, "job": study_unit.job, "guidelines": guidelines, "pace": pace, "receipt": receipt}
    shown |= {"mends": lease.place == leases.REVISION, "n_returns": n_returns, "may_skip": may_skip(study_unit.job)}
    return context.page("marking.html", shown)


@router.put("/leases/{lease_id}/draft")
def save_draft(context: Context, lease_id: str, sent: SentDraft) -> Response:
    store, person_id = context.server.store, context.person.person_id
    try:
        with context.changing() as tx:
            saved = drafts.save_draft(tx, lease_id, person_id=person_id, revision=sent.revision, body=sent.body)
        return JSONResponse(saved.reply())
    except Stale:
        with store.read() as tx:
            newer = drafts.draft_of(tx, lease_id, person_id=person_id)[1]
        return JSONResponse({"revision": newer.revision, "body": newer.body}, 409)
    except GraterError as error:
        return JSONResponse({"message": str(error)}, status_of(error))


def told(unit: Unit, draft: Draft) -> dict[str, Json]:
    """What the page is told of an essay: its text, the tags, the draft, the notes on it; nothing of anybody else."""
    return {
        "text": unit.essay.text,
        "tags": [tag_json(tag) for tag in tagset_of(unit)],
        "draft": {"revision": draft.revision, "body": draft.body},
        "findings": findings(unit, draft.body),
    }
