"""No false word of thanks: a disk that is full, and a database that goes in the middle of a request."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import event

from grater.annotate import judgments
from grater.annotate.store import checks
from tests.annotate.store.postgres import lose_connections, new_database
from tests.annotate.store.test_lost import fill_disk, make_room
from tests.annotate.web.studies import Browser, Study, served
from tests.annotate.web.test_work import FILLED, answer, start

Losing = Callable[[Study, str, pytest.MonkeyPatch], None]


def stored(study: Study) -> list[str]:
    """The statuses of all judgments, in a study that keeps its promises."""
    with study.store.read() as tx:
        assert checks.violations(tx) == []
        return [str(row["status"]) for row in judgments.table(tx, study.jobs["error"], judgments.ALL)]


def test_a_full_disk_is_503_until_there_is_room_and_what_was_thanked_for_is_stored(place: Path | str) -> None:
    with served(place, tasks=["error"]) as study:
        browser = study.browser("worker")
        path = start(browser, study, "error")
        fill_disk(study.store)
        n_thanked = 0
        while (reply := answer(browser, path, FILLED["error"])).status_code == 200:
            n_thanked, path = n_thanked + 1, reply.url.path
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
        assert "nothing was stored" in reply.text
        assert stored(study) == ["valid"] * n_thanked
        make_room(study.store)
        assert answer(browser, path, FILLED["error"]).status_code == 200
        assert stored(study) == ["valid"] * (n_thanked + 1)


def in_the_middle(study: Study, location: str, _: pytest.MonkeyPatch) -> None:
    """The connections go when the submission is written and its judgments are not."""

    lost: list[str] = []

    def hear(*args: object) -> None:
        if str(args[2]).startswith("INSERT INTO judgments") and not lost:
            lost.append(location)
            lose_connections(location)

    event.listen(study.store.engine, "before_cursor_execute", hear)


def before_commit(study: Study, location: str, patched: pytest.MonkeyPatch) -> None:
    def lose(moment: str) -> None:
        if moment == "before":
            patched.undo()
            lose_connections(location)

    patched.setattr(study.store, "_around_commit", lose)


def after_commit(_: Study, __: str, patched: pytest.MonkeyPatch) -> None:
    """All is committed, and the word of it is lost on the way."""
    commit = psycopg.Connection.commit

    def lose(connection: psycopg.Connection[Any]) -> None:
        commit(connection)
        if connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            patched.undo()
            connection.close()
            raise psycopg.OperationalError("server closed the connection unexpectedly")

    patched.setattr(psycopg.Connection, "commit", lose)


def sent_until_heard(browser: Browser, path: str, form: dict[str, object]) -> list[int]:
    """What a browser hears that sends the same answer again as long as the server is away."""
    heard: list[int] = []
    while len(heard) < 10 and (not heard or heard[-1] == 503):
        heard.append(browser.post(path, form).status_code)
    return heard


@pytest.mark.parametrize(
    ("lose", "n_stored"),
    [(in_the_middle, 0), (before_commit, 0), (after_commit, 1)],
    ids=["in the middle", "before COMMIT", "after COMMIT"],
)
def test_a_lost_connection_is_503_and_the_answer_counts_once(cluster: str, lose: Losing, n_stored: int) -> None:
    location = new_database(cluster)
    with served(location, tasks=["error"]) as study, pytest.MonkeyPatch.context() as patched:
        browser = study.browser("worker")
        path = start(browser, study, "error")
        found = re.search(r'name="submission_id" value="([^"]+)"', browser.get(path).text)
        form = FILLED["error"] | {"submission_id": found.group(1)}
        lose(study, location, patched)
        first = browser.post(path, form)
        assert (first.status_code, first.headers.get("retry-after")) == (503, "5")
        with psycopg.connect(location) as connection:
            assert connection.execute("SELECT count(*) FROM submissions").fetchone() == (n_stored,)
        again = sent_until_heard(browser, path, form)
        assert again[-1] == 200
        assert set(again[:-1]) <= {503}
        assert stored(study) == ["valid"]
