"""Twenty honest raters at work through pages, with and without one client that floods the server, by turns.

The client is at one address and has one guest's session.  All at once it has texts checked, saves drafts, sends
surplus and overlong answers, writes messages, reads pages, and leaves requests half-sent, each again as soon as the
server has replied.  What it costs: the 95th percentile of the honest raters' waits with the flood over that without,
CPU seconds of the server beyond what honest requests cost without the flood, bytes sent to the client, and bytes
of the rows that name the guest.

    python -m benchmarks.flood [--engine sqlite postgres] [--seconds 60] [--slice 10]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode

import numpy as np
from benchmarks.harness import ROOT
from benchmarks.load import FORM, Plan, Seen, cpu_of_family, crowd, databases, make, serving

N_RATERS, THINK = 20, 2.0
ADDRESS = "127.0.0.3"
N_HALF_SENT = 300
WORDS = ("of", "in", "to", "for", "at", "on", "by", "with", "from", "about", "the", "a")
MARK = {"start": 0, "end": 0, "quote": "", "tag": "Others", "replacements": ["x"], "comment": "y" * 1500}


class Flood:
    """What the client does, in threads that wait while it is off; `seen` counts replies by status, and bytes."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan, self.is_on, self.seen = plan, threading.Event(), Counter[str]()
        self.half_sent: list[socket.socket] = []
        rng = random.Random(1)
        self.text = " ".join(rng.choice(WORDS) for _ in range(2_000))  # the most that is checked at once

    def ask(self, method: str, path: str, body: str | None = None, kind: str = FORM, *, is_guest: bool = True) -> str:
        """Where the reply leads to."""
        line = HTTPConnection("127.0.0.1", self.plan["port"], timeout=300, source_address=(ADDRESS, 0))
        headers = {"origin": f"http://127.0.0.1:{self.plan['port']}", "content-type": kind}
        headers |= (
            {"cookie": f"grater-session={self.plan['token']}", "x-csrf-token": self.plan["csrf"]} if is_guest else {}
        )
        line.request(method, path, body, headers)
        reply = line.getresponse()
        self.seen["bytes"] += len(str(reply.headers)) + len(reply.read())
        self.seen[f"{method} {reply.status}"] += 1
        line.close()
        return reply.headers.get("location") or ""

    def send(self, path: str, **fields: str) -> str:
        return self.ask("POST", path, urlencode({"csrf": self.plan["csrf"], **fields}))

    def check(self) -> None:
        self.ask("POST", "/v2/check", urlencode({"text": self.text, "language": "en-US"}), is_guest=False)

    def read(self) -> None:
        self.ask("GET", "/login", is_guest=False)

    def draft(self) -> None:
        path = self.send(f"/jobs/{self.plan['marking']}/next")
        for revision in range(100 if path.startswith("/leases/") and self.is_on.is_set() else 0):
            body = {"revision": revision, "body": {"edits": [MARK] * 3, "set_aside": False}}
            self.ask("PUT", f"{path}/draft", json.dumps(body), "application/json")

    def answer(self) -> None:
        """The same unit again and again, with a name of its own each time, and with fields that nobody asked for."""
        path = self.send(f"/jobs/{self.plan['job']}/next")
        for number in range(6 if path.startswith("/leases/") else 0):
            self.send(path, label="ok", submission_id=f"{path}-{number}")
            self.send(path, label="ok", filler="x" * 20_000)

    def write(self) -> None:
        self.send(f"/jobs/{self.plan['job']}/messages", text="x" * 4_900)

    def half(self) -> None:
        line = socket.create_connection(("127.0.0.1", self.plan["port"]), source_address=(ADDRESS, 0))
        line.sendall(b"GET /login HTTP/1.1\r\nHost: ")
        self.half_sent.append(line)
        if len(self.half_sent) > N_HALF_SENT:
            self.half_sent.pop(0).close()
        self.seen["half-sent"] += 1
        time.sleep(0.02)

    def again_and_again(self, do: Callable[[], None]) -> None:
        while self.is_on.wait():
            try:
                do()
            except (OSError, HTTPException):
                self.seen["no reply"] += 1

    def run(self) -> None:
        for do in (self.check, self.check, self.read, self.read, self.draft, self.answer, self.write, self.half):
            threading.Thread(target=self.again_and_again, args=(do,), daemon=True).start()
        self.text, text = "The girl waited on the bus.", self.text
        self.check()  # which loads the systems
        self.text, self.seen = text, Counter()
        for line in sys.stdin:
            self.is_on.set() if line == "on\n" else self.is_on.clear()
        print(json.dumps(self.seen))


