"""A person's account: the front door, logging in and out, joining by a link, and one's own page.

A login always makes a new session, so one that somebody else planted is worth nothing.  The link that people join by
is an invitation, a way back in for somebody who lost their password, or the one-time link for the first owner of a
study.  One's own page shows the work done, and is where a password is changed and API tokens are made.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from grater.annotate.store import credentials, invitations, jobs, people, revisions, schema
from grater.annotate.store.invitations import NO_RESET, Invitation
from grater.annotate.store.people import Person
from grater.annotate.study import people as study_people
from grater.annotate.study.limits import require_name
from grater.annotate.study.second_factor import can_have_one
from grater.annotate.study.work import own_job
from grater.annotate.web.account.entering import (
    TOO_OFTEN,
    address_of,
    admit,
    begin_session,
    is_known_browser,
    own_path,
)
from grater.annotate.web.check.pages import is_open
from grater.annotate.web.context import Context, RequestContext, decimal_of, end_session, passed_on, read_device
from grater.annotate.web.errors import lines_of
from grater.annotate.web.roles import MANAGE, MANAGERS
from grater.annotate.web.security import SHORTEST, hash_password, is_password
from grater.errors import BadInput, Conflict, NotFound, UsageError

router = APIRouter()

WRONG = "Wrong name or password."


@router.get("/")
def home(context: Context) -> Response:
    if context.visitor is None:
        return context.go("/login")
    return context.go("/manage" if context.role in MANAGERS else "/jobs")


@router.get("/healthz")
def health(context: Context) -> Response:
    """Whether the server and its database answer, for whoever watches over them."""
    with context.server.store.read():
        return PlainTextResponse("ok")


@router.get("/login")
def login_page(context: Context, next: str = "/") -> Response:  # noqa: A002  (as it stands in the address)
    if context.visitor is not None:
        return context.go(own_path(next))
    has_check = is_open(context, "check_page")
    return context.page("login.html", name="", next=own_path(next), problem="", has_check=has_check)


@router.post("/login")
def login(context: Context) -> Response:
    name, next_path = context.text("name"), own_path(context.text("next"))
    with context.server.store.read() as tx:
        person = people.by_name(tx, name)
        is_known = person is not None and credentials.came_from(tx, person.person_id, address_of(context))
    keys = _login_keys(context, name, person, is_known=is_known)
    if not context.server.logins.take(*keys):
        return context.page("login.html", status=429, name=name, next=next_path, problem=TOO_OFTEN)
    if not _is_right(context, person) or person is None:
        return context.page("login.html", status=401, name=name, next=next_path, problem=WRONG)
    context.server.logins.give_back(*keys)
    return admit(context, person, next_path)


def _login_keys(context: RequestContext, name: str, person: Person | None, *, is_known: bool) -> tuple[str, ...]:
    """Whose tries a login uses up: see `grater.annotate.web.security`."""
    if person is not None and is_known_browser(context, person):
        return (f"device {read_device(context.request, context.server.settings)}",)
    here = f"login {context.address} {name.lower()[:200]}"
    return (here,) if is_known else (f"address {context.address}", here)


@router.post("/logout")
def logout(context: Context) -> Response:
    with context.server.store.write() as tx:
        study_people.end_session(tx, context.session_token)
    response = context.go("/login")
    end_session(response, context.server.settings)
    return response


def _is_right(context: RequestContext, person: Person | None) -> bool:
    """Whether the password is that of the person, and they may still come in; nobody's takes as long."""
    password = context.form.get("password")
    password_hash = person.password_hash if person and person.state == "active" else ""
    return is_password(password_hash, password if isinstance(password, str) else "")


@router.get("/join/{token}")
def join_page(context: Context, token: str) -> Response:
    invitation = _invitation(context, token)
    return _join_form(context, invitation, name=invitation.name if invitation.person_id else "", problems=[])


@router.post("/join/{token}")
def join(context: Context, token: str) -> Response:
    invitation = _invitation(context, token)
    password = str(context.form.get("password", ""))
    name = invitation.name if invitation.person_id else context.text("name")
    problems = _complaints(name, password, str(context.form.get("again", "")))
    if problems:
        return _join_form(context, invitation, name=name, problems=problems)
    try:
        password_hash = hash_password(password, name=name)
        with context.server.store.write() as tx:
            person = study_people.accept_invitation(tx, invitation, token, name=name, password_hash=password_hash)
    except (BadInput, Conflict) as error:
        return _join_form(context, invitation, name=name, problems=lines_of(error))
    return admit(context, person, _first_page(context, invitation))


