"""The context of a request: the server and its settings, who is asking, and the form that was sent.

Every route opens its `RequestContext` before it does anything, in this order, so that nothing is read from somebody
who may not send it: the roles of the route, the person, the origin of a change, then the form and its token.  Pages
know a person by the session cookie, the API by a bearer token only; a cookie is worth nothing there, so no foreign
page can use it.

There are two cookies: the session of a person, and a random number that ties the forms of a visitor without a session
to their browser.  Both are out of reach of scripts, stay on our site and, where the server is https, bear the
`__Host-` prefix, so that no other host of the domain can set them.
"""

from __future__ import annotations

import time
from asyncio import sleep
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, signature
from math import inf
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_origin
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Depends
from jinja2 import Environment
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from grater.annotate import people
from grater.annotate.dashboard import Live
from grater.annotate.people import ENDED, LockScope, Person, require_access
from grater.annotate.plans import Previews
from grater.annotate.proofreading import Proofreader
from grater.annotate.raters import LargePools
from grater.annotate.requests import Body
from grater.annotate.runs import Runner
from grater.annotate.second_factor import ROLES, is_missing
from grater.annotate.status import study_name
from grater.annotate.store import Store, Tx
from grater.annotate.store.transaction import Clock, new_secret, utc_now
from grater.annotate.web.security import (
    API,
    FACTOR_PATH,
    FIELD,
    HEADER,
    MOST_BUCKETS,
    PUBLIC,
    SAFE,
    WITHOUT_COOKIES,
    WITHOUT_FACTOR,
    Table,
    Tries,
    Turns,
    client_address,
    masked,
    require_own_origin,
    require_token,
    scope_allows,
    visitor_token,
)
from grater.errors import BadInput, Forbidden, GraterError, OutOfTime, Problem, StoreBusy
from grater.model import Json

MEGABYTE = 1_000_000
TWINS = (("127.0.0.1", "localhost"), ("localhost", "127.0.0.1"))


@dataclass(frozen=True, slots=True)
class Settings:
    """`base_url` is where people reach the server, behind whatever proxy; cookies are secure where it is https.

    `proxies` are the addresses or networks of proxies whose `X-Forwarded-For` is believed, none unless named.
    `logins_a_minute` is for one process, which counts for itself.  The body of a request arrives in `body_seconds`, a
    large one in more.  A request works for `request_seconds`, one that
    takes or makes whole files, or runs a system, for `long_request_seconds`.  A page that asked for long work waits
    `wait_seconds` for it, and then lets it go on in the background.

    A visitor's address, or a rater who came by a link and has no password, has `guest_requests` a minute, and such a
    rater changes of `guest_bytes`; what is more is answered after `refusal_seconds`, and what comes at once by turns.

    `systems` are those from outside, `NAME=SYSTEM`, that managers may run from pages: named when the server is
    started; a form only chooses among them.  `chat` says how language models among them are asked.

    `check_page` opens "Check my writing" to everybody, `editors` LanguageTool's protocol; both check texts by
    `check_systems`, or by the default ones.  An address may have `check_letters` checked at once, and half as many
    again every minute.
    """

    base_url: str = "http://127.0.0.1:8000"
    clock: Clock = utc_now
    seed: int = 0
    session_hours: float = 12.0
    trusted_hosts: tuple[str, ...] = ()
    logins_a_minute: int = 10
    most_body_bytes: int = 2 * MEGABYTE
    most_upload_bytes: int = 50 * MEGABYTE
    most_unpacked_bytes: int = 200 * MEGABYTE
    private_webhooks: bool = False
    proxies: tuple[str, ...] = ()
    wait_seconds: float = 3.0
    request_seconds: float = 30.0
    body_seconds: float = 30.0
    long_request_seconds: float = 600.0
    systems: tuple[str, ...] = ()
    chat: Mapping[str, Json] = field(default_factory=dict, hash=False)
    check_page: bool = False
    editors: bool = False
    check_systems: tuple[str, ...] = ()
    check_letters: int = 20_000
    guest_requests: int = 300
    guest_bytes: int = 50_000
    refusal_seconds: float = 1.0

    @property
    def is_secure(self) -> bool:
        return self.base_url.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """The names, with port where there is one, under which requests may come."""
        own = urlsplit(self.base_url).netloc.lower()
        twins = [own.replace(one, other, 1) for one, other in TWINS if own.partition(":")[0] == one]
        return frozenset((own, *twins, *(host.lower() for host in self.trusted_hosts)))

    @property
    def origins(self) -> frozenset[str]:
        """The origins that may send changes: our own."""
        scheme = "https" if self.is_secure else "http"
        return frozenset(f"{scheme}://{host}" for host in self.hosts)

    def bytes_of(self, path: str) -> int:
        """How much a request to this path may bring."""
        return self.most_upload_bytes if path in UPLOADS else self.most_body_bytes

    def seconds_of(self, path: str) -> float:
        """How long the work of a request to this path may take."""
        return self.long_request_seconds if path.rpartition("/")[2] in LONG else self.request_seconds

    def link(self, path: str) -> str:
        """A path as a whole address, to be sent to somebody."""
        return self.base_url.rstrip("/") + path


