"""A backup taken while a dozen raters answer through the API restores the study row by row, on both engines."""

from __future__ import annotations

import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from grater.annotate import credentials, jobs, people, units
from grater.annotate.archive import back_up, restore
from grater.annotate.store import Store, checks, open_store, schema
from grater.annotate.web.security import API
from grater.errors import GraterError, MissingExtra
from tests.annotate.store.postgres import new_database
from tests.annotate.store.worlds import read, write
from tests.annotate.web.studies import Study, new_units, served

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture
def study(place: Path | str) -> Iterator[tuple[Study, str]]:
    """A served study, and where it is."""
    with served(place) as served_study:
        yield served_study, str(place / "study.db" if isinstance(place, Path) else place)


def other_place(location: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    return new_database(request.getfixturevalue("cluster")) if "://" in location else str(tmp_path / "again.db")


def all_rows(store: Store) -> Rows:
    """Every row of every table; numbers of transactions are the server's own."""
    with store.read() as tx:
        return {
            table.name: sorted(
                (dict(row._mapping) | {"transaction_id": 0} for row in tx.all(select(table))), key=repr
            )
            for table in schema.METADATA.sorted_tables
        }


def job_of_many(study: Study, n_raters: int) -> tuple[str, list[str]]:
    """A job for many raters, and their tokens."""
    with study.store.write() as tx:
        job = jobs.add(tx, name="many", task="error", judgments=n_raters)
        units.add_all(tx, job.job_id, new_units(tx, "error"))
        raters = [people.add(tx, name=f"Rater {n}", role="worker") for n in range(n_raters)]
        tokens = [credentials.make_token(tx, rater.person_id) for rater in raters]
        return jobs.set_state(tx, job.job_id, "open").job_id, tokens


BEFORE_BACKUP = 8
"""Answers that a rater gives at the most while the backup is not yet taken; there are ten units."""


def answer_all(
    study: Study, token: str, job_id: str, answered: threading.Semaphore, backed_up: threading.Event
) -> list[str]:
    """The submissions of one rater that the server acknowledged."""
    client, headers = study.client(), {"authorization": f"Bearer {token}"}
    acknowledged: list[str] = []
    while lease := client.post(f"{API}/jobs/{job_id}/next", headers=headers).json()["lease"]:
        if len(acknowledged) == BEFORE_BACKUP:
            backed_up.wait()
        name = lease["submission_id"]
        body = {"submission_id": name, "fields": {"label": ["ok"]}}
        reply = client.post(f"{API}/leases/{lease['lease_id']}", json=body, headers=headers)
        assert reply.status_code == 200, reply.text
        acknowledged.append(name)
        answered.release()
    return acknowledged


@pytest.mark.parametrize("n_raters", [12, pytest.param(30, marks=pytest.mark.slow)])
def test_a_backup_under_load_is_a_snapshot_and_one_after_it_is_the_study_row_by_row(
    study: tuple[Study, str],
    n_raters: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
) -> None:
    served_study, location = study
    job_id, tokens = job_of_many(served_study, n_raters)
    during, after = tmp_path / "during.backup", tmp_path / "after.backup"
    answered, backed_up = threading.Semaphore(0), threading.Event()
    served_study.client()  # makes the application that all of them share
    with ThreadPoolExecutor(n_raters) as pool:
        work = [pool.submit(answer_all, served_study, token, job_id, answered, backed_up) for token in tokens]
        for _ in range(n_raters):
            answered.acquire()
        early = {row["submission_id"] for row in all_rows(served_study.store)["submissions"]}
        try:
            back_up(location, during)
        finally:
            backed_up.set()
        n_told = sum(len(each.result()) for each in work)
    back_up(location, after)
    original = all_rows(served_study.store)
    assert len(original["submissions"]) == n_told
    with restore(after, other_place(location, tmp_path, request)) as again:
        assert all_rows(again) == original
    place = other_place(location, tmp_path, request) if "://" in location else str(tmp_path / "during.db")
    with restore(during, place) as snapshot:
        rows = all_rows(snapshot)
        assert read(snapshot, checks.violations) == []
    assert early <= {row["submission_id"] for row in rows["submissions"]}
    assert len(early) < len(original["submissions"]), "the backup was taken in the middle of the work"
    for name in ("events", "judgments", "guidelines"):
        assert [row for row in rows[name] if row not in original[name]] == []
    n_rows, n_during = sum(map(len, original.values())), len(rows["submissions"])
    record_property(
        "figures",
        f"{n_raters} raters, {n_told:,} judgments acknowledged, {n_during:,} of them in the backup taken meanwhile; "
        f"restored equal in all {n_rows:,} rows of {len(original)} tables",
    )


def test_a_study_its_log_and_its_backups_are_readable_by_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with open_store(path, create=True) as store:
        write(store, people.add, name="Ann", role="worker")
        back_up(str(path), tmp_path / "copy.db")
        rights = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()}
    assert rights == dict.fromkeys(("study.db", "study.db-wal", "study.db-shm", "copy.db"), 0o600)


def test_nothing_is_replaced_and_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    path, note = tmp_path / "study.db", tmp_path / "note.txt"
    open_store(path, create=True).close()
    note.write_text("not a backup")
    for words, attempt in (
        ("already exists", lambda: back_up(str(path), note)),
        ("expected a backup", lambda: restore(note, str(tmp_path / "new.db"))),
        ("already exists", lambda: restore(path, str(path))),
        ("into a file", lambda: restore(path, "postgresql://nobody@localhost/none")),
        ("cannot be read", lambda: restore(tmp_path / "none", str(tmp_path / "new.db"))),
        ("there is no folder", lambda: back_up(str(path), tmp_path / "none" / "copy.db")),
    ):
        with pytest.raises(GraterError, match=words):
            attempt()
    assert note.read_text() == "not a backup"


def test_a_damaged_study_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path, copy = tmp_path / "study.db", tmp_path / "copy.db"
    open_store(path, create=True).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[3 * 4096 : 60 * 4096] = b"\x5a" * (57 * 4096)
    path.write_bytes(data)
    with pytest.raises(GraterError):
        back_up(str(path), copy)
    assert not copy.exists()
    assert not list(tmp_path.glob(".copy*"))


def test_without_its_tool_a_backup_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cluster: str) -> None:
    location = new_database(cluster)
    open_store(location, create=True).close()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingExtra, match="needs pg_dump: install"):
        back_up(location, tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []
