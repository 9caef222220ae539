"""The front door: everybody is sent to what they came for."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from grater.server.security.roles import MANAGERS
from grater.server.visit import Visiting

router = APIRouter()


@router.get("/")
def home(visit: Visiting) -> Response:
    if visit.visitor is None:
        return visit.go("/login")
    return visit.go("/manage" if visit.role in MANAGERS else "/jobs")


@router.get("/healthz")
def health(visit: Visiting) -> Response:
    """Whether the server and its database answer, for whoever watches over them."""
    with visit.server.store.read():
        return PlainTextResponse("ok")
