"""A transaction as every query function gets it: a connection, the time, the study's key.

Times are milliseconds since 1970 in UTC, and ISO text only for people and files. Ids are random and reveal nothing;
secrets are stored only as hashes.

A deadline limits the work of a request: no statement begins after it, and running ones are cancelled. The deadline is
part of the request's context, and so reaches the thread that does the work. A thread cannot safely be stopped from
outside, so the deadline is checked at natural breaks: before every statement, every few thousand steps inside one on
SQLite, and by `require_time` in long loops of our own. PostgreSQL cancels statements itself
(`Store.limit_statements`). The transaction is rolled back as after any other error. The work between two checks is
bounded: bodies, marks, items of a page and members of a list have maximum sizes.

`Columns` maps between a table and a dataclass: the columns of a query, the value of a row and the row of a value all
derive from its fields, so none can be forgotten or swapped.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from itertools import islice
from math import inf
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    FromClause,
    Insert,
    Row,
    Select,
    Table,
    bindparam,
    literal_column,
)
from sqlalchemy.sql.elements import KeyedColumnElement

from grater.annotate.store.schema import to_text
from grater.errors import NotFound, OutOfTime
from grater.model import Json

Clock: TypeAlias = Callable[[], int]
"""The clock; tests pass their own."""

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc_now() -> int:
    return time.time_ns() // 1_000_000


def as_iso(at: int) -> str:
    """`1731648000000` as `2024-11-15T05:20:00.000Z`, which sorts chronologically."""
    return (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> int:
    """The inverse of `as_iso`; a time without a time zone is UTC."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(milliseconds=1)


STEPS = 20_000
"""Steps of SQLite's machine between two looks at the clock: a fraction of a millisecond."""

_DEADLINE: ContextVar[float] = ContextVar("grater_deadline", default=inf)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit all work inside, including threads that inherit the context."""
    before = _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def is_over() -> bool:
    """Whether the deadline has passed."""
    deadline = _DEADLINE.get()
    return deadline != inf and time.monotonic() > deadline


def require_time() -> None:
    """Raise if the deadline has passed."""
    if is_over():
        raise OutOfTime("this took too long and was broken off; nothing was stored")


PRIME = 2**31 - 1
"""Shuffle numbers live below this prime, so that the product of two fits into eight bytes on both engines."""


def new_id() -> str:
    """128 random bits, safe in a URL; reveals neither time nor content."""
    return secrets.token_urlsafe(16)


def new_secret() -> str:
    """256 random bits for a person; the store keeps only `hashed` of it."""
    return secrets.token_urlsafe(32)


def new_pseudonym() -> str:
    """A person's name in exports; the table refuses duplicates."""
    return f"rater-{secrets.token_hex(4)}"


def new_shuffle() -> int:
    return 1 + secrets.randbelow(PRIME - 1)


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def body_hash(body: Json) -> str:
    """A hash that does not depend on the order of keys."""
    return hashed(to_text(body))


def multiplier(key: str, *names: str) -> int:
    """A person's own factor for shuffle numbers, from the study's secret key; never 0."""
    return 1 + int(hashed("|".join((key, *names)))[:16], 16) % (PRIME - 1)


T = TypeVar("T")

Record: TypeAlias = Row[*tuple[Any, ...]]
"""A row as it comes from the database, its columns as attributes."""

ONE: ColumnElement[int] = literal_column("1")
"""For LIMIT: with a parameter there, PostgreSQL plans for a tenth of all rows."""

PORTION = 500
"""Rows in one statement: far below the 32,766 parameters of SQLite; a row of twenty columns still fits."""


@dataclass(frozen=True, slots=True)
class Tx:
    """`now` is read once, so that a transaction has a single time.

    `known` caches the results of a snapshot (`once`); None if rows may change.
    """

    connection: Connection
    now: int
    key: str = ""
    known: dict[Hashable, Any] | None = field(default=None, compare=False, repr=False)

    @property
    def is_postgres(self) -> bool:
        return self.connection.dialect.name == "postgresql"

    def execute(self, statement: Executable, rows: Any = None) -> CursorResult[Any]:
        require_time()
        return self.connection.execute(statement, rows) if rows is not None else self.connection.execute(statement)

    def once(self, name: Hashable, read: Callable[[], T]) -> T:
        """The result of `read`, cached under this name in a snapshot, which cannot change."""
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
            self.execute(insert_into(table), rows)

    def locked(self, statement: Select[Any], *, of: Table, skip: bool = False) -> Select[Any]:
        """The same query with the rows of one table locked until the end; SQLite has one writer at a time anyway.

        Rows that others have locked are waited for, or skipped.  NO KEY UPDATE on PostgreSQL, so that rows which only
        refer to these need not wait.
        """
        return _locking(statement, of, skip) if self.is_postgres else statement

    def binary(self, column: KeyedColumnElement[str] | ColumnElement[str]) -> ColumnElement[str]:
        """A text column in code-point order, the same on both engines whatever the server's locale."""
        return column.collate("C") if self.is_postgres else column


class Columns(Generic[T]):
    """The columns of a table that make up a value: one per field of the dataclass, except those left out.

    `prefix` labels them, for queries that join tables with equal column names.
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
        """The value of a row, its lists as tuples; `more` supplies the fields that do not come from the table."""
        cells = row._mapping
        own = {name: cells[label] for name, label in self.labels.items()}
        return self.kind(
            **{name: tuple(cell) if isinstance(cell, list) else cell for name, cell in own.items()}, **more
        )

    def all(self, tx: Tx, query: Executable, **values: Any) -> list[T]:
        return [self.read(row) for row in tx.all(query, **values)]

    def find(self, tx: Tx, query: Executable, **values: Any) -> T | None:
        row = tx.first(query, **values)
        return None if row is None else self.read(row)

    def get(self, tx: Tx, query: Executable, missing: str, **values: Any) -> T:
        """The value of the first row; where there is none, it is reported in these words."""
        if (found := self.find(tx, query, **values)) is None:
            raise NotFound(missing)
        return found

    def row(self, value: T) -> dict[str, Any]:
        return {name: getattr(value, name) for name in self.labels}


@cache
def insert_into(table: Table) -> Insert:
    """A cached insert statement for a table: building one costs as much as running it.

    `inline`, because nobody needs the number of a new row.
    """
    return table.insert().inline()


@lru_cache(maxsize=256)
def _locking(statement: Select[Any], of: Table, skip: bool) -> Select[Any]:
    """Cached like `insert_into`: raters cause the same few all day."""
    return statement.with_for_update(of=of, skip_locked=skip, key_share=True)


def of_rater(table: FromClause) -> ColumnElement[bool]:
    """The rows of one rater in one job, by the parameters `job` and `person`."""
    return (table.c.job_id == bindparam("job")) & (table.c.person_id == bindparam("person"))


def chunks(values: Iterable[T], size: int = PORTION) -> Iterator[list[T]]:
    """Split a long list into chunks small enough for one statement on both engines."""
    remaining = iter(values)
    while portion := list(islice(remaining, size)):
        yield portion
