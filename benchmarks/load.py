"""How many raters a server can take: raters at work over HTTP, their waits, and whether anything got lost.

A study of 4,800 units with 20 judgments each is served by `grater serve`, on PostgreSQL from two processes.
Raters, in a process of their own, take a unit, think about five seconds, hand it in and take the next, through the
API or through the pages; one answer in twenty is sent twice.  At the end every acknowledged answer is looked up,
and the store's own checker looks for lost, doubled and over-issued judgments.  Raters, server and database share
the machine, and every COMMIT waits for the disk.

    python -m benchmarks.load [--raters 200 500] [--engine sqlite postgres] [--through api pages] [--seconds 20]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
from benchmarks.harness import GRATER, ROOT, Size, Table

from tests.ports import free_port

SENTENCE = "We walked along the river in the morning and talked about the plans for the summer. "
FORM = "application/x-www-form-urlencoded"
HIDDEN = re.compile(rb'name="submission_id" value="([^"]*)"')
TWICE = 0.05
LABELS = ("error", "ok")
START_SECONDS = 180
UNAVAILABLE, AGAIN_SECONDS = 503, 0.1
TICK = os.sysconf("SC_CLK_TCK")
COLUMNS = (
    "engine, through",
    "raters",
    "requests/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "server CPU ms",
    "database CPU ms",
    "judgments",
    "lost",
    "broken",
    "failed",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A rater's key is a token and, for the pages, the token of forms; a request without a reply is sent again."""

    url: str
    job_id: str
    keys: list[tuple[str, str]]
    seconds: float
    think: float
    patience: int = 1
    """How often a request is sent again where no reply comes, or the server says that it cannot answer now."""


@dataclass(slots=True)
class Seen:
    """Milliseconds of every request, those that began when everybody had come in, answers acknowledged, failures.

    `again`: requests that got no reply, or only that the server cannot answer now, and were sent again.
    """

    waits: list[float] = field(default_factory=list)
    full: int = 0
    acknowledged: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    again: int = 0


class Line:
    """HTTP/1.1 over one socket kept open: a client that costs a tenth of what the server does.

    Where the server has hung up, as it does after five idle seconds, the request goes out again on a new socket; a
    rater's requests may safely be repeated.
    """

    def __init__(self, url: str, headers: dict[str, str], *, patience: int = 1) -> None:
        place = urlsplit(url)
        self.patience, self.again = patience, 0
        self.host, self.port = place.hostname or "", place.port or 80
        own = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._headers = f"host: {place.netloc}\r\n{own}"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> Reply:
        head = f"{method} {path} HTTP/1.1\r\n{self._headers}"
        if method != "GET":
            head += f"content-type: {kind}\r\ncontent-length: {len(body)}\r\n"
        sent = head.encode() + b"\r\n" + body
        for left in range(self.patience, -1, -1):
            try:
                reply = await self._exchange(sent)
                if reply[0] != UNAVAILABLE or not left:
                    return reply
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if not left:
                    raise
            if left < self.patience:
                await asyncio.sleep(AGAIN_SECONDS)
        raise AssertionError("the last try returns or raises")

    async def _exchange(self, sent: bytes) -> Reply:
        if self._streams is None or self._streams[0].at_eof():
            self.close()
            self._streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self._streams
        writer.write(sent)
        self.again += 1
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        status = int(first.split(" ", 2)[1])
        self.again -= status != UNAVAILABLE
        if headers.get("connection") == "close":
            self.close()
        return status, headers, body

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


Reply = tuple[int, dict[str, str], bytes]
"""Status, headers, body."""


