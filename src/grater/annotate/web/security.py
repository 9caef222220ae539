"""The limits of every request: by role, size, speed, rate and origin (docs/security.md).

One table lists who may call which route; any other route is denied to everybody.  A test walks every route of the
application and holds it against this table, with every role.

A request that brings too much is refused by its length before a byte is read, or as soon as it has sent too much; one
that sends too slowly, when its time is over.  Only the import takes files, so only it has the large limit.

Changes must come from our own pages: an Origin that is ours, and a token that only our pages know.  A person who is
logged in has the token of their session; a visitor has a random cookie and its signature as the token.  API requests
carry a bearer token, which no foreign page can make a browser send, and need neither.  Pages are compressed, and may
repeat what was typed, so each has a new mask for its token (BREACH: Gluck, Harris and Prado 2013).

Every response has a strict content policy and forbids framing, sniffing, referrers and caches of pages.  Passwords
are hashed by argon2id with its library's defaults (RFC 9106), and checking one takes the same time for people who do
not exist.  Attempts are limited by buckets that time refills: one for every address, one for every name tried from an
address.  So nobody can use up the attempts of somebody elsewhere.  Those who logged in from an address before are not
slowed down by attempts there under other names; in a browser that they used before, by no attempts of others at all.
Buckets are kept in memory, so each process of a server counts for itself.

A proxy's claim about a request's origin is trusted only if the settings name the proxy.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import logging
import re
import secrets
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import TypeAlias
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grater.annotate.store.transaction import MINUTE, Clock, at_most
from grater.errors import (
    BadInput,
    Forbidden,
    Problem,
)

LOG = logging.getLogger("grater.annotate.web")

PUBLIC = "public"
"""Not a role: anybody, logged in or not."""

OWNER, MANAGER, ADJUDICATOR, ANNOTATOR, WORKER = "owner", "manager", "adjudicator", "annotator", "worker"

EVERYBODY = frozenset((OWNER, MANAGER, ADJUDICATOR, ANNOTATOR, WORKER))
ANYBODY = EVERYBODY | {PUBLIC}
ADJUDICATORS = frozenset((OWNER, MANAGER, ADJUDICATOR))
MANAGERS = frozenset((OWNER, MANAGER))
OWNERS = frozenset((OWNER,))

API = "/api/v1"

EDITORS = "/v2"
"""The path of LanguageTool's protocol for editors; like the API, it uses no cookies."""

FACTOR_PATH = "/me/second-factor"

Table: TypeAlias = Mapping[tuple[str, str], frozenset[str]]


def _table(rows: Mapping[frozenset[str], str], *, under: str = "") -> Table:
    """The roles by method and path, of rows such as `GET,POST /login`, separated by spaces."""
    found = [(roles, *row) for roles, text in rows.items() for row in re.findall(r"([A-Z,]+) (/\S*)", text)]
    return {(method, under + path): roles for roles, methods, path in found for method in methods.split(",")}


