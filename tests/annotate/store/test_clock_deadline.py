"""Work that somebody waits for has a limit: between statements, inside one, and in the context of a thread."""

from __future__ import annotations

import contextvars
import threading

import pytest
from sqlalchemy import text

from grater.annotate import people
from grater.annotate.store import Store
from grater.annotate.store.transaction import at_most, require_time
from grater.errors import OutOfTime, StoreBusy

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000) SELECT max(i) FROM n"


def test_what_was_begun_before_the_limit_is_undone_after_it(store: Store) -> None:
    def add_two() -> None:
        with store.write() as tx:
            people.add(tx, name="Ann", role="worker")
            with at_most(-1):
                people.add(tx, name="Bob", role="worker")

    with pytest.raises(OutOfTime, match="nothing was stored"):
        add_two()
    with store.read() as tx:
        assert people.count(tx) == 0


def test_a_statement_that_does_not_end_is_broken_off(store: Store) -> None:
    store.limit_statements(0.05)
    with pytest.raises((OutOfTime, StoreBusy)), at_most(0.05), store.read() as tx:
        tx.value(text(ENDLESS))
    with store.read() as tx:
        assert tx.value(text("SELECT 1")) == 1


def test_a_thread_that_inherits_the_context_inherits_the_limit() -> None:
    raised: list[str] = []

    def work() -> None:
        try:
            require_time()
        except OutOfTime as error:
            raised.append(str(error))

    with at_most(-1):
        context = contextvars.copy_context()
    for run in (lambda: context.run(work), work):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert raised == ["this took too long and was broken off; nothing was stored"]
