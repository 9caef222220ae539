"""The description of the API: OpenAPI for programs, and a page made from it for people.

FastAPI knows the calls; what only we know is added here: a summary (the first line of what a call does), its bearer
token, and the errors that it can answer with, all of one shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Header
from pydantic import Field
from starlette.responses import JSONResponse, Response

from grater.annotate.web.calls import Object, Shape
from grater.annotate.web.context import Context, RequestContext, Routes, TooOften
from grater.annotate.web.security import ANYBODY, API, EVERYBODY

WORDS = """\
Everything the pages do, for programs.  Create a token on your page (your name, top right) and send it as
`Authorization: Bearer TOKEN`; it can do what you can do, within its scope, until it expires.  Bodies and answers are
JSON, times are UTC (ISO 8601), offsets are Unicode code points of the essay's text.  A body with an unknown key is
refused.

Long lists come in pages: `start` and `most`; `next` of an answer is the `start` of the next page, null on the last.

Errors are `{"error": {"status": 404, "message": "..."}}`, one line for each problem.  After a 503 nothing was stored,
and the same request can be sent again after `Retry-After` seconds.
"""

TAGS = {
    "me": "Who you are, and your tokens.",
    "study": "What the study holds; files in, everything out.",
    "runs": "Long tasks in the background: started, followed, fetched.",
    "systems": "Detectors run over the essays, samples drawn from what they decide.",
    "people": "Everybody, invitations, joint seats, roles.",
    "jobs": "One task over many units: make, open, watch.",
    "units": "What raters are asked and what they answered, for managers.",
    "work": "Take a unit, answer it, give it back.",
    "reviews": "Essays that an annotator handed in, and odd marks that go back to them.",
    "adjudication": "Where raters disagree, and the final answer.",
    "talk": "A rater's side of a crowd job.",
    "crowd": "A crowd job at a glance, its terms, programs as raters.",
    "gold": "Questions with known answers, and disputes about them.",
    "raters": "The raters of a crowd job.",
    "money": "What is owed and what was paid.",
    "panels": "Raters sent by a panel, who return to it with a code.",
    "events": "The audit log, and webhooks that report it.",
}

ERRORS = {
    400: "The request could not be read.",
    401: "No bearer token, or one that is not valid.",
    403: "Your role, or the scope of your token, does not let you do this.",
    404: "There is no such thing, or you may not see it.",
    409: "The id or name is already taken, or somebody else changed this first: read it again, then decide.",
    413: "More than the server takes at once.",
    422: "Something that was sent is wrong: a line for each problem, with the name of its field.",
    503: "The database did not answer in time, or its disk is full; nothing was stored, and trying again is safe.",
}

OF_CHANGES = ("400", "409", "413")
"""Errors of calls that are sent something."""

ERROR = {
    "title": "Error",
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["status", "message"],
            "properties": {"status": {"type": "integer"}, "message": {"type": "string"}},
        }
    },
    "example": {"error": {"status": 404, "message": "there is no such job in this study"}},
}

deliveries = APIRouter()


class WebhookEvent(Shape):
    """The event that a webhook receives (`grater.annotate.webhooks`)."""

    n: int = Field(description="The number of the event; the same number is the same event again.")
    at: int = Field(description="Milliseconds since 1970, UTC.")
    verb: str
    noun: str
    payload: Object


Signature = Annotated[
    str, Header(description="`sha256=` and the HMAC-SHA256 of the body under the webhook's secret, in hexadecimal.")
]


@deliveries.post("event", operation_id="event", tags=["events"], openapi_extra={"security": []})
def event(sent: WebhookEvent, x_grater_signature: Signature) -> None:
    """What a webhook is sent: one event, until the answer is 2xx."""


LIKE_REQUESTS = 60

HEADERS = {
    401: {"WWW-Authenticate": {"schema": {"type": "string"}}},
    503: {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}},
}


def schema(app: FastAPI, *, url: str) -> dict[str, Any]:
    """The whole description; `url` is where the server is reached."""
    whole: dict[str, Any] = deepcopy(app.openapi())
    answer = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    errors = {
        str(status): {"description": words, "content": answer, "headers": HEADERS.get(status, {})}
        for status, words in ERRORS.items()
    }
    of_reading = {status: error for status, error in errors.items() if status not in OF_CHANGES}
    for methods in (*whole["webhooks"].values(), *whole["paths"].values()):
        for method, call in methods.items():
            call["summary"] = call["description"].partition("\n")[0].rstrip(".")
            done = {status: reply for status, reply in call["responses"].items() if status < "400"}
            call["responses"] = done | (of_reading if method == "get" else errors)
    whole["webhooks"]["event"]["post"]["responses"] = {"2XX": {"description": "Heard."}}
    parts = whole["components"]
    parts["schemas"] = {name: shape for name, shape in parts["schemas"].items() if "ValidationError" not in name}
    parts["schemas"]["Error"] = ERROR
    parts["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
    whole["info"]["description"] = WORDS
    tags = [{"name": name, "description": words} for name, words in TAGS.items()]
    return {**whole, "servers": [{"url": url}], "tags": tags, "security": [{"bearer": []}]}


for_programs = Routes(ANYBODY, include_in_schema=False)
pages = Routes(EVERYBODY)


@for_programs.get(f"{API}/openapi.json")
def openapi(context: Context) -> Response:
    """For a visitor, one request counts as many: the answer is as long as a hundred pages."""
    if context.access is None and not context.server.requests.take(context.address, amount=LIKE_REQUESTS):
        raise TooOften
    return JSONResponse(described(context))


@pages.get("/api")
def api_page(context: Context) -> Response:
    """A line for each call, under its noun."""
    whole, by_noun = described(context), {tag: list[dict[str, object]]() for tag in TAGS}
    for path, methods in whole["paths"].items():
        for method, call in methods.items():
            line = {"method": method.upper(), "path": path, "words": call["summary"], "body": _body(whole, call)}
            roles = sorted(context.server.roles_of(method.upper(), path))
            by_noun[call["tags"][0]].append({**line, "roles": roles})
    return context.page("api.html", by_noun=by_noun)


def described(context: RequestContext) -> dict[str, Any]:
    return schema(context.request.app, url=context.server.settings.link(""))


def _body(whole: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    """The names of the fields in the body of a call."""
    content = call.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    shape = whole.get("components", {}).get("schemas", {}).get(name, {})
    return ", ".join(shape.get("properties", {}))
