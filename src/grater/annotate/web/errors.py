"""Errors as pages for people and as JSON for programs; what went wrong inside stays in the log.

A request that brings too much is refused by its length before a byte is read, or as soon as it has sent too much; one
that sends too slowly, when its time is over.
Only the import takes files, so only it has the large limit.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grater.annotate.requests import problem_lines
from grater.annotate.store.transaction import at_most
from grater.annotate.web.context import (
    FactorNeeded,
    LoginNeeded,
    TooOften,
    address_of,
    known_visitor,
    login_path,
    server_of,
)
from grater.annotate.web.roles import API, EDITORS, FACTOR_PATH, SAFE
from grater.errors import (
    BadInput,
    Conflict,
    Forbidden,
    GraterError,
    MissingExtra,
    NotFound,
    OutOfTime,
    StoreBusy,
    StoreFull,
    TooBusy,
    UnknownName,
    UsageError,
)

LOG = logging.getLogger("grater.annotate.web")
UNKNOWN_WORDS = "Something went wrong on our side. Nothing you sent was stored."
TOO_OFTEN = "Too many requests from here; wait a minute, then go on. What you have typed is on your page."
GONE_WORDS = "The request was cut short."
NOT_THERE = "There is no such page."
BUSY_WORDS = "The server is busy, and nothing was saved. Wait a moment, then try again."
HEADINGS = {
    400: "This request could not be read",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    408: "Too slow",
    409: "This has changed in the meantime",
    413: "Too large",
    422: "Something is missing or wrong",
    429: "Too many requests",
    500: "Something went wrong",
    501: "Not installed on this server",
    503: "Not possible at the moment",
}
"""What a page calls an error; programs get the number."""

STATUS: tuple[tuple[type[GraterError], int], ...] = (
    (NotFound, 404),
    (Forbidden, 403),
    (Conflict, 409),
    (StoreBusy, 503),
    (StoreFull, 503),
    (OutOfTime, 503),
    (TooBusy, 503),
    (MissingExtra, 501),
    (BadInput, 422),
    (UnknownName, 422),
    (UsageError, 422),
    (GraterError, 500),
)


def status_of(error: GraterError) -> int:
    return next(status for kind, status in STATUS if isinstance(error, kind))


def answer(request: Request, status: int, *lines: str) -> Response:
    """The error as the asker wants it: JSON under the API, a line to editors, else a page."""
    if request.url.path.startswith(API):
        return JSONResponse({"error": {"status": status, "message": "\n".join(lines)}}, status)
    if request.url.path.startswith(f"{EDITORS}/"):
        return PlainTextResponse(f"Error: {' '.join(lines)}", status)
    template = server_of(request).templates.get_template("error.html")
    person, csrf = known_visitor(request)
    is_change = request.method not in SAFE
    is_check = is_change and request.url.path.startswith("/check")  # a writer finds the text where they typed it
    shown = {
        "status": status,
        "phrase": HEADINGS.get(status) or HTTPStatus(status).phrase,
        "lines": lines,
        "path": "",
        "way_on": ("/check", "Back to my text") if is_check else ("/", "Go to the start page"),
        "person": person,
        "csrf": csrf,
        "is_change": is_change and person is not None,
        "study_name": server_of(request).title.name or "grater",  # the study may be what fails
    }
    return HTMLResponse(template.render(shown), status)


def _named(scope: Scope) -> str:
    """A request as the log knows it: its path may hold a link that lets its reader in, the route does not."""
    route = scope.get("route")
    return f"{scope['method']} {getattr(route, 'path', '')}"


async def on_grater_error(request: Request, error: GraterError) -> Response:
    status = status_of(error)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        LOG.error("%s: %s", _named(request.scope), error)
    is_page = not request.url.path.startswith((API, f"{EDITORS}/"))  # people have no use for the name of a database
    lines = [BUSY_WORDS] if is_page and isinstance(error, StoreBusy) else str(error).splitlines()
    response = answer(request, status, *lines)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["retry-after"] = "5"
    return response


async def on_http_error(request: Request, error: HTTPException) -> Response:
    server = server_of(request)
    if not hasattr(request.state, "known") and not server.requests.take(address_of(request, server.settings)):
        return await on_too_often(request, TooOften())  # for a page that is not there nobody else has counted
    words = NOT_THERE if error.status_code == HTTPStatus.NOT_FOUND else str(error.detail)
    response = answer(request, error.status_code, words)
    response.headers.update(error.headers or {})
    return response


async def on_wrong_shape(request: Request, error: RequestValidationError) -> Response:
    fields = [{**problem, "loc": problem["loc"][1:]} for problem in error.errors()]  # not that it is in the body
    return answer(request, 422, *problem_lines(fields))


async def on_login_needed(request: Request, error: LoginNeeded) -> Response:  # noqa: ARG001
    return RedirectResponse(login_path(error.next_path), 303)


async def on_factor_needed(request: Request, error: FactorNeeded) -> Response:  # noqa: ARG001
    return RedirectResponse(FACTOR_PATH, 303)


async def on_too_often(request: Request, error: TooOften) -> Response:  # noqa: ARG001
    """Few words, late: a client that waits for its answers costs next to nothing while it waits."""
    await asyncio.sleep(server_of(request).settings.refusal_seconds)
    return PlainTextResponse(TOO_OFTEN, 429, {"retry-after": "60", "connection": "close"})


HANDLERS: Mapping[type[Exception], Any] = {
    GraterError: on_grater_error,
    HTTPException: on_http_error,
    RequestValidationError: on_wrong_shape,
    LoginNeeded: on_login_needed,
    FactorNeeded: on_factor_needed,
    TooOften: on_too_often,
}

TOO_LARGE_WORDS = "This is more than the server accepts at once ({limit:,} bytes)."
TOO_SLOW_WORDS = "The request did not arrive in time; nothing of it was stored. Send it again."
SLOWEST = 10_000
"""Bytes a second of a body, on the average, after the seconds that each may take."""


class _Refused(Exception):
    """What came was too much, or came too slowly: a status and words."""


class Shelter:
    """Gives every request its limits, and answers what nobody foresaw with a plain page, logged with its trace.

    `bytes_of` says how much a path may bring, `seconds_of` how long its work may take; what is not done by then is
    broken off and undone (`store.transaction`).  It stands inside the middleware that adds headers, so that its
    pages have them too.
    """

    def __init__(
        self, app: ASGIApp, *, bytes_of: Callable[[str], int], seconds_of: Callable[[str], float], body_seconds: float
    ) -> None:
        self.app = app
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
            LOG.debug("%s: the client went away", _named(scope))
            status, words = 400, GONE_WORDS
        except Exception:
            if has_begun:
                raise
            LOG.exception("%s", _named(scope))
        response = answer(Request(scope), status, words)
        if status in (408, 413):
            response.headers["connection"] = "close"
        await response(scope, receive, send)


def _declared(scope: Scope) -> int:
    """The length that the request says it has; nonsense counts as too long."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 1 << 62
    return 0


def lines_of(error: GraterError) -> list[str]:
    """A line for each problem; that it is in the form, whoever filled it in knows."""
    return [line.removeprefix("form: ") for line in str(error).splitlines()]