@dataclass(slots=True)
class Rater:
    """Works until the time is up, and goes home with the last unit in hand."""

    plan: Plan
    key: tuple[str, str]
    chance: random.Random
    seen: Seen
    begin: float

    async def work(self) -> None:
        token, by_pages = self.key
        own = {"cookie": f"grater-session={token}", "origin": self.plan.url}
        headers = own if by_pages else {"authorization": f"Bearer {token}"}
        line = Line(self.plan.url, headers, patience=self.plan.patience)
        await asyncio.sleep(self.chance.uniform(0, self.plan.think))
        try:
            await (self.by_pages(line) if by_pages else self.by_api(line))
        except (OSError, EOFError) as error:
            self.seen.failures.append(f"{type(error).__name__}: {error}")
        finally:
            self.seen.again += line.again
            line.close()

    async def timed(self, asked: Awaitable[Reply], *, wanted: int = 200) -> Reply:
        self.seen.full += time.monotonic() >= self.begin
        started = time.perf_counter()
        reply = await asked
        self.seen.waits.append(1000 * (time.perf_counter() - started))
        if reply[0] != wanted:
            self.seen.failures.append(str(reply[0]))
        return reply

    async def thinks(self) -> bool:
        """Think for a while; False if the time is up before an answer is found."""
        seconds = self.chance.expovariate(1 / self.plan.think)
        left = self.begin + self.plan.seconds - time.monotonic()
        await asyncio.sleep(max(0.0, min(seconds, left)))
        return seconds < left

    async def by_api(self, line: Line) -> None:
        while True:
            status, _, body = await self.timed(line.ask("POST", f"/api/v1/jobs/{self.plan.job_id}/next"))
            lease = json.loads(body)["lease"] if status == 200 else None
            if lease is None or not await self.thinks():
                return
            name = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
            fields = {"label": [self.chance.choice(LABELS)]}
            sent = json.dumps({"fields": fields, "submission_id": name, "seconds": self.plan.think}).encode()
            for _ in range(1 + (self.chance.random() < TWICE)):
                status, *_ = await self.timed(line.ask("POST", f"/api/v1/leases/{lease['lease_id']}", sent))
                if status == 200:
                    self.seen.acknowledged.append(name)

    async def by_pages(self, line: Line) -> None:
        csrf = self.key[1]
        sent = urlencode({"csrf": csrf}).encode()
        reply = await self.timed(line.ask("POST", f"/jobs/{self.plan.job_id}/next", sent, FORM), wanted=303)
        while reply[1].get("location", "").startswith("/leases/"):
            path = reply[1]["location"]
            found = HIDDEN.search((await self.timed(line.ask("GET", path)))[2])
            if found is None or not await self.thinks():
                return
            name = found.group(1).decode()
            sent = urlencode({"csrf": csrf, "submission_id": name, "label": self.chance.choice(LABELS)}).encode()
            for _ in range(1 + (self.chance.random() < TWICE)):
                reply = await self.timed(line.ask("POST", path, sent, FORM), wanted=303)
                if reply[0] == 303:
                    self.seen.acknowledged.append(name)


async def crowd(plan: Plan, seen: Seen) -> Seen:
    begin = time.monotonic() + plan.think
    await asyncio.gather(
        *(Rater(plan, key, random.Random(number), seen, begin).work() for number, key in enumerate(plan.keys))
    )
    return seen


def make(
    location: str,
    n_raters: int,
    through: str,
    *,
    n_essays: int = 100,
    judgments: int = 20,
    password_hash: str = "",
) -> tuple[str, list[tuple[str, str]]]:
    """A study with 48 units of the task `error` for an essay, and a key for every rater; `both` is by turns.

    Raters with a password may send as much as they like.
    """
    from grater.annotate import content, credentials, people
    from grater.annotate.plans import NewJob, add_job
    from grater.annotate.status import new_study
    from grater.model import Essay

    with new_study(location, name="load") as store:
        with store.write() as tx:
            content.add_essays(tx, [Essay(f"e{place}", SENTENCE * 12) for place in range(n_essays)])
            raters = [
                people.add(tx, name=f"rater {place}", role="worker", password_hash=password_hash)
                for place in range(n_raters)
            ]
        job = add_job(store, NewJob(name="load", task="error", judgments=min(judgments, n_raters)))
        keys = []
        with store.write() as tx:
            for number, rater in enumerate(raters):
                if through == "api" or (through == "both" and number % 2):
                    keys.append((credentials.make_token(tx, rater.person_id), ""))
                else:
                    token, session = credentials.start_session(tx, rater.person_id, hours=72)
                    keys.append((token, session.csrf))
        if store.is_postgres:  # as it does by itself within a minute
            with store.engine.connect() as connection:
                connection.exec_driver_sql("ANALYZE")
                connection.commit()
    return job.job_id, keys


