"""Raters at work on the annotation server, over HTTP: requests a second, waits, and whether anything got lost.

    python benchmarks/load.py [--raters 50 200 500] [--seconds 30] [--think 5] [--engine sqlite postgres]

Each rater has a token, takes a unit, thinks (about `--think` seconds, drawn), hands it in, and takes the next; in one
of twenty times the answer is sent twice, as by a double click.  At the end the store's own checker looks for lost,
doubled and over-issued judgments, and every acknowledged answer is looked up.  Clients and server share the machine,
so the server has less than the two cores; there is no peer that does the same job.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlalchemy import select

from grater.model import Essay
from grater.store import essays, open_store, people, tokens
from grater.store.checks import violations
from grater.store.schema import submissions
from grater.study.opening import new
from grater.study.planning import JobPlan, add_job

SENTENCE = "We walked along the river in the morning and talked about the plans for the summer. "
SERVER = """
import sys, uvicorn
from grater.server.app import create_app
from grater.server.settings import Settings
from grater.store import open_store
location, port = sys.argv[1], int(sys.argv[2])
with open_store(location) as store, store.serving():
    uvicorn.run(create_app(Settings(base_url=f"http://127.0.0.1:{port}"), store), port=port, log_level="warning")
"""


@dataclass
class Seen:
    """What clients saw: seconds of each kind of request, answers acknowledged, failures."""

    take: list[float] = field(default_factory=list)
    submit: list[float] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)


def make(location: str, n_raters: int) -> tuple[str, list[str]]:
    """A study with enough units of the task `error`, and a token for every rater."""
    store = new(location, name="load")
    with store.write() as tx:
        essays.add_all(tx, [Essay(f"e{place}", SENTENCE * 12) for place in range(100)])
        raters = [people.add(tx, name=f"rater {place}", role="worker") for place in range(n_raters)]
        keys = [tokens.make(tx, rater.person_id) for rater in raters]
    job = add_job(store, JobPlan("load", "error", judgments=min(20, n_raters)))
    store.close()
    return job.job_id, [key if isinstance(key, str) else key[0] for key in keys]


@contextmanager
def serving(location: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SERVER, location, str(port)])
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(200):
            try:
                httpx.get(f"{url}/login", timeout=2)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


async def rater(
    client: httpx.AsyncClient, job_id: str, key: str, end: float, think: float, chance: random.Random, seen: Seen
) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    await asyncio.sleep(chance.uniform(0, think))
    while time.monotonic() < end:
        started = time.perf_counter()
        answer = await client.post(f"/api/v1/jobs/{job_id}/next", headers=headers)
        seen.take.append(time.perf_counter() - started)
        if answer.status_code != 200:
            seen.failures.append(f"next {answer.status_code}")
            await asyncio.sleep(think)
            continue
        lease = answer.json()["lease"]
        if lease is None:
            return
        await asyncio.sleep(chance.expovariate(1 / think))
        body = {
            "fields": {"label": [chance.choice(["error", "ok"])]},
            "submission_id": str(uuid.uuid4()),
            "seconds": think,
        }
        for _ in range(2 if chance.random() < 0.05 else 1):
            started = time.perf_counter()
            answer = await client.post(f"/api/v1/leases/{lease['lease_id']}", headers=headers, json=body)
            seen.submit.append(time.perf_counter() - started)
            if answer.status_code == 200:
                seen.acknowledged.add(str(body["submission_id"]))
            else:
                seen.failures.append(f"submit {answer.status_code}")


async def crowd(url: str, job_id: str, keys: list[str], seconds: float, think: float) -> Seen:
    seen = Seen()
    limits = httpx.Limits(max_connections=len(keys), max_keepalive_connections=len(keys))
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60) as client:
        end = time.monotonic() + seconds
        await asyncio.gather(
            *(rater(client, job_id, key, end, think, random.Random(n), seen) for n, key in enumerate(keys))
        )
    return seen


def run(location: str, n_raters: int, *, seconds: float, think: float) -> dict[str, object]:
    job_id, keys = make(location, n_raters)
    with serving(location) as url:
        started = time.perf_counter()
        seen = asyncio.run(crowd(url, job_id, keys, seconds, think))
        took = time.perf_counter() - started
    with open_store(location) as store, store.read() as tx:
        stored = {row.submission_id for row in tx.all(select(submissions.c.submission_id))}
        broken = violations(tx)
    waits = np.array(seen.take + seen.submit) * 1000
    return {
        "raters": n_raters,
        "requests_per_second": round(len(waits) / took, 1),
        **{f"p{share}_ms": round(float(np.percentile(waits, share)), 1) for share in (50, 95, 99)},
        "judgments": len(seen.acknowledged),
        "lost": len(seen.acknowledged - stored),
        "violations": len(broken),
        "failures": len(seen.failures),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raters", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--think", type=float, default=5)
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"], choices=["sqlite", "postgres"])
    asked = parser.parse_args()
    with ExitStack() as stack:
        server = None
        if "postgres" in asked.engine:
            from tests.store.postgres import running_cluster

            server = stack.enter_context(running_cluster())
        for engine in asked.engine:
            for n_raters in asked.raters:
                location = _location(stack, engine, server)
                found = run(location, n_raters, seconds=asked.seconds, think=asked.think)
                print(json.dumps({"engine": engine, **found}), flush=True)


def _location(stack: ExitStack, engine: str, server: str | None) -> str:
    if engine == "postgres" and server is not None:
        from tests.store.postgres import new_database

        return new_database(server)
    return str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "load.db")


if __name__ == "__main__":
    main()
