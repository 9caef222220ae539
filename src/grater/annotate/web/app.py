"""`create_app`: one application for one study, with no global state; and all its routers, in the order of trying.

Every route goes through `open_context`, which lets a request in or turns it away: one that belongs to none of these
routers is closed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from grater import __version__
from grater.annotate import collusion
from grater.annotate.dashboard import Live
from grater.annotate.proofreading import Proofreader
from grater.annotate.runs import Runner
from grater.annotate.store import Store
from grater.annotate.web import (
    account,
    adjudication,
    check,
    crowd,
    events,
    jobs,
    openapi,
    panels,
    people,
    raters,
    start,
    study,
    systems,
    units,
    work,
)
from grater.annotate.web.context import Routes, Server, Settings, open_context
from grater.annotate.web.errors import HANDLERS, answer
from grater.annotate.web.rendering import PageFiles, environment
from grater.annotate.web.security import API, SecurityHeaders, Shelter, Table, Tries
from grater.annotate.webhooks import deliver_forever
from grater.errors import GraterError

LOG = logging.getLogger("grater.annotate.web")

MODULES = (
    work,
    account,
    panels,
    crowd,
    raters,
    jobs,
    start,
    study,
    systems,
    units,
    people,
    events,
    adjudication,
    check,
    openapi,
)

ROUTERS = [each for module in MODULES for each in vars(module).values() if isinstance(each, Routes)]

ROLES_OF: Table = {
    (method, route.path): router.allowed
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute)
    for method in route.methods or ()
}

LOOK_SECONDS = 20.0
"""Seconds between checks for background work of a dead process."""

AT_ONCE = 10
"""Requests of a visitor or guest that are served at once; further ones at the rate allowed per minute."""

WATCH_SECONDS = 300.0
"""Seconds between two searches for raters who share wrong answers."""


def create_app(settings: Settings, store: Store) -> FastAPI:
    store.limit_statements(settings.long_request_seconds)
    logins = Tries(a_minute=settings.logins_a_minute, clock=settings.clock)
    with store.glance() as tx:
        server = Server(
            settings=settings,
            store=store,
            templates=environment(),
            logins=logins,
            checks=Tries(a_minute=settings.check_letters / 2, most=settings.check_letters, clock=settings.clock),
            requests=Tries(a_minute=settings.guest_requests, clock=settings.clock),
            paces=Tries(
                a_minute=settings.guest_requests,
                most=max(AT_ONCE, settings.guest_requests / 30),
                clock=settings.clock,
            ),
            changes=Tries(a_minute=settings.guest_bytes, clock=settings.clock),
            proofreader=Proofreader(settings.check_systems),
            live=Live(store),
            secret=tx.key,
            runner=Runner(store),
            roles=ROLES_OF,
        )
    app = FastAPI(
        title="grater",
        version=__version__,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        webhooks=openapi.deliveries,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # asked for, it looks for a module each time
        dependencies=[Depends(open_context)],
        lifespan=_lifespan,
    )
    app.state.server = server
    for router in ROUTERS:
        app.include_router(router, include_in_schema=router.prefix == API)
    app.mount("/static", PageFiles(), name="static")
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)
    _add_walls(app, settings)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """While the server runs, deliver to webhooks and do long work, also what an earlier process left unfinished."""
    server: Server = app.state.server
    await run_in_threadpool(server.runner.take_up)
    async with (
        _in_background(deliver_forever(server.store, allow_private=server.settings.private_webhooks)),
        _in_background(_work_forever(server.runner)),
        _in_background(_watch(server.store)),
    ):
        yield


@asynccontextmanager
async def _in_background(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _work_forever(runner: Runner) -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        runner.wake()


async def _watch(store: Store) -> None:
    """Notify managers of raters who share wrong answers."""
    n_answers: dict[str, int] = {}
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            await run_in_threadpool(collusion.watch, store, n_answers)
        except GraterError as error:  # a busy or full study is looked at again
            LOG.warning("%s", error)


def _add_walls(app: FastAPI, settings: Settings) -> None:
    """From the inside out: the last one added is the first that a request meets."""
    names = sorted({urlsplit(f"//{host}").hostname or host for host in settings.hosts})
    bytes_of, seconds_of, body_seconds = settings.bytes_of, settings.seconds_of, settings.body_seconds
    app.add_middleware(Shelter, answer=answer, bytes_of=bytes_of, seconds_of=seconds_of, body_seconds=body_seconds)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)  # tokens of forms are masked (`security`)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=names, www_redirect=False)
    app.add_middleware(SecurityHeaders, is_secure=settings.is_secure)
