"""Log in and out.  A login always makes a new session, so one that somebody else planted is worth nothing."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.server.cookies import end_session, set_session
from grater.server.security.passwords import is_password
from grater.server.visit import Visit, Visiting
from grater.store import people, sessions
from grater.store.people import Person

router = APIRouter()

WRONG = "The name or the password is wrong."
TOO_OFTEN = "Too many tries. Wait a minute, then try again."


@router.get("/login")
def login_page(visit: Visiting, next: str = "/") -> Response:  # noqa: A002  (as it stands in the address)
    if visit.visitor is not None:
        return visit.go(own_path(next))
    return visit.page("login.html", name="", next=own_path(next), problem="")


@router.post("/login")
def login(visit: Visiting) -> Response:
    name, next_path = visit.text("name"), own_path(visit.text("next"))
    client = visit.request.client
    keys = (f"address {client.host if client else ''}", f"name {name.lower()[:200]}")
    if not visit.server.logins.take(*keys):
        return visit.page("login.html", status=429, name=name, next=next_path, problem=TOO_OFTEN)
    person = _known(visit, name)
    if person is None:
        return visit.page("login.html", status=401, name=name, next=next_path, problem=WRONG)
    visit.server.logins.forget(*keys)
    return begin_session(visit, person, next_path)


@router.post("/logout")
def logout(visit: Visiting) -> Response:
    with visit.server.store.write() as tx:
        sessions.end(tx, visit.session_token)
    response = visit.go("/login")
    end_session(response, visit.server.settings)
    return response


def begin_session(visit: Visit, person: Person, path: str) -> Response:
    """A new session for a person who has proved who they are; the one they came with, if any, ends."""
    settings = visit.server.settings
    with visit.server.store.write() as tx:
        people.require_unchanged(tx, person)
        if visit.session_token:
            sessions.end(tx, visit.session_token)
        token, _ = sessions.start(tx, person.person_id, hours=settings.session_hours)
    response = visit.go(path)
    set_session(response, settings, token)
    return response


def _known(visit: Visit, name: str) -> Person | None:
    """The person, if name and password are right and they may still come in."""
    password = visit.form.get("password")
    with visit.server.store.read() as tx:
        person = people.by_name(tx, name)
    password_hash = person.password_hash if person and person.state == "active" else ""
    is_right = is_password(password_hash, password if isinstance(password, str) else "")
    return person if is_right else None


def own_path(path: str) -> str:
    """The path if it is one of ours, else the front door: a login must not send people to other sites."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if is_ours else "/"