def _first_page(context: RequestContext, invitation: Invitation) -> str:
    """The job that an invitation is for; raters know of no drafts, so until it opens their list of jobs says so."""
    if invitation.job_id is None:
        return "/"
    with context.server.store.read() as tx:
        job = jobs.find(tx, invitation.job_id)
    return f"/jobs/{invitation.job_id}" if job is not None and job.state != "draft" else "/jobs?early=1"


@router.get("/setup/{token}")
def setup_page(context: Context, token: str) -> Response:
    return join_page(context, token)


@router.post("/setup/{token}")
def setup(context: Context, token: str) -> Response:
    return join(context, token)


def _invitation(context: RequestContext, token: str) -> Invitation:
    with context.server.store.read() as tx:
        invitation = invitations.find(tx, token)
    if invitation is None:
        raise NotFound(NO_RESET)
    return invitation


def _join_form(context: RequestContext, invitation: Invitation, *, name: str, problems: list[str]) -> Response:
    with context.server.store.read() as tx:
        job = jobs.find(tx, invitation.job_id) if invitation.job_id else None
    status = 422 if problems else 200
    shown = {"role": invitation.role, "job": job, "shortest": SHORTEST, "name": name, "problems": problems}
    return context.page("join.html", shown, status=status, is_back=invitation.person_id is not None)


def _complaints(name: str, password: str, again: str) -> list[str]:
    complaints = []
    try:
        require_name(name)
    except UsageError as error:
        complaints.append(str(error))
    if password != again:
        complaints.append("password: the two passwords differ")
    return complaints


@router.get("/me")
def me(context: Context) -> Response:
    return _own_page(context)


@router.post("/me/password")
def new_password(context: Context) -> Response:
    """A new password ends every session and token of the person, and begins a new session here."""
    old, new, again = (str(context.form.get(name, "")) for name in ("old", "password", "again"))
    if not context.server.logins.take(f"password {context.person.person_id}"):
        return _own_page(context, problems=[TOO_OFTEN], status=429)
    if not is_password(context.person.password_hash, old):
        return _own_page(context, problems=["The current password is wrong."], status=422)
    if new != again:
        return _own_page(context, problems=["The two new passwords differ."], status=422)
    try:
        password_hash = hash_password(new, name=context.person.name)
    except BadInput as error:
        return _own_page(context, problems=lines_of(error), status=422)
    with context.changing() as tx:
        person = study_people.set_password(tx, context.person, password_hash)
    return begin_session(context, person, "/me")


@router.post("/me/tokens")
def new_token(context: Context) -> Response:
    """A new token is shown this once."""
    days = decimal_of(context, "days", credentials.TOKEN_DAYS)
    name, scope = context.text("name"), context.text("scope") or MANAGE
    with context.changing() as tx:
        secret = study_people.make_token(
            tx, context.person.person_id, name=name, days=days, scope=scope, **passed_on(context)
        )
    return _own_page(context, secret=secret)


@router.post("/me/tokens/{token_id}/end")
def end_token(context: Context, token_id: str) -> Response:
    with context.changing() as tx:
        study_people.end_token(tx, token_id, person_id=context.person.person_id)
    return context.go("/me")


def _own_page(
    context: RequestContext, *, problems: list[str] | None = None, secret: str = "", status: int = 200
) -> Response:
    with context.server.store.read() as tx:
        own_jobs = [own_job(tx, job, context.person) for job in jobs.all(tx) if job.state != "draft"]
        seats = [seat for seat in people.seats(tx, context.person.person_id) if seat.state == "active"]
        n_findings = len(revisions.open_findings(tx, context.person.person_id))
        own_tokens = credentials.tokens_of_person(tx, context.person.person_id)
    begun = [mine for mine in own_jobs if mine.n_done]
    shown = {"own_jobs": begun, "own_tokens": own_tokens, "seats": seats, "n_findings": n_findings}
    shown |= {"can_have_factor": can_have_one(context.person)}
    shown |= {"scopes": schema.SCOPES, "may_have_tokens": study_people.may_have_tokens(context.person)}
    return context.page("me.html", shown, status=status, problems=problems or [], secret=secret)
