"""The API's own description: OpenAPI for programs, and a page made from it for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from grater.server.api.openapi import schema
from grater.server.security.roles import API, roles_of
from grater.server.visit import Visit, Visiting

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One line of the API page; `about` is the noun that it is under."""

    about: str
    method: str
    path: str
    name: str
    words: str
    roles: tuple[str, ...]
    body: str


@router.get(f"{API}/openapi.json")
def openapi(visit: Visiting) -> Response:
    return JSONResponse(described(visit))


@router.get("/api")
def api_page(visit: Visiting) -> Response:
    by_noun: dict[str, list[Call]] = {}
    for call in calls(described(visit)):
        by_noun.setdefault(call.about, []).append(call)
    return visit.page("api.html", by_noun=by_noun)


def described(visit: Visit) -> dict[str, Any]:
    return schema(visit.request.app, url=visit.server.settings.link(""))


def calls(found: Mapping[str, Any]) -> Iterator[Call]:
    for path, methods in found["paths"].items():
        for method, call in methods.items():
            roles = tuple(sorted(roles_of(method.upper(), path) - {"public"}))
            name, words = call["operationId"], call["summary"]
            yield Call(call["tags"][0], method.upper(), path, name, words, roles, _body(found, call))


def _body(found: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    """The names of the fields that a call wants in its body."""
    content = call.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    shape = found.get("components", {}).get("schemas", {}).get(name, {})
    return ", ".join(shape.get("properties", {}))
