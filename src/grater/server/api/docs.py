"""The API's own description: OpenAPI for programs, and a page made from it for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from grater.server.security.roles import API, roles_of
from grater.server.visit import Visiting

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Call:
    """One line of the API page."""

    method: str
    path: str
    words: str
    roles: tuple[str, ...]
    body: str


@router.get(f"{API}/openapi.json")
def openapi(visit: Visiting) -> Response:
    return JSONResponse(schema(visit.request))


@router.get("/api")
def api_page(visit: Visiting) -> Response:
    return visit.page("api.html", calls=list(calls(schema(visit.request))))


def schema(request: Request) -> dict[str, Any]:
    """The OpenAPI description of the API routes, with its bearer tokens."""
    found: dict[str, Any] = dict(request.app.openapi())
    bearer = {"bearer": {"type": "http", "scheme": "bearer"}}
    components = {**found.get("components", {}), "securitySchemes": bearer}
    return {**found, "components": components, "security": [{"bearer": []}]}


def calls(described: Mapping[str, Any]) -> Iterator[Call]:
    for path, methods in described["paths"].items():
        for method, call in methods.items():
            roles = tuple(sorted(roles_of(method.upper(), path) - {"public"}))
            yield Call(method.upper(), path, call.get("description", ""), roles, _body(described, call))


def _body(described: Mapping[str, Any], call: Mapping[str, Any]) -> str:
    """The names of the fields that a call wants in its body."""
    content = call.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    shape = described.get("components", {}).get("schemas", {}).get(name, {})
    return ", ".join(shape.get("properties", {}))