UPLOADS = ("/manage/import", "/manage/start", "/manage/detector", f"{API}/import")
OF_FILES = ("import", "start", "detector", "export", "report")
LONG = {*OF_FILES, "sure", "preview", "systems", "samples", "jobs", "agreement"}
"""The last words of paths whose work grows with the study: files in and out, systems, samples, new jobs."""

B = TypeVar("B", bound=Body)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """One value, made by `create_app`; handlers reach it through their context.

    `secret` signs the forms of visitors who have not logged in.  It is the study's own, so any process takes a form
    that another one made.
    """

    settings: Settings
    store: Store
    templates: Environment
    logins: Tries
    checks: Tries
    requests: Tries
    paces: Tries
    changes: Tries
    proofreader: Proofreader
    live: Live
    secret: str = field(repr=False)
    runner: Runner
    roles: Table = field(repr=False)
    previews: Previews = field(default_factory=Previews)
    title: StudyTitle = field(default_factory=lambda: StudyTitle())
    turns: Turns = field(default_factory=Turns)
    pools: LargePools = field(default_factory=LargePools)
    guests: dict[str, str] = field(default_factory=dict, repr=False)
    """Guests by their sessions, so that one who has used up their budget is refused without asking the study."""

    def roles_of(self, method: str, path: str) -> frozenset[str]:
        """Who may call a route, by its template; nobody if it is of no router of ours."""
        return self.roles.get((method, path), frozenset())

    def remember_guest(self, session_token: str, person_id: str) -> None:
        """Without a person the session is forgotten: it has ended, or its person has an account."""
        if not person_id:
            self.guests.pop(session_token, None)
            return
        if len(self.guests) >= MOST_BUCKETS:
            self.guests.clear()
        self.guests[session_token] = person_id


@dataclass(slots=True, eq=False)
class StudyTitle:
    """The name of the study, shown on every page; read again every few seconds, kept while the database is busy."""

    name: str = ""
    read_at: float = -inf

    def of(self, store: Store) -> str:
        if time.monotonic() - self.read_at > TITLE_SECONDS:
            with suppress(StoreBusy, OutOfTime), store.glance() as tx:
                self.name = study_name(tx) or "grater"
            self.read_at = time.monotonic()
        return self.name or "grater"

    def forget(self) -> None:
        self.read_at = -inf


TITLE_SECONDS = 5.0


def server_of(request: HTTPConnection) -> Server:
    server = request.app.state.server
    if not isinstance(server, Server):
        raise TypeError("the application was not made by create_app")
    return server