@contextmanager
def serving(location: str, *, processes: int) -> Iterator[tuple[str, int]]:
    """The address of a server and its process id."""
    port = free_port()
    process = start([*GRATER, "serve", location, "--port", str(port), "--processes", str(processes)], port)
    try:
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def start(command: Sequence[str], port: int) -> subprocess.Popen[bytes]:
    """A server that answers on the port, at the head of a group of processes."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    end = time.monotonic() + START_SECONDS
    while socket.socket().connect_ex(("127.0.0.1", port)):
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            raise RuntimeError("the server did not start")
        time.sleep(0.1)
    return process


def cpu_of_family(pid: int) -> float:
    """CPU seconds of a process and of all its children, living or ended: PostgreSQL has one for every connection."""
    if not pid:
        return 0.0
    own = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    seconds = sum(int(each) for each in own[11:15]) / TICK
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended since we looked
            continue
        if int(fields[1]) == pid:
            seconds += sum(int(each) for each in fields[11:15]) / TICK
    return seconds


def run(
    location: str, engine: str, through: str, n_raters: int, asked: argparse.Namespace, postmaster: int
) -> list[Any]:
    job_id, keys = make(location, n_raters, through)
    with serving(location, processes=asked.processes if postmaster else 1) as (url, pid):
        before = cpu_of_family(pid), cpu_of_family(postmaster)
        plan = Plan(url, job_id, keys, asked.seconds, asked.think)
        command = [sys.executable, "-m", "benchmarks.load", "--crowd"]
        done = subprocess.run(
            command, input=json.dumps(asdict(plan)), capture_output=True, text=True, cwd=ROOT, check=True
        )
        after = cpu_of_family(pid), cpu_of_family(postmaster)
    seen = json.loads(done.stdout)
    n = len(seen["waits"])
    used = [round(1000 * (now - then) / n, 1) for now, then in zip(after, before, strict=True)]
    waits = [round(float(np.percentile(seen["waits"], part))) for part in (50, 95, 99)]
    found = checked(location, set(seen["acknowledged"]))
    rate = round(seen["full"] / asked.seconds)
    return [f"{engine}, {through}", n_raters, rate, *waits, *used, *found, len(seen["failures"])]


def checked(location: str, acknowledged: set[str]) -> tuple[int, int, int]:
    """Judgments stored, those that were acknowledged and are not there, and promises broken."""
    from sqlalchemy import select

    from grater.annotate.store import open_store, schema
    from grater.annotate.store.checks import violations

    with open_store(location) as store, store.read() as tx:
        stored = {row.submission_id for row in tx.all(select(schema.submissions.c.submission_id))}
        return len(stored), len(acknowledged - stored), len(violations(tx))


@contextmanager
def databases(engines: Sequence[str]) -> Iterator[Any]:
    """What gives a place for a new study by engine, with the first process of the database."""
    from tests.annotate.store.postgres import new_database, running_cluster

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server, postmaster = "", 0
        if "postgres" in engines:
            import psycopg

            server = stack.enter_context(running_cluster(on_disk=True))
            with psycopg.connect(f"{server}/postgres") as connection:
                (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
            postmaster = int((Path(data) / "postmaster.pid").read_text().splitlines()[0])

        def place(engine: str) -> tuple[str, int]:
            if engine == "postgres":
                return new_database(server), postmaster
            return f"{folder}/{uuid.uuid4()}.db", 0

        yield place


def options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, nargs="+", default=[200, 500])
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"], choices=["sqlite", "postgres"])
    parser.add_argument("--through", nargs="+", default=["api", "pages"], choices=["api", "pages"])
    parser.add_argument("--processes", type=int, default=2, help="that serve a study on PostgreSQL")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--think", type=float, default=5)
    parser.add_argument("--crowd", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(words)


def measure(size: Size, words: Sequence[str] = ()) -> Iterator[Table]:
    short = ["--raters", "5", "--engine", "sqlite", "--seconds", "3", "--think", "1"]
    asked = options(short if size == "short" else words)
    rows = []
    with databases(asked.engine) as place:
        for engine, through, n in [(e, t, n) for e in asked.engine for t in asked.through for n in asked.raters]:
            location, postmaster = place(engine)
            rows.append(run(location, engine, through, n, asked, postmaster))
            print(rows[-1], flush=True)
    yield Table("Raters at work on two cores", COLUMNS, rows, f"{asked.seconds:g} seconds each")


if __name__ == "__main__":
    if "--crowd" in sys.argv:
        given = json.load(sys.stdin)
        print(json.dumps(asdict(asyncio.run(crowd(Plan(**given), Seen())))))
    else:
        list(measure("usual", sys.argv[1:]))
