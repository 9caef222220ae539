"""A person's account: logging in and out, joining by a link, one's own page, tokens, the second factor.

A login always makes a new session, so one that somebody else planted is worth nothing.  The link that people join by
is an invitation, a way back in for somebody who lost their password, or the one-time link for the first owner of a
study.  One's own page shows the work done, and is where a password is changed and API tokens are made.

Between the password and the code of a second factor a browser holds a ticket: who proved their password, and until
when the code may follow, signed with the study's key and bound to the password, so that a new one makes it worthless.
Guesses are few: ten a minute for a person, no matter who makes them; a browser in which the person came in before has
tries of its own, so that somebody who has only the password cannot keep its owner out.
"""

from __future__ import annotations

import hmac

import segno
from markupsafe import Markup
from starlette.responses import PlainTextResponse, Response

from grater.annotate import credentials, invitations, jobs, marks, people, second_factor
from grater.annotate.credentials import NewToken, Scope
from grater.annotate.invitations import NOT_OPEN, Invitation
from grater.annotate.requests import require_name
from grater.annotate.store import Tx, schema
from grater.annotate.store.transaction import MINUTE, new_secret
from grater.annotate.web import check, security
from grater.annotate.web.calls import Person, Shape, When, by_form, calls_about, list_at, page_at
from grater.annotate.web.context import (
    DEVICE,
    DEVICE_DAYS,
    SESSION,
    Access,
    Changing,
    Context,
    Reading,
    RequestContext,
    Routes,
    end_session,
    read_cookie,
    set_cookie,
)
from grater.annotate.web.security import ANYBODY, EVERYBODY, FACTOR_PATH, MANAGERS, SHORTEST
from grater.annotate.work import own_job
from grater.errors import NotFound, UsageError

doors = Routes(ANYBODY)
pages = Routes(EVERYBODY)

WRONG = "Wrong name or password."
TOO_LATE = "That took too long. Log in again."
TOO_OFTEN = "Too many attempts. Wait a minute and try again."
TICKET_MINUTES = 5


@doors.get("/")
def home(context: Context) -> Response:
    if context.visitor is None:
        return context.go("/login")
    return context.go("/manage" if context.role in MANAGERS else "/jobs")


@doors.get("/healthz")
def health(context: Context) -> Response:
    """Whether the server and its database answer, for monitoring."""
    with context.server.store.read():
        return PlainTextResponse("ok")


@doors.get("/login")
def login_page(context: Context, next: str = "/") -> Response:  # noqa: A002  (as it stands in the address)
    if context.visitor is not None:
        return context.go(own_path(next))
    has_check = check.is_open(context, "check_page")
    return context.page("login.html", name="", next=own_path(next), problem="", has_check=has_check)


@doors.post("/login")
def login(context: Context) -> Response:
    name, next_path = context.text("name"), own_path(context.text("next"))
    with context.server.store.read() as tx:
        person = people.by_name(tx, name)
        is_known = person is not None and credentials.has_logged_in_from(tx, person.person_id, address_of(context))
    # Whose tries a login uses up: see `grater.annotate.web.security`.
    here, device = f"login {context.address} {name.lower()[:200]}", _device(context, person)
    keys = [f"device {device}"] if device else [here] if is_known else [f"address {context.address}", here]
    if not context.server.logins.take(*keys):
        return context.page("login.html", status=429, name=name, next=next_path, problem=TOO_OFTEN)
    password = context.form.get("password")
    password_hash = person.password_hash if person and person.state == "active" else ""  # nobody's takes as long
    if not security.is_password(password_hash, password if isinstance(password, str) else "") or person is None:
        return context.page("login.html", status=401, name=name, next=next_path, problem=WRONG)
    context.server.logins.give_back(*keys)
    return admit(context, person, next_path)


@pages.post("/logout")
def logout(context: Context) -> Response:
    with context.server.store.write() as tx:
        credentials.end_session(tx, context.session_token)
    response = context.go("/login")
    end_session(response, context.server.settings)
    return response


