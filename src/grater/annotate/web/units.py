"""The units of a job with their judgments, for managers.

Nobody sees others' answers to a unit that they may still judge themselves (P9): a manager sees those to units that
are not finished only after giving up to rate in the job.  A unit whose answer a manager knows can become practice,
which says what was expected, or hidden gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from grater.annotate import adjudication, gold, jobs, judgments, progress, units, work
from grater.annotate.gold import make_gold
from grater.annotate.store import Tx
from grater.annotate.tasks import TASKS
from grater.annotate.web.calls import (
    A_PAGE,
    Answer,
    Most,
    Object,
    Page,
    Shape,
    Shown,
    Start,
    When,
    by_form,
    calls_about,
    cut,
)
from grater.annotate.web.context import Context, RequestContext
from grater.annotate.web.rendering import pager
from grater.annotate.web.work import Known, known_json
from grater.annotate.work import Sent, sent_for, shown_to_staff
from grater.annotate.work import look as give_up_rating
from grater.errors import BadInput, Problem, UsageError

pages = APIRouter()

ROWS = 50
MET = "This unit cannot be changed: somebody has already worked on it, or its answer is known."


@pages.get("/manage/jobs/{job_id}/units")
def unit_list_page(context: Context, job_id: str, page: int = 1) -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        here = pager(progress.n_units(tx, job_id), page, size=ROWS)
        on_page = progress.some_units(tx, job_id, start=here.start, most=here.size)
        rows = [(unit, shown_to_staff(tx, unit.unit_id)) for unit in on_page]
    return context.page("manage_units.html", job=job, rows=rows, pager=here)


@pages.get("/manage/units/{unit_id}")
def unit_page(context: Context, unit_id: str) -> Response:
    return unit_view(context, unit_id)


def unit_view(context: RequestContext, unit_id: str, *, problems: Sequence[str] = ()) -> Response:
    """One unit with what was said of it and what is known of it, as far as the manager may see that."""
    with context.server.store.read() as tx:
        seen = _seen(tx, context, unit_id)
    task = TASKS[seen["unit"].job.task]
    return context.page("manage_unit.html", seen, status=422 if problems else 200, task=task, problems=problems)


def _seen(tx: Tx, context: RequestContext, unit_id: str) -> dict[str, Any]:
    """A unit as page and API show it; the answers of others only to somebody who is not to judge it any more."""
    unit = units.get(tx, unit_id)
    may_see = work.may_see(tx, unit.job.job_id, unit_id, context.person.person_id)
    return {
        "unit": unit,
        "may_see": may_see,
        "sent": sent_for(tx, unit_id) if may_see else [],
        "decided": adjudication.find(tx, unit_id) if may_see else None,
        "shown": shown_to_staff(tx, unit_id),
        "known": gold.of_unit(tx, unit_id),
    }


@pages.post("/manage/units/{unit_id}/look")
def look_form(context: Context, unit_id: str) -> Response:
    """See the answers of the unit's job from now on, and rate in it no more."""
    with context.changing() as tx:
        give_up_rating(tx, units.get(tx, unit_id).job.job_id, context.person.person_id)
    return context.go(f"/manage/units/{unit_id}")


@pages.post("/manage/units/{unit_id}/known")
def make_known(context: Context, unit_id: str) -> Response:
    role: Literal["gold", "practice"] = "gold" if context.text("role") == "gold" else "practice"
    reason = context.text("reason")
    try:
        with context.changing() as tx:
            unit = units.get(tx, unit_id)
            item_id, accepted = unit.unit.items[0].item.item_id, accepted_by(context, unit.job.task)
            actor = context.person.person_id
            is_made = make_gold(tx, unit.job, item_id, accepted, reason=reason, role=role, actor=actor)
    except UsageError as error:
        return unit_view(context, unit_id, problems=[str(error)])
    return context.go(f"/manage/units/{unit_id}") if is_made else unit_view(context, unit_id, problems=[MET])


def accepted_by(context: RequestContext, task: str) -> list[str]:
    """The labels that are ticked, or the words of a task without a closed set."""
    if TASKS[task].labels:
        return context.fields().get("accepted", [])
    return [word.strip() for word in context.text("accepted").split(",") if word.strip()]


api = calls_about("units")


class UnitProgress(Shape):
    unit_id: str
    wanted: int
    valid: int
    is_done: bool


class UnitLine(UnitProgress):
    """A unit and what its page shows."""

    shown: Shown


class Units(Page):
    units: list[UnitLine]


class SentAnswers(Shape):
    """What one rater handed in."""

    rater: str
    submission_id: str
    status: str
    at: When
    seconds: float | None
    answers: list[Answer]


