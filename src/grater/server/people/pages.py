"""People and invitations: managers invite raters and look after them, owners give roles.

Joint seats: a manager makes one for two people, either of the two opens it from their own page.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Conflict, Forbidden, Problem, UsageError
from grater.server.account.pages import begin_session
from grater.server.context import Context, RequestContext, number_of
from grater.server.errors import lines_of
from grater.server.roles import MANAGER, OWNER, OWNERS
from grater.store import Tx, invitations, jobs, people, schema
from grater.store.invitations import offer_password_reset
from grater.study.limits import MOST_AT_ONCE, MOST_DAYS
from grater.study.people import give_role, let_in, require_member, seat

router = APIRouter()

LONGEST_NAME = 80


@router.get("/manage/people")
def people_page(context: Context) -> Response:
    return people_view(context)


@router.post("/manage/invitations")
def invite(context: Context) -> Response:
    """New invitations; their links are shown this once, since only hashes are kept."""
    role, job_id = context.text("role"), context.text("job") or None
    require_may_give(context.role, role)
    days, number = number_of(context, "days", 14, most=MOST_DAYS), number_of(context, "number", 1, most=MOST_AT_ONCE)
    with context.server.store.write() as tx:
        if job_id is not None:
            jobs.get(tx, job_id)
        made = [_make(tx, context, role, job_id, days) for _ in range(number)]
    return people_view(context, links=[context.server.settings.link(f"/join/{token}") for token in made])


@router.post("/manage/invitations/{invitation_id}/end")
def end_invitation(context: Context, invitation_id: str) -> Response:
    with context.server.store.write() as tx:
        invitations.end(tx, invitation_id, actor=context.person.person_id)
    return context.go("/manage/people")


@router.post("/manage/people/{person_id}/back")
def way_back(context: Context, person_id: str) -> Response:
    """A link for somebody whose password is lost; their work stays theirs."""
    with context.server.store.write() as tx:
        token = back_in(tx, context, person_id)
    return people_view(context, links=[context.server.settings.link(f"/join/{token}")])


@router.post("/manage/people/{person_id}/role")
def set_role(context: Context, person_id: str) -> Response:
    with context.server.store.write() as tx:
        give_role(tx, person_id, context.text("role"), actor=context.person.person_id)
    return context.go("/manage/people")


@router.post("/manage/people/{person_id}/state")
def set_state(context: Context, person_id: str) -> Response:
    """Shut somebody out of the study, or let them in again; their work stays."""
    state = context.text("state")
    if state not in ("active", "ended"):
        raise BadInput(Problem("form", f"state: expected active or ended, found {state[:20]!r}"))
    with context.server.store.write() as tx:
        let_in(tx, person_id, is_in=state == "active", actor=context.person.person_id)
    return context.go("/manage/people")


def back_in(tx: Tx, context: RequestContext, person_id: str) -> str:
    """The token of a way back in, for somebody whom one may invite."""
    require_may_give(context.role, people.get(tx, person_id).role)
    return offer_password_reset(tx, person_id, actor=context.person.person_id)


def require_may_give(own_role: str, role: str) -> None:
    """Managers invite those who work; only owners make managers and owners."""
    people.require_role(role)
    if role in (OWNER, MANAGER) and own_role not in OWNERS:
        raise Forbidden("only an owner can invite managers and owners")


def _make(tx: Tx, context: RequestContext, role: str, job_id: str | None, days: int) -> str:
    name = context.text("name")[:LONGEST_NAME]
    return invitations.make(tx, role=role, job_id=job_id, days=days, name=name, actor=context.person.person_id)


def people_view(context: RequestContext, *, links: Sequence[str] = (), problems: Sequence[str] = ()) -> Response:
    """Everybody and every invitation, with links that are shown this once, or what went wrong."""
    with context.server.store.read() as tx:
        everybody = people.all(tx)
        names = {each.person_id: each.name for each in everybody}
        behind = {
            each.person_id: [names[member] for member in people.members(tx, each.person_id)]
            for each in everybody
            if each.kind == "joint"
        }
        waiting = [each for each in invitations.all(tx) if each.used_at is None and each.ended_at is None]
        all_jobs = jobs.all(tx)
        now = tx.now
    roles = [role for role in schema.ROLES if context.role in OWNERS or role not in (OWNER, MANAGER)]
    shown = {
        "everybody": everybody,
        "waiting": waiting,
        "all_jobs": all_jobs,
        "roles": roles,
        "all_roles": schema.ROLES,
    }
    more = {"links": links, "problems": problems, "now": now, "behind": behind, "may_rule": context.role in OWNERS}
    return context.page("manage_people.html", {**shown, **more}, status=422 if problems else 200)


@router.post("/manage/seats")
def make_seat(context: Context) -> Response:
    try:
        with context.server.store.write() as tx:
            pair = [people.get(tx, context.text(field)) for field in ("first", "second")]
            seat(tx, pair, name=context.text("name")[:LONGEST_NAME], actor=context.person.person_id)
    except (Conflict, UsageError) as error:
        return people_view(context, problems=lines_of(error))
    return context.go("/manage/people")


@router.post("/me/seats/{person_id}")
def sit_down(context: Context, person_id: str) -> Response:
    """A session as the seat; the person's own session ends with it."""
    with context.server.store.read() as tx:
        found = require_member(tx, person_id, context.person.person_id)
    return begin_session(context, found, "/jobs")
