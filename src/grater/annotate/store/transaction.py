"""One transaction, as every query function of the store gets it: a connection, the time, the study's key.

On PostgreSQL changes whose outcome nobody asks for wait until the next query, or the end, and then go together: one
way to the database and back instead of one for each (`Tx.post`).  Every query sees them, and what is wrong with any
of them is heard before COMMIT.  They go straight to the driver: nobody reads their results, and half of what a
statement costs the server is SQLAlchemy preparing for that (`Change`).

`Columns` ties a table to the value that its rows become: the columns of a query, the value of a row and the row of a
value are all made from the fields of one dataclass, so that none can be forgotten or put in another's place.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Dialect,
    Executable,
    Insert,
    Row,
    Select,
    Table,
    literal_column,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.elements import KeyedColumnElement

from grater.annotate.store.clock import require_time

T = TypeVar("T")

Record: TypeAlias = Row[*tuple[Any, ...]]
"""A row as it comes from the database, its columns as attributes."""

ONE: ColumnElement[int] = literal_column("1")
"""For LIMIT: with a parameter there, PostgreSQL plans for a tenth of all rows."""

PORTION = 500
"""Rows in one statement: far below the 32,766 parameters of SQLite; a row of twenty columns still fits."""


@dataclass(frozen=True, slots=True)
class Tx:
    """`now` is read once, so that one transaction happens at one time.

    `known` is what a snapshot has given already (`once`); None where rows may change.
    """

    connection: Connection
    now: int
    key: str = ""
    waiting: list[tuple[Executable, Any]] = field(default_factory=list, compare=False, repr=False)
    known: dict[Hashable, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def is_postgres(self) -> bool:
        return self.connection.dialect.name == "postgresql"

    def execute(self, statement: Executable, rows: Any = None) -> CursorResult[Any]:
        require_time()
        self.send()
        return self.connection.execute(statement, rows) if rows is not None else self.connection.execute(statement)

    def post(self, statement: Executable, row: Any) -> None:
        """A change whose outcome nobody asks for; the next query, or the end of the transaction, sends it."""
        if self.is_postgres:
            self.waiting.append((statement, row))
        else:
            self.execute(statement, row)

    def send(self) -> None:
        """Send what waits: several changes through psycopg's pipeline."""
        if not self.waiting:
            return
        changes = list(self.waiting)
        self.waiting.clear()
        with _driven(self.connection, is_piped=len(changes) > 1) as driver:
            for statement, row in changes:
                change = None if _is_watched(self.connection) else Change.of(statement, row, self.connection.dialect)
                if change is None:
                    self.connection.execute(statement, row)
                else:
                    driver.execute(change.sql, change.parameters(row))

    def once(self, name: Hashable, read: Callable[[], T]) -> T:
        """What `read` gives: in a snapshot, where it cannot change, it is read once under this name."""
        if self.known is None:
            return read()
        if name not in self.known:
            self.known[name] = read()
        value: T = self.known[name]
        return value

    def all(self, statement: Executable, **values: Any) -> Sequence[Record]:
        return self.execute(statement, values or None).all()

    def first(self, statement: Executable, **values: Any) -> Record | None:
        return self.execute(statement, values or None).first()

    def value(self, statement: Executable, **values: Any) -> Any:
        """Return the first column of the first row, or None."""
        return self.execute(statement, values or None).scalar()

    def insert(self, table: Table, rows: Any) -> None:
        """Insert one row (a dict) or many (a list of dicts)."""
        if rows:
            self.insert_by(insert_into(table), rows)

    def insert_by(self, statement: Insert, rows: Any) -> None:
        """Insert by a statement; a list of one goes as that one, since drivers are slower with lists."""
        if isinstance(rows, list) and len(rows) > 1:
            self.execute(statement, rows)
        else:
            self.post(statement, rows[0] if isinstance(rows, list) else rows)

    def locked(self, statement: Select[Any], *, of: Table, skip: bool = False) -> Select[Any]:
        """The same query, its rows of one table locked until the end; SQLite has one writer at a time anyway.

        NO KEY UPDATE on PostgreSQL, so that rows which only refer to these need not wait.
        """
        return locking(statement, of=of, skip=skip) if self.is_postgres else statement

    def binary(self, column: KeyedColumnElement[str] | ColumnElement[str]) -> ColumnElement[str]:
        """A text column in code-point order, the same on both engines whatever the server's language."""
        return column.collate("C") if self.is_postgres else column