@page_at(doors, "/setup/{token}")
@page_at(doors, "/join/{token}")
def join_page(context: RequestContext, tx: Reading, token: str) -> Response:
    """A form for who joins by a link, or comes back by one; as it was sent, with what was wrong with it."""
    invitation = _invitation(tx, token)
    job = jobs.find(tx, invitation.job_id) if invitation.job_id else None
    name = invitation.name if invitation.person_id else context.text("name")
    shown = {"role": invitation.role, "job": job, "shortest": SHORTEST, "name": name}
    return context.page("join.html", shown, is_back=invitation.person_id is not None)


@by_form(doors, "/setup/{token}", refused=join_page)
@by_form(doors, "/join/{token}", refused=join_page)
def join(context: RequestContext, token: str) -> Response:
    with context.server.store.read() as tx:
        invitation = _invitation(tx, token)
    name = require_name(invitation.name if invitation.person_id else context.text("name"))
    password_hash = _new_password(context, name)
    with context.server.store.write() as tx:
        if invitation.person_id:
            person = credentials.reset_password(tx, token, password_hash=password_hash)
        else:
            person = invitations.accept(tx, token, name=name, password_hash=password_hash)
        job = jobs.find(tx, invitation.job_id) if invitation.job_id else None
    if invitation.job_id is None:
        return admit(context, person, "/")
    is_open = job is not None and job.state != "draft"  # raters know of no drafts; their list of jobs says so
    return admit(context, person, f"/jobs/{invitation.job_id}" if is_open else "/jobs?early=1")


def _new_password(context: RequestContext, name: str) -> str:
    """The hash of the new password of a form, which is typed twice."""
    password, again = (str(context.form.get(field, "")) for field in ("password", "again"))
    if password != again:
        raise UsageError("password: the two passwords differ")
    return security.hash_password(password, name=name)


def _invitation(tx: Tx, token: str) -> Invitation:
    if (invitation := invitations.find(tx, token)) is None:
        raise NotFound(NOT_OPEN)
    return invitation


@page_at(pages, "/me")
def _own_page(context: RequestContext, tx: Reading, *, secret: str = "") -> Response:
    own_jobs = [own_job(tx, job, context.person) for job in jobs.all(tx) if job.state != "draft"]
    seats = [seat for seat in people.seats(tx, context.person_id) if seat.state == "active"]
    n_findings = len(marks.open_findings(tx, context.person_id))
    own_tokens = credentials.tokens_of_person(tx, context.person_id)
    may_have_tokens = credentials.may_have_tokens(context.person)
    begun = [mine for mine in own_jobs if mine.n_done]
    shown = {"own_jobs": begun, "own_tokens": own_tokens, "seats": seats, "n_findings": n_findings, "secret": secret}
    shown |= {"scopes": schema.SCOPES, "may_have_tokens": may_have_tokens}
    shown |= {"can_have_factor": second_factor.can_have_one(context.person)}
    return context.page("me.html", shown)


@by_form(pages, "/me/password", refused=_own_page)
def new_password(context: RequestContext) -> Response:
    """A new password ends every session and token of the person, and begins a new session here."""
    _require_password(context, "old")
    password_hash = _new_password(context, context.person.name)
    with context.changing() as tx:
        person = credentials.set_password(tx, context.person, password_hash)
    return begin_session(context, person, "/me")


@doors.post("/login/code")
def enter_code(context: Context) -> Response:
    ticket, path = context.text("ticket"), own_path(context.text("next"))
    person = ticket_holder(context, ticket)
    if person is None:
        return context.page("login.html", status=422, name="", next=path, problem=TOO_LATE)
    key = _key(context, person)
    if not context.server.logins.take(key):
        return code_page(context, ticket=ticket, path=path, problem=TOO_OFTEN, status=429)
    with context.server.store.write() as tx:
        is_right = second_factor.use_code(tx, person, context.text("code"))
    if not is_right:
        wrong = f"{second_factor.WRONG[0].upper()}{second_factor.WRONG[1:]}."
        return code_page(context, ticket=ticket, path=path, problem=wrong, status=401)
    context.server.logins.give_back(key)
    return begin_session(context, person, path)


