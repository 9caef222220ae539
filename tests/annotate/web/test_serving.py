"""Several processes serve one study: one takes the forms of another, events are told once, a dead one is replaced."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.supervisors.multiprocess import Process

from grater.annotate import credentials, judgments
from grater.annotate.store import checks, open_store
from grater.annotate.web.serving import Supervisor, listening
from grater.annotate.webhooks import Reply, Sender
from grater.errors import UsageError
from tests.annotate.store.postgres import new_database
from tests.annotate.web.processes import serving, wait_until
from tests.annotate.web.studies import PASSWORD, Study, hidden, served
from tests.annotate.web.test_webhooks import finish_one, send_all, with_webhook
from tests.cli.running import grater

WAIT_SECONDS = 300


def test_a_form_that_one_process_made_is_taken_by_another(bare: Study) -> None:
    one = bare.browser()
    bare.made = None  # another application, as another process would make it
    other = bare.browser()
    other.csrf = hidden(one.get("/login").text, "csrf")
    other.client.cookies = one.client.cookies
    assert other.post("/login", {"name": "Worker", "password": PASSWORD}).url.path == "/jobs"


def test_an_event_is_sent_by_one_process_of_two(cluster: str) -> None:
    with served(new_database(cluster), tasks=("construction",)) as study:
        outside, one = with_webhook(study)
        finish_one(study)
        other = Sender(study.store, post=outside)

        def post(url: str, body: bytes, headers: Any) -> Reply:
            assert send_all(other) == 0  # in the middle of the round of the first
            return outside(url, body, headers)

        one.post = post
        assert (send_all(one), send_all(other), len(outside.heard)) == (1, 0, 1)


def test_a_file_is_served_by_one_process(bare: Study, capsys: pytest.CaptureFixture[str]) -> None:
    ran = grater(capsys, "serve", bare.store.name, "--processes", 2)
    assert (ran.status, ran.out) == (2, "")
    assert "SQLite is served by one process; for 2 move the study to PostgreSQL" in ran.err


def test_two_processes_serve_raters_and_one_that_is_killed_is_replaced(cluster: str) -> None:
    location = new_database(cluster)
    with served(location, tasks=("error",), judgments=5) as study, study.store.write() as tx:
        job_id = study.jobs["error"]
        keys = [credentials.make_token(tx, person.person_id) for person in study.people.values()]
    with serving(location, "--processes", "2") as (port, server), ThreadPoolExecutor(len(keys)) as pool:
        wait_until(lambda: len(workers_of(server.pid)) == 2)
        killed = workers_of(server.pid)[0]
        os.kill(killed, signal.SIGKILL)
        url = f"http://127.0.0.1:{port}"
        acknowledged = [each for some in pool.map(lambda key: work(url, job_id, key), keys) for each in some]
        wait_until(lambda: killed not in workers_of(server.pid) and len(workers_of(server.pid)) == 2)
    with open_store(location) as store, store.read() as tx:
        assert len(judgments.table(tx, job_id)) == len(set(acknowledged)) == 50
        assert checks.violations(tx) == []


def test_the_line_to_a_killed_process_ends_at_once() -> None:
    supervisor = Supervisor.__new__(Supervisor)  # without its handlers of signals
    supervisor.should_exit = threading.Event()
    supervisor.should_exit.set()
    supervisor.processes = [Process(Config("app"), [])]
    (process,) = supervisor.processes
    process.start()
    supervisor.keep_subprocess_alive()
    process.process.kill()
    process.join()
    assert process.parent_conn.poll(0)


def test_the_shared_line_sends_small_packets_at_once_and_is_refused_where_somebody_else_listens() -> None:
    with listening("127.0.0.1", 0) as line:
        assert line.proto == socket.IPPROTO_TCP  # what asyncio goes by, and every connection inherits
        line.listen()
        with pytest.raises(UsageError, match=r"cannot listen on 127\.0\.0\.1"):
            listening("127.0.0.1", line.getsockname()[1])


def workers_of(pid: int) -> list[int]:
    """The processes that a server of several has started, without the one that only minds their semaphores."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in found if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]


def work(url: str, job_id: str, key: str) -> list[str]:
    """All units that a rater gets, answered; a request that meets a dying process is sent again."""
    done = []
    while lease := ask(f"{url}/api/v1/jobs/{job_id}/next", key, {})["lease"]:
        sent = {"fields": {"label": ["ok"]}, "submission_id": f"of-{lease['lease_id']}"}
        done.append(ask(f"{url}/api/v1/leases/{lease['lease_id']}", key, sent)["submission_id"])
    return done


def ask(url: str, key: str, sent: object) -> Any:
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    end = time.monotonic() + WAIT_SECONDS
    while True:
        request = urllib.request.Request(url, json.dumps(sent).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as reply:
                return json.load(reply)
        except urllib.error.HTTPError:
            raise
        except OSError:  # reset by a process that was killed
            assert time.monotonic() < end
            time.sleep(0.2)
