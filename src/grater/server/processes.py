"""The server as processes: one, or on PostgreSQL several that share a port.

A process answers with one core at a time.  Uvicorn starts the others, hands each the same socket, and starts a new
one where one died.  Each opens the study for itself and reads what to do from its environment.
"""

from __future__ import annotations

import atexit
import json
import os
from typing import Any

import uvicorn
from fastapi import FastAPI

from grater.errors import UsageError
from grater.server.app import create_app
from grater.server.settings import Settings
from grater.store import Store, open_store

ENVIRONMENT = "GRATER_PROCESS"
"""What a process of several is to serve, as JSON."""

PATIENCE_SECONDS = 60
"""A process that is silent for so long is taken for dead: a big report may keep one busy for a while."""


def require_processes(store: Store, n: int) -> None:
    if n > 1 and not store.is_postgres:
        raise UsageError(f"{store.name}: SQLite is served by one process; for {n} move the study to PostgreSQL")


def run(study: str, settings: Settings, store: Store, *, host: str, port: int, processes: int = 1) -> None:
    """Serve until somebody stops it."""
    options: dict[str, Any] = {"host": host, "port": port, "log_level": "warning", "server_header": False}
    if processes == 1:
        uvicorn.run(create_app(settings, store), **options)
        return
    told = {
        "study": study,
        "base_url": settings.base_url,
        "private_webhooks": settings.private_webhooks,
        "logins_a_minute": max(1, settings.logins_a_minute // processes),
    }
    os.environ[ENVIRONMENT] = json.dumps(told)
    uvicorn.run(
        f"{__name__}:one_of_several",
        factory=True,
        workers=processes,
        timeout_worker_healthcheck=PATIENCE_SECONDS,
        **options,
    )


def one_of_several() -> FastAPI:
    """The application of a process that `run` started."""
    told = json.loads(os.environ[ENVIRONMENT])
    store = open_store(told.pop("study"))
    atexit.register(store.close)
    return create_app(Settings(**told), store)
