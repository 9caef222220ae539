"""People and invitations: managers invite raters and look after them, owners give roles.

A manager makes a joint seat for two people; either of the two opens it from their own page.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import credentials, invitations, jobs, people, schema
from grater.annotate.study.people import end_invitation as take_invitation_back
from grater.annotate.study.people import give_role, invite_back, invite_several, require_member, roles_to_give, seat
from grater.annotate.study.people import set_state as set_person_state
from grater.annotate.study.second_factor import ROLES as FACTOR_ROLES
from grater.annotate.study.second_factor import require_of, required_roles
from grater.annotate.study.second_factor import reset as reset_second_factor
from grater.annotate.web.account.entering import begin_session
from grater.annotate.web.context import Context, RequestContext, number_of
from grater.annotate.web.errors import lines_of
from grater.annotate.web.roles import OWNERS
from grater.errors import Conflict, UsageError

router = APIRouter()


@router.get("/manage/people")
def people_page(context: Context) -> Response:
    return people_view(context)


@router.post("/manage/invitations")
def invite(context: Context) -> Response:
    """New invitations; their links are shown this once, since only hashes are kept."""
    with context.changing() as tx:
        made = invite_several(
            tx,
            number_of(context, "number", 1),
            role=context.text("role"),
            own_role=context.role,
            job_id=context.text("job") or None,
            days=number_of(context, "days", 14),
            name=context.text("name"),
            actor=context.person.person_id,
        )
    links = [context.server.settings.link(f"/join/{token}") for token in made]
    return people_view(context, links=links, job_id=context.text("job"))


@router.post("/manage/invitations/{invitation_id}/end")
def end_invitation(context: Context, invitation_id: str) -> Response:
    with context.changing() as tx:
        take_invitation_back(tx, invitation_id, actor=context.person.person_id)
    return context.go("/manage/people")


@router.post("/manage/people/{person_id}/back")
def way_back(context: Context, person_id: str) -> Response:
    """A link for somebody whose password is lost; their work stays theirs."""
    with context.changing() as tx:
        token = invite_back(tx, person_id, own_role=context.role, actor=context.person.person_id)
    return people_view(context, links=[context.server.settings.link(f"/join/{token}")])


@router.post("/manage/people/{person_id}/role")
def set_role(context: Context, person_id: str) -> Response:
    with context.changing(beside="owners") as tx:
        give_role(tx, person_id, context.text("role"), actor=context.person.person_id)
    return context.go("/manage/people")


@router.post("/manage/people/{person_id}/state")
def set_state(context: Context, person_id: str) -> Response:
    """Shut somebody out of the study, or let them in again; their work stays."""
    with context.changing(beside="owners") as tx:
        set_person_state(tx, person_id, context.text("state"), actor=context.person.person_id)
    return context.go("/manage/people")


@router.post("/manage/people/{person_id}/second-factor")
def reset_factor(context: Context, person_id: str) -> Response:
    """For somebody who lost their telephone and recovery codes."""
    with context.changing(beside="owners") as tx:
        reset_second_factor(tx, person_id, actor=context.person.person_id)
    return context.go("/manage/people")


@router.post("/manage/second-factor")
def require_factor(context: Context) -> Response:
    """Of which roles a second factor is required."""
    with context.changing(beside="owners") as tx:
        require_of(tx, context.fields().get("roles", []), actor=context.person.person_id)
    return context.go("/manage/people")


def people_view(
    context: RequestContext, *, links: Sequence[str] = (), job_id: str = "", problems: Sequence[str] = ()
) -> Response:
    """Everybody and every invitation, with links that are shown this once, or what went wrong."""
    with context.server.store.read() as tx:
        everybody = people.all(tx)
        names = {person.person_id: person.name for person in everybody}
        behind = {
            person.person_id: [names[member] for member in people.members(tx, person.person_id)]
            for person in everybody
            if person.kind == "joint"
        }
        shown = {
            "everybody": everybody,
            "behind": behind,
            "waiting": [one for one in invitations.all(tx) if one.used_at is None and one.ended_at is None],
            "all_jobs": [job for job in jobs.all(tx) if job.archived_at is None],
            "job_titles": {job.job_id: job.title for job in jobs.all(tx)},
            "for_job": jobs.find(tx, job_id) if job_id else None,
            "now": tx.now,
            "with_factor": credentials.people_with_one(tx),
            "required": required_roles(tx),
        }
    fixed = {
        "roles": roles_to_give(context.role),
        "all_roles": schema.ROLES,
        "factor_roles": FACTOR_ROLES,
        "may_rule": context.role in OWNERS,
    }
    told = {"links": links, "problems": problems}
    return context.page("manage_people.html", {**shown, **fixed, **told}, status=422 if problems else 200)


@router.post("/manage/seats")
def make_seat(context: Context) -> Response:
    try:
        with context.changing() as tx:
            pair = [people.get(tx, context.text(field)) for field in ("first", "second")]
            seat(tx, pair, name=context.text("name"), actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return people_view(context, problems=lines_of(error))
    return context.go("/manage/people")


@router.post("/me/seats/{person_id}")
def sit_down(context: Context, person_id: str) -> Response:
    """A session as the seat; the person's own session ends with it."""
    with context.server.store.read() as tx:
        joint = require_member(tx, person_id, context.person.person_id)
    return begin_session(context, joint, "/jobs", member_id=context.person.person_id)
