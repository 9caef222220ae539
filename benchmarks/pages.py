"""What one request costs the server, without network or waiting.

The application is called in this process, one request after the other.  *Raters* take units and hand them in,
through the API and through the pages, on a small study of each engine: median CPU milliseconds and SQL statements.
*Managers* keep two pages open beside a job of 4,500 units with three judgments each by sixty raters and two systems
(SQLite): CPU milliseconds of the first look, then medians of nine with nothing changed and after one more judgment.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.harness import Size, Table
from benchmarks.load import FORM, HIDDEN, Reply, databases, make
from fastapi import FastAPI
from sqlalchemy import event

from grater.annotate import content, credentials, jobs, people, submissions, units
from grater.annotate.store import Store, Tx, open_store, schema
from grater.annotate.store.transaction import body_hash, new_id
from grater.annotate.submissions import submission_id_of, take_next
from grater.annotate.tasks.task import Answer
from grater.annotate.units import NewUnit
from grater.annotate.web import Settings, create_app
from grater.annotate.web.context import SESSION
from grater.model import Decision, Essay, Item, Span

HOST = "127.0.0.1:8000"
N_RATERS, N_LIVE_RATERS, N_JUDGMENTS, N_A_TEXT, N_TIMES = 20, 60, 3, 100, 9


async def call(app: FastAPI, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Reply:
    """One request by ASGI, with nothing around it."""
    raw = [(name.encode(), value.encode()) for name, value in {"host": HOST, **headers}.items()]
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
        "headers": [*raw, (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    sent = [{"type": "http.request", "body": body, "more_body": False}]
    replies: list[Any] = []

    async def receive() -> Any:
        return sent.pop() if sent else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        replies.append(message)

    await app(scope, receive, send)
    if replies[0]["status"] >= 400:
        raise RuntimeError(f"{method} {path}: {replies[0]['status']}")
    found = {name.decode(): value.decode() for name, value in replies[0]["headers"]}
    return replies[0]["status"], found, b"".join(each.get("body", b"") for each in replies[1:])


async def of_raters(store: Store, job_id: str, keys: list[tuple[str, str]], n: int) -> dict[str, list[Any]]:
    """CPU milliseconds and statements of each request by its kind; the first two raters warm everything up."""
    app, costs, statements = create_app(Settings(base_url=f"http://{HOST}"), store), defaultdict(list), list[int]()
    for engine in [store.engine, store.glancing] if store.is_postgres else [store.engine]:
        event.listen(engine, "before_cursor_execute", lambda *_: statements.append(1))
    with store.write() as tx:
        held = [people.find_token(tx, token) for token, _ in keys]
        sessions = [credentials.start_session(tx, each[1].person_id, hours=1) for each in held if each]

    async def ask(kind: str, *request: Any) -> Reply:
        statements.clear()
        began = time.process_time()
        reply = await call(app, *request)
        costs[kind].append((1000 * (time.process_time() - began), len(statements)))
        return reply

    for number, ((token, _), (cookie, session)) in enumerate(zip(keys, sessions, strict=True)):
        if number == 2:
            costs.clear()
        if number % 2:
            headers = {"cookie": f"{SESSION}={cookie}", "origin": f"http://{HOST}", "content-type": FORM}
            body = urlencode({"csrf": session.csrf}).encode()
            _, found, _ = await call(app, "POST", f"/jobs/{job_id}/next", headers, body)
            for _ in range(n):
                _, _, page = await ask("page of a unit", "GET", found["location"], headers)
                hidden = HIDDEN.search(page)
                name = hidden.group(1).decode() if hidden else ""
                body = urlencode({"csrf": session.csrf, "submission_id": name, "label": "ok"}).encode()
                _, found, _ = await ask("form: hand in, take the next", "POST", found["location"], headers, body)
        else:
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            answer = json.dumps({"fields": {"label": ["ok"]}, "seconds": 5}).encode()
            for _ in range(n):
                _, _, reply = await ask("API: take a unit", "POST", f"/api/v1/jobs/{job_id}/next", headers)
                lease = json.loads(reply)["lease"]["lease_id"]
                await ask("API: hand in", "POST", f"/api/v1/leases/{lease}", headers, answer)
    return costs


def filled(store: Store, n_units: int) -> str:
    """A job with every judgment but those of the last units; return its id."""
    rng = random.Random(1)
    places = [
        Item(f"essay-{n // N_A_TEXT}", Span(3 * (n % N_A_TEXT), 3 * (n % N_A_TEXT) + 2), "prep")
        for n in range(n_units)
    ]
    n_open = 2 * N_TIMES
    with store.write() as tx:
        content.add_essays(tx, [Essay(f"essay-{n}", "of " * N_A_TEXT) for n in range(-(-n_units // N_A_TEXT))])
        content.add_items(tx, [content.study_item(item) for item in places])
        for system in ("one", "other"):
            decided = [Decision(item.item_id, system, rng.random() < 0.2, score=rng.random()) for item in places]
            content.add_decisions(tx, decided)
        job = jobs.add(tx, name="live", task="error", judgments=N_JUDGMENTS, title="Live")
        ids = units.add_all(tx, job.job_id, [NewUnit(((item.item_id, {}),), item.essay_id) for item in places])
        raters = [people.add(tx, name=f"Rater {n}", role="worker").person_id for n in range(N_LIVE_RATERS)]
        done = list(zip(ids, places, strict=True))[:-n_open]
        sent = (row for unit_id, item in done for row in answers(tx, job.job_id, unit_id, item, raters, rng))
        submissions.store_all(tx, sent)
        tx.execute(schema.slots.update().where(schema.slots.c.job_id == job.job_id).values(state="filled"))
        open_units = schema.slots.c.unit_id.in_(ids[-n_open:])
        tx.execute(schema.slots.update().where(open_units).values(state="free"))
        jobs.set_state(tx, job.job_id, "open")
    return job.job_id


def answers(
    tx: Tx, job_id: str, unit_id: str, item: Item, raters: list[str], rng: random.Random
) -> Iterator[tuple[dict[str, Any], list[Answer]]]:
    """Three raters who are right in 85 of 100."""
    is_error = rng.random() < 0.25
    for n, rater in enumerate(rng.sample(raters, N_JUDGMENTS), 1):
        label = "error" if is_error != (rng.random() < 0.15) else "ok"
        body = {"label": [label]}
        stored = {"submission_id": new_id(), "job_id": job_id, "unit_id": unit_id, "n": n, "person_id": rater}
        stored |= {"lease_id": None, "body": body, "body_hash": body_hash(body), "seconds": rng.uniform(3, 30)}
        yield stored | {"at": tx.now + rng.randrange(10**7), "status": "valid"}, [Answer(item.item_id, label)]


async def of_managers(store: Store, job_id: str) -> Iterator[list[Any]]:
    with store.write() as tx:
        manager = people.add(tx, name="Manager", role="manager")
        rater = people.add(tx, name="Last", role="worker").person_id
        token, _ = credentials.start_session(tx, manager.person_id, hours=1)
    app = create_app(Settings(base_url=f"http://{HOST}", request_seconds=600), store)
    headers = {"cookie": f"{SESSION}={token}"}

    async def look(page: str) -> float:
        while app.state.server.live.is_busy:  # what is counted beside the request is not part of it
            await asyncio.sleep(0.05)
        began = time.process_time()
        await call(app, "GET", f"/manage/jobs/{job_id}/{page}", headers)
        return 1000 * (time.process_time() - began)

    rows = []
    async with app.router.lifespan_context(app):
        for page in ("crowd", "raters"):
            first = await look(page)
            unchanged = [await look(page) for _ in range(N_TIMES)]
            after = []
            for _ in range(N_TIMES):
                one_more(store, job_id, rater)
                after.append(await look(page))
            rows.append([page, *(round(cost, 1) for cost in (first, *map(statistics.median, (unchanged, after))))])
    return iter(rows)


def one_more(store: Store, job_id: str, person_id: str) -> None:
    lease = take_next(store, job_id=job_id, person_id=person_id)
    if lease is None:
        return
    with store.write() as tx:
        item = units.get(tx, lease.unit_id).unit.items[0].item
        submissions.submit(
            tx,
            submission_id=submission_id_of(lease.lease_id),
            lease_id=lease.lease_id,
            person_id=person_id,
            body={"label": ["ok"]},
            answers=[Answer(item.item_id, "ok")],
            seconds=4.0,
        )


def measure(size: Size) -> Iterator[Table]:
    engines = ["sqlite"] if size == "short" else ["sqlite", "postgres"]
    rows = []
    with databases(engines) as place:
        for engine in engines:
            location, _ = place(engine)
            job_id, keys = make(location, 4 if size == "short" else N_RATERS, "api")
            with open_store(location) as store:
                costs = asyncio.run(of_raters(store, job_id, keys, 3 if size == "short" else 20))
            for kind, several in costs.items():
                ms, statements = (statistics.median(column) for column in zip(*several, strict=True))
                rows.append([f"{engine}, {kind}", round(ms, 1), round(statements)])
    yield Table("A request of a rater", ("request", "CPU ms", "statements"), rows)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "study.db", create=True) as store:
        job_id = filled(store, 100 if size == "short" else 4500)
        rows = list(asyncio.run(of_managers(store, job_id)))
    yield Table(
        "A manager's page, CPU ms", ("page", "first look", "nothing changed", "after one more judgment"), rows
    )
