"""What no request may do: form tokens, headers, passwords, rates (docs/security.md; who may do what is in `roles`).

Changes must come from our own pages: an Origin that is ours, and a token that only our pages know.  A person who is
logged in has the token of their session; a visitor has a random cookie and its signature as the token.  API requests
carry a bearer token, which no foreign page can make a browser send, and need neither.  Pages are compressed, and what
is typed may stand on them, so they carry the token under a mask of their own (BREACH: Gluck, Harris and Prado 2013).

Every response has a strict content policy and forbids framing, sniffing, referrers and caches of pages.  Passwords
are hashed by argon2id with its library's defaults (RFC 9106), and checking one takes the same time for people who do
not exist.  Attempts are limited by buckets that time refills: one for every address, one for every name tried from
an address.  So nobody can use up the attempts of somebody elsewhere.  Who has come in from an address before is not
held up by what others try there under other names, and in a browser that they used before by nothing that others try
at all.  Buckets are kept in memory, so each process of a server counts for itself.

What a proxy says of where a request came from is believed only of proxies that the settings name.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from urllib.parse import urlsplit

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grater.annotate.store.transaction import MINUTE, Clock
from grater.errors import BadInput, Forbidden, Problem

FIELD = "csrf"
HEADER = "x-csrf-token"


def visitor_token(secret: str, nonce: str) -> str:
    """The token for the forms of a visitor with this cookie."""
    return hmac.new(secret.encode(), f"visitor|{nonce}".encode(), hashlib.sha256).hexdigest()


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
    """Refuse a change that another site sent; the Referer is asked where a browser sends no Origin."""
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
"""For a page that was made for reading offline: it has styles of its own, no scripts, and nothing of the session."""
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

Raw = list[tuple[bytes, bytes]]
READ_ONLY = (POLICY_HEADER.encode(), READ_ONLY_POLICY.encode())


class SecurityHeaders:
    """Adds the headers to whatever the application answers, errors too."""

    def __init__(self, app: ASGIApp, *, is_secure: bool) -> None:
        self.app = app
        always = HEADERS | HSTS if is_secure else HEADERS
        self._on_pages, self._on_files = _raw(always | NO_STORE), _raw(always)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        if scope["method"] == "HEAD":  # the server leaves the body out; routes know of GET alone
            scope = {**scope, "method": "GET"}
        ours = self._on_files if scope["path"].startswith("/static/") else self._on_pages

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = message["headers"]
                added = _without(ours, [READ_ONLY]) if READ_ONLY in said else ours
                message["headers"] = [*_without(said, added), *added]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _raw(headers: dict[str, str]) -> Raw:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _without(headers: Iterable[tuple[bytes, bytes]], ours: Raw) -> Raw:
    """What the application said, where we do not know better; Starlette's names are in small letters."""
    names = {name for name, _ in ours}
    return [(name, value) for name, value in headers if name not in names]


SHORTEST, LONGEST = 10, 200
"""Characters of a password."""

HASHER = PasswordHasher()
NOBODY = f"$argon2id$v=19$m={HASHER.memory_cost},t={HASHER.time_cost},p={HASHER.parallelism}${'A' * 22}${'A' * 43}"
"""What a password is compared with where there is none: in the form of our hashes, and no password's."""


def hash_password(password: str, *, name: str = "") -> str:
    """The hash to store; a password that is too short, too long or the person's own name is refused."""
    if not SHORTEST <= len(password) <= LONGEST:
        message = f"password: expected {SHORTEST} to {LONGEST} characters, found {len(password)}"
        raise BadInput(Problem("form", message))
    if password.strip().lower() == name.strip().lower():
        raise BadInput(Problem("form", "password: expected something other than your name"))
    return HASHER.hash(password)


def is_password(password_hash: str, password: str) -> bool:
    """Whether the password is right; without a hash it never is, and finding that out takes as long."""
    try:
        return HASHER.verify(password_hash or NOBODY, password[:LONGEST]) and bool(password_hash)
    except (VerificationError, InvalidHashError):
        return False