SESSION, NONCE, PLACE, DEVICE = "grater-session", "grater-visit", "grater-place", "grater-device"
DEVICE_DAYS = 365
PLACE_DAYS = 60
LONGEST_COOKIE = 200


def _name(name: str, settings: Settings) -> str:
    return f"__Host-{name}" if settings.is_secure else name


def read_cookie(request: Request, settings: Settings, name: str) -> str:
    return request.cookies.get(_name(name, settings), "")[:LONGEST_COOKIE]


def set_cookie(response: Response, settings: Settings, name: str, value: str, seconds: int | None) -> None:
    name, is_secure = _name(name, settings), settings.is_secure
    response.set_cookie(name, value, max_age=seconds, path="/", secure=is_secure, httponly=True, samesite="lax")


def end_session(response: Response, settings: Settings) -> None:
    response.delete_cookie(_name(SESSION, settings), path="/", secure=settings.is_secure, httponly=True)


MOST_FIELDS = 1000
MOST_FILES = 50


@dataclass(frozen=True, slots=True)
class Access:
    """How a request was let in: the person, with the role that they have here, by a session or by a token.

    `human_id` is who is behind it: the person, the members of a joint seat, or the maker of the token.  Who
    `lacks_factor` must set up a second factor before anything else.
    """

    person: Person
    human_id: str
    csrf: str = ""
    scope: str = "manage"
    expires_at: int | None = None
    lacks_factor: bool = False


class Elsewhere(Exception):
    """Raised by a page for somebody who has to log in first, or to set up a second factor; the answer leads there."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


@dataclass(frozen=True, slots=True, eq=False)
class RequestContext:
    """The visitor and their credentials; `csrf` is the token for the forms of the page that answers.

    `fresh_nonce` is the cookie that a visitor without one is to get with that page.  `problems` are those of the form
    that was sent, for the page that has the form.
    """

    request: Request
    server: Server
    visitor: Person | None
    csrf: str
    session_token: str
    form: FormData
    fresh_nonce: str = ""
    access: Access | None = None
    problems: Sequence[str] = ()

    @property
    def person(self) -> Person:
        """The person, on routes that let nobody else in."""
        if self.visitor is None:
            raise Elsewhere(login_path(self.request.url.path))
        return self.visitor

    @property
    def person_id(self) -> str:
        return self.person.person_id

    @property
    def address(self) -> str:
        """The address of the request, as far as it can be trusted."""
        return address_of(self.request, self.server.settings)

    @property
    def role(self) -> str:
        return self.visitor.role if self.visitor else PUBLIC

    def changing(self, *, also_lock: LockScope = "nobody") -> AbstractContextManager[Tx]:
        """A transaction of the visitor, whose rights are checked when it is stored (P11).

        Refused if their access ended after the request was let in; who would end it now waits until this is done.
        `also_lock` are others to lock first, in one order, where the change is about owners or about everybody.
        """
        return self._checked(also_lock).write()

    @property
    def store(self) -> Store:
        """The study for what begins transactions of its own: the visitor is judged at the beginning of each."""
        return self._checked("nobody")

    def _checked(self, also_lock: LockScope) -> Store:
        access = self.access
        if access is None:
            return self.server.store
        return self.server.store.checked(
            lambda tx: require_access(
                tx,
                {access.human_id, access.person.person_id},
                session_token=self.session_token,
                bearer=_bearer(self.request),
                also_lock=also_lock,
            )
        )

    def text(self, name: str) -> str:
        """A text field of the form, trimmed; empty where there is none."""
        value = self.form.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def asked(self, name: str) -> str:
        """A field of the form, or else of the page's address."""
        return self.text(name) or self.request.query_params.get(name, "").strip()

    def sent(self, model: type[B], **others: object) -> B:
        """The form as the request of an action: its fields are called like those of the model, or given as `others`.

        Text is trimmed, and an empty field counts as not filled in.  A box that is not ticked is not sent.
        """
        sent: dict[str, object] = {}
        for name, about in model.model_fields.items():
            texts = [text for text in self.form.getlist(name) if isinstance(text, str) and text.strip()]
            text = "".join(texts[:1]).strip()
            kinds = {get_origin(kind) or kind for kind in (about.annotation, *get_args(about.annotation))}
            if about.annotation is bool:
                sent[name] = text or False
            elif kinds & {list, tuple} and (texts or about.is_required()):
                sent[name] = texts
            elif text or about.is_required():
                sent[name] = text
        return model.checked(**sent | others)

    def fields(self) -> dict[str, list[str]]:
        """All text fields of the form, as tasks read them."""
        fields: dict[str, list[str]] = {}
        for name, value in self.form.multi_items():
            if isinstance(value, str):
                fields.setdefault(name, []).append(value)
        return fields

    def first_values(self) -> dict[str, str]:
        """The first value of each text field."""
        return {name: values[0] for name, values in self.fields().items()}

    def page(
        self,
        template_name: str,
        values: Mapping[str, object] = MappingProxyType({}),
        /,
        *,
        status: int | None = None,
        **more: object,
    ) -> HTMLResponse:
        """A page from a template; all text in it is escaped.  The status of one with `problems` is 422."""
        on_every_page = {
            "person": self.visitor,
            "csrf": self.csrf,
            "path": self.request.url.path,
            "study_name": self.server.title.of(self.server.store),
            "problems": self.problems,
        }
        template = self.server.templates.get_template(template_name)
        shown = {**on_every_page, **values, **more}
        status = status or (422 if shown.get("problems") else 200)
        response = HTMLResponse(template.render(shown), status)
        if self.fresh_nonce and self.visitor is None:
            set_cookie(response, self.server.settings, NONCE, self.fresh_nonce, None)
        return response

    def go(self, path: str) -> Response:
        """After a change, redirect to another page."""
        return RedirectResponse(path, 303)


