"""What a running server holds: its settings, its study, its templates, its memory of failed logins."""

from __future__ import annotations

from dataclasses import dataclass, field

from jinja2 import Environment
from starlette.requests import HTTPConnection

from grater.server.security.rates import Tries
from grater.server.settings import Settings
from grater.store import Store


@dataclass(frozen=True, slots=True, eq=False)
class Server:
    """One value, made by `create_app`; handlers reach it through their visit.

    `secret` signs the forms of visitors who have not logged in.  It is the study's own, so any process takes a form
    that another one made.
    """

    settings: Settings
    store: Store
    templates: Environment
    logins: Tries
    secret: str = field(repr=False)


def server_of(request: HTTPConnection) -> Server:
    server = request.app.state.server
    if not isinstance(server, Server):
        raise TypeError("the application was not made by create_app")
    return server
