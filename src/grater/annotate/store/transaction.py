"""One transaction, as every query function of a study gets it: a connection, the time, the study's key.

Times are milliseconds since 1970 in UTC, and ISO text only where people or files read them.  Ids are random and tell
nothing; of secrets only hashes are kept.

A deadline limits the work that somebody waits for: no statement begins after it, and one under way is broken off.
The limit travels with the context of a request, into the thread that does its work.  A thread cannot be stopped from
outside without harm, so the limit is looked at where work is cut into pieces anyway: before every statement, every
few thousand steps inside one on SQLite, and by `require_time` in long loops of our own.  PostgreSQL breaks off its
statements by itself (`Store.limit_statements`).  The transaction is rolled back as after any other error.  Between
two such places only bounded work is done: bodies, marks, items of a page and members of a list have their largest
number.

`Columns` ties a table to the value that its rows become: the columns of a query, the value of a row and the row of a
value are all made from the fields of one dataclass, so that none can be forgotten or put in another's place.
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
from functools import cache
from itertools import islice
from math import inf
from typing import Any, Generic, TypeAlias, TypeVar

from sqlalchemy import (
    ColumnElement,
    Connection,
    CursorResult,
    Executable,
    Insert,
    Row,
    Select,
    Table,
    literal_column,
)
from sqlalchemy.sql.elements import KeyedColumnElement

from grater.annotate.store.schema import to_text
from grater.errors import OutOfTime
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
    """`1731648000000` as `2024-11-15T05:20:00.000Z`: sorts as it reads."""
    return (EPOCH + timedelta(milliseconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_iso(text: str) -> int:
    """The inverse of `as_iso`; a time without a zone is UTC."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // timedelta(milliseconds=1)


STEPS = 20_000
"""Steps of SQLite's machine between two looks at the clock: a fraction of a millisecond."""

_DEADLINE: ContextVar[float] = ContextVar("grater_deadline", default=inf)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit all work inside, in threads that inherit the context too."""
    before = _DEADLINE.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def is_over() -> bool:
    """Whether the limit has passed."""
    deadline = _DEADLINE.get()
    return deadline != inf and time.monotonic() > deadline


def require_time() -> None:
    """Raise where the limit has passed."""
    if is_over():
        raise OutOfTime("this took too long and was broken off; nothing was stored")


PRIME = 2**31 - 1
"""Shuffle numbers live below this prime, so that the product of two fits into eight bytes on both engines."""


def new_id() -> str:
    """128 random bits, safe in a URL: reveals neither time nor content."""
    return secrets.token_urlsafe(16)


def new_secret() -> str:
    """256 random bits for a person to hold; the store keeps only `hashed` of it."""
    return secrets.token_urlsafe(32)


def new_pseudonym() -> str:
    """A person's name in exports; the table refuses duplicates."""
    return f"rater-{secrets.token_hex(4)}"


def new_shuffle() -> int:
    return 1 + secrets.randbelow(PRIME - 1)


def hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def body_hash(body: Json) -> str:
    """The same for equal bodies, whatever the order of their keys."""
    return hashed(to_text(body))


def multiplier(key: str, *names: str) -> int:
    """A person's own factor for shuffle numbers, from the study's secret key: never 0."""
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
    """`now` is read once, so that one transaction happens at one time.

    `known` is what a snapshot has given already (`once`); None where rows may change.
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
            self.execute(insert_into(table), rows)

    def locked(self, statement: Select[Any], *, of: Table, skip: bool = False) -> Select[Any]:
        """The same query, its rows of one table locked until the end; SQLite has one writer at a time anyway.

        NO KEY UPDATE on PostgreSQL, so that rows which only refer to these need not wait.
        """
        return locking(statement, of=of, skip=skip) if self.is_postgres else statement

    def binary(self, column: KeyedColumnElement[str] | ColumnElement[str]) -> ColumnElement[str]:
        """A text column in code-point order, the same on both engines whatever the server's language."""
        return column.collate("C") if self.is_postgres else column


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
