"""Coming in: from a password that is right to a session, by way of the second factor where there is one.

Between the two a browser holds a ticket: who proved their password, and until when the code may follow, signed with
the study's key and bound to the password, so that a new one makes it worthless.
"""

from __future__ import annotations

import hashlib
import hmac

from starlette.responses import Response

from grater.annotate.store import credentials, people
from grater.annotate.store.clock import MINUTE
from grater.annotate.store.ids import new_secret
from grater.annotate.store.people import Person
from grater.annotate.study import people as study_people
from grater.annotate.web.context import RequestContext, read_device, set_device, set_session
from grater.annotate.web.security import device_cookie, is_device, keyed_address

TICKET_MINUTES = 5
TOO_OFTEN = "Too many attempts. Wait a minute and try again."


def admit(context: RequestContext, person: Person, path: str) -> Response:
    """A person whose password is right: in, or on to the page that asks for the second factor."""
    with context.server.store.read() as tx:
        is_asked = credentials.is_on(tx, person.person_id)
    if not is_asked:
        return begin_session(context, person, path)
    expires_at = context.server.settings.clock() + TICKET_MINUTES * MINUTE
    return code_page(context, ticket=make_ticket(context.server.secret, person, expires_at), path=path)


def code_page(context: RequestContext, *, ticket: str, path: str, problem: str = "", status: int = 200) -> Response:
    shown = {"ticket": ticket, "next": path, "problem": problem}
    return context.page("login_code.html", shown, status=status)


def make_ticket(secret: str, person: Person, expires_at: int) -> str:
    signed = f"ticket|{person.person_id}|{expires_at}|{person.password_hash}"
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).hexdigest()
    return f"{person.person_id}.{expires_at}.{signature}"


def ticket_holder(context: RequestContext, ticket: str) -> Person | None:
    """The person whose ticket this is, if it is one, holds, and they may still come in."""
    person_id, _, rest = ticket.partition(".")
    until = rest.partition(".")[0]
    with context.server.store.read() as tx:
        person = people.find(tx, person_id)
    if person is None or person.state != "active" or not until.isdecimal():
        return None
    expected = make_ticket(context.server.secret, person, int(until))
    is_ours = hmac.compare_digest(expected.encode(), ticket.encode("utf-8", "replace"))
    return person if is_ours and context.server.settings.clock() < int(until) else None


def is_known_browser(context: RequestContext, person: Person) -> bool:
    """Whether the person came in by this browser before."""
    return is_device(context.server.secret, person.person_id, read_device(context.request, context.server.settings))


def address_of(context: RequestContext) -> str:
    """Where the request comes from, as the study remembers it."""
    return keyed_address(context.server.secret, context.address)


def begin_session(context: RequestContext, person: Person, path: str, *, member_id: str | None = None) -> Response:
    """A new session for a person who has proved who they are; the one they came with, if any, ends.

    `member_id` is who sits down, where the person is a joint seat.
    """
    settings = context.server.settings
    with context.server.store.write() as tx:
        if member_id is not None:
            study_people.require_access(tx, {member_id}, session_token=context.session_token)
        token = study_people.start_session(
            tx,
            person,
            hours=settings.session_hours,
            old_token=context.session_token,
            member_id=member_id,
            address=address_of(context),
        )
    response = context.go(path)
    set_session(response, settings, token)
    if person.password_hash:
        set_device(response, settings, device_cookie(context.server.secret, person.person_id, new_secret()))
    return response


def own_path(path: str) -> str:
    """The path if it is one of ours, else the front door: a login must not send people to other sites."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if is_ours else "/"
