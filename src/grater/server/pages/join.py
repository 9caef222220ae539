"""Come in by a link: an invitation, or the one-time link for the first owner of a study."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput, Conflict, NotFound
from grater.server.pages.login import begin_session
from grater.server.problems import lines_of
from grater.server.security.passwords import SHORTEST, hash_password
from grater.server.visit import Visit, Visiting
from grater.store import Tx, invitations, jobs
from grater.store.invitations import Invitation
from grater.store.people import Person
from grater.store.returning import SPENT, come_back

router = APIRouter()

LONGEST_NAME = 80


@router.get("/join/{token}")
def join_page(visit: Visiting, token: str) -> Response:
    invitation = _require(visit, token)
    return _form(visit, invitation, name=invitation.name if invitation.person_id else "", problems=[])


@router.post("/join/{token}")
def join(visit: Visiting, token: str) -> Response:
    invitation = _require(visit, token)
    password = str(visit.form.get("password", ""))
    name = invitation.name if invitation.person_id else visit.text("name")
    problems = _complaints(name, password, str(visit.form.get("again", "")))
    if problems:
        return _form(visit, invitation, name=name, problems=problems)
    try:
        password_hash = hash_password(password, name=name)
        with visit.server.store.write() as tx:
            person = _let_in(tx, invitation, token, name, password_hash)
    except (BadInput, Conflict) as error:
        return _form(visit, invitation, name=name, problems=lines_of(error))
    return begin_session(visit, person, f"/jobs/{invitation.job_id}" if invitation.job_id else "/")


@router.get("/setup/{token}")
def setup_page(visit: Visiting, token: str) -> Response:
    return join_page(visit, token)


@router.post("/setup/{token}")
def setup(visit: Visiting, token: str) -> Response:
    return join(visit, token)


def _let_in(tx: Tx, invitation: Invitation, token: str, name: str, password_hash: str) -> Person:
    if invitation.person_id:
        return come_back(tx, token, password_hash=password_hash)
    return invitations.accept(tx, token, name=name, password_hash=password_hash)


def _require(visit: Visit, token: str) -> Invitation:
    with visit.server.store.read() as tx:
        invitation = invitations.find(tx, token)
    if invitation is None:
        raise NotFound(SPENT)
    return invitation


def _form(visit: Visit, invitation: Invitation, *, name: str, problems: list[str]) -> Response:
    with visit.server.store.read() as tx:
        job = jobs.find(tx, invitation.job_id) if invitation.job_id else None
    status = 422 if problems else 200
    shown = {"role": invitation.role, "job": job, "shortest": SHORTEST, "name": name, "problems": problems}
    return visit.page("join.html", shown, status=status, is_back=invitation.person_id is not None)


def _complaints(name: str, password: str, again: str) -> list[str]:
    found = []
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        found.append(f"name: expected 1 to {LONGEST_NAME} letters, found {len(name)}")
    if password != again:
        found.append("password: the two passwords differ")
    return found
