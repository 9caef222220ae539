"""The two cookies: the session of a person, and a random number that ties a visitor's forms to their browser.

Both are out of reach of scripts, stay on our site and, where the server is https, bear the `__Host-` prefix, so
that no other host of the domain can set them.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from grater.server.settings import Settings
from grater.store.ids import new_secret

SESSION, NONCE = "grater-session", "grater-visit"
LONGEST = 100


def _name(name: str, settings: Settings) -> str:
    return f"__Host-{name}" if settings.is_secure else name


def read_session(request: Request, settings: Settings) -> str:
    return request.cookies.get(_name(SESSION, settings), "")[:LONGEST]


def read_nonce(request: Request, settings: Settings) -> str:
    return request.cookies.get(_name(NONCE, settings), "")[:LONGEST]


def set_session(response: Response, settings: Settings, token: str) -> None:
    seconds = int(settings.session_hours * 3600)
    _set(response, settings, SESSION, token, seconds)


def end_session(response: Response, settings: Settings) -> None:
    response.delete_cookie(_name(SESSION, settings), path="/", secure=settings.is_secure, httponly=True)


def new_nonce() -> str:
    return new_secret()


def set_nonce(response: Response, settings: Settings, nonce: str) -> None:
    _set(response, settings, NONCE, nonce, None)


def _set(response: Response, settings: Settings, name: str, value: str, seconds: int | None) -> None:
    response.set_cookie(
        _name(name, settings),
        value,
        max_age=seconds,
        path="/",
        secure=settings.is_secure,
        httponly=True,
        samesite="lax",
    )
