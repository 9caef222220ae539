"""What one request of a rater costs, without network or waiting: `python -m benchmarks.serving.cost [--list]`.

The application is called in this process, one request after the other, on a small study of each engine.  For each
kind of request: milliseconds of this process's CPU (the median, and below the other number a quarter of them),
statements, and how often the request waits for the database (statements of one pipeline go together; BEGIN and COMMIT
are not counted).  `--list` prints the statements of one request of each kind.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlencode

from benchmarks.load import make
from benchmarks.serving.raters import FORM, HIDDEN, Key
from fastapi import FastAPI
from sqlalchemy import Engine, event
from tests.store.postgres import new_database, running_cluster

from grater.server.app import create_app
from grater.server.settings import Settings
from grater.store import Tx, credentials, open_store

N_RATERS = 20
HOST = "127.0.0.1:8000"


@dataclass(slots=True)
class Cost:
    """CPU milliseconds and statements of the requests of one kind; `last` lists the statements of the newest."""

    ms: list[float] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)
    last: list[str] = field(default_factory=list)

    def row(self, engine: str, kind: str) -> str:
        low, middle, _ = statistics.quantiles(self.ms, n=4)
        cells = [engine, kind, len(self.ms), f"{middle:.2f}", f"{low:.2f}"]
        cells += [f"{statistics.median(counts):.0f}" for counts in (self.statements, self.waits)]
        return "| " + " | ".join(map(str, cells)) + " |"


class Watch:
    """Everything that is said to the database, in order."""

    def __init__(self, *engines: Engine) -> None:
        self.said: list[str] = []
        self.n_waits, self._is_piped = 0, False
        for engine in engines:
            event.listen(engine, "before_cursor_execute", self._statement)

    def clear(self) -> None:
        self.said.clear()
        self.n_waits, self._is_piped = 0, False

    def _statement(self, _connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        was_piped, info = self._is_piped, getattr(cursor.connection, "info", None)
        self._is_piped = info is not None and info.pipeline_status.name == "ON"
        self.n_waits += not (was_piped and self._is_piped)
        self.said.append(" ".join(statement.split()))


Answer: TypeAlias = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""


@dataclass(slots=True)
class Caller:
    """Calls the application as a server would, and notes what it cost."""

    app: FastAPI
    watch: Watch
    costs: dict[str, Cost] = field(default_factory=dict)

    async def ask(self, kind: str, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Answer:
        self.watch.clear()
        began = time.process_time()
        status, found, reply = await call(self.app, method, path, headers, body)
        cost = self.costs.setdefault(kind, Cost())
        cost.ms.append(1000 * (time.process_time() - began))
        cost.statements.append(len(self.watch.said))
        cost.waits.append(self.watch.n_waits)
        cost.last = list(self.watch.said)
        if status >= 400:
            raise SystemExit(f"{kind}: {status} {reply[:300]!r}")
        return status, found, reply


async def call(app: FastAPI, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
    """One request by ASGI, with nothing around it."""
    raw = [(name.encode(), value.encode()) for name, value in {"host": HOST, **headers}.items()]
    raw += [(b"content-length", str(len(body)).encode())]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": raw,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    sent = [{"type": "http.request", "body": body, "more_body": False}]
    told: list[Any] = []

    async def receive() -> Any:
        return sent.pop() if sent else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        told.append(message)

    await app(scope, receive, send)
    found = {name.decode(): value.decode() for name, value in told[0]["headers"]}
    return told[0]["status"], found, b"".join(each.get("body", b"") for each in told[1:])


async def by_api(caller: Caller, job_id: str, token: str, n: int) -> None:
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    for _ in range(n):
        _, _, reply = await caller.ask("API, take a unit", "POST", f"/api/v1/jobs/{job_id}/next", headers)
        path = f"/api/v1/leases/{json.loads(reply)['lease']['lease_id']}"
        answer = json.dumps({"fields": {"label": ["ok"]}, "seconds": 5}).encode()
        await caller.ask("API, hand in", "POST", path, headers, answer)


async def by_pages(caller: Caller, job_id: str, token: str, csrf: str, n: int) -> None:
    origin = f"http://{HOST}"
    headers = {"cookie": f"grater-session={token}", "origin": origin, "content-type": FORM}
    body = urlencode({"csrf": csrf}).encode()
    _, found, _ = await caller.ask("first unit", "POST", f"/jobs/{job_id}/next", headers, body)
    for _ in range(n):
        path = found["location"]
        _, _, page = await caller.ask("page of a unit", "GET", path, headers)
        hidden = HIDDEN.search(page)
        name = hidden.group(1).decode() if hidden else ""
        body = urlencode({"csrf": csrf, "submission_id": name, "label": "ok"}).encode()
        _, found, _ = await caller.ask("form: hand in and take the next", "POST", path, headers, body)


def owner_of(tx: Tx, key: Key) -> str:
    held = credentials.find_token(tx, key.token)
    if held is None:
        raise SystemExit("a token that was just made does not hold")
    return held[1].person_id


def measure(location: str, n: int) -> dict[str, Cost]:
    """Raters one after the other, half by the API and half by the pages; the first two warm everything up."""
    job_id, keys = make(location, N_RATERS, "api")
    with open_store(location) as store:
        with store.write() as tx:
            pairs = [(key, credentials.start_session(tx, owner_of(tx, key), hours=1)) for key in keys]
        engines = [store.engine, store.glancing] if store.is_postgres else [store.engine]
        caller = Caller(create_app(Settings(base_url=f"http://{HOST}"), store), Watch(*engines))

        async def all_of_them() -> None:
            for number, (key, (token, session)) in enumerate(pairs):
                if number == 2:
                    caller.costs.clear()
                if number % 2:
                    await by_pages(caller, job_id, token, session.csrf, n)
                else:
                    await by_api(caller, job_id, key.token, n)

        asyncio.run(all_of_them())
        return caller.costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"], choices=["sqlite", "postgres"])
    parser.add_argument("--times", type=int, default=20, help="units a rater")
    parser.add_argument("--list", action="store_true", help="print the statements")
    asked = parser.parse_args()
    print(
        "| engine | request | n | CPU ms | quarter | statements | waits |",
        "|---|---|---:|---:|---:|---:|---:|",
        sep="\n",
    )
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(running_cluster()) if "postgres" in asked.engine else ""
        for engine in asked.engine:
            costs = measure(new_database(server) if engine == "postgres" else f"{folder}/cost.db", asked.times)
            for kind, cost in costs.items():
                print(cost.row(engine, kind), *(cost.last if asked.list else ()), sep="\n    ", flush=True)


if __name__ == "__main__":
    main()