class Decision(Shape):
    """The answer that counts in the end, by an adjudicator."""

    version: int
    answers: list[Answer]
    comment: str
    at: When


class Unit(Shape):
    """`may_see` is false where what was `sent` is kept from you, because you may still be asked.

    `known` are the accepted answers of gold and practice.
    """

    unit_id: str
    job_id: str
    task: str
    role: str
    stage: str
    batch: int
    essay_id: str
    wanted: int
    shown: Shown
    known: list[Known]
    may_see: bool
    sent: list[SentAnswers]
    decision: Decision | None


class Judgment(Shape):
    """A row of the judgments table; raters go by their pseudonym."""

    item: str
    rater: str
    label: str
    status: str
    confidence: str
    seconds: float | None
    at: When
    flags: list[str]
    alternatives: list[str]
    stage: str
    batch: int
    group: str
    role: str
    kind: str
    job: str
    unit: str
    submission: str
    guidelines: int
    payload: Object


class Judgments(Page):
    judgments: list[Judgment]


class Looked(Shape):
    job_id: str
    looked: bool = Field(description="You get no more work in this job.")


@api.get("/jobs/{job_id}/units")
def unit_list(context: Context, job_id: str, start: Start = 0, most: Most = A_PAGE) -> Units:
    """The work units of a job in order, with what raters see and their progress."""
    with context.server.store.read() as tx:
        jobs.get(tx, job_id)
        here, following = cut(progress.some_units(tx, job_id, start=start, most=most + 1), start, most)
        shown_units = [
            UnitLine(**UnitProgress.of(unit).model_dump(), shown=Shown.of(shown_to_staff(tx, unit.unit_id)))
            for unit in here
        ]
    return Units(units=shown_units, next=following)


@api.get("/units/{unit_id}")
def one_unit(context: Context, unit_id: str) -> Unit:
    """A unit with its judgments, once it is finished or you have given up rating in the job."""
    with context.server.store.read() as tx:
        seen = _seen(tx, context, unit_id)
        unit = seen["unit"]
        return Unit(
            unit_id=unit_id,
            job_id=unit.job.job_id,
            task=unit.job.task,
            role=unit.role,
            stage=unit.unit.stage,
            batch=unit.batch,
            essay_id=unit.unit.essay.essay_id,
            wanted=unit.wanted,
            shown=Shown.of(seen["shown"]),
            known=known_json(seen["known"]),
            may_see=seen["may_see"],
            sent=[sent_json(answered, answered.person.pseudonym) for answered in seen["sent"]],
            decision=Decision.of(seen["decided"]) if seen["decided"] else None,
        )


@api.get("/jobs/{job_id}/judgments")
def job_judgments(
    context: Context,
    job_id: str,
    status: Annotated[str, Query(description="One, or several with commas: " + ", ".join(judgments.ALL))] = "valid",
    start: Start = 0,
    most: Most = A_PAGE,
) -> Judgments:
    """Judgments as rows of the judgments table, raters by pseudonym.

    Units that are not finished are left out until you give up to rate in the job (`look`).
    """
    statuses = status.split(",")
    if strange := [name for name in statuses if name not in judgments.ALL]:
        raise BadInput(Problem("status", f"expected {', '.join(judgments.ALL)}, found {strange[0][:20]!r}"))
    with context.server.store.read() as tx:
        jobs.get(tx, job_id)
        of_done = not work.is_out(tx, job_id, context.person.person_id)
        rows = judgments.table(tx, job_id, statuses, of_done=of_done, start=start, most=most + 1)
    here, following = cut(rows, start, most)
    return Judgments(judgments=[Judgment.model_validate(row) for row in here], next=following)


@api.post("/jobs/{job_id}/look")
def look(context: Context, job_id: str) -> Looked:
    """See the answers to unfinished units; you can no longer rate in the job."""
    with context.changing() as tx:
        give_up_rating(tx, job_id, context.person.person_id)
    return Looked(job_id=job_id, looked=True)


def sent_json(sent: Sent, rater: str) -> SentAnswers:
    row = sent.submission
    return SentAnswers(
        rater=rater,
        submission_id=row.submission_id,
        status=row.status,
        at=row.at,
        seconds=row.seconds,
        answers=[Answer.of(answer) for answer in sent.answers],
    )


@by_form(pages, "/manage/units/{unit_id}/work", then="/manage/units/{unit_id}", refused=unit_view)
@api.post("/units/{unit_id}/work")
def back_to_work(context: Context, unit_id: str) -> Unit:
    """Turn a gold or practice unit that nobody has seen back into work."""
    with context.changing(beside="everybody") as tx:
        units.return_to_work(tx, unit_id, actor=context.person.person_id)
    return one_unit(context, unit_id)
