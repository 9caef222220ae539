"""The headers of every answer: a strict content policy, no framing, no sniffing, no referrer, no cache of pages."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
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

        ours = self._on_files if scope["path"].startswith("/static/") else self._on_pages

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*_without(message["headers"], ours), *ours]
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _raw(headers: dict[str, str]) -> Raw:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _without(headers: Iterable[tuple[bytes, bytes]], ours: Raw) -> Raw:
    """What the application said, where we do not know better; Starlette's names are in small letters."""
    names = {name for name, _ in ours}
    return [(name, value) for name, value in headers if name not in names]