def address_of(request: Request, settings: Settings) -> str:
    host = request.client.host if request.client else ""
    return client_address(host, request.headers.getlist("x-forwarded-for"), settings.proxies)


async def open_context(request: Request) -> AsyncIterator[RequestContext]:
    server = server_of(request)
    route: str = request.scope["route"].path
    is_api = route.startswith(WITHOUT_COOKIES)
    token = "" if is_api else read_cookie(request, server.settings, SESSION)
    guest_id = server.guests.get(token, "")
    seconds = _require_budget(server, request, guest_id, is_guest=True) if guest_id else 0.0
    has_credentials = bool(token or (is_api and _bearer(request)))
    access = await run_in_threadpool(_who, server, request, token, is_api) if has_credentials else None
    visitor, session_csrf = (access.person, access.csrf) if access else (None, "")
    request.state.known = (visitor, masked(session_csrf))  # a page that describes an error keeps the way on
    key = _limited(request, server.settings, access)
    if key and not guest_id:
        seconds = _require_budget(server, request, key, is_guest=access is not None)
    server.remember_guest(token, key if access else "")
    await sleep(seconds)
    _require_allowed(request, route, access)
    sent_nonce = read_cookie(request, server.settings, NONCE)
    nonce = sent_nonce or new_secret()
    expected = session_csrf or visitor_token(server.secret, nonce)
    try:
        begun = time.monotonic()
        form = await _form(request, server, "" if is_api else expected)
        is_slow = access is not None and time.monotonic() - begun > SLOW_SECONDS
        if is_slow and await run_in_threadpool(_who, server, request, token, is_api) is None:
            raise Forbidden(ENDED)
        async with server.turns.of(key, 1 if access else AT_WORK) if key else nullcontext():
            yield RequestContext(
                request=request,
                server=server,
                visitor=visitor,
                csrf=masked(expected),
                session_token=token if visitor else "",
                form=form,
                fresh_nonce="" if sent_nonce else nonce,
                access=access,
            )
    finally:
        await request.close()  # uploads lie in temporary files


