"""People and invitations: managers invite raters and look after them, owners give roles."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Forbidden, Problem
from grater.server.numbers import number_of
from grater.server.security.roles import MANAGER, OWNER, OWNERS
from grater.server.visit import Visit, Visiting
from grater.store import Tx, invitations, jobs, people, schema, sessions
from grater.store.people import Person
from grater.store.returning import invite_back

router = APIRouter()

MOST_DAYS = 365
MOST_AT_ONCE = 100
LONGEST_NAME = 80


@router.get("/manage/people")
def people_page(visit: Visiting) -> Response:
    return people_view(visit)


@router.post("/manage/invitations")
def invite(visit: Visiting) -> Response:
    """New invitations; their links are shown this once, since only hashes are kept."""
    role, job_id = visit.text("role"), visit.text("job") or None
    require_may_give(visit.role, role)
    days, number = number_of(visit, "days", 14, most=MOST_DAYS), number_of(visit, "number", 1, most=MOST_AT_ONCE)
    with visit.server.store.write() as tx:
        if job_id is not None:
            jobs.the(tx, job_id)
        made = [_make(tx, visit, role, job_id, days) for _ in range(number)]
    return people_view(visit, links=[visit.server.settings.link(f"/join/{token}") for token in made])


@router.post("/manage/invitations/{invitation_id}/end")
def end_invitation(visit: Visiting, invitation_id: str) -> Response:
    with visit.server.store.write() as tx:
        invitations.end(tx, invitation_id, actor=visit.person.person_id)
    return visit.go("/manage/people")


@router.post("/manage/people/{person_id}/back")
def way_back(visit: Visiting, person_id: str) -> Response:
    """A link for somebody whose password is lost; their work stays theirs."""
    with visit.server.store.write() as tx:
        token = back_in(tx, visit, person_id)
    return people_view(visit, links=[visit.server.settings.link(f"/join/{token}")])


@router.post("/manage/people/{person_id}/role")
def set_role(visit: Visiting, person_id: str) -> Response:
    with visit.server.store.write() as tx:
        give_role(tx, person_id, visit.text("role"), actor=visit.person.person_id)
    return visit.go("/manage/people")


@router.post("/manage/people/{person_id}/state")
def set_state(visit: Visiting, person_id: str) -> Response:
    """Shut somebody out of the study, or let them in again; their work stays."""
    state = visit.text("state")
    if state not in ("active", "ended"):
        raise BadInput(Problem("form", f"state: expected active or ended, found {state[:20]!r}"))
    with visit.server.store.write() as tx:
        let_in(tx, person_id, is_in=state == "active", actor=visit.person.person_id)
    return visit.go("/manage/people")


def back_in(tx: Tx, visit: Visit, person_id: str) -> str:
    """The token of a way back in, for somebody whom one may invite."""
    require_may_give(visit.role, people.the(tx, person_id).role)
    return invite_back(tx, person_id, actor=visit.person.person_id)


def give_role(tx: Tx, person_id: str, role: str, *, actor: str) -> Person:
    """Another role for somebody, whose sessions end with the old one; the study keeps an owner."""
    require_another_owner(tx, person_id)
    person = people.set_role(tx, person_id, role, actor=actor)
    if person_id != actor:
        sessions.end_all(tx, person_id)
    return person


def let_in(tx: Tx, person_id: str, *, is_in: bool, actor: str) -> Person:
    """Let somebody in or shut them out, with the seats that they share; the study keeps an owner."""
    require_another_owner(tx, person_id)
    person = people.set_state(tx, person_id, "active" if is_in else "ended", actor=actor)
    for each in (person_id, *(joint.person_id for joint in people.seats(tx, person_id))):
        sessions.end_all(tx, each)
    return person


def require_may_give(own_role: str, role: str) -> None:
    """Managers invite those who work; only owners make managers and owners."""
    people.require_role(role)
    if role in (OWNER, MANAGER) and own_role not in OWNERS:
        raise Forbidden("only an owner can invite managers and owners")


def _make(tx: Tx, visit: Visit, role: str, job_id: str | None, days: int) -> str:
    name = visit.text("name")[:LONGEST_NAME]
    return invitations.make(tx, role=role, job_id=job_id, days=days, name=name, actor=visit.person.person_id)


def require_another_owner(tx: Tx, person_id: str) -> None:
    """Refuse to take the last owner away from a study."""
    if people.owners(tx) == [person_id]:
        raise Forbidden("this is the only owner of the study; make somebody else an owner first")


def people_view(visit: Visit, *, links: Sequence[str] = (), problems: Sequence[str] = ()) -> Response:
    """Everybody and every invitation, with links that are shown this once, or what went wrong."""
    with visit.server.store.read() as tx:
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
    roles = [role for role in schema.ROLES if visit.role in OWNERS or role not in (OWNER, MANAGER)]
    shown = {
        "everybody": everybody,
        "waiting": waiting,
        "all_jobs": all_jobs,
        "roles": roles,
        "all_roles": schema.ROLES,
    }
    more = {"links": links, "problems": problems, "now": now, "behind": behind, "may_rule": visit.role in OWNERS}
    return visit.page("manage_people.html", {**shown, **more}, status=422 if problems else 200)