PAGES = _table({
    ANYBODY: """
        GET /  GET /healthz  GET,POST /login  POST /login/code  GET,POST /setup/{token}
        GET,POST /join/{token}  GET,POST /p/{panel_id}  GET /out/{person_id}/{lease_id}/{signature}
        GET,POST /check  POST /check/keep  POST /check/marks
    """,
    EVERYBODY: """
        POST /logout  GET /jobs  GET /jobs/{job_id}  GET /jobs/{job_id}/done  POST /jobs/{job_id}/next
        GET,POST /leases/{lease_id}  POST /leases/{lease_id}/return  POST /leases/{lease_id}/skip
        POST /leases/{lease_id}/undo  PUT /leases/{lease_id}/draft  GET /leases/{lease_id}/feedback
        GET /jobs/{job_id}/talk  POST /jobs/{job_id}/about  POST /jobs/{job_id}/disputes
        POST /jobs/{job_id}/messages  POST /jobs/{job_id}/reviews  GET /me  POST /me/password  POST /me/tokens
        POST /me/tokens/{token_id}/end  POST /me/seats/{person_id}  GET,POST /me/second-factor
        POST /me/second-factor/confirm  POST /me/second-factor/off  GET /reviews  POST /reviews/{finding_id}/keep
        POST /reviews/units/{unit_id}/mend  GET /me/essays  GET /me/essays/{unit_id}  GET /api
    """,
    ADJUDICATORS: """
        GET /adjudicate  GET /adjudicate/jobs/{job_id}  GET,POST /adjudicate/{unit_id}
    """,
    MANAGERS: """
        GET /manage  GET,POST /manage/start  GET,POST /manage/detector
        GET,POST /manage/sure  GET /manage/jobs/new  POST /manage/jobs  POST /manage/jobs/preview
        POST /manage/name  POST /manage/jobs/{job_id}/rename  POST /manage/jobs/{job_id}/archive
        POST /manage/jobs/{job_id}/delete  POST /manage/units/{unit_id}/work
        POST /manage/essays/delete  GET,POST,PUT /manage/jobs/{job_id}/try  GET /manage/jobs/{job_id}
        POST /manage/jobs/{job_id}/state  POST /manage/jobs/{job_id}/hand-over
        GET,POST /manage/jobs/{job_id}/guidelines  GET /manage/jobs/{job_id}/agreement
        GET /manage/jobs/{job_id}/units  GET /manage/units/{unit_id}  POST /manage/units/{unit_id}/look
        POST /manage/units/{unit_id}/known  POST /manage/jobs/{job_id}/review  GET /manage/jobs/{job_id}/crowd
        GET,POST /manage/jobs/{job_id}/terms  GET,POST /manage/jobs/{job_id}/gold
        GET,POST /manage/jobs/{job_id}/gold/studio  POST /manage/jobs/{job_id}/gold/rule
        POST /manage/gold/{unit_id}/state  POST /manage/gold/{unit_id}/reason
        POST /manage/disputes/{dispute_id}  GET,POST /manage/jobs/{job_id}/raters
        GET /manage/jobs/{job_id}/raters/{person_id}  POST /manage/jobs/{job_id}/raters/{person_id}/standing
        POST /manage/jobs/{job_id}/raters/{person_id}/bonus  POST /manage/jobs/{job_id}/raters/{person_id}/messages
        GET /manage/jobs/{job_id}/money  POST /manage/jobs/{job_id}/payments/settle
        POST /manage/jobs/{job_id}/payments/paid  GET /manage/jobs/{job_id}/payments.csv
        GET,POST /manage/jobs/{job_id}/panels  POST /manage/panels/{panel_id}/links
        POST /manage/panels/{panel_id}/places  GET /manage/essays  GET /manage/items
        GET,POST /manage/import  GET /manage/people  POST /manage/invitations
        POST /manage/invitations/{invitation_id}/end  POST /manage/seats
        POST /manage/people/{person_id}/back  GET,POST /manage/export
        POST /manage/report  POST /manage/class-report  GET /manage/runs  GET /manage/runs/{run_id}/file
        GET,POST /manage/systems  POST /manage/samples  GET /manage/audit
        GET /manage/audit.csv  GET /manage/audit.jsonl
    """,
    OWNERS: """
        POST /manage/people/{person_id}/role  POST /manage/people/{person_id}/state
        POST /manage/people/{person_id}/second-factor  POST /manage/second-factor
        GET,POST /manage/public  GET,POST /manage/webhooks  POST /manage/webhooks/{webhook_id}/state
    """,
})  # fmt: skip

