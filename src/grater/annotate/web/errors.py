"""Errors as pages for people and as JSON for programs; what went wrong inside stays in the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response

from grater.annotate.requests import problem_lines
from grater.annotate.web import security
from grater.annotate.web.context import Elsewhere, TooOften, address_of, known_visitor, server_of
from grater.annotate.web.security import API, EDITORS, SAFE, WITHOUT_COOKIES
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
TOO_OFTEN = "Too many requests from here; wait a minute, then go on. What you have typed is on your page."
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
"""The title of an error on a page; programs get the number."""

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
    """The error in the form that suits the client: JSON for the API, a line for editors, else a page."""
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


async def on_grater_error(request: Request, error: GraterError) -> Response:
    status = status_of(error)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        LOG.error("%s: %s", security.named_request(request.scope), error)
    is_page = not request.url.path.startswith(WITHOUT_COOKIES)  # people have no use for the name of a database
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


async def on_elsewhere(request: Request, error: Elsewhere) -> Response:  # noqa: ARG001
    return RedirectResponse(error.path, 303)


async def on_too_often(request: Request, error: TooOften) -> Response:  # noqa: ARG001
    """A short answer, given late: a client that waits costs next to nothing meanwhile."""
    await asyncio.sleep(server_of(request).settings.refusal_seconds)
    return PlainTextResponse(TOO_OFTEN, 429, {"retry-after": "60", "connection": "close"})


HANDLERS: Mapping[type[Exception], Any] = {
    GraterError: on_grater_error,
    HTTPException: on_http_error,
    RequestValidationError: on_wrong_shape,
    Elsewhere: on_elsewhere,
    TooOften: on_too_often,
}


def lines_of(error: GraterError) -> list[str]:
    """A line for each problem, without the words that say it is in the form."""
    return [line.removeprefix("form: ") for line in str(error).splitlines()]