def _require_password(context: RequestContext, field: str = "password") -> None:
    if not context.server.logins.take(f"password {context.person_id}"):
        raise UsageError(TOO_OFTEN)
    if not security.is_password(context.person.password_hash, str(context.form.get(field, ""))):
        raise UsageError("The password is wrong.")


def _key(context: RequestContext, person: people.Person) -> str:
    """The key under which attempts at a code are counted."""
    return f"code {_device(context, person) or person.person_id}"


@page_at(pages, FACTOR_PATH)
def _page(context: RequestContext, tx: Reading) -> Response:
    person = context.person
    factor = second_factor.find(tx, person.person_id)
    n_codes = second_factor.n_recovery_codes(tx, person.person_id)
    is_required = person.role in second_factor.required_roles(tx)
    is_on = factor is not None and factor.confirmed_at is not None
    begun = factor.secret if factor and not is_on else ""
    address = second_factor.uri(begun, person.name) if begun else ""
    shown = {"is_on": is_on, "n_codes": n_codes, "is_required": is_required, "secret": begun}
    shown |= {"uri": address, "picture": _picture(address), "can_have_one": second_factor.can_have_one(person)}
    return context.page("second_factor.html", shown)


@by_form(pages, FACTOR_PATH, refused=_page)
def begin_set_up(context: RequestContext) -> Response:
    """A new secret for somebody who knows the password, shown until it is confirmed or begun again."""
    _require_password(context)
    with context.changing() as tx:
        second_factor.begin(tx, context.person)
    return _page(context)


@by_form(pages, f"{FACTOR_PATH}/confirm", refused=_page)
def confirm_set_up(context: RequestContext) -> Response:
    """Turn the factor on with its first code; recovery codes are shown once, in a session begun with the factor."""
    if not context.server.logins.take(_key(context, context.person)):
        raise UsageError(TOO_OFTEN)
    with context.changing() as tx:
        codes = second_factor.confirm(tx, context.person, context.text("code"))
    page = context.page("second_factor_codes.html", codes=codes)
    entered = begin_session(context, context.person, FACTOR_PATH)
    for cookie in entered.headers.getlist("set-cookie"):
        page.headers.append("set-cookie", cookie)
    return page


@by_form(pages, f"{FACTOR_PATH}/off", refused=_page)
def turn_off_own(context: RequestContext) -> Response:
    """Turn the factor off with password and code; refused where the role requires it."""
    _require_password(context)
    with context.changing() as tx:
        second_factor.turn_off(tx, context.person, context.text("code"))
    return context.go(FACTOR_PATH)


def _picture(address: str) -> Markup:
    """The QR code of the address; none without one, or where a very long name makes it too long."""
    if not address:
        return Markup("")
    try:
        code = segno.make(address, error="m", boost_error=False, micro=False)
    except segno.DataOverflowError:
        return Markup("")
    return Markup(code.svg_inline(border=4, omitsize=True, dark="#000", light="#fff", svgclass=None, lineclass=None))


def admit(context: RequestContext, person: people.Person, path: str) -> Response:
    """Log in a person whose password is right, or send them to the page that asks for the second factor."""
    with context.server.store.read() as tx:
        is_asked = second_factor.is_on(tx, person.person_id)
    if not is_asked:
        return begin_session(context, person, path)
    expires_at = context.server.settings.clock() + TICKET_MINUTES * MINUTE
    return code_page(context, ticket=make_ticket(context.server.secret, person, expires_at), path=path)


def code_page(context: RequestContext, *, ticket: str, path: str, problem: str = "", status: int = 200) -> Response:
    shown = {"ticket": ticket, "next": path, "problem": problem}
    return context.page("login_code.html", shown, status=status)


def make_ticket(secret: str, person: people.Person, expires_at: int) -> str:
    signature = security.signed(secret, f"ticket|{person.person_id}|{expires_at}|{person.password_hash}")
    return f"{person.person_id}.{expires_at}.{signature}"