CALLS = _table({
    ANYBODY: """
        GET /openapi.json
    """,
    EVERYBODY: """
        GET /me  GET,POST /me/tokens  POST /me/tokens/{token_id}/end  GET /tasks
        GET /jobs  GET /jobs/{job_id}  POST /jobs/{job_id}/next  GET,POST /leases/{lease_id}
        POST /leases/{lease_id}/return  POST /leases/{lease_id}/skip  POST /leases/{lease_id}/undo
        GET /leases/{lease_id}/feedback  GET,PUT /leases/{lease_id}/draft
        GET /findings  POST /findings/{finding_id}  POST /units/{unit_id}/mend
        GET /me/essays  GET /me/essays/{unit_id}
        GET /jobs/{job_id}/missed  POST /jobs/{job_id}/disputes  GET,POST /jobs/{job_id}/messages
        POST /jobs/{job_id}/reviews  POST /jobs/{job_id}/about
    """,
    ADJUDICATORS: """
        GET /jobs/{job_id}/undecided  GET /jobs/{job_id}/finished  GET,POST /units/{unit_id}/decision
    """,
    MANAGERS: """
        GET,POST /study  POST /essay/delete  GET /essays  GET /essay  GET /items
        POST /import  GET /imports  GET /export  GET /report  GET,POST /runs  GET /runs/{run_id}
        GET /runs/{run_id}/file  GET /evaluation  GET,POST /systems  GET,POST /samples
        GET /people  GET,POST /invitations  POST /invitations/{invitation_id}/end
        POST /people/{person_id}/back  POST /seats  POST /jobs  POST /jobs/{job_id}/state
        POST /jobs/{job_id}/hand-over  POST /jobs/preview  POST /jobs/{job_id}/rename  POST /jobs/{job_id}/archive
        POST /jobs/{job_id}/delete  POST /units/{unit_id}/work  GET,POST /jobs/{job_id}/guidelines
        GET /jobs/{job_id}/progress  GET /jobs/{job_id}/agreement  GET /jobs/{job_id}/units
        GET /units/{unit_id}  GET /jobs/{job_id}/judgments  POST /jobs/{job_id}/look  POST /jobs/{job_id}/review
        GET,POST /jobs/{job_id}/terms  GET /jobs/{job_id}/crowd  POST /jobs/{job_id}/programs
        GET,POST /jobs/{job_id}/gold  GET /jobs/{job_id}/gold/candidates  POST /jobs/{job_id}/gold/rule
        POST /units/{unit_id}/known  POST /gold/{unit_id}/state  POST /gold/{unit_id}/reason
        GET /jobs/{job_id}/disputes  POST /disputes/{dispute_id}  GET /jobs/{job_id}/raters
        GET /jobs/{job_id}/raters/{person_id}  POST /jobs/{job_id}/raters/messages
        POST /jobs/{job_id}/raters/{person_id}/messages  POST /jobs/{job_id}/raters/{person_id}/standing
        POST /jobs/{job_id}/raters/{person_id}/bonus  GET /jobs/{job_id}/payments
        POST /jobs/{job_id}/payments/settle  POST /jobs/{job_id}/payments/paid  GET,POST /jobs/{job_id}/panels
        POST /panels/{panel_id}/links  POST /panels/{panel_id}/places  GET /events  GET /audit
    """,
    OWNERS: """
        POST /people/{person_id}/role  POST /people/{person_id}/state  POST /people/{person_id}/second-factor/reset
        GET,POST /second-factor  GET,POST /public  GET,POST /webhooks  POST /webhooks/{webhook_id}/state
    """,
}, under=API)  # fmt: skip

OF_EDITORS = _table(
    {ANYBODY: "GET,POST /check  GET,POST /configinfo  GET,POST /maxtextlength  GET,POST /info  GET /languages"},
    under=EDITORS,
)

WITHOUT_FACTOR = frozenset((FACTOR_PATH, f"{FACTOR_PATH}/confirm", "/logout", "/login", "/login/code", "/healthz"))
"""The pages for somebody who must set up a second factor first."""

ROLES_OF: Table = {**PAGES, **CALLS, **OF_EDITORS}


SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""

READ, WORK, MANAGE = "read", "work", "manage"
"""Scopes of tokens (`grater.annotate.credentials`)."""

OF_TOKENS = f"{API}/me/tokens"