def prepare(location: str) -> dict[str, Any]:
    """A guest, a job to mark essays, and texts checked for everybody."""
    from grater.annotate import credentials, people
    from grater.annotate.plans import NewJob, add_job
    from grater.annotate.store import open_store
    from grater.annotate.writing import NewPublicPages, open_to_public

    with open_store(location) as store:
        marking = add_job(store, NewJob(name="essays", task="marking"))
        with store.write() as tx:
            open_to_public(tx, NewPublicPages(check_page=True, editors=True))
            guest = people.add(tx, name="Guest", role="worker").person_id
            token, session = credentials.start_session(tx, guest, hours=12)
    return {"marking": marking.job_id, "guest": guest, "token": token, "csrf": session.csrf}


def bytes_of(location: str, person_id: str) -> int:
    """What is stored in rows that name somebody."""
    from grater.annotate.store import open_store, schema

    with open_store(location) as store, store.read() as tx:
        rows = (row for table in schema.METADATA.sorted_tables for row in tx.all(table.select()))
        return sum(len(str(value)) for row in rows if person_id in row for value in row)


def play(location: str, postmaster: int, asked: argparse.Namespace) -> str:
    job_id, keys = make(location, N_RATERS, "pages", n_essays=30, password_hash="none")
    flood = {"job": job_id, **prepare(location)}
    with serving(location, processes=1) as (url, pid):
        command = ["nice", "-n", "10", sys.executable, "-m", "benchmarks.flood", "--flood"]
        client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert client.stdin is not None
        print(json.dumps(flood | {"port": int(url.rpartition(":")[2])}), file=client.stdin, flush=True)
        seen, n_slices = Seen(), round(asked.seconds / asked.slice)
        plan = Plan(url, job_id, keys, (2 * n_slices + 3) * asked.slice, THINK)
        honest = threading.Thread(target=lambda: asyncio.run(crowd(plan, seen)), daemon=True)
        honest.start()
        time.sleep(2 * asked.slice)  # until everybody is at work, and every query was planned
        waits: dict[str, list[float]] = {"off": [], "on": []}
        cpu = {"off": 0.0, "on": 0.0}
        stored = bytes_of(location, flood["guest"])
        for _ in range(n_slices):
            for state in waits:
                print(state, file=client.stdin, flush=True)
                n, before = len(seen.waits), cpu_of_family(pid) + cpu_of_family(postmaster)
                time.sleep(asked.slice)
                waits[state] += seen.waits[n:]
                cpu[state] += cpu_of_family(pid) + cpu_of_family(postmaster) - before
        stored = bytes_of(location, flood["guest"]) - stored
        client.stdin.close()
        heard = json.loads(client.stdout.read()) if client.stdout else {}
        client.wait()
        honest.join()
    p95 = {state: float(np.percentile(values, 95)) for state, values in waits.items()}
    extra = cpu["on"] - cpu["off"] * len(waits["on"]) / len(waits["off"])
    return (
        f"p95 {p95['off']:.0f} ms without, {p95['on']:.0f} ms with, ratio {p95['on'] / p95['off']:.2f} "
        f"({len(waits['off'])} and {len(waits['on'])} requests, {len(seen.failures)} failed); CPU {extra:.1f} s; "
        f"sent {heard.pop('bytes') / 1e6:.2f} MB; stored {stored / 1000:.0f} KB; the flood heard {heard}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"], choices=["sqlite", "postgres"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--slice", type=float, default=10)
    parser.add_argument("--flood", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.flood:
        Flood(json.loads(sys.stdin.readline())).run()
        return
    for engine in asked.engine:
        with databases([engine]) as place:
            print(f"{engine}: {play(*place(engine), asked)}", flush=True)


if __name__ == "__main__":
    main()
