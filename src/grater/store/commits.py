"""Writers of one SQLite file: one after the other at the door, and one COMMIT for those who stand there together.

A COMMIT waits for the disk, some milliseconds in which nobody else can write.  Brief changes therefore share one:
whoever is done while others wait at the door leaves the transaction open for the next of them, and hears that all is
well only when the COMMIT that holds their change is on the disk (P1).  A change that fails is undone by itself; if
the COMMIT fails, every change in it fails, and everybody hears so.  Other changes, which may take long, share
nothing: what was done before them is on the disk before they begin.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sqlalchemy import Connection, Engine, Transaction
from sqlalchemy.exc import DBAPIError

from grater.errors import StoreBusy
from grater.store.engine import BUSY_SECONDS, WRITES

Moment: TypeAlias = Literal["before", "after"]

MOST_TOGETHER = 20
"""Changes in one COMMIT: the first must not wait for ever because others keep coming."""

PATIENCE_SECONDS = 1.0
"""After this a writer looks after the COMMIT itself: whoever was to do it may have given up at the door."""


@dataclass(slots=True, eq=False)
class Shared:
    """An open transaction and the changes in it so far; `over` when it has ended, well or with an `error`."""

    connection: Connection
    transaction: Transaction
    n_changes: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None


class Writers:
    """The door of one file, for all threads of a process; `around_commit` is told before and after each COMMIT."""

    def __init__(self, engine: Engine, *, name: str, around_commit: Callable[[Moment], None]) -> None:
        self.engine = engine
        self.name = name
        self.around_commit = around_commit
        self.n_waiting = 0
        self._counting = threading.Lock()
        self._door = threading.Lock()
        self._open: Shared | None = None

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A change with a COMMIT of its own."""
        with self._inside():
            self._finish()
            mine = self._begin()
            try:
                with _undone_if_it_fails(mine):
                    yield mine.connection
            finally:
                self._finish()
        _require_well(mine)

    @contextmanager
    def together(self) -> Iterator[Connection]:
        """A brief change, which may share its COMMIT with those who wait."""
        with self._inside():
            mine = self._open or self._begin()
            try:
                with _undone_if_it_fails(mine):
                    yield mine.connection
            finally:
                if not self.n_waiting or not 0 < mine.n_changes < MOST_TOGETHER or mine.error:
                    self._finish()
        while not mine.over.wait(PATIENCE_SECONDS):
            with self._inside():
                self._finish()
        _require_well(mine)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """Behind the door; writers queue there, in order, instead of polling SQLite's lock."""
        self._count(1)
        try:
            is_in = self._door.acquire(timeout=BUSY_SECONDS)
        finally:
            self._count(-1)
        if not is_in:
            raise StoreBusy(f"{self.name}: another change takes too long; try again")
        try:
            yield
        finally:
            self._door.release()

    def _count(self, change: int) -> None:
        with self._counting:
            self.n_waiting += change

    def _begin(self) -> Shared:
        connection = self.engine.connect().execution_options(**{WRITES: True})
        try:
            self._open = Shared(connection, connection.begin())
        except BaseException:
            connection.close()
            raise
        return self._open

    def _finish(self) -> None:
        """COMMIT what is open, if anything; whatever goes wrong, those who wait for it hear it."""
        mine, self._open = self._open, None
        if mine is None:
            return
        try:
            if mine.n_changes and mine.error is None:
                self.around_commit("before")
                mine.transaction.commit()
                self.around_commit("after")
        except BaseException as error:
            mine.error = error
        finally:
            with suppress(DBAPIError):
                mine.connection.close()  # takes back what was not committed
            mine.over.set()


@contextmanager
def _undone_if_it_fails(mine: Shared) -> Iterator[None]:
    """One more change of a transaction; one that fails leaves the others as they were."""
    point = mine.connection.begin_nested() if mine.n_changes else None
    try:
        yield
        if point is not None:
            point.commit()
    except BaseException as failure:
        try:
            if point is not None:
                point.rollback()
        except DBAPIError:  # with a full disk SQLite takes back everything, the changes of others too
            mine.error = failure
        raise
    mine.n_changes += 1


def _require_well(mine: Shared) -> None:
    if mine.error is not None:
        raise mine.error