def scope_allows(scope: str, method: str, path: str) -> bool:
    """Whether a token of this scope may call a route, by its template, that its person may call.

    `read` changes nothing; `work` is for what raters and adjudicators do, and sees nothing that only managers see.
    Only `manage` makes and ends tokens.
    """
    if scope == READ:
        return method in SAFE
    if scope == WORK:
        is_safe = method in SAFE or not path.startswith(OF_TOKENS)
        return is_safe and not roles_of(method, path) <= MANAGERS
    return scope == MANAGE


def roles_of(method: str, path: str) -> frozenset[str]:
    """Who may call a route, by its template; nobody where the table does not name it."""
    return ROLES_OF.get((method, path), frozenset())


UNKNOWN_WORDS = "Something went wrong on our side. Nothing you sent was stored."
GONE_WORDS = "The request was cut short."


def named_request(scope: Scope) -> str:
    """A request as the log names it, by its route: the path may hold a secret link."""
    route = scope.get("route")
    return f"{scope['method']} {getattr(route, 'path', '')}"


TOO_LARGE_WORDS = "This is more than the server accepts at once ({limit:,} bytes)."
TOO_SLOW_WORDS = "The request did not arrive in time; nothing of it was stored. Send it again."
SLOWEST = 10_000
"""Bytes a second of a body, on the average, after the seconds that each may take."""


class _Refused(Exception):
    """The request was too long or too slow: the status and message."""


class Shelter:
    """Gives every request its limits, and answers what nobody foresaw with a plain page, logged with its trace.

    `answer` makes the page, `bytes_of` says how much a path may bring, `seconds_of` how long its work may take; what
    is not done by then is broken off and undone (`store.transaction`).  It is inside the middleware that adds
    headers, so that its pages have them too.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        answer: Callable[[Request, int, str], Response],
        bytes_of: Callable[[str], int],
        seconds_of: Callable[[str], float],
        body_seconds: float,
    ) -> None:
        self.app = app
        self.answer = answer
        self.bytes_of = bytes_of
        self.seconds_of = seconds_of
        self.body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.bytes_of(scope["path"])
        n_bytes, end = 0, asyncio.get_running_loop().time() + self.body_seconds
        has_all = has_begun = False

        async def counted() -> Message:
            nonlocal n_bytes, has_all
            try:
                async with asyncio.timeout_at(None if has_all else end + n_bytes / SLOWEST):
                    message = await receive()
            except TimeoutError as error:
                raise _Refused(408, TOO_SLOW_WORDS) from error
            has_all = not message.get("more_body", False)
            n_bytes += len(message.get("body", b""))
            if n_bytes > limit:
                raise _Refused(413, TOO_LARGE_WORDS.format(limit=limit))
            return message

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        status, words = 500, UNKNOWN_WORDS
        try:
            if _declared(scope) > limit:
                raise _Refused(413, TOO_LARGE_WORDS.format(limit=limit))
            with at_most(self.seconds_of(scope["path"])):
                await self.app(scope, counted, noted)
            return
        except _Refused as error:
            if has_begun:
                return
            status, words = error.args
        except ClientDisconnect:  # nobody's mistake: a page was left while it sent something
            if has_begun:
                raise
            LOG.debug("%s: the client went away", named_request(scope))
            status, words = 400, GONE_WORDS
        except Exception:
            if has_begun:
                raise
            LOG.exception("%s", named_request(scope))
        response = self.answer(Request(scope), status, words)
        if status in (408, 413):
            response.headers["connection"] = "close"
        await response(scope, receive, send)


def _declared(scope: Scope) -> int:
    """The length that the request states; anything else than a number counts as too long."""
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isdecimal() else 1 << 62


FIELD = "csrf"
HEADER = "x-csrf-token"


def signed(secret: str, words: str) -> str:
    """A signature with the study's key; `words` begin with what it is for."""
    return hmac.new(secret.encode(), words.encode(), hashlib.sha256).hexdigest()


def visitor_token(secret: str, nonce: str) -> str:
    """The token for the forms of a visitor with this cookie."""
    return signed(secret, f"visitor|{nonce}")


