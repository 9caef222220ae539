"""CPU time of the pages that managers keep open beside a crowd job: the live page and the page of its raters.

    python -m benchmarks.live [UNITS]

A job of 4,500 units, three judgments each by sixty raters, two systems that decided on every item, in a SQLite file.
Each page is asked for when the server has just started, then again with nothing changed and after one more judgment:
medians of nine requests each, and the slowest of them.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grater.model import Decision, Essay, Item, Span
from grater.server import Settings, create_app
from grater.server.context import SESSION
from grater.store import (
    Store,
    Tx,
    credentials,
    decisions,
    essays,
    items,
    jobs,
    open_store,
    people,
    schema,
    slots,
    submissions,
    units,
)
from grater.store.ids import body_hash, new_id
from grater.store.units import NewUnit
from grater.study.work import submission_id_of, take_next
from grater.tasks.task import Answer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

BASE = "http://testserver"
N_RATERS, N_JUDGMENTS, N_A_TEXT = 60, 3, 100
N_TIMES = 9
N_OPEN = 2 * N_TIMES
"""Units that nobody has judged yet: one for each time that a page is looked at after one more judgment."""


def filled(store: Store, n_units: int, rng: random.Random) -> str:
    """The job, with every judgment but those of the last units; return its id."""
    places = [place_of(n) for n in range(n_units)]
    with store.write() as tx:
        essays.add_all(tx, [Essay(f"essay-{n}", "of " * N_A_TEXT) for n in range(-(-n_units // N_A_TEXT))])
        items.add_all(tx, [items.of(item) for item in places])
        for system in ("one", "other"):
            decisions.add_all(tx, [decided(item, system, rng) for item in places])
        job = jobs.add(tx, name="live", task="error", judgments=N_JUDGMENTS, title="Live")
        ids = units.add_all(tx, job.job_id, [NewUnit(((item.item_id, {}),), item.essay_id) for item in places])
        raters = [people.add(tx, name=f"Rater {n}", role="worker").person_id for n in range(N_RATERS)]
        done = list(zip(ids, places, strict=True))[:-N_OPEN]
        sent = (row for unit_id, item in done for row in answers(tx, job.job_id, unit_id, item, raters, rng))
        submissions.store_all(tx, sent)
        tx.execute(schema.slots.update().where(schema.slots.c.job_id == job.job_id).values(state="filled"))
        for unit_id in ids[-N_OPEN:]:
            for n in range(1, N_JUDGMENTS + 1):
                slots.set_state(tx, unit_id, n, "free")
        jobs.set_state(tx, job.job_id, "open")
    return job.job_id


def place_of(n: int) -> Item:
    start = 3 * (n % N_A_TEXT)
    return Item(f"essay-{n // N_A_TEXT}", Span(start, start + 2), "prep")


def decided(item: Item, system: str, rng: random.Random) -> Decision:
    return Decision(item_id=item.item_id, system=system, flagged=rng.random() < 0.2, score=rng.random())


def answers(
    tx: Tx, job_id: str, unit_id: str, item: Item, raters: list[str], rng: random.Random
) -> Iterator[tuple[dict[str, Any], list[Answer]]]:
    """Three raters who are right in 85 of 100."""
    is_error = rng.random() < 0.25
    for n, rater in enumerate(rng.sample(raters, N_JUDGMENTS), 1):
        label = "error" if is_error != (rng.random() < 0.15) else "ok"
        body = {"label": [label]}
        stored = {
            "submission_id": new_id(),
            "job_id": job_id,
            "unit_id": unit_id,
            "n": n,
            "person_id": rater,
            "lease_id": None,
            "body": body,
            "body_hash": body_hash(body),
            "seconds": rng.uniform(3, 30),
            "at": tx.now + rng.randrange(10**7),
            "status": "valid",
        }
        yield stored, [Answer(item.item_id, label)]


def main(n_units: int) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="grater-live-") as folder,
        open_store(Path(folder) / "study.db", create=True) as store,
    ):
        measure(store, filled(store, n_units, random.Random(1)))


def measure(store: Store, job_id: str) -> None:
    with store.write() as tx:
        manager = people.add(tx, name="Manager", role="manager")
        rater = people.add(tx, name="Last", role="worker")
        token, _ = credentials.start_session(tx, manager.person_id, hours=1)
    settings = Settings(base_url=BASE, request_seconds=600)  # a first look on a busy machine is not to be broken off
    app = create_app(settings, store)
    with TestClient(app, base_url=BASE, cookies={SESSION: token}) as client:
        for page in ("crowd", "raters"):
            path = f"/manage/jobs/{job_id}/{page}"
            for when, n_times in (("first", 1), ("unchanged", N_TIMES), ("after one more", N_TIMES)):
                costs = []
                for _ in range(n_times):
                    if when == "after one more":
                        one_more(store, job_id, rater.person_id)
                    while app.state.server.live.is_busy:  # what is counted beside the request is not part of it
                        time.sleep(0.05)
                    costs.append(cost_of(client, path))
                told = f"median {statistics.median(costs):8.1f}  slowest {max(costs):8.1f} ms CPU"
                print(f"{page:8} {when:15} {told}", flush=True)


def cost_of(client: TestClient, path: str) -> float:
    """CPU milliseconds of one request."""
    begin = time.process_time()
    client.get(path).raise_for_status()
    return 1000 * (time.process_time() - begin)


def one_more(store: Store, job_id: str, person_id: str) -> None:
    lease = take_next(store, job_id=job_id, person_id=person_id)
    if lease is None:
        return
    with store.write() as tx:
        unit = units.get(tx, lease.unit_id)
        item = unit.unit.items[0].item
        submissions.submit(
            tx,
            submission_id=submission_id_of(lease.lease_id),
            lease_id=lease.lease_id,
            person_id=person_id,
            body={"label": ["ok"]},
            answers=[Answer(item.item_id, "ok")],
            seconds=4.0,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4500)
