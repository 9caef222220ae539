"""Studies are made, opened, brought up to date and served, each by the right one; no secret is stored as it is."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection
from sqlalchemy import text as sql

from grater.annotate import credentials, invitations, people
from grater.annotate.store import Store, Tx, database, migrations, open_store
from grater.errors import GraterError, StoreBusy, StoreFull, UsageError
from tests.annotate.store.postgres import lose_connections, new_database
from tests.annotate.store.worlds import read, write

ROOT = Path(__file__).parents[3]


def test_a_study_in_sqlite_needs_no_driver_of_postgresql(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None; import grater.annotate.web.app, grater.demo.study; "
        "from grater.annotate.store import open_store; open_store(sys.argv[1], create=True).close()"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "study.db"], check=True)


def test_a_study_whose_making_a_full_disk_cut_short_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with closing(sqlite3.connect(path)) as left:
        left.execute("PRAGMA journal_mode=WAL")  # the first thing that is written, a page without tables
    assert path.stat().st_size
    open_store(path, create=True).close()
    with pytest.raises(UsageError, match="already exists"):
        open_store(path, create=True)


def test_a_path_that_is_no_study_or_no_place_for_one_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("keep me")
    for place, is_new, words in (
        (tmp_path / "notes.db", True, "already exists; choose another name"),
        (tmp_path, True, "already exists; choose another name"),
        (tmp_path / "none" / "study.db", True, "no folder"),
        (tmp_path / "none.db", False, "no such study"),
        (tmp_path / "notes.db", False, "some other file"),
        ("mysql://somewhere/study", False, "postgresql://"),
    ):
        with pytest.raises(UsageError, match=words):
            open_store(place, create=is_new)
    assert (tmp_path / "notes.db").read_text() == "keep me"


def test_a_study_is_made_once_and_what_was_stored_is_there_after_opening_again(location: str) -> None:
    if not location.startswith("postgresql"):
        Path(location).touch()
    with pytest.raises(UsageError, match="not a study"):
        open_store(location)
    with open_store(location, create=True) as store:
        write(store, people.add, name="Ann", role="owner")
    with pytest.raises(UsageError, match="already"):
        open_store(location, create=True)
    with open_store(location) as store:
        assert [person.name for person in read(store, people.all)] == ["Ann"]


def test_changes_that_wait_for_another_are_stored_and_one_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        add = partial(write, store, people.add, role="worker")
        threads = [threading.Thread(target=add, kwargs={"name": name}) for name in "abc"]

        def fail(tx: Tx) -> None:
            people.add(tx, name="half", role="worker")
            for thread in threads:
                thread.start()
            people.get(tx, "nobody")

        with pytest.raises(GraterError, match="no such person"):
            write(store, fail)
        for thread in threads:
            thread.join(300)
        assert {person.name for person in read(store, people.all)} == set("abc")


def test_when_the_commit_fails_nothing_is_stored_and_the_next_change_is(tmp_path: Path) -> None:
    is_full = True

    def witness(moment: database.Moment) -> None:
        if moment == "before" and is_full:
            raise StoreFull("the disk is full")

    with open_store(tmp_path / "study.db", create=True, around_commit=witness) as store:
        with pytest.raises(StoreFull):
            write(store, people.add, name="lost", role="worker")
        is_full = False
        write(store, people.add, name="later", role="worker")
        assert [person.name for person in read(store, people.all)] == ["later"]


def test_a_commit_waits_for_the_disk(store: Store) -> None:
    """P1 when the power goes: what no test can pull the plug on is asked of every kind of transaction."""
    expected = {"SHOW synchronous_commit": "on"}
    if not store.is_postgres:
        expected = {"PRAGMA synchronous": 2, "PRAGMA journal_mode": "wal", "PRAGMA foreign_keys": 1}
    for transaction in (store.write(), store.read(), store.glance()):
        with transaction as tx:
            assert {asked: tx.value(sql(asked)) for asked in expected} == expected


def test_a_study_that_cannot_be_written_names_a_way_on(tmp_path: Path) -> None:
    """Root may write everywhere, so SQLite is told not to; it complains in the same words."""
    with open_store(tmp_path / "study.db", create=True) as store:
        with store.write() as tx:
            tx.connection.exec_driver_sql("PRAGMA query_only = 1")
        with pytest.raises(UsageError, match="copy it to"):
            write(store, people.add, name="Ann", role="worker")


def test_no_message_tells_the_password_of_the_database() -> None:
    with pytest.raises(StoreBusy) as caught:
        open_store("postgresql://ann:open-sesame@127.0.0.1:1/study")
    assert "open-sesame" not in str(caught.value)


@pytest.mark.parametrize(("version", "words"), [(999, "newer grater"), (9, "open it once with grater 0.2")])
def test_a_study_that_is_too_new_or_too_old_is_refused(location: str, version: int, words: str) -> None:
    with open_store(location, create=True) as store, store.write() as tx:
        tx.execute(sql(f"UPDATE meta SET value = '{version}' WHERE key = 'version'"))
    with pytest.raises(GraterError, match=words):
        open_store(location)


def test_steps_bring_an_older_study_up_to_date_in_order_and_once(store: Store) -> None:
    done: list[int] = []

    def add_column(number: int, connection: Connection) -> None:
        connection.exec_driver_sql(f"ALTER TABLE people ADD COLUMN new_{number} TEXT")
        done.append(number)

    new = [migrations.VERSION + 1, migrations.VERSION + 2]
    steps = {**migrations.STEPS, **{number: partial(add_column, number) for number in new}}
    for _ in range(2):
        with store.write() as tx:
            migrations.migrate(tx.connection, name="study", steps=steps)
    with store.read() as tx:
        assert migrations.version_of(tx.connection, name="study") == new[-1]
    assert done == new


def test_a_second_process_may_not_serve_the_same_file(tmp_path: Path) -> None:
    location = str(tmp_path / "study.db")
    code = (
        "import sys; from grater.annotate.store import open_store\n"
        "with open_store(sys.argv[1]) as store, store.serving(): print('serving')"
    )
    serve = partial(
        subprocess.run, [sys.executable, "-c", code, location], cwd=ROOT, capture_output=True, text=True, check=False
    )
    with open_store(location, create=True) as store:
        with store.serving():
            assert "is being served already" in serve().stderr
        assert serve().stdout == "serving\n"


def test_a_second_name_of_a_study_does_not_defeat_the_lock_and_a_second_process_may_still_write(
    tmp_path: Path,
) -> None:
    """SQLite names its log after the file: served by two hard links, the study would be damaged."""
    with open_store(tmp_path / "study.db", create=True) as store, store.serving():
        (tmp_path / "folder").mkdir()
        (tmp_path / "folder" / "link.db").symlink_to(tmp_path / "study.db")
        (tmp_path / "other").symlink_to(tmp_path)
        for path in ("folder/link.db", "other/study.db"):
            with open_store(tmp_path / path) as linked:
                with pytest.raises(StoreBusy, match="being served"):
                    linked.serving().__enter__()
                write(linked, people.add, name=path, role="owner")
        assert read(store, people.count) == 2
    (tmp_path / "hard.db").hardlink_to(tmp_path / "study.db")
    with open_store(tmp_path / "study.db") as store, pytest.raises(UsageError, match="2 names"):
        store.serving().__enter__()


@contextmanager
def forgotten(cluster: str) -> Iterator[Store]:
    """A store on PostgreSQL that has a connection, which the server has since closed."""
    where = new_database(cluster)
    with open_store(where, create=True) as store:
        read(store, people.count)
        lose_connections(where)
        yield store


def test_a_lost_connection_is_replaced_when_it_idled_long_and_otherwise_reported_once(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with forgotten(cluster) as store:
        with pytest.raises(StoreBusy, match="cannot be reached"):
            read(store, people.count)
        assert read(store, people.count) == 0
    monkeypatch.setattr(database, "IDLE_SECONDS", 0.0)
    with forgotten(cluster) as store:
        assert read(store, people.count) == 0


def test_a_connection_that_comes_back_after_the_end_is_closed(cluster: str) -> None:
    with open_store(new_database(cluster), create=True) as store:
        late = store.glance()
        driver = late.__enter__().connection.connection.driver_connection
    assert not driver.closed
    late.__exit__(None, None, None)
    assert driver.closed


def test_no_secret_is_stored_as_it_is(store: Store) -> None:
    ann = write(store, people.add, name="Ann", role="worker").person_id
    told = [
        write(store, credentials.start_session, ann, hours=1)[0],
        write(store, credentials.make_token, ann),
        write(store, invitations.make, role="worker"),
    ]
    with store.read() as tx:
        tables = ("sessions", "tokens", "invitations")
        stored = str([tx.all(sql(f"SELECT * FROM {table}")) for table in tables])
    assert not any(secret in stored for secret in told)
