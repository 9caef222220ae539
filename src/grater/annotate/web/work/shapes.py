"""A piece of work on the wire: what a rater is shown, and what they answer.

Raters call for these all the time, so they are written down as JSON at once; the shapes describe them, and tests hold
one to the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from grater.annotate.store.clock import as_iso
from grater.annotate.store.gold import Gold
from grater.annotate.study.drafts import tag_json
from grater.annotate.study.work import Desk
from grater.annotate.tasks.marking import MOST_EDITS, tagset_of
from grater.annotate.tasks.marking import TASK as MARKING
from grater.annotate.tasks.suggestions import REJECTED, SUGGESTED, suggestions_of
from grater.annotate.web.calls import Body, Shape, Shown, When, example, shown_json
from grater.model import Json

Word = Annotated[str, StringConstraints(max_length=100)]


class Lease(Shape):
    """A unit in your hands until `expires_at`; `submission_id` is the id of its answer unless you choose another."""

    lease_id: str
    job_id: str
    state: Literal["held", "done", "expired", "returned", "revoked"]
    expires_at: When
    submission_id: str
    task: str
    stage: str


class FormLease(Lease, Shown):
    """A page with questions: answer each field by its name."""


class Tag(Shape):
    """`owes`: an edit with this tag must have a correction."""

    code: str
    name: str
    group: str
    description: str
    example: str
    owes: bool


class SuggestedMark(Shape):
    """A system's mark, offered where the job says so; an edit made of it names its place in the list, from 0."""

    start: int
    end: int
    tag: str
    replacements: list[str]


class EssayLease(Lease):
    """A whole essay to mark; offsets are code points of `text`."""

    text: str
    tags: list[Tag]
    suggestions: list[SuggestedMark] = Field(default_factory=list)


class Taken(Shape):
    """`lease` is null where there is no work for you now; `GET /jobs/{job_id}` says why."""

    lease: FormLease | EssayLease | None


class EditSent(Body):
    """A mark: `quote` is the text from `start` to `end`, code points; it may have no width.

    Several `replacements` are alternatives, an empty word says that the words should go, no replacement at all that
    the error is found and not corrected (for tags that owe no correction).
    """

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str
    tag: str
    replacements: list[str]
    comment: str = ""
    suggestion: int | None = Field(default=None, ge=0, description="The suggestion that it was made of.")


class Said(Body):
    """An answer: `fields` of a form, each a list of values; or for an essay `edits`, or `set_aside`.

    `rejected` are the numbers of suggestions that were turned down.
    """

    fields: dict[Word, list[str]] = Field(default_factory=dict, max_length=100)
    edits: list[EditSent] | None = Field(default=None, max_length=MOST_EDITS)
    set_aside: bool = False
    rejected: list[int] = Field(default_factory=list, max_length=MOST_EDITS)

    def as_fields(self) -> dict[str, list[str]]:
        """As a page would send it."""
        fields = dict(self.fields)
        if self.edits is not None:
            rows = [edit.model_dump(exclude_none=True) for edit in self.edits]
            fields["edits"] = [json.dumps(rows, ensure_ascii=False)]
        fields |= {REJECTED: [json.dumps(self.rejected)]} if self.rejected else {}
        return fields | ({"set_aside": ["1"]} if self.set_aside else {})


class Answered(Said):
    """With a `submission_id` of your own, or none, sending the same again does no harm."""

    model_config = example(fields={"label": ["error"]}, submission_id="my-program-000017", seconds=3.2)
    submission_id: Annotated[str, StringConstraints(max_length=100)] = ""
    seconds: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Receipt(Shape):
    """`status` is valid, surplus (it came late and is kept), untrusted or withdrawn.

    `is_replay`: it was stored before.  `has_feedback`: `GET /leases/{lease_id}/feedback` says what would have been
    right.
    """

    submission_id: str
    status: Literal["valid", "untrusted", "surplus", "withdrawn"]
    is_replay: bool
    has_feedback: bool


class Known(Shape):
    """One item's accepted answers, and why; for an essay the places `start-end:tag` of its errors."""

    item_id: str
    accepted: list[str]
    reason: str


def desk_json(desk: Desk) -> dict[str, Json]:
    """A piece of work as its page shows it; for an essay, its text and the tags to mark with."""
    lease: dict[str, Json] = {
        "lease_id": desk.lease.lease_id,
        "job_id": desk.lease.job_id,
        "state": desk.lease.state,
        "expires_at": as_iso(desk.lease.expires_at),
        "submission_id": desk.submission_id,
        "task": desk.task.name,
        "stage": desk.unit.unit.stage,
    }
    if desk.task.name != MARKING.name:
        return {**lease, **shown_json(desk.shown)}
    tags: list[Json] = [tag_json(tag) for tag in tagset_of(desk.unit.unit)]
    offered = suggestions_of(desk.unit.unit) if desk.shown.kept.get(SUGGESTED) else ()
    marks: list[Json] = [suggestion.as_json() for suggestion in offered]
    return {**lease, "text": desk.unit.unit.essay.text, "tags": tags, "suggestions": marks}


def known_json(gold: Iterable[Gold]) -> list[Known]:
    return [Known(item_id=known.item_id, accepted=sorted(known.accepted), reason=known.reason) for known in gold]