CHANGE_BYTES = 1700
"""What a change stores in addition to its words: a row, its index entries and its events, measured for an answer."""

LIKE_A_REQUEST = 20_000
"""Bytes of a body that count as one more request."""


LONGEST_WAIT = 20.0
"""Seconds that a request waits for its turn; one that would wait longer is refused."""


AT_WORK = 2
"""Requests of visitors of one address that are worked on at one time; of a guest it is one."""


class TooOften(Exception):
    """Somebody without an account has used up their budget for this minute."""


def _limited(request: Request, settings: Settings, access: Access | None) -> str:
    """Whose budget a request uses: a visitor's address, or a guest, who came by a link and has no password.

    People with an account have none.
    """
    if access is None:
        return address_of(request, settings)
    is_guest = not access.person.password_hash and access.person.kind == "human" and access.csrf
    return access.person.person_id if is_guest else ""


def _require_budget(server: Server, request: Request, key: str, *, is_guest: bool) -> float:
    """The seconds that a limited request has to wait: what comes all at once is served one after the other, so that
    nobody else waits for a minute's worth of it.

    A long body counts as several requests.  Changes of guests are limited by bytes too, except drafts, each of which
    takes the place of the one before.
    """
    is_chunked = "transfer-encoding" in request.headers
    n = server.settings.most_body_bytes if is_chunked else int(request.headers.get("content-length", 0))
    if not server.requests.take(key, amount=min(server.requests.most, 1 + n // LIKE_A_REQUEST)):
        raise TooOften
    n_stored = min(server.changes.most, CHANGE_BYTES + n)
    if is_guest and request.method == "POST" and not server.changes.take(key, amount=n_stored):
        raise TooOften
    if (seconds := server.paces.owe(key)) > LONGEST_WAIT:
        raise TooOften
    return seconds


SLOW_SECONDS = 1.0
"""A form that takes longer to come may outlive the access of its sender, and they are looked up again."""


async def _form(request: Request, server: Server, expected: str) -> FormData:
    """The form of a change, its origin and its token checked; with no `expected` token (the API) neither is asked."""
    if request.method in SAFE:
        return FormData()
    if expected:
        require_own_origin(request.headers, server.settings.origins)
    most = server.settings.most_body_bytes
    form = await request.form(max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=most)
    if expected:
        sent = request.headers.get(HEADER) or form.get(FIELD)
        require_token(expected, sent if isinstance(sent, str) else "")
    return form


Context = Annotated[RequestContext, Depends(open_context)]
Reading: TypeAlias = Annotated[Tx, None]
Changing: TypeAlias = Annotated[Tx, "nobody"]
ChangingOwners: TypeAlias = Annotated[Tx, "owners"]
ChangingEverybody: TypeAlias = Annotated[Tx, "everybody"]
"""What a handler asks for as `tx`: a snapshot, or a change of the visitor, with the others whom it locks."""
CONTEXT = Parameter("context", Parameter.POSITIONAL_OR_KEYWORD, annotation=Context)


class Routes(APIRouter):
    """Routes for the `allowed` roles, and nobody else.

    Their handlers may ask for a transaction next to their context, as `tx: Reading` or `tx: Changing`.
    """

    def __init__(self, allowed: frozenset[str], **more: Any) -> None:
        super().__init__(**more)
        self.allowed = allowed

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().add_api_route(path, in_transaction(endpoint), **more)


def in_transaction(handler: Callable[..., T]) -> Callable[..., T]:
    """A handler that is called with its context, and in the transaction that it asks for.

    The transaction ends before the answer is sent, so that what was not stored is not acknowledged (P1).
    """
    asked = signature(handler, eval_str=True)
    names = dict(asked.parameters)
    has_context, tx = names.pop("context", None) is not None, names.pop("tx", None)
    if tx is None:
        return handler
    (also_lock,) = tx.annotation.__metadata__

    @wraps(handler)
    def opened(context: RequestContext, *values: Any, **named: Any) -> T:
        begun = context.changing(also_lock=also_lock) if also_lock else context.server.store.read()
        with begun as tx:
            first = (context, tx) if has_context else (tx,)
            return handler(*first, *values, **named)

    opened.__dict__["__signature__"] = asked.replace(parameters=[CONTEXT, *names.values()])
    return opened


def _who(server: Server, request: Request, session_token: str, is_api: bool) -> Access | None:
    """The person of a bearer token, or of a session with its form token."""
    bearer = _bearer(request) if is_api else ""
    if not bearer and not session_token:
        return None
    with server.store.glance() as tx:
        by_session = people.find_session(tx, session_token) if session_token else None
        by_token = people.find_token(tx, bearer) if bearer else None
        known = by_session or by_token
        lacks_factor = known is not None and known[1].role in ROLES and is_missing(tx, known[1])
        now = tx.now
    if by_session is not None:
        session, person = by_session
        human_id = session.member_id or person.person_id
        return Access(person, human_id, csrf=session.csrf, lacks_factor=lacks_factor)
    if by_token is None:
        return None
    token, person = by_token
    if token.used_at is None or now - token.used_at >= people.USES_NOTED_EVERY:
        with suppress(GraterError), server.store.write() as tx:  # a full disk must not keep readers out
            people.note_use(tx, token.token_id)
    human_id, expires_at = token.made_by or person.person_id, token.expires_at
    return Access(person, human_id, scope=token.scope, expires_at=expires_at, lacks_factor=lacks_factor)


def _bearer(request: Request) -> str:
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return bearer.strip() if scheme.lower() == "bearer" else ""


def _require_allowed(request: Request, route: str, access: Access | None) -> None:
    allowed = server_of(request).roles_of(request.method, route)
    if access is not None and access.lacks_factor and route not in WITHOUT_FACTOR:
        if route.startswith(API):
            raise Forbidden("your role requires a second factor; set it up on your page first")
        raise Elsewhere(FACTOR_PATH)
    if access is not None and access.person.role in allowed:
        if not scope_allows(access.scope, request.method, route, allowed):
            raise Forbidden(f"this token has the scope {access.scope}; create one with a wider scope")
        return
    if PUBLIC in allowed:
        return
    if access is not None or not allowed:
        raise Forbidden("your role does not let you do this; ask the owner of the study")
    if route.startswith(API):
        raise HTTPException(401, "expected a bearer token", {"www-authenticate": "Bearer"})
    raise Elsewhere(login_path(request.url.path if request.method in SAFE else "/"))


def known_visitor(request: Request) -> tuple[Person | None, str]:
    """The visitor, and the token of their forms, as far as they are known."""
    known: tuple[Person | None, str] = getattr(request.state, "known", (None, ""))
    return known


def login_path(next_path: str) -> str:
    return "/login" if next_path == "/" else f"/login?next={quote(next_path, safe='/')}"


def require_slow(context: RequestContext, what: str) -> None:
    """Refuse more than a few a minute: messages are cheap to send."""
    if not context.server.logins.take(f"{what} {context.person_id}"):
        raise BadInput(Problem("form", "too many requests; wait a minute and try again"))


LONGEST_VERSION = 10
LONGEST_NUMBER = 12


def number_of(context: RequestContext, name: str, default: int) -> int:
    """A whole number of the form or the address; whether it is within its limit is asked where it is stored."""
    text = context.asked(name)
    if not text:
        return default
    if not text.removeprefix("-").isdecimal() or len(text) > LONGEST_NUMBER:
        raise BadInput(Problem("form", f"{name}: expected a number, found {text[:20]!r}"))
    return int(text)


def version_of(text: str) -> int | None:
    """The version that a page was made from; None if it names none, and then nothing is compared."""
    return int(text) if text.isdecimal() and len(text) < LONGEST_VERSION else None