@dataclass(frozen=True, slots=True)
class Change:
    """A statement as the driver takes it: its text, and of each parameter the name, the key in a row, and its type.

    `fixed` are the parameters that the statement itself holds.
    """

    sql: str
    named: tuple[tuple[str, str, Callable[[Any], Any] | None], ...]
    fixed: Mapping[str, Any]

    @staticmethod
    def of(statement: Executable, row: Mapping[str, Any], dialect: Dialect) -> Change | None:
        """None where SQLAlchemy has to look at each row: defaults made here, lists of values."""
        return _change(statement, tuple(row), dialect)

    def parameters(self, row: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: made(row[key]) if made else row[key] for name, key, made in self.named}
        return {**self.fixed, **given}


MOST_CHANGES = 200


@lru_cache(maxsize=MOST_CHANGES)
def _change(statement: Executable, keys: tuple[str, ...], dialect: Dialect) -> Change | None:
    compiled = statement.compile(dialect=dialect, column_keys=list(keys))  # type: ignore[attr-defined]
    if compiled.insert_prefetch or compiled.update_prefetch or any(each.expanding for each in compiled.bind_names):
        return None
    named, fixed = [], {}
    for parameter, name in compiled.bind_names.items():
        made = parameter.type.dialect_impl(dialect).bind_processor(dialect)
        if parameter.key in keys:
            named.append((name, parameter.key, made))
        else:
            fixed[name] = made(parameter.effective_value) if made else parameter.effective_value
    return Change(sql=compiled.string, named=tuple(named), fixed=fixed)


def _is_watched(connection: Connection) -> bool:
    """Whether somebody listens to the statements of this database, as tests do; they hear only SQLAlchemy's."""
    return bool(getattr(connection.engine, "_has_events", True))


@contextmanager
def _driven(connection: Connection, *, is_piped: bool) -> Iterator[Any]:
    """The driver's connection; statements that are piped go together.  Its errors become SQLAlchemy's, as elsewhere.

    A connection that was lost half-way through stays in the pipeline for good, and is thrown away.
    """
    driver: Any = connection.connection.driver_connection
    base: Any = connection.dialect.loaded_dbapi.Error
    try:
        with driver.pipeline() if is_piped else nullcontext():
            yield driver
    except Exception as error:
        is_lost = driver.closed or driver.info.pipeline_status.name != "OFF"
        if is_lost and not connection.invalidated:
            connection.invalidate(error)
        if not isinstance(error, base):
            raise
        raise DBAPIError.instance(
            None, None, error, base, dialect=connection.dialect, connection_invalidated=is_lost
        ) from error


class Columns(Generic[T]):
    """The columns of a table that make a value: one per field of the dataclass, but for those left out.

    `prefix` labels them, for a query that joins tables with columns of the same name.
    """

    def __init__(self, kind: type[T], table: Table, *, without: Sequence[str] = (), prefix: str = "") -> None:
        fields: Iterable[str] = kind.__dataclass_fields__  # type: ignore[attr-defined]
        self.kind, self.table, self.without = kind, table, without
        self.labels = {name: prefix + name for name in fields if name not in without}

    def __iter__(self) -> Iterator[ColumnElement[Any]]:
        for name, label in self.labels.items():
            column = self.table.c[name]
            yield column if label == name else column.label(label)

    def prefixed(self, prefix: str) -> Columns[T]:
        return Columns(self.kind, self.table, without=self.without, prefix=prefix)

    def read(self, row: Record, **more: Any) -> T:
        """The value of a row; `more` are the fields that do not come from the table."""
        cells = row._mapping
        return self.kind(**{name: cells[label] for name, label in self.labels.items()}, **more)

    def row(self, value: T) -> dict[str, Any]:
        """The row of a value, to insert."""
        return {name: getattr(value, name) for name in self.labels}


@cache
def insert_into(table: Table) -> Insert:
    """One statement for every insert into a table: building one costs as much as running it.

    `inline`: nobody asks which number a new row got.
    """
    return table.insert().inline()


def locking(statement: Select[Any], *, of: Table, skip: bool = False) -> Select[Any]:
    """A query that locks its rows of one table; rows that somebody else holds are waited for, or skipped."""
    return statement.with_for_update(of=of, skip_locked=skip, key_share=True)


def chunks(values: Iterable[T], size: int = PORTION) -> Iterator[list[T]]:
    """Split a long list into portions that both engines take in one statement."""
    remaining = iter(values)
    while portion := list(islice(remaining, size)):
        yield portion
