"""Drafts of marked essays through the API: saved under a revision, so that no program silently overwrites a page."""

from __future__ import annotations

from pydantic import Field

from grater.server.calls import Body, Edit, Shape, calls_about, example
from grater.server.context import Context
from grater.server.work.shapes import EditSent
from grater.study import drafts
from grater.study.drafts import draft_of, findings
from grater.study.limits import LARGEST
from grater.tasks.marking import MOST_EDITS

router = calls_about("work")


class DraftSent(Body):
    """`revision` is the one that this draft was made from, 0 for the first."""

    model_config = example(revision=0, edits=[])
    revision: int = Field(ge=0, le=LARGEST)
    edits: list[EditSent] = Field(max_length=MOST_EDITS)
    set_aside: bool = False
    rejected: list[int] = Field(
        default_factory=list, max_length=MOST_EDITS, description="Suggestions that were turned down."
    )


class Note(Shape):
    """What `grater corpus check` asks about an edit."""

    message: str
    start: int
    end: int


class Draft(Shape):
    revision: int
    edits: list[Edit]
    set_aside: bool
    rejected: list[int] = Field(default_factory=list)
    findings: list[Note]


class DraftSaved(Shape):
    revision: int
    findings: list[Note]


@router.get("/leases/{lease_id}/draft")
def one_draft(context: Context, lease_id: str) -> Draft:
    """Your unfinished marks on an essay, with notes on them; revision 0 if nothing is saved yet."""
    with context.server.store.read() as tx:
        unit, draft = draft_of(tx, lease_id, person_id=context.person.person_id)
    body = {"edits": [], "set_aside": False, **draft.body}
    return Draft.model_validate({**body, "revision": draft.revision, "findings": findings(unit, draft.body)})


@router.put("/leases/{lease_id}/draft")
def save_draft(context: Context, lease_id: str, sent: DraftSent) -> DraftSaved:
    """Save unfinished marks; corrections may be missing, spans and quotes must be right.

    It also keeps the lease alive. One made from an older revision is a conflict (409): get the newer one and choose.
    """
    body = sent.model_dump(exclude={"revision"}, exclude_none=True)
    with context.changing() as tx:
        saved = drafts.save_draft(tx, lease_id, person_id=context.person.person_id, revision=sent.revision, body=body)
    return DraftSaved.model_validate(saved.reply())
