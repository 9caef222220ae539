"""A person's own page: what they have done, their password, their API tokens."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.errors import BadInput
from grater.server.pages.jobs import own_job
from grater.server.pages.login import begin_session
from grater.server.problems import lines_of
from grater.server.security.passwords import hash_password, is_password
from grater.server.visit import Visit, Visiting
from grater.store import findings, jobs, people, sessions, tokens

router = APIRouter()

LONGEST_NAME = 80


@router.get("/me")
def me(visit: Visiting) -> Response:
    return _page(visit)


@router.post("/me/password")
def new_password(visit: Visiting) -> Response:
    """A new password ends every session of the person, and begins a new one here."""
    old, new, again = (str(visit.form.get(name, "")) for name in ("old", "password", "again"))
    if not visit.server.logins.take(f"password {visit.person.person_id}"):
        return _page(visit, problems=["Too many tries. Wait a minute, then try again."], status=429)
    if not is_password(visit.person.password_hash, old):
        return _page(visit, problems=["The old password is wrong."], status=422)
    if new != again:
        return _page(visit, problems=["The two new passwords differ."], status=422)
    try:
        password_hash = hash_password(new, name=visit.person.name)
    except BadInput as error:
        return _page(visit, problems=lines_of(error), status=422)
    with visit.server.store.write() as tx:
        people.require_unchanged(tx, visit.person)
        person = people.set_password(tx, visit.person.person_id, password_hash, actor=visit.person.person_id)
        sessions.end_all(tx, person.person_id)
    return begin_session(visit, person, "/me")


@router.post("/me/tokens")
def new_token(visit: Visiting) -> Response:
    """A new token is shown this once."""
    with visit.server.store.write() as tx:
        secret = tokens.make(tx, visit.person.person_id, name=visit.text("name")[:LONGEST_NAME])
    return _page(visit, secret=secret)


@router.post("/me/tokens/{token_id}/end")
def end_token(visit: Visiting, token_id: str) -> Response:
    with visit.server.store.write() as tx:
        tokens.end(tx, token_id, person_id=visit.person.person_id)
    return visit.go("/me")


def _page(visit: Visit, *, problems: list[str] | None = None, secret: str = "", status: int = 200) -> Response:
    with visit.server.store.read() as tx:
        own_jobs = [own_job(tx, job, visit.person) for job in jobs.all(tx) if job.state != "draft"]
        seats = [seat for seat in people.seats(tx, visit.person.person_id) if seat.state == "active"]
        n_findings = len(findings.open_of(tx, visit.person.person_id))
        own_tokens = [token for token in tokens.of_person(tx, visit.person.person_id) if token.ended_at is None]
    done = [each for each in own_jobs if each.n_done]
    shown = {"own_jobs": done, "own_tokens": own_tokens, "seats": seats, "n_findings": n_findings}
    return visit.page("me.html", shown, status=status, problems=problems or [], secret=secret)
