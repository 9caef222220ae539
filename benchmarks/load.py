"""Raters at work on the annotation server, over HTTP: waits, CPU seconds, and whether anything got lost.

    python benchmarks/load.py [--raters 50 200 500] [--engine sqlite postgres] [--through api pages] [--seconds 20]

A study of 4,800 units with 20 judgments each is served by `grater serve`, on PostgreSQL from two processes.  Raters,
in a process of their own (`benchmarks/serving/raters.py`), take a unit, think about five seconds, hand it in, and
take the next; in one of twenty times the answer is sent twice.  At the end every acknowledged answer is looked up and
the store's own checker looks for lost, doubled and over-issued judgments.

Raters, server and PostgreSQL share the machine, so the table says what each of them costs a request, and how much of
the machine others used meanwhile; databases lie on the disk, with every COMMIT waiting for it.  A line below each row
has the CPU seconds of server and database and the bound: the requests a second at which the cores would be busy all
the time, and the share of it that was asked for.  Wanted (issue "Part 7", Must hold): nothing lost, and a p95 under
150 ms for 200 raters on SQLite and 500 on PostgreSQL, on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.serving import cpu
from benchmarks.serving.raters import LIVES, Key, Plan
from sqlalchemy import func, select
from tests.store.postgres import new_database, running_cluster

from grater.model import Essay
from grater.store import Store, credentials, essays, open_store, people, schema
from grater.store.checks import violations
from grater.study.jobs import JobPlan, add_job
from grater.study.status import new_study

HERE = Path(__file__).parents[1]
SENTENCE = "We walked along the river in the morning and talked about the plans for the summer. "
GRATER = Path(sys.executable).parent / "grater"
START_SECONDS = 180
HOURS = 1.0
MOST_MS = 150
WANTED = {"sqlite": 200, "postgres": 500}
"""Raters for whom the wait is held against `MOST_MS`."""

HEAD = (
    "engine",
    "processes",
    "through",
    "raters",
    "requests/s",
    "p50 ms",
    "p95 ms",
    "p99 ms",
    "server CPU ms",
    "database CPU ms",
    "raters CPU ms",
    "others' share",
    "judgments",
    "lost",
    "broken",
    "failed",
)


@dataclass(frozen=True, slots=True)
class Found:
    """One row of the table; CPU is milliseconds a request."""

    engine: str
    processes: int
    through: str
    raters: int
    rate: float
    n_requests: int
    waits: tuple[float, float, float]
    cpu: tuple[float, float, float]
    others: float
    judgments: int
    lost: int
    broken: int
    failed: int

    @property
    def is_good(self) -> bool:
        is_quick = self.raters != WANTED[self.engine] or self.waits[1] < MOST_MS
        return is_quick and not (self.lost or self.broken or self.failed)

    @property
    def bound(self) -> str:
        """What the cores allow at most, for server and database, and with the raters' client beside them."""
        n_cores = os.cpu_count() or 1
        server, database, raters = self.cpu
        alone, together = (1000 * n_cores / each for each in (server + database, server + database + raters))
        seconds = [f"{part * self.n_requests / 1000:.1f} s" for part in (server, database)]
        return (
            f"  CPU: server {seconds[0]}, database {seconds[1]} for {self.n_requests:,} requests; bound of {n_cores} "
            f"cores {alone:.0f} requests/s, {together:.0f} with the raters' client; asked for {self.rate:.0f}, "
            f"{self.rate / together:.0%} of it"
        )

    def row(self) -> str:
        waits = [f"{wait:.0f}" for wait in self.waits]
        parts = [f"{part:.1f}" for part in self.cpu]
        counts = [f"{self.judgments:,}", self.lost, self.broken, self.failed]
        which = [self.engine, self.processes, self.through, self.raters]
        return _row([*which, f"{self.rate:.0f}", *waits, *parts, f"{self.others:.0%}", *counts])


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds so far: of the server, of PostgreSQL, of everything on the machine."""

    server: float
    database: float
    machine: float
    at: float


def make(location: str, n_raters: int, through: str) -> tuple[str, list[Key]]:
    """A study with enough units of the task `error`, and a key for every rater."""
    with new_study(location, name="load") as store:
        with store.write() as tx:
            essays.add_all(tx, [Essay(f"e{place}", SENTENCE * 12) for place in range(100)])
            raters = [people.add(tx, name=f"rater {place}", role="worker") for place in range(n_raters)]
        job = add_job(store, JobPlan("load", "error", judgments=min(20, n_raters)))
        keys = [_key(store, rater.person_id, through) for rater in raters]
        if store.is_postgres:
            _analyse(store)
    return job.job_id, keys


def _key(store: Store, person_id: str, through: str) -> Key:
    with store.write() as tx:
        if through == "api":
            return Key(credentials.make_token(tx, person_id))
        token, session = credentials.start_session(tx, person_id, hours=HOURS)
        return Key(token, session.csrf)


def _analyse(store: Store) -> None:
    """Count the rows of what was imported, as PostgreSQL does by itself within a minute."""
    with store.engine.connect() as connection:
        full = [
            name
            for name in schema.METADATA.tables
            if connection.exec_driver_sql(f"SELECT 1 FROM {name} LIMIT 1").first()
        ]
        connection.exec_driver_sql(f"ANALYZE {', '.join(full)}")
        connection.commit()


@contextmanager
def serving(location: str, *, processes: int) -> Iterator[tuple[str, int]]:
    """The address of a server and its process id."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--port", str(port), "--processes", str(processes)]
    process = subprocess.Popen([GRATER, "serve", location, *options], stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as line:
            if line.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("the server did not start")


def run(location: str, plan_of: tuple[str, str, int], asked: argparse.Namespace, *, postmaster: int) -> Found:
    engine, through, n_raters = plan_of
    processes = asked.processes if postmaster else 1
    job_id, keys = make(location, n_raters, through)
    with serving(location, processes=processes) as (url, pid):
        before = _used(pid, postmaster)
        seen = _crowd(Plan(url, job_id, keys, asked.seconds, asked.think, through))
        after = _used(pid, postmaster)
    waits = np.concatenate([np.array(each) for each in seen["waits"].values()])
    parts = (after.server - before.server, after.database - before.database, seen["cpu"])
    everything = (after.at - before.at) * (os.cpu_count() or 1)
    others = max(0.0, after.machine - before.machine - sum(parts)) / everything
    n_stored, n_lost, n_broken = _checked(location, set(seen["acknowledged"]))
    return Found(
        engine,
        processes,
        through,
        n_raters,
        seen["full"] / seen["seconds"],
        len(waits),
        tuple(float(np.percentile(waits, share)) for share in (50, 95, 99)),  # type: ignore[arg-type]
        tuple(1000 * part / len(waits) for part in parts),  # type: ignore[arg-type]
        others,
        n_stored,
        n_lost,
        n_broken,
        len(seen["failures"]),
    )


def _crowd(plan: Plan) -> dict:  # type: ignore[type-arg]
    command = [sys.executable, "-m", "benchmarks.serving.raters"]
    done = subprocess.run(
        command, input=json.dumps(asdict(plan)), capture_output=True, text=True, cwd=HERE, check=True
    )
    return dict(json.loads(done.stdout))


def _used(pid: int, postmaster: int) -> Used:
    database = cpu.of_family(postmaster) if postmaster else 0.0
    return Used(cpu.of_family(pid), database, cpu.of_machine(), time.perf_counter())


def _checked(location: str, acknowledged: set[str]) -> tuple[int, int, int]:
    """Judgments stored, those of them that were acknowledged and are not there, and promises broken."""
    with open_store(location) as store, store.read() as tx:
        stored = {row.submission_id for row in tx.all(select(schema.submissions.c.submission_id))}
        n_stored = tx.value(select(func.count()).select_from(schema.submissions))
        return int(n_stored), len(acknowledged - stored), len(violations(tx))


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, nargs="+", default=[50, 200, 500])
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"], choices=["sqlite", "postgres"])
    parser.add_argument("--through", nargs="+", default=["api", "pages"], choices=sorted(LIVES))
    parser.add_argument("--processes", type=int, default=2, help="that serve a study on PostgreSQL")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--think", type=float, default=5)
    asked = parser.parse_args()
    print(_row(HEAD), _row(["---"] * 4 + ["---:"] * (len(HEAD) - 4)), sep="\n", flush=True)
    found = []
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(running_cluster(on_disk=True)) if "postgres" in asked.engine else ""
        for plan_of in [(e, t, n) for e in asked.engine for t in asked.through for n in asked.raters]:
            is_postgres = plan_of[0] == "postgres"
            location = new_database(server) if is_postgres else f"{folder}/{len(found)}.db"
            postmaster = _postmaster(server) if is_postgres else 0
            found.append(run(location, plan_of, asked, postmaster=postmaster))
            print(found[-1].row(), found[-1].bound, sep="\n", flush=True)
    return int(not all(each.is_good for each in found))


def _postmaster(server: str) -> int:
    import psycopg

    with psycopg.connect(f"{server}/postgres") as connection:
        (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    return int((Path(folder) / "postmaster.pid").read_text().splitlines()[0])


if __name__ == "__main__":
    sys.exit(main())
