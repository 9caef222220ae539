"""Starting the server: one process, or on PostgreSQL several that share a port, and the link for the first owner.

A process answers with one core at a time.  Uvicorn starts the others, hands each the same socket, and starts a new
one where one died.  Each opens the study for itself and reads what to do from its environment.

Uvicorn waits for ever for the rest of a request that was begun.  `Guarded` does not: a head has some seconds, an
address few connections without one, and once connections use three quarters of the files that the process may open,
the oldest waiting one is closed.  A named proxy brings the connections of many.

There is no default password: the first owner of a study joins by a link that works once and is printed at the start.
"""

from __future__ import annotations

import asyncio
import atexit
import ipaddress
import json
import os
import socket
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol
from uvicorn.supervisors import Multiprocess

from grater.annotate.invitations import invite_first_owner
from grater.annotate.store import Store, open_store
from grater.annotate.web.app import create_app
from grater.annotate.web.context import Settings
from grater.annotate.web.security import is_among, network_of
from grater.errors import UsageError

DAYS = 1.0


def setup_link(settings: Settings, store: Store) -> str | None:
    """A fresh one-time link for the first owner; None once the study has an owner who can log in.

    Links of earlier starts that were not used are withdrawn.
    """
    with store.write() as tx:
        token = invite_first_owner(tx, days=DAYS)
    return settings.link(f"/setup/{token}") if token else None


ENVIRONMENT = "GRATER_PROCESS"
"""The settings for one of several server processes, as JSON."""

PATIENCE_SECONDS = 60
"""A process that is silent for this long counts as dead: a big report may keep one busy for a while."""

HEAD_SECONDS = 10.0
"""How long the first line and the headers of a request may take to arrive."""


def most_connections() -> int:
    try:
        import resource  # which Windows does not have
    except ImportError:
        return 400
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0] * 3 // 4


MOST_UNSENT = 50
"""Connections of one address that have sent no request: a browser opens a few ahead of time, a class many."""


class Guarded(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """Closes connections that hold a place and send no request; those of `proxies` are not counted by address."""

    waiting: ClassVar[defaultdict[str, dict[Guarded, asyncio.TimerHandle]]] = defaultdict(dict)
    """By address, the oldest first."""

    def __init__(self, *args: Any, proxies: Sequence[str] = (), **more: Any) -> None:
        super().__init__(*args, **more)
        self.proxies, self.address = proxies, ""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        self.address = "" if is_among(host, self.proxies) else network_of(host)
        self.wait()
        if self.address and len(self.waiting[self.address]) > MOST_UNSENT:
            next(iter(self.waiting[self.address])).end()
        if len(self.connections) > most_connections():
            oldest = {timer.when(): each for own in self.waiting.values() for each, timer in own.items()}
            oldest[min(oldest)].end()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self.stop_waiting()
        elif self.cycle is None or self.cycle.response_complete:
            self.wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self.stop_waiting()
        super().connection_lost(exc)

    def wait(self) -> None:
        if self not in self.waiting[self.address]:
            self.waiting[self.address][self] = self.loop.call_later(HEAD_SECONDS, self.end)

    def stop_waiting(self) -> None:
        if timer := self.waiting[self.address].pop(self, None):
            timer.cancel()
        if not self.waiting[self.address]:
            del self.waiting[self.address]

    def end(self) -> None:
        self.stop_waiting()
        self.transport.close()


MANNERS: dict[str, Any] = {
    "log_level": "warning",
    "server_header": False,
    "proxy_headers": False,  # else uvicorn believes any program on this machine about where a request came from
    "ws": "none",
}


def require_proxies(proxies: Sequence[str]) -> None:
    """Refuse anything that is neither an IP address nor a network."""
    for proxy in proxies:
        try:
            ipaddress.ip_network(proxy, strict=False)
        except ValueError as error:
            raise UsageError(
                f"proxy: expected an IP address or network (10.0.0.0/8), found {proxy[:50]!r}"
            ) from error


def require_processes(store: Store, n: int) -> None:
    if n > 1 and not store.is_postgres:
        raise UsageError(f"{store.name}: SQLite is served by one process; for {n} move the study to PostgreSQL")


def run(study: str, settings: Settings, store: Store, *, host: str, port: int, processes: int = 1) -> None:
    manners = MANNERS | {"http": partial(Guarded, proxies=settings.proxies)}
    if processes == 1:
        uvicorn.run(create_app(settings, store), host=host, port=port, **manners)
        return
    for_processes = {each.name: getattr(settings, each.name) for each in fields(settings) if each.name != "clock"}
    for_processes |= {"study": study, "logins_a_minute": max(1, settings.logins_a_minute // processes)}
    os.environ[ENVIRONMENT] = json.dumps(for_processes)
    config = uvicorn.Config(
        f"{__name__}:one_of_several",
        factory=True,
        workers=processes,
        timeout_worker_healthcheck=PATIENCE_SECONDS,
        **manners,
    )
    with listening(host, port) as line:
        Supervisor(config, sockets=[line]).run()


class Supervisor(Multiprocess):
    """Replaces a killed process at once: while we hold its end of the pipe too, its silence is waited out."""

    def keep_subprocess_alive(self) -> None:
        for process in self.processes:
            process.child_conn.close()
        super().keep_subprocess_alive()


def listening(host: str, port: int) -> socket.socket:
    """The socket that the processes share.

    It declares TCP: otherwise Python does not ask for small packets to be sent at once, and answers wait some
    40 ms for the other side.  The socket that uvicorn would make does not.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            line.bind(address)
            return line.dup()
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def one_of_several() -> FastAPI:
    """The application of a process that `run` started."""
    settings = json.loads(os.environ[ENVIRONMENT])
    store = open_store(settings.pop("study"))
    atexit.register(store.close)
    return create_app(Settings(**settings), store)
