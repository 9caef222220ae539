"""How much a request may bring: refused by its length before a byte is read, or as soon as it has sent too much.

Only the import page takes files, so only it has the large limit.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grater.server.errors import answer

TOO_LARGE = 413
WORDS = "This is more than the server takes at once ({limit:,} bytes)."


class _TooMuch(Exception):
    """The body went past its limit while it was read."""


class BodyLimit:
    """Counts what a request sends; `limit_of` says how much a path may bring."""

    def __init__(self, app: ASGIApp, *, limit_of: Callable[[str], int]) -> None:
        self.app = app
        self.limit_of = limit_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = self.limit_of(scope["path"])
        if _declared(scope) > limit:
            await _refusal(scope, limit)(scope, receive, send)
            return
        n_bytes = 0
        has_begun = False

        async def counted() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > limit:
                raise _TooMuch
            return message

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, counted, noted)
        except _TooMuch:
            if not has_begun:
                await _refusal(scope, limit)(scope, receive, send)


def _refusal(scope: Scope, limit: int) -> Response:
    response = answer(Request(scope), TOO_LARGE, WORDS.format(limit=limit))
    response.headers["connection"] = "close"
    return response


def _declared(scope: Scope) -> int:
    """The length that the request says it has; nonsense counts as too long."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 1 << 62
    return 0