def masked(token: str) -> str:
    """A token as a page carries it, different each time: from the length of a compressed page none can be guessed."""
    pad = secrets.token_bytes(len(token))
    return (pad + _mixed(pad, token.encode())).hex()


def _unmasked(sent: str) -> bytes:
    """A token that came as a page carries it, or as the session has it."""
    try:
        both = bytes.fromhex(sent)
    except ValueError:
        return sent.encode("utf-8", "replace")
    half = len(both) // 2
    return _mixed(both[:half], both[half:])


def _mixed(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))


def require_token(expected: str, sent: str) -> None:
    raw = sent.encode("utf-8", "replace")
    is_known = [hmac.compare_digest(expected.encode(), each) for each in (raw, _unmasked(sent))]
    if not expected or not any(is_known):
        raise Forbidden(
            "this form has expired, or belongs to another session; go back, reload the page and send it again"
        )


def require_own_origin(headers: Headers, origins: Collection[str]) -> None:
    """Refuse a change sent by another site; without an Origin header, the Referer counts."""
    origin = headers.get("origin")
    if origin is None:
        referer = urlsplit(headers.get("referer", ""))
        origin = f"{referer.scheme}://{referer.netloc}" if referer.netloc else ""
    if origin.lower() not in origins:
        raise Forbidden("changes are accepted only from this server's own pages")


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
POLICY_HEADER = "content-security-policy"
READ_ONLY_POLICY = (
    "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
"""For pages made for reading offline: their own styles, no scripts, nothing of the session."""
HEADERS = {
    POLICY_HEADER: POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer, browsers send "Origin: null" with forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
NO_STORE = {"cache-control": "no-store"}
HSTS = {"strict-transport-security": "max-age=31536000; includeSubDomains"}


class SecurityHeaders:
    """Adds the headers to every response, errors included."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self.app = app
        self._on_files = HEADERS | HSTS if is_secure else HEADERS
        self._on_pages = self._on_files | NO_STORE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["method"] == "HEAD":  # the server leaves the body out; routes know of GET alone
            scope = {**scope, "method": "GET"}
        ours = self._on_files if scope["path"].startswith("/static/") else self._on_pages

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                is_read_only = headers.get(POLICY_HEADER) == READ_ONLY_POLICY
                headers.update(ours | {POLICY_HEADER: READ_ONLY_POLICY} if is_read_only else ours)
            await send(message)

        await self.app(scope, receive, send_with_headers)


SHORTEST, LONGEST = 10, 200
"""Characters of a password."""

HASHER = PasswordHasher()
NOBODY = f"$argon2id$v=19$m={HASHER.memory_cost},t={HASHER.time_cost},p={HASHER.parallelism}${'A' * 22}${'A' * 43}"
"""A hash to compare a password with if there is none: in the form of ours, but of no password."""


def hash_password(password: str, *, name: str = "") -> str:
    """The hash to store; a password that is too short, too long or the person's own name is refused."""
    if not SHORTEST <= len(password) <= LONGEST:
        message = f"password: expected {SHORTEST} to {LONGEST} characters, found {len(password)}"
        raise BadInput(Problem("form", message))
    if password.strip().lower() == name.strip().lower():
        raise BadInput(Problem("form", "password: expected something other than your name"))
    return HASHER.hash(password)


def is_password(password_hash: str, password: str) -> bool:
    """Whether the password is right; without a hash it never is, and the check takes as long."""
    try:
        return HASHER.verify(password_hash or NOBODY, password[:LONGEST]) and bool(password_hash)
    except (VerificationError, InvalidHashError):
        return False


def device_cookie(secret: str, person_id: str, nonce: str) -> str:
    """A browser's cookie for a person who logged in there, so that others' attempts do not slow them down."""
    return f"{nonce}.{signed(secret, f'device|{person_id}|{nonce}')}"


def is_device(secret: str, person_id: str, cookie: str) -> bool:
    nonce, dot, _ = cookie.partition(".")
    expected = device_cookie(secret, person_id, nonce)
    return bool(dot) and hmac.compare_digest(expected.encode(), cookie.encode("utf-8", "replace"))


def keyed_address(secret: str, address: str) -> str:
    """An address as the study stores it: enough to recognise it, not to reveal it."""
    return signed(secret, f"address|{address}")[:32]


@lru_cache(maxsize=1024)
def network_of(host: str) -> str:
    """An IPv4 address as it is; the /64 of an IPv6 address, since one machine may use all of it."""
    try:
        address = ipaddress.ip_address(host.strip().partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    mapped = address.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((address, 64), strict=False))


EVERYWHERE = ("0.0.0.0/0", "::/0")


def client_address(host: str, forwarded: Sequence[str], proxies: Sequence[str]) -> str:
    """Where a request came from, by the headers of the named proxies that it passed, the nearest of them last.

    Anything before the first address that is not one of our proxies comes from the sender, and is not trusted.
    """
    for entry in reversed([part.strip() for line in forwarded for part in line.split(",")]):
        if not is_among(host, proxies) or not is_among(entry, EVERYWHERE):
            break
        host = entry
    return network_of(host)


def is_among(host: str, networks: Sequence[str]) -> bool:
    """Whether an address is in one of these networks; anything that is no address is in none."""
    if not networks:
        return False
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in ipaddress.ip_network(network, strict=False) for network in networks)


MOST_BUCKETS = 20_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: int


class Tries:
    """At most `most` tries in a row for one key, and `a_minute` again every minute; `most` is as many unless given.

    An attempt may have an amount: 1 for a login, the letters of a text, the bytes of a change.
    """

    def __init__(self, *, a_minute: float, clock: Clock, most: float = 0) -> None:
        self.a_minute = a_minute
        self.most = most or a_minute
        self.clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, *keys: str, amount: float = 1) -> bool:
        """Take the amount from every key if all have enough left, else from none; return whether it was taken."""
        now = self.clock()
        with self._lock:
            self._make_room(now, len(keys))
            left = {key: self._left(key, now) for key in keys}
            if min(left.values()) < amount:
                return False
            self._buckets |= {key: _Bucket(tries - amount, now) for key, tries in left.items()}
            return True

    def owe(self, key: str) -> float:
        """Take one in any case, and return the seconds until it would have been available."""
        now = self.clock()
        with self._lock:
            self._make_room(now, 1)
            self._buckets[key] = _Bucket(self._left(key, now) - 1, now)
            return max(0.0, -self._buckets[key].left / self.a_minute * 60)

    def _make_room(self, now: int, n: int) -> None:
        if len(self._buckets) + n > MOST_BUCKETS:
            kept = {key: bucket for key, bucket in self._buckets.items() if self._left(key, now) < self.most}
            self._buckets = kept if len(kept) < MOST_BUCKETS else {}

    def give_back(self, *keys: str) -> None:
        """After a success: anyone who knows the password may come in as often as they like.

        Only this try is returned: otherwise somebody with a password could log in now and then to get more tries at
        others'.
        """
        now = self.clock()
        with self._lock:
            for key in keys:
                self._buckets[key] = _Bucket(min(self.most, self._left(key, now) + 1), now)

    def seconds_until(self, key: str, amount: float = 1) -> int:
        """The whole seconds until the key has an amount again."""
        return max(1, ceil((min(amount, self.most) - self._left(key, self.clock())) / self.a_minute * 60))

    def _left(self, key: str, now: int) -> float:
        bucket = self._buckets.get(key)
        if bucket is None:
            return self.most
        bucket.at = min(bucket.at, now)  # a clock that was set back makes nobody wait until it is there again
        return min(self.most, bucket.left + (now - bucket.at) * self.a_minute / MINUTE)


class Turns:
    """Limits the requests of one key that are served at a time; others wait for their turn."""

    def __init__(self) -> None:
        self._places: WeakValueDictionary[tuple[object, str], asyncio.Semaphore] = WeakValueDictionary()

    def of(self, key: str, most: int) -> asyncio.Semaphore:
        return self._places.setdefault((asyncio.get_running_loop(), key), asyncio.Semaphore(most))