def ticket_holder(context: RequestContext, ticket: str) -> people.Person | None:
    """The person whose ticket this is, if it is valid and they may still log in."""
    person_id, _, rest = ticket.partition(".")
    until = rest.partition(".")[0]
    with context.server.store.read() as tx:
        person = people.find(tx, person_id)
    if person is None or person.state != "active" or not until.isdecimal():
        return None
    expected = make_ticket(context.server.secret, person, int(until))
    is_ours = hmac.compare_digest(expected.encode(), ticket.encode("utf-8", "replace"))
    return person if is_ours and context.server.settings.clock() < int(until) else None


def _device(context: RequestContext, person: people.Person | None) -> str:
    """The cookie of a browser in which the person has logged in before; empty in any other."""
    cookie = read_cookie(context.request, context.server.settings, DEVICE)
    is_theirs = person is not None and security.is_device(context.server.secret, person.person_id, cookie)
    return cookie if is_theirs else ""


def address_of(context: RequestContext) -> str:
    """The address of the request, as the study stores it."""
    return security.keyed_address(context.server.secret, context.address)


def begin_session(
    context: RequestContext, person: people.Person, path: str, *, member_id: str | None = None
) -> Response:
    """A new session for a person who has authenticated; their previous session, if any, ends.

    `member_id` is who sits down, where the person is a joint seat.
    """
    settings = context.server.settings
    with context.server.store.write() as tx:
        if member_id is not None:
            people.require_access(tx, {member_id}, session_token=context.session_token)
        people.require_unchanged(tx, person)
        credentials.end_session(tx, context.session_token)
        token, _ = credentials.start_session(
            tx, person.person_id, hours=settings.session_hours, member_id=member_id, address=address_of(context)
        )
    response = context.go(path)
    set_cookie(response, settings, SESSION, token, int(settings.session_hours * 3600))
    if person.password_hash:
        device = security.device_cookie(context.server.secret, person.person_id, new_secret())
        set_cookie(response, settings, DEVICE, device, DEVICE_DAYS * 86_400)
    return response


def own_path(path: str) -> str:
    """The path if it is one of ours, else the home page: a login must not send people to other sites."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if is_ours else "/"


api = calls_about("me", EVERYBODY)


class Me(Person):
    """`findings` counts marks of yours to be looked at again; `seats` are the joint seats that you share."""

    findings: int
    seats: list[Person]


class Token(Shape):
    """`used_at` is exact to five minutes, null before the first use."""

    token_id: str
    name: str
    scope: Scope
    made_at: When
    expires_at: When | None
    used_at: When | None


class MadeToken(Token):
    """Send `token` as `Authorization: Bearer TOKEN`."""

    token: str


@api.get("/me")
def me(context: Context, tx: Reading) -> Me:
    """The owner of this token."""
    n_findings = len(marks.open_findings(tx, context.person_id))
    seats = [Person.of(seat) for seat in people.seats(tx, context.person_id) if seat.state == "active"]
    return Me(**Person.of(context.person).model_dump(), findings=n_findings, seats=seats)


@list_at(api, "/me/tokens", "tokens")
def my_tokens(context: Context, tx: Reading) -> list[Token]:
    """Your valid tokens, without their secrets."""
    tokens = credentials.tokens_of_person(tx, context.person_id)
    return [Token.of(token) for token in tokens]


@by_form(pages, "/me/tokens", then=lambda context, made: _own_page(context, secret=made.token))
@api.post("/me/tokens")
def make_token(context: Context, tx: Changing, sent: NewToken) -> MadeToken:
    """Create another token, which expires no later than this one; it is shown only once."""
    own = context.access or Access(context.person, context.person_id)
    secret = credentials.make_token(
        tx,
        own.person.person_id,
        **sent.model_dump(),
        role=own.person.role,
        made_by=own.human_id,
        not_after=own.expires_at,
    )
    made = Token.of(credentials.token_by_secret(tx, secret))
    return MadeToken(**made.model_dump(), token=secret)


@by_form(pages, "/me/tokens/{token_id}/end", then="/me")
@api.post("/me/tokens/{token_id}/end", status_code=204)
def end_token(context: Context, tx: Changing, token_id: str) -> None:
    """Revoke one of your tokens, including this one."""
    credentials.end_token(tx, token_id, person_id=context.person_id)