def device_cookie(secret: str, person_id: str, nonce: str) -> str:
    """What a browser keeps of a person who came in there, so that they are not held up by what others try."""
    signature = hmac.new(secret.encode(), f"device|{person_id}|{nonce}".encode(), hashlib.sha256).hexdigest()
    return f"{nonce}.{signature}"


def is_device(secret: str, person_id: str, cookie: str) -> bool:
    nonce, dot, _ = cookie.partition(".")
    expected = device_cookie(secret, person_id, nonce)
    return bool(dot) and hmac.compare_digest(expected.encode(), cookie.encode("utf-8", "replace"))


def keyed_address(secret: str, address: str) -> str:
    """An address as the study remembers it: enough to know it again, not to tell it."""
    return hmac.new(secret.encode(), f"address|{address}".encode(), hashlib.sha256).hexdigest()[:32]


def network_of(host: str) -> str:
    """An IPv4 address as it is; of an IPv6 one its /64, since one machine has as many as it likes."""
    try:
        address = ipaddress.ip_address(host.strip().partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    mapped = address.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((address, 64), strict=False))


def client_address(host: str, forwarded: Sequence[str], proxies: Sequence[str]) -> str:
    """Where a request came from, by the headers of the named proxies that it passed, the nearest of them last.

    What stands before the first address that is no proxy of ours was written by whoever sent it, and is not believed.
    """
    for entry in reversed([part.strip() for line in forwarded for part in line.split(",")]):
        if not _is_among(host, proxies) or not _is_address(entry):
            break
        host = entry
    return network_of(host)


def _is_among(host: str, proxies: Sequence[str]) -> bool:
    if not _is_address(host):
        return False
    address = ipaddress.ip_address(host)
    return any(address in ipaddress.ip_network(proxy, strict=False) for proxy in proxies)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


MOST_BUCKETS = 20_000


@dataclass(slots=True)
class _Bucket:
    left: float
    at: int


class Tries:
    """At most `most` tries in a row for one key, and `a_minute` again every minute; `most` is as many unless given.

    What is tried may have an amount: a login is one, a text its letters, a change its bytes.
    """

    def __init__(self, *, a_minute: float, clock: Clock, most: float = 0) -> None:
        self.a_minute = a_minute
        self.most = most or a_minute
        self.clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, *keys: str, amount: float = 1) -> bool:
        """Whether every key has as much left; then each has less by it, otherwise none is used up."""
        now = self.clock()
        with self._lock:
            if len(self._buckets) + len(keys) > MOST_BUCKETS:
                kept = {key: bucket for key, bucket in self._buckets.items() if self._left(key, now) < self.most}
                self._buckets = kept if len(kept) < MOST_BUCKETS else {}
            left = {key: self._left(key, now) for key in keys}
            if min(left.values()) < amount:
                return False
            self._buckets |= {key: _Bucket(tries - amount, now) for key, tries in left.items()}
            return True

    def give_back(self, *keys: str) -> None:
        """After a success: anyone who knows the password may come in as often as they like.

        The try is given back and no more: else somebody with a password of their own could come in now and then to
        have more tries at others'.
        """
        now = self.clock()
        with self._lock:
            for key in keys:
                self._buckets[key] = _Bucket(min(self.most, self._left(key, now) + 1), now)

    def seconds_until(self, key: str, amount: float = 1) -> int:
        """How long the key waits for an amount, in whole seconds."""
        return max(1, ceil((min(amount, self.most) - self._left(key, self.clock())) / self.a_minute * 60))

    def _left(self, key: str, now: int) -> float:
        bucket = self._buckets.get(key)
        if bucket is None:
            return self.most
        return min(self.most, bucket.left + max(0, now - bucket.at) * self.a_minute / MINUTE)
