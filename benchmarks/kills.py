"""Twenty raters at work, by pages and API, while something fails again and again: is anything lost?

What fails (`--what`): the `server` is killed with all its processes; the `database` is killed and recovers; the
`clock` of the server jumps by a day, forward and back; the disk is `full` for a while.  Raters send whatever got no
reply again.  After each failure every acknowledged answer must be stored and the study must keep its promises; at
the end every unit must have all its judgments.

    python -m benchmarks.kills [--what server database clock full] [--engine sqlite postgres] [--times 10]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.load import Plan, Seen, checked, crowd, databases, make, start
from sqlalchemy import func, select

from grater.annotate.store import open_store, schema
from tests.annotate.store.postgres import _pg_ctl
from tests.annotate.store.test_lost import POSTGRES_FULL
from tests.ports import free_port

N_RATERS, N_ESSAYS, JUDGMENTS = 20, 6, 3
FEW, MANY = 15, 50
"""Answers between two failures."""
DAY_NS = 86_400 * 10**9
OFFSETS = (DAY_NS, 0, -DAY_NS, 0)
SERVE = """
import pathlib, sys, time
real, offset = time.time_ns, pathlib.Path(sys.argv.pop(1))
time.time_ns = lambda: real() + int(offset.read_text())
from grater.cli import main
main()
"""
"""A server whose clock differs from ours by what a file says."""


@dataclass
class Server:
    location: str
    postmaster: int
    offset: Path
    processes: int
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-c", SERVE, str(self.offset), "serve", self.location, "--port", str(self.port)]
        self.process = start([*command, "--processes", str(self.processes)], self.port)

    def stop(self) -> None:
        """All its processes at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextmanager
def failing(what: str, server: Server, number: int) -> Iterator[None]:
    """While this lasts something is broken, except for the clock, which stays as it is."""
    if what == "server":
        server.stop()
        yield
        server.start()
    elif what == "database":
        data = Path(f"/proc/{server.postmaster}/cwd").readlink()
        os.kill(server.postmaster, signal.SIGKILL)
        while True:  # its processes hold its memory until they see that it is gone
            try:
                _pg_ctl(data, "-l", data.parent / "log", "restart")
                break
            except RuntimeError:
                time.sleep(0.1)
        server.postmaster = int((data / "postmaster.pid").read_text().splitlines()[0])
        yield
    elif what == "clock":
        new = server.offset.with_suffix(".new")  # the server must not read half of it
        new.write_text(str(OFFSETS[number % len(OFFSETS)]))
        new.rename(server.offset)
        yield
    elif server.postmaster:
        with open_store(server.location) as store:
            with store.engine.begin() as connection:
                connection.exec_driver_sql(POSTGRES_FULL)
            time.sleep(1)
            yield
            with store.engine.begin() as connection:
                connection.exec_driver_sql("DROP TRIGGER disk_is_full ON judgments; DROP FUNCTION disk_is_full")
    else:
        assert server.process is not None
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        time.sleep(1)
        yield
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)


def play(what: str, server: Server, *, times: int) -> str:
    job_id, keys = make(
        server.location, N_RATERS, "both", n_essays=N_ESSAYS, judgments=JUDGMENTS, password_hash="none"
    )
    server.start()
    seen, rng, in_doubt = Seen(), random.Random(1), 0
    plan = Plan(f"http://127.0.0.1:{server.port}", job_id, keys, seconds=3600, think=0.1, patience=100_000)
    raters = threading.Thread(target=lambda: asyncio.run(crowd(plan, seen)), daemon=True)
    raters.start()
    lost = broken = 0
    for number in range(times):
        enough = len(seen.acknowledged) + rng.randint(FEW, MANY)
        while len(seen.acknowledged) < enough:
            assert raters.is_alive(), "they ran out of work"
            time.sleep(0.002)
        with failing(what, server, number):
            acknowledged = set(seen.acknowledged)
            stored, lost_now, broken_now = checked(server.location, acknowledged)
            in_doubt += stored - len(acknowledged) if what == "server" else 0
            lost, broken = lost + lost_now, broken + broken_now
    raters.join()
    stored, lost_now, broken_now = checked(server.location, set(seen.acknowledged))
    with open_store(server.location) as store, store.read() as tx:
        starved = tx.value(select(func.count()).where(schema.slots.c.state != "filled"))
    return (
        f"{times} failures, {seen.again} requests sent again ({in_doubt} answers stored and not "
        f"acknowledged when the server died), {stored} judgments, {len(set(seen.acknowledged))} acknowledged; "
        f"{lost + lost_now} lost, {broken + broken_now} promises broken, {starved} slots starved; "
        f"other replies {dict.fromkeys(seen.failures)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", nargs="+", default=["server", "database", "clock", "full"])
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"], choices=["sqlite", "postgres"])
    parser.add_argument("--times", type=int, default=10)
    asked = parser.parse_args()
    for engine in asked.engine:
        for what in asked.what:
            if (what, engine) == ("database", "sqlite"):
                continue
            with databases([engine]) as place, tempfile.TemporaryDirectory() as folder:
                offset = Path(folder) / "offset"
                offset.write_text("0")
                several = engine == "postgres" and what in ("server", "database")
                server = Server(*place(engine), offset, processes=2 if several else 1)
                try:
                    print(f"{engine}, {what}: {play(what, server, times=asked.times)}", flush=True)
                finally:
                    server.stop()


if __name__ == "__main__":
    main()
