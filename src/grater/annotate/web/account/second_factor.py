"""Pages of the second factor: its code after the password, and setting it up on one's own page.

Guesses are few: ten a minute for a person, whoever makes them; a browser in which the person came in before has tries
of its own, so that somebody who has only the password cannot keep its owner out.
"""

from __future__ import annotations

from collections.abc import Sequence

import segno
from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from grater.annotate.store import credentials
from grater.annotate.store.people import Person
from grater.annotate.study.second_factor import (
    WRONG,
    begin,
    can_have_one,
    confirm,
    required_roles,
    turn_off,
    uri,
    use_code,
)
from grater.annotate.web.account.entering import (
    TOO_OFTEN,
    begin_session,
    code_page,
    is_known_browser,
    own_path,
    ticket_holder,
)
from grater.annotate.web.context import Context, RequestContext, read_device
from grater.annotate.web.errors import lines_of
from grater.annotate.web.roles import FACTOR_PATH
from grater.annotate.web.security import is_password
from grater.errors import GraterError

router = APIRouter()

WRONG_PASSWORD = "The password is wrong."
TOO_LATE = "That took too long. Log in again."


@router.post("/login/code")
def enter_code(context: Context) -> Response:
    """The second step of a login."""
    ticket, path = context.text("ticket"), own_path(context.text("next"))
    person = ticket_holder(context, ticket)
    if person is None:
        return context.page("login.html", status=422, name="", next=path, problem=TOO_LATE)
    key = _key(context, person)
    if not context.server.logins.take(key):
        return code_page(context, ticket=ticket, path=path, problem=TOO_OFTEN, status=429)
    with context.server.store.write() as tx:
        is_right = use_code(tx, person, context.text("code"))
    if not is_right:
        return code_page(context, ticket=ticket, path=path, problem=_sentence(WRONG), status=401)
    context.server.logins.give_back(key)
    return begin_session(context, person, path)


@router.get(FACTOR_PATH)
def factor_page(context: Context) -> Response:
    return _page(context)


@router.post(FACTOR_PATH)
def begin_set_up(context: Context) -> Response:
    """A new secret, for who knows the password; it is shown until it is confirmed or begun anew."""
    if problem := _password_problem(context):
        return _page(context, problems=[problem])
    try:
        with context.changing() as tx:
            begin(tx, context.person)
    except GraterError as error:
        return _page(context, problems=lines_of(error))
    return _page(context)


@router.post(f"{FACTOR_PATH}/confirm")
def confirm_set_up(context: Context) -> Response:
    """On, by the first code; the recovery codes are shown this once, in a session that began with the factor."""
    if not context.server.logins.take(_key(context, context.person)):
        return _page(context, problems=[TOO_OFTEN], status=429)
    try:
        with context.changing() as tx:
            codes = confirm(tx, context.person, context.text("code"))
    except GraterError as error:
        return _page(context, problems=lines_of(error))
    page = context.page("second_factor_codes.html", codes=codes)
    entered = begin_session(context, context.person, FACTOR_PATH)
    for cookie in entered.headers.getlist("set-cookie"):
        page.headers.append("set-cookie", cookie)
    return page


@router.post(f"{FACTOR_PATH}/off")
def turn_off_own(context: Context) -> Response:
    """Off, by password and code; refused where the role requires it."""
    if problem := _password_problem(context):
        return _page(context, problems=[problem])
    try:
        with context.changing() as tx:
            turn_off(tx, context.person, context.text("code"))
    except GraterError as error:
        return _page(context, problems=lines_of(error))
    return context.go(FACTOR_PATH)


def _password_problem(context: RequestContext) -> str:
    if not context.server.logins.take(f"password {context.person.person_id}"):
        return TOO_OFTEN
    return "" if is_password(context.person.password_hash, str(context.form.get("password", ""))) else WRONG_PASSWORD


def _key(context: RequestContext, person: Person) -> str:
    """Whose tries a code uses up."""
    if is_known_browser(context, person):
        return f"code {read_device(context.request, context.server.settings)}"
    return f"code {person.person_id}"


def _page(context: RequestContext, *, problems: Sequence[str] = (), status: int = 422) -> Response:
    person = context.person
    with context.server.store.read() as tx:
        factor = credentials.find(tx, person.person_id)
        n_codes = credentials.n_recovery_codes(tx, person.person_id)
        is_required = person.role in required_roles(tx)
    is_on = factor is not None and factor.confirmed_at is not None
    begun = factor.secret if factor and not is_on else ""
    shown = {"is_on": is_on, "n_codes": n_codes, "is_required": is_required, "can_have_one": can_have_one(person)}
    address = uri(begun, person.name) if begun else ""
    more = {"secret": begun, "uri": address, "picture": _picture(address) if address else "", "problems": problems}
    return context.page("second_factor.html", {**shown, **more}, status=status if problems else 200)


def _picture(address: str) -> Markup:
    """The QR code of the address; none where a very long name makes it too long for one."""
    try:
        code = segno.make(address, error="m", boost_error=False, micro=False)
    except segno.DataOverflowError:
        return Markup("")
    return Markup(code.svg_inline(border=4, omitsize=True, dark="#000", light="#fff", svgclass=None, lineclass=None))


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
